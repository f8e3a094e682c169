/* SPDX-License-Identifier: MIT */
/*
 * Averages of 3x3 and 3x3x3 windows with stride 1, both ways, in one pass: every source row is
 * added to what is kept of the two rows before it, and makes a target row. The gradient divides
 * source rows, the forward pass target rows.
 */
#include "core/integer.h"
#include "plan/arrange.h"
#include "plan/divisors.h"
#include "plan/placement.h"
#include "plan/rows.h"
#include "plan/strategies.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Elements of a row for which sums are kept: they should stay in the nearest caches. */
#define MOST_ELEMENTS 16384

/* Bytes ahead of what is loaded that is fetched. */
#define AHEAD 2048

/* The strategy's parts of the workspace, behind its divisors. */
enum {
    ROOM_DIVISORS,
    ROOM_ZEROS, /* a source row that does not exist */
    ROOM_KEPT,  /* what is kept of two rows, for every target plane, */
    ROOM_ACROSS /* and of two columns of channels, for every target row */
};

static bool applicable(const pgi_problem *problem)
{
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const pgi_axis *axis = problem->axis;
    const bool deep = pgi_axis_is(&axis[0], 3, 1), forward = pgi_is_forward(problem->desc.op);
    const int64_t lanes = pgi_row_lanes(problem), width = source->extent[PGI_SPATIAL + 2];

    if (pgi_is_max(problem->desc.op) || problem->desc.beta != 0 || target->elements == 0 ||
        source->elements == 0 || pgi_rows_below(problem, PGI_SHORT_ROW) ||
        !(deep || pgi_axis_is(&axis[0], 1, 1)) || !pgi_axis_is(&axis[1], 3, 1) ||
        !pgi_axis_is(&axis[2], 3, 1) || lanes == 0)
        return false;
    /* rows that pass the caches one by one: 1.07 times the floor against 1.23 */
    if (lanes > 1 && problem->desc.dtype == POOLGRAD_F64 && forward && !deep)
        return false;
    /* Rows of less than a vector, on 7x7 forward 0.57 ms against 0.40, on 8x14x14 0.35 against
     * 0.27; the gradient of 3x3 takes a third on one image of 8x8x8. */
    if (lanes == 1 && width < PGI_ROW_REALS && (forward || deep))
        return false;
    return width <= MOST_ELEMENTS / lanes;
}

/* What divisors are for: the windows, which are the target of a forward pass. */
static const pgi_tensor *windows_of(const pgi_problem *problem)
{
    return pgi_is_forward(problem->desc.op) ? &problem->target : &problem->source;
}

/* How far the last source place that a target takes is ahead of it. */
static int64_t lead(const pgi_problem *problem, int axis)
{
    const int64_t pad = problem->axis[axis].pad_lo;

    return pgi_is_forward(problem->desc.op) ? 2 - pad : pad;
}

/* Reals from column to column of what is kept: whole vectors where lanes are channels. */
static int64_t kept_step(int64_t lanes)
{
    return lanes == 1 ? 1 : pgi_ceil_div(lanes, PGI_ROW_REALS) * PGI_ROW_REALS;
}

static int64_t kept_reals(const poolgrad_plan *plan)
{
    return plan->problem.source.extent[4] * kept_step(plan->block) + PGI_ROW_REALS;
}

/* Target planes that are made together. */
static int64_t planes_together(const pgi_problem *problem)
{
    return problem->axis[0].kernel == 1 ? 1 : PGI_THREES;
}

static int64_t blocks_of_planes(const pgi_problem *problem)
{
    return pgi_ceil_div(problem->target.extent[2], planes_together(problem));
}

static bool prepare(poolgrad_plan *plan)
{
    const pgi_tensor *source = &plan->problem.source, *target = &plan->problem.target;
    const int64_t real = (int64_t)plan->kernels.real;
    pgi_placement at = {0, true};

    pgi_arrange_rows(plan);
    pgi_units_of_rows(plan, blocks_of_planes(&plan->problem), target->extent[3]);
    pgi_divisors_measure(windows_of(&plan->problem)->extent + PGI_SPATIAL, real, &at);
    plan->room[ROOM_ZEROS] =
        pgi_place(&at, source->extent[4], plan->block, 1, (int64_t)plan->problem.element_size);
    plan->room[ROOM_KEPT] =
        pgi_place(&at, 2 * planes_together(&plan->problem), 1, kept_reals(plan), real);
    plan->room[ROOM_ACROSS] = pgi_place(&at, 2 * PGI_THREES, 1, kept_step(plan->block), real);
    plan->task_workspace = (size_t)at.end;
    return at.fits;
}

typedef struct pgi_threes_work {
    const poolgrad_plan *plan;
    pgi_divisor_rows divisors;
    pgi_threes shape;
    int64_t size; /* of an element */
    const char *sources, *zeros;
    char *targets;
    pgi_range plain; /* source rows that differ only in where they lie */

    /* Rows that go together. */
    const void *from[PGI_THREES + 2];
    void *to[PGI_THREES];
    const pgi_divisors *by[PGI_THREES + 2];
} pgi_threes_work;

static bool exists(const pgi_threes_work *threes, int axis, int64_t at)
{
    const pgi_tensor *source = &threes->plan->problem.source;
    const int64_t begin = source->offset[PGI_SPATIAL + axis];

    return at >= begin && at < begin + source->extent[PGI_SPATIAL + axis];
}

/* The divisors of the windows at (d, h); any, if there are none or they cover nothing. Counts are
 * up to 3: no more different ones are asked for than are kept. */
static const pgi_divisors *divisors_at(pgi_threes_work *threes, int64_t d, int64_t h)
{
    pgi_divisor_rows *rows = &threes->divisors;
    const pgi_range *windows = rows->windows;
    int64_t outer = 0;

    if (d >= windows[0].begin && d < windows[0].end && h >= windows[1].begin && h < windows[1].end)
        outer = pgi_divisors_outer(rows, d, h);
    return pgi_divisors_of(rows, outer ? outer : 1);
}

/* The i-th of the source rows that go together. */
static void set_source(pgi_threes_work *threes, int i, int64_t plane, int64_t row, int64_t end)
{
    const pgi_tensor *source = &threes->plan->problem.source;
    const bool there = row < end && exists(threes, 0, plane) && exists(threes, 1, row);

    threes->from[i] = threes->zeros;
    threes->shape.from_pitch[i] = 0;
    if (there) {
        threes->from[i] =
            threes->sources + pgi_row_offset(source, plane, row, source->offset[4]) * threes->size;
        threes->shape.from_pitch[i] = source->stride[3] * (threes->shape.deep ? 1 : PGI_THREES);
    }
    if (!threes->shape.forward)
        threes->by[i] = divisors_at(threes, plane, row);
}

/* The i-th of the target rows, if it is one of those that are wanted. */
static void set_target(pgi_threes_work *threes, int i, int64_t d, int64_t h, pgi_range wanted)
{
    const pgi_tensor *target = &threes->plan->problem.target;

    threes->to[i] = NULL;
    if (h >= wanted.begin && h < wanted.end && d < target->offset[2] + target->extent[2])
        threes->to[i] =
            threes->targets + pgi_row_offset(target, d, h, target->offset[4]) * threes->size;
    if (threes->shape.forward)
        threes->by[i] = divisors_at(threes, d, h);
}

/* `count` target rows from (d, h) on, of the planes that are made together. False if a quotient is
 * in doubt: then, exactly. */
static bool run_rows(pgi_threes_work *threes, int64_t d, int64_t h, int64_t count, bool exactly)
{
    const pgi_problem *problem = &threes->plan->problem;
    const pgi_range wanted = {h, h + count};
    pgi_threes *shape = &threes->shape;
    const int64_t ahead = lead(problem, 1), end = wanted.end + ahead;
    const int64_t rows = shape->deep ? 1 : PGI_THREES;
    const int64_t begin = problem->source.offset[3]; /* rows before it have nothing to keep */
    const pgi_range plain = {pgi_max(threes->plain.begin, h + ahead),
                             pgi_min(threes->plain.end, end)};
    int64_t row = pgi_min(pgi_max(h + ahead - 2, begin), h + ahead);
    int i;

    memset(shape->kept, 0,
           (size_t)(2 * planes_together(problem) * shape->kept_pitch) * threes->plan->kernels.real);
    for (; row < end; row += rows * shape->times) {
        shape->times = row >= plain.begin ? pgi_max((plain.end - row) / rows, 1) : 1;
        for (i = 0; i < PGI_THREES + 2 * shape->deep; i++)
            set_source(threes, i, shape->deep ? d + lead(problem, 0) - 2 + i : d,
                       shape->deep ? row : row + i, end);
        for (i = 0; i < PGI_THREES; i++)
            set_target(threes, i, shape->deep ? d + i : d, (shape->deep ? row : row + i) - ahead,
                       wanted);
        shape->exactly = exactly;
        for (i = 0; i < PGI_THREES + 2 * shape->deep; i++)
            shape->exactly |= threes->by[i]->how == PGI_DIVIDE;
        if (!threes->plan->kernels.threes(threes->to, threes->from, threes->by, shape))
            return false;
    }
    return true;
}

/* The source rows whose divisors, or those of the target rows that they are the last for, are those
 * of most. */
static pgi_range find_plain(const pgi_threes_work *threes)
{
    const pgi_range windows = threes->divisors.windows[1];
    const int64_t *counts = threes->divisors.counts[1], number = windows.end - windows.begin;
    const int64_t most = counts[number / 2];
    const int64_t ahead = threes->shape.forward ? lead(&threes->plan->problem, 1) : 0;
    const pgi_tensor *source = &threes->plan->problem.source;
    int64_t begin = number / 2, end = begin;

    while (begin > 0 && counts[begin - 1] == most)
        begin--;
    while (end < number && counts[end] == most)
        end++;
    return (pgi_range){pgi_max(windows.begin + begin + ahead, source->offset[3]),
                       pgi_min(windows.begin + end + ahead, source->offset[3] + source->extent[3])};
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    const pgi_problem *problem = &plan->problem;
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const pgi_tensor *windows = windows_of(problem);
    const int64_t blocks = blocks_of_planes(problem), rows = target->extent[3];
    const int64_t together = planes_together(problem);
    char *room = workspace;
    pgi_threes_work threes = {
        .plan = plan,
        .zeros = room + plan->room[ROOM_ZEROS],
        .size = (int64_t)problem->element_size,
        .shape = {.deep = together > 1,
                  .places = target->extent[4],
                  .lanes = plan->block,
                  .first = target->offset[4] + lead(problem, 2) - 2 - source->offset[4],
                  .width = source->extent[4],
                  .to_pitch = target->stride[3] * (together > 1 ? 1 : PGI_THREES),
                  .ahead = AHEAD / (int64_t)problem->element_size,
                  .kept = room + plan->room[ROOM_KEPT],
                  .kept_pitch = kept_reals(plan),
                  .column = kept_step(plan->block),
                  .across = room + plan->room[ROOM_ACROSS],
                  .forward = pgi_is_forward(problem->desc.op),
                  .alpha = plan->scale.alpha,
                  .stream = work->stream}};
    pgi_range ranges[3];
    int64_t at, count;
    int i;

    for (i = 0; i < 3; i++)
        ranges[i] =
            (pgi_range){windows->offset[2 + i], windows->offset[2 + i] + windows->extent[2 + i]};
    pgi_divisors_region(&threes.divisors, problem, plan->kernels.real, ranges, room);
    for (i = 0; i < PGI_THREES + 2; i++)
        threes.by[i] = pgi_divisors_of(&threes.divisors, 1);
    threes.shape.step = threes.by[0]->step;
    threes.plain = find_plain(&threes);
    memset(room + plan->room[ROOM_ZEROS], 0,
           (size_t)(source->extent[4] * plan->block) * problem->element_size);
    for (at = begin; at < end; at += count) {
        const pgi_row_unit row = pgi_row_of_unit(plan, at, blocks, rows);
        const int64_t d = target->offset[2] + row.d * together, h = target->offset[3] + row.h;

        count = pgi_min(end - at, rows - row.h);
        threes.sources =
            pgi_unit_memory(problem, source, &row.unit, work->source, problem->element_size);
        threes.targets = (char *)pgi_unit_memory(problem, target, &row.unit, work->target,
                                                 problem->element_size);
        if (!run_rows(&threes, d, h, count, false))
            run_rows(&threes, d, h, count, true);
    }
}

static void describe(const poolgrad_plan *plan, char *text, size_t capacity)
{
    snprintf(text, capacity, "%s windows, rows of %" PRId64 " channel%s",
             plan->problem.axis[0].kernel == 3 ? "3x3x3" : "3x3", plan->block,
             plan->block == 1 ? "" : "s");
}

const pgi_strategy pgi_strategy_threes = {
    .name = "threes",
    .reason = "windows of three taps per axis with stride 1: all is added and divided in one pass",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = describe,
};
