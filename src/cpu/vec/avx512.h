/* SPDX-License-Identifier: MIT */
/* The vocabulary (scalar.h explains it) for AVX-512 (F, BW, VL, DQ): vectors of 64 bytes. */
#ifndef PGI_CPU_VEC_AVX512_H
#define PGI_CPU_VEC_AVX512_H

#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512DQ__) ||                   \
    !defined(__AVX512VL__)
#error "compile this file with -mavx512f -mavx512bw -mavx512dq -mavx512vl"
#endif

#include "cpu/vec/pairs.h"
#include "plan/backend.h"

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    VEC_f32 = 16,
    VEC_f64 = 8,
    VEC_bytes = 64
};

typedef __m512 vec_f32;
typedef __m512d vec_f64;

static inline vec_f32 vec_set_f32(float value)
{
    return _mm512_set1_ps(value);
}

static inline vec_f32 vec_get_f32(const float *from)
{
    return _mm512_loadu_ps(from);
}

static inline void vec_put_f32(float *to, vec_f32 a)
{
    _mm512_storeu_ps(to, a);
}

static inline vec_f32 vec_add_f32(vec_f32 a, vec_f32 b)
{
    return _mm512_add_ps(a, b);
}

static inline vec_f32 vec_mul_f32(vec_f32 a, vec_f32 b)
{
    return _mm512_mul_ps(a, b);
}

static inline vec_f32 vec_div_f32(vec_f32 a, vec_f32 b)
{
    return _mm512_div_ps(a, b);
}

static inline vec_f32 vec_keep_f32(vec_f32 a, const void *bits)
{
    return _mm512_and_ps(a, _mm512_loadu_ps(bits));
}

static inline vec_f64 vec_set_f64(double value)
{
    return _mm512_set1_pd(value);
}

static inline vec_f64 vec_get_f64(const double *from)
{
    return _mm512_loadu_pd(from);
}

static inline void vec_put_f64(double *to, vec_f64 a)
{
    _mm512_storeu_pd(to, a);
}

static inline vec_f64 vec_add_f64(vec_f64 a, vec_f64 b)
{
    return _mm512_add_pd(a, b);
}

static inline vec_f64 vec_mul_f64(vec_f64 a, vec_f64 b)
{
    return _mm512_mul_pd(a, b);
}

static inline vec_f64 vec_div_f64(vec_f64 a, vec_f64 b)
{
    return _mm512_div_pd(a, b);
}

static inline vec_f64 vec_keep_f64(vec_f64 a, const void *bits)
{
    return _mm512_and_pd(a, _mm512_loadu_pd(bits));
}

static inline void vec_zip_f32(vec_f32 a, vec_f32 b, vec_f32 *low, vec_f32 *high)
{
    const __m512i lower = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i upper =
        _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);

    *low = _mm512_permutex2var_ps(a, lower, b);
    *high = _mm512_permutex2var_ps(a, upper, b);
}

static inline void vec_zip_f64(vec_f64 a, vec_f64 b, vec_f64 *low, vec_f64 *high)
{
    *low = _mm512_permutex2var_pd(a, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), b);
    *high = _mm512_permutex2var_pd(a, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), b);
}

static inline vec_f32 vec_odd_f32(vec_f32 a, vec_f32 b)
{
    const __m512i odd =
        _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);

    return _mm512_permutex2var_ps(a, odd, b);
}

static inline vec_f64 vec_odd_f64(vec_f64 a, vec_f64 b)
{
    return _mm512_permutex2var_pd(a, _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15), b);
}

#define VEC_SLIDE_32(places, a, b)                                                                 \
    case places:                                                                                   \
        return _mm512_castsi512_ps(                                                                \
            _mm512_alignr_epi32(_mm512_castps_si512(b), _mm512_castps_si512(a), places))

static inline vec_f32 vec_slide_f32(vec_f32 a, vec_f32 b, int places)
{
    switch (places) {
        VEC_SLIDE_32(1, a, b);
        VEC_SLIDE_32(2, a, b);
        VEC_SLIDE_32(3, a, b);
        VEC_SLIDE_32(4, a, b);
        VEC_SLIDE_32(5, a, b);
        VEC_SLIDE_32(6, a, b);
        VEC_SLIDE_32(7, a, b);
        VEC_SLIDE_32(8, a, b);
        VEC_SLIDE_32(9, a, b);
        VEC_SLIDE_32(10, a, b);
        VEC_SLIDE_32(11, a, b);
        VEC_SLIDE_32(12, a, b);
        VEC_SLIDE_32(13, a, b);
        VEC_SLIDE_32(14, a, b);
        VEC_SLIDE_32(15, a, b);
    case 16:
        return b;
    default:
        return a;
    }
}

#undef VEC_SLIDE_32

#define VEC_SLIDE_64(places, a, b)                                                                 \
    case places:                                                                                   \
        return _mm512_castsi512_pd(                                                                \
            _mm512_alignr_epi64(_mm512_castpd_si512(b), _mm512_castpd_si512(a), places))

static inline vec_f64 vec_slide_f64(vec_f64 a, vec_f64 b, int places)
{
    switch (places) {
        VEC_SLIDE_64(1, a, b);
        VEC_SLIDE_64(2, a, b);
        VEC_SLIDE_64(3, a, b);
        VEC_SLIDE_64(4, a, b);
        VEC_SLIDE_64(5, a, b);
        VEC_SLIDE_64(6, a, b);
        VEC_SLIDE_64(7, a, b);
    case 8:
        return b;
    default:
        return a;
    }
}

#undef VEC_SLIDE_64

static inline vec_f32 vec_permute_f32(const float *from, const int32_t *lanes)
{
    const __m512i which = _mm512_loadu_si512(lanes);

    return _mm512_maskz_permutexvar_ps((__mmask16)~_mm512_movepi32_mask(which), which,
                                       _mm512_loadu_ps(from));
}

static inline vec_f64 vec_permute_f64(const double *from, const int32_t *lanes)
{
    const __m512i which =
        _mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *)(const void *)lanes));

    return _mm512_maskz_permutexvar_pd((__mmask8)~_mm512_movepi64_mask(which), which,
                                       _mm512_loadu_pd(from));
}

static inline vec_f32 vec_permute_wide_f32(const float *from, const int32_t *lanes)
{
    const __m512i which = _mm512_loadu_si512(lanes);
    const __m512 low =
        _mm512_permutex2var_ps(_mm512_loadu_ps(from), which, _mm512_loadu_ps(from + 16));
    const __m512 high =
        _mm512_permutex2var_ps(_mm512_loadu_ps(from + 32), which, _mm512_loadu_ps(from + 48));
    const __mmask16 upper = _mm512_test_epi32_mask(which, _mm512_set1_epi32(32));

    return _mm512_maskz_mov_ps((__mmask16)~_mm512_movepi32_mask(which),
                               _mm512_mask_blend_ps(upper, low, high));
}

static inline vec_f64 vec_permute_wide_f64(const double *from, const int32_t *lanes)
{
    const __m512i which =
        _mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *)(const void *)lanes));
    const __m512d low =
        _mm512_permutex2var_pd(_mm512_loadu_pd(from), which, _mm512_loadu_pd(from + 8));
    const __m512d high =
        _mm512_permutex2var_pd(_mm512_loadu_pd(from + 16), which, _mm512_loadu_pd(from + 24));
    const __mmask8 upper = _mm512_test_epi64_mask(which, _mm512_set1_epi64(16));

    return _mm512_maskz_mov_pd((__mmask8)~_mm512_movepi64_mask(which),
                               _mm512_mask_blend_pd(upper, low, high));
}

static inline vec_f32 vec_gather_f32(const float *from, const int32_t *places)
{
    const __m512i which = _mm512_loadu_si512(places);

    return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), (__mmask16)~_mm512_movepi32_mask(which),
                                    which, from, 4);
}

static inline vec_f64 vec_gather_f64(const double *from, const int32_t *places)
{
    const __m256i which = _mm256_loadu_si256((const __m256i *)(const void *)places);

    return _mm512_mask_i32gather_pd(_mm512_setzero_pd(), (__mmask8)~_mm256_movepi32_mask(which),
                                    which, from, 8);
}

typedef __mmask16 vec_doubt;

static inline vec_doubt vec_no_doubt(void)
{
    return 0;
}

static inline bool vec_in_doubt(vec_doubt doubt)
{
    return doubt != 0;
}

static inline vec_f32 vec_quotient_f32(vec_f32 a, vec_f32 divisor, vec_f32 high, vec_f32 low,
                                       vec_f32 zero)
{
    (void)divisor;
    return _mm512_fmadd_ps(a, high, _mm512_fmadd_ps(a, low, zero));
}

static inline vec_f64 vec_quotient_f64(vec_f64 a, vec_f64 divisor, vec_f64 high, vec_f64 low,
                                       vec_f64 zero)
{
    (void)divisor;
    return _mm512_fmadd_pd(a, high, _mm512_fmadd_pd(a, low, zero));
}

typedef __m512i vec_least;

static inline vec_least vec_least_none(void)
{
    return _mm512_set1_epi32(-1);
}

/* The bits without the sign, twice what they are, less 1: that of 0 is the largest number. */
static inline void vec_least_f32(vec_f32 a, vec_least *least)
{
    const __m512i bits = _mm512_castps_si512(a);

    *least = _mm512_min_epu32(
        *least, _mm512_add_epi32(_mm512_add_epi32(bits, bits), _mm512_set1_epi32(-1)));
}

static inline void vec_least_f64(vec_f64 a, vec_least *least)
{
    const __m512i bits = _mm512_castpd_si512(a);

    *least = _mm512_min_epu64(
        *least, _mm512_add_epi64(_mm512_add_epi64(bits, bits), _mm512_set1_epi64(-1)));
}

static inline bool vec_below_f32(vec_least least)
{
    return _mm512_cmplt_epu32_mask(least, _mm512_set1_epi32(PGI_TINY_f32)) != 0;
}

static inline bool vec_below_f64(vec_least least)
{
    return _mm512_cmplt_epu64_mask(least, _mm512_set1_epi64(PGI_TINY_f64)) != 0;
}

static inline vec_f32 vec_load_f32(const float *from)
{
    return _mm512_loadu_ps(from);
}

static inline void vec_store_f32(float *to, vec_f32 a)
{
    _mm512_storeu_ps(to, a);
}

/* In halves: rows of many lengths are aligned to 32 bytes, few to 64. */
static inline void vec_stream_f32(float *to, vec_f32 a)
{
    _mm256_stream_ps(to, _mm512_castps512_ps256(a));
    _mm256_stream_ps(to + 8, _mm512_extractf32x8_ps(a, 1));
}

static inline vec_f64 vec_load_f64(const double *from)
{
    return _mm512_loadu_pd(from);
}

static inline void vec_store_f64(double *to, vec_f64 a)
{
    _mm512_storeu_pd(to, a);
}

static inline void vec_stream_f64(double *to, vec_f64 a)
{
    _mm512_stream_pd(to, a);
}

static inline vec_f32 vec_load_f16(const uint16_t *from)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)from));
}

static inline __m256i vec_f16_bits(vec_f32 a)
{
    return _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT);
}

static inline void vec_store_f16(uint16_t *to, vec_f32 a)
{
    _mm256_storeu_si256((__m256i *)(void *)to, vec_f16_bits(a));
}

static inline void vec_stream_halves(uint16_t *to, __m256i bits)
{
    _mm_stream_si128((__m128i *)(void *)to, _mm256_castsi256_si128(bits));
    _mm_stream_si128((__m128i *)(void *)(to + 8), _mm256_extracti128_si256(bits, 1));
}

static inline void vec_stream_f16(uint16_t *to, vec_f32 a)
{
    vec_stream_halves(to, vec_f16_bits(a));
}

/* The numbers 1, 3, 5, ... of 16-bit lanes, in the lower half. */
static inline __m512i vec_odd_halves(void)
{
    return _mm512_setr_epi32(0x30001, 0x70005, 0xb0009, 0xf000d, 0x130011, 0x170015, 0x1b0019,
                             0x1f001d, 0, 0, 0, 0, 0, 0, 0, 0);
}

/* Every lane to the upper half of one twice as wide. */
static inline vec_f32 vec_bf16_wide(__m256i stored)
{
    const __m512i twice = _mm512_setr_epi32(0 << 16, 1 << 16, 2 << 16, 3 << 16, 4 << 16, 5 << 16,
                                            6 << 16, 7 << 16, 8 << 16, 9 << 16, 10 << 16, 11 << 16,
                                            12 << 16, 13 << 16, 14 << 16, 15 << 16);

    return _mm512_castsi512_ps(
        _mm512_maskz_permutexvar_epi16(0xaaaaaaaa, twice, _mm512_castsi256_si512(stored)));
}

static inline vec_f32 vec_load_bf16(const uint16_t *from)
{
    return vec_bf16_wide(_mm256_loadu_si256((const __m256i *)(const void *)from));
}

/* As in avx2.h. AVX512-BF16's own conversion takes denormal numbers for 0 and is not used. */
static inline __m256i vec_bf16_bits(vec_f32 a)
{
    const __m512i bits = _mm512_castps_si512(a);
    const __mmask16 odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
    const __m512i most = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff));
    const __m512i rounded = _mm512_mask_sub_epi32(most, odd, most, _mm512_set1_epi32(-1));

    return _mm512_castsi512_si256(_mm512_permutexvar_epi16(vec_odd_halves(), rounded));
}

static inline void vec_store_bf16(uint16_t *to, vec_f32 a)
{
    _mm256_storeu_si256((__m256i *)(void *)to, vec_bf16_bits(a));
}

static inline void vec_stream_bf16(uint16_t *to, vec_f32 a)
{
    vec_stream_halves(to, vec_bf16_bits(a));
}

static inline __mmask16 vec_first(int64_t count)
{
    return (__mmask16)((1U << count) - 1);
}

static inline vec_f32 vec_load_some_f32(const float *from, int64_t count)
{
    return _mm512_maskz_loadu_ps(vec_first(count), from);
}

static inline void vec_store_some_f32(float *to, vec_f32 a, int64_t count)
{
    _mm512_mask_storeu_ps(to, vec_first(count), a);
}

static inline vec_f64 vec_load_some_f64(const double *from, int64_t count)
{
    return _mm512_maskz_loadu_pd((__mmask8)vec_first(count), from);
}

static inline void vec_store_some_f64(double *to, vec_f64 a, int64_t count)
{
    _mm512_mask_storeu_pd(to, (__mmask8)vec_first(count), a);
}

static inline vec_f32 vec_load_some_f16(const uint16_t *from, int64_t count)
{
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(vec_first(count), from));
}

static inline void vec_store_some_f16(uint16_t *to, vec_f32 a, int64_t count)
{
    _mm256_mask_storeu_epi16(to, vec_first(count), vec_f16_bits(a));
}

static inline vec_f32 vec_load_some_bf16(const uint16_t *from, int64_t count)
{
    return vec_bf16_wide(_mm256_maskz_loadu_epi16(vec_first(count), from));
}

static inline void vec_store_some_bf16(uint16_t *to, vec_f32 a, int64_t count)
{
    _mm256_mask_storeu_epi16(to, vec_first(count), vec_bf16_bits(a));
}

static inline void vec_stream_eight(void *to, const void *from, size_t size)
{
    const char *source = from;
    char *target = to;
    size_t i;

    if (size == 2)
        _mm_stream_si128((__m128i *)to, _mm_loadu_si128((const __m128i *)from));
    for (i = 0; size > 2 && i < 8 * size; i += 32)
        _mm256_stream_si256((__m256i *)(void *)(target + i),
                            _mm256_loadu_si256((const __m256i *)(const void *)(source + i)));
}

static inline void vec_stream_bytes(void *to, const void *from)
{
    _mm512_stream_si512((__m512i *)to, _mm512_loadu_si512(from));
}

static inline void vec_stream_end(void)
{
    _mm_sfence();
}

#include "cpu/vec/avx512_contest.h"

PGI_PAIRS(f32, f32, float)
PGI_PAIRS(f64, f64, double)
PGI_PAIRS(f16, f32, uint16_t)
PGI_PAIRS(bf16, f32, uint16_t)

#endif
