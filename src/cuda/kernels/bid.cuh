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

#include <poolgrad/poolgrad.h>

__device__ inline bool nan_is_high(int rule)
{
    return rule == POOLGRAD_NAN_FIRST || rule == POOLGRAD_NAN_LAST;
}

/* Of elements of 4 and 8 bytes. NaN have enough codes for their places to be among them. */
template <typename Signed> struct pgi_wide_bid {
    typedef Signed Key;
    static constexpr Key NONE = sizeof(Key) == 8 ? (Key)INT64_MIN : (Key)INT32_MIN;
    static constexpr Key INFINITE = sizeof(Key) == 8 ? (Key)0x7ff0000000000000 : (Key)0x7f800000;

    Key key;
    int place;

    __device__ static pgi_wide_bid of(Key bits, int place, int rule)
    {
        const Key size = bits & ~NONE;
        const Key nan = (nan_is_high(rule) ? INFINITE : NONE) + 1 +
                        (rule == POOLGRAD_NAN_LAST ? place : 0);

        return {size > INFINITE ? nan : bits < 0 ? -size : size, place};
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
};

/* Of elements of 2 bytes: the order above, the place below, so that the larger one wins. */
template <uint32_t INFINITE> struct pgi_short_bid {
    typedef uint32_t Key;
    static constexpr Key NONE = 0, HIGH = 0xffff0000u, LOW = 0x10000u;

    Key key;

    __device__ static pgi_short_bid of(uint16_t bits, int place, int rule)
    {
        const uint32_t size = bits & 0x7fffu, earlier = 0xffffu - (uint32_t)place;
        const uint32_t nan = (nan_is_high(rule) ? HIGH : LOW) |
                             (rule == POOLGRAD_NAN_LAST ? (uint32_t)place : earlier);

        return {size > INFINITE ? nan
                                : (0x8000u + (bits & 0x8000u ? 0 - size : size)) << 16 | earlier};
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
        return (int)(key >= HIGH && rule == POOLGRAD_NAN_LAST ? key & 0xffffu : ~key & 0xffffu);
    }
};

__device__ inline pgi_wide_bid<int32_t> bid_of(float value, int place, int rule)
{
    return pgi_wide_bid<int32_t>::of(__float_as_int(value), place, rule);
}

__device__ inline pgi_wide_bid<int64_t> bid_of(double value, int place, int rule)
{
    return pgi_wide_bid<int64_t>::of(__double_as_longlong(value), place, rule);
}

__device__ inline pgi_short_bid<0x7c00> bid_of(pgi_f16 value, int place, int rule)
{
    return pgi_short_bid<0x7c00>::of(value.bits, place, rule);
}

__device__ inline pgi_short_bid<0x7f80> bid_of(pgi_bf16 value, int place, int rule)
{
    return pgi_short_bid<0x7f80>::of(value.bits, place, rule);
}

template <typename T> using pgi_bid = decltype(bid_of(T{}, 0, 0));

#endif
