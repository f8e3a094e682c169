/* SPDX-License-Identifier: MIT */
/* Devices, and the kernels that are loaded onto them. */
#ifndef PGI_CUDA_DEVICE_H
#define PGI_CUDA_DEVICE_H

#include "cuda/driver.h"

#include <stdbool.h>

enum {
    PGI_CUDA_DEVICES = 64,
    PGI_CUDA_MODULES = 32
};

/* A device in use. Made by the first plan on it and kept. */
typedef struct pgi_cuda_device {
    const pgi_cuda_driver *driver;
    int32_t ordinal;
    int handle;
    void *context; /* the primary one */
    void *module[PGI_CUDA_MODULES];
    int multiprocessors;
    int shared;    /* bytes of shared memory that a block can have */
    int64_t cache; /* bytes of L2 */
    bool overlaps; /* kernels can begin while the one before them ends */
} pgi_cuda_device;

/* The device, its kernels loaded. */
poolgrad_status pgi_cuda_device_use(int32_t ordinal, const pgi_cuda_device **device,
                                    poolgrad_error *error);

/* A kernel by its file and name, ready to be launched with so many bytes of shared memory, and how
 * many blocks of it a multiprocessor holds: 0 if a block cannot have as many. */
poolgrad_status pgi_cuda_device_kernel(const pgi_cuda_device *device, const char *file,
                                       const char *name, int block, int shared, void **function,
                                       int *resident, poolgrad_error *error);

/* Memory of the device with these bytes in it; for plans, not for executions. */
poolgrad_status pgi_cuda_device_put(const pgi_cuda_device *device, const void *from, size_t bytes,
                                    pgi_cuda_address *memory, poolgrad_error *error);
void pgi_cuda_device_drop(const pgi_cuda_device *device, pgi_cuda_address memory);

/* The device's context becomes the thread's until it is left; the caller's is then back. */
poolgrad_status pgi_cuda_device_enter(const pgi_cuda_device *device, poolgrad_error *error);
void pgi_cuda_device_leave(const pgi_cuda_device *device);

#endif
