/* SPDX-License-Identifier: MIT */
/* The reference for one compute type: averages, both ways. */

/* What is summed: dy / count + 0 for a gradient, +0 for a window that covers nothing; x + 0 for a
 * forward pass. */
static REAL NAME(term)(const pgi_plane *plane, const int64_t at[3])
{
    const pgi_problem *problem = plane->problem;
    REAL value;

    if (pgi_is_forward(problem->desc.op)) {
        value = NAME(load)(plane, &problem->source, plane->work->source, at);
    } else {
        const int64_t count = pgi_window_divisor(problem, at);

        if (count == 0)
            return 0;
        value = NAME(load)(plane, &problem->source, plane->work->source, at) / (REAL)count;
    }
    return value + 0;
}

/* The values of one axis at fixed places of the others: those of the places `held`, `step` apart.
 */
typedef struct NAME(line) {
    const REAL *values;
    int64_t step;
    pgi_range held;
    int64_t q;
} NAME(line);

/* S[level](place): 2^level values from that place on, q apart. */
static REAL NAME(block)(const NAME(line) * line, int64_t place, int level)
{
    if (level > 0)
        return NAME(block)(line, place, level - 1) +
               NAME(block)(line, place + (line->q << (level - 1)), level - 1);
    if (place < line->held.begin || place >= line->held.end)
        return 0;
    return line->values[(place - line->held.begin) * line->step];
}

/* The sum of a run: blocks for the bits of its count, the largest first. */
static REAL NAME(run)(const NAME(line) * line, pgi_run run)
{
    int64_t done;
    REAL sum;
    int level;

    if (run.count == 0)
        return 0;
    level = pgi_log2(run.count);
    sum = NAME(block)(line, run.first, level);
    done = INT64_C(1) << level;
    while (level-- > 0) {
        if (run.count >> level & 1) {
            sum = sum + NAME(block)(line, run.first + done * line->q, level);
            done += INT64_C(1) << level;
        }
    }
    return sum;
}

/* One axis of an array [outer][sources][inner] to [outer][targets][inner]. */
static void NAME(sum_axis)(const pgi_gather *gather, pgi_range held, int64_t begin, int64_t targets,
                           int64_t outer, int64_t inner, const REAL *from, REAL *to)
{
    int64_t i, p, k;

    for (i = 0; i < outer; i++) {
        for (p = 0; p < targets; p++) {
            const pgi_run run = pgi_gather_run(gather, begin + p);

            for (k = 0; k < inner; k++) {
                const NAME(line)
                    line = {from + i * length(held) * inner + k, inner, held, gather->q};

                to[(i * targets + p) * inner + k] = NAME(run)(&line, run);
            }
        }
    }
}

static void NAME(average)(const pgi_plane *plane, void *workspace)
{
    const pgi_problem *problem = plane->problem;
    const int64_t *begin = problem->target.offset + PGI_SPATIAL;
    const int64_t *extent = problem->target.extent + PGI_SPATIAL;
    const pgi_range held[3] = {pgi_problem_reach(problem, 0), pgi_problem_reach(problem, 1),
                               pgi_problem_reach(problem, 2)};
    REAL *terms = workspace;
    REAL *after_first = terms + length(held[0]) * length(held[1]) * length(held[2]);
    REAL *after_second = after_first + extent[0] * length(held[1]) * length(held[2]);
    REAL *sums = after_second + extent[0] * extent[1] * length(held[2]);
    REAL *next = terms;
    int64_t at[3];

    for (at[0] = held[0].begin; at[0] < held[0].end; at[0]++)
        for (at[1] = held[1].begin; at[1] < held[1].end; at[1]++)
            for (at[2] = held[2].begin; at[2] < held[2].end; at[2]++)
                *next++ = NAME(term)(plane, at);

    NAME(sum_axis)
    (&problem->gather[0], held[0], begin[0], extent[0], 1, length(held[1]) * length(held[2]), terms,
     after_first);
    NAME(sum_axis)
    (&problem->gather[1], held[1], begin[1], extent[1], extent[0], length(held[2]), after_first,
     after_second);
    NAME(sum_axis)
    (&problem->gather[2], held[2], begin[2], extent[2], extent[0] * extent[1], 1, after_second,
     sums);

    for (at[0] = begin[0]; at[0] < begin[0] + extent[0]; at[0]++) {
        for (at[1] = begin[1]; at[1] < begin[1] + extent[1]; at[1]++) {
            for (at[2] = begin[2]; at[2] < begin[2] + extent[2]; at[2]++) {
                REAL result = *sums++;

                if (pgi_is_forward(problem->desc.op)) {
                    const int64_t count = pgi_window_divisor(problem, at);

                    result = count ? result / (REAL)count : 0;
                }
                NAME(store)(plane, at, result);
            }
        }
    }
}
