/* SPDX-License-Identifier: MIT */
/* Axes along which every window has one position are as batch and channels are; and what follows
 * each other in all tensors is one axis. */
#include "plan/arrange.h"

#include "core/integer.h"

/* Rows up to so many places make too little of vectors. */
#define SHORT_ROW 48
/* Channels up to which batch and channels are joined: fewer than rows of them want. */
#define FEW_CHANNELS 16

typedef struct pgi_tensors {
    pgi_tensor *tensor[4];
    int count;
} pgi_tensors;

/* The target, and what goes with it. */
static pgi_tensors tensors_of(pgi_problem *problem)
{
    pgi_tensors all = {{&problem->target, &problem->source}, 2};

    if (problem->has_x)
        all.tensor[all.count++] = &problem->x;
    if (problem->has_indices)
        all.tensor[all.count++] = &problem->indices;
    return all;
}

/* Whether elements of a tensor that the target needs follow each other along two axes as along one.
 * Where the target has one place on an axis, the tensor must begin with it. */
static bool follow(const pgi_tensor *target, const pgi_tensor *tensor, int outer, int inner)
{
    const int64_t places = target->extent[inner];
    int64_t step;

    if (pgi_mul(places, tensor->stride[inner], &step) && tensor->stride[outer] == step)
        return true;
    if (places == 1)
        return tensor->offset[inner] == target->offset[inner];
    return target->extent[outer] == 1 && tensor->offset[outer] == target->offset[outer];
}

/* Whether the two axes can be one, whose places are counted inner first; of indices `outer_step`
 * and `inner_step` are what a place adds to an index. */
static bool can_join(pgi_problem *problem, int outer, int inner, int64_t outer_step,
                     int64_t inner_step)
{
    const pgi_tensors all = tensors_of(problem);
    const pgi_tensor *target = &problem->target;
    const int64_t places = target->extent[inner];
    int64_t number;
    int i;

    for (i = 0; i < all.count; i++)
        if (!follow(target, all.tensor[i], outer, inner) ||
            !pgi_mul(all.tensor[i]->offset[outer], places, &number) ||
            !pgi_add(all.tensor[i]->offset[inner], number, &number) ||
            !pgi_add(number, places * target->extent[outer], &number))
            return false;
    if (!problem->has_indices || (pgi_mul(places, inner_step, &number) && outer_step == number))
        return true;
    if (places == 1)
        return target->offset[inner] == 0;
    return target->extent[outer] == 1 && target->offset[outer] == 0;
}

/* Makes them one, in the place of one of them; the other has one place then. */
static void join(pgi_problem *problem, int outer, int inner, int kept)
{
    const pgi_tensors all = tensors_of(problem);
    const int64_t places = problem->target.extent[inner];
    const int64_t together = places * problem->target.extent[outer];
    const int left = kept == outer ? inner : outer;
    int64_t end = 0;
    int i;

    for (i = 0; i < all.count; i++) {
        pgi_tensor *tensor = all.tensor[i];
        const int64_t offset = tensor->offset[outer] * places + tensor->offset[inner];

        if (i == 0)
            end = offset + together;
        tensor->stride[kept] = places > 1 ? tensor->stride[inner] : tensor->stride[outer];
        tensor->offset[kept] = offset;
        tensor->extent[kept] = end - offset;
        tensor->offset[left] = tensor->stride[left] = 0;
        tensor->extent[left] = 1;
    }
}

static int64_t *index_step(pgi_problem *problem, int axis)
{
    return axis == PGI_BATCH ? &problem->indexing.batch_step : &problem->indexing.channel_step;
}

/* Whether every window of an axis has one position, its own. */
static bool is_passed(const pgi_axis *axis)
{
    return !axis->adaptive && axis->kernel == 1 && axis->stride == 1 && axis->pad_lo == 0 &&
           axis->out == axis->in && axis->in > 1;
}

/* What a place of a window axis adds to an index; false if places of the other axes would be
 * counted otherwise without it: it must be the first. */
static bool find_step(const pgi_problem *problem, int axis, int64_t *step)
{
    const pgi_indexing *indexing = &problem->indexing;
    int i;

    *step = 0;
    if (!problem->has_indices || indexing->window)
        return true;
    if (indexing->column_major)
        return false;
    *step = indexing->unit;
    for (i = 0; i < 3; i++) {
        if (i < axis && indexing->in[i] > 1)
            return false;
        if (i > axis)
            *step *= indexing->in[i];
    }
    return true;
}

/* Joins a window axis with batch or channels. */
static bool pass(pgi_problem *problem, int axis, int other, bool inside)
{
    const int window = PGI_SPATIAL + axis, outer = inside ? other : window;
    const int inner = inside ? window : other;
    const bool many = problem->target.extent[inner] > 1;
    int64_t *theirs = index_step(problem, other), step;

    if (!find_step(problem, axis, &step) ||
        !can_join(problem, outer, inner, inside ? *theirs : step, inside ? step : *theirs))
        return false;
    join(problem, outer, inner, other);
    if (problem->has_indices) {
        *theirs = many == inside ? step : *theirs;
        problem->indexing.plane /= problem->indexing.in[axis];
        problem->indexing.in[axis] = 1;
    }
    problem->axis[axis] = pgi_axis_unit();
    problem->gather[axis] = pgi_gather_make(&problem->axis[axis], problem->gather[axis].forward);
    problem->taps[axis] = pgi_gather_make(&problem->axis[axis], true);
    pgi_gather_limit(&problem->gather[axis], 0, 1);
    pgi_gather_limit(&problem->taps[axis], 0, 1);
    return true;
}

/* A plane with one axis is counted in one way. */
static void count_by_rows(pgi_problem *problem)
{
    const int64_t *in = problem->indexing.in;

    if (problem->has_indices && (in[0] > 1) + (in[1] > 1) + (in[2] > 1) <= 1)
        problem->indexing.column_major = false;
}

/* Whether an axis behind this one has more than one position: rows stay what they are. */
static bool has_rows_behind(const pgi_problem *problem, int axis)
{
    while (++axis < 3)
        if (problem->axis[axis].in > 1)
            return true;
    return false;
}

/* Whether batch and channels of the source are those of the target. */
static bool are_alike(const pgi_problem *problem)
{
    const pgi_tensor *source = &problem->source, *target = &problem->target;

    return source->extent[PGI_BATCH] == target->extent[PGI_BATCH] &&
           source->extent[PGI_CHANNEL] == target->extent[PGI_CHANNEL];
}

static void join_channels(pgi_problem *problem)
{
    const bool many = problem->target.extent[PGI_CHANNEL] > 1;
    pgi_indexing *indexing = &problem->indexing;

    if (!can_join(problem, PGI_BATCH, PGI_CHANNEL, indexing->batch_step, indexing->channel_step))
        return;
    join(problem, PGI_BATCH, PGI_CHANNEL, PGI_CHANNEL);
    if (!many)
        indexing->channel_step = indexing->batch_step;
    indexing->batch_step = 0;
}

void pgi_join_axes(pgi_problem *problem)
{
    const pgi_tensor *target = &problem->target;
    /* of bad indices the first in the caller's order is reported: no axis may go before others */
    const bool ordered = problem->desc.op == POOLGRAD_MAX_GRAD && problem->has_indices;
    const int last = PGI_SPATIAL + 2;
    int i;

    if (target->elements == 0 || problem->source.elements == 0)
        return;
    for (i = 0; i < 3 && !ordered; i++)
        if (is_passed(&problem->axis[i]) && has_rows_behind(problem, i) &&
            !pass(problem, i, PGI_CHANNEL, true) && !pass(problem, i, PGI_BATCH, true) &&
            !pass(problem, i, PGI_BATCH, false))
            pass(problem, i, PGI_CHANNEL, false);
    count_by_rows(problem);
    if (target->extent[PGI_CHANNEL] < FEW_CHANNELS && target->extent[PGI_BATCH] > 1 &&
        pgi_max(target->extent[last], problem->source.extent[last]) < SHORT_ROW &&
        (!ordered || are_alike(problem)))
        join_channels(problem);
}
