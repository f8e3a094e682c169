/* SPDX-License-Identifier: MIT */
/* The kernels for x86-64 with AVX2. Holds nothing that could run on another machine. */
#if !defined(__AVX2__) || !defined(__F16C__)
#error "compile this file with -mavx2 -mf16c"
#endif
#define PGI_ISA avx2
#include "cpu/vec/avx2.h"

#include "cpu/tmpl/kernels.h"
