/* SPDX-License-Identifier: MIT */
/* A max gradient from x as two problems: the winners of its windows, as a forward pass finds them,
 * and the gradient from these. */
#ifndef PGI_CUDA_WINNERS_H
#define PGI_CUDA_WINNERS_H

#include "cuda/plan.h"

/* The forward problem for the windows that the gradient needs, and room for their indices: places
 * in the plane, 32 bits wide if that suffices, or `size` bytes unless that is 0. */
poolgrad_status pgi_cuda_winners(poolgrad_cuda_plan *plan, size_t size, pgi_problem *winners,
                                 size_t *places, poolgrad_error *error);

/* Turns the gradient from x into one from those. */
void pgi_cuda_from_winners(pgi_problem *gradient, const pgi_problem *winners);

#endif
