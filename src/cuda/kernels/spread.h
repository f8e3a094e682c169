/* SPDX-License-Identifier: MIT */
/* What the kernels are told whose windows tile. Shared by the host and the kernels. */
#ifndef PGI_CUDA_KERNELS_SPREAD_H
#define PGI_CUDA_KERNELS_SPREAD_H

#include "cuda/kernels/outer.h"

/* An axis: source i + shift goes to `side` targets from i * side on. */
typedef struct pgi_cuda_spread_axis {
    int side, shift, sources, targets;
    int64_t source_stride, target_stride;
} pgi_cuda_spread_axis;

typedef struct pgi_cuda_spread {
    pgi_cuda_spread_axis axis[3];

    /* A thread has a vector of channels of one window, or neighbouring windows of side 2. */
    unsigned groups; /* vectors of channels; or 1 */
    unsigned across; /* pieces of a row */
    unsigned rows;   /* of windows, of a plane */

    pgi_cuda_outer outer;
    double alpha, beta; /* rounded to the compute type */
    int64_t divisor;
} pgi_cuda_spread;

/* Targets of a row that a thread has where channels do not lie side by side: 16 bytes, so that a
 * warp stores without gaps. */
#define PGI_SPREAD_PLACES(bytes) (16 / (int)(bytes))

#endif
