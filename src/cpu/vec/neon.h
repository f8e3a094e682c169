/* SPDX-License-Identifier: MIT */
/* The vocabulary (scalar.h explains it) for NEON on AArch64: vectors of 16 bytes. */
#ifndef PGI_CPU_VEC_NEON_H
#define PGI_CPU_VEC_NEON_H

#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

enum {
    VEC_f32 = 4,
    VEC_f64 = 2,
    VEC_bytes = 16
};

typedef float32x4_t vec_f32;
typedef float64x2_t vec_f64;

static inline vec_f32 vec_set_f32(float value)
{
    return vdupq_n_f32(value);
}

static inline vec_f32 vec_get_f32(const float *from)
{
    return vld1q_f32(from);
}

static inline void vec_put_f32(float *to, vec_f32 a)
{
    vst1q_f32(to, a);
}

static inline vec_f32 vec_add_f32(vec_f32 a, vec_f32 b)
{
    return vaddq_f32(a, b);
}

static inline vec_f32 vec_mul_f32(vec_f32 a, vec_f32 b)
{
    return vmulq_f32(a, b);
}

static inline vec_f32 vec_div_f32(vec_f32 a, vec_f32 b)
{
    return vdivq_f32(a, b);
}

static inline void vec_zip_f32(vec_f32 a, vec_f32 b, vec_f32 *low, vec_f32 *high)
{
    *low = vzip1q_f32(a, b);
    *high = vzip2q_f32(a, b);
}

static inline vec_f32 vec_load_f32(const float *from)
{
    return vld1q_f32(from);
}

static inline void vec_store_f32(float *to, vec_f32 a)
{
    vst1q_f32(to, a);
}

/* The compilers have no word for a store past the caches (STNP). */
static inline void vec_stream_f32(float *to, vec_f32 a)
{
    vst1q_f32(to, a);
}

static inline vec_f64 vec_set_f64(double value)
{
    return vdupq_n_f64(value);
}

static inline vec_f64 vec_get_f64(const double *from)
{
    return vld1q_f64(from);
}

static inline void vec_put_f64(double *to, vec_f64 a)
{
    vst1q_f64(to, a);
}

static inline vec_f64 vec_add_f64(vec_f64 a, vec_f64 b)
{
    return vaddq_f64(a, b);
}

static inline vec_f64 vec_mul_f64(vec_f64 a, vec_f64 b)
{
    return vmulq_f64(a, b);
}

static inline vec_f64 vec_div_f64(vec_f64 a, vec_f64 b)
{
    return vdivq_f64(a, b);
}

static inline void vec_zip_f64(vec_f64 a, vec_f64 b, vec_f64 *low, vec_f64 *high)
{
    *low = vzip1q_f64(a, b);
    *high = vzip2q_f64(a, b);
}

static inline vec_f64 vec_load_f64(const double *from)
{
    return vld1q_f64(from);
}

static inline void vec_store_f64(double *to, vec_f64 a)
{
    vst1q_f64(to, a);
}

/* The compilers have no word for a store past the caches (STNP). */
static inline void vec_stream_f64(double *to, vec_f64 a)
{
    vst1q_f64(to, a);
}

static inline vec_f32 vec_load_f16(const uint16_t *from)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from)));
}

static inline void vec_store_f16(uint16_t *to, vec_f32 a)
{
    vst1_u16(to, vreinterpret_u16_f16(vcvt_f16_f32(a)));
}

static inline void vec_stream_f16(uint16_t *to, vec_f32 a)
{
    vec_store_f16(to, a);
}

static inline vec_f32 vec_load_bf16(const uint16_t *from)
{
    return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(from), 16));
}

/* As in avx2.h. */
static inline void vec_store_bf16(uint16_t *to, vec_f32 a)
{
    const uint32x4_t bits = vreinterpretq_u32_f32(a);
    const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    const uint32x4_t rounded = vaddq_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7fff)));
    const uint32x4_t quiet = vorrq_u32(bits, vdupq_n_u32(0x400000));
    const uint32x4_t number = vceqq_f32(a, a);

    vst1_u16(to, vshrn_n_u32(vbslq_u32(number, rounded, quiet), 16));
}

static inline void vec_stream_bf16(uint16_t *to, vec_f32 a)
{
    vec_store_bf16(to, a);
}

static inline void vec_stream_eight(void *to, const void *from, size_t size)
{
    memcpy(to, from, 8 * size);
}

static inline void vec_stream_bytes(void *to, const void *from)
{
    vst1q_u8(to, vld1q_u8(from));
}

static inline void vec_stream_end(void)
{
}

#endif
