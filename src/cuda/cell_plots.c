/* SPDX-License-Identifier: MIT */
/* Gradients of max pooling over 3x3x3 with stride 2 from codes, channels last, by threads that have
 * plots of positions (kernels/plots.h). */
#include "core/integer.h"
#include "core/status.h"
#include "cuda/cell.h"

#include <stdio.h>

/* Bytes of a block's sums. */
#define SHARED                                                                                     \
    (PGI_PLOTS_BLOCK * PGI_PLOTS_CHANNELS * PGI_PLOTS_SLICES * PGI_PLOTS_SIDE * PGI_PLOTS_SIDE *   \
     (int)sizeof(float))

/* Where it was measured to gain (docs/experiments.md); not with one block on a multiprocessor. */
bool pgi_cell_has_plots(const poolgrad_cuda_plan *plan, const pgi_cell_shape *shape)
{
    const pgi_problem *problem = &plan->problem;

    return plan->device->shared >= 2 * SHARED && shape->lanes && shape->axes == 3 &&
           shape->side == 3 && problem->axis[1].kernel == 3 && problem->element_size <= 4;
}

/* The grid, and the segments of D; false if there are too many threads. */
static bool spread(const poolgrad_cuda_plan *plan, pgi_cuda_step *step)
{
    pgi_cuda_plots *all = &step->parameters.plots;
    pgi_cuda_cell *cell = &all->cell;
    int64_t threads = cell->planes / PGI_PLOTS_CHANNELS;

    if (!pgi_mul(threads, (int64_t)all->plots[0] * all->plots[1], &threads) || threads > INT32_MAX)
        return false;
    cell->length = (unsigned)pgi_cuda_segment(plan, step, pgi_ceil_div(threads, PGI_PLOTS_BLOCK),
                                              cell->cells[0], 1);
    cell->segments = (unsigned)pgi_ceil_div(cell->cells[0], cell->length);
    threads *= cell->segments;
    all->threads = (unsigned)threads;
    step->grid_x = (unsigned)pgi_ceil_div(threads, PGI_PLOTS_BLOCK);
    return threads <= INT32_MAX;
}

poolgrad_status pgi_cell_add_plots(poolgrad_cuda_plan *plan, const pgi_cell_shape *shape,
                                   const pgi_tensor *names, size_t codes, bool *possible,
                                   poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    pgi_cuda_plots all = {0};
    char name[PGI_CUDA_NAME];
    pgi_cuda_step *step;

    pgi_cell_fill(&all.cell, plan, shape, &problem->target, &problem->source, names);
    all.cell.groups = all.cell.channels / PGI_PLOTS_CHANNELS;
    all.plots[0] = (unsigned)pgi_ceil_div(all.cell.in[1], PGI_PLOTS_SIDE);
    all.plots[1] = (unsigned)pgi_ceil_div(all.cell.in[2], PGI_PLOTS_SIDE);
    snprintf(name, sizeof name, "pgi_plots_%d%d_%s", all.cell.pad[1], all.cell.pad[2],
             pgi_cuda_type(problem->desc.dtype));
    step = pgi_cuda_step_add(plan, "plots", name, PGI_PLOTS_BLOCK, SHARED);
    step->places_in = codes;
    step->early = true;
    step->parameters.plots = all;
    PGI_TRY(pgi_cuda_step_find(plan, step, error));
    *possible = spread(plan, step);
    return POOLGRAD_OK;
}
