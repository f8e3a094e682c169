/* SPDX-License-Identifier: MIT */
/*
 * Random valid problems, over everything a descriptor can say.
 */
#ifndef SUPPORT_RANDOM_PROBLEM_H
#define SUPPORT_RANDOM_PROBLEM_H

#include "data.h"

/* A set of operators: SUP_OP(POOLGRAD_AVG) | SUP_OP(POOLGRAD_MAX) */
#define SUP_OP(op) (1u << (unsigned)(op))
#define SUP_ALL_OPS                                                                                \
    (SUP_OP(POOLGRAD_AVG_GRAD) | SUP_OP(POOLGRAD_MAX_GRAD) | SUP_OP(POOLGRAD_AVG) |                \
     SUP_OP(POOLGRAD_MAX))

typedef struct sup_limits {
    int64_t elements;  /* of a view, each (not counting gaps) */
    int64_t work;      /* steps of the naive oracles: windows x taps inside the input */
    unsigned ops;      /* operators to draw from; 0: AVG_GRAD */
    int only_dense;    /* 1: no strided layouts */
    int only_whole;    /* 1: no boxes */
    int only_gradient; /* 1: alpha 1, beta 0 */
    int only_nonempty; /* 1: batch and channels at least 1 */
    int parity;        /* percent of the gradients in another system's arithmetic */
    /* Bytes of all views together, each element once. 0: as small as they are drawn. Otherwise
     * problems are enlarged until memory matters, channels are often whole vectors, and strided
     * views mostly slices or broadcasts of a dense tensor. */
    int64_t least_bytes, most_bytes;
} sup_limits;

/* 20,000 elements, 400,000 steps, AVG_GRAD, no parity, everything else allowed. */
sup_limits sup_limits_default(void);

/* To measure, not to check: 4 to 30 MB, no bound on elements, the work of large windows, every
 * operator, no empty problems. */
sup_limits sup_limits_large(void);

/*
 * Fills *desc with a random problem that poolgrad_desc_resolve accepts. It is left as a person
 * would write it: out is sometimes stated, mostly derived, whole views stay POOLGRAD_WHOLE; resolve
 * it before use. limits may be NULL (the default). The same state of rng gives the same problem.
 *
 * Drawn from: rank 1 to 3; all types; NCX, NXC and strided on either side, mixed (what is read
 * permuted, padded, reversed or broadcast by stride 0; what is written, and indices, permuted,
 * padded or reversed); one-sided padding, up to more than the kernel; dilation; floor, ceil,
 * adaptive; the four divisors; stride above the kernel; kernel above the input, rarely 2^31-1;
 * batch or channels 0; boxes of what is written with the boxes of what it needs, sometimes
 * enlarged; alpha and beta; for max the winners from indices or x, every NaN rule, every type,
 * base and order of indices, with and without "no winner".
 */
void sup_random_problem(sup_rng *rng, const sup_limits *limits, poolgrad_desc *desc);

#endif
