/* SPDX-License-Identifier: MIT */
/* A checked problem: the resolved descriptor and its normal form of five tensor axes and three
 * window axes. What everything behind poolgrad_plan_create works on. */
#ifndef PGI_CORE_PROBLEM_H
#define PGI_CORE_PROBLEM_H

#include "core/gather.h"
#include "core/index.h"
#include "core/tensor.h"

typedef struct pgi_problem {
    poolgrad_desc desc; /* resolved */
    pgi_axis axis[3];   /* leading axes that the rank lacks are unit axes */

    /* What is read and what is written: dy and dx, or x and y; and how one comes from the other. */
    pgi_tensor source, target;
    pgi_gather gather[3];

    /* Max pooling. */
    bool has_x, has_y, has_indices; /* beside source and target */
    pgi_tensor x, y;                /* of a gradient from x, or from x and y, */
    pgi_gather taps[3];             /* and the taps of its windows */
    pgi_tensor indices;
    pgi_indexing indexing;

    size_t element_size, index_size;
    bool exchanged; /* batch and channels have changed places in all tensors and the indexing */
} pgi_problem;

/* The tensor axis that the caller has in this place. */
PGI_SHARED int pgi_caller_axis(const pgi_problem *problem, int i)
{
    return problem->exchanged && i < PGI_SPATIAL ? PGI_CHANNEL - i : i;
}

PGI_SHARED bool pgi_is_forward(poolgrad_op op)
{
    return op == POOLGRAD_AVG || op == POOLGRAD_MAX;
}

PGI_SHARED bool pgi_is_max(poolgrad_op op)
{
    return op == POOLGRAD_MAX || op == POOLGRAD_MAX_GRAD;
}

/* Copies a versioned struct over defaults already in `to`, whose own size field stays. */
poolgrad_status pgi_struct_read(void *to, size_t to_size, const void *from, size_t minimum,
                                const char *name, poolgrad_error *error);

/* The descriptor of the caller, checked for NULL and size, in a full-sized copy. */
poolgrad_status pgi_desc_read(poolgrad_desc *to, const poolgrad_desc *from, poolgrad_error *error);

/* Rank and every enum field of a descriptor. */
poolgrad_status pgi_check_enums(const poolgrad_desc *desc, poolgrad_error *error);

/* Rank and the fields of every axis that padding depends on. */
poolgrad_status pgi_check_rank(int32_t rank, poolgrad_error *error);
poolgrad_status pgi_check_window(const poolgrad_desc *desc, int i, poolgrad_error *error);

/* The views of a descriptor that its op uses as source and target, and their names. */
poolgrad_view *pgi_source_view(poolgrad_desc *desc);
poolgrad_view *pgi_target_view(poolgrad_desc *desc);
const char *pgi_source_name(poolgrad_op op);
const char *pgi_target_name(poolgrad_op op);

/* Checks `problem->desc` and fills the rest. The first does everything but what is read. */
poolgrad_status pgi_problem_geometry(pgi_problem *problem, poolgrad_error *error);
poolgrad_status pgi_problem_make(pgi_problem *problem, poolgrad_error *error);

/* On spatial axis 0..2 (of three): the part of the source that reaches the target view, and the
 * positions of x that the windows among it span. */
pgi_range pgi_problem_reach(const pgi_problem *problem, int axis);
pgi_range pgi_problem_x_reach(const pgi_problem *problem, int axis);

#endif
