/* SPDX-License-Identifier: MIT */
/*
 * A sweep reduces rows of source cells to rows of target cells, axis by axis, at a cost that grows
 * with the logarithm of the runs:
 *
 *     source rows --> planes --axis 0--> one plane --axis 1--> one row --axis 2--> target row
 *
 * It knows no element types, divisors or rules: the reduction is a kernel (addition for averages,
 * the better of two candidates for maxima), and whoever uses it loads the source rows and takes
 * the target rows as they come.
 */
#ifndef PGI_PLAN_SWEEP_H
#define PGI_PLAN_SWEEP_H

#include "plan/ladder.h"

/* How large a sweep is, at most, and where its parts lie in a workspace. */
typedef struct pgi_sweep_layout {
    int64_t lanes;      /* channels that are computed together, neighbours in a row */
    int64_t targets[3]; /* per axis */
    int64_t sources[3]; /* those that exist */
    int64_t reach[3];   /* with those that only a filled axis counts */
    int levels[3];      /* doublings, floor(log2(longest run)), of runs longer than PGI_RUN_ROWS */

    /* Offsets in bytes. */
    size_t cells;   /* sources[0] planes of sources[1] rows of sources[2] * lanes cells */
    size_t planes;  /* doubled planes of axis 0: levels[0] * reach[0] */
    size_t plane;   /* reduced over axis 0: a block of planes, or one if no runs overlap */
    int64_t block;  /* how many */
    size_t rows;    /* doubled rows of axis 1: levels[1] * reach[1] */
    size_t columns; /* rows of reach[2] * lanes: PGI_BLOCK_ROWS of them, or one and its doublings */
    size_t nothing; /* a row that changes nothing */
    size_t phase;   /* one phase of a target row */
    size_t result;  /* one target row */
    size_t pointers; /* to the planes and rows above */
    size_t phases;   /* of the targets on the last axis */
    size_t runs;     /* of the targets on axis 1 */
    size_t bytes;    /* all of it, a multiple of PGI_ALIGNMENT */
} pgi_sweep_layout;

/* The layout for regions of up to `targets` places; false if a size does not fit in 64 bits. */
bool pgi_sweep_measure(const pgi_gather gather[3], const int64_t targets[3], int64_t lanes,
                       size_t cell, pgi_sweep_layout *layout);

/* The targets of the last axis that follow each other `period` apart: the first `before` of them
 * have nothing within reach; the next `inside` have this run, each `advance` places on; the last
 * `after` have nothing again. In a clipped axis every target is its own phase, and only its run
 * counts. */
typedef struct pgi_phase {
    pgi_run run;
    int64_t before, inside, after;
} pgi_phase;

/* Most phases of a row that is left to whoever stores it. */
enum {
    PGI_PHASES = 4
};

/* A target row. */
typedef struct pgi_target_row {
    const char *cells; /* NULL: not reduced yet; place i is then what run i % phases gives at place
                          i / phases */
    pgi_rows run[PGI_PHASES];
    int phases;
} pgi_target_row;

/* A sweep at work. The first four are set by its user. */
typedef struct pgi_sweep {
    const pgi_gather *gather; /* three */
    const pgi_sweep_layout *layout;
    pgi_cells cells;
    char *workspace;

    int64_t begin[3], end[3]; /* targets */
    pgi_range reach[3];       /* sources that exist */
    pgi_range virtual[3];     /* and those that filled axes count beside them */
    int64_t lanes;
    pgi_ladder planes, rows;
    pgi_run *runs;       /* of axis 1, from begin[1] on */
    const char *columns; /* the row that is reduced along the last axis, padded */
    /* Target rows at hand, one for every padded row, and the columns that their runs are of (NULL:
     * none yet). */
    pgi_target_row made[PGI_BLOCK_ROWS];
    const char *described[PGI_BLOCK_ROWS];
    pgi_phase *phases;
} pgi_sweep;

/* Sets the region of targets, and then the number of lanes. */
void pgi_sweep_region(pgi_sweep *sweep, const int64_t begin[3], const int64_t end[3]);
void pgi_sweep_lanes(pgi_sweep *sweep, int64_t lanes);

/* Where source row (d, h), of reach[2] * lanes cells, is to be put. */
char *pgi_sweep_source_row(const pgi_sweep *sweep, int64_t d, int64_t h);

/* Reduces the row if that has not been done yet. */
const char *pgi_sweep_cells(const pgi_sweep *sweep, const pgi_target_row *made);

/* Gives every target row (d, h) in ascending order to `take`; cells and runs stay valid during the
 * call. */
typedef void pgi_take_fn(void *context, int64_t d, int64_t h, const pgi_target_row *made);
void pgi_sweep_run(pgi_sweep *sweep, pgi_take_fn *take, void *context);

#endif
