/* SPDX-License-Identifier: MIT */
/* What the general kernels are told: the problem itself. Shared by the host and the kernels. */
#ifndef PGI_CUDA_KERNELS_GENERAL_H
#define PGI_CUDA_KERNELS_GENERAL_H

#include "core/problem.h"

typedef struct pgi_cuda_general {
    pgi_problem problem;
    double alpha, beta; /* rounded to the compute type */
    int64_t count;      /* elements to compute, one per thread at a time */

    /* Averages: this pass sums one axis of an array of planes of held[] places, whose first are
     * begin[]; afterwards the axis has as many places as the target. */
    int axis;
    int first, last; /* reads the source; writes the target */
    int64_t held[3], begin[3];
} pgi_cuda_general;

/* Memory of an execution, as kernels see it. */
typedef struct pgi_cuda_memory {
    const void *source;
    void *target; /* NULL: only indices are wanted */
    const void *x;
    const void *indices;
    void *indices_out;       /* NULL: not wanted */
    unsigned long long *bad; /* the lowest element of the indices that is none */
    const void *sums_in;     /* what the pass before this one left, and what this one leaves */
    void *sums_out;
} pgi_cuda_memory;

#endif
