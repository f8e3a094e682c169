/* SPDX-License-Identifier: MIT */
/* What kernels are told that hold a plane of max pooling in shared memory. Shared by the host and
 * the kernels. */
#ifndef PGI_CUDA_KERNELS_PLANE_H
#define PGI_CUDA_KERNELS_PLANE_H

#include <stdint.h>

/* Where elements of a tensor lie: batch, channels, D, H, W. */
typedef struct pgi_cuda_strides {
    int64_t batch, channel;
    int64_t place[3];
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
    int checks;
} pgi_cuda_plane;

#endif
