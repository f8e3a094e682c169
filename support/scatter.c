/* SPDX-License-Identifier: MIT */
#include "scatter.h"

#include "data.h"
#include "walk.h"

#include <float.h>
#include <math.h>

void sup_scatter_avg_grad(const poolgrad_desc *resolved, const double *dy, double *dx,
                          double *bound)
{
    int64_t total = sup_view_count(resolved, &resolved->dx);
    for (int64_t i = 0; i < total; i++)
        dx[i] = 0;
    for (int64_t i = 0; i < total && bound; i++)
        bound[i] = 0;
    sup_walk walk;
    sup_walk_begin(&walk, resolved, &resolved->dy, &resolved->dx);
    while (sup_walk_next(&walk)) {
        double term = dy[walk.window] / (double)walk.count;
        for (int64_t at = sup_walk_tap(&walk); at >= 0; at = sup_walk_tap(&walk)) {
            dx[at] += term;
            if (bound)
                bound[at] += fabs(term);
        }
    }
}

void sup_scatter_scale(const poolgrad_desc *resolved, const double *previous, double *values,
                       double *bound)
{
    double alpha = sup_factor(resolved, resolved->alpha);
    double beta = sup_factor(resolved, resolved->beta);
    int64_t total = sup_view_count(resolved, sup_view_written(resolved));
    for (int64_t i = 0; i < total; i++) {
        values[i] = alpha * values[i];
        if (bound)
            bound[i] = fabs(alpha) * bound[i];
        if (beta != 0) { /* also if it is 0 only once rounded, dx is not read */
            values[i] += beta * previous[i];
            if (bound)
                bound[i] += fabs(beta * previous[i]);
        }
    }
}

/* ---------------------------------------------------------------- tolerance */

typedef struct format {
    int digits;     /* significant bits */
    int lowest;     /* exponent of the smallest denormal */
    double largest; /* finite number */
} format;

static format format_of(poolgrad_dtype dtype)
{
    switch (dtype) {
    case POOLGRAD_F32:
        break;
    case POOLGRAD_F64:
        return (format){53, -1074, DBL_MAX};
    case POOLGRAD_F16:
        return (format){11, -24, 65504};
    case POOLGRAD_BF16:
        return (format){8, -133, 0x1.fep127};
    }
    return (format){24, -149, FLT_MAX};
}

/* The most windows that cover one position of an axis. */
static double longest_run(const poolgrad_desc *desc, int axis)
{
    double out = (double)desc->out[axis];
    if (desc->rounding == POOLGRAD_ADAPTIVE) /* windows overlap by less than one of their starts */
        return fmin(out, out / (double)(desc->in[axis] > 0 ? desc->in[axis] : 1) + 2);
    double step = (double)desc->stride[axis], span = (double)desc->kernel[axis];
    if (desc->dilation[axis] > 1) /* not every start within the span meets a tap; an upper bound */
        span = (span - 1) * (double)desc->dilation[axis] + 1;
    return fmin(out, fmin((double)desc->kernel[axis], span / step + 1));
}

/* The most taps inside the input that a window of an axis has. */
static double most_taps(const poolgrad_desc *desc, int axis)
{
    double in = (double)desc->in[axis];
    if (desc->rounding == POOLGRAD_ADAPTIVE)
        return fmin(in, in / (double)(desc->out[axis] > 0 ? desc->out[axis] : 1) + 2);
    return fmin(in, (double)desc->kernel[axis]);
}

/* The type that steps are rounded to. TensorFlow's 3-D average has its reciprocals in f32. */
static format compute_format(const poolgrad_desc *desc)
{
    int narrow = desc->dtype == POOLGRAD_F16 || desc->dtype == POOLGRAD_BF16;
    if (narrow && desc->parity != POOLGRAD_PARITY_OFF && desc->parity != POOLGRAD_PARITY_ONEDNN)
        return format_of(desc->dtype);
    if (desc->parity == POOLGRAD_PARITY_TENSORFLOW && desc->op == POOLGRAD_AVG_GRAD &&
        desc->rank == 3)
        return format_of(POOLGRAD_F32);
    return format_of(desc->dtype == POOLGRAD_F64 ? POOLGRAD_F64 : POOLGRAD_F32);
}

/* No less than what any window of an average is divided by. */
static double largest_count(const poolgrad_desc *desc)
{
    double count = 1;
    if (sup_is_max(desc))
        return 1;
    if (desc->divisor == POOLGRAD_OVERRIDE)
        return fabs((double)desc->divisor_override);
    for (int axis = 0; axis < desc->rank; axis++)
        count *= desc->rounding == POOLGRAD_ADAPTIVE ? most_taps(desc, axis)
                                                     : (double)desc->kernel[axis];
    return count;
}

double sup_scatter_tolerance(const poolgrad_desc *resolved, double value, double bound)
{
    format store = format_of(resolved->dtype);
    format compute = compute_format(resolved);
    double depth = 0, terms = 1;
    for (int axis = 0; axis < resolved->rank; axis++) {
        double run = 1; /* MAX adds nothing */
        if (resolved->op == POOLGRAD_AVG)
            run = fmax(1, most_taps(resolved, axis));
        else if (resolved->op != POOLGRAD_MAX)
            run = fmax(1, longest_run(resolved, axis));
        depth += 2 * ceil(log2(run + 1));
        terms *= run;
    }
    if (resolved->op == POOLGRAD_MAX_GRAD)
        depth = terms; /* one after the other, not by doubling */
    if (resolved->parity != POOLGRAD_PARITY_OFF)
        depth = terms;
    double error = bound * ldexp(depth + 5, -compute.digits);
    if (resolved->parity != POOLGRAD_PARITY_OFF && resolved->dtype == POOLGRAD_F16 &&
        largest_count(resolved) > 0x1p14)
        error += bound;
    error += bound * ldexp(terms + 3, -53);
    error += ldexp((terms * fmax(1, fabs(resolved->alpha)) + 2), compute.lowest);
    /* Half an ulp of the stored number, at the larger end of where it may be. */
    double reach = fabs(value) + error;
    int exponent = 0;
    if (reach > 0 && isfinite(reach))
        (void)frexp(reach, &exponent);
    int ulp = exponent - store.digits;
    return error + ldexp(0.5, ulp > store.lowest ? ulp : store.lowest);
}

int sup_scatter_agrees(const poolgrad_desc *resolved, double got, double value, double bound)
{
    if (isnan(value) || isnan(got))
        return isnan(value) && isnan(got);
    if (isinf(value))
        return isinf(got) && signbit(got) == signbit(value);
    double tolerance = sup_scatter_tolerance(resolved, value, bound);
    if (isinf(got))
        return fabs(value) + tolerance >= format_of(resolved->dtype).largest &&
               signbit(got) == signbit(value);
    return fabs(got - value) <= tolerance;
}
