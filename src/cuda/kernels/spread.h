/* SPDX-License-Identifier: MIT */
/* What the kernels are told whose windows tile. Shared by the host and the kernels. */
#ifndef PGI_CUDA_KERNELS_SPREAD_H
#define PGI_CUDA_KERNELS_SPREAD_H

#include "cuda/kernels/outer.h"
#include "cuda/kernels/quotient.h"

/* An axis: source i + shift goes to `side` targets from i * side on. */
typedef struct pgi_cuda_spread_axis {
    int side, shift, sources, targets;
    int64_t source_stride, target_stride;
} pgi_cuda_spread_axis;

typedef struct pgi_cuda_spread {
    pgi_cuda_spread_axis axis[3];

    /* A thread has a vector of channels of one window, or neighbouring windows of side 2. */
    unsigned groups; /* vectors of channels; or 1 */
    unsigned across; /* pieces of a row */
    unsigned rows;   /* of windows, of a plane */

    pgi_cuda_outer outer;
    double alpha, beta; /* rounded to the compute type */
    int64_t divisor;
} pgi_cuda_spread;

/* The same where rows, planes and images lie one behind the other, windows tile exactly and results
 * are stored as they are. Vectors of 16 bytes are counted over all rows: of channels of windows, or
 * of targets. */
typedef struct pgi_cuda_spread_dense {
    unsigned count;
    unsigned line;        /* vectors of a row */
    unsigned groups;      /* vectors of channels */
    unsigned side;        /* of windows, on W */
    unsigned rows, under; /* rows of targets, and of sources, of a plane */
    int deep;             /* windows have several planes */
    pgi_cuda_quotient by_line, by_groups, by_rows, by_deep, by_high; /* the last two: sides */

    int64_t source_begin, divisor;
} pgi_cuda_spread_dense;

/* Vectors that a thread has where channels do not lie side by side: as many loads are under way. */
#define PGI_SPREAD_TIMES 2

/* Targets of a row that a thread has where channels do not lie side by side: 16 bytes, so that a
 * warp stores without gaps. */
#define PGI_SPREAD_PLACES(bytes) (16 / (int)(bytes))

#endif
