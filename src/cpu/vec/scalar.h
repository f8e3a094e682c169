/* SPDX-License-Identifier: MIT */
/*
 * The vocabulary of the kernels in its smallest form: vectors of one lane, plain C. Every other
 * instruction set has a header with the same names; a kernel is written once, in these words.
 *
 *     vec_f32, vec_f64            a vector of reals, of VEC_f32 and VEC_f64 lanes
 *     vec_set_R, vec_add_R, ...   on all lanes
 *     vec_get_R, vec_put_R        from and to reals in memory, any alignment
 *     vec_keep_R                  a where the bits of a real in memory are 1, 0 where they are 0
 *     vec_zip_R                   a0 b0 a1 b1 ..., in two vectors
 *     VEC_halves                  only where what crosses halves of vectors is dear; and then
 *     vec_zip_inside_R            both lower halves zipped beside both upper ones, in two vectors,
 *     vec_exchange_R              the lower halves of both, and the upper ones
 *     vec_even_R, vec_odd_R       a0 a2 ... b0 b2 ..., or a1 a3 ... b1 b3 ...
 *     vec_slide_R                 the lanes of a and b from a constant place in a on, 0 .. all
 *     vec_permute_R               any lanes of a vector in memory, as numbers say; 0 for -1
 *     vec_permute_wide_R          likewise, of four vectors one behind the other
 *     vec_gather_R                any reals in memory, as numbers say; 0 for -1
 *     vec_pick_R                  from reals in memory, a step apart
 *     vec_quotient_R              a / divisor + zero, correctly rounded unless a is tiny, from the
 *                                 divisor or from the two parts of its reciprocal (PGI_QUOTIENT)
 *     vec_least_R                 notes the least size of the lanes that are not 0 in a vec_least
 *                                 (vec_least_none at first)
 *     vec_below_R                 whether such a size is too small for that: divide all again
 *     vec_mask_R                  which lanes of a vector of reals
 *     vec_above_R                 b > a
 *     vec_first_R, _skip_, _last_ whether b wins against a that comes before it, by the rules for
 *                                 NaN of docs/arithmetic.md
 *     vec_larger_R                b where it is above a, else a
 *     vec_choose_R                b where the mask says, else a
 *     vec_add_where_R             the sum, with the term added where the mask says; a sum is not -0
 *     vec_any_nan_R               whether a lane of one of two vectors is NaN
 *     vec_doubt_nan_R             likewise, collected in a vec_doubt (vec_no_doubt at first)
 *     vec_in_doubt                whether one was
 *     vec_at_R                    places: as many int32_t as a vector of reals has lanes; the words
 *                                 that end in _at_R are those of reals
 *     vec_count_at_R              0, step, 2 * step, ...
 *     vec_same_R                  which places are equal
 *     vec_same_tap_R              which taps, bytes in memory, are this one
 *     vec_load_E, vec_store_E     from and to elements in memory, any alignment; widened, rounded
 *                                 to nearest even
 *     vec_load_some_E, vec_store_some_E
 *                                 the first lanes only, less than all; nothing else is touched, and
 *                                 the others are 0
 *     vec_load_even_E, vec_load_odd_E
 *                                 every other of two vectors' elements
 *     vec_load_both_E, vec_store_both_E
 *                                 two vectors of elements that lie side by side, in an order of the
 *                                 vocabulary's own; with `past` as vec_stream_E
 *     vec_apart_E                 from that order to elements with even numbers, and with odd ones
 *     vec_store_two_E             likewise those of a, then those of b
 *     vec_store_zip_E             likewise a0 b0 a1 b1 ...
 *     vec_stream_E                as vec_store_E but past the caches; memory aligned to 8 elements
 *                                 (PGI_STREAM_ELEMENTS), or to the vector if that is shorter
 *     vec_stream_eight            8 elements of a size from anywhere to memory aligned to as many
 *     vec_stream_bytes            VEC_bytes from anywhere to memory aligned to as many
 *     vec_stream_end              makes what was streamed visible to other threads
 */
#ifndef PGI_CPU_VEC_SCALAR_H
#define PGI_CPU_VEC_SCALAR_H

#include "core/dtype.h"
#include "cpu/vec/pairs.h"

#include <stdbool.h>
#include <string.h>

enum {
    VEC_f32 = 1,
    VEC_f64 = 1,
    VEC_bytes = 8
};

typedef float vec_f32;
typedef double vec_f64;

static inline vec_f32 vec_set_f32(float value)
{
    return value;
}

static inline vec_f32 vec_get_f32(const float *from)
{
    return *from;
}

static inline void vec_put_f32(float *to, vec_f32 a)
{
    *to = a;
}

static inline vec_f32 vec_add_f32(vec_f32 a, vec_f32 b)
{
    return a + b;
}

static inline vec_f32 vec_mul_f32(vec_f32 a, vec_f32 b)
{
    return a * b;
}

static inline vec_f32 vec_div_f32(vec_f32 a, vec_f32 b)
{
    return a / b;
}

static inline vec_f32 vec_keep_f32(vec_f32 a, const void *bits)
{
    return *(const uint32_t *)bits ? a : 0;
}

static inline void vec_zip_f32(vec_f32 a, vec_f32 b, vec_f32 *low, vec_f32 *high)
{
    *low = a;
    *high = b;
}

static inline vec_f64 vec_set_f64(double value)
{
    return value;
}

static inline vec_f64 vec_get_f64(const double *from)
{
    return *from;
}

static inline void vec_put_f64(double *to, vec_f64 a)
{
    *to = a;
}

static inline vec_f64 vec_add_f64(vec_f64 a, vec_f64 b)
{
    return a + b;
}

static inline vec_f64 vec_mul_f64(vec_f64 a, vec_f64 b)
{
    return a * b;
}

static inline vec_f64 vec_div_f64(vec_f64 a, vec_f64 b)
{
    return a / b;
}

static inline vec_f64 vec_keep_f64(vec_f64 a, const void *bits)
{
    return *(const uint64_t *)bits ? a : 0;
}

static inline void vec_zip_f64(vec_f64 a, vec_f64 b, vec_f64 *low, vec_f64 *high)
{
    *low = a;
    *high = b;
}

static inline vec_f32 vec_odd_f32(vec_f32 a, vec_f32 b)
{
    (void)a;
    return b;
}

static inline vec_f64 vec_odd_f64(vec_f64 a, vec_f64 b)
{
    (void)a;
    return b;
}

static inline vec_f32 vec_slide_f32(vec_f32 a, vec_f32 b, int places)
{
    return places ? b : a;
}

static inline vec_f64 vec_slide_f64(vec_f64 a, vec_f64 b, int places)
{
    return places ? b : a;
}

static inline vec_f32 vec_permute_f32(const float *from, const int32_t *lanes)
{
    return lanes[0] < 0 ? 0 : from[lanes[0]];
}

static inline vec_f64 vec_permute_f64(const double *from, const int32_t *lanes)
{
    return lanes[0] < 0 ? 0 : from[lanes[0]];
}

static inline vec_f32 vec_gather_f32(const float *from, const int32_t *places)
{
    return *places < 0 ? 0 : from[*places];
}

static inline vec_f64 vec_gather_f64(const double *from, const int32_t *places)
{
    return *places < 0 ? 0 : from[*places];
}

static inline vec_f32 vec_permute_wide_f32(const float *from, const int32_t *lanes)
{
    return vec_gather_f32(from, lanes);
}

static inline vec_f64 vec_permute_wide_f64(const double *from, const int32_t *lanes)
{
    return vec_gather_f64(from, lanes);
}

typedef bool vec_doubt;

static inline vec_doubt vec_no_doubt(void)
{
    return false;
}

static inline bool vec_in_doubt(vec_doubt doubt)
{
    return doubt;
}

static inline vec_f32 vec_quotient_f32(vec_f32 a, vec_f32 divisor, vec_f32 high, vec_f32 low,
                                       vec_f32 zero)
{
    (void)high;
    (void)low;
    return a / divisor + zero;
}

static inline vec_f64 vec_quotient_f64(vec_f64 a, vec_f64 divisor, vec_f64 high, vec_f64 low,
                                       vec_f64 zero)
{
    (void)high;
    (void)low;
    return a / divisor + zero;
}

/* Nothing is too small for a division. */
typedef bool vec_least;

static inline vec_least vec_least_none(void)
{
    return false;
}

static inline void vec_least_f32(vec_f32 a, vec_least *least)
{
    (void)a;
    (void)least;
}

static inline void vec_least_f64(vec_f64 a, vec_least *least)
{
    (void)a;
    (void)least;
}

static inline bool vec_below_f32(vec_least least)
{
    return least;
}

static inline bool vec_below_f64(vec_least least)
{
    return least;
}

static inline vec_f32 vec_load_f32(const float *from)
{
    return *from;
}

static inline void vec_store_f32(float *to, vec_f32 a)
{
    *to = a;
}

static inline void vec_stream_f32(float *to, vec_f32 a)
{
    *to = a;
}

static inline vec_f64 vec_load_f64(const double *from)
{
    return *from;
}

static inline void vec_store_f64(double *to, vec_f64 a)
{
    *to = a;
}

static inline void vec_stream_f64(double *to, vec_f64 a)
{
    *to = a;
}

static inline vec_f32 vec_load_f16(const uint16_t *from)
{
    return pgi_f32_of_f16(*from);
}

static inline void vec_store_f16(uint16_t *to, vec_f32 a)
{
    *to = pgi_f16_of_f32(a);
}

static inline void vec_stream_f16(uint16_t *to, vec_f32 a)
{
    *to = pgi_f16_of_f32(a);
}

static inline vec_f32 vec_load_bf16(const uint16_t *from)
{
    return pgi_f32_of_bf16(*from);
}

static inline void vec_store_bf16(uint16_t *to, vec_f32 a)
{
    *to = pgi_bf16_of_f32(a);
}

static inline void vec_stream_bf16(uint16_t *to, vec_f32 a)
{
    *to = pgi_bf16_of_f32(a);
}

/* A vector of one lane has no part. */
static inline vec_f32 vec_load_some_f32(const float *from, int64_t count)
{
    return count ? *from : 0;
}

static inline vec_f64 vec_load_some_f64(const double *from, int64_t count)
{
    return count ? *from : 0;
}

static inline vec_f32 vec_load_some_f16(const uint16_t *from, int64_t count)
{
    return count ? pgi_f32_of_f16(*from) : 0;
}

static inline vec_f32 vec_load_some_bf16(const uint16_t *from, int64_t count)
{
    return count ? pgi_f32_of_bf16(*from) : 0;
}

static inline void vec_store_some_f32(float *to, vec_f32 a, int64_t count)
{
    if (count)
        *to = a;
}

static inline void vec_store_some_f64(double *to, vec_f64 a, int64_t count)
{
    if (count)
        *to = a;
}

static inline void vec_store_some_f16(uint16_t *to, vec_f32 a, int64_t count)
{
    if (count)
        *to = pgi_f16_of_f32(a);
}

static inline void vec_store_some_bf16(uint16_t *to, vec_f32 a, int64_t count)
{
    if (count)
        *to = pgi_bf16_of_f32(a);
}

static inline void vec_stream_eight(void *to, const void *from, size_t size)
{
    memcpy(to, from, 8 * size);
}

static inline void vec_stream_bytes(void *to, const void *from)
{
    memcpy(to, from, VEC_bytes);
}

static inline void vec_stream_end(void)
{
}

#include "cpu/vec/scalar_contest.h"

PGI_PAIRS(f32, f32, float)
PGI_PAIRS(f64, f64, double)
PGI_PAIRS(f16, f32, uint16_t)
PGI_PAIRS(bf16, f32, uint16_t)

#endif
