/* SPDX-License-Identifier: MIT */
#include "cuda/plan.h"

#include "core/integer.h"
#include "core/status.h"
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

#define INFO_SIZE_0_1 sizeof(poolgrad_plan_info)

/* Parts of the workspace are aligned to this. */
#define PART 256

const char *pgi_cuda_type(poolgrad_dtype dtype)
{
    switch (dtype) {
    case POOLGRAD_F64:
        return "f64";
    case POOLGRAD_F16:
        return "f16";
    case POOLGRAD_BF16:
        return "bf16";
    case POOLGRAD_F32:
        break;
    }
    return "f32";
}

pgi_cuda_step *pgi_cuda_step_add(poolgrad_cuda_plan *plan, const char *file, const char *kernel,
                                 int block, int shared)
{
    pgi_cuda_step *step = &plan->step[plan->steps++];

    memset(step, 0, sizeof *step);
    snprintf(step->kernel, sizeof step->kernel, "%s", kernel);
    step->file = file;
    step->block = block;
    step->shared = shared;
    step->grid_x = step->grid_y = 1;
    step->sums_in = step->sums_out = step->places_in = step->places_out = PGI_CUDA_NOWHERE;
    return step;
}

poolgrad_status pgi_cuda_step_find(poolgrad_cuda_plan *plan, pgi_cuda_step *step,
                                   poolgrad_error *error)
{
    return pgi_cuda_device_kernel(plan->device, step->file, step->kernel, step->block, step->shared,
                                  &step->function, &step->resident, error);
}

bool pgi_cuda_reserve(poolgrad_cuda_plan *plan, int64_t count, int64_t size, size_t *at)
{
    int64_t bytes, end;

    if (!pgi_mul(count, size, &bytes) || !pgi_add(bytes, PART - 1, &bytes))
        return false;
    bytes -= bytes % PART;
    if (!pgi_add((int64_t)plan->workspace, bytes, &end))
        return false;
    *at = plan->workspace;
    plan->workspace = (size_t)end;
    return true;
}

/* Forgets what a strategy has prepared. */
static void drop_steps(poolgrad_cuda_plan *plan)
{
    int i;

    for (i = 0; i < plan->steps; i++)
        if (plan->step[i].table)
            pgi_cuda_device_drop(plan->device, plan->step[i].table);
    plan->steps = 0;
    plan->workspace = 0;
    plan->checks = false;
}

static poolgrad_status unknown_strategy(const char *name, poolgrad_error *error)
{
    const pgi_cuda_strategy *const *entry;
    char names[128] = "";
    size_t used = 0;

    for (entry = pgi_cuda_strategies; *entry && used < sizeof names; entry++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                 (*entry)->name);
    return pgi_fail(error, POOLGRAD_ERR_OPTION,
                    "options.strategy is \"%.40s\"; on a device there are %s", name, names);
}

/* Whether the device can hold a block of every step: devices differ in shared memory. */
static bool has_room(const poolgrad_cuda_plan *plan)
{
    int i;

    for (i = 0; i < plan->steps; i++)
        if (plan->step[i].resident == 0)
            return false;
    return true;
}

static poolgrad_status choose(poolgrad_cuda_plan *plan, const char *name, poolgrad_error *error)
{
    const pgi_cuda_strategy *const *entry;

    for (entry = pgi_cuda_strategies; *entry; entry++) {
        bool possible = false;

        if (name && strcmp((*entry)->name, name) != 0)
            continue;
        drop_steps(plan);
        PGI_TRY((*entry)->prepare(plan, &possible, error));
        if (possible && has_room(plan)) {
            plan->strategy = (*entry)->name;
            plan->reason = name ? "asked for by name" : (*entry)->reason;
            return POOLGRAD_OK;
        }
        if (name)
            return pgi_fail(error, POOLGRAD_ERR_UNSUPPORTED,
                            "options.strategy is \"%s\", which does not apply to this problem",
                            name);
    }
    return unknown_strategy(name, error);
}

static poolgrad_status fill(poolgrad_cuda_plan *plan, const poolgrad_options *options,
                            int32_t device, poolgrad_error *error)
{
    PGI_TRY(pgi_cuda_device_use(device, &plan->device, error));
    plan->scale = pgi_scale_of(&plan->problem.desc);
    return choose(plan, options->strategy, error);
}

poolgrad_status poolgrad_cuda_plan_create(poolgrad_cuda_plan **plan, const poolgrad_desc *desc,
                                          const poolgrad_options *options, int32_t device,
                                          poolgrad_error *error)
{
    poolgrad_options read;
    pgi_problem problem;
    poolgrad_cuda_plan *made;
    poolgrad_status status;

    if (!plan)
        return pgi_fail(error, POOLGRAD_ERR_NULL, "plan is NULL");
    *plan = NULL;
    memset(&problem, 0, sizeof problem); /* kernels are told also what this problem does not have */
    PGI_TRY(pgi_desc_read(&problem.desc, desc, error));
    PGI_TRY(pgi_options_read(&read, options, error));
    PGI_TRY(pgi_problem_make(&problem, error));
    if (problem.desc.parity != POOLGRAD_PARITY_OFF)
        return pgi_fail(error, POOLGRAD_ERR_UNSUPPORTED,
                        "parity is %d; only the CPU computes with another system's arithmetic",
                        (int)problem.desc.parity);

    made = read.allocate(read.allocator_context, sizeof *made);
    if (!made)
        return pgi_fail(error, POOLGRAD_ERR_MEMORY, "the allocator gave no %zu bytes for the plan",
                        sizeof *made);
    memset(made, 0, sizeof *made);
    made->problem = problem;
    made->allocate = read.allocate;
    made->release = read.release;
    made->allocator_context = read.allocator_context;
    status = fill(made, &read, device, error);
    if (status != POOLGRAD_OK) {
        poolgrad_cuda_plan_destroy(made);
        return status;
    }
    *plan = made;
    return pgi_ok(error);
}

void poolgrad_cuda_plan_destroy(poolgrad_cuda_plan *plan)
{
    if (!plan)
        return;
    drop_steps(plan);
    plan->release(plan->allocator_context, plan);
}

const poolgrad_desc *poolgrad_cuda_plan_desc(const poolgrad_cuda_plan *plan)
{
    return plan ? &plan->problem.desc : NULL;
}

size_t poolgrad_cuda_plan_workspace(const poolgrad_cuda_plan *plan)
{
    return plan ? plan->workspace : 0;
}

poolgrad_status poolgrad_cuda_plan_describe(const poolgrad_cuda_plan *plan,
                                            poolgrad_plan_info *info, poolgrad_error *error)
{
    poolgrad_plan_info made;
    size_t size, used = 0;
    int i;

    if (!plan)
        return pgi_fail(error, POOLGRAD_ERR_NULL, "plan is NULL");
    PGI_TRY(pgi_struct_read(&made, sizeof made, info, INFO_SIZE_0_1, "info", error));
    size = info->size;
    memset(&made, 0, sizeof made);
    made.size = size;
    made.strategy = plan->strategy;
    made.reason = plan->reason;
    made.cpu = "cuda";
    made.tasks = plan->steps;
    made.bytes_written = pgi_bytes_written(&plan->problem);
    made.bytes_read = pgi_bytes_read(&plan->problem);
    made.workspace = (int64_t)plan->workspace;
    for (i = 0; i < plan->steps && used < sizeof made.detail; i++) {
        const pgi_cuda_step *step = &plan->step[i];
        const int64_t blocks = (int64_t)step->grid_x * step->grid_y;

        if (blocks > made.units) {
            made.units = blocks;
            made.threads = step->block;
        }
        used +=
            (size_t)snprintf(made.detail + used, sizeof made.detail - used,
                             "%s%s: %ux%u blocks of %d, %d on a multiprocessor", i ? "; " : "",
                             step->kernel, step->grid_x, step->grid_y, step->block, step->resident);
    }
    memcpy(info, &made, size);
    return pgi_ok(error);
}
