/* SPDX-License-Identifier: MIT */
/* What kernels are told that hold planes of max pooling in shared memory. Shared by the host and
 * the kernels. */
#ifndef PGI_CUDA_KERNELS_PLANE_H
#define PGI_CUDA_KERNELS_PLANE_H

#include "cuda/kernels/quotient.h"

#include <stdint.h>

/* Forward: windows side by side that a thread finds the winners of. */
#define PGI_PLANE_RUN 7

/* The same where a lane has a plane: winners' taps in a row then make a word, 4 bits each. */
#define PGI_PLANE_LANES_RUN 8

/* Warps of a block of such lanes, at most. */
#define PGI_PLANE_LANES_WARPS 24

/* Windows that are added together, backward, and places that are loaded together, forward. */
#define PGI_PLANE_GROUP 4

/* Backward: warps that add and that fetch, and windows that a thread fetches together at most. */
#define PGI_PLANE_ADDERS   4
#define PGI_PLANE_FETCHERS 12
#define PGI_PLANE_BATCH    4

/* Where winners collect: planes of a block and threads for each; winners of a plane that are
 * listed; rows that windows have at most, a bit each; and windows that a winner looks at together.
 */
#define PGI_COLLECT_MEMBERS 2
#define PGI_COLLECT_SHARE   64
#define PGI_COLLECT_LISTED  256
#define PGI_COLLECT_ROWS    16
#define PGI_COLLECT_AT_ONCE 8

/* Where elements of a tensor lie. Rows are those of H, of all D. */
typedef struct pgi_cuda_strides {
    int64_t batch, channel;
    int row, column; /* all distances in a plane fit in an int */
    int interleaved; /* neighbours in memory are of different planes */
} pgi_cuda_strides;

/* One of the planes of a block. */
typedef struct pgi_member {
    unsigned number; /* of the plane */
    int exists;
    int64_t source, target; /* offsets of its first elements */
    int64_t base;           /* the index of its first place */
} pgi_member;

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

    int members; /* planes of a block, a power of two */
    int last;    /* the last axis whose windows have more than a position */

    /* Forward. Windows of an axis are found PGI_PLANE_RUN at a time, so many times, or 0. Lines of
     * an axis in shared memory, and elements from one to the next; from plane to plane those of the
     * first and the last axis, and of the one between them. */
    int runs[3], lines[3], line_pitch[3], member_pitch[2];

    /* Backward. Whether D has one position and one window; rows of places, and of windows; columns
     * of dx that a thread adds for. A chunk is some rows of windows, or one of the pieces of a row;
     * windows have slots in it, a whole number of groups in each of its rows. */
    int flat, place_rows, window_rows, band;
    int turns, chunk_rows, pieces, row_slots, slots;
    int slot_pitch; /* from member to member: an odd number of 16 bytes; where winners collect,
                     * windows of a member, in whole vectors */

    /* Quotients by in[2], in[1], out[2], out[1], lines, groups of a row, and row_slots. */
    pgi_cuda_quotient by_in[2], by_out[2], by_lines[3], by_groups, by_row_slots;
} pgi_cuda_plane;

#endif
