/* SPDX-License-Identifier: MIT */
/* Single windows of a problem, by their three coordinates. */
#ifndef PGI_CORE_WINDOW_H
#define PGI_CORE_WINDOW_H

#include "core/problem.h"

PGI_SHARED bool pgi_window_covers(const pgi_problem *problem, const int64_t o[3])
{
    return pgi_axis_covers(&problem->axis[0], o[0]) && pgi_axis_covers(&problem->axis[1], o[1]) &&
           pgi_axis_covers(&problem->axis[2], o[2]);
}

/* What the window is divided by; 0 if it covers no position of the input. */
PGI_SHARED int64_t pgi_window_divisor(const pgi_problem *problem, const int64_t o[3])
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

/* The tap of a window at a position that it covers, counted row-major in the window. */
PGI_SHARED int64_t pgi_window_tap(const pgi_problem *problem, const int64_t o[3],
                                  const int64_t position[3])
{
    int64_t tap = 0;
    int i;

    for (i = 0; i < 3; i++) {
        const pgi_axis *axis = &problem->axis[i];
        const pgi_run taps = pgi_axis_taps(axis, o[i]);
        const int64_t distance = position[i] - taps.first;

        /* spares an ordinary problem three divisions */
        tap = tap * taps.count + (axis->dilation == 1 ? distance : distance / axis->dilation);
    }
    return tap;
}

/* And back; false if the window has no such tap inside the input. */
PGI_SHARED bool pgi_window_locate(const pgi_problem *problem, const int64_t o[3], int64_t tap,
                                  int64_t position[3])
{
    int i;

    if (tap < 0)
        return false;
    for (i = 2; i >= 0; i--) {
        const pgi_axis *axis = &problem->axis[i];
        const pgi_run taps = pgi_axis_taps(axis, o[i]);

        position[i] = taps.first + tap % taps.count * axis->dilation;
        tap /= taps.count;
        if (position[i] < 0 || position[i] >= axis->in)
            return false;
    }
    return tap == 0;
}

/* The index of a window's winner. */
PGI_SHARED int64_t pgi_index_of_winner(const pgi_problem *problem, int64_t batch, int64_t channel,
                                       const int64_t o[3], const int64_t position[3])
{
    const int64_t *in = problem->indexing.in;

    if (problem->indexing.window)
        return pgi_window_tap(problem, o, position);
    return pgi_index_of_place(&problem->indexing, batch, channel,
                              (position[0] * in[1] + position[1]) * in[2] + position[2]);
}

typedef enum pgi_index_verdict {
    PGI_INDEX_WINNER,  /* a position that the window covers */
    PGI_INDEX_NOWHERE, /* -1 where that is allowed */
    PGI_INDEX_BAD
} pgi_index_verdict;

/* What an index means for a window; a winner's position goes to `position`. */
PGI_SHARED pgi_index_verdict pgi_check_index(const pgi_problem *problem, int64_t batch,
                                             int64_t channel, const int64_t o[3], int64_t index,
                                             int64_t position[3])
{
    if (index == -1 && (problem->indexing.no_winner || !pgi_window_covers(problem, o)))
        return PGI_INDEX_NOWHERE;
    if (problem->indexing.window)
        return pgi_window_locate(problem, o, index, position) ? PGI_INDEX_WINNER : PGI_INDEX_BAD;
    if (pgi_index_locate(&problem->indexing, batch, channel, index, position) &&
        pgi_axis_has_tap(&problem->axis[0], o[0], position[0]) &&
        pgi_axis_has_tap(&problem->axis[1], o[1], position[1]) &&
        pgi_axis_has_tap(&problem->axis[2], o[2], position[2]))
        return PGI_INDEX_WINNER;
    return PGI_INDEX_BAD;
}

/* Where a window lies in the view of dy, counted row-major as the caller has its axes (batch,
 * channels, spatial). Batch and channel are those of the whole. */
PGI_SHARED int64_t pgi_window_element(const pgi_problem *problem, int64_t batch, int64_t channel,
                                      const int64_t o[3])
{
    const pgi_tensor *dy = &problem->source;
    const int64_t at[PGI_AXES] = {batch, channel, o[0], o[1], o[2]};
    int64_t element = 0;
    int i;

    for (i = 0; i < PGI_AXES; i++) {
        const int axis = pgi_caller_axis(problem, i);

        element = element * dy->extent[axis] + at[axis] - dy->offset[axis];
    }
    return element;
}

/* And back: the element of the indices that is counted so. */
int64_t pgi_index_offset_of_element(const pgi_problem *problem, int64_t element);

/* The lowest element of the dy view whose index is none, among the windows that do not reach the
 * dx view: those that computing dx does not come across. INT64_MAX if there is none. */
int64_t pgi_bad_unreached_index(const pgi_problem *problem, const void *indices);

#endif
