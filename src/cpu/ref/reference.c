/* SPDX-License-Identifier: MIT */
/* Written for reading beside docs/arithmetic.md; speed is not its business. */
#include "cpu/ref/reference.h"

#include "core/dtype.h"
#include "core/integer.h"
#include "core/window.h"
#include "cpu/ref/plane.h"

#include <math.h>
#include <string.h>

#define REAL    float
#define NAME(x) x##_f32
#include "cpu/ref/elements_tmpl.h"

#include "cpu/ref/average_tmpl.h"
#include "cpu/ref/winner_tmpl.h"

#include "cpu/ref/maximum_tmpl.h"
#undef REAL
#undef NAME

#define REAL    double
#define NAME(x) x##_f64
#include "cpu/ref/elements_tmpl.h"

#include "cpu/ref/average_tmpl.h"
#include "cpu/ref/winner_tmpl.h"

#include "cpu/ref/maximum_tmpl.h"
#undef REAL
#undef NAME

void pgi_reference_plane(const pgi_problem *problem, const pgi_scale *scale, const pgi_work *work,
                         int64_t plane, void *workspace)
{
    const pgi_plane one = plane_of(problem, scale, work, plane);
    const bool wide = problem->desc.dtype == POOLGRAD_F64;

    switch (problem->desc.op) {
    case POOLGRAD_AVG_GRAD:
    case POOLGRAD_AVG:
        wide ? average_f64(&one, workspace) : average_f32(&one, workspace);
        break;
    case POOLGRAD_MAX_GRAD:
        wide ? maximum_gradient_f64(&one, workspace) : maximum_gradient_f32(&one, workspace);
        break;
    case POOLGRAD_MAX:
        wide ? maximum_f64(&one) : maximum_f32(&one);
        break;
    }
}
