/* SPDX-License-Identifier: MIT */
/* The vocabulary (scalar.h explains it) for AVX-512 (F, BW, VL, DQ): vectors of 64 bytes. */
#ifndef PGI_CPU_VEC_AVX512_H
#define PGI_CPU_VEC_AVX512_H

#include <immintrin.h>
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

static inline vec_f32 vec_load_bf16(const uint16_t *from)
{
    const __m256i stored = _mm256_loadu_si256((const __m256i *)(const void *)from);

    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(stored), 16));
}

/* As in avx2.h. AVX512-BF16's own conversion takes denormal numbers for 0 and is not used. */
static inline __m256i vec_bf16_bits(vec_f32 a)
{
    const __m512i bits = _mm512_castps_si512(a);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded =
        _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    const __m512i chosen = _mm512_mask_or_epi32(rounded, _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q),
                                                bits, _mm512_set1_epi32(0x400000));

    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(chosen, 16));
}

static inline void vec_store_bf16(uint16_t *to, vec_f32 a)
{
    _mm256_storeu_si256((__m256i *)(void *)to, vec_bf16_bits(a));
}

static inline void vec_stream_bf16(uint16_t *to, vec_f32 a)
{
    vec_stream_halves(to, vec_bf16_bits(a));
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

#endif
