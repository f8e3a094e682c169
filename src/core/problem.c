/* SPDX-License-Identifier: MIT */
#include "core/problem.h"

#include "core/integer.h"
#include "core/number.h"
#include "core/status.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The descriptor as of 0.1; fields that come later are behind it. */
#define DESC_SIZE_0_1 (offsetof(poolgrad_desc, dx) + sizeof(poolgrad_view))

poolgrad_status pgi_struct_read(void *to, size_t to_size, const void *from, size_t minimum,
                                const char *name, poolgrad_error *error)
{
    size_t size;

    if (!from)
        return pgi_fail(error, POOLGRAD_ERR_NULL, "%s is NULL", name);
    memcpy(&size, from, sizeof size);
    if (size < minimum || size > to_size || size % sizeof(size_t))
        return pgi_fail(error, POOLGRAD_ERR_STRUCT_SIZE,
                        "%s.size is %zu; it must be a sizeof, from %zu to %zu", name, size, minimum,
                        to_size);
    memcpy(to, from, size);
    memcpy(to, &to_size, sizeof to_size);
    return POOLGRAD_OK;
}

poolgrad_status pgi_desc_read(poolgrad_desc *to, const poolgrad_desc *from, poolgrad_error *error)
{
    poolgrad_desc_init(to);
    return pgi_struct_read(to, sizeof *to, from, DESC_SIZE_0_1, "desc", error);
}

static poolgrad_status at_least(int64_t value, int64_t minimum, poolgrad_status status,
                                const char *field, int i, poolgrad_error *error)
{
    if (value >= minimum)
        return POOLGRAD_OK;
    return pgi_fail(error, status, "%s[%d] is %" PRId64 "; it must be at least %" PRId64, field, i,
                    value, minimum);
}

static poolgrad_status check_enum(int value, int last, const char *field, poolgrad_error *error)
{
    if (value >= 1 && value <= last)
        return POOLGRAD_OK;
    return pgi_fail(error, POOLGRAD_ERR_ENUM, "%s is %d; it must be from 1 to %d", field, value,
                    last);
}

poolgrad_status pgi_check_rank(int32_t rank, poolgrad_error *error)
{
    if (rank >= 1 && rank <= 3)
        return POOLGRAD_OK;
    return pgi_fail(error, POOLGRAD_ERR_RANK, "rank is %" PRId32 "; it must be 1, 2 or 3", rank);
}

poolgrad_status pgi_check_window(const poolgrad_desc *desc, int i, poolgrad_error *error)
{
    int64_t span;

    PGI_TRY(at_least(desc->in[i], 0, POOLGRAD_ERR_SHAPE, "in", i, error));
    PGI_TRY(at_least(desc->kernel[i], 1, POOLGRAD_ERR_ATTRIBUTE, "kernel", i, error));
    PGI_TRY(at_least(desc->stride[i], 1, POOLGRAD_ERR_ATTRIBUTE, "stride", i, error));
    PGI_TRY(at_least(desc->dilation[i], 1, POOLGRAD_ERR_ATTRIBUTE, "dilation", i, error));
    if (!pgi_mul(desc->kernel[i] - 1, desc->dilation[i], &span) || !pgi_add(span, 1, &span))
        return pgi_fail(error, POOLGRAD_ERR_OVERFLOW,
                        "(kernel[%d] - 1) * dilation[%d] + 1, with %" PRId64 " and %" PRId64
                        ", does not fit in 64 bits",
                        i, i, desc->kernel[i], desc->dilation[i]);
    return POOLGRAD_OK;
}

static poolgrad_status check_max_enums(const poolgrad_desc *desc, poolgrad_error *error)
{
    const bool gradient = desc->op == POOLGRAD_MAX_GRAD;

    if (gradient)
        PGI_TRY(check_enum((int)desc->winner, POOLGRAD_NEAR_Y, "winner", error));
    if (gradient && desc->winner == POOLGRAD_NEAR_Y) {
        PGI_TRY(check_enum((int)desc->x.layout, POOLGRAD_STRIDED, "x.layout", error));
        return check_enum((int)desc->y.layout, POOLGRAD_STRIDED, "y.layout", error);
    }
    if (!gradient || desc->winner == POOLGRAD_FROM_X)
        PGI_TRY(check_enum((int)desc->nan, POOLGRAD_NAN_LEADING, "nan", error));
    if (gradient && desc->winner == POOLGRAD_FROM_X)
        return check_enum((int)desc->x.layout, POOLGRAD_STRIDED, "x.layout", error);
    PGI_TRY(check_enum((int)desc->index_type, POOLGRAD_U8, "index_type", error));
    PGI_TRY(check_enum((int)desc->index_base, POOLGRAD_INDEX_WINDOW, "index_base", error));
    PGI_TRY(check_enum((int)desc->index_order, POOLGRAD_COLUMN_MAJOR, "index_order", error));
    return check_enum((int)desc->indices.layout, POOLGRAD_STRIDED, "indices.layout", error);
}

poolgrad_status pgi_check_enums(const poolgrad_desc *desc, poolgrad_error *error)
{
    PGI_TRY(check_enum((int)desc->op, POOLGRAD_MAX, "op", error));
    PGI_TRY(check_enum((int)desc->dtype, POOLGRAD_BF16, "dtype", error));
    PGI_TRY(pgi_check_rank(desc->rank, error));
    PGI_TRY(check_enum((int)desc->rounding, POOLGRAD_ADAPTIVE, "rounding", error));
    if (!pgi_is_max(desc->op))
        PGI_TRY(check_enum((int)desc->divisor, POOLGRAD_OVERRIDE, "divisor", error));
    if (pgi_is_forward(desc->op)) {
        PGI_TRY(check_enum((int)desc->x.layout, POOLGRAD_STRIDED, "x.layout", error));
        PGI_TRY(check_enum((int)desc->y.layout, POOLGRAD_STRIDED, "y.layout", error));
    } else {
        PGI_TRY(check_enum((int)desc->dy.layout, POOLGRAD_STRIDED, "dy.layout", error));
        PGI_TRY(check_enum((int)desc->dx.layout, POOLGRAD_STRIDED, "dx.layout", error));
    }
    PGI_TRY(check_enum((int)desc->parity, POOLGRAD_PARITY_ONEDNN, "parity", error));
    return pgi_is_max(desc->op) ? check_max_enums(desc, error) : POOLGRAD_OK;
}

/* A factor that overflows the compute type would make every result infinite or NaN. */
static poolgrad_status check_factor(double value, poolgrad_dtype dtype, const char *field,
                                    poolgrad_error *error)
{
    const double largest = dtype == POOLGRAD_F64 ? DBL_MAX : (double)FLT_MAX;

    if (fabs(value) <= largest) /* false for NaN */
        return POOLGRAD_OK;
    return pgi_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                    "%s is not finite in the compute type of this problem, %s", field,
                    dtype == POOLGRAD_F64 ? "f64" : "f32");
}

/* What goes with another system's arithmetic, and what goes only with it. */
static poolgrad_status check_parity(const poolgrad_desc *desc, poolgrad_error *error)
{
    const bool near_y = desc->op == POOLGRAD_MAX_GRAD && desc->winner == POOLGRAD_NEAR_Y;
    char factor[PGI_DOUBLE_TEXT];

    if (near_y && desc->parity != POOLGRAD_PARITY_TENSORFLOW)
        return pgi_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                        "winner is POOLGRAD_NEAR_Y but parity is %d; the two go together only "
                        "with POOLGRAD_PARITY_TENSORFLOW",
                        (int)desc->parity);
    if (desc->parity == POOLGRAD_PARITY_OFF)
        return POOLGRAD_OK;
    if (pgi_is_forward(desc->op))
        return pgi_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                        "parity is %d; a forward pass must have POOLGRAD_PARITY_OFF",
                        (int)desc->parity);
    if (desc->alpha == 1 && desc->beta == 0)
        return POOLGRAD_OK;
    pgi_write_double(desc->alpha != 1 ? desc->alpha : desc->beta, factor);
    return pgi_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                    "parity is %d but %s is %s; with parity alpha must be 1 and beta 0",
                    (int)desc->parity, desc->alpha != 1 ? "alpha" : "beta", factor);
}

static poolgrad_status check_numbers(const poolgrad_desc *desc, poolgrad_error *error)
{
    if (!pgi_is_max(desc->op) && desc->divisor == POOLGRAD_OVERRIDE && desc->divisor_override == 0)
        return pgi_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                        "divisor_override is 0; it must be any other number");
    PGI_TRY(check_factor(desc->alpha, desc->dtype, "alpha", error));
    PGI_TRY(check_factor(desc->beta, desc->dtype, "beta", error));
    if (desc->batch < 0 || desc->channels < 0)
        return pgi_fail(error, POOLGRAD_ERR_SHAPE, "%s is %" PRId64 "; it must be at least 0",
                        desc->batch < 0 ? "batch" : "channels",
                        desc->batch < 0 ? desc->batch : desc->channels);
    return POOLGRAD_OK;
}

static poolgrad_status make_adaptive_axis(const poolgrad_desc *desc, int i, pgi_axis *axis,
                                          poolgrad_error *error)
{
    int64_t product;

    PGI_TRY(at_least(desc->in[i], 1, POOLGRAD_ERR_SHAPE, "rounding is adaptive: in", i, error));
    PGI_TRY(at_least(desc->out[i], 1, POOLGRAD_ERR_SHAPE, "rounding is adaptive: out", i, error));
    if (desc->kernel[i] != 0 || desc->stride[i] != 1 || desc->dilation[i] != 1 ||
        desc->pad_lo[i] != 0 || desc->pad_hi[i] != 0)
        return pgi_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                        "rounding is adaptive: kernel[%d] and pads must stay 0, stride[%d] and "
                        "dilation[%d] 1; in and out alone give the windows",
                        i, i, i);
    if (!pgi_mul(desc->in[i], desc->out[i], &product) || !pgi_add(product, desc->in[i], &product) ||
        !pgi_add(product, desc->out[i], &product))
        return pgi_fail(error, POOLGRAD_ERR_OVERFLOW,
                        "in[%d] * out[%d], with %" PRId64 " and %" PRId64
                        ", does not fit in 64 bits",
                        i, i, desc->in[i], desc->out[i]);
    *axis = (pgi_axis){
        .in = desc->in[i], .out = desc->out[i], .stride = 1, .dilation = 1, .adaptive = true};
    return POOLGRAD_OK;
}

static poolgrad_status make_window_axis(const poolgrad_desc *desc, int i, pgi_axis *axis,
                                        poolgrad_error *error)
{
    int64_t padded;

    PGI_TRY(pgi_check_window(desc, i, error));
    PGI_TRY(at_least(desc->pad_lo[i], 0, POOLGRAD_ERR_ATTRIBUTE, "pad_lo", i, error));
    PGI_TRY(at_least(desc->pad_hi[i], 0, POOLGRAD_ERR_ATTRIBUTE, "pad_hi", i, error));
    PGI_TRY(at_least(desc->out[i], 0, POOLGRAD_ERR_SHAPE, "out", i, error));
    if (!pgi_add(desc->in[i], desc->pad_lo[i], &padded) ||
        !pgi_add(padded, desc->pad_hi[i], &padded))
        return pgi_fail(error, POOLGRAD_ERR_OVERFLOW,
                        "in[%d] + pad_lo[%d] + pad_hi[%d], with %" PRId64 ", %" PRId64
                        " and %" PRId64 ", does not fit in 64 bits",
                        i, i, i, desc->in[i], desc->pad_lo[i], desc->pad_hi[i]);
    *axis = (pgi_axis){.in = desc->in[i],
                       .kernel = desc->kernel[i],
                       .stride = desc->stride[i],
                       .dilation = desc->dilation[i],
                       .pad_lo = desc->pad_lo[i],
                       .pad_hi = desc->pad_hi[i]};
    if (!pgi_axis_windows(axis, desc->rounding, &axis->out))
        return pgi_fail(error, POOLGRAD_ERR_OVERFLOW,
                        "(out[%d] - 1) * stride[%d] plus the window's span does not fit in 64 bits",
                        i, i);
    if (desc->out[i] != 0 && desc->out[i] != axis->out)
        return pgi_fail(error, POOLGRAD_ERR_SHAPE,
                        "out[%d] is %" PRId64 "; in, kernel, stride, dilation, padding and "
                        "rounding give %" PRId64,
                        i, desc->out[i], axis->out);
    if (axis->in == 0 && axis->out > 0)
        return pgi_fail(error, POOLGRAD_ERR_SHAPE,
                        "in[%d] is 0 but out[%d] is %" PRId64 "; all windows lie in the padding", i,
                        i, axis->out);
    return POOLGRAD_OK;
}

/* From a view and the whole extents to a tensor of five axes; `view` receives what it left open. */
static poolgrad_status make_tensor(poolgrad_view *view, const int64_t *whole, int rank,
                                   const char *name, size_t element_size, pgi_tensor *tensor,
                                   poolgrad_error *error)
{
    int i;

    for (i = 0; i < rank + PGI_SPATIAL; i++) {
        int64_t *extent = &view->extent[i];
        const int64_t offset = view->offset[i];

        if (offset < 0 || offset > whole[i])
            return pgi_fail(error, i < PGI_SPATIAL ? POOLGRAD_ERR_SHAPE : POOLGRAD_ERR_BOX,
                            "%s.offset[%d] is %" PRId64 "; the axis has %" PRId64 " elements", name,
                            i, offset, whole[i]);
        if (*extent == POOLGRAD_WHOLE)
            *extent = whole[i] - offset;
        if (*extent < 0 || *extent > whole[i] - offset)
            return pgi_fail(error, i < PGI_SPATIAL ? POOLGRAD_ERR_SHAPE : POOLGRAD_ERR_BOX,
                            "%s.extent[%d] is %" PRId64 " from offset %" PRId64
                            "; the axis has %" PRId64 " elements",
                            name, i, *extent, offset, whole[i]);
    }
    if (view->layout != POOLGRAD_STRIDED &&
        !pgi_dense_strides(view->layout, rank + PGI_SPATIAL, view->extent, view->stride))
        return pgi_fail(error, POOLGRAD_ERR_OVERFLOW,
                        "the number of elements of %s does not fit in 64 bits", name);
    for (i = 0; i < PGI_AXES; i++) {
        const int v = pgi_view_axis(rank, i);

        tensor->offset[i] = v < 0 ? 0 : view->offset[v];
        tensor->extent[i] = v < 0 ? 1 : view->extent[v];
        /* never multiplied by anything but 0 where there is one element: any number is legal */
        tensor->stride[i] = v < 0 || view->extent[v] <= 1 ? 0 : view->stride[v];
    }
    if (!pgi_tensor_measure(tensor, element_size))
        return pgi_fail(error, POOLGRAD_ERR_OVERFLOW,
                        "the bytes of %s, or the distance between two of its elements, do not fit "
                        "in 64 bits",
                        name);
    return POOLGRAD_OK;
}

poolgrad_view *pgi_source_view(poolgrad_desc *desc)
{
    return pgi_is_forward(desc->op) ? &desc->x : &desc->dy;
}

poolgrad_view *pgi_target_view(poolgrad_desc *desc)
{
    return pgi_is_forward(desc->op) ? &desc->y : &desc->dx;
}

const char *pgi_source_name(poolgrad_op op)
{
    return pgi_is_forward(op) ? "x" : "dy";
}

const char *pgi_target_name(poolgrad_op op)
{
    return pgi_is_forward(op) ? "y" : "dx";
}

/* Extents of the whole tensor of x and dx, or of y and dy. */
static void whole_extents(const poolgrad_desc *desc, bool outputs, int64_t whole[PGI_AXES])
{
    whole[PGI_BATCH] = desc->batch;
    whole[PGI_CHANNEL] = desc->channels;
    memcpy(whole + PGI_SPATIAL, outputs ? desc->out : desc->in,
           (size_t)desc->rank * sizeof whole[0]);
}

static poolgrad_status make_axes(pgi_problem *problem, poolgrad_error *error)
{
    poolgrad_desc *desc = &problem->desc;
    const int first = 3 - desc->rank; /* among three axes */
    const bool counts = !pgi_is_max(desc->op) && desc->divisor != POOLGRAD_OVERRIDE;
    int64_t count = 1;
    int i;

    for (i = 0; i < 3; i++) {
        pgi_axis *made = &problem->axis[i];

        if (i < first) {
            *made = pgi_axis_unit();
        } else if (desc->rounding == POOLGRAD_ADAPTIVE) {
            PGI_TRY(make_adaptive_axis(desc, i - first, made, error));
        } else {
            PGI_TRY(make_window_axis(desc, i - first, made, error));
        }
        pgi_axis_derive(made);
        if (i >= first)
            desc->out[i - first] = made->out;
        if (counts && made->in > 0 && made->out > 0 &&
            !pgi_mul(count, pgi_axis_count_bound(made, desc->divisor), &count))
            return pgi_fail(error, POOLGRAD_ERR_OVERFLOW,
                            "the divisor, a product of tap counts over the axes, does not fit in "
                            "64 bits");
        problem->gather[i] = pgi_gather_make(made, pgi_is_forward(desc->op));
        problem->taps[i] = pgi_gather_make(made, true);
    }
    return POOLGRAD_OK;
}

static poolgrad_status check_apart(const pgi_problem *problem, const pgi_tensor *tensor,
                                   const char *name, poolgrad_error *error)
{
    int axis;

    if (!pgi_tensor_folds(tensor, &axis))
        return POOLGRAD_OK;
    return pgi_fail(error, POOLGRAD_ERR_LAYOUT,
                    "%s.stride[%d] is %" PRId64 "; it must exceed the span of the smaller "
                    "strides, or elements of %s share memory",
                    name, pgi_view_axis(problem->desc.rank, axis), tensor->stride[axis], name);
}

poolgrad_status pgi_problem_geometry(pgi_problem *problem, poolgrad_error *error)
{
    poolgrad_desc *desc = &problem->desc;
    int64_t whole[PGI_AXES];
    int i;

    PGI_TRY(pgi_check_enums(desc, error));
    PGI_TRY(check_numbers(desc, error));
    PGI_TRY(check_parity(desc, error));
    problem->exchanged = false;
    problem->element_size = poolgrad_dtype_size(desc->dtype);
    problem->has_x = desc->op == POOLGRAD_MAX_GRAD && desc->winner != POOLGRAD_FROM_INDICES;
    problem->has_y = problem->has_x && desc->winner == POOLGRAD_NEAR_Y;
    problem->has_indices = pgi_is_max(desc->op) && !problem->has_x;
    PGI_TRY(make_axes(problem, error));
    whole_extents(desc, pgi_is_forward(desc->op), whole);
    PGI_TRY(make_tensor(pgi_target_view(desc), whole, desc->rank, pgi_target_name(desc->op),
                        problem->element_size, &problem->target, error));
    for (i = 0; i < 3; i++) {
        const int64_t begin = problem->target.offset[PGI_SPATIAL + i];
        pgi_range windows;

        pgi_gather_limit(&problem->gather[i], begin,
                         begin + problem->target.extent[PGI_SPATIAL + i]);
        windows = pgi_problem_reach(problem, i);
        if (problem->has_x)
            pgi_gather_limit(&problem->taps[i], windows.begin, windows.end);
    }
    return check_apart(problem, &problem->target, pgi_target_name(desc->op), error);
}

pgi_range pgi_problem_reach(const pgi_problem *problem, int axis)
{
    const int64_t begin = problem->target.offset[PGI_SPATIAL + axis];
    const int64_t extent = problem->target.extent[PGI_SPATIAL + axis];

    if (extent == 0)
        return (pgi_range){0, 0};
    return pgi_gather_reach(&problem->gather[axis], begin, begin + extent);
}

pgi_range pgi_problem_x_reach(const pgi_problem *problem, int axis)
{
    const pgi_range windows = pgi_problem_reach(problem, axis);

    if (windows.begin == windows.end)
        return (pgi_range){0, 0};
    return pgi_gather_reach(&problem->taps[axis], windows.begin, windows.end);
}

/* Whether a tensor that is read holds what the target needs. */
static poolgrad_status check_cover(const pgi_problem *problem, const pgi_tensor *tensor,
                                   const char *name, poolgrad_error *error)
{
    const pgi_tensor *target = &problem->target;
    int i;

    for (i = 0; i < PGI_AXES; i++) {
        const bool spatial = i >= PGI_SPATIAL;
        const pgi_range held = {tensor->offset[i], tensor->offset[i] + tensor->extent[i]};
        pgi_range needed = {target->offset[i], target->offset[i] + target->extent[i]};

        if (spatial)
            needed = tensor == &problem->x ? pgi_problem_x_reach(problem, i - PGI_SPATIAL)
                                           : pgi_problem_reach(problem, i - PGI_SPATIAL);
        if (needed.begin < needed.end && (needed.begin < held.begin || needed.end > held.end))
            return pgi_fail(error, spatial ? POOLGRAD_ERR_BOX : POOLGRAD_ERR_SHAPE,
                            "%s holds [%" PRId64 ", %" PRId64 ") of axis %d; %s needs [%" PRId64
                            ", %" PRId64 ")",
                            name, held.begin, held.end, pgi_view_axis(problem->desc.rank, i),
                            pgi_target_name(problem->desc.op), needed.begin, needed.end);
    }
    return POOLGRAD_OK;
}

/* Indices lie where dy or y lie, in their own memory order. */
static poolgrad_status make_indices(pgi_problem *problem, poolgrad_error *error)
{
    poolgrad_desc *desc = &problem->desc;
    const bool forward = pgi_is_forward(desc->op);
    const poolgrad_view *like = forward ? &desc->y : &desc->dy;
    int64_t whole[PGI_AXES];

    if (desc->index_order == POOLGRAD_COLUMN_MAJOR && desc->index_base >= POOLGRAD_INDEX_NXC)
        return pgi_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                        "index_order is column-major; only the bases TENSOR and PLANE have it");
    if (desc->index_type == POOLGRAD_U8 && desc->index_base != POOLGRAD_INDEX_WINDOW)
        return pgi_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                        "index_type is POOLGRAD_U8, which needs index_base POOLGRAD_INDEX_WINDOW");
    if (!pgi_indexing_make(desc, problem->axis, &problem->indexing))
        return pgi_fail(
            error, POOLGRAD_ERR_OVERFLOW, "the indices of this problem do not fit in index_type%s",
            desc->index_type == POOLGRAD_U8 ? "; in POOLGRAD_U8 windows have at most 255 taps"
                                            : "");
    problem->index_size = pgi_index_size(desc->index_type);
    memcpy(desc->indices.offset, like->offset, sizeof like->offset);
    memcpy(desc->indices.extent, like->extent, sizeof like->extent);
    whole_extents(desc, true, whole);
    PGI_TRY(make_tensor(&desc->indices, whole, desc->rank, "indices", problem->index_size,
                        &problem->indices, error));
    return forward ? check_apart(problem, &problem->indices, "indices", error) : POOLGRAD_OK;
}

/* That all bytes together, the target counted twice, can be said in 64 bits. */
static poolgrad_status check_total(const pgi_problem *problem, poolgrad_error *error)
{
    const int64_t size = (int64_t)problem->element_size;
    const int64_t written = problem->target.elements * size;
    int64_t total = problem->source.elements * size;

    if (!pgi_add(total, written, &total) || /* once for what was there before */
        !pgi_add(written, total, &total) ||
        (problem->has_x && !pgi_add(total, problem->x.elements * size, &total)) ||
        (problem->has_y && !pgi_add(total, problem->y.elements * size, &total)) ||
        (problem->has_indices &&
         !pgi_add(total, problem->indices.elements * (int64_t)problem->index_size, &total)))
        return pgi_fail(error, POOLGRAD_ERR_OVERFLOW,
                        "the bytes of all tensors together do not fit in 64 bits");
    return POOLGRAD_OK;
}

poolgrad_status pgi_problem_make(pgi_problem *problem, poolgrad_error *error)
{
    poolgrad_desc *desc = &problem->desc;
    const char *source = pgi_source_name(desc->op);
    int64_t whole[PGI_AXES];

    PGI_TRY(pgi_problem_geometry(problem, error));
    whole_extents(desc, !pgi_is_forward(desc->op), whole);
    PGI_TRY(make_tensor(pgi_source_view(desc), whole, desc->rank, source, problem->element_size,
                        &problem->source, error));
    PGI_TRY(check_cover(problem, &problem->source, source, error));
    if (problem->has_x) {
        int64_t places;

        if (!pgi_mul(problem->axis[0].in, problem->axis[1].in, &places) ||
            !pgi_mul(places, problem->axis[2].in, &places))
            return pgi_fail(error, POOLGRAD_ERR_OVERFLOW,
                            "the positions of a plane of x cannot be counted in 64 bits");
        whole_extents(desc, false, whole);
        PGI_TRY(make_tensor(&desc->x, whole, desc->rank, "x", problem->element_size, &problem->x,
                            error));
        PGI_TRY(check_cover(problem, &problem->x, "x", error));
    }
    if (problem->has_y) {
        whole_extents(desc, true, whole);
        PGI_TRY(make_tensor(&desc->y, whole, desc->rank, "y", problem->element_size, &problem->y,
                            error));
        PGI_TRY(check_cover(problem, &problem->y, "y", error));
    }
    if (problem->has_indices)
        PGI_TRY(make_indices(problem, error));
    return check_total(problem, error);
}
