/* SPDX-License-Identifier: MIT */
/* Strategy: few sources for every target. A thread has those of its targets from a table and goes
 * through the planes (channels first) or the images (channels last) with them. */
#include "core/dtype.h"
#include "core/integer.h"
#include "core/status.h"
#include "cuda/near_step.h"
#include "cuda/winners.h"

#include <stdio.h>

/* Offsets in a plane or image are kept in 32 bits. */
#define MOST_SPAN (INT64_C(1) << 30)

/* Entries of tables at most. */
#define MOST_ENTRIES (INT64_C(1) << 18)

/* Windows with more taps are better done axis by axis. */
#define MOST_TAPS 64

static int64_t span_of(const pgi_tensor *tensor, bool channels)
{
    int64_t span = 0;
    int i;

    for (i = channels ? PGI_CHANNEL : PGI_SPATIAL; i < PGI_AXES; i++) {
        const int64_t stride = tensor->stride[i] < 0 ? -tensor->stride[i] : tensor->stride[i];

        if (tensor->extent[i] > 1 && stride > MOST_SPAN / (tensor->extent[i] - 1))
            return MOST_SPAN;
        if (tensor->extent[i] > 1)
            span += (tensor->extent[i] - 1) * stride;
    }
    return span;
}

/* Whether the places of a plane, or of an image, lie side by side in row-major order. */
static bool dense_plane(const pgi_tensor *tensor)
{
    int64_t step = 1;
    int i;

    for (i = PGI_AXES - 1; i >= PGI_SPATIAL; step *= tensor->extent[i], i--)
        if (tensor->extent[i] > 1 && tensor->stride[i] != step)
            return false;
    return true;
}

/* Whether all distances but those of lanes or places are multiples of `width`. */
static bool in_step(const pgi_tensor *tensor, int64_t width, int from, int to)
{
    int i;

    for (i = from; i < to; i++)
        if (tensor->extent[i] > 1 && tensor->stride[i] % width)
            return false;
    return true;
}

static bool channels_last(const pgi_tensor *tensor, int64_t width)
{
    return tensor->extent[PGI_CHANNEL] % width == 0 && tensor->stride[PGI_CHANNEL] == 1 &&
           in_step(tensor, width, PGI_BATCH, PGI_CHANNEL) &&
           in_step(tensor, width, PGI_SPATIAL, PGI_AXES);
}

/* The source's element that the target's first batch and channel have. */
static bool same_begin(const pgi_problem *problem)
{
    const pgi_tensor *source = &problem->source, *target = &problem->target;

    return source->offset[PGI_BATCH] == target->offset[PGI_BATCH] &&
           source->offset[PGI_CHANNEL] == target->offset[PGI_CHANNEL];
}

/* Whether every window is covered first by one position of dx that covers no other window first, so
 * that its index can be checked there. */
static bool checked_by_positions(const pgi_problem *problem)
{
    const pgi_tensor *dy = &problem->source, *dx = &problem->target;
    int64_t dense[PGI_AXES];
    int i;

    if (!pgi_dense_strides(dy->stride[PGI_CHANNEL] == 1 ? POOLGRAD_NXC : POOLGRAD_NCX, PGI_AXES,
                           dy->extent, dense))
        return false;
    for (i = 0; i < PGI_AXES; i++)
        if (dy->extent[i] > 1 && dy->stride[i] != dense[i])
            return false;
    if (dx->extent[PGI_BATCH] != dy->extent[PGI_BATCH] ||
        dx->extent[PGI_CHANNEL] != dy->extent[PGI_CHANNEL])
        return false;
    for (i = 0; i < 3; i++) {
        const pgi_axis *axis = &problem->axis[i];

        if (dx->extent[PGI_SPATIAL + i] != axis->in || dy->extent[PGI_SPATIAL + i] != axis->out)
            return false;
        if (axis->adaptive ? axis->in < axis->out
                           : axis->dilation != 1 || axis->pad_lo >= axis->stride ||
                                 !pgi_axis_covers(axis, axis->out - 1))
            return false;
    }
    return true;
}

/* Elements of 16 bytes. */
static int64_t whole_width(const pgi_problem *problem)
{
    return 16 / (int64_t)problem->element_size;
}

/* Whether neighbours in a plane, or in planes that lie one behind the other, make vectors. */
static bool places_in_vectors(const pgi_problem *problem, int64_t width)
{
    const pgi_tensor *target = &problem->target;
    const int64_t plane = pgi_near_places(problem);
    const int axis = target->extent[PGI_CHANNEL] > 1 ? PGI_CHANNEL : PGI_BATCH;

    if (!dense_plane(target) || pgi_near_grouped(problem, width) == 0)
        return false;
    if (plane % width == 0)
        return in_step(target, width, PGI_BATCH, PGI_SPATIAL);
    return target->extent[axis] <= 1 || target->stride[axis] == plane;
}

/* Whether V neighbours in a row have V / 2 neighbours as sources, two and two. */
static bool in_pairs(const pgi_problem *problem, int64_t width)
{
    const pgi_axis *axis = &problem->axis[2];
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const int64_t columns = target->extent[PGI_AXES - 1];

    return !pgi_is_forward(problem->desc.op) && !axis->adaptive && axis->kernel == 2 &&
           axis->stride == 2 && axis->dilation == 1 && axis->pad_lo == 0 &&
           axis->in == 2 * axis->out && columns == axis->in && columns % width == 0 &&
           source->extent[PGI_AXES - 1] == axis->out && source->stride[PGI_AXES - 1] == 1 &&
           in_step(source, width / 2, PGI_BATCH, PGI_AXES - 1) &&
           in_step(target, width, PGI_BATCH, PGI_AXES - 1) && places_in_vectors(problem, width);
}

/* Whether V neighbours in a row have V / 2 + 1 neighbours as sources. */
static bool in_span(const pgi_problem *problem, const char *sources, int64_t width)
{
    const pgi_axis *axis = &problem->axis[2];
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const int64_t columns = target->extent[PGI_AXES - 1];
    int64_t divisor;

    return width > 1 && sources[1] == '2' && sources[2] == '2' &&
           !pgi_is_forward(problem->desc.op) && !axis->adaptive && axis->kernel == 3 &&
           axis->stride == 2 && axis->dilation == 1 && axis->filled && columns == axis->in &&
           columns % width == 0 && source->extent[PGI_AXES - 1] == axis->out &&
           (axis->out == 1 || source->stride[PGI_AXES - 1] == 1) &&
           in_step(target, width, PGI_BATCH, PGI_AXES - 1) && places_in_vectors(problem, width) &&
           pgi_cuda_one_divisor(problem, &divisor);
}

static pgi_near_mode choose_mode(const pgi_problem *problem, int64_t lanes, int64_t places)
{
    if (lanes > 1 && channels_last(&problem->source, lanes) &&
        channels_last(&problem->target, lanes))
        return PGI_NEAR_LANES;
    return places > 1 && places_in_vectors(problem, places) ? PGI_NEAR_PLACES : PGI_NEAR_SINGLE;
}

/* Windows of two columns side by side, and no others: what is most common is worth a kernel. */
static bool choose_pairs(const pgi_problem *problem, const char *sources, int64_t width)
{
    return sources[2] == '1' && sources[1] == '1' && width > 1 && in_pairs(problem, width);
}

/* What all of it needs: offsets in 32 bits, one begin, no more planes than threads can count. */
static bool fits(const pgi_problem *problem)
{
    const int64_t *extent = problem->target.extent;
    int64_t planes;

    return problem->target.elements > 0 && problem->source.elements > 0 && same_begin(problem) &&
           !problem->indexing.window && span_of(&problem->source, true) < MOST_SPAN &&
           span_of(&problem->target, true) < MOST_SPAN &&
           pgi_mul(extent[PGI_BATCH], extent[PGI_CHANNEL], &planes) && planes < MOST_SPAN &&
           extent[2] + extent[3] + extent[4] <= MOST_ENTRIES;
}

/* "111", "112", "122", "222": how many sources there are at most on the axes; NULL if more. */
static const char *sources_name(const pgi_problem *problem, bool pairs_only)
{
    const int64_t d = pgi_near_most_sources(&problem->gather[0]),
                  h = pgi_near_most_sources(&problem->gather[1]);
    const int64_t w = pgi_near_most_sources(&problem->gather[2]);

    if (d > 2 || h > 2 || w > 2)
        return NULL;
    if (d > 1)
        return "222";
    if (h > 1 || (w > 1 && pairs_only))
        return "122";
    return w > 1 ? "112" : "111";
}

/* Forward with up to three taps on an axis, which are added in their order. */
static poolgrad_status prepare_taps(poolgrad_cuda_plan *plan, bool *possible, poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    const int64_t whole = whole_width(problem);
    const pgi_near_mode mode = choose_mode(problem, whole, 1);
    char kernel[PGI_CUDA_NAME];
    pgi_cuda_step *step;
    bool overlap_most = true; /* what march is for */
    int i;

    for (i = 0; i < 3; i++) {
        if (problem->desc.op != POOLGRAD_AVG || pgi_near_most_sources(&problem->gather[i]) > 3)
            return POOLGRAD_OK;
        overlap_most = overlap_most && problem->axis[i].stride == 1;
    }
    if (overlap_most)
        return POOLGRAD_OK;
    snprintf(kernel, sizeof kernel, "pgi_near_average_taps_%s", pgi_near_mode_names[mode]);
    return pgi_near_step(plan, problem, kernel, mode, mode == PGI_NEAR_LANES ? whole : 1, possible,
                         &step, error);
}

static poolgrad_status prepare_average(poolgrad_cuda_plan *plan, bool *possible,
                                       poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    const char *sources = sources_name(problem, false);
    const int64_t whole = whole_width(problem);
    int64_t places = whole, divisor, span;
    char kernel[PGI_CUDA_NAME];
    pgi_near_mode mode;
    pgi_cuda_step *step;

    if (!sources)
        return prepare_taps(plan, possible, error);
    if (sources[2] == '2' && problem->element_size < 8)
        places = sources[0] == '2' ? 2 : 4;
    else if (sources[0] == '2')
        places = 1;
    mode = choose_mode(problem, whole, pgi_cuda_one_divisor(problem, &divisor) ? places : 1);
    if (mode == PGI_NEAR_PLACES && choose_pairs(problem, sources, places))
        mode = PGI_NEAR_PAIRS;
    span = problem->element_size == 8 ? 2 : 4;
    if (mode != PGI_NEAR_LANES && in_span(problem, sources, span)) {
        mode = PGI_NEAR_SPAN;
        places = span;
    }
    snprintf(kernel, sizeof kernel, "pgi_near_average_%s_%s", sources, pgi_near_mode_names[mode]);
    return pgi_near_step(plan, problem, kernel, mode,
                         mode == PGI_NEAR_LANES    ? whole
                         : mode == PGI_NEAR_SINGLE ? 1
                                                   : places,
                         possible, &step, error);
}

static int index_bits(const pgi_problem *problem)
{
    return problem->indexing.type == POOLGRAD_I64 ? 64 : 32;
}

/* The forward pass; the winners of a gradient from x are one as well. */
static poolgrad_status add_maximum(poolgrad_cuda_plan *plan, const pgi_problem *problem,
                                   bool *possible, pgi_cuda_step **step, poolgrad_error *error)
{
    const int64_t width = problem->element_size == 8 ? 2 : 4;
    char kernel[PGI_CUDA_NAME];
    pgi_near_mode mode;
    int64_t taps = 1;
    int i;

    *possible = fits(problem) && pgi_cuda_alike(&problem->target, &problem->indices);
    for (i = 0; i < 3; i++)
        taps *= pgi_min(pgi_near_most_sources(&problem->taps[i]), MOST_TAPS + 1);
    if (!*possible || taps > MOST_TAPS) {
        *possible = false;
        return POOLGRAD_OK;
    }
    mode = choose_mode(problem, width, 1);
    snprintf(kernel, sizeof kernel, "pgi_near_maximum_%s_%d", pgi_near_mode_names[mode],
             index_bits(problem));
    return pgi_near_step(plan, problem, kernel, mode, mode == PGI_NEAR_LANES ? width : 1, possible,
                         step, error);
}

static poolgrad_status add_gradient(poolgrad_cuda_plan *plan, const pgi_problem *problem,
                                    bool *possible, pgi_cuda_step **step, poolgrad_error *error)
{
    const char *sources = sources_name(problem, true);
    char kernel[PGI_CUDA_NAME];
    int64_t lanes;
    pgi_near_mode mode;

    *possible = sources && fits(problem) && pgi_cuda_alike(&problem->source, &problem->indices);
    if (!*possible)
        return POOLGRAD_OK;
    lanes = sources[2] == '1' && problem->element_size < 8 ? 4 : 2;
    mode = choose_mode(problem, lanes, 1);
    snprintf(kernel, sizeof kernel, "pgi_near_gradient_%s_%s_%d", sources,
             pgi_near_mode_names[mode], index_bits(problem));
    return pgi_near_step(plan, problem, kernel, mode, mode == PGI_NEAR_LANES ? lanes : 1, possible,
                         step, error);
}

static poolgrad_status prepare_gradient(poolgrad_cuda_plan *plan, bool *possible,
                                        poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    pgi_cuda_step *step;

    if (problem->has_x) {
        pgi_problem winners, gradient = *problem;
        size_t places;

        PGI_TRY(pgi_cuda_winners(plan, 0, &winners, &places, error));
        if (winners.target.elements == 0)
            return POOLGRAD_OK;
        pgi_cuda_from_winners(&gradient, &winners);
        PGI_TRY(add_maximum(plan, &winners, possible, &step, error));
        if (!*possible)
            return POOLGRAD_OK;
        step->places_out = places;
        PGI_TRY(add_gradient(plan, &gradient, possible, &step, error));
        if (*possible)
            step->places_in = places;
        return POOLGRAD_OK;
    }
    if (!checked_by_positions(problem) || problem->indexing.plane > MOST_SPAN ||
        problem->indexing.unit > MOST_SPAN / pgi_max(1, problem->indexing.plane))
        return POOLGRAD_OK;
    plan->checks = true;
    plan->workspace = sizeof(uint64_t);
    PGI_TRY(add_gradient(plan, problem, possible, &step, error));
    if (*possible)
        step->parameters.near.checks = 1;
    return POOLGRAD_OK;
}

static poolgrad_status prepare(poolgrad_cuda_plan *plan, bool *possible, poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    pgi_cuda_step *step;

    if (!fits(problem))
        return POOLGRAD_OK;
    if (problem->desc.op == POOLGRAD_MAX)
        return add_maximum(plan, problem, possible, &step, error);
    if (problem->desc.op == POOLGRAD_MAX_GRAD)
        return prepare_gradient(plan, possible, error);
    return prepare_average(plan, possible, error);
}

const pgi_cuda_strategy pgi_cuda_strategy_near = {
    .name = "near",
    .reason = "every target has few sources",
    .prepare = prepare,
};
