/* SPDX-License-Identifier: MIT */
#include "plan/columns.h"

#include "core/integer.h"

#include <limits.h>
#include <string.h>

/* Lanes of a group for which a loop of its own is not worth it. */
#define FEW_LANES 64
/* From here on it is a call of its own: adaptive windows, 56x56 to 13x13, the gradient, f32 NXC,
 * one thread, with 64 lanes 0.42 ms and so 0.55, 7x7 to 16x16 with 256 1.7 and so 1.4. */
#define MANY_LANES 128

/* How many targets have runs of their own. */
static int64_t turns_of(const pgi_gather *gather, const pgi_cascade_layout *cascade,
                        int64_t targets)
{
    return cascade->in_turns ? pgi_min(gather->period, targets) : targets;
}

/* Terms of runs that may be picked; 0 if they are not. */
static int64_t picked_terms(const pgi_gather *gather)
{
    return gather->longest <= PGI_PICKED_FAR ? gather->longest : 0;
}

/* Reals of a row that has room for whole vectors behind it, and is read a little past its end. */
static int64_t row_reals(int64_t places, int64_t lanes)
{
    return pgi_whole_vectors(places * lanes) + PGI_OVERREAD;
}

static bool row_room(int64_t places, int64_t lanes, int64_t *reals)
{
    return pgi_mul(places, lanes, reals) && pgi_add(*reals, PGI_ROW_REALS + PGI_OVERREAD, reals);
}

void pgi_columns_measure(const pgi_gather *gather, int64_t targets,
                         const pgi_cascade_layout *cascade, int64_t real, pgi_placement *at)
{
    int64_t source, target;

    at->fits = at->fits && row_room(cascade->reach[2], cascade->lanes, &source) &&
               row_room(targets, cascade->lanes, &target);
    if (!at->fits)
        return;
    pgi_place(at, 1, 1, turns_of(gather, cascade, targets), sizeof(pgi_run));
    pgi_place(at, cascade->tiers, 1, source, real);
    pgi_place(at, 1, 1, pgi_max(source, target), real);
    pgi_place(at, 1, 1, target, real);
    pgi_place(at, 1, picked_terms(gather), target, sizeof(int64_t)); /* vectors may have one lane */
    pgi_place(at, 1, picked_terms(gather), target, sizeof(int32_t));
}

/* Puts the parts where pgi_columns_measure did, or nearer. */
static void set_rooms(pgi_columns *columns, char *room)
{
    const pgi_cascade *cascade = columns->cascade;
    const pgi_gather *gather = &cascade->gather[2];
    const int64_t real = (int64_t)cascade->kernels->real;
    const int64_t targets = cascade->end[2] - cascade->begin[2], lanes = cascade->lanes;
    const int64_t source = row_reals(cascade->virtual[2].end - cascade->virtual[2].begin, lanes);
    const int64_t target = row_reals(targets, lanes);
    pgi_placement at = {0, true};

    columns->runs =
        (pgi_run *)(void *)(room + pgi_place(&at, 1, 1, columns->turns, sizeof(pgi_run)));
    columns->sums = room + pgi_place(&at, cascade->layout->tiers, 1, source, real);
    columns->turn = room + pgi_place(&at, 1, 1, pgi_max(source, target), real);
    columns->result = room + pgi_place(&at, 1, 1, target, real);
    columns->firsts = (int64_t *)(void *)(room + pgi_place(&at, 1, picked_terms(gather), target,
                                                           sizeof(int64_t)));
    columns->picked = (int32_t *)(void *)(room + pgi_place(&at, 1, picked_terms(gather), target,
                                                           sizeof(int32_t)));
}

/* The run of target i. */
static pgi_run run_of(const pgi_columns *columns, int64_t i)
{
    pgi_run run = columns->runs[i % columns->turns];

    run.first += i / columns->turns * columns->cascade->gather[2].advance;
    return run;
}

/* Where the terms of vector v of a row are; false if they are too far apart for what is to reach
 * them. */
static bool pick_vector(pgi_columns *columns, int term, int64_t v)
{
    const pgi_cascade *cascade = columns->cascade;
    const int64_t lanes = cascade->lanes, q = cascade->gather[2].q;
    const int width = cascade->kernels->lanes;
    const bool far = columns->picks.reach == PGI_FAR;
    const int64_t among = columns->picks.reach == PGI_NEAR ? width : PGI_WIDE_VECTORS * width;
    int64_t place[64], first = INT64_MAX, *to = columns->firsts + term * columns->picks.vectors + v;
    int32_t *lane = columns->picked + (term * columns->picks.vectors + v) * width;
    int i;

    for (i = 0; i < width; i++) {
        const int64_t element = v * width + i;
        pgi_run run = {0, 0};

        if (element < columns->picks.elements)
            run = run_of(columns, element / lanes);
        place[i] = term < run.count ? (run.first + term * q) * lanes + element % lanes : -1;
        if (place[i] >= 0)
            first = pgi_min(first, place[i]);
    }
    *to = first == INT64_MAX || far ? 0 : first;
    for (i = 0; i < width; i++) {
        if (!far && place[i] - *to >= among)
            return false;
        lane[i] = place[i] < 0 ? -1 : (int32_t)(place[i] - *to);
    }
    return true;
}

/* All of them. */
static bool set_picks(pgi_columns *columns, pgi_picks_reach reach)
{
    const pgi_cascade *cascade = columns->cascade;
    pgi_picks *picks = &columns->picks;
    int64_t v;
    int term;

    picks->reach = reach;
    picks->terms = (int)picked_terms(&cascade->gather[2]);
    picks->elements = (cascade->end[2] - cascade->begin[2]) * cascade->lanes;
    picks->vectors = pgi_ceil_div(picks->elements, cascade->kernels->lanes);
    picks->first = columns->firsts;
    picks->lane = columns->picked;
    if (picks->terms == 0 || (reach == PGI_NEAR && picks->terms > PGI_PICKED) ||
        (cascade->virtual[2].end - cascade->virtual[2].begin) * cascade->lanes > INT32_MAX)
        return false;
    for (term = 0; term < picks->terms; term++)
        for (v = 0; v < picks->vectors; v++)
            if (!pick_vector(columns, term, v))
                return false;
    return true;
}

static const char *column(const pgi_columns *columns, const void *row, int64_t place)
{
    return (const char *)row +
           (size_t)(place * columns->cascade->lanes) * columns->cascade->kernels->real;
}

/* The row of a tier: sums of 16^tier columns. */
static char *tier_row(const pgi_columns *columns, int tier)
{
    const pgi_cascade *cascade = columns->cascade;
    const int64_t places = cascade->virtual[2].end - cascade->virtual[2].begin;

    return columns->sums +
           (size_t)((tier - 1) * row_reals(places, cascade->lanes)) * cascade->kernels->real;
}

/* Neighbours of which the kernel takes the larger pieces from the first tier. */
static void set_heads(pgi_columns *columns)
{
    pgi_last_axis *last = &columns->last;

    columns->way = PGI_BEHIND_HEADS;
    last->heads = column(columns, tier_row(columns, 1), last->first[0]);
    last->head_count = last->count[0] / PGI_RUN_ROWS;
    last->first[0] += last->head_count * PGI_RUN_ROWS;
    last->count[0] %= PGI_RUN_ROWS;
}

void pgi_columns_region(pgi_columns *columns, const pgi_cascade *cascade, char *room)
{
    const pgi_gather *gather = &cascade->gather[2];
    const int64_t places = cascade->virtual[2].end - cascade->virtual[2].begin;
    const int64_t targets = cascade->end[2] - cascade->begin[2];
    pgi_last_axis *last = &columns->last;
    int64_t t;

    columns->cascade = cascade;
    columns->tiers = cascade->layout->tiers;
    columns->turns = turns_of(gather, cascade->layout, targets);
    set_rooms(columns, room);
    for (t = 0; t < columns->turns; t++) {
        pgi_run *run = &columns->runs[t];

        *run = pgi_gather_run(gather, cascade->begin[2] + t);
        run->first -= cascade->virtual[2].begin;
        if (run->first < 0 || run->first + (run->count - 1) * gather->q >= places)
            run->count = 0; /* no place of it exists */
    }
    columns->way = PGI_BY_ROWS;
    if (cascade->layout->in_turns && columns->turns <= PGI_TURNS) {
        *last = (pgi_last_axis){.places = targets,
                                .lanes = cascade->lanes,
                                .advance = targets > 1 ? gather->advance : 1,
                                .step = gather->q * cascade->lanes,
                                .turns = (int)columns->turns};
        for (t = 0; t < columns->turns; t++) {
            last->first[t] = columns->runs[t].count ? columns->runs[t].first * cascade->lanes : 0;
            last->count[t] = (int)pgi_min(columns->runs[t].count, INT_MAX);
        }
        if (pgi_can_finish(last))
            columns->way = PGI_IN_TURNS;
        else if (pgi_are_neighbours(last) && last->count[0] < 4 * PGI_RUN_ROWS)
            set_heads(columns);
    }
    /* places with runs of their own: groups of many lanes are whole vectors */
    if (columns->way == PGI_BY_ROWS && !cascade->layout->in_turns && cascade->lanes >= MANY_LANES &&
        gather->longest <= PGI_RUN_ROWS)
        columns->way = PGI_BY_PLACES;
    /* groups of few lanes that take turns are better picked */
    if ((columns->way == PGI_BY_ROWS ||
         (last->turns > 1 && last->lanes > 1 && last->lanes < FEW_LANES)) &&
        (set_picks(columns, PGI_NEAR) ||
         (columns->way == PGI_BY_ROWS && cascade->lanes < FEW_LANES &&
          (set_picks(columns, PGI_WIDE) || set_picks(columns, PGI_FAR)))))
        columns->way = PGI_BY_PICKS;
}

pgi_last_axis pgi_columns_place(const pgi_columns *columns, int64_t i)
{
    const int64_t lanes = columns->cascade->lanes;
    const pgi_run run = columns->runs[i];

    return (pgi_last_axis){.places = 1,
                           .lanes = lanes,
                           .advance = 1,
                           .step = columns->cascade->gather[2].q * lanes,
                           .turns = 1,
                           .count = {(int)run.count},
                           .first = {run.count ? run.first * lanes : 0}};
}

void pgi_columns_places(const pgi_columns *columns, pgi_finish_fn *finish, char *to, int64_t pitch,
                        size_t size, const void *const *rows, int count, double alpha, bool stream,
                        pgi_ahead ahead)
{
    const pgi_cascade *cascade = columns->cascade;
    const int64_t places = cascade->end[2] - cascade->begin[2];
    /* more may be read than is stored: kernels would not fetch all of it */
    const int64_t part = (ahead.end - ahead.at) / (places * count);
    int64_t i, fetched;
    int row;

    for (row = 0; row < count; row++) {
        for (i = 0; i < places; i++) {
            const pgi_last_axis place = pgi_columns_place(columns, i);

            finish(to + (row * pitch + i * cascade->lanes) * (int64_t)size, pitch, rows + row, 1,
                   &place, NULL, alpha, stream, (pgi_ahead){NULL, NULL});
            for (fetched = 0; fetched < part; fetched += 64, ahead.at += 64)
                __builtin_prefetch(ahead.at, 0, 2);
        }
    }
}

/* Each tier from the one below; what is behind their ends is of no use. */
void pgi_columns_tiers(const pgi_columns *columns, const void *row)
{
    const pgi_cascade *cascade = columns->cascade;
    const int64_t q = cascade->gather[2].q;
    int64_t places = cascade->virtual[2].end - cascade->virtual[2].begin;
    int tier;

    for (tier = 1; tier <= columns->tiers; tier++) {
        const int64_t apart = q << (4 * tier - 4);
        const void *below = tier == 1 ? row : tier_row(columns, tier - 1);
        pgi_last_axis sums = {
            .lanes = cascade->lanes, .advance = 1, .turns = 1, .count = {PGI_RUN_ROWS}};

        places -= (PGI_RUN_ROWS - 1) * apart;
        sums.places = places;
        sums.step = apart * cascade->lanes;
        if (places > 0)
            cascade->kernels->finish_reals(tier_row(columns, tier), 0, &below, 1, &sums, NULL, 1,
                                           false, (pgi_ahead){NULL, NULL});
    }
}

typedef struct pgi_columns_row {
    const pgi_columns *columns;
    const void *row;
} pgi_columns_row;

static const char *columns_place(void *context, int tier, int64_t place)
{
    const pgi_columns_row *of = context;

    return column(of->columns, tier ? tier_row(of->columns, tier) : of->row, place);
}

/* The runs of `places` successive first places, from one on: a part of the row, or `to`. */
static const char *sum_places(const pgi_columns *columns, const void *row, pgi_run run,
                              int64_t places, char *to)
{
    const pgi_cascade *cascade = columns->cascade;
    const int64_t reals = places * cascade->lanes;
    pgi_columns_row of = {columns, row};
    int tier = columns->tiers;

    if (run.count == 0) {
        memset(to, 0, (size_t)reals * cascade->kernels->real);
        return to;
    }
    if (run.count == 1)
        return column(columns, row, run.first);
    while (run.count >> (4 * tier) == 0)
        tier--;
    pgi_sum_tiers(cascade->kernels, columns_place, &of, run, cascade->gather[2].q, tier, to, reals);
    return to;
}

/* Groups of lanes from groups `from_step` apart to groups `to_step` apart. */
static void copy_groups(char *to, int64_t to_step, const char *from, int64_t from_step,
                        size_t group, size_t real, int64_t count)
{
    int64_t i;

    for (i = 0; i < count; i++) {
        char *target = to + (size_t)(i * to_step) * group;
        const char *source = from + (size_t)(i * from_step) * group;

        if (group == sizeof(float))
            memcpy(target, source, sizeof(float));
        else if (group == real)
            memcpy(target, source, sizeof(double));
        else
            memcpy(target, source, group);
    }
}

const char *pgi_columns_sum(const pgi_columns *columns, const void *row)
{
    const pgi_cascade *cascade = columns->cascade;
    const pgi_gather *gather = &cascade->gather[2];
    const int64_t targets = cascade->end[2] - cascade->begin[2];
    const size_t real = cascade->kernels->real, group = (size_t)cascade->lanes * real;
    const bool in_turns = cascade->layout->in_turns;
    const int64_t period = in_turns ? gather->period : targets;
    int64_t t;

    if (columns->tiers > 0)
        pgi_columns_tiers(columns, row);
    for (t = 0; t < columns->turns; t++) {
        const int64_t count = (targets - t - 1) / period + 1;
        const int64_t places = (count - 1) * gather->advance + 1;
        const pgi_run run = columns->runs[t];
        char *to = columns->result + (size_t)t * group;
        const char *sums;

        if (!in_turns && t > 0 && run.first == columns->runs[t - 1].first &&
            run.count == columns->runs[t - 1].count)
            sums = to - group;
        else
            sums = sum_places(columns, row, run, places, columns->turn);
        if (columns->turns == 1 && gather->advance == 1)
            return sums;
        copy_groups(to, period, sums, gather->advance, group, real, count);
    }
    return columns->result;
}
