/* SPDX-License-Identifier: MIT */
/* The words of contests for vectors of one lane; scalar.h includes this, after all others. */
#ifndef PGI_CPU_VEC_SCALAR_CONTEST_H
#define PGI_CPU_VEC_SCALAR_CONTEST_H

static inline vec_f32 vec_load_even_f32(const float *from)
{
    return from[0];
}

static inline vec_f32 vec_load_odd_f32(const float *from)
{
    return from[1];
}

static inline vec_f32 vec_load_even_f16(const uint16_t *from)
{
    return pgi_f32_of_f16(from[0]);
}

static inline vec_f32 vec_load_odd_f16(const uint16_t *from)
{
    return pgi_f32_of_f16(from[1]);
}

static inline vec_f32 vec_load_even_bf16(const uint16_t *from)
{
    return pgi_f32_of_bf16(from[0]);
}

static inline vec_f32 vec_load_odd_bf16(const uint16_t *from)
{
    return pgi_f32_of_bf16(from[1]);
}

static inline vec_f64 vec_load_even_f64(const double *from)
{
    return from[0];
}

static inline vec_f64 vec_load_odd_f64(const double *from)
{
    return from[1];
}

static inline void vec_doubt_nan_f32(vec_f32 a, vec_f32 b, vec_doubt *doubt)
{
    *doubt |= a != a || b != b;
}

static inline void vec_doubt_nan_f64(vec_f64 a, vec_f64 b, vec_doubt *doubt)
{
    *doubt |= a != a || b != b;
}

typedef bool vec_mask_f32;
typedef int32_t vec_at_f32;

static inline vec_mask_f32 vec_above_f32(vec_f32 b, vec_f32 a)
{
    return b > a;
}

static inline vec_mask_f32 vec_first_f32(vec_f32 b, vec_f32 a)
{
    return b > a || (b != b && a == a);
}

static inline vec_mask_f32 vec_skip_f32(vec_f32 b, vec_f32 a)
{
    return b > a || (b == b && a != a);
}

static inline vec_mask_f32 vec_last_f32(vec_f32 b, vec_f32 a)
{
    return b > a || b != b;
}

static inline bool vec_any_nan_f32(vec_f32 a, vec_f32 b)
{
    return a != a || b != b;
}

static inline vec_f32 vec_larger_f32(vec_f32 b, vec_f32 a)
{
    return b > a ? b : a;
}

static inline vec_f32 vec_choose_f32(vec_mask_f32 mask, vec_f32 b, vec_f32 a)
{
    return mask ? b : a;
}

static inline vec_f32 vec_add_where_f32(vec_mask_f32 mask, vec_f32 sum, vec_f32 term)
{
    return mask ? sum + term : sum;
}

static inline vec_f32 vec_even_f32(vec_f32 low, vec_f32 high)
{
    (void)high;
    return low;
}

static inline vec_f32 vec_pick_f32(const float *from, int64_t step)
{
    (void)step;
    return *from;
}

static inline vec_at_f32 vec_set_at_f32(int32_t place)
{
    return place;
}

static inline vec_at_f32 vec_get_at_f32(const int32_t *from)
{
    return *from;
}

static inline void vec_put_at_f32(int32_t *to, vec_at_f32 a)
{
    *to = a;
}

static inline vec_at_f32 vec_count_at_f32(int32_t step)
{
    (void)step;
    return 0;
}

static inline vec_at_f32 vec_add_at_f32(vec_at_f32 a, vec_at_f32 b)
{
    return a + b;
}

static inline vec_mask_f32 vec_same_f32(vec_at_f32 a, vec_at_f32 b)
{
    return a == b;
}

static inline vec_at_f32 vec_choose_at_f32(vec_mask_f32 mask, vec_at_f32 b, vec_at_f32 a)
{
    return mask ? b : a;
}

static inline vec_at_f32 vec_even_at_f32(vec_at_f32 low, vec_at_f32 high)
{
    (void)high;
    return low;
}

typedef bool vec_mask_f64;
typedef int32_t vec_at_f64;

static inline vec_mask_f64 vec_above_f64(vec_f64 b, vec_f64 a)
{
    return b > a;
}

static inline vec_mask_f64 vec_first_f64(vec_f64 b, vec_f64 a)
{
    return b > a || (b != b && a == a);
}

static inline vec_mask_f64 vec_skip_f64(vec_f64 b, vec_f64 a)
{
    return b > a || (b == b && a != a);
}

static inline vec_mask_f64 vec_last_f64(vec_f64 b, vec_f64 a)
{
    return b > a || b != b;
}

static inline bool vec_any_nan_f64(vec_f64 a, vec_f64 b)
{
    return a != a || b != b;
}

static inline vec_f64 vec_larger_f64(vec_f64 b, vec_f64 a)
{
    return b > a ? b : a;
}

static inline vec_f64 vec_choose_f64(vec_mask_f64 mask, vec_f64 b, vec_f64 a)
{
    return mask ? b : a;
}

static inline vec_f64 vec_add_where_f64(vec_mask_f64 mask, vec_f64 sum, vec_f64 term)
{
    return mask ? sum + term : sum;
}

static inline vec_f64 vec_even_f64(vec_f64 low, vec_f64 high)
{
    (void)high;
    return low;
}

static inline vec_f64 vec_pick_f64(const double *from, int64_t step)
{
    (void)step;
    return *from;
}

static inline vec_at_f64 vec_set_at_f64(int32_t place)
{
    return place;
}

static inline vec_at_f64 vec_get_at_f64(const int32_t *from)
{
    return *from;
}

static inline void vec_put_at_f64(int32_t *to, vec_at_f64 a)
{
    *to = a;
}

static inline vec_at_f64 vec_count_at_f64(int32_t step)
{
    (void)step;
    return 0;
}

static inline vec_at_f64 vec_add_at_f64(vec_at_f64 a, vec_at_f64 b)
{
    return a + b;
}

static inline vec_mask_f64 vec_same_f64(vec_at_f64 a, vec_at_f64 b)
{
    return a == b;
}

static inline vec_at_f64 vec_choose_at_f64(vec_mask_f64 mask, vec_at_f64 b, vec_at_f64 a)
{
    return mask ? b : a;
}

static inline vec_at_f64 vec_even_at_f64(vec_at_f64 low, vec_at_f64 high)
{
    (void)high;
    return low;
}

#endif
