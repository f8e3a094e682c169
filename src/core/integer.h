/* SPDX-License-Identifier: MIT */
/* Integer arithmetic that says when it does not fit, and division that rounds as it is named. */
#ifndef PGI_CORE_INTEGER_H
#define PGI_CORE_INTEGER_H

#include <stdbool.h>
#include <stdint.h>

/* What CUDA kernels call too. */
#ifdef __CUDACC__
#define PGI_SHARED static __host__ __device__ inline
#else
#define PGI_SHARED static inline
#endif

/* True if the exact result fits; *result is then that result. */
static inline bool pgi_add(int64_t a, int64_t b, int64_t *result)
{
    return !__builtin_add_overflow(a, b, result);
}

PGI_SHARED bool pgi_mul(int64_t a, int64_t b, int64_t *result)
{
#ifdef __CUDA_ARCH__ /* has no such builtin */
    *result = a * b;
    return __mul64hi(a, b) == *result >> 63;
#else
    return !__builtin_mul_overflow(a, b, result);
#endif
}

/* b > 0 in both. */
PGI_SHARED int64_t pgi_floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

PGI_SHARED int64_t pgi_ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b > 0);
}

PGI_SHARED int64_t pgi_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

PGI_SHARED int64_t pgi_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* floor(log2(n)), n >= 1 */
static inline int pgi_log2(int64_t n)
{
    return 63 - __builtin_clzll((unsigned long long)n);
}

#endif
