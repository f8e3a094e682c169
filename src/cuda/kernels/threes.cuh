/* SPDX-License-Identifier: MIT */
/* What the kernels for windows of three share: lanes, counts, and sums along a row. */
#ifndef PGI_CUDA_KERNELS_THREES_CUH
#define PGI_CUDA_KERNELS_THREES_CUH

#include "cuda/kernels/general.h"
#include "cuda/kernels/ring.cuh"
#include "cuda/kernels/threes.h"
#include "cuda/kernels/vector.cuh"

// What a window counts on an axis; of those that do not exist, what the nearest does.
__device__ inline int count_of(const pgi_cuda_threes_axis &axis, int at)
{
    return at <= 0 ? axis.first : at >= axis.size - 1 ? axis.last : axis.middle;
}

// The reciprocals of all counts, 1 to 27, in shared memory.
template <typename Real> __device__ inline const Real *make_reciprocals()
{
    __shared__ Real reciprocals[28];

    if (threadIdx.x < 28)
        reciprocals[threadIdx.x] = reciprocal_of((Real)threadIdx.x);
    __syncthreads();
    return reciprocals;
}

// Which piece of the work, a plane or a band, a lane has, and which columns of it.
struct pgi_threes_lane {
    unsigned piece;
    int x;
    bool there, stores;

    __device__ pgi_threes_lane(const pgi_cuda_threes &all, int width)
    {
        const unsigned warp = (blockIdx.x * PGI_THREES_THREADS + threadIdx.x) / 32;
        const int lane = (int)threadIdx.x % 32, group = lane / all.lanes, at = lane % all.lanes;
        const int tile = (int)(warp % (unsigned)all.tiles), halo = all.tiles > 1;

        piece = warp / (unsigned)all.tiles * (unsigned)all.grouped + (unsigned)group;
        x = (tile * (all.lanes - 2 * halo) + at - halo) * width;
        there = group < all.grouped && (unsigned)x < (unsigned)all.w.size;
        stores = there && at >= halo && at < all.lanes - halo;
    }
};

// Sums of three neighbours of a row; those at the ends come from the lanes beside this one.
template <typename Real, int V>
__device__ inline void sum_threes(Real (&sum)[V], bool first, bool last)
{
    const Real before = __shfl_up_sync(~0u, sum[V - 1], 1);
    const Real after = __shfl_down_sync(~0u, sum[0], 1);
    Real value[V + 2];

    value[0] = first ? (Real)0 : before;
    value[V + 1] = last ? (Real)0 : after;
#pragma unroll
    for (int i = 0; i < V; i++)
        value[i + 1] = sum[i];
    sum_runs<3, V>(value, sum);
}

#endif
