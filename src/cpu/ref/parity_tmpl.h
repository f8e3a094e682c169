/* SPDX-License-Identifier: MIT */
/* Gradients in another system's arithmetic, for one compute type. */

/* After a step: the value in the element type, where the system keeps nothing wider. */
static REAL NAME(rounded)(const pgi_parity *parity, REAL value)
{
    if (parity->manner.wide)
        return value;
    switch (parity->plane.problem->desc.dtype) {
    case POOLGRAD_F16:
        return (REAL)pgi_f32_of_f16(pgi_f16_of_f32((float)value));
    case POOLGRAD_BF16:
        return (REAL)pgi_f32_of_bf16(pgi_bf16_of_f32((float)value));
    case POOLGRAD_F32:
    case POOLGRAD_F64:
        break;
    }
    return value;
}

/* What dy is multiplied by in place of a division by n. */
static REAL NAME(reciprocal)(const pgi_parity *parity, int64_t n)
{
    switch (parity->manner.term) {
    case TERM_RECIPROCAL_F64:
        return NAME(rounded)(parity, (REAL)(1.0 / (double)n));
    case TERM_RECIPROCAL_F32:
        return NAME(rounded)(parity, (REAL)(1.0f / (float)n));
    default:
        return NAME(rounded)(parity, 1 / NAME(rounded)(parity, (REAL)n));
    }
}

/* What window o adds to every position that it covers. */
static REAL NAME(parity_term)(const pgi_parity *parity, const int64_t o[3])
{
    const pgi_problem *problem = parity->plane.problem;
    const int64_t n = pgi_window_divisor(problem, o);
    REAL value;
    int i;

    if (n == 0)
        return 0;
    value = NAME(load)(&parity->plane, &problem->source, parity->plane.work->source, o);
    switch (parity->manner.term) {
    case TERM_QUOTIENT:
        return NAME(rounded)(parity, value / NAME(rounded)(parity, (REAL)n));
    case TERM_QUOTIENT_BY_AXIS:
        for (i = 0; i < 3; i++) {
            const int64_t taps = pgi_axis_count(&problem->axis[i], problem->desc.divisor, o[i]);

            value = NAME(rounded)(parity, value / NAME(rounded)(parity, (REAL)taps));
        }
        return value;
    default:
        return NAME(rounded)(parity, value * NAME(reciprocal)(parity, n));
    }
}

/* For every window that reaches the target what the gather will ask for. */
static void NAME(prepare)(const pgi_parity *parity)
{
    const pgi_problem *problem = parity->plane.problem;
    const pgi_range *held = parity->held;
    const bool average = problem->desc.op == POOLGRAD_AVG_GRAD;
    REAL *terms = parity->windows;
    int64_t *places = parity->windows;
    int64_t o[3], at[3];

    for (o[0] = held[0].begin; o[0] < held[0].end; o[0]++) {
        for (o[1] = held[1].begin; o[1] < held[1].end; o[1]++) {
            for (o[2] = held[2].begin; o[2] < held[2].end; o[2]++) {
                if (average)
                    *terms++ = NAME(parity_term)(parity, o);
                else
                    *places++ =
                        NAME(destination)(&parity->plane, o, at) ? place_of(problem, at) : -1;
            }
        }
    }
}

/* Whether x at position p is as good as the maximum y of window o. */
static bool NAME(is_near)(const pgi_parity *parity, const int64_t o[3], const int64_t p[3])
{
    const pgi_plane *plane = &parity->plane;
    const REAL x = NAME(load)(plane, &plane->problem->x, plane->work->x, p);
    const REAL y = NAME(load)(plane, &plane->problem->y, plane->work->y, o);
    const REAL distance = NAME(rounded)(parity, x - y);

    return (distance < 0 ? -distance : distance) < NAME(rounded)(parity, (REAL)1e-5);
}

/* What window o, which covers position p, adds to it; false if nothing. */
static bool NAME(share)(const pgi_parity *parity, const int64_t o[3], const int64_t p[3],
                        REAL *share)
{
    const pgi_problem *problem = parity->plane.problem;
    const int64_t i = window_number(parity, o);

    if (problem->desc.op == POOLGRAD_AVG_GRAD) {
        *share = ((const REAL *)parity->windows)[i];
        return true;
    }
    if (problem->has_y ? !NAME(is_near)(parity, o, p)
                       : ((const int64_t *)parity->windows)[i] != place_of(problem, p))
        return false;
    *share = NAME(load)(&parity->plane, &problem->source, parity->plane.work->source, o);
    return true;
}

/* The windows that cover p, visited as the system visits them, added one at a time to a +0. A
 * system that scatters adds the same numbers to this position in the same order. */
static REAL NAME(gathered)(const pgi_parity *parity, const int64_t p[3])
{
    const pgi_axis *axis = parity->plane.problem->axis;
    const int first = parity->manner.last_axis_first ? 2 : 0, last = 2 - first;
    pgi_run run[3];
    int64_t o[3], step[3];
    REAL sum = 0, share;
    int i;

    for (i = 0; i < 3; i++)
        run[i] = pgi_run_clip(pgi_axis_run(&axis[i], p[i]), axis[i].q, axis[i].out);
    for (step[first] = 0; step[first] < run[first].count; step[first]++) {
        for (step[1] = 0; step[1] < run[1].count; step[1]++) {
            for (step[last] = 0; step[last] < run[last].count; step[last]++) {
                for (i = 0; i < 3; i++)
                    o[i] = run[i].first + step[i] * axis[i].q;
                if (NAME(share)(parity, o, p, &share))
                    sum = NAME(rounded)(parity, sum + share);
            }
        }
    }
    return sum;
}

static void NAME(parity_gradient)(const pgi_parity *parity)
{
    const pgi_tensor *target = &parity->plane.problem->target;
    const int64_t *begin = target->offset + PGI_SPATIAL, *extent = target->extent + PGI_SPATIAL;
    int64_t p[3];

    if (!parity->plane.problem->has_y)
        NAME(prepare)(parity);
    for (p[0] = begin[0]; p[0] < begin[0] + extent[0]; p[0]++)
        for (p[1] = begin[1]; p[1] < begin[1] + extent[1]; p[1]++)
            for (p[2] = begin[2]; p[2] < begin[2] + extent[2]; p[2]++)
                NAME(store)(&parity->plane, p, NAME(gathered)(parity, p));
}
