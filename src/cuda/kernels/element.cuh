/* SPDX-License-Identifier: MIT */
/* Elements: storage types, conversion to and from the compute type, division by counts. The bits
 * are those of core/dtype.h; the conversions here are single instructions. */
#ifndef PGI_CUDA_KERNELS_ELEMENT_CUH
#define PGI_CUDA_KERNELS_ELEMENT_CUH

#include <stdint.h>

struct pgi_f16 {
    uint16_t bits;
};

struct pgi_bf16 {
    uint16_t bits;
};

template <typename T> struct pgi_compute {
    typedef float real;
};

template <> struct pgi_compute<double> {
    typedef double real;
};

template <typename T> using pgi_real = typename pgi_compute<T>::real;

__device__ inline float widen(float stored)
{
    return stored;
}

__device__ inline double widen(double stored)
{
    return stored;
}

__device__ inline float widen(pgi_f16 stored)
{
    float value;

    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(stored.bits));
    return value;
}

__device__ inline float widen(pgi_bf16 stored)
{
    return __uint_as_float((uint32_t)stored.bits << 16);
}

__device__ inline void narrow(float value, float *stored)
{
    *stored = value;
}

__device__ inline void narrow(double value, double *stored)
{
    *stored = value;
}

__device__ inline void narrow(float value, pgi_f16 *stored)
{
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(stored->bits) : "f"(value));
}

__device__ inline void narrow(float value, pgi_bf16 *stored)
{
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(stored->bits) : "f"(value));
}

/* The larger, or NaN if one of them is. Which of two zeros it is does not matter. */
__device__ inline float larger_or_nan(float a, float b)
{
    float value;

    asm("max.NaN.f32 %0, %1, %2;" : "=f"(value) : "f"(a), "f"(b));
    return value;
}

__device__ inline double larger_or_nan(double a, double b)
{
    return a > b || a != a ? a : b;
}

/* alpha * value + beta * before, rounded to an element; with beta 0 what was before is not read. */
template <typename T, typename Real>
__device__ inline void store(T *to, Real value, Real alpha, Real beta)
{
    Real result = alpha * value;

    if (beta != 0)
        result = result + beta * widen(*to);
    narrow(result, to);
}

/* The reciprocal to hand to the divisions below: 0, "divide", where a corrected product would not
 * do. Not inline, as divided() is not: both are rare, and long. */
template <typename Real> __device__ static __noinline__ Real reciprocal_of(Real divisor)
{
    if (!(divisor > 0 && divisor < 0x1p+22f))
        return 0;
    if constexpr (sizeof(Real) == sizeof(double))
        return __drcp_rn(divisor);
    else
        return __frcp_rn(divisor);
}

/* Whether a value divided by less than 2^22 stays far from what is not normal; 0 does no harm. */
__device__ inline bool ordinary(float value)
{
    const float size = fabsf(value);

    return (size > 0x1p-78f && size < 0x1p+100f) || size == 0;
}

__device__ inline bool ordinary(double value)
{
    const double size = fabs(value);

    return (size > 0x1p-878 && size < 0x1p+900) || size == 0;
}

template <typename Real> __device__ static __noinline__ Real divided(Real value, Real divisor)
{
    if constexpr (sizeof(Real) == sizeof(double))
        return __ddiv_rn(value, divisor);
    else
        return __fdiv_rn(value, divisor);
}

__device__ inline float fused(float a, float b, float c)
{
    return __fmaf_rn(a, b, c);
}

__device__ inline double fused(double a, double b, double c)
{
    return __fma_rn(a, b, c);
}

/* value / divisor, the divisor a positive integer below 2^22, the value ordinary. The product with
 * the reciprocal, corrected by two fused multiply-adds, is the quotient as long as no step leaves
 * the normal numbers (cpu/vec/avx2.h has the proof). 0 becomes +0, whatever its sign. */
template <typename Real> __device__ inline Real corrected(Real value, Real divisor, Real reciprocal)
{
    const Real guess = value * reciprocal;

    return fused(fused(-guess, divisor, value), reciprocal, guess);
}

template <typename Real> __device__ inline Real quotient(Real value, Real divisor, Real reciprocal)
{
    return value != 0 && reciprocal != 0 && ordinary(value) ? corrected(value, divisor, reciprocal)
                                                            : divided(value, divisor);
}

/* Terms of a gradient, values / divisor + 0, in place. They are looked at together: hardly ever is
 * one not ordinary. */
template <typename Real, int N>
__device__ inline void make_terms(Real (&value)[N], Real divisor, Real reciprocal)
{
    bool all = reciprocal != 0;

#pragma unroll
    for (int i = 0; i < N; i++)
        all = all && ordinary(value[i]);
    if (all) {
#pragma unroll
        for (int i = 0; i < N; i++)
            value[i] = corrected(value[i], divisor, reciprocal);
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            value[i] = divided(value[i], divisor) + 0;
    }
}

/* values / divisors + zero, in place; a divisor of 0 is of a window that covers nothing. `usual`:
 * no reciprocal is 0. Terms of a gradient take +0; -0, which changes nothing, is for sums that are
 * never -0. */
template <typename Real, int N>
__device__ inline void divide_all(Real (&value)[N], const Real (&divisor)[N],
                                  const Real (&reciprocal)[N], bool usual, Real zero)
{
    bool all = usual;

#pragma unroll
    for (int i = 0; i < N; i++)
        all = all && ordinary(value[i]);
    if (all) {
#pragma unroll
        for (int i = 0; i < N; i++)
            value[i] = corrected(value[i], divisor[i], reciprocal[i]);
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            value[i] = divisor[i] == 0 ? 0 : divided(value[i], divisor[i]) + zero;
    }
}

/* Where the divisor is a power of two its reciprocal is exact, and so is a product with it what the
 * division gives. */
template <typename Real, int N>
__device__ inline void make_exact_terms(Real (&value)[N], Real reciprocal)
{
#pragma unroll
    for (int i = 0; i < N; i++)
        value[i] = value[i] * reciprocal + 0;
}

#endif
