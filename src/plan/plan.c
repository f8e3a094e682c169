/* SPDX-License-Identifier: MIT */
/* From a descriptor to a plan, and what a plan says of itself. */
#include "plan/plan.h"

#include "core/dtype.h"
#include "core/environment.h"
#include "core/integer.h"
#include "core/status.h"
#include "plan/arrange.h"
#include "plan/placement.h"
#include "plan/strategies.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS_SIZE_0_1 (offsetof(poolgrad_options, allocator_context) + sizeof(void *))
#define INFO_SIZE_0_1    sizeof(poolgrad_plan_info)

/* Waking a thread costs some microseconds, in which one core moves about this many bytes. */
#define BYTES_PER_TASK (INT64_C(64) << 10)

/* How much more is written than read where results may be left to the last cache. */
#define PLAIN_WRITES 16

poolgrad_status poolgrad_options_init(poolgrad_options *options)
{
    if (!options)
        return POOLGRAD_ERR_NULL;
    memset(options, 0, sizeof *options);
    options->size = sizeof *options;
    return POOLGRAD_OK;
}

static void *allocate_malloc(void *context, size_t bytes)
{
    (void)context;
    return malloc(bytes);
}

static void release_free(void *context, void *memory)
{
    (void)context;
    free(memory);
}

poolgrad_status pgi_options_read(poolgrad_options *to, const poolgrad_options *from,
                                 poolgrad_error *error)
{
    poolgrad_options_init(to);
    if (from)
        PGI_TRY(pgi_struct_read(to, sizeof *to, from, OPTIONS_SIZE_0_1, "options", error));
    if (to->threads < 0 || to->threads > PGI_MAX_THREADS)
        return pgi_fail(error, POOLGRAD_ERR_OPTION,
                        "options.threads is %" PRId32 "; it must be from 0 to %d", to->threads,
                        PGI_MAX_THREADS);
    if (!to->allocate != !to->release)
        return pgi_fail(error, POOLGRAD_ERR_NULL,
                        "options.%s is NULL; allocate and release come together",
                        to->allocate ? "release" : "allocate");
    if (!to->allocate) {
        to->allocate = allocate_malloc;
        to->release = release_free;
    }
    return POOLGRAD_OK;
}

/* Another system's arithmetic is one strategy's business, and that strategy's only. */
static bool applies(const pgi_strategy *strategy, const pgi_problem *problem)
{
    const bool parity = problem->desc.parity != POOLGRAD_PARITY_OFF;

    return parity == (strategy == &pgi_strategy_parity) && strategy->applicable(problem);
}

static poolgrad_status choose_strategy(poolgrad_plan *plan, const char *name, poolgrad_error *error)
{
    const pgi_strategy *const *entry;

    for (entry = pgi_strategies; *entry; entry++) {
        if (name && strcmp((*entry)->name, name) != 0)
            continue;
        if (applies(*entry, &plan->problem)) {
            plan->strategy = *entry;
            plan->reason = name ? "asked for by name" : (*entry)->reason;
            return POOLGRAD_OK;
        }
        if (name)
            return pgi_fail(error, POOLGRAD_ERR_UNSUPPORTED,
                            "options.strategy is \"%s\", which does not apply to this problem",
                            name);
    }
    return pgi_fail(error, POOLGRAD_ERR_OPTION,
                    "options.strategy is \"%s\"; poolgrad_name lists the strategies there are",
                    name);
}

int64_t pgi_bytes_written(const pgi_problem *problem)
{
    int64_t bytes = problem->target.elements * (int64_t)problem->element_size;

    if (problem->desc.op == POOLGRAD_MAX)
        bytes += problem->indices.elements * (int64_t)problem->index_size;
    return bytes;
}

int64_t pgi_bytes_read(const pgi_problem *problem)
{
    int64_t bytes = problem->source.elements * (int64_t)problem->element_size;

    if (problem->has_x)
        bytes += problem->x.elements * (int64_t)problem->element_size;
    if (problem->has_y)
        bytes += problem->y.elements * (int64_t)problem->element_size;
    if (problem->desc.op == POOLGRAD_MAX_GRAD && problem->has_indices)
        bytes += problem->indices.elements * (int64_t)problem->index_size;
    if (problem->desc.beta != 0)
        bytes += problem->target.elements * (int64_t)problem->element_size;
    return bytes;
}

pgi_scale pgi_scale_of(const poolgrad_desc *desc)
{
    pgi_scale scale = {desc->alpha, desc->beta};
    pgi_environment caller;

    pgi_environment_enter(&caller);
    if (desc->dtype != POOLGRAD_F64) {
        /* volatile, since gcc 12 makes a vector of the two and forgets to round it */
        volatile float alpha = (float)desc->alpha, beta = (float)desc->beta;

        scale.alpha = alpha;
        scale.beta = beta;
    }
    pgi_environment_leave(&caller);
    return scale;
}

/* What does not fit in a core's own cache will not be there when it is read. But what hardly reads
 * is faster with plain stores on machines that like them. (2x2 with stride 2, bf16 NCX, would take
 * 0.41 instead of 0.35 ms even there.) */
static bool streams(const pgi_problem *problem, const pgi_backend *backend)
{
    const int64_t bytes = problem->target.elements * (int64_t)problem->element_size;

    if (bytes <= backend->cache_bytes())
        return false;
    return bytes / PLAIN_WRITES < pgi_bytes_read(problem) || bytes > backend->plain_bytes();
}

/* Whether what is read is too large for a core's own cache, but not for the last one: a look at
 * where it lies costs less than 1 % of the time. */
static bool may_be_near(const pgi_problem *problem, const pgi_backend *backend)
{
    const int64_t bytes = pgi_bytes_read(problem);

    return bytes > backend->cache_bytes() && bytes <= backend->last_cache_bytes();
}

/* Everything about a plan whose memory is there. */
static poolgrad_status fill(poolgrad_plan *plan, const poolgrad_options *options,
                            poolgrad_error *error)
{
    int64_t workspace;

    plan->backend = &pgi_cpu_backend;
    PGI_TRY(plan->backend->select(options->cpu, plan->problem.desc.dtype, &plan->kernels, error));
    pgi_tile_evenly(&plan->problem);
    plan->rank = plan->problem.desc.rank;
    /* other systems' order of axes is part of what parity promises */
    if (plan->problem.desc.parity == POOLGRAD_PARITY_OFF) {
        pgi_join_axes(&plan->problem);
        plan->rank = pgi_units_first(&plan->problem);
    }
    PGI_TRY(choose_strategy(plan, options->strategy, error));
    plan->scale = pgi_scale_of(&plan->problem.desc);
    plan->threads = options->threads ? options->threads : poolgrad_default_threads();
    plan->parallel_for = options->parallel_for;
    plan->parallel_context = options->parallel_context;
    plan->first_axis = 3 - plan->rank;
    plan->units = 0;
    plan->task_workspace = 0;
    plan->stream = streams(&plan->problem, plan->backend);
    plan->fits = plan->stream &&
                 pgi_bytes_read(&plan->problem) / 2 + pgi_bytes_written(&plan->problem) / 2 <=
                     plan->backend->last_cache_bytes() / 4;
    plan->looks = plan->fits || may_be_near(&plan->problem, plan->backend);
    if (!plan->strategy->prepare(plan))
        return pgi_fail(error, POOLGRAD_ERR_OVERFLOW,
                        "the intermediate sums of this problem do not fit in 64 bits");
    plan->tasks = pgi_min(plan->threads, plan->units);
    plan->tasks = pgi_min(plan->tasks, 1 + pgi_bytes_read(&plan->problem) / BYTES_PER_TASK +
                                           pgi_bytes_written(&plan->problem) / BYTES_PER_TASK);
    if (!pgi_mul((int64_t)plan->task_workspace, plan->tasks, &workspace) ||
        !pgi_add(workspace, PGI_ALIGNMENT, &workspace))
        return pgi_fail(error, POOLGRAD_ERR_OVERFLOW, "the workspace does not fit in 64 bits");
    return POOLGRAD_OK;
}

poolgrad_status poolgrad_plan_create(poolgrad_plan **plan, const poolgrad_desc *desc,
                                     const poolgrad_options *options, poolgrad_error *error)
{
    poolgrad_options read;
    pgi_problem problem;
    poolgrad_plan *made;
    poolgrad_status status;

    if (!plan)
        return pgi_fail(error, POOLGRAD_ERR_NULL, "plan is NULL");
    *plan = NULL;
    PGI_TRY(pgi_desc_read(&problem.desc, desc, error));
    PGI_TRY(pgi_options_read(&read, options, error));
    PGI_TRY(pgi_problem_make(&problem, error));

    made = read.allocate(read.allocator_context, sizeof *made);
    if (!made)
        return pgi_fail(error, POOLGRAD_ERR_MEMORY, "the allocator gave no %zu bytes for the plan",
                        sizeof *made);
    made->problem = problem;
    made->allocate = read.allocate;
    made->release = read.release;
    made->allocator_context = read.allocator_context;
    status = fill(made, &read, error);
    if (status != POOLGRAD_OK) {
        poolgrad_plan_destroy(made);
        return status;
    }
    *plan = made;
    return pgi_ok(error);
}

void poolgrad_plan_destroy(poolgrad_plan *plan)
{
    if (plan)
        plan->release(plan->allocator_context, plan);
}

const poolgrad_desc *poolgrad_plan_desc(const poolgrad_plan *plan)
{
    return plan ? &plan->problem.desc : NULL;
}

size_t poolgrad_plan_workspace(const poolgrad_plan *plan)
{
    if (!plan || plan->task_workspace == 0 || plan->tasks == 0)
        return 0;
    /* tasks start at multiples of PGI_ALIGNMENT wherever the caller's memory does */
    return plan->task_workspace * (size_t)plan->tasks + PGI_ALIGNMENT - 1;
}

poolgrad_status poolgrad_plan_describe(const poolgrad_plan *plan, poolgrad_plan_info *info,
                                       poolgrad_error *error)
{
    poolgrad_plan_info made;
    const pgi_problem *problem;
    size_t size;

    if (!plan)
        return pgi_fail(error, POOLGRAD_ERR_NULL, "plan is NULL");
    PGI_TRY(pgi_struct_read(&made, sizeof made, info, INFO_SIZE_0_1, "info", error));
    size = info->size;
    problem = &plan->problem;
    memset(&made, 0, sizeof made);
    made.size = size;
    made.strategy = plan->strategy->name;
    made.reason = plan->reason;
    made.cpu = plan->kernels.isa;
    made.threads = plan->threads;
    made.units = plan->units;
    made.tasks = plan->tasks;
    made.bytes_written = pgi_bytes_written(problem);
    made.bytes_read = pgi_bytes_read(problem);
    made.workspace = (int64_t)poolgrad_plan_workspace(plan);
    plan->strategy->describe(plan, made.detail, sizeof made.detail);
    memcpy(info, &made, size);
    return pgi_ok(error);
}

const char *poolgrad_name(poolgrad_name_kind kind, size_t index)
{
    size_t i;

    if (kind != POOLGRAD_NAME_STRATEGY)
        return pgi_cpu_backend.name(kind, index);
    for (i = 0; pgi_strategies[i]; i++)
        if (i == index)
            return pgi_strategies[i]->name;
    return NULL;
}
