/* SPDX-License-Identifier: MIT */
/*
 * What kernels are told that do max pooling with stride 2 and windows of 2 or 3 a cell at a time.
 * Cell j of an axis is the two positions 2j - pad and 2j - pad + 1: window j begins there, and
 * windows j - 1 and j, no others, reach it. Shared by the host and the kernels.
 */
#ifndef PGI_CUDA_KERNELS_CELL_H
#define PGI_CUDA_KERNELS_CELL_H

#include "cuda/kernels/quotient.h"

#include <stdint.h>

/* What names winners. Codes are bytes, of winners found in x or made of indices: the taps on D, H
 * and W, two bits each. */
typedef enum pgi_cell_names {
    PGI_CELL_CODES,
    PGI_CELL_32,
    PGI_CELL_64
} pgi_cell_names;

/* Elements that a thread has side by side, by their bytes: 16 bytes of a row; of channels no more
 * than there are registers for, which depends on the axes with cells and the bytes of names. */
#define PGI_CELL_ROW_WIDTH(element) (16 / (element))
#define PGI_CELL_WIDTH(element)     ((element) == 8 ? 2 : 4)
#define PGI_CELL_MAXIMUM_WIDTH(axes, element)                                                      \
    ((axes) == 3 ? 8 / (element) : PGI_CELL_WIDTH(element))
#define PGI_CELL_GRADIENT_WIDTH(axes, element, name)                                               \
    ((axes) == 3 || (name) == 8 ? 2 : PGI_CELL_WIDTH(element))

/* Where elements of a tensor lie. Places of a plane, or of an image, are 32 bits apart at most. */
typedef struct pgi_cuda_cell_strides {
    int64_t batch, channel;
    int place[3];
} pgi_cuda_cell_strides;

typedef struct pgi_cuda_cell {
    /* The axes. One that is not pooled is D, with cells of one position and one window, or of one
     * position, which a window of H or W has among taps that are not there. */
    int in[3], out[3], pad[3], cells[3];
    int area; /* places of H and W */
    pgi_cuda_quotient by_channels;

    /* Of x or dx, of y or dy, of indices; of x in the place of these where winners are found as
     * they are answered. */
    pgi_cuda_cell_strides positions, windows, names;
    int vectors; /* neighbours of positions, or channels, make vectors in all tensors */
    int pairs;   /* channels first: so do the half as many windows */

    /* Threads: `inner` of them have places of `members` planes, or of an image; they go through
     * `outer` of these. They go through a segment of `length` cells, or windows, of an axis. */
    unsigned inner, outer, members, groups, segments, length;
    unsigned planes, channels;

    double alpha, beta;                         /* rounded to the compute type */
    int plain;                                  /* 1 and 0 */
    int kind;                                   /* a pgi_cell_names */
    int64_t origin, index_batch, index_channel; /* index = place + these */
    int nan;                                    /* a poolgrad_nan */
    int no_winner;                              /* -1 is an index */
    int checks;                                 /* indices are checked */
} pgi_cuda_cell;

#endif
