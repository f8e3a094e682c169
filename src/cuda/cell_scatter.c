/* SPDX-License-Identifier: MIT */
/* Gradients of max pooling over 3x3x3 with stride 2, channels first, added in shared memory
 * (kernels/scatter.h). */
#include "core/integer.h"
#include "core/status.h"
#include "cuda/cell.h"

#include <stdio.h>

/* Threads of a block at most; kernels are compiled for no more. */
#define MOST_THREADS 256
#define WARP         32

/* Positions of a row of a tile at most. */
#define MOST_COLUMNS 128

/* Where it was measured to gain: docs/experiments.md. */
bool pgi_cell_scatters(const pgi_problem *problem, const pgi_cell_shape *shape)
{
    return !shape->lanes && shape->axes == 3 && shape->side == 3 && problem->axis[1].kernel == 3 &&
           problem->element_size <= 4;
}

/* `count` in equal parts of at most `most`, each a multiple of `unit`: how long they are. */
static int part_of(int64_t count, int64_t most, int64_t unit)
{
    const int64_t parts = pgi_ceil_div(count, pgi_max(unit, most));

    return (int)(pgi_ceil_div(pgi_ceil_div(count, parts), unit) * unit);
}

/* Tiles as large as their windows have threads; how many threads. */
static int choose_tiles(pgi_cuda_scatter *all)
{
    const pgi_cuda_cell *cell = &all->cell;
    int64_t threads;

    all->tile[1] = part_of(cell->in[2], MOST_COLUMNS, PGI_SCATTER_WIDTH);
    all->tiles[1] = (int)pgi_ceil_div(cell->in[2], all->tile[1]);
    all->columns = (int)pgi_min(all->tile[1] / 2 + 1, cell->out[2]);
    all->rows = MOST_THREADS / all->columns;
    all->tile[0] = part_of(cell->in[1], 2 * (all->rows * PGI_SCATTER_PASSES - 1), 2);
    all->tiles[0] = (int)pgi_ceil_div(cell->in[1], all->tile[0]);
    all->rows = (int)pgi_ceil_div(pgi_min(all->tile[0] / 2 + 1, cell->out[1]), PGI_SCATTER_PASSES);
    all->vectors = all->tile[1] / PGI_SCATTER_WIDTH;
    threads = pgi_max((int64_t)all->columns * all->rows, all->vectors);
    threads = pgi_ceil_div(threads, WARP) * WARP;
    all->lines = (int)(threads / all->vectors);
    all->row_bytes = (unsigned)all->tile[1] * (unsigned)sizeof(float);
    all->tile_bytes = (unsigned)all->tile[0] * all->row_bytes;
    all->down_places = 2 * all->rows * cell->in[2];
    all->down_bytes = 2 * (unsigned)all->rows * all->row_bytes;
    return (int)threads;
}

/* The grid, and the segments of D; false if there are too many blocks. */
static bool spread(const poolgrad_cuda_plan *plan, pgi_cuda_step *step)
{
    pgi_cuda_scatter *all = &step->parameters.scatter;
    pgi_cuda_cell *cell = &all->cell;
    int64_t blocks = cell->planes;

    if (!pgi_mul(blocks, (int64_t)all->tiles[0] * all->tiles[1], &blocks) || blocks > INT32_MAX)
        return false;
    cell->length = (unsigned)pgi_cuda_segment(plan, step, blocks, cell->cells[0], 1);
    cell->segments = (unsigned)pgi_ceil_div(cell->cells[0], cell->length);
    blocks *= cell->segments;
    step->grid_x = (unsigned)blocks;
    return blocks <= INT32_MAX;
}

poolgrad_status pgi_cell_add_scatter(poolgrad_cuda_plan *plan, const pgi_cell_shape *shape,
                                     const pgi_tensor *names, int name_bits, size_t codes,
                                     bool *possible, poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    pgi_cuda_scatter all = {0};
    char name[PGI_CUDA_NAME];
    pgi_cuda_step *step;
    int threads;

    pgi_cell_fill(&all.cell, plan, shape, &problem->target, &problem->source, names);
    all.cell.checks = plan->checks;
    all.cell.vectors = pgi_cell_in_vectors(&problem->target, false, PGI_SCATTER_WIDTH);
    threads = choose_tiles(&all);
    snprintf(name, sizeof name, "pgi_scatter_%d_%s", name_bits, pgi_cuda_type(problem->desc.dtype));
    step = pgi_cuda_step_add(plan, "scatter", name, threads, 3 * (int)all.tile_bytes);
    step->places_in = codes;
    step->early = codes != PGI_CUDA_NOWHERE;
    step->parameters.scatter = all;
    PGI_TRY(pgi_cuda_step_find(plan, step, error));
    *possible = spread(plan, step);
    return POOLGRAD_OK;
}
