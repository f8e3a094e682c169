/* SPDX-License-Identifier: MIT */
#include "core/dtype.h"

#include "core/environment.h"
#include "core/status.h"
#include "core/tensor.h"

#include <float.h>
#include <math.h>

#if FLT_EVAL_METHOD != 0
#error "poolgrad needs arithmetic in the type of the operands (on 32-bit x86: -msse2 -mfpmath=sse)"
#endif
#ifdef __FAST_MATH__
#error "poolgrad's results are defined to the bit: build it without -ffast-math"
#endif

size_t poolgrad_dtype_size(poolgrad_dtype dtype)
{
    switch (dtype) {
    case POOLGRAD_F32:
        return 4;
    case POOLGRAD_F64:
        return 8;
    case POOLGRAD_F16:
    case POOLGRAD_BF16:
        return 2;
    }
    return 0;
}

static double load(poolgrad_dtype dtype, const void *from, size_t i)
{
    switch (dtype) {
    case POOLGRAD_F32:
        return ((const float *)from)[i];
    case POOLGRAD_F64:
        return ((const double *)from)[i];
    case POOLGRAD_F16:
        return pgi_f32_of_f16(((const uint16_t *)from)[i]);
    case POOLGRAD_BF16:
        break;
    }
    return pgi_f32_of_bf16(((const uint16_t *)from)[i]);
}

/* The f32 on the way from f64 to a 16-bit type: rounded to odd (an inexact value has its last bit
 * set), so that the second rounding, of at least two bits more, comes out as if it were the only
 * one. */
static float f32_rounded_to_odd(double value)
{
    float nearest = (float)value;
    uint32_t bits;

    if ((double)nearest == value || isnan(value))
        return nearest;
    if (isinf(nearest))
        nearest = copysignf(FLT_MAX, nearest);
    bits = pgi_bits_of_f32(nearest);
    if (fabs((double)nearest) > fabs(value))
        bits--; /* towards zero */
    return pgi_f32_of_bits(bits | 1);
}

static void store(poolgrad_dtype dtype, void *to, size_t i, double value)
{
    switch (dtype) {
    case POOLGRAD_F32:
        ((float *)to)[i] = (float)value;
        break;
    case POOLGRAD_F64:
        ((double *)to)[i] = value;
        break;
    case POOLGRAD_F16:
        ((uint16_t *)to)[i] = pgi_f16_of_f32(f32_rounded_to_odd(value));
        break;
    case POOLGRAD_BF16:
        ((uint16_t *)to)[i] = pgi_bf16_of_f32(f32_rounded_to_odd(value));
        break;
    }
}

poolgrad_status poolgrad_convert(poolgrad_dtype to_dtype, void *to, poolgrad_dtype from_dtype,
                                 const void *from, size_t count, poolgrad_error *error)
{
    const size_t to_size = poolgrad_dtype_size(to_dtype);
    const size_t from_size = poolgrad_dtype_size(from_dtype);
    pgi_environment caller;
    size_t i;

    if (!to_size || !from_size)
        return pgi_fail(error, POOLGRAD_ERR_ENUM, "%s is %d; it must be a poolgrad_dtype",
                        to_size ? "from_dtype" : "to_dtype",
                        (int)(to_size ? from_dtype : to_dtype));
    if (count == 0)
        return pgi_ok(error);
    if (!to || !from)
        return pgi_fail(error, POOLGRAD_ERR_NULL, "%s is NULL", to ? "from" : "to");
    if (count > (size_t)PTRDIFF_MAX / sizeof(double))
        return pgi_fail(error, POOLGRAD_ERR_OVERFLOW, "count is %zu; that many bytes do not exist",
                        count);
    if ((uintptr_t)to % to_size || (uintptr_t)from % from_size)
        return pgi_fail(
            error, POOLGRAD_ERR_MISALIGNED, "%s is not aligned to its element size, %zu bytes",
            (uintptr_t)to % to_size ? "to" : "from", (uintptr_t)to % to_size ? to_size : from_size);
    if (pgi_bytes_overlap(to, count * to_size, from, count * from_size))
        return pgi_fail(error, POOLGRAD_ERR_OVERLAP, "to and from overlap");

    pgi_environment_enter(&caller);
    for (i = 0; i < count; i++)
        store(to_dtype, to, i, load(from_dtype, from, i));
    pgi_environment_leave(&caller);
    return pgi_ok(error);
}
