/* SPDX-License-Identifier: MIT */
#include "naive.h"

#include "walk.h"

#include <math.h>

void sup_naive_avg(const poolgrad_desc *resolved, const double *x, double *y, double *bound)
{
    sup_walk walk;
    sup_walk_begin(&walk, resolved, &resolved->y, &resolved->x);
    while (sup_walk_next(&walk)) {
        double sum = 0, absolute = 0, count = (double)walk.count;
        for (int64_t at = sup_walk_tap(&walk); at >= 0; at = sup_walk_tap(&walk)) {
            sum += x[at];
            absolute += fabs(x[at]);
        }
        y[walk.window] = walk.covers ? sum / count : 0;
        if (bound)
            bound[walk.window] = walk.covers ? absolute / fabs(count) : 0;
    }
}

/* 1 if a value takes the place of the best of those before it. */
static int beats(poolgrad_nan rule, double value, double best)
{
    switch (rule) {
    case POOLGRAD_NAN_FIRST:
        return !isnan(best) && (isnan(value) || value > best);
    case POOLGRAD_NAN_LAST:
        return isnan(value) || (!isnan(best) && value > best);
    case POOLGRAD_NAN_SKIP:
        return !isnan(value) && (isnan(best) || value > best);
    case POOLGRAD_NAN_LEADING: /* the best is NaN only if it was the first of all */
        return !isnan(value) && !isnan(best) && value > best;
    }
    return 0;
}

void sup_naive_winners(const poolgrad_desc *resolved, const double *x, int64_t *winners)
{
    sup_walk walk;
    sup_walk_begin(&walk, resolved, sup_view_windows(resolved), &resolved->x);
    while (sup_walk_next(&walk)) {
        int64_t winner = -1;
        double best = 0;
        for (int64_t at = sup_walk_tap(&walk); at >= 0 && walk.held; at = sup_walk_tap(&walk)) {
            if (winner < 0 || beats(resolved->nan, x[at], best)) {
                winner = walk.position;
                best = x[at];
            }
        }
        winners[walk.window] = winner;
        /* An all-NaN window with NAN_SKIP has kept its first position: nothing beats it. */
    }
}

void sup_random_winners(const poolgrad_desc *resolved, sup_rng *rng, int64_t *winners)
{
    /* The taps are those of the whole input, wherever the dx view is. */
    poolgrad_view whole = resolved->dx;
    for (int axis = 0; axis < resolved->rank + 2; axis++) {
        whole.offset[axis] = 0;
        whole.extent[axis] = axis == 0   ? resolved->batch
                             : axis == 1 ? resolved->channels
                                         : resolved->in[axis - 2];
    }
    sup_walk walk;
    sup_walk_begin(&walk, resolved, &resolved->dy, &whole);
    while (sup_walk_next(&walk)) {
        int64_t winner = 0;
        for (int axis = 0; axis < resolved->rank && walk.covers; axis++) {
            const sup_taps *taps = &walk.axis[axis];
            int64_t tap = sup_rng_range(rng, taps->first, taps->end - 1);
            winner = winner * resolved->in[axis] + taps->start + tap * taps->step;
        }
        if (!walk.covers || (resolved->no_winner && sup_rng_chance(rng, 10)))
            winner = -1;
        winners[walk.window] = winner;
    }
}

void sup_naive_max(const poolgrad_desc *resolved, const double *x, const int64_t *winners,
                   double *y)
{
    sup_walk walk;
    sup_walk_begin(&walk, resolved, &resolved->y, &resolved->x);
    while (sup_walk_next(&walk)) {
        int64_t winner = winners[walk.window];
        y[walk.window] =
            winner < 0
                ? (double)-INFINITY
                : x[sup_plane_place(resolved, &resolved->x, walk.batch, walk.channel, winner)];
    }
}

/* One addition in the compute type, in a statement of its own so that nothing is contracted. */
static double add(const poolgrad_desc *desc, double a, double b)
{
    if (desc->dtype == POOLGRAD_F64)
        return a + b;
    float sum = (float)a + (float)b;
    return (double)sum;
}

static double multiply(const poolgrad_desc *desc, double a, double b)
{
    if (desc->dtype == POOLGRAD_F64)
        return a * b;
    float product = (float)a * (float)b;
    return (double)product;
}

void sup_naive_max_grad(const poolgrad_desc *resolved, const int64_t *winners, const double *dy,
                        double *dx, double *bound)
{
    int64_t total = sup_view_count(resolved, &resolved->dx);
    for (int64_t i = 0; i < total; i++) {
        dx[i] = 0;
        if (bound)
            bound[i] = 0;
    }
    sup_walk walk;
    sup_walk_begin(&walk, resolved, &resolved->dy, &resolved->dx);
    while (sup_walk_next(&walk)) {
        int64_t winner = winners[walk.window];
        int64_t at =
            winner < 0 ? -1
                       : sup_plane_place(resolved, &resolved->dx, walk.batch, walk.channel, winner);
        if (at < 0)
            continue;
        dx[at] = add(resolved, dx[at], dy[walk.window]);
        if (bound)
            bound[at] += fabs(dy[walk.window]);
    }
}

static double stored(const poolgrad_desc *desc, double value)
{
    double element; /* room for any type */
    sup_store(desc->dtype, &element, 0, value);
    return sup_load(desc->dtype, &element, 0);
}

void sup_naive_near_y_grad(const poolgrad_desc *resolved, const double *x, const double *y,
                           const double *dy, double *dx, double *bound)
{
    int64_t total = sup_view_count(resolved, &resolved->dx);
    for (int64_t i = 0; i < total; i++) {
        dx[i] = 0;
        if (bound)
            bound[i] = 0;
    }
    sup_walk walk;
    sup_walk_begin(&walk, resolved, &resolved->dy, &resolved->dx);
    while (sup_walk_next(&walk)) {
        int64_t at = sup_walk_tap(&walk);
        for (; at >= 0; at = sup_walk_tap(&walk)) {
            int64_t there =
                sup_plane_place(resolved, &resolved->x, walk.batch, walk.channel, walk.position);
            if (!(fabs(stored(resolved, x[there] - y[walk.window])) < stored(resolved, 1e-5)))
                continue;
            dx[at] += dy[walk.window];
            if (bound)
                bound[at] += fabs(dy[walk.window]);
        }
    }
}

void sup_naive_scale(const poolgrad_desc *resolved, const double *previous, double *values)
{
    double alpha = sup_factor(resolved, resolved->alpha),
           beta = sup_factor(resolved, resolved->beta);
    int64_t total = sup_view_count(resolved, sup_view_written(resolved));
    for (int64_t i = 0; i < total; i++) {
        values[i] = multiply(resolved, alpha, values[i]);
        if (beta != 0) {
            double kept = multiply(resolved, beta, previous[i]);
            values[i] = add(resolved, values[i], kept);
        }
    }
}
