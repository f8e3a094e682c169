/* SPDX-License-Identifier: MIT */
/* Tensors as the device's copy engine knows them, which moves boxes of them to and from
 * shared memory. Shared by the host and the kernels. */
#ifndef PGI_CUDA_KERNELS_MAP_H
#define PGI_CUDA_KERNELS_MAP_H

#include <stdalign.h>
#include <stdint.h>

/* Channels, columns, rows and batch. */
#define PGI_CUDA_MAP_AXES 4

/* What the driver makes; the engine wants it aligned. */
typedef struct pgi_cuda_map {
    alignas(64) uint64_t words[16];
} pgi_cuda_map;

typedef struct pgi_cuda_maps {
    pgi_cuda_map x, dy, dx;
    int there; /* 0: there are none, and elements are to be loaded */
} pgi_cuda_maps;

#endif
