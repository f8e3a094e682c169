/* SPDX-License-Identifier: MIT */
#include "plan/candidates.h"

#include "core/dtype.h"
#include "plan/rows.h"

void pgi_load_candidates(const poolgrad_plan *plan, const pgi_sweep *sweep,
                         const pgi_tensor *tensor, const char *x)
{
    const pgi_problem *problem = &plan->problem;
    const poolgrad_nan nan = problem->desc.nan;
    const int64_t size = (int64_t)problem->element_size, lanes = sweep->lanes;
    const int64_t step = tensor->stride[PGI_SPATIAL + 2], lane_step = tensor->stride[PGI_CHANNEL];
    const pgi_range places = sweep->reach[2];
    int64_t d, h, w;

    for (d = sweep->reach[0].begin; d < sweep->reach[0].end; d++) {
        for (h = sweep->reach[1].begin; h < sweep->reach[1].end; h++) {
            const char *from = x + pgi_row_offset(tensor, d, h, places.begin) * size;
            const int64_t row = (d * problem->axis[1].in + h) * problem->axis[2].in;
            char *cells = pgi_sweep_source_row(sweep, d, h);

            if (lanes == 1) {
                plan->kernels.keys(cells, from, step, row + places.begin, 1, nan,
                                   places.end - places.begin);
                continue;
            }
            for (w = places.begin; w < places.end; w++)
                plan->kernels.keys(cells + (size_t)((w - places.begin) * lanes) * sizeof(pgi_pair),
                                   from + (w - places.begin) * step * size, lane_step, row + w, 0,
                                   nan, lanes);
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

void pgi_winner_places(const pgi_problem *problem, const pgi_tensor *tensor, const char *x,
                       int64_t d, int64_t h, pgi_range windows, int64_t lanes, const pgi_pair *best,
                       int64_t *places)
{
    int64_t i;

    for (i = 0; i < (windows.end - windows.begin) * lanes; i++)
        places[i] = best[i].place < 0 ? ~best[i].place : best[i].place;
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
