/* SPDX-License-Identifier: MIT */
/* The memory of one execution, as it is handed over: what every backend checks of it. */
#ifndef PGI_PLAN_BUFFERS_H
#define PGI_PLAN_BUFFERS_H

#include "plan/backend.h"

/* A full-sized copy of the caller's struct, and what of it is source and target. */
poolgrad_status pgi_buffers_read(const pgi_problem *problem, const poolgrad_buffers *buffers,
                                 poolgrad_buffers *read, pgi_work *work, poolgrad_error *error);

/* NULL, alignment, overlap, and the size of the workspace, of which `needed` bytes are. */
poolgrad_status pgi_buffers_check(const pgi_problem *problem, const poolgrad_buffers *buffers,
                                  const pgi_work *work, size_t needed, poolgrad_error *error);

/* Says that an element of the indices is `index`, which its window does not cover. */
poolgrad_status pgi_bad_index(const pgi_problem *problem, int64_t element, int64_t index,
                              poolgrad_error *error);

#endif
