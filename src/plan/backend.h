/* SPDX-License-Identifier: MIT */
/*
 * What a plan asks of the machine: kernels that know no geometry, threads, and the readable
 * reference. src/cpu implements it; a strategy sees nothing else of a backend.
 */
#ifndef PGI_PLAN_BACKEND_H
#define PGI_PLAN_BACKEND_H

#include "core/problem.h"

/* alpha and beta as the arithmetic uses them: already rounded to the compute type. */
typedef struct pgi_scale {
    double alpha, beta;
} pgi_scale;

/* In all of them a "real" is the compute type of the element type (f64 for f64, else f32), and a
 * step is a distance in elements. Ranges that are written overlap no other. */

/* terms[i] = dy[i * dy_step] / divisors[i * divisor_step] + 0, in reals. */
typedef void pgi_terms_fn(void *terms, const void *dy, int64_t dy_step, const void *divisors,
                          int64_t divisor_step, int64_t count);

/* sum[i] = a[i] + b[i], in reals; sum may be a. */
typedef void pgi_add_fn(void *sum, const void *a, const void *b, int64_t count);

/* Copies `count` groups of `lanes` reals to groups `step` groups apart; from NULL: zeros. */
typedef void pgi_spread_fn(void *to, int64_t step, const void *from, int64_t lanes, int64_t count);

/* dx[i * dx_step] = alpha * sums[i] + beta * dx[i * dx_step], rounded as docs/arithmetic.md says;
 * with beta 0 dx is not read. */
typedef void pgi_store_fn(void *dx, int64_t dx_step, const void *sums, int64_t count,
                          const pgi_scale *scale);

/* The kernels of one instruction set for one element type. */
typedef struct pgi_kernels {
    const char *isa;
    pgi_terms_fn *terms;
    pgi_add_fn *add;
    pgi_spread_fn *spread;
    pgi_store_fn *store;
} pgi_kernels;

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

    /* The definition: one (batch, channel) of dx, the `plane`-th, read and written literally. */
    void (*reference)(const pgi_problem *problem, const pgi_scale *scale, const void *dy, void *dx,
                      int64_t plane, void *workspace);
} pgi_backend;

extern const pgi_backend pgi_cpu_backend;

#endif
