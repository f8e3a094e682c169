/* SPDX-License-Identifier: MIT */
/* Contests of windows that lie side by side, and what their winners are awarded. */
#ifndef PGI_CUDA_KERNELS_AWARD_CUH
#define PGI_CUDA_KERNELS_AWARD_CUH

#include "cuda/kernels/bid.cuh"
#include "cuda/kernels/plane.cuh"

#include <math_constants.h>

/* RUN windows side by side, with stride 1: what all of them have is looked at once. The others'
 * taps before that are gone through from its end, those behind it from its beginning. */
template <typename Bid, int RUN, typename Taps>
__device__ inline void contest_run(const Taps &tap, int kernel, Bid (&best)[RUN])
{
    Bid behind;

    best[RUN - 1] = tap[RUN - 1];
#pragma unroll 6
    for (int i = RUN; i < kernel; i++)
        best[RUN - 1].meet(tap[i]);
#pragma unroll
    for (int j = RUN - 2; j >= 0; j--) {
        best[j] = tap[j];
        best[j].meet(best[j + 1]);
    }
    behind = tap[kernel];
#pragma unroll
    for (int j = 1; j < RUN; j++) {
        if (j > 1)
            behind.meet(tap[kernel + j - 1]);
        best[j].meet(behind);
    }
}

/* Element i of a plane, row-major. */
__device__ inline int element_offset(const pgi_cuda_strides &strides, int i, int columns,
                                     const pgi_cuda_quotient &by_columns)
{
    const int row = (int)quick_quotient((unsigned)i, by_columns);

    return offset_of(strides, row, i - row * columns);
}

/* The first tap of window o that lies inside, as a place, if it is a NaN that leads; there is one.
 */
template <typename T>
__device__ static __noinline__ int leading_or(const pgi_cuda_plane *all, const T *x, int o,
                                              int place)
{
    const pgi_spot window = spot_of(o, all->out, all->by_out);
    int leading = 0;

    for (int k = 0; k < 3; k++) {
        const int start = window.at[k] * all->stride[k] - all->pad[k];
        const int skipped = start < 0 ? (-start + all->dilation[k] - 1) / all->dilation[k] : 0;

        leading = leading * all->in[k] + start + skipped * all->dilation[k];
    }
    const int at = element_offset(all->source, leading, all->in[2], all->by_in[0]);
    const pgi_real<T> value = widen(x[at]);

    return value != value ? leading : place;
}

/* The element that has won at a place: what the bid knows, if it knows all of it. */
template <typename T>
__device__ inline pgi_real<T> value_of(const pgi_cuda_plane &all, const T *x, const pgi_bid<T> &bid,
                                       int place)
{
    return bid.is_zero() || all.nan == POOLGRAD_NAN_LEADING
               ? widen(x[element_offset(all.source, place, all.in[2], all.by_in[0])])
               : bid.value();
}

/* The end of a contest: what is wanted of a window, whose place, or -1, has been found out. */
template <typename T, typename Index>
__device__ inline void award(const pgi_cuda_plane &all, const pgi_cuda_memory &memory,
                             const pgi_member &plane, int64_t offset, const pgi_bid<T> &bid,
                             int place)
{
    typedef pgi_real<T> Real;
    constexpr bool FOUND = sizeof(Index) == sizeof(uint16_t); /* places are all that is wanted */
    const T *const x = (const T *)memory.source + plane.source;

    if (!FOUND && memory.target)
        store((T *)memory.target + offset,
              place < 0 ? (Real)-CUDART_INF : value_of(all, x, bid, place), (Real)all.alpha,
              (Real)all.beta);
    if (FOUND)
        ((Index *)memory.indices_out)[offset] = (Index)place;
    else if (memory.indices_out)
        ((Index *)memory.indices_out)[offset] = place < 0 ? (Index)-1 : (Index)(plane.base + place);
}

#endif
