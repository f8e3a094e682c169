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

static poolgrad_status prepare(poolgrad_cuda_plan *plan, bool *possible, poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    const bool channels = pgi_cuda_has_lanes(problem);
    pgi_cuda_spread spread = {.alpha = plan->scale.alpha, .beta = plan->scale.beta};
    char kernel[PGI_CUDA_NAME];
    pgi_cuda_step *step;
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
    snprintf(kernel, sizeof kernel, "pgi_spread_%s_%s", channels ? "channels" : "places",
             pgi_cuda_type(problem->desc.dtype));
    step = pgi_cuda_step_add(plan, "spread", kernel, BLOCK, 0);
    PGI_TRY(pgi_cuda_step_find(plan, step, error));
    pgi_cuda_outer_deal(plan, step, &spread.outer);
    step->parameters.spread = spread;
    return POOLGRAD_OK;
}

const pgi_cuda_strategy pgi_cuda_strategy_spread = {
    .name = "spread",
    .reason = "windows tile",
    .prepare = prepare,
};
