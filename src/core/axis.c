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

int64_t pgi_axis_longest_window(const pgi_axis *axis)
{
    int64_t rest;

    if (!axis->adaptive)
        return axis->kernel;
    /* Windows have in / out positions and a rest of one, counted in parts of a position, and begin
     * at all multiples of gcd(rest, out) such parts: with a larger rest some meet two more. */
    rest = axis->in % axis->out;
    return axis->in / axis->out + (rest == 0 ? 0 : rest == gcd(rest, axis->out) ? 1 : 2);
}

int64_t pgi_axis_count_bound(const pgi_axis *axis, poolgrad_divisor rule)
{
    if (axis->adaptive)
        return axis->in;
    if (rule == POOLGRAD_INCLUDE)
        return axis->kernel;
    if (rule == POOLGRAD_EXCLUDE)
        return pgi_min(axis->kernel, axis->in);
    return pgi_taps_inside(axis, 0, -axis->pad_lo, axis->in + axis->pad_hi);
}
