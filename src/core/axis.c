/* SPDX-License-Identifier: MIT */
#include "core/axis.h"

#include "core/integer.h"

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* a * b mod m for 0 <= a, b < m, without a 128-bit product. */
static int64_t multiply_mod(int64_t a, int64_t b, int64_t m)
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

/* x with a * x = 1 mod m, for coprime a >= 1, m >= 1 (extended Euclid; |x| stays below m). */
static int64_t inverse_mod(int64_t a, int64_t m)
{
    int64_t x = 0, x_next = 1, r = m, r_next = a % m;

    while (r_next) {
        const int64_t quotient = r / r_next;
        const int64_t r_rest = r - quotient * r_next;
        const int64_t x_rest = x - quotient * x_next;

        r = r_next;
        r_next = r_rest;
        x = x_next;
        x_next = x_rest;
    }
    return x < 0 ? x + m : x;
}

pgi_axis pgi_axis_unit(void)
{
    pgi_axis axis = {.in = 1, .out = 1, .kernel = 1, .stride = 1, .dilation = 1};

    pgi_axis_derive(&axis);
    return axis;
}

void pgi_axis_derive(pgi_axis *axis)
{
    if (axis->adaptive) {
        axis->h = axis->q = axis->t = 1;
        axis->q_inverse = 0;
        /* Neighbouring windows overlap by at most one position, so with in >= out a position has
         * at most 2 windows; with in < out it has up to ceil(out / in) + 1. */
        axis->longest = axis->in ? pgi_min(axis->out, pgi_ceil_div(axis->out, axis->in) + 1) : 0;
        axis->filled = false;
        return;
    }
    axis->h = gcd(axis->stride, axis->dilation);
    axis->q = axis->dilation / axis->h;
    axis->t = axis->stride / axis->h;
    axis->q_inverse = inverse_mod(axis->q, axis->t);
    axis->longest = pgi_ceil_div(axis->kernel, axis->t);
    /* (longest - 1) * q <= (kernel - 1) * dilation, which was checked to fit. */
    axis->filled = (axis->longest - 1) * axis->q < axis->out;
}

bool pgi_axis_windows(const pgi_axis *axis, poolgrad_rounding rounding, int64_t *out)
{
    const int64_t padded = axis->in + axis->pad_lo + axis->pad_hi;
    const int64_t span = (axis->kernel - 1) * axis->dilation + 1;
    const int64_t room = padded - span; /* both are >= 0 */
    int64_t windows, last;

    windows = rounding == POOLGRAD_CEIL ? pgi_ceil_div(room, axis->stride)
                                        : pgi_floor_div(room, axis->stride);
    windows = pgi_max(windows + 1, 0);
    if (windows > 0) {
        if (!pgi_mul(windows - 1, axis->stride, &last))
            return false;
        if (rounding == POOLGRAD_CEIL && last >= axis->in + axis->pad_lo) {
            windows--;
            last -= axis->stride;
        }
        /* the last tap of the last window must be addressable */
        if (!pgi_add(last, span, &last))
            return false;
    }
    *out = windows;
    return true;
}

pgi_run pgi_run_clip(pgi_run run, int64_t q, int64_t places)
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

pgi_run pgi_axis_run(const pgi_axis *axis, int64_t p)
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
    tap = axis->t == 1 ? 0
                       : (axis->q == 1 ? place % axis->t
                                       : multiply_mod(place % axis->t, axis->q_inverse, axis->t));
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

pgi_range pgi_axis_reach(const pgi_axis *axis, int64_t begin, int64_t end)
{
    pgi_range range;

    if (axis->adaptive) {
        const pgi_run last = pgi_axis_run(axis, end - 1);

        range.begin = pgi_axis_run(axis, begin).first;
        range.end = last.first + last.count;
        return range;
    }
    range.begin =
        pgi_ceil_div(begin + axis->pad_lo - (axis->kernel - 1) * axis->dilation, axis->stride);
    range.end = (end - 1 + axis->pad_lo) / axis->stride + 1;
    return range;
}

/* Taps of window o that lie in [lo, hi). */
static int64_t taps_inside(const pgi_axis *axis, int64_t o, int64_t lo, int64_t hi)
{
    const int64_t start = o * axis->stride - axis->pad_lo;
    int64_t first, last;

    if (start >= lo && start + (axis->kernel - 1) * axis->dilation < hi)
        return axis->kernel; /* nearly always: two divisions less */
    first = start >= lo ? 0 : pgi_ceil_div(lo - start, axis->dilation);
    last = pgi_min(axis->kernel - 1, pgi_floor_div(hi - 1 - start, axis->dilation));
    return pgi_max(0, last - first + 1);
}

pgi_range pgi_axis_adaptive_window(const pgi_axis *axis, int64_t o)
{
    return (pgi_range){o * axis->in / axis->out, pgi_ceil_div((o + 1) * axis->in, axis->out)};
}

int64_t pgi_axis_first_tap(const pgi_axis *axis, int64_t o)
{
    const int64_t start = o * axis->stride - axis->pad_lo;

    if (axis->adaptive)
        return pgi_axis_adaptive_window(axis, o).begin;
    return start >= 0 ? start : start + pgi_ceil_div(-start, axis->dilation) * axis->dilation;
}

bool pgi_axis_has_tap(const pgi_axis *axis, int64_t o, int64_t p)
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

bool pgi_axis_covers(const pgi_axis *axis, int64_t o)
{
    return axis->adaptive || taps_inside(axis, o, 0, axis->in) > 0;
}

int64_t pgi_axis_count(const pgi_axis *axis, poolgrad_divisor rule, int64_t o)
{
    if (axis->adaptive) {
        const pgi_range window = pgi_axis_adaptive_window(axis, o);

        return window.end - window.begin;
    }
    if (rule == POOLGRAD_EXCLUDE)
        return taps_inside(axis, o, 0, axis->in);
    if (!pgi_axis_covers(axis, o))
        return 0;
    if (rule == POOLGRAD_INCLUDE)
        return axis->kernel;
    return taps_inside(axis, o, -axis->pad_lo, axis->in + axis->pad_hi);
}

int64_t pgi_axis_count_bound(const pgi_axis *axis, poolgrad_divisor rule)
{
    if (axis->adaptive)
        return axis->in;
    if (rule == POOLGRAD_INCLUDE)
        return axis->kernel;
    if (rule == POOLGRAD_EXCLUDE)
        return pgi_min(axis->kernel, axis->in);
    return taps_inside(axis, 0, -axis->pad_lo, axis->in + axis->pad_hi);
}
