/* SPDX-License-Identifier: MIT */
/* What kernels are told that find the sources of a target in a table and go through the planes with
 * them. Shared by the host and the kernels. */
#ifndef PGI_CUDA_KERNELS_NEAR_H
#define PGI_CUDA_KERNELS_NEAR_H

#include <stdint.h>

#define PGI_CUDA_ABSENT INT32_MIN

/* A place of the target on one axis. */
typedef struct pgi_cuda_entry {
    int offset[2]; /* of its first two sources, in elements from the first of the view; ABSENT */
    int count[2];  /* what these windows count, of an average gradient */

    /* Max: forward, how many taps the window has, the first being offset[0], and the place of that.
     * Of a gradient, which of the two windows has its first tap here (-1: none), and its taps. */
    int taps;
    int first;
} pgi_cuda_entry;

typedef struct pgi_cuda_near {
    uint64_t entries[3]; /* addresses of those of the three spatial axes */
    unsigned extent[3];
    int stride[3]; /* of the target */

    /* A thread has neighbours of the target: places of `grouped` planes that lie one behind the
     * other, or channels of a place, in `groups` vectors. It goes through the planes, `grouped` at
     * a time, or the images with them. */
    unsigned inner; /* threads with work */
    unsigned plane; /* places */
    unsigned groups, grouped;
    unsigned outer;
    unsigned fast; /* outer = slow * fast + rest, in all tensors; 0: one stride does */
    int64_t source_slow, source_fast, target_slow, target_fast;
    int64_t source_plane, target_plane; /* from plane to plane, if several are grouped */

    /* Spans: a thread has V places of a row that begins at an even one, W has stride 2, and its
     * sources lie side by side: the first of them is that many behind half the place. */
    int span_shift;
    int span_late; /* the even places have two sources, not the odd ones */
    int span_sources;

    double alpha, beta; /* rounded to the compute type */
    int forward;
    int uniform;     /* one divisor for all windows */
    int64_t divisor; /* that; forward, else, an override or 0 */

    /* Max: an index is `origin`, and a step for every place, channel, and plane or image. */
    int64_t origin, place_step[3], lane_step, index_slow, index_fast, index_plane;
    int64_t tap_step[3]; /* from tap to tap of a window */
    int nan;             /* a poolgrad_nan */
    int no_winner;       /* -1 is an index */
    int checks;          /* indices are checked, by the position that covers their window first */
    int64_t windows;     /* of a plane, and channels, to say which index is bad */
    int64_t channels;    /* 0: the windows of a plane lie together */
} pgi_cuda_near;

#endif
