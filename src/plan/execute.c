/* SPDX-License-Identifier: MIT */
/* Executing a plan: checks of the memory, workspace, and the split into tasks. */
#include "core/environment.h"
#include "core/integer.h"
#include "core/sanitizer.h"
#include "core/status.h"
#include "core/window.h"
#include "plan/placement.h"
#include "plan/plan.h"

#include <inttypes.h>
#include <stdio.h>
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

/* Memory that an execution uses: where, and whether it is written. */
typedef struct pgi_memory {
    const char *name;
    const void *begin;
    size_t bytes; /* 0 if nothing of it is used */
    bool written;
} pgi_memory;

enum {
    MAX_MEMORIES = 5
};

typedef struct pgi_memories {
    pgi_memory memory[MAX_MEMORIES];
    int count;
} pgi_memories;

static poolgrad_status add_tensor(pgi_memories *memories, const pgi_tensor *tensor,
                                  size_t element_size, const void *first, const char *name,
                                  bool written, poolgrad_error *error)
{
    const int64_t size = (int64_t)element_size;
    pgi_memory *memory = &memories->memory[memories->count++];

    *memory = (pgi_memory){.name = name, .written = written};
    if (tensor->elements == 0)
        return POOLGRAD_OK;
    if (!first)
        return pgi_fail(error, POOLGRAD_ERR_NULL, "buffers.%s is NULL", name);
    if ((uintptr_t)first % element_size)
        return pgi_fail(error, POOLGRAD_ERR_MISALIGNED,
                        "buffers.%s is %p; it must be a multiple of its element size, %zu bytes",
                        name, first, element_size);
    memory->begin = (const char *)first + tensor->lowest * size;
    memory->bytes = (size_t)((tensor->highest - tensor->lowest + 1) * size);
    return POOLGRAD_OK;
}

/* What is written must be apart from everything else. */
static poolgrad_status check_overlap(const pgi_memories *memories, poolgrad_error *error)
{
    int i, k;

    for (i = 0; i < memories->count; i++) {
        for (k = 0; k < i; k++) {
            const pgi_memory *a = &memories->memory[i], *b = &memories->memory[k];

            if ((a->written || b->written) &&
                pgi_bytes_overlap(a->begin, a->bytes, b->begin, b->bytes))
                return pgi_fail(error, POOLGRAD_ERR_OVERLAP,
                                "the bytes of %s and %s overlap; they must be apart", a->name,
                                b->name);
        }
    }
    return POOLGRAD_OK;
}

static poolgrad_status check_buffers(const poolgrad_plan *plan, const poolgrad_buffers *buffers,
                                     const pgi_work *work, poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    const poolgrad_op op = problem->desc.op;
    const size_t size = problem->element_size, needed = poolgrad_plan_workspace(plan);
    pgi_memories memories = {.count = 0};

    PGI_TRY(add_tensor(&memories, &problem->source, size, work->source, pgi_source_name(op), false,
                       error));
    PGI_TRY(add_tensor(&memories, &problem->target, size, work->target, pgi_target_name(op), true,
                       error));
    if (problem->has_x)
        PGI_TRY(add_tensor(&memories, &problem->x, size, work->x, "x", false, error));
    if (problem->has_y)
        PGI_TRY(add_tensor(&memories, &problem->y, size, work->y, "y", false, error));
    if (op == POOLGRAD_MAX_GRAD && problem->has_indices)
        PGI_TRY(add_tensor(&memories, &problem->indices, problem->index_size, work->indices,
                           "indices", false, error));
    if (op == POOLGRAD_MAX && work->indices_out)
        PGI_TRY(add_tensor(&memories, &problem->indices, problem->index_size, work->indices_out,
                           "indices_out", true, error));
    if (buffers->workspace && buffers->workspace_size < needed)
        return pgi_fail(error, POOLGRAD_ERR_WORKSPACE,
                        "buffers.workspace_size is %zu; the plan needs %zu bytes",
                        buffers->workspace_size, needed);
    if (buffers->workspace)
        memories.memory[memories.count++] =
            (pgi_memory){"the workspace", buffers->workspace, needed, true};
    return check_overlap(&memories, error);
}

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

static poolgrad_status bad_index(const pgi_execution *execution, int64_t element,
                                 poolgrad_error *error)
{
    const pgi_problem *problem = &execution->plan->problem;
    const int64_t index = pgi_index_load(problem->indexing.type, execution->work.indices,
                                         pgi_index_offset_of_element(problem, element));
    const int64_t *extent = problem->source.extent;
    int64_t at[PGI_AXES], rest = element;
    char window[72] = "";
    size_t used = 0;
    int i;

    for (i = PGI_AXES - 1; i >= 0; rest /= extent[i], i--)
        at[i] = rest % extent[i];
    for (i = PGI_AXES - problem->desc.rank; i < PGI_AXES; i++)
        used += (size_t)snprintf(window + used, sizeof window - used,
                                 used ? ",%" PRId64 : "%" PRId64, at[i]);
    pgi_fail(error, POOLGRAD_ERR_INDEX,
             "element %" PRId64 " of the indices (batch %" PRId64 ", channel %" PRId64
             ", window %s) is %" PRId64 "; it must be a position that its window covers%s",
             element, at[PGI_BATCH], at[PGI_CHANNEL], window, index,
             problem->indexing.no_winner ? ", or -1" : "");
    if (error)
        error->position = element;
    return POOLGRAD_ERR_INDEX;
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
    poolgrad_buffers read;
    bool forward;

    if (!plan)
        return pgi_fail(error, POOLGRAD_ERR_NULL, "plan is NULL");
    poolgrad_buffers_init(&read);
    PGI_TRY(pgi_struct_read(&read, sizeof read, buffers, BUFFERS_SIZE_0_1, "buffers", error));
    forward = pgi_is_forward(plan->problem.desc.op);
    execution.work = (pgi_work){.source = forward ? read.x : read.dy,
                                .target = forward ? read.y : read.dx,
                                .x = read.x,
                                .y = read.y,
                                .indices = read.indices,
                                .indices_out = read.indices_out,
                                .bad_index = &lowest_bad_index};
    execution.work.stream_inside = plan->stream;
    execution.work.stream = plan->stream && rows_aligned(&plan->problem, execution.work.target);
    PGI_TRY(check_buffers(plan, &read, &execution.work, error));
    if (plan->tasks > 0)
        PGI_TRY(run_tasks(&execution, read.workspace, error));
    if (plan->problem.desc.op == POOLGRAD_MAX_GRAD && plan->problem.has_indices)
        pgi_report_bad_index(&execution.work,
                             pgi_bad_unreached_index(&plan->problem, read.indices));
    if (lowest_bad_index != INT64_MAX)
        return bad_index(&execution, lowest_bad_index, error);
    return pgi_ok(error);
}
