/* SPDX-License-Identifier: MIT */
/* What the kernels are told where one window covers everything. Shared by the host and the kernels.
 */
#ifndef PGI_CUDA_KERNELS_WHOLE_H
#define PGI_CUDA_KERNELS_WHOLE_H

#include <stdint.h>

typedef struct pgi_cuda_whole {
    int64_t planes, places; /* of each plane */
    int64_t source_begin;   /* where the target's first batch and channel lie in the source */

    /* Channels side by side: images of `places` of `channels` each. */
    int64_t images, channels;
    int64_t source_image, target_image, source_place, target_place;

    double alpha, beta; /* rounded to the compute type */
    int64_t divisor;
} pgi_cuda_whole;

#define PGI_WHOLE_THREADS 256

/* Vectors of 16 bytes that a thread has of planes; places that it has of channels. */
#define PGI_WHOLE_VECTORS 4
#define PGI_WHOLE_PLACES  16

/* Forward: threads of a block, each with a plane, or with channels of an image; and the sides of
 * squares that there are kernels for, of planes only the odd ones. */
#define PGI_WHOLE_PLANES     96
#define PGI_WHOLE_LEAST_SIDE 4
#define PGI_WHOLE_MOST_SIDE  8

#endif
