/* SPDX-License-Identifier: MIT */
/* The reference for one compute type: the maximum and its gradient. */

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
                    index = pgi_index_of_winner(problem, plane->batch, plane->channel, o, at);
                NAME(store)(plane, o, best);
                if (plane->work->indices_out)
                    pgi_index_store(problem->indexing.type, plane->work->indices_out,
                                    element_offset(plane, &problem->indices, o), index);
            }
        }
    }
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
