/* SPDX-License-Identifier: MIT */
/*
 * The separable strategy: every problem, at a cost that grows with the logarithm of the window.
 *
 * A unit is one tile of dx for one batch index and one block of channels:
 *
 *     dy rows --terms--> planes --axis 0--> one plane --axis 1--> one row --axis 2--> dx row
 *
 * On axes 0 and 1 a window is a whole plane or row, and a run is summed by adding rows. A ladder
 * holds pointers to the rows of every doubling level; a row of zeros is a NULL pointer, and
 * adding it is skipped, which changes no bit because no sum is -0 (docs/arithmetic.md). On axis 2
 * a window is `lanes` neighbouring reals, and adding is a shifted addition within the row.
 */
#include "core/dtype.h"
#include "core/integer.h"
#include "plan/strategies.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The rows of one axis: row[level * length + (window - begin)], each `reals` long. */
typedef struct pgi_ladder {
    const char **row;
    int64_t begin, length, q;
    int64_t reals;
} pgi_ladder;

/* One task's view of its plan and workspace, and the tile it is working on. */
typedef struct pgi_tile {
    const poolgrad_plan *plan;
    char *workspace;
    size_t real;              /* bytes of a compute element */
    int64_t begin[3], end[3]; /* positions, in the whole tensor */
    pgi_range reach[3];       /* windows that exist */
    pgi_range virtual[3];     /* and those that filled axes count beside them */
    pgi_ladder planes, rows;
    int64_t lanes; /* channels of the current unit */
    bool uniform;  /* one divisor for all windows of a row */
    pgi_run *runs;
    int64_t *counts;
} pgi_tile;

/* Level 0 of a ladder: `base` holds the rows of the windows in `held`, the others are zero. */
static void ladder_start(pgi_ladder *ladder, pgi_range held, const char *base, size_t row_bytes)
{
    int64_t i;

    for (i = 0; i < ladder->length; i++) {
        const int64_t o = ladder->begin + i;
        const bool exists = o >= held.begin && o < held.end;

        ladder->row[i] = exists ? base + (size_t)(o - held.begin) * row_bytes : NULL;
    }
}

/* The other levels: P[j+1](o) = P[j](o) + P[j](o + q * 2^j), in `storage` where both are there. */
static void ladder_double(pgi_ladder *ladder, int levels, char *storage, size_t row_bytes,
                          pgi_add_fn *add)
{
    int level;

    for (level = 1; level <= levels; level++) {
        const char **below = ladder->row + (level - 1) * ladder->length;
        const char **made = below + ladder->length;
        const int64_t distance = ladder->q << (level - 1);
        const int64_t length = ladder->length - (ladder->q << level) + ladder->q;
        int64_t i;

        for (i = 0; i < length; i++, storage += row_bytes) {
            const char *a = below[i], *b = below[i + distance];

            made[i] = a ? a : b;
            if (a && b) {
                add(storage, a, b, ladder->reals);
                made[i] = storage;
            }
        }
    }
}

/* The sum of a run: a row of the ladder or `target`; NULL if it is zero. */
static const char *ladder_sum(const pgi_ladder *ladder, pgi_run run, char *target, pgi_add_fn *add)
{
    const char *sum = NULL;
    int64_t o = run.first - ladder->begin;
    int level = run.count ? pgi_log2(run.count) : -1;

    for (; level >= 0; level--) {
        const char *block;

        if (!(run.count >> level & 1))
            continue;
        block = ladder->row[level * ladder->length + o];
        o += ladder->q << level;
        if (sum && block) {
            add(target, sum, block, ladder->reals);
            sum = target;
        } else if (block) {
            sum = block;
        }
    }
    return sum;
}

/* The divisor of a window that covers something, as the arithmetic has it: an integer converted
 * once. Windows that cover nothing are in no run; any number but 0 will do for them. */
static void put_divisor(const pgi_tile *tile, void *divisors, int64_t i, int64_t count)
{
    const size_t real = tile->real;

    if (count == 0)
        count = 1;
    if (real == sizeof(double))
        ((double *)divisors)[i] = (double)count;
    else
        ((float *)divisors)[i] = (float)count;
}

/* Everything that depends on the tile but not on batch and channels. */
static void tile_enter(pgi_tile *tile, int64_t index)
{
    const poolgrad_plan *plan = tile->plan;
    const pgi_problem *problem = &plan->problem;
    const pgi_tiling *tiling = &plan->tiling;
    const pgi_axis *last = &problem->axis[2];
    const poolgrad_divisor rule = problem->desc.divisor;
    int64_t runs, i;
    int axis;

    for (axis = 2; axis >= 0; axis--) {
        const int64_t at = index % tiling->tiles[axis];
        const int64_t origin = problem->dx.offset[PGI_SPATIAL + axis];
        const int64_t end = origin + problem->dx.extent[PGI_SPATIAL + axis];

        index /= tiling->tiles[axis];
        tile->begin[axis] = origin + at * tiling->extent[axis];
        tile->end[axis] = pgi_min(tile->begin[axis] + tiling->extent[axis], end);
        tile->virtual[axis] = pgi_axis_virtual_reach(&problem->axis[axis], tile->begin[axis],
                                                     tile->end[axis]);
        tile->reach[axis] =
            pgi_axis_reach(&problem->axis[axis], tile->begin[axis], tile->end[axis]);
    }
    tile->rows.row = (const char **)(void *)(tile->workspace + tiling->pointers);
    tile->rows.begin = tile->virtual[1].begin;
    tile->rows.length = tile->virtual[1].end - tile->virtual[1].begin;
    tile->rows.q = problem->axis[1].q;
    tile->planes.row = tile->rows.row + (tiling->levels[1] + 1) * tiling->reach[1];
    tile->planes.begin = tile->virtual[0].begin;
    tile->planes.length = tile->virtual[0].end - tile->virtual[0].begin;
    tile->planes.q = problem->axis[0].q;
    tile->lanes = 0;

    /* In a filled axis the runs repeat with the stride, each time one window on. */
    runs = tile->end[2] - tile->begin[2];
    if (last->filled)
        runs = pgi_min(runs, last->stride);
    tile->runs = (pgi_run *)(void *)(tile->workspace + tiling->runs);
    for (i = 0; i < runs; i++)
        tile->runs[i] = pgi_axis_run(last, tile->begin[2] + i);
    tile->counts = (int64_t *)(void *)(tile->workspace + tiling->counts);
    tile->uniform = true;
    for (i = tile->reach[2].begin; i < tile->reach[2].end; i++) {
        const int64_t window = i - tile->reach[2].begin;

        tile->counts[window] = rule == POOLGRAD_OVERRIDE ? 1 : pgi_axis_count(last, rule, i);
        tile->uniform &= tile->counts[window] == tile->counts[0];
    }
}

/* What depends on the number of channels: the last block of them may be smaller. */
static void tile_set_lanes(pgi_tile *tile, int64_t lanes)
{
    if (tile->lanes == lanes)
        return;
    tile->lanes = lanes;
    tile->rows.reals = (tile->reach[2].end - tile->reach[2].begin) * lanes;
    tile->planes.reals = (tile->reach[1].end - tile->reach[1].begin) * tile->rows.reals;
    /* The ends of the padded row stay zero; its middle is written for every row of dx. */
    memset(tile->workspace + tile->plan->tiling.columns, 0,
           (size_t)((tile->virtual[2].end - tile->virtual[2].begin) * lanes) * tile->real);
}

/* Terms of one row of windows. */
static void load_row(const pgi_tile *tile, char *terms, const char *dy, int64_t outer_count)
{
    const poolgrad_plan *plan = tile->plan;
    const int64_t lanes = tile->lanes;
    const pgi_tensor *tensor = &plan->problem.dy;
    const int64_t windows = tile->reach[2].end - tile->reach[2].begin;
    const int64_t step = tensor->stride[PGI_SPATIAL + 2], lane_step = tensor->stride[PGI_CHANNEL];
    char *divisors = tile->workspace + plan->tiling.divisors;
    int64_t o;

    for (o = 0; o < (tile->uniform ? 1 : windows); o++)
        put_divisor(tile, divisors, o, outer_count * tile->counts[o]);
    if (lanes == 1) {
        plan->kernels.terms(terms, dy, step, divisors, !tile->uniform, windows);
    } else if (tile->uniform && lane_step == 1 && step == lanes) {
        plan->kernels.terms(terms, dy, 1, divisors, 0, windows * lanes);
    } else {
        const size_t row = plan->problem.element_size;

        for (o = 0; o < windows; o++)
            plan->kernels.terms(terms + (size_t)(o * lanes) * tile->real,
                                dy + o * step * (int64_t)row, lane_step,
                                divisors + (tile->uniform ? 0 : (size_t)o * tile->real), 0, lanes);
    }
}

/* Terms of all windows that reach the tile, for one batch index and block of channels. */
static void load_terms(const pgi_tile *tile, const char *dy)
{
    const pgi_problem *problem = &tile->plan->problem;
    const poolgrad_divisor rule = problem->desc.divisor;
    const int64_t size = (int64_t)problem->element_size;
    const int64_t *stride = problem->dy.stride + PGI_SPATIAL;
    const int64_t *offset = problem->dy.offset + PGI_SPATIAL;
    const size_t row_bytes = (size_t)tile->rows.reals * tile->real;
    char *terms = tile->workspace + tile->plan->tiling.terms;
    int64_t d, h;

    dy += (tile->reach[2].begin - offset[2]) * stride[2] * size;
    for (d = tile->reach[0].begin; d < tile->reach[0].end; d++) {
        const char *plane = dy + (d - offset[0]) * stride[0] * size;

        for (h = tile->reach[1].begin; h < tile->reach[1].end; h++, terms += row_bytes) {
            const int64_t count = rule == POOLGRAD_OVERRIDE
                                      ? problem->desc.divisor_override
                                      : pgi_axis_count(&problem->axis[0], rule, d) *
                                            pgi_axis_count(&problem->axis[1], rule, h);

            load_row(tile, terms, plane + (h - offset[1]) * stride[1] * size, count);
        }
    }
}

/* Sums a run of windows within the row, for `reals` reals from there on: pieces of the doubled
 * rows, largest first. Returns where the sum is. */
static const char *sum_columns(const pgi_tile *tile, pgi_run run, int64_t reals, char *target)
{
    const poolgrad_plan *plan = tile->plan;
    const size_t row = (size_t)(plan->tiling.reach[2] * plan->tiling.lanes) * tile->real;
    const char *columns = tile->workspace + plan->tiling.columns;
    const char *sum = NULL;
    int64_t o = run.first - tile->virtual[2].begin;
    int level;

    for (level = pgi_log2(run.count); level >= 0; level--) {
        const char *block = columns + (size_t)level * row + (size_t)(o * tile->lanes) * tile->real;

        if (!(run.count >> level & 1))
            continue;
        o += plan->problem.axis[2].q << level;
        if (sum)
            plan->kernels.add(target, sum, block, reals);
        sum = sum ? target : block;
    }
    return sum;
}

/* Doubles the padded row, level by level. */
static void double_columns(const pgi_tile *tile)
{
    const poolgrad_plan *plan = tile->plan;
    const int64_t q = plan->problem.axis[2].q;
    const int64_t windows = tile->virtual[2].end - tile->virtual[2].begin;
    const size_t row = (size_t)(plan->tiling.reach[2] * plan->tiling.lanes) * tile->real;
    char *below = tile->workspace + plan->tiling.columns;
    int level;

    for (level = 1; level <= plan->tiling.levels[2]; level++, below += row) {
        const size_t shift = (size_t)((q << (level - 1)) * tile->lanes) * tile->real;
        const int64_t length = windows - (q << level) + q;

        if (length > 0)
            plan->kernels.add(below + row, below, below + shift, length * tile->lanes);
    }
}

/* Positions p, p + stride, ... of a filled axis have runs of one length, each one window on. */
static const char *sum_phases(const pgi_tile *tile)
{
    const poolgrad_plan *plan = tile->plan;
    const int64_t lanes = tile->lanes;
    const int64_t stride = plan->problem.axis[2].stride;
    const int64_t positions = tile->end[2] - tile->begin[2];
    char *phase = tile->workspace + plan->tiling.phase;
    char *sums = tile->workspace + plan->tiling.sums;
    int64_t p;

    for (p = 0; p < pgi_min(stride, positions); p++) {
        const int64_t count = pgi_ceil_div(positions - p, stride);
        const char *sum = NULL;

        if (tile->runs[p].count > 0)
            sum = sum_columns(tile, tile->runs[p], count * lanes, phase);
        if (stride == 1)
            return sum;
        plan->kernels.spread(sums + (size_t)(p * lanes) * tile->real, stride, sum, lanes, count);
    }
    return sums;
}

/* Positions of a clipped axis one by one; neighbours often have the same windows. */
static const char *sum_positions(const pgi_tile *tile)
{
    const int64_t positions = tile->end[2] - tile->begin[2];
    const size_t group = (size_t)tile->lanes * tile->real;
    char *sums = tile->workspace + tile->plan->tiling.sums;
    int64_t p;

    for (p = 0; p < positions; p++) {
        const pgi_run run = tile->runs[p];
        char *target = sums + (size_t)p * group;
        const char *sum = target;

        if (run.count == 0)
            memset(target, 0, group);
        else if (p > 0 && run.first == tile->runs[p - 1].first &&
                 run.count == tile->runs[p - 1].count)
            sum = target - group;
        else
            sum = sum_columns(tile, run, tile->lanes, target);
        if (sum != target)
            memcpy(target, sum, group);
    }
    return sums;
}

static void store_row(const pgi_tile *tile, char *dx, const char *sums)
{
    const poolgrad_plan *plan = tile->plan;
    const int64_t lanes = tile->lanes;
    const pgi_tensor *tensor = &plan->problem.dx;
    const int64_t positions = tile->end[2] - tile->begin[2];
    const int64_t step = tensor->stride[PGI_SPATIAL + 2], lane_step = tensor->stride[PGI_CHANNEL];
    int64_t p;

    if (lanes == 1) {
        plan->kernels.store(dx, step, sums, positions, &plan->scale);
    } else if (lane_step == 1 && step == lanes) {
        plan->kernels.store(dx, 1, sums, positions * lanes, &plan->scale);
    } else {
        for (p = 0; p < positions; p++)
            plan->kernels.store(dx + p * step * (int64_t)plan->problem.element_size, lane_step,
                                sums + (size_t)(p * lanes) * tile->real, lanes, &plan->scale);
    }
}

/* One row of dx before it is stored: a run of rows summed, and its windows summed along the row. */
static const char *sum_row(pgi_tile *tile, pgi_run run)
{
    const poolgrad_plan *plan = tile->plan;
    const int64_t before = tile->reach[2].begin - tile->virtual[2].begin;
    char *padded =
        tile->workspace + plan->tiling.columns + (size_t)(before * tile->lanes) * tile->real;
    char *zeros = tile->workspace + plan->tiling.sums;
    const char *sum = NULL;

    if (tile->rows.reals > 0)
        sum = ladder_sum(&tile->rows, run, padded, plan->kernels.add);
    if (sum) {
        if (sum != padded)
            memcpy(padded, sum, (size_t)tile->rows.reals * tile->real);
        double_columns(tile);
        sum = plan->problem.axis[2].filled ? sum_phases(tile) : sum_positions(tile);
    }
    if (sum)
        return sum;
    plan->kernels.spread(zeros, 1, NULL, tile->lanes, tile->end[2] - tile->begin[2]);
    return zeros;
}

/* Axes 1 and 2 of one plane of dx, from the sums over axis 0 (NULL: zero). */
static void sum_plane(pgi_tile *tile, const char *plane, char *dx)
{
    const poolgrad_plan *plan = tile->plan;
    const pgi_tiling *tiling = &plan->tiling;
    const pgi_problem *problem = &plan->problem;
    const size_t row_bytes = (size_t)tile->rows.reals * tile->real;
    const int64_t step = problem->dx.stride[PGI_SPATIAL + 1] * (int64_t)problem->element_size;
    const pgi_run none = {0, 0};
    const char *sums = NULL;
    pgi_run last = none;
    int64_t h;

    if (plane) {
        ladder_start(&tile->rows, tile->reach[1], plane, row_bytes);
        ladder_double(&tile->rows, tiling->levels[1], tile->workspace + tiling->rows, row_bytes,
                      plan->kernels.add);
    }
    for (h = tile->begin[1]; h < tile->end[1]; h++, dx += step) {
        const pgi_run run = pgi_axis_run(&problem->axis[1], h);

        /* Windows that do not overlap, or span everything, give neighbouring rows the same run. */
        if (!sums || run.first != last.first || run.count != last.count)
            sums = sum_row(tile, plane ? run : none);
        last = run;
        store_row(tile, dx, sums);
    }
}

static void run_unit(pgi_tile *tile, const char *dy, char *dx, int64_t batch, int64_t block)
{
    const poolgrad_plan *plan = tile->plan;
    const pgi_tiling *tiling = &plan->tiling;
    const pgi_problem *problem = &plan->problem;
    const int64_t size = (int64_t)problem->element_size;
    const int64_t channel = block * tiling->lanes;
    const int64_t lanes = pgi_min(tiling->lanes, problem->dx.extent[PGI_CHANNEL] - channel);
    const int64_t *stride = problem->dx.stride;
    size_t plane_bytes;
    int64_t d;
    int i;

    tile_set_lanes(tile, lanes);
    plane_bytes = (size_t)tile->planes.reals * tile->real;
    dx += (batch * stride[PGI_BATCH] + channel * stride[PGI_CHANNEL]) * size;
    for (i = 0; i < 3; i++)
        dx +=
            (tile->begin[i] - problem->dx.offset[PGI_SPATIAL + i]) * stride[PGI_SPATIAL + i] * size;

    if (plane_bytes > 0) {
        dy += ((batch + problem->dx.offset[PGI_BATCH] - problem->dy.offset[PGI_BATCH]) *
                   problem->dy.stride[PGI_BATCH] +
               (channel + problem->dx.offset[PGI_CHANNEL] - problem->dy.offset[PGI_CHANNEL]) *
                   problem->dy.stride[PGI_CHANNEL]) *
              size;
        load_terms(tile, dy);
        ladder_start(&tile->planes, tile->reach[0], tile->workspace + tiling->terms, plane_bytes);
        ladder_double(&tile->planes, tiling->levels[0], tile->workspace + tiling->planes,
                      plane_bytes, plan->kernels.add);
    }
    for (d = tile->begin[0]; d < tile->end[0]; d++, dx += stride[PGI_SPATIAL] * size) {
        const char *plane = NULL;

        if (plane_bytes > 0)
            plane = ladder_sum(&tile->planes, pgi_axis_run(&problem->axis[0], d),
                               tile->workspace + tiling->plane, plan->kernels.add);
        sum_plane(tile, plane, dx);
    }
}

static void run(const poolgrad_plan *plan, const void *dy, void *dx, int64_t begin, int64_t end,
                void *workspace)
{
    const int64_t batches = plan->problem.dx.extent[PGI_BATCH];
    const int64_t per_tile = batches * plan->tiling.blocks;
    pgi_tile tile = {
        .plan = plan, .workspace = workspace, .real = pgi_compute_size(plan->problem.desc.dtype)};
    int64_t unit;

    for (unit = begin; unit < end; unit++) {
        const int64_t within = unit % per_tile;

        if (unit == begin || within == 0)
            tile_enter(&tile, unit / per_tile);
        run_unit(&tile, dy, dx, within / plan->tiling.blocks, within % plan->tiling.blocks);
    }
}

static bool applicable(const pgi_problem *problem)
{
    (void)problem;
    return true;
}

static bool prepare(poolgrad_plan *plan)
{
    if (plan->problem.dx.elements == 0) {
        plan->tiling = (pgi_tiling){.lanes = 1};
        return true;
    }
    if (!pgi_tiling_choose(&plan->problem, plan->threads, &plan->tiling))
        return false;
    plan->units = pgi_tiling_units(&plan->problem, &plan->tiling);
    plan->task_workspace = plan->tiling.bytes;
    return true;
}

static void describe(const poolgrad_plan *plan, char *text, size_t capacity)
{
    const pgi_tiling *tiling = &plan->tiling;
    const int rank = plan->problem.desc.rank;
    size_t used = 0;
    int i;

    for (i = 3 - rank; i < 3; i++) {
        const pgi_axis *axis = &plan->problem.axis[i];
        const int written =
            snprintf(text + used, capacity - used,
                     "axis %d: tiles of %" PRId64 ", runs of up to %" PRId64 " windows, %s; ",
                     i - 3 + rank, tiling->extent[i], axis->longest,
                     axis->adaptive ? "adaptive"
                     : axis->filled ? "filled"
                                    : "clipped");

        used += (size_t)written;
        if (used >= capacity)
            return;
    }
    snprintf(text + used, capacity - used, "rows of %" PRId64 " channel%s", tiling->lanes,
             tiling->lanes == 1 ? "" : "s");
}

const pgi_strategy pgi_strategy_separable = {
    .name = "separable",
    .reason = "applies to every problem at a cost that grows with the logarithm of the window",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = describe,
};
