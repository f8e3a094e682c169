/* SPDX-License-Identifier: MIT */
/* What the readable kernels share: one plane of a problem and where its elements lie. */
#ifndef PGI_CPU_REF_PLANE_H
#define PGI_CPU_REF_PLANE_H

#include "plan/backend.h"

/* One plane of a problem. Batch and channel are those of the whole tensor. */
typedef struct pgi_plane {
    const pgi_problem *problem;
    const pgi_scale *scale;
    const pgi_work *work;
    int64_t batch, channel;
} pgi_plane;

static inline int64_t length(pgi_range range)
{
    return range.end - range.begin;
}

/* Where element (batch, channel, at) of the whole lies, in elements from the first of the view. */
static inline int64_t element_offset(const pgi_plane *plane, const pgi_tensor *tensor,
                                     const int64_t at[3])
{
    int64_t offset = (plane->batch - tensor->offset[PGI_BATCH]) * tensor->stride[PGI_BATCH] +
                     (plane->channel - tensor->offset[PGI_CHANNEL]) * tensor->stride[PGI_CHANNEL];
    int i;

    for (i = 0; i < 3; i++)
        offset += (at[i] - tensor->offset[PGI_SPATIAL + i]) * tensor->stride[PGI_SPATIAL + i];
    return offset;
}

/* The plane-th (batch, channel) of the target. */
static inline pgi_plane plane_of(const pgi_problem *problem, const pgi_scale *scale,
                                 const pgi_work *work, int64_t plane)
{
    const int64_t channels = problem->target.extent[PGI_CHANNEL];

    return (pgi_plane){problem, scale, work, problem->target.offset[PGI_BATCH] + plane / channels,
                       problem->target.offset[PGI_CHANNEL] + plane % channels};
}

#endif
