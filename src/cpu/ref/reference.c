/* SPDX-License-Identifier: MIT */
#include "cpu/ref/reference.h"

#include "core/dtype.h"
#include "core/integer.h"

/* Windows [begin, end) of an axis that dy holds and the box needs. */
static int64_t length(pgi_range range)
{
    return range.end - range.begin;
}

/* What dy of this window is divided by; 0 if the window covers no position of the input. */
static int64_t divisor(const pgi_problem *problem, const int64_t o[3])
{
    const poolgrad_desc *desc = &problem->desc;
    int64_t count = 1;
    int i;

    for (i = 0; i < 3; i++) {
        if (!pgi_axis_covers(&problem->axis[i], o[i]))
            return 0;
        if (desc->divisor != POOLGRAD_OVERRIDE)
            count *= pgi_axis_count(&problem->axis[i], desc->divisor, o[i]);
    }
    return desc->divisor == POOLGRAD_OVERRIDE ? desc->divisor_override : count;
}

static int64_t element_offset(const pgi_tensor *tensor, int64_t batch, int64_t channel,
                              const int64_t at[3])
{
    int64_t offset = (batch - tensor->offset[PGI_BATCH]) * tensor->stride[PGI_BATCH] +
                     (channel - tensor->offset[PGI_CHANNEL]) * tensor->stride[PGI_CHANNEL];
    int i;

    for (i = 0; i < 3; i++)
        offset += (at[i] - tensor->offset[PGI_SPATIAL + i]) * tensor->stride[PGI_SPATIAL + i];
    return offset;
}

#define REAL    float
#define NAME(x) x##_f32
#include "cpu/ref/reference_tmpl.h"
#undef REAL
#undef NAME

#define REAL    double
#define NAME(x) x##_f64
#include "cpu/ref/reference_tmpl.h"
#undef REAL
#undef NAME

void pgi_reference_plane(const pgi_problem *problem, const pgi_scale *scale, const void *dy,
                         void *dx, int64_t plane, void *workspace)
{
    const int64_t channels = problem->dx.extent[PGI_CHANNEL];
    const int64_t batch = problem->dx.offset[PGI_BATCH] + plane / channels;
    const int64_t channel = problem->dx.offset[PGI_CHANNEL] + plane % channels;

    if (problem->desc.dtype == POOLGRAD_F64)
        plane_f64(problem, scale, dy, dx, batch, channel, workspace);
    else
        plane_f32(problem, scale, dy, dx, batch, channel, workspace);
}
