/* SPDX-License-Identifier: MIT */
/* What kernels are told that hold planes of max pooling in shared memory. Shared by the host and
 * the kernels. */
#ifndef PGI_CUDA_KERNELS_PLANE_H
#define PGI_CUDA_KERNELS_PLANE_H

#include "cuda/kernels/quotient.h"

#include <stdint.h>

/* Windows side by side that a thread finds the winners of; an odd number keeps threads out of each
 * other's banks. */
#define PGI_PLANE_RUN 7

/* Where elements of a tensor lie: batch, channels, D, H, W. */
typedef struct pgi_cuda_strides {
    int64_t batch, channel;
    int64_t place[3];
    int even; /* all neighbours in a plane are place[2] apart */
} pgi_cuda_strides;

typedef struct pgi_cuda_plane {
    unsigned planes, channels; /* planes = batch * channels */
    int in[3], out[3];
    int kernel[3], stride[3], dilation[3], pad[3];
    int places, windows;             /* of a plane */
    pgi_cuda_strides source, target; /* indices lie as dy and y do, those that windows have */
    int64_t origin, index_batch, index_channel; /* index = place + these */
    double alpha, beta;
    int nan;       /* a poolgrad_nan */
    int no_winner; /* -1 is an index */

    int members;     /* planes of a block, a power of two */
    int interleaved; /* neighbours in memory are of different planes */
    int last;        /* forward: the last axis whose windows have more than a position */
    int runs[3];     /* forward: PGI_PLANE_RUN windows of an axis at a time, so many times; or 0 */
    int by_rows;     /* backward: rows are long enough to be added one by one */
    int chunk;       /* backward: windows that are fetched at a time, whole rows if by_rows */

    /* Elements from plane to plane in shared memory: positions, windows of a chunk, its rows, and
     * what is left between axes. */
    int place_pitch, chunk_pitch, row_pitch, column_pitch;

    /* Quotients by in[2], in[1], out[2], out[1], their product, and runs. */
    pgi_cuda_quotient by_in[2], by_out[2], by_area, by_runs[3];
} pgi_cuda_plane;

#endif
