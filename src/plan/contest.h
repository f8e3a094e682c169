/* SPDX-License-Identifier: MIT */
/*
 * The winners of a region of windows: along W first, then H, then D,
 *
 *     x --admit--> rows --W--> one candidate per window and row --H--> per plane --D--> winners
 *
 * so that what comes first in every comparison comes first in row-major order, and "larger
 * replaces" is all there is to ties. A maximum does not change when a tap counts twice. So the ends
 * of an axis are extended by copies of positions that the same windows cover, and a window of any
 * length is few overlapping spans, which are made of shorter ones: the cost grows with the
 * logarithm of the window. Where lanes fill vectors long windows are swept, at a cost that does not
 * grow with them.
 */
#ifndef PGI_PLAN_CONTEST_H
#define PGI_PLAN_CONTEST_H

#include "plan/plan.h"

/* Cells that fill a vector of any level: of a row, or lanes that are taken together. */
#define PGI_FULL_VECTOR 16

/* Spans double in length at least. */
#define PGI_SPANS 40

/* Candidates in a workspace: where their values and their places begin, in bytes. */
typedef struct pgi_candidates {
    size_t values, places;
} pgi_candidates;

/* How an axis is reduced. */
typedef struct pgi_spans {
    bool regular;            /* all windows have one length, and copies at the ends if need be */
    bool nothing;            /* to be done: windows are positions */
    bool swept;              /* in one pass; then there are no others */
    int passes;              /* of a regular axis; of another, the doublings before the last */
    int64_t span[PGI_SPANS]; /* taps of a candidate before each pass, and after the last */
    int64_t targets, reach;  /* at most */
} pgi_spans;

/* Sizes, and where the parts lie in a workspace. */
typedef struct pgi_contest_layout {
    pgi_spans axis[3];
    int64_t lanes;
    int64_t chunk; /* rows that are reduced along W at once */
    bool apart;    /* winners are to be separated */
    bool joined;   /* lanes too few for vectors are cells of a row as others are, along W, too */
    size_t real;

    size_t admitted;                                                       /* values */
    pgi_candidates columns[PGI_SPANS], rows[PGI_SPANS], planes[PGI_SPANS]; /* spans of an axis */
    pgi_candidates winners, separated;
    size_t position, contender, base, copied; /* numbers */
    size_t bytes;                             /* a multiple of PGI_ALIGNMENT */
} pgi_contest_layout;

/* Whether planes are so small that several are taken together though they lie apart. */
bool pgi_planes_are_small(const pgi_problem *problem);

/* Lanes that a contest wants to have though they lie apart, or 1: where windows are all different,
 * far apart, or large and planes small, channels are what is alike. */
int64_t pgi_contest_lanes(const pgi_gather taps[3], const pgi_problem *problem);

/* The layout for regions of up to `targets` windows; false if a size does not fit. With `apart`
 * winners will be separated. */
bool pgi_contest_measure(const pgi_gather taps[3], const int64_t targets[3], int64_t lanes,
                         bool apart, poolgrad_dtype dtype, pgi_contest_layout *layout);

/* Whether a contest can count places as taps are: indices are taps, and windows are alike. */
bool pgi_counts_taps(const pgi_problem *problem);

/* Whether places are counted in 32 bits, in the plane and, if indices are taps, as a contest counts
 * them then; and taps, too. */
bool pgi_places_fit(const pgi_problem *problem);

/* Places are counted row-major in this box of the input, each as so many, or with the first axis
 * fastest; outside of it they are below 0. */
typedef struct pgi_box {
    int64_t begin[3], end[3];
    int64_t per_place;
    bool column_major;
} pgi_box;

/* How much a place of the box counts more than the one before it on an axis. */
static inline int64_t pgi_box_step(const pgi_box *box, int axis)
{
    int64_t step = box->per_place;
    int i;

    for (i = 0; i < 3; i++)
        if (box->column_major ? i < axis : i > axis)
            step *= box->end[i] - box->begin[i];
    return step;
}

/* A contest at work. The first six are set by its user. */
typedef struct pgi_contest {
    const poolgrad_plan *plan;
    bool tapped; /* places are counted as taps are: a row is as many as a window has columns, and
                    what lies between dilated taps is none; how far a place is from that of its
                    window's first tap is the tap. The box does not matter */
    const pgi_gather *taps; /* three */
    const pgi_tensor *tensor;
    const pgi_contest_layout *layout;
    char *workspace;

    pgi_box box;
    pgi_range windows[3];  /* of the region, those that may cover something */
    pgi_range extended[3]; /* positions of their taps, and their copies */
    pgi_range held[3];     /* positions that exist */
    bool empty;            /* no window covers anything */
    int64_t lanes, pitch;  /* cells from row to row of winners */
    int64_t joined;        /* lanes that columns have been set for, where these are of cells */
    int64_t lane_pitch;    /* from lane to lane, when they have been separated */
    char *values;          /* of windows[..].begin; rows follow each other */
    int32_t *places;       /* NULL: not wanted */
    bool nan;              /* there may be one */
} pgi_contest;

/* Sets the region of windows, begin < end. */
void pgi_contest_region(pgi_contest *contest, const int64_t begin[3], const int64_t end[3],
                        const pgi_box *box);

/* Finds the winners of the region; x is at the unit's batch and first channel. */
void pgi_contest_run(pgi_contest *contest, const char *x, int64_t lanes, bool placed);

/* The winners lane by lane, lane_pitch cells from one to the next. */
void pgi_contest_separate(pgi_contest *contest);

#endif
