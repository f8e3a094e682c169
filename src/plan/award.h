/* SPDX-License-Identifier: MIT */
/* Positions take: each is given the dy of the windows whose winner it is, and stored. */
#ifndef PGI_PLAN_AWARD_H
#define PGI_PLAN_AWARD_H

#include "plan/trace.h"

/* How many rows of a tile are taken together, if their windows are alike every `period` rows. */
int64_t pgi_rows_awarded(int64_t width, int64_t lanes, int64_t period);

/* Computes the tile at dx, if windows have reached it from the places or taps that they have
 * found. */
void pgi_award_tile(pgi_scatter *scatter, char *dx, bool reached, bool new_tile);

#endif
