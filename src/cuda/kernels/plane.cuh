/* SPDX-License-Identifier: MIT */
/* What the kernels share that hold planes in shared memory. */
#ifndef PGI_CUDA_KERNELS_PLANE_CUH
#define PGI_CUDA_KERNELS_PLANE_CUH

#include "cuda/kernels/element.cuh"
#include "cuda/kernels/general.h"
#include "cuda/kernels/plane.h"
#include "cuda/kernels/quotient.cuh"

__device__ inline int64_t plane_offset(const pgi_cuda_strides &strides, unsigned batch,
                                       unsigned channel)
{
    return batch * strides.batch + channel * strides.channel;
}

__device__ inline pgi_member member_of(const pgi_cuda_plane &all, int member)
{
    const unsigned number = blockIdx.x * (unsigned)all.members + (unsigned)member;
    const unsigned batch = number / all.channels, channel = number % all.channels;

    return {number, number < all.planes, plane_offset(all.source, batch, channel),
            plane_offset(all.target, batch, channel),
            all.origin + batch * all.index_batch + channel * all.index_channel};
}

/* Element i of a plane, row-major, of so many columns and rows; `by`: quotients by these. */
struct pgi_spot {
    int at[3];
};

__device__ inline pgi_spot spot_of(int i, const int (&extent)[3], const pgi_cuda_quotient (&by)[2])
{
    const int row = (int)quick_quotient((unsigned)i, by[0]);
    const int slice = extent[0] == 1 ? 0 : (int)quick_quotient((unsigned)row, by[1]);

    return {{slice, row - slice * extent[1], i - row * extent[2]}};
}

/* From a plane's first element to that of a row, of H and D, and a column. */
__device__ inline int offset_of(const pgi_cuda_strides &strides, int row, int column)
{
    return row * strides.row + column * strides.column;
}

#endif
