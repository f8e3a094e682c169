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

/* Copies from which on it pays, since every task computes the original for itself; and bytes of it,
 * which is to stay in a core's own cache. */
#define LEAST_COPIES 8
#define MOST_BYTES   (INT64_C(1) << 20)

enum {
    ROOM_ORIGINAL,
    ROOM_OTHER /* of the other strategy */
};

/* Whether batch elements, or channels, are the same. */
static bool repeats(const pgi_tensor *source, int axis)
{
    return source->extent[axis] == 1 || source->stride[axis] == 0;
}

/* Whether the elements of these axes, from one on, fill memory without a gap, in any order. */
static bool is_block(const pgi_tensor *tensor, int first)
{
    int64_t filled = 1;
    bool seen[PGI_AXES] = {false};
    int i, axis;

    for (axis = first; axis < PGI_AXES; axis++) {
        for (i = first; i < PGI_AXES; i++)
            if (!seen[i] && tensor->extent[i] > 1 && tensor->stride[i] == filled)
                break;
        if (i == PGI_AXES)
            break;
        seen[i] = true;
        filled *= tensor->extent[i];
    }
    for (i = first; i < PGI_AXES; i++)
        if (!seen[i] && tensor->extent[i] > 1)
            return false;
    return true;
}

/* The first axis of the original: planes if all are the same, else batch elements; PGI_BATCH if
 * there is none. */
static int first_axis_of(const pgi_problem *problem)
{
    const pgi_tensor *source = &problem->source, *target = &problem->target;

    if (target->elements == 0 || !repeats(source, PGI_BATCH))
        return PGI_BATCH;
    if (repeats(source, PGI_CHANNEL) && is_block(target, PGI_SPATIAL))
        return PGI_SPATIAL;
    return is_block(target, PGI_CHANNEL) ? PGI_CHANNEL : PGI_BATCH;
}

static int64_t copies_of(const pgi_problem *problem, int first)
{
    int64_t copies = 1;
    int axis;

    for (axis = PGI_BATCH; axis < first; axis++)
        copies *= problem->target.extent[axis];
    return copies;
}

static bool applicable(const pgi_problem *problem)
{
    const int first = first_axis_of(problem);

    return !pgi_is_max(problem->desc.op) && problem->desc.beta == 0 && first != PGI_BATCH &&
           copies_of(problem, first) >= LEAST_COPIES &&
           problem->target.elements / copies_of(problem, first) <=
               MOST_BYTES / (int64_t)problem->element_size;
}

/* One of what is the same. */
static void cut(pgi_tensor *tensor, int first)
{
    int axis;

    for (axis = PGI_BATCH; axis < first; axis++) {
        tensor->elements /= pgi_max(1, tensor->extent[axis]);
        tensor->extent[axis] = 1;
    }
}

/* The plan of the original; false if a size does not fit. */
static bool plan_original(const poolgrad_plan *plan, poolgrad_plan *other)
{
    const int first = first_axis_of(&plan->problem);
    const pgi_strategy *const *entry = pgi_strategies;

    *other = *plan;
    cut(&other->problem.source, first);
    cut(&other->problem.target, first);
    other->threads = 1;
    other->stream = other->fits = false;
    while (*entry == &pgi_strategy_copies || *entry == &pgi_strategy_parity ||
           !(*entry)->applicable(&other->problem))
        entry++;
    other->strategy = *entry;
    return other->strategy->prepare(other);
}

static bool prepare(poolgrad_plan *plan)
{
    pgi_placement at = {0, true};
    poolgrad_plan other;

    if (!plan_original(plan, &other))
        return false;
    plan->units = copies_of(&plan->problem, first_axis_of(&plan->problem));
    plan->room[ROOM_ORIGINAL] = pgi_place(&at, 1, 1, plan->problem.target.elements / plan->units,
                                          (int64_t)plan->problem.element_size);
    plan->room[ROOM_OTHER] = pgi_place(&at, 1, 1, (int64_t)other.task_workspace, 1);
    plan->task_workspace = (size_t)at.end;
    return at.fits;
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    const pgi_tensor *target = &plan->problem.target;
    const int64_t size = (int64_t)plan->problem.element_size;
    const int64_t bytes = target->elements / plan->units * size;
    /* copies are batch elements, or channels of these */
    const int64_t channels = plan->units / target->extent[PGI_BATCH];
    char *original = (char *)workspace + plan->room[ROOM_ORIGINAL];
    pgi_work there = *work;
    poolgrad_plan other;
    int64_t unit;

    there.target = original;
    there.stream = there.stream_inside = false;
    (void)plan_original(plan, &other); /* fits, as prepare has seen */
    other.strategy->run(&other, &there, 0, other.units, (char *)workspace + plan->room[ROOM_OTHER]);
    for (unit = begin; unit < end; unit++)
        plan->kernels.copy((char *)work->target + (unit / channels * target->stride[PGI_BATCH] +
                                                   unit % channels * target->stride[PGI_CHANNEL]) *
                                                      size,
                           original, bytes, work->stream_inside);
}

static void describe(const poolgrad_plan *plan, char *text, size_t capacity)
{
    poolgrad_plan other;

    (void)plan_original(plan, &other);
    snprintf(text, capacity, "%" PRId64 " copies of what %s computes", plan->units,
             other.strategy->name);
}

const pgi_strategy pgi_strategy_copies = {
    .name = "copies",
    .reason = "what is read is the same for all planes or batch elements: one is computed",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = describe,
};
