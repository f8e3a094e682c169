/* SPDX-License-Identifier: MIT */
/* What windows are divided by, row by row: integers and their reciprocals, made once and kept,
 * since the rows of a plane have few different ones. */
#ifndef PGI_PLAN_DIVISORS_H
#define PGI_PLAN_DIVISORS_H

#include "plan/backend.h"
#include "plan/placement.h"

/* Rows of divisors that are kept: those of the first, middle and last rows of planes differ, in
 * each of two directions. */
#define PGI_DIVISOR_ROWS 9

typedef struct pgi_divisor_rows {
    const pgi_problem *problem;
    size_t real;          /* bytes */
    pgi_range windows[3]; /* those at hand */
    int64_t *counts[3];   /* of them, axis by axis */
    bool uniform;         /* one divisor for all windows of a row */
    char *room;
    struct {
        int64_t outer; /* what they have of the other axes; 0: none are there */
        pgi_divisors by;
    } known[PGI_DIVISOR_ROWS];
    int next; /* the one that makes room for others */
} pgi_divisor_rows;

/* The quickest way to divide by all of some counts, each multiplied with `outer`. */
pgi_division pgi_division_by(const int64_t *counts, int64_t number, int64_t outer);

/* Element `at` of arrays of reals: a count and the two parts of its reciprocal (PGI_QUOTIENT). */
void pgi_divisor_make(int64_t count, size_t real, int64_t at, void *divisor, void *high, void *low);

/* Makes room for up to so many windows. */
void pgi_divisors_measure(const int64_t windows[3], int64_t real, pgi_placement *at);

/* For some windows. */
void pgi_divisors_region(pgi_divisor_rows *rows, const pgi_problem *problem, size_t real,
                         const pgi_range windows[3], char *room);

/* What all divisors of row (d, h) have in common: the counts on the other axes, multiplied. */
int64_t pgi_divisors_outer(const pgi_divisor_rows *rows, int64_t d, int64_t h);

/* The divisors of such a row, from its first window on; kept until PGI_DIVISOR_ROWS others have
 * been asked for. One for all is there PGI_ROW_REALS times. */
const pgi_divisors *pgi_divisors_of(pgi_divisor_rows *rows, int64_t outer);

/* Those of rows (d, h), (d, h + 1), ...: of as many of `count` as are kept at once, up to
 * PGI_DIVISOR_ROWS; how many that is. */
int64_t pgi_divisors_of_rows(pgi_divisor_rows *rows, int64_t d, int64_t h, int64_t count,
                             const pgi_divisors *by[PGI_DIVISOR_ROWS]);

/* The one divisor of window w of such a row, and how many windows from there on have the same. */
int64_t pgi_divisors_alike(const pgi_divisor_rows *rows, int64_t w, pgi_divisors *by);

#endif
