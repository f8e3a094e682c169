/* SPDX-License-Identifier: MIT */
/* What the marching kernels are told. Shared by the host and the kernels. */
#ifndef PGI_CUDA_KERNELS_MARCH_H
#define PGI_CUDA_KERNELS_MARCH_H

#include "core/axis.h"
#include "cuda/kernels/quotient.h"

/* Sides of windows that there are kernels for, by rank. */
#define PGI_MARCH_SIDES_1(each) each(3, 1) each(5, 1) each(7, 1) each(9, 1) each(25, 1)
#define PGI_MARCH_SIDES_2(each)                                                                    \
    each(2, 2) each(3, 2) each(5, 2) each(7, 2) each(9, 2) each(11, 2) each(13, 2)
#define PGI_MARCH_SIDES_3(each) each(3, 3) each(5, 3) each(7, 3) each(9, 3)

/* Targets that are marched through in one go, at most: what windows count on the way lies in shared
 * memory. */
#define PGI_MARCH_MOST 1024

/* A block's threads and the cells of each, which together are a tile: large windows need large
 * tiles, and long rings take many registers. Steps that are taken in one go, and of how many
 * batches of them the sources are under way or at hand. */
#define PGI_MARCH_THREADS(rank, side) ((rank) == 3 && (side) > 3 ? 384 : 256)
#define PGI_MARCH_CELLS(rank, real)   ((rank) == 2 || (real) == 8 ? 4 : 8)
#define PGI_MARCH_BATCH(rank, side)   ((rank) == 2 && (side) > 3 ? 4 : 2)
#define PGI_MARCH_STAGES(rank, side)  ((rank) == 3 && (side) > 3 ? 2 : 3)

/* Rows of a tile that a thread sums at once in rank 3. */
#define PGI_MARCH_ROWS(side) ((side) > 3 ? 8 : 4)

/* Elements that are fetched at once, and stored. */
#define PGI_MARCH_FETCHED(bytes) ((bytes) == 8 ? 2 : 4)
#define PGI_MARCH_STORED(bytes)  (16 / (bytes))

/* Where channels lie side by side and W is marched along: every thread has two of them. */
#define PGI_CHANNELS_EACH    2
#define PGI_CHANNELS_BATCH   8
#define PGI_CHANNELS_THREADS 256

/* Where rows lie one behind the other and are marched along in shared memory: elements of a vector,
 * vectors that a run needs on either side, and threads of a block. */
#define PGI_ROWS_VECTOR(bytes) (16 / (int)(bytes))
#define PGI_ROWS_BESIDE(side, bytes)                                                               \
    (((side) / 2 + PGI_ROWS_VECTOR(bytes) - 1) / PGI_ROWS_VECTOR(bytes))
#define PGI_ROWS_THREADS 64
#define PGI_ROWS_MOST    128

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

/* How sums along a row are made and stored. */
typedef enum pgi_march_shape {
    PGI_MARCH_NEIGHBOURS, /* a piece of neighbours, which share what they can */
    PGI_MARCH_LANES,      /* a piece of lanes, each with its like further on */
    PGI_MARCH_SINGLES     /* one by one */
} pgi_march_shape;

/* The target of a single: where its run begins in a tile, and where it goes; from < 0: nowhere. */
typedef struct pgi_march_single {
    int from, to;
} pgi_march_single;

typedef struct pgi_cuda_march {
    pgi_cuda_march_axis march, row, column;
    pgi_cuda_march_outer inner, outer;
    int64_t source_begin; /* where the target's first batch and channel lie in the source */
    double alpha, beta;   /* rounded to the compute type */
    int forward;
    int divisor_rule; /* a poolgrad_divisor; 0: `divisor` for all */
    int64_t divisor;
    int volume; /* of a window: the largest count */

    /* Columns are lanes side by side, and counted with them: column = place * lanes + lane. */
    int lanes;
    int pieces; /* sources can be fetched by pieces, not one by one */

    /* A tile: targets in rows and columns, and the sources they need, in rows so far apart. Before
     * the first that is needed come `lead` others, for the sake of pieces. */
    int rows, columns, source_rows, pitch, lead;
    int row_tiles, column_tiles;

    int64_t share; /* targets that a block marches through, of one tile after the other */
    int segment;   /* where no tiles are: of one row */

    /* Rank 1: rows are planes, and so many of them a step; 0 otherwise. */
    int64_t planes;

    /* In shared memory, behind the sources: where tiles lie, before and after the rows' stage;
     * inverses of all counts; what cells count, and steps; where single sources and targets are. */
    int cells_at, summed_at, inverses_at, counts_at, steps_at, sources_at, singles_at;

    /* Rows in shared memory: `segment` and `pitch` are in vectors, which a row has so many of. */
    pgi_cuda_quotient by_row;
} pgi_cuda_march;

#endif
