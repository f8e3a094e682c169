/* SPDX-License-Identifier: MIT */
/*
 * The average over whole small planes (global pooling, forward), and the gradient of planes of one
 * place: every plane becomes one number. Planes come by the ten thousand, so a unit is a block of
 * channels of one batch element, and a kernel goes through many planes in one call.
 */
#include "core/dtype.h"
#include "core/integer.h"
#include "plan/placement.h"
#include "plan/rows.h"
#include "plan/strategies.h"

#include <inttypes.h>
#include <stdio.h>

/* Planes of a unit; and bytes of a row of channels, where they lie side by side: reading long
 * pieces of memory is quicker (7x7 in bf16, NXC: 0.20 ms with 256 channels, 0.13 with 2048), best
 * if the next place follows it (in f64, 2048 channels: 1.18 ms with 1024 of them, 1.08 with all).
 */
#define BLOCK_PLANES     256
#define BLOCK_BYTES      16384
#define UNITS_PER_THREAD 4

/* Elements ahead that are fetched while rows of channels are added: the machine stops at the ends
 * of pages. What is near it finds by itself (7x7 over all, NXC f32, hot, Zen 5, avx2: 0.100 and so
 * 0.081 ms). */
#define AHEAD 512

/* What is added along an axis: all of the source. */
static int64_t sources(const pgi_problem *problem, int i)
{
    return problem->source.extent[PGI_SPATIAL + i];
}

/* Whether the one target of an axis is that of the whole source, which is short. */
static bool is_whole(const pgi_problem *problem, int i)
{
    const pgi_axis *axis = &problem->axis[i];

    if (sources(problem, i) > PGI_RUN_ROWS || problem->target.extent[PGI_SPATIAL + i] != 1)
        return false;
    if (!pgi_is_forward(problem->desc.op))
        return true; /* as pgi_has_one_place says */
    if (axis->out != 1)
        return false;
    return axis->adaptive || (axis->kernel == axis->in && axis->pad_lo == 0 && axis->pad_hi == 0 &&
                              (axis->dilation == 1 || axis->kernel == 1));
}

/* Whether channels lie side by side: vectors then go along them. */
static bool channels_inside(const pgi_problem *problem)
{
    return problem->source.stride[PGI_CHANNEL] == 1 && problem->target.extent[PGI_CHANNEL] > 1;
}

static bool applicable(const pgi_problem *problem)
{
    const pgi_tensor *source = &problem->source;
    const int64_t rows = sources(problem, 1), columns = sources(problem, 2);

    if (pgi_is_max(problem->desc.op) || problem->target.elements == 0 ||
        !(pgi_is_forward(problem->desc.op) || pgi_has_one_place(problem)) ||
        sources(problem, 0) != 1 || !is_whole(problem, 0) || !is_whole(problem, 1) ||
        !is_whole(problem, 2))
        return false;
    if (channels_inside(problem))
        return true;
    return (columns == 1 || source->stride[PGI_SPATIAL + 2] == 1) &&
           (rows == 1 || source->stride[PGI_SPATIAL + 1] == columns) &&
           source->stride[PGI_CHANNEL] >= rows * columns;
}

/* So many that there is work for all threads. */
static int64_t planes_of_unit(const poolgrad_plan *plan)
{
    const int64_t *extent = plan->problem.target.extent;
    int64_t planes = BLOCK_PLANES;

    if (channels_inside(&plan->problem))
        planes = BLOCK_BYTES / (int64_t)plan->problem.element_size;
    while (planes > BLOCK_PLANES && pgi_ceil_div(extent[PGI_CHANNEL], planes) * extent[PGI_BATCH] <
                                        (int64_t)plan->threads * UNITS_PER_THREAD)
        planes /= 2;
    return planes;
}

static bool prepare(poolgrad_plan *plan)
{
    const int64_t real = (int64_t)pgi_compute_size(plan->problem.desc.dtype);
    const int64_t channels = plan->problem.target.extent[PGI_CHANNEL];
    pgi_placement at = {0, true};

    plan->block = pgi_min(channels, planes_of_unit(plan));
    plan->blocks = pgi_ceil_div(channels, plan->block);
    plan->units = plan->blocks * plan->problem.target.extent[PGI_BATCH];
    plan->room[0] = pgi_place(&at, 1, 2, plan->block + PGI_ROW_REALS, real);
    plan->room[1] = pgi_place(&at, channels_inside(&plan->problem) ? sources(&plan->problem, 2) : 0,
                              1, plan->block + PGI_ROW_REALS, real);
    plan->task_workspace = (size_t)at.end;
    return at.fits;
}

static void run_block(const poolgrad_plan *plan, const pgi_work *work, int64_t batch,
                      int64_t channel, const pgi_divisors *by, char *workspace)
{
    const pgi_problem *problem = &plan->problem;
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const int rows = (int)sources(problem, 1), columns = (int)sources(problem, 2);
    const int64_t size = (int64_t)problem->element_size;
    const int64_t planes = pgi_min(plan->block, target->extent[PGI_CHANNEL] - channel);
    const int64_t first_batch = batch + target->offset[PGI_BATCH] - source->offset[PGI_BATCH];
    const int64_t first = channel + target->offset[PGI_CHANNEL] - source->offset[PGI_CHANNEL];
    const char *from =
        (const char *)work->source +
        (first_batch * source->stride[PGI_BATCH] + first * source->stride[PGI_CHANNEL]) * size;
    char *to = (char *)work->target +
               (batch * target->stride[PGI_BATCH] + channel * target->stride[PGI_CHANNEL]) * size;
    char *totals = workspace + plan->room[0];
    char *quotients = totals + (size_t)(plan->block + PGI_ROW_REALS) * plan->kernels.real;

    if (channels_inside(problem))
        plan->kernels.totals_lanes(totals, from, source->stride[PGI_SPATIAL + 1],
                                   source->stride[PGI_SPATIAL + 2], planes, rows, columns,
                                   work->near ? 0 : AHEAD, workspace + plan->room[1]);
    else
        plan->kernels.totals(totals, from, source->stride[PGI_CHANNEL], planes, rows, columns,
                             plan->backend->fetch_bytes() / size);
    if (target->stride[PGI_CHANNEL] == 1 && plan->scale.beta == 0) {
        plan->kernels.divide(to, 0, totals, 0, 1, planes, by, plan->scale.alpha, false);
        return;
    }
    plan->kernels.divide_reals(quotients, 0, totals, 0, 1, planes, by, 1, false);
    plan->kernels.store(to, &(pgi_groups){1, planes, 1, 0, target->stride[PGI_CHANNEL], 0},
                        quotients, 0, &plan->scale, false);
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    pgi_one_divisor one;
    int64_t unit;

    pgi_set_one_divisor(&plan->problem, &one);
    for (unit = begin; unit < end; unit++)
        run_block(plan, work, unit / plan->blocks, unit % plan->blocks * plan->block, &one.divisors,
                  workspace);
}

static void describe(const poolgrad_plan *plan, char *text, size_t capacity)
{
    snprintf(text, capacity, "blocks of %" PRId64 " plane%s", plan->block,
             plan->block == 1 ? "" : "s");
}

const pgi_strategy pgi_strategy_total = {
    .name = "total",
    .reason = "every plane, which is small, becomes one number: many planes at a time",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = describe,
};
