/* SPDX-License-Identifier: MIT */
/* The vocabulary (scalar.h explains it) for AVX2 with F16C and FMA: vectors of 32 bytes. */
#ifndef PGI_CPU_VEC_AVX2_H
#define PGI_CPU_VEC_AVX2_H

#if !defined(__AVX2__) || !defined(__F16C__) || !defined(__FMA__)
#error "compile this file with -mavx2 -mf16c -mfma"
#endif

#include "core/sanitizer.h"
#include "cpu/vec/pairs.h"
#include "plan/backend.h"

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    VEC_f32 = 8,
    VEC_f64 = 4,
    VEC_bytes = 32
};

#define VEC_halves 2

typedef __m256 vec_f32;
typedef __m256d vec_f64;

static inline vec_f32 vec_set_f32(float value)
{
    return _mm256_set1_ps(value);
}

static inline vec_f32 vec_get_f32(const float *from)
{
    return _mm256_loadu_ps(from);
}

static inline void vec_put_f32(float *to, vec_f32 a)
{
    _mm256_storeu_ps(to, a);
}

static inline vec_f32 vec_add_f32(vec_f32 a, vec_f32 b)
{
    return _mm256_add_ps(a, b);
}

static inline vec_f32 vec_mul_f32(vec_f32 a, vec_f32 b)
{
    return _mm256_mul_ps(a, b);
}

static inline vec_f32 vec_div_f32(vec_f32 a, vec_f32 b)
{
    return _mm256_div_ps(a, b);
}

static inline vec_f32 vec_keep_f32(vec_f32 a, const void *bits)
{
    return _mm256_and_ps(a, _mm256_loadu_ps(bits));
}

static inline void vec_zip_inside_f32(vec_f32 a, vec_f32 b, vec_f32 *low, vec_f32 *high)
{
    *low = _mm256_unpacklo_ps(a, b);
    *high = _mm256_unpackhi_ps(a, b);
}

static inline void vec_exchange_f32(vec_f32 a, vec_f32 b, vec_f32 *low, vec_f32 *high)
{
    *low = _mm256_permute2f128_ps(a, b, 0x20);
    *high = _mm256_permute2f128_ps(a, b, 0x31);
}

static inline void vec_zip_f32(vec_f32 a, vec_f32 b, vec_f32 *low, vec_f32 *high)
{
    vec_f32 even, odd;

    vec_zip_inside_f32(a, b, &even, &odd);
    vec_exchange_f32(even, odd, low, high);
}

static inline vec_f64 vec_set_f64(double value)
{
    return _mm256_set1_pd(value);
}

static inline vec_f64 vec_get_f64(const double *from)
{
    return _mm256_loadu_pd(from);
}

static inline void vec_put_f64(double *to, vec_f64 a)
{
    _mm256_storeu_pd(to, a);
}

static inline vec_f64 vec_add_f64(vec_f64 a, vec_f64 b)
{
    return _mm256_add_pd(a, b);
}

static inline vec_f64 vec_mul_f64(vec_f64 a, vec_f64 b)
{
    return _mm256_mul_pd(a, b);
}

static inline vec_f64 vec_div_f64(vec_f64 a, vec_f64 b)
{
    return _mm256_div_pd(a, b);
}

static inline vec_f64 vec_keep_f64(vec_f64 a, const void *bits)
{
    return _mm256_and_pd(a, _mm256_loadu_pd(bits));
}

static inline void vec_zip_inside_f64(vec_f64 a, vec_f64 b, vec_f64 *low, vec_f64 *high)
{
    *low = _mm256_unpacklo_pd(a, b);
    *high = _mm256_unpackhi_pd(a, b);
}

static inline void vec_exchange_f64(vec_f64 a, vec_f64 b, vec_f64 *low, vec_f64 *high)
{
    *low = _mm256_permute2f128_pd(a, b, 0x20);
    *high = _mm256_permute2f128_pd(a, b, 0x31);
}

static inline void vec_zip_f64(vec_f64 a, vec_f64 b, vec_f64 *low, vec_f64 *high)
{
    vec_f64 even, odd;

    vec_zip_inside_f64(a, b, &even, &odd);
    vec_exchange_f64(even, odd, low, high);
}

static inline vec_f32 vec_odd_f32(vec_f32 a, vec_f32 b)
{
    return _mm256_castpd_ps(
        _mm256_permute4x64_pd(_mm256_castps_pd(_mm256_shuffle_ps(a, b, 0xdd)), 0xd8));
}

static inline vec_f64 vec_odd_f64(vec_f64 a, vec_f64 b)
{
    return _mm256_permute4x64_pd(_mm256_unpackhi_pd(a, b), 0xd8);
}

/* By bytes within halves: the middle one lies between a and b. */
#define VEC_SLIDE(places, bytes, a, b, middle)                                                     \
    case places:                                                                                   \
        return (bytes) < 16 ? _mm256_alignr_epi8(middle, a, (bytes) % 16)                          \
                            : _mm256_alignr_epi8(b, middle, (bytes) % 16)

static inline __m256i vec_slide_bytes(__m256i a, __m256i b, int places)
{
    const __m256i middle = _mm256_permute2x128_si256(a, b, 0x21);

    switch (places) {
        VEC_SLIDE(1, 4, a, b, middle);
        VEC_SLIDE(2, 8, a, b, middle);
        VEC_SLIDE(3, 12, a, b, middle);
        VEC_SLIDE(5, 20, a, b, middle);
        VEC_SLIDE(6, 24, a, b, middle);
        VEC_SLIDE(7, 28, a, b, middle);
    case 4:
        return middle;
    case 8:
        return b;
    default:
        return a;
    }
}

#undef VEC_SLIDE

static inline vec_f32 vec_slide_f32(vec_f32 a, vec_f32 b, int places)
{
    return _mm256_castsi256_ps(
        vec_slide_bytes(_mm256_castps_si256(a), _mm256_castps_si256(b), places));
}

static inline vec_f64 vec_slide_f64(vec_f64 a, vec_f64 b, int places)
{
    return _mm256_castsi256_pd(
        vec_slide_bytes(_mm256_castpd_si256(a), _mm256_castpd_si256(b), 2 * places));
}

static inline vec_f32 vec_permute_f32(const float *from, const int32_t *lanes)
{
    const __m256i which = _mm256_loadu_si256((const __m256i *)(const void *)lanes);
    const vec_f32 picked = _mm256_permutevar8x32_ps(_mm256_loadu_ps(from), which);

    return _mm256_andnot_ps(_mm256_castsi256_ps(_mm256_srai_epi32(which, 31)), picked);
}

/* A lane of 64 bits is two of 32: numbers 2 n and 2 n + 1. */
static inline vec_f64 vec_permute_f64(const double *from, const int32_t *lanes)
{
    const __m256i which =
        _mm256_cvtepi32_epi64(_mm_loadu_si128((const __m128i *)(const void *)lanes));
    const __m256i halves = _mm256_add_epi32(_mm256_shuffle_epi32(_mm256_slli_epi32(which, 1), 0xa0),
                                            _mm256_set1_epi64x(INT64_C(1) << 32));
    const __m256i none = _mm256_cmpgt_epi64(_mm256_setzero_si256(), which);
    const __m256 picked = _mm256_permutevar8x32_ps(_mm256_castpd_ps(_mm256_loadu_pd(from)), halves);

    return _mm256_andnot_pd(_mm256_castsi256_pd(none), _mm256_castps_pd(picked));
}

/* A permutation looks at the lowest bits of a number only, a blend at the sign. */
static inline vec_f32 vec_permute_wide_f32(const float *from, const int32_t *lanes)
{
    const __m256i which = _mm256_loadu_si256((const __m256i *)(const void *)lanes);
    const vec_f32 second = _mm256_castsi256_ps(_mm256_slli_epi32(which, 28));
    const vec_f32 low =
        _mm256_blendv_ps(_mm256_permutevar8x32_ps(_mm256_loadu_ps(from), which),
                         _mm256_permutevar8x32_ps(_mm256_loadu_ps(from + 8), which), second);
    const vec_f32 high =
        _mm256_blendv_ps(_mm256_permutevar8x32_ps(_mm256_loadu_ps(from + 16), which),
                         _mm256_permutevar8x32_ps(_mm256_loadu_ps(from + 24), which), second);
    const vec_f32 picked =
        _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(which, 27)));

    return _mm256_andnot_ps(_mm256_castsi256_ps(_mm256_srai_epi32(which, 31)), picked);
}

static inline vec_f32 vec_gather_f32(const float *from, const int32_t *places)
{
    const __m256i which = _mm256_loadu_si256((const __m256i *)(const void *)places);
    const __m256i none = _mm256_srai_epi32(which, 31);

    return _mm256_mask_i32gather_ps(
        _mm256_setzero_ps(), from, which,
        _mm256_castsi256_ps(_mm256_xor_si256(none, _mm256_set1_epi32(-1))), 4);
}

static inline vec_f64 vec_gather_f64(const double *from, const int32_t *places)
{
    const __m128i which = _mm_loadu_si128((const __m128i *)(const void *)places);
    const __m256i there = _mm256_cmpgt_epi64(_mm256_cvtepi32_epi64(which), _mm256_set1_epi64x(-1));

    return _mm256_mask_i32gather_pd(_mm256_setzero_pd(), from, which, _mm256_castsi256_pd(there),
                                    8);
}

/* Four lanes are few: a gather is as good. */
static inline vec_f64 vec_permute_wide_f64(const double *from, const int32_t *lanes)
{
    return vec_gather_f64(from, lanes);
}

typedef __m256 vec_doubt;

static inline vec_doubt vec_no_doubt(void)
{
    return _mm256_setzero_ps();
}

static inline bool vec_in_doubt(vec_doubt doubt)
{
    return _mm256_movemask_ps(doubt) != 0;
}

static inline vec_f32 vec_quotient_f32(vec_f32 a, vec_f32 divisor, vec_f32 high, vec_f32 low,
                                       vec_f32 zero)
{
    (void)divisor;
    return _mm256_fmadd_ps(a, high, _mm256_fmadd_ps(a, low, zero));
}

static inline vec_f64 vec_quotient_f64(vec_f64 a, vec_f64 divisor, vec_f64 high, vec_f64 low,
                                       vec_f64 zero)
{
    (void)divisor;
    return _mm256_fmadd_pd(a, high, _mm256_fmadd_pd(a, low, zero));
}

typedef __m256i vec_least;

static inline vec_least vec_least_none(void)
{
    return _mm256_set1_epi32(-1);
}

/* The bits without the sign, twice what they are, less 1: that of 0 is the largest number. */
static inline void vec_least_f32(vec_f32 a, vec_least *least)
{
    const __m256i bits = _mm256_castps_si256(a);

    *least = _mm256_min_epu32(
        *least, _mm256_add_epi32(_mm256_add_epi32(bits, bits), _mm256_set1_epi32(-1)));
}

/* No minimum has 64 bits: only whether there was one that is too small, as 0. Sizes are so far on
 * that a comparison with signs has 0 as the largest number. */
static inline void vec_least_f64(vec_f64 a, vec_least *least)
{
    const __m256i bits = _mm256_castpd_si256(a);
    const __m256i size =
        _mm256_add_epi64(_mm256_add_epi64(bits, bits), _mm256_set1_epi64x(INT64_MAX));
    const __m256i tiny = _mm256_cmpgt_epi64(_mm256_set1_epi64x(INT64_MIN + PGI_TINY_f64), size);

    *least = _mm256_andnot_si256(tiny, *least);
}

static inline bool vec_below_f32(vec_least least)
{
    const __m256i enough = _mm256_max_epu32(least, _mm256_set1_epi32(PGI_TINY_f32));

    return _mm256_movemask_epi8(_mm256_cmpeq_epi32(enough, least)) != -1;
}

static inline bool vec_below_f64(vec_least least)
{
    return _mm256_movemask_epi8(least) != -1;
}

static inline vec_f32 vec_load_f32(const float *from)
{
    return _mm256_loadu_ps(from);
}

static inline void vec_store_f32(float *to, vec_f32 a)
{
    _mm256_storeu_ps(to, a);
}

static inline void vec_stream_f32(float *to, vec_f32 a)
{
    _mm256_stream_ps(to, a);
}

static inline vec_f64 vec_load_f64(const double *from)
{
    return _mm256_loadu_pd(from);
}

static inline void vec_store_f64(double *to, vec_f64 a)
{
    _mm256_storeu_pd(to, a);
}

static inline void vec_stream_f64(double *to, vec_f64 a)
{
    _mm256_stream_pd(to, a);
}

static inline vec_f32 vec_load_f16(const uint16_t *from)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)from));
}

static inline __m128i vec_f16_bits(vec_f32 a)
{
    return _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT);
}

static inline void vec_store_f16(uint16_t *to, vec_f32 a)
{
    _mm_storeu_si128((__m128i *)(void *)to, vec_f16_bits(a));
}

static inline void vec_stream_f16(uint16_t *to, vec_f32 a)
{
    _mm_stream_si128((__m128i *)(void *)to, vec_f16_bits(a));
}

static inline vec_f32 vec_load_bf16(const uint16_t *from)
{
    const __m128i stored = _mm_loadu_si128((const __m128i *)(const void *)from);

    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(stored), 16));
}

/* To nearest even: adding 0x7fff, and one more if the last bit that stays is set, carries into it
 * exactly when it should. A NaN with all bits set could carry into a zero, but none is like that:
 * what is stored is computed from elements, so a NaN is one of them made quiet, or the machine's
 * own, and the lower half of either is 0. */
static inline __m256i vec_round_bf16(vec_f32 a)
{
    const __m256i bits = _mm256_castps_si256(a);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));

    return _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
}

static inline __m128i vec_bf16_bits(vec_f32 a)
{
    const __m256i high = _mm256_srli_epi32(vec_round_bf16(a), 16);

    return _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
}

static inline void vec_store_bf16(uint16_t *to, vec_f32 a)
{
    _mm_storeu_si128((__m128i *)(void *)to, vec_bf16_bits(a));
}

static inline void vec_stream_bf16(uint16_t *to, vec_f32 a)
{
    _mm_stream_si128((__m128i *)(void *)to, vec_bf16_bits(a));
}

/* All bits set in the first `count` of 8 lanes of 32 bits. */
static inline __m256i vec_first(int64_t count)
{
    static const int32_t lanes[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

    return _mm256_loadu_si256((const __m256i *)(const void *)(lanes + 8 - count));
}

static inline vec_f32 vec_load_some_f32(const float *from, int64_t count)
{
    return _mm256_maskload_ps(from, vec_first(count));
}

static inline void vec_store_some_f32(float *to, vec_f32 a, int64_t count)
{
    _mm256_maskstore_ps(to, vec_first(count), a);
    PGI_WRITTEN(to, (size_t)count * sizeof *to);
}

static inline vec_f64 vec_load_some_f64(const double *from, int64_t count)
{
    return _mm256_maskload_pd(from, vec_first(2 * count));
}

static inline void vec_store_some_f64(double *to, vec_f64 a, int64_t count)
{
    _mm256_maskstore_pd(to, vec_first(2 * count), a);
    PGI_WRITTEN(to, (size_t)count * sizeof *to);
}

static inline vec_f32 vec_load_some_f16(const uint16_t *from, int64_t count)
{
    uint16_t all[8] = {0};

    memcpy(all, from, (size_t)count * sizeof *all);
    return vec_load_f16(all);
}

static inline void vec_store_some_f16(uint16_t *to, vec_f32 a, int64_t count)
{
    uint16_t all[8];

    vec_store_f16(all, a);
    memcpy(to, all, (size_t)count * sizeof *all);
}

static inline vec_f32 vec_load_some_bf16(const uint16_t *from, int64_t count)
{
    uint16_t all[8] = {0};

    memcpy(all, from, (size_t)count * sizeof *all);
    return vec_load_bf16(all);
}

static inline void vec_store_some_bf16(uint16_t *to, vec_f32 a, int64_t count)
{
    uint16_t all[8];

    vec_store_bf16(all, a);
    memcpy(to, all, (size_t)count * sizeof *all);
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
    _mm256_stream_si256((__m256i *)to, _mm256_loadu_si256((const __m256i *)from));
}

static inline void vec_stream_end(void)
{
    _mm_sfence();
}

#include "cpu/vec/avx2_contest.h"

PGI_PAIRS(f32, f32, float)
PGI_PAIRS(f64, f64, double)
PGI_PAIRS_LOAD(f16, f32, uint16_t)

/* 16 elements of 16 bits; streams need not be aligned to more than half of them. */
static inline void vec_store_sixteen(uint16_t *to, __m256i bits, bool past)
{
    if (!past) {
        _mm256_storeu_si256((__m256i *)(void *)to, bits);
    } else if ((uintptr_t)to % 32 == 0) {
        _mm256_stream_si256((__m256i *)(void *)to, bits);
    } else {
        _mm_stream_si128((__m128i *)(void *)to, _mm256_castsi256_si128(bits));
        _mm_stream_si128((__m128i *)(void *)(to + 8), _mm256_extracti128_si256(bits, 1));
    }
}

static inline void vec_store_two_f16(uint16_t *to, vec_f32 a, vec_f32 b, bool past)
{
    vec_store_sixteen(to, _mm256_set_m128i(vec_f16_bits(b), vec_f16_bits(a)), past);
}

static inline void vec_store_both_f16(uint16_t *to, vec_f32 a, vec_f32 b, bool past)
{
    vec_store_two_f16(to, a, b, past);
}

static inline void vec_store_zip_f16(uint16_t *to, vec_f32 a, vec_f32 b, bool past)
{
    const __m128i low = vec_f16_bits(a), high = vec_f16_bits(b);

    vec_store_sixteen(
        to, _mm256_set_m128i(_mm_unpackhi_epi16(low, high), _mm_unpacklo_epi16(low, high)), past);
}

/* Every other element: of pairs of 16 bits one is shifted, the other cut off. */
static inline void vec_load_both_bf16(const uint16_t *from, vec_f32 *a, vec_f32 *b)
{
    const __m256i pairs = _mm256_loadu_si256((const __m256i *)(const void *)from);

    *a = _mm256_castsi256_ps(_mm256_slli_epi32(pairs, 16));
    *b = _mm256_castsi256_ps(_mm256_and_si256(pairs, _mm256_set1_epi32((int)0xffff0000)));
}

static inline void vec_apart_bf16(vec_f32 *a, vec_f32 *b)
{
    (void)a;
    (void)b;
}

/* One behind the other, packed within halves. */
static inline void vec_store_two_bf16(uint16_t *to, vec_f32 a, vec_f32 b, bool past)
{
    const __m256i packed = _mm256_packus_epi32(_mm256_srli_epi32(vec_round_bf16(a), 16),
                                               _mm256_srli_epi32(vec_round_bf16(b), 16));

    vec_store_sixteen(to, _mm256_permute4x64_epi64(packed, 0xd8), past);
}

static inline void vec_store_zip_bf16(uint16_t *to, vec_f32 a, vec_f32 b, bool past)
{
    vec_store_sixteen(
        to, _mm256_blend_epi16(_mm256_srli_epi32(vec_round_bf16(a), 16), vec_round_bf16(b), 0xaa),
        past);
}

static inline void vec_store_both_bf16(uint16_t *to, vec_f32 a, vec_f32 b, bool past)
{
    vec_store_zip_bf16(to, a, b, past);
}

#endif
