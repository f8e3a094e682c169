// SPDX-License-Identifier: MIT
// Averages of rank 1 whose channels lie side by side: every thread marches along W with channels of
// its own, and needs no other's.
#include "cuda/kernels/general.h"
#include "cuda/kernels/march.h"
#include "cuda/kernels/ring.cuh"
#include "cuda/kernels/vector.cuh"

// The inverses of a segment's divisors, in shared memory. PLAIN: all windows have one divisor.
template <typename T, int V, bool PLAIN> struct pgi_inverses {
    typedef pgi_real<T> Real;
    pgi_inverse<Real> *at;
    pgi_inverse<Real> one; // of all windows, if they are alike

    __device__ pgi_inverses(const pgi_cuda_march &all, int first, int count, char *shared)
    {
        const int64_t windows = all.forward ? all.march.targets : all.march.sources;

        at = (pgi_inverse<Real> *)shared;
        one = inverse_of((Real)all.divisor);
        for (int i = (int)threadIdx.x; !PLAIN && i < count; i += (int)blockDim.x) {
            const int64_t window = first + i;

            if (all.divisor_rule == 0)
                at[i] = one;
            else if (window < 0 || window >= windows)
                at[i] = inverse_of((Real)1);
            else
                at[i] = inverse_of((Real)pgi_axis_count(&all.march.axis,
                                                        (poolgrad_divisor)all.divisor_rule,
                                                        all.march.window + window));
        }
        __syncthreads();
    }

    // The terms of places from one on, V of each.
    template <bool FORWARD, int P>
    __device__ void make_batch(const pgi_cuda_march &all, const pgi_vector<T, V> (&from)[P],
                               Real (&value)[P * V], int first) const
    {
#pragma unroll
        for (int i = 0; i < P * V; i++)
            value[i] = widen(from[i / V], i % V);
        if (FORWARD) {
            add_zero(value);
        } else if (PLAIN || all.divisor_rule == 0) {
            make_terms(value, one, are_ordinary(from));
        } else {
            pgi_inverse<Real> inverse[P * V];
            bool usual = are_ordinary(from);

#pragma unroll
            for (int i = 0; i < P * V; i++) {
                inverse[i] = at[first + i / V];
                usual = usual && inverse[i].high != 0;
            }
            make_terms(value, inverse, usual);
        }
    }

    // The means of a place.
    __device__ void divide(Real (&sum)[V], int place) const
    {
        pgi_inverse<Real> inverse[V];

#pragma unroll
        for (int i = 0; i < V; i++)
            inverse[i] = PLAIN ? one : at[place];
        make_means(sum, inverse, inverse[0].high != 0);
    }
};

template <typename T, int V>
__device__ static bool are_aligned(const pgi_cuda_march &all, const pgi_cuda_memory &memory)
{
    return is_aligned<T, V>((const T *)memory.source + all.source_begin) &&
           is_aligned<T, V>((const T *)memory.target);
}

template <typename T, int V>
__device__ static bool is_plain(const pgi_cuda_march &all, const pgi_cuda_memory &memory)
{
    return all.alpha == 1 && all.beta == 0 && all.divisor_rule == 0 &&
           are_aligned<T, V>(all, memory);
}

// PLAIN: also, pairs are aligned and results stored as they are. Then there are registers for two
// batches under way, which elements of two bytes need; the loop is unrolled for them, since moving
// what has not come would wait for it.
template <typename T, int L, int V, bool FORWARD, bool PLAIN>
__device__ static void march_channels(const pgi_cuda_march &all, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    constexpr int P = PGI_CHANNELS_BATCH, LOST = (L - 1 + P - 1) / P * P;
    constexpr int AHEAD = PLAIN && sizeof(T) == 2 ? 2 : 1;
    extern __shared__ __align__(16) char shared[];
    const int begin = (int)blockIdx.y * all.segment, sources = (int)all.march.sources;
    const int end = min(begin + all.segment, (int)all.march.targets);
    const int first = begin + (int)all.march.shift + L - 1 - LOST;
    const pgi_inverses<T, V, PLAIN> inverses(all, FORWARD ? begin : first, all.segment + LOST + P,
                                             shared);
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int groups = (int)all.column.targets / V;
    const int64_t row = thread / groups, channel = thread % groups * V;
    const int64_t source_stride = all.march.source_stride, target_stride = all.march.target_stride;
    const Real alpha = PLAIN ? 1 : (Real)all.alpha, beta = PLAIN ? 0 : (Real)all.beta;
    const bool aligned = PLAIN || are_aligned<T, V>(all, memory);
    pgi_ring<Real, L> ring[V];
    pgi_vector<T, V> next[AHEAD][P];

    if (row >= all.row.targets)
        return;
    const T *from = (const T *)memory.source + all.source_begin + row * all.row.source_stride +
                    channel + first * source_stride;
    T *to = (T *)memory.target + row * all.row.target_stride + channel + begin * target_stride;
    const auto fetch = [&](pgi_vector<T, V>(&into)[P], int step, bool wanted) {
#pragma unroll
        for (int p = 0; p < P; p++) {
            into[p] = {};
            load_vector_if(wanted && (unsigned)(step + p) < (unsigned)sources,
                           from + p * source_stride, &into[p], aligned);
        }
        from += P * source_stride;
    };

#pragma unroll
    for (int i = 0; i < V; i++)
        ring[i].clear();
#pragma unroll
    for (int k = 0; k < AHEAD; k++)
        fetch(next[k], first + k * P, true);
#pragma unroll AHEAD
    for (int done = -LOST; begin + done < end; done += P) {
        const int late = done + AHEAD * P;
        Real sum[V][P], value[P * V];

        inverses.template make_batch<FORWARD>(all, next[0], value, done + LOST);
#pragma unroll
        for (int p = 0; p < P; p++)
#pragma unroll
            for (int k = 1; k < AHEAD; k++)
                next[k - 1][p] = next[k][p];
        fetch(next[AHEAD - 1], first + LOST + late, begin + late < end);
#pragma unroll
        for (int i = 0; i < V; i++) {
            Real column[P];

#pragma unroll
            for (int p = 0; p < P; p++)
                column[p] = value[p * V + i];
            ring[i].push(column, sum[i]);
        }
        if (done < 0)
            continue;
#pragma unroll
        for (int p = 0; p < P; p++) {
            Real made[V];

            if (begin + done + p >= end)
                break;
#pragma unroll
            for (int i = 0; i < V; i++)
                made[i] = sum[i][p];
            if (FORWARD)
                inverses.divide(made, done + p);
            store_scaled(to, made, alpha, beta, aligned);
            to += target_stride;
        }
    }
}

#define CHANNELS(length, suffix, type, each)                                                       \
    extern "C" __global__ void __launch_bounds__(PGI_CHANNELS_THREADS, 2)                          \
        pgi_channels_##each##_##length##_##suffix(const __grid_constant__ pgi_cuda_march march,    \
                                                  const pgi_cuda_memory memory)                    \
    {                                                                                              \
        const bool plain = is_plain<type, each>(march, memory);                                    \
                                                                                                   \
        if (march.forward)                                                                         \
            plain ? march_channels<type, length, each, true, true>(march, memory)                  \
                  : march_channels<type, length, each, true, false>(march, memory);                \
        else                                                                                       \
            plain ? march_channels<type, length, each, false, true>(march, memory)                 \
                  : march_channels<type, length, each, false, false>(march, memory);               \
    }

#define CHANNELS_OF_TYPE(length, suffix, type)                                                     \
    CHANNELS(length, suffix, type, 2)                                                              \
    CHANNELS(length, suffix, type, 1)

#define CHANNELS_TYPES(length, rank)                                                               \
    CHANNELS_OF_TYPE(length, f32, float)                                                           \
    CHANNELS_OF_TYPE(length, f64, double)                                                          \
    CHANNELS_OF_TYPE(length, f16, pgi_f16)                                                         \
    CHANNELS_OF_TYPE(length, bf16, pgi_bf16)

PGI_MARCH_SIDES_1(CHANNELS_TYPES)
