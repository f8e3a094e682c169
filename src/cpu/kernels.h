/* SPDX-License-Identifier: MIT */
/* The kernels of one instruction set, and the instruction sets there are. */
#ifndef PGI_CPU_KERNELS_H
#define PGI_CPU_KERNELS_H

#include "plan/backend.h"

#define PGI_KERNEL(operation, type) pgi_##operation##_fn *operation##_##type;

typedef struct pgi_averages {
    int lanes_f32, lanes_f64; /* of vectors */
#include "cpu/averages.def"
} pgi_averages;

typedef struct pgi_maxima {
#include "cpu/maxima.def"
} pgi_maxima;

#undef PGI_KERNEL

/* Each is filled by a stamping file that compiles tmpl/averages.h or tmpl/maxima.h with the flags
 * of its instruction set. */
extern const pgi_averages pgi_averages_scalar, pgi_averages_avx2, pgi_averages_avx512,
    pgi_averages_neon;
extern const pgi_maxima pgi_maxima_scalar, pgi_maxima_avx2, pgi_maxima_avx512, pgi_maxima_neon;

#endif
