/* SPDX-License-Identifier: MIT */
#include "cuda_execute.h"

#include <poolgrad/cuda.h>
#include <stdio.h>
#include <string.h>

#include "gpu.h"
#include "operands.h"
#include "sets.h"

const char *const cli_cuda_strategies[] = {"whole",   "spread", "halves",  "threes",
                                           "cell",    "near",   "layers",  "march",
                                           "closing", "plane",  "general", NULL};

/* A tensor here and there, from its lowest element on. */
typedef struct both_memories {
    char *host, *device;
    size_t bytes;
    int written;
} both_memories;

static char *bound(const poolgrad_buffers *buffers, cli_slot slot)
{
    switch (slot) {
    case CLI_DY:
        return (char *)buffers->dy; /* only read */
    case CLI_X:
        return (char *)buffers->x; /* only read */
    case CLI_INDICES:
        return (char *)buffers->indices; /* only read */
    case CLI_DX:
        return buffers->dx;
    case CLI_MAXIMA:
    case CLI_Y:
        return buffers->y;
    case CLI_INDICES_OUT:
        return buffers->indices_out;
    }
    return NULL;
}

static poolgrad_status fail(poolgrad_error *error, poolgrad_status status, const char *text)
{
    memset(error, 0, sizeof *error);
    error->status = status;
    error->position = -1;
    snprintf(error->message, sizeof error->message, "%s", text);
    return status;
}

static poolgrad_status put(poolgrad_desc *desc, const poolgrad_buffers *from, both_memories *all,
                           int *count, poolgrad_buffers *to, poolgrad_error *error)
{
    cli_operand operands[CLI_MOST_OPERANDS];
    int operand_count = cli_operands(desc, operands);
    for (int i = 0; i < operand_count; i++) {
        char *host = bound(from, operands[i].slot);
        size_t bytes, first;
        if (!host)
            continue;
        if (cli_view_bytes(desc, &operands[i], &bytes, &first))
            return fail(error, POOLGRAD_ERR_OVERFLOW, "a tensor is too large");
        both_memories *one = &all[(*count)++];
        *one = (both_memories){host - first, sup_gpu_allocate(bytes), bytes, operands[i].written};
        if (!one->device)
            return fail(error, POOLGRAD_ERR_MEMORY, "the device has too little memory");
        if (sup_gpu_to_device(one->device, one->host, bytes))
            return fail(error, POOLGRAD_ERR_DEVICE, "copying to the device failed");
        cli_bind(to, operands[i].slot, one->device + first);
    }
    return POOLGRAD_OK;
}

static poolgrad_status run(const poolgrad_cuda_plan *plan, poolgrad_buffers *buffers,
                           const both_memories *all, int count, poolgrad_error *error)
{
    poolgrad_status status = poolgrad_cuda_execute(plan, buffers, NULL, error);
    if (status == POOLGRAD_OK)
        status = poolgrad_cuda_check(plan, buffers, NULL, error);
    for (int i = 0; i < count && status == POOLGRAD_OK; i++)
        if (all[i].written && sup_gpu_to_host(all[i].host, all[i].device, all[i].bytes))
            status = fail(error, POOLGRAD_ERR_DEVICE, "copying from the device failed");
    return status;
}

poolgrad_status cli_cuda_execute(const poolgrad_desc *desc, const poolgrad_options *options,
                                 const poolgrad_buffers *buffers, poolgrad_error *error)
{
    both_memories all[CLI_MOST_OPERANDS];
    poolgrad_cuda_plan *plan;
    poolgrad_buffers device;
    int count = 0;
    poolgrad_status status = poolgrad_cuda_plan_create(&plan, desc, options, 0, error);
    if (status != POOLGRAD_OK)
        return status;
    const char *reason = sup_gpu_open(0);
    if (reason) {
        poolgrad_cuda_plan_destroy(plan);
        return fail(error, POOLGRAD_ERR_DEVICE, reason);
    }
    poolgrad_desc resolved = *poolgrad_cuda_plan_desc(plan);
    poolgrad_buffers_init(&device);
    device.workspace_size = poolgrad_cuda_plan_workspace(plan);
    device.workspace = device.workspace_size ? sup_gpu_allocate(device.workspace_size) : NULL;
    if (device.workspace_size && !device.workspace)
        status = fail(error, POOLGRAD_ERR_MEMORY, "the device has too little memory");
    if (status == POOLGRAD_OK)
        status = put(&resolved, buffers, all, &count, &device, error);
    if (status == POOLGRAD_OK)
        status = run(plan, &device, all, count, error);
    for (int i = 0; i < count; i++)
        sup_gpu_free(all[i].device);
    sup_gpu_free(device.workspace);
    poolgrad_cuda_plan_destroy(plan);
    return status;
}
