/* SPDX-License-Identifier: MIT */
#include "core/gather.h"

#include "core/integer.h"

pgi_gather pgi_gather_make(const pgi_axis *axis, bool forward)
{
    pgi_gather gather = {.axis = *axis, .forward = forward};

    if (!forward) {
        gather.sources = axis->out;
        gather.q = axis->q;
        gather.longest = axis->longest;
        gather.filled = axis->filled;
        gather.period = axis->stride;
        gather.advance = 1;
        return gather;
    }
    gather.sources = axis->in;
    gather.period = 1;
    gather.advance = axis->stride;
    if (axis->adaptive) {
        gather.q = 1;
        gather.longest = axis->out ? pgi_axis_longest_window(axis) : 0;
    } else {
        gather.q = axis->dilation;
        gather.longest = axis->kernel;
        gather.filled = (axis->kernel - 1) * axis->dilation < axis->in;
    }
    return gather;
}

/* A filled run that has a place among the sources begins no further before the first and ends no
 * further behind the last of them than this. */
static int64_t overhang(const pgi_gather *gather)
{
    return gather->filled ? (gather->longest - 1) * gather->q : 0;
}

/* a + b, or the largest number if that does not fit: for limits. */
static int64_t limit_sum(int64_t a, int64_t b)
{
    int64_t sum;

    return pgi_add(a, b, &sum) ? sum : INT64_MAX;
}

pgi_range pgi_gather_virtual_reach(const pgi_gather *gather, int64_t begin, int64_t end)
{
    const pgi_axis *axis = &gather->axis;
    const int64_t lowest = -overhang(gather);
    const int64_t highest = limit_sum(gather->sources, overhang(gather));
    pgi_range range;

    if (!gather->forward) {
        range = pgi_axis_reach(axis, begin, end);
    } else if (axis->adaptive) {
        range.begin = pgi_axis_adaptive_window(axis, begin).begin;
        range.end = pgi_axis_adaptive_window(axis, end - 1).end;
    } else {
        range.begin = begin * axis->stride - axis->pad_lo;
        range.end =
            (end - 1) * axis->stride - axis->pad_lo + (axis->kernel - 1) * axis->dilation + 1;
    }
    range.begin = pgi_min(pgi_max(range.begin, lowest), highest);
    range.end = pgi_max(pgi_min(range.end, highest), range.begin);
    return range;
}

pgi_range pgi_gather_reach(const pgi_gather *gather, int64_t begin, int64_t end)
{
    pgi_range range = pgi_gather_virtual_reach(gather, begin, end);

    range.begin = pgi_min(pgi_max(range.begin, 0), gather->sources);
    range.end = pgi_max(pgi_min(range.end, gather->sources), range.begin);
    return range;
}

void pgi_gather_limit(pgi_gather *gather, int64_t begin, int64_t end)
{
    pgi_range range = {0, 0};

    gather->most_reach = gather->most_sources = 0;
    if (begin == end)
        return;
    range = pgi_gather_virtual_reach(gather, begin, end);
    if (__builtin_sub_overflow(range.end, range.begin, &gather->most_reach))
        gather->most_reach = INT64_MAX;
    range = pgi_gather_reach(gather, begin, end);
    gather->most_sources = range.end - range.begin;
}

int64_t pgi_gather_reach_bound(const pgi_gather *gather, int64_t extent)
{
    const pgi_axis *axis = &gather->axis;
    const int64_t most = gather->most_reach;
    int64_t bound;

    if (axis->adaptive && gather->forward)
        bound = extent * axis->in / axis->out + 2;
    else if (axis->adaptive)
        bound = extent * axis->out / axis->in + 2;
    else if (gather->forward) /* a window's end is addressable, but there may be fewer targets */
        bound = pgi_mul(extent - 1, axis->stride, &bound) &&
                        pgi_add(bound, (axis->kernel - 1) * axis->dilation + 1, &bound)
                    ? bound
                    : most;
    else if (pgi_add(extent - 1, (axis->kernel - 1) * axis->dilation, &bound) &&
             bound / axis->stride < most)
        bound = bound / axis->stride + 1;
    else
        bound = most;
    return pgi_min(bound, most);
}
