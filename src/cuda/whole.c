/* SPDX-License-Identifier: MIT */
/* Strategy: averages whose one window covers every position of its plane; forward, of a square. */
#include "core/integer.h"
#include "core/status.h"
#include "cuda/plan.h"

#include <stdio.h>

static bool covers_all(const pgi_axis *axis)
{
    return axis->out == 1 && (axis->adaptive || (axis->dilation == 1 && axis->pad_lo >= 0 &&
                                                 axis->kernel - axis->pad_lo >= axis->in));
}

/* What the window is divided by. */
static bool find_divisor(const pgi_problem *problem, int64_t *divisor)
{
    int i;

    *divisor = 1;
    if (problem->desc.divisor == POOLGRAD_OVERRIDE) {
        *divisor = problem->desc.divisor_override;
        return true;
    }
    for (i = 0; i < 3; i++)
        if (!pgi_mul(*divisor, pgi_axis_count(&problem->axis[i], problem->desc.divisor, 0),
                     divisor))
            return false;
    return *divisor < INT64_C(1) << 53; /* exact in the widest compute type, rounded once else */
}

/* Whether a tensor's places lie one behind the other, `apart` elements from each to the next. */
static bool has_places_in_a_row(const pgi_tensor *tensor, int64_t apart)
{
    int64_t expected = apart;
    int i;

    for (i = PGI_AXES - 1; i >= PGI_SPATIAL; i--) {
        if (tensor->extent[i] > 1 && tensor->stride[i] != expected)
            return false;
        expected *= tensor->extent[i];
    }
    return true;
}

/* Whether planes lie one behind the other too, and so do the numbers that they have in common. */
static bool has_planes_in_a_row(const pgi_tensor *planes, const pgi_tensor *numbers, int64_t places)
{
    const int64_t channels = planes->extent[PGI_CHANNEL], images = planes->extent[PGI_BATCH];

    return has_places_in_a_row(planes, 1) &&
           (channels == 1 ||
            (planes->stride[PGI_CHANNEL] == places && numbers->stride[PGI_CHANNEL] == 1)) &&
           (images == 1 || (planes->stride[PGI_BATCH] == places * channels &&
                            numbers->stride[PGI_BATCH] == channels));
}

static poolgrad_status add(poolgrad_cuda_plan *plan, const pgi_cuda_whole *whole,
                           const char *kernel, int threads, int64_t blocks, int64_t parts,
                           poolgrad_error *error)
{
    char name[PGI_CUDA_NAME];
    pgi_cuda_step *step;

    snprintf(name, sizeof name, "pgi_whole_%s_%s", kernel, pgi_cuda_type(plan->problem.desc.dtype));
    step = pgi_cuda_step_add(plan, "whole", name, threads, 0);
    step->parameters.whole = *whole;
    step->grid_x = (unsigned)blocks;
    step->grid_y = (unsigned)parts;
    return pgi_cuda_step_find(plan, step, error);
}

/* The side of the squares that become one number each; 0 if they are no such squares. */
static int64_t square_side(const pgi_problem *problem)
{
    const pgi_axis *axis = problem->axis;
    const int64_t side = axis[2].in;
    int i;

    for (i = 0; i < 3; i++)
        if (axis[i].out != 1 || axis[i].in != (i == 0 ? 1 : side) ||
            problem->source.extent[PGI_SPATIAL + i] != axis[i].in ||
            (!axis[i].adaptive && (axis[i].kernel != axis[i].in || axis[i].pad_lo != 0 ||
                                   axis[i].pad_hi != 0 || axis[i].dilation != 1)))
            return 0;
    return side < PGI_WHOLE_LEAST_SIDE || side > PGI_WHOLE_MOST_SIDE ? 0 : side;
}

static poolgrad_status prepare_means(poolgrad_cuda_plan *plan, pgi_cuda_whole *whole,
                                     bool *possible, poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    const pgi_tensor *source = &problem->source;
    const int64_t side = square_side(problem), vector = 16 / (int64_t)problem->element_size;
    int64_t threads = whole->planes;
    const char *way = "planes";
    char kernel[32];

    if (side == 0)
        return POOLGRAD_OK;
    whole->source_place = source->stride[PGI_AXES - 1];
    if (pgi_cuda_has_lanes(problem) && has_places_in_a_row(source, whole->source_place)) {
        way = "places";
        threads = whole->images * (whole->channels / vector);
        *possible = whole->source_place % vector == 0;
    } else {
        /* all planes of x, which y may be a box of */
        *possible = side % 2 == 1 && has_planes_in_a_row(source, &problem->target, side * side) &&
                    source->extent[PGI_CHANNEL] * source->extent[PGI_BATCH] == whole->planes;
    }
    *possible = *possible && threads <= INT32_MAX;
    if (!*possible)
        return POOLGRAD_OK;
    snprintf(kernel, sizeof kernel, "means_%s_%d", way, (int)side);
    return add(plan, whole, kernel, PGI_WHOLE_PLANES, pgi_ceil_div(threads, PGI_WHOLE_PLANES), 1,
               error);
}

static poolgrad_status prepare(poolgrad_cuda_plan *plan, bool *possible, poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const int64_t channels = target->extent[PGI_CHANNEL], images = target->extent[PGI_BATCH];
    const int64_t vector = 16 / (int64_t)problem->element_size;
    const int64_t places = target->extent[2] * target->extent[3] * target->extent[4];
    pgi_cuda_whole whole = {.planes = channels * images,
                            .places = places,
                            .images = images,
                            .channels = channels,
                            .source_image = source->stride[PGI_BATCH],
                            .target_image = target->stride[PGI_BATCH],
                            .alpha = plan->scale.alpha,
                            .beta = plan->scale.beta};
    int i;

    if (pgi_is_max(problem->desc.op) || target->elements == 0 || source->elements == 0 ||
        !find_divisor(problem, &whole.divisor))
        return POOLGRAD_OK;
    whole.source_begin = pgi_cuda_source_begin(problem);
    if (pgi_is_forward(problem->desc.op))
        return prepare_means(plan, &whole, possible, error);
    for (i = 0; i < 3; i++)
        if (!covers_all(&problem->axis[i]))
            return POOLGRAD_OK;
    if (has_planes_in_a_row(target, source, places) && places >= vector && places < 1 << 24) {
        const int64_t blocks =
            pgi_ceil_div(target->elements, PGI_WHOLE_THREADS * PGI_WHOLE_VECTORS * vector);

        *possible = blocks <= INT32_MAX;
        return *possible ? add(plan, &whole, "planes", PGI_WHOLE_THREADS, blocks, 1, error)
                         : POOLGRAD_OK;
    }
    whole.target_place = target->stride[PGI_AXES - 1];
    if (pgi_cuda_has_lanes(problem) && has_places_in_a_row(target, whole.target_place)) {
        const int64_t blocks = pgi_ceil_div(images * (channels / vector), PGI_WHOLE_THREADS);
        const int64_t parts = pgi_ceil_div(places, PGI_WHOLE_PLACES);

        *possible = blocks <= INT32_MAX && parts <= 65535;
        return *possible ? add(plan, &whole, "places", PGI_WHOLE_THREADS, blocks, parts, error)
                         : POOLGRAD_OK;
    }
    return POOLGRAD_OK;
}

const pgi_cuda_strategy pgi_cuda_strategy_whole = {
    .name = "whole",
    .reason = "one window covers everything",
    .prepare = prepare,
};
