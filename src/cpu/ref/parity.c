/* SPDX-License-Identifier: MIT */
/* The arithmetic of other systems, one kernel with what they differ in as parameters. Written for
 * reading beside the table in docs/arithmetic.md, section 14. */
#include "cpu/ref/parity.h"

#include "core/dtype.h"
#include "core/window.h"
#include "cpu/ref/plane.h"

#include <math.h>
#include <string.h>

/* How a window's dy becomes its term; n is its count, T the element type. */
typedef enum pgi_term {
    TERM_QUOTIENT,         /* dy / T(n) */
    TERM_QUOTIENT_BY_AXIS, /* dy / T(taps of D) / T(taps of H) / T(taps of W) */
    TERM_RECIPROCAL,       /* dy * (T(1) / T(n)) */
    TERM_RECIPROCAL_F32,   /* dy * T(1.0f / n) */
    TERM_RECIPROCAL_F64    /* dy * T(1.0 / n) */
} pgi_term;

typedef struct pgi_manner {
    pgi_term term;
    bool last_axis_first; /* windows are visited W by W, then H, then D; else in the order of dy */
    bool wide;            /* f16 and bf16 are rounded once, at the end; else after every step */
} pgi_manner;

typedef struct pgi_parity {
    pgi_plane plane;
    pgi_manner manner;
    pgi_range held[3]; /* windows that reach the target */
    void *windows;     /* what the workspace holds of them, in their order */
} pgi_parity;

static pgi_manner manner_of(const poolgrad_desc *desc)
{
    const bool by_axis = desc->rounding == POOLGRAD_ADAPTIVE && desc->divisor != POOLGRAD_OVERRIDE;

    switch (desc->parity) {
    case POOLGRAD_PARITY_TENSORFLOW:
        if (desc->op == POOLGRAD_MAX_GRAD)
            return (pgi_manner){.last_axis_first = desc->winner == POOLGRAD_NEAR_Y};
        if (desc->rank == 3)
            return (pgi_manner){.term = TERM_RECIPROCAL_F32, .last_axis_first = true};
        return (pgi_manner){.term = TERM_RECIPROCAL_F64};
    case POOLGRAD_PARITY_ONNXRUNTIME:
        return (pgi_manner){.term = TERM_RECIPROCAL};
    case POOLGRAD_PARITY_TORCH:
        return (pgi_manner){.term = by_axis ? TERM_QUOTIENT_BY_AXIS : TERM_QUOTIENT};
    case POOLGRAD_PARITY_ONEDNN:
    case POOLGRAD_PARITY_OFF:
        break;
    }
    return (pgi_manner){.term = TERM_QUOTIENT, .wide = true};
}

/* A position counted row-major in its plane. */
static int64_t place_of(const pgi_problem *problem, const int64_t at[3])
{
    return (at[0] * problem->axis[1].in + at[1]) * problem->axis[2].in + at[2];
}

static int64_t window_number(const pgi_parity *parity, const int64_t o[3])
{
    const pgi_range *held = parity->held;

    return ((o[0] - held[0].begin) * length(held[1]) + o[1] - held[1].begin) * length(held[2]) +
           o[2] - held[2].begin;
}

#define REAL    float
#define NAME(x) x##_f32
#include "cpu/ref/elements_tmpl.h"

#include "cpu/ref/winner_tmpl.h"

#include "cpu/ref/parity_tmpl.h"
#undef REAL
#undef NAME

#define REAL    double
#define NAME(x) x##_f64
#include "cpu/ref/elements_tmpl.h"

#include "cpu/ref/winner_tmpl.h"

#include "cpu/ref/parity_tmpl.h"
#undef REAL
#undef NAME

void pgi_parity_plane(const pgi_problem *problem, const pgi_work *work, int64_t plane,
                      void *workspace)
{
    static const pgi_scale plain = {1, 0};
    const pgi_parity parity = {
        .plane = plane_of(problem, &plain, work, plane),
        .manner = manner_of(&problem->desc),
        .held = {pgi_problem_reach(problem, 0), pgi_problem_reach(problem, 1),
                 pgi_problem_reach(problem, 2)},
        .windows = workspace,
    };

    if (problem->desc.dtype == POOLGRAD_F64)
        parity_gradient_f64(&parity);
    else
        parity_gradient_f32(&parity);
}
