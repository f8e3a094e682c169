/* SPDX-License-Identifier: MIT */
/*
 * What kernels are told that add the terms of max pooling over 3x3x3 with stride 2, channels first,
 * to their winners in shared memory. Two windows of an axis share one position, the last tap of one
 * and the first of the next. Shared by the host and the kernels.
 */
#ifndef PGI_CUDA_KERNELS_SCATTER_H
#define PGI_CUDA_KERNELS_SCATTER_H

#include "cuda/kernels/cell.h"

/* Windows that a thread has in a slice. */
#define PGI_SCATTER_PASSES 4

/* Elements that it stores at once. */
#define PGI_SCATTER_WIDTH 4

/* A block has a tile of positions, on H and W, of a plane, and goes along the slices of a segment.
 */
typedef struct pgi_cuda_scatter {
    pgi_cuda_cell cell;
    int tile[2], tiles[2];
    int columns, rows;  /* windows beside each other that threads have */
    int vectors, lines; /* of a row of the tile; rows that threads store at a time */

    /* Bytes of the sums of a row and a tile; and how far the next window of a thread is, as a place
     * and in sums. */
    unsigned row_bytes, tile_bytes;
    int down_places;
    unsigned down_bytes;
} pgi_cuda_scatter;

#endif
