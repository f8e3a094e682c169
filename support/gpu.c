/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE

#include "gpu.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t address;

/* Our own declarations, of what is used here; names are the driver's. */
static struct {
    int (*cuInit)(unsigned flags);
    int (*cuDeviceGet)(int *device, int ordinal);
    int (*cuDevicePrimaryCtxRetain)(void **context, int device);
    int (*cuCtxSetCurrent)(void *context);
    int (*cuMemAlloc_v2)(void **memory, size_t bytes); /* an address, and as wide as a pointer */
    int (*cuMemFree_v2)(address memory);
    int (*cuMemAllocHost_v2)(void **memory, size_t bytes);
    int (*cuMemFreeHost)(void *memory);
    int (*cuMemsetD8_v2)(address to, unsigned char byte, size_t bytes);
    int (*cuMemcpyHtoD_v2)(address to, const void *from, size_t bytes);
    int (*cuMemcpyDtoH_v2)(void *to, address from, size_t bytes);
    int (*cuMemcpyDtoDAsync_v2)(address to, address from, size_t bytes, void *stream);
    int (*cuCtxSynchronize)(void);
    int (*cuStreamCreate)(void **stream, unsigned flags);
    int (*cuStreamDestroy_v2)(void *stream);
    int (*cuStreamSynchronize)(void *stream);
    int (*cuStreamBeginCapture_v2)(void *stream, int mode);
    int (*cuStreamEndCapture)(void *stream, void **graph);
    int (*cuGraphInstantiateWithFlags)(void **executable, void *graph, unsigned long long flags);
    int (*cuGraphDestroy)(void *graph);
    int (*cuGraphExecDestroy)(void *executable);
    int (*cuGraphLaunch)(void *executable, void *stream);
    int (*cuEventCreate)(void **event, unsigned flags);
    int (*cuEventDestroy_v2)(void *event);
    int (*cuEventRecord)(void *event, void *stream);
    int (*cuEventSynchronize)(void *event);
    int (*cuEventElapsedTime)(float *milliseconds, void *begin, void *end);
} driver;

enum {
    NON_BLOCKING = 1, /* of streams */
    RELAXED = 2       /* of captures: other threads may do what they like */
};

static int find(void *library, const char *name, void *slot)
{
    void *function = dlsym(library, name);
    memcpy(slot, &function, sizeof function);
    return function ? 0 : -1;
}

#define FIND(name) find(library, #name, &driver.name)

const char *sup_gpu_open(int device)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *context;
    int handle;
    if (!library)
        return "there is no CUDA driver";
    if (FIND(cuInit) || FIND(cuDeviceGet) || FIND(cuDevicePrimaryCtxRetain) ||
        FIND(cuCtxSetCurrent) || FIND(cuMemAlloc_v2) || FIND(cuMemFree_v2) ||
        FIND(cuMemAllocHost_v2) || FIND(cuMemFreeHost) || FIND(cuMemsetD8_v2) ||
        FIND(cuMemcpyHtoD_v2) || FIND(cuMemcpyDtoH_v2) || FIND(cuMemcpyDtoDAsync_v2) ||
        FIND(cuCtxSynchronize) || FIND(cuStreamCreate) || FIND(cuStreamDestroy_v2) ||
        FIND(cuStreamSynchronize) || FIND(cuStreamBeginCapture_v2) || FIND(cuStreamEndCapture) ||
        FIND(cuGraphInstantiateWithFlags) || FIND(cuGraphDestroy) || FIND(cuGraphExecDestroy) ||
        FIND(cuGraphLaunch) || FIND(cuEventCreate) || FIND(cuEventDestroy_v2) ||
        FIND(cuEventRecord) || FIND(cuEventSynchronize) || FIND(cuEventElapsedTime))
        return "the CUDA driver is too old";
    if (driver.cuInit(0))
        return "the CUDA driver finds no device";
    if (driver.cuDeviceGet(&handle, device))
        return "there is no such device";
    if (driver.cuDevicePrimaryCtxRetain(&context, handle) || driver.cuCtxSetCurrent(context))
        return "the device cannot be opened";
    return NULL;
}

void *sup_gpu_allocate(size_t bytes)
{
    void *memory = NULL;
    return driver.cuMemAlloc_v2(&memory, bytes ? bytes : 1) ? NULL : memory;
}

void sup_gpu_free(void *memory)
{
    if (memory)
        driver.cuMemFree_v2((uintptr_t)memory);
}

int sup_gpu_fill(void *to, int byte, size_t bytes)
{
    if (bytes == 0)
        return 0;
    return driver.cuMemsetD8_v2((uintptr_t)to, (unsigned char)byte, bytes) ||
                   driver.cuCtxSynchronize()
               ? -1
               : 0;
}

int sup_gpu_to_device(void *to, const void *from, size_t bytes)
{
    return bytes && driver.cuMemcpyHtoD_v2((uintptr_t)to, from, bytes) ? -1 : 0;
}

int sup_gpu_to_host(void *to, const void *from, size_t bytes)
{
    return bytes && driver.cuMemcpyDtoH_v2(to, (uintptr_t)from, bytes) ? -1 : 0;
}

void *sup_gpu_allocate_pinned(size_t bytes)
{
    void *memory = NULL;
    return driver.cuMemAllocHost_v2(&memory, bytes) ? NULL : memory;
}

void sup_gpu_free_pinned(void *memory)
{
    if (memory)
        driver.cuMemFreeHost(memory);
}

void *sup_gpu_stream(void)
{
    void *stream = NULL;
    return driver.cuStreamCreate(&stream, NON_BLOCKING) ? NULL : stream;
}

void sup_gpu_stream_free(void *stream)
{
    if (stream)
        driver.cuStreamDestroy_v2(stream);
}

int sup_gpu_wait(void *stream)
{
    return driver.cuStreamSynchronize(stream) ? -1 : 0;
}

int sup_gpu_capture_begin(void *stream)
{
    return driver.cuStreamBeginCapture_v2(stream, RELAXED) ? -1 : 0;
}

int sup_gpu_capture_end(void *stream, void **graph)
{
    void *captured = NULL;
    *graph = NULL;
    if (driver.cuStreamEndCapture(stream, &captured) || !captured)
        return -1;
    int result = driver.cuGraphInstantiateWithFlags(graph, captured, 0);
    driver.cuGraphDestroy(captured);
    return result ? -1 : 0;
}

int sup_gpu_graph_launch(void *graph, void *stream)
{
    return driver.cuGraphLaunch(graph, stream) ? -1 : 0;
}

void sup_gpu_graph_free(void *graph)
{
    if (graph)
        driver.cuGraphExecDestroy(graph);
}

int sup_gpu_copy(void *to, const void *from, size_t bytes, void *stream)
{
    return driver.cuMemcpyDtoDAsync_v2((uintptr_t)to, (uintptr_t)from, bytes, stream) ? -1 : 0;
}

/* Seconds of one launch of a graph. */
static double time_graph(void *graph, void *stream)
{
    void *begin = NULL, *end = NULL;
    float milliseconds = -1e3F;
    if (driver.cuEventCreate(&begin, 0) || driver.cuEventCreate(&end, 0) ||
        driver.cuEventRecord(begin, stream) || driver.cuGraphLaunch(graph, stream) ||
        driver.cuEventRecord(end, stream) || driver.cuEventSynchronize(end) ||
        driver.cuEventElapsedTime(&milliseconds, begin, end))
        milliseconds = -1e3F;
    if (begin)
        driver.cuEventDestroy_v2(begin);
    if (end)
        driver.cuEventDestroy_v2(end);
    return (double)milliseconds / 1e3;
}

double sup_gpu_copy_time(void *to, const void *from, size_t bytes)
{
    void *begin = NULL, *end = NULL;
    float milliseconds, best = 1e30F;
    int failed = driver.cuEventCreate(&begin, 0) || driver.cuEventCreate(&end, 0);
    for (int i = 0; i < 6 && !failed; i++) {
        failed = driver.cuEventRecord(begin, NULL) || sup_gpu_copy(to, from, bytes, NULL) ||
                 driver.cuEventRecord(end, NULL) || driver.cuEventSynchronize(end) ||
                 driver.cuEventElapsedTime(&milliseconds, begin, end);
        if (!failed && milliseconds < best)
            best = milliseconds;
    }
    if (begin)
        driver.cuEventDestroy_v2(begin);
    if (end)
        driver.cuEventDestroy_v2(end);
    return failed ? -1 : (double)best / 1e3;
}

double sup_gpu_time(int times, int (*work)(void *data, int turn, void *stream), void *data)
{
    void *stream = sup_gpu_stream(), *graph = NULL;
    double seconds = -1;
    int failed = !stream || sup_gpu_capture_begin(stream);
    for (int i = 0; i < times && !failed; i++)
        failed = work(data, i, stream);
    if (stream && !sup_gpu_capture_end(stream, &graph) && !failed &&
        !sup_gpu_graph_launch(graph, stream) && !sup_gpu_wait(stream)) {
        for (int i = 0; i < 5; i++) {
            double one = time_graph(graph, stream);
            if (one > 0 && (seconds < 0 || one < seconds))
                seconds = one;
        }
    }
    sup_gpu_graph_free(graph);
    sup_gpu_stream_free(stream);
    return seconds < 0 ? -1 : seconds / times;
}
