/* SPDX-License-Identifier: MIT */
/* Window axes that a problem of lower rank lacks can carry its channels and batch. */
#ifndef PGI_PLAN_ARRANGE_H
#define PGI_PLAN_ARRANGE_H

#include "plan/tiling.h"

/*
 * Moves batch and channels of an average to unit axes, as axes of windows of one place, so that
 * loops over many small planes and rows run inside a unit of work. No sum and no count changes.
 * Returns which of the three axes is now the first that has windows.
 */
int pgi_arrange(pgi_problem *problem);

#endif
