/* SPDX-License-Identifier: MIT */
/* The words of jousts (scalar_joust.h explains them) for AVX-512. */
#ifndef PGI_CPU_VEC_AVX512_JOUST_H
#define PGI_CPU_VEC_AVX512_JOUST_H

enum {
    VEC_i16 = 32
};

typedef __m512i vec_i16;
typedef __mmask32 vec_mask_i16;
typedef __m512i vec_at_i16;

static inline vec_i16 vec_set_i16(int16_t value)
{
    return _mm512_set1_epi16(value);
}

static inline vec_i16 vec_load_i16(const uint16_t *from)
{
    return _mm512_loadu_si512(from);
}

static inline void vec_store_i16(uint16_t *to, vec_i16 a)
{
    _mm512_storeu_si512(to, a);
}

static inline void vec_stream_i16(uint16_t *to, vec_i16 a)
{
    _mm512_stream_si512((__m512i *)(void *)to, a);
}

static inline vec_i16 vec_rank_i16(vec_i16 bits)
{
    return _mm512_mask_sub_epi16(bits, _mm512_movepi16_mask(bits), _mm512_set1_epi16(INT16_MIN),
                                 bits);
}

static inline vec_mask_i16 vec_above_i16(vec_i16 b, vec_i16 a)
{
    return _mm512_cmpgt_epi16_mask(b, a);
}

static inline vec_i16 vec_larger_i16(vec_i16 b, vec_i16 a)
{
    return _mm512_max_epi16(b, a);
}

static inline vec_i16 vec_smaller_i16(vec_i16 b, vec_i16 a)
{
    return _mm512_min_epi16(b, a);
}

static inline bool vec_beyond_i16(vec_i16 low, vec_i16 high, int16_t limit)
{
    return (_mm512_cmplt_epi16_mask(low, _mm512_set1_epi16((int16_t)-limit)) |
            _mm512_cmpgt_epi16_mask(high, _mm512_set1_epi16(limit))) != 0;
}

static inline vec_i16 vec_choose_i16(vec_mask_i16 mask, vec_i16 b, vec_i16 a)
{
    return _mm512_mask_blend_epi16(mask, a, b);
}

static inline vec_at_i16 vec_set_at_i16(int32_t place)
{
    return _mm512_set1_epi16((int16_t)place);
}

static inline vec_at_i16 vec_add_at_i16(vec_at_i16 a, vec_at_i16 b)
{
    return _mm512_add_epi16(a, b);
}

static inline vec_at_i16 vec_choose_at_i16(vec_mask_i16 mask, vec_at_i16 b, vec_at_i16 a)
{
    return _mm512_mask_blend_epi16(mask, a, b);
}

static inline void vec_store_taps_i16(uint8_t *to, vec_at_i16 a)
{
    _mm256_storeu_si256((__m256i *)(void *)to, _mm512_cvtepi16_epi8(a));
}

static inline void vec_stream_taps_i16(uint8_t *to, vec_at_i16 a)
{
    _mm256_stream_si256((__m256i *)(void *)to, _mm512_cvtepi16_epi8(a));
}

static inline void vec_store_taps_f32(uint8_t *to, vec_at_f32 a)
{
    _mm_storeu_si128((__m128i *)(void *)to, _mm512_cvtepi32_epi8(a));
}

static inline void vec_stream_taps_f32(uint8_t *to, vec_at_f32 a)
{
    _mm_stream_si128((__m128i *)(void *)to, _mm512_cvtepi32_epi8(a));
}

static inline void vec_store_taps_f64(uint8_t *to, vec_at_f64 a)
{
    _mm_storel_epi64((__m128i *)(void *)to, _mm256_cvtepi32_epi8(a));
}

static inline void vec_stream_taps_f64(uint8_t *to, vec_at_f64 a)
{
    _mm_stream_si64((long long *)(void *)to, _mm_cvtsi128_si64(_mm256_cvtepi32_epi8(a)));
}

#endif
