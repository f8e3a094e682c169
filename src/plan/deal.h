/* SPDX-License-Identifier: MIT */
/* Windows give: the dy of a tile's windows is dealt to their winners, and the sums are stored. */
#ifndef PGI_PLAN_DEAL_H
#define PGI_PLAN_DEAL_H

#include "plan/trace.h"

/* Where the dy of a row of windows begins. */
const char *pgi_dy_of_row(const pgi_scatter *scatter, int64_t d, int64_t h);

/* How many windows reach the tile. */
int64_t pgi_windows_of(const pgi_scatter *scatter);

/* Whether what a unit takes together lies side by side in a tensor. */
bool pgi_side_by_side(const pgi_tensor *tensor, int64_t lanes);

/* Fetches dy of all windows that reach the tile, if they have lanes: it is needed when their
 * winners are known, and finding them leaves memory idle. */
void pgi_fetch_windows(const pgi_scatter *scatter);

/* Whether dy is dealt as it lies in memory: it has reals side by side, and lanes apart are not all
 * in few sets of the cache. */
bool pgi_dealt_in_place(const pgi_problem *problem, bool apart, int64_t lanes);

/* So far apart are lanes that have so many cells each: lines of 16 lanes are then in as many sets
 * of the cache. */
int64_t pgi_lane_pitch(int64_t cells);

/* Room that places, terms and sums need beyond the cells they have. */
int64_t pgi_deal_slack(bool apart, int64_t lanes);

/* Computes the tile at dx, if windows have reached it from the places that they have found. */
void pgi_deal_tile(const pgi_scatter *scatter, char *dx, bool reached);

#endif
