/* SPDX-License-Identifier: MIT */
/* Where the parts of a cascade lie: for any region, and for one. */
#include "core/integer.h"
#include "plan/cascade.h"
#include "plan/placement.h"

#include <string.h>

/* The longest run within a reach. */
static int64_t longest_run(const pgi_gather *gather, int64_t reach)
{
    const int64_t most = reach ? (reach - 1) / gather->q + 1 : 1;

    return pgi_max(1, pgi_min(gather->longest, most));
}

/* Whether the runs of successive targets have one length and begin one after the other, so that
 * targets q apart share most of their sources. */
static bool in_blocks(const pgi_gather *gather)
{
    return gather->filled && gather->period == 1 && gather->advance == 1 && gather->longest >= 2;
}

/* Sums of 16^j that make a run of sums short. Where runs overlap without being blocks, sums of 16
 * are all that they can share. */
static int tiers_of(const pgi_gather *gather, int64_t run)
{
    int64_t most = gather->q == 1 && !in_blocks(gather) ? PGI_RUN_ROWS : PGI_LONG_RUN;
    int tiers = 0;

    for (; run > most; run >>= 4, most = PGI_LONG_RUN)
        tiers++;
    return tiers;
}

/* Runs of planes from which on many are summed at once: more do not stay in the second-level cache
 * (9x9x9 on 4x128x128x128 takes 3.1 ms with few and 3.6 with many, 15x15x15 4.6 and 4.2). */
#define MANY_FROM_PLANES 11

/* Likewise of rows, and of short rows, of which also many sums stay in the nearest cache (7x7x7
 * takes 3.6 ms with few and 3.1 with many, but 2x2 with avx2 0.34 and 0.42). */
#define MANY_FROM_ROWS       9
#define MANY_FROM_SHORT_ROWS 4
#define MANY_BYTES           (INT64_C(32) << 10)

static int planes_at_once(const pgi_gather *gather)
{
    if (!in_blocks(gather) || gather->q > 1)
        return 1;
    return gather->longest >= MANY_FROM_PLANES ? PGI_MANY_ROWS : PGI_FEW_ROWS;
}

static int rows_at_once(const pgi_gather *gather, int64_t targets, int64_t row, int64_t size)
{
    const int64_t rows = PGI_MANY_ROWS * pgi_min(gather->q, PGI_BATCH_ROWS);
    const bool are_short = rows <= MANY_BYTES / size / row;

    if (!in_blocks(gather))
        return 1;
    return targets >= PGI_MANY_ROWS &&
                   gather->longest >= (are_short ? MANY_FROM_SHORT_ROWS : MANY_FROM_ROWS)
               ? PGI_MANY_ROWS
               : PGI_FEW_ROWS;
}

/* Slots for what `together` successive targets reach, or for all. */
static void lay_out_stack(const pgi_gather *gather, int64_t reach, int64_t together,
                          pgi_stack_layout *stack)
{
    /* Where runs are not in the order of their targets (with stride and dilation), what a batch
     * reaches may lie before what the last one did. */
    const bool ordered = gather->axis.stride == 1 || gather->axis.dilation == 1;
    const int64_t targets = ordered ? together : 2 * together + gather->period;

    stack->tiers = tiers_of(gather, longest_run(gather, reach));
    stack->slots = pgi_max(1, pgi_min(pgi_gather_reach_bound(gather, targets), reach));
}

/* Bytes of rows whose number is rounded up to a power of two. */
#define ROUNDED_BYTES (INT64_C(128) << 10)

/* Slots of rows are found often: a power of two is quicker, and several rows in a row fit more
 * often without a break. For many long rows it would be too much memory. */
static void round_slots(pgi_stack_layout *stack, int64_t row, int64_t size)
{
    if ((stack->slots & (stack->slots - 1)) && stack->slots < ROUNDED_BYTES / size / row)
        stack->slots = INT64_C(2) << pgi_log2(stack->slots);
}

/* Reals of a row that has an odd number of lines: others meet the next but one in one set of the
 * cache (3x3 with dilation 2, NXC, takes 0.39 ms and with it 0.37). */
#define LONG_ROW 512

/* Bytes of a batch of rows. */
#define BATCH_BYTES (INT64_C(8) << 10)

/* How rows lie. Those that nothing is added to at the ends follow each other without a gap, so that
 * several are like one; others begin at a cache line. (What is written behind the last of some rows
 * that are summed must not reach further than the next slot.) */
static void set_margins(pgi_cascade *cascade)
{
    const int64_t lanes = cascade->lanes;
    const int64_t held = pgi_length(cascade->reach[2]) * lanes;
    const int64_t all = pgi_length(cascade->virtual[2]) * lanes;
    const int64_t before =
        held > 0 ? (cascade->reach[2].begin - cascade->virtual[2].begin) * lanes : 0;
    /* zeros that fill what is left of a vector cost nothing */
    const bool bare = cascade->layout->bare &&
                      (cascade->layout->lying || pgi_whole_vectors(held) < pgi_whole_vectors(all));

    cascade->pitch = bare ? held : all;
    if (held < all || (!cascade->layout->by_rows && cascade->pitch < PGI_ROW_REALS))
        cascade->pitch = pgi_whole_vectors(cascade->pitch);
    if (bare && !cascade->layout->lying && held >= LONG_ROW)
        cascade->pitch |= PGI_ROW_REALS;
    cascade->margin = bare ? 0 : before;
    cascade->lacking = bare ? before : 0;
    cascade->summed_margin = pgi_whole_vectors(cascade->lacking);
    cascade->summed_pitch = cascade->summed_margin + pgi_whole_vectors(cascade->pitch);
    if (bare)
        cascade->summed_pitch += pgi_whole_vectors(all - before - held);
}

/* Of the last axis: everything that windows of the targets name, without a limit, so that all
 * targets of a turn are alike. */
static pgi_range last_reach(const pgi_gather *gather, int64_t begin, int64_t end)
{
    const pgi_axis *axis = &gather->axis;

    if (!gather->forward)
        return pgi_axis_reach(axis, begin, end);
    return (pgi_range){begin * axis->stride - axis->pad_lo,
                       (end - 1) * axis->stride - axis->pad_lo +
                           (axis->kernel - 1) * axis->dilation + 1};
}

/* Its length for `extent` targets, at most; false if that does not fit in 64 bits. */
static bool last_reach_bound(const pgi_gather *gather, int64_t extent, int64_t *bound)
{
    const pgi_axis *axis = &gather->axis;
    const int64_t window = (axis->kernel - 1) * axis->dilation;

    if (gather->forward)
        return pgi_mul(extent - 1, axis->stride, bound) && pgi_add(*bound, window + 1, bound);
    if (!pgi_add(extent - 1, window, bound))
        return false;
    *bound = *bound / axis->stride + 1;
    return true;
}

/* Whether the last axis is taken in turns; not if that took much more room, as it does for windows
 * of few taps that are far apart. */
static bool choose_last(const pgi_gather *gather, int64_t targets, int64_t *reach)
{
    int64_t all;

    *reach = pgi_gather_reach_bound(gather, targets);
    if (!gather->filled || !last_reach_bound(gather, targets, &all) ||
        (all > 1024 && all / 4 > pgi_max(*reach, targets)))
        return false;
    *reach = all;
    return true;
}

bool pgi_cascade_measure(const pgi_gather gather[3], const int64_t targets[3], int64_t lanes,
                         size_t real, bool lying, pgi_cascade_layout *layout)
{
    const int64_t size = (int64_t)real;
    pgi_placement at = {0, true};
    int64_t row, bare, rows, sources, plane;
    int i;

    layout->lanes = lanes;
    for (i = 0; i < 2; i++)
        layout->reach[i] = pgi_gather_reach_bound(&gather[i], targets[i]);
    layout->in_turns = choose_last(&gather[2], targets[2], &layout->reach[2]);
    layout->tiers = tiers_of(&gather[2], longest_run(&gather[2], layout->reach[2]));
    /* planes of which every target takes one, and no two the same */
    layout->by_rows = gather[0].longest <= 1 && gather[0].period == 1;
    if (!pgi_mul(layout->reach[2], lanes, &row) || !pgi_add(row, 4 * PGI_ROW_REALS, &row))
        return false;
    layout->together = planes_at_once(&gather[0]);
    layout->block = rows_at_once(&gather[1], targets[1], row, size);
    layout->bare = layout->block > 1;
    layout->lying = lying && layout->bare;
    bare = layout->bare
               ? pgi_min(layout->reach[2], gather[2].most_sources) * lanes + 2 * PGI_ROW_REALS
               : row;
    rows = layout->block * pgi_min(gather[1].q, PGI_BATCH_ROWS);
    rows = layout->block > 1 && rows <= PGI_BATCH_ROWS ? rows : PGI_FEW_ROWS;
    layout->batch =
        (int)pgi_max(rows, pgi_min(PGI_BATCH_ROWS, BATCH_BYTES / size / (row - 3 * PGI_ROW_REALS) /
                                                       layout->together / rows * rows));
    lay_out_stack(&gather[0], layout->reach[0], layout->together, &layout->planes);
    lay_out_stack(&gather[1], layout->reach[1], layout->batch, &layout->rows);
    if (!layout->by_rows)
        layout->rows.slots++;  /* whole vectors are written, also behind the last of some rows */
    if (layout->together == 1) /* else rows of several planes are to stay in the nearest cache */
        round_slots(&layout->rows, bare, size);
    sources = pgi_min(layout->reach[1], gather[1].most_sources);
    if (!pgi_mul(sources, bare, &plane) || !pgi_add(plane, 2 * PGI_ROW_REALS, &plane))
        return false;
    layout->planes.base =
        pgi_place(&at, layout->by_rows ? 0 : layout->planes.tiers + !layout->lying,
                  layout->planes.slots, plane, size);
    pgi_place(&at, 1, 1, PGI_ROW_REALS, size); /* a gap behind tier 0 */
    layout->rows.base = (size_t)at.end;
    pgi_place(&at, layout->rows.tiers + !(layout->by_rows && layout->lying), layout->rows.slots,
              bare, size);
    pgi_place(&at, 1, 1, PGI_ROW_REALS, size);
    layout->ring = (size_t)at.end - layout->rows.base;
    pgi_place(&at, layout->together - 1, 1, (int64_t)layout->ring, 1);
    layout->summed = pgi_place(&at, layout->batch, 1, row, size);
    layout->nothing = pgi_place(&at, 1, 1, row + (layout->by_rows ? 0 : plane), size);
    pgi_place(&at, 1, 1, PGI_OVERREAD, size);
    layout->runs = pgi_place(&at, 1, 1, targets[1], sizeof(pgi_run));
    layout->bytes = (size_t)at.end;
    return at.fits;
}

/* ------------------------------------------------------------------- region */

static void set_stack(pgi_stack *stack, const pgi_cascade *cascade, int axis,
                      const pgi_stack_layout *layout, int64_t reals)
{
    const size_t size = cascade->kernels->real;

    *stack = (pgi_stack){.gather = &cascade->gather[axis],
                         .held = cascade->reach[axis],
                         .begin = cascade->virtual[axis].begin,
                         .slots = layout->slots,
                         .mask = layout->slots & (layout->slots - 1) ? 0 : layout->slots - 1,
                         .tiers = layout->tiers,
                         .base = cascade->workspace + layout->base,
                         .away = cascade->layout->lying && cascade->layout->by_rows == (axis == 1),
                         .bytes = (size_t)reals * size,
                         .gap = PGI_ROW_REALS * size,
                         .sum_bytes = (size_t)pgi_whole_vectors(reals) * size,
                         .reals = reals};
}

/* The runs of `count` targets from one on. */
static void set_runs(const pgi_gather *gather, int64_t begin, int64_t count, pgi_run *runs)
{
    const int64_t period = gather->filled ? pgi_min(gather->period, count) : count;
    int64_t i, k;

    for (i = 0; i < period; i++) {
        pgi_run run = pgi_gather_run(gather, begin + i);

        for (k = i; k < count; k += period, run.first += gather->advance)
            runs[k] = run;
    }
}

void pgi_cascade_region(pgi_cascade *cascade, const int64_t begin[3], const int64_t end[3],
                        int64_t lanes)
{
    const pgi_cascade_layout *layout = cascade->layout;
    int64_t plane;
    int axis;

    for (axis = 0; axis < 3; axis++) {
        const pgi_gather *gather = &cascade->gather[axis];

        cascade->begin[axis] = begin[axis];
        cascade->end[axis] = end[axis];
        cascade->virtual[axis] = axis == 2 && layout->in_turns
                                     ? last_reach(gather, begin[axis], end[axis])
                                     : pgi_gather_virtual_reach(gather, begin[axis], end[axis]);
        cascade->reach[axis] = pgi_gather_reach(gather, begin[axis], end[axis]);
    }
    cascade->lanes = lanes;
    set_margins(cascade);
    set_stack(&cascade->rows, cascade, 1, &layout->rows, cascade->pitch);
    plane = pgi_whole_vectors(pgi_length(cascade->reach[1]) * cascade->pitch);
    set_stack(&cascade->planes, cascade, 0, &layout->planes, plane);
    /* an odd number of lines: planes whose rows meet in one set of the cache slow each other */
    cascade->planes.bytes = cascade->planes.sum_bytes =
        (size_t)(plane | PGI_ROW_REALS) * cascade->kernels->real;
    /* The ends of rows stay zero; their middle is written again and again. */
    if (pgi_length(cascade->reach[2]) < pgi_length(cascade->virtual[2]))
        memset(cascade->workspace, 0, layout->nothing);
    memset(cascade->workspace + layout->nothing, 0, layout->runs - layout->nothing);
    cascade->nothing = cascade->workspace + layout->nothing +
                       (size_t)cascade->summed_margin * cascade->kernels->real;
    cascade->runs = (pgi_run *)(void *)(cascade->workspace + layout->runs);
    set_runs(&cascade->gather[1], begin[1], end[1] - begin[1], cascade->runs);
}
