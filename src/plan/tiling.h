/* SPDX-License-Identifier: MIT */
/*
 * How the target is cut into tiles. A tile is a box of the target for a block of channels; it is
 * computed from what reaches it and nothing else, so tiles are independent and their borders
 * change no bit.
 */
#ifndef PGI_PLAN_TILING_H
#define PGI_PLAN_TILING_H

#include "core/problem.h"

#include <stddef.h>

/* What the workspace of a tile should not exceed: most of a core's second-level cache, which has
 * 0.5 to 2 MiB today. */
#define PGI_COMFORTABLE_BYTES (INT64_C(512) << 10)

typedef struct pgi_tiling {
    int64_t comfortable;      /* bytes */
    int64_t lanes;            /* channels of a block, neighbours in a row; 1 in NCX */
    int64_t extent[3];        /* places of a tile per axis; the last one may be smaller */
    int64_t tiles[3], blocks; /* how many of them */
    int64_t least_lanes;  /* of a block if channels are cut, where a layout wants more than most */
    int64_t vector_bytes; /* of the machine's vectors, where a layout asks */
    bool sliced;          /* a tile is made slice by slice, where a layout asks */
} pgi_tiling;

/* One piece of work: a tile for one batch index and one block of channels. */
typedef struct pgi_unit {
    int64_t tile;             /* which; units of one tile follow each other */
    int64_t begin[3], end[3]; /* of the tile, in the whole tensor */
    int64_t batch, channel;   /* in the target view */
    int64_t lanes;
} pgi_unit;

/* Parts of a task's workspace that a strategy tells apart. */
#define PGI_ROOMS 4

/* Lays out the workspace for tiles of this size: returns its bytes, a multiple of PGI_ALIGNMENT, or
 * a negative number if they do not fit in 64 bits. */
typedef int64_t pgi_layout_fn(const pgi_problem *problem, const pgi_tiling *tiling,
                              size_t room[PGI_ROOMS]);

/* Cuts such that the workspace is comfortable where that costs little, and there is work for
 * `threads`; the target is not empty. What is comfortable `tiling` says, and of how many lanes a
 * block is where channels lie apart. False if no cut fits in 64 bits. */
bool pgi_tiling_choose(const pgi_problem *problem, int32_t threads, pgi_layout_fn *lay_out,
                       pgi_tiling *tiling);

/* Whether channels lie closer together than the places of the last axis. */
bool pgi_channels_inside(const pgi_tensor *tensor);

int64_t pgi_tiling_units(const pgi_problem *problem, const pgi_tiling *tiling);

/* The index-th unit, and the one after a unit (which must not be the last). */
pgi_unit pgi_tiling_unit(const pgi_problem *problem, const pgi_tiling *tiling, int64_t index);
void pgi_tiling_next(const pgi_problem *problem, const pgi_tiling *tiling, pgi_unit *unit);

#endif
