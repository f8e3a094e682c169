/* SPDX-License-Identifier: MIT */
/* Strategy: gradients of averages whose windows tile, with channels side by side, or of side 2 on
 * the last axis. */
#include "core/integer.h"
#include "core/status.h"
#include "cuda/plan.h"

#include <stdio.h>

#define BLOCK 256

/* Whether windows tile an axis, and the first target begins a window. */
static bool describe_axis(const pgi_problem *problem, int i, pgi_cuda_spread_axis *made)
{
    const pgi_axis *axis = &problem->axis[i];
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const int k = PGI_SPATIAL + i;
    const int64_t side = axis->adaptive ? axis->in / axis->out : axis->kernel;
    const int64_t first = target->offset[k] + (axis->adaptive ? 0 : axis->pad_lo);

    if (axis->adaptive ? axis->in % axis->out != 0
                       : axis->dilation != 1 || axis->stride != axis->kernel)
        return false;
    if (!pgi_cuda_is_small(side) || !pgi_cuda_is_small(first) || first % side != 0 ||
        !pgi_cuda_is_small(source->offset[k]) || !pgi_cuda_is_small(source->extent[k]) ||
        !pgi_cuda_is_small(target->extent[k]))
        return false;
    *made = (pgi_cuda_spread_axis){
        .side = (int)side,
        .shift = (int)(first / side - source->offset[k]),
        .sources = (int)source->extent[k],
        .targets = (int)target->extent[k],
        .source_stride = source->stride[k],
        .target_stride = target->stride[k],
    };
    return true;
}

/* Deals windows to threads: channels of one, or neighbours. */
static bool deal(const pgi_problem *problem, pgi_cuda_spread *spread, bool channels)
{
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const int64_t places = PGI_SPREAD_PLACES(problem->element_size);
    int64_t windows[3], groups = 1, threads = 1;
    int i;

    for (i = 0; i < 3; i++)
        windows[i] = pgi_ceil_div(target->extent[PGI_SPATIAL + i], spread->axis[i].side);
    if (channels) {
        groups = target->extent[PGI_CHANNEL] * (int64_t)problem->element_size / 16;
    } else {
        if (spread->axis[2].side != 2 || target->extent[4] % places != 0 ||
            target->stride[4] != 1 || (source->extent[4] > 1 && source->stride[4] != 1))
            return false;
        windows[2] = target->extent[4] / places;
    }
    for (i = 0; i < 3; i++)
        if (!pgi_mul(threads, windows[i], &threads))
            return false;
    if (!pgi_mul(threads, groups, &threads) || !pgi_cuda_is_small(threads))
        return false;
    spread->groups = (unsigned)groups;
    spread->across = (unsigned)windows[2];
    spread->rows = (unsigned)windows[1];
    return pgi_cuda_outer_make(problem, channels, threads, &spread->outer);
}

/* Whether a tensor's elements lie one behind the other, of those axes that have several. */
static bool is_dense(const pgi_tensor *tensor, bool channels)
{
    static const int orders[2][PGI_AXES] = {{4, 3, 2, PGI_CHANNEL, PGI_BATCH},
                                            {PGI_CHANNEL, 4, 3, 2, PGI_BATCH}};
    int64_t behind = 1;
    int i;

    for (i = 0; i < PGI_AXES; i++) {
        const int k = orders[channels][i];

        if (tensor->extent[k] > 1 && tensor->stride[k] != behind)
            return false;
        behind *= tensor->extent[k];
    }
    return true;
}

/* What threads can do in the order of memory; false if they cannot. */
static bool deal_dense(const pgi_problem *problem, const pgi_cuda_spread *spread, bool channels,
                       pgi_cuda_spread_dense *dense)
{
    const pgi_cuda_spread_axis *axis = spread->axis;
    const int64_t vectors = problem->target.elements * (int64_t)problem->element_size / 16;
    const int64_t across = channels ? axis[2].side : 1;
    int i;

    for (i = 0; i < 3; i++)
        if (axis[i].shift != 0 || axis[i].targets != (int64_t)axis[i].side * axis[i].sources)
            return false;
    if (spread->alpha != 1 || spread->beta != 0 || !pgi_cuda_is_small(vectors) ||
        problem->source.extent[PGI_CHANNEL] != problem->target.extent[PGI_CHANNEL] ||
        !is_dense(&problem->source, channels) || !is_dense(&problem->target, channels))
        return false;
    *dense = (pgi_cuda_spread_dense){
        .count = (unsigned)(vectors / across),
        .line = spread->across * spread->groups,
        .groups = spread->groups,
        .side = (unsigned)across,
        .rows = (unsigned)axis[1].targets,
        .under = (unsigned)axis[1].sources,
        .deep = axis[0].side > 1,
        .by_groups = pgi_cuda_quotient_by(spread->groups),
        .by_rows = pgi_cuda_quotient_by(axis[1].targets),
        .by_deep = pgi_cuda_quotient_by(axis[0].side),
        .by_high = pgi_cuda_quotient_by(axis[1].side),
        .source_begin = spread->outer.source_begin,
        .divisor = spread->divisor,
    };
    dense->by_line = pgi_cuda_quotient_by(dense->line);
    return true;
}

static poolgrad_status prepare(poolgrad_cuda_plan *plan, bool *possible, poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    const bool channels = pgi_cuda_has_lanes(problem);
    pgi_cuda_spread spread = {.alpha = plan->scale.alpha, .beta = plan->scale.beta};
    pgi_cuda_spread_dense dense;
    char kernel[PGI_CUDA_NAME];
    pgi_cuda_step *step;
    bool in_order;
    int i;

    if (problem->desc.op != POOLGRAD_AVG_GRAD || problem->target.elements == 0 ||
        problem->source.elements == 0 || !pgi_cuda_one_divisor(problem, &spread.divisor))
        return POOLGRAD_OK;
    for (i = 0; i < 3; i++)
        if (!describe_axis(problem, i, &spread.axis[i]))
            return POOLGRAD_OK;
    if (!deal(problem, &spread, channels))
        return POOLGRAD_OK;
    *possible = true;
    in_order = deal_dense(problem, &spread, channels, &dense);
    snprintf(kernel, sizeof kernel, "pgi_spread_%s%s_%s", in_order ? "dense_" : "",
             channels ? "channels" : "places", pgi_cuda_type(problem->desc.dtype));
    step = pgi_cuda_step_add(plan, "spread", kernel, BLOCK, 0);
    PGI_TRY(pgi_cuda_step_find(plan, step, error));
    if (in_order) {
        step->grid_x =
            (unsigned)pgi_ceil_div(dense.count, BLOCK * (channels ? 1 : PGI_SPREAD_TIMES));
        step->grid_y = 1;
        step->parameters.spread_dense = dense;
    } else {
        pgi_cuda_outer_deal(plan, step, &spread.outer);
        step->parameters.spread = spread;
    }
    return POOLGRAD_OK;
}

const pgi_cuda_strategy pgi_cuda_strategy_spread = {
    .name = "spread",
    .reason = "windows tile",
    .prepare = prepare,
};
