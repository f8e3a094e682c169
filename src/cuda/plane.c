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

/* Planes of a block forward, of those that lie side by side: 32 bytes of f32. */
#define MEMBERS 8

/* Threads forward, of blocks with one plane and with several. */
#define THREADS_ONE  128
#define THREADS_MANY 512

/* Threads backward; slots of a chunk for which a block has fewer planes. */
#define WARP        32
#define FETCHERS    (PGI_PLANE_FETCHERS * WARP)
#define THREADS     (PGI_PLANE_ADDERS * WARP + FETCHERS)
#define LEAST_SLOTS 32

/* Bytes that a lane loads at once: an odd number of them apart, lanes meet in no bank. */
#define LOADED 16

bool pgi_cuda_plane_strides(const pgi_tensor *tensor, pgi_cuda_strides *strides)
{
    const int64_t *extent = tensor->extent + PGI_SPATIAL, *stride = tensor->stride + PGI_SPATIAL;
    const int64_t row = extent[1] == 1 ? stride[0] : stride[1];

    *strides = (pgi_cuda_strides){
        .batch = tensor->stride[PGI_BATCH],
        .channel = tensor->stride[PGI_CHANNEL],
        .row = (int)row,
        .column = (int)stride[2],
        .interleaved = tensor->extent[PGI_CHANNEL] > 1 && tensor->stride[PGI_CHANNEL] == 1,
    };
    return pgi_cuda_is_small(row) && (extent[0] == 1 || stride[0] == extent[1] * row) &&
           pgi_cuda_is_small(extent[0] * extent[1] * row) && pgi_cuda_is_small(stride[2]) &&
           pgi_cuda_is_small(extent[2] * stride[2]);
}

static bool is_single(const pgi_axis *axis)
{
    return axis->kernel == 1 && axis->stride == 1 && axis->pad_lo == 0 && axis->in == axis->out;
}

static void fill_quotients(pgi_cuda_plane *plane)
{
    int i;

    for (i = 0; i < 2; i++) {
        plane->by_in[i] = pgi_cuda_quotient_by(plane->in[2 - i]);
        plane->by_out[i] = pgi_cuda_quotient_by(plane->out[2 - i]);
    }
    plane->by_groups = pgi_cuda_quotient_by(pgi_ceil_div(plane->in[2], PGI_PLANE_GROUP));
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
        .origin = target->offset[PGI_BATCH] * indexing->batch_step +
                  target->offset[PGI_CHANNEL] * indexing->channel_step,
        .index_batch = indexing->batch_step,
        .index_channel = indexing->channel_step,
        .alpha = scale->alpha,
        .beta = scale->beta,
        .nan = (int)problem->desc.nan,
        .no_winner = indexing->no_winner,
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
        if (!pgi_mul(out, axis->out, &out) || out > MOST_SHARED)
            return false;
    }
    plane->windows = (int)out;
    plane->flat = plane->in[0] == 1 && plane->out[0] == 1;
    plane->place_rows = plane->in[0] * plane->in[1];
    plane->window_rows = plane->out[0] * plane->out[1];
    fill_quotients(plane);
    return pgi_cuda_plane_strides(source, &plane->source) &&
           pgi_cuda_plane_strides(target, &plane->target);
}

/* Of what names winners, in a kernel's name; `found`: in x, as places. */
static int bits_of(const pgi_problem *problem, bool found)
{
    if (found)
        return 16;
    return problem->indexing.type == POOLGRAD_I64 ? 64 : 32;
}

/* `size`: of windows that the kernel is made for, or "". */
static poolgrad_status add_step(poolgrad_cuda_plan *plan, const char *file, const char *size,
                                int bits, const pgi_cuda_plane *plane, int threads, int64_t shared,
                                pgi_cuda_step **step, poolgrad_error *error)
{
    char name[PGI_CUDA_NAME];

    snprintf(name, sizeof name, "pgi_%s%s_%d_%s", file, size, bits,
             pgi_cuda_type(plan->problem.desc.dtype));
    *step = pgi_cuda_step_add(plan, file, name, threads, (int)shared);
    (*step)->parameters.plane = *plane;
    (*step)->grid_x = (unsigned)pgi_ceil_div(plane->planes, plane->members);
    return pgi_cuda_step_find(plan, *step, error);
}

/* Lines of an axis, an odd number of elements apart, which have what its windows reach; how many
 * elements they are, with what runs read behind the last. */
static int64_t make_lines(pgi_cuda_plane *plane, int axis)
{
    const int64_t out = plane->out[axis], kernel = plane->kernel[axis];
    const int64_t stride = plane->stride[axis], dilation = plane->dilation[axis];
    const int64_t reach = (out - 1) * stride + (kernel - 1) * dilation + 1;
    const int64_t pitch = pgi_max(plane->pad[axis] + plane->in[axis], reach) | 1;
    const int64_t lines = axis == 2   ? (int64_t)plane->in[0] * plane->in[1]
                          : axis == 1 ? (int64_t)plane->in[0] * plane->out[2]
                                      : (int64_t)plane->out[1] * plane->out[2];

    if (pitch > MOST_SHARED || lines > MOST_SHARED)
        return MOST_SHARED;
    if (stride == 1 && dilation == 1 && kernel >= PGI_PLANE_RUN)
        plane->runs[axis] = (int)pgi_ceil_div(out, PGI_PLANE_RUN);
    plane->lines[axis] = (int)lines;
    plane->line_pitch[axis] = (int)pitch;
    plane->by_lines[axis] = pgi_cuda_quotient_by(lines);
    return lines * pitch + PGI_PLANE_RUN;
}

/* From plane to plane: so that neighbouring lines of all planes of a warp lie in different banks.
 */
static int64_t pitch_of(int64_t elements, int64_t members, int64_t line_pitch)
{
    return pgi_ceil_div(elements, WARP) * WARP + WARP / members * line_pitch % WARP;
}

/* What a block of so many planes takes: keys of x, or of what is left for D, and of columns; and
 * places of the latter two if the keys do not have them. */
static int64_t maximum_shared(pgi_cuda_plane *plane, int64_t members, size_t element)
{
    const int64_t key = element == 8 ? 8 : 4, place = element == 2 ? 0 : sizeof(uint16_t);
    int64_t odd = make_lines(plane, 2), even = 0;

    if (plane->last < 2)
        even = pitch_of(make_lines(plane, 1), members, plane->line_pitch[1]);
    if (plane->last == 0)
        odd = pgi_max(odd, make_lines(plane, 0));
    odd = pitch_of(odd, members, plane->line_pitch[2]);
    plane->members = (int)members;
    plane->member_pitch[0] = (int)pgi_min(odd, INT32_MAX);
    plane->member_pitch[1] = (int)pgi_min(even, INT32_MAX);
    return members * (odd * (key + (plane->last == 0 ? place : 0)) + even * (key + place));
}

/* Windows that there are kernels for, in their names, whose lanes have a plane each. */
static const char *lanes_size(const pgi_cuda_plane *plane)
{
    if (plane->kernel[1] != plane->kernel[2])
        return NULL;
    switch (plane->kernel[1]) {
    case 9:
        return "_9";
    case 11:
        return "_11";
    case 13:
        return "_13";
    default:
        return NULL;
    }
}

/* As many as share lines evenly; two and two load and store for a half of the planes each. */
static int64_t lanes_warps(const pgi_cuda_plane *plane)
{
    const int64_t lines = pgi_max(plane->in[1], plane->out[2]);

    return pgi_ceil_div(pgi_ceil_div(lines, pgi_ceil_div(lines, PGI_PLANE_LANES_WARPS)), 2) * 2;
}

/* What a block takes whose lanes have a plane each: keys, and taps of the winners of rows if keys
 * do not have places. 0 if it is no way, or leaves more than half of the device without a block. */
static int64_t lanes_shared(pgi_cuda_plane *plane, const pgi_problem *problem, bool found,
                            const pgi_cuda_device *device)
{
    const size_t element = problem->element_size;
    const int64_t words = pgi_ceil_div(plane->out[2], PGI_PLANE_LANES_RUN);
    int64_t shared;
    int i;

    if (element == 8 || plane->last != 1 || plane->in[0] != 1 || !lanes_size(plane) ||
        2 * pgi_ceil_div(plane->planes, WARP) <= device->multiprocessors)
        return 0;
    for (i = 1; i < 3; i++)
        if (plane->stride[i] != 1 || plane->dilation[i] != 1 || plane->pad[i] >= plane->kernel[i] ||
            plane->out[i] > plane->in[i])
            return 0;
    if (!plane->source.interleaved &&
        (plane->source.column != 1 || plane->source.row != plane->in[2]))
        return 0;
    if (!plane->target.interleaved &&
        (!found || plane->out[2] != plane->in[2] || plane->target.column != 1 ||
         plane->target.row != plane->out[2]))
        return 0;
    shared = WARP * (int64_t)sizeof(uint32_t) *
             ((plane->places | 1) + (element == 4 ? plane->in[1] * words : 0));
    plane->members = WARP;
    return shared <= device->shared ? shared : 0;
}

static poolgrad_status add_maximum(poolgrad_cuda_plan *plan, const pgi_problem *problem, bool found,
                                   bool *possible, pgi_cuda_step **step, poolgrad_error *error)
{
    pgi_cuda_plane plane;
    int64_t members, shared;

    *possible = describe(problem, &plan->scale, &plane);
    if (!*possible)
        return POOLGRAD_OK;
    shared = lanes_shared(&plane, problem, found, plan->device);
    if (shared > 0)
        return add_step(plan, "plane_lanes", lanes_size(&plane), bits_of(problem, found), &plane,
                        (int)lanes_warps(&plane) * WARP, shared, step, error);
    members = plane.source.interleaved ? MEMBERS : 1;
    while ((shared = maximum_shared(&plane, members, problem->element_size)) > HALF_SHARED &&
           members > 1)
        members /= 2;
    *possible = shared <= MOST_SHARED;
    if (!*possible)
        return POOLGRAD_OK;
    return add_step(plan, "plane_maximum", "", bits_of(problem, found), &plane,
                    members > 1 ? THREADS_MANY : THREADS_ONE, shared, step, error);
}

/* Cuts the windows into chunks of so many slots at most. */
static void cut_chunks(pgi_cuda_plane *plane, int64_t most)
{
    const int64_t row = pgi_ceil_div(plane->out[2], PGI_PLANE_GROUP) * PGI_PLANE_GROUP;

    most -= most % PGI_PLANE_GROUP;
    plane->row_slots = (int)pgi_min(row, most);
    plane->pieces = (int)pgi_ceil_div(plane->out[2], plane->row_slots);
    plane->chunk_rows = (int)pgi_min(most / plane->row_slots, plane->window_rows);
    plane->by_row_slots = pgi_cuda_quotient_by(plane->row_slots);
    plane->slots = plane->chunk_rows * plane->row_slots;
    plane->turns = (int)pgi_ceil_div(plane->window_rows, plane->chunk_rows) * plane->pieces;
}

/* Deals planes to blocks, 32 each or fewer: as many as fit with a chunk of some length, and so few
 * that no more than half of the device is left without a block. Returns how much shared memory a
 * block needs, 0 if there is too little for a plane. */
static int64_t deal_planes(pgi_cuda_plane *plane, const pgi_problem *problem,
                           const pgi_cuda_device *device)
{
    const int64_t real = (int64_t)pgi_compute_size(problem->desc.dtype);
    const int64_t fetched = 2 * (int64_t)problem->element_size; /* with a cell */
    int64_t members = 2 * WARP, fixed, slot, most;

    do {
        members /= 2;
        fixed = members * ((int64_t)sizeof(pgi_member) + 2 * LOADED + plane->places * real);
        slot = 2 * members * fetched;
        most = (device->shared - fixed) / slot;
    } while (members > 1 && (most < LEAST_SLOTS || plane->places * members >= UINT16_MAX ||
                             2 * pgi_ceil_div(plane->planes, members) <= device->multiprocessors));
    most = pgi_min(most, FETCHERS * pgi_min(members, PGI_PLANE_BATCH) / members);
    if (most < PGI_PLANE_GROUP || plane->places >= UINT16_MAX)
        return 0;
    plane->members = (int)members;
    plane->band = (int)pgi_ceil_div(plane->in[2], PGI_PLANE_ADDERS * WARP / members);
    cut_chunks(plane, most);
    plane->slot_pitch = (int)((plane->slots * fetched / LOADED | 1) * (LOADED / fetched));
    return fixed + plane->slots * slot;
}

/* Windows of a plane from which on winners collect: of fewer the other way is faster (H200, f32
 * from indices, 9x9 on 13x13 0.084 and 0.121 ms, on 20x20 0.131 and 0.123). */
#define LEAST_COLLECTED 400

/* Whether winners are to collect, with how much shared memory for a block, planes dealt to these; 0
 * if not. With channels side by side, of which a block would have few, it is slower. */
static int64_t deal_collected(pgi_cuda_plane *plane, const pgi_problem *problem,
                              const pgi_cuda_device *device)
{
    const int64_t window = (int64_t)(problem->element_size + sizeof(uint16_t));
    int64_t words, shared;

    if (!plane->flat || plane->source.interleaved || plane->windows < LEAST_COLLECTED ||
        plane->stride[1] != 1 || plane->stride[2] != 1 || plane->kernel[1] > PGI_COLLECT_ROWS ||
        plane->places >= UINT16_MAX)
        return 0;
    /* whole vectors, and room for what is looked at behind the last window */
    plane->slot_pitch =
        (int)(pgi_ceil_div(plane->windows, PGI_COLLECT_AT_ONCE) + 1) * PGI_COLLECT_AT_ONCE;
    plane->members = PGI_COLLECT_MEMBERS;
    words = pgi_ceil_div(plane->places, 8) * 4 + 2 * PGI_COLLECT_LISTED;
    shared = plane->members * (plane->slot_pitch * window + (int64_t)sizeof(pgi_member) +
                               words * (int64_t)sizeof(uint32_t)) +
             (PGI_COLLECT_ROWS + 2) * (int64_t)sizeof(uint32_t);
    return shared <= device->shared ? shared : 0;
}

static poolgrad_status add_gradient(poolgrad_cuda_plan *plan, const pgi_problem *problem,
                                    bool found, bool *possible, pgi_cuda_step **step,
                                    poolgrad_error *error)
{
    const char *file = "plane_collect";
    int threads = PGI_COLLECT_SHARE * PGI_COLLECT_MEMBERS;
    pgi_cuda_plane plane;
    int64_t shared;

    *possible = describe(problem, &plan->scale, &plane);
    if (!*possible)
        return POOLGRAD_OK;
    shared = deal_collected(&plane, problem, plan->device);
    if (shared == 0) {
        file = "plane_gradient";
        threads = THREADS;
        shared = deal_planes(&plane, problem, plan->device);
    }
    *possible = shared > 0;
    if (!*possible)
        return POOLGRAD_OK;
    return add_step(plan, file, "", bits_of(problem, found), &plane, threads, shared, step, error);
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
        if (*possible) {
            step->places_in = places;
            step->early = true;
        }
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
