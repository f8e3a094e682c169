/* SPDX-License-Identifier: MIT */
/* Single places of an axis: the part of core/axis.h that is asked for every element. Inline, and in
 * the words that C and CUDA share, so that every backend has its geometry from here. */
#ifndef PGI_CORE_AXIS_PLACES_H
#define PGI_CORE_AXIS_PLACES_H

#include "core/axis.h"
#include "core/integer.h"

/* a * b mod m for 0 <= a, b < m, without a 128-bit product. */
PGI_SHARED int64_t pgi_multiply_mod(int64_t a, int64_t b, int64_t m)
{
    int64_t product;

    if (pgi_mul(a, b, &product))
        return product % m;
    product = 0;
    for (; b; b >>= 1) {
        if (b & 1)
            product = product >= m - a ? product - (m - a) : product + a;
        a = a >= m - a ? a - (m - a) : a + a;
    }
    return product;
}

/* Cuts a run of places q apart to those in [0, places). */
PGI_SHARED pgi_run pgi_run_clip(pgi_run run, int64_t q, int64_t places)
{
    if (run.first < 0) {
        const int64_t skipped = pgi_ceil_div(-run.first, q);

        if (skipped >= run.count)
            return (pgi_run){0, 0};
        run.first += skipped * q;
        run.count -= skipped;
    }
    if (run.first >= places)
        run.count = 0;
    else
        run.count = pgi_max(0, pgi_min(run.count, (places - 1 - run.first) / q + 1));
    return run;
}

/* Window o of an adaptive axis. */
PGI_SHARED pgi_range pgi_axis_adaptive_window(const pgi_axis *axis, int64_t o)
{
    return (pgi_range){o * axis->in / axis->out, pgi_ceil_div((o + 1) * axis->in, axis->out)};
}

/* All taps of window o, `dilation` apart, padding counted. */
PGI_SHARED pgi_run pgi_axis_taps(const pgi_axis *axis, int64_t o)
{
    if (axis->adaptive) {
        const pgi_range window = pgi_axis_adaptive_window(axis, o);

        return (pgi_run){window.begin, window.end - window.begin};
    }
    return (pgi_run){o * axis->stride - axis->pad_lo, axis->kernel};
}

/* The windows that cover position p. */
PGI_SHARED pgi_run pgi_axis_run(const pgi_axis *axis, int64_t p)
{
    const pgi_run none = {0, 0};
    pgi_run run;
    int64_t place, tap;

    if (axis->adaptive) {
        run.first = p * axis->out / axis->in;
        run.count = pgi_ceil_div((p + 1) * axis->out, axis->in) - run.first;
        return run;
    }
    /* place = o * t + tap * q; solutions are t apart in tap and q apart in o */
    place = p + axis->pad_lo;
    if (axis->h > 1) {
        if (place % axis->h)
            return none;
        place /= axis->h;
    }
    tap = axis->t == 1
              ? 0
              : (axis->q == 1 ? place % axis->t
                              : pgi_multiply_mod(place % axis->t, axis->q_inverse, axis->t));
    if (tap >= axis->kernel)
        return none;
    if (axis->t == 1) {
        run.count = axis->kernel;
        run.first = place - (run.count - 1) * axis->q;
    } else {
        run.count = (axis->kernel - 1 - tap) / axis->t + 1;
        run.first = (place - tap * axis->q) / axis->t - (run.count - 1) * axis->q;
    }
    return axis->filled ? run : pgi_run_clip(run, axis->q, axis->out);
}

/* Taps of window o that lie in [lo, hi). */
PGI_SHARED int64_t pgi_taps_inside(const pgi_axis *axis, int64_t o, int64_t lo, int64_t hi)
{
    const int64_t start = o * axis->stride - axis->pad_lo;
    int64_t first, last;

    if (start >= lo && start + (axis->kernel - 1) * axis->dilation < hi)
        return axis->kernel; /* nearly always: two divisions less */
    first = start >= lo ? 0 : pgi_ceil_div(lo - start, axis->dilation);
    last = pgi_min(axis->kernel - 1, pgi_floor_div(hi - 1 - start, axis->dilation));
    return pgi_max(0, last - first + 1);
}

/* The first tap inside the input of a window o that has one. */
PGI_SHARED int64_t pgi_axis_first_tap(const pgi_axis *axis, int64_t o)
{
    const int64_t start = o * axis->stride - axis->pad_lo;

    if (axis->adaptive)
        return pgi_axis_adaptive_window(axis, o).begin;
    return start >= 0 ? start : start + pgi_ceil_div(-start, axis->dilation) * axis->dilation;
}

/* Whether window o has a tap at position p of the input. */
PGI_SHARED bool pgi_axis_has_tap(const pgi_axis *axis, int64_t o, int64_t p)
{
    int64_t distance;

    if (axis->adaptive) {
        const pgi_range window = pgi_axis_adaptive_window(axis, o);

        return p >= window.begin && p < window.end;
    }
    distance = p - (o * axis->stride - axis->pad_lo);
    if (axis->dilation == 1) /* spares every index of an ordinary problem two divisions */
        return distance >= 0 && distance < axis->kernel;
    return distance >= 0 && distance % axis->dilation == 0 &&
           distance / axis->dilation < axis->kernel;
}

/* Whether window o covers a position of the input. */
PGI_SHARED bool pgi_axis_covers(const pgi_axis *axis, int64_t o)
{
    return axis->adaptive || pgi_taps_inside(axis, o, 0, axis->in) > 0;
}

/* What window o contributes to the divisor under a rule other than OVERRIDE; 0 if the window
 * covers no position of the input. */
PGI_SHARED int64_t pgi_axis_count(const pgi_axis *axis, poolgrad_divisor rule, int64_t o)
{
    if (axis->adaptive) {
        const pgi_range window = pgi_axis_adaptive_window(axis, o);

        return window.end - window.begin;
    }
    if (rule == POOLGRAD_EXCLUDE)
        return pgi_taps_inside(axis, o, 0, axis->in);
    if (!pgi_axis_covers(axis, o))
        return 0;
    if (rule == POOLGRAD_INCLUDE)
        return axis->kernel;
    return pgi_taps_inside(axis, o, -axis->pad_lo, axis->in + axis->pad_hi);
}

#endif
