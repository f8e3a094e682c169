/* SPDX-License-Identifier: MIT */
/*
 * The words of jousts for vectors of one lane. Beside reals there are the bits of narrow elements,
 * as integers of 16 bits:
 *
 *     vec_i16                     a vector of them, of VEC_i16 lanes
 *     vec_rank_i16                what they are compared by: integers in the order of the numbers,
 *                                 0 for both zeros; a NaN is beyond the infinities
 *     vec_smaller_i16             the smaller of two
 *     vec_beyond_i16              whether one of `high` is above the limit, or of `low` below minus
 *                                 it
 *     vec_store_taps_K            places, below 256, to bytes in memory
 *     vec_stream_taps_K           likewise past the caches; memory aligned to as many bytes
 *
 * The others are what they are for reals.
 */
#ifndef PGI_CPU_VEC_SCALAR_JOUST_H
#define PGI_CPU_VEC_SCALAR_JOUST_H

enum {
    VEC_i16 = 1
};

typedef int16_t vec_i16;
typedef bool vec_mask_i16;
typedef int16_t vec_at_i16;

static inline vec_i16 vec_set_i16(int16_t value)
{
    return value;
}

static inline vec_i16 vec_load_i16(const uint16_t *from)
{
    return (int16_t)*from;
}

static inline void vec_store_i16(uint16_t *to, vec_i16 a)
{
    *to = (uint16_t)a;
}

static inline void vec_stream_i16(uint16_t *to, vec_i16 a)
{
    *to = (uint16_t)a;
}

static inline vec_i16 vec_rank_i16(vec_i16 bits)
{
    return (int16_t)(bits < 0 ? INT16_MIN - bits : bits);
}

static inline vec_mask_i16 vec_above_i16(vec_i16 b, vec_i16 a)
{
    return b > a;
}

static inline vec_i16 vec_larger_i16(vec_i16 b, vec_i16 a)
{
    return b > a ? b : a;
}

static inline vec_i16 vec_smaller_i16(vec_i16 b, vec_i16 a)
{
    return b < a ? b : a;
}

static inline bool vec_beyond_i16(vec_i16 low, vec_i16 high, int16_t limit)
{
    return low < -limit || high > limit;
}

static inline vec_i16 vec_choose_i16(vec_mask_i16 mask, vec_i16 b, vec_i16 a)
{
    return mask ? b : a;
}

static inline vec_at_i16 vec_set_at_i16(int32_t place)
{
    return (int16_t)place;
}

static inline vec_at_i16 vec_add_at_i16(vec_at_i16 a, vec_at_i16 b)
{
    return (int16_t)(a + b);
}

static inline vec_at_i16 vec_choose_at_i16(vec_mask_i16 mask, vec_at_i16 b, vec_at_i16 a)
{
    return mask ? b : a;
}

static inline void vec_store_taps_i16(uint8_t *to, vec_at_i16 a)
{
    *to = (uint8_t)a;
}

static inline void vec_stream_taps_i16(uint8_t *to, vec_at_i16 a)
{
    *to = (uint8_t)a;
}

static inline void vec_store_taps_f32(uint8_t *to, vec_at_f32 a)
{
    *to = (uint8_t)a;
}

static inline void vec_stream_taps_f32(uint8_t *to, vec_at_f32 a)
{
    *to = (uint8_t)a;
}

static inline void vec_store_taps_f64(uint8_t *to, vec_at_f64 a)
{
    *to = (uint8_t)a;
}

static inline void vec_stream_taps_f64(uint8_t *to, vec_at_f64 a)
{
    *to = (uint8_t)a;
}

#endif
