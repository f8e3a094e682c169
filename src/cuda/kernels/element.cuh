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

__device__ inline float fused(float a, float b, float c)
{
    return __fmaf_rn(a, b, c);
}

__device__ inline double fused(double a, double b, double c)
{
    return __fma_rn(a, b, c);
}

/* 1 / divisor as a sum, what `high` lacks in `low`; or 0 and the divisor itself, which is then to
 * be divided by. Both parts of a sum are positive, so that infinities stay what they are. */
template <typename Real> struct pgi_inverse {
    Real high, low;
};

/* Not inline, as divided() is not: both are rare, and long. What `high` lacks is rest / divisor,
 * the rest being exact. */
template <typename Real> __device__ static __noinline__ pgi_inverse<Real> inverse_of(Real divisor)
{
    Real high, rest;

    if (!(divisor > 0 && divisor < 0x1p+21f))
        return {0, divisor};
    if constexpr (sizeof(Real) == sizeof(double))
        high = __drcp_rz(divisor);
    else
        high = __frcp_rz(divisor);
    rest = fused(-high, divisor, (Real)1);
    return {high, rest != 0 ? rest / divisor : (Real)0x1p-126f};
}

/* Whether a value divided by less than 2^21 stays far from what is not normal; 0, and what is not
 * finite, do no harm. */
__device__ inline bool are_ordinary(float value)
{
    return __float_as_uint(value) * 2 - 1 >= __float_as_uint(0x1p-78f) * 2 - 1;
}

__device__ inline bool are_ordinary(double value)
{
    return !(fabs(value) < 0x1p-878) || value == 0;
}

__device__ inline bool are_ordinary(pgi_bf16 stored)
{
    return are_ordinary(widen(stored));
}

__device__ inline bool are_ordinary(pgi_f16)
{
    return true;
}

template <typename T, int N> __device__ inline bool are_ordinary(const T (&values)[N])
{
    bool all = true;

#pragma unroll
    for (int i = 0; i < N; i++)
        all = all & are_ordinary(values[i]);
    return all;
}

/* value / divisor + 0, the value ordinary, `high` not 0: plan/backend.h has the proof. */
template <typename Real> __device__ inline Real multiplied(Real value, pgi_inverse<Real> inverse)
{
    return fused(value, inverse.high, fused(value, inverse.low, (Real)0));
}

/* value / divisor, whatever they are; 0 if the divisor is, of a window that covers nothing. */
template <typename Real>
__device__ static __noinline__ Real divided(Real value, pgi_inverse<Real> inverse)
{
    const Real divisor = inverse.high != 0 ? rint(1 / inverse.high) : inverse.low;

    return divisor != 0 ? value / divisor : 0;
}

template <typename Real> __device__ inline Real quotient(Real value, pgi_inverse<Real> inverse)
{
    return inverse.high != 0 && are_ordinary(value) ? multiplied(value, inverse)
                                                    : divided(value, inverse);
}

/* Terms of a gradient, values / divisors + 0, in place. They are looked at together, and as they
 * were stored: hardly ever is one not ordinary. `usual`: none is, and no `high` is 0. */
template <typename Real, int N>
__device__ inline void make_terms(Real (&value)[N], const pgi_inverse<Real> (&inverse)[N],
                                  bool usual)
{
    if (usual) {
#pragma unroll
        for (int i = 0; i < N; i++)
            value[i] = multiplied(value[i], inverse[i]);
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            value[i] = divided(value[i], inverse[i]) + 0;
    }
}

template <typename Real, int N>
__device__ inline void make_terms(Real (&value)[N], pgi_inverse<Real> inverse, bool ordinary)
{
    pgi_inverse<Real> all[N];

#pragma unroll
    for (int i = 0; i < N; i++)
        all[i] = inverse;
    make_terms(value, all, ordinary && inverse.high != 0);
}

/* Terms of a forward pass. */
template <typename Real, int N> __device__ inline void add_zero(Real (&value)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++)
        value[i] = value[i] + 0;
}

/* The means of a forward pass, sums / divisors, in place. A sum is never -0, so that a term of a
 * gradient is the mean too, unless it underflows. `usual`: no `high` is 0. */
template <typename Real, int N>
__device__ inline void make_means(Real (&sum)[N], const pgi_inverse<Real> (&inverse)[N], bool usual)
{
    if (usual && are_ordinary(sum)) {
#pragma unroll
        for (int i = 0; i < N; i++)
            sum[i] = multiplied(sum[i], inverse[i]);
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            sum[i] = divided(sum[i], inverse[i]);
    }
}

#endif
