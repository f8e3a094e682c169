/* SPDX-License-Identifier: MIT */
/* The words of contests for AVX-512; avx512.h includes this, after all others. */
#ifndef PGI_CPU_VEC_AVX512_CONTEST_H
#define PGI_CPU_VEC_AVX512_CONTEST_H

static inline vec_f32 vec_load_even_f32(const float *from)
{
    const __m512i even =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);

    return _mm512_permutex2var_ps(_mm512_loadu_ps(from), even, _mm512_loadu_ps(from + 16));
}

static inline vec_f32 vec_load_odd_f32(const float *from)
{
    const __m512i odd =
        _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);

    return _mm512_permutex2var_ps(_mm512_loadu_ps(from), odd, _mm512_loadu_ps(from + 16));
}

static inline vec_f64 vec_load_even_f64(const double *from)
{
    return _mm512_permutex2var_pd(_mm512_loadu_pd(from),
                                  _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14),
                                  _mm512_loadu_pd(from + 8));
}

static inline vec_f64 vec_load_odd_f64(const double *from)
{
    return _mm512_permutex2var_pd(_mm512_loadu_pd(from),
                                  _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15),
                                  _mm512_loadu_pd(from + 8));
}

static inline vec_f32 vec_load_even_f16(const uint16_t *from)
{
    return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_loadu_si512(from)));
}

static inline vec_f32 vec_load_odd_f16(const uint16_t *from)
{
    return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_loadu_si512(from), 16)));
}

static inline vec_f32 vec_load_even_bf16(const uint16_t *from)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_loadu_si512(from), 16));
}

static inline vec_f32 vec_load_odd_bf16(const uint16_t *from)
{
    return _mm512_castsi512_ps(
        _mm512_and_si512(_mm512_loadu_si512(from), _mm512_set1_epi32((int)0xffff0000)));
}

static inline void vec_doubt_nan_f32(vec_f32 a, vec_f32 b, vec_doubt *doubt)
{
    *doubt = _kor_mask16(*doubt, _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q));
}

static inline void vec_doubt_nan_f64(vec_f64 a, vec_f64 b, vec_doubt *doubt)
{
    *doubt = _kor_mask16(*doubt, _mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q));
}

typedef __mmask16 vec_mask_f32;
typedef __m512i vec_at_f32;

static inline vec_mask_f32 vec_above_f32(vec_f32 b, vec_f32 a)
{
    return _mm512_cmp_ps_mask(b, a, _CMP_GT_OQ);
}

static inline vec_mask_f32 vec_first_f32(vec_f32 b, vec_f32 a)
{
    return _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(a, a, _CMP_ORD_Q), b, a, _CMP_NLE_UQ);
}

static inline vec_mask_f32 vec_skip_f32(vec_f32 b, vec_f32 a)
{
    return _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(b, b, _CMP_ORD_Q), a, b, _CMP_NGE_UQ);
}

static inline vec_mask_f32 vec_last_f32(vec_f32 b, vec_f32 a)
{
    return (__mmask16)(_mm512_cmp_ps_mask(b, b, _CMP_UNORD_Q) |
                       _mm512_cmp_ps_mask(b, a, _CMP_GT_OQ));
}

static inline bool vec_any_nan_f32(vec_f32 a, vec_f32 b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q) != 0;
}

static inline vec_f32 vec_larger_f32(vec_f32 b, vec_f32 a)
{
    return _mm512_max_ps(b, a);
}

static inline vec_f32 vec_choose_f32(vec_mask_f32 mask, vec_f32 b, vec_f32 a)
{
    return _mm512_mask_blend_ps(mask, a, b);
}

static inline vec_f32 vec_add_where_f32(vec_mask_f32 mask, vec_f32 sum, vec_f32 term)
{
    return _mm512_mask_add_ps(sum, mask, sum, term);
}

static inline vec_f32 vec_even_f32(vec_f32 low, vec_f32 high)
{
    const __m512i even =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);

    return _mm512_permutex2var_ps(low, even, high);
}

static inline vec_at_f32 vec_set_at_f32(int32_t place)
{
    return _mm512_set1_epi32(place);
}

static inline vec_at_f32 vec_get_at_f32(const int32_t *from)
{
    return _mm512_loadu_si512(from);
}

static inline void vec_put_at_f32(int32_t *to, vec_at_f32 a)
{
    _mm512_storeu_si512(to, a);
}

static inline vec_at_f32 vec_count_at_f32(int32_t step)
{
    return _mm512_mullo_epi32(
        _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
        _mm512_set1_epi32(step));
}

static inline vec_at_f32 vec_add_at_f32(vec_at_f32 a, vec_at_f32 b)
{
    return _mm512_add_epi32(a, b);
}

static inline vec_mask_f32 vec_same_f32(vec_at_f32 a, vec_at_f32 b)
{
    return _mm512_cmpeq_epi32_mask(a, b);
}

static inline vec_at_f32 vec_choose_at_f32(vec_mask_f32 mask, vec_at_f32 b, vec_at_f32 a)
{
    return _mm512_mask_blend_epi32(mask, a, b);
}

static inline vec_at_f32 vec_even_at_f32(vec_at_f32 low, vec_at_f32 high)
{
    const __m512i even =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);

    return _mm512_permutex2var_epi32(low, even, high);
}

static inline vec_f32 vec_pick_f32(const float *from, int64_t step)
{
    return _mm512_i32gather_ps(vec_count_at_f32((int32_t)step), from, 4);
}

typedef __mmask8 vec_mask_f64;
typedef __m256i vec_at_f64;

static inline vec_mask_f64 vec_above_f64(vec_f64 b, vec_f64 a)
{
    return _mm512_cmp_pd_mask(b, a, _CMP_GT_OQ);
}

static inline vec_mask_f64 vec_first_f64(vec_f64 b, vec_f64 a)
{
    return _mm512_mask_cmp_pd_mask(_mm512_cmp_pd_mask(a, a, _CMP_ORD_Q), b, a, _CMP_NLE_UQ);
}

static inline vec_mask_f64 vec_skip_f64(vec_f64 b, vec_f64 a)
{
    return _mm512_mask_cmp_pd_mask(_mm512_cmp_pd_mask(b, b, _CMP_ORD_Q), a, b, _CMP_NGE_UQ);
}

static inline vec_mask_f64 vec_last_f64(vec_f64 b, vec_f64 a)
{
    return (__mmask8)(_mm512_cmp_pd_mask(b, b, _CMP_UNORD_Q) |
                      _mm512_cmp_pd_mask(b, a, _CMP_GT_OQ));
}

static inline bool vec_any_nan_f64(vec_f64 a, vec_f64 b)
{
    return _mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q) != 0;
}

static inline vec_f64 vec_larger_f64(vec_f64 b, vec_f64 a)
{
    return _mm512_max_pd(b, a);
}

static inline vec_f64 vec_choose_f64(vec_mask_f64 mask, vec_f64 b, vec_f64 a)
{
    return _mm512_mask_blend_pd(mask, a, b);
}

static inline vec_f64 vec_add_where_f64(vec_mask_f64 mask, vec_f64 sum, vec_f64 term)
{
    return _mm512_mask_add_pd(sum, mask, sum, term);
}

static inline vec_f64 vec_even_f64(vec_f64 low, vec_f64 high)
{
    return _mm512_permutex2var_pd(low, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), high);
}

static inline vec_at_f64 vec_set_at_f64(int32_t place)
{
    return _mm256_set1_epi32(place);
}

static inline vec_at_f64 vec_get_at_f64(const int32_t *from)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

static inline void vec_put_at_f64(int32_t *to, vec_at_f64 a)
{
    _mm256_storeu_si256((__m256i *)(void *)to, a);
}

static inline vec_at_f64 vec_count_at_f64(int32_t step)
{
    return _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(step));
}

static inline vec_at_f64 vec_add_at_f64(vec_at_f64 a, vec_at_f64 b)
{
    return _mm256_add_epi32(a, b);
}

static inline vec_mask_f64 vec_same_f64(vec_at_f64 a, vec_at_f64 b)
{
    return _mm256_cmpeq_epi32_mask(a, b);
}

static inline vec_at_f64 vec_choose_at_f64(vec_mask_f64 mask, vec_at_f64 b, vec_at_f64 a)
{
    return _mm256_mask_blend_epi32(mask, a, b);
}

static inline vec_at_f64 vec_even_at_f64(vec_at_f64 low, vec_at_f64 high)
{
    return _mm256_permutex2var_epi32(low, _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14), high);
}

static inline vec_f64 vec_pick_f64(const double *from, int64_t step)
{
    return _mm512_i32gather_pd(vec_count_at_f64((int32_t)step), from, 8);
}

#endif
