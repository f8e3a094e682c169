/* SPDX-License-Identifier: MIT */
/*
 * On axes 0 and 1 a place is a whole plane or row, and a run is reduced by combining rows. A
 * ladder holds pointers to the rows of every doubling level; a NULL pointer is a row that changes
 * nothing, and combining it is skipped (for sums this changes no bit because no sum is -0:
 * docs/arithmetic.md). On axis 2 a place is `lanes` neighbouring cells, and combining is shifted
 * within the row.
 */
#include "plan/sweep.h"

#include "core/integer.h"
#include "plan/placement.h"

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
        layout->levels[i] = pgi_log2(pgi_max(1, pgi_min(gather[i].longest, run)));
    }
    if (!pgi_mul(layout->sources[2], lanes, &row) ||
        !pgi_mul(layout->reach[0], layout->levels[0], &doubled))
        return false;
    layout->cells = pgi_place(&at, layout->sources[0], layout->sources[1], row, size);
    layout->planes = pgi_place(&at, doubled, layout->sources[1], row, size);
    layout->plane = pgi_place(&at, 1, layout->sources[1], row, size);
    layout->rows = pgi_place(&at, layout->levels[1], layout->reach[1], row, size);
    layout->columns = pgi_place(&at, layout->levels[2] + 1, layout->reach[2], lanes, size);
    /* with a stride, a forward pass has more sources than targets there */
    layout->phase = pgi_place(&at, 1, pgi_max(targets[2], layout->reach[2]), lanes, size);
    layout->result = pgi_place(&at, 1, targets[2], lanes, size);
    layout->pointers = pgi_place(&at, 1, layout->levels[0] + 1, layout->reach[0], sizeof(void *));
    pgi_place(&at, 1, layout->levels[1] + 1, layout->reach[1], sizeof(void *));
    layout->phases = pgi_place(&at, 1, 1, targets[2], sizeof(pgi_phase));
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

    sweep->phases = (pgi_phase *)(void *)(sweep->workspace + layout->phases);
    phases = end[2] - begin[2];
    if (last->filled)
        phases = pgi_min(phases, last->period);
    for (i = 0; i < phases; i++)
        sweep->phases[i] = cut_phase(sweep, i);
}

void pgi_sweep_lanes(pgi_sweep *sweep, int64_t lanes)
{
    if (sweep->lanes == lanes)
        return;
    sweep->lanes = lanes;
    sweep->rows.cells = length(sweep->reach[2]) * lanes;
    sweep->planes.cells = length(sweep->reach[1]) * sweep->rows.cells;
    if (length(sweep->reach[0]) == 0)
        sweep->planes.cells = 0;
    /* The ends of the padded row stay as they are; its middle is written for every target row. */
    sweep->cells.spread(sweep->workspace + sweep->layout->columns, 1, NULL, lanes,
                        length(sweep->virtual[2]));
}

char *pgi_sweep_source_row(const pgi_sweep *sweep, int64_t d, int64_t h)
{
    const int64_t row =
        (d - sweep->reach[0].begin) * length(sweep->reach[1]) + h - sweep->reach[1].begin;

    return sweep->workspace + sweep->layout->cells +
           (size_t)(row * sweep->rows.cells) * sweep->cells.size;
}

/* From the piece of 2^level places of a run to the next smaller one; 0 if it is the last. */
static int64_t next_piece(int64_t count, int level, int64_t q)
{
    return count & ((INT64_C(1) << level) - 1) ? q << level : 0;
}

/* ------------------------------------------------------------ axes 0 and 1 */

/* Level 0 of a ladder: `base` holds the rows of the places in `held`. */
static void ladder_start(pgi_ladder *ladder, pgi_range held, const char *base, size_t cell)
{
    int64_t i;

    for (i = 0; i < ladder->length; i++) {
        const int64_t place = ladder->begin + i;
        const bool exists = place >= held.begin && place < held.end;

        ladder->row[i] =
            exists ? base + (size_t)((place - held.begin) * ladder->cells) * cell : NULL;
    }
}

/* The other levels: P[j+1](o) = P[j](o) + P[j](o + q * 2^j), in `storage` where both are there. */
static void ladder_double(pgi_ladder *ladder, int levels, char *storage, const pgi_cells *cells)
{
    int level;

    for (level = 1; level <= levels; level++) {
        const char **below = ladder->row + (level - 1) * ladder->length;
        const char **made = below + ladder->length;
        const int64_t distance = ladder->q << (level - 1);
        const int64_t count = ladder->length - (ladder->q << level) + ladder->q;
        int64_t i;

        for (i = 0; i < count; i++, storage += (size_t)ladder->cells * cells->size) {
            const char *a = below[i], *b = below[i + distance];

            made[i] = a ? a : b;
            if (a && b) {
                cells->combine(storage, a, b, ladder->cells);
                made[i] = storage;
            }
        }
    }
}

/* A run reduced: a row of the ladder or `target`; NULL if nothing is in it. */
static const char *ladder_reduce(const pgi_ladder *ladder, pgi_run run, char *target,
                                 pgi_combine_fn *combine)
{
    const char *made = NULL;
    int64_t place;
    int level;

    /* a filled run all of whose places are missing may lie outside the ladder */
    if (run.count == 0 || run.first < ladder->begin ||
        run.first + (run.count - 1) * ladder->q >= ladder->begin + ladder->length)
        return NULL;
    place = run.first - ladder->begin;
    for (level = pgi_log2(run.count); level >= 0; level--) {
        const char *block;

        if (!(run.count >> level & 1))
            continue;
        block = ladder->row[level * ladder->length + place];
        place += next_piece(run.count, level, ladder->q);
        if (made && block) {
            combine(target, made, block, ladder->cells);
            made = target;
        } else if (block) {
            made = block;
        }
    }
    return made;
}

/* ------------------------------------------------------------------ axis 2 */

static size_t column_bytes(const pgi_sweep *sweep)
{
    return (size_t)(sweep->layout->reach[2] * sweep->layout->lanes) * sweep->cells.size;
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

    for (level = pgi_log2(run.count); level >= 0; level--) {
        const char *block =
            columns + (size_t)level * row + (size_t)(place * sweep->lanes) * sweep->cells.size;

        if (!(run.count >> level & 1))
            continue;
        place += next_piece(run.count, level, sweep->gather[2].q);
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

/* One target row: a run of rows reduced, and then along the row. */
static const char *reduce_row(pgi_sweep *sweep, pgi_run run)
{
    /* none of the row exists where its reach is wholly behind the sources */
    const int64_t before = pgi_max(0, sweep->reach[2].begin - sweep->virtual[2].begin);
    char *padded = sweep->workspace + sweep->layout->columns +
                   (size_t)(before * sweep->lanes) * sweep->cells.size;
    char *nothing = sweep->workspace + sweep->layout->result;
    const char *made = NULL;

    if (sweep->rows.cells > 0)
        made = ladder_reduce(&sweep->rows, run, padded, sweep->cells.combine);
    if (made) {
        if (made != padded)
            sweep->cells.pick(padded, made, 1, 1, sweep->rows.cells);
        double_columns(sweep);
        made = sweep->gather[2].filled ? reduce_phases(sweep) : reduce_targets(sweep);
    }
    if (made)
        return made;
    sweep->cells.spread(nothing, 1, NULL, sweep->lanes, sweep->end[2] - sweep->begin[2]);
    return nothing;
}

/* Axes 1 and 2 of plane d, from its reduction over axis 0 (NULL: nothing in it). */
static void run_plane(pgi_sweep *sweep, int64_t d, const char *plane, pgi_take_fn *take,
                      void *context)
{
    const pgi_run none = {0, 0};
    const char *cells = NULL;
    pgi_run last = none;
    int64_t h;

    if (plane) {
        ladder_start(&sweep->rows, sweep->reach[1], plane, sweep->cells.size);
        ladder_double(&sweep->rows, sweep->layout->levels[1],
                      sweep->workspace + sweep->layout->rows, &sweep->cells);
    }
    for (h = sweep->begin[1]; h < sweep->end[1]; h++) {
        const pgi_run run = plane ? pgi_gather_run(&sweep->gather[1], h) : none;

        /* Windows that do not overlap, or span everything, give neighbouring rows the same run. */
        if (!cells || run.first != last.first || run.count != last.count)
            cells = reduce_row(sweep, run);
        last = run;
        take(context, d, h, cells);
    }
}

void pgi_sweep_run(pgi_sweep *sweep, pgi_take_fn *take, void *context)
{
    int64_t d;

    if (sweep->planes.cells > 0) {
        ladder_start(&sweep->planes, sweep->reach[0], sweep->workspace + sweep->layout->cells,
                     sweep->cells.size);
        ladder_double(&sweep->planes, sweep->layout->levels[0],
                      sweep->workspace + sweep->layout->planes, &sweep->cells);
    }
    for (d = sweep->begin[0]; d < sweep->end[0]; d++) {
        const char *plane = NULL;

        if (sweep->planes.cells > 0)
            plane = ladder_reduce(&sweep->planes, pgi_gather_run(&sweep->gather[0], d),
                                  sweep->workspace + sweep->layout->plane, sweep->cells.combine);
        run_plane(sweep, d, plane, take, context);
    }
}
