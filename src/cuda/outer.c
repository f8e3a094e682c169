/* SPDX-License-Identifier: MIT */
#include "core/integer.h"
#include "cuda/plan.h"

#include <math.h>

/* Rounds of blocks over the device: enough to even out its end, few enough that a thread uses what
 * it has found more than once. */
#define ROUNDS 4

/* Planes, or images, whose threads are dealt together at most; and the share of threads with work
 * that is not worth more. */
#define MOST_GROUPED 64
#define ENOUGH       0.97

bool pgi_cuda_outer_make(const pgi_problem *problem, bool channels, int64_t pieces,
                         pgi_cuda_outer *outer)
{
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const int64_t lanes = target->extent[PGI_CHANNEL], batch = target->extent[PGI_BATCH];
    int64_t count = batch;

    if (lanes > INT32_MAX || (!channels && !pgi_mul(batch, lanes, &count)) || count > INT32_MAX)
        return false;
    *outer = (pgi_cuda_outer){
        .count = (unsigned)count,
        .fast = channels ? 1 : (unsigned)lanes,
        .pieces = (unsigned)pieces,
        .grouped = 1,
        .source_slow = source->stride[PGI_BATCH],
        .target_slow = target->stride[PGI_BATCH],
        .source_fast = source->stride[PGI_CHANNEL],
        .target_fast = target->stride[PGI_CHANNEL],
        .source_begin = pgi_cuda_source_begin(problem),
    };
    return true;
}

int64_t pgi_cuda_source_begin(const pgi_problem *problem)
{
    const pgi_tensor *source = &problem->source, *target = &problem->target;

    return (target->offset[PGI_BATCH] - source->offset[PGI_BATCH]) * source->stride[PGI_BATCH] +
           (target->offset[PGI_CHANNEL] - source->offset[PGI_CHANNEL]) *
               source->stride[PGI_CHANNEL];
}

int pgi_cuda_side(const pgi_problem *problem, const int *known)
{
    const int64_t side = problem->axis[2].kernel;
    int i;

    for (i = 3 - problem->desc.rank; i < 3; i++) {
        const pgi_axis *axis = &problem->axis[i];

        if (axis->adaptive || axis->stride != 1 || axis->dilation != 1 || axis->kernel != side ||
            !problem->gather[i].filled)
            return 0;
    }
    while (*known && *known != side)
        known++;
    return *known;
}

int64_t pgi_cuda_shift(const pgi_problem *problem, int i)
{
    const pgi_axis *axis = &problem->axis[i];
    const int k = PGI_SPATIAL + i;

    return problem->target.offset[k] - problem->source.offset[k] +
           (pgi_is_forward(problem->desc.op) ? -axis->pad_lo : axis->pad_lo - (axis->kernel - 1));
}

bool pgi_cuda_alike(const pgi_tensor *a, const pgi_tensor *b)
{
    int i;

    for (i = 0; i < PGI_AXES; i++)
        if (a->offset[i] != b->offset[i] || a->extent[i] != b->extent[i] ||
            (a->extent[i] > 1 && a->stride[i] != b->stride[i]))
            return false;
    return true;
}

bool pgi_cuda_has_lanes(const pgi_problem *problem)
{
    return problem->target.extent[PGI_CHANNEL] * (int64_t)problem->element_size % 16 == 0 &&
           problem->source.stride[PGI_CHANNEL] == 1 && problem->target.stride[PGI_CHANNEL] == 1;
}

/* Of threads in whole blocks, the share that has work. */
static double share(int64_t threads, int64_t block)
{
    return (double)threads / (double)(pgi_ceil_div(threads, block) * block);
}

void pgi_cuda_outer_deal(const poolgrad_cuda_plan *plan, pgi_cuda_step *step, pgi_cuda_outer *outer)
{
    const int64_t pieces = outer->pieces, most = pgi_min(outer->count, MOST_GROUPED);
    int64_t blocks, wanted, grouped;

    for (grouped = 2; grouped <= most && share(pieces * outer->grouped, step->block) < ENOUGH;
         grouped++)
        if (share(pieces * grouped, step->block) > share(pieces * outer->grouped, step->block))
            outer->grouped = (unsigned)grouped;
    blocks = pgi_ceil_div(pieces * outer->grouped, step->block);
    wanted = pgi_ceil_div((int64_t)plan->device->multiprocessors * step->resident * ROUNDS,
                          pgi_max(1, blocks));
    step->grid_x = (unsigned)blocks;
    step->grid_y = (unsigned)pgi_max(
        1, pgi_min(pgi_min(pgi_ceil_div(outer->count, outer->grouped), 65535), wanted));
}

int64_t pgi_cuda_segment(const poolgrad_cuda_plan *plan, const pgi_cuda_step *step, int64_t blocks,
                         int64_t targets, int64_t lost)
{
    const int64_t at_once = (int64_t)plan->device->multiprocessors * pgi_max(step->resident, 1);
    int64_t best = targets, segments;
    double best_cost = HUGE_VAL;

    for (segments = 1; segments <= pgi_min(targets, 256); segments++) {
        const int64_t segment = pgi_ceil_div(targets, segments);
        const double rounds =
            (double)pgi_ceil_div(blocks * pgi_ceil_div(targets, segment), at_once);

        if (rounds * (double)(segment + lost) < best_cost) {
            best_cost = rounds * (double)(segment + lost);
            best = segment;
        }
    }
    return best;
}
