// SPDX-License-Identifier: MIT
// Gradients of averages over windows of 3x3 with stride 2. Every window is loaded and divided once
// for the targets of two rows, of which every other has one and two of them.
#include "cuda/kernels/general.h"
#include "cuda/kernels/halves.h"
#include "cuda/kernels/vector.cuh"

// Two targets from the two sources of a pair.
template <typename Real>
__device__ static void make_pair(bool late, Real before, Real after, Real *first, Real *second)
{
    const Real both = before + after;

    *first = late ? both : before;
    *second = late ? after : both;
}

// A thread's place, and the parts of a problem that it needs.
template <typename T> struct pgi_halves_thread {
    int row, column, channel; // the first of its pairs of rows, of its sources, of its channels
    const T *source;
    T *target;

    __device__ pgi_halves_thread(const pgi_cuda_halves &all, const pgi_cuda_memory &memory,
                                 unsigned number, int channels, int pairs)
    {
        const unsigned piece = number / all.groups;

        row = (int)(piece / all.across);
        column = (int)(piece % all.across) * pairs;
        channel = (int)(number % all.groups) * channels;
        source = (const T *)memory.source + channel +
                 (row + all.h.shift) * (int64_t)all.h.source_stride +
                 (column + all.w.shift) * (int64_t)all.w.source_stride;
        target = (T *)memory.target + channel + 2 * row * (int64_t)all.h.target_stride +
                 2 * column * (int64_t)all.w.target_stride;
    }

    __device__ bool has(const pgi_cuda_halves &all, int h, int w) const
    {
        return (unsigned)(row + all.h.shift + h) < (unsigned)all.h.sources &&
               (unsigned)(column + all.w.shift + w) < (unsigned)all.w.sources;
    }
};

// V channels of 2x2 targets.
template <typename T, int V>
__device__ static void channels_of_halves(const pgi_cuda_halves &all, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    const pgi_outer_thread thread(all.outer);

    if (!thread.there)
        return;
    const pgi_halves_thread<T> own(all, memory, thread.piece, V, 1);
    const bool second_row = 2 * own.row + 1 < all.h.targets;
    const bool second_column = 2 * own.column + 1 < all.w.targets;
    const pgi_inverse<Real> inverse = inverse_of((Real)all.divisor);

    for (unsigned u = thread.first; u < all.outer.count; u += thread.step) {
        const T *from = own.source + source_of(all.outer, u);
        T *to = own.target + target_of(all.outer, u);
        const bool aligned = is_aligned<T, V>(from) && is_aligned<T, V>(to);
        pgi_vector<T, V> loaded[2][2];
        Real sum[2][2][V]; // first of sources, at last of targets

#pragma unroll
        for (int h = 0; h < 2; h++)
#pragma unroll
            for (int w = 0; w < 2; w++) {
                const T *at = from + h * all.h.source_stride + w * all.w.source_stride;

                loaded[h][w] = {};
                if (own.has(all, h, w)) {
                    load_vector(at, &loaded[h][w], aligned);
                }
            }
#pragma unroll
        for (int h = 0; h < 2; h++)
#pragma unroll
            for (int w = 0; w < 2; w++) {
#pragma unroll
                for (int i = 0; i < V; i++)
                    sum[h][w][i] = widen(loaded[h][w], i);
                make_terms(sum[h][w], inverse, are_ordinary(loaded[h][w]));
            }
#pragma unroll
        for (int i = 0; i < V; i++) {
#pragma unroll
            for (int w = 0; w < 2; w++)
                make_pair(all.h.late, sum[0][w][i], sum[1][w][i], &sum[0][w][i], &sum[1][w][i]);
#pragma unroll
            for (int h = 0; h < 2; h++)
                make_pair(all.w.late, sum[h][0][i], sum[h][1][i], &sum[h][0][i], &sum[h][1][i]);
        }
#pragma unroll
        for (int h = 0; h < 2; h++) {
            T *row = to + h * all.h.target_stride;

            if (h == 1 && !second_row)
                break;
            store_scaled(row, sum[h][0], (Real)all.alpha, (Real)all.beta, aligned);
            if (second_column)
                store_scaled(row + all.w.target_stride, sum[h][1], (Real)all.alpha, (Real)all.beta,
                             aligned);
        }
    }
}

// V targets of two rows, side by side.
template <typename T, int V>
__device__ static void places_of_halves(const pgi_cuda_halves &all, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    constexpr int PAIRS = V / 2;
    const pgi_outer_thread thread(all.outer);

    if (!thread.there)
        return;
    const pgi_halves_thread<T> own(all, memory, thread.piece, 0, PAIRS);
    const bool second_row = 2 * own.row + 1 < all.h.targets;
    const pgi_inverse<Real> inverse = inverse_of((Real)all.divisor);

    for (unsigned u = thread.first; u < all.outer.count; u += thread.step) {
        const T *from = own.source + source_of(all.outer, u);
        T *to = own.target + target_of(all.outer, u);
        const bool aligned = is_aligned<T, V>(to) && is_aligned<T, V>(to + all.h.target_stride);
        pgi_vector<T, PAIRS> loaded[2];
        T last[2];
        Real sum[2][PAIRS + 1]; // first of sources, then of the two rows of targets

#pragma unroll
        for (int h = 0; h < 2; h++) {
            const T *row = from + h * all.h.source_stride;

            loaded[h] = {};
            last[h] = {};
            if (own.has(all, h, 0) && own.has(all, h, PAIRS - 1) && is_aligned<T, PAIRS>(row)) {
                load_vector<true>(row, &loaded[h]);
            } else {
#pragma unroll
                for (int i = 0; i < PAIRS; i++)
                    if (own.has(all, h, i))
                        loaded[h].e[i] = load_element(row + i);
            }
            if (own.has(all, h, PAIRS))
                last[h] = load_element(row + PAIRS);
        }
#pragma unroll
        for (int h = 0; h < 2; h++) {
#pragma unroll
            for (int i = 0; i < PAIRS; i++)
                sum[h][i] = widen(loaded[h], i);
            sum[h][PAIRS] = widen(last[h]);
            make_terms(sum[h], inverse, are_ordinary(loaded[h]) && are_ordinary(last[h]));
        }
#pragma unroll
        for (int i = 0; i <= PAIRS; i++)
            make_pair(all.h.late, sum[0][i], sum[1][i], &sum[0][i], &sum[1][i]);
#pragma unroll
        for (int h = 0; h < 2; h++) {
            Real made[V];

            if (h == 1 && !second_row)
                break;
#pragma unroll
            for (int i = 0; i < PAIRS; i++)
                make_pair(all.w.late, sum[h][i], sum[h][i + 1], &made[2 * i], &made[2 * i + 1]);
            store_scaled(to + h * all.h.target_stride, made, (Real)all.alpha, (Real)all.beta,
                         aligned);
        }
    }
}

#define HALVES(name, vector, suffix, type)                                                         \
    extern "C" __global__ void __launch_bounds__(256, 3) pgi_halves_##name##_##suffix(             \
        const __grid_constant__ pgi_cuda_halves halves, const pgi_cuda_memory memory)              \
    {                                                                                              \
        name##_of_halves<type, vector>(halves, memory);                                            \
    }

#define HALVES_TYPE(suffix, type)                                                                  \
    HALVES(channels, 16 / sizeof(type), suffix, type)                                              \
    HALVES(places, PGI_HALVES_PLACES(sizeof(type)), suffix, type)

HALVES_TYPE(f32, float)
HALVES_TYPE(f64, double)
HALVES_TYPE(f16, pgi_f16)
HALVES_TYPE(bf16, pgi_bf16)
