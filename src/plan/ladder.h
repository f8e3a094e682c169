/* SPDX-License-Identifier: MIT */
/* The rows of one axis of a sweep, and for long runs their doublings. */
#ifndef PGI_PLAN_LADDER_H
#define PGI_PLAN_LADDER_H

#include "plan/backend.h"

/* The rows (or planes) of one axis. Those in `held` lie one behind the other at `base`; the others
 * change nothing. For long runs there are doublings as well: row[level * length + (place - begin)],
 * NULL for a row that changes nothing. */
typedef struct pgi_ladder {
    pgi_range held;
    const char *base;
    int64_t cells; /* of a row */
    size_t bytes;

    const char **row;
    int64_t begin, length, q;
} pgi_ladder;

/* From the piece of 2^level places of a run to the next smaller one; 0 if it is the last. */
static inline int64_t pgi_next_piece(int64_t count, int level, int64_t q)
{
    return count & ((INT64_C(1) << level) - 1) ? q << level : 0;
}

/* A row as it was loaded or reduced before; NULL: it changes nothing. */
static inline const char *pgi_ladder_row(const pgi_ladder *ladder, int64_t place)
{
    if (place < ladder->held.begin || place >= ladder->held.end)
        return NULL;
    return ladder->base + (size_t)(place - ladder->held.begin) * ladder->bytes;
}

/* Level 0, and the others: P[j+1](o) = P[j](o) + P[j](o + q * 2^j), in `storage` where both are
 * there. */
void pgi_ladder_double(pgi_ladder *ladder, int levels, char *storage, const pgi_cells *cells);

/* A long run reduced: a row of the ladder or `target`; NULL if nothing is in it. */
const char *pgi_ladder_reduce(const pgi_ladder *ladder, pgi_run run, char *target,
                              pgi_combine_fn *combine);

#endif
