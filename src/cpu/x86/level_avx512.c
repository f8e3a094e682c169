/* SPDX-License-Identifier: MIT */
/* The kernels for x86-64 with AVX-512. Holds nothing that could run on another machine. */
#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512DQ__) ||                   \
    !defined(__AVX512VL__)
#error "compile this file with -mavx512f -mavx512bw -mavx512dq -mavx512vl"
#endif
#define PGI_ISA avx512
#include "cpu/vec/avx512.h"

#include "cpu/tmpl/kernels.h"
