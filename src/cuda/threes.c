/* SPDX-License-Identifier: MIT */
/* Strategy: averages over windows of 3x3 or 3x3x3 around every position, both ways. */
#include "core/integer.h"
#include "core/status.h"
#include "cuda/plan.h"

#include <stdio.h>

/* Rows, or places of a row, that a thread begins with and has no targets for; and setting out. */
#define LOST 6

/* Bytes of planes in shared memory: many small blocks on a multiprocessor load, sum and store at
 * the same time. And warps of such a block. */
#define ENOUGH_SHARED (20 << 10)
#define MOST_SHARED   (48 << 10)
#define MOST_WARPS    (PGI_THREES_THREADS / 32)

/* Bytes of channels in one piece that are worth a block of threads of rank 3, and at most: those
 * that the L2 cache hands over at once. */
#define LEAST_PIECE 32
#define MOST_PIECE  128

static bool describe_axis(const pgi_problem *problem, int i, bool one_divisor,
                          pgi_cuda_threes_axis *made)
{
    const pgi_axis *axis = &problem->axis[i];
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const int k = PGI_SPATIAL + i;
    const poolgrad_divisor rule = problem->desc.divisor;
    const int64_t first = source->offset[k], last = first + source->extent[k] - 1;

    if (axis->adaptive || axis->kernel != 3 || axis->stride != 1 || axis->dilation != 1 ||
        axis->pad_lo != 1 || axis->out != axis->in || source->extent[k] != target->extent[k] ||
        source->offset[k] != target->offset[k] || !pgi_cuda_is_small(source->extent[k]) ||
        !problem->gather[i].filled)
        return false;
    *made = (pgi_cuda_threes_axis){.size = (int)source->extent[k],
                                   .first = 1,
                                   .middle = 1,
                                   .last = 1,
                                   .source_stride = source->stride[k],
                                   .target_stride = target->stride[k]};
    if (!one_divisor) {
        made->first = (int)pgi_axis_count(axis, rule, first);
        made->last = (int)pgi_axis_count(axis, rule, last);
        made->middle = (int)pgi_axis_count(axis, rule, first + made->size / 2);
    }
    /* fewer have no middle */
    return made->size > 2;
}

static bool describe(const poolgrad_cuda_plan *plan, pgi_cuda_threes *threes)
{
    const pgi_problem *problem = &plan->problem;
    bool one_divisor;

    *threes = (pgi_cuda_threes){.alpha = plan->scale.alpha,
                                .beta = plan->scale.beta,
                                .forward = pgi_is_forward(problem->desc.op)};
    if (pgi_is_max(problem->desc.op) || problem->desc.rank < 2 || problem->target.elements == 0)
        return false;
    one_divisor = pgi_cuda_one_divisor(problem, &threes->divisor);
    if (!one_divisor)
        threes->divisor = 0;
    return (one_divisor ? threes->divisor != 0 : problem->desc.divisor != POOLGRAD_OVERRIDE) &&
           (problem->desc.rank == 2 || describe_axis(problem, 0, one_divisor, &threes->d)) &&
           describe_axis(problem, 1, one_divisor, &threes->h) &&
           describe_axis(problem, 2, one_divisor, &threes->w);
}

/* Whether rows, and planes or images, begin at whole vectors if the first does. */
static bool has_vectors(const pgi_cuda_threes *threes, int width)
{
    const pgi_cuda_outer *outer = &threes->outer;

    return threes->d.source_stride % width == 0 && threes->d.target_stride % width == 0 &&
           threes->h.source_stride % width == 0 && threes->h.target_stride % width == 0 &&
           outer->source_slow % width == 0 && outer->target_slow % width == 0 &&
           (outer->fast == 1 ||
            (outer->source_fast % width == 0 && outer->target_fast % width == 0));
}

/* Deals planes, or slabs of them, to warps, with so many places for a thread. Returns how many
 * threads that takes; 0 if rows are no whole vectors. */
static int64_t deal_planes(const pgi_problem *problem, int width, pgi_cuda_threes *threes)
{
    const int64_t vectors = threes->w.size / width;

    if (threes->w.size % width || threes->w.source_stride != 1 || threes->w.target_stride != 1 ||
        !pgi_cuda_outer_make(problem, false, 1, &threes->outer) || !has_vectors(threes, width))
        return 0;
    threes->grouped = vectors <= 32 ? (int)(32 / vectors) : 1;
    threes->lanes = vectors <= 32 ? (int)vectors : 32;
    threes->tiles = vectors <= 32 ? 1 : (int)pgi_ceil_div(vectors, 30);
    return pgi_ceil_div((int64_t)threes->outer.count * threes->slabs, threes->grouped) *
           threes->tiles * 32;
}

/* Whether channels lie side by side in whole vectors. */
static bool has_channels(const pgi_problem *problem, int width, pgi_cuda_threes *threes)
{
    return problem->target.extent[PGI_CHANNEL] % width == 0 &&
           problem->source.stride[PGI_CHANNEL] == 1 && problem->target.stride[PGI_CHANNEL] == 1 &&
           threes->w.source_stride % width == 0 && threes->w.target_stride % width == 0 &&
           pgi_cuda_outer_make(problem, true, 1, &threes->outer) && has_vectors(threes, width);
}

/* Deals vectors of channels, in bands of rows, to threads. */
static int64_t deal_channels(const pgi_problem *problem, pgi_cuda_threes *threes)
{
    const int width = PGI_THREES_CHANNELS(problem->element_size);

    if (!has_channels(problem, width, threes))
        return 0;
    threes->groups = (int)(problem->target.extent[PGI_CHANNEL] / width);
    threes->bands = (int)pgi_ceil_div(threes->h.size, PGI_THREES_BAND);
    return (int64_t)threes->groups * threes->bands * threes->outer.count;
}

/* Deals slabs of planes to blocks, with channels side by side: pieces of them, of 128 bytes if that
 * goes, and as many places of a row as there are threads for. */
static int64_t deal_slabs(const pgi_problem *problem, pgi_cuda_threes *threes)
{
    const int width = PGI_SLAB_EACH(problem->element_size);
    const int64_t vectors = problem->target.extent[PGI_CHANNEL] / width;
    int lanes = MOST_PIECE / (width * (int)problem->element_size), most;

    if (!has_channels(problem, width, threes))
        return 0;
    while (vectors % lanes)
        lanes /= 2;
    if (lanes * width * (int)problem->element_size < LEAST_PIECE)
        return 0;
    most = PGI_THREES_THREADS / lanes;
    threes->lanes = lanes;
    threes->groups = (int)(vectors / lanes);
    threes->tiles = threes->w.size <= most ? 1 : (int)pgi_ceil_div(threes->w.size, most - 2);
    threes->places = (int)pgi_ceil_div(threes->w.size, threes->tiles) + (threes->tiles > 1 ? 2 : 0);
    return (int64_t)threes->outer.count * threes->slabs * threes->tiles * threes->groups *
           PGI_THREES_THREADS;
}

/* Whether rows, planes and images lie one behind the other. */
static bool is_dense(int wide, int64_t place, int64_t row, int64_t size,
                     const pgi_cuda_outer *outer, int64_t fast, int64_t slow)
{
    return place == 1 && row == wide && (outer->fast == 1 || fast == size) &&
           (outer->count == outer->fast || slow == size * outer->fast);
}

/* Deals planes that lie one behind the other to blocks, so many that all begin at a vector if the
 * first does. Returns how many bytes of shared memory a block has; 0 if that would be too many. */
static int deal_dense(const pgi_problem *problem, pgi_cuda_threes *threes)
{
    const int each = PGI_THREES_DENSE(problem->element_size);
    const int64_t size = (int64_t)threes->h.size * threes->w.size;
    const int64_t bytes = size * (int64_t)problem->element_size;
    const pgi_cuda_outer *outer = &threes->outer;
    int64_t planes = 1, warps;

    if (threes->beta != 0 || threes->w.size > 32 * each || bytes > MOST_SHARED ||
        !pgi_cuda_outer_make(problem, false, 1, &threes->outer) ||
        !is_dense(threes->w.size, threes->w.source_stride, threes->h.source_stride, size, outer,
                  outer->source_fast, outer->source_slow) ||
        !is_dense(threes->w.size, threes->w.target_stride, threes->h.target_stride, size, outer,
                  outer->target_fast, outer->target_slow))
        return 0;
    while (planes * bytes % 16)
        planes *= 2;
    threes->lanes = (int)pgi_ceil_div(threes->w.size, each);
    threes->grouped = 32 / threes->lanes;
    for (warps = planes; warps % threes->grouped;)
        warps += planes;
    if (warps * bytes <= ENOUGH_SHARED)
        planes = warps; /* of whole ones */
    threes->dense = (int)(planes * pgi_max(1, ENOUGH_SHARED / (planes * bytes)));
    threes->dense = (int)pgi_min(threes->dense, MOST_WARPS * threes->grouped / planes * planes);
    return threes->dense * bytes <= MOST_SHARED ? (int)(threes->dense * bytes) : 0;
}

/* One of the ways of a rank. */
static poolgrad_status prepare(poolgrad_cuda_plan *plan, bool *possible, poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    const bool deep = problem->desc.rank == 3;
    const int size = (int)problem->element_size;
    const char *way = deep ? "slabs_places" : "threes_planes";
    pgi_cuda_threes threes;
    char kernel[PGI_CUDA_NAME];
    pgi_cuda_step *step;
    int64_t threads, blocks, targets;
    int shared = 0, block = PGI_THREES_THREADS;

    if (!describe(plan, &threes))
        return POOLGRAD_OK;
    threes.slabs = deep ? (unsigned)pgi_ceil_div(threes.d.size, PGI_SLAB_DEEP) : 1;
    targets = threes.h.size;
    threads = deal_planes(problem, deep ? PGI_SLAB_EACH(size) : PGI_THREES_PLACES(size), &threes);
    if (threads == 0 && deep) {
        way = "slabs_channels";
        threads = deal_slabs(problem, &threes);
    } else if (threads == 0) {
        way = "threes_channels";
        targets = threes.w.size;
        threads = deal_channels(problem, &threes);
    }
    blocks = pgi_ceil_div(threads, block);
    if (threads == 0 && !deep && (shared = deal_dense(problem, &threes)) > 0) {
        way = "threes_dense";
        block = 32 * (int)pgi_ceil_div(threes.dense, threes.grouped);
        blocks = pgi_ceil_div(threes.outer.count, threes.dense);
    }
    if (blocks == 0 || !pgi_cuda_is_small(threads))
        return POOLGRAD_OK;
    *possible = true;
    snprintf(kernel, sizeof kernel, "pgi_%s_%s", way, pgi_cuda_type(problem->desc.dtype));
    step = pgi_cuda_step_add(plan, deep ? "slabs" : "threes", kernel, block, shared);
    PGI_TRY(pgi_cuda_step_find(plan, step, error));
    step->grid_x = (unsigned)blocks;
    step->grid_y = 1;
    if (shared == 0) {
        threes.segment = (int)pgi_cuda_segment(plan, step, blocks, targets, LOST);
        step->grid_y = (unsigned)pgi_ceil_div(targets, threes.segment);
    }
    step->parameters.threes = threes;
    return POOLGRAD_OK;
}

const pgi_cuda_strategy pgi_cuda_strategy_threes = {
    .name = "threes",
    .reason = "windows of 3x3 or 3x3x3 around every position",
    .prepare = prepare,
};
