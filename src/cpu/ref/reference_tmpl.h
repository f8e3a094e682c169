/* SPDX-License-Identifier: MIT */
/* The reference for one compute type: REAL, and NAME to tell its functions apart. Written for
 * reading beside docs/arithmetic.md; speed is not its business. */

static REAL NAME(load)(poolgrad_dtype dtype, const void *memory, int64_t i)
{
    switch (dtype) {
    case POOLGRAD_F32:
        return (REAL)((const float *)memory)[i];
    case POOLGRAD_F64:
        return (REAL)((const double *)memory)[i];
    case POOLGRAD_F16:
        return (REAL)pgi_f32_of_f16(((const uint16_t *)memory)[i]);
    case POOLGRAD_BF16:
        break;
    }
    return (REAL)pgi_f32_of_bf16(((const uint16_t *)memory)[i]);
}

static void NAME(store)(poolgrad_dtype dtype, void *memory, int64_t i, REAL value)
{
    switch (dtype) {
    case POOLGRAD_F32:
        ((float *)memory)[i] = (float)value;
        break;
    case POOLGRAD_F64:
        ((double *)memory)[i] = (double)value;
        break;
    case POOLGRAD_F16:
        ((uint16_t *)memory)[i] = pgi_f16_of_f32((float)value);
        break;
    case POOLGRAD_BF16:
        ((uint16_t *)memory)[i] = pgi_bf16_of_f32((float)value);
        break;
    }
}

/* Term: dy / count + 0, or +0 for a window that covers nothing. */
static REAL NAME(term)(const pgi_problem *problem, const void *dy, int64_t batch, int64_t channel,
                       const int64_t o[3])
{
    const int64_t count = divisor(problem, o);
    REAL quotient;

    if (count == 0)
        return 0;
    quotient =
        NAME(load)(problem->desc.dtype, dy, element_offset(&problem->dy, batch, channel, o)) /
        (REAL)count;
    return quotient + 0;
}

/* The values of one axis at fixed places of the others: those of windows `held`, `step` apart. */
typedef struct NAME(line) {
    const REAL *values;
    int64_t step;
    pgi_range held;
    int64_t q;
} NAME(line);

/* P[level](o): 2^level windows from o on, q apart. */
static REAL NAME(block)(const NAME(line) * line, int64_t o, int level)
{
    if (level > 0)
        return NAME(block)(line, o, level - 1) +
               NAME(block)(line, o + (line->q << (level - 1)), level - 1);
    if (o < line->held.begin || o >= line->held.end)
        return 0;
    return line->values[(o - line->held.begin) * line->step];
}

/* The sum of a run: blocks for the bits of its count, the largest first. */
static REAL NAME(run)(const NAME(line) * line, pgi_run run)
{
    int64_t o = run.first;
    REAL sum = 0;
    int level;

    if (run.count == 0)
        return 0;
    level = pgi_log2(run.count);
    sum = NAME(block)(line, o, level);
    o += line->q << level;
    while (level-- > 0) {
        if (run.count >> level & 1) {
            sum = sum + NAME(block)(line, o, level);
            o += line->q << level;
        }
    }
    return sum;
}

/* One axis of an array [outer][windows][inner] to [outer][positions][inner]. */
static void NAME(sum_axis)(const pgi_axis *axis, pgi_range held, int64_t begin, int64_t positions,
                           int64_t outer, int64_t inner, const REAL *from, REAL *to)
{
    int64_t i, p, k;

    for (i = 0; i < outer; i++) {
        for (p = 0; p < positions; p++) {
            const pgi_run run = pgi_axis_run(axis, begin + p);

            for (k = 0; k < inner; k++) {
                const NAME(line) line = {from + i * length(held) * inner + k, inner, held, axis->q};

                to[(i * positions + p) * inner + k] = NAME(run)(&line, run);
            }
        }
    }
}

static void NAME(plane)(const pgi_problem *problem, const pgi_scale *scale, const void *dy,
                        void *dx, int64_t batch, int64_t channel, void *workspace)
{
    const poolgrad_dtype dtype = problem->desc.dtype;
    const int64_t *begin = problem->dx.offset + PGI_SPATIAL;
    const int64_t *extent = problem->dx.extent + PGI_SPATIAL;
    const pgi_range held[3] = {pgi_problem_reach(problem, 0), pgi_problem_reach(problem, 1),
                               pgi_problem_reach(problem, 2)};
    const REAL alpha = (REAL)scale->alpha, beta = (REAL)scale->beta;
    REAL *terms = workspace;
    REAL *after_first = terms + length(held[0]) * length(held[1]) * length(held[2]);
    REAL *after_second = after_first + extent[0] * length(held[1]) * length(held[2]);
    REAL *next = terms;
    int64_t o[3], p[3];

    for (o[0] = held[0].begin; o[0] < held[0].end; o[0]++)
        for (o[1] = held[1].begin; o[1] < held[1].end; o[1]++)
            for (o[2] = held[2].begin; o[2] < held[2].end; o[2]++)
                *next++ = NAME(term)(problem, dy, batch, channel, o);

    NAME(sum_axis)
    (&problem->axis[0], held[0], begin[0], extent[0], 1, length(held[1]) * length(held[2]), terms,
     after_first);
    NAME(sum_axis)
    (&problem->axis[1], held[1], begin[1], extent[1], extent[0], length(held[2]), after_first,
     after_second);

    for (p[0] = begin[0]; p[0] < begin[0] + extent[0]; p[0]++) {
        for (p[1] = begin[1]; p[1] < begin[1] + extent[1]; p[1]++) {
            const int64_t row = (p[0] - begin[0]) * extent[1] + p[1] - begin[1];
            const NAME(line)
                line = {after_second + row * length(held[2]), 1, held[2], problem->axis[2].q};

            for (p[2] = begin[2]; p[2] < begin[2] + extent[2]; p[2]++) {
                const int64_t i = element_offset(&problem->dx, batch, channel, p);
                REAL result = alpha * NAME(run)(&line, pgi_axis_run(&problem->axis[2], p[2]));

                if (beta != 0)
                    result = result + beta * NAME(load)(dtype, dx, i);
                NAME(store)(dtype, dx, i, result);
            }
        }
    }
}
