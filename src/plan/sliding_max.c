/* SPDX-License-Identifier: MIT */
/*
 * The forward maximum and its indices: the winners of windows of few taps straight from x, some
 * rows at a time; of larger ones by a contest over every tile of y, at a cost that grows with the
 * logarithm of the window at most.
 */
#include "plan/melee.h"
#include "plan/rows.h"
#include "plan/strategies.h"

#include "core/dtype.h"
#include "core/integer.h"

#include <string.h>

/* Cells that are found before they are stored: they stay in the first-level cache. */
#define CHUNK_CELLS 2048
/* Rows that are listed at once: what the first window of a row needs is still in a cache. */
#define LISTED_ROWS 8

/* Parts of the workspace: a contest, and a row that is put together where windows cover nothing; or
 * what is asked of windows of few taps, and as many rows of them as are found at once. */
typedef struct pgi_parts {
    bool direct;
    pgi_contest_layout contest;
    pgi_arena_layout arena;
    int64_t rows;
    bool lists; /* windows of few taps, straight to memory if nothing is NaN; */
    bool names; /* then indices are made of taps */
    size_t values, places, taps;
    size_t first; /* of the windows of a row that are to be named: first taps, and their numbers */
} pgi_parts;

typedef struct pgi_maximum {
    const poolgrad_plan *plan;
    const pgi_work *work;
    pgi_parts parts;
    pgi_contest contest;
    pgi_arena arena;
    const pgi_unit *unit;
    char *y; /* both: of the unit's batch and first channel */
    char *indices;
} pgi_maximum;

/* Whether groups and rows of a tensor lie one behind the other, as winners do. */
static bool rows_follow(const pgi_tensor *tensor, int64_t lanes, int64_t width)
{
    return tensor->stride[PGI_SPATIAL + 2] == lanes &&
           (lanes == 1 || tensor->stride[PGI_CHANNEL] == 1) &&
           tensor->stride[PGI_SPATIAL + 1] == width * lanes;
}

/* All planes of a channel of x; the first plane and row of a window, and how many rows it has. */
typedef struct pgi_frame {
    int32_t width, height, planes;
    double per_column, per_row;
    int32_t first[2], rows;
} pgi_frame;

/* The tap that a place of the plane is. Places are below 2^30, so half a place more than one has a
 * product with the reciprocal on the right side of an integer. */
static inline int32_t tap_of(const pgi_frame *frame, int32_t place, int32_t first, int32_t columns)
{
    const int32_t line = (int32_t)((place + 0.5) * frame->per_column);
    const int32_t plane = (int32_t)((line + 0.5) * frame->per_row);
    const int32_t row = line - plane * frame->height - frame->first[1];
    const int32_t tap = ((plane - frame->first[0]) * frame->rows + row) * columns + place -
                        line * frame->width - first;

    return place < 0 ? place : tap;
}

/* The same for `count` places of windows `step` apart, 0 or 1. */
static inline void name_cells(const pgi_frame *frame, int32_t *places, int64_t count,
                              const int32_t *first, const int32_t *columns, int64_t step)
{
    int64_t i;

    if (frame->planes == 1 && frame->height == 1)
        for (i = 0; i < count; i++)
            places[i] = places[i] < 0 ? places[i] : places[i] - first[i * step];
    else
        for (i = 0; i < count; i++)
            places[i] = tap_of(frame, places[i], first[i * step], columns[i * step]);
}

/* The place of a window's first tap, counted as taps are, modulo 2^32: a window in the padding may
 * be anywhere before those that are not. */
static uint32_t origin_of(const pgi_problem *problem, const int64_t o[3])
{
    uint64_t place = 0;
    int i;

    for (i = 0; i < 3; i++) {
        const pgi_axis *axis = &problem->axis[i];
        const int64_t first = pgi_axis_taps(axis, o[i]).first;

        /* spares every row of an ordinary problem three divisions */
        place = place * (uint64_t)axis->kernel +
                (uint64_t)(axis->dilation == 1 ? first : pgi_floor_div(first, axis->dilation));
    }
    return (uint32_t)place;
}

/* Places of a contest, counted as taps are, become the taps of groups of windows from (d, h, begin
 * of the tile's row) on. */
static void make_taps(const pgi_maximum *maximum, int64_t d, int64_t h, int64_t groups,
                      int32_t *places)
{
    const pgi_problem *problem = &maximum->plan->problem;
    const pgi_axis *axis = &problem->axis[2];
    const pgi_unit *unit = maximum->unit;
    const int64_t lanes = unit->lanes, width = unit->end[2] - unit->begin[2];
    /* with first taps that are alike modulo the dilation, so far apart in places as well */
    const bool row = lanes == 1 && axis->stride % axis->dilation == 0;
    const uint32_t step = row ? (uint32_t)(axis->stride / axis->dilation) : 0;
    const int64_t cells = row ? width : lanes;
    int64_t done, i;

    for (done = 0; done < groups * lanes; done += cells, places += cells) {
        const int64_t window = done / lanes;
        const int64_t o[3] = {d, h + window / width, unit->begin[2] + window % width};
        const uint32_t origin = origin_of(problem, o);

        for (i = 0; i < cells; i++)
            places[i] = places[i] < 0
                            ? places[i]
                            : (int32_t)((uint32_t)places[i] - origin - (uint32_t)i * step);
    }
}

/* Groups of places to the indices from (d, h, begin of the tile's row) on. The places are of no use
 * any more. */
static void store_indices(const pgi_maximum *maximum, int64_t d, int64_t h, int64_t groups,
                          int32_t *places)
{
    const poolgrad_plan *plan = maximum->plan;
    const pgi_problem *problem = &plan->problem;
    const pgi_indexing *indexing = &problem->indexing;
    const pgi_tensor *tensor = &problem->indices;
    const pgi_unit *unit = maximum->unit;
    const int64_t lanes = unit->lanes, step = tensor->stride[PGI_SPATIAL + 2];
    const int64_t lane_step = tensor->stride[PGI_CHANNEL];
    const int64_t batch = unit->batch + problem->target.offset[PGI_BATCH];
    const int64_t channel = unit->channel + problem->target.offset[PGI_CHANNEL];
    const bool side_by_side = step == lanes && lane_step == 1;
    pgi_numbering numbering = {.origin = pgi_index_of_place(indexing, batch, channel, 0),
                               .origin_step = lanes == 1 ? 0 : indexing->channel_step,
                               .unit = indexing->unit};
    pgi_number_fn *number = plan->kernels.number[indexing->type - 1];
    char *row = maximum->indices +
                pgi_row_offset(tensor, d, h, unit->begin[2]) * (int64_t)problem->index_size;
    int64_t i;

    if (maximum->contest.tapped && !maximum->parts.direct)
        make_taps(maximum, d, h, groups, places);
    if (lanes == 1) {
        number(row, step, places, groups, &numbering, maximum->work->stream_inside);
    } else if (side_by_side && (numbering.origin_step == 0 || lanes < PGI_FULL_VECTOR)) {
        numbering.lanes = numbering.origin_step ? lanes : 0;
        number(row, 1, places, groups * lanes, &numbering, maximum->work->stream_inside);
    } else {
        for (i = 0; i < groups; i++)
            number(row + i * step * (int64_t)problem->index_size, lane_step, places + i * lanes,
                   lanes, &numbering, maximum->work->stream_inside);
    }
}

/* Rows from (d, h) on at once, if they lie in memory as they do here. */
static bool store_rows(const pgi_maximum *maximum, int64_t d, int64_t h, int64_t rows,
                       const char *values, int32_t *places)
{
    const poolgrad_plan *plan = maximum->plan;
    const pgi_unit *unit = maximum->unit;
    const int64_t width = unit->end[2] - unit->begin[2];

    if (plan->scale.beta != 0 || !rows_follow(&plan->problem.target, unit->lanes, width))
        return false;
    if (maximum->indices && !rows_follow(&plan->problem.indices, unit->lanes, width))
        return false;
    pgi_finish_row(plan, maximum->work, maximum->y, d, h, unit->begin[2], values, rows * width,
                   unit->lanes);
    if (maximum->indices && places)
        store_indices(maximum, d, h, rows * width, places);
    return true;
}

/* One row. */
static void store_row(const pgi_maximum *maximum, int64_t d, int64_t h, const char *values,
                      int32_t *places)
{
    const poolgrad_plan *plan = maximum->plan;
    const pgi_unit *unit = maximum->unit;
    const int64_t width = unit->end[2] - unit->begin[2];

    pgi_store_row(plan, maximum->work, maximum->y, d, h, unit->begin[2], width, unit->lanes,
                  values);
    if (maximum->indices && places)
        store_indices(maximum, d, h, width, places);
}

/* One row of a contest, with windows that cover nothing. */
static void store_winners(const pgi_maximum *maximum, int64_t d, int64_t h)
{
    const poolgrad_plan *plan = maximum->plan;
    const pgi_contest *contest = &maximum->contest;
    const pgi_unit *unit = maximum->unit;
    const pgi_range *windows = contest->windows;
    const size_t real = plan->kernels.real;
    const pgi_bout nothing = {
        .rows = 1, .places = unit->end[2] - unit->begin[2], .lanes = unit->lanes};
    const bool found = !contest->empty && d >= windows[0].begin && d < windows[0].end &&
                       h >= windows[1].begin && h < windows[1].end;
    const int64_t at =
        ((d - windows[0].begin) * (windows[1].end - windows[1].begin) + h - windows[1].begin) *
        contest->pitch;
    const int64_t before = (windows[2].begin - unit->begin[2]) * unit->lanes;
    char *values = contest->workspace + maximum->parts.values;
    int32_t *places = (int32_t *)(void *)(contest->workspace + maximum->parts.places);

    if (found && contest->pitch == nothing.places * unit->lanes) { /* all do */
        values = contest->values + (size_t)at * real;
        places = maximum->indices ? contest->places + at : NULL;
    } else {
        plan->kernels.contest(values, places, values, places, &nothing);
    }
    if (found && contest->pitch < nothing.places * unit->lanes)
        memcpy(values + (size_t)before * real, contest->values + (size_t)at * real,
               (size_t)contest->pitch * real);
    if (found && contest->pitch < nothing.places * unit->lanes && maximum->indices)
        memcpy(places + before, contest->places + at, (size_t)contest->pitch * sizeof *places);
    store_row(maximum, d, h, values, places);
}

/* Whether what a tap adds to the index of the first one of its window fits in 31 bits. */
static bool can_name(const pgi_problem *problem)
{
    const pgi_indexing *indexing = &problem->indexing;
    int64_t pitch = indexing->unit, last = 0, reach;
    int i;

    for (i = 2; i >= 0; i--) {
        const pgi_axis *axis = &problem->axis[i];

        if (axis->adaptive || !pgi_mul((axis->kernel - 1) * axis->dilation, pitch, &reach) ||
            !pgi_add(last, reach, &last) || !pgi_mul(pitch, axis->in, &pitch))
            return false;
    }
    return !indexing->column_major && last <= INT32_MAX;
}

/* Whether winners can be written straight to memory, as they are, and their taps become indices. */
static bool can_list(const pgi_problem *problem, int64_t lanes)
{
    return lanes * (int64_t)problem->element_size >= PGI_LINE_BYTES &&
           pgi_taps_are_bytes(problem->gather) && problem->target.stride[PGI_CHANNEL] == 1 &&
           problem->desc.alpha == 1 && problem->desc.beta == 0 &&
           (!problem->has_indices ||
            (problem->indices.stride[PGI_CHANNEL] == 1 &&
             (problem->indexing.type == POOLGRAD_U8 || can_name(problem))));
}

/* How the taps of windows from (d, h, begin of the tile's row) on become indices. */
static pgi_naming naming_of(const pgi_maximum *maximum, int64_t d, int64_t h)
{
    const pgi_problem *problem = &maximum->plan->problem;
    const pgi_indexing *indexing = &problem->indexing;
    const pgi_axis *axis = problem->axis;
    const pgi_unit *unit = maximum->unit;
    const int64_t o[3] = {d, h, unit->begin[2]}, window = indexing->window ? 0 : indexing->unit;
    int64_t pitch[3] = {axis[1].in * axis[2].in * window, axis[2].in * window, window}, i;
    pgi_naming naming = {.windows = unit->end[2] - unit->begin[2],
                         .lanes = unit->lanes,
                         .step = problem->indices.stride[PGI_SPATIAL + 2],
                         .window_step = axis[2].stride * window,
                         .by_columns = (uint32_t)pgi_ceil_div(1 << 16, axis[2].kernel),
                         .by_rows = (uint32_t)pgi_ceil_div(1 << 16, axis[1].kernel),
                         .column = 1};

    if (indexing->window)
        return naming;
    naming.origin = pgi_index_of_place(indexing, unit->batch + problem->target.offset[PGI_BATCH],
                                       unit->channel + problem->target.offset[PGI_CHANNEL], 0);
    naming.lane_step = indexing->channel_step;
    for (i = 0; i < 3; i++) {
        naming.origin += pgi_axis_taps(&axis[i], o[i]).first * pitch[i];
        pitch[i] = axis[i].kernel > 1 ? pitch[i] * axis[i].dilation : 0;
    }
    naming.column = (uint32_t)pitch[2];
    naming.row = (uint32_t)(pitch[1] - axis[2].kernel * pitch[2]);
    if (axis[0].kernel > 1)
        naming.plane = (uint32_t)(pitch[0] - axis[1].kernel * pitch[1]);
    return naming;
}

/* Rows from (d, h) on; false if they are to be found in another way. */
static bool list_rows(pgi_maximum *maximum, int64_t d, int64_t h, int64_t rows)
{
    const pgi_problem *problem = &maximum->plan->problem;
    const pgi_unit *unit = maximum->unit;
    const pgi_tensor *y = &problem->target, *indices = &problem->indices;
    const int64_t w = unit->begin[2], width = unit->end[2] - w;
    const int64_t *stride = y->stride + PGI_SPATIAL;
    const int64_t size = (int64_t)problem->element_size, index = (int64_t)problem->index_size;
    pgi_lists lists = {.winners = maximum->y + pgi_row_offset(y, d, h, w) * size,
                       .step = stride[2],
                       .row = stride[1],
                       .stream = maximum->work->stream_inside};
    bool found;
    int64_t r;

    if (maximum->indices && index == 1) {
        lists.taps = (uint8_t *)maximum->indices + pgi_row_offset(indices, d, h, w);
        lists.tap_step = indices->stride[PGI_SPATIAL + 2];
        lists.tap_row = indices->stride[PGI_SPATIAL + 1];
        lists.stream_taps = lists.stream;
    } else if (maximum->indices) {
        lists.taps = (uint8_t *)maximum->arena.workspace + maximum->parts.taps;
        lists.tap_step = unit->lanes;
        lists.tap_row = width * unit->lanes;
    }
    found = pgi_arena_lists(&maximum->arena, d, h, rows, &lists);
    for (r = 0; found && maximum->indices && index > 1 && r < rows; r++) {
        const pgi_naming naming = naming_of(maximum, d, h + r);

        maximum->plan->kernels.name[problem->indexing.type - 1](
            maximum->indices + pgi_row_offset(indices, d, h + r, w) * index,
            lists.taps + r * lists.tap_row, &naming, lists.stream);
    }
    return found;
}

/* Rows of windows of few taps, from (d, h) on, are found and stored. */
static void run_rows(pgi_maximum *maximum, int64_t d, int64_t h, int64_t end)
{
    const pgi_unit *unit = maximum->unit;
    const size_t real = maximum->plan->kernels.real;
    const int64_t cells = (unit->end[2] - unit->begin[2]) * unit->lanes;
    char *values = maximum->arena.workspace + maximum->parts.values;
    int32_t *places = maximum->indices
                          ? (int32_t *)(void *)(maximum->arena.workspace + maximum->parts.places)
                          : NULL;
    int64_t rows, r;

    for (; h < end; h += rows) {
        rows = pgi_min(maximum->parts.rows, end - h);
        pgi_arena_rows(&maximum->arena, d, h, rows, values, places);
        if (store_rows(maximum, d, h, rows, values, places))
            continue;
        for (r = 0; r < rows; r++)
            store_row(maximum, d, h + r, values + (size_t)(r * cells) * real,
                      places ? places + r * cells : NULL);
    }
}

/* Windows of few taps. */
static void run_direct(pgi_maximum *maximum, const char *x)
{
    const pgi_unit *unit = maximum->unit;
    const bool lists =
        maximum->parts.lists && (!maximum->indices || maximum->parts.names ||
                                 maximum->plan->problem.indexing.type == POOLGRAD_U8);
    int64_t d, h, end;

    pgi_arena_enter(&maximum->arena, x, unit->lanes);
    for (d = unit->begin[0]; d < unit->end[0]; d++) {
        for (h = unit->begin[1]; h < unit->end[1]; h = end) {
            end = lists ? pgi_min(h + LISTED_ROWS, unit->end[1]) : unit->end[1];
            if (!lists || !list_rows(maximum, d, h, end - h))
                run_rows(maximum, d, h, end);
        }
    }
}

/* Winners of adaptive windows become taps: each has its own first tap, and its own number of them.
 */
static void name_adaptive(const pgi_maximum *maximum)
{
    const pgi_contest *contest = &maximum->contest;
    const pgi_axis *axis = maximum->plan->problem.axis;
    const pgi_range *windows = contest->windows;
    const int64_t width = pgi_length(windows[2]), lanes = contest->lanes;
    int32_t *first = (int32_t *)(void *)(contest->workspace + maximum->parts.first);
    int32_t *columns = first + width, *places = contest->places;
    pgi_frame frame = {.width = (int32_t)axis[2].in,
                       .height = (int32_t)axis[1].in,
                       .planes = (int32_t)axis[0].in,
                       .per_column = 1.0 / (double)axis[2].in,
                       .per_row = 1.0 / (double)axis[1].in};
    int64_t d, h, i;

    for (i = 0; i < width; i++) {
        const pgi_run taps = pgi_axis_taps(&axis[2], windows[2].begin + i);

        first[i] = (int32_t)taps.first;
        columns[i] = (int32_t)taps.count;
    }
    for (d = windows[0].begin; d < windows[0].end; d++) {
        for (h = windows[1].begin; h < windows[1].end; h++, places += contest->pitch) {
            const pgi_run rows = pgi_axis_taps(&axis[1], h);

            frame.first[0] = (int32_t)pgi_axis_taps(&axis[0], d).first;
            frame.first[1] = (int32_t)rows.first;
            frame.rows = (int32_t)rows.count;
            if (lanes == 1)
                name_cells(&frame, places, width, first, columns, 1);
            for (i = 0; lanes > 1 && i < width; i++)
                name_cells(&frame, places + i * lanes, lanes, first + i, columns + i, 0);
        }
    }
}

/* All winners of a contest in the unit's lanes. */
static void store_contest(const pgi_maximum *maximum)
{
    const pgi_contest *contest = &maximum->contest;
    const pgi_unit *unit = maximum->unit;
    const int64_t rows = unit->end[1] - unit->begin[1];
    bool whole = true;
    int64_t d, h;
    int i;

    for (i = 0; i < 3; i++)
        whole &=
            contest->windows[i].begin == unit->begin[i] && contest->windows[i].end == unit->end[i];
    for (d = unit->begin[0]; d < unit->end[0]; d++) {
        const int64_t at = (d - unit->begin[0]) * rows * contest->pitch;

        if (!whole || contest->empty ||
            !store_rows(maximum, d, unit->begin[1], rows,
                        contest->values + (size_t)at * maximum->plan->kernels.real,
                        contest->places ? contest->places + at : NULL))
            for (h = unit->begin[1]; h < unit->end[1]; h++)
                store_winners(maximum, d, h);
    }
}

/* Where the unit's y and indices begin. */
static void set_memory(pgi_maximum *maximum, const pgi_unit *unit)
{
    const pgi_problem *problem = &maximum->plan->problem;
    const pgi_work *work = maximum->work;

    maximum->unit = unit;
    maximum->y = (char *)pgi_unit_memory(problem, &problem->target, unit, work->target,
                                         problem->element_size);
    if (work->indices_out)
        maximum->indices = (char *)pgi_unit_memory(problem, &problem->indices, unit,
                                                   work->indices_out, problem->index_size);
}

/* Larger ones: a contest. */
static void run_contest(pgi_maximum *maximum, const char *x)
{
    pgi_contest *contest = &maximum->contest;
    const bool apart = contest->layout->apart;
    const int64_t channels = apart ? maximum->unit->lanes : 1;
    pgi_unit unit = *maximum->unit;
    int64_t c;

    pgi_contest_run(contest, x, unit.lanes, maximum->indices != NULL);
    if (maximum->indices && maximum->plan->problem.indexing.window && !contest->tapped &&
        !contest->empty)
        name_adaptive(maximum);
    if (apart) {
        pgi_contest_separate(contest);
        unit.lanes = 1;
    }
    for (c = 0; c < channels; c++, unit.channel++) {
        set_memory(maximum, &unit);
        store_contest(maximum);
        contest->values += (size_t)contest->lane_pitch * contest->layout->real;
        if (contest->places)
            contest->places += contest->lane_pitch;
    }
}

static void run_unit(void *context, const pgi_unit *unit, bool new_tile)
{
    pgi_maximum *maximum = context;
    const pgi_problem *problem = &maximum->plan->problem;
    const pgi_box plane = {.end = {problem->axis[0].in, problem->axis[1].in, problem->axis[2].in},
                           .per_place = 1,
                           .column_major = problem->indexing.column_major};
    const char *x = pgi_unit_memory(problem, &problem->source, unit, maximum->work->source,
                                    problem->element_size);

    if (new_tile && maximum->parts.direct)
        pgi_arena_region(&maximum->arena, unit->begin, unit->end, &plane);
    else if (new_tile)
        pgi_contest_region(&maximum->contest, unit->begin, unit->end, &plane);
    set_memory(maximum, unit);
    if (maximum->parts.direct)
        run_direct(maximum, x);
    else
        run_contest(maximum, x);
}

static bool applicable(const pgi_problem *problem)
{
    return problem->desc.op == POOLGRAD_MAX && pgi_places_fit(problem);
}

static int64_t measure(const pgi_problem *problem, const pgi_tiling *tiling, pgi_parts *parts)
{
    const int64_t real = (int64_t)pgi_compute_size(problem->desc.dtype);
    pgi_placement at = {0, true};
    int64_t cells;

    parts->rows = 1;
    parts->lists = parts->names = false;
    parts->direct =
        pgi_arena_suits(problem->gather, tiling->extent[2], tiling->lanes, &problem->source) &&
        pgi_mul(tiling->extent[2], tiling->lanes, &cells);
    if (parts->direct) {
        parts->arena =
            pgi_arena_measure(problem->gather, tiling->extent, tiling->lanes, (size_t)real, &at);
        parts->rows = pgi_max(1, pgi_min(tiling->extent[1], CHUNK_CELLS / cells));
        /* all taps at once are more work than layers: 3x3x3s2 NXC f32 2.1 to 2.4 ms */
        parts->lists = !parts->arena.layered && can_list(problem, tiling->lanes);
        /* which pays where elements are narrow: 3x3s2 NXC f32 1.62 to 1.68 ms */
        parts->names = parts->lists && problem->has_indices && problem->index_size > 1 &&
                       problem->element_size == 2;
        if (parts->names)
            parts->taps =
                pgi_place(&at, pgi_min(tiling->extent[1], LISTED_ROWS), cells, 1, sizeof(uint8_t));
    } else {
        const bool apart = tiling->lanes > 1 && !pgi_channels_inside(&problem->target);

        if (!pgi_contest_measure(problem->gather, tiling->extent, tiling->lanes, apart,
                                 problem->desc.dtype, &parts->contest))
            return -1;
        at.end = (int64_t)parts->contest.bytes;
        parts->first = pgi_place(&at, 2, tiling->extent[2], 1, sizeof(int32_t));
    }
    parts->values = pgi_place(&at, parts->rows, tiling->extent[2], tiling->lanes, real);
    pgi_place(&at, 1, 1, PGI_OVERREAD, real);
    parts->places = pgi_place(&at, parts->rows, tiling->extent[2], tiling->lanes, sizeof(int32_t));
    return at.fits ? at.end : -1;
}

static int64_t lay_out(const pgi_problem *problem, const pgi_tiling *tiling, size_t room[PGI_ROOMS])
{
    pgi_parts parts;

    (void)room;
    return measure(problem, tiling, &parts);
}

static bool prepare(poolgrad_plan *plan)
{
    return pgi_plan_tile_lanes(plan, lay_out,
                               pgi_contest_lanes(plan->problem.gather, &plan->problem));
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    pgi_maximum maximum = {.plan = plan,
                           .work = work,
                           .contest = {.plan = plan,
                                       .tapped = pgi_counts_taps(&plan->problem),
                                       .taps = plan->problem.gather,
                                       .tensor = &plan->problem.source,
                                       .workspace = workspace},
                           .arena = {.plan = plan,
                                     .taps = plan->problem.gather,
                                     .tapped = plan->problem.indexing.window,
                                     .tensor = &plan->problem.source,
                                     .workspace = workspace}};

    measure(&plan->problem, &plan->tiling, &maximum.parts);
    maximum.contest.layout = &maximum.parts.contest;
    maximum.arena.layout = &maximum.parts.arena;
    pgi_each_unit(plan, begin, end, run_unit, &maximum);
}

const pgi_strategy pgi_strategy_sliding_max = {
    .name = "sliding_max",
    .reason = "finds every maximum at a cost that grows at most with the logarithm of the window",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = pgi_describe_tiles,
};
