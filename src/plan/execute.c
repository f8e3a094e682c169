/* SPDX-License-Identifier: MIT */
/* Executing a plan: checks of the memory, workspace, and the split into tasks. */
#include "core/environment.h"
#include "core/integer.h"
#include "core/status.h"
#include "plan/plan.h"

#include <string.h>

#define BUFFERS_SIZE_0_1 (offsetof(poolgrad_buffers, workspace_size) + sizeof(size_t))

poolgrad_status poolgrad_buffers_init(poolgrad_buffers *buffers)
{
    if (!buffers)
        return POOLGRAD_ERR_NULL;
    memset(buffers, 0, sizeof *buffers);
    buffers->size = sizeof *buffers;
    return POOLGRAD_OK;
}

/* A range of bytes that a buffer occupies; none if it is empty. */
typedef struct pgi_bytes {
    const void *begin;
    size_t size;
} pgi_bytes;

static poolgrad_status check_tensor(const pgi_tensor *tensor, size_t element_size,
                                    const void *memory, const char *name, pgi_bytes *bytes,
                                    poolgrad_error *error)
{
    const int64_t size = (int64_t)element_size;

    bytes->begin = memory;
    bytes->size = 0;
    if (tensor->elements == 0)
        return POOLGRAD_OK;
    if (!memory)
        return pgi_fail(error, POOLGRAD_ERR_NULL, "buffers.%s is NULL", name);
    if ((uintptr_t)memory % element_size)
        return pgi_fail(error, POOLGRAD_ERR_MISALIGNED,
                        "buffers.%s is %p; it must be a multiple of its element size, %zu bytes",
                        name, memory, element_size);
    bytes->begin = (const char *)memory + tensor->lowest * size;
    bytes->size = (size_t)((tensor->highest - tensor->lowest + 1) * size);
    return POOLGRAD_OK;
}

static bool overlap(pgi_bytes a, pgi_bytes b)
{
    return pgi_bytes_overlap(a.begin, a.size, b.begin, b.size);
}

static poolgrad_status check_buffers(const poolgrad_plan *plan, const poolgrad_buffers *buffers,
                                     poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    const size_t needed = poolgrad_plan_workspace(plan);
    pgi_bytes dy, dx, workspace = {buffers->workspace, buffers->workspace ? needed : 0};

    PGI_TRY(check_tensor(&problem->dy, problem->element_size, buffers->dy, "dy", &dy, error));
    PGI_TRY(check_tensor(&problem->dx, problem->element_size, buffers->dx, "dx", &dx, error));
    if (overlap(dx, dy))
        return pgi_fail(error, POOLGRAD_ERR_OVERLAP,
                        "the bytes of dx and dy overlap; they must be apart");
    if (buffers->workspace && buffers->workspace_size < needed)
        return pgi_fail(error, POOLGRAD_ERR_WORKSPACE,
                        "buffers.workspace_size is %zu; the plan needs %zu bytes",
                        buffers->workspace_size, needed);
    if (overlap(workspace, dx) || overlap(workspace, dy))
        return pgi_fail(error, POOLGRAD_ERR_OVERLAP,
                        "the workspace overlaps %s; they must be apart",
                        overlap(workspace, dx) ? "dx" : "dy");
    return POOLGRAD_OK;
}

typedef struct pgi_execution {
    const poolgrad_plan *plan;
    const void *dy;
    void *dx;
    char *workspace; /* aligned */
} pgi_execution;

/* Task i of n gets the i-th of n nearly equal shares of the units, and the i-th workspace. */
static void run_task(void *data, int64_t index)
{
    const pgi_execution *execution = data;
    const poolgrad_plan *plan = execution->plan;
    const int64_t share = plan->units / plan->tasks, rest = plan->units % plan->tasks;
    const int64_t begin = index * share + pgi_min(index, rest);
    const int64_t end = begin + share + (index < rest);
    pgi_environment caller;

    pgi_environment_enter(&caller);
    plan->strategy->run(plan, execution->dy, execution->dx, begin, end,
                        execution->workspace + (size_t)index * plan->task_workspace);
    pgi_environment_leave(&caller);
}

poolgrad_status poolgrad_execute(const poolgrad_plan *plan, const poolgrad_buffers *buffers,
                                 poolgrad_error *error)
{
    pgi_execution execution;
    poolgrad_buffers read;
    void *own = NULL;
    uintptr_t misfit;

    if (!plan)
        return pgi_fail(error, POOLGRAD_ERR_NULL, "plan is NULL");
    PGI_TRY(pgi_struct_read(&read, sizeof read, buffers, BUFFERS_SIZE_0_1, "buffers", error));
    PGI_TRY(check_buffers(plan, &read, error));
    if (plan->tasks == 0)
        return pgi_ok(error);
    if (!read.workspace && poolgrad_plan_workspace(plan) > 0) {
        own = plan->allocate(plan->allocator_context, poolgrad_plan_workspace(plan));
        if (!own)
            return pgi_fail(error, POOLGRAD_ERR_MEMORY,
                            "the allocator gave no %zu bytes for the workspace",
                            poolgrad_plan_workspace(plan));
        read.workspace = own;
    }
    misfit = (uintptr_t)read.workspace % PGI_ALIGNMENT;
    execution.plan = plan;
    execution.dy = read.dy;
    execution.dx = read.dx;
    execution.workspace = (char *)read.workspace + (misfit ? PGI_ALIGNMENT - misfit : 0);
    if (plan->tasks == 1)
        run_task(&execution, 0);
    else if (plan->parallel_for)
        plan->parallel_for(plan->parallel_context, plan->tasks, run_task, &execution);
    else
        plan->backend->parallel_for(plan->threads, plan->tasks, run_task, &execution);
    if (own)
        plan->release(plan->allocator_context, own);
    return pgi_ok(error);
}
