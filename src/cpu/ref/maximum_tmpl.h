/* SPDX-License-Identifier: MIT */
/* The reference for one compute type: the maximum and its gradient. */

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

static void NAME(maximum)(const pgi_plane *plane)
{
    const pgi_problem *problem = plane->problem;
    const int64_t *begin = problem->target.offset + PGI_SPATIAL;
    const int64_t *extent = problem->target.extent + PGI_SPATIAL;
    int64_t o[3], at[3];

    for (o[0] = begin[0]; o[0] < begin[0] + extent[0]; o[0]++) {
        for (o[1] = begin[1]; o[1] < begin[1] + extent[1]; o[1]++) {
            for (o[2] = begin[2]; o[2] < begin[2] + extent[2]; o[2]++) {
                REAL best = -(REAL)INFINITY;
                int64_t index = -1;

                if (NAME(find_winner)(plane, &problem->source, plane->work->source, o, at, &best))
                    index = pgi_index_of_place(
                        &problem->indexing, plane->batch, plane->channel,
                        (at[0] * problem->axis[1].in + at[1]) * problem->axis[2].in + at[2]);
                NAME(store)(plane, o, best);
                if (plane->work->indices_out)
                    pgi_index_store(problem->indexing.type, plane->work->indices_out,
                                    element_offset(plane, &problem->indices, o), index);
            }
        }
    }
}

/* Where window o sends its dy; false if nowhere. A bad index is reported. */
static bool NAME(destination)(const pgi_plane *plane, const int64_t o[3], int64_t at[3])
{
    const pgi_problem *problem = plane->problem;
    pgi_index_verdict verdict;
    REAL best;

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

/* Contributions are added one at a time, in increasing row-major order of the windows. */
static void NAME(maximum_gradient)(const pgi_plane *plane, void *workspace)
{
    const pgi_problem *problem = plane->problem;
    const int64_t *begin = problem->target.offset + PGI_SPATIAL;
    const int64_t *extent = problem->target.extent + PGI_SPATIAL;
    const pgi_range windows[3] = {pgi_problem_reach(problem, 0), pgi_problem_reach(problem, 1),
                                  pgi_problem_reach(problem, 2)};
    REAL *sums = workspace;
    int64_t o[3], at[3], i;

    for (i = 0; i < extent[0] * extent[1] * extent[2]; i++)
        sums[i] = 0;
    for (o[0] = windows[0].begin; o[0] < windows[0].end; o[0]++) {
        for (o[1] = windows[1].begin; o[1] < windows[1].end; o[1]++) {
            for (o[2] = windows[2].begin; o[2] < windows[2].end; o[2]++) {
                REAL *sum;

                if (!NAME(destination)(plane, o, at) || at[0] < begin[0] ||
                    at[0] >= begin[0] + extent[0] || at[1] < begin[1] ||
                    at[1] >= begin[1] + extent[1] || at[2] < begin[2] ||
                    at[2] >= begin[2] + extent[2])
                    continue;
                sum = &sums[((at[0] - begin[0]) * extent[1] + at[1] - begin[1]) * extent[2] +
                            at[2] - begin[2]];
                *sum = *sum + NAME(load)(plane, &problem->source, plane->work->source, o);
            }
        }
    }
    for (at[0] = begin[0]; at[0] < begin[0] + extent[0]; at[0]++)
        for (at[1] = begin[1]; at[1] < begin[1] + extent[1]; at[1]++)
            for (at[2] = begin[2]; at[2] < begin[2] + extent[2]; at[2]++)
                NAME(store)(plane, at, *sums++);
}
