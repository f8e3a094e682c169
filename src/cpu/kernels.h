/* SPDX-License-Identifier: MIT */
/* The kernels of one instruction set, and the instruction sets there are. */
#ifndef PGI_CPU_KERNELS_H
#define PGI_CPU_KERNELS_H

#include "plan/backend.h"

typedef struct pgi_kernel_table {
    int lanes_f32, lanes_f64; /* of vectors */
#define PGI_KERNEL(operation, type) pgi_##operation##_fn *operation##_##type;
#include "cpu/kernels.def"
#undef PGI_KERNEL
} pgi_kernel_table;

/* Each is filled by a stamping file that compiles tmpl/kernels.h with its own flags. */
extern const pgi_kernel_table pgi_table_scalar;
extern const pgi_kernel_table pgi_table_avx2;
extern const pgi_kernel_table pgi_table_avx512;
extern const pgi_kernel_table pgi_table_neon;

#endif
