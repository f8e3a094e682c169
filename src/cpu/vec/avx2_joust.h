/* SPDX-License-Identifier: MIT */
/* The words of jousts (scalar_joust.h explains them) for AVX2. */
#ifndef PGI_CPU_VEC_AVX2_JOUST_H
#define PGI_CPU_VEC_AVX2_JOUST_H

enum {
    VEC_i16 = 16
};

typedef __m256i vec_i16;
typedef __m256i vec_mask_i16;
typedef __m256i vec_at_i16;

static inline vec_i16 vec_set_i16(int16_t value)
{
    return _mm256_set1_epi16(value);
}

static inline vec_i16 vec_load_i16(const uint16_t *from)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

static inline void vec_store_i16(uint16_t *to, vec_i16 a)
{
    _mm256_storeu_si256((__m256i *)(void *)to, a);
}

static inline void vec_stream_i16(uint16_t *to, vec_i16 a)
{
    _mm256_stream_si256((__m256i *)(void *)to, a);
}

/* The size, negative for negative numbers. */
static inline vec_i16 vec_rank_i16(vec_i16 bits)
{
    return _mm256_sign_epi16(_mm256_and_si256(bits, _mm256_set1_epi16(INT16_MAX)),
                             _mm256_or_si256(bits, _mm256_set1_epi16(1)));
}

static inline vec_mask_i16 vec_above_i16(vec_i16 b, vec_i16 a)
{
    return _mm256_cmpgt_epi16(b, a);
}

static inline vec_i16 vec_larger_i16(vec_i16 b, vec_i16 a)
{
    return _mm256_max_epi16(b, a);
}

static inline vec_i16 vec_smaller_i16(vec_i16 b, vec_i16 a)
{
    return _mm256_min_epi16(b, a);
}

static inline bool vec_beyond_i16(vec_i16 low, vec_i16 high, int16_t limit)
{
    return _mm256_movemask_epi8(
               _mm256_or_si256(_mm256_cmpgt_epi16(_mm256_set1_epi16((int16_t)-limit), low),
                               _mm256_cmpgt_epi16(high, _mm256_set1_epi16(limit)))) != 0;
}

static inline vec_i16 vec_choose_i16(vec_mask_i16 mask, vec_i16 b, vec_i16 a)
{
    return _mm256_blendv_epi8(a, b, mask);
}

static inline vec_at_i16 vec_set_at_i16(int32_t place)
{
    return _mm256_set1_epi16((int16_t)place);
}

static inline vec_at_i16 vec_add_at_i16(vec_at_i16 a, vec_at_i16 b)
{
    return _mm256_add_epi16(a, b);
}

static inline vec_at_i16 vec_choose_at_i16(vec_mask_i16 mask, vec_at_i16 b, vec_at_i16 a)
{
    return _mm256_blendv_epi8(a, b, mask);
}

static inline __m128i vec_taps_i16(vec_at_i16 a)
{
    return _mm_packus_epi16(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
}

static inline __m128i vec_taps_f32(vec_at_f32 a)
{
    const __m128i words =
        _mm_packs_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));

    return _mm_packus_epi16(words, words);
}

static inline void vec_store_taps_i16(uint8_t *to, vec_at_i16 a)
{
    _mm_storeu_si128((__m128i *)(void *)to, vec_taps_i16(a));
}

static inline void vec_stream_taps_i16(uint8_t *to, vec_at_i16 a)
{
    _mm_stream_si128((__m128i *)(void *)to, vec_taps_i16(a));
}

static inline void vec_store_taps_f32(uint8_t *to, vec_at_f32 a)
{
    _mm_storel_epi64((__m128i *)(void *)to, vec_taps_f32(a));
}

static inline void vec_stream_taps_f32(uint8_t *to, vec_at_f32 a)
{
    _mm_stream_si64((long long *)(void *)to, _mm_cvtsi128_si64(vec_taps_f32(a)));
}

static inline int vec_taps_f64(vec_at_f64 a)
{
    const __m128i words = _mm_packs_epi32(a, a);

    return _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
}

static inline void vec_store_taps_f64(uint8_t *to, vec_at_f64 a)
{
    const int taps = vec_taps_f64(a);

    memcpy(to, &taps, sizeof taps);
}

static inline void vec_stream_taps_f64(uint8_t *to, vec_at_f64 a)
{
    _mm_stream_si32((int *)(void *)to, vec_taps_f64(a));
}

#endif
