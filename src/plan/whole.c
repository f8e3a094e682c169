/* SPDX-License-Identifier: MIT */
/*
 * The gradient of an average over whole planes (global pooling): every position of a plane gets the
 * same number, so that nothing is added and dx is only written. Planes are small and come by the
 * ten thousand, so a unit is a block of channels of one batch element.
 */
#include "core/dtype.h"
#include "core/integer.h"
#include "core/window.h"
#include "plan/placement.h"
#include "plan/strategies.h"

#include <inttypes.h>
#include <stdio.h>

/* What a unit writes should stay in the first-level cache until it is complete. */
#define BLOCK_BYTES (INT64_C(16) << 10)

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
    int i;

    if (problem->desc.op != POOLGRAD_AVG_GRAD || problem->desc.beta != 0 || target->elements == 0)
        return false;
    for (i = 0; i < 3; i++)
        if (!covers_all(problem, i))
            return false;
    if (channels_last(problem))
        return follow(target, target->extent[PGI_CHANNEL]);
    return follow(target, 1) &&
           (target->extent[PGI_CHANNEL] == 1 || target->stride[PGI_CHANNEL] == places(problem));
}

static bool prepare(poolgrad_plan *plan)
{
    const pgi_problem *problem = &plan->problem;
    const int64_t channels = problem->target.extent[PGI_CHANNEL];
    const int64_t size = (int64_t)problem->element_size;
    pgi_placement at = {0, true};

    plan->block = pgi_max(1, BLOCK_BYTES / size / places(problem));
    if (channels_last(problem))
        plan->block = BLOCK_BYTES / size;
    plan->block = pgi_min(plan->block, channels);
    plan->blocks = pgi_ceil_div(channels, plan->block);
    plan->units = plan->blocks * problem->target.extent[PGI_BATCH];
    plan->room[0] =
        pgi_place(&at, 1, 1, plan->block, (int64_t)pgi_compute_size(problem->desc.dtype));
    plan->room[1] =
        pgi_place(&at, 1, plan->block, channels_last(problem) ? 1 : places(problem), size);
    plan->task_workspace = (size_t)at.end;
    return at.fits;
}

/* A block of channels: what each gives is found once, made into elements in the cache, and copied
 * to its places. */
static void run_block(const poolgrad_plan *plan, const pgi_work *work, int64_t batch,
                      int64_t channel, int64_t channels, const void *divisor, char *workspace)
{
    const pgi_problem *problem = &plan->problem;
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const int64_t size = (int64_t)problem->element_size, plane = places(problem);
    const int64_t from_batch = batch + target->offset[PGI_BATCH] - source->offset[PGI_BATCH];
    const int64_t from = channel + target->offset[PGI_CHANNEL] - source->offset[PGI_CHANNEL];
    const char *dy =
        (const char *)work->source +
        (from_batch * source->stride[PGI_BATCH] + from * source->stride[PGI_CHANNEL]) * size;
    char *dx = (char *)work->target +
               (batch * target->stride[PGI_BATCH] + channel * target->stride[PGI_CHANNEL]) * size;
    char *terms = workspace + plan->room[0], *elements = workspace + plan->room[1];
    const int64_t times = channels_last(problem) ? 1 : plane;
    int64_t p;

    plan->kernels.terms(terms, dy, source->stride[PGI_CHANNEL], divisor, 0, channels);
    if (times == plane && !plan->stream) {
        plan->kernels.repeat(dx, terms, times, channels, plan->scale.alpha);
        return;
    }
    plan->kernels.repeat(elements, terms, times, channels, plan->scale.alpha);
    for (p = 0; p < plane / times; p++)
        plan->kernels.copy(dx + p * target->extent[PGI_CHANNEL] * size, elements,
                           channels * times * size, plan->stream);
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    static const int64_t window[3] = {0, 0, 0};
    const int64_t channels = plan->problem.target.extent[PGI_CHANNEL];
    const double count_f64 = (double)pgi_window_divisor(&plan->problem, window);
    const float count_f32 = (float)pgi_window_divisor(&plan->problem, window);
    int64_t unit;

    for (unit = begin; unit < end; unit++) {
        const int64_t channel = unit % plan->blocks * plan->block;

        run_block(plan, work, unit / plan->blocks, channel,
                  pgi_min(plan->block, channels - channel),
                  plan->problem.desc.dtype == POOLGRAD_F64 ? (const void *)&count_f64
                                                           : (const void *)&count_f32,
                  workspace);
    }
}

static void describe(const poolgrad_plan *plan, char *text, size_t capacity)
{
    snprintf(text, capacity, "blocks of %" PRId64 " channels, each divided once and repeated",
             plan->block);
}

const pgi_strategy pgi_strategy_whole = {
    .name = "whole",
    .reason = "one window covers the plane, so that nothing is to be added",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = describe,
};
