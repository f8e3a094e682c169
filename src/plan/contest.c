/* SPDX-License-Identifier: MIT */
#include "plan/contest.h"

#include "core/dtype.h"
#include "core/integer.h"
#include "plan/rows.h"

#include <string.h>

/* ------------------------------------------------------------------ region */

static int32_t *numbers(const pgi_contest *contest, size_t offset)
{
    return (int32_t *)(void *)(contest->workspace + offset);
}

/* The position in the input that a position of an extended axis is, or is a copy of: the nearest
 * that a window of its taps covers. */
static int64_t original(const pgi_contest *contest, int axis, int64_t p)
{
    const pgi_gather *taps = &contest->taps[axis];
    const pgi_range held = contest->held[axis];

    if (p < 0)
        p += pgi_ceil_div(-p, taps->q) * taps->q;
    else if (p >= taps->axis.in)
        p -= pgi_ceil_div(p - taps->axis.in + 1, taps->q) * taps->q;
    /* what is still outside is between windows: no matter which */
    return pgi_min(pgi_max(p, held.begin), held.end - 1);
}

/* Windows that cover something, and their positions; of an axis that is not regular, all. */
static void set_windows(pgi_contest *contest, int i, int64_t begin, int64_t end)
{
    const pgi_gather *taps = &contest->taps[i];
    const pgi_axis *axis = &taps->axis;
    pgi_range *windows = &contest->windows[i], *extended = &contest->extended[i];

    *windows = (pgi_range){begin, end};
    if (!contest->layout->axis[i].regular) {
        *extended = contest->held[i] = pgi_gather_reach(taps, begin, end);
        contest->empty |= pgi_length(*extended) == 0;
        return;
    }
    windows->begin = pgi_max(
        begin, pgi_ceil_div(axis->pad_lo - (axis->kernel - 1) * axis->dilation, axis->stride));
    windows->end = pgi_min(end, pgi_floor_div(axis->in - 1 + axis->pad_lo, axis->stride) + 1);
    if (windows->begin >= windows->end) {
        *windows = (pgi_range){begin, begin};
        contest->empty = true;
        return;
    }
    extended->begin = windows->begin * axis->stride - axis->pad_lo;
    extended->end =
        (windows->end - 1) * axis->stride - axis->pad_lo + (axis->kernel - 1) * axis->dilation + 1;
    contest->held[i] = (pgi_range){pgi_max(extended->begin, 0), pgi_min(extended->end, axis->in)};
}

static bool within(const pgi_box *box, int axis, int64_t p)
{
    return p >= box->begin[axis] && p < box->end[axis];
}

/* What a position of an axis counts. All taps of a window have one remainder by the distance
 * between them. */
static int64_t counted(const pgi_contest *contest, int axis, int64_t p)
{
    int64_t step = 1;
    int i;

    if (!contest->tapped)
        return (p - contest->box.begin[axis]) * pgi_box_step(&contest->box, axis);
    for (i = axis + 1; i < 3; i++)
        step *= contest->taps[i].axis.kernel;
    return pgi_floor_div(p, contest->taps[axis].q) * step;
}

/* The first place of every row that is held. */
static void set_bases(const pgi_contest *contest)
{
    const pgi_box *box = &contest->box;
    int32_t *base = numbers(contest, contest->layout->base);
    int64_t d, h;

    for (d = contest->held[0].begin; d < contest->held[0].end; d++)
        for (h = contest->held[1].begin; h < contest->held[1].end; h++)
            *base++ = within(box, 0, d) && within(box, 1, h)
                          ? (int32_t)(counted(contest, 0, d) + counted(contest, 1, h))
                          : PGI_NOWHERE;
}

static const int32_t *contenders_of(const pgi_contest *contest, int j)
{
    const pgi_spans *spans = &contest->layout->axis[2];
    const int64_t most = pgi_max(spans->passes > 1 ? spans->reach : 0, spans->targets);
    const int64_t cells = contest->layout->joined ? contest->layout->lanes : 1;

    return numbers(contest, contest->layout->contender) + j * (most * cells + PGI_SLACK);
}

/* Offset, in taps, of the j-th contender of a regular axis' pass. */
static int64_t tap_of(const pgi_spans *spans, int pass, int j)
{
    return pgi_min(j * spans->span[pass], spans->span[pass + 1] - spans->span[pass]);
}

static int contenders_in(const pgi_spans *spans, int pass)
{
    return (int)pgi_ceil_div(spans->span[pass + 1], spans->span[pass]);
}

/* Columns of the positions along W, and of the contenders of the first pass: of groups, or of cells
 * where lanes are joined. */
static void set_columns(const pgi_contest *contest)
{
    const pgi_spans *spans = &contest->layout->axis[2];
    const pgi_range extended = contest->extended[2], held = contest->held[2];
    const pgi_gather *taps = &contest->taps[2];
    int32_t *position = numbers(contest, contest->layout->position);
    int32_t *copied = numbers(contest, contest->layout->copied);
    const int64_t step = spans->passes > 1 ? 1 : taps->axis.stride;
    const int64_t count =
        spans->passes > 1 ? pgi_length(extended) : pgi_length(contest->windows[2]);
    const int64_t cells = contest->joined;
    int64_t p, i, lane;
    int j;

    for (p = extended.begin; p < extended.end; p++) {
        const int64_t from = original(contest, 2, p);

        *position++ =
            within(&contest->box, 2, from) ? (int32_t)counted(contest, 2, from) : PGI_NOWHERE;
        if (p < held.begin || p >= held.end)
            *copied++ = (int32_t)(from - extended.begin);
    }
    position = numbers(contest, contest->layout->position);
    for (j = 0; spans->regular && !spans->swept && j < contenders_in(spans, 0); j++) {
        const int64_t tap = tap_of(spans, 0, j) * taps->q;
        int32_t *column = numbers(contest, contest->layout->contender) +
                          (contenders_of(contest, j) - contenders_of(contest, 0));

        for (i = 0; i < count; i++)
            for (lane = 0; lane < cells; lane++)
                *column++ = position[pgi_min(i * step + tap, pgi_length(extended) - 1)];
    }
}

void pgi_contest_region(pgi_contest *contest, const int64_t begin[3], const int64_t end[3],
                        const pgi_box *box)
{
    int i;

    contest->box = *box;
    contest->empty = false;
    for (i = 0; i < 3; i++)
        set_windows(contest, i, begin[i], end[i]);
    if (contest->empty)
        return;
    set_bases(contest);
    contest->joined = 1;
    set_columns(contest);
}

/* --------------------------------------------------------------------- run */

typedef struct pgi_cells_at {
    char *values;
    int32_t *places; /* NULL: not wanted */
} pgi_cells_at;

static pgi_cells_at cells_at(const pgi_contest *contest, pgi_candidates room, int64_t cell)
{
    pgi_cells_at at = {contest->workspace + room.values + (size_t)cell * contest->layout->real,
                       NULL};

    if (contest->places)
        at.places = numbers(contest, room.places) + cell;
    return at;
}

static pgi_cells_at advanced(const pgi_contest *contest, pgi_cells_at at, int64_t cells)
{
    at.values += cells * (int64_t)contest->layout->real;
    if (at.places)
        at.places += cells;
    return at;
}

/* The rule of comparisons: the plain one while no NaN has been seen. */
static pgi_rule rule_of(const pgi_contest *contest)
{
    const poolgrad_nan nan = contest->plan->problem.desc.nan;

    return !contest->nan               ? PGI_RULE_PLAIN
           : nan == POOLGRAD_NAN_FIRST ? PGI_RULE_FIRST
           : nan == POOLGRAD_NAN_LAST  ? PGI_RULE_LAST
                                       : PGI_RULE_SKIP;
}

static void hold(const pgi_contest *contest, pgi_cells_at to, pgi_cells_at from, pgi_bout *bout)
{
    bout->rule = rule_of(contest);
    if (!bout->columns && bout->step == 1 && bout->to_row == bout->places * bout->lanes &&
        bout->from_row == bout->to_row) { /* rows without gaps are one */
        bout->places *= bout->rows;
        bout->rows = 1;
    }
    contest->plan->kernels.contest(to.values, to.places, from.values, from.places, bout);
}

/* Contenders `cells` apart per tap: those of a pass, or those of a run among doubled spans. */
static void set_pass(pgi_bout *bout, const pgi_spans *spans, int pass, int64_t cells)
{
    int j;

    bout->count = contenders_in(spans, pass);
    for (j = 0; j < bout->count; j++)
        bout->offset[j] = tap_of(spans, pass, j) * cells;
}

static int set_run(pgi_bout *bout, const pgi_spans *spans, pgi_run run, int64_t q, int64_t cells)
{
    int level = 0, j;

    bout->count = (int)pgi_min(run.count, PGI_CONTENDERS);
    if (spans->passes > 0 && run.count > 1) {
        level = pgi_log2(run.count);
        bout->count = 2;
    }
    for (j = 0; j < bout->count; j++)
        bout->offset[j] =
            (run.first + (level ? j * (run.count - (INT64_C(1) << level)) : j) * q) * cells;
    return level;
}

/* From window to window and from tap to tap, if there is more than one: the stride of a single
 * window and the dilation of a single tap may be any number. */
static int64_t stride_between(const pgi_gather *taps, pgi_range windows)
{
    return pgi_length(windows) > 1 ? taps->axis.stride : 1;
}

static int64_t tap_distance(const pgi_gather *taps)
{
    return taps->axis.kernel > 1 ? taps->q : 1;
}

/* Reduces rows along an axis in one pass: sources are what exists of it, positions of `cells` cells
 * side by side, and so are targets. */
static void sweep(const pgi_contest *contest, int axis, int64_t cells, pgi_sweep rows,
                  pgi_cells_at to, pgi_cells_at from)
{
    const pgi_gather *taps = &contest->taps[axis];
    const pgi_range extended = contest->extended[axis], held = contest->held[axis];

    rows.windows = pgi_length(contest->windows[axis]);
    rows.taps = taps->axis.kernel;
    rows.stride = stride_between(taps, contest->windows[axis]);
    rows.begin = held.begin - extended.begin;
    rows.end = held.end - extended.begin;
    rows.cells = cells;
    rows.rule = rule_of(contest);
    contest->plan->kernels.sweep(to.values, to.places, from.values, from.places, &rows);
}

/* Reduces axis 0 or 1: sources are `rows` rows of `cells` cells each, without gaps, and so are
 * targets but for their rows, which are `pitch` apart. `kept` is where the sources are, and spans
 * of them after that. */
static void reduce(const pgi_contest *contest, int axis, const pgi_candidates *kept, int64_t rows,
                   int64_t cells, pgi_cells_at to, int64_t pitch)
{
    const pgi_spans *spans = &contest->layout->axis[axis];
    const pgi_gather *taps = &contest->taps[axis];
    const pgi_range windows = contest->windows[axis];
    const int64_t unit = rows * cells, sources = pgi_length(contest->extended[axis]);
    const int64_t stride = stride_between(taps, windows);
    pgi_cells_at from = cells_at(contest, kept[0], 0);
    pgi_bout bout = {.rows = 1, .lanes = 1, .step = 1, .to_row = pitch, .from_row = cells};
    int64_t o;
    int pass;

    if (spans->swept) {
        sweep(contest, axis, unit, (pgi_sweep){.rows = 1}, to,
              advanced(contest, from,
                       (contest->held[axis].begin - contest->extended[axis].begin) * unit));
        return;
    }
    for (pass = 0; pass < spans->passes - spans->regular; pass++) {
        const int64_t span = spans->regular ? spans->span[pass + 1] : INT64_C(2) << pass;
        pgi_cells_at made = cells_at(contest, kept[spans->regular ? 1 + pass % 2 : pass + 1], 0);

        bout.places = (sources - (span - 1) * taps->q) * unit;
        if (spans->regular) {
            set_pass(&bout, spans, pass, tap_distance(taps) * unit);
        } else {
            bout.count = 2;
            bout.offset[1] = (taps->q << pass) * unit;
        }
        if (bout.places > 0)
            hold(contest, made, from, &bout);
        from = made;
    }
    bout.places = cells;
    bout.rows = rows;
    if (spans->regular) {
        set_pass(&bout, spans, pass, tap_distance(taps) * unit);
        if (rows == 1) {
            bout.rows = pgi_length(windows);
            bout.from_row = stride * cells;
            hold(contest, to, from, &bout);
            return;
        }
    }
    for (o = windows.begin; o < windows.end; o++) {
        if (!spans->regular) {
            pgi_run run = pgi_gather_run(taps, o);

            run.first -= contest->extended[axis].begin;
            from = cells_at(contest, kept[set_run(&bout, spans, run, taps->q, unit)], 0);
        }
        hold(contest, to, from, &bout);
        to = advanced(contest, to, rows * pitch);
        if (spans->regular)
            from = advanced(contest, from, stride * unit);
    }
}

/* Reduces admitted rows along W, the first of which has this base. */
static void reduce_columns(const pgi_contest *contest, int64_t rows, const int32_t *base,
                           pgi_cells_at to, int64_t pitch)
{
    const pgi_contest_layout *layout = contest->layout;
    const pgi_spans *spans = &layout->axis[2];
    const pgi_gather *taps = &contest->taps[2];
    const pgi_range windows = contest->windows[2];
    const int64_t lanes = contest->lanes, sources = pgi_length(contest->extended[2]);
    const int32_t *position = numbers(contest, layout->position), *columns[PGI_CONTENDERS];
    pgi_cells_at from = {contest->workspace + layout->admitted, NULL};
    pgi_bout bout = {.rows = rows,
                     .lanes = lanes,
                     .step = 1,
                     .to_row = sources * lanes,
                     .from_row = sources * lanes,
                     .columns = columns,
                     .base = base};
    int64_t o;
    int pass, j;

    if (spans->swept) {
        const pgi_sweep all = {.rows = rows,
                               .to_row = pitch,
                               .from_row = pgi_length(contest->held[2]) * lanes,
                               .position = position,
                               .base = base};

        sweep(contest, 2, lanes, all, to, from);
        return;
    }
    for (j = 0; spans->regular && j < contenders_in(spans, 0); j++)
        columns[j] = contenders_of(contest, j);
    for (pass = 0; pass < spans->passes - spans->regular; pass++) {
        const int64_t span = spans->regular ? spans->span[pass + 1] : INT64_C(2) << pass;
        pgi_cells_at made = cells_at(contest, layout->columns[spans->regular ? pass % 2 : pass], 0);

        bout.places = sources - (span - 1) * taps->q;
        if (spans->regular) {
            set_pass(&bout, spans, pass, tap_distance(taps) * lanes);
        } else {
            bout.count = 2;
            bout.offset[1] = (taps->q << pass) * lanes;
            columns[0] = position;
            columns[1] = position + taps->q;
        }
        if (pass > 0 || layout->joined) { /* places are in the cells, or known for every cell */
            bout.places *= lanes;
            bout.lanes = 1;
        }
        if (bout.places > 0)
            hold(contest, made, from, &bout);
        bout.columns = NULL;
        from = made;
    }
    bout.lanes = lanes;
    bout.to_row = pitch;
    if (spans->regular) {
        set_pass(&bout, spans, pass, tap_distance(taps) * lanes);
        bout.step = stride_between(taps, windows);
        bout.places = pgi_length(windows);
        if (bout.step == 1 && (pass > 0 || layout->joined)) {
            bout.places *= lanes;
            bout.lanes = 1;
        }
        hold(contest, to, from, &bout);
        return;
    }
    bout.places = 1;
    bout.exact = true; /* window by window, every row */
    for (o = windows.begin; o < windows.end; o++) {
        pgi_run run = pgi_gather_run(taps, o);
        int level;

        run.first -= contest->extended[2].begin;
        level = set_run(&bout, spans, run, taps->q, lanes);
        bout.columns = level ? NULL : columns;
        for (j = 0; j < bout.count && !level; j++)
            columns[j] = position + run.first + j * taps->q;
        from = level ? cells_at(contest, layout->columns[level - 1], 0)
                     : (pgi_cells_at){contest->workspace + layout->admitted, NULL};
        hold(contest, to, from, &bout);
        to = advanced(contest, to, lanes);
    }
}

/* Copies what lies beyond the ends of axis 0 or 1. */
static void extend(const pgi_contest *contest, int axis, pgi_candidates room, int64_t cells)
{
    const pgi_range extended = contest->extended[axis], held = contest->held[axis];
    int64_t p;

    if (contest->layout->axis[axis].swept)
        return;
    for (p = extended.begin; p < extended.end; p++) {
        pgi_cells_at from, to;

        if (p == held.begin)
            p = held.end;
        if (p == extended.end)
            break;
        from = cells_at(contest, room, (original(contest, axis, p) - extended.begin) * cells);
        to = cells_at(contest, room, (p - extended.begin) * cells);
        memcpy(to.values, from.values, (size_t)cells * contest->layout->real);
        if (to.places)
            memcpy(to.places, from.places, (size_t)cells * sizeof(int32_t));
    }
}

/* Plane d of x: along W, and then along H. */
static void run_plane(pgi_contest *contest, const char *x, int64_t d, pgi_cells_at to,
                      int64_t pitch)
{
    const pgi_contest_layout *layout = contest->layout;
    const pgi_tensor *tensor = contest->tensor;
    const bool direct = layout->axis[1].nothing;
    const pgi_range held = contest->held[1];
    const int64_t cells = pgi_length(contest->windows[2]) * contest->lanes;
    const int64_t size = (int64_t)contest->plan->problem.element_size;
    pgi_entry entry = {.row_step = tensor->stride[PGI_SPATIAL + 1],
                       .places = pgi_length(contest->held[2]),
                       .step = tensor->stride[PGI_SPATIAL + 2],
                       .lanes = contest->lanes,
                       .lane_step = tensor->stride[PGI_CHANNEL],
                       .before = contest->held[2].begin - contest->extended[2].begin,
                       .after = contest->extended[2].end - contest->held[2].end,
                       .copied = numbers(contest, layout->copied)};
    const int32_t *base =
        numbers(contest, layout->base) + (d - contest->held[0].begin) * pgi_length(held);
    pgi_cells_at rows = to;
    int64_t h;

    if (layout->axis[2].swept)
        entry.before = entry.after = 0;
    if (!direct)
        rows =
            cells_at(contest, layout->rows[0], (held.begin - contest->extended[1].begin) * cells);
    for (h = held.begin; h < held.end; h += entry.rows) {
        entry.rows = pgi_min(layout->chunk, held.end - h);
        contest->nan |= contest->plan->kernels.admit(
            contest->workspace + layout->admitted,
            x + pgi_row_offset(tensor, d, h, contest->held[2].begin) * size, &entry);
        reduce_columns(contest, entry.rows, base + (h - held.begin), rows, direct ? pitch : cells);
        rows = advanced(contest, rows, entry.rows * (direct ? pitch : cells));
    }
    if (!direct) {
        extend(contest, 1, layout->rows[0], cells);
        reduce(contest, 1, layout->rows, 1, cells, to, pitch);
    }
}

/* By the rule LEADING a NaN wins where it is the window's first tap inside the input, which the
 * contest has skipped. */
static void let_leading_nan_win(const pgi_contest *contest, const char *x)
{
    const pgi_problem *problem = &contest->plan->problem;
    const pgi_tensor *tensor = contest->tensor;
    const int64_t size = (int64_t)problem->element_size;
    const int32_t *position = numbers(contest, contest->layout->position);
    const int32_t *base = numbers(contest, contest->layout->base);
    pgi_cells_at row = {contest->values, contest->places};
    int64_t o[3], at[3], lane;

    for (o[0] = contest->windows[0].begin; o[0] < contest->windows[0].end; o[0]++) {
        for (o[1] = contest->windows[1].begin; o[1] < contest->windows[1].end; o[1]++) {
            for (o[2] = contest->windows[2].begin; o[2] < contest->windows[2].end; o[2]++) {
                const pgi_cells_at group =
                    advanced(contest, row, (o[2] - contest->windows[2].begin) * contest->lanes);
                bool covers = true;
                int i;

                for (i = 0; i < 3; i++) {
                    covers = covers && pgi_axis_covers(&problem->axis[i], o[i]);
                    if (covers)
                        at[i] = pgi_axis_first_tap(&problem->axis[i], o[i]);
                }
                for (lane = 0; covers && lane < contest->lanes; lane++) {
                    const char *tap = x + (pgi_row_offset(tensor, at[0], at[1], at[2]) +
                                           lane * tensor->stride[PGI_CHANNEL]) *
                                              size;

                    if (!pgi_is_nan(problem->desc.dtype, tap))
                        continue;
                    contest->plan->kernels.widen(advanced(contest, group, lane).values, tap, 1, 1);
                    if (group.places)
                        group.places[lane] =
                            base[(at[0] - contest->held[0].begin) * pgi_length(contest->held[1]) +
                                 at[1] - contest->held[1].begin] +
                            position[at[2] - contest->extended[2].begin];
                }
            }
            row = advanced(contest, row, contest->pitch);
        }
    }
}

void pgi_contest_run(pgi_contest *contest, const char *x, int64_t lanes, bool placed)
{
    const pgi_contest_layout *layout = contest->layout;
    const bool direct = layout->axis[0].nothing;
    const int64_t rows = pgi_length(contest->windows[1]);
    const int64_t cells = pgi_length(contest->windows[2]) * lanes;
    pgi_cells_at winners, to;
    int64_t d, pitch;

    contest->lanes = lanes;
    if (layout->joined && contest->joined != lanes && !contest->empty) {
        contest->joined = lanes;
        set_columns(contest);
    }
    contest->pitch = cells;
    contest->places = placed ? numbers(contest, layout->winners.places) : NULL;
    contest->nan = false;
    winners = to = cells_at(contest, layout->winners, 0);
    contest->values = winners.values;
    contest->places = winners.places;
    pitch = direct ? contest->pitch : cells;
    if (contest->empty)
        return;
    if (!direct)
        to = cells_at(contest, layout->planes[0],
                      (contest->held[0].begin - contest->extended[0].begin) * rows * cells);
    for (d = contest->held[0].begin; d < contest->held[0].end; d++) {
        run_plane(contest, x, d, to, pitch);
        to = advanced(contest, to, rows * pitch);
    }
    if (!direct) {
        extend(contest, 0, layout->planes[0], rows * cells);
        reduce(contest, 0, layout->planes, rows, cells, winners, contest->pitch);
    }
    if (contest->nan && contest->plan->problem.desc.nan == POOLGRAD_NAN_LEADING)
        let_leading_nan_win(contest, x);
}

void pgi_contest_separate(pgi_contest *contest)
{
    const pgi_kernels *kernels = &contest->plan->kernels;
    const int64_t lanes = contest->lanes;
    const pgi_cells_at to = cells_at(contest, contest->layout->separated, 0);

    contest->lane_pitch = 0;
    if (contest->empty)
        return;
    contest->pitch = pgi_length(contest->windows[2]);
    contest->lane_pitch =
        pgi_length(contest->windows[0]) * pgi_length(contest->windows[1]) * contest->pitch;
    kernels->separate(to.values, contest->lane_pitch, contest->values, contest->lane_pitch, lanes);
    if (to.places)
        kernels->separate_places(to.places, contest->lane_pitch, contest->places,
                                 contest->lane_pitch, lanes);
    contest->values = to.values;
    contest->places = to.places;
}
