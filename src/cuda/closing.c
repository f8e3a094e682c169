/* SPDX-License-Identifier: MIT */
/* Strategy: max gradients from x with large windows around every place, whose winners are found by
 * closing planes in shared memory. */
#include "core/integer.h"
#include "core/status.h"
#include "cuda/plan.h"

#include <stdio.h>

/* Planes of a block, at most: one behind the other; and side by side, where that is 32 bytes. */
#define MEMBERS        2
#define MEMBERS_ACROSS PGI_CLOSING_MEMBERS

#define MOST_THREADS 1024
#define WARP         32
#define BANKS        32
#define VECTOR       16 /* bytes */

/* Winners that are listed at a time, for every thread. Of random numbers a third as many as threads
 * win, and the more the smoother they are: blurred by two places as many, by five three times. */
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
    all->tasks = column_tasks;
    all->listed = LISTED * (int)threads;
    all->row_pitch = pitch_of(all->columns + side - 1, across);
    all->column_pitch = pitch_of(all->rows + side - 1, across);
    all->row_room = room_of(all->rows * all->row_pitch, across);
    all->column_room = room_of(all->columns * all->column_pitch, across);
    all->term_room = room_of(all->places, across);
    return threads;
}

/* Keys of all planes, or those of 8 bytes of half of them, or of the only one. */
static int64_t shared_of(const pgi_cuda_closing *all)
{
    const int64_t keys = (int64_t)sizeof(uint32_t) * all->members;
    const int64_t listed = all->key_size + (int64_t)sizeof(uint32_t);

    return PGI_CLOSING_FIXED + all->listed * listed +
           pgi_max(keys, all->key_size) * (all->row_room + all->column_room);
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
        .key_size = problem->element_size == 4 ? 8 : 4,
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
    /* 16 bytes of a place are too few: 13x13 of bf16 takes 0.060 ms, strategy plane 0.058 (H200) */
    if (across && problem->element_size == 2)
        return POOLGRAD_OK;
    threads = deal(&all, side, across, across ? MEMBERS_ACROSS : MEMBERS);
    if (!across && threads > MOST_THREADS)
        threads = deal(&all, side, across, 1);
    if (threads > MOST_THREADS || shared_of(&all) > plan->device->shared)
        return POOLGRAD_OK;
    snprintf(name, sizeof name, "pgi_closing_%s%d_%s", across ? "across_" : "", side,
             pgi_cuda_type(problem->desc.dtype));
    step = pgi_cuda_step_add(plan, "closing", name, (int)threads, (int)shared_of(&all));
    step->parameters.closing = all;
    step->grid_x = (unsigned)pgi_ceil_div(all.planes, all.members);
    *possible = true;
    return pgi_cuda_step_find(plan, step, error);
}

const pgi_cuda_strategy pgi_cuda_strategy_closing = {
    .name = "closing",
    .reason = "large windows around every place of planes that fit in shared memory",
    .prepare = prepare,
};
