/* SPDX-License-Identifier: MIT */
/*
 * The winners of windows of few taps, straight from x: all taps of a window compete at once, in the
 * kernel `melee`. An arena is the region of windows that it is asked for: those of an axis are cut
 * into stretches of such that are alike, and of a stretch on every axis all windows are found by
 * one call. Where windows share planes of x, that is done once for each of these, a layer, and the
 * layers of a window meet in a final.
 */
#ifndef PGI_PLAN_MELEE_H
#define PGI_PLAN_MELEE_H

#include "plan/contest.h"
#include "plan/placement.h"

/* Windows [begin, end) of an axis: the taps that each has, the first of the first of them, and how
 * much further on that of the next is. */
typedef struct pgi_stretch {
    int64_t begin, end, taps, first, step;
} pgi_stretch;

typedef struct pgi_arena_layout {
    size_t stretches[3];
    pgi_candidates kept;   /* three rows */
    bool layered;          /* windows share planes of x: what is best in each of these is held in */
    pgi_candidates layers; /* as many layers as windows have planes */
    size_t bytes;
} pgi_arena_layout;

/* Whether it is for windows with these taps, rows of at least `targets` of them, and x. */
bool pgi_arena_suits(const pgi_gather taps[3], int64_t targets, int64_t lanes, const pgi_tensor *x);

/* Whether the taps of all windows can be counted in bytes. */
bool pgi_taps_are_bytes(const pgi_gather taps[3]);

/* The layout, from `at` on in a workspace, for up to so many windows. */
pgi_arena_layout pgi_arena_measure(const pgi_gather taps[3], const int64_t targets[3],
                                   int64_t lanes, size_t real, pgi_placement *at);

typedef struct pgi_arena {
    const poolgrad_plan *plan;
    const pgi_gather *taps; /* three */
    const pgi_tensor *tensor;
    const pgi_arena_layout *layout;
    char *workspace;

    bool tapped; /* set by its user: places are taps of their windows; */
    pgi_box box; /* else they are counted in this box; what lies outside has places below 0 */
    pgi_range windows[3]; /* of the region */
    pgi_stretch *stretches[3];
    int64_t count[3];

    const char *x;      /* of the unit */
    int64_t lanes, row; /* cells of a row of windows */
    int64_t next;       /* the first plane of x that has no layer yet */
    bool nan[PGI_LAYERS];
} pgi_arena;

/* Sets the windows that it will be asked for, begin < end. */
void pgi_arena_region(pgi_arena *arena, const int64_t begin[3], const int64_t end[3],
                      const pgi_box *box);

/* Says that a new unit begins; x is at its batch and first channel. */
void pgi_arena_enter(pgi_arena *arena, const char *x, int64_t lanes);

/* Winners of `rows` rows of windows from (d, h) on, all columns of the region, one row behind the
 * other. Planes are asked for in ascending order. Values or places may be NULL, but then for all of
 * a unit. */
void pgi_arena_rows(pgi_arena *arena, int64_t d, int64_t h, int64_t rows, char *values,
                    int32_t *places);

/* Likewise, of lanes that fill a cache line with elements at least, to lists that begin with the
 * first window asked for. False if a tap is NaN or a window has none, or taps differ from window to
 * window: then they are of no use, and winners to be found by pgi_arena_rows. */
bool pgi_arena_lists(const pgi_arena *arena, int64_t d, int64_t h, int64_t rows,
                     const pgi_lists *lists);

#endif
