/* SPDX-License-Identifier: MIT */
/*
 * How the separable strategy cuts dx into tiles, and where a tile's intermediate rows lie in the
 * workspace. A tile is a box of dx; it is computed from the windows that reach it and nothing
 * else, so tiles are independent and their borders change no bit.
 */
#ifndef PGI_PLAN_TILING_H
#define PGI_PLAN_TILING_H

#include "core/problem.h"

typedef struct pgi_tiling {
    int64_t lanes;     /* channels that are computed together, neighbours in a row; 1 in NCX */
    int64_t extent[3]; /* positions of a tile per axis; the last one may be smaller */

    int64_t tiles[3], blocks; /* how many tiles per axis, and blocks of lanes */

    /* At most, for a tile of that extent: */
    int64_t windows[3]; /* windows that exist and reach it */
    int64_t reach[3];   /* the same with the windows outside the output that a filled axis counts */
    int levels[3];      /* doublings needed: floor(log2(longest run)) */

    /* Offsets in bytes into a task's workspace. */
    size_t terms;    /* windows[0] planes of windows[1] rows of windows[2] * lanes reals */
    size_t planes;   /* doubled planes of axis 0: levels[0] * reach[0] */
    size_t plane;    /* the sum over axis 0, one plane */
    size_t rows;     /* doubled rows of axis 1: levels[1] * reach[1] */
    size_t columns;  /* levels[2] + 1 rows of reach[2] * lanes: a row and its doublings */
    size_t phase;    /* one phase of a row of dx */
    size_t sums;     /* one row of dx before it is stored */
    size_t divisors; /* one row of divisors, windows[2] reals */
    size_t pointers; /* to the planes and rows above */
    size_t runs;     /* of the tile's positions on the last axis */
    size_t counts;   /* of the tile's windows on the last axis */
    size_t bytes;    /* all of it */
} pgi_tiling;

/* Cuts such that a tile's workspace stays in cache where that costs little, and there is work for
 * `threads`. False if a size does not fit in 64 bits. */
bool pgi_tiling_choose(const pgi_problem *problem, int32_t threads, pgi_tiling *tiling);

/* Number of units: tiles * batch * blocks. */
int64_t pgi_tiling_units(const pgi_problem *problem, const pgi_tiling *tiling);

#endif
