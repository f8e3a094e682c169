/* SPDX-License-Identifier: MIT */
/* The table of strategies. A new one is a file beside this and a line here. */
#include "plan/strategies.h"

#include <stddef.h>

const pgi_strategy *const pgi_strategies[] = {
    &pgi_strategy_whole,
    &pgi_strategy_total,
    &pgi_strategy_copies, /* before those that it calls */
    &pgi_strategy_flat,
    &pgi_strategy_ribbon,
    &pgi_strategy_staged, /* before those that it calls, too */
    &pgi_strategy_threes,
    &pgi_strategy_halves,
    &pgi_strategy_direct,
    &pgi_strategy_spread,
    &pgi_strategy_separable,
    &pgi_strategy_turned, /* before those that it calls */
    &pgi_strategy_sliding_max,
    &pgi_strategy_scatter,
    &pgi_strategy_parity,
    &pgi_strategy_reference,
    NULL,
};

bool pgi_plan_other(poolgrad_plan *other)
{
    const pgi_strategy *const *entry = pgi_strategies;

    while (*entry == &pgi_strategy_copies || *entry == &pgi_strategy_staged ||
           *entry == &pgi_strategy_parity || !(*entry)->applicable(&other->problem))
        entry++;
    other->strategy = *entry;
    return other->strategy->prepare(other);
}
