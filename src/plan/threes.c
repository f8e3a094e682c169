/* SPDX-License-Identifier: MIT */
/*
 * The gradient of averages of 3x3 windows with stride 1, in one pass: every row of dy is divided
 * once, added to what is kept of the two rows before it, and makes a row of dx.
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
    ROOM_ZEROS, /* a row of dy that does not exist */
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
    const pgi_tensor *dy = &problem->source, *dx = &problem->target;
    const pgi_axis *axis = problem->axis;
    const int64_t channels = dx->extent[PGI_CHANNEL];
    const int last = PGI_SPATIAL + 2;

    if (problem->desc.op != POOLGRAD_AVG_GRAD || problem->desc.beta != 0 || dx->elements == 0 ||
        dy->elements == 0 || !is_single(&axis[0]) || !is_three(&axis[1]) || !is_three(&axis[2]))
        return false;
    if (pgi_channels_inside(dx))
        return channels >= PGI_ROW_LANES && dy->extent[last] <= MOST_ELEMENTS / channels &&
               dy->stride[PGI_CHANNEL] == 1 && dx->stride[PGI_CHANNEL] == 1 &&
               (dy->extent[last] == 1 || dy->stride[last] == channels) &&
               (dx->extent[last] == 1 || dx->stride[last] == channels);
    return dy->extent[last] <= MOST_ELEMENTS && (dy->extent[last] == 1 || dy->stride[last] == 1) &&
           (dx->extent[last] == 1 || dx->stride[last] == 1);
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
    const pgi_tensor *dy = &plan->problem.source, *dx = &plan->problem.target;
    const int64_t block = pgi_channels_inside(dx) ? dx->extent[PGI_CHANNEL] : 1;
    pgi_placement at = {0, true};

    plan->first_axis = pgi_arrange(&plan->problem);
    pgi_units_of_rows(plan, block, dx->extent[2], dx->extent[3]);
    pgi_divisors_measure(dy->extent + PGI_SPATIAL, (int64_t)plan->kernels.real, &at);
    plan->room[ROOM_ZEROS] =
        pgi_place(&at, dy->extent[4], block, 1, (int64_t)plan->problem.element_size);
    plan->room[ROOM_KEPT] = pgi_place(&at, 2, 1, kept_reals(plan), (int64_t)plan->kernels.real);
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

/* How many rows of dy from o on are alike: have the same divisors, or do not exist. */
static int64_t alike(const pgi_threes_work *threes, int64_t o, int64_t end)
{
    const pgi_range inside = threes->divisors.windows[1];
    const int64_t *count = threes->divisors.counts[1];
    int64_t next = o + 1;

    if (o < inside.begin)
        return pgi_min(inside.begin, end) - o;
    if (o >= inside.end)
        return end - o;
    while (next < pgi_min(inside.end, end) && count[next - inside.begin] == count[o - inside.begin])
        next++;
    return next - o;
}

/* `count` rows of dx from (d, h) on. False if a quotient is in doubt: then, exactly. */
static bool run_rows(pgi_threes_work *threes, const pgi_unit *unit, int64_t d, int64_t h,
                     int64_t count, bool exactly)
{
    const pgi_problem *problem = &threes->plan->problem;
    const pgi_tensor *dy = &problem->source, *dx = &problem->target;
    const int64_t size = (int64_t)problem->element_size, pad = problem->axis[1].pad_lo;
    const char *source = pgi_unit_memory(problem, dy, unit, threes->work->source, (size_t)size);
    char *target = (char *)pgi_unit_memory(problem, dx, unit, threes->work->target, (size_t)size);
    const int64_t first = h + pad, end = first + count; /* rows of dy that end a row of dx */
    pgi_threes *shape = &threes->shape;
    int64_t o;

    memset(shape->pairs, 0, (size_t)(2 * kept_reals(threes->plan)) * threes->plan->kernels.real);
    for (o = first - 2; o < end; o += shape->rows) {
        const pgi_range inside = threes->divisors.windows[1];
        const bool exists = o >= inside.begin && o < inside.end;
        const void *from = threes->zeros;
        void *to = NULL;

        shape->rows = alike(threes, o, o < first ? first : end);
        shape->from_pitch = exists ? dy->stride[3] : 0;
        if (exists) {
            shape->by =
                pgi_divisors_of(&threes->divisors, pgi_divisors_outer(&threes->divisors, d, o));
            from = source + pgi_row_offset(dy, d, o, dy->offset[4]) * size;
        }
        if (exactly)
            shape->by.how = PGI_DIVIDE;
        if (o >= first)
            to = target + pgi_row_offset(dx, d, o - pad, dx->offset[4]) * size;
        if (!threes->plan->kernels.threes(to, from, shape) && !exactly)
            return false;
    }
    return true;
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    const pgi_problem *problem = &plan->problem;
    const pgi_tensor *dy = &problem->source, *dx = &problem->target;
    const int64_t planes = dx->extent[2], rows = dx->extent[3];
    const int64_t size = (int64_t)problem->element_size;
    char *room = workspace;
    char *kept = room + plan->room[ROOM_KEPT];
    pgi_threes_work threes = {
        .plan = plan,
        .work = work,
        .zeros = room + plan->room[ROOM_ZEROS],
        .shape = {.places = dx->extent[4],
                  .lanes = plan->block,
                  .first = dx->offset[4] + problem->axis[2].pad_lo - 2 - dy->offset[4],
                  .width = dy->extent[4],
                  .to_pitch = dx->stride[3],
                  .ahead = AHEAD / size,
                  .pairs = kept,
                  .singles = kept + (size_t)kept_reals(plan) * plan->kernels.real,
                  .kept = kept_step(plan->block),
                  .alpha = plan->scale.alpha,
                  .stream = work->stream}};
    pgi_range windows[3];
    int64_t at, count;
    int i;

    for (i = 0; i < 3; i++)
        windows[i] = (pgi_range){dy->offset[2 + i], dy->offset[2 + i] + dy->extent[2 + i]};
    pgi_divisors_region(&threes.divisors, problem, plan->kernels.real, windows, room);
    threes.shape.by = pgi_divisors_of(&threes.divisors, 1);
    memset(room + plan->room[ROOM_ZEROS], 0, (size_t)(dy->extent[4] * plan->block * size));
    for (at = begin; at < end; at += count) {
        const pgi_row_unit row = pgi_row_of_unit(plan, at, planes, rows);
        const int64_t d = dx->offset[2] + row.d, h = dx->offset[3] + row.h;

        count = pgi_min(end - at, rows - row.h);
        if (!run_rows(&threes, &row.unit, d, h, count, false))
            run_rows(&threes, &row.unit, d, h, count, true);
    }
}

static void describe(const poolgrad_plan *plan, char *text, size_t capacity)
{
    snprintf(text, capacity, "3x3 windows, rows of %" PRId64 " channel%s", plan->block,
             plan->block == 1 ? "" : "s");
}

const pgi_strategy pgi_strategy_threes = {
    .name = "threes",
    .reason = "3x3 windows with stride 1: every dy is divided and added in one pass",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = describe,
};
