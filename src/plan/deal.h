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

/* Whether tiles are better made slice by slice, from indices or an arena, if windows give: planes
 * would be cut, and many windows at the border of tiles be looked at twice, since they overlap by
 * half or more; what one covers is no more than a quarter. */
bool pgi_suits_slices(const pgi_problem *problem, const pgi_tiling *tiling);

/* Sets the axis that is sliced, how many of its windows are dealt at once, and of how many of its
 * positions there are sums: all that these cover, up to where the next ones begin. A tile has up to
 * so many windows, and a row of them so many cells. */
void pgi_set_slices(const pgi_problem *problem, const int64_t windows[3], int64_t cells,
                    pgi_scatter_parts *parts);

/* Finds the winners of the windows at hand in x, as places in a tile; windows are asked for in
 * their order, and `first` says that a unit begins. */
typedef void pgi_find_fn(pgi_scatter *scatter, const pgi_unit *tile, bool first);

/* Computes the tile at dx, if windows reach it, from their indices or as they are found, some
 * windows of an axis at a time: what no window behind them covers is stored, and the other sums are
 * handed on. */
void pgi_deal_slices(pgi_scatter *scatter, char *dx, bool reached, bool new_tile,
                     pgi_find_fn *find);

#endif
