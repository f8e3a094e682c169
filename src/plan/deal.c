/* SPDX-License-Identifier: MIT */
#include "plan/deal.h"

#include "core/dtype.h"
#include "core/integer.h"
#include "plan/rows.h"

#include <string.h>

/* Cells of the windows that are dealt at once where tiles are made slice by slice. */
#define SLICED_CELLS 32768

const char *pgi_dy_of_row(const pgi_scatter *scatter, int64_t d, int64_t h)
{
    const pgi_problem *problem = &scatter->plan->problem;

    return scatter->dy + pgi_row_offset(&problem->source, d, h, scatter->windows[2].begin) *
                             (int64_t)problem->element_size;
}

int64_t pgi_windows_of(const pgi_scatter *scatter)
{
    return pgi_length(scatter->windows[0]) * pgi_length(scatter->windows[1]) *
           pgi_length(scatter->windows[2]);
}

bool pgi_side_by_side(const pgi_tensor *tensor, int64_t lanes)
{
    return tensor->stride[lanes > 1 ? PGI_CHANNEL : PGI_SPATIAL + 2] == 1;
}

/* Rows of windows that are one as far as dy goes: they follow each other without a gap. */
static int64_t rows_joined(const pgi_scatter *scatter)
{
    const int64_t *stride = scatter->plan->problem.source.stride + PGI_SPATIAL;

    return stride[1] == pgi_length(scatter->windows[2]) * stride[2]
               ? pgi_length(scatter->windows[1])
               : 1;
}

/* dy of all windows that reach the tile, as reals. */
static void load_windows(const pgi_scatter *scatter, const char *dy, int64_t lanes, char *terms)
{
    const poolgrad_plan *plan = scatter->plan;
    const int64_t windows = pgi_length(scatter->windows[2]);
    const int64_t rows = lanes == 1 ? rows_joined(scatter) : 1;
    int64_t d, h;

    for (d = scatter->windows[0].begin; d < scatter->windows[0].end; d++) {
        for (h = scatter->windows[1].begin; h < scatter->windows[1].end; h += rows) {
            pgi_load_row(plan, dy, d, h, scatter->windows[2].begin, rows * windows, lanes, terms);
            terms += (size_t)(rows * windows * lanes) * plan->kernels.real;
        }
    }
}

void pgi_fetch_windows(const pgi_scatter *scatter)
{
    const pgi_tensor *source = &scatter->plan->problem.source;
    const int64_t size = (int64_t)scatter->plan->problem.element_size;
    const int64_t windows = pgi_length(scatter->windows[2]), lanes = scatter->unit.lanes;
    const bool grouped = lanes > 1 && !scatter->parts.apart;
    /* pieces of a row that lie side by side: groups of lanes, or the windows of a lane */
    const int64_t step = source->stride[grouped ? PGI_SPATIAL + 2 : PGI_CHANNEL] * size;
    int64_t pieces = grouped ? windows : lanes, bytes = (grouped ? lanes : windows) * size;
    int64_t d, h, i;

    if (!pgi_side_by_side(source, grouped ? lanes : 1))
        return;
    if (step == bytes) { /* one behind the other */
        bytes *= pieces;
        pieces = 1;
    }
    for (d = scatter->windows[0].begin; d < scatter->windows[0].end; d++)
        for (h = scatter->windows[1].begin; h < scatter->windows[1].end; h++) {
            const char *row = pgi_dy_of_row(scatter, d, h);

            for (i = 0; i < pieces; i++)
                pgi_fetch(row + i * step, bytes);
        }
}

/* Stores the sums of a tile, and leaves zeros in their place. */
static void store_tile(const pgi_scatter *scatter, char *dx, int64_t lanes, char *sums)
{
    const pgi_unit *unit = &scatter->unit;
    const int64_t places = unit->end[2] - unit->begin[2], rows = unit->end[1] - unit->begin[1];
    const poolgrad_plan *plan = scatter->plan;
    const pgi_tensor *target = &plan->problem.target;
    const size_t plane = (size_t)(rows * places * lanes) * plan->kernels.real;
    const bool dense = plan->scale.beta == 0 && pgi_is_dense(&plan->problem, lanes);
    /* rows that follow each other without a gap are one row, and so are planes of them */
    const int64_t joined = target->stride[PGI_SPATIAL + 1] == places * lanes ? rows : 1;
    const bool whole = joined == rows && target->stride[PGI_SPATIAL] == rows * places * lanes;
    const int64_t planes = dense && whole ? unit->end[0] - unit->begin[0] : 1;
    int64_t d, h;

    for (d = unit->begin[0]; d < unit->end[0]; d += planes, sums += (size_t)planes * plane) {
        for (h = 0; dense && h < rows; h += joined) {
            const int64_t at = pgi_row_offset(target, d, unit->begin[1] + h, unit->begin[2]);

            plan->kernels.reap(dx + at * (int64_t)plan->problem.element_size,
                               sums + (size_t)(h * places * lanes) * plan->kernels.real,
                               planes * joined * places * lanes, plan->scale.alpha,
                               scatter->work->stream);
        }
        if (!dense) {
            pgi_store_rows(plan, scatter->work, dx, d, unit->begin[1], unit->begin[2], rows, places,
                           lanes, sums, places * lanes);
            memset(sums, 0, plane);
        }
    }
}

bool pgi_dealt_in_place(const pgi_problem *problem, bool apart, int64_t lanes)
{
    const pgi_tensor *source = &problem->source;

    return problem->element_size == pgi_compute_size(problem->desc.dtype) &&
           pgi_side_by_side(source, apart ? 1 : lanes) &&
           !(apart && source->stride[PGI_CHANNEL] % (4 * PGI_FULL_VECTOR) == 0);
}

int64_t pgi_lane_pitch(int64_t cells)
{
    return (pgi_ceil_div(cells, PGI_FULL_VECTOR) | 1) * PGI_FULL_VECTOR;
}

int64_t pgi_deal_slack(bool apart, int64_t lanes)
{
    return PGI_SLACK + (apart ? lanes * 2 * PGI_FULL_VECTOR : 0);
}

static int64_t places_of(const pgi_unit *unit)
{
    return (unit->end[0] - unit->begin[0]) * (unit->end[1] - unit->begin[1]) *
           (unit->end[2] - unit->begin[2]);
}

/* Deals dy as it lies in memory. */
static void deal_in_place(const pgi_scatter *scatter, char *sums, pgi_deal deal)
{
    const pgi_tensor *source = &scatter->plan->problem.source;
    const int64_t rows = rows_joined(scatter);
    const int32_t *places = scatter->places;
    int64_t d, h;

    deal.terms = (pgi_lanes_at){source->stride[PGI_SPATIAL + 2], source->stride[PGI_CHANNEL]};
    deal.count = rows * pgi_length(scatter->windows[2]);
    for (d = scatter->windows[0].begin; d < scatter->windows[0].end; d++) {
        for (h = scatter->windows[1].begin; h < scatter->windows[1].end; h += rows) {
            scatter->plan->kernels.deal(sums, places, pgi_dy_of_row(scatter, d, h), &deal);
            places += deal.count * deal.places.step;
        }
    }
}

/* Deals dy that is made reals first, lanes as they lie in the sums. */
static void deal_loaded(const pgi_scatter *scatter, char *sums, pgi_deal deal)
{
    const poolgrad_plan *plan = scatter->plan;
    const int64_t channel = plan->problem.source.stride[PGI_CHANNEL];
    int64_t lane;

    deal.terms = scatter->parts.apart ? (pgi_lanes_at){1, pgi_lane_pitch(deal.count)}
                                      : (pgi_lanes_at){deal.lanes, 1};
    if (!scatter->parts.apart)
        load_windows(scatter, scatter->dy, deal.lanes, scatter->terms);
    for (lane = 0; lane < deal.lanes && scatter->parts.apart; lane++)
        load_windows(scatter, scatter->dy + lane * channel * (int64_t)plan->problem.element_size, 1,
                     scatter->terms + (size_t)(lane * deal.terms.lane) * plan->kernels.real);
    plan->kernels.deal(sums, scatter->places, scatter->terms, &deal);
}

/* Adds dy of the windows at hand to the sums, at the places that they have found. */
static void deal_windows(const pgi_scatter *scatter)
{
    const bool apart = scatter->parts.apart;
    char *sums = scatter->workspace + scatter->parts.sums -
                 scatter->shift * (int64_t)scatter->plan->kernels.real;
    pgi_deal deal = {.count = pgi_windows_of(scatter),
                     .lanes = scatter->unit.lanes,
                     .sum_lane = apart ? pgi_lane_pitch(places_of(&scatter->unit)) : 1,
                     .runs = scatter->parts.runs,
                     .spare = scatter->parts.border && !apart};

    deal.places = apart && scatter->plan->problem.has_indices
                      ? (pgi_lanes_at){1, pgi_lane_pitch(deal.count)}
                      : (pgi_lanes_at){deal.lanes, 1};
    if (scatter->parts.in_place)
        deal_in_place(scatter, sums, deal);
    else
        deal_loaded(scatter, sums, deal);
}

void pgi_deal_tile(const pgi_scatter *scatter, char *dx, bool reached)
{
    const poolgrad_plan *plan = scatter->plan;
    const pgi_unit *unit = &scatter->unit;
    const int64_t channel = plan->problem.target.stride[PGI_CHANNEL];
    const int64_t pitch = pgi_lane_pitch(places_of(unit));
    const bool apart = scatter->parts.apart;
    char *sums = scatter->workspace + scatter->parts.sums;
    int64_t lane;

    if (reached)
        deal_windows(scatter);
    if (!apart)
        store_tile(scatter, dx, unit->lanes, sums);
    for (lane = 0; lane < unit->lanes && apart; lane++)
        store_tile(scatter, dx + lane * channel * (int64_t)plan->problem.element_size, 1,
                   sums + (size_t)(lane * pitch) * plan->kernels.real);
}

/* The axis along which tiles can be made slice by slice: the first, since windows give in their
 * order. */
static int sliced_axis(const pgi_problem *problem)
{
    return problem->axis[0].in == 1 && problem->axis[0].out == 1;
}

bool pgi_suits_slices(const pgi_problem *problem, const pgi_tiling *tiling)
{
    const int64_t *extent = problem->target.extent + PGI_SPATIAL;
    const int axis = sliced_axis(problem);
    const pgi_axis *along = &problem->axis[axis];

    return !along->adaptive && (tiling->extent[0] < extent[0] || tiling->extent[1] < extent[1]) &&
           2 * along->stride <= along->kernel && along->stride <= extent[axis] / 4 &&
           along->kernel - 1 <= extent[axis] / 4 / along->dilation;
}

void pgi_set_slices(const pgi_problem *problem, const int64_t windows[3], int64_t cells,
                    pgi_scatter_parts *parts)
{
    const pgi_axis *along = &problem->axis[sliced_axis(problem)];
    const int64_t rows = sliced_axis(problem) == 0 ? windows[1] : 1;
    const int64_t span = (along->kernel - 1) * along->dilation + 1;

    parts->axis = sliced_axis(problem);
    parts->at_once = pgi_min(windows[parts->axis], pgi_max(1, SLICED_CELLS / cells / rows));
    parts->room = (parts->at_once - 1) * along->stride + pgi_max(along->stride, span);
}

/* The sums of slices [begin, end) of an axis become the first, and leave zeros. */
static void hand_on(const pgi_scatter *scatter, int axis, int64_t begin, int64_t end)
{
    const int64_t kept = end - begin, clear = pgi_max(begin, kept);
    const pgi_unit *unit = &scatter->unit;
    size_t slice = (size_t)unit->lanes * scatter->plan->kernels.real;
    char *sums = scatter->workspace + scatter->parts.sums;
    int i;

    for (i = axis + 1; i < 3; i++)
        slice *= (size_t)(unit->end[i] - unit->begin[i]);
    memmove(sums, sums + (size_t)begin * slice, (size_t)kept * slice);
    memset(sums + (size_t)clear * slice, 0, (size_t)(end - clear) * slice);
}

/* The winners of the windows at hand, for the slice that begins here. */
static void find_slice(pgi_scatter *scatter, const pgi_unit *tile, bool first, bool new_tile,
                       pgi_find_fn *find)
{
    const int axis = scatter->parts.axis;
    int i;

    if (scatter->plan->problem.has_indices) {
        if (!scatter->parts.in_place && tile->lanes > 1)
            pgi_fetch_windows(scatter);
        pgi_trace_winners(scatter, new_tile);
        return;
    }
    pgi_fetch_windows(scatter);
    scatter->shift = (scatter->unit.begin[axis] - tile->begin[axis]) * pgi_per_place(scatter);
    for (i = axis + 1; i < 3; i++)
        scatter->shift *= tile->end[i] - tile->begin[i];
    find(scatter, tile, first);
}

void pgi_deal_slices(pgi_scatter *scatter, char *dx, bool reached, bool new_tile, pgi_find_fn *find)
{
    const pgi_unit unit = scatter->unit;
    const int axis = scatter->parts.axis;
    const pgi_axis *along = &scatter->plan->problem.axis[axis];
    const pgi_range windows = reached ? scatter->windows[axis] : (pgi_range){0, 0};
    int64_t next = windows.begin, at, behind;
    bool first = true;

    for (at = unit.begin[axis]; at < unit.end[axis]; at = behind) {
        const int64_t end = pgi_min(at + scatter->parts.room, unit.end[axis]);
        const int64_t last = pgi_min(next + scatter->parts.at_once, windows.end);

        /* up to where the first window of the next ones begins */
        behind = last < windows.end ? pgi_max(at, last * along->stride - along->pad_lo) : end;
        behind = pgi_min(behind, end);
        scatter->unit.begin[axis] = at;
        scatter->unit.end[axis] = end;
        scatter->windows[axis] = (pgi_range){next, last};
        if (next < last) {
            find_slice(scatter, &unit, first, new_tile, find);
            first = new_tile = false;
            deal_windows(scatter);
            next = last;
        }
        if (behind > at) {
            scatter->unit.end[axis] = behind;
            store_tile(scatter, dx, unit.lanes, scatter->workspace + scatter->parts.sums);
            hand_on(scatter, axis, behind - at, end - at);
        }
    }
}
