/* SPDX-License-Identifier: MIT */
#ifndef PGI_PLAN_STRATEGIES_H
#define PGI_PLAN_STRATEGIES_H

#include "plan/plan.h"

extern const pgi_strategy pgi_strategy_separable; /* every problem, sums axis by axis */
extern const pgi_strategy pgi_strategy_reference; /* every problem, the definition read aloud */

/* In order of preference, ended by NULL; the first that applies is taken, and the last one always
 * does. */
extern const pgi_strategy *const pgi_strategies[];

#endif
