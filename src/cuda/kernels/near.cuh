/* SPDX-License-Identifier: MIT */
/* What the near kernels share: which targets a thread has, and their sources. */
#ifndef PGI_CUDA_KERNELS_NEAR_CUH
#define PGI_CUDA_KERNELS_NEAR_CUH

#include "cuda/kernels/general.h"
#include "cuda/kernels/near.h"
#include "cuda/kernels/vector.cuh"

#include "core/problem.h"

/* What the neighbours are that a thread has. */
enum pgi_near_kind {
    NEAR_PLACES, /* places, each with its own sources; may be one */
    NEAR_PAIRS,  /* places, two of which have the same sources */
    NEAR_LANES   /* channels of a place */
};

/* Where plane or image u begins, in elements or in indices. */
__device__ inline int64_t outer_offset(const pgi_cuda_near &near, unsigned u, int64_t slow,
                                       int64_t fast)
{
    return near.fast == 0 ? u * fast : u / near.fast * slow + u % near.fast * fast;
}

/* A target: its plane among those that are grouped, and its place. */
struct pgi_place {
    unsigned plane, at[3];

    /* The element-th. */
    __device__ pgi_place(const pgi_cuda_near &near, unsigned element)
    {
        const unsigned rest = near.grouped > 1 ? element % near.plane : element;
        const unsigned row = rest / near.extent[2];

        plane = near.grouped > 1 ? element / near.plane : 0;
        at[2] = rest - row * near.extent[2];
        at[0] = row / near.extent[1];
        at[1] = row - at[0] * near.extent[1];
    }

    /* The next in row-major order. */
    __device__ void advance(const pgi_cuda_near &near)
    {
        if (++at[2] < near.extent[2])
            return;
        at[2] = 0;
        if (++at[1] < near.extent[1])
            return;
        at[1] = 0;
        if (++at[0] < near.extent[0])
            return;
        at[0] = 0;
        plane++;
    }

    __device__ int target(const pgi_cuda_near &near) const
    {
        return (int)(plane * near.target_plane) + (int)at[0] * near.stride[0] +
               (int)at[1] * near.stride[1] + (int)at[2] * near.stride[2];
    }

    __device__ int64_t index(const pgi_cuda_near &near) const
    {
        return near.origin + plane * near.index_plane + at[0] * near.place_step[0] +
               at[1] * near.place_step[1] + at[2] * near.place_step[2];
    }
};

/* What the table says of a place on an axis. */
__device__ inline pgi_cuda_entry entry_of(const pgi_cuda_near &near, int axis, unsigned place)
{
    return ((const pgi_cuda_entry *)near.entries[axis])[place];
}

/* The sources of a target: D x H x W of them at most, as offsets from the first of the plane or
 * image; ABSENT for those that are not there. */
template <int D, int H, int W>
__device__ inline void find_sources(const pgi_cuda_near &near, const pgi_place &place, int channel,
                                    int (&offset)[D * H * W], pgi_cuda_entry (&entry)[3])
{
    const int most[3] = {D, H, W};
    const int begin = (int)(place.plane * near.source_plane) + channel;

#pragma unroll
    for (int k = 0; k < 3; k++) {
        entry[k] = entry_of(near, k, place.at[k]);
        if (most[k] == 1)
            entry[k].offset[1] = PGI_CUDA_ABSENT;
    }
#pragma unroll
    for (int d = 0; d < D; d++)
#pragma unroll
        for (int h = 0; h < H; h++)
#pragma unroll
            for (int w = 0; w < W; w++) {
                const int from[3] = {entry[0].offset[d], entry[1].offset[h], entry[2].offset[w]};
                const bool there = from[0] != PGI_CUDA_ABSENT && from[1] != PGI_CUDA_ABSENT &&
                                   from[2] != PGI_CUDA_ABSENT;

                offset[(d * H + h) * W + w] =
                    there ? begin + from[0] + from[1] + from[2] : PGI_CUDA_ABSENT;
            }
}

#endif
