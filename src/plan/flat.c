/* SPDX-License-Identifier: MIT */
/*
 * Averages, both ways, of a source that has one number in each plane: what global pooling sends
 * back, or a sum. No row of it lies in memory; one of every channel is made in the workspace, where
 * another strategy reads it as all rows of the plane.
 */
#include "core/integer.h"
#include "plan/arrange.h"
#include "plan/placement.h"
#include "plan/rows.h"
#include "plan/strategies.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the rows of all channels, which are to stay in a core's own cache. */
#define MOST_BYTES (INT64_C(256) << 10)

/* Elements of rows that are worth it, where others would take channels side by side: 3x3 on 14x14,
 * NCX f32, takes 1.6 and so 2.0 ms. */
#define LEAST_ELEMENTS 16

enum {
    ROOM_ROWS,
    ROOM_OTHER /* of the other strategy */
};

static bool is_flat(const pgi_tensor *source, int axis)
{
    return source->extent[axis] == 1 || source->stride[axis] == 0;
}

static bool applicable(const pgi_problem *problem)
{
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const int last = PGI_AXES - 1;

    return !pgi_is_max(problem->desc.op) && source->elements > 0 && target->elements > 0 &&
           source->extent[last] > 1 && source->extent[last - 1] > 1 && is_flat(source, last) &&
           is_flat(source, last - 1) && is_flat(source, last - 2) &&
           !pgi_rows_below(problem, LEAST_ELEMENTS) &&
           source->extent[last] <=
               MOST_BYTES / (int64_t)problem->element_size / target->extent[PGI_CHANNEL];
}

/* The plan for one batch element, whose source are the rows; false if a size does not fit. */
static bool plan_other(const poolgrad_plan *plan, poolgrad_plan *other)
{
    pgi_tensor *source = &other->problem.source, *target = &other->problem.target;
    const int64_t batches = plan->problem.target.extent[PGI_BATCH];
    const int last = PGI_AXES - 1;

    *other = *plan;
    other->threads = (int32_t)pgi_ceil_div(plan->threads, batches);
    target->elements /= batches;
    source->extent[PGI_BATCH] = target->extent[PGI_BATCH] = 1;
    source->offset[PGI_BATCH] = target->offset[PGI_BATCH] = 0;
    source->extent[PGI_CHANNEL] = target->extent[PGI_CHANNEL];
    source->offset[PGI_CHANNEL] = target->offset[PGI_CHANNEL];
    source->elements = source->extent[PGI_CHANNEL] * source->extent[last - 2] *
                       source->extent[last - 1] * source->extent[last];
    source->stride[PGI_CHANNEL] = source->extent[last];
    source->stride[last] = 1;
    if (pgi_channels_inside(target)) {
        source->stride[PGI_CHANNEL] = 1;
        source->stride[last] = source->extent[PGI_CHANNEL];
    }
    return pgi_plan_other(other);
}

static bool prepare(poolgrad_plan *plan)
{
    const pgi_tensor *source = &plan->problem.source, *target = &plan->problem.target;
    pgi_placement at = {0, true};
    poolgrad_plan other;

    if (!plan_other(plan, &other) || !pgi_mul(other.units, target->extent[PGI_BATCH], &plan->units))
        return false;
    plan->room[ROOM_ROWS] =
        pgi_place(&at, target->extent[PGI_CHANNEL], source->extent[PGI_AXES - 1], 1,
                  (int64_t)plan->problem.element_size);
    plan->room[ROOM_OTHER] = pgi_place(&at, 1, 1, (int64_t)other.task_workspace, 1);
    plan->task_workspace = (size_t)at.end;
    return at.fits;
}

/* Continues what begins with `piece` bytes, again and again, up to `bytes`. */
static void repeat(char *to, int64_t piece, int64_t bytes)
{
    int64_t done, part;

    for (done = piece; done < bytes; done += part) {
        part = pgi_min(done, bytes - done);
        memcpy(to + done, to, (size_t)part);
    }
}

/* The rows of a batch element of the target. */
static void make_rows(const poolgrad_plan *plan, const pgi_work *work, int64_t batch, char *rows)
{
    const pgi_tensor *source = &plan->problem.source, *target = &plan->problem.target;
    const int64_t size = (int64_t)plan->problem.element_size;
    const int64_t channels = target->extent[PGI_CHANNEL], places = source->extent[PGI_AXES - 1];
    const bool inside = pgi_channels_inside(target);
    const pgi_unit unit = {.batch = batch};
    const char *from =
        pgi_unit_memory(&plan->problem, source, &unit, work->source, plan->problem.element_size);
    int64_t c;

    for (c = 0; c < channels; c++) {
        char *to = rows + c * (inside ? 1 : places) * size;

        memcpy(to, from + c * source->stride[PGI_CHANNEL] * size, (size_t)size);
        if (!inside)
            repeat(to, size, places * size);
    }
    if (inside)
        repeat(rows, channels * size, places * channels * size);
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    const int64_t batch_bytes =
        plan->problem.target.stride[PGI_BATCH] * (int64_t)plan->problem.element_size;
    char *rows = (char *)workspace + plan->room[ROOM_ROWS];
    pgi_work there = *work;
    poolgrad_plan other;
    int64_t count;

    there.source = rows;
    (void)plan_other(plan, &other); /* fits, as prepare has seen */
    for (; begin < end; begin += count) {
        const int64_t batch = begin / other.units, first = begin % other.units;

        count = pgi_min(end - begin, other.units - first);
        make_rows(plan, work, batch, rows);
        there.target = (char *)work->target + batch * batch_bytes;
        other.strategy->run(&other, &there, first, first + count,
                            (char *)workspace + plan->room[ROOM_OTHER]);
    }
}

static void describe(const poolgrad_plan *plan, char *text, size_t capacity)
{
    poolgrad_plan other;

    (void)plan_other(plan, &other);
    snprintf(text, capacity, "rows of %" PRId64 " equal numbers, made for %s",
             plan->problem.source.extent[PGI_AXES - 1], other.strategy->name);
}

const pgi_strategy pgi_strategy_flat = {
    .name = "flat",
    .reason = "what is read has one number in each plane: rows of it are made for another strategy",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = describe,
};
