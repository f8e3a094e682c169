/* SPDX-License-Identifier: MIT */
#include "core/problem.h"

#include "core/integer.h"
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
    if (size < minimum || size > to_size)
        return pgi_fail(error, POOLGRAD_ERR_STRUCT_SIZE,
                        "%s.size is %zu; it must be from %zu to %zu (set it to sizeof)", name, size,
                        minimum, to_size);
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

poolgrad_status pgi_check_enums(const poolgrad_desc *desc, poolgrad_error *error)
{
    PGI_TRY(check_enum((int)desc->op, POOLGRAD_AVG_GRAD, "op", error));
    PGI_TRY(check_enum((int)desc->dtype, POOLGRAD_BF16, "dtype", error));
    PGI_TRY(pgi_check_rank(desc->rank, error));
    PGI_TRY(check_enum((int)desc->rounding, POOLGRAD_ADAPTIVE, "rounding", error));
    PGI_TRY(check_enum((int)desc->divisor, POOLGRAD_OVERRIDE, "divisor", error));
    PGI_TRY(check_enum((int)desc->dy.layout, POOLGRAD_STRIDED, "dy.layout", error));
    return check_enum((int)desc->dx.layout, POOLGRAD_STRIDED, "dx.layout", error);
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

static poolgrad_status check_numbers(const poolgrad_desc *desc, poolgrad_error *error)
{
    if (desc->divisor == POOLGRAD_OVERRIDE && desc->divisor_override == 0)
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
            return pgi_fail(error, POOLGRAD_ERR_BOX,
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
        tensor->stride[i] = v < 0 ? 0 : view->stride[v];
    }
    if (!pgi_tensor_measure(tensor, element_size))
        return pgi_fail(error, POOLGRAD_ERR_OVERFLOW,
                        "the bytes of %s, or the distance between two of its elements, do not fit "
                        "in 64 bits",
                        name);
    return POOLGRAD_OK;
}

poolgrad_status pgi_problem_geometry(pgi_problem *problem, poolgrad_error *error)
{
    poolgrad_desc *desc = &problem->desc;
    int64_t whole[PGI_AXES] = {desc->batch, desc->channels};
    int64_t count = 1;
    int first, i, axis;

    PGI_TRY(pgi_check_enums(desc, error));
    PGI_TRY(check_numbers(desc, error));
    first = 3 - desc->rank; /* among three axes */
    problem->element_size = poolgrad_dtype_size(desc->dtype);
    for (i = 0; i < 3; i++) {
        pgi_axis *made = &problem->axis[i];

        if (i < first) {
            *made = pgi_axis_unit();
            continue;
        }
        if (desc->rounding == POOLGRAD_ADAPTIVE)
            PGI_TRY(make_adaptive_axis(desc, i - first, made, error));
        else
            PGI_TRY(make_window_axis(desc, i - first, made, error));
        pgi_axis_derive(made);
        desc->out[i - first] = made->out;
        whole[PGI_SPATIAL + i - first] = made->in;
        if (desc->divisor != POOLGRAD_OVERRIDE && made->in > 0 && made->out > 0 &&
            !pgi_mul(count, pgi_axis_count_bound(made, desc->divisor), &count))
            return pgi_fail(error, POOLGRAD_ERR_OVERFLOW,
                            "the divisor, a product of tap counts over the axes, does not fit in "
                            "64 bits");
    }
    PGI_TRY(make_tensor(&desc->dx, whole, desc->rank, "dx", problem->element_size, &problem->dx,
                        error));
    if (pgi_tensor_folds(&problem->dx, &axis))
        return pgi_fail(error, POOLGRAD_ERR_LAYOUT,
                        "dx.stride[%d] is %" PRId64 "; it must exceed the span of the smaller "
                        "strides, or elements of dx share memory",
                        pgi_view_axis(desc->rank, axis), problem->dx.stride[axis]);
    return POOLGRAD_OK;
}

pgi_range pgi_problem_reach(const pgi_problem *problem, int axis)
{
    const pgi_tensor *dx = &problem->dx;
    const int64_t begin = dx->offset[PGI_SPATIAL + axis];
    const int64_t extent = dx->extent[PGI_SPATIAL + axis];

    if (extent == 0)
        return (pgi_range){0, 0};
    return pgi_axis_reach(&problem->axis[axis], begin, begin + extent);
}

static poolgrad_status check_cover(const pgi_problem *problem, poolgrad_error *error)
{
    const pgi_tensor *dy = &problem->dy, *dx = &problem->dx;
    int i;

    for (i = 0; i < PGI_AXES; i++) {
        const bool spatial = i >= PGI_SPATIAL;
        const pgi_range held = {dy->offset[i], dy->offset[i] + dy->extent[i]};
        pgi_range needed = {dx->offset[i], dx->offset[i] + dx->extent[i]};

        if (spatial)
            needed = pgi_problem_reach(problem, i - PGI_SPATIAL);
        if (needed.begin < needed.end && (needed.begin < held.begin || needed.end > held.end))
            return pgi_fail(error, spatial ? POOLGRAD_ERR_BOX : POOLGRAD_ERR_SHAPE,
                            "dy holds [%" PRId64 ", %" PRId64 ") of axis %d; dx needs [%" PRId64
                            ", %" PRId64 ")",
                            held.begin, held.end, pgi_view_axis(problem->desc.rank, i),
                            needed.begin, needed.end);
    }
    return POOLGRAD_OK;
}

poolgrad_status pgi_problem_make(pgi_problem *problem, poolgrad_error *error)
{
    poolgrad_desc *desc = &problem->desc;
    int64_t whole[PGI_AXES] = {desc->batch, desc->channels};
    int i;

    PGI_TRY(pgi_problem_geometry(problem, error));
    for (i = 0; i < desc->rank; i++)
        whole[PGI_SPATIAL + i] = desc->out[i];
    PGI_TRY(make_tensor(&desc->dy, whole, desc->rank, "dy", problem->element_size, &problem->dy,
                        error));
    return check_cover(problem, error);
}
