/* SPDX-License-Identifier: MIT */
/* Strategy: averages of rank 3 over windows of equal sides, stride 1, both ways, with few channels
 * side by side. Blocks march along H with layers of D. */
#include "core/dtype.h"
#include "core/integer.h"
#include "core/status.h"
#include "cuda/plan.h"

#include <math.h>
#include <stdio.h>

/* Threads that work as long as one: a warp on each of a multiprocessor's four schedulers. What a
 * step costs whatever a tile has, and what a target does, each with one column as 1. */
#define TOGETHER    128
#define STEP_COST   48
#define TARGET_COST 0.6

/* Rows that a segment costs more than it has targets, beside those of a window. */
#define LOST 8

/* The most that a tile may have, for every column of targets that there is. */
#define MOST_WASTE 2.5

#define SIDE(side) side,
static const int sides[] = {PGI_LAYERS_SIDES(SIDE) 0};

static bool make_axis(const pgi_problem *problem, int i, pgi_cuda_layers_axis *made)
{
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const int k = PGI_SPATIAL + i;
    const int64_t shift = pgi_cuda_shift(problem, i);

    *made = (pgi_cuda_layers_axis){
        .sources = (int)source->extent[k],
        .targets = (int)target->extent[k],
        .shift = (int)shift,
        .source_stride = source->stride[k],
        .target_stride = target->stride[k],
    };
    return pgi_cuda_is_small(source->extent[k]) && pgi_cuda_is_small(target->extent[k]) &&
           pgi_cuda_is_small(shift);
}

/* Whether a tensor's rows are whole pieces of so many elements, one behind the other, and all
 * strides that a piece may be displaced by multiples of that. */
static bool in_pieces(const pgi_tensor *tensor, int lanes, int width)
{
    int i;

    for (i = 0; i < PGI_AXES - 1; i++)
        if (i != PGI_CHANNEL && tensor->extent[i] > 1 && tensor->stride[i] % width)
            return false;
    return tensor->extent[PGI_CHANNEL] == lanes && tensor->stride[PGI_AXES - 1] == lanes &&
           tensor->extent[PGI_AXES - 1] * lanes % width == 0;
}

/* Tiles of so many groups of places; what a step of all of them costs, HUGE_VAL if there is no such
 * tile. */
static double try_groups(const pgi_problem *problem, int side, int groups, pgi_cuda_layers *layers)
{
    const int stored = PGI_LAYERS_STORED(problem->element_size), lanes = layers->lanes;
    const int shift = layers->w.shift * lanes, places = groups * PGI_LAYERS_PLACES;

    layers->columns = places * lanes;
    layers->sources = (places + side - 1) * lanes;
    layers->w_tiles = (int)pgi_ceil_div(layers->w.targets, places);
    layers->pieces = in_pieces(&problem->source, lanes, PGI_LAYERS_FETCHED) &&
                     (layers->w_tiles == 1 || layers->columns % PGI_LAYERS_FETCHED == 0);
    layers->vectors = in_pieces(&problem->target, lanes, stored) &&
                      (layers->w_tiles == 1 || layers->columns % stored == 0);
    layers->lead = layers->pieces ? shift & (PGI_LAYERS_FETCHED - 1) : 0;
    /* the next lane begins at the next four banks, if there is room for that */
    layers->pitch = ((places + side - 1 + 27) & ~31) + 4;
    if (layers->pitch * lanes > PGI_LAYERS_PITCH)
        layers->pitch = (places + side - 1 + 3) & ~3;
    if (layers->lead + layers->sources > PGI_LAYERS_COLUMNS ||
        layers->columns > PGI_LAYERS_TARGETS || layers->pitch * lanes > PGI_LAYERS_PITCH)
        return HUGE_VAL;
    return (double)layers->w_tiles *
           (STEP_COST + (double)pgi_ceil_div(layers->sources, TOGETHER) * TOGETHER +
            TARGET_COST * layers->columns) *
           (layers->pieces ? 1 : 1.5) * (layers->vectors ? 1 : 1.3);
}

static bool describe(const poolgrad_cuda_plan *plan, int side, pgi_cuda_layers *layers)
{
    const pgi_problem *problem = &plan->problem;
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const int64_t lanes = target->extent[PGI_CHANNEL];

    *layers = (pgi_cuda_layers){
        .source_batch = source->stride[PGI_BATCH],
        .target_batch = target->stride[PGI_BATCH],
        .source_begin = pgi_cuda_source_begin(problem),
        .alpha = (float)plan->scale.alpha,
        .forward = pgi_is_forward(problem->desc.op),
        .lanes = (int)lanes,
    };
    if (!make_axis(problem, 0, &layers->d) || !make_axis(problem, 1, &layers->h) ||
        !make_axis(problem, 2, &layers->w))
        return false;
    layers->d_tiles = (int)pgi_ceil_div(layers->d.targets, PGI_LAYERS_DEEP);
    return lanes > 1 && lanes <= PGI_LAYERS_COLUMNS / (PGI_LAYERS_PLACES + side - 1) &&
           source->stride[PGI_CHANNEL] == 1 && target->stride[PGI_CHANNEL] == 1 &&
           plan->scale.beta == 0 && pgi_cuda_one_divisor(problem, &layers->divisor) &&
           pgi_cuda_is_small(layers->w.sources * lanes) &&
           pgi_cuda_is_small(layers->w.targets * lanes) &&
           pgi_cuda_is_small(layers->w.shift * lanes);
}

/* The tiles and segments that take least time, and the grid of the step, whose kernel has been
 * found; false if there are none, or if most of them would be idle. */
static bool deal(const poolgrad_cuda_plan *plan, int side, pgi_cuda_step *step,
                 pgi_cuda_layers *layers)
{
    const int64_t batch = plan->problem.target.extent[PGI_BATCH];
    const int64_t most = pgi_min(pgi_ceil_div(layers->w.targets, PGI_LAYERS_PLACES),
                                 PGI_LAYERS_TARGETS / (PGI_LAYERS_PLACES * layers->lanes));
    pgi_cuda_layers tried = *layers;
    double least = HUGE_VAL;
    int groups;

    for (groups = 1; groups <= most; groups++) {
        double cost = try_groups(&plan->problem, side, groups, &tried);
        int64_t blocks;

        if (cost == HUGE_VAL || !pgi_mul(batch, (int64_t)tried.d_tiles * tried.w_tiles, &blocks))
            continue;
        tried.segment = (int)pgi_cuda_segment(plan, step, blocks, tried.h.targets, side + LOST);
        tried.segments = (int)pgi_ceil_div(tried.h.targets, tried.segment);
        if (!pgi_mul(blocks, tried.segments, &blocks) || blocks > INT32_MAX)
            continue;
        cost *= (double)pgi_ceil_div(blocks, plan->device->multiprocessors) *
                (double)(tried.segment + side + LOST);
        if (cost >= least)
            continue;
        least = cost;
        *layers = tried;
        step->grid_x = (unsigned)blocks;
        step->grid_y = 1;
    }
    return least < HUGE_VAL &&
           (double)layers->d_tiles * PGI_LAYERS_DEEP * layers->w_tiles * layers->sources <=
               MOST_WASTE * layers->lanes * layers->d.targets * layers->w.targets;
}

static poolgrad_status prepare(poolgrad_cuda_plan *plan, bool *possible, poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    const int side = pgi_cuda_side(problem, sides), bytes = (int)problem->element_size;
    char kernel[PGI_CUDA_NAME];
    pgi_cuda_layers layers;
    pgi_cuda_step *step;

    if (problem->desc.rank != 3 || pgi_is_max(problem->desc.op) ||
        problem->desc.dtype == POOLGRAD_F64 || problem->target.elements == 0 ||
        problem->source.elements == 0 || side == 0 || !describe(plan, side, &layers))
        return POOLGRAD_OK;
    snprintf(kernel, sizeof kernel, "pgi_layers_%d_%s", side, pgi_cuda_type(problem->desc.dtype));
    step = pgi_cuda_step_add(plan, "layers", kernel, PGI_LAYERS_THREADS,
                             PGI_LAYERS_FETCHED_BYTES(side, bytes) + PGI_LAYERS_SUMS_BYTES +
                                 PGI_LAYERS_MADE_BYTES(bytes));
    PGI_TRY(pgi_cuda_step_find(plan, step, error));
    *possible = deal(plan, side, step, &layers);
    step->parameters.layers = layers;
    return POOLGRAD_OK;
}

const pgi_cuda_strategy pgi_cuda_strategy_layers = {
    .name = "layers",
    .reason = "windows overlap with stride 1, and few channels lie side by side",
    .prepare = prepare,
};
