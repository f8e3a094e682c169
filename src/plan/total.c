/* SPDX-License-Identifier: MIT */
/*
 * The average over whole planes (global pooling, forward), and the gradient of planes of one place:
 * every plane becomes one number. Small planes come by the ten thousand, so a unit is a block of
 * channels of one batch element, and a kernel goes through many planes in one call. Larger ones are
 * summed axis by axis, one by one, or all channels that lie side by side.
 */
#include "core/dtype.h"
#include "core/integer.h"
#include "plan/placement.h"
#include "plan/rows.h"
#include "plan/strategies.h"

#include <inttypes.h>
#include <stdio.h>

/* Large planes of a unit, at least so many bytes, and reals of a row of their channels. */
#define LARGE_BYTES (INT64_C(64) << 10)
#define LARGE_ROW   16384
/* Elements of a plane, or of a row, that sums of are kept in the workspace, or parts of. */
#define MOST_KEPT (INT64_C(1) << 22)

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

/* The strategy's parts of the workspace. */
enum {
    ROOM_TOTALS,
    ROOM_PLANE, /* large planes in 3-D, summed along the first axis, */
    ROOM_ROW,   /* and the next; small ones with channels side by side likewise */
    ROOM_SUMS   /* what a kernel needs */
};

/* What is added along an axis: all of the source. */
static int64_t sources(const pgi_problem *problem, int i)
{
    return problem->source.extent[PGI_SPATIAL + i];
}

/* Whether the one target of an axis is that of the whole source. */
static bool is_whole(const pgi_problem *problem, int i)
{
    const pgi_axis *axis = &problem->axis[i];

    if (problem->target.extent[PGI_SPATIAL + i] != 1)
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

/* Whether kernels take many planes, or places of many channels, in one call. */
static bool is_small(const pgi_problem *problem)
{
    return sources(problem, 0) == 1 && sources(problem, 1) <= PGI_RUN_ROWS &&
           sources(problem, 2) <= PGI_RUN_ROWS;
}

static bool applicable(const pgi_problem *problem)
{
    const pgi_tensor *source = &problem->source;
    const int64_t planes = sources(problem, 0), rows = sources(problem, 1);
    const int64_t columns = sources(problem, 2);

    if (pgi_is_max(problem->desc.op) || problem->target.elements == 0 || source->elements == 0 ||
        !(pgi_is_forward(problem->desc.op) || pgi_has_one_place(problem)) ||
        !is_whole(problem, 0) || !is_whole(problem, 1) || !is_whole(problem, 2))
        return false;
    if (channels_inside(problem))
        return planes == 1 && (rows == 1 || columns <= LARGE_ROW);
    return (columns == 1 || source->stride[PGI_SPATIAL + 2] == 1) &&
           (rows == 1 || source->stride[PGI_SPATIAL + 1] == columns) &&
           (planes == 1 || source->stride[PGI_SPATIAL] == rows * columns) &&
           (is_small(problem) ? source->stride[PGI_CHANNEL] >= rows * columns
                              : columns <= MOST_KEPT / (planes > 1 ? rows : 1));
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

/* Likewise of large planes. */
static int64_t large_planes_of_unit(const poolgrad_plan *plan)
{
    const pgi_problem *problem = &plan->problem;
    const int64_t *extent = problem->target.extent;
    const int64_t columns = sources(problem, 2), wanted = (int64_t)plan->threads * UNITS_PER_THREAD;
    int64_t planes;

    if (!channels_inside(problem))
        return pgi_max(LARGE_BYTES / (int64_t)problem->element_size / columns /
                           (sources(problem, 0) * sources(problem, 1)),
                       1);
    /* rows of all channels, unless these are too many, or batch elements too few */
    planes = pgi_min(extent[PGI_CHANNEL], LARGE_ROW / (sources(problem, 1) > 1 ? columns : 1));
    if (extent[PGI_BATCH] < wanted)
        planes = pgi_min(planes, pgi_ceil_div(extent[PGI_CHANNEL] * extent[PGI_BATCH], wanted));
    return pgi_max(pgi_ceil_div(planes, PGI_ROW_REALS), 1) * PGI_ROW_REALS;
}

/* Reals that large planes need room for. */
typedef struct pgi_large {
    int64_t plane, row; /* what they are added up to along the first axis, and the next */
    int64_t sums;       /* what a kernel needs for that */
} pgi_large;

static pgi_large room_for_large(const poolgrad_plan *plan)
{
    const pgi_problem *problem = &plan->problem;
    const int64_t planes = sources(problem, 0), rows = sources(problem, 1);
    const int64_t columns = sources(problem, 2), lanes = plan->block + PGI_ROW_REALS;
    pgi_large large = {0, 0, 0};

    if (channels_inside(problem)) {
        large.row = rows > 1 ? columns * lanes : 0;
        large.sums = pgi_pile_rows(columns) * lanes;
    } else {
        large.plane = planes > 1 ? rows * columns + PGI_ROW_REALS : 0;
        large.row = rows > 1 ? columns + PGI_ROW_REALS : 0;
        large.sums = pgi_max(pgi_pile_rows(planes) * large.plane, PGI_FOLD_ROOM(columns));
    }
    large.sums = pgi_max(large.sums, pgi_pile_rows(rows) * large.row);
    return large;
}

static bool prepare(poolgrad_plan *plan)
{
    const pgi_problem *problem = &plan->problem;
    const int64_t real = (int64_t)pgi_compute_size(problem->desc.dtype);
    const int64_t channels = problem->target.extent[PGI_CHANNEL];
    const bool small = is_small(problem);
    pgi_large large = {0, 0, 0};
    pgi_placement at = {0, true};

    plan->block = pgi_min(channels, small ? planes_of_unit(plan) : large_planes_of_unit(plan));
    plan->blocks = pgi_ceil_div(channels, plan->block);
    plan->units = plan->blocks * problem->target.extent[PGI_BATCH];
    if (!small)
        large = room_for_large(plan);
    else if (channels_inside(problem))
        large.row = sources(problem, 2) * (plan->block + PGI_ROW_REALS);
    plan->room[ROOM_TOTALS] = pgi_place(&at, 1, 2, plan->block + PGI_ROW_REALS, real);
    plan->room[ROOM_PLANE] = pgi_place(&at, large.plane, 1, 1, real);
    plan->room[ROOM_ROW] = pgi_place(&at, large.row, 1, 1, real);
    plan->room[ROOM_SUMS] = pgi_place(&at, large.sums, 1, 1, real);
    plan->task_workspace = (size_t)at.end;
    return at.fits;
}

/* The total of a large plane. */
static void total_of_plane(const poolgrad_plan *plan, const char *from, int64_t ahead, char *total,
                           char *workspace)
{
    const pgi_problem *problem = &plan->problem;
    const pgi_kernels *kernels = &plan->kernels;
    const int64_t planes = sources(problem, 0), rows = sources(problem, 1);
    const int64_t columns = sources(problem, 2);
    char *plane = workspace + plan->room[ROOM_PLANE], *row = workspace + plan->room[ROOM_ROW];
    char *room = workspace + plan->room[ROOM_SUMS];

    if (planes > 1)
        kernels->pile(plane, from, rows * columns, planes, rows * columns, ahead, room);
    if (planes > 1 && rows > 1)
        kernels->pile_reals(row, plane, columns, rows, columns, 0, room);
    else if (rows > 1)
        kernels->pile(row, from, columns, rows, columns, ahead, room);
    if (planes == 1 && rows == 1)
        kernels->fold(total, from, columns, room);
    else
        kernels->fold_reals(total, rows > 1 ? row : plane, columns, room);
}

/* The totals of `lanes` large planes whose channels lie side by side: rows of them are added, or,
 * if nothing lies between the channels of one place and those of the next, of all places. */
static void totals_of_lanes(const poolgrad_plan *plan, const char *from, int64_t lanes,
                            int64_t ahead, char *totals, char *workspace)
{
    const pgi_problem *problem = &plan->problem;
    const pgi_kernels *kernels = &plan->kernels;
    const int64_t rows = sources(problem, 1), columns = sources(problem, 2);
    const int64_t row_step = problem->source.stride[PGI_SPATIAL + 1];
    const int64_t step = problem->source.stride[PGI_SPATIAL + 2];
    const int64_t pitch =
        step == lanes ? lanes : pgi_ceil_div(lanes, PGI_ROW_REALS) * PGI_ROW_REALS;
    char *row = workspace + plan->room[ROOM_ROW], *room = workspace + plan->room[ROOM_SUMS];
    int64_t w;

    if (rows == 1) {
        kernels->pile(totals, from, step, columns, lanes, ahead, room);
        return;
    }
    if (step == lanes)
        kernels->pile(row, from, row_step, rows, columns * lanes, ahead, room);
    else
        for (w = 0; w < columns; w++)
            kernels->pile(row + (size_t)(w * pitch) * kernels->real,
                          from + w * step * (int64_t)problem->element_size, row_step, rows, lanes,
                          ahead, room);
    kernels->pile_reals(totals, row, pitch, columns, lanes, 0, room);
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
    char *totals = workspace + plan->room[ROOM_TOTALS];
    char *quotients = totals + (size_t)(plan->block + PGI_ROW_REALS) * plan->kernels.real;
    const int64_t ahead = work->near ? 0 : AHEAD;
    int64_t i;

    if (channels_inside(problem) && is_small(problem))
        plan->kernels.totals_lanes(totals, from, source->stride[PGI_SPATIAL + 1],
                                   source->stride[PGI_SPATIAL + 2], planes, rows, columns, ahead,
                                   workspace + plan->room[ROOM_ROW]);
    else if (channels_inside(problem))
        totals_of_lanes(plan, from, planes, ahead, totals, workspace);
    else if (is_small(problem))
        plan->kernels.totals(totals, from, source->stride[PGI_CHANNEL], planes, rows, columns,
                             plan->backend->fetch_bytes() / size);
    else
        for (i = 0; i < planes; i++)
            total_of_plane(plan, from + i * source->stride[PGI_CHANNEL] * size, ahead,
                           totals + (size_t)i * plan->kernels.real, workspace);
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
    snprintf(text, capacity, "blocks of %" PRId64 " %s plane%s", plan->block,
             is_small(&plan->problem) ? "small" : "large", plan->block == 1 ? "" : "s");
}

const pgi_strategy pgi_strategy_total = {
    .name = "total",
    .reason = "every plane becomes one number",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = describe,
};
