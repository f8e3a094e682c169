/* SPDX-License-Identifier: MIT */
/*
 * Losses that compare two images a and b window by window, through the means of a, b, a*a, b*b and
 * a*b over every window: structural similarity, local correlation. The loss is minus the mean of a
 * score; its gradient by b comes back through the same pooling.
 *
 *     maps     a, b, aa, bb, ab, stacked along the batch       written by a loop
 *     means    of the maps                                     one forward call
 *     slopes   of the score by the means of b, bb, ab          written by a loop
 *     spread   the slopes back over their windows              one gradient call
 *     db       = spread_b + 2 b spread_bb + a spread_ab        written by a loop
 *
 * The gradient is checked by finite differences of the loss in double precision.
 */
#ifndef WORKLOADS_WINDOWS_H
#define WORKLOADS_WINDOWS_H

#include "work.h"

enum {
    MEAN_A,
    MEAN_B,
    MEAN_AA,
    MEAN_BB,
    MEAN_AB,
    MEANS
};

enum {
    SLOPE_B,
    SLOPE_BB,
    SLOPE_AB,
    SLOPES
};

typedef struct windows_loss {
    const char *name, *shape;
    const char *problem;  /* the forward pass of one map */
    int64_t tiny_size[3]; /* with --tiny */

    /* The slopes of `count` windows from their means; returns the sum of the scores. */
    double (*slopes)(size_t count, const float *const mean[MEANS], float *const slope[SLOPES]);

    /* The score of one window. */
    double (*score)(const double mean[MEANS]);
} windows_loss;

/* The main function of such a loss. */
int windows_main(int argc, char **argv, const windows_loss *loss);

#endif
