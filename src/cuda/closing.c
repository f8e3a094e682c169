/* SPDX-License-Identifier: MIT */
/* Strategy: max gradients from x with large windows around every place, whose winners are found by
 * closing planes in shared memory. */
#include "core/integer.h"
#include "core/status.h"
#include "cuda/plan.h"

#include <stdio.h>

/* Planes of a block, at most: one behind the other; and side by side, where that is 32 bytes, or,
 * of two-byte elements, 16. */
#define MEMBERS        2
#define MEMBERS_ACROSS PGI_CLOSING_MEMBERS

#define MOST_THREADS 1024
#define WARP         32
#define BANKS        32
#define VECTOR       16 /* bytes */
#define STAGE        128

/* Winners that are listed at a time, for every thread. Of random numbers a third as many as threads
 * win, and the more the smoother they are: blurred by two places as many, by five three times.
 * With keys of 8 bytes there are fewer, of half as many planes. */
#define LISTED 4

/* Whether a tensor has all places of the planes that the target has. */
static bool is_whole(const pgi_problem *problem, const pgi_tensor *tensor)
{
    int i;

    for (i = 0; i < PGI_AXES; i++) {
        const bool spatial = i >= PGI_SPATIAL;
        const pgi_tensor *target = &problem->target;

        if (tensor->extent[i] !=
                (spatial ? problem->axis[i - PGI_SPATIAL].in : target->extent[i]) ||
            (!spatial && tensor->offset[i] != target->offset[i]))
            return false;
    }
    return true;
}

/* The side of windows around every place of planes, if there are kernels for it; else 0. Lines must
 * be as long as a thread's run. */
static int side_of(const pgi_problem *problem)
{
    const int64_t side = problem->axis[1].kernel;
    int i;

    if ((side != 9 && side != 11 && side != 13) || problem->axis[0].in != 1 ||
        problem->axis[0].out != 1 || !pgi_axis_covers(&problem->axis[0], 0))
        return 0;
    for (i = 1; i < 3; i++) {
        const pgi_axis *axis = &problem->axis[i];

        if (axis->adaptive || axis->kernel != side || axis->stride != 1 || axis->dilation != 1 ||
            axis->pad_lo != side / 2 || axis->out != axis->in || axis->in <= side ||
            axis->in > PGI_CLOSING_EXTENT)
            return 0;
    }
    return (int)side;
}

/* Elements from line to line, and from plane to plane: so that lanes meet in no bank that go along
 * neighbouring lines, nor those that have neighbours of a line; across, a warp has four lines, or
 * neighbours, of eight planes. */
static int pitch_of(int64_t elements, bool across)
{
    return (int)(across ? pgi_ceil_div(elements - 1, 8) * 8 + 1 : elements | 1);
}

static int room_of(int64_t elements, bool across)
{
    if (across)
        return (int)(pgi_ceil_div(elements, BANKS) * BANKS) + BANKS / MEMBERS_ACROSS;
    return (int)(pgi_ceil_div(elements, 4) * 4); /* whole vectors, of keys */
}

/* Gives a block so many planes. Returns how many threads it then has. */
static int64_t deal(pgi_cuda_closing *all, int side, bool across, int members)
{
    const int row_tasks = all->rows * (int)pgi_ceil_div(all->columns, side + 1);
    const int column_tasks = all->columns * (int)pgi_ceil_div(all->rows, side + 1);
    const int64_t tasks = members * pgi_max(row_tasks, column_tasks);
    const int64_t threads = pgi_ceil_div(tasks, WARP) * WARP;

    all->members = members;
    all->blocks = (unsigned)pgi_ceil_div(all->planes, members);
    all->tasks = column_tasks;
    all->list_room = LISTED * (int)(sizeof(uint32_t) + sizeof(uint32_t)) * (int)threads;
    all->row_pitch = pitch_of(all->columns + side - 1, across);
    all->column_pitch = pitch_of(all->rows + side - 1, across);
    all->row_room = room_of(all->rows * all->row_pitch, across);
    all->column_room = room_of(all->columns * all->column_pitch, across);
    all->term_room = room_of(all->places, across);
    return threads;
}

/* Keys of all planes, or those of 8 bytes of half of them, or of the only one. */
static int64_t shared_of(const pgi_cuda_closing *all, size_t element_size)
{
    const int64_t keys = (int64_t)sizeof(uint32_t) * all->members, key = element_size == 4 ? 8 : 4;

    return PGI_CLOSING_FIXED + all->list_room +
           pgi_max(keys, key) * (all->row_room + all->column_room);
}

/* Whether planes are whole vectors, if the first element is aligned. */
static bool are_vectors(const pgi_cuda_closing *all, const pgi_cuda_strides *strides, size_t size)
{
    return strides->column == 1 && strides->row == all->columns &&
           (size_t)all->places * size % VECTOR == 0;
}

static bool describe(const poolgrad_cuda_plan *plan, pgi_cuda_closing *all)
{
    const pgi_problem *problem = &plan->problem;
    const pgi_tensor *target = &problem->target;
    int64_t planes;

    if (problem->desc.op != POOLGRAD_MAX_GRAD || !problem->has_x || problem->element_size == 8 ||
        problem->desc.nan == POOLGRAD_NAN_LEADING || target->elements == 0 ||
        plan->scale.alpha != 1 || plan->scale.beta != 0 || !is_whole(problem, target) ||
        !is_whole(problem, &problem->source) || !is_whole(problem, &problem->x) ||
        !pgi_mul(target->extent[PGI_BATCH], target->extent[PGI_CHANNEL], &planes) ||
        planes > INT32_MAX)
        return false;
    *all = (pgi_cuda_closing){
        .planes = (unsigned)planes,
        .channels = (unsigned)target->extent[PGI_CHANNEL],
        .rows = (int)problem->axis[1].in,
        .columns = (int)problem->axis[2].in,
        .places = (int)(problem->axis[1].in * problem->axis[2].in),
        .nan = (int)problem->desc.nan,
        .by_rows = pgi_cuda_quotient_by(problem->axis[1].in),
        .by_columns = pgi_cuda_quotient_by(problem->axis[2].in),
    };
    if (!pgi_cuda_plane_strides(&problem->x, &all->x) ||
        !pgi_cuda_plane_strides(&problem->source, &all->dy) ||
        !pgi_cuda_plane_strides(target, &all->dx))
        return false;
    all->dy_vectors = are_vectors(all, &all->dy, problem->element_size);
    all->dx_vectors = are_vectors(all, &all->dx, problem->element_size);
    return true;
}

/* Boxes of a tensor: eight channels of an image, so many rows. Whether the engine takes them:
 * distances must be multiples of 16 bytes. */
static bool boxes_of(const pgi_cuda_closing *all, const pgi_cuda_strides *strides, int rows,
                     size_t size, pgi_cuda_boxes *boxes)
{
    const int64_t stride[] = {strides->column, strides->row, strides->batch};
    int i;

    *boxes = (pgi_cuda_boxes){
        .extent = {all->channels, (uint64_t)all->columns, (uint64_t)all->rows,
                   all->planes / all->channels},
        .box = {MEMBERS_ACROSS, (unsigned)all->columns, (unsigned)rows, 1},
    };
    for (i = 0; i < PGI_CUDA_MAP_AXES - 1; i++) {
        const int64_t distance = stride[i] * (int64_t)size;

        if (distance <= 0 || distance % VECTOR != 0)
            return false;
        boxes->distance[i] = (uint64_t)distance;
    }
    return strides->channel == 1;
}

/* x and dy are brought and dx is cleared by the copy engine where blocks have planes of one image
 * and there is room for it: with 13x13 on 16x256x40x40 a block took half of its time for that
 * (H200, f32 0.061 to 0.051 ms, bf16 0.059 by strategy plane to 0.055). Whether it does that. */
static bool map_tensors(const poolgrad_cuda_plan *plan, pgi_cuda_step *step, pgi_cuda_closing *all)
{
    const size_t size = plan->problem.element_size;
    const int64_t stage = pgi_ceil_div(step->shared, STAGE) * STAGE;
    const int64_t place = (int64_t)size * MEMBERS_ACROSS;
    const int64_t zeros = pgi_ceil_div(stage + place * all->places, STAGE) * STAGE;
    const int64_t shared = zeros + place * all->columns;

    step->takes_maps = true;
    step->has_boxes = plan->device->overlaps && shared <= plan->device->shared &&
                      all->channels % MEMBERS_ACROSS == 0 &&
                      boxes_of(all, &all->x, all->rows, size, &step->x) &&
                      boxes_of(all, &all->dy, all->rows, size, &step->dy) &&
                      boxes_of(all, &all->dx, 1, size, &step->dx);
    if (!step->has_boxes)
        return false;
    step->map_type = size == 2 ? PGI_CUDA_MAP_HALVES : PGI_CUDA_MAP_WORDS;
    step->shared = (int)shared;
    all->stage = (int)stage;
    all->zeros = (int)zeros;
    return true;
}

/* Blocks that have all planes side by side in turn: as many as there is room for at a time. */
static unsigned staying_blocks(const poolgrad_cuda_plan *plan, const pgi_cuda_step *step,
                               unsigned blocks)
{
    const int64_t room = (int64_t)step->resident * plan->device->multiprocessors;

    return (unsigned)pgi_min(blocks, pgi_max(room, pgi_ceil_div(blocks, PGI_CLOSING_TURNS)));
}

static poolgrad_status prepare(poolgrad_cuda_plan *plan, bool *possible, poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    const int side = side_of(problem);
    char name[PGI_CUDA_NAME];
    pgi_cuda_closing all;
    pgi_cuda_step *step;
    int64_t threads;
    bool across;

    if (side == 0 || !describe(plan, &all))
        return POOLGRAD_OK;
    across = all.x.interleaved;
    threads = deal(&all, side, across, across ? MEMBERS_ACROSS : MEMBERS);
    if (!across && threads > MOST_THREADS)
        threads = deal(&all, side, across, 1);
    if (threads > MOST_THREADS || shared_of(&all, problem->element_size) > plan->device->shared)
        return POOLGRAD_OK;
    snprintf(name, sizeof name, "pgi_closing_%s%d_%s", across ? "across_" : "", side,
             pgi_cuda_type(problem->desc.dtype));
    step = pgi_cuda_step_add(plan, "closing", name, (int)threads,
                             (int)shared_of(&all, problem->element_size));
    /* 16 bytes of a place are too few for threads: 13x13 of bf16 takes 0.060 ms if they load dy and
     * clear dx, strategy plane 0.058 (H200) */
    if (across && !map_tensors(plan, step, &all) && problem->element_size == 2)
        return POOLGRAD_OK;
    step->parameters.closing = all;
    step->grid_x = all.blocks;
    *possible = true;
    PGI_TRY(pgi_cuda_step_find(plan, step, error));
    if (across)
        step->grid_x = staying_blocks(plan, step, all.blocks);
    return POOLGRAD_OK;
}

const pgi_cuda_strategy pgi_cuda_strategy_closing = {
    .name = "closing",
    .reason = "large windows around every place of planes that fit in shared memory",
    .prepare = prepare,
};
