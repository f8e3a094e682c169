/* SPDX-License-Identifier: MIT */
#ifndef PGI_CPU_REF_PARITY_H
#define PGI_CPU_REF_PARITY_H

#include "plan/backend.h"

/* A gradient in the arithmetic of desc.parity, for one (batch, channel) of the target. The
 * workspace holds, for every window that reaches the target, its term (averages) or the place of
 * its winner (int64_t; max from indices or x). */
void pgi_parity_plane(const pgi_problem *problem, const pgi_work *work, int64_t plane,
                      void *workspace);

#endif
