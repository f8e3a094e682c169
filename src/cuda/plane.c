/* SPDX-License-Identifier: MIT */
/* Strategy: max pooling whose planes fit in shared memory. */
#include "core/dtype.h"
#include "core/integer.h"
#include "core/status.h"
#include "cuda/plan.h"
#include "cuda/winners.h"

#include <stdio.h>

/* Shared memory of a block at most, and of one with several planes: half of what a multiprocessor
 * has, so that there are two blocks at least. */
#define MOST_SHARED (INT64_C(200) << 10)
#define HALF_SHARED (MOST_SHARED / 2)

/* Planes of a block: as many as make four lines of channels' 16 bytes, or lanes of a warp that rows
 * of few runs leave to others. Backward each has a warp, and one is for all. */
#define MEMBERS 4
#define WARP    32

/* Threads forward, of blocks with one plane and with several. */
#define THREADS_ONE  128
#define THREADS_MANY 256

/* Windows of a row at least, and at most, for rows to be added one after the other, and windows
 * that are fetched at a time. */
#define LEAST_ROW 8
#define MOST_ROW  2048
#define CHUNK     320

static pgi_cuda_strides strides_of(const pgi_tensor *tensor)
{
    const int64_t *extent = tensor->extent + PGI_SPATIAL, *stride = tensor->stride + PGI_SPATIAL;
    pgi_cuda_strides strides = {.batch = tensor->stride[PGI_BATCH],
                                .channel = tensor->stride[PGI_CHANNEL],
                                .place = {stride[0], stride[1], stride[2]}};

    strides.even = (extent[1] == 1 || stride[1] == extent[2] * stride[2]) &&
                   (extent[0] == 1 || stride[0] == extent[1] * extent[2] * stride[2]);
    return strides;
}

static bool is_single(const pgi_axis *axis)
{
    return axis->kernel == 1 && axis->stride == 1 && axis->pad_lo == 0 && axis->in == axis->out;
}

/* Whether windows of an axis are many that overlap, and none is empty. */
static bool has_runs(const pgi_axis *axis)
{
    return axis->stride == 1 && axis->dilation == 1 && axis->kernel >= PGI_PLANE_RUN &&
           pgi_axis_covers(axis, 0) && pgi_axis_covers(axis, axis->out - 1);
}

/* From plane to plane in shared memory: so that eight neighbours of each of four planes, in 2 or 4
 * bytes, lie in different banks. Some elements behind the last are read. */
static int pitch_of(int64_t elements)
{
    return (int)(pgi_ceil_div(elements, 64) * 64 + 8);
}

static void fill_quotients(pgi_cuda_plane *plane)
{
    int i;

    for (i = 0; i < 2; i++) {
        plane->by_in[i] = pgi_cuda_quotient_by(plane->in[2 - i]);
        plane->by_out[i] = pgi_cuda_quotient_by(plane->out[2 - i]);
    }
    plane->by_area = pgi_cuda_quotient_by((int64_t)plane->out[1] * plane->out[2]);
    for (i = 0; i < 3; i++)
        plane->by_runs[i] = pgi_cuda_quotient_by(pgi_max(1, plane->runs[i]));
}

/* Whole planes, in the order and with the windows that the kernels know. */
static bool describe(const pgi_problem *problem, const pgi_scale *scale, pgi_cuda_plane *plane)
{
    const bool forward = pgi_is_forward(problem->desc.op);
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const pgi_tensor *windows = forward ? target : source, *positions = forward ? source : target;
    const pgi_indexing *indexing = &problem->indexing;
    int64_t planes, out = 1;
    int i;

    if (indexing->window || indexing->column_major || indexing->unit != 1 ||
        target->elements == 0 || source->elements == 0 ||
        !pgi_cuda_alike(windows, &problem->indices) ||
        source->offset[PGI_BATCH] != target->offset[PGI_BATCH] ||
        source->offset[PGI_CHANNEL] != target->offset[PGI_CHANNEL] ||
        source->extent[PGI_BATCH] != target->extent[PGI_BATCH] ||
        source->extent[PGI_CHANNEL] != target->extent[PGI_CHANNEL] ||
        indexing->plane > MOST_SHARED ||
        !pgi_mul(target->extent[PGI_BATCH], target->extent[PGI_CHANNEL], &planes) ||
        planes > INT32_MAX)
        return false;
    *plane = (pgi_cuda_plane){
        .planes = (unsigned)planes,
        .channels = (unsigned)target->extent[PGI_CHANNEL],
        .places = (int)indexing->plane,
        .source = strides_of(source),
        .target = strides_of(target),
        .origin = target->offset[PGI_BATCH] * indexing->batch_step +
                  target->offset[PGI_CHANNEL] * indexing->channel_step,
        .index_batch = indexing->batch_step,
        .index_channel = indexing->channel_step,
        .alpha = scale->alpha,
        .beta = scale->beta,
        .nan = (int)problem->desc.nan,
        .no_winner = indexing->no_winner,
        .interleaved = positions->extent[PGI_CHANNEL] > 1 && positions->stride[PGI_CHANNEL] == 1,
        .last = is_single(&problem->axis[0]) ? is_single(&problem->axis[1]) ? 2 : 1 : 0,
    };
    for (i = 0; i < 3; i++) {
        const pgi_axis *axis = &problem->axis[i];

        if (axis->adaptive || axis->kernel > MOST_SHARED || axis->stride > MOST_SHARED ||
            axis->dilation > MOST_SHARED || axis->pad_lo > MOST_SHARED ||
            windows->extent[PGI_SPATIAL + i] != axis->out ||
            positions->extent[PGI_SPATIAL + i] != axis->in ||
            (!forward && (axis->dilation != 1 || !pgi_axis_covers(axis, 0) ||
                          !pgi_axis_covers(axis, axis->out - 1))))
            return false;
        plane->in[i] = (int)axis->in;
        plane->out[i] = (int)axis->out;
        plane->kernel[i] = (int)axis->kernel;
        plane->stride[i] = (int)axis->stride;
        plane->dilation[i] = (int)axis->dilation;
        plane->pad[i] = (int)axis->pad_lo;
        plane->runs[i] = has_runs(axis) ? (int)pgi_ceil_div(axis->out, PGI_PLANE_RUN) : 0;
        if (!pgi_mul(out, axis->out, &out) || out > MOST_SHARED)
            return false;
    }
    plane->windows = (int)out;
    plane->place_pitch = pitch_of(plane->places);
    fill_quotients(plane);
    return true;
}

/* Of what names winners, in a kernel's name; `found`: in x, as places. */
static int bits_of(const pgi_problem *problem, bool found)
{
    if (found)
        return 16;
    return problem->indexing.type == POOLGRAD_I64 ? 64 : 32;
}

static poolgrad_status add_step(poolgrad_cuda_plan *plan, const char *kernel, int bits,
                                const pgi_cuda_plane *plane, int threads, int64_t shared,
                                pgi_cuda_step **step, poolgrad_error *error)
{
    char name[PGI_CUDA_NAME];

    snprintf(name, sizeof name, "pgi_%s_%d_%s", kernel, bits,
             pgi_cuda_type(plan->problem.desc.dtype));
    *step = pgi_cuda_step_add(plan, kernel, name, threads, (int)shared);
    (*step)->parameters.plane = *plane;
    (*step)->grid_x = (unsigned)pgi_ceil_div(plane->planes, plane->members);
    return pgi_cuda_step_find(plan, *step, error);
}

/* As many planes for a block as are wanted and fit, `shared` bytes each. */
static int members_of(int wanted, int64_t shared)
{
    while (wanted > 1 && wanted * shared > HALF_SHARED)
        wanted /= 2;
    return wanted;
}

/* What a plane takes: keys of x and after W, the first again after H; and places after W and H if
 * the keys do not have them. */
static int64_t maximum_shared(pgi_cuda_plane *plane, size_t element)
{
    const int64_t columns = (int64_t)plane->in[0] * plane->in[1] * plane->out[2];
    const int64_t rows = (int64_t)plane->in[0] * plane->out[1] * plane->out[2];
    const int64_t key = element == 8 ? 8 : 4, place = element == 2 ? 0 : sizeof(uint16_t);

    if (columns > MOST_SHARED || rows > MOST_SHARED)
        return INT64_MAX;
    if (plane->last < 2)
        plane->column_pitch = pitch_of(columns);
    if (plane->last == 0)
        plane->place_pitch = pitch_of(pgi_max(plane->places, rows));
    return plane->place_pitch * (key + (plane->last == 0 ? place : 0)) +
           plane->column_pitch * (key + place);
}

static poolgrad_status add_maximum(poolgrad_cuda_plan *plan, const pgi_problem *problem, bool found,
                                   bool *possible, pgi_cuda_step **step, poolgrad_error *error)
{
    pgi_cuda_plane plane;
    int64_t shared;

    *possible = describe(problem, &plan->scale, &plane);
    if (!*possible)
        return POOLGRAD_OK;
    shared = maximum_shared(&plane, problem->element_size);
    *possible = shared <= MOST_SHARED;
    if (!*possible)
        return POOLGRAD_OK;
    plane.members = members_of(plane.interleaved ? MEMBERS : 1, shared);
    return add_step(plan, "plane_maximum", bits_of(problem, found), &plane,
                    plane.members > 1 ? THREADS_MANY : THREADS_ONE, plane.members * shared, step,
                    error);
}

static poolgrad_status add_gradient(poolgrad_cuda_plan *plan, const pgi_problem *problem,
                                    bool found, bool *possible, pgi_cuda_step **step,
                                    poolgrad_error *error)
{
    const int64_t real = (int64_t)pgi_compute_size(problem->desc.dtype);
    const int64_t element = (int64_t)problem->element_size, half = sizeof(uint16_t);
    pgi_cuda_plane plane;
    int64_t shared;

    *possible = describe(problem, &plan->scale, &plane);
    if (!*possible)
        return POOLGRAD_OK;
    plane.by_rows = plane.out[2] >= LEAST_ROW && plane.out[2] <= MOST_ROW;
    plane.chunk = plane.by_rows && plane.out[2] < CHUNK ? CHUNK - CHUNK % plane.out[2]
                  : plane.by_rows                       ? plane.out[2]
                                                        : CHUNK;
    if (plane.chunk > plane.windows)
        plane.chunk = plane.windows;
    plane.chunk_pitch = pitch_of(plane.chunk);
    plane.row_pitch = plane.by_rows ? plane.chunk / plane.out[2] + 1 : 0;
    shared = plane.place_pitch * real +
             2 * (plane.chunk_pitch * (element + 2 * half) + plane.row_pitch * half);
    *possible = shared <= MOST_SHARED;
    if (!*possible)
        return POOLGRAD_OK;
    plane.members = members_of(MEMBERS, shared);
    return add_step(plan, "plane_gradient", bits_of(problem, found), &plane,
                    (plane.members + 1) * WARP, plane.members * shared, step, error);
}

static poolgrad_status prepare(poolgrad_cuda_plan *plan, bool *possible, poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    pgi_cuda_step *step;

    if (problem->desc.op == POOLGRAD_MAX)
        return add_maximum(plan, problem, false, possible, &step, error);
    if (problem->desc.op != POOLGRAD_MAX_GRAD || problem->target.elements == 0)
        return POOLGRAD_OK;
    if (problem->has_x) {
        pgi_problem winners, gradient = *problem;
        size_t places;

        PGI_TRY(pgi_cuda_winners(plan, sizeof(uint16_t), &winners, &places, error));
        pgi_cuda_from_winners(&gradient, &winners);
        PGI_TRY(add_maximum(plan, &winners, true, possible, &step, error));
        if (!*possible)
            return POOLGRAD_OK;
        step->places_out = places;
        PGI_TRY(add_gradient(plan, &gradient, true, possible, &step, error));
        if (*possible)
            step->places_in = places;
        return POOLGRAD_OK;
    }
    plan->checks = true;
    plan->workspace = sizeof(uint64_t);
    return add_gradient(plan, problem, false, possible, &step, error);
}

const pgi_cuda_strategy pgi_cuda_strategy_plane = {
    .name = "plane",
    .reason = "planes fit in shared memory",
    .prepare = prepare,
};
