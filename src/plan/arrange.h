/* SPDX-License-Identifier: MIT */
/* The same problem in a form that is quicker: window axes that a problem of lower rank lacks carry
 * its channels and batch. */
#ifndef PGI_PLAN_ARRANGE_H
#define PGI_PLAN_ARRANGE_H

#include "plan/tiling.h"

/* Adaptive windows that divide an axis without rest become what they are, windows that tile it. */
void pgi_tile_evenly(pgi_problem *problem);

/* Moves axes of one position and one window before the others, where a problem of lower rank has
 * them. Returns the rank that is left, at least 1. */
int pgi_units_first(pgi_problem *problem);

/* Whether rows of source and target have less than so many elements, and there are enough channels
 * or batch elements to make rows of instead. */
bool pgi_rows_below(const pgi_problem *problem, int64_t elements);

/* With less, windows of few taps are left to sums of such rows: 3x3 on 10x10, f32, takes 3.6 ms
 * against 2.1, 2x2 with stride 2 forward 1.6 against 1.2. On 14x14 it is 4.0 against 4.2 and 2.1
 * against 2.5. */
#define PGI_SHORT_ROW 13

/*
 * How many channels of an average are to make a row, place by place, though they do not lie side by
 * side in the target; 1: none. Batch and channels may have changed places then.
 */
int64_t pgi_lanes_apart(pgi_problem *problem);

/*
 * Moves batch and channels of an average to unit axes, as axes of windows of one place, so that
 * loops over many small planes and rows run inside a unit of work; with `apart` channels stay where
 * they are. No sum and no count changes. Returns which of the three axes is now the first that has
 * windows.
 */
int pgi_arrange(pgi_problem *problem, int rank, bool apart);

#endif
