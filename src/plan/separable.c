/* SPDX-License-Identifier: MIT */
/*
 * Averages, both ways, at a cost that grows with the logarithm of the window: a cascade of sums.
 * The gradient divides every dy by its window's count as it is loaded; the forward pass divides
 * every sum by it before it is stored.
 */
#include "core/dtype.h"
#include "core/integer.h"
#include "plan/arrange.h"
#include "plan/columns.h"
#include "plan/divisors.h"
#include "plan/placement.h"
#include "plan/rows.h"
#include "plan/strategies.h"

/* Planes that do not quite stay in a second-level cache of 512 KiB cost less than more of them that
 * are summed twice: 7x7x7 on 4x128x128x128 takes 3.2 ms with tiles for 512 KiB, 2.8 with these. */
#define COMFORTABLE_BYTES (INT64_C(768) << 10)

/* The strategy's own parts of the workspace, behind the cascade. */
enum {
    ROOM_DIVISORS, /* of pgi_divisor_rows */
    ROOM_COLUMNS,  /* of pgi_columns */
    /* A batch of rows of sums that are not stored at once; another of quotients, if those are not.
     */
    ROOM_RESULTS
};

typedef struct pgi_average {
    const poolgrad_plan *plan;
    const pgi_work *work;
    pgi_cascade cascade;
    pgi_columns columns;
    const char *source;    /* of the unit's batch and first channel */
    char *target;          /* likewise */
    bool forward, dense;   /* dense: the elements of target rows lie side by side, and beta is 0 */
    pgi_divisor_rows rows; /* of the tile's windows: sources of a gradient, targets forward */
    pgi_divisors divisors; /* those that were asked for last */
    int64_t result_pitch;  /* reals */
    int64_t ahead_bytes;   /* of the source, per target row; 0 if rows do not follow each other */
} pgi_average;

/* The places from w on that have one divisor (all, if lanes do not matter), and the divisors from
 * there on. */
static int64_t places_alike(const pgi_average *average, int64_t w, pgi_divisors *by)
{
    *by = average->divisors;
    if (average->cascade.lanes == 1)
        return average->rows.windows[2].end - w;
    return pgi_divisors_alike(&average->rows, w, by);
}

/* ------------------------------------------------------------------ loading */

/* `rows` rows from (d, h) on, `places` groups of lanes from w on, to `to` and a pitch on. */
static void load_part(const pgi_average *average, int64_t d, int64_t h, int64_t rows, int64_t w,
                      int64_t places, const pgi_divisors *by, char *to)
{
    const poolgrad_plan *plan = average->plan;
    const pgi_tensor *source = &plan->problem.source;
    const int64_t *stride = source->stride + PGI_SPATIAL;
    const int64_t size = (int64_t)plan->problem.element_size;
    const int64_t lanes = average->cascade.lanes, lane_step = source->stride[PGI_CHANNEL];
    const int64_t pitch = average->cascade.pitch;
    /* What is behind a padded row are zeros up to where the next one begins. (Of the zeros that
     * fill its last vector, those past its pitch are no more than are before the next row.) */
    const bool room = pitch % PGI_ROW_REALS == 0 && w + places == average->cascade.reach[2].end &&
                      average->cascade.reach[2].end - average->cascade.reach[2].begin <
                          average->cascade.virtual[2].end - average->cascade.virtual[2].begin;
    const char *from = average->source + pgi_row_offset(source, d, h, w) * size;

    if (lanes == 1) {
        plan->kernels.terms(to, pitch, from, stride[1], stride[2], rows, places, by,
                            room && stride[2] == 1);
    } else if (lane_step == 1 && (stride[2] == lanes || places == 1)) {
        plan->kernels.terms(to, pitch, from, stride[1], 1, rows, places * lanes, by,
                            room && places == average->cascade.reach[2].end -
                                                  average->cascade.reach[2].begin);
    } else {
        pgi_collect_rows(plan, average->source, d, h, w, rows, places, lanes, &by, 0, to, pitch);
    }
}

/* Source rows that will be needed soon, while `count` rows from the i-th on are stored of those
 * from (d, h) on: rows that follow in their plane, or as many as are due of the planes that the
 * next target planes need. */
static pgi_ahead look_ahead(const pgi_average *average, int64_t d, int64_t h, int i, int count)
{
    const pgi_cascade *cascade = &average->cascade;
    const pgi_problem *problem = &average->plan->problem;
    const bool by_rows = cascade->layout->by_rows;
    const int64_t plane = by_rows ? cascade->plane : cascade->planes.made[0] + d - cascade->plane;
    const int64_t row = by_rows ? cascade->rows.made[0] : cascade->reach[1].begin;
    const int64_t before = by_rows ? i : h + i - cascade->begin[1];
    pgi_ahead ahead = {NULL, NULL};

    if (average->ahead_bytes > 0 && plane < cascade->reach[0].end) {
        ahead.at = average->source +
                   pgi_row_offset(&problem->source, plane, row, cascade->reach[2].begin) *
                       (int64_t)problem->element_size +
                   before * average->ahead_bytes;
        ahead.end = ahead.at + count * average->ahead_bytes;
    }
    return ahead;
}

static void load_rows(void *context, int64_t d, int64_t begin, int64_t end)
{
    pgi_average *average = context;
    const pgi_cascade *cascade = &average->cascade;
    const size_t real = average->plan->kernels.real;
    const pgi_range places = cascade->reach[2];
    /* lanes that lie apart are collected, in squares if places do not: rows and places may have
     * divisors of their own */
    const bool apart = cascade->lanes > 1 && average->plan->problem.source.stride[PGI_CHANNEL] != 1;
    const pgi_divisors *each[PGI_DIVISOR_ROWS];
    pgi_divisors by = {.how = PGI_KEEP};
    int64_t h, w, rows, part;

    for (h = begin; h < end && places.begin < places.end; h += rows) {
        char *to = pgi_cascade_source_row(cascade, d, h);

        rows = pgi_min(end - h, pgi_cascade_rows_together(cascade, h));
        if (apart && !average->forward) {
            rows = pgi_divisors_of_rows(&average->rows, d, h, rows, each);
            pgi_collect_rows(average->plan, average->source, d, h, places.begin, rows,
                             pgi_length(places), cascade->lanes, each, 1, to, cascade->pitch);
            continue;
        }
        if (!average->forward) {
            const int64_t *count = average->rows.counts[1] + (h - average->rows.windows[1].begin);

            for (part = 1; part < rows && count[part] == count[0]; part++)
                ;
            rows = part;
            by = average->divisors =
                *pgi_divisors_of(&average->rows, pgi_divisors_outer(&average->rows, d, h));
        }
        for (w = places.begin; w < places.end; w += part) {
            part = average->forward ? places.end - w : places_alike(average, w, &by);
            load_part(average, d, h, rows, w, part, &by,
                      to + (size_t)((w - places.begin) * cascade->lanes) * real);
        }
    }
}

/* ------------------------------------------------------------------ storing */

static char *target_row(const pgi_average *average, int64_t d, int64_t h)
{
    const pgi_problem *problem = &average->plan->problem;

    return average->target + pgi_row_offset(&problem->target, d, h, average->cascade.begin[2]) *
                                 (int64_t)problem->element_size;
}

/* As many of `count` rows from the done-th on, of those from (d, h) on, as are summed along the
 * last axis at a time; their sums are a result pitch apart. */
static int sum_some(pgi_average *average, int64_t d, int64_t h, int done, int count,
                    const void *const *rows, const char **sums)
{
    const poolgrad_plan *plan = average->plan;
    char *results = average->cascade.workspace + plan->room[ROOM_RESULTS];

    *sums = results;
    switch (average->columns.way) {
    case PGI_BY_ROWS:
        *sums = pgi_columns_sum(&average->columns, rows[done]);
        return 1;
    case PGI_BEHIND_HEADS:
        pgi_columns_tiers(&average->columns, rows[done]);
        count = 1;
        break;
    case PGI_BY_PICKS:
        plan->kernels.finish_picks_reals(results, average->result_pitch, rows + done, count,
                                         &average->columns.picks, 1, false,
                                         look_ahead(average, d, h, done, count));
        return count;
    case PGI_BY_PLACES:
        pgi_columns_places(&average->columns, plan->kernels.finish_reals, results,
                           average->result_pitch, plan->kernels.real, rows + done, count, 1, false,
                           look_ahead(average, d, h, done, count));
        return count;
    case PGI_IN_TURNS:
        break;
    }
    plan->kernels.finish_reals(results, average->result_pitch, rows + done, count,
                               &average->columns.last, NULL, 1, false,
                               look_ahead(average, d, h, done, count));
    return count;
}

/* The gradient, stored anyhow. */
static void take_apart(pgi_average *average, int64_t d, int64_t h, int count,
                       const void *const *rows)
{
    const pgi_cascade *cascade = &average->cascade;
    const char *sums;
    int done, some;

    for (done = 0; done < count; done += some) {
        some = sum_some(average, d, h, done, count - done, rows, &sums);
        pgi_store_rows(average->plan, average->work, average->target, d, h + done,
                       cascade->begin[2], some, cascade->end[2] - cascade->begin[2], cascade->lanes,
                       sums, average->result_pitch);
    }
}

/* The gradient: sums are what is to be stored. */
static void take_sums(void *context, int64_t d, int64_t h, int count, const void *const *rows)
{
    pgi_average *average = context;
    const poolgrad_plan *plan = average->plan;
    const pgi_cascade *cascade = &average->cascade;
    const int64_t pitch = plan->problem.target.stride[PGI_SPATIAL + 1];
    const pgi_last_axis whole = {.places = cascade->end[2] - cascade->begin[2],
                                 .lanes = cascade->lanes,
                                 .advance = 1,
                                 .step = 1,
                                 .turns = 1,
                                 .count = {1}};
    int i;

    if (!average->dense) {
        take_apart(average, d, h, count, rows);
        return;
    }
    switch (average->columns.way) {
    case PGI_BY_PICKS:
        plan->kernels.finish_picks(
            target_row(average, d, h), pitch, rows, count, &average->columns.picks,
            plan->scale.alpha, average->work->stream_inside, look_ahead(average, d, h, 0, count));
        break;
    case PGI_BY_PLACES:
        pgi_columns_places(&average->columns, plan->kernels.finish, target_row(average, d, h),
                           pitch, plan->problem.element_size, rows, count, plan->scale.alpha,
                           average->work->stream_inside, look_ahead(average, d, h, 0, count));
        break;
    case PGI_IN_TURNS:
        plan->kernels.finish(target_row(average, d, h), pitch, rows, count, &average->columns.last,
                             NULL, plan->scale.alpha, average->work->stream_inside,
                             look_ahead(average, d, h, 0, count));
        break;
    case PGI_BEHIND_HEADS:
        for (i = 0; i < count; i++) {
            pgi_columns_tiers(&average->columns, rows[i]);
            plan->kernels.finish(target_row(average, d, h + i), 0, rows + i, 1,
                                 &average->columns.last, NULL, plan->scale.alpha,
                                 average->work->stream_inside, look_ahead(average, d, h, i, 1));
        }
        break;
    case PGI_BY_ROWS:
        for (i = 0; i < count; i++) {
            const void *sums = pgi_columns_sum(&average->columns, rows[i]);

            plan->kernels.finish(target_row(average, d, h + i), 0, &sums, 1, &whole, NULL,
                                 plan->scale.alpha, average->work->stream_inside,
                                 look_ahead(average, d, h, i, 1));
        }
        break;
    }
}

/* A batch of quotients that are not stored at once; the i-th row. */
static char *quotient_row(const pgi_average *average, int i)
{
    const poolgrad_plan *plan = average->plan;

    return average->cascade.workspace + plan->room[ROOM_RESULTS] +
           (size_t)((plan->cascade.batch + i) * average->result_pitch) * plan->kernels.real;
}

/* `rows` rows of sums, a result pitch apart, divided: stored, or quotients from the first on. */
static void divide_sums(pgi_average *average, int64_t d, int64_t h, int rows, const char *sums,
                        char *quotients)
{
    const poolgrad_plan *plan = average->plan;
    const pgi_cascade *cascade = &average->cascade;
    const size_t real = plan->kernels.real, element = plan->problem.element_size;
    const int64_t begin = cascade->begin[2], pitch = average->result_pitch;
    pgi_divisors by;
    int64_t w, part;

    for (w = begin; w < cascade->end[2]; w += part) {
        const size_t before = (size_t)((w - begin) * cascade->lanes);
        int64_t reals;

        part = places_alike(average, w, &by);
        reals = part * cascade->lanes;
        if (average->dense)
            plan->kernels.divide(target_row(average, d, h) + before * element,
                                 plan->problem.target.stride[PGI_SPATIAL + 1], sums + before * real,
                                 pitch, rows, reals, &by, plan->scale.alpha,
                                 average->work->stream_inside);
        else
            plan->kernels.divide_reals(quotients + before * real, pitch, sums + before * real,
                                       pitch, rows, reals, &by, 1, false);
    }
}

/* The same for `count` rows from the done-th on, of those from (d, h) on, summed as they are
 * divided; false if that cannot be done. */
static bool store_at_once(pgi_average *average, int64_t d, int64_t h, int done, int count,
                          const void *const *rows)
{
    const poolgrad_plan *plan = average->plan;
    const pgi_cascade *cascade = &average->cascade;
    const int64_t begin = cascade->begin[2], end = cascade->end[2];
    pgi_last_axis part = average->columns.last;
    pgi_divisors by;
    int64_t w;

    if (!average->dense || average->columns.way != PGI_IN_TURNS)
        return false;
    for (w = begin; w < end; w += part.places) {
        const int64_t before = (w - begin) * cascade->lanes;
        pgi_ahead ahead = {NULL, NULL};

        part.places = places_alike(average, w, &by);
        part.first[0] = average->columns.last.first[0] + before;
        if (2 * part.places > end - begin) /* once */
            ahead = look_ahead(average, d, h, done, count);
        if (!pgi_can_divide(&part, &by) ||
            !plan->kernels.finish(
                target_row(average, d, h + done) + (size_t)before * plan->problem.element_size,
                plan->problem.target.stride[PGI_SPATIAL + 1], rows + done, count, &part, &by,
                plan->scale.alpha, average->work->stream_inside, ahead))
            return false;
    }
    return true;
}

/* The same place by place, each with its own run and divisor: stored, or quotients. */
static bool divide_places(pgi_average *average, int64_t d, int64_t h, int done, int count,
                          const void *const *rows)
{
    const poolgrad_plan *plan = average->plan;
    const pgi_cascade *cascade = &average->cascade;
    const bool dense = average->dense;
    const size_t group =
        (size_t)cascade->lanes * (dense ? plan->problem.element_size : plan->kernels.real);
    char *to = dense ? target_row(average, d, h + done) : quotient_row(average, done);
    int64_t w;

    if (average->columns.way != PGI_BY_PLACES)
        return false;
    for (w = cascade->begin[2]; w < cascade->end[2]; w++, to += group) {
        const pgi_last_axis place = pgi_columns_place(&average->columns, w - cascade->begin[2]);
        const pgi_ahead ahead = {NULL, NULL};
        pgi_divisors by;
        bool good;

        places_alike(average, w, &by);
        if (!pgi_can_divide(&place, &by))
            return false;
        if (dense)
            good = plan->kernels.finish(to, plan->problem.target.stride[PGI_SPATIAL + 1],
                                        rows + done, count, &place, &by, plan->scale.alpha,
                                        average->work->stream_inside, ahead);
        else
            good = plan->kernels.finish_reals(to, average->result_pitch, rows + done, count, &place,
                                              &by, 1, false, ahead);
        if (!good)
            return false;
    }
    return true;
}

/* The forward pass: sums are still to be divided. */
static void take_to_divide(void *context, int64_t d, int64_t h, int count, const void *const *rows)
{
    pgi_average *average = context;
    const char *sums;
    int done, some;

    for (done = 0; done < count; done += some) {
        const int64_t outer = pgi_divisors_outer(&average->rows, d, h + done);

        for (some = 1;
             done + some < count && pgi_divisors_outer(&average->rows, d, h + done + some) == outer;
             some++)
            ;
        average->divisors = *pgi_divisors_of(&average->rows, outer);
        if (store_at_once(average, d, h, done, some, rows) ||
            divide_places(average, d, h, done, some, rows))
            continue;
        some = sum_some(average, d, h, done, some, rows, &sums);
        divide_sums(average, d, h + done, some, sums, quotient_row(average, done));
    }
    if (!average->dense) /* all at once, since turning rows of few places is dear */
        pgi_store_rows(average->plan, average->work, average->target, d, h,
                       average->cascade.begin[2], count,
                       average->cascade.end[2] - average->cascade.begin[2], average->cascade.lanes,
                       quotient_row(average, 0), average->result_pitch);
}

/* -------------------------------------------------------------------- units */

/* Bytes of the source that a target row needs on average, if they lie one behind the other or
 * nearly so. */
static int64_t bytes_per_row(const pgi_average *average)
{
    const pgi_problem *problem = &average->plan->problem;
    const int64_t *stride = problem->source.stride + PGI_SPATIAL;
    const pgi_cascade *cascade = &average->cascade;
    const int64_t rows = cascade->reach[1].end - cascade->reach[1].begin;
    const int64_t planes = cascade->reach[0].end - cascade->reach[0].begin;
    const int64_t row = (cascade->reach[2].end - cascade->reach[2].begin) * cascade->lanes;
    const int64_t targets =
        (cascade->end[0] - cascade->begin[0]) * (cascade->end[1] - cascade->begin[1]);

    if (stride[2] != cascade->lanes || (cascade->lanes > 1 && problem->source.stride[1] != 1) ||
        (rows > 1 && (stride[1] < row || stride[1] / 2 > row)))
        return 0;
    return planes * rows * (rows > 1 ? stride[1] : row) * (int64_t)problem->element_size / targets;
}

/* Everything that depends on the tile but not on batch and channels. */
static void enter_tile(pgi_average *average, const pgi_unit *unit)
{
    const pgi_problem *problem = &average->plan->problem;
    pgi_cascade *cascade = &average->cascade;
    pgi_range windows[3];
    int axis;

    pgi_cascade_region(cascade, unit->begin, unit->end, unit->lanes);
    pgi_columns_region(&average->columns, cascade,
                       cascade->workspace + average->plan->room[ROOM_COLUMNS]);
    average->result_pitch = pgi_whole_vectors((unit->end[2] - unit->begin[2]) * unit->lanes);
    average->ahead_bytes = bytes_per_row(average);
    for (axis = 0; axis < 3; axis++)
        windows[axis] = average->forward ? (pgi_range){unit->begin[axis], unit->end[axis]}
                                         : cascade->reach[axis];
    pgi_divisors_region(&average->rows, problem, average->plan->kernels.real, windows,
                        cascade->workspace + average->plan->room[ROOM_DIVISORS]);
}

/* Where the first of those that are not loaded is. */
static void find_sources(pgi_average *average)
{
    const pgi_tensor *source = &average->plan->problem.source;
    const int64_t size = (int64_t)average->plan->problem.element_size;
    pgi_cascade *cascade = &average->cascade;

    cascade->lying =
        average->source + pgi_row_offset(source, cascade->reach[0].begin, cascade->reach[1].begin,
                                         cascade->reach[2].begin) *
                              size;
    cascade->plane_step = source->stride[PGI_SPATIAL] * size;
}

static void run_unit(void *context, const pgi_unit *unit, bool new_tile)
{
    pgi_average *average = context;
    const poolgrad_plan *plan = average->plan;
    const pgi_problem *problem = &plan->problem;
    const pgi_work *work = average->work;

    if (new_tile || unit->lanes != average->cascade.lanes)
        enter_tile(average, unit);
    average->dense = plan->scale.beta == 0 && pgi_is_dense(problem, unit->lanes);
    if (problem->source.elements > 0) {
        average->source =
            pgi_unit_memory(problem, &problem->source, unit, work->source, problem->element_size);
        if (plan->cascade.lying)
            find_sources(average);
    }
    average->target = (char *)pgi_unit_memory(problem, &problem->target, unit, work->target,
                                              problem->element_size);
    pgi_cascade_run(&average->cascade);
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    const bool forward = pgi_is_forward(plan->problem.desc.op);
    pgi_average average = {.plan = plan,
                           .work = work,
                           .forward = forward,
                           .cascade = {.gather = plan->problem.gather,
                                       .layout = &plan->cascade,
                                       .kernels = &plan->kernels,
                                       .workspace = workspace,
                                       .load = load_rows,
                                       .take = forward ? take_to_divide : take_sums}};

    average.cascade.context = &average;
    pgi_each_unit(plan, begin, end, run_unit, &average);
}

/* ----------------------------------------------------------------- planning */

static bool applicable(const pgi_problem *problem)
{
    return !pgi_is_max(problem->desc.op);
}

/* Planes whose distance is a multiple of this are in the same places of the nearest cache, which
 * has room for few of them: 15x15x15 and 31x31x31 forward on 128x128x128, f32, took 6.5 and 8.7 ms,
 * and take 5.7 and 7.6 from the workspace, but 7x7x7 4.5 either way. */
#define CACHE_WAY  4096
#define FEW_PLANES 12

static bool share_places(const pgi_problem *problem)
{
    const int64_t step = problem->source.stride[PGI_SPATIAL] * (int64_t)problem->element_size;

    return step % CACHE_WAY == 0 && problem->gather[0].most_sources > FEW_PLANES;
}

/* Whether sums can take the source as it is: elements are reals, nothing divides them, and all rows
 * of a plane are whole vectors, one behind the other. */
static bool is_lying(const pgi_problem *problem, const pgi_tiling *tiling)
{
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const int64_t *stride = source->stride + PGI_SPATIAL;
    const int64_t begin = target->offset[PGI_SPATIAL + 2], extent = target->extent[PGI_SPATIAL + 2];
    const pgi_range places = pgi_gather_reach(&problem->gather[2], begin, begin + extent);
    const int64_t row = (places.end - places.begin) * tiling->lanes;

    return pgi_is_forward(problem->desc.op) &&
           problem->element_size == pgi_compute_size(problem->desc.dtype) &&
           tiling->extent[2] == extent && row > 0 && row % PGI_ROW_REALS == 0 && stride[1] == row &&
           stride[2] == tiling->lanes && !share_places(problem) &&
           (tiling->lanes == 1 ||
            (source->stride[PGI_CHANNEL] == 1 && tiling->lanes == target->extent[PGI_CHANNEL]));
}

static int64_t measure(const pgi_problem *problem, const pgi_tiling *tiling,
                       pgi_cascade_layout *cascade, size_t room[PGI_ROOMS])
{
    const bool forward = pgi_is_forward(problem->desc.op);
    const bool dense = problem->desc.beta == 0 && pgi_is_dense(problem, tiling->lanes);
    const int64_t real = (int64_t)pgi_compute_size(problem->desc.dtype);
    pgi_placement at;
    int64_t windows[3], row;
    int i;

    if (!pgi_cascade_measure(problem->gather, tiling->extent, tiling->lanes, (size_t)real,
                             is_lying(problem, tiling), cascade))
        return -1;
    at = (pgi_placement){(int64_t)cascade->bytes, true};
    for (i = 0; i < 3; i++)
        windows[i] = forward ? tiling->extent[i]
                             : pgi_min(cascade->reach[i], problem->gather[i].most_sources);
    if (!pgi_mul(tiling->extent[2], tiling->lanes, &row) || !pgi_add(row, PGI_ROW_REALS, &row))
        return -1;
    room[ROOM_DIVISORS] = (size_t)at.end;
    pgi_divisors_measure(windows, real, &at);
    room[ROOM_COLUMNS] = (size_t)at.end;
    pgi_columns_measure(&problem->gather[2], tiling->extent[2], cascade, real, &at);
    room[ROOM_RESULTS] =
        pgi_place(&at, (forward ? 1 : 0) + (dense ? 0 : 1), cascade->batch, row, real);
    pgi_place(&at, 1, 1, PGI_OVERREAD, real);
    return at.fits ? at.end : -1;
}

static int64_t lay_out(const pgi_problem *problem, const pgi_tiling *tiling, size_t room[PGI_ROOMS])
{
    pgi_cascade_layout cascade;

    return measure(problem, tiling, &cascade, room);
}

static bool prepare(poolgrad_plan *plan)
{
    const int64_t lanes = pgi_lanes_apart(&plan->problem);

    plan->first_axis = pgi_arrange(&plan->problem, plan->rank, lanes > 1);
    if (!pgi_plan_tile_as(plan, lay_out,
                          (pgi_tiling){.comfortable = COMFORTABLE_BYTES, .lanes = lanes}))
        return false;
    return plan->units == 0 ||
           measure(&plan->problem, &plan->tiling, &plan->cascade, plan->room) >= 0;
}

const pgi_strategy pgi_strategy_separable = {
    .name = "separable",
    .reason = "applies to every average at a cost that grows with the logarithm of the window",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = pgi_describe_tiles,
};
