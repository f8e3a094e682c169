/* SPDX-License-Identifier: MIT */
/* Strategy: everything, by the literal kernels. Averages axis by axis, with the sums between them
 * in the workspace; a max gradient from x by way of winners in the workspace. */
#include "core/dtype.h"
#include "core/integer.h"
#include "core/status.h"
#include "cuda/plan.h"
#include "cuda/winners.h"

#include <stdio.h>

/* Threads of a block; kernels are compiled for no more. */
#define BLOCK 128

/* Blocks of a launch at most; threads take several elements then. */
#define MOST_BLOCKS (INT64_C(1) << 20)

static poolgrad_status add_step(poolgrad_cuda_plan *plan, const char *kernel, int64_t count,
                                pgi_cuda_step **step, poolgrad_error *error)
{
    *step = pgi_cuda_step_add(plan, "general", kernel, BLOCK, 0);
    (*step)->grid_x = (unsigned)pgi_min(pgi_ceil_div(count, BLOCK), MOST_BLOCKS);
    (*step)->parameters.general = (pgi_cuda_general){.problem = plan->problem,
                                                     .alpha = plan->scale.alpha,
                                                     .beta = plan->scale.beta,
                                                     .count = count};
    return pgi_cuda_step_find(plan, *step, error);
}

static poolgrad_status add_typed_step(poolgrad_cuda_plan *plan, const char *kernel, int64_t count,
                                      pgi_cuda_step **step, poolgrad_error *error)
{
    char name[PGI_CUDA_NAME];

    snprintf(name, sizeof name, "%s_%s", kernel, pgi_cuda_type(plan->problem.desc.dtype));
    return add_step(plan, name, count, step, error);
}

/* A pass per axis that the rank has; after each, the axis is the target's. */
static poolgrad_status prepare_average(poolgrad_cuda_plan *plan, poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    const int64_t real = (int64_t)pgi_compute_size(problem->desc.dtype);
    const int64_t *extent = problem->target.extent;
    pgi_range held[3];
    size_t before = PGI_CUDA_NOWHERE;
    int axis, i;

    for (i = 0; i < 3; i++)
        held[i] = pgi_problem_reach(problem, i);
    for (axis = 3 - problem->desc.rank; axis < 3; axis++) {
        int64_t count = extent[PGI_BATCH] * extent[PGI_CHANNEL];
        pgi_cuda_general *pass;
        pgi_cuda_step *step;

        for (i = 0; i < 3; i++)
            if (!pgi_mul(count, i <= axis ? extent[PGI_SPATIAL + i] : held[i].end - held[i].begin,
                         &count))
                return pgi_fail(error, POOLGRAD_ERR_OVERFLOW,
                                "the intermediate sums of this problem do not fit in 64 bits");
        PGI_TRY(add_typed_step(plan, "pgi_average_pass", count, &step, error));
        pass = &step->parameters.general;
        pass->axis = axis;
        pass->first = axis == 3 - problem->desc.rank;
        pass->last = axis == 2;
        for (i = 0; i < 3; i++) {
            pass->begin[i] = held[i].begin;
            pass->held[i] = held[i].end - held[i].begin;
        }
        step->sums_in = before;
        if (!pass->last) {
            if (!pgi_cuda_reserve(plan, count, real, &step->sums_out))
                return pgi_fail(error, POOLGRAD_ERR_OVERFLOW,
                                "the workspace does not fit in 64 bits");
            before = step->sums_out;
        }
    }
    return POOLGRAD_OK;
}

/* dx from the indices of the caller, all of which are checked, or from winners in the workspace. */
static poolgrad_status prepare_gradient(poolgrad_cuda_plan *plan, poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    pgi_cuda_step *step;

    if (problem->has_x) {
        pgi_problem winners;
        size_t places;

        PGI_TRY(pgi_cuda_winners(plan, 0, &winners, &places, error));
        PGI_TRY(add_typed_step(plan, "pgi_maximum", winners.target.elements, &step, error));
        step->parameters.general.problem = winners;
        step->places_out = places;
        PGI_TRY(
            add_typed_step(plan, "pgi_maximum_gradient", problem->target.elements, &step, error));
        pgi_cuda_from_winners(&step->parameters.general.problem, &winners);
        step->places_in = places;
        return POOLGRAD_OK;
    }
    plan->checks = problem->indices.elements > 0;
    plan->workspace = plan->checks ? sizeof(uint64_t) : 0;
    if (plan->checks)
        PGI_TRY(add_step(plan, "pgi_check_indices", problem->indices.elements, &step, error));
    if (problem->target.elements > 0)
        PGI_TRY(
            add_typed_step(plan, "pgi_maximum_gradient", problem->target.elements, &step, error));
    return POOLGRAD_OK;
}

static poolgrad_status prepare(poolgrad_cuda_plan *plan, bool *possible, poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    pgi_cuda_step *step;

    *possible = true;
    if (problem->desc.op == POOLGRAD_MAX_GRAD && problem->has_indices)
        return prepare_gradient(plan, error);
    if (problem->target.elements == 0)
        return POOLGRAD_OK;
    if (problem->desc.op == POOLGRAD_MAX_GRAD)
        return prepare_gradient(plan, error);
    if (problem->desc.op == POOLGRAD_MAX)
        return add_typed_step(plan, "pgi_maximum", problem->target.elements, &step, error);
    return prepare_average(plan, error);
}

const pgi_cuda_strategy pgi_cuda_strategy_general = {
    .name = "general",
    .reason = "no faster kernels apply",
    .prepare = prepare,
};
