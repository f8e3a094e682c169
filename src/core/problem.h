/* SPDX-License-Identifier: MIT */
/* A checked problem: the resolved descriptor and its normal form of five tensor axes and three
 * window axes. What everything behind poolgrad_plan_create works on. */
#ifndef PGI_CORE_PROBLEM_H
#define PGI_CORE_PROBLEM_H

#include "core/axis.h"
#include "core/tensor.h"

typedef struct pgi_problem {
    poolgrad_desc desc; /* resolved */
    pgi_axis axis[3];   /* leading axes that the rank lacks are unit axes */
    pgi_tensor dy, dx;
    size_t element_size;
} pgi_problem;

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

/* Checks `problem->desc` and fills the rest. The first does everything but dy's view. */
poolgrad_status pgi_problem_geometry(pgi_problem *problem, poolgrad_error *error);
poolgrad_status pgi_problem_make(pgi_problem *problem, poolgrad_error *error);

/* The windows that reach the dx view on spatial axis 0..2 (of three). */
pgi_range pgi_problem_reach(const pgi_problem *problem, int axis);

#endif
