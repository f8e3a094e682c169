/* SPDX-License-Identifier: MIT */
/* Finding winners: the source rows of a sweep over x. */
#ifndef PGI_PLAN_CANDIDATES_H
#define PGI_PLAN_CANDIDATES_H

#include "plan/plan.h"

/* What candidates are held in: words if keys and places fit, else pairs. */
pgi_cells pgi_candidate_cells(const poolgrad_plan *plan);
size_t pgi_candidate_size(const pgi_problem *problem);

/* Keys and places of everything that reaches the sweep's region, from x at the unit's batch and
 * first channel. */
void pgi_load_candidates(const poolgrad_plan *plan, const pgi_sweep *sweep,
                         const pgi_tensor *tensor, const char *x);

/* The places of the winners of a row of windows (d, h, windows), `lanes` channels side by side, in
 * row-major count of the plane, from the best candidates that a sweep found; PGI_NO_PLACE where a
 * window covers nothing. `tensor` and `x` are those that the candidates were loaded from. */
void pgi_winner_places(const pgi_problem *problem, const pgi_tensor *tensor, const char *x,
                       int64_t d, int64_t h, pgi_range windows, int64_t lanes, const void *best,
                       int64_t *places);

/* The position that a place of a plane, counted row-major, stands for. */
void pgi_position_of_place(const pgi_problem *problem, int64_t place, int64_t position[3]);

#endif
