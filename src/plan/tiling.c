/* SPDX-License-Identifier: MIT */
#include "plan/tiling.h"

#include "core/integer.h"

/* Units per thread, so that one slow thread does not hold up the others. */
#define UNITS_PER_THREAD 4
/* Channels of a block, if they are cut. */
#define LEAST_LANES 64

static int64_t footprint(const pgi_problem *problem, const pgi_tiling *tiling,
                         pgi_layout_fn *lay_out)
{
    size_t room[PGI_ROOMS];

    return lay_out(problem, tiling, room);
}

static void count_tiles(const pgi_problem *problem, pgi_tiling *tiling)
{
    int i;

    for (i = 0; i < 3; i++)
        tiling->tiles[i] = pgi_ceil_div(problem->target.extent[PGI_SPATIAL + i], tiling->extent[i]);
    tiling->blocks = pgi_ceil_div(problem->target.extent[PGI_CHANNEL], tiling->lanes);
}

int64_t pgi_tiling_units(const pgi_problem *problem, const pgi_tiling *tiling)
{
    return tiling->tiles[0] * tiling->tiles[1] * tiling->tiles[2] * tiling->blocks *
           problem->target.extent[PGI_BATCH];
}

static void set_tile(const pgi_problem *problem, const pgi_tiling *tiling, int64_t tile,
                     pgi_unit *unit)
{
    const pgi_tensor *target = &problem->target;
    int axis;

    unit->tile = tile;
    for (axis = 2; axis >= 0; axis--) {
        const int64_t origin = target->offset[PGI_SPATIAL + axis];
        const int64_t tiles = tiling->tiles[axis];
        const int64_t begin = tiles > 1 ? tile % tiles * tiling->extent[axis] : 0;

        unit->begin[axis] = origin + begin;
        unit->end[axis] = unit->begin[axis] +
                          pgi_min(tiling->extent[axis], target->extent[PGI_SPATIAL + axis] - begin);
        tile = tiles > 1 ? tile / tiles : tile;
    }
}

static void set_channel(const pgi_problem *problem, const pgi_tiling *tiling, int64_t channel,
                        pgi_unit *unit)
{
    unit->channel = channel;
    unit->lanes = pgi_min(tiling->lanes, problem->target.extent[PGI_CHANNEL] - channel);
}

pgi_unit pgi_tiling_unit(const pgi_problem *problem, const pgi_tiling *tiling, int64_t index)
{
    const int64_t per_tile = problem->target.extent[PGI_BATCH] * tiling->blocks;
    pgi_unit unit;

    set_tile(problem, tiling, index / per_tile, &unit);
    unit.batch = index % per_tile / tiling->blocks;
    set_channel(problem, tiling, index % tiling->blocks * tiling->lanes, &unit);
    return unit;
}

/* Without the divisions: small planes come by the ten thousand. */
void pgi_tiling_next(const pgi_problem *problem, const pgi_tiling *tiling, pgi_unit *unit)
{
    const int64_t channel = unit->channel + unit->lanes;

    if (channel < problem->target.extent[PGI_CHANNEL]) {
        set_channel(problem, tiling, channel, unit);
        return;
    }
    set_channel(problem, tiling, 0, unit);
    if (++unit->batch < problem->target.extent[PGI_BATCH])
        return;
    unit->batch = 0;
    set_tile(problem, tiling, unit->tile + 1, unit);
}

/* What may be halved, cheapest first: cutting the outer axes costs repeated work at the border but
 * leaves rows long. */
enum {
    CUT_DEPTH,
    CUT_HEIGHT,
    CUT_LANES,
    CUT_WIDTH,
    CUT_COUNT
};

static int64_t *cut_of(pgi_tiling *tiling, int cut)
{
    switch (cut) {
    case CUT_DEPTH:
        return &tiling->extent[0];
    case CUT_HEIGHT:
        return &tiling->extent[1];
    case CUT_LANES:
        return &tiling->lanes;
    default:
        return &tiling->extent[2];
    }
}

/* Whether tiles of half the size would do little work twice: at the border of a tile its neighbour
 * needs the same sources again. Rows and lanes are kept long enough for vector loops. */
static bool worth_halving(const pgi_problem *problem, pgi_tiling *tiling, int cut)
{
    static const int axes[CUT_COUNT] = {0, 1, -1, 2};
    const int64_t size = *cut_of(tiling, cut), half = pgi_ceil_div(size, 2);
    const int64_t shortest = cut == CUT_LANES   ? pgi_max(LEAST_LANES, tiling->least_lanes)
                             : cut == CUT_WIDTH ? 256
                                                : 1;
    const pgi_gather *gather;

    if (size == 1)
        return false;
    if (cut == CUT_LANES)
        return half >= shortest;
    gather = &problem->gather[axes[cut]];
    if (pgi_max(half, pgi_gather_reach_bound(gather, half)) < shortest)
        return false;
    /* runs no longer than a quarter of the tile: at most half of the work is done twice */
    return pgi_gather_reach_bound(gather, half) <= pgi_gather_reach_bound(gather, size) / 5 * 3 + 1;
}

/* Halves while the workspace exceeds the limit and it is worth it; and where it does not fit in 64
 * bits, anyway. */
static void shrink(const pgi_problem *problem, pgi_tiling *tiling, pgi_layout_fn *lay_out)
{
    int64_t bytes = footprint(problem, tiling, lay_out);
    int cut;

    for (cut = 0; cut < CUT_COUNT; cut++) {
        int64_t *size = cut_of(tiling, cut);

        while (bytes < 0 ? *size > 1
                         : bytes > tiling->comfortable && worth_halving(problem, tiling, cut)) {
            const int64_t whole = *size, before = bytes;

            *size = pgi_ceil_div(*size, 2);
            bytes = footprint(problem, tiling, lay_out);
            if (before > 0 && bytes > before / 4 * 3) { /* what does not help */
                *size = whole;
                bytes = before;
                break;
            }
        }
    }
}

/* Between neighbours on an axis; larger than any other if there are none. */
static int64_t distance(const pgi_tensor *tensor, int axis)
{
    if (tensor->extent[axis] <= 1)
        return INT64_MAX;
    return tensor->stride[axis] < 0 ? -tensor->stride[axis] : tensor->stride[axis];
}

bool pgi_channels_inside(const pgi_tensor *tensor)
{
    return distance(tensor, PGI_CHANNEL) < distance(tensor, PGI_SPATIAL + 2);
}

bool pgi_tiling_choose(const pgi_problem *problem, int32_t threads, pgi_layout_fn *lay_out,
                       pgi_tiling *tiling)
{
    const pgi_tensor *target = &problem->target;
    int cut, i;

    tiling->lanes = pgi_channels_inside(target)
                        ? target->extent[PGI_CHANNEL]
                        : pgi_min(tiling->lanes, target->extent[PGI_CHANNEL]);
    for (i = 0; i < 3; i++)
        tiling->extent[i] = target->extent[PGI_SPATIAL + i];
    shrink(problem, tiling, lay_out);
    count_tiles(problem, tiling);
    for (cut = 0; cut < CUT_COUNT && threads > 1; cut++) {
        int64_t *size = cut_of(tiling, cut);

        while (pgi_tiling_units(problem, tiling) < (int64_t)threads * UNITS_PER_THREAD &&
               worth_halving(problem, tiling, cut)) {
            *size = pgi_ceil_div(*size, 2);
            count_tiles(problem, tiling);
        }
    }
    /* a last block of one lane would be a row of another kind than the strategy laid out */
    while (pgi_channels_inside(target) && tiling->lanes > 1 &&
           target->extent[PGI_CHANNEL] % tiling->lanes == 1)
        tiling->lanes++;
    count_tiles(problem, tiling);
    return footprint(problem, tiling, lay_out) >= 0;
}
