/* SPDX-License-Identifier: MIT */
/*
 * The forward maximum and its indices, at a cost that grows with the logarithm of the window: a
 * sweep that keeps the better of two candidates.
 */
#include "plan/candidates.h"
#include "plan/placement.h"
#include "plan/rows.h"
#include "plan/strategies.h"

#include "core/dtype.h"
#include "core/integer.h"

#include <math.h>
#include <string.h>

/* The strategy's own parts of the workspace, behind the sweep. */
enum {
    ROOM_STORED,
    ROOM_REALS,
    ROOM_PLACES
};

typedef struct pgi_maximum {
    const poolgrad_plan *plan;
    const pgi_work *work;
    pgi_sweep sweep;
    const char *x; /* all three: of the unit's batch and first channel */
    char *y;
    char *indices;          /* NULL: not wanted */
    int64_t batch, channel; /* in the whole tensor */
    bool follow;            /* places of x follow each other in memory */
} pgi_maximum;

/* -inf in an element type, for a window that covers nothing. */
static void store_lowest(poolgrad_dtype dtype, void *element)
{
    static const double lowest = -(double)INFINITY;

    poolgrad_convert(dtype, element, POOLGRAD_F64, &lowest, 1, NULL);
}

/* Whether places of x follow each other in memory as they are counted, so that they need not be
 * divided into coordinates. */
static bool places_follow(const pgi_problem *problem)
{
    const pgi_tensor *x = &problem->source;
    int64_t step = x->stride[PGI_AXES - 1];
    int i;

    for (i = PGI_AXES - 1; i >= PGI_SPATIAL; i--) {
        const int64_t in = problem->axis[i - PGI_SPATIAL].in;

        if (x->offset[i] != 0 || x->extent[i] != in || (in > 1 && x->stride[i] != step) ||
            !pgi_mul(step, in, &step))
            return false;
    }
    return true;
}

/* The winners' elements as they are stored, so that -0 stays -0. */
static void fetch_winners(const pgi_maximum *maximum, const int64_t *winners, char *stored)
{
    const pgi_problem *problem = &maximum->plan->problem;
    const pgi_tensor *x = &problem->source;
    const size_t size = problem->element_size;
    const int64_t places = maximum->sweep.end[2] - maximum->sweep.begin[2];
    const int64_t lanes = maximum->sweep.lanes, step = x->stride[PGI_SPATIAL + 2];
    const bool follow = maximum->follow;
    int64_t o, lane, offset, position[3];

    for (o = 0; o < places; o++) {
        for (lane = 0; lane < lanes; lane++, winners++, stored += size) {
            if (*winners == PGI_NO_PLACE) {
                store_lowest(problem->desc.dtype, stored);
                continue;
            }
            if (follow) {
                offset = *winners * step;
            } else {
                pgi_position_of_place(problem, *winners, position);
                offset = pgi_row_offset(x, position[0], position[1], position[2]);
            }
            memcpy(stored, maximum->x + (offset + lane * x->stride[PGI_CHANNEL]) * (int64_t)size,
                   size);
        }
    }
}

static void store_indices(const pgi_maximum *maximum, int64_t d, int64_t h, const int64_t *winners)
{
    const pgi_problem *problem = &maximum->plan->problem;
    const pgi_indexing *indexing = &problem->indexing;
    const pgi_sweep *sweep = &maximum->sweep;
    const int64_t places = sweep->end[2] - sweep->begin[2], lanes = sweep->lanes;
    char *row = maximum->indices + pgi_row_offset(&problem->indices, d, h, sweep->begin[2]) *
                                       (int64_t)problem->index_size;
    int64_t o, lane;

    for (o = 0; o < places; o++) {
        for (lane = 0; lane < lanes; lane++) {
            const int64_t place = winners[o * lanes + lane];

            pgi_index_store(
                indexing->type, row,
                o * problem->indices.stride[PGI_SPATIAL + 2] +
                    lane * problem->indices.stride[PGI_CHANNEL],
                place == PGI_NO_PLACE
                    ? -1
                    : pgi_index_of_place(indexing, maximum->batch, maximum->channel + lane, place));
        }
    }
}

static void take_row(void *context, int64_t d, int64_t h, const pgi_target_row *made)
{
    const pgi_maximum *maximum = context;
    const poolgrad_plan *plan = maximum->plan;
    const pgi_sweep *sweep = &maximum->sweep;
    const pgi_problem *problem = &plan->problem;
    const pgi_range windows = {sweep->begin[2], sweep->end[2]};
    const int64_t places = sweep->end[2] - sweep->begin[2];
    int64_t *winners = (int64_t *)(void *)(sweep->workspace + plan->room[ROOM_PLACES]);
    char *stored = sweep->workspace + plan->room[ROOM_STORED];
    char *reals = sweep->workspace + plan->room[ROOM_REALS];

    pgi_winner_places(problem, &problem->source, maximum->x, d, h, windows, sweep->lanes,
                      pgi_sweep_cells(sweep, made), winners);
    fetch_winners(maximum, winners, stored);
    plan->kernels.widen(reals, stored, 1, places * sweep->lanes);
    pgi_store_row(plan, maximum->y, d, h, sweep->begin[2], places, sweep->lanes, reals);
    if (maximum->indices)
        store_indices(maximum, d, h, winners);
}

static void run_unit(void *context, const pgi_unit *unit, bool new_tile)
{
    pgi_maximum *maximum = context;
    const poolgrad_plan *plan = maximum->plan;
    const pgi_problem *problem = &plan->problem;
    const pgi_work *work = maximum->work;

    if (new_tile)
        pgi_sweep_region(&maximum->sweep, unit->begin, unit->end);
    pgi_sweep_lanes(&maximum->sweep, unit->lanes);
    maximum->batch = unit->batch + problem->target.offset[PGI_BATCH];
    maximum->channel = unit->channel + problem->target.offset[PGI_CHANNEL];
    maximum->y = (char *)pgi_unit_memory(problem, &problem->target, unit, work->target,
                                         problem->element_size);
    if (work->indices_out)
        maximum->indices = (char *)pgi_unit_memory(problem, &problem->indices, unit,
                                                   work->indices_out, problem->index_size);
    if (maximum->sweep.planes.cells > 0) {
        maximum->x =
            pgi_unit_memory(problem, &problem->source, unit, work->source, problem->element_size);
        pgi_load_candidates(plan, &maximum->sweep, &problem->source, maximum->x);
    }
    pgi_sweep_run(&maximum->sweep, take_row, maximum);
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    pgi_maximum maximum = {.plan = plan,
                           .work = work,
                           .follow = places_follow(&plan->problem),
                           .sweep = {.gather = plan->problem.gather,
                                     .layout = &plan->sweep,
                                     .cells = pgi_candidate_cells(plan),
                                     .workspace = workspace}};

    pgi_each_unit(plan, begin, end, run_unit, &maximum);
}

static bool applicable(const pgi_problem *problem)
{
    return problem->desc.op == POOLGRAD_MAX;
}

static int64_t lay_out(const pgi_problem *problem, const pgi_tiling *tiling,
                       pgi_sweep_layout *sweep, size_t room[PGI_ROOMS])
{
    pgi_placement at;

    if (!pgi_sweep_measure(problem->gather, tiling->extent, tiling->lanes,
                           pgi_candidate_size(problem), sweep))
        return -1;
    at = (pgi_placement){(int64_t)sweep->bytes, true};
    room[ROOM_STORED] =
        pgi_place(&at, 1, tiling->extent[2], tiling->lanes, (int64_t)problem->element_size);
    room[ROOM_REALS] = pgi_place(&at, 1, tiling->extent[2], tiling->lanes,
                                 (int64_t)pgi_compute_size(problem->desc.dtype));
    room[ROOM_PLACES] = pgi_place(&at, 1, tiling->extent[2], tiling->lanes, sizeof(int64_t));
    return at.fits ? at.end : -1;
}

static bool prepare(poolgrad_plan *plan)
{
    return pgi_plan_tile(plan, lay_out);
}

const pgi_strategy pgi_strategy_sliding_max = {
    .name = "sliding_max",
    .reason = "finds every maximum at a cost that grows with the logarithm of the window",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = pgi_describe_tiles,
};
