/* SPDX-License-Identifier: MIT */
/* Terms without a division: what windows count as the sum of two numbers, its inverse. */
#ifndef PGI_CUDA_KERNELS_INVERSE_CUH
#define PGI_CUDA_KERNELS_INVERSE_CUH

#include "cuda/kernels/element.cuh"

/* 1 / count = high + low, up to 2^-46 of itself in f32; both are positive, so that infinities stay
 * what they are. high is 0, "divide", for counts that this would not do for. */
template <typename Real> struct pgi_inverse {
    Real high, low;
};

template <typename Real> __device__ static __noinline__ pgi_inverse<Real> inverse_of(Real count)
{
    pgi_inverse<Real> inverse = {0, 0};

    if (!(count > 0 && count < 0x1p+20f))
        return inverse;
    if constexpr (sizeof(Real) == sizeof(double)) {
        inverse.high = __drcp_rz(count);
        inverse.low = __ddiv_rn(__fma_rn(-inverse.high, count, 1), count);
        inverse.low = inverse.low > 0 ? inverse.low : 0x1p-1022;
    } else {
        inverse.high = __frcp_rz(count);
        inverse.low = __fdiv_rn(__fmaf_rn(-inverse.high, count, 1), count);
        inverse.low = inverse.low > 0 ? inverse.low : 0x1p-126f;
    }
    return inverse;
}

/*
 * value / count + 0. No quotient is nearer to the middle of two numbers than 1 / (2 count) of their
 * distance, 2^-45 of itself in f32; the inverse and the product with its lower part are less than
 * 2^-46 wrong. That is so as long as nothing is subnormal: is_tiny() is what to look for.
 */
template <typename Real> __device__ inline Real term(Real value, const pgi_inverse<Real> &inverse)
{
    return fused(value, inverse.high, fused(value, inverse.low, (Real)0));
}

/* Below this a part of the quotient may be subnormal. 0 is, too, but does no harm. */
__device__ inline bool is_tiny(float value)
{
    return fabsf(value) < 0x1p-78f;
}

__device__ inline bool is_tiny(double value)
{
    return fabs(value) < 0x1p-878;
}

/* Whether a type has numbers that are tiny and not 0. */
template <typename T> constexpr bool pgi_has_tiny = true;
template <> constexpr bool pgi_has_tiny<pgi_f16> = false;

/* Whether one of the values must be divided: they are of type T, or sums. There are zeros at all
 * edges, so tiny ones are looked at twice. */
template <typename T, int COUNT>
__device__ inline bool needs_division(const pgi_real<T> (&value)[COUNT], bool sums)
{
    bool tiny = false, some = false;

    if (!pgi_has_tiny<T> && !sums)
        return false;
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        tiny = tiny || is_tiny(value[i]);
    if (tiny) {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            some = some || (is_tiny(value[i]) && value[i] != 0);
    }
    return some;
}

#endif
