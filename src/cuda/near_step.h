/* SPDX-License-Identifier: MIT */
/* Steps whose kernels have the sources of a target from a table. */
#ifndef PGI_CUDA_NEAR_STEP_H
#define PGI_CUDA_NEAR_STEP_H

#include "cuda/plan.h"

/* What neighbours a thread has. */
typedef enum pgi_near_mode {
    PGI_NEAR_SINGLE, /* a place */
    PGI_NEAR_PLACES, /* neighbours in a plane */
    PGI_NEAR_PAIRS,  /* the same, two of which always have one source */
    PGI_NEAR_SPAN,   /* the same, of a row with stride 2, which have one or two sources in turn */
    PGI_NEAR_LANES   /* channels of a place */
} pgi_near_mode;

extern const char *const pgi_near_mode_names[];

/* Places of a plane of the target. */
int64_t pgi_near_places(const pgi_problem *problem);

/* Planes that threads see as one: enough for some blocks, and such that vectors of `width` do not
 * straddle the end. 0 if there is no such number. */
int64_t pgi_near_grouped(const pgi_problem *problem, int64_t width);

/* Sources of a target at most, on an axis. */
int64_t pgi_near_most_sources(const pgi_gather *gather);

/* Whether the entries of its table have the taps of windows, not their first two sources. */
bool pgi_near_by_taps(const pgi_problem *problem);

/* Adds the step, with its table; *possible is false if that cannot be. */
poolgrad_status pgi_near_step(poolgrad_cuda_plan *plan, const pgi_problem *problem,
                              const char *kernel, pgi_near_mode mode, int64_t width, bool *possible,
                              pgi_cuda_step **added, poolgrad_error *error);

#endif
