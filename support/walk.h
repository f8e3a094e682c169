/* SPDX-License-Identifier: MIT */
/*
 * The windows of a problem and their taps, one at a time: what the oracles walk over. Straight from
 * the definition, independent of the library's own geometry.
 *
 *     sup_walk walk;
 *     sup_walk_begin(&walk, resolved, &resolved->y, &resolved->x);
 *     while (sup_walk_next(&walk))
 *         for (int64_t at = sup_walk_tap(&walk); at >= 0; at = sup_walk_tap(&walk))
 *             ... y[walk.window] and x[at] belong together
 */
#ifndef SUPPORT_WALK_H
#define SUPPORT_WALK_H

#include <poolgrad/poolgrad.h>
#include <stdint.h>

/* The taps of one window on one axis. */
typedef struct sup_taps {
    int64_t start; /* position of tap 0; may be negative */
    int64_t step;  /* between taps */
    int64_t first; /* taps first .. end-1 lie in the view of positions */
    int64_t end;   /* exclusive */
    int64_t count; /* what the divisor rule counts on this axis */
    int covers;    /* 1 if any tap lies in the whole input */
    int held;      /* 1 if all those that do lie in the view of positions too */
} sup_taps;

typedef struct sup_walk {
    const poolgrad_desc *desc;
    const poolgrad_view *windows;   /* dy or y */
    const poolgrad_view *positions; /* dx or x */

    /* the window */
    int64_t window;         /* in logical order of the view of windows */
    int64_t batch, channel; /* in the whole tensor */
    int covers;             /* 1 if it covers a position of the whole input */
    int held;               /* 1 if the view of positions has all it covers */
    int64_t count;          /* its divisor; means nothing if it covers nothing */
    sup_taps axis[3];       /* an axis past the rank has one tap, at 0 */

    /* the tap */
    int64_t position; /* in the whole plane: (d*H + h)*W + w */

    /* private */
    int64_t total;  /* windows */
    int64_t at[3];  /* the window on each axis */
    int64_t tap[3]; /* the tap on each axis */
    int64_t plane;  /* of the view of positions; -1: it has none for this batch and channel */
} sup_walk;

/* Both views belong to the resolved descriptor. Windows come in logical order of their view. */
void sup_walk_begin(sup_walk *walk, const poolgrad_desc *resolved, const poolgrad_view *windows,
                    const poolgrad_view *positions);
/* The next window, or 0 past the last. */
int sup_walk_next(sup_walk *walk);
/* The next tap that lies in the view of positions, in row-major order: its place in logical order
 * of that view, or -1 past the last. */
int64_t sup_walk_tap(sup_walk *walk);

/* Where position `position` of the plane of `batch` and `channel`, all counted in the whole tensor,
 * lies in logical order of a view of positions (dx or x), or -1 if it is not in it. */
int64_t sup_plane_place(const poolgrad_desc *resolved, const poolgrad_view *view, int64_t batch,
                        int64_t channel, int64_t position);

#endif
