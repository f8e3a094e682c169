/* SPDX-License-Identifier: MIT */
/* The words of jousts (scalar_joust.h explains them) for NEON. */
#ifndef PGI_CPU_VEC_NEON_JOUST_H
#define PGI_CPU_VEC_NEON_JOUST_H

enum {
    VEC_i16 = 8
};

typedef int16x8_t vec_i16;
typedef uint16x8_t vec_mask_i16;
typedef int16x8_t vec_at_i16;

static inline vec_i16 vec_set_i16(int16_t value)
{
    return vdupq_n_s16(value);
}

static inline vec_i16 vec_load_i16(const uint16_t *from)
{
    return vreinterpretq_s16_u16(vld1q_u16(from));
}

static inline void vec_store_i16(uint16_t *to, vec_i16 a)
{
    vst1q_u16(to, vreinterpretq_u16_s16(a));
}

static inline void vec_stream_i16(uint16_t *to, vec_i16 a)
{
    vec_store_i16(to, a);
}

static inline vec_i16 vec_rank_i16(vec_i16 bits)
{
    return vbslq_s16(vcltzq_s16(bits), vsubq_s16(vdupq_n_s16(INT16_MIN), bits), bits);
}

static inline vec_mask_i16 vec_above_i16(vec_i16 b, vec_i16 a)
{
    return vcgtq_s16(b, a);
}

static inline vec_i16 vec_larger_i16(vec_i16 b, vec_i16 a)
{
    return vmaxq_s16(b, a);
}

static inline vec_i16 vec_smaller_i16(vec_i16 b, vec_i16 a)
{
    return vminq_s16(b, a);
}

static inline bool vec_beyond_i16(vec_i16 low, vec_i16 high, int16_t limit)
{
    return vminvq_s16(low) < -limit || vmaxvq_s16(high) > limit;
}

static inline vec_i16 vec_choose_i16(vec_mask_i16 mask, vec_i16 b, vec_i16 a)
{
    return vbslq_s16(mask, b, a);
}

static inline vec_at_i16 vec_set_at_i16(int32_t place)
{
    return vdupq_n_s16((int16_t)place);
}

static inline vec_at_i16 vec_add_at_i16(vec_at_i16 a, vec_at_i16 b)
{
    return vaddq_s16(a, b);
}

static inline vec_at_i16 vec_choose_at_i16(vec_mask_i16 mask, vec_at_i16 b, vec_at_i16 a)
{
    return vbslq_s16(mask, b, a);
}

static inline void vec_store_taps_i16(uint8_t *to, vec_at_i16 a)
{
    vst1_u8(to, vmovn_u16(vreinterpretq_u16_s16(a)));
}

static inline void vec_stream_taps_i16(uint8_t *to, vec_at_i16 a)
{
    vec_store_taps_i16(to, a);
}

static inline void vec_store_taps_f32(uint8_t *to, vec_at_f32 a)
{
    const uint16x4_t words = vmovn_u32(vreinterpretq_u32_s32(a));
    const uint8x8_t bytes = vmovn_u16(vcombine_u16(words, words));

    memcpy(to, &bytes, 4);
}

static inline void vec_stream_taps_f32(uint8_t *to, vec_at_f32 a)
{
    vec_store_taps_f32(to, a);
}

static inline void vec_store_taps_f64(uint8_t *to, vec_at_f64 a)
{
    to[0] = (uint8_t)vget_lane_s32(a, 0);
    to[1] = (uint8_t)vget_lane_s32(a, 1);
}

static inline void vec_stream_taps_f64(uint8_t *to, vec_at_f64 a)
{
    vec_store_taps_f64(to, a);
}

#endif
