/* SPDX-License-Identifier: MIT */
/*
 * On axes 0 and 1 a place is a whole plane or row, and a run is summed by adding rows: a short one
 * in one pass over its rows, a longer one from sums of 16, 256, ... rows, which its neighbours
 * share. A row that does not exist is replaced by zeros; since no sum is -0 that changes no bit
 * (docs/arithmetic.md).
 */
#include "plan/cascade.h"

#include "core/integer.h"

#include <string.h>

/* ----------------------------------------------------------------- a stack */

/* Nothing is at hand yet. */
static void empty_stack(pgi_stack *stack)
{
    int tier;

    for (tier = 0; tier <= stack->tiers; tier++)
        stack->made[tier] = tier ? stack->begin : stack->held.begin;
}

static int64_t slot_number(const pgi_stack *stack, int64_t index)
{
    return stack->mask ? index & stack->mask : index % stack->slots;
}

/* A place of a tier. */
static char *slot(const pgi_stack *stack, int tier, int64_t place)
{
    const int64_t origin = tier ? stack->begin : stack->held.begin;
    size_t offset =
        (size_t)slot_number(stack, place - origin) * (tier ? stack->sum_bytes : stack->bytes);

    if (tier > 0 && !stack->away)
        offset += (size_t)stack->slots * stack->bytes + stack->gap;
    if (tier > 1)
        offset += (size_t)((tier - 1) * stack->slots) * stack->sum_bytes;
    return stack->base + offset;
}

static const char *row_of(const pgi_cascade *cascade, const pgi_stack *stack, int tier,
                          int64_t place)
{
    if (tier == 0 && (place < stack->held.begin || place >= stack->held.end))
        return cascade->nothing;
    if (place < stack->begin) /* such a sum ends before the first place that exists */
        return cascade->nothing;
    if (tier == 0 && stack->away)
        return stack->lying + (place - stack->held.begin) * stack->step;
    return slot(stack, tier, place);
}

char *pgi_cascade_source_row(const pgi_cascade *cascade, int64_t d, int64_t h)
{
    char *row = cascade->layout->by_rows
                    ? slot(&cascade->rows, 0, h)
                    : slot(&cascade->planes, 0, d) +
                          (size_t)(h - cascade->reach[1].begin) * cascade->rows.bytes;

    return row + (size_t)cascade->margin * cascade->kernels->real;
}

/* How many rows from h on have slots one behind the other. */
static int64_t slots_together(const pgi_cascade *cascade, int64_t h)
{
    const pgi_stack *rows = &cascade->rows;

    return pgi_min(rows->held.end - h, rows->slots - slot_number(rows, h - rows->held.begin));
}

int64_t pgi_cascade_rows_together(const pgi_cascade *cascade, int64_t h)
{
    return cascade->layout->by_rows ? slots_together(cascade, h) : cascade->rows.held.end - h;
}

static void sum_planes(pgi_cascade *cascade, int64_t begin, int64_t end);

static void load_places(pgi_cascade *cascade, const pgi_stack *stack, int64_t begin, int64_t end)
{
    const pgi_range all = cascade->reach[1];
    int64_t d;

    if (stack->away)
        return;
    if (stack == &cascade->planes)
        for (d = begin; d < end; d++)
            cascade->load(cascade->context, d, all.begin, all.end);
    else if (cascade->layout->by_rows)
        cascade->load(cascade->context, cascade->plane, begin, end);
    else
        sum_planes(cascade, begin, end);
}

/* Loads, or sums, places before `end` that are not there yet. */
static inline void load(pgi_cascade *cascade, pgi_stack *stack, int64_t end)
{
    end = pgi_min(end, stack->held.end);
    if (stack->made[0] < end) {
        load_places(cascade, stack, stack->made[0], end);
        stack->made[0] = end;
    }
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
        sums = end - *made >= PGI_MANY_ROWS ? PGI_MANY_ROWS : PGI_FEW_ROWS;
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

/* A part of every place of a stack: some rows of planes, or all. */
typedef struct pgi_part {
    pgi_cascade *cascade;
    pgi_stack *stack;
    size_t offset; /* bytes */
    int64_t reals;
} pgi_part;

static const char *part_of(const pgi_part *part, int tier, int64_t place)
{
    const char *row = row_of(part->cascade, part->stack, tier, place);

    return row == part->cascade->nothing ? row : row + part->offset;
}

static const char *made_part(void *context, int tier, int64_t place)
{
    const pgi_part *part = context;

    make(part->cascade, part->stack, tier, place + 1);
    return part_of(part, tier, place);
}

/* Those of `count` places q apart, without a division for each. */
static void list_parts(const pgi_part *part, int64_t place, int count, const void **rows)
{
    const pgi_stack *stack = part->stack;
    const int64_t q = stack->gather->q;
    int64_t number = -1;
    int i;

    for (i = 0; i < count; i++, place += q) {
        if (stack->away || place < stack->held.begin || place >= stack->held.end) {
            rows[i] = part_of(part, 0, place);
        } else {
            number = number < 0 ? slot_number(stack, place - stack->held.begin) : number + q;
            if (number >= stack->slots) /* more than q, or there were no two places */
                number -= stack->slots;
            rows[i] = stack->base + (size_t)number * stack->bytes + part->offset;
        }
    }
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
static const char *sum_run(pgi_part *part, pgi_run run, char *to)
{
    pgi_stack *stack = part->stack;
    const int64_t q = stack->gather->q;

    if (run.count == 0 || run.first >= stack->held.end ||
        run.first + (run.count - 1) * q < stack->held.begin)
        return part->cascade->nothing;
    if (has_gaps(stack->gather))
        stack->made[0] = pgi_max(stack->made[0], run.first);
    load(part->cascade, stack, run.first + (run.count - 1) * q + 1);
    if (run.count == 1)
        return part_of(part, 0, run.first);
    pgi_sum_tiers(part->cascade->kernels, made_part, part, run, q, highest_tier(stack, run.count),
                  to, part->reals);
    return to;
}

/* A block of targets q apart, from that of a run on. Of long runs only what is behind their sums of
 * 16 is shared. */
static void sum_block(pgi_part *part, pgi_run first, void *const *to, int sums)
{
    const pgi_kernels *kernels = part->cascade->kernels;
    const bool whole = first.count <= PGI_LONG_RUN;
    const int length = (int)(whole ? first.count : first.count % PGI_RUN_ROWS);
    const int64_t q = part->stack->gather->q, begin = first.first + (first.count - length) * q;
    const void *rows[PGI_LONG_RUN + PGI_MANY_ROWS - 1];
    int i;

    load(part->cascade, part->stack, begin + (length + sums - 2) * q + 1);
    for (i = 0; i < sums && !whole; i++) {
        const pgi_run head = {first.first + i * q, first.count - length};

        pgi_sum_tiers(kernels, made_part, part, head, q, highest_tier(part->stack, head.count),
                      to[i], part->reals);
    }
    if (length > 0) {
        list_parts(part, begin, length + sums - 1, rows);
        kernels->sum_block(to, sums, rows, length, !whole, part->reals);
    }
}

/* ---------------------------------------------------------------- together */

/* Axis 0: rows [begin, end) of the target planes at hand. */
static void sum_planes(pgi_cascade *cascade, int64_t begin, int64_t end)
{
    const pgi_run run = pgi_gather_run(&cascade->gather[0], cascade->plane);
    const size_t real = cascade->kernels->real;
    const int sums = cascade->sums;
    void *to[PGI_MANY_ROWS];
    int64_t h, count;
    int k;

    for (h = begin; h < end; h += count) {
        pgi_part part = {cascade, &cascade->planes,
                         (size_t)(h - cascade->reach[1].begin) * cascade->rows.bytes, 0};

        count = pgi_min(end - h, slots_together(cascade, h));
        part.reals = count * cascade->pitch;
        to[0] = slot(&cascade->rows, 0, h);
        for (k = 1; k < sums; k++)
            to[k] = (char *)to[0] + (size_t)k * cascade->layout->ring;
        if (sums > 1) {
            sum_block(&part, run, to, sums);
        } else {
            const char *sum = sum_run(&part, run, to[0]);

            if (sum != to[0])
                memcpy(to[0], sum, (size_t)part.reals * real);
        }
    }
}

static char *summed_row(const pgi_cascade *cascade, int i)
{
    return cascade->workspace + cascade->layout->summed +
           (size_t)(i * cascade->summed_pitch + cascade->summed_margin) * cascade->kernels->real;
}

/* Axis 1 of `count` target rows from (d, h) on. */
static void sum_rows(pgi_cascade *cascade, int64_t d, int64_t h, int count)
{
    const int block = cascade->layout->block,
              q = (int)pgi_min(cascade->gather[1].q, PGI_BATCH_ROWS);
    const pgi_run *run = cascade->runs + (h - cascade->begin[1]);
    pgi_part part = {cascade, &cascade->rows, 0, cascade->rows.reals};
    const void *rows[PGI_BATCH_ROWS];
    int i, k, r;

    prepare_runs(cascade, &cascade->rows, run[count - 1]);
    for (i = 0; i < count; i++) {
        if (i > 0 && run[i].first == run[i - 1].first && run[i].count == run[i - 1].count) {
            rows[i] = rows[i - 1];
        } else if (block > 1 && i + PGI_FEW_ROWS * q <= count) {
            const int sums = (count - i) / q >= block ? block : PGI_FEW_ROWS;

            for (r = 0; r < q; r++) {
                void *to[PGI_MANY_ROWS];

                for (k = 0; k < sums; k++)
                    rows[i + r + k * q] = to[k] = summed_row(cascade, i + r + k * q);
                sum_block(&part, run[i + r], to, sums);
            }
            i += sums * q - 1;
        } else if (run[i].count == 1 && run[i].first < cascade->rows.made[0]) {
            rows[i] = row_of(cascade, &cascade->rows, 0, run[i].first);
        } else {
            rows[i] = sum_run(&part, run[i], summed_row(cascade, i));
        }
    }
    for (i = 0; i < count; i++)
        rows[i] = (const char *)rows[i] - (size_t)cascade->lacking * cascade->kernels->real;
    cascade->take(cascade->context, d, h, count, rows);
}

/* Axis 1 of target planes d, ..., d + sums - 1, batch by batch, so that rows that are summed over
 * axis 0 are still in the nearest cache. */
static void run_rows(pgi_cascade *cascade, int64_t d, int sums)
{
    pgi_stack *rows = &cascade->rows;
    char *base = rows->base;
    int64_t h, made[PGI_TIERS + 1];
    int count, k, tier;

    cascade->sums = sums;
    empty_stack(rows);
    for (h = cascade->begin[1]; h < cascade->end[1]; h += count) {
        count = (int)pgi_min(cascade->layout->batch, cascade->end[1] - h);
        for (tier = 1; tier <= rows->tiers; tier++)
            made[tier] = rows->made[tier];
        for (k = 0; k < sums; k++) {
            /* tier 0 is made for all planes at once, the others for each */
            for (tier = 1; tier <= rows->tiers; tier++)
                rows->made[tier] = made[tier];
            rows->base = base + (size_t)k * cascade->layout->ring;
            sum_rows(cascade, d + k, h, count);
        }
        rows->base = base;
    }
}

void pgi_cascade_run(pgi_cascade *cascade)
{
    const pgi_gather *gather = &cascade->gather[0];
    const pgi_cascade_layout *layout = cascade->layout;
    const pgi_stack *stack = &cascade->planes;
    int64_t d;
    int sums;

    empty_stack(&cascade->planes);
    cascade->planes.lying = cascade->lying;
    cascade->planes.step = cascade->plane_step;
    for (d = cascade->begin[0]; d < cascade->end[0]; d += sums) {
        const pgi_run run = pgi_gather_run(gather, d);

        cascade->plane = d;
        sums = 1;
        if (layout->by_rows) {
            const bool there =
                run.count == 1 && run.first >= stack->held.begin && run.first < stack->held.end;

            cascade->rows.held = cascade->reach[1];
            if (!there)
                cascade->rows.held.end = cascade->rows.held.begin;
            cascade->plane = run.first;
            if (there && layout->lying)
                cascade->rows.lying =
                    cascade->lying + (run.first - stack->held.begin) * cascade->plane_step;
            cascade->rows.step = (int64_t)cascade->rows.bytes;
        } else if (layout->together > 1 && d + PGI_FEW_ROWS <= cascade->end[0]) {
            sums = d + layout->together <= cascade->end[0] ? layout->together : PGI_FEW_ROWS;
        }
        run_rows(cascade, d, sums);
    }
}
