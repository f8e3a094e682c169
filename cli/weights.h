/* SPDX-License-Identifier: MIT */
/*
 * The numbers of a picture. All come from the library: plans executed on impulses and on ones.
 */
#ifndef CLI_WEIGHTS_H
#define CLI_WEIGHTS_H

#include "cli.h"

/* More cells than this per axis are not drawn. */
#define CLI_MOST_CELLS 40

/* matrix[window * positions + position]: what of the window's dy reaches the position, on one axis.
 * (With div=N and several axes the divisor belongs to none of them; the weights are then 1.) */
typedef struct cli_axis_weights {
    int64_t positions, windows; /* shown */
    int64_t first_window;       /* the number of the first one shown */
    double *matrix;
    double *sum; /* over all windows, shown or not: dx for dy = 1 */
} cli_axis_weights;

int cli_axis_weights_make(const char *verb, const char *problem, const poolgrad_desc *resolved,
                          int axis, cli_axis_weights *weights);
void cli_axis_weights_free(cli_axis_weights *weights);

/* dx of one batch and channel for dy = 1, over the last two axes (rank 2 and 3), at position
 * `slice` of the first axis if there are three. grid[rows * columns], the caller's, with rows and
 * columns the extents cut to CLI_MOST_CELLS. */
int cli_plane_weights(const char *verb, const char *problem, const poolgrad_desc *resolved,
                      int64_t slice, double *grid);

#endif
