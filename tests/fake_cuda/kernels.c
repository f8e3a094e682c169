/* SPDX-License-Identifier: MIT */
/* Modules, kernels and launches: nothing is computed, but what the driver would refuse is. */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FUNCTION_SHARED = 1, /* the driver's numbers */
    FUNCTION_DYNAMIC_SHARED = 8,
    LAUNCH_EARLY = 6,

    /* Of a multiprocessor. */
    RESIDENT_THREADS = 2048,
    RESIDENT_BLOCKS = 32,
    RESIDENT_SHARED = 228 << 10,
    SHARED_OF_SYSTEM = 1 << 10 /* of every block */
};

fake_module *fake_modules;

FAKE_API int cuModuleLoadData(void **module, const void *image)
{
    int result = fake_begin(__func__, FAKE_CURRENT);
    fake_module *made = result ? NULL : calloc(1, sizeof *made);

    if (!made)
        return fake_end(result ? result : FAKE_OUT_OF_MEMORY);
    made->context = fake_current();
    made->next = fake_modules;
    fake_modules = made;
    result = fake_image_read(image, fake_compute(), made);
    *module = made;
    return fake_end(result);
}

static fake_kernel *find_kernel(fake_module *module, const char *name)
{
    fake_kernel *kernel;

    for (kernel = module->kernels; kernel; kernel = kernel->next)
        if (strcmp(kernel->name, name) == 0)
            return kernel;
    if (module->readable || !(kernel = calloc(1, sizeof *kernel)))
        return NULL;
    snprintf(kernel->name, sizeof kernel->name, "%s", name);
    kernel->most_threads = FAKE_THREADS;
    kernel->registers = 32;
    kernel->next = module->kernels;
    module->kernels = kernel;
    return kernel;
}

FAKE_API int cuModuleGetFunction(void **function, void *module, const char *name)
{
    int result = fake_begin(__func__, FAKE_CURRENT);
    fake_module *of = module;
    fake_kernel *kernel;

    if (!result && (!of || of->context != fake_current()))
        result = FAKE_INVALID_HANDLE;
    if (result)
        return fake_end(result);
    kernel = find_kernel(of, name);
    if (!kernel)
        return fake_end(FAKE_NOT_FOUND);
    if (!kernel->asked) {
        kernel->asked = true;
        kernel->module = of;
        kernel->most_dynamic = FAKE_PLAIN_SHARED - kernel->shared;
    }
    *function = kernel;
    return fake_end(result);
}

FAKE_API int cuFuncGetAttribute(int *value, int attribute, void *function)
{
    const int result = fake_begin(__func__, FAKE_CURRENT);
    const fake_kernel *kernel = function;

    if (!result && attribute == FUNCTION_SHARED)
        *value = kernel->shared;
    return fake_end(result || attribute == FUNCTION_SHARED ? result : FAKE_INVALID_VALUE);
}

FAKE_API int cuFuncSetAttribute(void *function, int attribute, int value)
{
    int result = fake_begin(__func__, FAKE_CURRENT);
    fake_kernel *kernel = function;

    if (!result && (attribute != FUNCTION_DYNAMIC_SHARED || value < 0 ||
                    value > fake_shared() - kernel->shared))
        result = FAKE_INVALID_VALUE;
    if (!result)
        kernel->most_dynamic = value;
    return fake_end(result);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Registers are given to whole warps, eight at a time to every thread. */
static int registers_of(const fake_kernel *kernel, int threads)
{
    return (kernel->registers + 7) / 8 * 8 * ((threads + 31) / 32 * 32);
}

FAKE_API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int block,
                                                         size_t shared)
{
    int result = fake_begin(__func__, FAKE_CURRENT);
    const fake_kernel *kernel = function;
    int registers, bytes;

    if (!result && block <= 0)
        result = FAKE_INVALID_VALUE;
    if (result)
        return fake_end(result);
    registers = registers_of(kernel, block);
    bytes = kernel->shared + (int)shared + SHARED_OF_SYSTEM;
    *blocks = least(RESIDENT_THREADS / block, RESIDENT_BLOCKS);
    *blocks = least(*blocks, RESIDENT_SHARED / bytes);
    *blocks = least(*blocks, registers ? FAKE_REGISTERS / registers : *blocks);
    if (block > kernel->most_threads)
        *blocks = 0;
    return fake_end(result);
}

/* What a launch must keep to: a block's limits, the kernel's own, those of the grid. */
static int check_launch(const fake_kernel *kernel, const unsigned grid[3], const unsigned block[3],
                        unsigned shared)
{
    const uint64_t threads = (uint64_t)block[0] * block[1] * block[2];

    if (kernel->module->context != fake_current())
        return FAKE_INVALID_HANDLE;
    if (grid[0] < 1 || grid[0] > INT32_MAX || grid[1] < 1 || grid[1] > 65535 || grid[2] < 1 ||
        grid[2] > 65535 || threads < 1 || block[0] > 1024 || block[1] > 1024 || block[2] > 64 ||
        threads > FAKE_THREADS || threads > (uint64_t)kernel->most_threads ||
        shared > (unsigned)kernel->most_dynamic)
        return FAKE_INVALID_VALUE;
    if (registers_of(kernel, (int)threads) > FAKE_REGISTERS)
        return FAKE_OUT_OF_RESOURCES;
    return FAKE_SUCCESS;
}

/* Reads as many bytes as the kernel has parameters, as the driver does: a sanitizer sees whether
 * they are there. The last parameter of this project's kernels is made of addresses, each of which
 * must be of the device or 0. */
static int check_parameters(const fake_kernel *kernel, void **parameters)
{
    unsigned char copy[4096];
    uint64_t address;
    int i, k;

    for (i = 0; i < kernel->parameters && i < FAKE_PARAMETERS; i++) {
        const int bytes = kernel->parameter_bytes[i];

        if (bytes > (int)sizeof copy)
            return FAKE_INVALID_VALUE;
        memcpy(copy, parameters[i], (size_t)bytes);
        for (k = 0; i + 1 == kernel->parameters && k + 8 <= bytes; k += 8) {
            memcpy(&address, copy + k, sizeof address);
            if (address && !fake_is_of_device(address, fake_current()->device))
                return FAKE_ILLEGAL_ADDRESS;
        }
    }
    return FAKE_SUCCESS;
}

/* What a launch is told, and the only attribute of one that is known: that it may begin before the
 * one before it has ended. */
typedef struct fake_launch {
    unsigned grid[3], block[3], shared;
    void *stream;
    const struct {
        int id, padding;
        int value[16];
    } * attributes;
    unsigned attribute_count;
} fake_launch;

FAKE_API int cuLaunchKernelEx(const fake_launch *launch, void *function, void **parameters,
                              void **extra)
{
    const fake_work work = {.kind = FAKE_LAUNCH};
    int result = fake_begin(__func__, FAKE_CURRENT);

    if (!result && (!function || extra || launch->attribute_count > 1 ||
                    (launch->attribute_count == 1 && (launch->attributes->id != LAUNCH_EARLY ||
                                                      launch->attributes->value[0] != 1))))
        result = FAKE_INVALID_VALUE;
    if (!result)
        result = check_launch(function, launch->grid, launch->block, launch->shared);
    if (!result)
        result = check_parameters(function, parameters);
    return fake_end(result ? result : fake_put(launch->stream, &work));
}
