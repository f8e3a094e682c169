/* SPDX-License-Identifier: MIT */
/* The functions of poolgrad/cuda.h in a library that was built without CUDA. */
#include "core/status.h"

#include <poolgrad/cuda.h>

static poolgrad_status absent(poolgrad_error *error)
{
    return pgi_fail(error, POOLGRAD_ERR_UNSUPPORTED,
                    "this library was built without CUDA (POOLGRAD_CUDA is off)");
}

poolgrad_status poolgrad_cuda_device_count(int32_t *count, poolgrad_error *error)
{
    (void)count;
    return absent(error);
}

poolgrad_status poolgrad_cuda_device_describe(int32_t device, poolgrad_cuda_device *info,
                                              poolgrad_error *error)
{
    (void)device;
    (void)info;
    return absent(error);
}

poolgrad_status poolgrad_cuda_plan_create(poolgrad_cuda_plan **plan, const poolgrad_desc *desc,
                                          const poolgrad_options *options, int32_t device,
                                          poolgrad_error *error)
{
    (void)desc;
    (void)options;
    (void)device;
    if (plan)
        *plan = NULL;
    return absent(error);
}

void poolgrad_cuda_plan_destroy(poolgrad_cuda_plan *plan)
{
    (void)plan;
}

const poolgrad_desc *poolgrad_cuda_plan_desc(const poolgrad_cuda_plan *plan)
{
    (void)plan;
    return NULL;
}

size_t poolgrad_cuda_plan_workspace(const poolgrad_cuda_plan *plan)
{
    (void)plan;
    return 0;
}

poolgrad_status poolgrad_cuda_plan_describe(const poolgrad_cuda_plan *plan,
                                            poolgrad_plan_info *info, poolgrad_error *error)
{
    (void)plan;
    (void)info;
    return absent(error);
}

poolgrad_status poolgrad_cuda_execute(const poolgrad_cuda_plan *plan,
                                      const poolgrad_buffers *buffers, void *stream,
                                      poolgrad_error *error)
{
    (void)plan;
    (void)buffers;
    (void)stream;
    return absent(error);
}

poolgrad_status poolgrad_cuda_check(const poolgrad_cuda_plan *plan, const poolgrad_buffers *buffers,
                                    void *stream, poolgrad_error *error)
{
    (void)plan;
    (void)buffers;
    (void)stream;
    return absent(error);
}
