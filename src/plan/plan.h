/* SPDX-License-Identifier: MIT */
/* The plan, and what a strategy is: one way of computing a problem. */
#ifndef PGI_PLAN_PLAN_H
#define PGI_PLAN_PLAN_H

#include "plan/backend.h"
#include "plan/cascade.h"
#include "plan/tiling.h"

#include <stdbool.h>

/* More threads than any machine has CPUs, few enough for 32-bit counts. */
#define PGI_MAX_THREADS 4096

typedef struct pgi_strategy {
    const char *name;
    const char *reason;                             /* why one would choose it */
    bool (*applicable)(const pgi_problem *problem); /* among those with or without parity */

    /* Sets units, task_workspace and whatever fields of the plan are the strategy's own, for up
     * to plan->threads tasks; false if a size does not fit in 64 bits. */
    bool (*prepare)(poolgrad_plan *plan);

    /* Computes units [begin, end). Units write disjoint parts of the target. */
    void (*run)(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace);

    /* One or two sentences on how this plan does it. */
    void (*describe)(const poolgrad_plan *plan, char *text, size_t capacity);
} pgi_strategy;

/* A full-sized, checked copy of the caller's options (may be NULL), with an allocator. */
poolgrad_status pgi_options_read(poolgrad_options *to, const poolgrad_options *from,
                                 poolgrad_error *error);

/* Of every view that is read or written, each element once. */
int64_t pgi_bytes_written(const pgi_problem *problem);
int64_t pgi_bytes_read(const pgi_problem *problem);

pgi_scale pgi_scale_of(const poolgrad_desc *desc);

struct poolgrad_plan {
    pgi_problem problem;
    int rank; /* without axes of one position and window, which are the first of the three */
    pgi_scale scale;
    const pgi_strategy *strategy;
    const char *reason;
    const pgi_backend *backend;
    pgi_kernels kernels;

    int32_t threads;
    int64_t units, tasks;
    bool stream;           /* the target is too large to stay in a core's own caches */
    bool fits;             /* but half of the last one would hold all that is read and written */
    bool looks;            /* the source may lie in the last one, and it matters whether it does */
    size_t task_workspace; /* bytes per task, a multiple of PGI_ALIGNMENT */

    poolgrad_parallel_for parallel_for; /* NULL: the backend's */
    void *parallel_context;
    void *(*allocate)(void *context, size_t bytes);
    void (*release)(void *context, void *memory);
    void *allocator_context;

    /* Of `whole`: channels, and places of each, that are computed together; how many of both. */
    int64_t block, blocks, part, parts;

    /* Of the tiled strategies. */
    pgi_tiling tiling;
    pgi_cascade_layout cascade;
    int first_axis; /* of three, the first that has windows */
    size_t room[PGI_ROOMS];
};

#endif
