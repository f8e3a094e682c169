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
    ROOM_PLACES,
    ROOM_COLUMNS
};

/* More rows or planes in a window than this are not looked through one by one. */
#define QUICK_ROWS 16

typedef struct pgi_scatter {
    const poolgrad_plan *plan;
    const pgi_work *work;
    pgi_sweep sweep; /* over the windows, if winners come from x */
    pgi_unit unit;
    pgi_range windows[3];         /* that reach the tile */
    const char *dy, *x, *indices; /* of the unit's batch and first channel */
    char *workspace;
    bool quick;       /* rows of indices can be located at once */
    int32_t *columns; /* of the windows: where each begins, then where each ends */
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

static int64_t windows_in_row(const pgi_scatter *scatter)
{
    return scatter->windows[2].end - scatter->windows[2].begin;
}

/* The dy of a row of windows, in reals. */
static const char *load_terms(const pgi_scatter *scatter, int64_t d, int64_t h)
{
    char *terms = scatter->workspace + scatter->plan->room[ROOM_TERMS];

    pgi_load_row(scatter->plan, scatter->dy, d, h, scatter->windows[2].begin,
                 windows_in_row(scatter), scatter->unit.lanes, NULL, true, terms);
    return terms;
}

/* Adds the dy of a row of windows where `places` says. */
static void add_row(const pgi_scatter *scatter, int64_t d, int64_t h, const int64_t *places)
{
    const poolgrad_plan *plan = scatter->plan;

    plan->kernels.scatter(scatter->workspace + plan->room[ROOM_SUMS], places,
                          load_terms(scatter, d, h), windows_in_row(scatter) * scatter->unit.lanes);
}

/* Winners found by the sweep. */
static void take_row(void *context, int64_t d, int64_t h, const pgi_target_row *made)
{
    const pgi_scatter *scatter = context;
    const pgi_problem *problem = &scatter->plan->problem;
    const int64_t lanes = scatter->unit.lanes;
    const int64_t windows = windows_in_row(scatter);
    int64_t *places = (int64_t *)(void *)(scatter->workspace + scatter->plan->room[ROOM_PLACES]);
    const int64_t *begin = scatter->unit.begin, *end = scatter->unit.end;
    const int64_t width = problem->axis[2].in, height = problem->axis[1].in;
    /* the tile is a range of places: no need to divide them into coordinates */
    const bool rows = begin[2] == 0 && end[2] == width;
    const bool range = rows && (problem->axis[0].in == 1 || (begin[1] == 0 && end[1] == height));
    const int64_t first = range ? (begin[0] * height + begin[1]) * width : 0;
    const int64_t size = range ? (end[0] - begin[0]) * (end[1] - begin[1]) * width : 0;
    int64_t i, o, lane, position[3];

    pgi_winner_places(problem, &problem->x, scatter->x, d, h, scatter->windows[2], lanes,
                      pgi_sweep_cells(&scatter->sweep, made), places);
    for (o = i = 0; o < windows; o++) {
        for (lane = 0; lane < lanes; lane++, i++) {
            if (places[i] == PGI_NO_PLACE) {
                places[i] = -1;
            } else if (range) {
                places[i] -= first;
                places[i] = places[i] >= 0 && places[i] < size ? places[i] * lanes + lane : -1;
            } else {
                pgi_position_of_place(problem, places[i], position);
                places[i] = place_in_tile(scatter, position, lane);
            }
        }
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

/* The positions of the input that a window without gaps covers on an axis. */
static pgi_range covered(const pgi_axis *axis, int64_t o)
{
    const int64_t start = o * axis->stride - axis->pad_lo;

    if (axis->adaptive)
        return pgi_axis_adaptive_window(axis, o);
    return (pgi_range){pgi_max(0, start), pgi_min(axis->in, start + axis->kernel)};
}

/* Whether the tile at hand allows to locate rows of indices at once: it has whole rows, indices
 * count their places, and windows have no gaps and few rows. */
static bool can_be_quick(const pgi_scatter *scatter)
{
    const pgi_problem *problem = &scatter->plan->problem;
    int64_t places = scatter->plan->tiling.lanes; /* the widest unit of this tile */
    int i;

    if (problem->indexing.column_major || problem->indexing.unit != 1)
        return false;
    for (i = 0; i < 3; i++) {
        const pgi_axis *axis = &problem->axis[i];

        if ((axis->dilation != 1 && axis->kernel != 1) || (i < 2 && axis->kernel > QUICK_ROWS) ||
            (i < 2 && axis->adaptive) || !pgi_mul(places, axis->in, &places))
            return false;
    }
    return places <= INT32_MAX && scatter->unit.begin[2] == 0 &&
           scatter->unit.end[2] == problem->axis[2].in;
}

static void enter_tile(pgi_scatter *scatter)
{
    const pgi_range windows = scatter->windows[2];
    int64_t o;

    scatter->columns = (int32_t *)(void *)(scatter->workspace + scatter->plan->room[ROOM_COLUMNS]);
    scatter->quick = scatter->plan->problem.has_indices && can_be_quick(scatter);
    for (o = windows.begin; scatter->quick && o < windows.end; o++) {
        const pgi_range range = covered(&scatter->plan->problem.axis[2], o);
        int32_t *column = scatter->columns + (o - windows.begin);

        column[0] = (int32_t)range.begin;
        column[windows.end - windows.begin] = (int32_t)range.end;
    }
}

/* Where the winners of a row of windows may lie; false if a window of the row leaves the tile, or
 * covers nothing. */
static bool cover_row(const pgi_scatter *scatter, int64_t d, int64_t h, pgi_cover *cover)
{
    const pgi_problem *problem = &scatter->plan->problem;
    const pgi_indexing *indexing = &problem->indexing;
    const pgi_range planes = covered(&problem->axis[0], d), rows = covered(&problem->axis[1], h);
    const int64_t *begin = scatter->unit.begin, *end = scatter->unit.end;
    const int64_t height = problem->axis[1].in, width = problem->axis[2].in;
    const int64_t lanes = scatter->unit.lanes;
    const int64_t batch = problem->target.offset[PGI_BATCH] + scatter->unit.batch;
    const int64_t channel = problem->target.offset[PGI_CHANNEL] + scatter->unit.channel;

    *cover = (pgi_cover){
        .planes = planes.end - planes.begin,
        .plane = height * width,
        .rows = rows.end - rows.begin,
        .row = width,
        .begin = scatter->columns,
        .end = scatter->columns + windows_in_row(scatter),
        .column_step = lanes == 1,
        .origin = batch * indexing->batch_step + channel * indexing->channel_step +
                  (planes.begin * height + rows.begin) * width,
        .origin_step = lanes == 1 ? 0 : indexing->channel_step,
        .place = ((planes.begin - begin[0]) * (end[1] - begin[1]) + rows.begin - begin[1]) * width *
                 lanes,
        .place_step = lanes == 1 ? 0 : 1,
        .place_unit = lanes,
        .plane_gap = (height - (end[1] - begin[1])) * width,
    };
    return cover->planes > 0 && cover->rows > 0 && planes.begin >= begin[0] &&
           planes.end <= end[0] && rows.begin >= begin[1] && rows.end <= end[1];
}

/* Adds a row of windows whose indices all lie where they should; false if one does not, or may mean
 * something else, and nothing has been added. */
static bool add_quickly(const pgi_scatter *scatter, int64_t d, int64_t h)
{
    const poolgrad_plan *plan = scatter->plan;
    const pgi_problem *problem = &plan->problem;
    const pgi_tensor *indices = &problem->indices;
    const int64_t lanes = scatter->unit.lanes, windows = windows_in_row(scatter);
    const int64_t step = indices->stride[PGI_SPATIAL + 2];
    int32_t *places = (int32_t *)(void *)(scatter->workspace + plan->room[ROOM_PLACES]);
    int32_t *scratch = places + windows * lanes;
    const char *row = scatter->indices + pgi_row_offset(indices, d, h, scatter->windows[2].begin) *
                                             (int64_t)problem->index_size;
    pgi_locate_fn *locate = plan->kernels.locate[problem->indexing.type - 1];
    pgi_cover cover;
    int64_t o;

    if (!cover_row(scatter, d, h, &cover) ||
        (lanes == 1 && !locate(places, scratch, row, step, &cover, windows)))
        return false;
    for (o = 0; lanes > 1 && o < windows; o++, cover.begin++, cover.end++)
        if (!locate(places + o * lanes, scratch, row + o * step * (int64_t)problem->index_size,
                    indices->stride[PGI_CHANNEL], &cover, lanes))
            return false;
    plan->kernels.collect(scatter->workspace + plan->room[ROOM_SUMS], places,
                          load_terms(scatter, d, h), windows * lanes);
    return true;
}

static void add_from_indices(const pgi_scatter *scatter)
{
    int64_t *places = (int64_t *)(void *)(scatter->workspace + scatter->plan->room[ROOM_PLACES]);
    int64_t d, h;

    for (d = scatter->windows[0].begin; d < scatter->windows[0].end; d++) {
        for (h = scatter->windows[1].begin; h < scatter->windows[1].end; h++) {
            if (scatter->quick && add_quickly(scatter, d, h))
                continue;
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
    const poolgrad_plan *plan = scatter->plan;
    const int64_t *stride = plan->problem.target.stride + PGI_SPATIAL;
    int64_t d, h;

    if (plan->scale.beta == 0 && pgi_is_dense(plan, unit->lanes)) {
        /* rows that follow each other without a gap are one row */
        const bool rows = stride[1] == places * unit->lanes || unit->end[1] - unit->begin[1] == 1;
        const int64_t row = rows ? places * (unit->end[1] - unit->begin[1]) : places;

        for (d = unit->begin[0]; d < unit->end[0]; d++) {
            for (h = unit->begin[1]; h < (rows ? unit->begin[1] + 1 : unit->end[1]); h++) {
                const pgi_rows run = {.row = {sums}, .count = 1};

                pgi_finish_row(plan, scatter->work, dx, d, h, unit->begin[2], &run, 1, row,
                               unit->lanes);
                sums += (size_t)(row * unit->lanes) * plan->kernels.sums.size;
            }
        }
        return;
    }
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

    scatter->unit = *unit;
    for (i = 0; i < 3; i++) {
        scatter->windows[i] = pgi_gather_reach(&problem->gather[i], unit->begin[i], unit->end[i]);
        reached &= scatter->windows[i].begin < scatter->windows[i].end;
        places *= unit->end[i] - unit->begin[i];
    }
    if (new_tile)
        enter_tile(scatter);
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
                                     .cells = pgi_candidate_cells(plan),
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
        if (!pgi_sweep_measure(problem->taps, windows, tiling->lanes, pgi_candidate_size(problem),
                               sweep))
            return -1;
        at.end = (int64_t)sweep->bytes;
    }
    if (!pgi_mul(tiling->extent[2], tiling->lanes, &row))
        return -1;
    room[ROOM_SUMS] = pgi_place(&at, tiling->extent[0], tiling->extent[1], row, real);
    room[ROOM_TERMS] = pgi_place(&at, 1, windows[2], tiling->lanes, real);
    /* places: as two arrays of 32 bits where those will do, of which the second is longer than it
     * need be */
    room[ROOM_PLACES] = pgi_place(&at, 1, windows[2], tiling->lanes, sizeof(int64_t));
    room[ROOM_COLUMNS] = pgi_place(&at, 1, 2, windows[2], sizeof(int32_t));
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
