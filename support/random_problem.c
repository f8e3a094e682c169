/* SPDX-License-Identifier: MIT */
#include "random_problem.h"

#include "indices.h"

#include <math.h>

enum {
    MOST_READ = 3, /* views of numbers that a problem reads */
    MOST_AXES = 5
};

sup_limits sup_limits_default(void)
{
    sup_limits limits = {.elements = 20000, .work = 400000, .ops = SUP_OP(POOLGRAD_AVG_GRAD)};
    return limits;
}

sup_limits sup_limits_large(void)
{
    sup_limits limits = {.elements = INT64_MAX,
                         .work = 2000000000,
                         .ops = SUP_ALL_OPS,
                         .only_nonempty = 1,
                         .least_bytes = 4000000,
                         .most_bytes = 30000000};
    return limits;
}

/* Small numbers often, large ones now and then. */
static int64_t draw_extent(sup_rng *rng, int64_t most)
{
    int64_t hi = sup_rng_chance(rng, 60) ? 9 : sup_rng_chance(rng, 70) ? 24 : most;
    return sup_rng_range(rng, 1, hi < most ? hi : most);
}

static void draw_axis(sup_rng *rng, poolgrad_desc *desc, int axis)
{
    static const int64_t most[] = {600, 90, 28}; /* by rank, so that the product stays small */
    desc->in[axis] = draw_extent(rng, most[desc->rank - 1]);
    if (desc->rounding == POOLGRAD_ADAPTIVE) {
        desc->out[axis] = sup_rng_chance(rng, 25) ? 1 : draw_extent(rng, most[desc->rank - 1]);
        return;
    }
    int64_t kernel = sup_rng_chance(rng, 75)   ? sup_rng_range(rng, 1, 5)
                     : sup_rng_chance(rng, 80) ? sup_rng_range(rng, 1, 33)
                                               : desc->in[axis] + sup_rng_range(rng, 0, 4);
    desc->kernel[axis] = kernel;
    desc->stride[axis] = sup_rng_chance(rng, 45)   ? 1
                         : sup_rng_chance(rng, 80) ? sup_rng_range(rng, 1, 4)
                                                   : kernel + sup_rng_range(rng, 0, 3);
    if (sup_rng_chance(rng, 30))
        desc->dilation[axis] = sup_rng_range(rng, 2, 5);
    int64_t span = (kernel - 1) * desc->dilation[axis] + 1;
    if (sup_rng_chance(rng, 60)) {
        int64_t pad = sup_rng_chance(rng, 15) ? span + 3 : span / 2;
        desc->pad_lo[axis] = sup_rng_range(rng, 0, pad);
        desc->pad_hi[axis] =
            sup_rng_chance(rng, 50) ? desc->pad_lo[axis] : sup_rng_range(rng, 0, pad);
    }
    /* Pad up to what the window needs, or most larger kernels would have no window at all. */
    int64_t lacking = span - desc->in[axis] - desc->pad_lo[axis] - desc->pad_hi[axis];
    if (lacking > 0 && sup_rng_chance(rng, 95)) {
        int64_t lo = sup_rng_range(rng, 0, lacking);
        desc->pad_lo[axis] += lo;
        desc->pad_hi[axis] += lacking - lo + sup_rng_range(rng, 0, 3);
    }
    if (sup_rng_chance(rng, 1)) { /* a kernel that no loop may walk */
        desc->kernel[axis] = INT32_MAX;
        desc->dilation[axis] = 1;
        desc->pad_lo[axis] = INT32_MAX - sup_rng_range(rng, 1, 4);
        desc->pad_hi[axis] = INT32_MAX - sup_rng_range(rng, 1, 4);
        int64_t excess = desc->in[axis] + desc->pad_lo[axis] + desc->pad_hi[axis] - INT32_MAX;
        desc->stride[axis] = 1 + excess / sup_rng_range(rng, 1, 6);
    }
}

/* One of the operators in the mask; draws nothing if there is no choice. */
static poolgrad_op draw_op(sup_rng *rng, unsigned ops)
{
    poolgrad_op allowed[4];
    int count = 0;
    for (int op = POOLGRAD_AVG_GRAD; op <= POOLGRAD_MAX; op++)
        if (ops & SUP_OP(op))
            allowed[count++] = (poolgrad_op)op;
    return count == 0   ? POOLGRAD_AVG_GRAD
           : count == 1 ? allowed[0]
                        : allowed[sup_rng_range(rng, 0, count - 1)];
}

static void draw_max(sup_rng *rng, poolgrad_desc *desc)
{
    desc->winner = (poolgrad_winner)sup_rng_range(rng, POOLGRAD_FROM_INDICES, POOLGRAD_FROM_X);
    desc->nan = (poolgrad_nan)sup_rng_range(rng, POOLGRAD_NAN_FIRST, POOLGRAD_NAN_LEADING);
    desc->index_type = (poolgrad_index_type)sup_rng_range(rng, POOLGRAD_I64, POOLGRAD_U32);
    desc->index_base =
        (poolgrad_index_base)sup_rng_range(rng, POOLGRAD_INDEX_TENSOR, POOLGRAD_INDEX_NXC_IMAGE);
    if (desc->index_base <= POOLGRAD_INDEX_PLANE && sup_rng_chance(rng, 25))
        desc->index_order = POOLGRAD_COLUMN_MAJOR;
    if (desc->index_order == POOLGRAD_ROW_MAJOR && sup_rng_chance(rng, 40)) {
        desc->index_base = POOLGRAD_INDEX_WINDOW;
        if (sup_rng_chance(rng, 75))
            desc->index_type = POOLGRAD_U8;
    }
    desc->no_winner = sup_rng_chance(rng, 25);
}

static void draw_parity(sup_rng *rng, poolgrad_desc *desc)
{
    desc->parity =
        (poolgrad_parity)sup_rng_range(rng, POOLGRAD_PARITY_TENSORFLOW, POOLGRAD_PARITY_ONEDNN);
    desc->alpha = 1;
    desc->beta = 0;
    if (desc->op == POOLGRAD_MAX_GRAD && desc->winner == POOLGRAD_FROM_X &&
        desc->parity == POOLGRAD_PARITY_TENSORFLOW && sup_rng_chance(rng, 70))
        desc->winner = POOLGRAD_NEAR_Y;
}

/* Bytes of what is read and written. */
static double view_bytes(const poolgrad_desc *resolved)
{
    double size = (double)poolgrad_dtype_size(resolved->dtype);
    double windows = (double)sup_view_count(resolved, sup_view_windows(resolved));
    double inputs =
        (double)sup_view_count(resolved, sup_is_forward(resolved) ? &resolved->x : &resolved->dx);
    double bytes = size * (windows + inputs);
    if (resolved->op == POOLGRAD_MAX_GRAD && resolved->winner != POOLGRAD_FROM_INDICES)
        bytes += size * (double)sup_view_count(resolved, &resolved->x);
    else if (sup_is_max(resolved))
        bytes += windows * (double)sup_index_size(resolved->index_type);
    return bytes;
}

/* Enlarges a drawn problem to about a number of bytes within the limits: some of its axes, each by
 * a random share. */
static void enlarge(sup_rng *rng, const sup_limits *limits, poolgrad_desc *desc)
{
    if (sup_rng_chance(rng, 40)) /* what blocked layouts and most networks have */
        desc->channels = (int64_t)8 << sup_rng_range(rng, 0, 4);
    poolgrad_desc resolved = *desc;
    if (poolgrad_desc_resolve(&resolved, NULL) != POOLGRAD_OK)
        return;
    double least = (double)limits->least_bytes, most = (double)limits->most_bytes;
    double factor = least * pow(most / least, sup_rng_unit(rng)) / fmax(1, view_bytes(&resolved));
    if (factor <= 1)
        return;
    double share[MOST_AXES], all = 0;
    for (int axis = 0; axis < desc->rank + 2; axis++) {
        share[axis] = sup_rng_chance(rng, 40) ? 0 : sup_rng_unit(rng);
        all += share[axis];
    }
    if (all <= 0)
        all = share[0] = 1;
    for (int axis = 0; axis < desc->rank + 2; axis++) {
        double scale = pow(factor, share[axis] / all);
        int64_t *extent = axis == 0   ? &desc->batch
                          : axis == 1 ? &desc->channels
                                      : &desc->in[axis - 2];
        *extent = (int64_t)ceil((double)*extent * scale);
        if (axis >= 2 && desc->rounding == POOLGRAD_ADAPTIVE && sup_rng_chance(rng, 70))
            desc->out[axis - 2] = (int64_t)ceil((double)desc->out[axis - 2] * scale);
    }
}

static void draw_geometry(sup_rng *rng, const sup_limits *limits, poolgrad_desc *desc)
{
    poolgrad_desc_init(desc);
    desc->op = draw_op(rng, limits->ops);
    if (sup_is_max(desc))
        draw_max(rng, desc);
    desc->dtype = (poolgrad_dtype)sup_rng_range(rng, POOLGRAD_F32, POOLGRAD_BF16);
    desc->rank = (int32_t)sup_rng_range(rng, 1, 3);
    desc->rounding = sup_rng_chance(rng, 15)   ? POOLGRAD_ADAPTIVE
                     : sup_rng_chance(rng, 35) ? POOLGRAD_CEIL
                                               : POOLGRAD_FLOOR;
    desc->divisor = (poolgrad_divisor)sup_rng_range(rng, POOLGRAD_EXCLUDE, POOLGRAD_OVERRIDE);
    if (desc->divisor == POOLGRAD_OVERRIDE) {
        desc->divisor_override = sup_rng_range(rng, 1, 50);
        if (sup_rng_chance(rng, 30))
            desc->divisor_override = -desc->divisor_override;
    }
    desc->batch = sup_rng_range(rng, 1, 4);
    desc->channels = sup_rng_chance(rng, 60) ? sup_rng_range(rng, 1, 9) : sup_rng_range(rng, 1, 40);
    if (!limits->only_nonempty && sup_rng_chance(rng, 2))
        *(sup_rng_chance(rng, 50) ? &desc->batch : &desc->channels) = 0;
    for (int axis = 0; axis < desc->rank; axis++)
        draw_axis(rng, desc, axis);
    if (limits->most_bytes > 0)
        enlarge(rng, limits, desc);
    if (!limits->only_gradient && sup_rng_chance(rng, 25)) {
        static const double factors[] = {0, -1, 0.5, 0.1, 3, -0x1.8p-3};
        desc->alpha = factors[sup_rng_range(rng, 0, 5)];
    }
    if (!limits->only_gradient && sup_rng_chance(rng, 25)) {
        static const double factors[] = {1, -1, 0.5, 0.1, 2, -0.3};
        desc->beta = factors[sup_rng_range(rng, 0, 5)];
    }
    if (limits->parity > 0 && !sup_is_forward(desc) && sup_rng_chance(rng, limits->parity))
        draw_parity(rng, desc);
}

/* The views of a descriptor that are read and hold numbers. */
static int views_read(poolgrad_desc *desc, poolgrad_view *views[MOST_READ])
{
    int count = 0;
    if (!sup_is_forward(desc))
        views[count++] = &desc->dy;
    if (count == 0 || (desc->op == POOLGRAD_MAX_GRAD && desc->winner != POOLGRAD_FROM_INDICES))
        views[count++] = &desc->x;
    if (desc->op == POOLGRAD_MAX_GRAD && desc->winner == POOLGRAD_NEAR_Y)
        views[count++] = &desc->y;
    return count;
}

static poolgrad_view *view_written(poolgrad_desc *desc)
{
    return sup_view_written(desc) == &desc->y ? &desc->y : &desc->dx;
}

/* A box of what is written, and those that it needs of what is read, or larger ones. Returns 0 if
 * there is none. */
static int draw_boxes(sup_rng *rng, poolgrad_desc *desc)
{
    poolgrad_desc whole = *desc;
    if (poolgrad_desc_resolve(&whole, NULL) != POOLGRAD_OK)
        return 0;
    poolgrad_view *box = view_written(desc);
    const int64_t *extent = view_written(&whole)->extent;
    for (int axis = 0; axis < desc->rank + 2; axis++) {
        if (extent[axis] == 0 || sup_rng_chance(rng, 40))
            continue;
        int64_t offset = sup_rng_range(rng, 0, extent[axis] - 1);
        box->offset[axis] = offset;
        box->extent[axis] =
            sup_rng_chance(rng, 20) ? POOLGRAD_WHOLE : sup_rng_range(rng, 1, extent[axis] - offset);
    }
    if (poolgrad_desc_reach(desc, NULL) != POOLGRAD_OK)
        return 0;
    poolgrad_view *read[MOST_READ], *most[MOST_READ];
    int count = views_read(desc, read);
    views_read(&whole, most);
    for (int i = 0; i < count; i++) {
        for (int axis = 0; axis < desc->rank + 2; axis++) {
            if (!sup_rng_chance(rng, 25))
                continue;
            int64_t end = read[i]->offset[axis] + read[i]->extent[axis];
            int64_t down = sup_rng_range(rng, 0, read[i]->offset[axis]);
            int64_t up = sup_rng_range(rng, 0, most[i]->extent[axis] - end);
            read[i]->offset[axis] -= down;
            read[i]->extent[axis] += down + up;
        }
    }
    return 1;
}

/* The axes of a dense tensor, innermost first: NCX, or NXC. */
static void dense_order(int axes, int channels_last, int *order)
{
    for (int i = 0; i < axes; i++)
        order[i] = axes - 1 - i;
    for (int i = axes - 2; channels_last && i > 0; i--)
        order[i] = order[i - 1];
    if (channels_last)
        order[0] = 1;
}

/* Strides for `view`, whose extents are `extent`. Axes in random order (`mostly_dense`: seldom),
 * gaps between them, some reversed; `broadcast` allows stride 0, and strides so small that elements
 * share memory. */
static void draw_strides(sup_rng *rng, int axes, const int64_t *extent, int mostly_dense,
                         int broadcast, poolgrad_view *view)
{
    int order[MOST_AXES] = {0, 1, 2, 3, 4};
    int dense = mostly_dense && sup_rng_chance(rng, 75);
    if (dense)
        dense_order(axes, sup_rng_chance(rng, 50), order);
    for (int i = axes - 1; i > 0 && !dense; i--) {
        int j = (int)sup_rng_range(rng, 0, i);
        int swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    view->layout = POOLGRAD_STRIDED;
    int64_t stride = sup_rng_chance(rng, 70) ? 1 : sup_rng_range(rng, 2, 3);
    for (int i = 0; i < axes; i++) {
        int axis = order[i];
        view->stride[axis] = stride;
        if (extent[axis] > 1)
            stride *= extent[axis];
        if (sup_rng_chance(rng, 25))
            stride += sup_rng_range(rng, 1, 5);
        if (sup_rng_chance(rng, 20))
            view->stride[axis] = -view->stride[axis];
        if (broadcast && sup_rng_chance(rng, 15))
            view->stride[axis] = 0;
        else if (broadcast && sup_rng_chance(rng, 5))
            view->stride[axis] = 1;
    }
    if (broadcast && sup_rng_chance(rng, 5)) /* one number for everything */
        for (int axis = 0; axis < axes; axis++)
            view->stride[axis] = 0;
}

static void draw_layout(sup_rng *rng, const sup_limits *limits, int axes, const int64_t *extent,
                        int broadcast, poolgrad_view *view)
{
    view->layout = sup_rng_chance(rng, 50) ? POOLGRAD_NCX : POOLGRAD_NXC;
    if (!limits->only_dense && sup_rng_chance(rng, 35))
        draw_strides(rng, axes, extent, limits->most_bytes > 0, broadcast, view);
}

static int small_enough(const poolgrad_desc *resolved, const sup_limits *limits)
{
    double work = (double)resolved->batch * (double)resolved->channels;
    for (int axis = 0; axis < resolved->rank; axis++) {
        double in = (double)resolved->in[axis], kernel = (double)resolved->kernel[axis];
        if (resolved->rounding == POOLGRAD_ADAPTIVE)
            kernel = in / (double)resolved->out[axis] + 2;
        work *= (double)resolved->out[axis] * (kernel < in ? kernel : in);
    }
    /* One of the two is of the output's size, the other of the input's. */
    const poolgrad_view *other =
        resolved->op == POOLGRAD_AVG || resolved->op == POOLGRAD_MAX ? &resolved->x : &resolved->dy;
    return work <= (double)limits->work &&
           sup_view_count(resolved, sup_view_written(resolved)) <= limits->elements &&
           sup_view_count(resolved, other) <= limits->elements;
}

static int draw(sup_rng *rng, const sup_limits *limits, poolgrad_desc *desc)
{
    draw_geometry(rng, limits, desc);
    poolgrad_desc resolved = *desc;
    if (poolgrad_desc_resolve(&resolved, NULL) != POOLGRAD_OK || !small_enough(&resolved, limits))
        return 0;
    if (!limits->only_whole && sup_rng_chance(rng, 25) && !draw_boxes(rng, desc))
        return 0;
    resolved = *desc;
    if (poolgrad_desc_resolve(&resolved, NULL) != POOLGRAD_OK)
        return 0;
    if (sup_rng_chance(rng, 10))
        for (int axis = 0; axis < desc->rank; axis++)
            desc->out[axis] = resolved.out[axis];
    poolgrad_view *read[MOST_READ], *sizes[MOST_READ];
    int count = views_read(desc, read);
    views_read(&resolved, sizes);
    for (int i = 0; i < count; i++)
        draw_layout(rng, limits, desc->rank + 2, sizes[i]->extent, 1, read[i]);
    draw_layout(rng, limits, desc->rank + 2, view_written(&resolved)->extent, 0,
                view_written(desc));
    /* Indices never share memory, not even where they are read: what suits one window is wrong for
     * another. */
    if (desc->op == POOLGRAD_MAX ||
        (desc->op == POOLGRAD_MAX_GRAD && desc->winner == POOLGRAD_FROM_INDICES))
        draw_layout(rng, limits, desc->rank + 2, sup_view_windows(&resolved)->extent, 0,
                    &desc->indices);
    resolved = *desc;
    if (poolgrad_desc_resolve(&resolved, NULL) != POOLGRAD_OK)
        return 0;
    double bytes = limits->most_bytes > 0 ? view_bytes(&resolved) : 0;
    return bytes >= (double)limits->least_bytes && bytes <= (double)limits->most_bytes;
}

void sup_random_problem(sup_rng *rng, const sup_limits *limits, poolgrad_desc *desc)
{
    sup_limits all = sup_limits_default();
    if (!limits)
        limits = &all;
    for (int attempt = 0; attempt < 1000; attempt++)
        if (draw(rng, limits, desc))
            return;
    /* Limits below what any draw gives: the smallest problem there is. */
    poolgrad_desc_init(desc);
    desc->in[0] = desc->in[1] = desc->kernel[0] = desc->kernel[1] = 1;
}
