/* SPDX-License-Identifier: MIT */
/* Gradients in another system's arithmetic: hands the backend's readable kernel one plane of the
 * target at a time. The planner takes it for every problem with parity, and for no other. */
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

/* The kernel keeps a number for every window that reaches a plane: of averages the term, else the
 * place of the winner, unless y says who wins. */
static bool prepare(poolgrad_plan *plan)
{
    const pgi_problem *problem = &plan->problem;
    const int64_t size = pgi_is_max(problem->desc.op)
                             ? (int64_t)sizeof(int64_t)
                             : (int64_t)pgi_compute_size(problem->desc.dtype);
    pgi_placement at = {0, true};
    int64_t extent[3];
    int i;

    if (problem->target.elements == 0)
        return true;
    for (i = 0; i < 3; i++) {
        const pgi_range reach = pgi_problem_reach(problem, i);

        /* never nothing, since an allocator may answer a request for that with NULL */
        extent[i] = problem->has_y ? 1 : pgi_max(1, reach.end - reach.begin);
    }
    pgi_place(&at, extent[0], extent[1], extent[2], size);
    plan->units = problem->target.extent[PGI_BATCH] * problem->target.extent[PGI_CHANNEL];
    plan->task_workspace = (size_t)at.end;
    return at.fits;
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    int64_t plane;

    for (plane = begin; plane < end; plane++)
        plan->backend->parity(&plan->problem, work, plane, workspace);
}

static void describe(const poolgrad_plan *plan, char *text, size_t capacity)
{
    static const char *const systems[] = {"?",       "poolgrad", "TensorFlow", "ONNX Runtime",
                                          "PyTorch", "oneDNN"};

    snprintf(text, capacity, "%" PRId64 " planes, each with the additions and roundings of %s",
             plan->units, systems[plan->problem.desc.parity]);
}

const pgi_strategy pgi_strategy_parity = {
    .name = "parity",
    .reason = "the problem asks for another system's arithmetic",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = describe,
};
