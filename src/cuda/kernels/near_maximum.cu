// SPDX-License-Identifier: MIT
// The gradient of max pooling from indices where a position has at most two windows on an axis, and
// the forward pass where windows are small. As near_average.cu: what a thread needs to know of its
// targets comes from a table; then all planes or images are gone through.
#include "cuda/kernels/near.cuh"
#include "cuda/kernels/winner.cuh"

#include <math_constants.h>

// Whether an index, less that of its window's first tap, is that of a tap. What lies in a plane can
// be said in 32 bits.
__device__ static bool is_tap(int64_t beyond, const int taps[3], const pgi_cuda_near &near)
{
    const unsigned rest = (unsigned)beyond;

    if (beyond >> 31 != 0)
        return false;
    for (int d = 0; d < taps[0]; d++) {
        for (int h = 0; h < taps[1]; h++) {
            const unsigned in_row = rest - d * (int)near.tap_step[0] - h * (int)near.tap_step[1];

            if (near.tap_step[2] == 1) {
                if (in_row < (unsigned)taps[2])
                    return true;
                continue;
            }
            for (int w = 0; w < taps[2]; w++)
                if (in_row == w * (unsigned)near.tap_step[2])
                    return true;
        }
    }
    return false;
}

// Notes a bad index, `offset` from the first. Indices that are checked here are dense and whole.
__device__ static __noinline__ void report(const pgi_cuda_near *near, int64_t offset,
                                           unsigned long long *bad)
{
    if (near->channels) {
        const int64_t place = offset / near->channels, channel = offset % near->channels;

        offset = (place / near->windows * near->channels + channel) * near->windows +
                 place % near->windows;
    }
    atomicMin(bad, (unsigned long long)offset);
}

template <int N> __device__ static int offset_of_duty(const int (&offset)[N], int duty)
{
    int found = offset[0];

#pragma unroll
    for (int k = 1; k < N; k++)
        found = duty == k ? offset[k] : found;
    return found;
}

template <bool ALIGNED, typename T, typename Index, int D, int H, int W, int V, pgi_near_kind KIND>
__device__ static void near_gradient(const pgi_cuda_near &near, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    constexpr bool LANES = KIND == NEAR_LANES;
    constexpr int OWN = KIND == NEAR_PLACES ? V : 1; // targets with sources of their own
    constexpr int ALL = D * H * W, VALUES = V / OWN;
    const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    const T *dy = (const T *)memory.source;
    const Index *indices = (const Index *)memory.indices;
    T *dx = (T *)memory.target;
    const Real alpha = (Real)near.alpha, beta = (Real)near.beta;
    const int channel = LANES ? (int)(v % near.groups) * V : 0;
    pgi_place place(near, LANES ? v / near.groups : v * V);
    int offset[OWN][ALL];
    int64_t mine[OWN];
    int duty[OWN], taps[OWN][3]; // the window that is covered first, if any: its number and taps
    const int64_t next = LANES ? near.lane_step : near.place_step[2]; // of targets with one `mine`

    if (v >= near.inner)
        return;
    dx += place.target(near) + channel;
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        pgi_cuda_entry entry[3];

        find_sources<D, H, W>(near, place, channel, offset[i], entry);
        mine[i] = place.index(near) + channel * near.lane_step;
        duty[i] = near.checks && entry[0].first >= 0 && entry[1].first >= 0 && entry[2].first >= 0
                      ? (entry[0].first * H + entry[1].first) * W + entry[2].first
                      : -1;
#pragma unroll
        for (int k = 0; k < 3; k++)
            taps[i][k] = entry[k].taps;
        if (OWN > 1)
            place.advance(near);
    }
    for (unsigned u = blockIdx.y; u < near.outer; u += gridDim.y) {
        const int64_t from = outer_offset(near, u, near.source_slow, near.source_fast);
        const int64_t base = outer_offset(near, u, near.index_slow, near.index_fast);
        pgi_vector<Index, VALUES> index[OWN][ALL];
        pgi_vector<T, VALUES> loaded[OWN][ALL];
        Real sums[V];

#pragma unroll
        for (int i = 0; i < OWN; i++) {
#pragma unroll
            for (int k = 0; k < ALL; k++) {
                if (offset[i][k] != PGI_CUDA_ABSENT) {
                    load_vector<ALIGNED>(indices + from + offset[i][k], &index[i][k]);
                    load_vector<ALIGNED>(dy + from + offset[i][k], &loaded[i][k]);
                }
            }
        }
#pragma unroll
        for (int i = 0; i < V; i++) {
            const int own = i % OWN, lane = i % VALUES;
            const int64_t self = mine[own] + base + (OWN > 1 ? 0 : i) * next;
            Real sum = 0;

            Index watched = (Index)self; // the index of the window that is covered first

            // windows in row-major order
#pragma unroll
            for (int k = 0; k < ALL; k++) {
                if (offset[own][k] != PGI_CUDA_ABSENT) {
                    const Index found = index[own][k].e[lane];

                    if (found == (Index)self)
                        sum = sum + widen(loaded[own][k].e[lane]);
                    if (duty[own] == k)
                        watched = found;
                }
            }
            if (watched != (Index)self) {
                // 32 bits hold -1 as the number that no place has
                const int64_t wide =
                    sizeof(Index) == 8 || watched != (Index)-1 ? (int64_t)watched : -1;

                if (!(wide == -1 && near.no_winner) &&
                    (wide < 0 || !is_tap(wide - self, taps[own], near)))
                    report(&near, from + offset_of_duty(offset[own], duty[own]) + lane, memory.bad);
            }
            sums[i] = sum;
        }
        store_scaled<ALIGNED>(dx + outer_offset(near, u, near.target_slow, near.target_fast), sums,
                              alpha, beta);
    }
}

template <bool ALIGNED, typename T, typename Index, int V, bool LANES>
__device__ static void near_maximum(const pgi_cuda_near &near, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    const T *x = (const T *)memory.source;
    T *y = (T *)memory.target;
    Index *indices = (Index *)memory.indices_out;
    const int rule = near.nan;
    const int channel = LANES ? (int)(v % near.groups) * V : 0;
    const pgi_place place(near, LANES ? v / near.groups : v);
    int64_t mine = near.origin + place.plane * near.index_plane + channel * near.lane_step;
    int taps[3], step[3];
    bool any = true;

    if (v >= near.inner)
        return;
    const int to = place.target(near) + channel;

    x += place.plane * near.source_plane + channel;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const pgi_cuda_entry entry = entry_of(near, k, place.at[k]);

        taps[k] = entry.taps;
        any = any && entry.taps > 0;
        step[k] = entry.offset[1];
        if (entry.taps > 0) {
            x += entry.offset[0];
            mine += entry.first * near.place_step[k];
        }
    }
    for (unsigned u = blockIdx.y; u < near.outer; u += gridDim.y) {
        const T *from = x + outer_offset(near, u, near.source_slow, near.source_fast);
        const int64_t there = outer_offset(near, u, near.target_slow, near.target_fast) + to;
        const int64_t base = mine + outer_offset(near, u, near.index_slow, near.index_fast);
        pgi_vector<Index, V> index;
        pgi_vector<T, V> loaded;
        Real best[V];
        Index beyond[V];

#pragma unroll
        for (int i = 0; i < V; i++) {
            best[i] = -CUDART_INF;
            beyond[i] = 0;
        }
        for (int d = 0; any && d < taps[0]; d++) {
            for (int h = 0; h < taps[1]; h++) {
                const T *row = from + d * step[0] + h * step[1];
                const Index row_index = (Index)(d * near.tap_step[0] + h * near.tap_step[1]);

#pragma unroll 3
                for (int w = 0; w < taps[2]; w++) {
                    load_vector<ALIGNED>(row + w * step[2], &loaded);
#pragma unroll
                    for (int i = 0; i < V; i++) {
                        const Real value = widen(loaded.e[i]);

                        if ((d | h | w) == 0 || wins(rule, value, best[i])) {
                            best[i] = value;
                            beyond[i] = row_index + (Index)(w * near.tap_step[2]);
                        }
                    }
                }
            }
        }
        if (y)
            store_scaled<ALIGNED>(y + there, best, (Real)near.alpha, (Real)near.beta);
        if (indices) {
#pragma unroll
            for (int i = 0; i < V; i++)
                index.e[i] = any ? (Index)(base + i * near.lane_step) + beyond[i] : (Index)-1;
            store_vector<ALIGNED>(indices + there, index);
        }
    }
}

template <typename T, int V> __device__ static bool all_aligned(const pgi_cuda_memory &memory)
{
    return V == 1 ||
           (((uintptr_t)memory.source | (uintptr_t)memory.target) % (V * sizeof(T)) == 0 &&
            ((uintptr_t)memory.indices | (uintptr_t)memory.indices_out) % 16 == 0);
}

#define GRADIENT(d, h, w, v, mode, kind, width, index, suffix, type)                               \
    extern "C" __global__ void __launch_bounds__(256)                                              \
        pgi_near_gradient_##d##h##w##_##mode##_##width##_##suffix(                                 \
            const __grid_constant__ pgi_cuda_near near, const pgi_cuda_memory memory)              \
    {                                                                                              \
        if (all_aligned<type, v>(memory))                                                          \
            near_gradient<true, type, index, d, h, w, v, kind>(near, memory);                      \
        else                                                                                       \
            near_gradient<false, type, index, d, h, w, v, kind>(near, memory);                     \
    }

#define MAXIMUM(v, mode, lanes, width, index, suffix, type)                                        \
    extern "C" __global__ void __launch_bounds__(256)                                              \
        pgi_near_maximum_##mode##_##width##_##suffix(const __grid_constant__ pgi_cuda_near near,   \
                                                     const pgi_cuda_memory memory)                 \
    {                                                                                              \
        if (all_aligned<type, v>(memory))                                                          \
            near_maximum<true, type, index, v, lanes>(near, memory);                               \
        else                                                                                       \
            near_maximum<false, type, index, v, lanes>(near, memory);                              \
    }

#define INDEX_TYPE(all, some, width, index, suffix, type)                                          \
    GRADIENT(1, 1, 1, 1, single, NEAR_PLACES, width, index, suffix, type)                          \
    GRADIENT(1, 1, 1, all, lanes, NEAR_LANES, width, index, suffix, type)                          \
    GRADIENT(1, 2, 2, 1, single, NEAR_PLACES, width, index, suffix, type)                          \
    GRADIENT(1, 2, 2, some, lanes, NEAR_LANES, width, index, suffix, type)                         \
    GRADIENT(2, 2, 2, 1, single, NEAR_PLACES, width, index, suffix, type)                          \
    GRADIENT(2, 2, 2, some, lanes, NEAR_LANES, width, index, suffix, type)                         \
    MAXIMUM(1, single, false, width, index, suffix, type)                                          \
    MAXIMUM(all, lanes, true, width, index, suffix, type)

#define ELEMENT_TYPE(all, some, suffix, type)                                                      \
    INDEX_TYPE(all, some, 64, int64_t, suffix, type)                                               \
    INDEX_TYPE(all, some, 32, uint32_t, suffix, type)

ELEMENT_TYPE(4, 2, f32, float)
ELEMENT_TYPE(2, 2, f64, double)
ELEMENT_TYPE(4, 2, f16, pgi_f16)
ELEMENT_TYPE(4, 2, bf16, pgi_bf16)
