/* SPDX-License-Identifier: MIT */
/* Averages for any machine, with the flags of the whole library. */
#define PGI_ISA scalar
#include "cpu/vec/scalar.h"

#include "cpu/tmpl/averages.h"
