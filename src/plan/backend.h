/* SPDX-License-Identifier: MIT */
/*
 * What a plan asks of the machine: kernels that know no geometry, threads, and the readable
 * reference. src/cpu implements it; a strategy sees nothing else of a backend.
 */
#ifndef PGI_PLAN_BACKEND_H
#define PGI_PLAN_BACKEND_H

#include "core/problem.h"
#include "plan/maxima.h"

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

/* Groups to lines of reals a pitch apart, likewise. Line n has divisors by[n * each], each being 0
 * or 1: one, or, with a step, each place its own. */
typedef void pgi_collect_fn(void *to, int64_t pitch, const void *from, const pgi_groups *groups,
                            const pgi_divisors *const *by, int each);

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
 * divided unless `by` is NULL, multiplied with alpha and rounded once. `pitch` is the distance of
 * target rows. With `stream` the memory is not expected to be read soon. May read up to
 * PGI_OVERREAD reals past what it needs. Possible if pgi_can_finish, and pgi_can_divide. False if a
 * quotient is in doubt: then all is to be repeated, with `divide`. */
#define PGI_OVERREAD 64

typedef bool pgi_finish_fn(void *to, int64_t pitch, const void *const *from, int64_t rows,
                           const pgi_last_axis *last, const pgi_divisors *by, double alpha,
                           bool stream, pgi_ahead ahead);

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

/* Whether sums are divided on the way: by one divisor, which PGI_QUOTIENT is good for. */
static inline bool pgi_can_divide(const pgi_last_axis *last, const pgi_divisors *by)
{
    return last->turns == 1 && last->advance == 1 && !last->heads && by->step == 0 &&
           (by->how == PGI_QUOTIENT || by->how == PGI_MULTIPLY);
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

/* Averages of 3x3 windows with stride 1, both ways: PGI_THREES target rows below each other, each
 * `places` groups of `lanes` elements side by side, or NULL where there is none, and the two more
 * source rows that reach them, each `width` groups. Group i takes what exists of three columns from
 * column first + i on, first being at least -2. So many times: rows that follow lie pitches
 * further. False if a quotient is in doubt: then all is to be repeated `exactly`. What the last two
 * source rows can do is only looked at if they are the `last`; otherwise they come again as the
 * first. 3x3x3, `deep`: target rows are of planes that follow each other, and source rows, too; the
 * rows of the calls before have been the ones before, or, where there are none, sums of 0. `by` are
 * the divisors of the columns of source rows; forward, of the places of target rows. What calls
 * leave for others has an order of its own: all of them divide in the same way. */
#define PGI_THREES 4

typedef struct pgi_threes {
    bool deep, forward, exactly, stream, last;
    int64_t times, from_pitch[PGI_THREES + 2], to_pitch;
    int64_t places, lanes, first, width;
    int64_t ahead; /* fetched, so many elements ahead */

    /* For sums of source rows, reals: 2 PGI_THREES rows of two groups more than `room_places`, and
     * of PGI_ROW_REALS more. */
    void *room;
    int64_t room_places, room_pitch;

    /* Deep, the sums of three planes: 3 PGI_THREES rows of `width` groups, and of PGI_ROW_REALS
     * more, for source rows in turn; this is the `row`-th, which has the third of them for 0. */
    void *planes;
    int64_t plane_pitch, row;

    int64_t step; /* of all divisors; one for all is there as often as a vector has lanes */
    double alpha;
} pgi_threes;

typedef bool pgi_threes_fn(void *const *to, const void *const *from, const pgi_divisors *const *by,
                           const pgi_threes *shape);

/* Averages of 3x3 windows with stride 1 and padding 1, both ways: elements [begin, end) of planes
 * of rows of `width` that lie one behind the other in source and target alike, as one long row.
 * False if a quotient is in doubt: then all is to be repeated `exactly`. */
#define PGI_RIBBON_BEFORE PGI_ROW_REALS
#define PGI_RIBBON_BEHIND (3 * PGI_ROW_REALS)

typedef struct pgi_ribbon {
    bool forward, exactly, stream;
    int64_t begin, end, elements;
    int64_t width, reach; /* elements of a row, and at least one more */
    int64_t ahead;        /* fetched, so many elements ahead */

    /* For the `ring` places of one plane or some, the last PGI_RIBBON_BEFORE of which stand before
     * the first as well, and the first PGI_RIBBON_BEHIND behind the last: divisors; and all bits of
     * a real, or none if the place has no neighbour there. */
    int64_t ring;
    pgi_divisors by;
    const void *above, *below, *before, *behind;

    /* Reals: there is room for those of the piece from here on, and PGI_RIBBON_BEFORE and
     * PGI_RIBBON_BEHIND more than `reach` before and behind. */
    void *terms;
    double alpha;
} pgi_ribbon;

typedef bool pgi_ribbon_fn(void *to, const void *from, const pgi_ribbon *shape);

/* Gradients of 3x3 windows with stride 2, from rows of terms: target row t, of those in [begin,
 * end), is from[t / 2 + 1] and, if t is even, the row before it, summed along the last axis. A
 * target row is `places` groups of `lanes` elements side by side. Of the columns of terms, groups
 * of as many reals, from the first on, place 0 has one and the next place that and one more; or,
 * if they are `late`, place 0 two and the next place the second of these; and so on. `to` is row
 * `begin`, `pitch` the distance of target rows. May read PGI_ROW_REALS reals past what it needs. */
typedef struct pgi_halves {
    int64_t places, lanes;
    bool late, stream;
    double alpha;
} pgi_halves;

typedef void pgi_halves_fn(void *to, int64_t pitch, const void *const *from, int64_t begin,
                           int64_t end, const pgi_halves *shape, pgi_ahead ahead);

/* totals[p] = the sum of plane p, `step` elements further each: `rows` rows of `columns` side by
 * side, both up to PGI_RUN_ROWS; columns first summed down, then across. Up to PGI_ROW_REALS reals
 * behind the last may be written. What is `ahead` elements further is fetched, if that is not 0. */
typedef void pgi_totals_fn(void *totals, const void *from, int64_t step, int64_t planes, int rows,
                           int columns, int64_t ahead);

/* totals[lane] = the sum of a plane whose `lanes` channels lie side by side; rows and columns lie
 * steps apart. What is `ahead` elements further is fetched. `room` is for `columns` rows of reals,
 * each a multiple of PGI_ROW_REALS. */
typedef void pgi_totals_lanes_fn(void *totals, const void *from, int64_t row_step,
                                 int64_t column_step, int64_t lanes, int rows, int columns,
                                 int64_t ahead, void *room);

/* to[i] = the sum of elements i of `rows` rows, `step` elements further each, any number of them:
 * of `count` side by side. Up to PGI_ROW_REALS reals behind the last may be written. What is
 * `ahead` elements further is fetched. `room` is for pgi_pile_rows(rows) rows of reals, each a
 * multiple of PGI_ROW_REALS. */
typedef void pgi_pile_fn(void *to, const void *from, int64_t step, int64_t rows, int64_t count,
                         int64_t ahead, void *room);

static inline int64_t pgi_pile_rows(int64_t rows)
{
    int64_t blocks = rows / PGI_RUN_ROWS, room = 1;

    for (; blocks > 0; blocks /= 2)
        room++;
    return room;
}

/* *total = the sum of `count` elements side by side, any number of them. `room` is for so many
 * reals, PGI_FOLD_ROOM. */
#define PGI_FOLD_ROOM(count) ((count) / 4 + 512)

typedef void pgi_fold_fn(void *total, const void *from, int64_t count, void *room);

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
    pgi_ribbon_fn *ribbon;
    pgi_pile_fn *pile, *pile_reals;
    pgi_fold_fn *fold, *fold_reals;
    pgi_halves_fn *halves;
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
    pgi_joust_fn *joust;
    pgi_final_fn *final;
    pgi_number_fn *number[4]; /* for i64, i32, u32, u8 */
    pgi_name_fn *name[3];     /* for i64, i32, u32 */
    pgi_trace_fn *trace[3];   /* likewise */
    pgi_follow_fn *follow;
    pgi_vouch_fn *vouch;
    pgi_deal_fn *deal;
    pgi_award_fn *award;
    pgi_reap_fn *reap;
} pgi_kernels;

/* The memory of one execution. */
typedef struct pgi_work {
    const void *source; /* dy or x */
    void *target;       /* dx or y */
    const void *x;      /* of a max gradient from x */
    const void *y;      /* of one that compares x with y */
    const void *indices;
    void *indices_out;
    bool near;                  /* the source lies in a cache, as far as was looked */
    bool stream;                /* rows of the target may be stored past the caches, all of them */
    bool stream_inside;         /* or what lies within long rows */
    _Atomic int64_t *bad_index; /* lowest element of the indices that is none; INT64_MAX if all are
                                   good */
} pgi_work;

typedef struct pgi_backend {
    /* Bytes of a core's own cache, and of the last one before memory, 0 if that is unknown. */
    int64_t (*cache_bytes)(void);
    int64_t (*last_cache_bytes)(void);

    /* Bytes ahead of what is read piece by piece, one behind the other, that are worth fetching; 0
     * where the machine does so by itself. */
    int64_t (*fetch_bytes)(void);

    /* How large results may be that hardly anything is read for, and that are still better left to
     * the last cache than stored past it, though nothing is near. */
    int64_t (*plain_bytes)(void);

    /* Whether the bytes at these addresses seem to be in a cache; false if that cannot be told. */
    bool (*near)(const void *const *addresses, int count);

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
