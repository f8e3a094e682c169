/* SPDX-License-Identifier: MIT */
/* Windows give: the dy of a tile's windows is dealt to their winners, and the sums are stored. */
#ifndef PGI_PLAN_DEAL_H
#define PGI_PLAN_DEAL_H

#include "plan/trace.h"

/* Where the dy of a row of windows begins. */
const char *pgi_dy_of_row(const pgi_scatter *scatter, int64_t d, int64_t h);

/* Whether what a unit takes together lies side by side in a tensor. */
bool pgi_side_by_side(const pgi_tensor *tensor, int64_t lanes);

/* Fetches dy of all windows that reach the tile, if they have lanes: it is needed when their
 * winners are known, and finding them leaves memory idle. */
void pgi_fetch_windows(const pgi_scatter *scatter);

/* Room that terms and sums need beyond the cells they have. */
int64_t pgi_deal_slack(bool apart, int64_t lanes);

/* Computes the tile at dx, if windows have reached it from the places that they have found. */
void pgi_deal_tile(const pgi_scatter *scatter, char *dx, bool reached);

#endif
