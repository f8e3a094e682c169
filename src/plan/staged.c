/* SPDX-License-Identifier: MIT */
/*
 * Averages, both ways, with short rows that are no whole vectors: no row of the target could be
 * stored past the caches, and each begins and ends within a cache line. Another strategy computes
 * some planes in the workspace; as they lie one behind the other they are then stored in one piece.
 */
#include "core/integer.h"
#include "plan/arrange.h"
#include "plan/placement.h"
#include "plan/rows.h"
#include "plan/strategies.h"

#include <inttypes.h>
#include <stdio.h>

/* Bytes of a target that is stored past the caches, if what is read is not near. */
#define LEAST_BYTES (INT64_C(1) << 20)

/* Elements of rows that are short. Of longer ones most of what is stored is whole lines (Zen 5, two
 * threads, 2x2 with stride 2, f32, cold: the gradient on 14x14 1.46 to 0.83 ms, but on 28x28 1.09
 * to 1.30). */
#define SHORT_ROW 16

/* Channels, since planes of one batch element are made together: with fewer the other strategy's
 * set-up costs more than staging saves (2x2 on 4000x32x7x7, f32, one thread: 4.7 to 18.4 ms). */
#define LEAST_CHANNELS 64

/* Bytes of the planes of a batch element that are computed together: a part of a core's own cache.
 */
#define BLOCK_BYTES (INT64_C(128) << 10)
#define MOST_BYTES  (INT64_C(256) << 10)

/* Blocks for each thread, if there are planes for them. */
#define BLOCKS_PER_THREAD 4

enum {
    ROOM_TARGET,
    ROOM_OTHER /* of the other strategy */
};

static int64_t plane_bytes(const pgi_problem *problem)
{
    const int64_t *extent = problem->target.extent + PGI_SPATIAL;

    return extent[0] * extent[1] * extent[2] * (int64_t)problem->element_size;
}

/* The fewest planes that together are whole cache lines. */
static int64_t planes_in_lines(int64_t bytes)
{
    int64_t planes = PGI_LINE_BYTES;

    while (planes > 1 && bytes % 2 == 0) {
        planes /= 2;
        bytes /= 2;
    }
    return planes;
}

static bool applicable(const pgi_problem *problem)
{
    const pgi_tensor *target = &problem->target;
    int64_t bytes;

    if (pgi_is_max(problem->desc.op) || problem->desc.beta != 0 || problem->axis[2].adaptive ||
        target->extent[PGI_CHANNEL] < LEAST_CHANNELS ||
        target->elements < LEAST_BYTES / (int64_t)problem->element_size ||
        target->extent[PGI_SPATIAL + 2] % PGI_STREAM_ELEMENTS == 0 ||
        !pgi_rows_below(problem, SHORT_ROW) || !pgi_is_joined(target))
        return false;
    bytes = plane_bytes(problem); /* fit, as there are elements */
    return bytes <= MOST_BYTES / planes_in_lines(bytes);
}

/* The first `channels` of one batch element of a tensor: which ones makes no difference. */
static void cut(pgi_tensor *tensor, int64_t channels)
{
    int axis;

    tensor->extent[PGI_BATCH] = 1;
    tensor->extent[PGI_CHANNEL] = channels;
    tensor->offset[PGI_BATCH] = tensor->offset[PGI_CHANNEL] = 0;
    for (axis = PGI_BATCH, tensor->elements = 1; axis < PGI_AXES; axis++)
        tensor->elements *= tensor->extent[axis];
}

/* The plan for `channels` planes; false if a size does not fit. */
static bool plan_other(const poolgrad_plan *plan, int64_t channels, poolgrad_plan *other)
{
    *other = *plan;
    cut(&other->problem.source, channels);
    cut(&other->problem.target, channels);
    other->threads = 1;
    other->stream = other->fits = false;
    return pgi_plan_other(other);
}

/* Planes of the last block of a batch element. */
static int64_t rest_of(const poolgrad_plan *plan)
{
    return plan->problem.target.extent[PGI_CHANNEL] - (plan->blocks - 1) * plan->block;
}

static bool prepare(poolgrad_plan *plan)
{
    const pgi_tensor *target = &plan->problem.target;
    const int64_t channels = target->extent[PGI_CHANNEL], bytes = plane_bytes(&plan->problem);
    const int64_t lines = planes_in_lines(bytes);
    const int64_t share =
        target->extent[PGI_BATCH] * channels / ((int64_t)plan->threads * BLOCKS_PER_THREAD);
    pgi_placement at = {0, true};
    poolgrad_plan whole, rest;

    plan->block = pgi_max(pgi_min(BLOCK_BYTES / bytes, share) / lines, 1) * lines;
    plan->block = pgi_min(plan->block, channels);
    plan->blocks = pgi_ceil_div(channels, plan->block);
    plan->units = target->extent[PGI_BATCH] * plan->blocks;
    if (!plan_other(plan, plan->block, &whole) || !plan_other(plan, rest_of(plan), &rest))
        return false;
    plan->room[ROOM_TARGET] = pgi_place(&at, plan->block, bytes, 1, 1);
    plan->room[ROOM_OTHER] =
        pgi_place(&at, 1, 1,
                  (int64_t)pgi_max((int64_t)whole.task_workspace, (int64_t)rest.task_workspace), 1);
    plan->task_workspace = (size_t)at.end;
    return at.fits;
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    const pgi_problem *problem = &plan->problem;
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const size_t size = problem->element_size;
    char *made = (char *)workspace + plan->room[ROOM_TARGET];
    pgi_work there = *work;
    poolgrad_plan whole, rest;

    there.stream = there.stream_inside = false;
    /* both fit, as prepare has seen */
    (void)plan_other(plan, plan->block, &whole);
    (void)plan_other(plan, rest_of(plan), &rest);
    for (; begin < end; begin++) {
        const pgi_unit unit = {.batch = begin / plan->blocks,
                               .channel = begin % plan->blocks * plan->block};
        const poolgrad_plan *other = begin % plan->blocks == plan->blocks - 1 ? &rest : &whole;
        char *to = (char *)pgi_unit_memory(problem, target, &unit, work->target, size);

        there.source = pgi_unit_memory(problem, source, &unit, work->source, size);
        there.target = work->stream_inside ? made : to;
        other->strategy->run(other, &there, 0, other->units,
                             (char *)workspace + plan->room[ROOM_OTHER]);
        if (work->stream_inside)
            plan->kernels.copy(to, made, other->problem.target.elements * (int64_t)size, true);
    }
}

static void describe(const poolgrad_plan *plan, char *text, size_t capacity)
{
    poolgrad_plan other;

    (void)plan_other(plan, plan->block, &other);
    snprintf(text, capacity, "%" PRId64 " planes at a time, made by %s", plan->block,
             other.strategy->name);
}

const pgi_strategy pgi_strategy_staged = {
    .name = "staged",
    .reason = "rows are no whole vectors: planes are made in the workspace, stored in one piece",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = describe,
};
