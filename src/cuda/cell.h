/* SPDX-License-Identifier: MIT */
/* Strategy `cell` in three files: what they share. */
#ifndef PGI_CUDA_CELL_H
#define PGI_CUDA_CELL_H

#include "cuda/plan.h"

/* What the names of kernels say. */
typedef struct pgi_cell_shape {
    int side, padding, axes; /* of windows, before W, with cells */
    bool lanes;              /* channels are last */
} pgi_cell_shape;

/* What all kernels are told; `names` are indices, or codes in a row-major order of the layout. */
void pgi_cell_fill(pgi_cuda_cell *cell, const poolgrad_cuda_plan *plan, const pgi_cell_shape *shape,
                   const pgi_tensor *positions, const pgi_tensor *windows, const pgi_tensor *names);

/* Whether neighbours make vectors of `count`: no row or place ends within one. */
bool pgi_cell_in_vectors(const pgi_tensor *tensor, bool lanes, int64_t count);

/* Whether the gradient is added in shared memory; and the step for that. Names have so many bits,
 * 8 of codes, which are in the workspace. */
bool pgi_cell_scatters(const pgi_problem *problem, const pgi_cell_shape *shape);
poolgrad_status pgi_cell_add_scatter(poolgrad_cuda_plan *plan, const pgi_cell_shape *shape,
                                     const pgi_tensor *names, int name_bits, size_t codes,
                                     bool *possible, poolgrad_error *error);

/* Whether the gradient is added by threads that have plots, from codes; and the step for that. */
bool pgi_cell_has_plots(const poolgrad_cuda_plan *plan, const pgi_cell_shape *shape);
poolgrad_status pgi_cell_add_plots(poolgrad_cuda_plan *plan, const pgi_cell_shape *shape,
                                   const pgi_tensor *names, size_t codes, bool *possible,
                                   poolgrad_error *error);

#endif
