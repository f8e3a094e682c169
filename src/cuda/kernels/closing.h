/* SPDX-License-Identifier: MIT */
/* What kernels are told that find winners by closing planes. Shared by the host and the kernels. */
#ifndef PGI_CUDA_KERNELS_CLOSING_H
#define PGI_CUDA_KERNELS_CLOSING_H

#include "cuda/kernels/plane.h"

/* Planes of a block, rows and columns of a plane, and rows of a window, at most: a winner is named
 * in a word. */
#define PGI_CLOSING_MEMBERS 8
#define PGI_CLOSING_EXTENT  256
#define PGI_CLOSING_SIDE    13

/* Groups of planes that a block has one after the other, at most: two bits of each in a word. */
#define PGI_CLOSING_TURNS 16

/* Bytes of shared memory for what is no key, on no list, and no term. */
#define PGI_CLOSING_FIXED 256

typedef struct pgi_cuda_closing {
    unsigned planes, channels; /* planes = batch * channels */
    unsigned blocks;           /* that have them, in turn where fewer are there */
    int rows, columns, places; /* of a plane, with as many windows */
    pgi_cuda_strides x, dy, dx;
    int dy_vectors, dx_vectors; /* their planes are whole vectors */
    int nan;                    /* a poolgrad_nan */

    int members;   /* planes of a block, a power of two */
    int tasks;     /* threads that have columns of a plane */
    int list_room; /* bytes of the list of winners, with their keys */

    /* In shared memory keys lie row by row and column by column, with what windows reach beyond
     * lines: from line to line, and from plane to plane. Terms take the place of columns. */
    int row_pitch, column_pitch, row_room, column_room, term_room;

    /* Where terms lie if the copy engine brings them, as in dy: planes side by side; and a row of
     * zeros for dx. x is brought to where columns lie, which is a multiple of 128 there. */
    int stage, zeros;

    pgi_cuda_quotient by_rows, by_columns;
} pgi_cuda_closing;

#endif
