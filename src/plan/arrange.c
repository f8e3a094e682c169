/* SPDX-License-Identifier: MIT */
#include "plan/arrange.h"

#include "core/integer.h"

/* Channels side by side from which on they make a row; and runs from which on they do though they
 * lie apart in the source, and are gathered one by one (2x128x4096, dy NCW and dx NWC: runs of 3
 * take 1.1 ms and so 0.85, of 25 0.94 and 1.3). */
#define ROW_LANES 16
#define LONG_RUN  8
/* Elements of rows that are too short for vectors: with fewer, a place of many channels or batch
 * elements makes a better row, also if they have to be brought together. */
#define SHORT_ROW 16
/* The same where every place picks its own terms, as those of adaptive windows do (7x7 to 16x16,
 * f32 NCX, forward: 2.4 ms and so 0.97); of a gradient less, since it divides all that it brings
 * together (14x14 to 32x32 would take 5.9 instead of 2.8). */
#define SHORT_PICKED          48
#define SHORT_PICKED_GRADIENT 24
/* Reals of such a row, about; what there must be of channels or batch elements, and of planes,
 * since such rows cost a microsecond beforehand. */
#define LANES_ROW   1024
#define LEAST_LANES 16
#define MOST_LANES  256
/* Of adaptive windows every place is a call of its own (7x7 to 16x16, the gradient, f32 NCX, one
 * thread: 2.0 to 2.4 ms and so 1.8 to 1.9). */
#define LANES_ROW_ADAPTIVE 2048
/* From channels side by side to planes: pieces of fewer are read slowly, since the machine does not
 * fetch ahead what lies apart (3x3 on 8x64x56x56, f32, one thread: 16 take 0.92 ms, and so 0.78).
 */
#define LANES_TURNED 64
#define LEAST_PLANES 64
/* Rows of planes that are joined, at most: every row of a tile costs memory and time beforehand. */
#define MOST_ROWS 256

void pgi_tile_evenly(pgi_problem *problem)
{
    const pgi_tensor *target = &problem->target;
    int i;

    for (i = 0; i < 3; i++) {
        pgi_axis *axis = &problem->axis[i];
        const int64_t side = axis->out > 0 ? axis->in / axis->out : 0;
        const int64_t begin = target->offset[PGI_SPATIAL + i];
        pgi_range windows;

        if (!axis->adaptive || side == 0 || axis->in % axis->out)
            continue;
        *axis = (pgi_axis){
            .in = axis->in, .out = axis->out, .kernel = side, .stride = side, .dilation = 1};
        pgi_axis_derive(axis);
        problem->gather[i] = pgi_gather_make(axis, problem->gather[i].forward);
        problem->taps[i] = pgi_gather_make(axis, true);
        pgi_gather_limit(&problem->gather[i], begin, begin + target->extent[PGI_SPATIAL + i]);
        windows = pgi_problem_reach(problem, i);
        if (problem->has_x)
            pgi_gather_limit(&problem->taps[i], windows.begin, windows.end);
    }
}

/* Whether an axis has one position and one window, which covers it. */
static bool is_unit(const pgi_axis *axis)
{
    return !axis->adaptive && axis->in == 1 && axis->out == 1 && axis->kernel == 1 &&
           axis->pad_lo == 0;
}

static void exchange(int64_t *a, int64_t *b)
{
    const int64_t kept = *a;

    *a = *b;
    *b = kept;
}

static void exchange_axes(pgi_tensor *tensor, int a, int b)
{
    exchange(&tensor->offset[a], &tensor->offset[b]);
    exchange(&tensor->extent[a], &tensor->extent[b]);
    exchange(&tensor->stride[a], &tensor->stride[b]);
}

void pgi_exchange_channels(pgi_problem *problem)
{
    pgi_tensor *tensors[] = {&problem->source, &problem->target, &problem->x, &problem->y,
                             &problem->indices};
    int i;

    for (i = 0; i < 5; i++)
        exchange_axes(tensors[i], PGI_BATCH, PGI_CHANNEL);
    exchange(&problem->indexing.batch_step, &problem->indexing.channel_step);
    problem->exchanged = !problem->exchanged;
}

/* Exchanges window axis `axis` and the one before, of which one is a unit axis: no place and no tap
 * is counted otherwise then. */
static void exchange_window_axes(pgi_problem *problem, int axis)
{
    pgi_tensor *tensors[] = {&problem->source, &problem->target, &problem->x, &problem->y,
                             &problem->indices};
    const pgi_axis kept = problem->axis[axis];
    const pgi_gather gather = problem->gather[axis], taps = problem->taps[axis];
    int i;

    for (i = 0; i < 5; i++)
        exchange_axes(tensors[i], PGI_SPATIAL + axis, PGI_SPATIAL + axis - 1);
    problem->axis[axis] = problem->axis[axis - 1];
    problem->axis[axis - 1] = kept;
    problem->gather[axis] = problem->gather[axis - 1];
    problem->gather[axis - 1] = gather;
    problem->taps[axis] = problem->taps[axis - 1];
    problem->taps[axis - 1] = taps;
    exchange(&problem->indexing.in[axis], &problem->indexing.in[axis - 1]);
}

int pgi_units_first(pgi_problem *problem)
{
    int units = 0, i, k;

    for (i = 0; i < 3; i++) {
        if (!is_unit(&problem->axis[i]))
            continue;
        for (k = i; k > units; k--)
            exchange_window_axes(problem, k);
        units++;
    }
    return units < 3 ? 3 - units : 1;
}

/* Moves tensor axis `from` (batch or channels) to window axis `to`, which is a unit axis. */
static void move_tensor_axis(pgi_problem *problem, int from, int to)
{
    pgi_tensor *tensors[] = {&problem->source, &problem->target};
    const int64_t begin = problem->target.offset[from];
    const int64_t end = begin + problem->target.extent[from];
    pgi_axis axis = {.in = end, .out = end, .kernel = 1, .stride = 1, .dilation = 1};
    int i;

    for (i = 0; i < 2; i++) {
        pgi_tensor *tensor = tensors[i];

        tensor->offset[PGI_SPATIAL + to] = tensor->offset[from];
        tensor->extent[PGI_SPATIAL + to] = tensor->extent[from];
        tensor->stride[PGI_SPATIAL + to] = tensor->stride[from];
        tensor->offset[from] = 0;
        tensor->extent[from] = 1;
        tensor->stride[from] = 0;
    }
    pgi_axis_derive(&axis);
    problem->axis[to] = axis;
    problem->gather[to] = pgi_gather_make(&axis, problem->gather[to].forward);
    pgi_gather_limit(&problem->gather[to], begin, end);
}

/* Moves the last window axis to the one before, a unit axis: rows are then the channels of one
 * place. */
static void move_last_axis(pgi_problem *problem)
{
    pgi_tensor *tensors[] = {&problem->source, &problem->target};
    const pgi_axis unit = problem->axis[1];
    int i;

    for (i = 0; i < 2; i++) {
        pgi_tensor *tensor = tensors[i];

        tensor->offset[PGI_SPATIAL + 1] = tensor->offset[PGI_SPATIAL + 2];
        tensor->extent[PGI_SPATIAL + 1] = tensor->extent[PGI_SPATIAL + 2];
        tensor->stride[PGI_SPATIAL + 1] = tensor->stride[PGI_SPATIAL + 2];
        tensor->offset[PGI_SPATIAL + 2] = 0;
        tensor->extent[PGI_SPATIAL + 2] = 1;
        /* still tells how far apart rows of channels are */
    }
    problem->axis[1] = problem->axis[2];
    problem->gather[1] = problem->gather[2];
    problem->axis[2] = unit;
    problem->gather[2] = pgi_gather_make(&unit, problem->gather[1].forward);
    pgi_gather_limit(&problem->gather[2], 0, 1);
}

/* Whether windows of the height tile it without rest, and planes along a tensor axis follow each
 * other in both tensors, so that they are one tall plane. */
static bool follows(const pgi_problem *problem, int from)
{
    const pgi_axis *axis = &problem->axis[1];
    const pgi_tensor *tensors[] = {&problem->source, &problem->target};
    const int h = PGI_SPATIAL + 1;
    int i;

    if (axis->adaptive || axis->pad_lo || axis->pad_hi ||
        (axis->kernel - 1) * axis->dilation >= axis->stride ||
        axis->in / axis->stride != axis->out || axis->in % axis->stride)
        return false;
    for (i = 0; i < 2; i++) {
        const pgi_tensor *tensor = tensors[i];
        const int64_t whole = (i == 1) != problem->gather[1].forward ? axis->in : axis->out;
        int64_t plane;

        if (tensor->offset[h] || tensor->extent[h] != whole || tensor->offset[from] ||
            !pgi_mul(whole, tensor->stride[h], &plane) || tensor->stride[from] != plane)
            return false;
    }
    return problem->target.extent[from] <= MOST_ROWS / axis->in;
}

/* Makes them one: fewer and larger pieces for small problems. */
static void join_planes(pgi_problem *problem, int from)
{
    const int64_t planes = problem->target.extent[from];
    pgi_tensor *tensors[] = {&problem->source, &problem->target};
    int i;

    for (i = 0; i < 2; i++) {
        tensors[i]->extent[PGI_SPATIAL + 1] *= planes;
        tensors[i]->extent[from] = 1;
        tensors[i]->stride[from] = 0;
    }
    problem->axis[1].in *= planes;
    problem->axis[1].out *= planes;
    pgi_axis_derive(&problem->axis[1]);
    problem->gather[1] = pgi_gather_make(&problem->axis[1], problem->gather[1].forward);
    pgi_gather_limit(&problem->gather[1], 0, problem->target.extent[PGI_SPATIAL + 1]);
}

bool pgi_rows_below(const pgi_problem *problem, int64_t elements)
{
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const int64_t batch = target->extent[PGI_BATCH], channels = target->extent[PGI_CHANNEL];
    const int64_t places =
        pgi_max(source->extent[PGI_SPATIAL + 2], target->extent[PGI_SPATIAL + 2]);

    return places < elements &&
           (!pgi_channels_inside(target) ||
            channels < pgi_ceil_div(elements, pgi_max(places, 1))) &&
           pgi_max(batch, channels) >= LEAST_LANES && batch * channels >= LEAST_PLANES;
}

int64_t pgi_lanes_apart(pgi_problem *problem)
{
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const int64_t batch = target->extent[PGI_BATCH], channels = target->extent[PGI_CHANNEL];
    const int64_t places =
        pgi_max(source->extent[PGI_SPATIAL + 2], target->extent[PGI_SPATIAL + 2]);
    const bool adaptive = problem->axis[2].adaptive;
    const int64_t row = adaptive ? LANES_ROW_ADAPTIVE : LANES_ROW;
    const int64_t lanes = pgi_min(row / pgi_max(places, 1) / LEAST_LANES * LEAST_LANES, MOST_LANES);
    const int64_t picked = pgi_is_forward(problem->desc.op) ? SHORT_PICKED : SHORT_PICKED_GRADIENT;

    if (target->elements == 0)
        return 1;
    /* one layout to the other */
    if (!pgi_channels_inside(target) && pgi_channels_inside(source) && channels >= LEAST_LANES)
        return pgi_max(lanes, LANES_TURNED);
    if (!pgi_rows_below(problem, adaptive ? picked : SHORT_ROW))
        return 1;
    if (channels < batch && channels < 2 * LEAST_LANES)
        pgi_exchange_channels(problem);
    return lanes;
}

int pgi_arrange(pgi_problem *problem, int rank, bool apart)
{
    int free = 3 - rank; /* unit axes 0 .. free - 1 */
    int first = free;

    if (problem->target.elements == 0)
        return free;
    if (apart || pgi_channels_inside(&problem->target)) {
        if (!apart && rank == 1 && problem->target.extent[PGI_CHANNEL] >= ROW_LANES &&
            (problem->source.stride[PGI_CHANNEL] == 1 || problem->gather[2].longest >= LONG_RUN)) {
            move_last_axis(problem);
            first = free = 1;
        }
        if (free > 0)
            move_tensor_axis(problem, PGI_BATCH, free - 1);
    } else {
        if (rank == 2 && follows(problem, PGI_CHANNEL))
            join_planes(problem, PGI_CHANNEL);
        if (free > 0)
            move_tensor_axis(problem, PGI_CHANNEL, --free);
        if (free > 0)
            move_tensor_axis(problem, PGI_BATCH, --free);
    }
    return first;
}
