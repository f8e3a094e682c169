/* SPDX-License-Identifier: MIT */
/* The vocabulary (scalar.h explains it) for NEON on AArch64: vectors of 16 bytes. */
#ifndef PGI_CPU_VEC_NEON_H
#define PGI_CPU_VEC_NEON_H

#ifndef __ARM_NEON
#error "this file is for AArch64"
#endif

#include "cpu/vec/pairs.h"
#include "plan/backend.h"

#include <arm_neon.h>
#include <stdbool.h>
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

static inline vec_f32 vec_keep_f32(vec_f32 a, const void *bits)
{
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(a), vld1q_u32(bits)));
}

static inline void vec_zip_f32(vec_f32 a, vec_f32 b, vec_f32 *low, vec_f32 *high)
{
    *low = vzip1q_f32(a, b);
    *high = vzip2q_f32(a, b);
}

static inline vec_f32 vec_slide_f32(vec_f32 a, vec_f32 b, int places)
{
    switch (places) {
    case 1:
        return vextq_f32(a, b, 1);
    case 2:
        return vextq_f32(a, b, 2);
    case 3:
        return vextq_f32(a, b, 3);
    case 4:
        return b;
    default:
        return a;
    }
}

static inline vec_f64 vec_slide_f64(vec_f64 a, vec_f64 b, int places)
{
    return places == 0 ? a : places == 1 ? vextq_f64(a, b, 1) : b;
}

static inline vec_f32 vec_permute_f32(const float *from, const int32_t *lanes)
{
    float picked[4];
    int i;

    for (i = 0; i < 4; i++)
        picked[i] = lanes[i] < 0 ? 0 : from[lanes[i]];
    return vld1q_f32(picked);
}

static inline vec_f64 vec_permute_f64(const double *from, const int32_t *lanes)
{
    double picked[2];
    int i;

    for (i = 0; i < 2; i++)
        picked[i] = lanes[i] < 0 ? 0 : from[lanes[i]];
    return vld1q_f64(picked);
}

static inline vec_f32 vec_gather_f32(const float *from, const int32_t *places)
{
    float picked[VEC_f32];
    int i;

    for (i = 0; i < VEC_f32; i++)
        picked[i] = places[i] < 0 ? 0 : from[places[i]];
    return vld1q_f32(picked);
}

static inline vec_f64 vec_gather_f64(const double *from, const int32_t *places)
{
    double picked[VEC_f64];
    int i;

    for (i = 0; i < VEC_f64; i++)
        picked[i] = places[i] < 0 ? 0 : from[places[i]];
    return vld1q_f64(picked);
}

static inline vec_f32 vec_permute_wide_f32(const float *from, const int32_t *lanes)
{
    return vec_gather_f32(from, lanes);
}

static inline vec_f64 vec_permute_wide_f64(const double *from, const int32_t *lanes)
{
    return vec_gather_f64(from, lanes);
}

typedef bool vec_doubt;

static inline vec_doubt vec_no_doubt(void)
{
    return false;
}

static inline bool vec_in_doubt(vec_doubt doubt)
{
    return doubt;
}

static inline vec_f32 vec_quotient_f32(vec_f32 a, vec_f32 divisor, vec_f32 high, vec_f32 low,
                                       vec_f32 zero)
{
    (void)divisor;
    return vfmaq_f32(vfmaq_f32(zero, a, low), a, high);
}

static inline vec_f64 vec_quotient_f64(vec_f64 a, vec_f64 divisor, vec_f64 high, vec_f64 low,
                                       vec_f64 zero)
{
    (void)divisor;
    return vfmaq_f64(vfmaq_f64(zero, a, low), a, high);
}

typedef uint32x4_t vec_least;

static inline vec_least vec_least_none(void)
{
    return vdupq_n_u32(UINT32_MAX);
}

/* The bits without the sign, twice what they are, less 1: that of 0 is the largest number. */
static inline void vec_least_f32(vec_f32 a, vec_least *least)
{
    const uint32x4_t bits = vreinterpretq_u32_f32(a);

    *least = vminq_u32(*least, vsubq_u32(vaddq_u32(bits, bits), vdupq_n_u32(1)));
}

/* No minimum has 64 bits: only whether there was one that is too small, as 0. */
static inline void vec_least_f64(vec_f64 a, vec_least *least)
{
    const uint64x2_t bits = vreinterpretq_u64_f64(a);
    const uint64x2_t size = vsubq_u64(vaddq_u64(bits, bits), vdupq_n_u64(1));
    const uint64x2_t tiny = vcltq_u64(size, vdupq_n_u64(PGI_TINY_f64));

    *least = vbicq_u32(*least, vreinterpretq_u32_u64(tiny));
}

static inline bool vec_below_f32(vec_least least)
{
    return vminvq_u32(least) < PGI_TINY_f32;
}

static inline bool vec_below_f64(vec_least least)
{
    return vminvq_u32(least) == 0;
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

static inline vec_f64 vec_keep_f64(vec_f64 a, const void *bits)
{
    return vreinterpretq_f64_u64(vandq_u64(vreinterpretq_u64_f64(a), vld1q_u64(bits)));
}

static inline void vec_zip_f64(vec_f64 a, vec_f64 b, vec_f64 *low, vec_f64 *high)
{
    *low = vzip1q_f64(a, b);
    *high = vzip2q_f64(a, b);
}

static inline vec_f32 vec_odd_f32(vec_f32 a, vec_f32 b)
{
    return vuzp2q_f32(a, b);
}

static inline vec_f64 vec_odd_f64(vec_f64 a, vec_f64 b)
{
    return vuzp2q_f64(a, b);
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

static inline vec_f64 vec_load_some_f64(const double *from, int64_t count)
{
    return count ? vsetq_lane_f64(*from, vdupq_n_f64(0), 0) : vdupq_n_f64(0);
}

static inline void vec_store_some_f64(double *to, vec_f64 a, int64_t count)
{
    if (count)
        *to = vgetq_lane_f64(a, 0);
}

static inline vec_f32 vec_load_some_f32(const float *from, int64_t count)
{
    float all[4] = {0};

    memcpy(all, from, (size_t)count * sizeof *all);
    return vec_load_f32(all);
}

static inline void vec_store_some_f32(float *to, vec_f32 a, int64_t count)
{
    float all[4];

    vec_store_f32(all, a);
    memcpy(to, all, (size_t)count * sizeof *all);
}

static inline vec_f32 vec_load_some_f16(const uint16_t *from, int64_t count)
{
    uint16_t all[4] = {0};

    memcpy(all, from, (size_t)count * sizeof *all);
    return vec_load_f16(all);
}

static inline void vec_store_some_f16(uint16_t *to, vec_f32 a, int64_t count)
{
    uint16_t all[4];

    vec_store_f16(all, a);
    memcpy(to, all, (size_t)count * sizeof *all);
}

static inline vec_f32 vec_load_some_bf16(const uint16_t *from, int64_t count)
{
    uint16_t all[4] = {0};

    memcpy(all, from, (size_t)count * sizeof *all);
    return vec_load_bf16(all);
}

static inline void vec_store_some_bf16(uint16_t *to, vec_f32 a, int64_t count)
{
    uint16_t all[4];

    vec_store_bf16(all, a);
    memcpy(to, all, (size_t)count * sizeof *all);
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

#include "cpu/vec/neon_contest.h"

PGI_PAIRS(f32, f32, float)
PGI_PAIRS(f64, f64, double)
PGI_PAIRS(f16, f32, uint16_t)
PGI_PAIRS(bf16, f32, uint16_t)

#endif
