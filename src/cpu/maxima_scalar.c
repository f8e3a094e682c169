/* SPDX-License-Identifier: MIT */
/* Maxima for any machine, with the flags of the whole library. */
#define PGI_ISA scalar
#include "cpu/vec/scalar.h"
#include "cpu/vec/scalar_joust.h"

#include "cpu/tmpl/maxima.h"
