/* SPDX-License-Identifier: MIT */
/* The planes, or images with channels side by side, that a thread goes through with what it has
 * found out. Shared by the host and the kernels. */
#ifndef PGI_CUDA_KERNELS_OUTER_H
#define PGI_CUDA_KERNELS_OUTER_H

#include <stdint.h>

typedef struct pgi_cuda_outer {
    unsigned count, fast; /* all of them = slow ones * fast ones */

    /* Threads that one of them takes, and how many are dealt to blocks together, so that few
     * threads have nothing to do. */
    unsigned pieces, grouped;

    int64_t source_slow, source_fast, target_slow, target_fast;
    int64_t source_begin; /* where the target's first batch and channel lie in the source */
} pgi_cuda_outer;

#ifdef __CUDACC__
/* A thread's piece, and what it goes through: from `first` on, every `step`-th. */
struct pgi_outer_thread {
    unsigned piece, first, step;
    bool there;

    __device__ pgi_outer_thread(const pgi_cuda_outer &outer)
    {
        const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;

        there = thread < outer.pieces * outer.grouped;
        piece = thread % outer.pieces;
        first = blockIdx.y * outer.grouped + thread / outer.pieces;
        step = gridDim.y * outer.grouped;
    }
};

__device__ inline int64_t source_of(const pgi_cuda_outer &outer, unsigned u)
{
    return outer.source_begin + u / outer.fast * outer.source_slow +
           u % outer.fast * outer.source_fast;
}

__device__ inline int64_t target_of(const pgi_cuda_outer &outer, unsigned u)
{
    return u / outer.fast * outer.target_slow + u % outer.fast * outer.target_fast;
}
#endif

#endif
