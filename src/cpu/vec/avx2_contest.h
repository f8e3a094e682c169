/* SPDX-License-Identifier: MIT */
/* The words of contests for AVX2; avx2.h includes this, after all others. */
#ifndef PGI_CPU_VEC_AVX2_CONTEST_H
#define PGI_CPU_VEC_AVX2_CONTEST_H

typedef __m256 vec_mask_f32;
typedef __m256i vec_at_f32;

static inline vec_mask_f32 vec_above_f32(vec_f32 b, vec_f32 a)
{
    return _mm256_cmp_ps(b, a, _CMP_GT_OQ);
}

static inline vec_mask_f32 vec_first_f32(vec_f32 b, vec_f32 a)
{
    return _mm256_and_ps(_mm256_cmp_ps(b, a, _CMP_NLE_UQ), _mm256_cmp_ps(a, a, _CMP_ORD_Q));
}

static inline vec_mask_f32 vec_skip_f32(vec_f32 b, vec_f32 a)
{
    return _mm256_and_ps(_mm256_cmp_ps(a, b, _CMP_NGE_UQ), _mm256_cmp_ps(b, b, _CMP_ORD_Q));
}

static inline vec_mask_f32 vec_last_f32(vec_f32 b, vec_f32 a)
{
    return _mm256_or_ps(_mm256_cmp_ps(b, a, _CMP_GT_OQ), _mm256_cmp_ps(b, b, _CMP_UNORD_Q));
}

static inline bool vec_any_nan_f32(vec_f32 a, vec_f32 b)
{
    return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_UNORD_Q)) != 0;
}

static inline vec_f32 vec_larger_f32(vec_f32 b, vec_f32 a)
{
    return _mm256_max_ps(b, a);
}

static inline vec_f32 vec_choose_f32(vec_mask_f32 mask, vec_f32 b, vec_f32 a)
{
    return _mm256_blendv_ps(a, b, mask);
}

static inline vec_f32 vec_add_where_f32(vec_mask_f32 mask, vec_f32 sum, vec_f32 term)
{
    return _mm256_add_ps(sum, _mm256_and_ps(term, mask));
}

static inline vec_f32 vec_in_order_f32(__m256 halves)
{
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(halves), 0xd8));
}

/* Shuffles go by halves of 128 bits. */
static inline vec_f32 vec_load_even_f32(const float *from)
{
    return vec_in_order_f32(
        _mm256_shuffle_ps(_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8), 0x88));
}

static inline vec_f32 vec_load_odd_f32(const float *from)
{
    return vec_in_order_f32(
        _mm256_shuffle_ps(_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8), 0xdd));
}

static inline vec_f64 vec_load_even_f64(const double *from)
{
    return _mm256_permute4x64_pd(
        _mm256_unpacklo_pd(_mm256_loadu_pd(from), _mm256_loadu_pd(from + 4)), 0xd8);
}

static inline vec_f64 vec_load_odd_f64(const double *from)
{
    return _mm256_permute4x64_pd(
        _mm256_unpackhi_pd(_mm256_loadu_pd(from), _mm256_loadu_pd(from + 4)), 0xd8);
}

/* The halves of 8 pairs by two registers, so that nothing has to cross from half to half. */
static inline __m128i vec_load_four_pairs(const uint16_t *from)
{
    return _mm_loadu_si128((const __m128i *)(const void *)from);
}

static inline vec_f32 vec_load_even_f16(const uint16_t *from)
{
    const __m128i lower = _mm_set1_epi32(0xffff);

    return _mm256_cvtph_ps(_mm_packus_epi32(_mm_and_si128(vec_load_four_pairs(from), lower),
                                            _mm_and_si128(vec_load_four_pairs(from + 8), lower)));
}

static inline vec_f32 vec_load_odd_f16(const uint16_t *from)
{
    return _mm256_cvtph_ps(_mm_packus_epi32(_mm_srli_epi32(vec_load_four_pairs(from), 16),
                                            _mm_srli_epi32(vec_load_four_pairs(from + 8), 16)));
}

static inline __m256i vec_load_pairs(const uint16_t *from)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

static inline vec_f32 vec_load_even_bf16(const uint16_t *from)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(vec_load_pairs(from), 16));
}

static inline vec_f32 vec_load_odd_bf16(const uint16_t *from)
{
    return _mm256_castsi256_ps(
        _mm256_and_si256(vec_load_pairs(from), _mm256_set1_epi32((int)0xffff0000)));
}

static inline void vec_doubt_nan_f32(vec_f32 a, vec_f32 b, vec_doubt *doubt)
{
    *doubt = _mm256_or_ps(*doubt, _mm256_cmp_ps(a, b, _CMP_UNORD_Q));
}

static inline void vec_doubt_nan_f64(vec_f64 a, vec_f64 b, vec_doubt *doubt)
{
    *doubt = _mm256_or_ps(*doubt, _mm256_castpd_ps(_mm256_cmp_pd(a, b, _CMP_UNORD_Q)));
}

static inline vec_f32 vec_even_f32(vec_f32 low, vec_f32 high)
{
    return vec_in_order_f32(_mm256_shuffle_ps(low, high, 0x88));
}

static inline vec_at_f32 vec_set_at_f32(int32_t place)
{
    return _mm256_set1_epi32(place);
}

static inline vec_at_f32 vec_get_at_f32(const int32_t *from)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

static inline void vec_put_at_f32(int32_t *to, vec_at_f32 a)
{
    _mm256_storeu_si256((__m256i *)(void *)to, a);
}

static inline vec_at_f32 vec_count_at_f32(int32_t step)
{
    return _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(step));
}

static inline vec_at_f32 vec_add_at_f32(vec_at_f32 a, vec_at_f32 b)
{
    return _mm256_add_epi32(a, b);
}

static inline vec_mask_f32 vec_same_f32(vec_at_f32 a, vec_at_f32 b)
{
    return _mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b));
}

static inline vec_mask_f32 vec_same_tap_f32(const uint8_t *taps, uint8_t tap)
{
    const __m128i eight = _mm_loadl_epi64((const __m128i *)(const void *)taps);

    return _mm256_castsi256_ps(
        _mm256_cvtepi8_epi32(_mm_cmpeq_epi8(eight, _mm_set1_epi8((char)tap))));
}

static inline vec_at_f32 vec_choose_at_f32(vec_mask_f32 mask, vec_at_f32 b, vec_at_f32 a)
{
    return _mm256_blendv_epi8(a, b, _mm256_castps_si256(mask));
}

static inline vec_at_f32 vec_even_at_f32(vec_at_f32 low, vec_at_f32 high)
{
    return _mm256_castps_si256(vec_even_f32(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high)));
}

static inline vec_f32 vec_pick_f32(const float *from, int64_t step)
{
    return _mm256_i32gather_ps(from, vec_count_at_f32((int32_t)step), 4);
}

typedef __m256d vec_mask_f64;
typedef __m128i vec_at_f64;

static inline vec_mask_f64 vec_above_f64(vec_f64 b, vec_f64 a)
{
    return _mm256_cmp_pd(b, a, _CMP_GT_OQ);
}

static inline vec_mask_f64 vec_first_f64(vec_f64 b, vec_f64 a)
{
    return _mm256_and_pd(_mm256_cmp_pd(b, a, _CMP_NLE_UQ), _mm256_cmp_pd(a, a, _CMP_ORD_Q));
}

static inline vec_mask_f64 vec_skip_f64(vec_f64 b, vec_f64 a)
{
    return _mm256_and_pd(_mm256_cmp_pd(a, b, _CMP_NGE_UQ), _mm256_cmp_pd(b, b, _CMP_ORD_Q));
}

static inline vec_mask_f64 vec_last_f64(vec_f64 b, vec_f64 a)
{
    return _mm256_or_pd(_mm256_cmp_pd(b, a, _CMP_GT_OQ), _mm256_cmp_pd(b, b, _CMP_UNORD_Q));
}

static inline bool vec_any_nan_f64(vec_f64 a, vec_f64 b)
{
    return _mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_UNORD_Q)) != 0;
}

static inline vec_f64 vec_larger_f64(vec_f64 b, vec_f64 a)
{
    return _mm256_max_pd(b, a);
}

static inline vec_f64 vec_choose_f64(vec_mask_f64 mask, vec_f64 b, vec_f64 a)
{
    return _mm256_blendv_pd(a, b, mask);
}

static inline vec_f64 vec_add_where_f64(vec_mask_f64 mask, vec_f64 sum, vec_f64 term)
{
    return _mm256_add_pd(sum, _mm256_and_pd(term, mask));
}

static inline vec_f64 vec_even_f64(vec_f64 low, vec_f64 high)
{
    return _mm256_permute4x64_pd(_mm256_unpacklo_pd(low, high), 0xd8);
}

static inline vec_at_f64 vec_set_at_f64(int32_t place)
{
    return _mm_set1_epi32(place);
}

static inline vec_at_f64 vec_get_at_f64(const int32_t *from)
{
    return _mm_loadu_si128((const __m128i *)(const void *)from);
}

static inline void vec_put_at_f64(int32_t *to, vec_at_f64 a)
{
    _mm_storeu_si128((__m128i *)(void *)to, a);
}

static inline vec_at_f64 vec_count_at_f64(int32_t step)
{
    return _mm_mullo_epi32(_mm_setr_epi32(0, 1, 2, 3), _mm_set1_epi32(step));
}

static inline vec_at_f64 vec_add_at_f64(vec_at_f64 a, vec_at_f64 b)
{
    return _mm_add_epi32(a, b);
}

static inline vec_mask_f64 vec_same_f64(vec_at_f64 a, vec_at_f64 b)
{
    return _mm256_castsi256_pd(_mm256_cvtepi32_epi64(_mm_cmpeq_epi32(a, b)));
}

static inline vec_mask_f64 vec_same_tap_f64(const uint8_t *taps, uint8_t tap)
{
    __m128i four;
    int bytes;

    memcpy(&bytes, taps, sizeof bytes);
    four = _mm_cvtsi32_si128(bytes);
    return _mm256_castsi256_pd(
        _mm256_cvtepi8_epi64(_mm_cmpeq_epi8(four, _mm_set1_epi8((char)tap))));
}

static inline vec_at_f64 vec_choose_at_f64(vec_mask_f64 mask, vec_at_f64 b, vec_at_f64 a)
{
    const __m256 halves = _mm256_castpd_ps(mask);
    const __m128 narrow =
        _mm_shuffle_ps(_mm256_castps256_ps128(halves), _mm256_extractf128_ps(halves, 1), 0x88);

    return _mm_blendv_epi8(a, b, _mm_castps_si128(narrow));
}

static inline vec_at_f64 vec_even_at_f64(vec_at_f64 low, vec_at_f64 high)
{
    return _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(low), _mm_castsi128_ps(high), 0x88));
}

static inline vec_f64 vec_pick_f64(const double *from, int64_t step)
{
    return _mm256_i32gather_pd(from, vec_count_at_f64((int32_t)step), 8);
}

#endif
