/* SPDX-License-Identifier: MIT */
/*
 * poolgrad on a CUDA device: the same problems, the same bits, on the caller's stream.
 *
 *     poolgrad_cuda_plan *plan;
 *     poolgrad_cuda_plan_create(&plan, &desc, NULL, 0, NULL); on device 0
 *     buffers.dy = dy; memory of the device, all of them
 *     buffers.dx = dx;
 *     buffers.workspace = workspace;
 *     buffers.workspace_size = poolgrad_cuda_plan_workspace(plan);
 *     poolgrad_cuda_execute(plan, &buffers, stream, NULL);
 *     poolgrad_cuda_check(plan, &buffers, stream, NULL); only max gradients from indices need it
 *     poolgrad_cuda_plan_destroy(plan);
 *
 * Every rule of poolgrad.h holds here too. A library built without CUDA has these functions as
 * well; they fail with ERR_UNSUPPORTED. So they do where there is no driver (the library looks for
 * one when it is first asked), or one that is older than CUDA 13.0. A stream is a cudaStream_t or
 * CUstream of the device's primary context, the one that the CUDA runtime and the frameworks use;
 * NULL is the default stream.
 */
#ifndef POOLGRAD_CUDA_H
#define POOLGRAD_CUDA_H

#include <poolgrad/poolgrad.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What there is of a device. */
typedef struct poolgrad_cuda_device {
    size_t size; /* sizeof(poolgrad_cuda_device), set by the caller */
    char name[128];
    int32_t compute_major, compute_minor; /* compute capability; 8.0 is the least that will do */
    int32_t multiprocessors;
    int32_t driver; /* version of CUDA that the driver has: 13000 is 13.0 */
    int64_t memory; /* bytes */
    int64_t cache;  /* bytes of the L2 cache */
} poolgrad_cuda_device;

/* Fills *count with the number of devices. Fails with ERR_NULL, ERR_UNSUPPORTED (no driver, too old
 * a driver, no device, a library without CUDA), ERR_DEVICE (the driver does not start). */
POOLGRAD_API poolgrad_status poolgrad_cuda_device_count(int32_t *count, poolgrad_error *error);

/* Fills *info with what the `device`-th is, counted from 0 as the CUDA runtime does. Fails as
 * device_count does, with ERR_STRUCT_SIZE, and with ERR_OPTION (there is no such device). */
POOLGRAD_API poolgrad_status poolgrad_cuda_device_describe(int32_t device,
                                                           poolgrad_cuda_device *info,
                                                           poolgrad_error *error);

/* Immutable; may be executed by any number of threads, on any number of streams at once. */
typedef struct poolgrad_cuda_plan poolgrad_cuda_plan;

/* Checks the whole problem, as poolgrad_plan_create does, decides how to compute it, and loads what
 * that needs onto the device (the first plan on a device takes a second or so to load the kernels;
 * the device's primary context is then kept). Of the options (NULL: defaults) the allocator counts,
 * for memory of the host, and the strategy, which is the name of a kernel family here. Fails as
 * poolgrad_plan_create and poolgrad_cuda_device_describe do, with ERR_UNSUPPORTED also for parity,
 * which only the CPU has, and for a device older than compute capability 8.0; with ERR_MEMORY and
 * ERR_DEVICE. */
POOLGRAD_API poolgrad_status poolgrad_cuda_plan_create(poolgrad_cuda_plan **plan,
                                                       const poolgrad_desc *desc,
                                                       const poolgrad_options *options,
                                                       int32_t device, poolgrad_error *error);

/* Frees a plan. What it has put on streams may still be running. NULL is allowed. */
POOLGRAD_API void poolgrad_cuda_plan_destroy(poolgrad_cuda_plan *plan);

/* The resolved descriptor of the plan, owned by it. NULL for NULL. */
POOLGRAD_API const poolgrad_desc *poolgrad_cuda_plan_desc(const poolgrad_cuda_plan *plan);

/* Bytes of device memory, aligned to 8, that one execution needs as its workspace: often 0. Two
 * executions at once need two. 0 for NULL. */
POOLGRAD_API size_t poolgrad_cuda_plan_workspace(const poolgrad_cuda_plan *plan);

/* What the plan will do. `strategy` names the kernels, `cpu` is "cuda"; threads are those of a
 * block, units the blocks of the largest launch, tasks the launches. Fails with ERR_NULL,
 * ERR_STRUCT_SIZE. */
POOLGRAD_API poolgrad_status poolgrad_cuda_plan_describe(const poolgrad_cuda_plan *plan,
                                                         poolgrad_plan_info *info,
                                                         poolgrad_error *error);

/*
 * Puts the computation on the stream and returns; waits for nothing and allocates nothing, so it
 * can be captured in a CUDA graph. All pointers are to memory of the plan's device, the workspace
 * included. Fails as poolgrad_execute does for what can be seen now (a workspace that is needed and
 * is NULL: ERR_NULL), with ERR_POINTER (memory of the host, or of another device, or a stream of
 * another device), ERR_DEVICE (the launch failed); later calls work unless the device itself has
 * failed. A bad index contributes nothing and is told by poolgrad_cuda_check.
 */
POOLGRAD_API poolgrad_status poolgrad_cuda_execute(const poolgrad_cuda_plan *plan,
                                                   const poolgrad_buffers *buffers, void *stream,
                                                   poolgrad_error *error);

/* Waits until the stream has done all that was put on it, and says how the last execution with
 * these buffers went: ERR_INDEX for a bad index, with error->position as poolgrad_execute sets it;
 * the elements of dx that its window covers are then those without it. ERR_DEVICE if something
 * failed on the device. Fails otherwise as execute does. */
POOLGRAD_API poolgrad_status poolgrad_cuda_check(const poolgrad_cuda_plan *plan,
                                                 const poolgrad_buffers *buffers, void *stream,
                                                 poolgrad_error *error);

#ifdef __cplusplus
}
#endif

#endif
