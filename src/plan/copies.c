/* SPDX-License-Identifier: MIT */
/*
 * Averages, both ways, of a source that repeats itself: what a loss that is a sum sends back is one
 * number for all elements of dy. Where all batch elements, or all planes, are the same, one of them
 * is computed, in the workspace, by another strategy; the others are copies of it.
 */
#include "core/integer.h"
#include "plan/placement.h"
#include "plan/strategies.h"

#include <inttypes.h>
#include <stdio.h>

/* Copies from which on it pays, since every task computes the original for itself. */
#define LEAST_COPIES 32
/* Bytes of the original, which is to stay in a core's own cache: of a plane or a batch element at
 * most, and of small planes together. */
#define MOST_BYTES  (INT64_C(1) << 20)
#define BLOCK_BYTES (INT64_C(16) << 10)
/* Planes that together are whole cache lines, whatever they have. */
#define LINE_PLANES 32
/* Bytes of a copy from which on the lines that it shares with its neighbours do not matter. */
#define LONG_BYTES 4096

enum {
    ROOM_ORIGINAL,
    ROOM_OTHER /* of the other strategy */
};

/* Whether the elements of these axes, from one on, fill memory without a gap, in any order. No two
 * elements of a target share memory, so it is enough that they span as many as they are. */
static bool is_block(const pgi_tensor *target, int first)
{
    int64_t elements = 1, last = 0;
    int axis;

    for (axis = first; axis < PGI_AXES; axis++) {
        if (target->extent[axis] > 1 && target->stride[axis] < 0)
            return false;
        last += (target->extent[axis] - 1) * target->stride[axis];
        elements *= target->extent[axis];
    }
    return last == elements - 1;
}

static bool is_repeated(const pgi_tensor *source, int axis)
{
    return source->extent[axis] == 1 || source->stride[axis] == 0;
}

/* Along how many axes the target repeats itself: the batch, or batch and channels; 0 if it does
 * not. */
static int repeated_axes(const pgi_problem *problem)
{
    const pgi_tensor *source = &problem->source, *target = &problem->target;

    if (target->elements == 0 || !is_repeated(source, PGI_BATCH))
        return 0;
    if (is_repeated(source, PGI_CHANNEL) && is_block(target, PGI_SPATIAL))
        return 2;
    return is_block(target, PGI_CHANNEL) ? 1 : 0;
}

static int64_t copies_of(const pgi_problem *problem)
{
    const int64_t *extent = problem->target.extent;

    return extent[PGI_BATCH] * (repeated_axes(problem) == 2 ? extent[PGI_CHANNEL] : 1);
}

static int64_t bytes_of_copy(const pgi_problem *problem)
{
    return problem->target.elements / copies_of(problem) * (int64_t)problem->element_size;
}

static bool applicable(const pgi_problem *problem)
{
    return !pgi_is_max(problem->desc.op) && problem->desc.beta == 0 && repeated_axes(problem) > 0 &&
           copies_of(problem) >= LEAST_COPIES && bytes_of_copy(problem) <= MOST_BYTES;
}

/* One batch element of a tensor, and so many of its channels. They are the first ones: which of
 * those that are the same makes no difference. */
static void cut(pgi_tensor *tensor, int axes, int64_t channels)
{
    int axis;

    tensor->extent[PGI_BATCH] = pgi_min(1, tensor->extent[PGI_BATCH]);
    if (axes == 2)
        tensor->extent[PGI_CHANNEL] = pgi_min(channels, tensor->extent[PGI_CHANNEL]);
    for (axis = PGI_BATCH; axis < axes; axis++)
        tensor->offset[axis] = 0;
    for (axis = PGI_BATCH, tensor->elements = 1; axis < PGI_AXES; axis++)
        tensor->elements *= tensor->extent[axis];
}

/* The plan of the original, plan->block channels; false if a size does not fit. */
static bool plan_original(const poolgrad_plan *plan, poolgrad_plan *other)
{
    const int axes = repeated_axes(&plan->problem);

    *other = *plan;
    cut(&other->problem.source, axes, plan->block);
    cut(&other->problem.target, axes, plan->block);
    other->threads = 1;
    other->stream = other->fits = false;
    return pgi_plan_other(other);
}

/* How many small planes that follow each other are one original. */
static int64_t planes_together(const pgi_problem *problem)
{
    const pgi_tensor *target = &problem->target;
    const int64_t plane = bytes_of_copy(problem);
    const int64_t most = pgi_min(pgi_min(BLOCK_BYTES / plane, target->extent[PGI_CHANNEL]),
                                 copies_of(problem) / LEAST_COPIES);

    if (most < 2 || target->stride[PGI_CHANNEL] * (int64_t)problem->element_size != plane)
        return 1;
    return most < LINE_PLANES ? most : most / LINE_PLANES * LINE_PLANES;
}

static bool prepare(poolgrad_plan *plan)
{
    const pgi_tensor *target = &plan->problem.target;
    pgi_placement at = {0, true};
    poolgrad_plan other;

    plan->block = repeated_axes(&plan->problem) == 2 ? planes_together(&plan->problem)
                                                     : target->extent[PGI_CHANNEL];
    plan->blocks = pgi_ceil_div(target->extent[PGI_CHANNEL], plan->block);
    plan->units = plan->blocks * target->extent[PGI_BATCH];
    if (!plan_original(plan, &other))
        return false;
    plan->room[ROOM_ORIGINAL] =
        pgi_place(&at, 1, 1, other.problem.target.elements, (int64_t)plan->problem.element_size);
    plan->room[ROOM_OTHER] = pgi_place(&at, 1, 1, (int64_t)other.task_workspace, 1);
    plan->task_workspace = (size_t)at.end;
    return at.fits;
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    const pgi_tensor *target = &plan->problem.target;
    const int64_t size = (int64_t)plan->problem.element_size,
                  channels = target->extent[PGI_CHANNEL];
    const int64_t channel_bytes = target->elements / target->extent[PGI_BATCH] / channels * size;
    char *original = (char *)workspace + plan->room[ROOM_ORIGINAL];
    pgi_work there = *work;
    poolgrad_plan other;
    int64_t unit;

    there.target = original;
    there.stream = there.stream_inside = false;
    (void)plan_original(plan, &other); /* fits, as prepare has seen */
    other.strategy->run(&other, &there, 0, other.units, (char *)workspace + plan->room[ROOM_OTHER]);
    for (unit = begin; unit < end; unit++) {
        const int64_t channel = unit % plan->blocks * plan->block;
        const int64_t bytes = pgi_min(plan->block, channels - channel) * channel_bytes;
        char *to = (char *)work->target + (unit / plan->blocks * target->stride[PGI_BATCH] +
                                           channel * target->stride[PGI_CHANNEL]) *
                                              size;
        const bool lines = (uintptr_t)to % PGI_LINE_BYTES == 0 && bytes % PGI_LINE_BYTES == 0;

        plan->kernels.copy(to, original, bytes,
                           work->stream_inside && (lines || bytes >= LONG_BYTES));
    }
}

static void describe(const poolgrad_plan *plan, char *text, size_t capacity)
{
    poolgrad_plan other;

    (void)plan_original(plan, &other);
    snprintf(text, capacity, "%" PRId64 " copies of what %s computes, %" PRId64 " channel%s each",
             plan->units, other.strategy->name, plan->block, plan->block == 1 ? "" : "s");
}

const pgi_strategy pgi_strategy_copies = {
    .name = "copies",
    .reason = "what is read is the same for all planes or batch elements: one is computed",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = describe,
};
