/* SPDX-License-Identifier: MIT */
#include "core/window.h"

int64_t pgi_index_offset_of_element(const pgi_problem *problem, int64_t element)
{
    const pgi_tensor *indices = &problem->indices;
    int64_t offset = 0;
    int i;

    for (i = PGI_AXES - 1; i >= 0; i--) {
        const int axis = pgi_caller_axis(problem, i);

        offset += element % indices->extent[axis] * indices->stride[axis];
        element /= indices->extent[axis];
    }
    return offset;
}

/* The first bad index among `windows` of the last axis, the other places being those of `at`. */
static int64_t bad_index_in_row(const pgi_problem *problem, const void *indices,
                                int64_t at[PGI_AXES], pgi_range windows)
{
    const int64_t step = problem->indices.stride[PGI_AXES - 1];
    int64_t *last = &at[PGI_AXES - 1], position[3], element, offset;

    *last = windows.begin;
    if (windows.begin >= windows.end)
        return INT64_MAX;
    element = pgi_window_element(problem, at[PGI_BATCH], at[PGI_CHANNEL], at + PGI_SPATIAL);
    offset = pgi_index_offset_of_element(problem, element);
    for (; *last < windows.end; ++*last, element++, offset += step) {
        const int64_t index = pgi_index_load(problem->indexing.type, indices, offset);

        if (pgi_check_index(problem, at[PGI_BATCH], at[PGI_CHANNEL], at + PGI_SPATIAL, index,
                            position) == PGI_INDEX_BAD)
            return element;
    }
    return INT64_MAX;
}

int64_t pgi_bad_unreached_index(const pgi_problem *problem, const void *indices)
{
    const pgi_tensor *dy = &problem->source, *dx = &problem->target;
    pgi_range held[PGI_AXES], reached[PGI_AXES];
    int64_t at[PGI_AXES], bad = INT64_MAX;
    bool all = true;
    int i;

    if (dy->elements == 0)
        return bad;
    for (i = 0; i < PGI_AXES; i++) {
        held[i] = (pgi_range){dy->offset[i], dy->offset[i] + dy->extent[i]};
        reached[i] = (pgi_range){dx->offset[i], dx->offset[i] + dx->extent[i]};
        if (i >= PGI_SPATIAL)
            reached[i] = pgi_problem_reach(problem, i - PGI_SPATIAL);
        if (dx->elements == 0)
            reached[i] = (pgi_range){held[i].end, held[i].end};
        all &= reached[i].begin <= held[i].begin && reached[i].end >= held[i].end;
        at[i] = held[i].begin;
    }
    /* row by row in ascending order, so that the first one found is the lowest */
    while (!all && bad == INT64_MAX) {
        const pgi_range row = held[PGI_AXES - 1], used = reached[PGI_AXES - 1];
        bool among = used.begin < used.end;

        for (i = 0; i < PGI_AXES - 1; i++)
            among &= at[i] >= reached[i].begin && at[i] < reached[i].end;
        bad = bad_index_in_row(problem, indices, at,
                               (pgi_range){row.begin, among ? used.begin : row.end});
        if (among && bad == INT64_MAX)
            bad = bad_index_in_row(problem, indices, at, (pgi_range){used.end, row.end});
        for (i = PGI_AXES - 2; i >= 0; i--) {
            const int axis = pgi_caller_axis(problem, i);

            if (++at[axis] < held[axis].end)
                break;
            at[axis] = held[axis].begin;
        }
        all = i < 0;
    }
    return bad;
}
