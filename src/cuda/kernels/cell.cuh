/* SPDX-License-Identifier: MIT */
/* What the kernels of cells share: where planes begin, which place a winner's name stands for. */
#ifndef PGI_CUDA_KERNELS_CELL_CUH
#define PGI_CUDA_KERNELS_CELL_CUH

#include "cuda/kernels/cell.h"
#include "cuda/kernels/near.cuh"
#include "cuda/kernels/quotient.cuh"

/* Whether a place or window lies on an axis of so many. */
__device__ inline bool within(int i, int extent)
{
    return (unsigned)i < (unsigned)extent;
}

__device__ inline int clamped(int i, int extent)
{
    return min(max(i, 0), extent - 1);
}

/* A plane, or the first of the channels that a thread has of an image. */
struct pgi_cell_plane {
    int batch, channel;

    __device__ int64_t offset(const pgi_cuda_cell_strides &strides) const
    {
        return batch * strides.batch + channel * strides.channel;
    }

    /* The index of its place 0. */
    __device__ int64_t index(const pgi_cuda_cell &cell) const
    {
        return cell.origin + batch * cell.index_batch + channel * cell.index_channel;
    }
};

__device__ inline pgi_cell_plane plane_of(const pgi_cuda_cell &cell, unsigned plane)
{
    const unsigned batch = quick_quotient(plane, cell.by_channels);

    return {(int)batch, (int)(plane - batch * cell.channels)};
}

__device__ inline int place_offset(const pgi_cuda_cell_strides &strides, int d, int h)
{
    return d * strides.place[0] + h * strides.place[1];
}

/* Where a window's tap 0 lies as a place, or would lie. R: how many axes have cells. */
template <int R>
__device__ inline int first_place(const pgi_cuda_cell &cell, int od, int oh, int ow)
{
    const int d = R == 3 ? 2 * od - cell.pad[0] : od;

    return d * cell.area + (2 * oh - cell.pad[1]) * cell.in[2] + 2 * ow - cell.pad[2];
}

/* The code of a tap. */
__host__ __device__ constexpr int tap_code(int d, int h, int w)
{
    return d << 4 | h << 2 | w;
}

/* What a code adds to that. */
__device__ inline int code_distance(const pgi_cuda_cell &cell, int code)
{
    return (code >> 4) * cell.area + (code >> 2 & 3) * cell.in[2] + (code & 3);
}

/* Which taps of a window lie inside, on one axis. */
struct pgi_cell_clip {
    int first, last;

    template <int K> __device__ static pgi_cell_clip of(int o, int pad, int in)
    {
        return {max(0, pad - 2 * o), min(K - 1, in - 1 - (2 * o - pad))};
    }

    __device__ int clip(int tap) const
    {
        return min(max(tap, first), last);
    }

    __device__ bool whole(int k) const
    {
        return first == 0 && last == k - 1;
    }
};

/* A thread's windows [begin, end) of the axis that it goes along to find winners, and its place on
 * the other. */
struct pgi_cell_share {
    int across, begin, end;
    unsigned member;

    template <int R> __device__ static pgi_cell_share of(const pgi_cuda_cell &cell, unsigned line)
    {
        const unsigned width = (unsigned)cell.out[R == 3 ? 1 : 0], segment = line / width;
        const unsigned member = segment / cell.segments;
        const int begin = (int)((segment - member * cell.segments) * cell.length);

        return {(int)(line - segment * width), begin,
                min(begin + (int)cell.length, cell.out[R == 3 ? 0 : 1]), member};
    }
};

/* The code of the nearest tap inside. */
__device__ inline int clip_code(int code, const pgi_cell_clip &d, const pgi_cell_clip &h,
                                const pgi_cell_clip &w)
{
    return d.clip(code >> 4) << 4 | h.clip(code >> 2 & 3) << 2 | w.clip(code & 3);
}

#endif
