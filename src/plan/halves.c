/* SPDX-License-Identifier: MIT */
/*
 * Gradients of averages over 3x3 windows with stride 2. Position q - pad_lo of an axis is covered
 * by window q / 2 and, if q is even, by the one before it: every row of dy, as terms, makes two
 * rows of dx, one together with the row before it, one alone.
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

/* Elements of a row of dy: two rows of terms should stay in the nearest caches. */
#define MOST_ELEMENTS 16384

/* Rows of terms that are made at a time: as many as stay in the first-level cache, but not more
 * than so many. */
#define NEAR_BYTES 16384
#define MOST_ROWS  16

/* The strategy's parts of the workspace, behind its divisors. */
enum {
    ROOM_DIVISORS,
    ROOM_TERMS /* a ring of rows, each with a column of zeros before and behind it */
};

static bool applicable(const pgi_problem *problem)
{
    const pgi_tensor *dy = &problem->source, *dx = &problem->target;
    const int64_t lanes = pgi_row_lanes(problem);

    return problem->desc.op == POOLGRAD_AVG_GRAD && problem->desc.beta == 0 && dx->elements > 0 &&
           dy->elements > 0 && !pgi_rows_below(problem, PGI_SHORT_ROW) &&
           pgi_axis_is(&problem->axis[0], 1, 1) && pgi_axis_is(&problem->axis[1], 3, 2) &&
           pgi_axis_is(&problem->axis[2], 3, 2) && lanes > 0 &&
           dy->extent[4] <= MOST_ELEMENTS / lanes;
}

/* Reals of a row before its first column. */
static int64_t front(const poolgrad_plan *plan)
{
    return pgi_whole_vectors(plan->block);
}

static int64_t row_reals(const poolgrad_plan *plan)
{
    const int64_t columns = plan->problem.source.extent[4] + 1;

    return front(plan) + pgi_whole_vectors(columns * plan->block) + PGI_ROW_REALS;
}

static int64_t rows_together(const poolgrad_plan *plan)
{
    const int64_t near = NEAR_BYTES / (row_reals(plan) * (int64_t)plan->kernels.real);

    return pgi_max(1, pgi_min(near, MOST_ROWS));
}

static bool prepare(poolgrad_plan *plan)
{
    const pgi_tensor *dx = &plan->problem.target;
    const int64_t real = (int64_t)plan->kernels.real;
    pgi_placement at = {0, true};

    pgi_arrange_rows(plan);
    pgi_units_of_rows(plan, dx->extent[2], dx->extent[3]);
    pgi_divisors_measure(plan->problem.source.extent + PGI_SPATIAL, real, &at);
    plan->room[ROOM_TERMS] = pgi_place(&at, rows_together(plan) + 1, 1, row_reals(plan), real);
    plan->task_workspace = (size_t)at.end;
    return at.fits;
}

typedef struct pgi_halves_work {
    const poolgrad_plan *plan;
    pgi_divisor_rows divisors;
    pgi_halves shape;
    const char *source; /* of the unit's batch and first channel */
    char *target;       /* likewise */
    char *terms;
    int64_t together, pitch; /* rows of terms, and from one to the next, in reals */
    int64_t first;           /* the column that the first place begins with */
} pgi_halves_work;

static int64_t row_of_dy(const pgi_halves_work *halves, int64_t d, int64_t window)
{
    const pgi_tensor *dy = &halves->plan->problem.source;

    return pgi_row_offset(dy, d, window, dy->offset[4]) *
           (int64_t)halves->plan->problem.element_size;
}

/* Where the terms of a row of windows, the -1st or a later one, have column w. */
static char *column_of(const pgi_halves_work *halves, int64_t window, int64_t w)
{
    const int64_t slot = (window + 1) % (halves->together + 1);

    return halves->terms +
           (size_t)(slot * halves->pitch + front(halves->plan) + w * halves->plan->block) *
               halves->plan->kernels.real;
}

/* Terms of rows of windows that exist, have the same counts and lie one behind the other in the
 * ring. */
static void load_alike(pgi_halves_work *halves, int64_t d, int64_t window, int64_t rows)
{
    const poolgrad_plan *plan = halves->plan;
    const pgi_tensor *dy = &plan->problem.source;
    const char *from = halves->source + row_of_dy(halves, d, window);
    const int64_t outer = pgi_divisors_outer(&halves->divisors, d, window);
    const pgi_divisors *by = pgi_divisors_of(&halves->divisors, outer);
    int64_t w, places = dy->extent[4];

    for (w = 0; w < dy->extent[4]; w += places) {
        pgi_divisors here = *by;

        if (plan->block > 1)
            places = pgi_divisors_alike(&halves->divisors, dy->offset[4] + w, &here);
        plan->kernels.terms(column_of(halves, window, w), halves->pitch,
                            from + (size_t)(w * plan->block) * plan->problem.element_size,
                            dy->stride[3], 1, rows, places * plan->block, &here, false);
    }
}

static void load(pgi_halves_work *halves, int64_t d, int64_t begin, int64_t end)
{
    const pgi_divisor_rows *divisors = &halves->divisors;
    const pgi_range exist = divisors->windows[1];
    int64_t window, rows;

    for (window = begin; window < end; window += rows) {
        const int64_t most =
            pgi_min(end - window, halves->together + 1 - (window + 1) % (halves->together + 1));

        rows = 1;
        if (window < exist.begin || window >= exist.end) {
            memset(column_of(halves, window, 0), 0,
                   (size_t)(halves->plan->problem.source.extent[4] * halves->plan->block) *
                       halves->plan->kernels.real);
            continue;
        }
        while (rows < most && window + rows < exist.end &&
               divisors->counts[1][window + rows - exist.begin] ==
                   divisors->counts[1][window - exist.begin])
            rows++;
        load_alike(halves, d, window, rows);
    }
}

/* `count` rows of dx from (d, h) on. */
static void run_rows(pgi_halves_work *halves, int64_t d, int64_t h, int64_t count)
{
    const poolgrad_plan *plan = halves->plan;
    const pgi_tensor *dy = &plan->problem.source, *dx = &plan->problem.target;
    const int64_t size = (int64_t)plan->problem.element_size;
    const int64_t q = h + plan->problem.axis[1].pad_lo, end = q + count;
    char *to = halves->target + pgi_row_offset(dx, d, h, dx->offset[4]) * size;
    int64_t window = q / 2, made = window - (q % 2 == 0), rows, i;

    for (; 2 * window < end; window += rows) {
        const int64_t begin = pgi_max(q - 2 * window, 0);
        const void *from[MOST_ROWS + 1];
        pgi_ahead ahead;
        int64_t last;

        rows = pgi_min(halves->together, pgi_ceil_div(end, 2) - window);
        last = pgi_min(end - 2 * window, 2 * rows);
        load(halves, d, made, window + rows);
        made = window + rows;
        for (i = 0; i <= rows; i++)
            from[i] = column_of(halves, window - 1 + i, halves->first);
        ahead.at = halves->source + row_of_dy(halves, d, made);
        ahead.end = ahead.at + rows * dy->stride[3] * size;
        plan->kernels.halves(to, dx->stride[3], from, begin, last, &halves->shape, ahead);
        to += (last - begin) * dx->stride[3] * size;
    }
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    const pgi_problem *problem = &plan->problem;
    const pgi_tensor *dy = &problem->source, *dx = &problem->target;
    const int64_t planes = dx->extent[2], rows = dx->extent[3];
    const int64_t q = dx->offset[4] + problem->axis[2].pad_lo;
    char *room = workspace;
    pgi_halves_work halves = {.plan = plan,
                              .terms = room + plan->room[ROOM_TERMS],
                              .together = rows_together(plan),
                              .pitch = row_reals(plan),
                              /* what no window reaches has the column of zeros behind the last */
                              .first = pgi_min(q / 2 - (q % 2 == 0) - dy->offset[4], dy->extent[4]),
                              .shape = {.places = dx->extent[4],
                                        .lanes = plan->block,
                                        .late = q % 2 == 0,
                                        .alpha = plan->scale.alpha,
                                        .stream = work->stream}};
    pgi_range ranges[3];
    int64_t at, count;
    int i;

    for (i = 0; i < 3; i++)
        ranges[i] = (pgi_range){dy->offset[2 + i], dy->offset[2 + i] + dy->extent[2 + i]};
    pgi_divisors_region(&halves.divisors, problem, plan->kernels.real, ranges, room);
    memset(halves.terms, 0, (size_t)((halves.together + 1) * halves.pitch) * plan->kernels.real);
    for (at = begin; at < end; at += count) {
        const pgi_row_unit row = pgi_row_of_unit(plan, at, planes, rows);

        count = pgi_min(end - at, rows - row.h);
        halves.source =
            pgi_unit_memory(problem, dy, &row.unit, work->source, problem->element_size);
        halves.target =
            (char *)pgi_unit_memory(problem, dx, &row.unit, work->target, problem->element_size);
        run_rows(&halves, dx->offset[2] + row.d, dx->offset[3] + row.h, count);
    }
}

static void describe(const poolgrad_plan *plan, char *text, size_t capacity)
{
    snprintf(text, capacity, "terms of %" PRId64 " rows at a time, rows of %" PRId64 " channel%s",
             rows_together(plan), plan->block, plan->block == 1 ? "" : "s");
}

const pgi_strategy pgi_strategy_halves = {
    .name = "halves",
    .reason = "3x3 windows with stride 2: every row of dy makes two of dx, in one pass",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = describe,
};
