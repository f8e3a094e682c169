/* SPDX-License-Identifier: MIT */
/*
 * The gradient of an average over whole planes (global pooling), and the average of planes of one
 * place: every position of a plane gets the same number, so that nothing is added and the target is
 * only written. Planes are often small and come by the ten thousand, so a unit is a block of
 * channels of one batch element.
 */
#include "core/dtype.h"
#include "core/integer.h"
#include "plan/placement.h"
#include "plan/rows.h"
#include "plan/strategies.h"

#include <inttypes.h>
#include <stdio.h>

/* What a unit writes should stay in the first-level cache until it is complete. */
#define BLOCK_BYTES (INT64_C(16) << 10)

/* The strategy's parts of the workspace. */
enum {
    ROOM_TERMS,
    ROOM_ELEMENTS
};

static int64_t places(const pgi_problem *problem)
{
    const int64_t *extent = problem->target.extent + PGI_SPATIAL;

    return extent[0] * extent[1] * extent[2];
}

/* Whether the one window of an axis covers all positions of the target. */
static bool covers_all(const pgi_problem *problem, int i)
{
    const pgi_axis *axis = &problem->axis[i];
    const int64_t begin = problem->target.offset[PGI_SPATIAL + i];
    const int64_t end = begin + problem->target.extent[PGI_SPATIAL + i];

    if (axis->out != 1)
        return false;
    if (axis->adaptive)
        return true;
    return (axis->dilation == 1 || axis->kernel == 1) && begin >= -axis->pad_lo &&
           end <= axis->kernel - axis->pad_lo;
}

/* Whether the positions of a plane follow each other `step` elements apart. */
static bool follow(const pgi_tensor *target, int64_t step)
{
    int i;

    for (i = PGI_AXES - 1; i >= PGI_SPATIAL; step *= target->extent[i], i--)
        if (target->extent[i] > 1 && target->stride[i] != step)
            return false;
    return true;
}

/* Planes one behind the other, or the channels of a position side by side. */
static bool channels_last(const pgi_problem *problem)
{
    return problem->target.stride[PGI_CHANNEL] == 1 && problem->target.extent[PGI_CHANNEL] > 1;
}

static bool applicable(const pgi_problem *problem)
{
    const pgi_tensor *target = &problem->target;
    const bool forward = pgi_is_forward(problem->desc.op);
    int i;

    if (pgi_is_max(problem->desc.op) || problem->desc.beta != 0 || target->elements == 0 ||
        (forward && !pgi_has_one_place(problem)))
        return false;
    for (i = 0; i < 3 && !forward; i++)
        if (!covers_all(problem, i))
            return false;
    if (channels_last(problem))
        return follow(target, target->extent[PGI_CHANNEL]);
    return follow(target, 1) &&
           (target->extent[PGI_CHANNEL] == 1 || target->stride[PGI_CHANNEL] == places(problem));
}

/* A unit is a block of channels and a part of their places: as many channels as fit in a block, or
 * a part of one that does not; and parts of all channels where there would be too few units. */
static bool prepare(poolgrad_plan *plan)
{
    const pgi_problem *problem = &plan->problem;
    const pgi_tensor *target = &problem->target;
    const int64_t size = (int64_t)problem->element_size, all = places(problem);
    const int64_t most = BLOCK_BYTES / size, blocks_wanted = (int64_t)plan->threads * 4;
    pgi_placement at = {0, true};

    plan->part = all;
    plan->block = pgi_min(target->extent[PGI_CHANNEL], pgi_max(1, most / all));
    if (channels_last(problem))
        plan->block = pgi_min(target->extent[PGI_CHANNEL], most);
    else if (all > most)
        plan->part = most;
    plan->blocks = pgi_ceil_div(target->extent[PGI_CHANNEL], plan->block);
    if (channels_last(problem))
        plan->part = pgi_ceil_div(
            all,
            pgi_min(all, pgi_ceil_div(blocks_wanted, plan->blocks * target->extent[PGI_BATCH])));
    plan->parts = pgi_ceil_div(all, plan->part);
    plan->units = plan->parts * plan->blocks * target->extent[PGI_BATCH];
    plan->room[ROOM_TERMS] =
        pgi_place(&at, 1, 1, plan->block, (int64_t)pgi_compute_size(problem->desc.dtype));
    plan->room[ROOM_ELEMENTS] =
        pgi_place(&at, 1, plan->block, channels_last(problem) ? 1 : plan->part, size);
    plan->task_workspace = (size_t)at.end;
    return at.fits;
}

/* What each channel gives is found once, made into elements in the cache, and copied to its places:
 * `count` of them from `place` on. */
static void run_block(const poolgrad_plan *plan, const pgi_work *work, int64_t batch,
                      int64_t channel, int64_t channels, int64_t place, int64_t count,
                      const pgi_divisors *by, char *workspace)
{
    const pgi_problem *problem = &plan->problem;
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const int64_t size = (int64_t)problem->element_size;
    const int64_t step = channels_last(problem) ? target->extent[PGI_CHANNEL] : 1;
    const int64_t from_batch = batch + target->offset[PGI_BATCH] - source->offset[PGI_BATCH];
    const int64_t first = channel + target->offset[PGI_CHANNEL] - source->offset[PGI_CHANNEL];
    const char *from =
        (const char *)work->source +
        (from_batch * source->stride[PGI_BATCH] + first * source->stride[PGI_CHANNEL]) * size;
    char *to = (char *)work->target + (batch * target->stride[PGI_BATCH] +
                                       channel * target->stride[PGI_CHANNEL] + place * step) *
                                          size;
    char *terms = workspace + plan->room[ROOM_TERMS];
    char *elements = workspace + plan->room[ROOM_ELEMENTS];
    int64_t p;

    plan->kernels.terms(terms, 0, from, 0, source->stride[PGI_CHANNEL], 1, channels, by, false);
    if (step == 1 && !work->stream_inside) {
        plan->kernels.repeat(to, terms, count, channels, plan->scale.alpha);
        return;
    }
    plan->kernels.repeat(elements, terms, step == 1 ? count : 1, channels, plan->scale.alpha);
    if (step == 1) {
        plan->kernels.copy(to, elements, channels * count * size, true);
        return;
    }
    for (p = 0; p < count; p++)
        plan->kernels.copy(to + p * step * size, elements, channels * size, work->stream_inside);
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    const int64_t channels = plan->problem.target.extent[PGI_CHANNEL];
    pgi_one_divisor one;
    int64_t unit;

    pgi_set_one_divisor(&plan->problem, &one);
    for (unit = begin; unit < end; unit++) {
        const int64_t place = unit % plan->parts * plan->part, block = unit / plan->parts;
        const int64_t channel = block % plan->blocks * plan->block;

        run_block(plan, work, block / plan->blocks, channel,
                  pgi_min(plan->block, channels - channel), place,
                  pgi_min(plan->part, places(&plan->problem) - place), &one.divisors, workspace);
    }
}

static void describe(const poolgrad_plan *plan, char *text, size_t capacity)
{
    snprintf(text, capacity,
             "blocks of %" PRId64 " channel%s, %" PRId64
             " place%s of each, divided once and repeated",
             plan->block, plan->block == 1 ? "" : "s", plan->part, plan->part == 1 ? "" : "s");
}

const pgi_strategy pgi_strategy_whole = {
    .name = "whole",
    .reason = "the plane has one window, or the input one place, so that nothing is to be added",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = describe,
};
