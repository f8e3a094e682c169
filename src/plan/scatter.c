/* SPDX-License-Identifier: MIT */
/*
 * The gradient of the maximum. Winners of all windows that reach a tile of dx are places in it:
 * from the indices, each checked as it is used, or from a melee or a contest over x. Then either
 * every position takes the dy of the few windows that may be its own, and is stored; or, where
 * windows are large, every window gives its dy to its place, and the tile is summed in the
 * workspace and stored once. Both go in row-major order of the windows.
 */
#include "core/dtype.h"
#include "core/integer.h"
#include "core/window.h"
#include "plan/award.h"
#include "plan/deal.h"
#include "plan/placement.h"
#include "plan/rows.h"
#include "plan/strategies.h"
#include "plan/trace.h"

#include <string.h>

/* Taps of a window up to which comparing with each of them is quicker than going where its winner
 * is, with long vectors and with others (Zen 4, avx2, one thread, NXC, from indices, that and the
 * other: 4x4 f32 3.4 and 3.9 ms, bf16 3.4 and 6.6, 5x5 f32 5.1 and 4.6; 3x3x3 with stride 2 f32
 * 4.7 and 3.3, f64 7.3 and 6.0; but Xeon, avx512, two threads, f32: 5x5 1.7 and 2.5 ms, 3x3x3 with
 * stride 2 2.1 and 2.9); and windows of a position up to which it is so anyway. */
#define LONG_VECTOR   64 /* bytes */
#define FEW_TAPS_LONG 32
#define FEW_TAPS      24
#define FEW_WINDOWS   2
/* In rows of so many places it may have one more: neighbouring windows often have one winner, and
 * dealing then waits for what it has just added (Zen 5, avx2, from indices, f32 NCX, 3 taps with
 * stride 1, that and the other: 512x64 rows of 100 places 2.2 and 4.3 ms, 64x64 of 500 0.95 and
 * 0.90, 8x64 of 3136 1.04 and 0.87; from x 0.69 and 0.52). */
#define LONG_ROW 512
/* Windows of a position up to which it takes by taps, which cost less to compare than places do to
 * make. */
#define FEW_BY_TAPS 4
/* Positions for a window from which on its dy goes where the index says, unless vectors are long
 * and dy need not be widened: most positions would ask several windows and get nothing (2x3x3 with
 * stride 2, NXC f32: 3.9 against 3.2 ms). */
#define FAR_APART 8
/* Windows that overlap so much have winners that are often those of their neighbours, */
#define RUN_STRIDES 4
/* and wait for each other: from indices, so many lanes that lie apart are dealt in turn where
 * planes are small. */
#define LANES_IN_TURN 8
/* With so many strides a sum is kept until the winner changes, though that cannot be predicted
 * (Zen 3, a plane at a time, that and the other: 5x5 2.43 and 0.72 ns a window, 13x13 1.55 and
 * 1.19, 17x17 1.50 and 1.45, 25x25 1.20 and 1.62). */
#define LONG_RUN_STRIDES 16
/* What the workspace should not exceed where windows overlap much, winners are from x and planes
 * are cut: at the border of a tile they are found twice, which costs more than misses of the
 * second-level cache (Zen 3, 5x5 in NXC, with 512 KiB, 1.2 and 2.5 MiB: on 56x56 with 16
 * channels 5.2, 3.5 and 3.5 ms, with 64 4.5, 4.5 and 4.0, on 28x28 with 128 2.2, 2.2 and 1.7). */
#define ROOMY_BYTES (INT64_C(2560) << 10)
/* The same where windows give to some slices of a tile at a time, from indices: of larger tiles
 * fewer indices are looked at twice, and what is at work is but part of one (Zen 3, 3x3x3s2 in such
 * slices on 32x64x64 with 32 channels, NXC f32, with 512 KiB, 1.2, 2.5 and 4.5 MiB: 4.75, 4.70,
 * 4.47 and 4.40 ms). */
#define SLICED_BYTES (INT64_C(4608) << 10)
/* Bytes of a group of channels, if they are cut: shorter pieces of memory are slow to read (Zen 3,
 * 13x13 from x in NXC with 512 channels, bf16, with 64 and 128 4.34 and 4.09 ms, 256 no less). */
#define LEAST_LANE_BYTES 256

/* Places are counted in a tile, but in the input where they become taps. */
static pgi_box box_of(const pgi_scatter *scatter, const pgi_unit *tile)
{
    pgi_box box = {.per_place = pgi_per_place(scatter)};
    int i;

    for (i = 0; i < 3; i++) {
        box.begin[i] = scatter->parts.taps ? 0 : tile->begin[i];
        box.end[i] = scatter->parts.taps ? scatter->plan->problem.axis[i].in : tile->end[i];
    }
    return box;
}

static const char *x_of(const pgi_scatter *scatter)
{
    const pgi_problem *problem = &scatter->plan->problem;

    return pgi_unit_memory(problem, &problem->x, &scatter->unit, scatter->work->x,
                           problem->element_size);
}

/* Says that an arena is asked for the windows that reach a tile; those of a unit begin. */
static void enter_arena(pgi_scatter *scatter, const pgi_unit *tile, bool new_tile)
{
    const pgi_box box = box_of(scatter, tile);
    int64_t begin[3], end[3];
    int i;

    for (i = 0; i < 3; i++) {
        const pgi_range windows =
            pgi_gather_reach(&scatter->plan->problem.gather[i], tile->begin[i], tile->end[i]);

        begin[i] = windows.begin;
        end[i] = windows.end;
    }
    if (new_tile)
        pgi_arena_region(&scatter->arena, begin, end, &box);
    pgi_arena_enter(&scatter->arena, x_of(scatter), scatter->unit.lanes);
}

/* Winners of the windows at hand by an arena that has been entered. */
static void ask_arena(pgi_scatter *scatter)
{
    const pgi_numbering as_they_are = {.unit = 1};
    const pgi_range planes = scatter->windows[0], down = scatter->windows[1];
    const int64_t lanes = scatter->unit.lanes, rows = pgi_length(down);
    const int64_t cells = pgi_length(scatter->windows[2]) * lanes;
    int64_t d;

    for (d = planes.begin; d < planes.end; d++) {
        const int64_t at = (d - planes.begin) * rows * cells;
        const pgi_lists lists = {.taps = scatter->names + at, .tap_step = lanes, .tap_row = cells};

        if (scatter->parts.lists && pgi_arena_lists(&scatter->arena, d, down.begin, rows, &lists))
            continue;
        pgi_arena_rows(&scatter->arena, d, down.begin, rows, NULL,
                       scatter->places + (scatter->parts.taps ? 0 : at));
        if (scatter->parts.taps)
            scatter->plan->kernels.number[POOLGRAD_U8 - 1](scatter->names + at, 1, scatter->places,
                                                           rows * cells, &as_they_are, false);
    }
}

/* The same of windows that are dealt some at a time. */
static void find_some(pgi_scatter *scatter, const pgi_unit *tile, bool first)
{
    if (first)
        enter_arena(scatter, tile, true);
    ask_arena(scatter);
}

/* Winners from x; false if no window covers anything. */
static bool find_winners(pgi_scatter *scatter, bool new_tile)
{
    const pgi_box box = box_of(scatter, &scatter->unit);
    int64_t begin[3], end[3];
    int i;

    if (scatter->parts.direct) {
        enter_arena(scatter, &scatter->unit, new_tile);
        ask_arena(scatter);
        return true;
    }
    for (i = 0; i < 3; i++) {
        begin[i] = scatter->windows[i].begin;
        end[i] = scatter->windows[i].end;
    }
    if (new_tile)
        pgi_contest_region(&scatter->contest, begin, end, &box);
    if (scatter->contest.empty)
        return false;
    pgi_contest_run(&scatter->contest, x_of(scatter), scatter->unit.lanes, true);
    memcpy(scatter->windows, scatter->contest.windows, sizeof scatter->windows);
    scatter->places = scatter->contest.places;
    return true;
}

/* Whether dy is fetched while winners are found: of one lane where they come straight from x; of
 * more not where positions take it from rows that lie in one piece, which are read in their order,
 * or where it is dealt so beside indices that are read in the same order. */
static bool fetches(const pgi_scatter *scatter)
{
    const pgi_problem *problem = &scatter->plan->problem;

    if (scatter->unit.lanes == 1)
        return scatter->parts.direct;
    if (scatter->parts.award)
        return problem->source.stride[PGI_SPATIAL + 2] > scatter->unit.lanes;
    return problem->has_indices ? !scatter->parts.in_place || scatter->parts.apart
                                : !scatter->parts.direct;
}

static void run_unit(void *context, const pgi_unit *unit, bool new_tile)
{
    pgi_scatter *scatter = context;
    const poolgrad_plan *plan = scatter->plan;
    const pgi_problem *problem = &plan->problem;
    const pgi_work *work = scatter->work;
    char *dx = (char *)pgi_unit_memory(problem, &problem->target, unit, work->target,
                                       problem->element_size);
    bool reached = true;
    int i;

    new_tile |= unit->lanes != scatter->lanes; /* by which places are counted */
    scatter->lanes = unit->lanes;
    scatter->unit = *unit;
    for (i = 0; i < 3; i++) {
        scatter->windows[i] = pgi_gather_reach(&problem->gather[i], unit->begin[i], unit->end[i]);
        reached &= pgi_length(scatter->windows[i]) > 0;
    }
    scatter->places = (int32_t *)(void *)(scatter->workspace + scatter->parts.places);
    scatter->names = (uint8_t *)(scatter->workspace + scatter->parts.names);
    scatter->terms = scatter->workspace + scatter->parts.terms;
    scatter->dy =
        pgi_unit_memory(problem, &problem->source, unit, work->source, problem->element_size);
    if (scatter->parts.at_once > 0) {
        pgi_deal_slices(scatter, dx, reached, new_tile, find_some);
        return;
    }
    if (reached && fetches(scatter))
        pgi_fetch_windows(scatter);
    if (reached && problem->has_indices)
        pgi_trace_winners(scatter, new_tile);
    else if (reached)
        reached = find_winners(scatter, new_tile);
    if (scatter->parts.award)
        pgi_award_tile(scatter, dx, reached, new_tile);
    else
        pgi_deal_tile(scatter, dx, reached);
}

static bool applicable(const pgi_problem *problem)
{
    return problem->desc.op == POOLGRAD_MAX_GRAD && pgi_places_fit(problem);
}

/* Whether indices are taps that can be compared where they lie. */
static bool taps_lie_ready(const pgi_problem *problem, int64_t lanes)
{
    return problem->has_indices && problem->indexing.type == POOLGRAD_U8 &&
           pgi_side_by_side(&problem->indices, lanes) && !problem->axis[0].adaptive &&
           !problem->axis[1].adaptive && !problem->axis[2].adaptive;
}

/* Whether positions take: their cells fill vectors, and either windows have few taps or few windows
 * have the position. */
static bool takes(const pgi_problem *problem, const pgi_tiling *tiling)
{
    const pgi_gather *gather = problem->gather;
    const bool long_vectors = tiling->vector_bytes >= LONG_VECTOR;
    const int64_t few_taps = long_vectors ? FEW_TAPS_LONG : FEW_TAPS;
    int64_t taps = 1, windows = 1, strides = 1;
    int i;

    for (i = 0; i < 3; i++) {
        if (gather[i].longest > few_taps || (problem->axis[i].adaptive && tiling->lanes == 1))
            return false;
        taps = pgi_min(few_taps + 1, taps * pgi_min(few_taps + 1, problem->taps[i].longest));
        strides = pgi_min(FAR_APART, strides * pgi_min(FAR_APART, problem->axis[i].stride));
        windows *= gather[i].longest;
    }
    if ((!gather[2].filled && !problem->axis[2].adaptive) || windows > PGI_AWARD_WINDOWS)
        return false;
    if (problem->has_indices && (!long_vectors || problem->element_size == 2) &&
        strides >= FAR_APART && windows > FEW_WINDOWS && !taps_lie_ready(problem, tiling->lanes))
        return false;
    if (tiling->lanes == 1)
        return windows <= (taps_lie_ready(problem, 1)
                               ? FEW_BY_TAPS
                               : FEW_WINDOWS + (tiling->extent[2] >= LONG_ROW)) &&
               gather[2].period <= 2 &&
               tiling->extent[2] >= 2 * PGI_FULL_VECTOR + gather[2].longest * gather[2].period;
    return (taps <= few_taps || windows <= FEW_WINDOWS) && tiling->lanes >= PGI_FULL_VECTOR &&
           gather[2].period <= PGI_AWARD_PHASES;
}

/* Whether windows are longer than so many strides. */
static bool overlaps(const pgi_problem *problem, int64_t strides)
{
    return (problem->axis[2].kernel - 1) / strides >= problem->axis[2].stride;
}

/* Whether windows overlap much and tiles are not whole planes. */
static bool has_border(const pgi_problem *problem, const pgi_tiling *tiling)
{
    const int64_t *extent = problem->target.extent + PGI_SPATIAL;

    return overlaps(problem, RUN_STRIDES) &&
           (tiling->extent[0] < extent[0] || tiling->extent[1] < extent[1]);
}

static int64_t measure(const pgi_problem *problem, const pgi_tiling *tiling,
                       pgi_scatter_parts *parts)
{
    const int64_t real = (int64_t)pgi_compute_size(problem->desc.dtype);
    const bool apart = tiling->lanes > 1 && !pgi_channels_inside(&problem->target);
    const int64_t lanes = tiling->lanes;
    const int64_t slack = pgi_deal_slack(apart, lanes);
    pgi_placement at = {0, true};
    int64_t windows[3], all[3], extent[2] = {tiling->extent[0], tiling->extent[1]};
    int64_t cells, row, rows, sums, traced;
    bool named;
    int i;

    *parts = (pgi_scatter_parts){.apart = apart,
                                 .award = !apart && takes(problem, tiling),
                                 .runs = overlaps(problem, LONG_RUN_STRIDES),
                                 .border = has_border(problem, tiling) &&
                                           !(tiling->sliced && problem->has_x),
                                 .in_place = pgi_dealt_in_place(problem, apart, lanes)};
    parts->taps = parts->award && taps_lie_ready(problem, lanes);
    for (i = 0; i < 3; i++) {
        windows[i] = pgi_min(pgi_gather_reach_bound(&problem->gather[i], tiling->extent[i]),
                             problem->gather[i].most_sources);
        /* without windows there is no contest, but it wants at least one target */
        windows[i] = all[i] = pgi_max(1, windows[i]);
    }
    if (!pgi_mul(windows[2], lanes, &cells) || !pgi_mul(tiling->extent[2], lanes, &row))
        return -1;
    if (tiling->sliced && !parts->award && !apart) {
        pgi_set_slices(problem, windows, cells, parts);
        windows[parts->axis] = parts->at_once;
        extent[parts->axis] = pgi_min(extent[parts->axis], parts->room);
    }
    rows = pgi_min(tiling->extent[1],
                   pgi_rows_awarded(tiling->extent[2], lanes, problem->gather[1].period));
    parts->direct =
        problem->has_x && !apart && pgi_arena_suits(problem->taps, windows[2], lanes, &problem->x);
    if (parts->direct) {
        parts->arena = pgi_arena_measure(problem->taps, all, lanes, (size_t)real, &at);
    } else if (problem->has_x) {
        if (!pgi_contest_measure(problem->taps, windows, lanes, false, problem->desc.dtype,
                                 &parts->contest))
            return -1;
        at.end = (int64_t)parts->contest.bytes;
    }
    named = parts->direct && parts->award && lanes > 1 && pgi_taps_are_bytes(problem->taps) &&
            !problem->axis[2].adaptive; /* every window has taps of its own */
    /* where there are layers all taps at once pay for narrow elements only */
    parts->lists = named && lanes * (int64_t)problem->element_size >= PGI_LINE_BYTES &&
                   (!parts->arena.layered || problem->element_size == 2);
    parts->taps |= named && (parts->arena.layered || parts->lists);
    if (parts->direct && parts->taps)
        parts->names = pgi_place(&at, windows[0], windows[1], cells, 1);
    if (parts->direct || (problem->has_indices && !parts->taps)) {
        parts->places = pgi_place(&at, parts->direct && parts->taps ? 1 : windows[0], windows[1],
                                  cells, sizeof(int32_t));
        pgi_place(&at, 1, 1, slack, sizeof(int32_t));
    }
    if (parts->award ? !pgi_side_by_side(&problem->source, lanes) : !parts->in_place) {
        parts->terms = pgi_place(&at, windows[0], windows[1], cells, real);
        pgi_place(&at, 1, 1, slack, real);
    }
    if (!parts->award && (!pgi_mul(tiling->extent[0], tiling->extent[1], &sums) ||
                          !pgi_mul(sums, row, &sums) || sums > -PGI_NOWHERE))
        return -1;     /* places are where sums are, in the tile */
    if (parts->border) /* before the sums: what is nowhere */
        pgi_place(&at, 1, 1, lanes, real);
    parts->sums =
        pgi_place(&at, parts->award ? 1 : extent[0], parts->award ? rows : extent[1], row, real);
    pgi_place(&at, 1, 1, slack, real);
    parts->sums_end = (size_t)at.end;
    traced = pgi_max(lanes < PGI_FULL_VECTOR ? cells : windows[2], PGI_JOINED_WINDOWS);
    parts->begin = pgi_place(&at, 1, 1, traced, sizeof(int32_t));
    parts->width = pgi_place(&at, 1, 1, traced, sizeof(int32_t));
    parts->further = pgi_place(&at, 1, 1, traced, sizeof(uint32_t));
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
    const pgi_problem *problem = &plan->problem;
    pgi_scatter_parts parts;
    pgi_tiling tiling = {.comfortable = PGI_COMFORTABLE_BYTES,
                         .lanes = 1,
                         .least_lanes = LEAST_LANE_BYTES / (int64_t)problem->element_size,
                         .vector_bytes = plan->kernels.lanes * (int64_t)plan->kernels.real};

    if (problem->has_x)
        tiling.lanes = pgi_contest_lanes(problem->taps, problem);
    else if (overlaps(problem, RUN_STRIDES) && pgi_planes_are_small(problem))
        tiling.lanes = LANES_IN_TURN;
    if (!pgi_plan_tile_as(plan, lay_out, tiling))
        return false;
    if (problem->target.elements > 0 && pgi_suits_slices(problem, &plan->tiling) &&
        measure(problem, &plan->tiling, &parts) >= 0 && !parts.award && !parts.apart &&
        (problem->has_indices || parts.direct)) {
        tiling.sliced = true;
        tiling.comfortable = SLICED_BYTES;
        return pgi_plan_tile_as(plan, lay_out, tiling);
    }
    tiling.comfortable = ROOMY_BYTES;
    return !problem->has_x || !has_border(problem, &plan->tiling) ||
           pgi_plan_tile_as(plan, lay_out, tiling);
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
                                       .workspace = workspace},
                           .arena = {.plan = plan,
                                     .taps = plan->problem.taps,
                                     .tensor = &plan->problem.x,
                                     .workspace = workspace}};

    measure(&plan->problem, &plan->tiling, &scatter.parts);
    scatter.arena.tapped = scatter.parts.taps;
    scatter.contest.layout = &scatter.parts.contest;
    scatter.arena.layout = &scatter.parts.arena;
    if (!scatter.parts.award) /* what is stored leaves zeros behind */
        memset(scatter.workspace + scatter.parts.sums, 0,
               scatter.parts.sums_end - scatter.parts.sums);
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
