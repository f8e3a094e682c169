/* SPDX-License-Identifier: MIT */
#ifndef PGI_CPU_REF_REFERENCE_H
#define PGI_CPU_REF_REFERENCE_H

#include "plan/backend.h"

/* The definition of docs/arithmetic.md, read aloud, for one (batch, channel) of the target. The
 * workspace holds the terms and the sums after each axis but the last, or a plane of sums. */
void pgi_reference_plane(const pgi_problem *problem, const pgi_scale *scale, const pgi_work *work,
                         int64_t plane, void *workspace);

#endif
