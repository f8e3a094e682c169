/* SPDX-License-Identifier: MIT */
/* A stand-in for the CUDA driver, libcuda.so.1, with devices that hold memory and compute nothing.
 * This file: starting, devices, contexts, and what control.h promises. */
#include "fake.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_FUNCTIONS = 80,
    MOST_DEPTH = 16
};

/* What is counted of a function, and the failure that it was ordered to have. */
typedef struct function_record {
    char name[48];
    long calls;
    long until; /* the call that fails; 0: none */
    int result;
} function_record;

static struct {
    pthread_mutex_t lock;
    function_record functions[MOST_FUNCTIONS];
    int function_count;
    bool read, started;
    int devices, version, compute, shared;
    fake_context contexts[FAKE_MOST_DEVICES];
    long live;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct {
    fake_context *contexts[MOST_DEPTH];
    int depth;
} stack;

/* ----------------------------------------------------------------- settings */

static int number_from(const char *name, int otherwise)
{
    const char *text = getenv(name);

    return text ? atoi(text) : otherwise;
}

static function_record *record_of(const char *name)
{
    function_record *record;
    int i;

    for (i = 0; i < state.function_count; i++)
        if (strcmp(state.functions[i].name, name) == 0)
            return &state.functions[i];
    if (state.function_count == MOST_FUNCTIONS)
        abort();
    record = &state.functions[state.function_count++];
    snprintf(record->name, sizeof record->name, "%s", name);
    return record;
}

static void order_failure(const char *name, long nth, int result)
{
    function_record *record = record_of(name);

    record->until = record->calls + nth;
    record->result = result;
}

static void read_settings(void)
{
    const char *failure = getenv("FAKE_CUDA_FAIL");
    char name[48];
    long nth;
    int i, result;

    state.read = true;
    state.devices = number_from("FAKE_CUDA_DEVICES", 2);
    state.version = number_from("FAKE_CUDA_VERSION", 13000);
    state.compute = number_from("FAKE_CUDA_COMPUTE", 90);
    state.shared = number_from("FAKE_CUDA_SHARED", 227);
    for (i = 0; i < FAKE_MOST_DEVICES; i++)
        state.contexts[i].device = i;
    if (failure && sscanf(failure, "%47[^:]:%ld:%d", name, &nth, &result) == 3)
        order_failure(name, nth, result);
}

int fake_begin(const char *function, fake_need need)
{
    function_record *record;

    pthread_mutex_lock(&state.lock);
    if (!state.read)
        read_settings();
    record = record_of(function);
    if (++record->calls == record->until)
        return record->result;
    if (need >= FAKE_STARTED && !state.started)
        return FAKE_NOT_INITIALIZED;
    return need >= FAKE_CURRENT && !fake_current() ? FAKE_INVALID_CONTEXT : FAKE_SUCCESS;
}

int fake_end(int result)
{
    pthread_mutex_unlock(&state.lock);
    return result;
}

fake_context *fake_current(void)
{
    return stack.depth ? stack.contexts[stack.depth - 1] : NULL;
}

int fake_compute(void)
{
    return state.compute;
}

int fake_shared(void)
{
    return state.shared << 10;
}

void fake_born(void)
{
    state.live++;
}

void fake_died(void)
{
    state.live--;
}

/* ------------------------------------------------------------------ starting */

FAKE_API int cuInit(unsigned flags)
{
    int result = fake_begin(__func__, FAKE_NOTHING);

    if (!result && flags)
        result = FAKE_INVALID_VALUE;
    if (!result && state.devices == 0)
        result = FAKE_NO_DEVICE;
    if (!result)
        state.started = true;
    return fake_end(result);
}

FAKE_API int cuDriverGetVersion(int *version)
{
    const int result = fake_begin(__func__, FAKE_NOTHING);

    *version = state.version;
    return fake_end(result);
}

static const struct {
    int result;
    const char *name, *text;
} errors[] = {
    {FAKE_SUCCESS, "CUDA_SUCCESS", "no error"},
    {FAKE_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {FAKE_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {FAKE_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {FAKE_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {FAKE_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {FAKE_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {FAKE_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {FAKE_NO_BINARY, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {FAKE_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {FAKE_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {FAKE_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {FAKE_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {FAKE_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {FAKE_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
};

static int find_error(int number, const char **name, const char **text)
{
    size_t i;

    *name = *text = NULL;
    for (i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].result == number) {
            *name = errors[i].name;
            *text = errors[i].text;
            return FAKE_SUCCESS;
        }
    return FAKE_INVALID_VALUE;
}

FAKE_API int cuGetErrorName(int number, const char **name)
{
    const int result = fake_begin(__func__, FAKE_NOTHING);
    const char *text;

    return fake_end(result ? result : find_error(number, name, &text));
}

FAKE_API int cuGetErrorString(int number, const char **text)
{
    const int result = fake_begin(__func__, FAKE_NOTHING);
    const char *name;

    return fake_end(result ? result : find_error(number, &name, text));
}

/* ------------------------------------------------------------------- devices */

/* As fake_begin, for a function that is told a device. */
static int begin_device(const char *function, int device)
{
    const int result = fake_begin(function, FAKE_STARTED);

    return result ? result : device < 0 || device >= state.devices ? FAKE_INVALID_DEVICE : 0;
}

FAKE_API int cuDeviceGetCount(int *count)
{
    const int result = fake_begin(__func__, FAKE_STARTED);

    if (!result)
        *count = state.devices;
    return fake_end(result);
}

FAKE_API int cuDeviceGet(int *device, int ordinal)
{
    const int result = begin_device(__func__, ordinal);

    if (!result)
        *device = ordinal;
    return fake_end(result);
}

FAKE_API int cuDeviceGetName(char *name, int capacity, int device)
{
    const int result = begin_device(__func__, device);

    if (!result)
        snprintf(name, (size_t)capacity, "stand-in %d", device);
    return fake_end(result);
}

FAKE_API int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    int result = begin_device(__func__, device);

    if (result)
        return fake_end(result);
    switch (attribute) {
    case 16: /* multiprocessors */
        *value = 132;
        break;
    case 38: /* bytes of the L2 cache: few, so that `bench` has few sets */
        *value = 1 << 20;
        break;
    case 75:
        *value = state.compute / 10;
        break;
    case 76:
        *value = state.compute % 10;
        break;
    case 97:
        *value = fake_shared();
        break;
    default:
        result = FAKE_INVALID_VALUE;
    }
    return fake_end(result);
}

FAKE_API int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    const int result = begin_device(__func__, device);

    if (!result)
        *bytes = (size_t)16 << 30;
    return fake_end(result);
}

/* ------------------------------------------------------------------ contexts */

FAKE_API int cuDevicePrimaryCtxRetain(void **context, int device)
{
    const int result = begin_device(__func__, device);

    if (!result) {
        state.contexts[device].retained++;
        *context = &state.contexts[device];
    }
    return fake_end(result);
}

static bool is_context(const void *context)
{
    int i;

    for (i = 0; i < state.devices && i < FAKE_MOST_DEVICES; i++)
        if (context == &state.contexts[i])
            return state.contexts[i].retained > 0;
    return false;
}

FAKE_API int cuCtxPushCurrent_v2(void *context)
{
    int result = fake_begin(__func__, FAKE_STARTED);

    if (!result && (!is_context(context) || stack.depth == MOST_DEPTH))
        result = FAKE_INVALID_CONTEXT;
    if (!result)
        stack.contexts[stack.depth++] = context;
    return fake_end(result);
}

FAKE_API int cuCtxPopCurrent_v2(void **context)
{
    const int result = fake_begin(__func__, FAKE_CURRENT);

    if (!result) {
        *context = fake_current();
        stack.depth--;
    }
    return fake_end(result);
}

FAKE_API int cuCtxSetCurrent(void *context)
{
    int result = fake_begin(__func__, FAKE_STARTED);

    if (!result && context && !is_context(context))
        result = FAKE_INVALID_CONTEXT;
    if (!result && stack.depth)
        stack.depth--;
    if (!result && context)
        stack.contexts[stack.depth++] = context;
    return fake_end(result);
}

/* ------------------------------------------------------------------- control */

static long count_calls(const char *name)
{
    long calls = 0;
    int i;

    pthread_mutex_lock(&state.lock);
    for (i = 0; i < state.function_count; i++)
        if (!name || strcmp(state.functions[i].name, name) == 0)
            calls += state.functions[i].calls;
    pthread_mutex_unlock(&state.lock);
    return calls;
}

static void fail_later(const char *name, long nth, int result)
{
    pthread_mutex_lock(&state.lock);
    order_failure(name, nth, result);
    pthread_mutex_unlock(&state.lock);
}

static void reset(void)
{
    pthread_mutex_lock(&state.lock);
    memset(state.functions, 0, sizeof state.functions);
    state.function_count = 0;
    pthread_mutex_unlock(&state.lock);
}

static long count_live(void)
{
    long live;

    pthread_mutex_lock(&state.lock);
    live = state.live;
    pthread_mutex_unlock(&state.lock);
    return live;
}

static int depth(void)
{
    return stack.depth;
}

static void *current(void)
{
    return fake_current();
}

/* The first device's kernels: another loads the same images again. */
static const fake_kernel *first_kernel(const fake_module *module)
{
    return module->readable && module->context->device == 0 ? module->kernels : NULL;
}

static long count_kernels(bool only_asked)
{
    const fake_module *module;
    const fake_kernel *kernel;
    long count = 0;

    pthread_mutex_lock(&state.lock);
    for (module = fake_modules; module; module = module->next)
        for (kernel = first_kernel(module); kernel; kernel = kernel->next)
            count += kernel->asked || !only_asked;
    pthread_mutex_unlock(&state.lock);
    return count;
}

static long kernels(void)
{
    return count_kernels(false);
}

static long kernels_asked(void)
{
    return count_kernels(true);
}

static long unread_images(void)
{
    const fake_module *module;
    long count = 0;

    pthread_mutex_lock(&state.lock);
    for (module = fake_modules; module; module = module->next)
        count += !module->readable;
    pthread_mutex_unlock(&state.lock);
    return count;
}

static void each_unasked(void (*fn)(void *data, const char *kernel), void *data)
{
    const fake_module *module;
    const fake_kernel *kernel;

    pthread_mutex_lock(&state.lock);
    for (module = fake_modules; module; module = module->next)
        for (kernel = first_kernel(module); kernel; kernel = kernel->next)
            if (!kernel->asked)
                fn(data, kernel->name);
    pthread_mutex_unlock(&state.lock);
}

FAKE_API extern const fake_cuda_control fake_cuda_object;
const fake_cuda_control fake_cuda_object = {
    .calls = count_calls,
    .fail_call = fail_later,
    .reset = reset,
    .live = count_live,
    .depth = depth,
    .current = current,
    .kernels = kernels,
    .kernels_asked = kernels_asked,
    .unread_images = unread_images,
    .each_unasked = each_unasked,
    .last_map = fake_last_map,
};
