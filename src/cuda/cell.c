/* SPDX-License-Identifier: MIT */
/* Strategy: max pooling with stride 2 and windows of 2 or 3, cell by cell (kernels/cell.h). From x
 * it mostly takes two steps, and from some indices: the winners of all windows, a byte each, then
 * the gradient from these. */
#include "cuda/cell.h"
#include "core/dtype.h"
#include "core/integer.h"
#include "core/status.h"
#include "cuda/plan.h"

#include <stdio.h>

/* Threads of a block; kernels are compiled for no more. */
#define BLOCK 256

/* Blocks that a multiprocessor has one after the other: enough to even out the end, and so short
 * that what they read and write at a time lies close together. */
#define ROUNDS 16

/* Cells of a segment at least: what it shares with the one before is loaded twice, which with three
 * axes is more. */
#define LEAST_LENGTH(axes) ((axes) == 3 ? 8 : 4)

/* Threads of a plane, or of planes together, that fill blocks well enough. */
#define ENOUGH_THREADS 2048

/* Offsets in a plane or image are kept in 32 bits, and quotients are exact below this. */
#define MOST_SPAN (INT64_C(1) << 30)

/* ------------------------------------------------------------- what applies */

static bool is_single(const pgi_axis *axis)
{
    return !axis->adaptive && axis->kernel == 1 && axis->stride == 1 && axis->pad_lo == 0 &&
           axis->in == axis->out;
}

static bool has_cells(const pgi_axis *axis, int64_t side)
{
    return !axis->adaptive && axis->kernel == side && axis->stride == 2 && axis->dilation == 1 &&
           axis->pad_lo < 2 && pgi_axis_covers(axis, axis->out - 1);
}

/* Windows of one side with stride 2 on W, and on H and D, or on H, or on neither. */
static bool shape_axes(const pgi_problem *problem, pgi_cell_shape *shape)
{
    const pgi_axis *axis = problem->axis;
    const int64_t side = axis[2].kernel;

    if ((side != 2 && side != 3) || !has_cells(&axis[2], side) || axis[2].pad_lo > side - 2)
        return false;
    shape->side = (int)side;
    shape->padding = (int)axis[2].pad_lo;
    shape->axes = is_single(&axis[0]) ? 2 : 3;
    if (shape->axes == 3 && !has_cells(&axis[0], side))
        return false;
    return has_cells(&axis[1], side) || (is_single(&axis[1]) && axis[1].in == 1);
}

/* Whether a tensor holds the batch and channels of the target, and all places of the axes. */
static bool whole(const pgi_problem *problem, const pgi_tensor *tensor, bool windows)
{
    int i;

    for (i = 0; i < PGI_SPATIAL; i++)
        if (tensor->offset[i] != problem->target.offset[i] ||
            tensor->extent[i] != problem->target.extent[i])
            return false;
    for (i = 0; i < 3; i++)
        if (tensor->offset[PGI_SPATIAL + i] != 0 ||
            tensor->extent[PGI_SPATIAL + i] !=
                (windows ? problem->axis[i].out : problem->axis[i].in))
            return false;
    return true;
}

static bool side_by_side(const pgi_tensor *tensor, bool lanes)
{
    const int axis = lanes ? PGI_CHANNEL : PGI_AXES - 1;

    return tensor->extent[axis] == 1 || tensor->stride[axis] == 1;
}

/* Whether offsets from a plane's, or with `lanes` an image's, first element fit. */
static bool fits(const pgi_tensor *tensor, bool lanes)
{
    int64_t span = 0;
    int i;

    for (i = lanes ? PGI_CHANNEL : PGI_SPATIAL; i < PGI_AXES; i++) {
        const int64_t stride = tensor->stride[i] < 0 ? -tensor->stride[i] : tensor->stride[i];

        if (tensor->extent[i] <= 1)
            continue;
        /* one place more on both sides, which is computed but not used */
        if (stride > MOST_SPAN / (tensor->extent[i] + 2))
            return false;
        span += (tensor->extent[i] + 2) * stride;
    }
    return span < MOST_SPAN;
}

static bool usable(const pgi_problem *problem, const pgi_tensor *tensor, bool windows, bool lanes)
{
    return whole(problem, tensor, windows) && side_by_side(tensor, lanes) && fits(tensor, lanes);
}

static bool all_usable(const pgi_problem *problem, bool lanes)
{
    const bool forward = pgi_is_forward(problem->desc.op);

    if (lanes &&
        problem->target.extent[PGI_CHANNEL] % PGI_CELL_WIDTH((int)problem->element_size) != 0)
        return false;
    return usable(problem, &problem->source, !forward, lanes) &&
           usable(problem, &problem->target, forward, lanes) &&
           (!problem->has_x || usable(problem, &problem->x, false, lanes)) &&
           (problem->has_x || usable(problem, &problem->indices, true, lanes));
}

/* Whether places of a plane are few enough to be counted, some behind the last included. */
static bool countable(const pgi_axis axis[3])
{
    int64_t places = 1;
    int i;

    for (i = 0; i < 3; i++)
        if (!pgi_mul(places, axis[i].in + 4, &places) || places >= MOST_SPAN)
            return false;
    return true;
}

/* Whether the problem is one for these kernels, and for which of them. */
static bool applies(const pgi_problem *problem, pgi_cell_shape *shape)
{
    const pgi_indexing *indexing = &problem->indexing;
    const int64_t *extent = problem->target.extent;
    int64_t planes;

    if (!pgi_is_max(problem->desc.op) || problem->has_y || problem->target.elements == 0 ||
        problem->source.elements == 0 || !shape_axes(problem, shape) || !countable(problem->axis) ||
        !pgi_mul(extent[PGI_BATCH], extent[PGI_CHANNEL], &planes) || planes >= MOST_SPAN)
        return false;
    if (!problem->has_x && (indexing->window || indexing->column_major || indexing->unit != 1))
        return false;
    shape->lanes = !all_usable(problem, false);
    return !shape->lanes || all_usable(problem, true);
}

/* --------------------------------------------------------------- parameters */

static pgi_cuda_cell_strides strides_of(const pgi_tensor *tensor)
{
    pgi_cuda_cell_strides strides = {tensor->stride[PGI_BATCH], tensor->stride[PGI_CHANNEL], {0}};
    int i;

    for (i = 0; i < 3; i++)
        if (tensor->extent[PGI_SPATIAL + i] > 1)
            strides.place[i] = (int)tensor->stride[PGI_SPATIAL + i];
    return strides;
}

bool pgi_cell_in_vectors(const pgi_tensor *tensor, bool lanes, int64_t count)
{
    const int within = lanes ? PGI_CHANNEL : PGI_AXES - 1;
    int i;

    for (i = 0; i < PGI_AXES; i++)
        if (i == within ? tensor->extent[i] % count != 0
                        : tensor->extent[i] > 1 && tensor->stride[i] % count != 0)
            return false;
    return true;
}

static void fill_axes(pgi_cuda_cell *cell, const pgi_problem *problem, const pgi_cell_shape *shape)
{
    int i;

    for (i = 0; i < 3; i++) {
        const pgi_axis *axis = &problem->axis[i];

        cell->in[i] = (int)axis->in;
        cell->out[i] = (int)axis->out;
        cell->pad[i] = (int)axis->pad_lo;
        cell->cells[i] = (int)(i + shape->axes < 3 ? axis->in : (axis->in + axis->pad_lo + 1) / 2);
    }
    cell->area = cell->in[1] * cell->in[2];
    cell->by_channels = pgi_cuda_quotient_by(problem->target.extent[PGI_CHANNEL]);
}

void pgi_cell_fill(pgi_cuda_cell *cell, const poolgrad_cuda_plan *plan, const pgi_cell_shape *shape,
                   const pgi_tensor *positions, const pgi_tensor *windows, const pgi_tensor *names)
{
    const pgi_problem *problem = &plan->problem;
    const pgi_indexing *indexing = &problem->indexing;
    const pgi_tensor *target = &problem->target;
    const int size = (int)problem->element_size, width = PGI_CELL_ROW_WIDTH(size);

    *cell = (pgi_cuda_cell){
        .positions = strides_of(positions),
        .windows = strides_of(windows),
        .names = strides_of(names),
        .planes = (unsigned)(target->extent[PGI_BATCH] * target->extent[PGI_CHANNEL]),
        .channels = (unsigned)target->extent[PGI_CHANNEL],
        .alpha = plan->scale.alpha,
        .beta = plan->scale.beta,
        .plain = plan->scale.alpha == 1 && plan->scale.beta == 0,
        .kind = problem->has_x                   ? PGI_CELL_CODES
                : indexing->type == POOLGRAD_I64 ? PGI_CELL_64
                                                 : PGI_CELL_32,
        .origin = target->offset[PGI_BATCH] * indexing->batch_step +
                  target->offset[PGI_CHANNEL] * indexing->channel_step,
        .index_batch = indexing->batch_step,
        .index_channel = indexing->channel_step,
        .nan = (int)problem->desc.nan,
        .no_winner = indexing->no_winner,
    };
    fill_axes(cell, problem, shape);
    if (shape->lanes) {
        cell->vectors = pgi_cell_in_vectors(positions, true, PGI_CELL_WIDTH(size)) &&
                        pgi_cell_in_vectors(windows, true, PGI_CELL_WIDTH(size)) &&
                        pgi_cell_in_vectors(names, true, PGI_CELL_WIDTH(size));
    } else {
        cell->vectors = pgi_cell_in_vectors(positions, false, width);
        cell->pairs = pgi_cell_in_vectors(windows, false, width / 2) &&
                      pgi_cell_in_vectors(names, false, width / 2);
    }
}

/* ------------------------------------------------------------------ threads */

/* Segments of an axis of `cells`, no shorter than `least`, if so many threads are there without
 * them. */
static void cut(pgi_cuda_cell *cell, int64_t least, int64_t cells, int64_t threads, int64_t wanted)
{
    const int64_t most = pgi_max(1, cells / least);
    const int64_t segments = pgi_max(1, pgi_min(most, pgi_ceil_div(wanted, threads)));

    cell->length = (unsigned)pgi_ceil_div(cells, segments);
    cell->segments = (unsigned)pgi_ceil_div(cells, cell->length);
}

/* The grid: every thread goes through as many planes or images as leave `wanted` threads. */
static void spread(pgi_cuda_step *step, int64_t wanted)
{
    const pgi_cuda_cell *cell = &step->parameters.cell;
    const int64_t blocks = pgi_ceil_div(cell->inner, BLOCK);
    const int64_t turns = pgi_max(pgi_max(1, pgi_ceil_div(cell->outer, 65535)),
                                  blocks * cell->outer / pgi_max(1, wanted / BLOCK));

    step->grid_x = (unsigned)blocks;
    step->grid_y = (unsigned)pgi_ceil_div(cell->outer, turns);
}

/* Places of a plane that threads have, or of planes together; false if they are too many. */
static bool arrange(pgi_cuda_cell *cell, bool lanes, int64_t threads)
{
    cell->members = 1;
    cell->outer = lanes ? cell->planes / cell->channels : cell->planes;
    if (!lanes && threads < ENOUGH_THREADS) {
        cell->members = (unsigned)pgi_min(cell->planes, ENOUGH_THREADS / threads);
        cell->outer = (unsigned)pgi_ceil_div(cell->planes, cell->members);
    }
    cell->inner = (unsigned)(threads * cell->members);
    return threads <= MOST_SPAN;
}

/* Threads that keep the device busy. */
static int64_t wanted_threads(const poolgrad_cuda_plan *plan, const pgi_cuda_step *step)
{
    return (int64_t)plan->device->multiprocessors * step->resident * BLOCK * ROUNDS;
}

/* A step for pgi_PASS_KEYS_DETAILTYPE of a file, and how many threads are wanted. */
static poolgrad_status add_step(poolgrad_cuda_plan *plan, const char *file, const char *pass,
                                const char *detail, const pgi_cell_shape *shape,
                                pgi_cuda_step **step, int64_t *wanted, poolgrad_error *error)
{
    const char *type = pgi_cuda_type(plan->problem.desc.dtype);
    char name[PGI_CUDA_NAME];

    if (shape->lanes)
        snprintf(name, sizeof name, "pgi_%s_%d%d_lanes_%s%s", pass, shape->side, shape->axes,
                 detail, type);
    else
        snprintf(name, sizeof name, "pgi_%s_%d%d%d_rows_%s%s", pass, shape->side, shape->padding,
                 shape->axes, detail, type);
    *step = pgi_cuda_step_add(plan, file, name, BLOCK, 0);
    PGI_TRY(pgi_cuda_step_find(plan, *step, error));
    *wanted = wanted_threads(plan, *step);
    return POOLGRAD_OK;
}

/* Whether winners are found, and answered, two in a word (kernels/two.cuh). */
static bool has_twos(const pgi_problem *problem)
{
    return problem->has_x && problem->element_size == 2;
}

/* Channels of a thread there: with three axes there are registers for few. */
static int two_width(const pgi_cell_shape *shape, const pgi_tensor *positions,
                     const pgi_tensor *windows, const pgi_tensor *names)
{
    return shape->axes == 2 && pgi_cell_in_vectors(positions, true, 8) &&
                   pgi_cell_in_vectors(windows, true, 8) && pgi_cell_in_vectors(names, true, 8)
               ? 8
               : 4;
}

/* What their kernels' names say of it. */
static const char *two_detail(const pgi_cell_shape *shape, int width)
{
    if (!shape->lanes)
        return "";
    return width == 8 ? "8_" : "4_";
}

static poolgrad_status add_maximum(poolgrad_cuda_plan *plan, const pgi_cell_shape *shape,
                                   const pgi_tensor *x, const pgi_tensor *y,
                                   const pgi_tensor *names, size_t codes, bool *possible,
                                   poolgrad_error *error)
{
    const int size = (int)plan->problem.element_size;
    const bool twos = has_twos(&plan->problem);
    const int width =
        twos ? two_width(shape, x, y, names) : PGI_CELL_MAXIMUM_WIDTH(shape->axes, size);
    pgi_cuda_step *step;
    pgi_cuda_cell *cell;
    int64_t wanted, lines;

    PGI_TRY(add_step(plan, twos ? "two_winners" : "cell_maximum",
                     twos                  ? "two_winners"
                     : plan->problem.has_x ? "cell_winners"
                                           : "cell_maximum",
                     twos ? two_detail(shape, width) : "", shape, &step, &wanted, error));
    step->places_out = codes;
    cell = &step->parameters.cell;
    pgi_cell_fill(cell, plan, shape, x, y, names);
    if (shape->lanes)
        cell->groups = cell->channels / (unsigned)width;
    else
        cell->groups = (unsigned)pgi_ceil_div(cell->out[2], PGI_CELL_ROW_WIDTH(size) / 2);
    lines = (int64_t)cell->groups * cell->out[shape->axes == 3 ? 1 : 0] *
            (shape->lanes ? cell->out[2] : 1);
    cut(cell, LEAST_LENGTH(shape->axes), cell->out[shape->axes == 3 ? 0 : 1],
        lines * (shape->lanes ? cell->planes / cell->channels : cell->planes), wanted);
    *possible = arrange(cell, shape->lanes, lines * cell->segments);
    spread(step, wanted);
    return POOLGRAD_OK;
}

/* Bytes of what names winners. */
static int name_size(const pgi_problem *problem)
{
    return problem->indexing.type == POOLGRAD_I64 ? 8 : 4;
}

static poolgrad_status add_gradient(poolgrad_cuda_plan *plan, const pgi_cell_shape *shape,
                                    const pgi_tensor *names, size_t codes, bool *possible,
                                    poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    const bool from_codes = codes != PGI_CUDA_NOWHERE;
    const int size = (int)problem->element_size, name = from_codes ? 1 : name_size(problem);
    const bool twos = from_codes && size == 2;
    const int width = twos ? two_width(shape, &problem->target, &problem->source, names)
                           : PGI_CELL_GRADIENT_WIDTH(shape->axes, size, name);
    const char *bits = name == 1 ? "8_" : name == 4 ? "32_" : "64_";
    pgi_cuda_step *step;
    pgi_cuda_cell *cell;
    int64_t wanted, lines;

    if (from_codes && pgi_cell_has_plots(plan, shape))
        return pgi_cell_add_plots(plan, shape, names, codes, possible, error);
    if (pgi_cell_scatters(problem, shape))
        return pgi_cell_add_scatter(plan, shape, names, 8 * name, codes, possible, error);
    PGI_TRY(add_step(plan,
                     twos           ? "two_gradient"
                     : shape->lanes ? "cell_lanes"
                                    : "cell_rows",
                     twos ? "two_gradient" : "cell_gradient",
                     twos ? two_detail(shape, width) : bits, shape, &step, &wanted, error));
    step->places_in = codes;
    step->early = from_codes;
    cell = &step->parameters.cell;
    pgi_cell_fill(cell, plan, shape, &problem->target, &problem->source, names);
    cell->checks = plan->checks;
    if (shape->lanes) {
        cell->groups = cell->channels / (unsigned)width;
        lines = (int64_t)cell->groups * cell->cells[0] * cell->cells[1];
        cut(cell, LEAST_LENGTH(shape->axes), cell->cells[2],
            lines * (cell->planes / cell->channels), wanted);
    } else {
        /* windows behind the last position are checked as well */
        cell->groups = (unsigned)pgi_ceil_div(pgi_max(cell->in[2], 2 * cell->out[2]),
                                              PGI_CELL_ROW_WIDTH(size));
        lines = (int64_t)cell->groups * cell->cells[0];
        cut(cell, LEAST_LENGTH(shape->axes), cell->cells[1], lines * cell->planes, wanted);
    }
    *possible = arrange(cell, shape->lanes, lines * cell->segments);
    spread(step, wanted);
    return POOLGRAD_OK;
}

/* Codes of indices, which are then looked at instead. */
static poolgrad_status add_codes(poolgrad_cuda_plan *plan, const pgi_cell_shape *shape,
                                 const pgi_tensor *codes, size_t at, bool *possible,
                                 poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    pgi_cuda_step *step;
    pgi_cuda_cell *cell;
    int64_t lines;

    step = pgi_cuda_step_add(plan, "cell_codes",
                             name_size(problem) == 8 ? "pgi_cell_codes_33_lanes_64"
                                                     : "pgi_cell_codes_33_lanes_32",
                             BLOCK, 0);
    PGI_TRY(pgi_cuda_step_find(plan, step, error));
    step->places_out = at;
    cell = &step->parameters.cell;
    pgi_cell_fill(cell, plan, shape, &problem->target, codes, &problem->indices);
    cell->groups = cell->channels / (unsigned)PGI_CELL_WIDTH(2);
    lines = (int64_t)cell->groups * cell->out[0] * cell->out[1];
    /* nothing is loaded twice: short ones even out the end */
    cut(cell, LEAST_LENGTH(2), cell->out[2], lines * (cell->planes / cell->channels),
        wanted_threads(plan, step));
    *possible = arrange(cell, true, lines * cell->segments);
    spread(step, wanted_threads(plan, step));
    return POOLGRAD_OK;
}

/* Whether four windows side by side are found and answered at once. */
static bool has_fours(const pgi_problem *problem, const pgi_cell_shape *shape)
{
    return problem->element_size == 2 && shape->side == 2 && shape->axes == 2 && !shape->lanes &&
           problem->axis[1].kernel == 2 && problem->axis[1].pad_lo == 0;
}

static poolgrad_status add_fours(poolgrad_cuda_plan *plan, const pgi_cell_shape *shape,
                                 bool *possible, poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    const int width = PGI_CELL_ROW_WIDTH((int)problem->element_size);
    char name[PGI_CUDA_NAME];
    pgi_cuda_step *step;
    pgi_cuda_cell *cell;

    snprintf(name, sizeof name, "pgi_cell_gradient_202_fours_%s",
             pgi_cuda_type(problem->desc.dtype));
    step = pgi_cuda_step_add(plan, "cell_fours", name, BLOCK, 0);
    PGI_TRY(pgi_cuda_step_find(plan, step, error));
    cell = &step->parameters.cell;
    pgi_cell_fill(cell, plan, shape, &problem->target, &problem->source, &problem->x);
    cell->vectors = cell->vectors && pgi_cell_in_vectors(&problem->x, false, width);
    cell->groups = (unsigned)pgi_ceil_div(cell->in[2], width);
    *possible = arrange(cell, false, (int64_t)cell->groups * cell->cells[0] * cell->cells[1]);
    spread(step, wanted_threads(plan, step));
    return POOLGRAD_OK;
}

/* Winners are found first, in x or indices, into codes that lie as windows do. */
static poolgrad_status prepare_codes(poolgrad_cuda_plan *plan, const pgi_cell_shape *shape,
                                     bool *possible, poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    pgi_tensor codes = problem->source;
    size_t at;

    if (!pgi_dense_strides(shape->lanes ? POOLGRAD_NXC : POOLGRAD_NCX, PGI_AXES, codes.extent,
                           codes.stride) ||
        !fits(&codes, shape->lanes) || !pgi_cuda_reserve(plan, codes.elements, 1, &at))
        return POOLGRAD_OK;
    PGI_TRY(problem->has_x ? add_maximum(plan, shape, &problem->x, &problem->source, &codes, at,
                                         possible, error)
                           : add_codes(plan, shape, &codes, at, possible, error));
    if (*possible)
        PGI_TRY(add_gradient(plan, shape, &codes, at, possible, error));
    return POOLGRAD_OK;
}

static poolgrad_status prepare(poolgrad_cuda_plan *plan, bool *possible, poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    pgi_cell_shape shape;
    size_t checked;

    if (!applies(problem, &shape))
        return POOLGRAD_OK;
    if (problem->desc.op == POOLGRAD_MAX)
        return add_maximum(plan, &shape, &problem->source, &problem->target, &problem->indices,
                           PGI_CUDA_NOWHERE, possible, error);
    if (problem->has_x && has_fours(problem, &shape))
        return add_fours(plan, &shape, possible, error);
    if (problem->has_x)
        return prepare_codes(plan, &shape, possible, error);
    plan->checks = true;
    if (!pgi_cell_has_plots(plan, &shape)) {
        plan->workspace = sizeof(uint64_t);
        return add_gradient(plan, &shape, &problem->indices, PGI_CUDA_NOWHERE, possible, error);
    }
    if (!pgi_cuda_reserve(plan, 1, sizeof(uint64_t), &checked)) /* codes lie behind it */
        return POOLGRAD_OK;
    return prepare_codes(plan, &shape, possible, error);
}

const pgi_cuda_strategy pgi_cuda_strategy_cell = {
    .name = "cell",
    .reason = "windows of 2 or 3 with stride 2",
    .prepare = prepare,
};
