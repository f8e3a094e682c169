/* SPDX-License-Identifier: MIT */
#include "cuda/near_step.h"

#include "core/integer.h"
#include "core/status.h"

#include <stdio.h>

/* Threads of a block; kernels are compiled for no more. */
#define BLOCK 256

/* Rounds of blocks over the device: enough to even out its end, few enough that a thread uses what
 * it has found more than once. */
#define ROUNDS 4

/* Places of a plane that need no company. */
#define ENOUGH_PLACES 2048

const char *const pgi_near_mode_names[] = {"single", "places", "pairs", "span", "lanes"};

/* Whether batch and channels are as one axis in all tensors, and in what indices count. */
static bool one_outer(const pgi_problem *problem)
{
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const int64_t *extent = target->extent, channels = extent[PGI_CHANNEL];

    if (extent[PGI_BATCH] <= 1 || channels <= 1)
        return true;
    return source->stride[PGI_BATCH] == channels * source->stride[PGI_CHANNEL] &&
           target->stride[PGI_BATCH] == channels * target->stride[PGI_CHANNEL] &&
           (!pgi_is_max(problem->desc.op) ||
            problem->indexing.batch_step == channels * problem->indexing.channel_step);
}

int64_t pgi_near_places(const pgi_problem *problem)
{
    const int64_t *extent = problem->target.extent;

    return extent[2] * extent[3] * extent[4];
}

int64_t pgi_near_grouped(const pgi_problem *problem, int64_t width)
{
    const int64_t *extent = problem->target.extent, plane = pgi_near_places(problem);
    const int64_t planes = extent[PGI_BATCH] * extent[PGI_CHANNEL];
    int64_t grouped, best = plane % width == 0;

    if (!one_outer(problem))
        return best;
    for (grouped = 2; grouped <= planes && grouped * plane <= ENOUGH_PLACES * width; grouped++)
        if (planes % grouped == 0 && grouped * plane % width == 0)
            best = grouped;
    return best;
}

/* The steps of threads and of the planes or images that they go through. */
static void fill_outer(pgi_cuda_near *near, const pgi_problem *problem, pgi_near_mode mode,
                       int64_t width)
{
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const pgi_indexing *indexing = &problem->indexing;
    const int64_t *extent = target->extent, channels = extent[PGI_CHANNEL];
    const int axis = mode == PGI_NEAR_LANES || channels <= 1 ? PGI_BATCH : PGI_CHANNEL;
    int i;

    for (i = 0; i < 3; i++) {
        near->extent[i] = (unsigned)extent[PGI_SPATIAL + i];
        near->stride[i] = (int)target->stride[PGI_SPATIAL + i];
    }
    near->plane = near->extent[0] * near->extent[1] * near->extent[2];
    near->groups = near->grouped = 1;
    near->outer = (unsigned)extent[PGI_BATCH];
    near->source_fast = source->stride[axis];
    near->target_fast = target->stride[axis];
    near->index_fast = axis == PGI_BATCH ? indexing->batch_step : indexing->channel_step;
    if (mode == PGI_NEAR_LANES) {
        near->groups = (unsigned)(channels / width);
        near->inner = near->plane * near->groups;
        return;
    }
    near->outer *= (unsigned)channels;
    if (!one_outer(problem)) {
        near->fast = (unsigned)channels;
        near->source_slow = source->stride[PGI_BATCH];
        near->target_slow = target->stride[PGI_BATCH];
        near->index_slow = indexing->batch_step;
    }
    near->grouped = (unsigned)pgi_near_grouped(problem, width);
    near->inner = (unsigned)(near->plane * near->grouped / width);
    near->outer /= near->grouped;
    near->source_plane = near->source_fast;
    near->target_plane = near->target_fast;
    near->index_plane = near->index_fast;
    near->source_fast *= near->grouped;
    near->target_fast *= near->grouped;
    near->index_fast *= near->grouped;
}

/* How far places and taps are apart, as indices. */
static void fill_indices(pgi_cuda_near *near, const pgi_problem *problem)
{
    const pgi_indexing *indexing = &problem->indexing;
    const pgi_tensor *target = &problem->target, *indices = &problem->indices;
    const int64_t *in = indexing->in;
    int i;

    near->place_step[0] = indexing->column_major ? 1 : in[1] * in[2];
    near->place_step[1] = indexing->column_major ? in[0] : in[2];
    near->place_step[2] = indexing->column_major ? in[0] * in[1] : 1;
    near->origin = target->offset[PGI_BATCH] * indexing->batch_step +
                   target->offset[PGI_CHANNEL] * indexing->channel_step;
    for (i = 0; i < 3; i++) {
        near->place_step[i] *= indexing->unit;
        near->tap_step[i] = near->place_step[i] * problem->taps[i].q;
        if (!pgi_is_forward(problem->desc.op)) /* places of the target are those of x */
            near->origin += target->offset[PGI_SPATIAL + i] * near->place_step[i];
    }
    near->lane_step = indexing->channel_step;
    near->nan = (int)problem->desc.nan;
    near->no_winner = indexing->no_winner;
    near->windows = indices->extent[2] * indices->extent[3] * indices->extent[4];
    if (indices->extent[PGI_CHANNEL] > 1 && indices->stride[PGI_CHANNEL] == 1)
        near->channels = indices->extent[PGI_CHANNEL];
}

int64_t pgi_near_most_sources(const pgi_gather *gather)
{
    const pgi_axis *axis = &gather->axis;

    if (axis->adaptive && !gather->forward && axis->in % axis->out == 0)
        return 1;
    return gather->filled ? gather->longest : pgi_min(gather->longest, gather->sources);
}

bool pgi_near_by_taps(const pgi_problem *problem)
{
    int i;

    for (i = 0; i < 3 && problem->desc.op == POOLGRAD_AVG; i++)
        if (pgi_near_most_sources(&problem->gather[i]) > 2)
            return true;
    return problem->desc.op == POOLGRAD_MAX;
}

/* What a kernel must know of a place of the target; false if it does not fit. */
static bool make_entry(const pgi_problem *problem, int k, int64_t place, pgi_cuda_entry *entry)
{
    const pgi_axis *axis = &problem->axis[k];
    const pgi_gather *gather = &problem->gather[k];
    const int64_t stride = problem->source.stride[PGI_SPATIAL + k];
    const int64_t begin = problem->source.offset[PGI_SPATIAL + k];
    const poolgrad_op op = problem->desc.op;
    const poolgrad_divisor rule =
        problem->desc.divisor == POOLGRAD_OVERRIDE ? POOLGRAD_EXCLUDE : problem->desc.divisor;
    pgi_run run = pgi_gather_run(gather, place);
    int i;

    *entry = (pgi_cuda_entry){.first = -1};
    if (pgi_near_by_taps(problem)) {
        const int64_t count = op == POOLGRAD_AVG ? pgi_axis_count(axis, rule, place) : 0;

        run = pgi_run_clip(run, gather->q, axis->in);
        *entry = (pgi_cuda_entry){
            .offset = {(int)((run.first - begin) * stride), (int)(gather->q * stride)},
            .count = {(int)count},
            .taps = (int)run.count,
            .first = (int)run.first};
        return count <= INT32_MAX;
    }
    for (i = 0; i < 2; i++) {
        const int64_t source = run.first + i * gather->q;
        int64_t count = 0;

        entry->offset[i] = PGI_CUDA_ABSENT;
        if (i >= run.count || source < 0 || source >= gather->sources)
            continue;
        entry->offset[i] = (int)((source - begin) * stride);
        if (op == POOLGRAD_AVG_GRAD)
            count = pgi_axis_count(axis, rule, source);
        else if (op == POOLGRAD_MAX_GRAD && pgi_axis_first_tap(axis, source) == place) {
            entry->first = i;
            entry->taps = (int)pgi_axis_count(axis, POOLGRAD_EXCLUDE, source);
        }
        entry->count[i] = (int)count;
        if (count > INT32_MAX)
            return false;
    }
    if (op == POOLGRAD_AVG) {
        const int64_t count = pgi_axis_count(axis, rule, place);

        entry->count[0] = (int)count;
        return count <= INT32_MAX;
    }
    return true;
}

/* The table of a step, on the device. */
static poolgrad_status make_table(poolgrad_cuda_plan *plan, const pgi_problem *problem,
                                  pgi_cuda_step *step, bool *possible, poolgrad_error *error)
{
    const int64_t *extent = problem->target.extent + PGI_SPATIAL;
    const int64_t *offset = problem->target.offset + PGI_SPATIAL;
    const size_t bytes = (size_t)(extent[0] + extent[1] + extent[2]) * sizeof(pgi_cuda_entry);
    pgi_cuda_entry *entries = plan->allocate(plan->allocator_context, bytes), *next = entries;
    poolgrad_status status = POOLGRAD_OK;
    pgi_cuda_address table;
    int k;

    if (!entries)
        return pgi_fail(error, POOLGRAD_ERR_MEMORY,
                        "the allocator gave no %zu bytes for a table of the plan", bytes);
    for (k = 0; k < 3 && *possible; k++) {
        int64_t i;

        for (i = 0; i < extent[k] && *possible; i++)
            *possible = make_entry(problem, k, offset[k] + i, next++);
    }
    if (*possible)
        status = pgi_cuda_device_put(plan->device, entries, bytes, &table, error);
    if (*possible && status == POOLGRAD_OK) {
        step->table = table;
        for (k = 0; k < 3; k++) {
            step->parameters.near.entries[k] = table;
            table += (size_t)extent[k] * sizeof *entries;
        }
    }
    plan->release(plan->allocator_context, entries);
    return status;
}

/* The first source of place 0, and whether it is place 0 that has two, or place 1. */
static void fill_span(pgi_cuda_near *near, const pgi_problem *problem)
{
    const pgi_run run = pgi_gather_run(&problem->gather[2], 0);

    near->span_shift = (int)run.first;
    near->span_late = run.count == 2;
    near->span_sources = (int)problem->axis[2].out;
}

poolgrad_status pgi_near_step(poolgrad_cuda_plan *plan, const pgi_problem *problem,
                              const char *kernel, pgi_near_mode mode, int64_t width, bool *possible,
                              pgi_cuda_step **added, poolgrad_error *error)
{
    char name[PGI_CUDA_NAME];
    pgi_cuda_step *step;
    pgi_cuda_near *near;
    int64_t blocks, wanted;

    snprintf(name, sizeof name, "%s_%s", kernel, pgi_cuda_type(problem->desc.dtype));
    step = *added = pgi_cuda_step_add(
        plan, pgi_is_max(problem->desc.op) ? "near_maximum" : "near_average", name, BLOCK, 0);
    near = &step->parameters.near;
    *near = (pgi_cuda_near){.alpha = plan->scale.alpha,
                            .beta = plan->scale.beta,
                            .forward = pgi_is_forward(problem->desc.op)};
    fill_outer(near, problem, mode, width);
    if (mode == PGI_NEAR_SPAN)
        fill_span(near, problem);
    near->uniform = pgi_cuda_one_divisor(problem, &near->divisor);
    if (!near->uniform && problem->desc.divisor != POOLGRAD_OVERRIDE)
        near->divisor = 0;
    if (pgi_is_max(problem->desc.op))
        fill_indices(near, problem);
    *possible = true;
    PGI_TRY(make_table(plan, problem, step, possible, error));
    PGI_TRY(pgi_cuda_step_find(plan, step, error));
    blocks = pgi_ceil_div(near->inner, BLOCK);
    wanted = (int64_t)plan->device->multiprocessors * step->resident * ROUNDS;
    step->grid_x = (unsigned)blocks;
    step->grid_y =
        (unsigned)pgi_max(1, pgi_min(pgi_min(near->outer, 65535), pgi_ceil_div(wanted, blocks)));
    return POOLGRAD_OK;
}
