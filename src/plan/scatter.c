/* SPDX-License-Identifier: MIT */
/*
 * The gradient of the maximum. Winners of all windows that reach a tile of dx are places in it:
 * from the indices, each checked as it is used, or from a contest over x. Then either every
 * position takes the dy of the few windows that may be its own, or, where windows are large, every
 * window gives its dy to its place; both in row-major order of the windows. The tile is summed in
 * the workspace and stored once.
 */
#include "core/dtype.h"
#include "core/integer.h"
#include "plan/placement.h"
#include "plan/rows.h"
#include "plan/strategies.h"
#include "plan/trace.h"

#include <string.h>

/* Taps of a window up to which comparing with each of them is quicker than going where its winner
 * is; and channels side by side that fill a vector. */
#define FEW_TAPS   32
#define FULL_LANES 8
/* Windows that overlap so much have winners that are often those of their neighbours. */
#define RUN_STRIDES 4
static int64_t length(pgi_range range)
{
    return range.end - range.begin;
}

/* dy of all windows that reach the tile, and places of those before and after them. */
static void load_windows(pgi_scatter *scatter)
{
    const poolgrad_plan *plan = scatter->plan;
    const int64_t *stride = plan->problem.source.stride + PGI_SPATIAL;
    const int64_t lanes = scatter->unit.lanes, before = scatter->parts.before * lanes;
    const int64_t windows = length(scatter->windows[2]);
    /* rows that follow each other without a gap are one row */
    const int64_t rows = lanes == 1 && scatter->pitch == windows && stride[1] == windows * stride[2]
                             ? length(scatter->windows[1])
                             : 1;
    int32_t *places = scatter->places;
    char *terms = scatter->terms;
    int64_t d, h, i;

    for (d = scatter->windows[0].begin; d < scatter->windows[0].end; d++) {
        for (h = scatter->windows[1].begin; h < scatter->windows[1].end; h += rows) {
            pgi_load_row(plan, scatter->dy, d, h, scatter->windows[2].begin, rows * windows, lanes,
                         terms + (size_t)before * plan->kernels.real);
            for (i = 0; i < before; i++)
                places[i] = PGI_NOWHERE;
            for (i = before + windows * lanes; i < scatter->pitch; i++)
                places[i] = PGI_NOWHERE;
            places += rows * scatter->pitch;
            terms += (size_t)(rows * scatter->pitch) * plan->kernels.real;
        }
    }
}

/* Whether all windows that positions of the tile look at are in its rows of windows, or before or
 * after them. */
static void look_at_columns(pgi_scatter *scatter)
{
    const pgi_gather *gather = &scatter->plan->problem.gather[2];
    const pgi_unit *unit = &scatter->unit;
    const int64_t turns = (unit->end[2] - unit->begin[2] - 1) / gather->period;
    const int64_t begin = scatter->windows[2].begin - scatter->parts.before;
    const int64_t end = scatter->windows[2].end + scatter->parts.after;
    int64_t i;

    scatter->award = scatter->parts.award;
    for (i = 0; scatter->award && i < gather->period; i++) {
        const pgi_run run = pgi_gather_run(gather, unit->begin[2] + i);

        scatter->columns[i] = run;
        if (run.count > 0 &&
            (run.first < begin || run.first + (run.count - 1) * gather->q + turns >= end))
            scatter->award = false;
    }
}

/* The windows of a run that are there: the first of them and how many, `q` apart. */
static pgi_run cut_run(pgi_run run, int64_t q, pgi_range windows)
{
    while (run.count > 0 && run.first < windows.begin) {
        run.first += q;
        run.count--;
    }
    while (run.count > 0 && run.first + (run.count - 1) * q >= windows.end)
        run.count--;
    return run;
}

/* Every position takes what is its own: row (d, h). */
static void award_row(const pgi_scatter *scatter, int64_t d, int64_t h, pgi_run planes)
{
    const poolgrad_plan *plan = scatter->plan;
    const pgi_gather *gather = plan->problem.gather;
    const pgi_unit *unit = &scatter->unit;
    const pgi_run rows = cut_run(pgi_gather_run(&gather[1], h), gather[1].q, scatter->windows[1]);
    const int64_t at[3] = {d, h, unit->begin[2]}, real = (int64_t)plan->kernels.real;
    pgi_award award = {.columns = unit->end[2] - unit->begin[2],
                       .lanes = unit->lanes,
                       .place = pgi_place_in_tile(scatter, at),
                       .phases = (int)gather[2].period};
    int64_t m, t, w;
    int i;

    for (i = 0; i < award.phases; i++) {
        const pgi_run columns = scatter->columns[i];
        int windows = 0;

        for (m = 0; m < planes.count; m++) {
            for (t = 0; t < rows.count; t++) {
                const int64_t od = planes.first + m * gather[0].q - scatter->windows[0].begin;
                const int64_t oh = rows.first + t * gather[1].q - scatter->windows[1].begin;
                int64_t cell = (od * length(scatter->windows[1]) + oh) * scatter->pitch +
                               (scatter->parts.before + columns.first - scatter->windows[2].begin) *
                                   unit->lanes;

                for (w = 0; w < columns.count; w++, cell += gather[2].q * unit->lanes) {
                    award.phase[i].places[windows] = scatter->places + cell;
                    award.phase[i].terms[windows++] = scatter->terms + cell * real;
                }
            }
        }
        award.phase[i].windows = windows;
    }
    plan->kernels.award(scatter->workspace + scatter->parts.sums + award.place * unit->lanes * real,
                        &award);
}

static void sum_tile(const pgi_scatter *scatter)
{
    const poolgrad_plan *plan = scatter->plan;
    const pgi_gather *gather = plan->problem.gather;
    const pgi_unit *unit = &scatter->unit;
    const size_t real = plan->kernels.real;
    const int64_t rows = length(scatter->windows[0]) * length(scatter->windows[1]);
    const int64_t before = scatter->parts.before * unit->lanes;
    char *sums = scatter->workspace + scatter->parts.sums;
    int64_t d, h;

    if (!scatter->award) {
        /* without windows before and after them, all rows are one */
        const int64_t joined = scatter->parts.award ? 1 : rows;

        for (h = 0; h < rows; h += joined)
            plan->kernels.deal(sums, scatter->places + h * scatter->pitch + before,
                               scatter->terms + (size_t)(h * scatter->pitch + before) * real,
                               unit->lanes, joined * length(scatter->windows[2]),
                               scatter->parts.runs);
        return;
    }
    for (d = unit->begin[0]; d < unit->end[0]; d++) {
        const pgi_run planes =
            cut_run(pgi_gather_run(&gather[0], d), gather[0].q, scatter->windows[0]);

        for (h = unit->begin[1]; h < unit->end[1]; h++)
            award_row(scatter, d, h, planes);
    }
}

static void store_tile(const pgi_scatter *scatter, char *dx)
{
    const pgi_unit *unit = &scatter->unit;
    const int64_t places = unit->end[2] - unit->begin[2];
    const char *sums = scatter->workspace + scatter->parts.sums;
    const poolgrad_plan *plan = scatter->plan;
    const int64_t *stride = plan->problem.target.stride + PGI_SPATIAL;
    int64_t d, h;

    if (plan->scale.beta == 0 && pgi_is_dense(plan, unit->lanes)) {
        /* rows that follow each other without a gap are one row */
        const bool rows = stride[1] == places * unit->lanes || unit->end[1] - unit->begin[1] == 1;
        const int64_t row = rows ? places * (unit->end[1] - unit->begin[1]) : places;

        for (d = unit->begin[0]; d < unit->end[0]; d++) {
            for (h = unit->begin[1]; h < (rows ? unit->begin[1] + 1 : unit->end[1]); h++) {
                pgi_finish_row(plan, scatter->work, dx, d, h, unit->begin[2], sums, row,
                               unit->lanes);
                sums += (size_t)(row * unit->lanes) * plan->kernels.real;
            }
        }
        return;
    }
    for (d = unit->begin[0]; d < unit->end[0]; d++) {
        for (h = unit->begin[1]; h < unit->end[1]; h++) {
            pgi_store_row(scatter->plan, dx, d, h, unit->begin[2], places, unit->lanes, sums);
            sums += (size_t)(places * unit->lanes) * scatter->plan->kernels.real;
        }
    }
}

static void find_winners(pgi_scatter *scatter, bool new_tile)
{
    const pgi_problem *problem = &scatter->plan->problem;
    const pgi_unit *unit = &scatter->unit;
    pgi_box box;
    int i;

    if (new_tile) {
        int64_t begin[3], end[3];

        for (i = 0; i < 3; i++) {
            begin[i] = scatter->windows[i].begin;
            end[i] = scatter->windows[i].end;
            box.begin[i] = unit->begin[i];
            box.end[i] = unit->end[i];
        }
        pgi_contest_region(&scatter->contest, begin, end, &box);
    }
    if (!scatter->contest.empty)
        pgi_contest_run(
            &scatter->contest,
            pgi_unit_memory(problem, &problem->x, unit, scatter->work->x, problem->element_size),
            unit->lanes, true);
    memcpy(scatter->windows, scatter->contest.windows, sizeof scatter->windows);
    scatter->places = scatter->contest.places - scatter->parts.before * unit->lanes;
}

static void run_unit(void *context, const pgi_unit *unit, bool new_tile)
{
    pgi_scatter *scatter = context;
    const poolgrad_plan *plan = scatter->plan;
    const pgi_problem *problem = &plan->problem;
    const pgi_work *work = scatter->work;
    int64_t places = unit->lanes;
    bool reached = true;
    int i;

    scatter->unit = *unit;
    for (i = 0; i < 3; i++) {
        scatter->windows[i] = pgi_gather_reach(&problem->gather[i], unit->begin[i], unit->end[i]);
        reached &= length(scatter->windows[i]) > 0;
        places *= unit->end[i] - unit->begin[i];
    }
    if (reached && problem->has_indices) {
        if (new_tile)
            pgi_trace_tile(scatter);
        scatter->indices =
            pgi_unit_memory(problem, &problem->indices, unit, work->indices, problem->index_size);
        scatter->places = (int32_t *)(void *)(scatter->workspace + scatter->parts.places);
    } else if (reached) {
        find_winners(scatter, new_tile);
        reached = !scatter->contest.empty;
    }
    if (reached && new_tile)
        look_at_columns(scatter);
    if (!reached || !scatter->award)
        memset(scatter->workspace + scatter->parts.sums, 0, (size_t)places * plan->kernels.real);
    if (reached) {
        scatter->pitch =
            (length(scatter->windows[2]) + scatter->parts.before + scatter->parts.after) *
            unit->lanes;
        scatter->terms = scatter->workspace + scatter->parts.terms;
        scatter->dy =
            pgi_unit_memory(problem, &problem->source, unit, work->source, problem->element_size);
        if (problem->has_indices)
            pgi_trace_windows(scatter);
        load_windows(scatter);
        sum_tile(scatter);
    }
    store_tile(scatter, (char *)pgi_unit_memory(problem, &problem->target, unit, work->target,
                                                problem->element_size));
}

static bool applicable(const pgi_problem *problem)
{
    int64_t places = 1;
    int i;

    for (i = 0; i < 3; i++)
        if (!pgi_mul(places, problem->axis[i].in, &places))
            return false;
    return problem->desc.op == POOLGRAD_MAX_GRAD && places <= -(int64_t)PGI_NOWHERE;
}

/* Whether positions take: channels fill vectors, and windows have few taps. */
static bool takes(const pgi_problem *problem, int64_t lanes)
{
    const pgi_gather *gather = problem->gather;
    int64_t taps = 1;
    int i;

    for (i = 0; i < 3; i++) {
        if (problem->axis[i].kernel > FEW_TAPS || problem->axis[i].adaptive)
            return false;
        taps *= problem->axis[i].kernel;
    }
    return lanes >= FULL_LANES && taps <= FEW_TAPS && gather[2].filled &&
           gather[2].period <= PGI_AWARD_PHASES;
}

static int64_t measure(const pgi_problem *problem, const pgi_tiling *tiling,
                       pgi_scatter_parts *parts)
{
    const int64_t real = (int64_t)pgi_compute_size(problem->desc.dtype), lanes = tiling->lanes;
    pgi_placement at = {0, true};
    int64_t windows[3], row, pitch;
    int i;

    *parts = (pgi_scatter_parts){.award = takes(problem, lanes),
                                 .runs = problem->axis[2].kernel >
                                         RUN_STRIDES * problem->axis[2].stride};
    if (parts->award)
        parts->before = parts->after = problem->gather[2].longest * problem->gather[2].q;
    for (i = 0; i < 3; i++) {
        windows[i] = pgi_min(pgi_gather_reach_bound(&problem->gather[i], tiling->extent[i]),
                             problem->gather[i].most_sources);
        /* without windows there is no contest, but it wants at least one target */
        windows[i] = pgi_max(1, windows[i]);
    }
    if (!pgi_add(windows[2], parts->before + parts->after, &pitch) ||
        !pgi_mul(pitch, lanes, &pitch) || !pgi_mul(tiling->extent[2], lanes, &row))
        return -1;
    if (problem->has_x) {
        if (!pgi_contest_measure(problem->taps, windows, lanes, parts->before, parts->after,
                                 problem->desc.dtype, &parts->contest))
            return -1;
        at.end = (int64_t)parts->contest.bytes;
    } else {
        parts->places = pgi_place(&at, windows[0], windows[1], pitch, sizeof(int32_t));
        pgi_place(&at, 1, 1, PGI_SLACK, sizeof(int32_t));
    }
    parts->terms = pgi_place(&at, windows[0], windows[1], pitch, real);
    pgi_place(&at, 1, 1, PGI_SLACK, real);
    parts->sums = pgi_place(&at, tiling->extent[0], tiling->extent[1], row, real);
    pgi_place(&at, 1, 1, PGI_SLACK, real);
    parts->begin = pgi_place(&at, 1, 1, pgi_max(windows[2], PGI_JOINED_WINDOWS), sizeof(int32_t));
    parts->width = pgi_place(&at, 1, 1, pgi_max(windows[2], PGI_JOINED_WINDOWS), sizeof(int32_t));
    return at.fits ? at.end : -1;
}

static int64_t lay_out(const pgi_problem *problem, const pgi_tiling *tiling, size_t room[PGI_ROOMS])
{
    pgi_scatter_parts parts;

    (void)room;
    return measure(problem, tiling, &parts);
}

static bool prepare(poolgrad_plan *plan)
{
    return pgi_plan_tile(plan, lay_out);
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    pgi_scatter scatter = {.plan = plan,
                           .work = work,
                           .workspace = workspace,
                           .contest = {.plan = plan,
                                       .taps = plan->problem.taps,
                                       .tensor = &plan->problem.x,
                                       .workspace = workspace}};

    measure(&plan->problem, &plan->tiling, &scatter.parts);
    scatter.contest.layout = &scatter.parts.contest;
    pgi_each_unit(plan, begin, end, run_unit, &scatter);
}

const pgi_strategy pgi_strategy_scatter = {
    .name = "scatter",
    .reason = "sums a tile of dx in cache, from the winners of its windows, and stores it once",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = pgi_describe_tiles,
};
