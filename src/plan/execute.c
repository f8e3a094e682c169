/* SPDX-License-Identifier: MIT */
/* Executing a plan: workspace, and the split into tasks. */
#include "core/environment.h"
#include "core/integer.h"
#include "core/sanitizer.h"
#include "core/status.h"
#include "core/window.h"
#include "plan/buffers.h"
#include "plan/placement.h"
#include "plan/plan.h"

/* Elements of the source that tell where it lies: a step that few extents divide. */
#define PROBES     4
#define PROBE_STEP INT64_C(7919)

typedef struct pgi_execution {
    const poolgrad_plan *plan;
    pgi_work work;
    char *workspace; /* aligned */
} pgi_execution;

/* Whether every row of the target begins where streaming stores may. Rows of which some are
 * streamed and some not would share cache lines, which costs more than it saves. */
static bool rows_aligned(const pgi_problem *problem, const void *target)
{
    const pgi_tensor *tensor = &problem->target;
    int i;

    if ((uintptr_t)target % (PGI_STREAM_ELEMENTS * problem->element_size))
        return false;
    for (i = 0; i < PGI_AXES; i++)
        if (tensor->extent[i] > 1 && tensor->stride[i] != 1 &&
            tensor->stride[i] % PGI_STREAM_ELEMENTS)
            return false;
    return true;
}

/* Whether the source lies in a cache, judged by some of its elements: then the target will have a
 * place there, too. (That the target does not is no sign: it does not if it was streamed.) */
static bool is_near(const pgi_backend *backend, const pgi_problem *problem, const char *source)
{
    const pgi_tensor *tensor = &problem->source;
    const void *probes[PROBES];
    int64_t i;
    int axis;

    if (tensor->elements == 0)
        return false;
    for (i = 0; i < PROBES; i++) {
        int64_t offset = 0;

        for (axis = 0; axis < PGI_AXES; axis++)
            offset += i * PROBE_STEP % tensor->extent[axis] * tensor->stride[axis];
        probes[i] = source + offset * (int64_t)problem->element_size;
    }
    return backend->near(probes, PROBES);
}

/* Task i of n gets the i-th of n nearly equal shares of the units, and the i-th workspace. */
static void run_task(void *data, int64_t index)
{
    const pgi_execution *execution = data;
    const poolgrad_plan *plan = execution->plan;
    const int64_t share = plan->units / plan->tasks, rest = plan->units % plan->tasks;
    const int64_t begin = index * share + pgi_min(index, rest);
    const int64_t end = begin + share + (index < rest);
    char *workspace = execution->workspace + (size_t)index * plan->task_workspace;
    pgi_environment caller;

    PGI_MAY_READ(workspace, plan->task_workspace);
    pgi_environment_enter(&caller);
    plan->strategy->run(plan, &execution->work, begin, end, workspace);
    if (plan->stream)
        plan->kernels.settle();
    pgi_environment_leave(&caller);
}

/* Runs all tasks, in a workspace of its own if there is none. */
static poolgrad_status run_tasks(pgi_execution *execution, void *workspace, poolgrad_error *error)
{
    const poolgrad_plan *plan = execution->plan;
    const size_t needed = poolgrad_plan_workspace(plan);
    void *own = NULL;
    uintptr_t misfit;

    if (!workspace) {
        workspace = own = plan->allocate(plan->allocator_context, needed);
        if (!own)
            return pgi_fail(error, POOLGRAD_ERR_MEMORY,
                            "the allocator gave no %zu bytes for the workspace", needed);
    }
    misfit = (uintptr_t)workspace % PGI_ALIGNMENT;
    execution->workspace = (char *)workspace + (misfit ? PGI_ALIGNMENT - misfit : 0);
    if (plan->tasks == 1)
        run_task(execution, 0);
    else if (plan->parallel_for)
        plan->parallel_for(plan->parallel_context, plan->tasks, run_task, execution);
    else
        plan->backend->parallel_for(plan->threads, plan->tasks, run_task, execution);
    if (own)
        plan->release(plan->allocator_context, own);
    return POOLGRAD_OK;
}

poolgrad_status poolgrad_execute(const poolgrad_plan *plan, const poolgrad_buffers *buffers,
                                 poolgrad_error *error)
{
    _Atomic int64_t lowest_bad_index = INT64_MAX;
    pgi_execution execution = {.plan = plan};
    const pgi_problem *problem;
    poolgrad_buffers read;

    if (!plan)
        return pgi_fail(error, POOLGRAD_ERR_NULL, "plan is NULL");
    problem = &plan->problem;
    PGI_TRY(pgi_buffers_read(problem, buffers, &read, &execution.work, error));
    execution.work.bad_index = &lowest_bad_index;
    PGI_TRY(
        pgi_buffers_check(problem, &read, &execution.work, poolgrad_plan_workspace(plan), error));
    execution.work.near = plan->looks && is_near(plan->backend, problem, execution.work.source);
    execution.work.stream_inside = plan->stream && !(plan->fits && execution.work.near);
    execution.work.stream =
        execution.work.stream_inside && rows_aligned(problem, execution.work.target);
    if (plan->tasks > 0)
        PGI_TRY(run_tasks(&execution, read.workspace, error));
    if (problem->desc.op == POOLGRAD_MAX_GRAD && problem->has_indices)
        pgi_report_bad_index(&execution.work, pgi_bad_unreached_index(problem, read.indices));
    if (lowest_bad_index != INT64_MAX)
        return pgi_bad_index(problem, lowest_bad_index,
                             pgi_index_load(problem->indexing.type, read.indices,
                                            pgi_index_offset_of_element(problem, lowest_bad_index)),
                             error);
    return pgi_ok(error);
}
