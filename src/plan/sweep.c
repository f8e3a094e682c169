/* SPDX-License-Identifier: MIT */
/*
 * On axes 0 and 1 a place is a whole plane or row, and a run is reduced by combining rows: short
 * runs in one pass over their rows, long ones by the doublings of a ladder. A row that does not
 * exist is replaced by one that changes nothing, or skipped (for sums this changes no bit because
 * no sum is -0: docs/arithmetic.md). On axis 2 a place is `lanes` neighbouring cells, and rows are
 * shifts of one row.
 */
#include "plan/sweep.h"

#include "core/integer.h"
#include "plan/placement.h"

/* The longest runs of two phases that `finish` interleaves. */
#define PAIRED_RUN 4
/* Channels side by side from which on a copy of them is worth a call. */
#define COPIED_LANES 32

bool pgi_sweep_measure(const pgi_gather gather[3], const int64_t targets[3], int64_t lanes,
                       size_t cell, pgi_sweep_layout *layout)
{
    const int64_t size = (int64_t)cell;
    pgi_placement at = {0, true};
    int64_t row, doubled, run;
    int i;

    layout->lanes = lanes;
    for (i = 0; i < 3; i++) {
        layout->targets[i] = targets[i];
        layout->reach[i] = pgi_gather_reach_bound(&gather[i], targets[i]);
        layout->sources[i] = pgi_min(layout->reach[i], gather[i].most_sources);
        /* as many doublings as the longest run within reach can use */
        run = layout->reach[i] ? (layout->reach[i] - 1) / gather[i].q + 1 : 1;
        run = pgi_max(1, pgi_min(gather[i].longest, run));
        layout->levels[i] = run > PGI_RUN_ROWS ? pgi_log2(run) : 0;
    }
    if (!pgi_mul(layout->sources[2], lanes, &row) ||
        !pgi_mul(layout->reach[0], layout->levels[0], &doubled))
        return false;
    layout->cells = pgi_place(&at, layout->sources[0], layout->sources[1], row, size);
    layout->planes = pgi_place(&at, doubled, layout->sources[1], row, size);
    /* blocks of planes need runs that begin one after the other */
    layout->block = gather[0].longest > 1 && gather[0].q == 1 && gather[0].period == 1 &&
                            gather[0].advance == 1 && targets[0] >= PGI_BLOCK_ROWS
                        ? PGI_BLOCK_ROWS
                        : 1;
    layout->plane = pgi_place(&at, layout->block, layout->sources[1], row, size);
    layout->rows = pgi_place(&at, layout->levels[1], layout->reach[1], row, size);
    layout->columns = pgi_place(&at, pgi_max(layout->levels[2] + 1, PGI_BLOCK_ROWS),
                                layout->reach[2], lanes, size);
    /* with a stride, a forward pass has more sources than targets there */
    layout->nothing = pgi_place(&at, 1, pgi_max(targets[2], layout->sources[2]), lanes, size);
    layout->phase = pgi_place(&at, 1, pgi_max(targets[2], layout->reach[2]), lanes, size);
    layout->result = pgi_place(&at, 1, targets[2], lanes, size);
    layout->pointers = pgi_place(&at, 1, layout->levels[0] + 1, layout->reach[0], sizeof(void *));
    pgi_place(&at, 1, layout->levels[1] + 1, layout->reach[1], sizeof(void *));
    layout->phases = pgi_place(&at, 1, 1, targets[2], sizeof(pgi_phase));
    layout->runs = pgi_place(&at, 1, 1, targets[1], sizeof(pgi_run));
    layout->bytes = (size_t)at.end;
    return at.fits;
}

static int64_t length(pgi_range range)
{
    return range.end - range.begin;
}

/* The phase of the region's p-th target. */
static pgi_phase cut_phase(const pgi_sweep *sweep, int64_t p)
{
    const pgi_gather *gather = &sweep->gather[2];
    const pgi_range within = sweep->virtual[2];
    const int64_t count = pgi_ceil_div(sweep->end[2] - sweep->begin[2] - p, gather->period);
    pgi_phase phase = {.run = pgi_gather_run(gather, sweep->begin[2] + p)};
    int64_t last;

    phase.before = count;
    if (!gather->filled || phase.run.count == 0)
        return phase;
    phase.before = 0;
    last = within.end - 1 - (phase.run.count - 1) * gather->q;
    if (phase.run.first < within.begin)
        phase.before =
            pgi_min(count, pgi_ceil_div(within.begin - phase.run.first, gather->advance));
    if (phase.before == count)
        return phase;
    phase.run.first += phase.before * gather->advance;
    if (phase.run.first <= last)
        phase.inside =
            pgi_min(count - phase.before, (last - phase.run.first) / gather->advance + 1);
    phase.after = count - phase.before - phase.inside;
    return phase;
}

void pgi_sweep_region(pgi_sweep *sweep, const int64_t begin[3], const int64_t end[3])
{
    const pgi_gather *last = &sweep->gather[2];
    const pgi_sweep_layout *layout = sweep->layout;
    int64_t phases, i;
    int axis;

    for (axis = 0; axis < 3; axis++) {
        const pgi_gather *gather = &sweep->gather[axis];

        sweep->begin[axis] = begin[axis];
        sweep->end[axis] = end[axis];
        sweep->virtual[axis] = pgi_gather_virtual_reach(gather, begin[axis], end[axis]);
        sweep->reach[axis] = pgi_gather_reach(gather, begin[axis], end[axis]);
    }
    sweep->rows.row = (const char **)(void *)(sweep->workspace + layout->pointers);
    sweep->rows.begin = sweep->virtual[1].begin;
    sweep->rows.length = length(sweep->virtual[1]);
    sweep->rows.q = sweep->gather[1].q;
    sweep->planes.row = sweep->rows.row + (layout->levels[1] + 1) * layout->reach[1];
    sweep->planes.begin = sweep->virtual[0].begin;
    sweep->planes.length = length(sweep->virtual[0]);
    sweep->planes.q = sweep->gather[0].q;
    sweep->lanes = 0;
    sweep->runs = (pgi_run *)(void *)(sweep->workspace + layout->runs);
    for (i = begin[1]; i < end[1]; i++)
        sweep->runs[i - begin[1]] = pgi_gather_run(&sweep->gather[1], i);

    sweep->phases = (pgi_phase *)(void *)(sweep->workspace + layout->phases);
    phases = end[2] - begin[2];
    if (last->filled)
        phases = pgi_min(phases, last->period);
    for (i = 0; i < phases; i++)
        sweep->phases[i] = cut_phase(sweep, i);
}

static size_t column_bytes(const pgi_sweep *sweep)
{
    return (size_t)(sweep->layout->reach[2] * sweep->layout->lanes) * sweep->cells.size;
}

/* The i-th row for axis 2. */
static char *padded_row(const pgi_sweep *sweep, int i)
{
    return sweep->workspace + sweep->layout->columns + (size_t)i * column_bytes(sweep);
}

void pgi_sweep_lanes(pgi_sweep *sweep, int64_t lanes)
{
    int i;

    if (sweep->lanes == lanes)
        return;
    sweep->lanes = lanes;
    sweep->rows.cells = length(sweep->reach[2]) * lanes;
    sweep->rows.bytes = (size_t)sweep->rows.cells * sweep->cells.size;
    sweep->rows.held = sweep->reach[1];
    sweep->planes.cells = length(sweep->reach[1]) * sweep->rows.cells;
    sweep->planes.bytes = (size_t)sweep->planes.cells * sweep->cells.size;
    sweep->planes.held = sweep->reach[0];
    sweep->planes.base = sweep->workspace + sweep->layout->cells;
    if (length(sweep->reach[0]) == 0)
        sweep->planes.cells = 0;
    /* The ends of padded rows stay as they are; their middle is written for every target row. */
    for (i = 0; i < PGI_BLOCK_ROWS; i++) {
        sweep->described[i] = NULL;
        sweep->cells.spread(padded_row(sweep, i), 1, NULL, lanes, length(sweep->virtual[2]));
    }
    sweep->cells.spread(sweep->workspace + sweep->layout->nothing, 1, NULL, lanes,
                        pgi_max(length(sweep->reach[2]), sweep->end[2] - sweep->begin[2]));
}

char *pgi_sweep_source_row(const pgi_sweep *sweep, int64_t d, int64_t h)
{
    const int64_t row =
        (d - sweep->reach[0].begin) * length(sweep->reach[1]) + h - sweep->reach[1].begin;

    return sweep->workspace + sweep->layout->cells +
           (size_t)(row * sweep->rows.cells) * sweep->cells.size;
}

/* ------------------------------------------------------------ axes 0 and 1 */

/* `rows` rows of a run of places, each of which has as many, one behind the other; NULL if nothing
 * is in it. */
static const char *reduce_run(const pgi_sweep *sweep, const pgi_ladder *ladder, pgi_run run,
                              int64_t rows, char *target)
{
    const char *nothing = sweep->workspace + sweep->layout->nothing;
    const size_t bytes = sweep->rows.bytes;
    pgi_rows given;
    bool any = false;
    int64_t h;
    int t;

    if (run.count > PGI_RUN_ROWS)
        return pgi_ladder_reduce(ladder, run, target, sweep->cells.combine);
    if (run.count == 1)
        return pgi_ladder_row(ladder, run.first);
    given.count = (int)run.count;
    for (t = 0; t < given.count; t++) {
        const char *row = pgi_ladder_row(ladder, run.first + t * ladder->q);

        given.row[t] = row ? row : nothing;
        any |= row != NULL;
    }
    if (!any)
        return NULL;
    for (h = 0; h < rows; h++) {
        sweep->cells.reduce(target + (size_t)h * bytes, &given, sweep->rows.cells);
        for (t = 0; t < given.count && h + 1 < rows; t++)
            if (given.row[t] != nothing)
                given.row[t] = (const char *)given.row[t] + bytes;
    }
    return target;
}

/* ------------------------------------------------------------------ axis 2 */

/* The short run of a phase as rows that lie one place apart in the padded row. */
static void column_rows(const pgi_sweep *sweep, pgi_run run, pgi_rows *rows)
{
    const int64_t first = run.first - sweep->virtual[2].begin, q = sweep->gather[2].q;
    int t;

    rows->count = (int)run.count;
    for (t = 0; t < rows->count; t++)
        rows->row[t] =
            sweep->columns + (size_t)((first + t * q) * sweep->lanes) * sweep->cells.size;
    if (run.count == 0) {
        rows->row[0] = sweep->workspace + sweep->layout->nothing;
        rows->count = 1;
    }
}

/* Doubles the padded row, level by level. */
static void double_columns(const pgi_sweep *sweep)
{
    const int64_t q = sweep->gather[2].q, places = length(sweep->virtual[2]);
    const size_t row = column_bytes(sweep);
    char *below = sweep->workspace + sweep->layout->columns;
    int level;

    for (level = 1; level <= sweep->layout->levels[2]; level++, below += row) {
        const size_t shift = (size_t)((q << (level - 1)) * sweep->lanes) * sweep->cells.size;
        const int64_t count = places - (q << level) + q;

        if (count > 0)
            sweep->cells.combine(below + row, below, below + shift, count * sweep->lanes);
    }
}

/* Reduces the runs of `places` successive first places at once: pieces of the doubled rows, the
 * largest first. Returns where the result is. */
static const char *reduce_columns(const pgi_sweep *sweep, pgi_run run, int64_t places, char *target)
{
    const char *columns = sweep->workspace + sweep->layout->columns;
    const size_t row = column_bytes(sweep);
    const char *made = NULL;
    int64_t place = run.first - sweep->virtual[2].begin;
    int level;

    if (run.count <= PGI_RUN_ROWS) {
        pgi_rows rows;

        column_rows(sweep, run, &rows);
        if (rows.count == 1)
            return rows.row[0];
        sweep->cells.reduce(target, &rows, places * sweep->lanes);
        return target;
    }
    for (level = pgi_log2(run.count); level >= 0; level--) {
        const char *block =
            columns + (size_t)level * row + (size_t)(place * sweep->lanes) * sweep->cells.size;

        if (!(run.count >> level & 1))
            continue;
        place += pgi_next_piece(run.count, level, sweep->gather[2].q);
        if (made)
            sweep->cells.combine(target, made, block, places * sweep->lanes);
        made = made ? target : block;
    }
    return made;
}

/* A filled axis: the targets of one phase, `period` apart, have runs of one length. */
static const char *reduce_phases(const pgi_sweep *sweep)
{
    const int64_t period = sweep->gather[2].period, advance = sweep->gather[2].advance;
    const int64_t targets = sweep->end[2] - sweep->begin[2], lanes = sweep->lanes;
    const size_t group = (size_t)lanes * sweep->cells.size;
    char *made_here = sweep->workspace + sweep->layout->phase;
    char *result = sweep->workspace + sweep->layout->result;
    int64_t p;

    for (p = 0; p < pgi_min(period, targets); p++) {
        const pgi_phase *phase = &sweep->phases[p];
        const int64_t before = phase->before, inside = phase->inside, after = phase->after;
        char *to = result + (size_t)p * group;
        const char *made = NULL;

        if (inside > 0)
            made = reduce_columns(sweep, phase->run, (inside - 1) * advance + 1, made_here);
        if (inside == targets && advance == 1)
            return made;
        if (inside > 0 && advance > 1) /* period is then 1: straight into the result */
            sweep->cells.pick(to + (size_t)before * group, made, advance, lanes, inside);
        else if (inside > 0)
            sweep->cells.spread(to + (size_t)(before * period) * group, period, made, lanes,
                                inside);
        if (before > 0)
            sweep->cells.spread(to, period, NULL, lanes, before);
        if (after > 0)
            sweep->cells.spread(to + (size_t)((before + inside) * period) * group, period, NULL,
                                lanes, after);
    }
    return result;
}

/* A clipped axis: targets one by one; neighbours often have the same run. */
static const char *reduce_targets(const pgi_sweep *sweep)
{
    const int64_t targets = sweep->end[2] - sweep->begin[2];
    const size_t group = (size_t)sweep->lanes * sweep->cells.size;
    char *result = sweep->workspace + sweep->layout->result;
    int64_t p;

    for (p = 0; p < targets; p++) {
        const pgi_run run = sweep->phases[p].run;
        char *target = result + (size_t)p * group;
        const char *made = target;

        if (run.count == 0)
            sweep->cells.spread(target, 1, NULL, sweep->lanes, 1);
        else if (p > 0 && run.first == sweep->phases[p - 1].run.first &&
                 run.count == sweep->phases[p - 1].run.count)
            made = target - group;
        else
            made = reduce_columns(sweep, run, 1, target);
        if (made != target)
            sweep->cells.pick(target, made, 1, sweep->lanes, 1);
    }
    return result;
}

/* ---------------------------------------------------------------- together */

/* Whether the row can be left to whoever stores it: few phases, without ends. */
static bool describe_phases(pgi_sweep *sweep, int i)
{
    pgi_target_row *made = &sweep->made[i];
    const pgi_gather *gather = &sweep->gather[2];
    const int64_t targets = sweep->end[2] - sweep->begin[2];
    int p;

    if (!gather->filled || gather->advance > 1 || gather->longest > PGI_RUN_ROWS ||
        pgi_min(gather->period, targets) > PGI_PHASES)
        return false;
    made->phases = (int)pgi_min(gather->period, targets);
    /* what takes turns is quick to store only in pairs of short runs, or in long groups of copies
     */
    if (made->phases > 1 &&
        !(made->phases == 2 && sweep->lanes == 1 && gather->longest <= PAIRED_RUN) &&
        !(sweep->lanes >= COPIED_LANES && gather->longest == 1))
        return false;
    for (p = 0; p < made->phases; p++) {
        const pgi_phase *phase = &sweep->phases[p];

        if (phase->run.count > 0 && phase->before + phase->after > 0)
            return false;
        if (sweep->described[i] != sweep->columns)
            column_rows(sweep, phase->run, &made->run[p]);
    }
    sweep->described[i] = sweep->columns;
    made->cells = NULL;
    return true;
}

static const char *reduce_last(const pgi_sweep *sweep)
{
    if (sweep->layout->levels[2] > 0)
        double_columns(sweep);
    return sweep->gather[2].filled ? reduce_phases(sweep) : reduce_targets(sweep);
}

const char *pgi_sweep_cells(const pgi_sweep *sweep, const pgi_target_row *made)
{
    return made->cells ? made->cells : reduce_last(sweep);
}

/* Where the sources begin in a padded row. */
static char *middle_of(const pgi_sweep *sweep, char *padded)
{
    /* none of the row exists where its reach is wholly before or behind the sources */
    const int64_t before =
        sweep->rows.cells ? pgi_max(0, sweep->reach[2].begin - sweep->virtual[2].begin) : 0;

    return padded + (size_t)(before * sweep->lanes) * sweep->cells.size;
}

/* One target row: a run of rows reduced, and then along the row. */
static void reduce_row(pgi_sweep *sweep, pgi_run run)
{
    char *padded = padded_row(sweep, 0), *middle = middle_of(sweep, padded);
    char *nothing = sweep->workspace + sweep->layout->result;
    const char *row = NULL;

    if (sweep->rows.cells > 0)
        row = reduce_run(sweep, &sweep->rows, run, 1, middle);
    if (!row) {
        sweep->cells.spread(nothing, 1, NULL, sweep->lanes, sweep->end[2] - sweep->begin[2]);
        sweep->made[0].cells = nothing;
        return;
    }
    sweep->columns = padded;
    if (row != middle && sweep->layout->levels[2] == 0 &&
        length(sweep->reach[2]) == length(sweep->virtual[2]))
        sweep->columns = row; /* nothing is added at the ends: no copy */
    else if (row != middle)
        sweep->cells.pick(middle, row, 1, 1, sweep->rows.cells);
    if (!describe_phases(sweep, 0))
        sweep->made[0].cells = reduce_last(sweep);
}

/* Whether PGI_BLOCK_ROWS runs have one short length and begin one after the other, so that they
 * share most of their sources. */
static bool is_block(const pgi_sweep *sweep, const pgi_ladder *ladder, const pgi_run *run)
{
    int i;

    if (!sweep->cells.reduce_block || run->count < 2 || run->count > PGI_RUN_ROWS ||
        ladder->q != 1 || ladder->cells == 0)
        return false;
    for (i = 1; i < PGI_BLOCK_ROWS; i++)
        if (run[i].count != run->count || run[i].first != run->first + i)
            return false;
    return true;
}

/* Reduces such a block, row by row of its places, into `to`. */
static void reduce_block(const pgi_sweep *sweep, const pgi_ladder *ladder, pgi_run run,
                         int64_t rows_each, char *to[PGI_BLOCK_ROWS])
{
    const char *nothing = sweep->workspace + sweep->layout->nothing;
    const size_t bytes = sweep->rows.bytes;
    const int count = (int)run.count + PGI_BLOCK_ROWS - 1;
    const void *rows[PGI_RUN_ROWS + PGI_BLOCK_ROWS - 1];
    void *made[PGI_BLOCK_ROWS];
    int64_t h;
    int i;

    for (h = 0; h < rows_each; h++) {
        for (i = 0; i < count; i++) {
            const char *row = pgi_ladder_row(ladder, run.first + i);

            rows[i] = row ? row + (size_t)h * bytes : nothing;
        }
        for (i = 0; i < PGI_BLOCK_ROWS; i++)
            made[i] = to[i] + (size_t)h * bytes;
        sweep->cells.reduce_block(made, rows, (int)run.count, sweep->rows.cells);
    }
}

/* PGI_BLOCK_ROWS target rows at once. */
static void run_block(pgi_sweep *sweep, int64_t d, int64_t h, pgi_take_fn *take, void *context)
{
    char *to[PGI_BLOCK_ROWS];
    int i;

    for (i = 0; i < PGI_BLOCK_ROWS; i++)
        to[i] = middle_of(sweep, padded_row(sweep, i));
    reduce_block(sweep, &sweep->rows, sweep->runs[h - sweep->begin[1]], 1, to);
    for (i = 0; i < PGI_BLOCK_ROWS; i++) {
        sweep->columns = padded_row(sweep, i);
        if (!describe_phases(sweep, i))
            sweep->made[i].cells = reduce_last(sweep);
        take(context, d, h + i, &sweep->made[i]);
    }
}

/* Axes 1 and 2 of plane d, from its reduction over axis 0 (NULL: nothing in it). */
static void run_plane(pgi_sweep *sweep, int64_t d, const char *plane, pgi_take_fn *take,
                      void *context)
{
    const pgi_run none = {0, 0};
    pgi_run last = none;
    bool made = false;
    int64_t h = sweep->begin[1];

    sweep->rows.base = plane;
    if (plane)
        pgi_ladder_double(&sweep->rows, sweep->layout->levels[1],
                          sweep->workspace + sweep->layout->rows, &sweep->cells);
    while (h < sweep->end[1]) {
        const pgi_run run = plane ? sweep->runs[h - sweep->begin[1]] : none;

        if (plane && sweep->layout->levels[2] == 0 && sweep->end[1] - h >= PGI_BLOCK_ROWS &&
            is_block(sweep, &sweep->rows, &sweep->runs[h - sweep->begin[1]])) {
            run_block(sweep, d, h, take, context);
            h += PGI_BLOCK_ROWS;
            made = false;
            continue;
        }
        /* Windows that do not overlap, or span everything, give neighbouring rows the same run. */
        if (!made || run.first != last.first || run.count != last.count)
            reduce_row(sweep, run);
        made = true;
        last = run;
        take(context, d, h++, &sweep->made[0]);
    }
}

/* Planes d, d + 1, ... at once, if their runs allow it. */
static bool run_planes(pgi_sweep *sweep, int64_t d, pgi_take_fn *take, void *context)
{
    pgi_run run[PGI_BLOCK_ROWS];
    char *to[PGI_BLOCK_ROWS];
    int i;

    if (sweep->layout->block != PGI_BLOCK_ROWS || sweep->end[0] - d < PGI_BLOCK_ROWS)
        return false;
    for (i = 0; i < PGI_BLOCK_ROWS; i++) {
        run[i] = pgi_gather_run(&sweep->gather[0], d + i);
        to[i] = sweep->workspace + sweep->layout->plane + (size_t)i * sweep->planes.bytes;
    }
    if (!is_block(sweep, &sweep->planes, run))
        return false;
    reduce_block(sweep, &sweep->planes, run[0], length(sweep->reach[1]), to);
    for (i = 0; i < PGI_BLOCK_ROWS; i++)
        run_plane(sweep, d + i, to[i], take, context);
    return true;
}

void pgi_sweep_run(pgi_sweep *sweep, pgi_take_fn *take, void *context)
{
    int64_t d = sweep->begin[0];

    if (sweep->planes.cells > 0)
        pgi_ladder_double(&sweep->planes, sweep->layout->levels[0],
                          sweep->workspace + sweep->layout->planes, &sweep->cells);
    while (d < sweep->end[0]) {
        const char *plane = NULL;

        if (run_planes(sweep, d, take, context)) {
            d += PGI_BLOCK_ROWS;
            continue;
        }
        if (sweep->planes.cells > 0)
            plane = reduce_run(sweep, &sweep->planes, pgi_gather_run(&sweep->gather[0], d),
                               length(sweep->reach[1]), sweep->workspace + sweep->layout->plane);
        run_plane(sweep, d++, plane, take, context);
    }
}
