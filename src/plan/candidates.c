/* SPDX-License-Identifier: MIT */
#include "plan/candidates.h"

#include "plan/rows.h"

void pgi_load_candidates(const poolgrad_plan *plan, const pgi_sweep *sweep,
                         const pgi_tensor *tensor, const char *x)
{
    const pgi_problem *problem = &plan->problem;
    const bool skip_nan = problem->desc.nan == POOLGRAD_NAN_SKIP;
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
                plan->kernels.keys(cells, from, step, row + places.begin, 1, skip_nan,
                                   places.end - places.begin);
                continue;
            }
            for (w = places.begin; w < places.end; w++)
                plan->kernels.keys(cells + (size_t)((w - places.begin) * lanes) * sizeof(pgi_pair),
                                   from + (w - places.begin) * step * size, lane_step, row + w, 0,
                                   skip_nan, lanes);
        }
    }
}

void pgi_position_of_place(const pgi_problem *problem, int64_t place, int64_t position[3])
{
    position[2] = place % problem->axis[2].in;
    place /= problem->axis[2].in;
    position[1] = place % problem->axis[1].in;
    position[0] = place / problem->axis[1].in;
}
