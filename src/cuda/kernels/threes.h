/* SPDX-License-Identifier: MIT */
/* What the kernels for windows of 3x3 and 3x3x3 are told that lie around every position. Shared by
 * the host and the kernels. */
#ifndef PGI_CUDA_KERNELS_THREES_H
#define PGI_CUDA_KERNELS_THREES_H

#include "cuda/kernels/outer.h"

/* D, H or W. Target t takes sources t - 1, t and t + 1, those of them that exist. */
typedef struct pgi_cuda_threes_axis {
    int size;                /* of the source, and of the target */
    int first, middle, last; /* what windows count; 1 where all of them count the same */
    int64_t source_stride, target_stride;
} pgi_cuda_threes_axis;

typedef struct pgi_cuda_threes {
    pgi_cuda_threes_axis d, h, w; /* of rank 2 no D */
    pgi_cuda_outer outer;

    /* Planes: a warp has so many of them, or tiles of one, with so many lanes each, of which the
     * outermost of a tile do not store. */
    int grouped, lanes, tiles;

    /* Planes in shared memory: so many in a block; warps have `grouped` of them. */
    int dense;

    /* Channels: vectors of them, and bands of rows. */
    int groups, bands;

    /* Of rank 3, slabs of planes. With channels a block has so many places of a row, in tiles as
     * above, and `lanes` vectors of each, one of `groups` such pieces. */
    unsigned slabs;
    int places;

    int segment; /* rows, or places of a row, that a thread goes through */

    double alpha, beta; /* rounded to the compute type */
    int forward;
    int64_t divisor; /* of all windows; 0: what H counts times what W counts */
} pgi_cuda_threes;

#define PGI_THREES_THREADS 256

/* Places of a row that a thread has: 16 bytes. */
#define PGI_THREES_PLACES(bytes) (16 / (int)(bytes))

/* The same in shared memory: odd, so that lanes meet in few banks. */
#define PGI_THREES_DENSE(bytes) ((bytes) == 2 ? 5 : 3)

/* Channels that a thread has, and rows of a band. */
#define PGI_THREES_CHANNELS(bytes) ((bytes) == 8 ? 2 : 4)
#define PGI_THREES_BAND            4

/* Rank 3: planes of targets that a thread has, elements of a row of each; lanes that a place has at
 * most, with 128 bytes of channels; and divisors that have an inverse. */
#define PGI_SLAB_DEEP        4
#define PGI_SLAB_EACH(bytes) ((bytes) == 8 ? 2 : 4)
#define PGI_SLAB_LANES       16
#define PGI_SLAB_USUAL       (1 << 21)

#endif
