/* SPDX-License-Identifier: MIT */
/* The kernels for AArch64, all of which have NEON. */
#ifndef __ARM_NEON
#error "this file is for AArch64"
#endif
#define PGI_ISA neon
#include "cpu/vec/neon.h"

#include "cpu/tmpl/kernels.h"
