/* SPDX-License-Identifier: MIT */
/*
 * The geometry of one spatial axis: which windows cover which positions, and what they count.
 * Everything here is integers; docs/arithmetic.md derives the formulas.
 */
#ifndef PGI_CORE_AXIS_H
#define PGI_CORE_AXIS_H

#include <poolgrad/poolgrad.h>
#include <stdbool.h>

typedef struct pgi_axis {
    int64_t in, out, kernel, stride, dilation, pad_lo, pad_hi;
    bool adaptive;

    /* Derived. With h = gcd(stride, dilation): q = dilation / h, t = stride / h. The windows that
     * cover a position are q apart, at most `longest` of them. */
    int64_t h, q, t;
    int64_t q_inverse; /* of q modulo t */
    int64_t longest;
    bool filled; /* runs keep their full length; windows outside [0, out) count as +0 */
} pgi_axis;

/* Windows first, first + q, ... ; count of them. In a filled axis they may lie outside [0, out). */
typedef struct pgi_run {
    int64_t first, count;
} pgi_run;

/* Windows [begin, end). */
typedef struct pgi_range {
    int64_t begin, end;
} pgi_range;

static inline int64_t pgi_length(pgi_range range)
{
    return range.end - range.begin;
}

/* An axis of one position and one window: what a problem of lower rank has instead. */
pgi_axis pgi_axis_unit(void);

/* Fills the derived part. The other fields are checked already and out is what follows. */
void pgi_axis_derive(pgi_axis *axis);

/* Number of windows of a non-adaptive axis whose padded extent and span are known to fit in 64
 * bits; false if the end of the last window does not. */
bool pgi_axis_windows(const pgi_axis *axis, poolgrad_rounding rounding, int64_t *out);

/* Windows whose span, first tap to last, meets positions [begin, end); begin < end. Not cut to
 * [0, out). */
pgi_range pgi_axis_reach(const pgi_axis *axis, int64_t begin, int64_t end);

/* Taps of the longest window, padding counted. */
int64_t pgi_axis_longest_window(const pgi_axis *axis);

/* The largest count of any window. */
int64_t pgi_axis_count_bound(const pgi_axis *axis, poolgrad_divisor rule);

#include "core/axis_places.h"

#endif
