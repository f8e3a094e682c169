/* SPDX-License-Identifier: MIT */
/* Sums of L neighbours, in the order of docs/arithmetic.md: sums of 2, 4, 8, ... are made of each
 * other, the largest of a run is the oldest, and the newest term is added last. */
#ifndef PGI_CUDA_KERNELS_RING_CUH
#define PGI_CUDA_KERNELS_RING_CUH

__host__ __device__ constexpr int top_level(int length)
{
    return length > 1 ? 1 + top_level(length / 2) : 0;
}

/* How long sums of 2^level terms of a run of L must be remembered: until they are the left half of
 * the next larger, or until the terms behind them in a run have come. */
__host__ __device__ constexpr int memory_of(int length, int level)
{
    const int half = level < top_level(length) ? 1 << level : 0;
    const int behind = length >> level & 1 ? length & ((1 << level) - 1) : 0;

    return half > behind ? half : behind;
}

/* The last terms of a column as sums of 2^J, 2^(J+1), ... of them. One struct for every level: all
 * of it must be in registers, so every index is a constant. Terms come P at a time, which moves
 * what is remembered by P at once. */
template <typename Real, int L, int J = 0> struct pgi_ring {
    static constexpr int TOP = top_level(L), DEPTH = memory_of(L, J);
    static constexpr int BEHIND = L & ((1 << J) - 1);
    static constexpr bool PART = L >> J & 1;
    Real past[DEPTH > 0 ? DEPTH : 1]; /* the latest first */
    pgi_ring<Real, L, J + 1> larger;

    __device__ void clear()
    {
#pragma unroll
        for (int k = 0; k < DEPTH; k++)
            past[k] = 0;
        larger.clear();
    }

    /* What came so many pushes before the p-th of these. */
    template <int P> __device__ Real before(const Real (&now)[P], int p, int back) const
    {
        return p >= back ? now[p >= back ? p - back : 0] : past[p < back ? back - p - 1 : 0];
    }

    /* Takes sums of 2^J terms, the oldest first; returns for each that of the last L terms, without
     * what lies behind the last whole sum of this size. */
    template <int P> __device__ void push(const Real (&now)[P], Real (&sum)[P])
    {
        if constexpr (J < TOP) {
            Real twice[P];

#pragma unroll
            for (int p = 0; p < P; p++)
                twice[p] = before(now, p, 1 << J) + now[p];
            larger.push(twice, sum);
            if constexpr (PART) {
#pragma unroll
                for (int p = 0; p < P; p++)
                    sum[p] = sum[p] + before(now, p, BEHIND);
            }
        } else {
#pragma unroll
            for (int p = 0; p < P; p++)
                sum[p] = before(now, p, BEHIND);
        }
#pragma unroll
        for (int k = DEPTH - 1; k >= 0; k--)
            past[k] = k >= P ? past[k >= P ? k - P : 0] : now[k < P ? P - 1 - k : 0];
    }
};

template <typename Real, int L> struct pgi_ring<Real, L, top_level(L) + 1> {
    __device__ void clear()
    {
    }
};

/* sum[i] = the run of L terms from the i-th on, of which `value` holds the sums of 2^J. */
template <int L, int N, int J = 0, typename Real, int COUNT>
__device__ inline void sum_runs(const Real (&value)[COUNT], Real (&sum)[N])
{
    static_assert(COUNT == N + L - (1 << J), "all sums of this size");

    if constexpr (J < top_level(L)) {
        Real larger[N + L - (2 << J)];

#pragma unroll
        for (int i = 0; i < N + L - (2 << J); i++)
            larger[i] = value[i] + value[i + (1 << J)];
        sum_runs<L, N, J + 1>(larger, sum);
        if constexpr (L >> J & 1) {
#pragma unroll
            for (int i = 0; i < N; i++)
                sum[i] = sum[i] + value[i + (L >> (J + 1) << (J + 1))];
        }
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            sum[i] = value[i];
    }
}

#endif
