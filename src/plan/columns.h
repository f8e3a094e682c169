/* SPDX-License-Identifier: MIT */
/*
 * The last axis of a cascade, where a place is a group of lanes and rows are shifts of one row. The
 * common shapes are left to the kernels that store; others are summed here, row by row.
 */
#ifndef PGI_PLAN_COLUMNS_H
#define PGI_PLAN_COLUMNS_H

#include "plan/cascade.h"
#include "plan/placement.h"

/* Who sums. */
typedef enum pgi_columns_way {
    PGI_BY_ROWS,      /* pgi_columns_sum, row by row */
    PGI_IN_TURNS,     /* the kernel finish, by `last` */
    PGI_BEHIND_HEADS, /* likewise, row by row, after pgi_columns_tiers */
    PGI_BY_PLACES,    /* likewise, place by place, by pgi_columns_place(s) */
    PGI_BY_PICKS      /* the kernel finish_picks, by `picks` */
} pgi_columns_way;

typedef struct pgi_columns {
    const pgi_cascade *cascade;
    pgi_columns_way way;
    pgi_last_axis last;
    pgi_picks picks;
    int64_t turns; /* targets with runs of their own; the others repeat them, a place further on */
    pgi_run *runs; /* of those */
    int tiers;
    char *sums;      /* rows of sums of 16, 256, ... columns */
    char *turn;      /* a row of the targets of one turn */
    char *result;    /* a row of all targets */
    int64_t *firsts; /* of picks */
    int32_t *picked; /* likewise */
} pgi_columns;

/* Makes room for it. */
void pgi_columns_measure(const pgi_gather *gather, int64_t targets,
                         const pgi_cascade_layout *cascade, int64_t real, pgi_placement *at);

/* For the region of a cascade. */
void pgi_columns_region(pgi_columns *columns, const pgi_cascade *cascade, char *room);

/* Makes the tiers of a row. */
void pgi_columns_tiers(const pgi_columns *columns, const void *row);

/* What sums place i of the targets, its lanes alone. */
pgi_last_axis pgi_columns_place(const pgi_columns *columns, int64_t i);

/* Sums `count` rows place by place, with `finish`, to elements of `size` bytes; what is ahead is
 * fetched meanwhile. */
void pgi_columns_places(const pgi_columns *columns, pgi_finish_fn *finish, char *to, int64_t pitch,
                        size_t size, const void *const *rows, int count, double alpha, bool stream,
                        pgi_ahead ahead);

/* A row of a cascade summed along the last axis: places * lanes reals. */
const char *pgi_columns_sum(const pgi_columns *columns, const void *row);

#endif
