/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE
#include "cuda/driver.h"

#include "core/status.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the search found; written once. */
static struct {
    pgi_cuda_driver driver;
    poolgrad_error error;
} found;

/* The functions by name. Those that changed in time have the suffix that came with the form used
 * here. */
static const struct {
    const char *name;
    size_t slot;
} functions[] = {
    {"cuInit", offsetof(pgi_cuda_driver, init)},
    {"cuDriverGetVersion", offsetof(pgi_cuda_driver, driver_version)},
    {"cuGetErrorName", offsetof(pgi_cuda_driver, error_name)},
    {"cuGetErrorString", offsetof(pgi_cuda_driver, error_text)},
    {"cuDeviceGetCount", offsetof(pgi_cuda_driver, device_count)},
    {"cuDeviceGet", offsetof(pgi_cuda_driver, device_get)},
    {"cuDeviceGetName", offsetof(pgi_cuda_driver, device_name)},
    {"cuDeviceGetAttribute", offsetof(pgi_cuda_driver, device_attribute)},
    {"cuDeviceTotalMem_v2", offsetof(pgi_cuda_driver, device_memory)},
    {"cuDevicePrimaryCtxRetain", offsetof(pgi_cuda_driver, context_retain)},
    {"cuCtxPushCurrent_v2", offsetof(pgi_cuda_driver, context_push)},
    {"cuCtxPopCurrent_v2", offsetof(pgi_cuda_driver, context_pop)},
    {"cuModuleLoadData", offsetof(pgi_cuda_driver, module_load)},
    {"cuModuleGetFunction", offsetof(pgi_cuda_driver, module_function)},
    {"cuFuncGetAttribute", offsetof(pgi_cuda_driver, function_get)},
    {"cuFuncSetAttribute", offsetof(pgi_cuda_driver, function_set)},
    {"cuOccupancyMaxActiveBlocksPerMultiprocessor", offsetof(pgi_cuda_driver, occupancy)},
    {"cuLaunchKernelEx", offsetof(pgi_cuda_driver, launch)},
    {"cuTensorMapEncodeTiled", offsetof(pgi_cuda_driver, map_tensor)},
    {"cuMemAlloc_v2", offsetof(pgi_cuda_driver, allocate)},
    {"cuMemFree_v2", offsetof(pgi_cuda_driver, release)},
    {"cuMemcpyHtoD_v2", offsetof(pgi_cuda_driver, copy_to_device)},
    {"cuMemsetD8Async", offsetof(pgi_cuda_driver, fill)},
    {"cuMemcpyDtoHAsync_v2", offsetof(pgi_cuda_driver, copy_to_host)},
    {"cuPointerGetAttribute", offsetof(pgi_cuda_driver, pointer_attribute)},
    {"cuStreamGetCtx", offsetof(pgi_cuda_driver, stream_context)},
    {"cuStreamSynchronize", offsetof(pgi_cuda_driver, stream_wait)},
};

static poolgrad_status find_functions(pgi_cuda_driver *driver, poolgrad_error *error)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    size_t i;

    if (!library)
        return pgi_fail(error, POOLGRAD_ERR_UNSUPPORTED,
                        "there is no CUDA driver on this machine (libcuda.so.1 cannot be loaded)");
    for (i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(library, functions[i].name);

        if (!function)
            return pgi_fail(error, POOLGRAD_ERR_UNSUPPORTED,
                            "the CUDA driver has no %s; it is too old, CUDA %d.%d is needed",
                            functions[i].name, PGI_CUDA_VERSION / 1000,
                            PGI_CUDA_VERSION % 1000 / 10);
        memcpy((char *)driver + functions[i].slot, &function, sizeof function);
    }
    return POOLGRAD_OK;
}

static poolgrad_status start(pgi_cuda_driver *driver, poolgrad_error *error)
{
    int version = 0, result;

    PGI_TRY(find_functions(driver, error));
    if (driver->driver_version(&version) != PGI_CUDA_SUCCESS || version < PGI_CUDA_VERSION)
        return pgi_fail(error, POOLGRAD_ERR_UNSUPPORTED,
                        "the CUDA driver is of version %d.%d; %d.%d is needed", version / 1000,
                        version % 1000 / 10, PGI_CUDA_VERSION / 1000, PGI_CUDA_VERSION % 1000 / 10);
    result = driver->init(0);
    if (result == PGI_CUDA_NO_DEVICE)
        return pgi_fail(error, POOLGRAD_ERR_UNSUPPORTED,
                        "the CUDA driver finds no device on this machine");
    if (result != PGI_CUDA_SUCCESS)
        return pgi_cuda_fail(driver, result, "starting the CUDA driver", error);
    return pgi_ok(error);
}

static void search(void)
{
    start(&found.driver, &found.error);
}

poolgrad_status pgi_cuda_driver_find(const pgi_cuda_driver **driver, poolgrad_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, search);
    if (found.error.status != POOLGRAD_OK)
        return pgi_fail(error, found.error.status, "%s", found.error.message);
    *driver = &found.driver;
    return POOLGRAD_OK;
}

poolgrad_status pgi_cuda_fail(const pgi_cuda_driver *driver, int result, const char *what,
                              poolgrad_error *error)
{
    const char *name = NULL, *text = NULL;

    if (driver->error_name(result, &name) != PGI_CUDA_SUCCESS || !name)
        name = "an unknown error";
    if (driver->error_text(result, &text) != PGI_CUDA_SUCCESS || !text)
        text = "no text";
    return pgi_fail(error,
                    result == PGI_CUDA_OUT_OF_MEMORY ? POOLGRAD_ERR_MEMORY : POOLGRAD_ERR_DEVICE,
                    "%s failed: %s (%s)", what, name, text);
}
