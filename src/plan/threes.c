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
    ROOM_KEPT   /* what is kept of two rows */
};

static bool is_three(const pgi_axis *axis)
{
    return !axis->adaptive && axis->kernel == 3 && axis->stride == 1 && axis->dilation == 1 &&
           axis->pad_lo <= 2;
}

static bool is_single(const pgi_axis *axis)
{
    return !axis->adaptive && axis->kernel == 1 && axis->stride == 1 && axis->pad_lo == 0 &&
           axis->pad_hi == 0;
}

static bool applicable(const pgi_problem *problem)
{
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const pgi_axis *axis = problem->axis;
    const int64_t channels = target->extent[PGI_CHANNEL];
    const int last = PGI_SPATIAL + 2;
    int64_t lanes = 1;

    if (pgi_is_max(problem->desc.op) || problem->desc.beta != 0 || target->elements == 0 ||
        source->elements == 0 || pgi_rows_below(problem, PGI_SHORT_ROW) ||
        !(is_single(&axis[0]) || is_three(&axis[0])) || !is_three(&axis[1]) || !is_three(&axis[2]))
        return false;
    if (pgi_channels_inside(target)) {
        /* rows that pass the caches one by one: 1.07 times the floor against 1.23 */
        if (problem->desc.dtype == POOLGRAD_F64 && pgi_is_forward(problem->desc.op) &&
            axis[0].kernel == 1)
            return false;
        if (channels < PGI_ROW_LANES || source->stride[PGI_CHANNEL] != 1 ||
            target->stride[PGI_CHANNEL] != 1)
            return false;
        lanes = channels;
    }
    /* Rows of less than a vector, on 7x7 forward 0.57 ms against 0.40, on 8x14x14 0.35 against
     * 0.27; the gradient of 3x3 takes a third on one image of 8x8x8. */
    if (lanes == 1 && source->extent[last] < PGI_ROW_REALS &&
        (pgi_is_forward(problem->desc.op) || axis[0].kernel == 3))
        return false;
    return source->extent[last] <= MOST_ELEMENTS / lanes &&
           (source->extent[last] == 1 || source->stride[last] == lanes) &&
           (target->extent[last] == 1 || target->stride[last] == lanes);
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

static bool prepare(poolgrad_plan *plan)
{
    const pgi_tensor *source = &plan->problem.source, *target = &plan->problem.target;
    const int64_t block = pgi_channels_inside(target) ? target->extent[PGI_CHANNEL] : 1;
    const int64_t real = (int64_t)plan->kernels.real;
    pgi_placement at = {0, true};

    plan->first_axis = pgi_arrange(&plan->problem, false);
    pgi_units_of_rows(plan, block, target->extent[2], target->extent[3]);
    pgi_divisors_measure(windows_of(&plan->problem)->extent + PGI_SPATIAL, real, &at);
    plan->room[ROOM_ZEROS] =
        pgi_place(&at, source->extent[4], block, 1, (int64_t)plan->problem.element_size);
    plan->room[ROOM_KEPT] = pgi_place(&at, 2, 1, kept_reals(plan), real);
    plan->task_workspace = (size_t)at.end;
    return at.fits;
}

typedef struct pgi_threes_work {
    const poolgrad_plan *plan;
    const pgi_work *work;
    pgi_divisor_rows divisors;
    pgi_threes shape;
    const char *zeros;
} pgi_threes_work;

static bool exists(const pgi_threes_work *threes, int axis, int64_t at)
{
    const pgi_tensor *source = &threes->plan->problem.source;
    const int64_t begin = source->offset[PGI_SPATIAL + axis];

    return at >= begin && at < begin + source->extent[PGI_SPATIAL + axis];
}

/* The window that source row `row` is divided by, or the target row that it is the last for. */
static int64_t window(const pgi_threes_work *threes, int64_t row)
{
    return threes->shape.forward ? row - lead(&threes->plan->problem, 1) : row;
}

/* The taps of that window along the rows; -1 if it is none of those at hand. */
static int64_t taps(const pgi_threes_work *threes, int64_t row)
{
    const pgi_range windows = threes->divisors.windows[1];
    const int64_t o = window(threes, row);

    return o < windows.begin || o >= windows.end ? -1
                                                 : threes->divisors.counts[1][o - windows.begin];
}

/* How many source rows from `row` on are alike: one call will do for them. */
static int64_t alike(const pgi_threes_work *threes, int64_t row, int64_t end)
{
    int64_t next = row + 1;

    while (next < end && exists(threes, 1, next) == exists(threes, 1, row) &&
           taps(threes, next) == taps(threes, row))
        next++;
    return next - row;
}

/* The divisors of a row of windows, if there is one. */
static void set_divisors(pgi_threes_work *threes, int plane, int64_t d, int64_t row)
{
    pgi_divisor_rows *divisors = &threes->divisors;

    if (taps(threes, row) >= 0)
        threes->shape.by[plane] =
            pgi_divisors_of(divisors, pgi_divisors_outer(divisors, d, window(threes, row)));
}

/* `count` target rows from (d, h) on. False if a quotient is in doubt: then, exactly. */
static bool run_rows(pgi_threes_work *threes, const pgi_unit *unit, int64_t d, int64_t h,
                     int64_t count, bool exactly)
{
    const pgi_problem *problem = &threes->plan->problem;
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const int64_t size = (int64_t)problem->element_size;
    const char *sources =
        pgi_unit_memory(problem, source, unit, threes->work->source, problem->element_size);
    char *targets =
        (char *)pgi_unit_memory(problem, target, unit, threes->work->target, problem->element_size);
    const int64_t first = h + lead(problem, 1), end = first + count; /* that complete a target */
    pgi_threes *shape = &threes->shape;
    const int64_t first_plane = shape->planes == 1 ? d : d + lead(problem, 0) - 2;
    int64_t row;
    int p;

    memset(shape->pairs, 0, (size_t)(2 * kept_reals(threes->plan)) * threes->plan->kernels.real);
    for (row = first - 2; row < end; row += shape->rows) {
        const void *from[3];
        void *to = NULL;

        shape->rows = alike(threes, row, row < first ? first : end);
        for (p = 0; p < shape->planes; p++) {
            const int64_t plane = first_plane + p;
            const bool there = exists(threes, 0, plane) && exists(threes, 1, row);

            shape->from_pitch[p] = there ? source->stride[3] : 0;
            from[p] = there ? sources + pgi_row_offset(source, plane, row, source->offset[4]) * size
                            : threes->zeros;
            if (there && !shape->forward)
                set_divisors(threes, p, plane, row);
        }
        if (shape->forward)
            set_divisors(threes, 0, d, row);
        for (p = 0; exactly && p < shape->planes; p++)
            shape->by[p].how = PGI_DIVIDE;
        if (row >= first)
            to = targets + pgi_row_offset(target, d, h + row - first, target->offset[4]) * size;
        if (!threes->plan->kernels.threes(to, from, shape) && !exactly)
            return false;
    }
    return true;
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    const pgi_problem *problem = &plan->problem;
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const pgi_tensor *windows = windows_of(problem);
    const int64_t planes = target->extent[2], rows = target->extent[3];
    char *room = workspace;
    char *kept = room + plan->room[ROOM_KEPT];
    pgi_threes_work threes = {
        .plan = plan,
        .work = work,
        .zeros = room + plan->room[ROOM_ZEROS],
        .shape = {.planes = (int)problem->axis[0].kernel,
                  .places = target->extent[4],
                  .lanes = plan->block,
                  .first = target->offset[4] + lead(problem, 2) - 2 - source->offset[4],
                  .width = source->extent[4],
                  .to_pitch = target->stride[3],
                  .ahead = AHEAD / (int64_t)problem->element_size,
                  .pairs = kept,
                  .singles = kept + (size_t)kept_reals(plan) * plan->kernels.real,
                  .kept = kept_step(plan->block),
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
    for (i = 0; i < 3; i++) /* for rows that have none */
        threes.shape.by[i] = pgi_divisors_of(&threes.divisors, 1);
    memset(room + plan->room[ROOM_ZEROS], 0,
           (size_t)(source->extent[4] * plan->block) * problem->element_size);
    for (at = begin; at < end; at += count) {
        const pgi_row_unit row = pgi_row_of_unit(plan, at, planes, rows);
        const int64_t d = target->offset[2] + row.d, h = target->offset[3] + row.h;

        count = pgi_min(end - at, rows - row.h);
        if (!run_rows(&threes, &row.unit, d, h, count, false))
            run_rows(&threes, &row.unit, d, h, count, true);
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
