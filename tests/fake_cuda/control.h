/* SPDX-License-Identifier: MIT */
/*
 * What a test can tell and ask the stand-in for the CUDA driver. The library exports one object of
 * this type, named FAKE_CUDA_OBJECT; a real driver has none.
 *
 * Read from the environment when the library is loaded, for programs that know nothing of this:
 *     FAKE_CUDA_DEVICES=2       how many devices there are
 *     FAKE_CUDA_VERSION=13000   the driver's version
 *     FAKE_CUDA_COMPUTE=90      compute capability of all devices, times ten
 *     FAKE_CUDA_SHARED=227      KiB of shared memory that a block can have
 *     FAKE_CUDA_FAIL=NAME:N:R   the N-th call of the function NAME returns R
 */
#ifndef TESTS_FAKE_CUDA_CONTROL_H
#define TESTS_FAKE_CUDA_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#define FAKE_CUDA_OBJECT "fake_cuda_object"

/* Results, as the driver numbers them. */
enum {
    FAKE_SUCCESS = 0,
    FAKE_INVALID_VALUE = 1,
    FAKE_OUT_OF_MEMORY = 2,
    FAKE_NOT_INITIALIZED = 3,
    FAKE_NO_DEVICE = 100,
    FAKE_INVALID_DEVICE = 101,
    FAKE_INVALID_IMAGE = 200,
    FAKE_INVALID_CONTEXT = 201,
    FAKE_NO_BINARY = 209,
    FAKE_INVALID_HANDLE = 400,
    FAKE_NOT_FOUND = 500,
    FAKE_ILLEGAL_ADDRESS = 700,
    FAKE_OUT_OF_RESOURCES = 701,
    FAKE_CAPTURE_UNSUPPORTED = 900,
    FAKE_CAPTURE_INVALIDATED = 901
};

enum {
    FAKE_MAP_AXES = 4
};

/* A tensor as a map has it; distances in bytes. */
typedef struct fake_map {
    uint64_t address, extent[FAKE_MAP_AXES], distance[FAKE_MAP_AXES - 1];
    unsigned box[FAKE_MAP_AXES];
    int type; /* 1 or 2: elements of 2 or 4 bytes */
} fake_map;

typedef struct fake_cuda_control {
    /* Calls since the last reset: of the function with that name in the driver, or, for NULL, of
     * all. */
    long (*calls)(const char *name);

    /* The nth call of that function from now on, counted from 1, returns `result` and does nothing.
     * One such order at a time for a function. */
    void (*fail_call)(const char *name, long nth, int result);

    /* No calls, and no failures to come. What lives goes on living. */
    void (*reset)(void);

    /* Allocations, streams, events and graphs that were not freed. */
    long (*live)(void);

    /* Contexts on this thread's stack, and the uppermost (NULL if there is none). */
    int (*depth)(void);
    void *(*current)(void);

    /* Kernels in all images that were loaded onto the first device and could be read, those of them
     * that were asked for, and images that could not be read: there any name is a kernel. */
    long (*kernels)(void);
    long (*kernels_asked)(void);
    long (*unread_images)(void);

    /* Calls fn for every kernel that was not asked for. */
    void (*each_unasked)(void (*fn)(void *data, const char *kernel), void *data);

    /* The last map that was made of a tensor, or one before it; whether there is one. */
    bool (*last_map)(int before, fake_map *map);
} fake_cuda_control;

#endif
