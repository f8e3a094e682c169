/* SPDX-License-Identifier: MIT */
/*
 * Stride 2 with windows of 3 on the last axis: V places of a row have V / 2 + 1 windows side by
 * side, and one or two of them each, in turn. What the windows have is loaded once for all of them.
 */
#ifndef PGI_CUDA_KERNELS_SPAN_CUH
#define PGI_CUDA_KERNELS_SPAN_CUH

#include "cuda/kernels/near.cuh"

/* The windows of the i-th place: from which on, and how many. With LATE the even places have two.
 */
template <bool LATE> struct pgi_span {
    static __host__ __device__ constexpr int first(int i)
    {
        return i / 2 + (LATE && i % 2 ? 1 : 0);
    }

    static __host__ __device__ constexpr int count(int i)
    {
        return (i % 2 == 0) == LATE ? 2 : 1;
    }
};

/* The rows of windows of a place, D x H of them, and which of the columns exist. */
template <int D, int H, int V> struct pgi_span_rows {
    static constexpr int WINDOWS = V / 2 + 1;
    int offset[D * H]; /* of the first window, ABSENT if there is no such row */
    bool there[WINDOWS];

    __device__ pgi_span_rows(const pgi_cuda_near &near, const pgi_place &place)
    {
        const int begin = (int)place.at[2] / 2 + near.span_shift;
        const pgi_cuda_entry entry[2] = {entry_of(near, 0, place.at[0]),
                                         entry_of(near, 1, place.at[1])};

#pragma unroll
        for (int j = 0; j < WINDOWS; j++)
            there[j] = begin + j >= 0 && begin + j < near.span_sources;
#pragma unroll
        for (int d = 0; d < D; d++)
#pragma unroll
            for (int h = 0; h < H; h++) {
                const int from[2] = {entry[0].offset[d], entry[1].offset[h]};

                offset[d * H + h] =
                    from[0] == PGI_CUDA_ABSENT || from[1] == PGI_CUDA_ABSENT
                        ? PGI_CUDA_ABSENT
                        : (int)(place.plane * near.source_plane) + from[0] + from[1] + begin;
            }
    }
};

#endif
