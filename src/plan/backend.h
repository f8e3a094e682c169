/* SPDX-License-Identifier: MIT */
/*
 * What a plan asks of the machine: kernels that know no geometry, threads, and the readable
 * reference. src/cpu implements it; a strategy sees nothing else of a backend.
 */
#ifndef PGI_PLAN_BACKEND_H
#define PGI_PLAN_BACKEND_H

#include "core/problem.h"

#include <stdatomic.h>

/* alpha and beta as the arithmetic uses them: already rounded to the compute type. */
typedef struct pgi_scale {
    double alpha, beta;
} pgi_scale;

/*
 * Kernels. A "real" is the compute type of the element type (f64 for f64, else f32). A step is a
 * distance in elements. Ranges that are written overlap no other unless it says so.
 */

/* reals[i] = from[i * from_step] */
typedef void pgi_widen_fn(void *reals, const void *from, int64_t from_step, int64_t count);

/* Groups of lanes anywhere in memory: lane l of place p of line n is n * line_step +
 * p * place_step + l * lane_step elements from the first. */
typedef struct pgi_groups {
    int64_t lines, places, lanes;
    int64_t line_step, place_step, lane_step;
} pgi_groups;

/* Groups from reals, those of a line one behind the other, lines a pitch apart:
 * to[i] = alpha * reals[i] + beta * to[i], rounded as docs/arithmetic.md says; with beta 0 `to` is
 * not read. With `stream` the memory is not expected to be read soon. */
typedef void pgi_store_fn(void *to, const pgi_groups *groups, const void *reals, int64_t pitch,
                          const pgi_scale *scale, bool stream);

/* to[i * times + t] = alpha * reals[i], rounded to an element, for every t in [0, times). */
typedef void pgi_repeat_fn(void *to, const void *reals, int64_t times, int64_t count, double alpha);

/* Copies bytes. With `stream` the memory is not expected to be read soon. */
typedef void pgi_copy_fn(void *to, const void *from, int64_t bytes, bool stream);

/* Makes what this thread has streamed visible to others; before it says that it is done. */
typedef void pgi_settle_fn(void);

/* Rows that are summed at once: place i of the sum is what places i of them give, in the order of
 * docs/arithmetic.md (pieces of powers of two, the largest first). */
#define PGI_RUN_ROWS 16
/* And with the pieces behind those: the longest run that is summed without sums of others. */
#define PGI_LONG_RUN 31

/* Sums that are made together, if their runs begin one row after the other: few or many. */
#define PGI_FEW_ROWS  4
#define PGI_MANY_ROWS 16

/* Streaming stores want memory aligned to this many elements of f32 and of the narrow types alike;
 * f64 then is, too. A level's own vectors may be longer. */
#define PGI_STREAM_ELEMENTS 8

/* And what is streamed must fill lines of the cache, one after the other. */
#define PGI_LINE_BYTES 64

/* How reals are divided by the counts of windows. */
typedef enum pgi_division {
    PGI_KEEP,     /* not at all */
    PGI_MULTIPLY, /* one power of two: a product with its reciprocal has the same bits */
    PGI_QUOTIENT, /* integers of less than 2^21 either way: their reciprocals in two parts */
    PGI_DIVIDE
} pgi_division;

/*
 * PGI_QUOTIENT. With h the reciprocal of the count c, cut to a real, and l what it lacks, rounded,
 * x / c is fma(x, h, fma(x, l, 0)), correctly rounded. With u = 2^-24 (2^-53 in f64): l < 2 u h, so
 * h + l lacks no more than u^2 / c, and rounding x * l costs no more than 2 u^2 |x / c|: what the
 * outer step rounds differs from x / c by less than 3 u^2 / u = 3 u units in the last place. But
 * x / c is no midpoint of two reals (it would need more bits than x has), and stays 1 / (2 |c|) >
 * 4 u units away from them, so both round alike. Infinities and NaN come out right because l has
 * the sign of h; for a power of two it is h * 2^-30, which no rounding sees. A zero is that of the
 * innermost sum: +0, as terms want it, or for -0 there that of x / c.
 * All this while x * l and the result are normal, or err no more than that: for |x| >= 2^-80
 * (2^-900 in f64) and 0. The type f16 has no others; elsewhere a row that has is divided again.
 */
#define PGI_TINY_f32 (47 << 24) /* the bits of 2^-80 and 2^-900, without the sign, doubled */
#define PGI_TINY_f64 (INT64_C(123) << 53)

/* Divisors of a row, and the two parts of their reciprocals, in reals; they may be read to the end
 * of the last vector. */
typedef struct pgi_divisors {
    const void *divisor, *high, *low;
    int64_t step; /* 1: side by side as the row's reals, 0: one for all */
    pgi_division how;
} pgi_divisors;

/* Rows of `count` elements, `step` apart, widened and divided; the +0 of docs/arithmetic.md added.
 * Pitches are distances of rows, in elements and in reals. With `room` zeros may be written behind
 * every row, up to a multiple of PGI_ROW_REALS from its beginning. */
typedef void pgi_terms_fn(void *to, int64_t to_pitch, const void *from, int64_t from_pitch,
                          int64_t step, int64_t rows, int64_t count, const pgi_divisors *by,
                          bool room);

/* Groups to lines of reals a pitch apart, likewise; they have one divisor. */
typedef void pgi_collect_fn(void *to, int64_t pitch, const void *from, const pgi_groups *groups,
                            const pgi_divisors *by);

/* to[i] = the run of the first `length` rows reduced at place i, up to PGI_RUN_ROWS of them, and
 * behind it the pieces of `tail` more, up to 15; or head[i] and those pieces, if length is 0. `to`
 * may be the head. In this and the next, rows may be read and written up to the next multiple of
 * PGI_ROW_REALS. */
#define PGI_ROW_REALS 16

typedef void pgi_sum_fn(void *to, const void *head, const void *const *rows, int length, int tail,
                        int64_t count);

/* A block of sums at once, `sums` (PGI_FEW_ROWS or PGI_MANY_ROWS) of runs of 2 .. PGI_LONG_RUN,
 * each beginning one row after the one before; with `behind` the pieces of 1 .. 15 rows each,
 * behind what is there. */
typedef void pgi_sum_block_fn(void *const *to, int sums, const void *const *rows, int length,
                              bool behind, int64_t count);

/* The last axis of target rows. A row is `places` groups of `lanes` reals. Group i is of turn
 * i % turns and is what `count` groups of the row give that begin at real
 * first + i / turns * advance * lanes, `step` reals apart; nothing (0) if count is 0. */
enum {
    PGI_TURNS = 8
};

typedef struct pgi_last_axis {
    int64_t places, lanes, advance, step;
    int turns;
    int count[PGI_TURNS]; /* up to PGI_RUN_ROWS; pgi_are_neighbours: up to PGI_LONG_RUN */
    int64_t first[PGI_TURNS];

    /* Of neighbours: before the run of up to 15, which is pieces behind it, comes that of 2 or 3
     * sums of PGI_RUN_ROWS, so many apart. heads[i]: the first for place i; or NULL. */
    const void *heads;
    int head_count;
} pgi_last_axis;

/* Whether rows have one lane, and all runs their terms side by side. */
static inline bool pgi_are_neighbours(const pgi_last_axis *last)
{
    return last->lanes == 1 && last->turns == 1 && last->advance == 1 && last->step == 1;
}

/* Memory that will be read soon: a kernel fetches a cache line of it now and then while it stores.
 * A core that only adds and stores leaves memory idle. */
typedef struct pgi_ahead {
    const char *at, *end;
} pgi_ahead;

/* Sums to elements in memory, with beta 0: the `rows` rows at from[], reduced along the last axis,
 * multiplied with alpha and rounded once. `pitch` is the distance of target rows. With `stream` the
 * memory is not expected to be read soon. May read up to PGI_OVERREAD reals past what it needs.
 * Possible if pgi_can_finish. */
#define PGI_OVERREAD 64

typedef void pgi_finish_fn(void *to, int64_t pitch, const void *const *from, int64_t rows,
                           const pgi_last_axis *last, double alpha, bool stream, pgi_ahead ahead);

static inline bool pgi_can_finish(const pgi_last_axis *last)
{
    const int *count = last->count;
    int i;

    if (pgi_are_neighbours(last))
        return count[0] <= PGI_LONG_RUN;
    for (i = 0; i < last->turns; i++)
        if (count[i] > PGI_RUN_ROWS)
            return false;
    if (last->lanes > 1 || (last->turns == 1 && last->advance == 1))
        return true;
    if (last->turns == 1) /* every other place */
        return last->advance == 2 && last->step == 1 && count[0] > 1 && count[0] <= 8;
    /* short runs of much the same length, in turn */
    return last->turns == 2 && last->advance == 1 && count[0] <= 4 && count[1] <= 4 &&
           count[0] - count[1] <= 1 && count[1] - count[0] <= 1;
}

/* Rows of sums divided, multiplied with alpha, rounded once and stored, likewise; the divisors may
 * be read to the end of the last vector, too. */
typedef void pgi_divide_fn(void *to, int64_t to_pitch, const void *from, int64_t from_pitch,
                           int64_t rows, int64_t count, const pgi_divisors *by, double alpha,
                           bool stream);

/* Averages of windows of up to PGI_DIRECT taps per axis, straight from x. A target row is `places`
 * groups of `lanes` elements side by side. Group i takes what exists of `columns` columns from
 * column i * stride - before on; those in [0, width) exist. With one lane the stride is 1 or 2, and
 * before not more than 2. */
#define PGI_DIRECT 3

typedef struct pgi_direct {
    int planes, rows; /* that exist; at least one plane */
    int columns;
    int64_t places, lanes;
    int64_t stride, before, width;
    int64_t column;  /* elements from column to column of x */
    int64_t targets; /* rows that differ only in where they lie: */
    int64_t from_pitch, to_pitch;
    int known;     /* rows that are there already from the targets before; the others are fetched */
    int64_t ahead; /* so many elements ahead */
    pgi_divisors by; /* of the places */
    double alpha;
    bool stream;
} pgi_direct;

/* from[r * planes + p]: the row of x that is row r and plane p of the windows, at column 0. */
typedef void pgi_direct_fn(void *to, const void *const *from, const pgi_direct *shape);

/* The gradient of windows that tile the input: `rows` rows of `places` groups of `lanes` elements,
 * each divided and stored `columns` times side by side in each of `times` target rows, which lie a
 * pitch further for the next row. With one lane not more than 2 columns. */
#define PGI_SPREAD 16

typedef struct pgi_spread {
    int64_t rows, from_pitch, to_pitch;
    int64_t places, lanes, columns;
    int times;
    pgi_divisors by; /* one */
    double alpha;
    bool stream;
} pgi_spread;

typedef void pgi_spread_fn(void *const *to, const void *from, const pgi_spread *shape);

/* Averages of 3x3 windows with stride 1, both ways: `rows` source rows that follow those of the
 * calls before, each `width` groups of `lanes` elements side by side, and the target rows that each
 * is the last for, `places` groups; they have the same divisors. Group i takes what exists of three
 * columns from column first + i on, first being at least -2. With `to` NULL there are no such rows
 * yet. False if a quotient is in doubt: then all is to be repeated with PGI_DIVIDE.
 * 3x3x3: the rows are those of three planes, added. */
typedef struct pgi_threes {
    int planes; /* 1 or 3 */
    int64_t rows, from_pitch[3], to_pitch;
    int64_t places, lanes, first, width;
    int64_t ahead;         /* fetched, so many elements ahead */
    void *pairs, *singles; /* sums of the last two rows and of the last one, in reals, whole
                              vectors; 0 at first */
    int64_t kept;          /* of which so many are a column's, if lanes are channels */
    pgi_divisors by[3];    /* of the columns of each plane; forward, the first, of the places */
    bool forward;
    double alpha;
    bool stream;
} pgi_threes;

typedef bool pgi_threes_fn(void *to, const void *const from[3], const pgi_threes *shape);

/* totals[p] = the sum of plane p, `step` elements further each: `rows` rows of `columns` side by
 * side, both up to PGI_RUN_ROWS; columns first summed down, then across. Up to PGI_ROW_REALS reals
 * behind the last may be written. */
typedef void pgi_totals_fn(void *totals, const void *from, int64_t step, int64_t planes, int rows,
                           int columns);

/* totals[lane] = the sum of a plane whose `lanes` channels lie side by side; rows and columns lie
 * steps apart. `room` is for `columns` rows of reals, each a multiple of PGI_ROW_REALS. */
typedef void pgi_totals_lanes_fn(void *totals, const void *from, int64_t row_step,
                                 int64_t column_step, int64_t lanes, int rows, int columns,
                                 void *room);

/* Any other last axis with short runs: for every vector of a target row, and every term of its
 * runs, where they are; -1: no such term. Runs of different lengths are alike then, because an
 * added 0 changes nothing there. Near ones, of runs of up to PGI_PICKED, are all among so many
 * reals as a vector has, and numbers count from the first of these; wide ones among those of four
 * vectors. Far ones are counted from the beginning of the row; both of runs of up to
 * PGI_PICKED_FAR. */
enum {
    PGI_PICKED = 4,
    PGI_PICKED_FAR = 7
};

typedef enum pgi_picks_reach {
    PGI_NEAR,
    PGI_WIDE,
    PGI_FAR
} pgi_picks_reach;

#define PGI_WIDE_VECTORS 4

typedef struct pgi_picks {
    pgi_picks_reach reach;
    int64_t elements;     /* of a target row */
    int64_t vectors;      /* that hold them */
    int terms;            /* of the longest run */
    const int64_t *first; /* terms * vectors */
    const int32_t *lane;  /* terms * vectors * lanes of a vector */
} pgi_picks;

typedef void pgi_finish_picks_fn(void *to, int64_t pitch, const void *const *from, int64_t rows,
                                 const pgi_picks *picks, double alpha, bool stream,
                                 pgi_ahead ahead);

/*
 * Contests: the maxima of windows. A candidate is a value, in reals, and the place it lies at; they
 * are held in two arrays, cell by cell. Rows of them lie in the workspace, in ascending order, and
 * kernels may read and write up to PGI_SLACK cells past the last.
 */
#define PGI_SLACK 64

/* The place of what is not there. Sums of two of these and a place are below 0. */
#define PGI_NOWHERE (INT32_MIN / 2)

/* Whether b wins against a that lies before it: if it is larger (where nothing is NaN), or as the
 * rules say. LEADING is SKIP and a look at the first tap. */
typedef enum pgi_rule {
    PGI_RULE_PLAIN,
    PGI_RULE_FIRST,
    PGI_RULE_SKIP,
    PGI_RULE_LAST,
    PGI_RULE_LEADING /* of a melee only */
} pgi_rule;

/* Rows of x: `rows` of them, `row_step` apart, `places` groups of `lanes` elements in each. */
typedef struct pgi_entry {
    int64_t rows, row_step, places, step, lanes, lane_step;
    int64_t before, after; /* groups that are copies of others, at the ends of a row */
    const int32_t *copied; /* of which: before + after groups of the row */
} pgi_entry;

/* values: rows of before + places + after groups, widened. Returns whether one is NaN. */
typedef bool pgi_admit_fn(void *values, const void *x, const pgi_entry *entry);

/* Most that compete at once. */
#define PGI_CONTENDERS 16

/* `rows` rows of `places` groups of `lanes` cells. The i-th group of a row has `count` contenders,
 * in ascending order of their places: those of group i * step, `offset` cells on. If there is none
 * it becomes -inf and PGI_NOWHERE. */
typedef struct pgi_bout {
    int count;
    pgi_rule rule;
    int64_t offset[PGI_CONTENDERS];
    int64_t rows, places, lanes, step;
    int64_t to_row, from_row; /* cells from row to row */

    /* Not NULL: the places are columns[j][i] + base[row], for all lanes. NULL: held in cells. */
    const int32_t *const *columns;
    const int32_t *base;
    bool exact; /* nothing is written behind a row */
} pgi_bout;

/* Without `places` only values are made. */
typedef void pgi_contest_fn(void *values, int32_t *places, const void *from,
                            const int32_t *from_places, const pgi_bout *bout);

/* Maxima along an axis: `rows` rows of `windows` windows, `stride` positions apart, of `taps` taps
 * side by side. Positions are counted from the first tap of the first window; those in [begin, end)
 * exist, and every window has one of these. A position and a window are `cells` cells. */
typedef struct pgi_sweep {
    int64_t windows, taps, stride, begin, end, cells;
    pgi_rule rule;
    int64_t rows, to_row, from_row; /* cells from row to row; from_row from what exists */

    /* Not NULL: the places are position[p] + base[row], for all cells. NULL: held in cells. */
    const int32_t *position, *base;
} pgi_sweep;

/* Without `places` only values are made. */
typedef void pgi_sweep_fn(void *values, int32_t *places, const void *from,
                          const int32_t *from_places, const pgi_sweep *sweep);

/* to[lane * pitch + i] = from[i * lanes + lane] for `groups` groups of lanes; reals, or what has as
 * many bytes. */
typedef void pgi_separate_fn(void *to, int64_t pitch, const void *from, int64_t groups,
                             int64_t lanes);

/* The maxima of windows of few taps, straight from x: `rows` rows of `windows` windows, in `lanes`
 * lanes each. The taps of the first, in row-major order, are `offset` elements from x, at `place`
 * (below 0, and anything that comes below 0 when a window is further on: nowhere). */
#define PGI_MELEE_TAPS 32

/* How the elements of neighbouring cells lie: side by side (lanes always do), every other (and a
 * row of a window has `columns` taps, at least two, and what lies between them may be read), or
 * `step` apart. */
typedef enum pgi_neighbours {
    PGI_SIDE_BY_SIDE,
    PGI_EVERY_OTHER,
    PGI_APART
} pgi_neighbours;

typedef struct pgi_melee {
    int taps, columns;
    pgi_rule rule;
    pgi_neighbours neighbours;
    int64_t rows, windows, lanes;
    int64_t row_step, step;        /* elements from row to row, window to window */
    int32_t row_place, place_step; /* and places */
    int64_t to_row;                /* cells */
    int64_t offset[PGI_MELEE_TAPS];
    int32_t place[PGI_MELEE_TAPS];
} pgi_melee;

/* Values (reals) and places of all cells; either may be NULL. A window without taps becomes -inf
 * and PGI_NOWHERE. Returns whether a tap is NaN, if the rule is the plain one: then the cells are
 * of no use. Other rules go cell by cell. */
typedef bool pgi_melee_fn(void *values, int32_t *places, const void *x, const pgi_melee *melee);

/* indices[i * step] = place * unit + origin + i * origin_step, or -1 for what is nowhere. */
typedef struct pgi_numbering {
    int64_t origin, origin_step, unit;
} pgi_numbering;

typedef void pgi_number_fn(void *indices, int64_t step, const int32_t *places, int64_t count,
                           const pgi_numbering *numbering, bool stream);

/* Where indices may lie: those of `windows` windows `step` apart, in `lanes` lanes each, and of
 * `count` rows of them. A tap is found by its distance from the first, which must be below
 * PGI_TRACE_SPAN: in planes, rows, and columns. */
#define PGI_TRACE_SPAN (1 << 22)

typedef struct pgi_trace {
    int64_t windows, step, lanes, lane_step, count;
    int64_t index_row, place_row;      /* from row to row of windows, in indices and in places */
    int64_t origin, origin_step, unit; /* index = place * unit + origin + lane * origin_step */
    int unit_shift;                    /* unit = odd << unit_shift, */
    uint32_t unit_inverse;             /* and this times odd is 1, modulo 2^32 */
    int64_t plane;                     /* places */
    bool deep, gaps;              /* windows have more than one plane; gaps, and then all taps are a
                                     bit for each, 32 at most, not how many there are */
    const int32_t *begin, *width; /* the columns of each window: the first, and taps */
    int32_t taps_down, taps_deep; /* rows and planes of all */
    int32_t columns, rows;        /* of the input, and */
    float by_columns, by_rows;    /* their reciprocals */
    int32_t first, span; /* where in the plane the row of the first taps begins, and places from
                            there on among which all taps are */
    int32_t row_step;    /* how much further the first of the next windows is */
    int32_t move;        /* what is added to places, */
    int32_t limit;       /* and what is then at this or beyond is nowhere */
    int32_t top, height; /* where the row of the first taps is in the tile, of so many rows; */
    int32_t skipped;     /* and places of a plane that the tile has not */
} pgi_trace;

/* places[window * lanes + lane] = what the place of its index is to become. False if an index is
 * not in its window, or cannot be located so; the places are then of no use. */
typedef bool pgi_trace_fn(int32_t *places, const void *indices, const pgi_trace *trace);

/* Indices that are taps of their windows, a byte each: those of `rows` rows of `windows` windows
 * `step` apart, in `lanes` lanes each. Axes are planes, rows, columns. No window has more than 255
 * taps, and positions are counted in 32 bits, modulo 2^32. */
typedef struct pgi_taps {
    int64_t windows, step, lanes, lane_step, rows, row_step;
    uint32_t kernel[3], dilation[3], in[3];
    uint32_t by_rows, by_columns; /* 2^16 / kernel[1] and / kernel[2], rounded up */
    uint32_t first[3], stride[3]; /* position of the first tap of the first window, and how much
                                     further that of the next is */
    uint32_t begin[3], extent[3]; /* of the tile */
} pgi_taps;

/* places[window * lanes + lane] = where in the tile the position of its tap is, or PGI_NOWHERE. One
 * row, or several that are joined: the first taps of windows are so many rows `down`, and in the
 * columns `left`. False if a tap is none of its window's inside the input; the places are then of
 * no use. */
typedef bool pgi_follow_fn(int32_t *places, const void *taps, const int32_t *down,
                           const int32_t *left, const pgi_taps *shape);

/* Only whether all are taps of their windows inside the input; lanes, or else windows, lie side by
 * side. */
typedef bool pgi_vouch_fn(const void *taps, const pgi_taps *shape);

/* `count` windows, one after the other, in `lanes` lanes: places[window * lanes + lane] is the
 * place whose sum takes the term, if it is not below 0. The lanes of a window's terms, and those of
 * a place's sums, lie side by side; or `apart`, those of a lane do, and lanes so far from each
 * other. With `runs` neighbours often have one place. */
typedef struct pgi_deal {
    int64_t count, lanes;
    bool apart, runs;
    int64_t sum_lane, term_lane;
} pgi_deal;

typedef void pgi_deal_fn(void *sums, const int32_t *places, const void *terms,
                         const pgi_deal *deal);

/* Rows of positions whose windows are few and known. Column c has phase c % phases, and its sum is
 * what groups c / phases of the windows of its phase have for it, in their order: terms (elements)
 * where the place is its own, or, given taps (bytes), where the tap is the one that the window has
 * there. Groups of these are `term_step` and `cell_step` apart, columns `to_step`; with one lane
 * all are 1. */
#define PGI_AWARD_PHASES  4
#define PGI_AWARD_WINDOWS 32

typedef struct pgi_award_phase {
    int windows;
    const void *cells[PGI_AWARD_WINDOWS]; /* places or taps */
    const void *terms[PGI_AWARD_WINDOWS];
    uint8_t tap[PGI_AWARD_WINDOWS];
} pgi_award_phase;

typedef struct pgi_award {
    int64_t rows, columns, lanes, cell_step, term_step, to_step;
    bool taps;
    int32_t place;                      /* of column 0 */
    int32_t place_row;                  /* how much further that of the next row is, */
    int64_t cell_row, term_row, to_row; /* and its cells, terms and elements or sums */
    int phases;
    bool sums;    /* of one row: reals are stored as they are; else elements: */
    double alpha; /* what sums are multiplied with */
    bool stream;  /* the memory is not expected to be read soon */
    pgi_award_phase phase[PGI_AWARD_PHASES];
} pgi_award;

typedef void pgi_award_fn(void *to, const pgi_award *award);

/* The kernels of one instruction set for one element type. */
typedef struct pgi_kernels {
    const char *isa;
    size_t real; /* bytes of a real */
    int lanes;   /* of a vector of reals */
    pgi_terms_fn *terms;
    pgi_collect_fn *collect;
    pgi_sum_fn *sum;
    pgi_sum_block_fn *sum_block;
    pgi_finish_fn *finish;
    pgi_finish_picks_fn *finish_picks;
    pgi_divide_fn *divide;
    /* The same with reals as elements. */
    pgi_finish_fn *finish_reals;
    pgi_finish_picks_fn *finish_picks_reals;
    pgi_divide_fn *divide_reals;
    pgi_totals_fn *totals;
    pgi_totals_lanes_fn *totals_lanes;
    pgi_direct_fn *direct;
    pgi_spread_fn *spread;
    pgi_threes_fn *threes;
    pgi_widen_fn *widen;
    pgi_store_fn *store;
    pgi_repeat_fn *repeat;
    pgi_copy_fn *copy;
    pgi_settle_fn *settle;
    pgi_admit_fn *admit;
    pgi_contest_fn *contest;
    pgi_sweep_fn *sweep;
    pgi_separate_fn *separate, *separate_places;
    pgi_melee_fn *melee;
    pgi_number_fn *number[4]; /* for i64, i32, u32, u8 */
    pgi_trace_fn *trace[3];   /* for i64, i32, u32 */
    pgi_follow_fn *follow;
    pgi_vouch_fn *vouch;
    pgi_deal_fn *deal;
    pgi_award_fn *award;
} pgi_kernels;

/* The memory of one execution. */
typedef struct pgi_work {
    const void *source; /* dy or x */
    void *target;       /* dx or y */
    const void *x;      /* of a max gradient from x */
    const void *y;      /* of one that compares x with y */
    const void *indices;
    void *indices_out;
    bool stream;                /* rows of the target may be stored past the caches, all of them */
    bool stream_inside;         /* or what lies within long rows */
    _Atomic int64_t *bad_index; /* lowest element of the indices that is none; INT64_MAX if all are
                                   good */
} pgi_work;

typedef struct pgi_backend {
    /* Bytes of a core's own cache, and of the last one before memory, 0 if that is unknown. */
    int64_t (*cache_bytes)(void);
    int64_t (*last_cache_bytes)(void);

    /* Kernels for a type, of the instruction set called `isa`, or by environment and machine if
     * that is NULL. */
    poolgrad_status (*select)(const char *isa, poolgrad_dtype dtype, pgi_kernels *kernels,
                              poolgrad_error *error);

    /* task(data, i) for every i in [0, tasks), on at most `threads` threads. */
    void (*parallel_for)(int32_t threads, int64_t tasks, void (*task)(void *data, int64_t index),
                         void *data);

    /* The index-th instruction set or kernel; NULL past the end. */
    const char *(*name)(poolgrad_name_kind kind, size_t index);

    /* The definition: one (batch, channel) of the target, the `plane`-th, computed literally. */
    void (*reference)(const pgi_problem *problem, const pgi_scale *scale, const pgi_work *work,
                      int64_t plane, void *workspace);

    /* The arithmetic of problem->desc.parity, likewise. */
    void (*parity)(const pgi_problem *problem, const pgi_work *work, int64_t plane,
                   void *workspace);
} pgi_backend;

extern const pgi_backend pgi_cpu_backend;

/* Lowers *work->bad_index to `element`. */
static inline void pgi_report_bad_index(const pgi_work *work, int64_t element)
{
    int64_t lowest = atomic_load_explicit(work->bad_index, memory_order_relaxed);

    while (element < lowest &&
           !atomic_compare_exchange_weak_explicit(work->bad_index, &lowest, element,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

#endif
