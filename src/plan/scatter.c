/* SPDX-License-Identifier: MIT */
/*
 * The gradient of the maximum. A tile of dx is summed in the workspace, cleared and filled while it
 * is in cache, and stored once. The windows that reach it are visited in row-major order, which is
 * the order in which their dy are added; their winners come from the indices, each checked as it
 * is used, or from a sweep over x.
 */
#include "core/dtype.h"
#include "core/integer.h"
#include "core/window.h"
#include "plan/candidates.h"
#include "plan/placement.h"
#include "plan/rows.h"
#include "plan/strategies.h"

#include <string.h>

/* The strategy's own parts of the workspace, behind the sweep. */
enum {
    ROOM_SUMS,
    ROOM_TERMS,
    ROOM_PLACES
};

typedef struct pgi_scatter {
    const poolgrad_plan *plan;
    const pgi_work *work;
    pgi_sweep sweep; /* over the windows, if winners come from x */
    pgi_unit unit;
    pgi_range windows[3];         /* that reach the tile */
    const char *dy, *x, *indices; /* of the unit's batch and first channel */
    char *workspace;
} pgi_scatter;

/* Where a position lies among the tile's sums, or -1 if outside. */
static int64_t place_in_tile(const pgi_scatter *scatter, const int64_t position[3], int64_t lane)
{
    const pgi_unit *unit = &scatter->unit;
    int64_t place = 0;
    int i;

    for (i = 0; i < 3; i++) {
        if (position[i] < unit->begin[i] || position[i] >= unit->end[i])
            return -1;
        place = place * (unit->end[i] - unit->begin[i]) + position[i] - unit->begin[i];
    }
    return place * unit->lanes + lane;
}

/* Adds the dy of a row of windows where `places` says. */
static void add_row(const pgi_scatter *scatter, int64_t d, int64_t h, const int64_t *places)
{
    const poolgrad_plan *plan = scatter->plan;
    const int64_t lanes = scatter->unit.lanes;
    const int64_t windows = scatter->windows[2].end - scatter->windows[2].begin;
    char *terms = scatter->workspace + plan->room[ROOM_TERMS];

    pgi_load_row(plan, scatter->dy, d, h, scatter->windows[2].begin, windows, lanes, NULL, true,
                 terms);
    plan->kernels.scatter(scatter->workspace + plan->room[ROOM_SUMS], places, terms,
                          windows * lanes);
}

/* Winners found by the sweep. */
static void take_row(void *context, int64_t d, int64_t h, const char *cells)
{
    const pgi_scatter *scatter = context;
    const pgi_problem *problem = &scatter->plan->problem;
    const int64_t lanes = scatter->unit.lanes;
    const int64_t windows = scatter->windows[2].end - scatter->windows[2].begin;
    int64_t *places = (int64_t *)(void *)(scatter->workspace + scatter->plan->room[ROOM_PLACES]);
    int64_t i, position[3];

    pgi_winner_places(problem, &problem->x, scatter->x, d, h, scatter->windows[2], lanes,
                      (const pgi_pair *)(const void *)cells, places);
    for (i = 0; i < windows * lanes; i++) {
        if (places[i] == PGI_NO_PLACE) {
            places[i] = -1;
            continue;
        }
        pgi_position_of_place(problem, places[i], position);
        places[i] = place_in_tile(scatter, position, i % lanes);
    }
    add_row(scatter, d, h, places);
}

/* Winners given by a row of indices; those that are none are reported and go nowhere. */
static void read_indices(const pgi_scatter *scatter, int64_t d, int64_t h, int64_t *places)
{
    const pgi_problem *problem = &scatter->plan->problem;
    const pgi_tensor *indices = &problem->indices;
    const pgi_unit *unit = &scatter->unit;
    const int64_t batch = problem->target.offset[PGI_BATCH] + unit->batch;
    const int64_t channel = problem->target.offset[PGI_CHANNEL] + unit->channel;
    const pgi_range windows = scatter->windows[2];
    const char *row = scatter->indices +
                      pgi_row_offset(indices, d, h, windows.begin) * (int64_t)problem->index_size;
    int64_t o[3] = {d, h, 0}, lane, position[3];

    for (o[2] = windows.begin; o[2] < windows.end; o[2]++) {
        for (lane = 0; lane < unit->lanes; lane++, places++) {
            const int64_t index =
                pgi_index_load(problem->indexing.type, row,
                               (o[2] - windows.begin) * indices->stride[PGI_SPATIAL + 2] +
                                   lane * indices->stride[PGI_CHANNEL]);

            *places = -1;
            switch (pgi_check_index(problem, batch, channel + lane, o, index, position)) {
            case PGI_INDEX_WINNER:
                *places = place_in_tile(scatter, position, lane);
                break;
            case PGI_INDEX_NOWHERE:
                break;
            case PGI_INDEX_BAD:
                pgi_report_bad_index(scatter->work,
                                     pgi_window_element(problem, batch, channel + lane, o));
                break;
            }
        }
    }
}

static void add_from_indices(const pgi_scatter *scatter)
{
    int64_t *places = (int64_t *)(void *)(scatter->workspace + scatter->plan->room[ROOM_PLACES]);
    int64_t d, h;

    for (d = scatter->windows[0].begin; d < scatter->windows[0].end; d++) {
        for (h = scatter->windows[1].begin; h < scatter->windows[1].end; h++) {
            read_indices(scatter, d, h, places);
            add_row(scatter, d, h, places);
        }
    }
}

static void add_from_x(pgi_scatter *scatter)
{
    const poolgrad_plan *plan = scatter->plan;
    const pgi_problem *problem = &plan->problem;
    const int64_t begin[3] = {scatter->windows[0].begin, scatter->windows[1].begin,
                              scatter->windows[2].begin};
    const int64_t end[3] = {scatter->windows[0].end, scatter->windows[1].end,
                            scatter->windows[2].end};

    pgi_sweep_region(&scatter->sweep, begin, end);
    pgi_sweep_lanes(&scatter->sweep, scatter->unit.lanes);
    if (scatter->sweep.planes.cells > 0) {
        scatter->x = pgi_unit_memory(problem, &problem->x, &scatter->unit, scatter->work->x,
                                     problem->element_size);
        pgi_load_candidates(plan, &scatter->sweep, &problem->x, scatter->x);
    }
    pgi_sweep_run(&scatter->sweep, take_row, scatter);
}

static void store_tile(const pgi_scatter *scatter, char *dx)
{
    const pgi_unit *unit = &scatter->unit;
    const int64_t places = unit->end[2] - unit->begin[2];
    const char *sums = scatter->workspace + scatter->plan->room[ROOM_SUMS];
    int64_t d, h;

    for (d = unit->begin[0]; d < unit->end[0]; d++) {
        for (h = unit->begin[1]; h < unit->end[1]; h++) {
            pgi_store_row(scatter->plan, dx, d, h, unit->begin[2], places, unit->lanes, sums);
            sums += (size_t)(places * unit->lanes) * scatter->plan->kernels.sums.size;
        }
    }
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

    (void)new_tile;
    scatter->unit = *unit;
    for (i = 0; i < 3; i++) {
        scatter->windows[i] = pgi_gather_reach(&problem->gather[i], unit->begin[i], unit->end[i]);
        reached &= scatter->windows[i].begin < scatter->windows[i].end;
        places *= unit->end[i] - unit->begin[i];
    }
    memset(scatter->workspace + plan->room[ROOM_SUMS], 0, (size_t)places * plan->kernels.sums.size);
    if (reached) {
        scatter->dy =
            pgi_unit_memory(problem, &problem->source, unit, work->source, problem->element_size);
        if (problem->has_indices) {
            scatter->indices = pgi_unit_memory(problem, &problem->indices, unit, work->indices,
                                               problem->index_size);
            add_from_indices(scatter);
        } else {
            add_from_x(scatter);
        }
    }
    store_tile(scatter, (char *)pgi_unit_memory(problem, &problem->target, unit, work->target,
                                                problem->element_size));
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    pgi_scatter scatter = {.plan = plan,
                           .work = work,
                           .workspace = workspace,
                           .sweep = {.gather = plan->problem.taps,
                                     .layout = &plan->sweep,
                                     .cells = plan->kernels.pairs,
                                     .workspace = workspace}};

    pgi_each_unit(plan, begin, end, run_unit, &scatter);
}

static bool applicable(const pgi_problem *problem)
{
    return problem->desc.op == POOLGRAD_MAX_GRAD;
}

static int64_t lay_out(const pgi_problem *problem, const pgi_tiling *tiling,
                       pgi_sweep_layout *sweep, size_t room[PGI_ROOMS])
{
    const int64_t real = (int64_t)pgi_compute_size(problem->desc.dtype);
    pgi_placement at = {0, true};
    int64_t windows[3], row;
    int i;

    for (i = 0; i < 3; i++) {
        windows[i] = pgi_min(pgi_gather_reach_bound(&problem->gather[i], tiling->extent[i]),
                             problem->gather[i].most_sources);
        /* without windows nothing is swept, but a sweep wants at least one target */
        windows[i] = pgi_max(1, windows[i]);
    }
    if (problem->has_x) {
        if (!pgi_sweep_measure(problem->taps, windows, tiling->lanes, sizeof(pgi_pair), sweep))
            return -1;
        at.end = (int64_t)sweep->bytes;
    }
    if (!pgi_mul(tiling->extent[2], tiling->lanes, &row))
        return -1;
    room[ROOM_SUMS] = pgi_place(&at, tiling->extent[0], tiling->extent[1], row, real);
    room[ROOM_TERMS] = pgi_place(&at, 1, windows[2], tiling->lanes, real);
    room[ROOM_PLACES] = pgi_place(&at, 1, windows[2], tiling->lanes, sizeof(int64_t));
    return at.fits ? at.end : -1;
}

static bool prepare(poolgrad_plan *plan)
{
    return pgi_plan_tile(plan, lay_out);
}

const pgi_strategy pgi_strategy_scatter = {
    .name = "scatter",
    .reason = "sums a tile of dx in cache, window by window, and stores it once",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = pgi_describe_tiles,
};
