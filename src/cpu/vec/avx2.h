/* SPDX-License-Identifier: MIT */
/* The vocabulary (scalar.h explains it) for AVX2 with F16C: vectors of 32 bytes. */
#ifndef PGI_CPU_VEC_AVX2_H
#define PGI_CPU_VEC_AVX2_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

enum {
    VEC_f32 = 8,
    VEC_f64 = 4,
    VEC_bytes = 32
};

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

static inline void vec_zip_f32(vec_f32 a, vec_f32 b, vec_f32 *low, vec_f32 *high)
{
    const vec_f32 even = _mm256_unpacklo_ps(a, b), odd = _mm256_unpackhi_ps(a, b);

    *low = _mm256_permute2f128_ps(even, odd, 0x20);
    *high = _mm256_permute2f128_ps(even, odd, 0x31);
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

static inline void vec_zip_f64(vec_f64 a, vec_f64 b, vec_f64 *low, vec_f64 *high)
{
    const vec_f64 even = _mm256_unpacklo_pd(a, b), odd = _mm256_unpackhi_pd(a, b);

    *low = _mm256_permute2f128_pd(even, odd, 0x20);
    *high = _mm256_permute2f128_pd(even, odd, 0x31);
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
 * exactly when it should. A NaN could carry into infinity: it is only cut, and made quiet. */
static inline __m128i vec_bf16_bits(vec_f32 a)
{
    const __m256i bits = _mm256_castps_si256(a);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i rounded =
        _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    const vec_f32 nan = _mm256_cmp_ps(a, a, _CMP_UNORD_Q);
    const __m256i chosen = _mm256_castps_si256(
        _mm256_blendv_ps(_mm256_castsi256_ps(rounded), _mm256_castsi256_ps(quiet), nan));
    const __m256i high = _mm256_srli_epi32(chosen, 16);

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

#endif
