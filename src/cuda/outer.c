/* SPDX-License-Identifier: MIT */
#include "core/integer.h"
#include "cuda/plan.h"

/* Rounds of blocks over the device: enough to even out its end, few enough that a thread uses what
 * it has found more than once. */
#define ROUNDS 4

bool pgi_cuda_outer_make(const pgi_problem *problem, bool channels, pgi_cuda_outer *outer)
{
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const int64_t lanes = target->extent[PGI_CHANNEL], batch = target->extent[PGI_BATCH];
    int64_t count = batch;

    if (lanes > INT32_MAX || (!channels && !pgi_mul(batch, lanes, &count)) || count > INT32_MAX)
        return false;
    *outer = (pgi_cuda_outer){
        .count = (unsigned)count,
        .fast = channels ? 1 : (unsigned)lanes,
        .source_slow = source->stride[PGI_BATCH],
        .target_slow = target->stride[PGI_BATCH],
        .source_fast = source->stride[PGI_CHANNEL],
        .target_fast = target->stride[PGI_CHANNEL],
        .source_begin = pgi_cuda_source_begin(problem),
    };
    return true;
}

int64_t pgi_cuda_source_begin(const pgi_problem *problem)
{
    const pgi_tensor *source = &problem->source, *target = &problem->target;

    return (target->offset[PGI_BATCH] - source->offset[PGI_BATCH]) * source->stride[PGI_BATCH] +
           (target->offset[PGI_CHANNEL] - source->offset[PGI_CHANNEL]) *
               source->stride[PGI_CHANNEL];
}

bool pgi_cuda_has_lanes(const pgi_problem *problem)
{
    return problem->target.extent[PGI_CHANNEL] * (int64_t)problem->element_size % 16 == 0 &&
           problem->source.stride[PGI_CHANNEL] == 1 && problem->target.stride[PGI_CHANNEL] == 1;
}

void pgi_cuda_outer_grid(const poolgrad_cuda_plan *plan, pgi_cuda_step *step, int64_t threads,
                         const pgi_cuda_outer *outer)
{
    const int64_t blocks = pgi_ceil_div(threads, step->block);
    const int64_t wanted = pgi_ceil_div(
        (int64_t)plan->device->multiprocessors * step->resident * ROUNDS, pgi_max(1, blocks));

    step->grid_x = (unsigned)blocks;
    step->grid_y = (unsigned)pgi_max(1, pgi_min(pgi_min(outer->count, 65535), wanted));
}
