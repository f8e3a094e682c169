/* SPDX-License-Identifier: MIT */
#include "scatter.h"

#include <float.h>
#include <math.h>

/* The taps of one window on one axis. */
typedef struct taps {
    int64_t start; /* position of tap 0; may be negative */
    int64_t step;  /* between taps */
    int64_t first; /* taps first .. end-1 lie in the dx view */
    int64_t end;   /* exclusive */
    int64_t count; /* what the divisor rule counts on this axis */
    int covers;    /* 1 if any tap lies in the whole input */
} taps;

/* Among taps start + t*step, 0 <= t < kernel, those with lo <= position < hi. */
static void clip(int64_t start, int64_t step, int64_t kernel, int64_t lo, int64_t hi,
                 int64_t *first, int64_t *end)
{
    *first = start >= lo ? 0 : (lo - start + step - 1) / step;
    *end = start >= hi ? 0 : (hi - start + step - 1) / step;
    if (*end > kernel)
        *end = kernel;
    if (*first > *end)
        *first = *end;
}

static taps window_taps(const poolgrad_desc *desc, int axis, int64_t window)
{
    taps result;
    int64_t in = desc->in[axis];
    int64_t kernel, inside_first, inside_end, padded_first, padded_end;
    if (desc->rounding == POOLGRAD_ADAPTIVE) {
        /* floor(o*in/out) and ceil((o+1)*in/out); good for out below 2^31. */
        int64_t out = desc->out[axis], whole = in / out, part = in % out;
        result.start = window * whole + window * part / out;
        kernel = (window + 1) * whole + ((window + 1) * part + out - 1) / out - result.start;
        result.step = 1;
    } else {
        result.start = window * desc->stride[axis] - desc->pad_lo[axis];
        result.step = desc->dilation[axis];
        kernel = desc->kernel[axis];
    }
    clip(result.start, result.step, kernel, 0, in, &inside_first, &inside_end);
    clip(result.start, result.step, kernel, -desc->pad_lo[axis], in + desc->pad_hi[axis],
         &padded_first, &padded_end);
    result.covers = inside_end > inside_first;
    switch (desc->divisor) {
    case POOLGRAD_EXCLUDE:
        result.count = inside_end - inside_first;
        break;
    case POOLGRAD_INCLUDE:
        result.count = kernel;
        break;
    case POOLGRAD_INCLUDE_CLIPPED:
        result.count = padded_end - padded_first;
        break;
    case POOLGRAD_OVERRIDE:
        result.count = 1;
        break;
    }
    int64_t lo = desc->dx.offset[axis + 2];
    clip(result.start, result.step, kernel, lo, lo + desc->dx.extent[axis + 2], &result.first,
         &result.end);
    return result;
}

/* Position of tap t within the dx view. */
static int64_t position(const poolgrad_desc *desc, int axis, const taps *window, int64_t t)
{
    return window->start + t * window->step - desc->dx.offset[axis + 2];
}

/* One window, all its taps, in the plane that starts at dx. */
static void scatter_window(const poolgrad_desc *desc, const taps window[3], double term, double *dx,
                           double *bound)
{
    int64_t extent1 = desc->rank > 1 ? desc->dx.extent[3] : 1;
    int64_t extent2 = desc->rank > 2 ? desc->dx.extent[4] : 1;
    for (int64_t a = window[0].first; a < window[0].end; a++) {
        int64_t row = position(desc, 0, &window[0], a) * extent1;
        for (int64_t b = window[1].first; b < window[1].end; b++) {
            int64_t at = (row + (desc->rank > 1 ? position(desc, 1, &window[1], b) : 0)) * extent2;
            for (int64_t c = window[2].first; c < window[2].end; c++) {
                int64_t i = at + (desc->rank > 2 ? position(desc, 2, &window[2], c) : 0);
                dx[i] += term;
                if (bound)
                    bound[i] += fabs(term);
            }
        }
    }
}

/* All windows of one batch and channel. */
static void scatter_plane(const poolgrad_desc *desc, const double *dy, double *dx, double *bound)
{
    taps window[3];
    int64_t extent[3] = {1, 1, 1}, offset[3] = {0, 0, 0};
    for (int axis = 0; axis < 3; axis++) {
        /* An axis past the rank has one window with one tap. */
        window[axis] = (taps){.step = 1, .end = 1, .count = 1, .covers = 1};
        if (axis < desc->rank) {
            extent[axis] = desc->dy.extent[axis + 2];
            offset[axis] = desc->dy.offset[axis + 2];
        }
    }
    for (int64_t a = 0; a < extent[0]; a++) {
        window[0] = window_taps(desc, 0, offset[0] + a);
        for (int64_t b = 0; b < extent[1]; b++) {
            if (desc->rank > 1)
                window[1] = window_taps(desc, 1, offset[1] + b);
            for (int64_t c = 0; c < extent[2]; c++, dy++) {
                if (desc->rank > 2)
                    window[2] = window_taps(desc, 2, offset[2] + c);
                if (!window[0].covers || !window[1].covers || !window[2].covers)
                    continue; /* its count may be 0 */
                int64_t count = desc->divisor == POOLGRAD_OVERRIDE
                                    ? desc->divisor_override
                                    : window[0].count * window[1].count * window[2].count;
                scatter_window(desc, window, *dy / (double)count, dx, bound);
            }
        }
    }
}

static int64_t plane_count(const poolgrad_desc *desc, const poolgrad_view *view)
{
    int64_t count = 1;
    for (int axis = 0; axis < desc->rank; axis++)
        count *= view->extent[axis + 2];
    return count;
}

void sup_scatter_avg_grad(const poolgrad_desc *resolved, const double *dy, double *dx,
                          double *bound)
{
    const poolgrad_view *from = &resolved->dy, *to = &resolved->dx;
    int64_t from_plane = plane_count(resolved, from), to_plane = plane_count(resolved, to);
    int64_t total = to->extent[0] * to->extent[1] * to_plane;
    for (int64_t i = 0; i < total; i++)
        dx[i] = 0;
    for (int64_t i = 0; i < total && bound; i++)
        bound[i] = 0;
    for (int64_t n = 0; n < to->extent[0]; n++) {
        for (int64_t c = 0; c < to->extent[1]; c++) {
            /* The dy view may hold more batches and channels than the dx view. */
            int64_t from_n = to->offset[0] + n - from->offset[0];
            int64_t from_c = to->offset[1] + c - from->offset[1];
            int64_t at = (n * to->extent[1] + c) * to_plane;
            scatter_plane(resolved, dy + (from_n * from->extent[1] + from_c) * from_plane, dx + at,
                          bound ? bound + at : NULL);
        }
    }
}

/* alpha or beta as the library computes with it. */
static double compute_factor(const poolgrad_desc *desc, double factor)
{
    return desc->dtype == POOLGRAD_F64 ? factor : (double)(float)factor;
}

void sup_scatter_scale(const poolgrad_desc *resolved, const double *previous, double *dx,
                       double *bound)
{
    double alpha = compute_factor(resolved, resolved->alpha);
    double beta = compute_factor(resolved, resolved->beta);
    int64_t total =
        resolved->dx.extent[0] * resolved->dx.extent[1] * plane_count(resolved, &resolved->dx);
    for (int64_t i = 0; i < total; i++) {
        dx[i] = alpha * dx[i];
        if (bound)
            bound[i] = fabs(alpha) * bound[i];
        /* beta is tested as the caller gave it: that decides whether dx is read at all. */
        if (resolved->beta != 0) {
            dx[i] += beta * previous[i];
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

double sup_scatter_tolerance(const poolgrad_desc *resolved, double value, double bound)
{
    format store = format_of(resolved->dtype);
    format compute = format_of(resolved->dtype == POOLGRAD_F64 ? POOLGRAD_F64 : POOLGRAD_F32);
    double depth = 0, terms = 1;
    for (int axis = 0; axis < resolved->rank; axis++) {
        double run = fmax(1, longest_run(resolved, axis));
        depth += 2 * ceil(log2(run + 1));
        terms *= run;
    }
    double error = bound * ldexp(depth + 5, -compute.digits);
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
