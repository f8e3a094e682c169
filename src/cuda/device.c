/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE
#include "cuda/device.h"

#include "core/problem.h"
#include "core/status.h"
#include "cuda/images.h"

#include <inttypes.h>
#include <poolgrad/cuda.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* The oldest architecture that there are kernels for. */
#define LEAST_COMPUTE 80

/* The oldest whose kernels can begin while the one before them ends. */
#define OVERLAPPING_MAJOR 9

/* More shared memory than this a kernel must ask for. */
#define PLAIN_SHARED 49152

static pgi_cuda_device devices[PGI_CUDA_DEVICES];
static bool made[PGI_CUDA_DEVICES];
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static poolgrad_status find_device(int32_t ordinal, const pgi_cuda_driver **driver, int *handle,
                                   poolgrad_error *error)
{
    int count = 0, result;

    PGI_TRY(pgi_cuda_driver_find(driver, error));
    result = (*driver)->device_count(&count);
    if (result == PGI_CUDA_SUCCESS && (ordinal < 0 || ordinal >= count))
        return pgi_fail(error, POOLGRAD_ERR_OPTION,
                        "device is %" PRId32 "; this machine has %d, counted from 0", ordinal,
                        count);
    if (result == PGI_CUDA_SUCCESS)
        result = (*driver)->device_get(handle, ordinal);
    return result == PGI_CUDA_SUCCESS
               ? POOLGRAD_OK
               : pgi_cuda_fail(*driver, result, "looking for the device", error);
}

poolgrad_status poolgrad_cuda_device_count(int32_t *count, poolgrad_error *error)
{
    const pgi_cuda_driver *driver;
    int devices_found = 0, result;

    if (!count)
        return pgi_fail(error, POOLGRAD_ERR_NULL, "count is NULL");
    PGI_TRY(pgi_cuda_driver_find(&driver, error));
    result = driver->device_count(&devices_found);
    if (result != PGI_CUDA_SUCCESS)
        return pgi_cuda_fail(driver, result, "counting devices", error);
    *count = devices_found;
    return pgi_ok(error);
}

poolgrad_status poolgrad_cuda_device_describe(int32_t device, poolgrad_cuda_device *info,
                                              poolgrad_error *error)
{
    const pgi_cuda_driver *driver;
    poolgrad_cuda_device described;
    int handle = 0, cache = 0, result;
    size_t memory = 0, size;

    PGI_TRY(pgi_struct_read(&described, sizeof described, info, sizeof described, "info", error));
    PGI_TRY(find_device(device, &driver, &handle, error));
    size = info->size;
    memset(&described, 0, sizeof described);
    described.size = size;
    result = driver->device_name(described.name, (int)sizeof described.name, handle);
    if (!result)
        result = driver->device_attribute(&described.compute_major, PGI_CUDA_COMPUTE_MAJOR, handle);
    if (!result)
        result = driver->device_attribute(&described.compute_minor, PGI_CUDA_COMPUTE_MINOR, handle);
    if (!result)
        result =
            driver->device_attribute(&described.multiprocessors, PGI_CUDA_MULTIPROCESSORS, handle);
    if (!result)
        result = driver->device_attribute(&cache, PGI_CUDA_L2_BYTES, handle);
    if (!result)
        result = driver->device_memory(&memory, handle);
    if (!result)
        result = driver->driver_version(&described.driver);
    if (result)
        return pgi_cuda_fail(driver, result, "asking the device what it is", error);
    described.cache = cache;
    described.memory = (int64_t)memory;
    memcpy(info, &described, size);
    return pgi_ok(error);
}

/* What an attempt before this one has loaded stays. */
static poolgrad_status load_kernels(pgi_cuda_device *device, poolgrad_error *error)
{
    int i, result = PGI_CUDA_SUCCESS;

    PGI_TRY(pgi_cuda_device_enter(device, error));
    for (i = 0; pgi_cuda_images[i].name && result == PGI_CUDA_SUCCESS; i++) {
        void *module = device->module[i];

        if (!module)
            result = device->driver->module_load(&module, pgi_cuda_images[i].bytes);
        if (result == PGI_CUDA_SUCCESS)
            device->module[i] = module;
    }
    pgi_cuda_device_leave(device);
    if (result != PGI_CUDA_SUCCESS)
        return pgi_cuda_fail(device->driver, result, "loading the kernels onto the device", error);
    return POOLGRAD_OK;
}

static poolgrad_status make_device(int32_t ordinal, pgi_cuda_device *device, poolgrad_error *error)
{
    poolgrad_cuda_device info = {.size = sizeof info};
    int result;

    PGI_TRY(find_device(ordinal, &device->driver, &device->handle, error));
    PGI_TRY(poolgrad_cuda_device_describe(ordinal, &info, error));
    if (info.compute_major * 10 + info.compute_minor < LEAST_COMPUTE)
        return pgi_fail(error, POOLGRAD_ERR_UNSUPPORTED,
                        "device %" PRId32 " (%.80s) has compute capability %" PRId32 ".%" PRId32
                        "; %d.%d is needed",
                        ordinal, info.name, info.compute_major, info.compute_minor,
                        LEAST_COMPUTE / 10, LEAST_COMPUTE % 10);
    device->ordinal = ordinal;
    device->multiprocessors = info.multiprocessors;
    device->cache = info.cache;
    /* kernels for older architectures do not await each other */
    device->overlaps =
        info.compute_major >= OVERLAPPING_MAJOR && pgi_cuda_newest >= 10 * OVERLAPPING_MAJOR;
    result =
        device->driver->device_attribute(&device->shared, PGI_CUDA_MOST_SHARED, device->handle);
    if (result == PGI_CUDA_SUCCESS && !device->context)
        result = device->driver->context_retain(&device->context, device->handle);
    if (result != PGI_CUDA_SUCCESS)
        return pgi_cuda_fail(device->driver, result, "opening the device", error);
    return load_kernels(device, error);
}

poolgrad_status pgi_cuda_device_use(int32_t ordinal, const pgi_cuda_device **device,
                                    poolgrad_error *error)
{
    poolgrad_status status = POOLGRAD_OK;

    if (ordinal < 0 || ordinal >= PGI_CUDA_DEVICES)
        return pgi_fail(error, POOLGRAD_ERR_OPTION,
                        "device is %" PRId32 "; it must be from 0 to %d", ordinal,
                        PGI_CUDA_DEVICES - 1);
    pthread_mutex_lock(&making);
    if (!made[ordinal]) {
        status = make_device(ordinal, &devices[ordinal], error);
        made[ordinal] = status == POOLGRAD_OK;
    }
    pthread_mutex_unlock(&making);
    *device = &devices[ordinal];
    return status;
}

poolgrad_status pgi_cuda_device_enter(const pgi_cuda_device *device, poolgrad_error *error)
{
    const int result = device->driver->context_push(device->context);

    return result == PGI_CUDA_SUCCESS
               ? POOLGRAD_OK
               : pgi_cuda_fail(device->driver, result, "turning to the device", error);
}

void pgi_cuda_device_leave(const pgi_cuda_device *device)
{
    void *context;

    device->driver->context_pop(&context);
}

/* Allows a kernel all the shared memory that there is. What is allowed belongs to the kernel, not
 * to a launch: with no more than one plan needs, it would take from another what that needs. */
static int allow_shared(const pgi_cuda_device *device, void *function)
{
    const pgi_cuda_driver *driver = device->driver;
    int own = 0, result = driver->function_get(&own, PGI_CUDA_FUNCTION_SHARED, function);

    return result == PGI_CUDA_SUCCESS
               ? driver->function_set(function, PGI_CUDA_FUNCTION_DYNAMIC_SHARED,
                                      device->shared - own)
               : result;
}

poolgrad_status pgi_cuda_device_kernel(const pgi_cuda_device *device, const char *file,
                                       const char *name, int block, int shared, void **function,
                                       int *resident, poolgrad_error *error)
{
    const pgi_cuda_driver *driver = device->driver;
    char what[96];
    int i = 0, result;

    while (strcmp(pgi_cuda_images[i].name, file) != 0)
        i++;
    PGI_TRY(pgi_cuda_device_enter(device, error));
    result = driver->module_function(function, device->module[i], name);
    if (result == PGI_CUDA_SUCCESS && shared > PLAIN_SHARED)
        result = allow_shared(device, *function);
    *resident = 0;
    if (result == PGI_CUDA_SUCCESS && shared <= device->shared) /* and the code is on the device */
        result = driver->occupancy(resident, *function, block, (size_t)shared);
    pgi_cuda_device_leave(device);
    if (result == PGI_CUDA_SUCCESS)
        return POOLGRAD_OK;
    snprintf(what, sizeof what, "preparing the kernel %s", name);
    return pgi_cuda_fail(driver, result, what, error);
}

poolgrad_status pgi_cuda_device_put(const pgi_cuda_device *device, const void *from, size_t bytes,
                                    pgi_cuda_address *memory, poolgrad_error *error)
{
    const pgi_cuda_driver *driver = device->driver;
    int result;

    *memory = 0;
    PGI_TRY(pgi_cuda_device_enter(device, error));
    result = driver->allocate(memory, bytes);
    if (result == PGI_CUDA_SUCCESS)
        result = driver->copy_to_device(*memory, from, bytes);
    pgi_cuda_device_leave(device);
    if (result == PGI_CUDA_SUCCESS)
        return POOLGRAD_OK;
    if (*memory)
        pgi_cuda_device_drop(device, *memory);
    return pgi_cuda_fail(driver, result, "putting a table on the device", error);
}

void pgi_cuda_device_drop(const pgi_cuda_device *device, pgi_cuda_address memory)
{
    if (pgi_cuda_device_enter(device, NULL) == POOLGRAD_OK) {
        device->driver->release(memory);
        pgi_cuda_device_leave(device);
    }
}
