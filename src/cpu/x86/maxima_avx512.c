/* SPDX-License-Identifier: MIT */
/* Maxima for x86-64 with AVX-512. Holds nothing that could run on another machine. */
#define PGI_ISA avx512
#include "cpu/vec/avx512.h"
#include "cpu/vec/avx512_joust.h"

#include "cpu/tmpl/maxima.h"
