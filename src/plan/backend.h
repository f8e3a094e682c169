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

/* A candidate for the maximum: a key that orders as the values do (docs/architecture.md), and the
 * place in the plane. The better of two has the larger key, among equals the lower place. */
typedef struct pgi_pair {
    int64_t key, place;
} pgi_pair;

/* Worse than everything: what padding holds. */
#define PGI_NO_KEY   INT64_MIN
#define PGI_NO_PLACE INT64_MAX

/* The same in one word, where keys have 32 bits and a plane less than 2^31 places: the key above,
 * the place below, inverted, so that the better of two is the larger. Half the size of a pair, and
 * vectors have a maximum. */
#define PGI_NO_PACKED INT64_MIN

/*
 * Kernels. A "real" is the compute type of the element type (f64 for f64, else f32), a "cell" is
 * what a sweep reduces: a real, a pair or a word. A step is a distance in elements. Ranges that are
 * written overlap no other unless it says so.
 */

/* terms[i] = dy[i * dy_step] / divisors[i * divisor_step] + 0, in reals. divisor_step is 0 or 1. */
typedef void pgi_terms_fn(void *terms, const void *dy, int64_t dy_step, const void *divisors,
                          int64_t divisor_step, int64_t count);

/* reals[i] = from[i * from_step] */
typedef void pgi_widen_fn(void *reals, const void *from, int64_t from_step, int64_t count);

/* pairs[i] = key of x[i * x_step], place + i * place_step. A NaN has the highest key by the rules
 * FIRST and LAST, else the lowest; by the rule LAST its place is written reversed, ~place, so that
 * the lower of two is the later. */
typedef void pgi_keys_fn(void *pairs, const void *x, int64_t x_step, int64_t place,
                         int64_t place_step, poolgrad_nan nan, int64_t count);

/* The same in words. By the rule LAST the place of a NaN is not inverted. */
typedef pgi_keys_fn pgi_pack_fn;

/* reals[i] = reals[i] / divisors[i * divisor_step] */
typedef void pgi_divide_fn(void *reals, const void *divisors, int64_t divisor_step, int64_t count);

/* to[i * step] = alpha * reals[i] + beta * to[i * step], rounded as docs/arithmetic.md says; with
 * beta 0 `to` is not read. */
typedef void pgi_store_fn(void *to, int64_t step, const void *reals, int64_t count,
                          const pgi_scale *scale);

/* to[i * times + t] = alpha * reals[i], rounded to an element, for every t in [0, times). */
typedef void pgi_repeat_fn(void *to, const void *reals, int64_t times, int64_t count, double alpha);

/* Copies bytes. With `stream` the memory is not expected to be read soon. */
typedef void pgi_copy_fn(void *to, const void *from, int64_t bytes, bool stream);

/* Makes what this thread has streamed visible to others; before it says that it is done. */
typedef void pgi_settle_fn(void);

/* sums[places[i]] += terms[i], one after the other, where places[i] is not negative. */
typedef void pgi_scatter_fn(void *sums, const int64_t *places, const void *terms, int64_t count);

/* The same for places none of which is negative. */
typedef void pgi_collect_fn(void *sums, const int32_t *places, const void *terms, int64_t count);

/* Where winners may lie, for windows side by side: in `planes` planes of `plane` places of the
 * input, `rows` rows of `row` places in each, of which window i has the columns [begin, end) at
 * i * column_step. Places are counted from the first of these rows; there are less than 2^31. */
typedef struct pgi_cover {
    int64_t planes, plane, rows, row;
    const int32_t *begin, *end;
    int64_t column_step; /* 1, or 0 if all have the columns of the first */

    int64_t origin, origin_step; /* the index of place 0 is origin + i * origin_step */
    int64_t place, place_step;   /* place 0 is the sum place + i * place_step ... */
    int64_t place_unit;          /* ... and its neighbours are so far apart */
    int64_t plane_gap;           /* places of a plane that have no sum */
} pgi_cover;

/* places[i] = where the index indices[i * step] lies among the sums. Returns false if an index does
 * not lie in its window; the places are then of no use. `scratch` is as long as places. */
typedef bool pgi_locate_fn(int32_t *places, int32_t *scratch, const void *indices, int64_t step,
                           const pgi_cover *cover, int64_t count);

/* The reduction of a sweep: to[i] = a[i] combined with b[i]; `to` may be a. */
typedef void pgi_combine_fn(void *to, const void *a, const void *b, int64_t count);

/* A run of rows that is to be reduced: place i of the result is what places i of them give, in the
 * order of docs/arithmetic.md (pieces of powers of two, the largest first). */
#define PGI_RUN_ROWS 16

typedef struct pgi_rows {
    const void *row[PGI_RUN_ROWS];
    int count; /* 1 .. PGI_RUN_ROWS */
} pgi_rows;

/* to[i] = the run reduced at place i; `to` is none of the rows. */
typedef void pgi_reduce_fn(void *to, const pgi_rows *run, int64_t count);

/* PGI_BLOCK_ROWS runs of `length` rows at once, each beginning one row after the one before: to[r]
 * is what rows r, r + 1, ... give. 2 <= length <= PGI_RUN_ROWS. */
#define PGI_BLOCK_ROWS 4

typedef void pgi_reduce_block_fn(void *const *to, const void *const *rows, int length,
                                 int64_t count);

/* Streaming stores want memory aligned to this many elements of f32 and of the narrow types alike;
 * f64 then is, too. A level's own vectors may be longer. */
#define PGI_STREAM_ELEMENTS 8

/* Sums to elements in memory, with beta 0: `places` groups of `lanes` elements, each rounded once
 * after the product with alpha. Group i is what run i % phases gives at group i / phases. With
 * `stream` the memory is not expected to be read soon. */
typedef void pgi_finish_fn(void *to, const pgi_rows *run, int phases, int64_t lanes, int64_t places,
                           double alpha, bool stream);

/* Copies `count` groups of `lanes` cells to groups `step` apart; from NULL: what changes nothing
 * in a reduction. */
typedef void pgi_spread_fn(void *to, int64_t step, const void *from, int64_t lanes, int64_t count);

/* Copies `count` groups of `lanes` cells from groups `step` apart. */
typedef void pgi_pick_fn(void *to, const void *from, int64_t step, int64_t lanes, int64_t count);

typedef struct pgi_cells {
    size_t size;
    pgi_combine_fn *combine;
    pgi_reduce_fn *reduce;
    pgi_reduce_block_fn *reduce_block; /* NULL: none */
    pgi_spread_fn *spread;
    pgi_pick_fn *pick;
} pgi_cells;

/* The kernels of one instruction set for one element type. */
typedef struct pgi_kernels {
    const char *isa;
    pgi_terms_fn *terms;
    pgi_widen_fn *widen;
    pgi_keys_fn *keys;
    pgi_pack_fn *pack; /* NULL for f64 */
    pgi_divide_fn *divide;
    pgi_store_fn *store;
    pgi_finish_fn *finish;
    pgi_repeat_fn *repeat;
    pgi_copy_fn *copy;
    pgi_settle_fn *settle;
    pgi_scatter_fn *scatter;
    pgi_collect_fn *collect;
    pgi_locate_fn *locate[3]; /* for i64, i32, u32 */
    pgi_cells sums;           /* reals, combined by addition */
    pgi_cells pairs;          /* combined by taking the better */
    pgi_cells packed;         /* likewise */
} pgi_kernels;

/* The memory of one execution. */
typedef struct pgi_work {
    const void *source; /* dy or x */
    void *target;       /* dx or y */
    const void *x;      /* of a max gradient from x */
    const void *y;      /* of one that compares x with y */
    const void *indices;
    void *indices_out;
    bool stream;                /* rows of the target may be stored past the caches */
    _Atomic int64_t *bad_index; /* lowest element of the indices that is none; INT64_MAX if all are
                                   good */
} pgi_work;

typedef struct pgi_backend {
    /* Bytes of a core's own cache. */
    int64_t (*cache_bytes)(void);

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
