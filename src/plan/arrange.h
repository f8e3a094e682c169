/* SPDX-License-Identifier: MIT */
/* The same problem in a form that is quicker: window axes that a problem of lower rank lacks carry
 * its channels and batch. */
#ifndef PGI_PLAN_ARRANGE_H
#define PGI_PLAN_ARRANGE_H

#include "plan/tiling.h"

/* Adaptive windows that divide an axis without rest become what they are, windows that tile it. */
void pgi_tile_evenly(pgi_problem *problem);

/* Makes window axes of windows of one place part of the batch or of the channels, where they
 * continue them, or these have one element; and where channels are few and rows short, the batch
 * part of the channels. No sum, no order of taps and no index changes. */
void pgi_join_axes(pgi_problem *problem);

/* Moves axes of one position and one window before the others, where a problem of lower rank has
 * them. Returns the rank that is left, at least 1. */
int pgi_units_first(pgi_problem *problem);

/* Whether rows of source and target have less than so many elements, and there are enough channels
 * or batch elements to make rows of instead. */
bool pgi_rows_below(const pgi_problem *problem, int64_t elements);

/* With less, windows of few taps are left to sums of such rows (Zen 5, two threads, on 14x14, hot:
 * 2x2 with stride 2 forward in f32 and bf16, avx512, 0.35 and 0.33 ms against 1.22 and 0.95, avx2,
 * 0.43 and 0.41 against 0.85 and 1.62; gradient of 3x3 with stride 2 0.50 and 0.48 against 0.72 and
 * 0.76, 0.54 and 0.84 against 0.71 and 1.31). */
#define PGI_SHORT_ROW 15

/* Batch and channels change places, in all tensors and in the indexing. */
void pgi_exchange_channels(pgi_problem *problem);

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
