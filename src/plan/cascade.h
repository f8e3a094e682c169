/* SPDX-License-Identifier: MIT */
/*
 * A cascade sums rows of a source to rows of a target, axis by axis, at a cost that grows with the
 * logarithm of the runs:
 *
 *     source planes --axis 0--> rows of one plane --axis 1--> one row --axis 2--> target row
 *
 * Rows are loaded or summed when they are needed and kept in rings no longer than the runs, so that
 * what is added is in the nearest cache. Whoever uses it loads the source rows and takes the rows
 * that are left to be summed along the last axis.
 */
#ifndef PGI_PLAN_CASCADE_H
#define PGI_PLAN_CASCADE_H

#include "plan/backend.h"

/* Target rows that are taken at once: so many that they stay in the nearest cache, and no more than
 * this; of long rows still a block. */
#define PGI_BATCH_ROWS 32
/* Sums of 16, 256, ... places: enough for any run. */
#define PGI_TIERS 15

static inline int64_t pgi_whole_vectors(int64_t reals)
{
    return (reals + PGI_ROW_REALS - 1) / PGI_ROW_REALS * PGI_ROW_REALS;
}

/* How one axis keeps its places. */
typedef struct pgi_stack_layout {
    int64_t slots; /* place i is in slot i modulo this */
    int tiers;     /* sums of 16, 256, ...; 0 for runs of up to PGI_LONG_RUN */
    size_t base;   /* in the workspace: slots for tier 0, if it is there, and the others */
} pgi_stack_layout;

/* How large a cascade is, at most, and where its parts lie in a workspace. */
typedef struct pgi_cascade_layout {
    int64_t lanes;    /* channels that are computed together, neighbours in a row */
    int64_t reach[3]; /* sources per axis, with those that only a filled axis counts */
    bool by_rows;     /* axis 0 adds nothing: rows are loaded one by one, not in planes */
    bool in_turns;    /* axis 2: targets a period apart have the same run, some places on, all of
                       * which are in a row; otherwise every target has its own */
    int tiers;        /* of axis 2 */
    bool lying;       /* sources are summed where they lie in memory */
    bool bare;        /* only rows that are summed over axis 1 have the zeros that axis 2 counts */
    int together;     /* target planes that are summed at once */
    int block;        /* likewise rows, where their runs begin one after the other; or 1 */
    int batch;        /* target rows that are taken at once */

    /* Offsets in bytes. */
    pgi_stack_layout planes, rows;
    size_t ring;    /* bytes from the rows of one target plane to those of the next */
    size_t summed;  /* a batch of rows summed over axis 1 */
    size_t nothing; /* a plane of zeros */
    size_t runs;    /* of the targets on axis 1 */
    size_t bytes;   /* all of it, a multiple of PGI_ALIGNMENT */
} pgi_cascade_layout;

/* The layout for regions of up to `targets` places; false if a size does not fit in 64 bits. With
 * `lying`, source rows are whole vectors of reals, one behind the other: where the layout says so,
 * too, they need not be loaded. */
bool pgi_cascade_measure(const pgi_gather gather[3], const int64_t targets[3], int64_t lanes,
                         size_t real, bool lying, pgi_cascade_layout *layout);

/* The places of one axis that are at hand. Tier 0 are the places as they were loaded, tier j
 * sums of 16^j of them, q apart. */
typedef struct pgi_stack {
    const pgi_gather *gather;
    pgi_range held;      /* places that exist */
    int64_t begin;       /* before that nothing is asked for; what is not held counts as 0 */
    int64_t slots, mask; /* mask: slots - 1 if that is a power of two, or 0 */
    int tiers;
    char *base;
    bool away;         /* tier 0 is not in the ring, but in memory: */
    const char *lying; /* the first place that is held, */
    int64_t step;      /* and bytes to the next */
    size_t bytes;      /* of a place in tier 0 */
    size_t gap;        /* behind tier 0: whole vectors are written */
    size_t sum_bytes;  /* of a place in the other tiers, which is whole vectors */
    int64_t reals;     /* that are summed; of what lies in memory nothing else may be read */
    int64_t made[PGI_TIERS + 1]; /* places before this are there */
} pgi_stack;

typedef struct pgi_cascade pgi_cascade;

/* Loads source rows [begin, end) of plane d: row h to pgi_cascade_source_row. */
typedef void pgi_load_rows_fn(void *context, int64_t d, int64_t begin, int64_t end);

/* Takes target rows (d, h), ..., (d, h + count - 1), not yet summed along the last axis. Column
 * place i of them, from virtual[2].begin on, is at i * lanes. They stay valid during the call. */
typedef void pgi_take_rows_fn(void *context, int64_t d, int64_t h, int count,
                              const void *const *rows);

/* A cascade at work. The first members are set by its user, the others zero at first. */
struct pgi_cascade {
    const pgi_gather *gather; /* three */
    const pgi_cascade_layout *layout;
    const pgi_kernels *kernels;
    char *workspace;
    pgi_load_rows_fn *load;
    pgi_take_rows_fn *take;
    void *context;
    const char *lying;  /* if the layout says so: the first source that exists, and */
    int64_t plane_step; /* bytes from plane to plane */

    int64_t begin[3], end[3]; /* targets */
    pgi_range reach[3];       /* sources that exist */
    pgi_range virtual[3];     /* and those that filled axes count beside them */
    int64_t lanes;
    int64_t pitch;        /* reals from row to row, before axis 1 is summed */
    int64_t margin;       /* of these, zeros before what exists: none if rows are bare */
    int64_t summed_pitch; /* likewise behind it */
    int64_t summed_margin;
    int64_t lacking; /* reals that axis 2 counts before what was summed over axis 1 */
    char *nothing;   /* zeros, as a row summed over axis 1 */
    int64_t plane;   /* the source plane that rows are loaded from, or the first of */
    int sums;        /* target planes that they are summed for together */
    pgi_stack planes, rows;
    pgi_run *runs; /* of axis 1, from begin[1] on */
};

/* Sets the region of targets and the number of lanes. */
void pgi_cascade_region(pgi_cascade *cascade, const int64_t begin[3], const int64_t end[3],
                        int64_t lanes);

/* A row that holds sums of 16^tier places from one on. */
typedef const char *pgi_tier_place_fn(void *context, int tier, int64_t place);

/* The sum of a run of places q apart, from such rows: as many of the highest tier as fit, behind
 * them up to 15 of each lower one. */
void pgi_sum_tiers(const pgi_kernels *kernels, pgi_tier_place_fn *at, void *context, pgi_run run,
                   int64_t q, int tier, char *to, int64_t reals);

/* Where source row (d, h), from reach[2].begin on, is to be put, behind its margin; the next row is
 * a pitch away if it is held and its slot is the next. */
char *pgi_cascade_source_row(const pgi_cascade *cascade, int64_t d, int64_t h);

/* How many source rows from h on lie one pitch apart. */
int64_t pgi_cascade_rows_together(const pgi_cascade *cascade, int64_t h);

/* Gives all target rows in ascending order to `take`. */
void pgi_cascade_run(pgi_cascade *cascade);

#endif
