/* SPDX-License-Identifier: MIT */
/* For one compute type: who wins a window. */

/* Whether `value` wins against what was the best before it in row-major order. */
static bool NAME(beats)(poolgrad_nan rule, REAL value, REAL best)
{
    if (rule == POOLGRAD_NAN_FIRST && isnan(value))
        return !isnan(best);
    if (rule == POOLGRAD_NAN_LAST && isnan(value))
        return true;
    if (rule == POOLGRAD_NAN_SKIP && isnan(best))
        return !isnan(value);
    return value > best; /* nothing is larger than a NaN that leads, nor is a later NaN */
}

/* The winner of window o in x; false if the window covers no position of the input. */
static bool NAME(find_winner)(const pgi_plane *plane, const pgi_tensor *tensor, const void *x,
                              const int64_t o[3], int64_t winner[3], REAL *best)
{
    const pgi_problem *problem = plane->problem;
    pgi_range taps[3];
    bool found = false;
    int64_t at[3];
    int i;

    for (i = 0; i < 3; i++)
        taps[i] = pgi_gather_reach(&problem->taps[i], o[i], o[i] + 1);
    for (at[0] = taps[0].begin; at[0] < taps[0].end; at[0]++) {
        for (at[1] = taps[1].begin; at[1] < taps[1].end; at[1]++) {
            for (at[2] = taps[2].begin; at[2] < taps[2].end; at[2]++) {
                REAL value;

                if (!pgi_axis_has_tap(&problem->axis[0], o[0], at[0]) ||
                    !pgi_axis_has_tap(&problem->axis[1], o[1], at[1]) ||
                    !pgi_axis_has_tap(&problem->axis[2], o[2], at[2]))
                    continue;
                value = NAME(load)(plane, tensor, x, at);
                if (found && !NAME(beats)(problem->desc.nan, value, *best))
                    continue;
                *best = value;
                memcpy(winner, at, sizeof at);
                found = true;
            }
        }
    }
    return found;
}

/* Where window o sends its dy; false if nowhere. A bad index is reported. */
static bool NAME(destination)(const pgi_plane *plane, const int64_t o[3], int64_t at[3])
{
    const pgi_problem *problem = plane->problem;
    pgi_index_verdict verdict;
    REAL best = 0;

    if (problem->has_x)
        return NAME(find_winner)(plane, &problem->x, plane->work->x, o, at, &best);
    verdict = pgi_check_index(problem, plane->batch, plane->channel, o,
                              pgi_index_load(problem->indexing.type, plane->work->indices,
                                             element_offset(plane, &problem->indices, o)),
                              at);
    if (verdict == PGI_INDEX_BAD)
        pgi_report_bad_index(plane->work,
                             pgi_window_element(problem, plane->batch, plane->channel, o));
    return verdict == PGI_INDEX_WINNER;
}
