/* SPDX-License-Identifier: MIT */
/* What the marching kernels are told. Shared by the host and the kernels. */
#ifndef PGI_CUDA_KERNELS_MARCH_H
#define PGI_CUDA_KERNELS_MARCH_H

#include "core/axis.h"

/* Sides of windows that there are kernels for, by rank. */
#define PGI_MARCH_SIDES_1(each) each(3, 1) each(5, 1) each(7, 1) each(9, 1) each(25, 1)
#define PGI_MARCH_SIDES_2(each)                                                                    \
    each(2, 2) each(3, 2) each(5, 2) each(7, 2) each(9, 2) each(11, 2) each(13, 2)
#define PGI_MARCH_SIDES_3(each) each(3, 3) each(5, 3) each(7, 3) each(9, 3)

/* Targets that are marched through before a block is done, at most: what windows count on the way
 * lies in shared memory. */
#define PGI_MARCH_MOST 1024

/* Cells that a thread has, of which those of rank 1 are summed with more neighbours; sources that
 * it takes in one go, enough to keep memory busy. */
#define PGI_MARCH_CELLS(rank, singles) ((rank) == 1 && !(singles) ? 8 : 4)
#define PGI_MARCH_BATCH(rank, bytes)   ((rank) == 2 && (bytes) == 2 ? 4 : 2)

/* Of shared memory. */
#define PGI_MARCH_BANKS 32

/* Batches that are under way or at hand. */
#define PGI_MARCH_STAGES 3

/* Threads of a block at most: large windows need large tiles. */
#define PGI_MARCH_THREADS(rank, side) ((rank) == 3 && (side) > 3 ? 512 : 256)

/* Where channels lie side by side and W is marched along: every thread has two of them. */
#define PGI_CHANNELS_EACH    2
#define PGI_CHANNELS_BATCH   8
#define PGI_CHANNELS_THREADS 256

/* One of the three axes of a tile: the one that is marched along, its rows, its columns. Target t
 * takes sources t + shift, t + shift + 1, ...; both count from the first of their views. */
typedef struct pgi_cuda_march_axis {
    pgi_axis axis; /* for the counts of windows */
    int64_t sources, targets, shift;
    int64_t source_stride, target_stride;
    int64_t window; /* the first of the view, where windows are counted */
} pgi_cuda_march_axis;

/* What is like the rest, and neither summed nor in a tile. */
typedef struct pgi_cuda_march_outer {
    int64_t count, source_stride, target_stride;
} pgi_cuda_march_outer;

typedef struct pgi_cuda_march {
    pgi_cuda_march_axis march, row, column;
    pgi_cuda_march_outer inner, outer;
    int64_t source_begin; /* where the target's first batch and channel lie in the source */
    double alpha, beta;   /* rounded to the compute type */
    int forward;
    int divisor_rule; /* a poolgrad_divisor; 0: `divisor` for all */
    int64_t divisor;

    /* Columns are lanes side by side, and counted with them: column = place * lanes + lane. */
    int lanes;
    int by_lanes; /* a vector is of lanes that are summed with their like in other vectors */

    /* A tile: targets in rows and columns, and the sources they need in rows and in cells of a
     * row, which begin at a multiple of the vectors' width. */
    int rows, columns, source_rows, cells;
    int row_tiles, column_tiles;
    int segment; /* targets that a block marches through */

    /* Rank 1: rows are planes, and so many of them a step; 0 otherwise. */
    int64_t planes;
} pgi_cuda_march;

#endif
