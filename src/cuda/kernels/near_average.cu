// SPDX-License-Identifier: MIT
// Averages, both ways, where a target has at most two sources on an axis: windows that do not
// overlap, or by one stride, and small windows forward. Which sources these are a thread reads from
// a table once; the planes, or images, are then gone through with that.
#include "cuda/kernels/span.cuh"

// The sum of the sources of a target, D first, then H, then W; of at most two the order is no
// question. term(k) is the k-th of them, 0 if it is not there.
template <typename Real, int D, int H, int W, typename Term>
__device__ static Real sum_of(Term term)
{
    Real sum = 0;

#pragma unroll
    for (int w = 0; w < W; w++) {
        Real sum_h = 0;

#pragma unroll
        for (int h = 0; h < H; h++) {
            Real sum_d = term(h * W + w);

            if (D == 2)
                sum_d = sum_d + term((H + h) * W + w);
            sum_h = h == 0 ? sum_d : sum_h + sum_d;
        }
        sum = w == 0 ? sum_h : sum + sum_h;
    }
    return sum;
}

// V targets side by side: places of planes, each with sources of its own, for which there must be
// one divisor; or channels of a place; or pairs of places that have one source, V / 2 of which lie
// side by side. U planes or images at a time, so that enough loads are under way.
template <bool ALIGNED, typename T, int D, int H, int W, int V, pgi_near_kind KIND, int U>
__device__ static void near_average(const pgi_cuda_near &near, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    constexpr bool LANES = KIND == NEAR_LANES;
    constexpr int OWN = KIND == NEAR_PLACES ? V : 1;  // targets with sources of their own
    constexpr int SHARE = KIND == NEAR_PAIRS ? 2 : 1; // targets that have one source
    constexpr int ALL = D * H * W, VALUES = V / OWN / SHARE;
    const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    const T *source = (const T *)memory.source;
    T *target = (T *)memory.target;
    const Real alpha = (Real)near.alpha, beta = (Real)near.beta;
    const int channel = LANES ? (int)(v % near.groups) * V : 0;
    pgi_place place(near, LANES ? v / near.groups : v * V);
    pgi_cuda_entry entry[3];
    Real divisor = (Real)near.divisor;
    int offset[OWN][ALL];

    if (v >= near.inner)
        return;
    target += place.target(near) + channel;
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        find_sources<D, H, W>(near, place, channel, offset[i], entry);
        if (OWN > 1)
            place.advance(near);
    }
    if (near.forward && !near.uniform) { // one target, whose window counts what its axes say
        const int64_t count = (int64_t)entry[0].count[0] * entry[1].count[0] * entry[2].count[0];

        if (count == 0 || divisor == 0)
            divisor = (Real)count;
    }
    const pgi_inverse<Real> inverse = inverse_of(divisor);

    for (unsigned u = blockIdx.y * U; u < near.outer; u += gridDim.y * U) {
        pgi_vector<T, VALUES> loaded[U][OWN][ALL];

#pragma unroll
        for (int j = 0; j < U; j++) {
            const T *from = source + outer_offset(near, u + j, near.source_slow, near.source_fast);

#pragma unroll
            for (int i = 0; i < OWN; i++)
#pragma unroll
                for (int k = 0; k < ALL; k++)
                    if (u + j < near.outer && offset[i][k] != PGI_CUDA_ABSENT)
                        load_vector<ALIGNED>(from + offset[i][k], &loaded[j][i][k]);
        }
#pragma unroll
        for (int j = 0; j < U; j++) {
            constexpr int TERMS = V / SHARE;
            Real term[ALL][TERMS], sums[V];

            if (u + j >= near.outer)
                break;
#pragma unroll
            for (int k = 0; k < ALL; k++) {
#pragma unroll
                for (int i = 0; i < TERMS; i++)
                    term[k][i] = offset[i % OWN][k] == PGI_CUDA_ABSENT
                                     ? (Real)0
                                     : widen(loaded[j][i % OWN][k], i % VALUES);
                if (OWN == 1 && offset[0][k] == PGI_CUDA_ABSENT)
                    continue;
                if (near.forward) {
                    add_zero(term[k]);
                } else if (OWN > 1 || near.uniform) {
                    make_terms(term[k], inverse, are_ordinary(term[k]));
                } else {
                    const int w = k % W, h = k / W % H, d = k / W / H;
                    const Real count =
                        (Real)((int64_t)entry[0].count[d] * entry[1].count[h] * entry[2].count[w]);

                    make_terms(term[k], inverse_of(count), are_ordinary(term[k]));
                }
            }
#pragma unroll
            for (int i = 0; i < V; i++) {
                sums[i] = sum_of<Real, D, H, W>([&](int k) { return term[k][i / SHARE]; });
                if (near.forward)
                    sums[i] = quotient(sums[i], inverse);
            }
            store_scaled<ALIGNED>(target +
                                      outer_offset(near, u + j, near.target_slow, near.target_fast),
                                  sums, alpha, beta);
        }
    }
}

// V places of a row with stride 2. All windows must have one divisor.
template <bool ALIGNED, typename T, int D, int H, int V, int U, bool LATE>
__device__ static void span_average(const pgi_cuda_near &near, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    typedef pgi_span<LATE> Span;
    constexpr int WINDOWS = V / 2 + 1;
    const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;

    if (v >= near.inner)
        return;
    const pgi_place place(near, v * V);
    const pgi_span_rows<D, H, V> rows(near, place);
    const T *source = (const T *)memory.source;
    T *target = (T *)memory.target + place.target(near);
    const pgi_inverse<Real> inverse = inverse_of((Real)near.divisor);

    for (unsigned u = blockIdx.y * U; u < near.outer; u += gridDim.y * U) {
        T loaded[U][D * H][WINDOWS];

#pragma unroll
        for (int n = 0; n < U; n++) {
            const T *from = source + outer_offset(near, u + n, near.source_slow, near.source_fast);

#pragma unroll
            for (int k = 0; k < D * H; k++)
#pragma unroll
                for (int j = 0; j < WINDOWS; j++)
                    if (u + n < near.outer && rows.offset[k] != PGI_CUDA_ABSENT && rows.there[j])
                        loaded[n][k][j] = load_element(from + rows.offset[k] + j);
        }
#pragma unroll
        for (int n = 0; n < U; n++) {
            Real column[WINDOWS], sums[V];

            if (u + n >= near.outer)
                break;
                // D, then H
#pragma unroll
            for (int h = 0; h < H; h++) {
                Real sum_d[WINDOWS];

#pragma unroll
                for (int d = 0; d < D; d++) {
                    const int k = d * H + h;
                    Real term[WINDOWS];

#pragma unroll
                    for (int j = 0; j < WINDOWS; j++)
                        term[j] = rows.offset[k] != PGI_CUDA_ABSENT && rows.there[j]
                                      ? widen(loaded[n][k][j])
                                      : (Real)0;
                    if (rows.offset[k] != PGI_CUDA_ABSENT)
                        make_terms(term, inverse, are_ordinary(term));
#pragma unroll
                    for (int j = 0; j < WINDOWS; j++)
                        sum_d[j] = d == 0 ? term[j] : sum_d[j] + term[j];
                }
#pragma unroll
                for (int j = 0; j < WINDOWS; j++)
                    column[j] = h == 0 ? sum_d[j] : column[j] + sum_d[j];
            }
#pragma unroll
            for (int i = 0; i < V; i++)
                sums[i] = Span::count(i) == 2 ? column[Span::first(i)] + column[Span::first(i) + 1]
                                              : column[Span::first(i)];
            store_scaled<ALIGNED>(target +
                                      outer_offset(near, u + n, near.target_slow, near.target_fast),
                                  sums, (Real)near.alpha, (Real)near.beta);
        }
    }
}

// Forward, windows of three taps at most on an axis, whatever their stride: V channels of a target,
// or one. Up to three terms are added in their order; those of a plane are loaded together, and one
// that is not there adds 0.
template <bool ALIGNED, typename T, int V, bool LANES>
__device__ static void near_taps(const pgi_cuda_near &near, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    constexpr int MOST = 3;
    const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    const int channel = LANES ? (int)(v % near.groups) * V : 0;
    const pgi_place place(near, LANES ? v / near.groups : v);
    const T *source = (const T *)memory.source;
    Real divisor = (Real)near.divisor;
    int64_t count = 1;
    int taps[3], step[3];
    bool any = true;

    if (v >= near.inner)
        return;
    T *target = (T *)memory.target + place.target(near) + channel;

    source += place.plane * near.source_plane + channel;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const pgi_cuda_entry entry = entry_of(near, k, place.at[k]);

        taps[k] = entry.taps;
        step[k] = entry.offset[1];
        count *= entry.count[0];
        any = any && entry.taps > 0;
        if (entry.taps > 0)
            source += entry.offset[0];
    }
    if (!near.uniform && (count == 0 || divisor == 0))
        divisor = (Real)count;
    const pgi_inverse<Real> inverse = inverse_of(divisor);

    for (unsigned u = blockIdx.y; u < near.outer; u += gridDim.y) {
        const T *from = source + outer_offset(near, u, near.source_slow, near.source_fast);
        Real sum[V] = {}, deep[MOST][MOST][V] = {};

        for (int d = 0; any && d < taps[0]; d++) {
            pgi_vector<T, V> loaded[MOST][MOST] = {};

#pragma unroll
            for (int h = 0; h < MOST; h++)
#pragma unroll
                for (int w = 0; w < MOST; w++)
                    load_vector_if(h < taps[1] && w < taps[2],
                                   from + d * step[0] + h * step[1] + w * step[2], &loaded[h][w],
                                   ALIGNED);
#pragma unroll
            for (int h = 0; h < MOST; h++)
#pragma unroll
                for (int w = 0; w < MOST; w++)
#pragma unroll
                    for (int i = 0; i < V; i++)
                        deep[h][w][i] = deep[h][w][i] + widen(loaded[h][w], i);
        }
#pragma unroll
        for (int w = 0; w < MOST; w++)
#pragma unroll
            for (int i = 0; i < V; i++) {
                Real column = deep[0][w][i];

#pragma unroll
                for (int h = 1; h < MOST; h++)
                    column = column + deep[h][w][i];
                sum[i] = sum[i] + column;
            }
#pragma unroll
        for (int i = 0; i < V; i++)
            sum[i] = quotient(sum[i], inverse);
        store_scaled<ALIGNED>(target + outer_offset(near, u, near.target_slow, near.target_fast),
                              sum, (Real)near.alpha, (Real)near.beta);
    }
}

#define TAPS(v, mode, lanes, suffix, type)                                                         \
    extern "C" __global__ void __launch_bounds__(256) pgi_near_average_taps_##mode##_##suffix(     \
        const __grid_constant__ pgi_cuda_near near, const pgi_cuda_memory memory)                  \
    {                                                                                              \
        if (v == 1 || (is_aligned<type, v>((const type *)memory.source) &&                         \
                       is_aligned<type, v>((const type *)memory.target)))                          \
            near_taps<true, type, v, lanes>(near, memory);                                         \
        else                                                                                       \
            near_taps<false, type, v, lanes>(near, memory);                                        \
    }

#define NEAR(d, h, w, v, u, mode, kind, suffix, type)                                              \
    extern "C" __global__ void __launch_bounds__(256)                                              \
        pgi_near_average_##d##h##w##_##mode##_##suffix(const __grid_constant__ pgi_cuda_near near, \
                                                       const pgi_cuda_memory memory)               \
    {                                                                                              \
        if (v == 1 || (is_aligned<type, v>((const type *)memory.source) &&                         \
                       is_aligned<type, v>((const type *)memory.target)))                          \
            near_average<true, type, d, h, w, v, kind, u>(near, memory);                           \
        else                                                                                       \
            near_average<false, type, d, h, w, v, kind, 1>(near, memory);                          \
    }

#define SPAN(d, h, v, u, suffix, type)                                                             \
    extern "C" __global__ void __launch_bounds__(256) pgi_near_average_##d##h##2_span_##suffix(    \
        const __grid_constant__ pgi_cuda_near near, const pgi_cuda_memory memory)                  \
    {                                                                                              \
        if (!is_aligned<type, v>((const type *)memory.target))                                     \
            near.span_late ? span_average<false, type, d, h, v, 1, true>(near, memory)             \
                           : span_average<false, type, d, h, v, 1, false>(near, memory);           \
        else                                                                                       \
            near.span_late ? span_average<true, type, d, h, v, u, true>(near, memory)              \
                           : span_average<true, type, d, h, v, u, false>(near, memory);            \
    }

// `all` is a vector of 16 bytes; `most` and `few` what the registers allow for places that have 4
// and 8 sources each.
#define NEAR_TYPE(all, most, few, suffix, type)                                                    \
    TAPS(1, single, false, suffix, type)                                                           \
    TAPS(all, lanes, true, suffix, type)                                                           \
    NEAR(1, 1, 1, 1, 4, single, NEAR_PLACES, suffix, type)                                         \
    NEAR(1, 1, 1, all, 2, places, NEAR_PLACES, suffix, type)                                       \
    NEAR(1, 1, 1, all, 4, pairs, NEAR_PAIRS, suffix, type)                                         \
    NEAR(1, 1, 1, all, 4, lanes, NEAR_LANES, suffix, type)                                         \
    NEAR(1, 1, 2, 1, 4, single, NEAR_PLACES, suffix, type)                                         \
    NEAR(1, 1, 2, most, 1, places, NEAR_PLACES, suffix, type)                                      \
    NEAR(1, 1, 2, all, 2, lanes, NEAR_LANES, suffix, type)                                         \
    NEAR(1, 2, 2, 1, 2, single, NEAR_PLACES, suffix, type)                                         \
    NEAR(1, 2, 2, most, 1, places, NEAR_PLACES, suffix, type)                                      \
    NEAR(1, 2, 2, all, 1, lanes, NEAR_LANES, suffix, type)                                         \
    NEAR(2, 2, 2, 1, 1, single, NEAR_PLACES, suffix, type)                                         \
    NEAR(2, 2, 2, few, 1, places, NEAR_PLACES, suffix, type)                                       \
    NEAR(2, 2, 2, all, 1, lanes, NEAR_LANES, suffix, type)                                         \
    SPAN(1, 2, most, 2, suffix, type)                                                              \
    SPAN(2, 2, most, 1, suffix, type)

NEAR_TYPE(4, 4, 2, f32, float)
NEAR_TYPE(2, 2, 1, f64, double)
NEAR_TYPE(8, 4, 2, f16, pgi_f16)
NEAR_TYPE(8, 4, 2, bf16, pgi_bf16)
