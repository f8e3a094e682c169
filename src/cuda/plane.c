/* SPDX-License-Identifier: MIT */
/* Strategy: max pooling whose planes fit in shared memory. */
#include "core/dtype.h"
#include "core/integer.h"
#include "core/status.h"
#include "cuda/plan.h"
#include "cuda/winners.h"

#include <stdio.h>

/* Shared memory of a block at most, and threads. */
#define MOST_SHARED (INT64_C(200) << 10)
#define WARPS       8
#define THREADS     256

static pgi_cuda_strides strides_of(const pgi_tensor *tensor)
{
    return (pgi_cuda_strides){tensor->stride[PGI_BATCH],
                              tensor->stride[PGI_CHANNEL],
                              {tensor->stride[2], tensor->stride[3], tensor->stride[4]}};
}

/* Whole planes, in the order and with the windows that the kernels know. */
static bool describe(const pgi_problem *problem, const pgi_scale *scale, pgi_cuda_plane *plane)
{
    const bool forward = pgi_is_forward(problem->desc.op);
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const pgi_tensor *windows = forward ? target : source, *positions = forward ? source : target;
    const pgi_indexing *indexing = &problem->indexing;
    int64_t planes, out = 1;
    int i;

    if (indexing->column_major || indexing->unit != 1 || target->elements == 0 ||
        source->elements == 0 || !pgi_cuda_alike(windows, &problem->indices) ||
        source->offset[PGI_BATCH] != target->offset[PGI_BATCH] ||
        source->offset[PGI_CHANNEL] != target->offset[PGI_CHANNEL] ||
        source->extent[PGI_BATCH] != target->extent[PGI_BATCH] ||
        source->extent[PGI_CHANNEL] != target->extent[PGI_CHANNEL] ||
        indexing->plane > MOST_SHARED ||
        !pgi_mul(target->extent[PGI_BATCH], target->extent[PGI_CHANNEL], &planes) ||
        planes > INT32_MAX)
        return false;
    *plane = (pgi_cuda_plane){
        .planes = (unsigned)planes,
        .channels = (unsigned)target->extent[PGI_CHANNEL],
        .places = (int)indexing->plane,
        .source = strides_of(source),
        .target = strides_of(target),
        .origin = target->offset[PGI_BATCH] * indexing->batch_step +
                  target->offset[PGI_CHANNEL] * indexing->channel_step,
        .index_batch = indexing->batch_step,
        .index_channel = indexing->channel_step,
        .alpha = scale->alpha,
        .beta = scale->beta,
        .nan = (int)problem->desc.nan,
        .no_winner = indexing->no_winner,
    };
    for (i = 0; i < 3; i++) {
        const pgi_axis *axis = &problem->axis[i];

        if (axis->adaptive || axis->kernel > MOST_SHARED || axis->stride > MOST_SHARED ||
            axis->dilation > MOST_SHARED || axis->pad_lo > MOST_SHARED ||
            windows->extent[PGI_SPATIAL + i] != axis->out ||
            positions->extent[PGI_SPATIAL + i] != axis->in ||
            (!forward && (axis->dilation != 1 || !pgi_axis_covers(axis, 0) ||
                          !pgi_axis_covers(axis, axis->out - 1))))
            return false;
        plane->in[i] = (int)axis->in;
        plane->out[i] = (int)axis->out;
        plane->kernel[i] = (int)axis->kernel;
        plane->stride[i] = (int)axis->stride;
        plane->dilation[i] = (int)axis->dilation;
        plane->pad[i] = (int)axis->pad_lo;
        if (!pgi_mul(out, axis->out, &out) || out > MOST_SHARED)
            return false;
    }
    plane->windows = (int)out;
    return true;
}

static poolgrad_status add_step(poolgrad_cuda_plan *plan, const char *kernel,
                                const pgi_problem *problem, const pgi_cuda_plane *plane,
                                int threads, int64_t shared, unsigned blocks, pgi_cuda_step **step,
                                poolgrad_error *error)
{
    char name[PGI_CUDA_NAME];

    snprintf(name, sizeof name, "pgi_plane_%s_%d_%s", kernel,
             problem->indexing.type == POOLGRAD_I64 ? 64 : 32, pgi_cuda_type(problem->desc.dtype));
    *step = pgi_cuda_step_add(plan, "plane", name, threads, (int)shared);
    (*step)->parameters.plane = *plane;
    (*step)->grid_x = blocks;
    return pgi_cuda_step_find(plan, *step, error);
}

/* x, and candidates after W and after H, the first again after D. */
static int64_t maximum_shared(const pgi_cuda_plane *plane, int64_t real)
{
    const int64_t columns = (int64_t)plane->in[0] * plane->in[1] * plane->out[2];
    const int64_t rows = (int64_t)plane->in[0] * plane->out[1] * plane->out[2];

    return plane->places * real +
           (pgi_max(columns, plane->windows) + rows) * (real + (int64_t)sizeof(int));
}

static poolgrad_status add_maximum(poolgrad_cuda_plan *plan, const pgi_problem *problem,
                                   bool *possible, pgi_cuda_step **step, poolgrad_error *error)
{
    const int64_t real = (int64_t)pgi_compute_size(problem->desc.dtype);
    pgi_cuda_plane plane;

    *possible =
        describe(problem, &plan->scale, &plane) && maximum_shared(&plane, real) <= MOST_SHARED;
    if (!*possible)
        return POOLGRAD_OK;
    return add_step(plan, "maximum", problem, &plane, THREADS, maximum_shared(&plane, real),
                    plane.planes, step, error);
}

static poolgrad_status add_gradient(poolgrad_cuda_plan *plan, const pgi_problem *problem,
                                    bool checks, bool *possible, pgi_cuda_step **step,
                                    poolgrad_error *error)
{
    const int64_t real = (int64_t)pgi_compute_size(problem->desc.dtype);
    pgi_cuda_plane plane;
    int64_t warps;

    *possible = describe(problem, &plan->scale, &plane) && plane.places * real <= MOST_SHARED;
    if (!*possible)
        return POOLGRAD_OK;
    plane.checks = checks;
    /* half of what a multiprocessor has, so that there are two blocks at least */
    warps = pgi_min(WARPS, pgi_max(1, MOST_SHARED / 2 / (plane.places * real)));
    return add_step(plan, "gradient", problem, &plane, (int)warps * 32, warps * plane.places * real,
                    (unsigned)pgi_ceil_div(plane.planes, warps), step, error);
}

static poolgrad_status prepare(poolgrad_cuda_plan *plan, bool *possible, poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    pgi_cuda_step *step;

    if (problem->desc.op == POOLGRAD_MAX)
        return add_maximum(plan, problem, possible, &step, error);
    if (problem->desc.op != POOLGRAD_MAX_GRAD || problem->target.elements == 0)
        return POOLGRAD_OK;
    if (problem->has_x) {
        pgi_problem winners, gradient = *problem;
        size_t places;

        PGI_TRY(pgi_cuda_winners(plan, &winners, &places, error));
        pgi_cuda_from_winners(&gradient, &winners);
        PGI_TRY(add_maximum(plan, &winners, possible, &step, error));
        if (!*possible)
            return POOLGRAD_OK;
        step->places_out = places;
        PGI_TRY(add_gradient(plan, &gradient, false, possible, &step, error));
        if (*possible)
            step->places_in = places;
        return POOLGRAD_OK;
    }
    plan->checks = true;
    plan->workspace = sizeof(uint64_t);
    return add_gradient(plan, problem, true, possible, &step, error);
}

const pgi_cuda_strategy pgi_cuda_strategy_plane = {
    .name = "plane",
    .reason = "planes fit in shared memory",
    .prepare = prepare,
};
