/* SPDX-License-Identifier: MIT */
/* The reference strategy: hands the backend's readable kernel one plane of dx at a time. Slow; it
 * is what every other strategy must equal bit for bit. */
#include "core/dtype.h"
#include "core/integer.h"
#include "plan/strategies.h"

#include <inttypes.h>
#include <stdio.h>

static bool applicable(const pgi_problem *problem)
{
    (void)problem;
    return true;
}

/* The kernel keeps a plane's terms and its sums after one and after two axes. */
static bool prepare(poolgrad_plan *plan)
{
    const pgi_problem *problem = &plan->problem;
    int64_t extent[3], reals, total = 1; /* never none, so that there always is a workspace */
    int i, axis;

    if (problem->dx.elements == 0)
        return true;
    for (axis = 0; axis < 3; axis++) {
        const pgi_range reach = pgi_problem_reach(problem, axis);

        extent[axis] = reach.end - reach.begin;
    }
    for (i = 0; i < 3; i++) {
        if (!pgi_mul(extent[0], extent[1], &reals) || !pgi_mul(reals, extent[2], &reals) ||
            !pgi_add(total, reals, &total))
            return false;
        extent[i] = problem->dx.extent[PGI_SPATIAL + i];
    }
    if (!pgi_mul(total, (int64_t)pgi_compute_size(problem->desc.dtype), &total) ||
        !pgi_add(total, PGI_ALIGNMENT - 1, &total))
        return false;
    plan->units = problem->dx.extent[PGI_BATCH] * problem->dx.extent[PGI_CHANNEL];
    plan->task_workspace = (size_t)(total - total % PGI_ALIGNMENT);
    return true;
}

static void run(const poolgrad_plan *plan, const void *dy, void *dx, int64_t begin, int64_t end,
                void *workspace)
{
    int64_t plane;

    for (plane = begin; plane < end; plane++)
        plan->backend->reference(&plan->problem, &plan->scale, dy, dx, plane, workspace);
}

static void describe(const poolgrad_plan *plan, char *text, size_t capacity)
{
    snprintf(text, capacity, "%" PRId64 " planes, each summed literally as defined", plan->units);
}

const pgi_strategy pgi_strategy_reference = {
    .name = "reference",
    .reason = "the definition itself, slow and readable",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = describe,
};
