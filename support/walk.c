/* SPDX-License-Identifier: MIT */
#include "walk.h"

#include "data.h"

#include <string.h>

/* Among taps start + t*step, 0 <= t < kernel, those with lo <= position < hi. */
static void clip(int64_t start, int64_t step, int64_t kernel, int64_t lo, int64_t hi,
                 int64_t *first, int64_t *end)
{
    /* rounded up, without a sum that might not fit */
    *first = start >= lo ? 0 : (lo - start) / step + ((lo - start) % step > 0);
    *end = start >= hi ? 0 : (hi - start) / step + ((hi - start) % step > 0);
    if (*end > kernel)
        *end = kernel;
    if (*first > *end)
        *first = *end;
}

static sup_taps window_taps(const poolgrad_desc *desc, const poolgrad_view *positions, int axis,
                            int64_t window)
{
    sup_taps result;
    int64_t in = desc->in[axis];
    int64_t kernel, inside_first, inside_end, padded_first, padded_end;
    if (desc->rounding == POOLGRAD_ADAPTIVE) {
        /* floor(o*in/out) and ceil((o+1)*in/out); good for out below 2^31. */
        int64_t out = desc->out[axis], whole = in / out, part = in % out;
        result.start = window * whole + window * part / out;
        kernel = (window + 1) * whole + ((window + 1) * part + out - 1) / out - result.start;
        result.step = 1;
    } else {
        result.start = window * desc->stride[axis] - desc->pad_lo[axis];
        result.step = desc->dilation[axis];
        kernel = desc->kernel[axis];
    }
    clip(result.start, result.step, kernel, 0, in, &inside_first, &inside_end);
    clip(result.start, result.step, kernel, -desc->pad_lo[axis], in + desc->pad_hi[axis],
         &padded_first, &padded_end);
    result.covers = inside_end > inside_first;
    result.count = 1; /* OVERRIDE, and operators without a divisor */
    switch (desc->divisor) {
    case POOLGRAD_EXCLUDE:
        result.count = inside_end - inside_first;
        break;
    case POOLGRAD_INCLUDE:
        result.count = kernel;
        break;
    case POOLGRAD_INCLUDE_CLIPPED:
        result.count = padded_end - padded_first;
        break;
    case POOLGRAD_OVERRIDE:
        break;
    }
    int64_t lo = positions->offset[axis + 2];
    clip(result.start, result.step, kernel, lo, lo + positions->extent[axis + 2], &result.first,
         &result.end);
    result.held = result.end - result.first == inside_end - inside_first;
    return result;
}

void sup_walk_begin(sup_walk *walk, const poolgrad_desc *resolved, const poolgrad_view *windows,
                    const poolgrad_view *positions)
{
    memset(walk, 0, sizeof *walk);
    walk->desc = resolved;
    walk->windows = windows;
    walk->positions = positions;
    walk->window = -1;
    walk->total = sup_view_count(resolved, windows);
    for (int axis = 0; axis < 3; axis++) {
        walk->at[axis] = -1;
        /* An axis past the rank has one window with one tap. */
        walk->axis[axis] = (sup_taps){.step = 1, .end = 1, .count = 1, .covers = 1, .held = 1};
    }
}

int sup_walk_next(sup_walk *walk)
{
    const poolgrad_desc *desc = walk->desc;
    if (++walk->window >= walk->total)
        return 0;
    int64_t rest = walk->window;
    for (int axis = desc->rank - 1; axis >= 0; axis--) {
        int64_t at = walk->windows->offset[axis + 2] + rest % walk->windows->extent[axis + 2];
        rest /= walk->windows->extent[axis + 2];
        if (at != walk->at[axis]) {
            walk->axis[axis] = window_taps(desc, walk->positions, axis, at);
            walk->at[axis] = at;
        }
    }
    walk->channel = walk->windows->offset[1] + rest % walk->windows->extent[1];
    walk->batch = walk->windows->offset[0] + rest / walk->windows->extent[1];

    const poolgrad_view *view = walk->positions;
    int64_t n = walk->batch - view->offset[0], c = walk->channel - view->offset[1];
    int inside = n >= 0 && n < view->extent[0] && c >= 0 && c < view->extent[1];
    walk->plane = inside ? n * view->extent[1] + c : -1;
    walk->covers = 1;
    walk->held = inside;
    walk->count = 1;
    for (int axis = 0; axis < 3; axis++) {
        walk->covers &= walk->axis[axis].covers;
        walk->held &= walk->axis[axis].held;
        walk->tap[axis] = walk->axis[axis].first;
        if (walk->axis[axis].first == walk->axis[axis].end)
            walk->plane = -1; /* no tap at all */
    }
    /* Counts are multiplied only where they are used: of a window in the padding, with an operator
     * that has no divisor, the product need not fit. */
    if (desc->divisor == POOLGRAD_OVERRIDE)
        walk->count = desc->divisor_override;
    else if (walk->covers && !sup_is_max(desc))
        walk->count = walk->axis[0].count * walk->axis[1].count * walk->axis[2].count;
    walk->tap[2]--; /* so that the first step arrives at the first tap */
    return 1;
}

int64_t sup_walk_tap(sup_walk *walk)
{
    if (walk->plane < 0)
        return -1;
    int step = 2;
    while (++walk->tap[step] == walk->axis[step].end) {
        walk->tap[step] = walk->axis[step].first;
        if (--step < 0) {
            walk->plane = -1;
            return -1;
        }
    }
    const poolgrad_view *view = walk->positions;
    int64_t place = walk->plane, position = 0;
    for (int axis = 0; axis < walk->desc->rank; axis++) {
        int64_t p = walk->axis[axis].start + walk->tap[axis] * walk->axis[axis].step;
        position = position * walk->desc->in[axis] + p;
        place = place * view->extent[axis + 2] + p - view->offset[axis + 2];
    }
    walk->position = position;
    return place;
}

int64_t sup_plane_place(const poolgrad_desc *resolved, const poolgrad_view *view, int64_t batch,
                        int64_t channel, int64_t position)
{
    int64_t at[5] = {batch, channel}, place = 0;
    for (int axis = resolved->rank - 1; axis >= 0; axis--) {
        at[axis + 2] = position % resolved->in[axis];
        position /= resolved->in[axis];
    }
    for (int axis = 0; axis < resolved->rank + 2; axis++) {
        int64_t i = at[axis] - view->offset[axis];
        if (i < 0 || i >= view->extent[axis])
            return -1;
        place = place * view->extent[axis] + i;
    }
    return place;
}
