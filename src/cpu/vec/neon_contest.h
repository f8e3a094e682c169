/* SPDX-License-Identifier: MIT */
/* The words of contests for NEON; neon.h includes this, after all others. */
#ifndef PGI_CPU_VEC_NEON_CONTEST_H
#define PGI_CPU_VEC_NEON_CONTEST_H

typedef uint32x4_t vec_mask_f32;
typedef int32x4_t vec_at_f32;

static inline vec_mask_f32 vec_above_f32(vec_f32 b, vec_f32 a)
{
    return vcgtq_f32(b, a);
}

static inline vec_mask_f32 vec_first_f32(vec_f32 b, vec_f32 a)
{
    return vandq_u32(vmvnq_u32(vcleq_f32(b, a)), vceqq_f32(a, a));
}

static inline vec_mask_f32 vec_skip_f32(vec_f32 b, vec_f32 a)
{
    return vandq_u32(vmvnq_u32(vcgeq_f32(a, b)), vceqq_f32(b, b));
}

static inline vec_mask_f32 vec_last_f32(vec_f32 b, vec_f32 a)
{
    return vorrq_u32(vcgtq_f32(b, a), vmvnq_u32(vceqq_f32(b, b)));
}

static inline bool vec_any_nan_f32(vec_f32 a, vec_f32 b)
{
    return vminvq_u32(vandq_u32(vceqq_f32(a, a), vceqq_f32(b, b))) == 0;
}

static inline vec_f32 vec_larger_f32(vec_f32 b, vec_f32 a)
{
    return vbslq_f32(vcgtq_f32(b, a), b, a);
}

static inline vec_f32 vec_choose_f32(vec_mask_f32 mask, vec_f32 b, vec_f32 a)
{
    return vbslq_f32(mask, b, a);
}

static inline vec_f32 vec_add_where_f32(vec_mask_f32 mask, vec_f32 sum, vec_f32 term)
{
    return vaddq_f32(sum, vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(term), mask)));
}

static inline vec_f32 vec_even_f32(vec_f32 low, vec_f32 high)
{
    return vuzp1q_f32(low, high);
}

static inline vec_f32 vec_pick_f32(const float *from, int64_t step)
{
    vec_f32 made = vdupq_n_f32(from[0]);

    made = vsetq_lane_f32(from[step], made, 1);
    made = vsetq_lane_f32(from[2 * step], made, 2);
    return vsetq_lane_f32(from[3 * step], made, 3);
}

static inline vec_at_f32 vec_set_at_f32(int32_t place)
{
    return vdupq_n_s32(place);
}

static inline vec_at_f32 vec_get_at_f32(const int32_t *from)
{
    return vld1q_s32(from);
}

static inline void vec_put_at_f32(int32_t *to, vec_at_f32 a)
{
    vst1q_s32(to, a);
}

static inline vec_at_f32 vec_count_at_f32(int32_t step)
{
    static const int32_t counts[4] = {0, 1, 2, 3};

    return vmulq_n_s32(vld1q_s32(counts), step);
}

static inline vec_at_f32 vec_add_at_f32(vec_at_f32 a, vec_at_f32 b)
{
    return vaddq_s32(a, b);
}

static inline vec_mask_f32 vec_same_f32(vec_at_f32 a, vec_at_f32 b)
{
    return vceqq_s32(a, b);
}

static inline vec_at_f32 vec_choose_at_f32(vec_mask_f32 mask, vec_at_f32 b, vec_at_f32 a)
{
    return vbslq_s32(mask, b, a);
}

static inline vec_at_f32 vec_even_at_f32(vec_at_f32 low, vec_at_f32 high)
{
    return vuzp1q_s32(low, high);
}

typedef uint64x2_t vec_mask_f64;
typedef int32x2_t vec_at_f64;

static inline vec_mask_f64 vec_above_f64(vec_f64 b, vec_f64 a)
{
    return vcgtq_f64(b, a);
}

static inline vec_mask_f64 vec_first_f64(vec_f64 b, vec_f64 a)
{
    return vandq_u64(veorq_u64(vcleq_f64(b, a), vdupq_n_u64(UINT64_MAX)), vceqq_f64(a, a));
}

static inline vec_mask_f64 vec_skip_f64(vec_f64 b, vec_f64 a)
{
    return vandq_u64(veorq_u64(vcgeq_f64(a, b), vdupq_n_u64(UINT64_MAX)), vceqq_f64(b, b));
}

static inline vec_mask_f64 vec_last_f64(vec_f64 b, vec_f64 a)
{
    return vorrq_u64(vcgtq_f64(b, a), veorq_u64(vceqq_f64(b, b), vdupq_n_u64(UINT64_MAX)));
}

static inline bool vec_any_nan_f64(vec_f64 a, vec_f64 b)
{
    return (vgetq_lane_u64(vceqq_f64(a, a), 0) & vgetq_lane_u64(vceqq_f64(a, a), 1) &
            vgetq_lane_u64(vceqq_f64(b, b), 0) & vgetq_lane_u64(vceqq_f64(b, b), 1)) == 0;
}

static inline vec_f64 vec_larger_f64(vec_f64 b, vec_f64 a)
{
    return vbslq_f64(vcgtq_f64(b, a), b, a);
}

static inline vec_f64 vec_choose_f64(vec_mask_f64 mask, vec_f64 b, vec_f64 a)
{
    return vbslq_f64(mask, b, a);
}

static inline vec_f64 vec_add_where_f64(vec_mask_f64 mask, vec_f64 sum, vec_f64 term)
{
    return vaddq_f64(sum, vreinterpretq_f64_u64(vandq_u64(vreinterpretq_u64_f64(term), mask)));
}

static inline vec_f64 vec_even_f64(vec_f64 low, vec_f64 high)
{
    return vuzp1q_f64(low, high);
}

static inline vec_f64 vec_pick_f64(const double *from, int64_t step)
{
    return vsetq_lane_f64(from[step], vdupq_n_f64(from[0]), 1);
}

static inline vec_at_f64 vec_set_at_f64(int32_t place)
{
    return vdup_n_s32(place);
}

static inline vec_at_f64 vec_get_at_f64(const int32_t *from)
{
    return vld1_s32(from);
}

static inline void vec_put_at_f64(int32_t *to, vec_at_f64 a)
{
    vst1_s32(to, a);
}

static inline vec_at_f64 vec_count_at_f64(int32_t step)
{
    static const int32_t counts[2] = {0, 1};

    return vmul_n_s32(vld1_s32(counts), step);
}

static inline vec_at_f64 vec_add_at_f64(vec_at_f64 a, vec_at_f64 b)
{
    return vadd_s32(a, b);
}

static inline vec_mask_f64 vec_same_f64(vec_at_f64 a, vec_at_f64 b)
{
    return vreinterpretq_u64_s64(vmovl_s32(vreinterpret_s32_u32(vceq_s32(a, b))));
}

static inline vec_at_f64 vec_choose_at_f64(vec_mask_f64 mask, vec_at_f64 b, vec_at_f64 a)
{
    return vbsl_s32(vmovn_u64(mask), b, a);
}

static inline vec_at_f64 vec_even_at_f64(vec_at_f64 low, vec_at_f64 high)
{
    return vuzp1_s32(low, high);
}

static inline vec_f32 vec_load_even_f32(const float *from)
{
    return vld2q_f32(from).val[0];
}

static inline vec_f32 vec_load_odd_f32(const float *from)
{
    return vld2q_f32(from).val[1];
}

static inline vec_f64 vec_load_even_f64(const double *from)
{
    return vld2q_f64(from).val[0];
}

static inline vec_f64 vec_load_odd_f64(const double *from)
{
    return vld2q_f64(from).val[1];
}

static inline vec_f32 vec_load_even_f16(const uint16_t *from)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vld2_u16(from).val[0]));
}

static inline vec_f32 vec_load_odd_f16(const uint16_t *from)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vld2_u16(from).val[1]));
}

static inline vec_f32 vec_load_even_bf16(const uint16_t *from)
{
    return vreinterpretq_f32_u32(vshll_n_u16(vld2_u16(from).val[0], 16));
}

static inline vec_f32 vec_load_odd_bf16(const uint16_t *from)
{
    return vreinterpretq_f32_u32(vshll_n_u16(vld2_u16(from).val[1], 16));
}

static inline void vec_doubt_nan_f32(vec_f32 a, vec_f32 b, vec_doubt *doubt)
{
    *doubt |= vec_any_nan_f32(a, b);
}

static inline void vec_doubt_nan_f64(vec_f64 a, vec_f64 b, vec_doubt *doubt)
{
    *doubt |= vec_any_nan_f64(a, b);
}

#endif
