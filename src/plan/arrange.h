/* SPDX-License-Identifier: MIT */
/* Window axes that a problem of lower rank lacks can carry its channels and batch. */
#ifndef PGI_PLAN_ARRANGE_H
#define PGI_PLAN_ARRANGE_H

#include "plan/tiling.h"

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
int pgi_arrange(pgi_problem *problem, bool apart);

#endif
