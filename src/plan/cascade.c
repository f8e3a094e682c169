/* SPDX-License-Identifier: MIT */
/*
 * On axes 0 and 1 a place is a whole plane or row, and a run is summed by adding rows: a short one
 * in one pass over its rows, a longer one from sums of 16, 256, ... rows, which its neighbours
 * share. A row that does not exist is replaced by zeros; since no sum is -0 that changes no bit
 * (docs/arithmetic.md).
 */
#include "plan/cascade.h"

#include "core/integer.h"
#include "plan/placement.h"

#include <string.h>

static int64_t length(pgi_range range)
{
    return range.end - range.begin;
}

/* ------------------------------------------------------------------- layout */

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

/* The runs of rows, and of planes, from which on many sums are made together: shorter runs of
 * planes stay in the second-level cache if few are (9x9x9 on 4x128x128x128 takes 4.0 ms with few
 * and 4.7 with many, 15x15x15 5.1 and 4.7). */
#define MANY_FROM_ROWS   9
#define MANY_FROM_PLANES 11

/* How many sums of runs are made together, of so many that are to be made. */
static int block_of(int64_t run, int64_t sums)
{
    return run >= MANY_FROM_ROWS && sums >= PGI_MANY_ROWS ? PGI_MANY_ROWS : PGI_FEW_ROWS;
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

/* Bytes of a batch of rows. */
#define BATCH_BYTES (INT64_C(8) << 10)

/* Reals from row to row. Rows that nothing is added to at the ends follow each other without a gap,
 * so that several are like one; others begin at a cache line. */
static int64_t pitch_of(const pgi_cascade *cascade)
{
    const int64_t reach = length(cascade->virtual[2]) * cascade->lanes;

    return length(cascade->reach[2]) == length(cascade->virtual[2]) ? reach
                                                                    : pgi_whole_vectors(reach);
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
                         size_t real, pgi_cascade_layout *layout)
{
    const int64_t size = (int64_t)real;
    pgi_placement at = {0, true};
    int64_t row, sources, plane, together;
    int i;

    layout->lanes = lanes;
    for (i = 0; i < 2; i++)
        layout->reach[i] = pgi_gather_reach_bound(&gather[i], targets[i]);
    layout->in_turns = choose_last(&gather[2], targets[2], &layout->reach[2]);
    layout->tiers = tiers_of(&gather[2], longest_run(&gather[2], layout->reach[2]));
    /* planes of which every target takes one, and no two the same */
    layout->by_rows = gather[0].longest <= 1 && gather[0].period == 1;
    if (!pgi_mul(layout->reach[2], lanes, &row) || !pgi_add(row, PGI_ROW_REALS, &row))
        return false;
    layout->together =
        in_blocks(&gather[0]) && gather[0].q == 1 && gather[0].longest >= MANY_FROM_PLANES
            ? PGI_MANY_ROWS
            : PGI_FEW_ROWS;
    together = block_of(gather[1].longest, targets[1]) * pgi_min(gather[1].q, PGI_BATCH_ROWS);
    together = in_blocks(&gather[1]) && together <= PGI_BATCH_ROWS ? together : PGI_FEW_ROWS;
    layout->batch = (int)pgi_max(
        together, pgi_min(PGI_BATCH_ROWS, BATCH_BYTES / size / row / together * together));
    lay_out_stack(&gather[0], layout->reach[0], layout->together, &layout->planes);
    lay_out_stack(&gather[1], layout->reach[1], layout->batch, &layout->rows);
    round_slots(&layout->rows, row, size);
    sources = pgi_min(layout->reach[1], gather[1].most_sources);
    if (!pgi_mul(sources, row, &plane) || !pgi_add(plane, 2 * PGI_ROW_REALS, &plane))
        return false;
    layout->planes.base = pgi_place(&at, layout->by_rows ? 0 : layout->planes.tiers + 1,
                                    layout->planes.slots, plane, size);
    layout->plane = pgi_place(&at, layout->by_rows ? 0 : layout->together, 1, plane, size);
    /* rows of planes are where those are; only their sums have a place of their own */
    layout->rows.base =
        pgi_place(&at, layout->rows.tiers + layout->by_rows, layout->rows.slots, row, size);
    layout->summed = pgi_place(&at, layout->batch, 1, row, size);
    layout->nothing = pgi_place(&at, 1, 1, layout->by_rows ? row : pgi_max(row, plane), size);
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
                         .bytes = (size_t)reals * size,
                         .sum_bytes = (size_t)pgi_whole_vectors(reals) * size,
                         .reals = reals};
}

/* Nothing is at hand yet. */
static void empty_stack(pgi_stack *stack)
{
    int tier;

    for (tier = 0; tier <= stack->tiers; tier++)
        stack->made[tier] = tier ? stack->begin : stack->held.begin;
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
    cascade->pitch = pitch_of(cascade);
    set_stack(&cascade->rows, cascade, 1, &layout->rows, cascade->pitch);
    /* an odd number of lines: planes whose rows meet in one set of the cache slow each other */
    set_stack(&cascade->planes, cascade, 0, &layout->planes,
              pgi_whole_vectors(length(cascade->reach[1]) * cascade->pitch) | PGI_ROW_REALS);
    /* The ends of rows stay zero; their middle is written again and again. */
    if (length(cascade->reach[2]) < length(cascade->virtual[2]))
        memset(cascade->workspace, 0, layout->nothing);
    memset(cascade->workspace + layout->nothing, 0, layout->runs - layout->nothing);
    cascade->runs = (pgi_run *)(void *)(cascade->workspace + layout->runs);
    set_runs(&cascade->gather[1], begin[1], end[1] - begin[1], cascade->runs);
}

/* ----------------------------------------------------------------- a stack */

static int64_t slot_number(const pgi_stack *stack, int64_t index)
{
    return stack->mask ? index & stack->mask : index % stack->slots;
}

/* A place of a tier. */
static char *slot(const pgi_stack *stack, int tier, int64_t place)
{
    const int64_t origin = tier ? stack->begin : stack->held.begin;
    size_t offset;

    if (tier == 0 && stack->plane)
        return stack->plane + (size_t)(place - origin) * stack->bytes;
    offset = (size_t)slot_number(stack, place - origin) * (tier ? stack->sum_bytes : stack->bytes);
    if (tier > 0 && !stack->plane)
        offset += (size_t)stack->slots * stack->bytes;
    if (tier > 1)
        offset += (size_t)((tier - 1) * stack->slots) * stack->sum_bytes;
    return stack->base + offset;
}

static char *row_of(const pgi_cascade *cascade, const pgi_stack *stack, int tier, int64_t place)
{
    if (tier == 0 && (place < stack->held.begin || place >= stack->held.end))
        return cascade->workspace + cascade->layout->nothing;
    return slot(stack, tier, place);
}

char *pgi_cascade_source_row(const pgi_cascade *cascade, int64_t d, int64_t h)
{
    if (cascade->layout->by_rows)
        return slot(&cascade->rows, 0, h);
    return slot(&cascade->planes, 0, d) +
           (size_t)(h - cascade->reach[1].begin) * cascade->rows.bytes;
}

int64_t pgi_cascade_rows_together(const pgi_cascade *cascade, int64_t h)
{
    const pgi_stack *rows = &cascade->rows;

    if (!cascade->layout->by_rows)
        return rows->held.end - h;
    return pgi_min(rows->held.end - h, rows->slots - slot_number(rows, h - rows->held.begin));
}

/* Loads places before `end` that are not there yet. */
static void load(pgi_cascade *cascade, pgi_stack *stack, int64_t end)
{
    const pgi_range all = cascade->reach[1];
    int64_t d;

    end = pgi_min(end, stack->held.end);
    if (stack == &cascade->rows) {
        if (stack->made[0] < end)
            cascade->load(cascade->context, cascade->plane, stack->made[0], end);
    } else {
        for (d = stack->made[0]; d < end; d++)
            cascade->load(cascade->context, d, all.begin, all.end);
    }
    stack->made[0] = pgi_max(stack->made[0], end);
}

/* Makes the sums of a tier at the places before `end`: each of 16 of the tier below. */
static void make(pgi_cascade *cascade, pgi_stack *stack, int tier, int64_t end)
{
    const int64_t apart = tier ? stack->gather->q << (4 * tier - 4) : 0;
    const void *rows[PGI_RUN_ROWS + PGI_MANY_ROWS - 1];
    void *to[PGI_MANY_ROWS];
    int64_t *made = &stack->made[tier];
    int i, sums;

    if (tier == 0) {
        load(cascade, stack, end);
        return;
    }
    if (*made >= end)
        return;
    /* what no run to come can reach need not be made */
    *made = pgi_max(*made, end - stack->slots);
    make(cascade, stack, tier - 1, end + (PGI_RUN_ROWS - 1) * apart);
    for (; apart == 1 && *made + PGI_FEW_ROWS <= end; *made += sums) {
        sums = block_of(PGI_RUN_ROWS, end - *made);
        for (i = 0; i < PGI_RUN_ROWS + sums - 1; i++)
            rows[i] = row_of(cascade, stack, tier - 1, *made + i);
        for (i = 0; i < sums; i++)
            to[i] = slot(stack, tier, *made + i);
        cascade->kernels->sum_block(to, sums, rows, PGI_RUN_ROWS, false, stack->reals);
    }
    for (; *made < end; ++*made) {
        for (i = 0; i < PGI_RUN_ROWS; i++)
            rows[i] = row_of(cascade, stack, tier - 1, *made + i * apart);
        cascade->kernels->sum(slot(stack, tier, *made), NULL, rows, PGI_RUN_ROWS, 0, stack->reals);
    }
}

/* Whether windows leave out places that lie between them. */
static bool has_gaps(const pgi_gather *gather)
{
    return gather->forward && !gather->axis.adaptive &&
           gather->advance > (gather->longest - 1) * gather->q + 1;
}

/* What runs of successive targets need, up to the last of them, at once. */
static void prepare_runs(pgi_cascade *cascade, pgi_stack *stack, pgi_run last)
{
    const int64_t q = stack->gather->q;
    int tier = stack->tiers;

    if (has_gaps(stack->gather) || last.count == 0 || last.first >= stack->held.end)
        return;
    load(cascade, stack, last.first + (last.count - 1) * q + 1);
    while (tier > 0 && last.count >> (4 * tier) == 0)
        tier--;
    if (tier > 0)
        make(cascade, stack, tier,
             last.first + ((last.count >> (4 * tier)) - 1) * (q << (4 * tier)) + 1);
}

void pgi_sum_tiers(const pgi_kernels *kernels, pgi_tier_place_fn *at, void *context, pgi_run run,
                   int64_t q, int tier, char *to, int64_t reals)
{
    const void *rows[PGI_LONG_RUN];
    const void *head = NULL;
    int length = 0, tail, n = 0, i, t;

    for (i = tier; i >= 0; i--) {
        tail = (int)(run.count >> (4 * i) & (i == tier ? PGI_LONG_RUN : PGI_RUN_ROWS - 1));
        for (t = 0; t < tail; t++, run.first += q << (4 * i))
            rows[n++] = at(context, i, run.first);
        if (i == tier) {
            length = tail < PGI_RUN_ROWS ? tail : PGI_RUN_ROWS;
            tail -= length;
        }
        if (tail > 0 || (i == 0 && length > 0)) {
            kernels->sum(to, head, rows, length, tail, reals);
            head = to;
            length = n = 0;
        }
    }
}

typedef struct pgi_stacked {
    pgi_cascade *cascade;
    pgi_stack *stack;
} pgi_stacked;

static const char *stacked_place(void *context, int tier, int64_t place)
{
    const pgi_stacked *stacked = context;

    make(stacked->cascade, stacked->stack, tier, place + 1);
    return row_of(stacked->cascade, stacked->stack, tier, place);
}

/* The highest tier with a sum that is no longer than a run. */
static int highest_tier(const pgi_stack *stack, int64_t run)
{
    int tier = stack->tiers;

    while (run >> (4 * tier) == 0)
        tier--;
    return tier;
}

/* The sum of a run: a place that is there already, or `to`. */
static char *sum_run(pgi_cascade *cascade, pgi_stack *stack, pgi_run run, char *to)
{
    const int64_t q = stack->gather->q;
    pgi_stacked stacked = {cascade, stack};

    if (run.count == 0 || run.first >= stack->held.end ||
        run.first + (run.count - 1) * q < stack->held.begin)
        return cascade->workspace + cascade->layout->nothing;
    if (has_gaps(stack->gather))
        stack->made[0] = pgi_max(stack->made[0], run.first);
    load(cascade, stack, run.first + (run.count - 1) * q + 1);
    if (run.count == 1)
        return row_of(cascade, stack, 0, run.first);
    pgi_sum_tiers(cascade->kernels, stacked_place, &stacked, run, q, highest_tier(stack, run.count),
                  to, stack->reals);
    return to;
}

/* A block of targets q apart, from that of a run on. Of long runs only what is behind their sums of
 * 16 is shared. */
static void sum_block(pgi_cascade *cascade, pgi_stack *stack, pgi_run first, void *const *to,
                      int sums)
{
    const bool whole = first.count <= PGI_LONG_RUN;
    const int length = (int)(whole ? first.count : first.count % PGI_RUN_ROWS);
    const int64_t q = stack->gather->q, begin = first.first + (first.count - length) * q;
    const void *rows[PGI_LONG_RUN + PGI_MANY_ROWS - 1];
    int i;

    load(cascade, stack, begin + (length + sums - 2) * q + 1);
    for (i = 0; i < sums && !whole; i++) {
        pgi_run head = {first.first + i * q, first.count - length};
        pgi_stacked stacked = {cascade, stack};

        pgi_sum_tiers(cascade->kernels, stacked_place, &stacked, head, q,
                      highest_tier(stack, head.count), to[i], stack->reals);
    }
    for (i = 0; length > 0 && i < length + sums - 1; i++)
        rows[i] = row_of(cascade, stack, 0, begin + i * q);
    if (length > 0)
        cascade->kernels->sum_block(to, sums, rows, length, !whole, stack->reals);
}

/* ---------------------------------------------------------------- together */

static char *summed_row(const pgi_cascade *cascade, int i)
{
    return cascade->workspace + cascade->layout->summed + (size_t)i * cascade->rows.sum_bytes;
}

/* Axis 1 of target plane d, `stack` being its rows. */
static void run_rows(pgi_cascade *cascade, int64_t d)
{
    const bool blocks = in_blocks(&cascade->gather[1]);
    const int q = (int)pgi_min(cascade->gather[1].q, PGI_BATCH_ROWS);
    const void *rows[PGI_BATCH_ROWS];
    int64_t h;
    int count, i, k, r;

    for (h = cascade->begin[1]; h < cascade->end[1]; h += count) {
        const pgi_run *run = cascade->runs + (h - cascade->begin[1]);

        count = (int)pgi_min(cascade->layout->batch, cascade->end[1] - h);
        prepare_runs(cascade, &cascade->rows, run[count - 1]);
        for (i = 0; i < count; i++) {
            if (i > 0 && run[i].first == run[i - 1].first && run[i].count == run[i - 1].count) {
                rows[i] = rows[i - 1];
            } else if (blocks && i + PGI_FEW_ROWS * q <= count) {
                const int sums = block_of(run[i].count, (count - i) / q);

                for (r = 0; r < q; r++) {
                    void *to[PGI_MANY_ROWS];

                    for (k = 0; k < sums; k++)
                        rows[i + r + k * q] = to[k] = summed_row(cascade, i + r + k * q);
                    sum_block(cascade, &cascade->rows, run[i + r], to, sums);
                }
                i += sums * q - 1;
            } else if (run[i].count == 1 && run[i].first < cascade->rows.made[0]) {
                rows[i] = row_of(cascade, &cascade->rows, 0, run[i].first);
            } else {
                rows[i] = sum_run(cascade, &cascade->rows, run[i], summed_row(cascade, i));
            }
        }
        cascade->take(cascade->context, d, h, count, rows);
    }
}

/* A plane from axis 0 on: its rows are there. */
static void run_plane(pgi_cascade *cascade, int64_t d, char *plane)
{
    pgi_stack *rows = &cascade->rows;

    /* tier 0 is the plane, not a ring; the others are one */
    rows->plane = plane;
    empty_stack(rows);
    rows->made[0] = rows->held.end;
    run_rows(cascade, d);
}

void pgi_cascade_run(pgi_cascade *cascade)
{
    const pgi_gather *gather = &cascade->gather[0];
    const bool blocks = in_blocks(gather) && gather->q == 1;
    const pgi_cascade_layout *layout = cascade->layout;
    pgi_stack *stack = &cascade->planes;
    char *planes = cascade->workspace + layout->plane;
    int64_t d;
    int k;

    empty_stack(stack);
    for (d = cascade->begin[0]; d < cascade->end[0]; d++) {
        const pgi_run run = pgi_gather_run(gather, d);

        if (layout->by_rows) {
            const bool there =
                run.count == 1 && run.first >= stack->held.begin && run.first < stack->held.end;

            cascade->rows.held = cascade->reach[1];
            if (!there)
                cascade->rows.held.end = cascade->rows.held.begin;
            cascade->plane = run.first;
            empty_stack(&cascade->rows);
            run_rows(cascade, d);
        } else if (blocks && d + PGI_FEW_ROWS <= cascade->end[0]) {
            const int sums =
                d + layout->together <= cascade->end[0] ? layout->together : PGI_FEW_ROWS;
            void *to[PGI_MANY_ROWS];

            for (k = 0; k < sums; k++)
                to[k] = planes + (size_t)k * stack->bytes;
            sum_block(cascade, stack, run, to, sums);
            for (k = 0; k < sums; k++)
                run_plane(cascade, d + k, to[k]);
            d += sums - 1;
        } else {
            run_plane(cascade, d, sum_run(cascade, stack, run, planes));
        }
    }
}
