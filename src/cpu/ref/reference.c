/* SPDX-License-Identifier: MIT */
/* Written for reading beside docs/arithmetic.md; speed is not its business. */
#include "cpu/ref/reference.h"

#include "core/dtype.h"
#include "core/integer.h"
#include "core/window.h"

#include <math.h>
#include <string.h>

/* One plane of a problem. Batch and channel are those of the whole tensor. */
typedef struct pgi_plane {
    const pgi_problem *problem;
    const pgi_scale *scale;
    const pgi_work *work;
    int64_t batch, channel;
} pgi_plane;

static int64_t length(pgi_range range)
{
    return range.end - range.begin;
}

/* Where element (batch, channel, at) of the whole lies, in elements from the first of the view. */
static int64_t element_offset(const pgi_plane *plane, const pgi_tensor *tensor, const int64_t at[3])
{
    int64_t offset = (plane->batch - tensor->offset[PGI_BATCH]) * tensor->stride[PGI_BATCH] +
                     (plane->channel - tensor->offset[PGI_CHANNEL]) * tensor->stride[PGI_CHANNEL];
    int i;

    for (i = 0; i < 3; i++)
        offset += (at[i] - tensor->offset[PGI_SPATIAL + i]) * tensor->stride[PGI_SPATIAL + i];
    return offset;
}

#define REAL    float
#define NAME(x) x##_f32
#include "cpu/ref/elements_tmpl.h"

#include "cpu/ref/average_tmpl.h"
#include "cpu/ref/maximum_tmpl.h"
#undef REAL
#undef NAME

#define REAL    double
#define NAME(x) x##_f64
#include "cpu/ref/elements_tmpl.h"

#include "cpu/ref/average_tmpl.h"
#include "cpu/ref/maximum_tmpl.h"
#undef REAL
#undef NAME

void pgi_reference_plane(const pgi_problem *problem, const pgi_scale *scale, const pgi_work *work,
                         int64_t plane, void *workspace)
{
    const int64_t channels = problem->target.extent[PGI_CHANNEL];
    const pgi_plane one = {problem, scale, work,
                           problem->target.offset[PGI_BATCH] + plane / channels,
                           problem->target.offset[PGI_CHANNEL] + plane % channels};
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
