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

/*
 * Kernels. A "real" is the compute type of the element type (f64 for f64, else f32), a "cell" is
 * what a sweep reduces: a real or a pair. A step is a distance in elements. Ranges that are
 * written overlap no other unless it says so.
 */

/* terms[i] = dy[i * dy_step] / divisors[i * divisor_step] + 0, in reals. */
typedef void pgi_terms_fn(void *terms, const void *dy, int64_t dy_step, const void *divisors,
                          int64_t divisor_step, int64_t count);

/* reals[i] = from[i * from_step] */
typedef void pgi_widen_fn(void *reals, const void *from, int64_t from_step, int64_t count);

/* pairs[i] = key of x[i * x_step], place + i * place_step. A NaN has the highest key by the rules
 * FIRST and LAST, else the lowest; by the rule LAST its place is written reversed, ~place, so that
 * the lower of two is the later. */
typedef void pgi_keys_fn(void *pairs, const void *x, int64_t x_step, int64_t place,
                         int64_t place_step, poolgrad_nan nan, int64_t count);

/* reals[i] = reals[i] / divisors[i * divisor_step] */
typedef void pgi_divide_fn(void *reals, const void *divisors, int64_t divisor_step, int64_t count);

/* to[i * step] = alpha * reals[i] + beta * to[i * step], rounded as docs/arithmetic.md says; with
 * beta 0 `to` is not read. */
typedef void pgi_store_fn(void *to, int64_t step, const void *reals, int64_t count,
                          const pgi_scale *scale);

/* sums[places[i]] += terms[i], one after the other, where places[i] is not negative. */
typedef void pgi_scatter_fn(void *sums, const int64_t *places, const void *terms, int64_t count);

/* The reduction of a sweep: to[i] = a[i] combined with b[i]; `to` may be a. */
typedef void pgi_combine_fn(void *to, const void *a, const void *b, int64_t count);

/* Copies `count` groups of `lanes` cells to groups `step` apart; from NULL: what changes nothing
 * in a reduction. */
typedef void pgi_spread_fn(void *to, int64_t step, const void *from, int64_t lanes, int64_t count);

/* Copies `count` groups of `lanes` cells from groups `step` apart. */
typedef void pgi_pick_fn(void *to, const void *from, int64_t step, int64_t lanes, int64_t count);

typedef struct pgi_cells {
    size_t size;
    pgi_combine_fn *combine;
    pgi_spread_fn *spread;
    pgi_pick_fn *pick;
} pgi_cells;

/* The kernels of one instruction set for one element type. */
typedef struct pgi_kernels {
    const char *isa;
    pgi_terms_fn *terms;
    pgi_widen_fn *widen;
    pgi_keys_fn *keys;
    pgi_divide_fn *divide;
    pgi_store_fn *store;
    pgi_scatter_fn *scatter;
    pgi_cells sums;  /* reals, combined by addition */
    pgi_cells pairs; /* combined by taking the better */
} pgi_kernels;

/* The memory of one execution. */
typedef struct pgi_work {
    const void *source; /* dy or x */
    void *target;       /* dx or y */
    const void *x;      /* of a max gradient from x */
    const void *y;      /* of one that compares x with y */
    const void *indices;
    void *indices_out;
    _Atomic int64_t *bad_index; /* lowest element of the indices that is none; INT64_MAX if all are
                                   good */
} pgi_work;

typedef struct pgi_backend {
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
