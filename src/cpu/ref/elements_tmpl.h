/* SPDX-License-Identifier: MIT */
/* The reference for one compute type, REAL (NAME tells its functions apart): single elements. */

static REAL NAME(load)(const pgi_plane *plane, const pgi_tensor *tensor, const void *memory,
                       const int64_t at[3])
{
    const int64_t i = element_offset(plane, tensor, at);

    switch (plane->problem->desc.dtype) {
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

/* target[at] = alpha * value + beta * target[at] */
static void NAME(store)(const pgi_plane *plane, const int64_t at[3], REAL value)
{
    const pgi_tensor *target = &plane->problem->target;
    const REAL alpha = (REAL)plane->scale->alpha, beta = (REAL)plane->scale->beta;
    const int64_t i = element_offset(plane, target, at);
    void *memory = plane->work->target;
    REAL result = alpha * value;

    if (beta != 0)
        result = result + beta * NAME(load)(plane, target, memory, at);
    switch (plane->problem->desc.dtype) {
    case POOLGRAD_F32:
        ((float *)memory)[i] = (float)result;
        break;
    case POOLGRAD_F64:
        ((double *)memory)[i] = (double)result;
        break;
    case POOLGRAD_F16:
        ((uint16_t *)memory)[i] = pgi_f16_of_f32((float)result);
        break;
    case POOLGRAD_BF16:
        ((uint16_t *)memory)[i] = pgi_bf16_of_f32((float)result);
        break;
    }
}
