/* SPDX-License-Identifier: MIT */
/* Maxima for x86-64 with AVX2. Holds nothing that could run on another machine. */
#define PGI_ISA avx2
#include "cpu/vec/avx2.h"
#include "cpu/vec/avx2_joust.h"

#include "cpu/tmpl/maxima.h"
