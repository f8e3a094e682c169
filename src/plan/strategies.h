/* SPDX-License-Identifier: MIT */
#ifndef PGI_PLAN_STRATEGIES_H
#define PGI_PLAN_STRATEGIES_H

#include "plan/plan.h"

extern const pgi_strategy pgi_strategy_copies;    /* averages, both ways, of what repeats itself */
extern const pgi_strategy pgi_strategy_flat;      /* likewise, of what is one number a plane */
extern const pgi_strategy pgi_strategy_whole;     /* averages that repeat a number over a plane */
extern const pgi_strategy pgi_strategy_total;     /* averages that make one of a plane */
extern const pgi_strategy pgi_strategy_direct;    /* averages of small windows, forward */
extern const pgi_strategy pgi_strategy_spread;    /* averages of windows that tile, the gradient */
extern const pgi_strategy pgi_strategy_ribbon;    /* averages of 3x3 windows, small planes */
extern const pgi_strategy pgi_strategy_staged;    /* averages of small planes, by others */
extern const pgi_strategy pgi_strategy_threes;    /* averages of 3x3 windows, both ways */
extern const pgi_strategy pgi_strategy_halves;    /* likewise with stride 2, the gradient */
extern const pgi_strategy pgi_strategy_separable; /* averages, both ways */
extern const pgi_strategy pgi_strategy_turned;    /* maxima, both ways, by one of the next two */
extern const pgi_strategy pgi_strategy_sliding_max; /* the maximum, forward */
extern const pgi_strategy pgi_strategy_scatter;     /* the gradient of the maximum */
extern const pgi_strategy pgi_strategy_parity;      /* gradients in another system's arithmetic */
extern const pgi_strategy pgi_strategy_reference;   /* every problem, the definition read aloud */

/* In order of preference, ended by NULL; the first that applies is taken. With parity that is
 * `parity`; otherwise the last one always does. */
extern const pgi_strategy *const pgi_strategies[];

/* Chooses a strategy for the problem that another one, `copies` or `flat`, has made of its own, and
 * prepares it: the first that applies but `copies` and `parity`; `flat` does not apply to the rows
 * that it makes. False if a size does not fit. */
bool pgi_plan_other(poolgrad_plan *other);

/* For tiled strategies: `prepare` by the strategy's own layout, `describe`, and the units
 * [begin, end) one after the other, with word of when a new tile begins. Blocks have so many lanes
 * also where channels lie apart, else 1; or `tiling` says that, and what is comfortable. */
bool pgi_plan_tile(poolgrad_plan *plan, pgi_layout_fn *lay_out);
bool pgi_plan_tile_lanes(poolgrad_plan *plan, pgi_layout_fn *lay_out, int64_t lanes);
bool pgi_plan_tile_as(poolgrad_plan *plan, pgi_layout_fn *lay_out, pgi_tiling tiling);
void pgi_describe_tiles(const poolgrad_plan *plan, char *text, size_t capacity);

typedef void pgi_unit_fn(void *context, const pgi_unit *unit, bool new_tile);
void pgi_each_unit(const poolgrad_plan *plan, int64_t begin, int64_t end, pgi_unit_fn *work,
                   void *context);

#endif
