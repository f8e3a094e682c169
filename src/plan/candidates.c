/* SPDX-License-Identifier: MIT */
#include "plan/candidates.h"

#include "core/dtype.h"
#include "core/integer.h"
#include "plan/rows.h"

static bool packs(const pgi_problem *problem)
{
    const pgi_axis *axis = problem->axis;
    int64_t places;

    return problem->desc.dtype != POOLGRAD_F64 && pgi_mul(axis[0].in, axis[1].in, &places) &&
           pgi_mul(places, axis[2].in, &places) && places <= INT32_MAX;
}

pgi_cells pgi_candidate_cells(const poolgrad_plan *plan)
{
    return packs(&plan->problem) ? plan->kernels.packed : plan->kernels.pairs;
}

size_t pgi_candidate_size(const pgi_problem *problem)
{
    return packs(problem) ? sizeof(int64_t) : sizeof(pgi_pair);
}

void pgi_load_candidates(const poolgrad_plan *plan, const pgi_sweep *sweep,
                         const pgi_tensor *tensor, const char *x)
{
    const pgi_problem *problem = &plan->problem;
    const poolgrad_nan nan = problem->desc.nan;
    const int64_t size = (int64_t)problem->element_size, lanes = sweep->lanes;
    const int64_t step = tensor->stride[PGI_SPATIAL + 2], lane_step = tensor->stride[PGI_CHANNEL];
    const pgi_range places = sweep->reach[2];
    pgi_keys_fn *load = packs(problem) ? plan->kernels.pack : plan->kernels.keys;
    int64_t d, h, w;

    for (d = sweep->reach[0].begin; d < sweep->reach[0].end; d++) {
        for (h = sweep->reach[1].begin; h < sweep->reach[1].end; h++) {
            const char *from = x + pgi_row_offset(tensor, d, h, places.begin) * size;
            const int64_t row = (d * problem->axis[1].in + h) * problem->axis[2].in;
            char *cells = pgi_sweep_source_row(sweep, d, h);

            if (lanes == 1) {
                load(cells, from, step, row + places.begin, 1, nan, places.end - places.begin);
                continue;
            }
            for (w = places.begin; w < places.end; w++)
                load(cells + (size_t)((w - places.begin) * lanes) * sweep->cells.size,
                     from + (w - places.begin) * step * size, lane_step, row + w, 0, nan, lanes);
        }
    }
}

/* By the rule LEADING a NaN wins where it is the window's first tap inside the input. The keys know
 * no windows and have skipped it. */
static void let_leading_nan_win(const pgi_problem *problem, const pgi_tensor *tensor, const char *x,
                                int64_t d, int64_t h, pgi_range windows, int64_t lanes,
                                int64_t *places)
{
    const int64_t size = (int64_t)problem->element_size;
    int64_t o, lane, row, plane_row, w;

    if (!pgi_axis_covers(&problem->axis[0], d) || !pgi_axis_covers(&problem->axis[1], h))
        return;
    d = pgi_axis_first_tap(&problem->axis[0], d);
    h = pgi_axis_first_tap(&problem->axis[1], h);
    plane_row = (d * problem->axis[1].in + h) * problem->axis[2].in;
    for (o = windows.begin; o < windows.end; o++, places += lanes) {
        if (!pgi_axis_covers(&problem->axis[2], o))
            continue;
        w = pgi_axis_first_tap(&problem->axis[2], o);
        row = pgi_row_offset(tensor, d, h, w);
        for (lane = 0; lane < lanes; lane++)
            if (pgi_is_nan(problem->desc.dtype,
                           x + (row + lane * tensor->stride[PGI_CHANNEL]) * size))
                places[lane] = plane_row + w;
    }
}

static void unpair(const pgi_pair *best, int64_t count, int64_t *places)
{
    int64_t i;

    for (i = 0; i < count; i++)
        places[i] = best[i].place < 0 ? ~best[i].place : best[i].place;
}

static void unpack(const int64_t *best, poolgrad_nan nan, int64_t count, int64_t *places)
{
    const bool last = nan == POOLGRAD_NAN_LAST; /* only then places of NaN are not inverted */
    int64_t i;

    for (i = 0; i < count; i++) {
        const int64_t place = (int64_t)((uint64_t)best[i] & UINT32_MAX);

        places[i] = last && best[i] >> 32 == INT32_MAX ? place : place ^ UINT32_MAX;
        places[i] = best[i] == PGI_NO_PACKED ? PGI_NO_PLACE : places[i];
    }
}

void pgi_winner_places(const pgi_problem *problem, const pgi_tensor *tensor, const char *x,
                       int64_t d, int64_t h, pgi_range windows, int64_t lanes, const void *best,
                       int64_t *places)
{
    const int64_t count = (windows.end - windows.begin) * lanes;

    if (packs(problem))
        unpack(best, problem->desc.nan, count, places);
    else
        unpair(best, count, places);
    if (problem->desc.nan == POOLGRAD_NAN_LEADING)
        let_leading_nan_win(problem, tensor, x, d, h, windows, lanes, places);
}

void pgi_position_of_place(const pgi_problem *problem, int64_t place, int64_t position[3])
{
    position[2] = place % problem->axis[2].in;
    place /= problem->axis[2].in;
    position[1] = place % problem->axis[1].in;
    position[0] = place / problem->axis[1].in;
}
