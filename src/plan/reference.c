/* SPDX-License-Identifier: MIT */
/* The reference strategy: hands the backend's readable kernel one plane of the target at a time.
 * Slow; it is what every other strategy must equal bit for bit. */
#include "core/dtype.h"
#include "plan/placement.h"
#include "plan/strategies.h"

#include <inttypes.h>
#include <stdio.h>

static bool applicable(const pgi_problem *problem)
{
    (void)problem;
    return true;
}

/* For averages the kernel keeps a plane's terms and its sums after one and after two axes, for the
 * gradient of the maximum a plane of sums. */
static bool prepare(poolgrad_plan *plan)
{
    const pgi_problem *problem = &plan->problem;
    const int64_t *targets = problem->target.extent + PGI_SPATIAL;
    const int64_t real = (int64_t)pgi_compute_size(problem->desc.dtype);
    pgi_placement at = {0, true};
    int64_t extent[3];
    int i;

    if (problem->target.elements == 0)
        return true;
    for (i = 0; i < 3; i++) {
        const pgi_range reach = pgi_problem_reach(problem, i);

        extent[i] = reach.end - reach.begin;
    }
    if (!pgi_is_max(problem->desc.op)) {
        for (i = 0; i < 3; i++) {
            pgi_place(&at, extent[0], extent[1], extent[2], real);
            extent[i] = targets[i];
        }
    }
    pgi_place(&at, targets[0], targets[1], targets[2], real);
    plan->units = problem->target.extent[PGI_BATCH] * problem->target.extent[PGI_CHANNEL];
    plan->task_workspace = (size_t)at.end;
    return at.fits;
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    int64_t plane;

    for (plane = begin; plane < end; plane++)
        plan->backend->reference(&plan->problem, &plan->scale, work, plane, workspace);
}

static void describe(const poolgrad_plan *plan, char *text, size_t capacity)
{
    snprintf(text, capacity, "%" PRId64 " planes, each computed literally as defined", plan->units);
}

const pgi_strategy pgi_strategy_reference = {
    .name = "reference",
    .reason = "the definition itself, slow and readable",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = describe,
};
