/* SPDX-License-Identifier: MIT */
/* From indices to places in a tile: rows of them at once where all are good, else one by one. */
#include "plan/trace.h"

#include "core/integer.h"
#include "core/window.h"
#include "plan/deal.h"
#include "plan/rows.h"

/* Small planes are fetched so far ahead: the processor begins anew with every page. */
#define LANES_AHEAD 2

int32_t pgi_place_in_tile(const pgi_scatter *scatter, const int64_t position[3])
{
    const pgi_unit *unit = &scatter->unit;
    int64_t place = 0;
    int i;

    for (i = 0; i < 3; i++) {
        if (position[i] < unit->begin[i] || position[i] >= unit->end[i])
            return PGI_NOWHERE;
        place = place * (unit->end[i] - unit->begin[i]) + position[i] - unit->begin[i];
    }
    return (int32_t)place;
}

int64_t pgi_per_place(const pgi_scatter *scatter)
{
    return scatter->parts.award || scatter->parts.apart ? 1 : scatter->unit.lanes;
}

/* Winners given by a row of indices, one by one; those that are none are reported and go nowhere.
 * Without places that is all. */
static void read_indices(const pgi_scatter *scatter, int64_t d, int64_t h, int32_t *places)
{
    const pgi_problem *problem = &scatter->plan->problem;
    const pgi_tensor *indices = &problem->indices;
    const pgi_unit *unit = &scatter->unit;
    const int64_t batch = problem->target.offset[PGI_BATCH] + unit->batch;
    const int64_t channel = problem->target.offset[PGI_CHANNEL] + unit->channel;
    const pgi_range windows = scatter->windows[2];
    const int64_t per_place = pgi_per_place(scatter);
    const char *row = scatter->indices +
                      pgi_row_offset(indices, d, h, windows.begin) * (int64_t)problem->index_size;
    int64_t o[3] = {d, h, 0}, lane, position[3];

    for (o[2] = windows.begin; o[2] < windows.end; o[2]++) {
        for (lane = 0; lane < unit->lanes; lane++) {
            int32_t place = PGI_NOWHERE;
            const int64_t index =
                pgi_index_load(problem->indexing.type, row,
                               (o[2] - windows.begin) * indices->stride[PGI_SPATIAL + 2] +
                                   lane * indices->stride[PGI_CHANNEL]);

            switch (pgi_check_index(problem, batch, channel + lane, o, index, position)) {
            case PGI_INDEX_WINNER:
                place = pgi_place_in_tile(scatter, position);
                if (place >= 0)
                    place *= (int32_t)per_place;
                break;
            case PGI_INDEX_NOWHERE:
                break;
            case PGI_INDEX_BAD:
                pgi_report_bad_index(scatter->work,
                                     pgi_window_element(problem, batch, channel + lane, o));
                break;
            }
            if (places)
                *places++ = place;
        }
    }
}

/* The taps that a window has inside the input, `dilation` apart. */
static pgi_run taps_inside(const pgi_axis *axis, int64_t o)
{
    return pgi_run_clip(pgi_axis_taps(axis, o), axis->dilation, axis->in);
}

static bool has_gaps(const pgi_axis *axis)
{
    return axis->dilation != 1 && axis->kernel != 1;
}

static bool any_gaps(const pgi_problem *problem)
{
    return has_gaps(&problem->axis[0]) || has_gaps(&problem->axis[1]) ||
           has_gaps(&problem->axis[2]);
}

/* A bit for each tap. */
static uint32_t bits_of(const pgi_axis *axis, int64_t count)
{
    uint32_t taps = 0;
    int64_t t;

    for (t = 0; t < count; t++)
        taps |= UINT32_C(1) << t * axis->dilation;
    return taps;
}

/* For distances below `turns` * all. */
static pgi_fraction fraction_of(int64_t all, int64_t turns)
{
    const uint64_t one = UINT64_C(1) << 32;
    const uint64_t by = turns > 1 ? (one + (uint64_t)all - 1) / (uint64_t)all : 1;
    const uint64_t excess = turns > 1 ? by * (uint64_t)all - one : 0;

    /* both are below 2^31, and there are fewer than 2^31 turns */
    return (pgi_fraction){by, turns <= 1 || excess * (uint64_t)turns + 1 < by};
}

static uint32_t below(pgi_fraction fraction, int64_t some)
{
    return (uint32_t)pgi_min((int64_t)((uint64_t)some * fraction.by), (int64_t)UINT32_MAX);
}

/* Positions from the first of some taps to the last. */
static int64_t extent(const pgi_axis *axis, int64_t taps)
{
    return (taps - 1) * axis->dilation + 1;
}

/* Positions from the first of any window's taps to the last, of those that may be inside. */
static int64_t reach_of(const pgi_axis *axis)
{
    return axis->adaptive ? axis->in : extent(axis, axis->kernel);
}

/* Whether taps can be followed many at once: they are bytes, windows are alike, and positions are
 * counted in 32 bits. */
static bool can_follow(const pgi_problem *problem)
{
    int i;

    for (i = 0; i < 3; i++)
        if (problem->axis[i].adaptive ||
            extent(&problem->axis[i], problem->axis[i].kernel) > -(int64_t)PGI_NOWHERE)
            return false;
    return problem->indexing.type == POOLGRAD_U8;
}

/* Whether a plane has one row: tiles are then parts of it. */
static bool is_row(const pgi_problem *problem)
{
    return problem->axis[0].in == 1 && problem->axis[1].in == 1;
}

/* Whether the tile at hand allows to trace rows of indices at once: it has whole rows, or is part
 * of a single one, and windows with gaps are not wide. */
static bool can_be_quick(pgi_scatter *scatter)
{
    const pgi_problem *problem = &scatter->plan->problem;
    const pgi_axis *down = &problem->axis[1], *across = &problem->axis[2];
    int64_t places, planes;
    int i;

    if (problem->indexing.window)
        return can_follow(problem);
    /* rows that windows would cover beyond the plane are counted, too */
    if (!pgi_add(down->in, down->pad_lo, &places) || !pgi_add(places, down->pad_hi, &places) ||
        !pgi_add(places, extent(down, down->kernel) + down->stride, &places) ||
        !pgi_mul(places, across->in, &places) || places > -(int64_t)PGI_NOWHERE)
        return false;
    if (!pgi_mul(scatter->unit.lanes, problem->indexing.channel_step, &places) ||
        !pgi_add(places, problem->indexing.plane, &places) || places > (int64_t)UINT32_MAX)
        return false;
    planes = pgi_min(reach_of(&problem->axis[0]), problem->axis[0].in);
    scatter->columns = fraction_of(across->in, (planes - 1) * down->in + reach_of(down));
    scatter->planes = fraction_of(down->in * across->in, planes);
    scatter->bits = any_gaps(problem) || !scatter->columns.exact;
    for (i = 0; i < 3 && scatter->bits; i++)
        if (problem->axis[i].adaptive || extent(&problem->axis[i], problem->axis[i].kernel) > 32)
            return false;
    return !problem->indexing.column_major &&
           (is_row(problem) || (scatter->unit.begin[2] == 0 && scatter->unit.end[2] == across->in));
}

static int32_t *numbers(const pgi_scatter *scatter, size_t offset)
{
    return (int32_t *)(void *)(scatter->workspace + offset);
}

/* How many lanes are traced as if each of their cells were a window: those that fill no vector, if
 * they are all channels, and so the same in every unit, and their indices lie side by side. */
static int64_t lanes_as_windows(const pgi_scatter *scatter)
{
    const pgi_problem *problem = &scatter->plan->problem;
    const int64_t *stride = problem->indices.stride, lanes = scatter->unit.lanes;

    return lanes < PGI_FULL_VECTOR && lanes == problem->target.extent[PGI_CHANNEL] &&
                   !problem->indexing.window && stride[PGI_CHANNEL] == 1 &&
                   stride[PGI_SPATIAL + 2] == lanes
               ? lanes
               : 1;
}

void pgi_trace_tile(pgi_scatter *scatter)
{
    const pgi_range windows = scatter->windows[2];
    const int64_t lanes = lanes_as_windows(scatter);
    int32_t *begin = numbers(scatter, scatter->parts.begin);
    int32_t *width = numbers(scatter, scatter->parts.width);
    uint32_t *further = (uint32_t *)(void *)(scatter->workspace + scatter->parts.further);
    const pgi_axis *down = &scatter->plan->problem.axis[1];
    const pgi_axis *across = &scatter->plan->problem.axis[2];
    const int64_t *stride = scatter->plan->problem.indices.stride + PGI_SPATIAL;
    const bool taps = scatter->plan->problem.indexing.window;
    int64_t o, r, lane;

    scatter->quick = can_be_quick(scatter);
    scatter->joined = pgi_max(1, pgi_min(PGI_JOINED_WINDOWS / lanes / pgi_length(windows),
                                         pgi_length(scatter->windows[1])));
    if (taps && (scatter->unit.lanes > 1 || stride[1] != pgi_length(windows) * stride[2]))
        scatter->joined = 1;
    for (r = 0; r < scatter->joined && scatter->quick; r++) {
        for (o = windows.begin; o < windows.end; o++) {
            const pgi_run run = taps_inside(across, o);
            const int64_t first = taps
                                      ? pgi_axis_taps(across, o).first
                                      : (run.count ? run.first : 0) + r * down->stride * across->in;
            const uint32_t columns = taps            ? (uint32_t)(r * down->stride)
                                     : scatter->bits ? bits_of(across, run.count)
                                                     : below(scatter->columns, run.count);

            for (lane = 0; lane < lanes; lane++) {
                *begin++ = (int32_t)first;
                *width++ = (int32_t)columns;
                *further++ =
                    (uint32_t)lane * (uint32_t)scatter->plan->problem.indexing.channel_step;
            }
        }
    }
}

/* How many rows of windows from (d, h) on cover as many rows of the input as (d, h), each a stride
 * further down. In a plane that is alone, rows that do not exist can be taken for such that do: no
 * place is in them. */
static int64_t rows_alike(const pgi_scatter *scatter, int64_t h, pgi_run *rows)
{
    const pgi_axis *depth = &scatter->plan->problem.axis[0];
    const pgi_axis *axis = &scatter->plan->problem.axis[1];
    const int64_t left = scatter->windows[1].end - h, start = h * axis->stride - axis->pad_lo;
    const int64_t span = extent(axis, axis->kernel);

    *rows = taps_inside(axis, h);
    if (axis->adaptive)
        return 1;
    if (depth->in == 1) {
        *rows = (pgi_run){start, axis->kernel};
        return left;
    }
    if (start < 0 || start + span > axis->in)
        return 1;
    return pgi_min(left, (axis->in - span - start) / axis->stride + 1);
}

/* Rows that follow each other without a gap, in indices and places, are one, as far as columns are
 * known. The trace is of no use afterwards: a copy would wait for what was just stored. */
static bool trace_joined(const pgi_scatter *scatter, int32_t *places, const char *indices,
                         pgi_trace *trace)
{
    const pgi_problem *problem = &scatter->plan->problem;
    pgi_trace_fn *kernel = scatter->plan->kernels.trace[problem->indexing.type - 1];
    const int64_t rows = trace->count, joined = scatter->joined, windows = trace->windows;

    if (joined == 1 || trace->index_row != windows * trace->step ||
        trace->place_row != windows * trace->lanes)
        return kernel(places, indices, trace);
    trace->count = rows / joined;
    trace->windows *= joined;
    trace->index_row *= joined;
    trace->place_row *= joined;
    trace->row_step *= (uint32_t)joined;
    if (!kernel(places, indices, trace))
        return false;
    places += trace->count * trace->place_row;
    indices += trace->count * trace->index_row * (int64_t)problem->index_size;
    trace->first += (uint32_t)trace->count * trace->row_step;
    trace->top += (uint32_t)trace->count * trace->row_step;
    trace->windows = rows % joined * windows;
    trace->count = trace->windows > 0;
    return kernel(places, indices, trace);
}

/* The number that an odd one must be multiplied with to become 1, modulo 2^32: each step doubles
 * the bits that are right, 3 at the beginning. */
static uint32_t inverse(uint32_t odd)
{
    uint32_t made = odd;
    int i;

    for (i = 0; i < 4; i++)
        made *= 2 - odd * made;
    return made;
}

/* What has to be found out of indices that lie in these planes, and what can be left out. */
static void set_tracing(const pgi_scatter *scatter, pgi_trace *trace, pgi_run planes, pgi_run rows)
{
    const pgi_axis *axis = scatter->plan->problem.axis;
    const pgi_unit *unit = &scatter->unit;
    const int64_t width = axis[2].in, height = unit->end[1] - unit->begin[1];
    const bool deep = axis[0].in > 1, bits = scatter->bits;
    /* rows of the tile follow each other as those of the input do */
    const bool whole = !deep || height == axis[1].in;

    trace->tracing = bits                             ? PGI_TRACE_GAPS
                     : !deep                          ? PGI_TRACE_COLUMNS
                     : whole && scatter->planes.exact ? PGI_TRACE_ROWS
                                                      : PGI_TRACE_PLANES;
    trace->by_columns = (uint32_t)scatter->columns.by;
    trace->by_plane = (uint32_t)scatter->planes.by;
    trace->rows_within = below(scatter->planes, rows.count * width);
    trace->columns = (uint32_t)width;
    /* without planes all rows are those of one, also such as are not there */
    trace->rows = deep ? (uint32_t)axis[1].in : PGI_TRACE_SPAN;
    trace->rows_of_columns = deep ? (uint32_t)(axis[1].in * width) : PGI_TRACE_SPAN;
    trace->per_column = 1.0F / (float)width;
    trace->per_plane = 1.0F / (float)trace->rows_of_columns;
    trace->taps_down = bits ? bits_of(&axis[1], rows.count) : (uint32_t)(rows.count * width);
    trace->taps_deep = bits_of(&axis[0], bits ? planes.count : 0);
    trace->top = whole ? 0 : (uint32_t)((rows.first - unit->begin[1]) * width);
    trace->height = whole ? UINT32_MAX : (uint32_t)(height * width);
    trace->skipped = whole ? 0 : (uint32_t)((axis[1].in - height) * width);
    trace->move =
        (uint32_t)(((planes.first - unit->begin[0]) * height + rows.first - unit->begin[1]) *
                       width -
                   unit->begin[2]) -
        trace->first;
    trace->inside = !deep && trace->move == 0 && (int64_t)trace->limit >= trace->plane;
}

/* Winners given by rows of indices that all lie where they should, from (d, h) on; sets how many
 * rows. False if an index does not, or may mean something else. */
static bool trace_rows(const pgi_scatter *scatter, int64_t d, int64_t h, int32_t *places,
                       int64_t *count)
{
    const pgi_problem *problem = &scatter->plan->problem;
    const pgi_indexing *indexing = &problem->indexing;
    const pgi_tensor *indices = &problem->indices;
    const pgi_axis *axis = problem->axis;
    const pgi_unit *unit = &scatter->unit;
    const pgi_run planes = taps_inside(&axis[0], d);
    const int64_t width = axis[2].in, height = unit->end[1] - unit->begin[1];
    const int64_t batch = problem->target.offset[PGI_BATCH] + unit->batch;
    const int64_t channel = problem->target.offset[PGI_CHANNEL] + unit->channel;
    const int shift = __builtin_ctzll((uint64_t)indexing->unit);
    const int64_t lanes = lanes_as_windows(scatter);
    pgi_run rows;
    int64_t lines;
    pgi_trace trace;

    *count = rows_alike(scatter, h, &rows);
    if (planes.count <= 0 || rows.count <= 0)
        return false;
    lines = (extent(&axis[0], planes.count) - 1) * axis[1].in + extent(&axis[1], rows.count);
    if (lines > PGI_TRACE_SPAN / width)
        return false;
    trace = (pgi_trace){
        .windows = pgi_length(scatter->windows[2]) * lanes,
        .step = indices->stride[PGI_SPATIAL + 2] / lanes,
        .lanes = unit->lanes / lanes,
        .lane_step = indices->stride[PGI_CHANNEL],
        .count = *count,
        .index_row = indices->stride[PGI_SPATIAL + 1],
        .place_row = pgi_length(scatter->windows[2]) * unit->lanes,
        .origin = batch * indexing->batch_step + channel * indexing->channel_step,
        .origin_step = (uint32_t)indexing->channel_step,
        .further = lanes == 1 ? NULL
                              : (const uint32_t *)(const void *)(scatter->workspace +
                                                                 scatter->parts.further),
        .unit = indexing->unit,
        .unit_shift = shift,
        .unit_inverse = inverse((uint32_t)(indexing->unit >> shift)),
        .plane = indexing->plane,
        .begin = numbers(scatter, scatter->parts.begin),
        .within = (const uint32_t *)numbers(scatter, scatter->parts.width),
        .first = (uint32_t)((planes.first * axis[1].in + rows.first) * width),
        .span = (uint32_t)(lines * width),
        .row_step = (uint32_t)(axis[1].stride * width),
        .limit =
            (uint32_t)((unit->end[0] - unit->begin[0]) * height * (unit->end[2] - unit->begin[2])),
        .per_place = (uint32_t)pgi_per_place(scatter),
    };
    set_tracing(scatter, &trace, planes, rows);
    return trace_joined(scatter, places,
                        scatter->indices +
                            pgi_row_offset(indices, d, h, scatter->windows[2].begin) *
                                (int64_t)problem->index_size,
                        &trace);
}

/* Winners given by the taps of `rows` rows of windows from (d, h) on, if all are good. */
static bool follow_taps(const pgi_scatter *scatter, int64_t d, int64_t h, int64_t rows,
                        int32_t *places)
{
    const pgi_problem *problem = &scatter->plan->problem;
    const pgi_kernels *kernels = &scatter->plan->kernels;
    const pgi_tensor *indices = &problem->indices;
    const int64_t windows = pgi_length(scatter->windows[2]),
                  o[3] = {d, h, scatter->windows[2].begin};
    const char *taps = scatter->indices + pgi_row_offset(indices, d, h, o[2]);
    const pgi_axis *axis = problem->axis;
    const pgi_unit *unit = &scatter->unit;
    pgi_taps shape = {
        .windows = places ? rows * windows : windows,
        .step = indices->stride[PGI_SPATIAL + 2],
        .lanes = unit->lanes,
        .lane_step = indices->stride[PGI_CHANNEL],
        .rows = rows,
        .row_step = indices->stride[PGI_SPATIAL + 1],
        .by_rows = (uint32_t)pgi_ceil_div(1 << 16, axis[1].kernel),
        .by_columns = (uint32_t)pgi_ceil_div(1 << 16, axis[2].kernel),
        .per_place = (uint32_t)pgi_per_place(scatter),
    };
    int i;

    for (i = 0; i < 3; i++) {
        shape.kernel[i] = (uint32_t)axis[i].kernel;
        shape.dilation[i] = (uint32_t)axis[i].dilation;
        shape.in[i] = (uint32_t)axis[i].in;
        shape.first[i] = (uint32_t)pgi_axis_taps(&axis[i], o[i]).first;
        shape.stride[i] = (uint32_t)axis[i].stride;
        shape.begin[i] = (uint32_t)unit->begin[i];
        shape.extent[i] = (uint32_t)(unit->end[i] - unit->begin[i]);
    }
    if (!places)
        return kernels->vouch(taps, &shape);
    return kernels->follow(places, taps, numbers(scatter, scatter->parts.width),
                           numbers(scatter, scatter->parts.begin), &shape);
}

/* Winners given by taps. */
static void read_taps(const pgi_scatter *scatter)
{
    const int64_t cells = pgi_length(scatter->windows[2]) * scatter->unit.lanes;
    const pgi_range down = scatter->windows[1];
    int32_t *places = scatter->parts.taps ? NULL : scatter->places;
    int64_t d, h, i, rows;

    for (d = scatter->windows[0].begin; d < scatter->windows[0].end; d++) {
        for (h = down.begin; h < down.end; h += rows) {
            rows = places ? pgi_min(scatter->joined, down.end - h) : pgi_length(down);
            if (!scatter->quick || !follow_taps(scatter, d, h, rows, places))
                for (i = 0; i < rows; i++)
                    read_indices(scatter, d, h + i, places ? places + i * cells : NULL);
            places = places ? places + rows * cells : NULL;
        }
    }
}

void pgi_trace_windows(const pgi_scatter *scatter)
{
    const int64_t cells = pgi_length(scatter->windows[2]) * scatter->unit.lanes;
    int32_t *places = scatter->places;
    int64_t d, h, i, count;

    if (scatter->plan->problem.indexing.window) {
        read_taps(scatter);
        return;
    }
    for (d = scatter->windows[0].begin; d < scatter->windows[0].end; d++) {
        for (h = scatter->windows[1].begin; h < scatter->windows[1].end; h += count) {
            count = 1;
            if (!scatter->quick || !trace_rows(scatter, d, h, places, &count))
                for (i = 0; i < count; i++)
                    read_indices(scatter, d, h + i, places + i * cells);
            places += count * cells;
        }
    }
}

void pgi_trace_winners(pgi_scatter *scatter, bool new_tile)
{
    const pgi_problem *problem = &scatter->plan->problem;
    const int64_t step = problem->indices.stride[PGI_CHANNEL] * (int64_t)problem->index_size;
    const pgi_unit unit = scatter->unit;
    const bool apart = scatter->parts.apart;
    const char *indices = pgi_unit_memory(problem, &problem->indices, &unit, scatter->work->indices,
                                          problem->index_size);
    const int64_t pitch = pgi_lane_pitch(pgi_windows_of(scatter));
    const int64_t bytes = pgi_windows_of(scatter) * (int64_t)problem->index_size;
    int32_t *places = scatter->places;
    int64_t lane;

    scatter->unit.lanes = apart ? 1 : unit.lanes;
    if (new_tile)
        pgi_trace_tile(scatter);
    for (lane = 0; lane < (apart ? unit.lanes : 1); lane++) {
        scatter->unit.channel = unit.channel + lane;
        scatter->indices = indices + lane * step;
        scatter->places = places + lane * pitch;
        if (apart && step == bytes)
            pgi_fetch(scatter->indices + LANES_AHEAD * step, bytes);
        pgi_trace_windows(scatter);
    }
    scatter->unit = unit;
    scatter->places = places;
}
