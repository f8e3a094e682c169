/* SPDX-License-Identifier: MIT */
/* The kernels for x86-64 with AVX2. Holds nothing that could run on another machine. */
#ifndef __AVX2__
#error "compile this file with -mavx2"
#endif
#define PGI_ISA avx2
#include "cpu/tmpl/kernels.h"
