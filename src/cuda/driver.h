/* SPDX-License-Identifier: MIT */
/* The part of CUDA's driver interface that is used here, in words of our own: handles are plain
 * pointers, and the driver is found at run time. */
#ifndef PGI_CUDA_DRIVER_H
#define PGI_CUDA_DRIVER_H

#include <poolgrad/poolgrad.h>

/* The version whose kernels we carry. */
#define PGI_CUDA_VERSION 13000

typedef uint64_t pgi_cuda_address;

/* Results of calls, attributes of devices and pointers: numbers that the driver has fixed. */
enum {
    PGI_CUDA_SUCCESS = 0,
    PGI_CUDA_INVALID_VALUE = 1,
    PGI_CUDA_OUT_OF_MEMORY = 2,
    PGI_CUDA_NO_DEVICE = 100,

    PGI_CUDA_MULTIPROCESSORS = 16,
    PGI_CUDA_L2_BYTES = 38,
    PGI_CUDA_COMPUTE_MAJOR = 75,
    PGI_CUDA_COMPUTE_MINOR = 76,
    PGI_CUDA_MOST_SHARED = 97,

    PGI_CUDA_POINTER_MEMORY_TYPE = 2,
    PGI_CUDA_POINTER_DEVICE = 9,
    PGI_CUDA_MEMORY_DEVICE = 2,

    PGI_CUDA_FUNCTION_SHARED = 1,
    PGI_CUDA_FUNCTION_DYNAMIC_SHARED = 8,

    PGI_CUDA_LAUNCH_EARLY = 6,

    PGI_CUDA_MAP_HALVES = 1, /* elements of 2 bytes, whatever they are */
    PGI_CUDA_MAP_WORDS = 2   /* of 4 bytes */
};

/* Of a launch. EARLY: it may begin while the kernel before it on the stream still runs, if that
 * allows it, and waits by itself for what that does. */
typedef struct pgi_cuda_attribute {
    int id;
    int padding;
    union {
        int allowed;
        char bytes[64];
    } value;
} pgi_cuda_attribute;

typedef struct pgi_cuda_launch {
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z;
    unsigned shared;
    void *stream;
    pgi_cuda_attribute *attributes;
    unsigned attribute_count;
} pgi_cuda_launch;

typedef struct pgi_cuda_driver {
    int (*init)(unsigned flags);
    int (*driver_version)(int *version);
    int (*error_name)(int result, const char **name);
    int (*error_text)(int result, const char **text);
    int (*device_count)(int *count);
    int (*device_get)(int *device, int ordinal);
    int (*device_name)(char *name, int capacity, int device);
    int (*device_attribute)(int *value, int attribute, int device);
    int (*device_memory)(size_t *bytes, int device);
    int (*context_retain)(void **context, int device);
    int (*context_push)(void *context);
    int (*context_pop)(void **context);
    int (*module_load)(void **module, const void *image);
    int (*module_function)(void **function, void *module, const char *name);
    int (*function_get)(int *value, int attribute, void *function);
    int (*function_set)(void *function, int attribute, int value);
    int (*occupancy)(int *blocks, void *function, int block_size, size_t shared);
    int (*launch)(const pgi_cuda_launch *launch, void *function, void **parameters, void **extra);
    /* Of a tensor; distances begin with the second axis. The rest are elements of a box, steps in
     * it, and kinds of order, caching and filling: 0. */
    int (*map_tensor)(void *map, int type, unsigned rank, const void *tensor,
                      const uint64_t *extents, const uint64_t *distances, const unsigned *box,
                      const unsigned *steps, int interleave, int swizzle, int promotion, int fill);
    int (*allocate)(pgi_cuda_address *memory, size_t bytes);
    int (*release)(pgi_cuda_address memory);
    int (*copy_to_device)(pgi_cuda_address to, const void *from, size_t bytes);
    int (*fill)(pgi_cuda_address to, unsigned char value, size_t bytes, void *stream);
    int (*copy_to_host)(void *to, pgi_cuda_address from, size_t bytes, void *stream);
    int (*pointer_attribute)(void *value, int attribute, pgi_cuda_address pointer);
    int (*stream_context)(void *stream, void **context);
    int (*stream_wait)(void *stream);
} pgi_cuda_driver;

/* The driver, found and started once; *driver stays. */
poolgrad_status pgi_cuda_driver_find(const pgi_cuda_driver **driver, poolgrad_error *error);

/* A call that failed, as a status: ERR_MEMORY or ERR_DEVICE. */
poolgrad_status pgi_cuda_fail(const pgi_cuda_driver *driver, int result, const char *what,
                              poolgrad_error *error);

#endif
