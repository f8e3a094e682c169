/* SPDX-License-Identifier: MIT */
/* A tile of a max gradient at work, and its winners from indices. */
#ifndef PGI_PLAN_TRACE_H
#define PGI_PLAN_TRACE_H

#include "plan/melee.h"

/* Rows of windows, or of their cells where lanes are few, are joined to this many where they follow
 * each other. */
#define PGI_JOINED_WINDOWS 256

typedef struct pgi_scatter_parts {
    bool direct;                /* winners are found straight from x */
    pgi_contest_layout contest; /* if winners come from x: its winners are the places */
    pgi_arena_layout arena;     /* or this */
    bool apart;                 /* lanes are channels that lie apart, also in sums */
    bool award;                 /* positions take, windows do not give; */
    bool taps;                  /* by taps in bytes: as they lie in the indices, and then there are
                                   no places, or in `names`, */
    bool lists;                 /* as they are found where nothing is NaN */
    bool runs;                  /* neighbouring windows often have one winner */
    bool border;                /* windows overlap much, and tiles are not whole planes */
    int64_t at_once, room; /* not 0: so many windows of `axis` are dealt at a time, and sums are
                              kept of so many of its positions */
    int axis;
    bool in_place;              /* dy is dealt as it lies in memory: there are no terms */
    size_t places, terms, sums; /* of windows, of windows, of positions; where they take, terms are
                                   elements, and sums those of a row */
    size_t sums_end;            /* where windows give, all before it is 0 between tiles */
    size_t names;               /* those taps; places are then those of one plane of windows */
    size_t begin, width;        /* of windows: the columns that they cover; for taps, the column of
                                   their first, and how far down it is; */
    size_t further;             /* where all lanes are few, these are of cells, as is this: how much
                                   further their origins are */
} pgi_scatter_parts;

/*
 * A distance modulo `all` is compared with `some` without a division: distance * by modulo 2^32,
 * with by = 2^32 / all rounded up, is below some * by if the remainder is below `some`. For
 * distance = q * all + remainder the product is q * excess + remainder * by, where the excess is
 * all * by - 2^32; that is less than (remainder + 1) * by, and less than 2^32 - 1, if excess * (q +
 * 1) + 1 < by. Where q is 0 there is nothing to divide, and `by` is 1.
 */
typedef struct pgi_fraction {
    uint64_t by;
    bool exact;
} pgi_fraction;

typedef struct pgi_scatter {
    const poolgrad_plan *plan;
    const pgi_work *work;
    pgi_scatter_parts parts;
    pgi_contest contest; /* over the windows, if winners come from x; or */
    pgi_arena arena;
    pgi_unit unit;
    pgi_range windows[3];     /* that reach the tile */
    const char *dy, *indices; /* of the unit's batch and first channel */
    char *workspace;
    bool quick;                   /* rows of indices can be traced at once; then */
    bool bits;                    /* taps are bits, and distances from the first divided, or */
    pgi_fraction columns, planes; /* compared as fractions of rows, and of planes */
    int64_t lanes;                /* of the unit before */
    int64_t joined;     /* rows of windows whose columns are known, one behind the other */
    int64_t shift;      /* of places: so many are before the slice of the tile that has sums */
    pgi_range inner[3]; /* where positions take: on an axis, those whose windows are all there */
    int32_t *places;
    uint8_t *names;
    char *terms;
} pgi_scatter;

/* What every place counts: where windows give to lanes side by side, the sums that it has, so that
 * a place is where the first of them is. */
int64_t pgi_per_place(const pgi_scatter *scatter);

/* Where a position lies in the tile, or below 0 if outside; a place counts one. */
int32_t pgi_place_in_tile(const pgi_scatter *scatter, const int64_t position[3]);

/* Says that a new tile begins; its windows are known. */
void pgi_trace_tile(pgi_scatter *scatter);

/* The winners of all windows, given by indices; those that are none are reported and go nowhere.
 * Where there are no places they are only looked at. */
void pgi_trace_windows(const pgi_scatter *scatter);

/* The same for the unit at hand; lanes that lie apart are traced and kept lane by lane. */
void pgi_trace_winners(pgi_scatter *scatter, bool new_tile);

#endif
