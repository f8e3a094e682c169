/* SPDX-License-Identifier: MIT */
/*
 * The second oracle for the forward passes and the max gradient, straight from their definitions:
 * every window is walked tap by tap, nothing is shared between windows, nothing is taken from the
 * library. (The average gradient is in scatter.h, with the tolerances for all of them.)
 *
 * Descriptors are resolved. Arrays of doubles and winners are in logical order of their view
 * (batch, channels, spatial axes); views may be boxes. "Windows" are those of the dy view for
 * gradients, of the y view forward. A winner is a place in the whole plane, (d*H + h)*W + w, or -1
 * where there is none; indices.h turns it into the index that a descriptor asks for.
 */
#ifndef SUPPORT_NAIVE_H
#define SUPPORT_NAIVE_H

#include "data.h"

/*
 * AVG: y from the x view, in f64, without alpha and beta. A window that covers no position of the
 * input gives 0. bound[i] (bound may be NULL) is the sum of |x| over the taps, divided by |count|.
 */
void sup_naive_avg(const poolgrad_desc *resolved, const double *x, double *y, double *bound);

/*
 * MAX, and MAX_GRAD from x: the winner of every window: the first maximum in row-major order, -0
 * and +0 being equal; with NAN_FIRST the first NaN if there is one, with NAN_LAST the last; with
 * NAN_SKIP NaN counts only in a window of nothing else, whose first position inside the input then
 * wins; with NAN_LEADING only if it is at that first position. Padding never wins.
 * -1 for a window that covers no position, and for one that the x view does not hold completely
 * (a dy view may be larger than what the dx view needs; such windows do not reach it).
 */
void sup_naive_winners(const poolgrad_desc *resolved, const double *x, int64_t *winners);

/* For every window of a MAX_GRAD any tap inside the input, without looking at values; -1 if there
 * is none, and one time in ten if the descriptor allows it. Costs nothing that grows with the
 * window. */
void sup_random_winners(const poolgrad_desc *resolved, sup_rng *rng, int64_t *winners);

/* MAX: y, without alpha and beta, from the x view and its winners; -inf where there is none. */
void sup_naive_max(const poolgrad_desc *resolved, const double *x, const int64_t *winners,
                   double *y);

/*
 * MAX_GRAD: dx, without alpha and beta, from the dy view and its winners. Exactly as the contract
 * says: one window at a time in increasing row-major order, added in the compute type to an
 * accumulator that starts at +0. bound (may be NULL) as for the average gradient.
 */
void sup_naive_max_grad(const poolgrad_desc *resolved, const int64_t *winners, const double *dy,
                        double *dx, double *bound);

/*
 * MAX_GRAD with NEAR_Y: every tap with |x - y| < 1e-5, the distance rounded to the type, gets the
 * whole dy. In row-major order of the windows, which is not TensorFlow's: equal to the library's
 * result but for rounding. bound may be NULL.
 */
void sup_naive_near_y_grad(const poolgrad_desc *resolved, const double *x, const double *y,
                           const double *dy, double *dx, double *bound);

/*
 * values[i] = alpha * values[i] + beta * previous[i], every operation in the compute type, as the
 * contract says: where values are exact (max), storing them gives the library's bits. values and
 * previous are those of the dx or y view; previous may be NULL if beta is 0.
 */
void sup_naive_scale(const poolgrad_desc *resolved, const double *previous, double *values);

#endif
