/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "data.h"

#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------- random numbers */

void sup_rng_seed(sup_rng *rng, uint64_t seed)
{
    rng->state = seed;
}

uint64_t sup_rng_next(sup_rng *rng)
{
    uint64_t z = (rng->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int64_t sup_rng_range(sup_rng *rng, int64_t lo, int64_t hi)
{
    uint64_t span = (uint64_t)hi - (uint64_t)lo + 1;
    uint64_t draw = sup_rng_next(rng);
    /* The bias of the remainder is far below what a test could notice. */
    return (int64_t)((uint64_t)lo + (span == 0 ? draw : draw % span));
}

double sup_rng_unit(sup_rng *rng)
{
    return (double)(sup_rng_next(rng) >> 11) * 0x1p-53;
}

int sup_rng_chance(sup_rng *rng, int percent)
{
    return sup_rng_range(rng, 0, 99) < percent;
}

/* ----------------------------------------------------------- typed elements */

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The bits of `value` in a type with `fraction` fraction bits and `exponent` exponent bits, rounded
 * to nearest even. In integers, because the caller's rounding mode must not matter. */
static uint64_t narrow(double value, int exponent, int fraction)
{
    uint64_t bits = bits_of(value);
    uint64_t sign = (bits >> 63) << (exponent + fraction);
    uint64_t magnitude = bits & (UINT64_MAX >> 1);
    uint64_t infinity = ((UINT64_C(1) << exponent) - 1) << fraction;
    if (magnitude > UINT64_C(0x7ff) << 52)
        return sign | infinity | UINT64_C(1) << (fraction - 1);
    if (magnitude == UINT64_C(0x7ff) << 52)
        return sign | infinity;

    int bias = (1 << (exponent - 1)) - 1;
    int biased = (int)(magnitude >> 52) - 1023 + bias; /* in the narrow type */
    if (biased >= (1 << exponent) - 1)
        return sign | infinity;
    int drop = 52 - fraction;
    uint64_t significand = (magnitude & (UINT64_MAX >> 12)) | UINT64_C(1) << 52;
    if (magnitude >> 52 == 0)
        return sign; /* a denormal double is below half of the smallest narrow number */
    uint64_t result;
    if (biased <= 0) { /* denormal in the narrow type: fewer bits stay */
        drop += 1 - biased;
        if (drop > 54)
            return sign;
        result = 0;
    } else {
        significand &= UINT64_MAX >> 12;
        result = (uint64_t)biased << fraction;
    }
    uint64_t kept = significand >> drop;
    uint64_t rest = significand & ((UINT64_C(1) << drop) - 1);
    uint64_t half = UINT64_C(1) << (drop - 1);
    /* A carry out of the fraction goes into the exponent, up to infinity, as it should. */
    result += kept + (rest > half || (rest == half && (kept & 1)));
    return sign | result;
}

static double widen(uint64_t bits, int exponent, int fraction)
{
    uint64_t sign = (bits >> (exponent + fraction)) << 63;
    uint64_t field = (bits >> fraction) & ((UINT64_C(1) << exponent) - 1);
    uint64_t rest = bits & ((UINT64_C(1) << fraction) - 1);
    int bias = (1 << (exponent - 1)) - 1;
    if (field == (UINT64_C(1) << exponent) - 1)
        return double_of(sign | UINT64_C(0x7ff) << 52 | rest << (52 - fraction));
    if (field == 0) {
        if (rest == 0)
            return double_of(sign);
        int shift = 0;
        while (!(rest >> fraction)) {
            rest <<= 1;
            shift++;
        }
        rest &= (UINT64_C(1) << fraction) - 1;
        return double_of(sign | (uint64_t)(1 - shift - bias + 1023) << 52 |
                         rest << (52 - fraction));
    }
    return double_of(sign | (field + (uint64_t)(1023 - bias)) << 52 | rest << (52 - fraction));
}

double sup_load(poolgrad_dtype dtype, const void *array, int64_t index)
{
    uint32_t word;
    uint16_t half;
    double value;
    switch (dtype) {
    case POOLGRAD_F64:
        memcpy(&value, (const char *)array + index * 8, 8);
        return value;
    case POOLGRAD_F32:
        memcpy(&word, (const char *)array + index * 4, 4);
        return widen(word, 8, 23);
    case POOLGRAD_F16:
        memcpy(&half, (const char *)array + index * 2, 2);
        return widen(half, 5, 10);
    case POOLGRAD_BF16:
        memcpy(&half, (const char *)array + index * 2, 2);
        return widen(half, 8, 7);
    }
    return 0;
}

void sup_store(poolgrad_dtype dtype, void *array, int64_t index, double value)
{
    uint32_t word;
    uint16_t half;
    switch (dtype) {
    case POOLGRAD_F64:
        memcpy((char *)array + index * 8, &value, 8);
        break;
    case POOLGRAD_F32:
        word = (uint32_t)narrow(value, 8, 23);
        memcpy((char *)array + index * 4, &word, 4);
        break;
    case POOLGRAD_F16:
        half = (uint16_t)narrow(value, 5, 10);
        memcpy((char *)array + index * 2, &half, 2);
        break;
    case POOLGRAD_BF16:
        half = (uint16_t)narrow(value, 8, 7);
        memcpy((char *)array + index * 2, &half, 2);
        break;
    }
}

static int is_nan(double value)
{
    return (bits_of(value) & (UINT64_MAX >> 1)) > UINT64_C(0x7ff) << 52;
}

int sup_equal_bits(poolgrad_dtype dtype, const void *a, const void *b)
{
    if (memcmp(a, b, poolgrad_dtype_size(dtype)) == 0)
        return 1;
    return is_nan(sup_load(dtype, a, 0)) && is_nan(sup_load(dtype, b, 0));
}

static double special(poolgrad_dtype dtype, sup_rng *rng)
{
    static const double smallest[] = {
        [POOLGRAD_F32] = 0x1p-149,
        [POOLGRAD_F64] = 0x1p-1074,
        [POOLGRAD_F16] = 0x1p-24,
        [POOLGRAD_BF16] = 0x1p-133,
    };
    int64_t draw = sup_rng_range(rng, 0, 999);
    if (draw < 100)
        return -0.0;
    if (draw < 150)
        return 0.0;
    if (draw < 250)
        return smallest[dtype] * (double)sup_rng_range(rng, -100, 100);
    if (draw < 256)
        return double_of(UINT64_C(0x7ff) << 52);
    if (draw < 262)
        return double_of(UINT64_C(0xfff) << 52);
    if (draw < 268)
        return double_of(UINT64_C(0x7ff8) << 48);
    return 2 * sup_rng_unit(rng) - 1;
}

static double contested(sup_rng *rng)
{
    static const double common[] = {-1, -0.0, 0.0, 1};
    static const uint64_t rare[] = {UINT64_C(0x7ff) << 52, UINT64_C(0xfff) << 52,
                                    UINT64_C(0x7ff8) << 48};
    if (sup_rng_chance(rng, 25))
        return double_of(rare[sup_rng_range(rng, 0, 2)]);
    return common[sup_rng_range(rng, 0, 3)];
}

double sup_value(poolgrad_dtype dtype, sup_kind kind, sup_rng *rng)
{
    switch (kind) {
    case SUP_UNIFORM:
        return 2 * sup_rng_unit(rng) - 1;
    case SUP_INTEGERS:
        return (double)sup_rng_range(rng, -8, 8);
    case SUP_EIGHTHS:
        return (double)sup_rng_range(rng, -32, 32) / 8;
    case SUP_SPECIALS:
        return special(dtype, rng);
    case SUP_TIES:
        return contested(rng);
    case SUP_ONES:
        return 1;
    case SUP_NAN:
        return double_of(UINT64_C(0x7ff8) << 48);
    }
    return 0;
}

void sup_fill(poolgrad_dtype dtype, void *array, int64_t count, sup_kind kind, sup_rng *rng)
{
    for (int64_t i = 0; i < count; i++)
        sup_store(dtype, array, i, sup_value(dtype, kind, rng));
}

/* -------------------------------------------------------------------- views */

int sup_is_forward(const poolgrad_desc *desc)
{
    return desc->op == POOLGRAD_AVG || desc->op == POOLGRAD_MAX;
}

int sup_is_max(const poolgrad_desc *desc)
{
    return desc->op == POOLGRAD_MAX || desc->op == POOLGRAD_MAX_GRAD;
}

double sup_factor(const poolgrad_desc *desc, double factor)
{
    return desc->dtype == POOLGRAD_F64 ? factor : widen(narrow(factor, 8, 23), 8, 23);
}

const poolgrad_view *sup_view_written(const poolgrad_desc *resolved)
{
    return sup_is_forward(resolved) ? &resolved->y : &resolved->dx;
}

const poolgrad_view *sup_view_windows(const poolgrad_desc *resolved)
{
    return sup_is_forward(resolved) ? &resolved->y : &resolved->dy;
}

int64_t sup_view_count(const poolgrad_desc *resolved, const poolgrad_view *view)
{
    int64_t count = 1;
    for (int axis = 0; axis < resolved->rank + 2; axis++)
        count *= view->extent[axis];
    return count;
}

int64_t sup_view_offset(const poolgrad_desc *resolved, const poolgrad_view *view, int64_t logical)
{
    int64_t offset = 0;
    for (int axis = resolved->rank + 1; axis >= 0; axis--) {
        offset += logical % view->extent[axis] * view->stride[axis];
        logical /= view->extent[axis];
    }
    return offset;
}

int sup_view_alloc(const poolgrad_desc *resolved, const poolgrad_view *view, sup_memory *memory)
{
    return sup_view_alloc_sized(resolved, view, poolgrad_dtype_size(resolved->dtype), memory);
}

int sup_view_span(const poolgrad_desc *resolved, const poolgrad_view *view, size_t element_size,
                  size_t *bytes, size_t *first)
{
    int64_t lowest = 0, highest = 0, reach, elements, total;
    int empty = sup_view_count(resolved, view) == 0;
    for (int axis = 0; axis < resolved->rank + 2 && !empty; axis++) {
        int64_t *end = view->stride[axis] < 0 ? &lowest : &highest;
        if (__builtin_mul_overflow(view->extent[axis] - 1, view->stride[axis], &reach) ||
            __builtin_add_overflow(*end, reach, end))
            return -1;
    }
    int64_t size = (int64_t)element_size;
    if (__builtin_sub_overflow(highest, lowest, &elements) ||
        __builtin_add_overflow(elements, 1, &elements) ||
        __builtin_mul_overflow(elements, size, &total) || (uint64_t)total > SIZE_MAX)
        return -1;
    *bytes = (size_t)total;
    *first = (size_t)(-lowest * size);
    return 0;
}

int sup_view_alloc_sized(const poolgrad_desc *resolved, const poolgrad_view *view,
                         size_t element_size, sup_memory *memory)
{
    size_t first;
    void *allocation;
    memset(memory, 0, sizeof *memory);
    if (sup_view_span(resolved, view, element_size, &memory->bytes, &first) ||
        posix_memalign(&allocation, 64, memory->bytes) != 0)
        return -1;
    memset(allocation, 0xff, memory->bytes);
    memory->allocation = allocation;
    memory->first = (char *)allocation + first;
    return 0;
}

void sup_view_free(sup_memory *memory)
{
    free(memory->allocation);
    memset(memory, 0, sizeof *memory);
}

void sup_view_fill(const poolgrad_desc *resolved, const poolgrad_view *view, void *first,
                   sup_kind kind, sup_rng *rng)
{
    int64_t count = sup_view_count(resolved, view);
    for (int64_t i = 0; i < count; i++)
        sup_store(resolved->dtype, first, sup_view_offset(resolved, view, i),
                  sup_value(resolved->dtype, kind, rng));
}

void sup_view_gather(const poolgrad_desc *resolved, const poolgrad_view *view, const void *first,
                     double *values)
{
    int64_t count = sup_view_count(resolved, view);
    for (int64_t i = 0; i < count; i++)
        values[i] = sup_load(resolved->dtype, first, sup_view_offset(resolved, view, i));
}

void sup_view_scatter(const poolgrad_desc *resolved, const poolgrad_view *view,
                      const double *values, void *first)
{
    int64_t count = sup_view_count(resolved, view);
    for (int64_t i = 0; i < count; i++)
        sup_store(resolved->dtype, first, sup_view_offset(resolved, view, i), values[i]);
}

int64_t sup_view_difference(const poolgrad_desc *resolved, const poolgrad_view *view,
                            const void *first_a, const void *first_b)
{
    int64_t count = sup_view_count(resolved, view);
    int64_t size = (int64_t)poolgrad_dtype_size(resolved->dtype);
    for (int64_t i = 0; i < count; i++) {
        int64_t offset = sup_view_offset(resolved, view, i) * size;
        if (!sup_equal_bits(resolved->dtype, (const char *)first_a + offset,
                            (const char *)first_b + offset))
            return i;
    }
    return -1;
}
