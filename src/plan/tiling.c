/* SPDX-License-Identifier: MIT */
#include "plan/tiling.h"

#include "core/dtype.h"
#include "core/integer.h"
#include "plan/plan.h"

/* A tile's workspace should stay in a core's second-level cache (0.5 to 2 MiB today). */
#define COMFORTABLE_BYTES (INT64_C(512) << 10)
/* Windows far larger than that are cut even where neighbouring tiles then repeat most work. */
#define FORCED_BYTES (INT64_C(64) << 20)
/* Units per thread, so that one slow thread does not hold up the others. */
#define UNITS_PER_THREAD 4

typedef struct pgi_layout {
    int64_t at;
    bool fits;
} pgi_layout;

static size_t place(pgi_layout *layout, int64_t a, int64_t b, int64_t c, int64_t size)
{
    const int64_t begin = layout->at;
    int64_t bytes;

    layout->fits = layout->fits && pgi_mul(a, b, &bytes) && pgi_mul(bytes, c, &bytes) &&
                   pgi_mul(bytes, size, &bytes) && pgi_add(begin, bytes, &layout->at) &&
                   pgi_add(layout->at, PGI_ALIGNMENT - 1, &layout->at);
    if (layout->fits)
        layout->at -= layout->at % PGI_ALIGNMENT;
    return (size_t)begin;
}

/* Everything that follows from lanes and extent. */
static bool measure(const pgi_problem *problem, pgi_tiling *tiling)
{
    const int64_t real = (int64_t)pgi_compute_size(problem->desc.dtype);
    pgi_layout layout = {0, true};
    int64_t row, positions, pointers = 0;
    int i;

    for (i = 0; i < 3; i++) {
        const pgi_axis *axis = &problem->axis[i];
        const int64_t length = problem->dx.extent[PGI_SPATIAL + i];

        tiling->tiles[i] = pgi_ceil_div(length, tiling->extent[i]);
        tiling->reach[i] = pgi_axis_reach_bound(axis, tiling->extent[i]);
        tiling->windows[i] = pgi_min(tiling->reach[i], axis->out);
        tiling->levels[i] = pgi_log2(pgi_max(1, pgi_min(axis->longest, tiling->reach[i])));
    }
    tiling->blocks = pgi_ceil_div(problem->dx.extent[PGI_CHANNEL], tiling->lanes);

    if (!pgi_mul(tiling->windows[2], tiling->lanes, &row))
        return false;
    positions = tiling->extent[2];
    tiling->terms = place(&layout, tiling->windows[0], tiling->windows[1], row, real);
    if (!pgi_mul(tiling->reach[0], tiling->levels[0], &pointers))
        return false;
    tiling->planes = place(&layout, pointers, tiling->windows[1], row, real);
    tiling->plane = place(&layout, 1, tiling->windows[1], row, real);
    tiling->rows = place(&layout, tiling->levels[1], tiling->reach[1], row, real);
    tiling->columns = place(&layout, tiling->levels[2] + 1, tiling->reach[2], tiling->lanes, real);
    tiling->phase = place(&layout, 1, positions, tiling->lanes, real);
    tiling->sums = place(&layout, 1, positions, tiling->lanes, real);
    tiling->divisors = place(&layout, 1, 1, tiling->windows[2], real);
    tiling->pointers = place(&layout, 1, tiling->levels[0] + 1, tiling->reach[0], sizeof(void *));
    place(&layout, 1, tiling->levels[1] + 1, tiling->reach[1], sizeof(void *));
    tiling->runs = place(&layout, 1, 1, positions, sizeof(pgi_run));
    tiling->counts = place(&layout, 1, 1, tiling->windows[2], sizeof(int64_t));
    tiling->bytes = (size_t)layout.at;
    return layout.fits;
}

int64_t pgi_tiling_units(const pgi_problem *problem, const pgi_tiling *tiling)
{
    if (problem->dx.elements == 0)
        return 0;
    return tiling->tiles[0] * tiling->tiles[1] * tiling->tiles[2] * tiling->blocks *
           problem->dx.extent[PGI_BATCH];
}

/* What may be halved, cheapest first: cutting the outer axes costs repeated windows at the border
 * but leaves rows long. */
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

/* The smallest extent at which a tile does not repeat more than half of its neighbour's windows
 * (lanes: at which a row is still worth a vector loop). */
static int64_t comfortable(const pgi_problem *problem, int cut)
{
    static const int axes[CUT_COUNT] = {0, 1, -1, 2};
    const pgi_axis *axis;
    int64_t span;

    if (cut == CUT_LANES)
        return 64;
    axis = &problem->axis[axes[cut]];
    if (!pgi_mul(axis->stride, axis->longest, &span) || !pgi_mul(span, 2, &span))
        return INT64_MAX;
    return pgi_max(cut == CUT_WIDTH ? 256 : 4, span);
}

/* Halves while the workspace exceeds `limit` or does not fit in 64 bits at all. */
static void shrink(const pgi_problem *problem, pgi_tiling *tiling, int64_t limit, bool forced,
                   bool *fits)
{
    int cut;

    for (cut = 0; cut < CUT_COUNT; cut++) {
        int64_t *size = cut_of(tiling, cut);
        const int64_t smallest = forced ? 1 : comfortable(problem, cut);

        while ((!*fits || (int64_t)tiling->bytes > limit) && *size > 1 && *size / 2 >= smallest) {
            *size = pgi_ceil_div(*size, 2);
            *fits = measure(problem, tiling);
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

bool pgi_tiling_choose(const pgi_problem *problem, int32_t threads, pgi_tiling *tiling)
{
    const pgi_tensor *dx = &problem->dx;
    const bool channels_inside = distance(dx, PGI_CHANNEL) < distance(dx, PGI_SPATIAL + 2);
    int cut, i;
    bool fits;

    tiling->lanes = channels_inside ? dx->extent[PGI_CHANNEL] : 1;
    for (i = 0; i < 3; i++)
        tiling->extent[i] = pgi_max(1, dx->extent[PGI_SPATIAL + i]);
    fits = measure(problem, tiling);
    shrink(problem, tiling, COMFORTABLE_BYTES, false, &fits);
    shrink(problem, tiling, FORCED_BYTES, true, &fits);
    if (!fits)
        return false;
    for (cut = 0; cut < CUT_COUNT; cut++) {
        int64_t *size = cut_of(tiling, cut);

        while (pgi_tiling_units(problem, tiling) < (int64_t)threads * UNITS_PER_THREAD &&
               threads > 1 && *size > 1 && *size / 2 >= comfortable(problem, cut)) {
            *size = pgi_ceil_div(*size, 2);
            fits = measure(problem, tiling);
        }
    }
    return fits;
}
