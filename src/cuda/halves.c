/* SPDX-License-Identifier: MIT */
/* Strategy: gradients of averages over windows of 3x3 with stride 2. */
#include "core/integer.h"
#include "core/status.h"
#include "cuda/plan.h"

#include <stdio.h>

#define BLOCK 256

/* Whether an axis is one of windows of 3 with stride 2, and how its sources lie. */
static bool describe_axis(const pgi_problem *problem, int i, pgi_cuda_halves_axis *made)
{
    const pgi_axis *axis = &problem->axis[i];
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const int k = PGI_SPATIAL + i;
    const int64_t first = target->offset[k] + axis->pad_lo;

    if (axis->adaptive || axis->kernel != 3 || axis->stride != 2 || axis->dilation != 1 ||
        !pgi_cuda_is_small(source->extent[k]) || !pgi_cuda_is_small(target->extent[k]) ||
        !pgi_cuda_is_small(source->stride[k]) || !pgi_cuda_is_small(target->stride[k]) ||
        !pgi_cuda_is_small(first) || !pgi_cuda_is_small(source->offset[k]))
        return false;
    /* windows q / 2 and, if q is even, the one before it cover position q - pad_lo */
    *made = (pgi_cuda_halves_axis){
        .late = first % 2 == 0,
        .sources = (int)source->extent[k],
        .targets = (int)target->extent[k],
        .source_stride = (int)source->stride[k],
        .target_stride = (int)target->stride[k],
    };
    made->shift = (int)(first / 2 - made->late - source->offset[k]);
    return true;
}

static bool describe(const poolgrad_cuda_plan *plan, pgi_cuda_halves *halves)
{
    const pgi_problem *problem = &plan->problem;
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const pgi_axis *depth = &problem->axis[0];

    *halves = (pgi_cuda_halves){.alpha = plan->scale.alpha, .beta = plan->scale.beta};
    return problem->desc.op == POOLGRAD_AVG_GRAD && problem->desc.rank == 2 &&
           source->elements > 0 && target->elements > 0 && depth->in == 1 && depth->out == 1 &&
           pgi_cuda_one_divisor(problem, &halves->divisor) && halves->divisor < 1 << 22 &&
           describe_axis(problem, 1, &halves->h) && describe_axis(problem, 2, &halves->w);
}

/* Deals pieces of two rows to threads: of channels, or of places. */
static bool deal(const pgi_problem *problem, pgi_cuda_halves *halves, bool channels)
{
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const int64_t places = PGI_HALVES_PLACES(problem->element_size);
    const int64_t rows = pgi_ceil_div(target->extent[3], 2);
    int64_t across = target->extent[4] / places, groups = 1, threads;

    if (channels) {
        across = pgi_ceil_div(target->extent[4], 2);
        groups = target->extent[PGI_CHANNEL] * (int64_t)problem->element_size / 16;
    } else if (target->extent[4] % places != 0 || target->stride[4] != 1 ||
               (source->extent[4] > 1 && source->stride[4] != 1)) {
        return false;
    }
    if (!pgi_mul(rows, across, &threads) || !pgi_mul(threads, groups, &threads) ||
        !pgi_cuda_is_small(threads))
        return false;
    halves->groups = (unsigned)groups;
    halves->across = (unsigned)across;
    return pgi_cuda_outer_make(problem, channels, threads, &halves->outer);
}

static poolgrad_status prepare(poolgrad_cuda_plan *plan, bool *possible, poolgrad_error *error)
{
    const bool channels = pgi_cuda_has_lanes(&plan->problem);
    char kernel[PGI_CUDA_NAME];
    pgi_cuda_halves halves;
    pgi_cuda_step *step;

    if (!describe(plan, &halves) || !deal(&plan->problem, &halves, channels))
        return POOLGRAD_OK;
    *possible = true;
    snprintf(kernel, sizeof kernel, "pgi_halves_%s_%s", channels ? "channels" : "places",
             pgi_cuda_type(plan->problem.desc.dtype));
    step = pgi_cuda_step_add(plan, "halves", kernel, BLOCK, 0);
    PGI_TRY(pgi_cuda_step_find(plan, step, error));
    pgi_cuda_outer_deal(plan, step, &halves.outer);
    step->parameters.halves = halves;
    return POOLGRAD_OK;
}

const pgi_cuda_strategy pgi_cuda_strategy_halves = {
    .name = "halves",
    .reason = "windows of 3x3 with stride 2",
    .prepare = prepare,
};
