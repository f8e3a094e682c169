/* SPDX-License-Identifier: MIT */
/*
 * The second oracle: the average gradient straight from its definition, in f64.
 *
 * For every window, for every tap of it, dy / count is added to the position the tap lies on. No
 * separability, no sharing of sums, nothing taken from the library: what it gets wrong, it gets
 * wrong for other reasons than the library does. Its cost is the volume of the windows, clipped to
 * the input. Arrays of doubles are in logical order (batch, channels, spatial axes of the view).
 * The tolerances serve the oracles of the other operators (naive.h) as well.
 */
#ifndef SUPPORT_SCATTER_H
#define SUPPORT_SCATTER_H

#include <poolgrad/poolgrad.h>

/*
 * dx, the gradient of the dx view from the dy view of a resolved descriptor, without alpha and
 * beta. bound[i] (bound may be NULL) is the sum of the absolute values of what was added to dx[i].
 */
void sup_scatter_avg_grad(const poolgrad_desc *resolved, const double *dy, double *dx,
                          double *bound);

/*
 * values[i] = alpha * values[i] + beta * previous[i], elements of the dx view (forward: of y), with
 * alpha and beta rounded to the compute type first, and bound likewise with absolute values.
 * previous may be NULL if beta is 0, bound always.
 */
void sup_scatter_scale(const poolgrad_desc *resolved, const double *previous, double *values,
                       double *bound);

/*
 * How far a result of the library, computed and stored in the descriptor's type, may be from
 * `value`, an element that an oracle (one above or in naive.h) and sup_scatter_scale computed
 * together with `bound`; for every op:
 *
 *     bound * u * (depth + 5) + bound * 2^-53 * (terms + 3) + underflow + ulp / 2
 *
 * u is half the compute type's epsilon; terms the most numbers that are added up for one element,
 * windows that reach a position or taps of a window, which is also the roundings of the oracle;
 * depth the most additions that one of them passes through, 2 log2 of their number on each axis,
 * or all of them for the max gradient; 5 pays for the division, the conversion of its divisor, the
 * two products and the sum of alpha and beta; underflow the halves of the smallest denormal that
 * divisions and products may lose; and the ulp is the storage type's at value. With parity u is
 * that of the type in which the system rounds every step, and depth is all terms; an f16 that
 * cannot hold a count or its reciprocal costs everything.
 */
double sup_scatter_tolerance(const poolgrad_desc *resolved, double value, double bound);

/* 1 if `got` agrees with `value`: NaN with NaN, an infinity with the same infinity (or with a
 * value that close to overflow), a number within the tolerance. */
int sup_scatter_agrees(const poolgrad_desc *resolved, double got, double value, double bound);

#endif
