/* SPDX-License-Identifier: MIT */
/*
 * Averages, both ways, at a cost that grows with the logarithm of the window: a sweep that adds.
 * The gradient divides every dy by its window's count as it is loaded; the forward pass divides
 * every sum by it before it is stored.
 */
#include "core/dtype.h"
#include "core/integer.h"
#include "plan/placement.h"
#include "plan/rows.h"
#include "plan/strategies.h"

/* The strategy's own parts of the workspace, behind the sweep. */
enum {
    ROOM_COUNTS,
    ROOM_DIVISORS,
    ROOM_QUOTIENTS
};

typedef struct pgi_average {
    const poolgrad_plan *plan;
    const pgi_work *work;
    pgi_sweep sweep;
    char *target;         /* of the unit's batch and first channel */
    pgi_range windows[3]; /* of the tile: sources of a gradient, targets of a forward pass */
    int64_t *counts[3];   /* of those windows, axis by axis */
    bool uniform;         /* one divisor for all windows of a row */
    int64_t outer; /* what the divisors that are there now have of the other axes; 0: none are */
} pgi_average;

/* What a window contributes to the divisor on one axis; 0 if it covers nothing there. */
static int64_t axis_count(const pgi_problem *problem, int axis, int64_t o)
{
    if (problem->desc.divisor == POOLGRAD_OVERRIDE)
        return pgi_axis_covers(&problem->axis[axis], o);
    return pgi_axis_count(&problem->axis[axis], problem->desc.divisor, o);
}

/* Everything that depends on the tile but not on batch and channels. */
static void enter_tile(pgi_average *average, const pgi_unit *unit)
{
    const pgi_problem *problem = &average->plan->problem;
    int64_t *counts =
        (int64_t *)(void *)(average->sweep.workspace + average->plan->room[ROOM_COUNTS]);
    int64_t o;
    int axis;

    pgi_sweep_region(&average->sweep, unit->begin, unit->end);
    average->uniform = true;
    average->outer = 0;
    for (axis = 0; axis < 3; axis++) {
        average->windows[axis] = average->sweep.reach[axis];
        if (pgi_is_forward(problem->desc.op))
            average->windows[axis] = (pgi_range){unit->begin[axis], unit->end[axis]};
        average->counts[axis] = counts;
        for (o = average->windows[axis].begin; o < average->windows[axis].end; o++, counts++) {
            *counts = axis_count(problem, axis, o);
            average->uniform &= axis < 2 || *counts == average->counts[2][0];
        }
    }
}

/* The divisors of row (d, h) of windows, integers converted once. Windows that cover nothing are
 * in no run, or have the sum 0: any number but 0 will do for them. */
static const char *row_divisors(pgi_average *average, int64_t d, int64_t h)
{
    const pgi_problem *problem = &average->plan->problem;
    const int64_t windows = average->windows[2].end - average->windows[2].begin;
    char *divisors = average->sweep.workspace + average->plan->room[ROOM_DIVISORS];
    int64_t outer = average->counts[0][d - average->windows[0].begin] *
                    average->counts[1][h - average->windows[1].begin];
    int64_t o;

    if (problem->desc.divisor == POOLGRAD_OVERRIDE)
        outer *= problem->desc.divisor_override;
    if (outer == average->outer && outer != 0) /* most rows are like the one before */
        return divisors;
    average->outer = outer;
    for (o = 0; o < (average->uniform ? pgi_min(1, windows) : windows); o++) {
        const int64_t product = outer * average->counts[2][o], count = product ? product : 1;

        if (average->sweep.cells.size == sizeof(double))
            ((double *)(void *)divisors)[o] = (double)count;
        else
            ((float *)(void *)divisors)[o] = (float)count;
    }
    return divisors;
}

/* How many rows from row h on can be loaded as one: they follow each other in memory as places do,
 * and have one divisor. */
static int64_t rows_alike(const pgi_average *average, int64_t h)
{
    const int64_t *stride = average->plan->problem.source.stride + PGI_SPATIAL;
    const pgi_range places = average->sweep.reach[2];
    const int64_t *count = average->counts[1] + (h - average->windows[1].begin);
    int64_t step, rows = 1;

    if (!average->uniform || !pgi_mul(places.end - places.begin, stride[2], &step) ||
        stride[1] != step)
        return 1;
    while (h + rows < average->sweep.reach[1].end && count[rows] == count[0])
        rows++;
    return rows;
}

static void load_rows(pgi_average *average, const char *source)
{
    const poolgrad_plan *plan = average->plan;
    const pgi_sweep *sweep = &average->sweep;
    const bool gradient = !pgi_is_forward(plan->problem.desc.op);
    const pgi_range places = sweep->reach[2];
    int64_t d, h, rows;

    for (d = sweep->reach[0].begin; d < sweep->reach[0].end; d++) {
        for (h = sweep->reach[1].begin; h < sweep->reach[1].end; h += rows) {
            rows = gradient ? rows_alike(average, h) : 1;
            pgi_load_row(plan, source, d, h, places.begin, rows * (places.end - places.begin),
                         sweep->lanes, gradient ? row_divisors(average, d, h) : NULL,
                         !gradient || average->uniform, pgi_sweep_source_row(sweep, d, h));
        }
    }
}

/* A row of sums divided; a copy, because the sweep may give the same row again. */
static const char *divide_row(pgi_average *average, int64_t d, int64_t h, const char *sums)
{
    const poolgrad_plan *plan = average->plan;
    const pgi_sweep *sweep = &average->sweep;
    const int64_t places = sweep->end[2] - sweep->begin[2], lanes = sweep->lanes;
    const char *divisors = row_divisors(average, d, h);
    char *quotients = sweep->workspace + plan->room[ROOM_QUOTIENTS];
    int64_t o;

    sweep->cells.pick(quotients, sums, 1, lanes, places);
    if (lanes == 1 || average->uniform) {
        plan->kernels.divide(quotients, divisors, !average->uniform, places * lanes);
        return quotients;
    }
    for (o = 0; o < places; o++)
        plan->kernels.divide(quotients + (size_t)(o * lanes) * sweep->cells.size,
                             divisors + (size_t)o * sweep->cells.size, 0, lanes);
    return quotients;
}

static void take_row(void *context, int64_t d, int64_t h, const pgi_target_row *made)
{
    pgi_average *average = context;
    const poolgrad_plan *plan = average->plan;
    const pgi_sweep *sweep = &average->sweep;
    const int64_t places = sweep->end[2] - sweep->begin[2];
    const bool direct = plan->scale.beta == 0 && pgi_is_dense(plan, sweep->lanes);
    pgi_rows sums = {.count = 1};

    if (direct && !made->cells && !pgi_is_forward(plan->problem.desc.op)) {
        pgi_finish_row(plan, average->work, average->target, d, h, sweep->begin[2], made->run,
                       made->phases, places, sweep->lanes);
        return;
    }
    sums.row[0] = pgi_sweep_cells(sweep, made);
    if (pgi_is_forward(plan->problem.desc.op))
        sums.row[0] = divide_row(average, d, h, sums.row[0]);
    if (direct)
        pgi_finish_row(plan, average->work, average->target, d, h, sweep->begin[2], &sums, 1,
                       places, sweep->lanes);
    else
        pgi_store_row(plan, average->target, d, h, sweep->begin[2], places, sweep->lanes,
                      sums.row[0]);
}

static void run_unit(void *context, const pgi_unit *unit, bool new_tile)
{
    pgi_average *average = context;
    const pgi_problem *problem = &average->plan->problem;
    const pgi_work *work = average->work;

    if (new_tile)
        enter_tile(average, unit);
    pgi_sweep_lanes(&average->sweep, unit->lanes);
    average->target = (char *)pgi_unit_memory(problem, &problem->target, unit, work->target,
                                              problem->element_size);
    if (average->sweep.planes.cells > 0)
        load_rows(average, pgi_unit_memory(problem, &problem->source, unit, work->source,
                                           problem->element_size));
    pgi_sweep_run(&average->sweep, take_row, average);
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    pgi_average average = {.plan = plan,
                           .work = work,
                           .sweep = {.gather = plan->problem.gather,
                                     .layout = &plan->sweep,
                                     .cells = plan->kernels.sums,
                                     .workspace = workspace}};

    pgi_each_unit(plan, begin, end, run_unit, &average);
}

static bool applicable(const pgi_problem *problem)
{
    return !pgi_is_max(problem->desc.op);
}

static int64_t lay_out(const pgi_problem *problem, const pgi_tiling *tiling,
                       pgi_sweep_layout *sweep, size_t room[PGI_ROOMS])
{
    const bool forward = pgi_is_forward(problem->desc.op);
    const int64_t real = (int64_t)pgi_compute_size(problem->desc.dtype);
    pgi_placement at;
    int64_t windows, all = 0;
    int i;

    if (!pgi_sweep_measure(problem->gather, tiling->extent, tiling->lanes, (size_t)real, sweep))
        return -1;
    at = (pgi_placement){(int64_t)sweep->bytes, true};
    for (i = 0; i < 3; i++) {
        windows = forward ? tiling->extent[i] : sweep->sources[i];
        at.fits = at.fits && pgi_add(all, windows, &all);
    }
    room[ROOM_COUNTS] = pgi_place(&at, 1, 1, all, sizeof(int64_t));
    room[ROOM_DIVISORS] = pgi_place(&at, 1, 1, windows, real);
    room[ROOM_QUOTIENTS] = pgi_place(&at, forward, tiling->extent[2], tiling->lanes, real);
    return at.fits ? at.end : -1;
}

static bool prepare(poolgrad_plan *plan)
{
    return pgi_plan_tile(plan, lay_out);
}

const pgi_strategy pgi_strategy_separable = {
    .name = "separable",
    .reason = "applies to every average at a cost that grows with the logarithm of the window",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = pgi_describe_tiles,
};
