/* SPDX-License-Identifier: MIT */
/* Rows of tensors: where they begin in memory, loading and storing one. */
#ifndef PGI_PLAN_ROWS_H
#define PGI_PLAN_ROWS_H

#include "plan/plan.h"

/* Memory at a unit's batch and first channel; the spatial axes are still at the view's origin. */
const char *pgi_unit_memory(const pgi_problem *problem, const pgi_tensor *tensor,
                            const pgi_unit *unit, const void *first, size_t element_size);

/* Elements from the view's spatial origin to (d, h, w), places of the whole tensor. */
int64_t pgi_row_offset(const pgi_tensor *tensor, int64_t d, int64_t h, int64_t w);

/* Scales, rounds and stores `places` groups of `lanes` reals from (d, h, w) on in the target. */
void pgi_store_row(const poolgrad_plan *plan, char *memory, int64_t d, int64_t h, int64_t w,
                   int64_t places, int64_t lanes, const char *reals);

/* dy or x of (d, h, w) on, divided by `divisors` (NULL: 1; otherwise one, or one per place). */
void pgi_load_row(const poolgrad_plan *plan, const char *memory, int64_t d, int64_t h, int64_t w,
                  int64_t places, int64_t lanes, const char *divisors, bool uniform, char *reals);

/* Whether elements of a target row lie side by side, as its cells do. */
bool pgi_is_dense(const poolgrad_plan *plan, int64_t lanes);

/* A row of sums to (d, h, w) on, reduced and stored at once: the runs take turns. Only if beta is 0
 * and the target is dense. */
void pgi_finish_row(const poolgrad_plan *plan, const pgi_work *work, char *memory, int64_t d,
                    int64_t h, int64_t w, const pgi_rows *runs, int phases, int64_t places,
                    int64_t lanes);

#endif
