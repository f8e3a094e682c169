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
/* Windows of a position up to which it takes by taps, which cost less to compare than places do to
 * make. */
#define FEW_BY_TAPS 4
/* Positions for a window from which on its dy goes where the index says, unless vectors are long
 * and dy need not be widened: most positions would ask several windows and get nothing (2x3x3 with
 * stride 2, NXC f32: 3.9 against 3.2 ms). */
#define FAR_APART 8
/* Cells of the rows that are taken together. */
#define TOGETHER_CELLS 8192
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

/* Whether they may write to dx: no sums are needed. */
static bool stored_directly(const poolgrad_plan *plan, int64_t lanes)
{
    return plan->scale.beta == 0 && pgi_side_by_side(&plan->problem.target, lanes);
}

/* Whether rows are put together before they go past the caches: what is not stored in whole cache
 * lines must not. */
static bool staged(const pgi_scatter *scatter)
{
    const int64_t lanes = scatter->unit.lanes;
    const int64_t bytes = lanes * (int64_t)scatter->plan->problem.element_size;

    return scatter->work->stream_inside && (lanes == 1 || bytes % PGI_LINE_BYTES) &&
           scatter->plan->problem.target.stride[PGI_SPATIAL + 2] == lanes;
}

/* How many rows are taken together. */
static int64_t most_together(int64_t width, int64_t lanes, int64_t period)
{
    return pgi_max(1, TOGETHER_CELLS / lanes / width / period) * period;
}

/* dy of all windows that reach the tile, as elements side by side. */
static void copy_windows(const pgi_scatter *scatter)
{
    const pgi_problem *problem = &scatter->plan->problem;
    const int64_t size = (int64_t)problem->element_size, lanes = scatter->unit.lanes;
    const int64_t step = problem->source.stride[PGI_SPATIAL + 2] * size;
    const int64_t lane_step = problem->source.stride[PGI_CHANNEL] * size;
    char *terms = scatter->terms;
    int64_t d, h, w, lane;

    for (d = scatter->windows[0].begin; d < scatter->windows[0].end; d++) {
        for (h = scatter->windows[1].begin; h < scatter->windows[1].end; h++) {
            const char *row = pgi_dy_of_row(scatter, d, h);

            for (w = 0; w < pgi_length(scatter->windows[2]); w++)
                for (lane = 0; lane < lanes; lane++, terms += size)
                    memcpy(terms, row + w * step + lane * lane_step, (size_t)size);
        }
    }
}

/* The positions of an axis whose windows are all among those that reach the tile, if any do. */
static void look_at_axis(pgi_scatter *scatter, int axis, bool reached)
{
    const pgi_gather *gather = &scatter->plan->problem.gather[axis];
    const pgi_unit *unit = &scatter->unit;
    const pgi_range windows = scatter->windows[axis];
    pgi_range *inner = &scatter->inner[axis];
    int64_t p;

    *inner = (pgi_range){unit->begin[axis], unit->end[axis]};
    if (!gather->filled)
        inner->end = inner->begin;
    for (p = unit->begin[axis]; p < inner->end && reached; p++) {
        const pgi_run run = pgi_gather_run(gather, p);

        if (run.count > 0 && run.first < windows.begin)
            inner->begin = p + 1;
        if (run.count > 0 && run.first + (run.count - 1) * gather->q >= windows.end)
            inner->end = pgi_min(inner->end, p);
    }
    inner->end = pgi_max(inner->begin, inner->end);
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

/* Columns of rows take what is their own, from windows of these planes and rows. More than one: all
 * their windows are there. `to` and the award are of the first column of the tile. */
static void award_columns(const pgi_scatter *scatter, int64_t at_d, int64_t at_h, pgi_range columns,
                          pgi_award *award, pgi_run planes, pgi_run rows, char *to)
{
    const pgi_problem *problem = &scatter->plan->problem;
    const pgi_gather *gather = problem->gather;
    const int64_t lanes = scatter->unit.lanes, size = (int64_t)problem->element_size;
    const int64_t cells = pgi_length(scatter->windows[2]) * lanes;
    const int64_t column = columns.begin - scatter->unit.begin[2];
    const bool copied = !pgi_side_by_side(&problem->source, lanes);
    int64_t m, t, w;
    int i;

    award->columns = pgi_length(columns);
    award->phases = (int)pgi_min(gather[2].period, award->columns);
    for (i = 0; i < award->phases; i++) {
        pgi_award_phase *phase = &award->phase[i];
        const pgi_run run = cut_run(pgi_gather_run(&gather[2], columns.begin + i), gather[2].q,
                                    scatter->windows[2]);

        phase->windows = 0;
        for (m = 0; m < planes.count; m++) {
            for (t = 0; t < rows.count; t++) {
                const int64_t d = planes.first + m * gather[0].q;
                const int64_t h = rows.first + t * gather[1].q;
                const int64_t cell =
                    ((d - scatter->windows[0].begin) * pgi_length(scatter->windows[1]) + h -
                     scatter->windows[1].begin) *
                    cells;
                const char *terms =
                    copied ? scatter->terms + cell * size : pgi_dy_of_row(scatter, d, h);

                for (w = 0; w < run.count; w++, phase->windows++) {
                    const int64_t window[3] = {d, h, run.first + w * gather[2].q};
                    const int64_t position[3] = {at_d, at_h, columns.begin + i};
                    const int64_t o = window[2] - scatter->windows[2].begin;

                    if (award->taps && problem->has_indices)
                        phase->cells[phase->windows] =
                            scatter->indices + pgi_row_offset(&problem->indices, d, h, window[2]);
                    else if (award->taps)
                        phase->cells[phase->windows] = scatter->names + cell + o * lanes;
                    else
                        phase->cells[phase->windows] = scatter->places + cell + o * lanes;
                    phase->terms[phase->windows] = terms + o * award->term_step * size;
                    phase->tap[phase->windows] =
                        award->taps ? (uint8_t)pgi_window_tap(problem, window, position) : 0;
                }
            }
        }
    }
    award->place += (int32_t)column;
    to += column * award->to_step * (award->sums ? (int64_t)scatter->plan->kernels.real : size);
    scatter->plan->kernels.award(to, award);
    award->place -= (int32_t)column;
}

/* Positions take what is their own: `count` rows from (d, h) on, as far apart as their windows are
 * alike, to memory at `to`, `to_row` elements or sums from row to row. More than one: all their
 * windows are there. */
static void award_rows(const pgi_scatter *scatter, int64_t d, int64_t h, int64_t count,
                       pgi_run planes, char *to, int64_t to_row, int64_t to_step)
{
    const poolgrad_plan *plan = scatter->plan;
    const pgi_problem *problem = &plan->problem;
    const pgi_gather *gather = &problem->gather[1];
    const pgi_unit *unit = &scatter->unit;
    const int64_t *stride = problem->source.stride + PGI_SPATIAL, lanes = unit->lanes;
    const int64_t at[3] = {d, h, unit->begin[2]};
    const bool copied = !pgi_side_by_side(&problem->source, lanes);
    const bool sums = !stored_directly(plan, lanes);
    const bool indices = scatter->parts.taps && problem->has_indices;
    const pgi_run rows = cut_run(pgi_gather_run(gather, h), gather->q, scatter->windows[1]);
    const pgi_range inner = scatter->inner[2];
    pgi_range part;
    pgi_award award; /* large: its phases are set as they are needed */

    award.rows = count;
    award.lanes = lanes;
    award.taps = scatter->parts.taps;
    award.cell_step = indices && lanes > 1 ? problem->indices.stride[PGI_SPATIAL + 2] : lanes;
    award.term_step = copied || lanes == 1 ? lanes : stride[2];
    award.to_step = to_step;
    award.place_row = (int32_t)(gather->period * (unit->end[2] - unit->begin[2]));
    award.cell_row = indices ? problem->indices.stride[PGI_SPATIAL + 1]
                             : pgi_length(scatter->windows[2]) * lanes;
    award.term_row = copied ? pgi_length(scatter->windows[2]) * lanes : stride[1];
    award.to_row = to_row;
    award.place = pgi_place_in_tile(scatter, at);
    award.sums = sums;
    award.alpha = plan->scale.alpha;
    award.stream = scatter->work->stream && !staged(scatter);
    /* the inner ones first: memory is then read from beginning to end */
    if (pgi_length(inner) > 0)
        award_columns(scatter, d, h, inner, &award, planes, rows, to);
    for (part.begin = unit->begin[2]; part.begin < unit->end[2]; part.begin++) {
        if (part.begin == inner.begin)
            part.begin = inner.end;
        part.end = part.begin + 1;
        if (part.begin < unit->end[2])
            award_columns(scatter, d, h, part, &award, planes, rows, to);
    }
}

/* Rows of plane d that are taken together: those whose windows are alike, but not so many that what
 * they read is no longer in the cache when those between them need it. */
static int64_t rows_together(const pgi_scatter *scatter, int64_t h)
{
    const pgi_unit *unit = &scatter->unit;
    const pgi_range inner = scatter->inner[1];
    const int64_t period = scatter->plan->problem.gather[1].period;

    if (h < inner.begin || h >= inner.end || !stored_directly(scatter->plan, unit->lanes))
        return 1;
    return pgi_min(inner.end - h,
                   most_together(unit->end[2] - unit->begin[2], unit->lanes, period));
}

/* Positions take: those of plane d. */
static void award_plane(const pgi_scatter *scatter, char *dx, int64_t d)
{
    const poolgrad_plan *plan = scatter->plan;
    const pgi_gather *gather = plan->problem.gather;
    const pgi_tensor *target = &plan->problem.target;
    const pgi_unit *unit = &scatter->unit;
    const int64_t period = gather[1].period, lanes = unit->lanes;
    const int64_t width = unit->end[2] - unit->begin[2];
    const bool direct = stored_directly(plan, lanes), stage = !direct || staged(scatter);
    const int64_t size = (int64_t)(direct ? plan->problem.element_size : plan->kernels.real);
    const int64_t row = stage ? width * lanes : target->stride[PGI_SPATIAL + 1];
    const int64_t step = stage || lanes == 1 ? lanes : target->stride[PGI_SPATIAL + 2];
    const pgi_run planes = cut_run(pgi_gather_run(&gather[0], d), gather[0].q, scatter->windows[0]);
    int64_t h, first, block;

    for (h = unit->begin[1]; h < unit->end[1]; h += block) {
        char *memory = dx + pgi_row_offset(target, d, h, unit->begin[2]) * size;
        char *to = stage ? scatter->workspace + scatter->parts.sums : memory;

        block = rows_together(scatter, h);
        for (first = h; first < pgi_min(h + period, h + block); first++)
            award_rows(scatter, d, first, (h + block - first - 1) / period + 1, planes,
                       to + (first - h) * row * size, period * row, step);
        if (!direct) {
            pgi_store_row(plan, scatter->work, dx, d, h, unit->begin[2], width, lanes, to);
        } else if (stage && target->stride[PGI_SPATIAL + 1] == row) {
            plan->kernels.copy(memory, to, block * row * size, true);
        } else if (stage) {
            for (first = 0; first < block; first++)
                plan->kernels.copy(memory + first * target->stride[PGI_SPATIAL + 1] * size,
                                   to + first * row * size, row * size, true);
        }
    }
}

/* Positions take. */
static void award_tile(const pgi_scatter *scatter, char *dx, bool reached)
{
    int64_t d;

    if (reached && !pgi_side_by_side(&scatter->plan->problem.source, scatter->unit.lanes))
        copy_windows(scatter);
    for (d = scatter->unit.begin[0]; d < scatter->unit.end[0]; d++)
        award_plane(scatter, dx, d);
}

/* Winners from x; false if no window covers anything. */
static bool find_winners(pgi_scatter *scatter, bool new_tile)
{
    const pgi_numbering as_they_are = {.unit = 1};
    const poolgrad_plan *plan = scatter->plan;
    const pgi_problem *problem = &plan->problem;
    const pgi_unit *unit = &scatter->unit;
    const char *x =
        pgi_unit_memory(problem, &problem->x, unit, scatter->work->x, problem->element_size);
    int64_t begin[3], end[3], d;
    pgi_box box;
    int i;

    for (i = 0; i < 3; i++) {
        begin[i] = scatter->windows[i].begin;
        end[i] = scatter->windows[i].end;
        box.begin[i] = scatter->parts.taps ? 0 : unit->begin[i];
        box.end[i] = scatter->parts.taps ? problem->axis[i].in : unit->end[i];
    }
    if (scatter->parts.direct) {
        const int64_t cells = pgi_length(scatter->windows[2]) * unit->lanes;
        const int64_t rows = pgi_length(scatter->windows[1]);

        if (new_tile)
            pgi_arena_region(&scatter->arena, begin, end, &box);
        pgi_arena_enter(&scatter->arena, x, unit->lanes);
        for (d = begin[0]; d < end[0]; d++) {
            const int64_t at = (d - begin[0]) * rows * cells;
            const pgi_lists lists = {
                .taps = scatter->names + at, .tap_step = unit->lanes, .tap_row = cells};

            if (scatter->parts.lists && pgi_arena_lists(&scatter->arena, d, begin[1], rows, &lists))
                continue;
            pgi_arena_rows(&scatter->arena, d, begin[1], rows, NULL,
                           scatter->places + (scatter->parts.taps ? 0 : at));
            if (scatter->parts.taps)
                plan->kernels.number[POOLGRAD_U8 - 1](scatter->names + at, 1, scatter->places,
                                                      rows * cells, &as_they_are, false);
        }
        return true;
    }
    if (new_tile)
        pgi_contest_region(&scatter->contest, begin, end, &box);
    if (scatter->contest.empty)
        return false;
    pgi_contest_run(&scatter->contest, x, unit->lanes, true);
    memcpy(scatter->windows, scatter->contest.windows, sizeof scatter->windows);
    scatter->places = scatter->contest.places;
    return true;
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
        pgi_deal_slices(scatter, dx, reached, new_tile);
        return;
    }
    if (reached && problem->has_indices) {
        if (!scatter->parts.award && (!scatter->parts.in_place || scatter->parts.apart))
            pgi_fetch_windows(scatter);
        pgi_trace_winners(scatter, new_tile);
    } else if (reached) {
        if (!scatter->parts.direct)
            pgi_fetch_windows(scatter);
        reached = find_winners(scatter, new_tile);
    }
    if (!scatter->parts.award) {
        pgi_deal_tile(scatter, dx, reached);
        return;
    }
    for (i = 0; i < 3 && !reached; i++)
        scatter->windows[i] = (pgi_range){0, 0};
    for (i = 1; i < 3 && new_tile; i++)
        look_at_axis(scatter, i, reached);
    award_tile(scatter, dx, reached);
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
        return windows <= (taps_lie_ready(problem, 1) ? FEW_BY_TAPS : FEW_WINDOWS) &&
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
    int64_t windows[3], extent[2] = {tiling->extent[0], tiling->extent[1]};
    int64_t cells, row, rows, traced;
    bool named;
    int i;

    *parts = (pgi_scatter_parts){.apart = apart,
                                 .award = !apart && takes(problem, tiling),
                                 .runs = overlaps(problem, LONG_RUN_STRIDES),
                                 .border = has_border(problem, tiling),
                                 .in_place = pgi_dealt_in_place(problem, apart, lanes)};
    parts->taps = parts->award && taps_lie_ready(problem, lanes);
    for (i = 0; i < 3; i++) {
        windows[i] = pgi_min(pgi_gather_reach_bound(&problem->gather[i], tiling->extent[i]),
                             problem->gather[i].most_sources);
        /* without windows there is no contest, but it wants at least one target */
        windows[i] = pgi_max(1, windows[i]);
    }
    if (!pgi_mul(windows[2], lanes, &cells) || !pgi_mul(tiling->extent[2], lanes, &row))
        return -1;
    if (tiling->sliced && !parts->award && !apart) {
        pgi_set_slices(problem, windows, cells, parts);
        windows[parts->axis] = parts->at_once;
        extent[parts->axis] = pgi_min(extent[parts->axis], parts->room);
    }
    rows = pgi_min(tiling->extent[1],
                   most_together(tiling->extent[2], lanes, problem->gather[1].period));
    parts->direct =
        problem->has_x && !apart && pgi_arena_suits(problem->taps, windows[2], lanes, &problem->x);
    if (parts->direct) {
        parts->arena = pgi_arena_measure(problem->taps, windows, lanes, (size_t)real, &at);
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
        measure(problem, &plan->tiling, &parts) >= 0 && !parts.award && !parts.apart) {
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
