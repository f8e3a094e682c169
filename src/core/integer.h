/* SPDX-License-Identifier: MIT */
/* Integer arithmetic that says when it does not fit, and division that rounds as it is named. */
#ifndef PGI_CORE_INTEGER_H
#define PGI_CORE_INTEGER_H

#include <stdbool.h>
#include <stdint.h>

/* True if the exact result fits; *result is then that result. */
static inline bool pgi_add(int64_t a, int64_t b, int64_t *result)
{
    return !__builtin_add_overflow(a, b, result);
}

static inline bool pgi_mul(int64_t a, int64_t b, int64_t *result)
{
    return !__builtin_mul_overflow(a, b, result);
}

/* b > 0 in both. */
static inline int64_t pgi_floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static inline int64_t pgi_ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b > 0);
}

static inline int64_t pgi_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t pgi_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* floor(log2(n)), n >= 1 */
static inline int pgi_log2(int64_t n)
{
    return 63 - __builtin_clzll((unsigned long long)n);
}

#endif
