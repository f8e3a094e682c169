/* SPDX-License-Identifier: MIT */
/*
 * The vocabulary of the kernels in its smallest form: vectors of one lane, plain C. Every other
 * instruction set has a header with the same names; a kernel is written once, in these words.
 *
 *     vec_f32, vec_f64            a vector of reals, of VEC_f32 and VEC_f64 lanes
 *     vec_set_R, vec_add_R, ...   on all lanes
 *     vec_get_R, vec_put_R        from and to reals in memory, any alignment
 *     vec_zip_R                   a0 b0 a1 b1 ..., in two vectors
 *     vec_load_E, vec_store_E     from and to elements in memory, any alignment; widened, rounded
 *                                 to nearest even
 *     vec_stream_E                as vec_store_E but past the caches; memory aligned to 8 elements
 *                                 (PGI_STREAM_ELEMENTS), or to the vector if that is shorter
 *     vec_stream_eight            8 elements of a size from anywhere to memory aligned to as many
 *     vec_stream_bytes            VEC_bytes from anywhere to memory aligned to as many
 *     vec_stream_end              makes what was streamed visible to other threads
 */
#ifndef PGI_CPU_VEC_SCALAR_H
#define PGI_CPU_VEC_SCALAR_H

#include "core/dtype.h"

#include <string.h>

enum {
    VEC_f32 = 1,
    VEC_f64 = 1,
    VEC_bytes = 8
};

typedef float vec_f32;
typedef double vec_f64;

static inline vec_f32 vec_set_f32(float value)
{
    return value;
}

static inline vec_f32 vec_get_f32(const float *from)
{
    return *from;
}

static inline void vec_put_f32(float *to, vec_f32 a)
{
    *to = a;
}

static inline vec_f32 vec_add_f32(vec_f32 a, vec_f32 b)
{
    return a + b;
}

static inline vec_f32 vec_mul_f32(vec_f32 a, vec_f32 b)
{
    return a * b;
}

static inline vec_f32 vec_div_f32(vec_f32 a, vec_f32 b)
{
    return a / b;
}

static inline void vec_zip_f32(vec_f32 a, vec_f32 b, vec_f32 *low, vec_f32 *high)
{
    *low = a;
    *high = b;
}

static inline vec_f64 vec_set_f64(double value)
{
    return value;
}

static inline vec_f64 vec_get_f64(const double *from)
{
    return *from;
}

static inline void vec_put_f64(double *to, vec_f64 a)
{
    *to = a;
}

static inline vec_f64 vec_add_f64(vec_f64 a, vec_f64 b)
{
    return a + b;
}

static inline vec_f64 vec_mul_f64(vec_f64 a, vec_f64 b)
{
    return a * b;
}

static inline vec_f64 vec_div_f64(vec_f64 a, vec_f64 b)
{
    return a / b;
}

static inline void vec_zip_f64(vec_f64 a, vec_f64 b, vec_f64 *low, vec_f64 *high)
{
    *low = a;
    *high = b;
}

static inline vec_f32 vec_load_f32(const float *from)
{
    return *from;
}

static inline void vec_store_f32(float *to, vec_f32 a)
{
    *to = a;
}

static inline void vec_stream_f32(float *to, vec_f32 a)
{
    *to = a;
}

static inline vec_f64 vec_load_f64(const double *from)
{
    return *from;
}

static inline void vec_store_f64(double *to, vec_f64 a)
{
    *to = a;
}

static inline void vec_stream_f64(double *to, vec_f64 a)
{
    *to = a;
}

static inline vec_f32 vec_load_f16(const uint16_t *from)
{
    return pgi_f32_of_f16(*from);
}

static inline void vec_store_f16(uint16_t *to, vec_f32 a)
{
    *to = pgi_f16_of_f32(a);
}

static inline void vec_stream_f16(uint16_t *to, vec_f32 a)
{
    *to = pgi_f16_of_f32(a);
}

static inline vec_f32 vec_load_bf16(const uint16_t *from)
{
    return pgi_f32_of_bf16(*from);
}

static inline void vec_store_bf16(uint16_t *to, vec_f32 a)
{
    *to = pgi_bf16_of_f32(a);
}

static inline void vec_stream_bf16(uint16_t *to, vec_f32 a)
{
    *to = pgi_bf16_of_f32(a);
}

static inline void vec_stream_eight(void *to, const void *from, size_t size)
{
    memcpy(to, from, 8 * size);
}

static inline void vec_stream_bytes(void *to, const void *from)
{
    memcpy(to, from, VEC_bytes);
}

static inline void vec_stream_end(void)
{
}

#endif
