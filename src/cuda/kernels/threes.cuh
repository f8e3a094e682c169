/* SPDX-License-Identifier: MIT */
/* What kernels for windows of three on every axis share. */
#ifndef PGI_CUDA_KERNELS_THREES_CUH
#define PGI_CUDA_KERNELS_THREES_CUH

#include "cuda/kernels/general.h"
#include "cuda/kernels/ring.cuh"
#include "cuda/kernels/threes.h"
#include "cuda/kernels/vector.cuh"

/* What a window counts on an axis; of those that do not exist, what the nearest does. */
__device__ inline int count_of(const pgi_cuda_threes_axis &axis, int at)
{
    return at <= 0 ? axis.first : at >= axis.size - 1 ? axis.last : axis.middle;
}

/* The inverses of all counts, 1 to 27, in shared memory; with one divisor for all, of that. */
template <typename Real>
__device__ inline const pgi_inverse<Real> *make_inverses(const pgi_cuda_threes &all)
{
    __shared__ pgi_inverse<Real> inverses[28];

    if (threadIdx.x < 28)
        inverses[threadIdx.x] = inverse_of((Real)(all.divisor ? all.divisor : threadIdx.x));
    __syncthreads();
    return inverses;
}

/* What N places side by side on an axis are divided by, from `first` on. */
template <typename Real, int N> struct pgi_threes_divisors {
    const pgi_cuda_threes_axis &axis;
    const pgi_inverse<Real> *inverses;
    pgi_inverse<Real> inverse[N];
    int first, counted; /* on the other axes */

    __device__ pgi_threes_divisors(const pgi_cuda_threes &all, const pgi_cuda_threes_axis &places,
                                   int place)
        : axis(places), inverses(make_inverses<Real>(all)), first(place), counted(-1)
    {
    }

    __device__ void find(int others)
    {
        if (others == counted)
            return;
        counted = others;
#pragma unroll
        for (int i = 0; i < N; i++)
            inverse[i] = inverses[count_of(axis, first + i) * others];
    }

    /* One divisor, or counts: all are usual, or none. */
    __device__ bool usual() const
    {
        return inverse[0].high != 0;
    }
};

/* Whether vectors are, in memory. */
template <typename T, int V>
__device__ inline bool are_aligned(const pgi_cuda_threes &all, const pgi_cuda_memory &memory)
{
    return is_aligned<T, V>((const T *)memory.source + all.outer.source_begin) &&
           is_aligned<T, V>((const T *)memory.target);
}

/* Sums of three neighbours of a row; those at the ends come from the lanes beside this one. */
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
