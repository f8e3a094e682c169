/* SPDX-License-Identifier: MIT */
/* Finding winners: the source rows of a sweep over x. */
#ifndef PGI_PLAN_CANDIDATES_H
#define PGI_PLAN_CANDIDATES_H

#include "plan/plan.h"

/* Keys and places of everything that reaches the sweep's region, from x at the unit's batch and
 * first channel. */
void pgi_load_candidates(const poolgrad_plan *plan, const pgi_sweep *sweep,
                         const pgi_tensor *tensor, const char *x);

/* The position that a place of a plane, counted row-major, stands for. */
void pgi_position_of_place(const pgi_problem *problem, int64_t place, int64_t position[3]);

#endif
