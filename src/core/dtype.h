/* SPDX-License-Identifier: MIT */
/*
 * Element types: sizes, and conversion of single elements in portable C. The kernels of every
 * instruction set give these bits. The conversions that add or subtract rely on the default
 * floating-point environment, which execute and convert establish.
 */
#ifndef PGI_CORE_DTYPE_H
#define PGI_CORE_DTYPE_H

#include <poolgrad/poolgrad.h>
#include <string.h>

/* Size of the type that sums are kept in: f64 for f64, else f32. */
static inline size_t pgi_compute_size(poolgrad_dtype dtype)
{
    return dtype == POOLGRAD_F64 ? sizeof(double) : sizeof(float);
}

static inline uint32_t pgi_bits_of_f32(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float pgi_f32_of_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Whether a stored element is NaN. */
static inline int pgi_is_nan(poolgrad_dtype dtype, const void *element)
{
    /* infinity, without the sign bit */
    const uint16_t narrow = dtype == POOLGRAD_F16 ? 0x7c00 : 0x7f80;
    uint64_t wide;
    uint32_t word;
    uint16_t half;

    if (dtype == POOLGRAD_F64) {
        memcpy(&wide, element, sizeof wide);
        return (wide & (UINT64_MAX >> 1)) > UINT64_C(0x7ff) << 52;
    }
    if (dtype == POOLGRAD_F32) {
        memcpy(&word, element, sizeof word);
        return (word & 0x7fffffff) > 0x7f800000;
    }
    memcpy(&half, element, sizeof half);
    return (half & 0x7fff) > narrow;
}

static inline float pgi_f32_of_bf16(uint16_t stored)
{
    return pgi_f32_of_bits((uint32_t)stored << 16);
}

static inline uint16_t pgi_bf16_of_f32(float value)
{
    const uint32_t bits = pgi_bits_of_f32(value);
    const uint32_t nan = (bits >> 16) | 0x40; /* quiet, and not infinity if the payload was low */
    const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;

    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
}

static inline float pgi_f32_of_f16(uint16_t stored)
{
    const uint32_t sign = (uint32_t)(stored & 0x8000) << 16;
    const uint32_t shifted = (uint32_t)(stored & 0x7fff) << 13; /* exponent and fraction in place */
    const uint32_t exponent = shifted & 0x0f800000;
    /* Exponents are rebiased by 127 - 15, infinity and NaN once more to reach 255. A subnormal is
     * given exponent 1 with an implicit bit it does not have; subtracting 2^-14 takes that bit
     * away again, exactly. */
    const uint32_t normal = shifted + (112u << 23) + (exponent == 0x0f800000 ? 112u << 23 : 0);
    const float subnormal = pgi_f32_of_bits(shifted + (113u << 23)) - 0x1p-14f;
    const uint32_t magnitude = exponent ? normal : pgi_bits_of_f32(subnormal);

    return pgi_f32_of_bits(sign | magnitude);
}

static inline uint16_t pgi_f16_of_f32(float value)
{
    const uint32_t bits = pgi_bits_of_f32(value);
    const uint32_t sign = (bits >> 16) & 0x8000;
    const uint32_t magnitude = bits & 0x7fffffff;
    /* From 2^-14 on: rebias and drop 13 bits, to nearest even; a carry out of the fraction
     * raises the exponent, and from 65520 on gives infinity. */
    const uint32_t normal = (magnitude - (112u << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
    /* Below: 0.5 has 2^-24, the step of subnormals, as its last bit, so the addition rounds. */
    const float shifted = pgi_f32_of_bits(magnitude) + 0.5f;
    const uint32_t subnormal = pgi_bits_of_f32(shifted) - 0x3f000000;
    const uint32_t huge = magnitude > 0x7f800000 ? 0x7e00 : 0x7c00;

    return (uint16_t)(sign | (magnitude >= 0x47800000   ? huge
                              : magnitude >= 0x38800000 ? normal
                                                        : subnormal));
}

#endif
