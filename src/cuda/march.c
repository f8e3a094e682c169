/* SPDX-License-Identifier: MIT */
/* Strategy: averages of overlapping windows of equal sides, stride 1, both ways. Blocks march along
 * the first axis with a tile of the others. */
#include "core/dtype.h"
#include "core/integer.h"
#include "core/status.h"
#include "cuda/plan.h"

#include <stdio.h>
#include <string.h>

/* The sides that there are kernels for, by rank; 0 behind the last. */
#define SIDE(side, rank) side,
static const int sides[4][32] = {
    {0}, {PGI_MARCH_SIDES_1(SIDE)}, {PGI_MARCH_SIDES_2(SIDE)}, {PGI_MARCH_SIDES_3(SIDE)}};

static pgi_cuda_march_axis make_axis(const pgi_problem *problem, int i)
{
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const int k = PGI_SPATIAL + i;
    const pgi_axis *axis = &problem->axis[i];
    const bool forward = pgi_is_forward(problem->desc.op);

    return (pgi_cuda_march_axis){
        .axis = *axis,
        .sources = source->extent[k],
        .targets = target->extent[k],
        .shift = pgi_cuda_shift(problem, i),
        .source_stride = source->stride[k],
        .target_stride = target->stride[k],
        .window = forward ? target->offset[k] : source->offset[k],
    };
}

static pgi_cuda_march_outer make_outer(const pgi_problem *problem, int k)
{
    return (pgi_cuda_march_outer){problem->target.extent[k], problem->source.stride[k],
                                  problem->target.stride[k]};
}

/* Targets of a tile that are worth a block. */
#define LEAST_SHARE 4

/* Vectors of a row that a thread marches along in shared memory: of many only a small share is
 * also its neighbours', few leave room for many threads. */
#define MOST_VECTORS 23

/* Planes or images as rows of a tile. */
static pgi_cuda_march_axis make_plain_rows(pgi_cuda_march_outer outer)
{
    return (pgi_cuda_march_axis){.axis = pgi_axis_unit(),
                                 .sources = outer.count,
                                 .targets = outer.count,
                                 .source_stride = outer.source_stride,
                                 .target_stride = outer.target_stride};
}

/* Whether channels lie side by side, so that they can be lanes of a column. */
static bool has_lanes(const pgi_problem *problem)
{
    return problem->target.extent[PGI_CHANNEL] > 1 && problem->source.stride[PGI_CHANNEL] == 1 &&
           problem->target.stride[PGI_CHANNEL] == 1;
}

/* Whether a tensor's rows are whole pieces of so many elements, lanes included, and all strides
 * that a piece may be displaced by multiples of that. */
static bool in_pieces(const pgi_tensor *tensor, int lanes, int width)
{
    const int side = lanes > 1 ? PGI_CHANNEL : PGI_AXES - 1; /* the axis that pieces are of */
    const bool apart = lanes > 1 && lanes % width == 0;      /* no piece has lanes of two places */
    int i;

    if (tensor->extent[side] > 1 && tensor->stride[side] != 1)
        return false;
    if (!apart && lanes > 1 &&
        (tensor->stride[PGI_AXES - 1] != lanes || tensor->extent[PGI_CHANNEL] != lanes))
        return false;
    if (!apart && tensor->extent[PGI_AXES - 1] * lanes % width)
        return false;
    for (i = 0; i < PGI_AXES - (apart ? 0 : 1); i++)
        if (i != side && tensor->extent[i] > 1 && tensor->stride[i] % width)
            return false;
    return true;
}

static int64_t round_up(int64_t number, int64_t step)
{
    return pgi_ceil_div(number, step) * step;
}

/* The tile, such that there are few of them, since every one costs the same, and then few cells in
 * it. Returns what all cost; HUGE_COST if there is no such tile. */
#define HUGE_COST 1e30

static double choose_tile(pgi_cuda_march *march, const pgi_problem *problem, int side,
                          pgi_march_shape shape)
{
    const int rank = problem->desc.rank, bytes = (int)problem->element_size;
    const int64_t fetched = PGI_MARCH_FETCHED(bytes);
    const int64_t step = shape != PGI_MARCH_SINGLES ? PGI_MARCH_STORED(bytes)
                         : march->pieces            ? fetched
                                                    : 1;
    const int64_t real = (int64_t)pgi_compute_size(problem->desc.dtype);
    const int64_t most = PGI_MARCH_THREADS(rank, side) * PGI_MARCH_CELLS(rank, real);
    const int64_t columns = march->column.targets * march->lanes;
    const int64_t shift = march->column.shift * march->lanes;
    const int64_t lead = march->pieces ? shift - pgi_floor_div(shift, fetched) * fetched : 0;
    double best = HUGE_COST;
    int64_t tiles;

    for (tiles = 1; tiles <= columns && tiles <= pgi_max(64, 8 * columns / most); tiles++) {
        const int64_t wide = round_up(pgi_ceil_div(columns, tiles), step);
        const int64_t pitch = round_up(lead + wide + (int64_t)(side - 1) * march->lanes, 4);
        int64_t rows = most / pitch, source_rows;
        double cost;

        if (rank == 3)
            rows = pgi_min((rows - (side - 1)) / PGI_MARCH_ROWS(side) * PGI_MARCH_ROWS(side),
                           round_up(march->row.targets, PGI_MARCH_ROWS(side)));
        else
            rows = pgi_min(rows, march->row.targets);
        if (rows < 1)
            continue;
        source_rows = rank == 3 ? rows + side - 1 : rows;
        cost = (double)pgi_ceil_div(columns, wide) *
               (double)pgi_ceil_div(march->row.targets, rows) *
               ((double)most + 0.25 * (double)(source_rows * pitch));
        if (cost >= best)
            continue;
        best = cost;
        march->lead = (int)lead;
        march->columns = (int)wide;
        march->pitch = (int)pitch;
        march->rows = (int)rows;
        march->source_rows = (int)source_rows;
    }
    if (best < HUGE_COST) {
        march->column_tiles = (int)pgi_ceil_div(columns, march->columns);
        march->row_tiles = (int)pgi_ceil_div(march->row.targets, march->rows);
    }
    return best * (double)march->inner.count * (double)march->outer.count;
}

/* Room for so many bytes; returns where it begins, and what is behind it in *end. */
static int place_shared(int64_t bytes, int *end)
{
    const int begin = *end;

    *end += (int)round_up(bytes, 16);
    return begin;
}

/* Says what is where in shared memory; returns how much it is. */
static int place_all(pgi_cuda_march *march, const pgi_problem *problem, int side,
                     pgi_march_shape shape)
{
    const int rank = problem->desc.rank;
    const int64_t real = (int64_t)pgi_compute_size(problem->desc.dtype);
    const int64_t batch = PGI_MARCH_BATCH(rank, side);
    const int64_t tile = PGI_MARCH_THREADS(rank, side) * PGI_MARCH_CELLS(rank, real);
    const bool counts = march->divisor_rule != 0;
    int end = 0;

    place_shared(PGI_MARCH_STAGES(rank, side) * batch * tile * (int64_t)problem->element_size,
                 &end);
    march->cells_at = place_shared(2 * batch * tile * real, &end);
    march->summed_at =
        place_shared(rank == 3 ? 2 * batch * (int64_t)march->rows * march->pitch * real : 0, &end);
    end += 16; /* which the last loads may touch */
    march->inverses_at = place_shared(counts ? 2 * real * (march->volume + 1) : 0, &end);
    march->counts_at = place_shared(counts ? 2 * tile : 0, &end);
    march->steps_at = place_shared(
        counts && rank > 1 ? (PGI_MARCH_MOST + side + 2 * batch) * (int64_t)sizeof(int) : 0, &end);
    march->sources_at = place_shared(march->pieces ? 0 : tile * (int64_t)sizeof(int), &end);
    march->singles_at =
        place_shared(shape == PGI_MARCH_SINGLES
                         ? (int64_t)march->rows * march->columns * (int64_t)sizeof(pgi_march_single)
                         : 0,
                     &end);
    return end;
}

static bool small_axis(const pgi_cuda_march_axis *axis)
{
    return pgi_cuda_is_small(axis->sources) && pgi_cuda_is_small(axis->targets) &&
           pgi_cuda_is_small(axis->shift);
}

/* Whether places, and offsets within a tile, can be kept in 32 bits. */
static bool fits(const pgi_cuda_march *march, int rank)
{
    const pgi_cuda_march_axis *row = &march->row, *column = &march->column;
    int64_t source, target;

    return (rank == 1 || small_axis(&march->march)) && small_axis(row) && small_axis(column) &&
           pgi_mul(column->sources, column->source_stride, &source) &&
           pgi_mul(column->targets, column->target_stride, &target) && pgi_cuda_is_small(source) &&
           pgi_cuda_is_small(target) && pgi_mul(march->source_rows, row->source_stride, &source) &&
           pgi_mul(march->source_rows, row->target_stride, &target) && pgi_cuda_is_small(source) &&
           pgi_cuda_is_small(target) && pgi_cuda_is_small(column->targets * march->lanes);
}

/* The axes of the tile: which is marched along, and what is beside it. */
static void choose_axes(const pgi_problem *problem, pgi_cuda_march *march)
{
    const int rank = problem->desc.rank;
    pgi_cuda_march_outer batch = make_outer(problem, PGI_BATCH);
    pgi_cuda_march_outer channels = make_outer(problem, PGI_CHANNEL);
    const pgi_cuda_march_outer none = {1, 0, 0};

    if (march->lanes > 1) {
        channels.count /= march->lanes;
        channels.source_stride = channels.target_stride = march->lanes;
    }
    march->column = make_axis(problem, 2);
    march->source_begin = pgi_cuda_source_begin(problem);
    march->inner = channels;
    march->outer = batch;
    if (rank == 3) {
        march->march = make_axis(problem, 0);
        march->row = make_axis(problem, 1);
        return;
    }
    if (rank == 2)
        march->march = make_axis(problem, 1);
    if (channels.count == 1) {
        march->row = make_plain_rows(batch);
        march->outer = none;
    } else if (march->lanes == 1 &&
               (batch.count == 1 ||
                (batch.source_stride == channels.count * channels.source_stride &&
                 batch.target_stride == channels.count * channels.target_stride))) {
        channels.count *= batch.count;
        march->row = make_plain_rows(channels);
        march->inner = march->outer = none;
    } else if (march->lanes == 1) {
        march->row = make_plain_rows(channels);
        march->inner = none;
    } else {
        march->row = make_plain_rows(batch);
        march->outer = none;
    }
}

/* Rank 1 with channels side by side: W is marched along, by every thread for itself. Returns how
 * many channels a thread has; 0 if this is no such problem. */
static int choose_channels(const pgi_problem *problem, pgi_cuda_march *march)
{
    const pgi_cuda_march_outer channels = make_outer(problem, PGI_CHANNEL);

    if (problem->desc.rank != 1 || !has_lanes(problem) || channels.count < 8)
        return 0;
    choose_axes(problem, march);
    march->march = march->column;
    march->row = make_plain_rows(make_outer(problem, PGI_BATCH));
    march->column = make_plain_rows(channels);
    march->inner = march->outer = (pgi_cuda_march_outer){1, 0, 0};
    return channels.count % 2 == 0 && in_pieces(&problem->source, 2, 2) &&
                   in_pieces(&problem->target, 2, 2)
               ? 2
               : 1;
}

/* Rank 1 whose rows lie one behind the other: segments of rows, whole vectors, are marched along in
 * shared memory, by a thread each. An odd number of vectors apart they meet in no bank. Returns how
 * many threads a block has; 0 if this is no such problem. */
static int choose_rows(const pgi_problem *problem, int side, pgi_cuda_march *march)
{
    const int width = PGI_ROWS_VECTOR(problem->element_size);
    const pgi_cuda_march_axis *row = &march->row, *column = &march->column;
    int64_t vectors, segment, across;

    if (problem->desc.rank != 1 || march->divisor_rule != 0 || march->beta != 0)
        return 0;
    march->lanes = 1;
    choose_axes(problem, march);
    vectors = column->targets / width;
    if (march->inner.count != 1 || march->outer.count != 1 || !pgi_cuda_is_small(row->targets) ||
        column->sources != column->targets || column->shift != -(side / 2) ||
        column->targets % width != 0 || column->source_stride != 1 || column->target_stride != 1 ||
        row->source_stride != column->targets || row->target_stride != column->targets)
        return 0;
    across = pgi_ceil_div(vectors, MOST_VECTORS);
    segment = pgi_ceil_div(vectors, across) | 1;
    /* the last has what the one before needs */
    if (across > PGI_ROWS_MOST ||
        vectors - (across - 1) * segment < PGI_ROWS_BESIDE(side, problem->element_size))
        return 0;
    march->segment = (int)segment;
    march->by_row = pgi_cuda_quotient_by(vectors);
    march->pitch = (int)(across * segment);
    march->columns = (int)column->targets;
    march->planes = row->targets;
    march->rows = (int)pgi_max(1, PGI_ROWS_THREADS / across);
    return march->rows * (int)across;
}

/* Rank 1 marches through its planes, `rows` at a time. */
static void march_planes(pgi_cuda_march *march)
{
    const int64_t steps = march->row_tiles;

    march->planes = march->row.sources;
    march->march = (pgi_cuda_march_axis){.axis = pgi_axis_unit(),
                                         .sources = steps,
                                         .targets = steps,
                                         .source_stride = march->rows * march->row.source_stride,
                                         .target_stride = march->rows * march->row.target_stride};
    march->row_tiles = 1;
}

/* Cuts the march into segments; returns how many there are for so many blocks each. */
static int64_t cut_segments(pgi_cuda_march *march, const poolgrad_cuda_plan *plan, int side,
                            const pgi_cuda_step *step, int64_t blocks)
{
    const int64_t targets = march->march.targets;
    int64_t segment =
        pgi_cuda_segment(plan, step, blocks, targets, march->planes == 0 ? side + 8 : 1);

    segment = pgi_min(segment, PGI_MARCH_MOST);
    march->segment = (int)segment;
    return pgi_ceil_div(targets, segment);
}

/* Whether there are windows that count nothing; if so, they are at an end. */
static bool has_empty(const pgi_problem *problem)
{
    int i;

    for (i = 0; i < 3; i++) {
        const pgi_axis *axis = &problem->axis[i];

        if (pgi_axis_count(axis, problem->desc.divisor, 0) == 0 ||
            pgi_axis_count(axis, problem->desc.divisor, axis->out - 1) == 0)
            return true;
    }
    return false;
}

/* What is the same however channels are taken. */
static bool describe(const poolgrad_cuda_plan *plan, int side, pgi_cuda_march *march)
{
    const pgi_problem *problem = &plan->problem;
    int i;

    memset(march, 0, sizeof *march);
    march->volume = 1;
    for (i = 0; i < problem->desc.rank; i++)
        march->volume *= side;
    march->alpha = plan->scale.alpha;
    march->beta = plan->scale.beta;
    march->forward = pgi_is_forward(problem->desc.op);
    march->divisor_rule =
        pgi_cuda_one_divisor(problem, &march->divisor) ? 0 : (int)problem->desc.divisor;
    /* an override does not say which windows cover nothing */
    return march->divisor_rule != POOLGRAD_OVERRIDE &&
           (march->divisor_rule == 0 || !has_empty(problem));
}

/* The best tile over all numbers of lanes that channels can be cut into: fewer have less halo, but
 * make shorter pieces of memory. */
static bool choose_march(const pgi_problem *problem, int side, pgi_cuda_march *march,
                         pgi_march_shape *shape)
{
    const int64_t channels = problem->target.extent[PGI_CHANNEL];
    const int64_t most = has_lanes(problem) ? pgi_min(channels, 128) : 1;
    const int stored = PGI_MARCH_STORED((int)problem->element_size);
    const int fetched = PGI_MARCH_FETCHED(problem->element_size);
    double best = HUGE_COST;
    int64_t lanes;

    for (lanes = 1; lanes <= most; lanes++) {
        const double piece = (double)lanes * (double)problem->element_size;
        pgi_march_shape tried_shape = PGI_MARCH_SINGLES;
        pgi_cuda_march tried = *march;
        double cost;

        if (channels % lanes || (lanes == 1 && most > 1) || (lanes != most && piece < 32))
            continue;
        if (in_pieces(&problem->target, (int)lanes, stored) && (lanes == 1 || lanes % stored == 0))
            tried_shape = lanes == 1 ? PGI_MARCH_NEIGHBOURS : PGI_MARCH_LANES;
        tried.lanes = (int)lanes;
        tried.pieces = in_pieces(&problem->source, (int)lanes, fetched);
        choose_axes(problem, &tried);
        cost = choose_tile(&tried, problem, side, tried_shape);
        if (lanes < channels && piece < 128)
            cost *= piece < 64 ? 1.3 : 1.1;
        if (cost >= best)
            continue;
        best = cost;
        *march = tried;
        *shape = tried_shape;
    }
    return best < HUGE_COST;
}

static poolgrad_status add_channels(poolgrad_cuda_plan *plan, pgi_cuda_march *march, int side,
                                    int each, bool *possible, poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    const int64_t real = (int64_t)pgi_compute_size(problem->desc.dtype);
    const int64_t threads = march->row.targets * (march->column.targets / each);
    const int64_t blocks = pgi_ceil_div(threads, PGI_CHANNELS_THREADS);
    char kernel[PGI_CUDA_NAME];
    pgi_cuda_step *step;

    if (blocks > INT32_MAX || march->march.targets > (int64_t)PGI_MARCH_MOST * 65535)
        return POOLGRAD_OK;
    *possible = true;
    snprintf(kernel, sizeof kernel, "pgi_channels_%d_%d_%s", each, side,
             pgi_cuda_type(problem->desc.dtype));
    step = pgi_cuda_step_add(plan, "channels", kernel, PGI_CHANNELS_THREADS,
                             (int)(2 * real * (PGI_MARCH_MOST + side + 2 * PGI_CHANNELS_BATCH)));
    PGI_TRY(pgi_cuda_step_find(plan, step, error));
    step->grid_x = (unsigned)blocks;
    step->grid_y = (unsigned)cut_segments(march, plan, side, step, blocks);
    step->parameters.march = *march;
    return POOLGRAD_OK;
}

static poolgrad_status add_rows(poolgrad_cuda_plan *plan, const pgi_cuda_march *march, int side,
                                int threads, poolgrad_error *error)
{
    char kernel[PGI_CUDA_NAME];
    pgi_cuda_step *step;

    snprintf(kernel, sizeof kernel, "pgi_rows_%d_%s", side,
             pgi_cuda_type(plan->problem.desc.dtype));
    step = pgi_cuda_step_add(plan, "rows", kernel, (int)round_up(threads, 32),
                             march->rows * march->pitch * 16);
    PGI_TRY(pgi_cuda_step_find(plan, step, error));
    step->grid_x = (unsigned)pgi_ceil_div(march->planes, march->rows);
    step->grid_y = 1;
    step->parameters.march = *march;
    return POOLGRAD_OK;
}

static poolgrad_status add_march(poolgrad_cuda_plan *plan, pgi_cuda_march *march, int side,
                                 pgi_march_shape shape, poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    const int rank = problem->desc.rank;
    const int64_t steps = march->inner.count * march->outer.count * march->row_tiles *
                          march->column_tiles * march->march.targets;
    static const char *const files[] = {NULL, "march_1", "march_2", "march_3"};
    static const char *const shapes[] = {"neighbours", "lanes", "singles"};
    char kernel[PGI_CUDA_NAME];
    pgi_cuda_step *step;

    snprintf(kernel, sizeof kernel, "pgi_march_%s_%d_%d_%s", shapes[shape], rank, side,
             pgi_cuda_type(problem->desc.dtype));
    step = pgi_cuda_step_add(plan, files[rank], kernel, PGI_MARCH_THREADS(rank, side),
                             place_all(march, problem, side, shape));
    PGI_TRY(pgi_cuda_step_find(plan, step, error));
    march->share = pgi_max(LEAST_SHARE, pgi_ceil_div(steps, (int64_t)plan->device->multiprocessors *
                                                                pgi_max(step->resident, 1)));
    step->grid_x = (unsigned)pgi_ceil_div(steps, march->share);
    step->grid_y = 1;
    step->parameters.march = *march;
    return POOLGRAD_OK;
}

static poolgrad_status prepare(poolgrad_cuda_plan *plan, bool *possible, poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    const int side = pgi_cuda_side(problem, sides[problem->desc.rank]);
    pgi_cuda_march march;
    pgi_march_shape shape = PGI_MARCH_SINGLES;
    int each, threads;

    if (pgi_is_max(problem->desc.op) || problem->target.elements == 0 ||
        problem->source.elements == 0 || side == 0 || !describe(plan, side, &march))
        return POOLGRAD_OK;
    each = choose_channels(problem, &march);
    if (each)
        return fits(&march, 0) ? add_channels(plan, &march, side, each, possible, error)
                               : POOLGRAD_OK;
    threads = choose_rows(problem, side, &march);
    if (threads) {
        *possible = true;
        return add_rows(plan, &march, side, threads, error);
    }
    if (!choose_march(problem, side, &march, &shape))
        return POOLGRAD_OK;
    if (problem->desc.rank == 1)
        march_planes(&march);
    if (!fits(&march, problem->desc.rank))
        return POOLGRAD_OK;
    *possible = true;
    return add_march(plan, &march, side, shape, error);
}

const pgi_cuda_strategy pgi_cuda_strategy_march = {
    .name = "march",
    .reason = "windows overlap with stride 1",
    .prepare = prepare,
};
