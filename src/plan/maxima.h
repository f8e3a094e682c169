/* SPDX-License-Identifier: MIT */
/*
 * Kernels of maxima: who wins in windows, what indices say of it, and what positions get. As those
 * of backend.h, which has them in its table, they know no geometry.
 */
#ifndef PGI_PLAN_MAXIMA_H
#define PGI_PLAN_MAXIMA_H

#include <stdbool.h>
#include <stdint.h>

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

/* The rows that windows share with those below, one or two, kept by a melee: room for three rows of
 * reals and of places. */
typedef struct pgi_kept {
    void *values;
    int32_t *places;
    int rows;
} pgi_kept;

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
    pgi_kept kept; /* if it has rows: of 3x3 taps, the last row is the first of the windows below,
                      or, of one lane, the last two are the first two */
} pgi_melee;

/* Values (reals) and places of all cells; either may be NULL. A window without taps becomes -inf
 * and PGI_NOWHERE. Returns whether a tap is NaN, if the rule is the plain one: then the cells are
 * of no use. Other rules go cell by cell. */
typedef bool pgi_melee_fn(void *values, int32_t *places, const void *x, const pgi_melee *melee);

/* Where winners go, as elements, and their taps, below 256, in bytes; either may be NULL. With
 * `stream` and `stream_taps` the memory is not expected to be read soon. */
typedef struct pgi_lists {
    char *winners;
    uint8_t *taps;
    int64_t step, row;         /* of winners, from window to window and from row to row */
    int64_t tap_step, tap_row; /* of taps */
    bool stream, stream_taps;
} pgi_lists;

/* A melee whose places are taps, of lanes that fill vectors (a cache line of elements, at least),
 * where nothing is NaN and all windows have taps. Returns false, and what was written is of no use,
 * if it is not for these. */
typedef bool pgi_joust_fn(const pgi_lists *lists, const void *x, const pgi_melee *melee);

/* The best of cells of the two or three layers that a window has planes, in their order: `count`
 * cells; a winner's place is what it is in its layer, and `further`. Nothing is NaN. */
#define PGI_LAYERS 3

typedef struct pgi_final {
    int layers;
    int64_t count;
    const void *values[PGI_LAYERS];
    const int32_t *places[PGI_LAYERS];
    int32_t further[PGI_LAYERS];
} pgi_final;

/* Values (reals) or places may be NULL. */
typedef void pgi_final_fn(void *values, int32_t *places, const pgi_final *final);

/* indices[i * step] = place * unit + origin + i * origin_step, or -1 for what is nowhere. */
typedef struct pgi_numbering {
    int64_t origin, origin_step, unit;
    int64_t lanes; /* not 0: instead of i, i modulo this, and `step` is 1; fewer than
                      PGI_FULL_VECTOR */
} pgi_numbering;

typedef void pgi_number_fn(void *indices, int64_t step, const int32_t *places, int64_t count,
                           const pgi_numbering *numbering, bool stream);

/* A row of `windows` windows, in `lanes` lanes each, whose winners are known by their taps: bytes
 * side by side. The index of a tap 0 is `origin`, and so much more for every window and lane; every
 * tap adds `column`, every whole row of taps `row`, and every whole plane `plane`, modulo 2^32: all
 * together are not negative and below 2^31. */
typedef struct pgi_naming {
    int64_t windows, lanes, step; /* in the indices, from window to window */
    int64_t origin, window_step, lane_step;
    uint32_t by_columns, by_rows; /* 2^16 / columns and rows of a window, rounded up */
    uint32_t column, row, plane;
} pgi_naming;

typedef void pgi_name_fn(void *indices, const uint8_t *taps, const pgi_naming *naming, bool stream);

/* Where indices may lie: those of `windows` windows `step` apart, in `lanes` lanes each, and of
 * `count` rows of them. A tap is found by its distance from the first, in places, which must be
 * below PGI_TRACE_SPAN. */
#define PGI_TRACE_SPAN (1 << 22)

/* What has to be found out of a distance: whether its column is one of the window's; with planes,
 * whether its row is, too; where the tile has but part of every plane, in which plane it is; and
 * with gaps all three, since taps are then a bit for each, 32 at most. */
typedef enum pgi_tracing {
    PGI_TRACE_COLUMNS,
    PGI_TRACE_ROWS,
    PGI_TRACE_PLANES,
    PGI_TRACE_GAPS
} pgi_tracing;

typedef struct pgi_trace {
    int64_t windows, step, lanes, lane_step, count;
    int64_t index_row, place_row; /* from row to row of windows, in indices and in places */
    int64_t origin, unit;         /* index = place * unit + origin + lane * origin_step; */
    uint32_t origin_step;         /* the steps of all lanes and a plane are below 2^32 */
    const uint32_t *further;      /* not NULL: `windows` counts the cells of few lanes, and `lanes`
                                     is 1; how much further than `origin` that of each cell is */
    int unit_shift;               /* unit = odd << unit_shift, */
    uint32_t unit_inverse;        /* and this times odd is 1, modulo 2^32 */
    int64_t plane;                /* places */
    pgi_tracing tracing;
    bool inside;            /* places stay what they are; only without planes */
    const int32_t *begin;   /* of each window: its first column; */
    const uint32_t *within; /* below this are products of distances whose column is a tap's;
                               with gaps, the taps */
    /* Columns and rows, a part of the distance modulo all columns, and modulo a plane: as fractions
     * of these, in units of 2^-32. */
    uint32_t by_columns, by_plane;
    uint32_t rows_within; /* below this are products of distances whose row is a tap's */
    /* Planes and gaps, by division. */
    uint32_t columns, rows, rows_of_columns; /* of the input, and places of a plane, */
    float per_column, per_plane;             /* and the reciprocals of the first and the last */
    uint32_t taps_down, taps_deep;           /* rows, in places, and planes; with gaps, bits */
    uint32_t first, span; /* where in the plane the row of the first taps begins, and places from
                             there on among which all taps are */
    uint32_t row_step;    /* how much further the first of the next windows is */
    uint32_t move;        /* what is added to places, */
    uint32_t limit;       /* and what is then at this or beyond is nowhere */
    uint32_t top, height; /* places from where the tile begins in its planes to the row of the first
                             taps, and places that it has of each; */
    uint32_t skipped;     /* and those that it has not */
    uint32_t per_place;   /* what every place counts, of lanes or cells of lanes */
} pgi_trace;

/* places[window * lanes + lane] = `per_place` times what the place of its index is to become, or
 * PGI_NOWHERE. False if an index is not in its window, or cannot be located so; the places are then
 * of no use. */
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
    uint32_t per_place;           /* what every place counts */
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

/* `count` windows in `lanes` lanes: a place says how far behind the first sum of its lane the one
 * is that takes the term, if it is not below 0. Steps are from window to window; first sums of
 * lanes are `sum_lane` apart. */
typedef struct pgi_lanes_at {
    int64_t step, lane;
} pgi_lanes_at;

typedef struct pgi_deal {
    int64_t count, lanes, sum_lane;
    pgi_lanes_at places, terms;
    bool runs;  /* neighbours of one lane often share a place */
    bool spare; /* of lanes side by side many have none: before the first sums of all lanes there
                   are as many that they may take */
} pgi_deal;

typedef void pgi_deal_fn(void *sums, const int32_t *places, const void *terms,
                         const pgi_deal *deal);

/* `count` sums, multiplied with alpha and rounded, to elements side by side, anywhere; 0 is left in
 * the place of sums, so that the next tile finds it. With `stream` the memory is not expected to be
 * read soon. */
typedef void pgi_reap_fn(void *to, void *sums, int64_t count, double alpha, bool stream);

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

#endif
