/* SPDX-License-Identifier: MIT */
#include "core/window.h"

bool pgi_window_covers(const pgi_problem *problem, const int64_t o[3])
{
    return pgi_axis_covers(&problem->axis[0], o[0]) && pgi_axis_covers(&problem->axis[1], o[1]) &&
           pgi_axis_covers(&problem->axis[2], o[2]);
}

int64_t pgi_window_divisor(const pgi_problem *problem, const int64_t o[3])
{
    const poolgrad_desc *desc = &problem->desc;
    int64_t count = 1;
    int i;

    if (!pgi_window_covers(problem, o))
        return 0;
    if (desc->divisor == POOLGRAD_OVERRIDE)
        return desc->divisor_override;
    for (i = 0; i < 3; i++)
        count *= pgi_axis_count(&problem->axis[i], desc->divisor, o[i]);
    return count;
}

pgi_index_verdict pgi_check_index(const pgi_problem *problem, int64_t batch, int64_t channel,
                                  const int64_t o[3], int64_t index, int64_t position[3])
{
    if (index == -1 && (problem->indexing.no_winner || !pgi_window_covers(problem, o)))
        return PGI_INDEX_NOWHERE;
    if (pgi_index_locate(&problem->indexing, batch, channel, index, position) &&
        pgi_axis_has_tap(&problem->axis[0], o[0], position[0]) &&
        pgi_axis_has_tap(&problem->axis[1], o[1], position[1]) &&
        pgi_axis_has_tap(&problem->axis[2], o[2], position[2]))
        return PGI_INDEX_WINNER;
    return PGI_INDEX_BAD;
}

int64_t pgi_window_element(const pgi_problem *problem, int64_t batch, int64_t channel,
                           const int64_t o[3])
{
    const pgi_tensor *dy = &problem->source;
    const int64_t at[PGI_AXES] = {batch, channel, o[0], o[1], o[2]};
    int64_t element = 0;
    int i;

    for (i = 0; i < PGI_AXES; i++)
        element = element * dy->extent[i] + at[i] - dy->offset[i];
    return element;
}

int64_t pgi_index_offset_of_element(const pgi_problem *problem, int64_t element)
{
    const pgi_tensor *indices = &problem->indices;
    int64_t offset = 0;
    int i;

    for (i = PGI_AXES - 1; i >= 0; i--) {
        offset += element % indices->extent[i] * indices->stride[i];
        element /= indices->extent[i];
    }
    return offset;
}

/* Whether window coordinate o on spatial axis i is among those that reach the dx view. */
static bool reaches(const pgi_problem *problem, int i, int64_t o)
{
    const pgi_range reach = pgi_problem_reach(problem, i);

    return o >= reach.begin && o < reach.end;
}

void pgi_check_unreached(const pgi_problem *problem, const void *indices,
                         void (*bad)(void *context, int64_t element), void *context)
{
    const pgi_tensor *dy = &problem->source;
    bool all_reach = true;
    int64_t element;
    int i;

    for (i = 0; i < PGI_AXES; i++) {
        const int64_t first = dy->offset[i], last = first + dy->extent[i] - 1;

        if (i < PGI_SPATIAL)
            all_reach &=
                first == problem->target.offset[i] && dy->extent[i] == problem->target.extent[i];
        else
            all_reach &=
                reaches(problem, i - PGI_SPATIAL, first) && reaches(problem, i - PGI_SPATIAL, last);
    }
    for (element = 0; element < dy->elements && !all_reach; element++) {
        int64_t at[PGI_AXES], rest = element, position[3];
        bool unreached = false;

        for (i = PGI_AXES - 1; i >= 0; i--) {
            at[i] = dy->offset[i] + rest % dy->extent[i];
            rest /= dy->extent[i];
            if (i >= PGI_SPATIAL)
                unreached |= !reaches(problem, i - PGI_SPATIAL, at[i]);
            else
                unreached |= at[i] < problem->target.offset[i] ||
                             at[i] >= problem->target.offset[i] + problem->target.extent[i];
        }
        if (unreached &&
            pgi_check_index(problem, at[PGI_BATCH], at[PGI_CHANNEL], at + PGI_SPATIAL,
                            pgi_index_load(problem->indexing.type, indices,
                                           pgi_index_offset_of_element(problem, element)),
                            position) == PGI_INDEX_BAD)
            bad(context, element);
    }
}
