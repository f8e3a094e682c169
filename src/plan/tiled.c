/* SPDX-License-Identifier: MIT */
/* What the tiled strategies have in common: cutting, going through the pieces, saying how. */
#include "plan/strategies.h"

#include <inttypes.h>
#include <stdio.h>

bool pgi_plan_tile(poolgrad_plan *plan, pgi_layout_fn *lay_out)
{
    return pgi_plan_tile_lanes(plan, lay_out, 1);
}

bool pgi_plan_tile_lanes(poolgrad_plan *plan, pgi_layout_fn *lay_out, int64_t lanes)
{
    return pgi_plan_tile_as(plan, lay_out,
                            (pgi_tiling){.comfortable = PGI_COMFORTABLE_BYTES, .lanes = lanes});
}

bool pgi_plan_tile_as(poolgrad_plan *plan, pgi_layout_fn *lay_out, pgi_tiling tiling)
{
    int64_t bytes;

    plan->tiling = tiling;
    if (plan->problem.target.elements == 0)
        return true;
    if (!pgi_tiling_choose(&plan->problem, plan->threads, lay_out, &plan->tiling))
        return false;
    bytes = lay_out(&plan->problem, &plan->tiling, plan->room);
    plan->units = pgi_tiling_units(&plan->problem, &plan->tiling);
    plan->task_workspace = (size_t)bytes;
    return true;
}

void pgi_each_unit(const poolgrad_plan *plan, int64_t begin, int64_t end, pgi_unit_fn *work,
                   void *context)
{
    pgi_unit unit = pgi_tiling_unit(&plan->problem, &plan->tiling, begin);
    int64_t i, tile = -1;

    for (i = begin; i < end; i++) {
        if (i > begin)
            pgi_tiling_next(&plan->problem, &plan->tiling, &unit);
        work(context, &unit, unit.tile != tile);
        tile = unit.tile;
    }
}

void pgi_describe_tiles(const poolgrad_plan *plan, char *text, size_t capacity)
{
    const pgi_tiling *tiling = &plan->tiling;
    const int first = plan->first_axis, end = first + plan->rank;
    size_t used = 0;
    int i;

    if (plan->units == 0) {
        snprintf(text, capacity, "nothing to compute");
        return;
    }
    for (i = first; i < end; i++) {
        const pgi_gather *gather = &plan->problem.gather[i];
        const int written =
            snprintf(text + used, capacity - used,
                     "axis %d: tiles of %" PRId64 ", runs of up to %" PRId64 " %s, %s; ", i - first,
                     tiling->extent[i], gather->longest, gather->forward ? "taps" : "windows",
                     gather->axis.adaptive ? "adaptive"
                     : gather->filled      ? "filled"
                                           : "clipped");

        used += (size_t)written;
        if (used >= capacity)
            return;
    }
    snprintf(text + used, capacity - used, "rows of %" PRId64 " channel%s", tiling->lanes,
             tiling->lanes == 1 ? "" : "s");
}
