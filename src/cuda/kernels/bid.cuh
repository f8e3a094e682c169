/* SPDX-License-Identifier: MIT */
/*
 * What competes in windows: bids are values as integers in the same order, with their places. Zeros
 * are equal. Of equals the earlier place wins, but the later of two NaN if the rule is `last`. NaN
 * are above all numbers, or, by the rules that skip them, below. What leads a window is no matter
 * of order, and not looked at here.
 */
#ifndef PGI_CUDA_KERNELS_BID_CUH
#define PGI_CUDA_KERNELS_BID_CUH

#include "cuda/kernels/element.cuh"
#include "cuda/kernels/order.cuh"

#include <poolgrad/poolgrad.h>

__device__ inline int32_t bits_of(float value)
{
    return __float_as_int(value);
}

__device__ inline int64_t bits_of(double value)
{
    return __double_as_longlong(value);
}

__device__ inline float real_of(int32_t bits)
{
    return __int_as_float(bits);
}

__device__ inline double real_of(int64_t bits)
{
    return __longlong_as_double(bits);
}

/* Of elements of 4 and 8 bytes. NaN have enough codes for their places to be among them. */
template <typename Signed> struct pgi_wide_bid {
    typedef Signed Key;
    static constexpr Key NONE = sizeof(Key) == 8 ? (Key)INT64_MIN : (Key)INT32_MIN;
    static constexpr Key INFINITE = sizeof(Key) == 8 ? (Key)0x7ff0000000000000 : (Key)0x7f800000;

    Key key;
    int place;

    /* Plus 0, which -0 comes out of as 0, and a NaN of f32 as the one that is above all. */
    template <typename Real> __device__ static Key plain(Real value)
    {
        const Key key = turned(bits_of(value + 0));

        return sizeof(Key) == 8 && value != value ? INFINITE + 1 : key;
    }

    /* What the rule makes of a NaN that is above all. */
    __device__ static Key amended(Key key, int place, int rule)
    {
        if (rule == POOLGRAD_NAN_FIRST || key <= INFINITE)
            return key;
        return rule == POOLGRAD_NAN_LAST ? INFINITE + 1 + place : NONE + 1;
    }

    template <typename Real> __device__ static pgi_wide_bid of(Real value, int place, int rule)
    {
        return {amended(plain(value), place, rule), place};
    }

    /* The winner of this bid and one whose place is not before this one's. */
    __device__ void meet(const pgi_wide_bid &later)
    {
        if (later.key > key)
            *this = later;
    }

    __device__ bool exists() const
    {
        return key != NONE;
    }

    __device__ int winner(int) const
    {
        return place;
    }

    /* The element, unless it is a zero, of which there are two. */
    __device__ bool is_zero() const
    {
        return key == 0;
    }
    __device__ auto value() const
    {
        return real_of(turned(key));
    }

  private:
    __device__ static Key turned(Key key)
    {
        return key ^ (key >> (8 * sizeof(Key) - 1) & ~NONE);
    }
};

/* Of elements of 2 bytes: the order above, the place below, so that the larger one wins. */
template <typename T> struct pgi_short_bid {
    typedef int32_t Key;
    static constexpr Key NONE = INT32_MIN, HIGH = PGI_IMAGE_NAN << 16;

    Key key;

    /* Of one half of two images. No place is 0xffff. */
    __device__ static Key plain(unsigned images, int half, int place)
    {
        return key_of(images, half, ~place);
    }

    __device__ static Key amended(Key key, int place, int rule)
    {
        if (rule == POOLGRAD_NAN_FIRST || key < HIGH)
            return key;
        return rule == POOLGRAD_NAN_LAST ? HIGH | place : NONE | (key & 0xffff);
    }

    __device__ static pgi_short_bid of(T value, int place, int rule)
    {
        return {amended(plain(images_of<T>(value.bits), 0, place), place, rule)};
    }

    __device__ void meet(const pgi_short_bid &later)
    {
        key = max(key, later.key);
    }

    __device__ bool exists() const
    {
        return key != NONE;
    }

    __device__ int winner(int rule) const
    {
        return key >= HIGH && rule == POOLGRAD_NAN_LAST ? key & 0xffff : ~key & 0xffff;
    }

    __device__ bool is_zero() const
    {
        return key >> 16 == 0;
    }
    __device__ float value() const
    {
        const int image = key >> 16;

        return widen(T{(uint16_t)(image ^ (image >> 15 & 0x7fff))});
    }
};

__device__ inline pgi_wide_bid<int32_t> bid_of(float value, int place, int rule)
{
    return pgi_wide_bid<int32_t>::of(value, place, rule);
}

__device__ inline pgi_wide_bid<int64_t> bid_of(double value, int place, int rule)
{
    return pgi_wide_bid<int64_t>::of(value, place, rule);
}

template <typename T> __device__ inline pgi_short_bid<T> bid_of(T value, int place, int rule)
{
    return pgi_short_bid<T>::of(value, place, rule);
}

template <typename T> using pgi_bid = decltype(bid_of(T{}, 0, 0));

#endif
