/* SPDX-License-Identifier: MIT */
/* Positions of a tile take the dy of the few windows that may be their own, and are stored. */
#include "plan/award.h"

#include "core/integer.h"
#include "core/window.h"
#include "plan/deal.h"
#include "plan/rows.h"

#include <string.h>

/* Cells of the rows that are taken together. */
#define TOGETHER_CELLS 8192

int64_t pgi_rows_awarded(int64_t width, int64_t lanes, int64_t period)
{
    return pgi_max(1, TOGETHER_CELLS / lanes / width / period) * period;
}

/* Whether positions may write to dx: no sums are needed. */
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
                   pgi_rows_awarded(unit->end[2] - unit->begin[2], unit->lanes, period));
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

void pgi_award_tile(pgi_scatter *scatter, char *dx, bool reached, bool new_tile)
{
    int64_t d;
    int i;

    for (i = 0; i < 3 && !reached; i++)
        scatter->windows[i] = (pgi_range){0, 0};
    for (i = 1; i < 3 && new_tile; i++)
        look_at_axis(scatter, i, reached);
    if (reached && !pgi_side_by_side(&scatter->plan->problem.source, scatter->unit.lanes))
        copy_windows(scatter);
    for (d = scatter->unit.begin[0]; d < scatter->unit.end[0]; d++)
        award_plane(scatter, dx, d);
}
