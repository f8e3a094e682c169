/* SPDX-License-Identifier: MIT */
/* What the kernels for windows of 3 with stride 2 are told. Shared by the host and the kernels. */
#ifndef PGI_CUDA_KERNELS_HALVES_H
#define PGI_CUDA_KERNELS_HALVES_H

#include "cuda/kernels/outer.h"

/* H or W: a pair of targets, at 2 i, has sources i + shift and i + shift + 1. Its first target has
 * both of them and the second only the latter, if `late`; or the first only the former, and the
 * second both. */
typedef struct pgi_cuda_halves_axis {
    int shift, late, sources, targets;
    int source_stride, target_stride;
} pgi_cuda_halves_axis;

typedef struct pgi_cuda_halves {
    pgi_cuda_halves_axis h, w;

    /* A thread has two rows of targets, and in each a vector of them, or a vector of channels of
     * two. */
    unsigned groups; /* vectors of channels; or 1 */
    unsigned across; /* pieces of a row */

    pgi_cuda_outer outer;

    double alpha, beta; /* rounded to the compute type */
    int64_t divisor;
} pgi_cuda_halves;

/* Targets of a row that a thread has where channels do not lie side by side: 16 bytes, so that a
 * warp stores without gaps. */
#define PGI_HALVES_PLACES(bytes) (16 / (int)(bytes))

#endif
