// SPDX-License-Identifier: MIT
// Gradients of averages whose windows tile: every source is loaded and divided once, and stored as
// often as its window has positions.
#include "cuda/kernels/general.h"
#include "cuda/kernels/quotient.cuh"
#include "cuda/kernels/spread.h"
#include "cuda/kernels/vector.cuh"

// The first window of a thread, or of its row of windows.
template <typename T> struct pgi_spread_thread {
    int at[3];
    const T *source;
    T *target;

    __device__ pgi_spread_thread(const pgi_cuda_spread &all, const pgi_cuda_memory &memory,
                                 unsigned number, int channels, int windows)
    {
        const unsigned piece = number / all.groups, row = piece / all.across;
        const int channel = (int)(number % all.groups) * channels;

        at[0] = (int)(row / all.rows);
        at[1] = (int)(row % all.rows);
        at[2] = (int)(piece % all.across) * windows;
        source = (const T *)memory.source + channel;
        target = (T *)memory.target + channel;
#pragma unroll
        for (int k = 0; k < 3; k++) {
            source += (at[k] + all.axis[k].shift) * all.axis[k].source_stride;
            target += at[k] * all.axis[k].side * all.axis[k].target_stride;
        }
    }

    // Whether there is a source; positions behind the last window have none.
    __device__ bool has(const pgi_cuda_spread &all, int k, int further) const
    {
        return (unsigned)(at[k] + all.axis[k].shift + further) < (unsigned)all.axis[k].sources;
    }

    // The window's positions that exist on an axis.
    __device__ int side(const pgi_cuda_spread &all, int k) const
    {
        return min(all.axis[k].side, all.axis[k].targets - at[k] * all.axis[k].side);
    }
};

// V channels of a window.
template <typename T, int V>
__device__ static void spread_channels(const pgi_cuda_spread &all, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    const pgi_outer_thread thread(all.outer);

    if (!thread.there)
        return;
    const pgi_spread_thread<T> own(all, memory, thread.piece, V, 1);
    const bool there = own.has(all, 0, 0) && own.has(all, 1, 0) && own.has(all, 2, 0);
    const int depth = own.side(all, 0), height = own.side(all, 1), width = own.side(all, 2);
    const pgi_inverse<Real> inverse = inverse_of((Real)all.divisor);
    pgi_vector<T, V> next = {};
    const auto fetch = [&](unsigned u) {
        const T *from = own.source + source_of(all.outer, u);

        if (there)
            load_vector(from, &next, is_aligned<T, V>(from));
    };

    if (thread.first < all.outer.count)
        fetch(thread.first);
    for (unsigned u = thread.first; u < all.outer.count; u += thread.step) {
        T *to = own.target + target_of(all.outer, u);
        Real term[V];

#pragma unroll
        for (int i = 0; i < V; i++)
            term[i] = widen(next, i);
        const bool ordinary = are_ordinary(next);

        if (u + thread.step < all.outer.count)
            fetch(u + thread.step);
        make_terms(term, inverse, ordinary);
        for (int d = 0; d < depth; d++)
            for (int h = 0; h < height; h++) {
                T *row = to + d * all.axis[0].target_stride + h * all.axis[1].target_stride;

#pragma unroll 2
                for (int w = 0; w < width; w++) {
                    store_scaled(row, term, (Real)all.alpha, (Real)all.beta, is_aligned<T, V>(row));
                    row += all.axis[2].target_stride;
                }
            }
    }
}

// V targets side by side, two for every window.
template <typename T, int V>
__device__ static void spread_places(const pgi_cuda_spread &all, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    constexpr int WINDOWS = V / 2;
    const pgi_outer_thread thread(all.outer);

    if (!thread.there)
        return;
    const pgi_spread_thread<T> own(all, memory, thread.piece, 0, WINDOWS);
    const bool there = own.has(all, 0, 0) && own.has(all, 1, 0);
    const bool all_there = there && own.has(all, 2, 0) && own.has(all, 2, WINDOWS - 1);
    const int depth = own.side(all, 0), height = own.side(all, 1);
    const pgi_inverse<Real> inverse = inverse_of((Real)all.divisor);
    pgi_vector<T, WINDOWS> next = {};
    const auto fetch = [&](unsigned u) {
        const T *from = own.source + source_of(all.outer, u);

        if (all_there && is_aligned<T, WINDOWS>(from)) {
            load_vector<true>(from, &next);
        } else {
#pragma unroll
            for (int i = 0; i < WINDOWS; i++)
                if (there && own.has(all, 2, i))
                    next.e[i] = load_element(from + i);
        }
    };

    if (thread.first < all.outer.count)
        fetch(thread.first);
    for (unsigned u = thread.first; u < all.outer.count; u += thread.step) {
        T *to = own.target + target_of(all.outer, u);
        Real term[WINDOWS], made[V];

#pragma unroll
        for (int i = 0; i < WINDOWS; i++)
            term[i] = widen(next, i);
        const bool ordinary = are_ordinary(next);

        if (u + thread.step < all.outer.count)
            fetch(u + thread.step);
        make_terms(term, inverse, ordinary);
#pragma unroll
        for (int i = 0; i < V; i++)
            made[i] = term[i / 2];
        for (int d = 0; d < depth; d++)
            for (int h = 0; h < height; h++) {
                T *row = to + d * all.axis[0].target_stride + h * all.axis[1].target_stride;

                store_scaled(row, made, (Real)all.alpha, (Real)all.beta, is_aligned<T, V>(row));
            }
    }
}

// In the order of memory, by threads that end: a source is loaded and divided for every row of its
// window.
__device__ static unsigned source_row(const pgi_cuda_spread_dense &all, unsigned row)
{
    const unsigned plane = all.deep ? quick_quotient(row, all.by_rows) : 0;

    return quick_quotient(plane, all.by_deep) * all.under +
           quick_quotient(row - plane * all.rows, all.by_high);
}

template <typename T, int V>
__device__ static void spread_dense_channels(const pgi_cuda_spread_dense &all,
                                             const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    const unsigned number = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = quick_quotient(number, all.by_line), i = number - row * all.line;
    const unsigned place = quick_quotient(i, all.by_groups);
    const T *from = (const T *)memory.source + all.source_begin +
                    (int64_t)(source_row(all, row) * all.line + i) * V;
    T *to = (T *)memory.target +
            (row * (int64_t)(all.line * all.side) + i + place * (all.side - 1) * all.groups) * V;
    pgi_vector<T, V> read, made;
    Real term[V];

    if (number >= all.count)
        return;
    load_vector(from, &read, is_aligned<T, V>(from));
#pragma unroll
    for (int k = 0; k < V; k++)
        term[k] = widen(read, k);
    make_terms(term, inverse_of((Real)all.divisor), are_ordinary(read));
#pragma unroll
    for (int k = 0; k < V; k++)
        narrow(term[k], &made.e[k]);
    for (unsigned w = 0; w < all.side; w++)
        store_vector(to + w * all.groups * V, made, is_aligned<T, V>(to));
}

template <typename T, int V>
__device__ static void spread_dense_places(const pgi_cuda_spread_dense &all,
                                           const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    constexpr int WINDOWS = V / 2, TIMES = PGI_SPREAD_TIMES;
    const unsigned first = blockIdx.x * blockDim.x * TIMES + threadIdx.x;
    const T *source = (const T *)memory.source + all.source_begin;
    T *target = (T *)memory.target;
    pgi_vector<T, WINDOWS> read[TIMES];

#pragma unroll
    for (int k = 0; k < TIMES; k++) {
        const unsigned number = first + k * blockDim.x;
        const unsigned row = quick_quotient(number, all.by_line);
        const unsigned at = source_row(all, row) * all.line + number - row * all.line;

        if (number < all.count)
            load_vector(source + (int64_t)at * WINDOWS, &read[k], is_aligned<T, WINDOWS>(source));
    }
    const pgi_inverse<Real> inverse = inverse_of((Real)all.divisor);

#pragma unroll
    for (int k = 0; k < TIMES; k++) {
        const unsigned number = first + k * blockDim.x;
        pgi_vector<T, V> made;
        Real term[WINDOWS];

        if (number >= all.count)
            return;
#pragma unroll
        for (int i = 0; i < WINDOWS; i++)
            term[i] = widen(read[k], i);
        make_terms(term, inverse, are_ordinary(read[k]));
#pragma unroll
        for (int i = 0; i < V; i++)
            narrow(term[i / 2], &made.e[i]);
        store_vector(target + (int64_t)number * V, made, is_aligned<T, V>(target));
    }
}

#define SPREAD(name, told, vector, suffix, type)                                                   \
    extern "C" __global__ void __launch_bounds__(256) pgi_spread_##name##_##suffix(                \
        const __grid_constant__ told spread, const pgi_cuda_memory memory)                         \
    {                                                                                              \
        spread_##name<type, vector>(spread, memory);                                               \
    }

#define SPREAD_TYPE(suffix, type)                                                                  \
    SPREAD(channels, pgi_cuda_spread, 16 / sizeof(type), suffix, type)                             \
    SPREAD(places, pgi_cuda_spread, PGI_SPREAD_PLACES(sizeof(type)), suffix, type)                 \
    SPREAD(dense_channels, pgi_cuda_spread_dense, 16 / sizeof(type), suffix, type)                 \
    SPREAD(dense_places, pgi_cuda_spread_dense, PGI_SPREAD_PLACES(sizeof(type)), suffix, type)

SPREAD_TYPE(f32, float)
SPREAD_TYPE(f64, double)
SPREAD_TYPE(f16, pgi_f16)
SPREAD_TYPE(bf16, pgi_bf16)
