/* SPDX-License-Identifier: MIT */
/* Maxima for AArch64, all of which have NEON. */
#define PGI_ISA neon
#include "cpu/vec/neon.h"
#include "cpu/vec/neon_joust.h"

#include "cpu/tmpl/maxima.h"
