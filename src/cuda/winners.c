/* SPDX-License-Identifier: MIT */
#include "cuda/winners.h"

#include "core/status.h"

#include <string.h>

/* In the order of dy's strides, so that a winner lies where its dy does whenever dy is dense. */
static bool dense_like(const pgi_tensor *like, pgi_tensor *tensor)
{
    const bool channels_last = like->extent[PGI_CHANNEL] > 1 && like->stride[PGI_CHANNEL] == 1;

    return pgi_dense_strides(channels_last ? POOLGRAD_NXC : POOLGRAD_NCX, PGI_AXES, tensor->extent,
                             tensor->stride);
}

poolgrad_status pgi_cuda_winners(poolgrad_cuda_plan *plan, size_t size, pgi_problem *winners,
                                 size_t *places, poolgrad_error *error)
{
    const pgi_problem *gradient = &plan->problem;
    pgi_tensor *windows = &winners->target;
    int i;

    *winners = *gradient;
    winners->desc.op = POOLGRAD_MAX;
    winners->source = gradient->x;
    winners->has_x = false;
    winners->has_indices = true;
    for (i = 0; i < 3; i++)
        winners->gather[i] = winners->taps[i];
    for (i = 0; i < PGI_AXES; i++) {
        windows->offset[i] = gradient->target.offset[i];
        windows->extent[i] = gradient->target.extent[i];
        if (i >= PGI_SPATIAL) {
            const pgi_range reach = pgi_problem_reach(gradient, i - PGI_SPATIAL);

            windows->offset[i] = reach.begin;
            windows->extent[i] = reach.end - reach.begin;
        }
    }
    if (!dense_like(&gradient->source, windows) || !pgi_tensor_measure(windows, sizeof(int64_t)))
        return pgi_fail(error, POOLGRAD_ERR_OVERFLOW, "the winners do not fit in 64 bits");
    winners->indices = *windows;
    winners->indexing = (pgi_indexing){
        .type = POOLGRAD_I64,
        .in = {gradient->axis[0].in, gradient->axis[1].in, gradient->axis[2].in},
        .plane = gradient->axis[0].in * gradient->axis[1].in * gradient->axis[2].in,
        .unit = 1,
        .no_winner = true,
    };
    if (winners->indexing.plane < UINT32_MAX)
        winners->indexing.type = POOLGRAD_U32;
    winners->index_size = pgi_index_size(winners->indexing.type);
    if (!pgi_cuda_reserve(plan, windows->elements, (int64_t)(size ? size : winners->index_size),
                          places))
        return pgi_fail(error, POOLGRAD_ERR_OVERFLOW, "the workspace does not fit in 64 bits");
    return POOLGRAD_OK;
}

void pgi_cuda_from_winners(pgi_problem *gradient, const pgi_problem *winners)
{
    gradient->has_x = false;
    gradient->has_indices = true;
    gradient->indices = winners->indices;
    gradient->indexing = winners->indexing;
    gradient->index_size = winners->index_size;
}
