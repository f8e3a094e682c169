// SPDX-License-Identifier: MIT
// Averages of rank 1 whose channels lie side by side: every thread marches along W with channels of
// its own, and needs no other's.
#include "cuda/kernels/general.h"
#include "cuda/kernels/march.h"
#include "cuda/kernels/ring.cuh"
#include "cuda/kernels/vector.cuh"

// The inverses of a segment's divisors, in shared memory.
template <typename T, int V> struct pgi_inverses {
    typedef pgi_real<T> Real;
    pgi_inverse<Real> *at;
    pgi_inverse<Real> one; // of all windows, if they are alike

    __device__ pgi_inverses(const pgi_cuda_march &all, int first, int count, char *shared)
    {
        const int64_t windows = all.forward ? all.march.targets : all.march.sources;

        at = (pgi_inverse<Real> *)shared;
        one = inverse_of((Real)all.divisor);
        for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x) {
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
    template <int P>
    __device__ void make_batch(const pgi_cuda_march &all, const pgi_vector<T, V> (&from)[P],
                               Real (&value)[P * V], int first) const
    {
#pragma unroll
        for (int i = 0; i < P * V; i++)
            value[i] = widen(from[i / V], i % V);
        if (all.forward) {
            add_zero(value);
        } else if (all.divisor_rule == 0) {
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
            inverse[i] = at[place];
        make_means(sum, inverse, inverse[0].high != 0);
    }
};

template <typename T, int L, int V>
__device__ static void march_channels(const pgi_cuda_march &all, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    constexpr int P = PGI_CHANNELS_BATCH, AHEAD = (L - 1 + P - 1) / P * P;
    extern __shared__ __align__(16) char shared[];
    const int begin = (int)blockIdx.y * all.segment, sources = (int)all.march.sources;
    const int end = min(begin + all.segment, (int)all.march.targets);
    const int first = begin + (int)all.march.shift + L - 1 - AHEAD;
    const pgi_inverses<T, V> inverses(all, all.forward ? begin : first, all.segment + AHEAD + P,
                                      shared);
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int groups = (int)all.column.targets / V;
    const int64_t row = thread / groups, channel = thread % groups * V;
    const int64_t source_stride = all.march.source_stride, target_stride = all.march.target_stride;
    pgi_ring<Real, L> ring[V];
    pgi_vector<T, V> next[P];

    if (row >= all.row.targets)
        return;
    const T *from = (const T *)memory.source + all.source_begin + row * all.row.source_stride +
                    channel + first * source_stride;
    T *to = (T *)memory.target + row * all.row.target_stride + channel + begin * target_stride;
    const bool aligned = is_aligned<T, V>((const T *)memory.source + all.source_begin) &&
                         is_aligned<T, V>((const T *)memory.target);
    const auto fetch = [&](int step) {
#pragma unroll
        for (int p = 0; p < P; p++) {
            next[p] = {};
            if ((unsigned)(step + p) < (unsigned)sources) {
                load_vector(from + p * source_stride, &next[p], aligned);
            }
        }
        from += P * source_stride;
    };

#pragma unroll
    for (int i = 0; i < V; i++)
        ring[i].clear();
    fetch(first);
    for (int done = -AHEAD; begin + done < end; done += P) {
        Real sum[V][P], value[P * V];

        inverses.make_batch(all, next, value, done + AHEAD);
        if (begin + done + P < end)
            fetch(first + done + AHEAD + P);
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
            if (all.forward)
                inverses.divide(made, done + p);
            store_scaled(to, made, (Real)all.alpha, (Real)all.beta, aligned);
            to += target_stride;
        }
    }
}

#define CHANNELS(length, suffix, type, each)                                                       \
    extern "C" __global__ void __launch_bounds__(PGI_CHANNELS_THREADS, 2)                          \
        pgi_channels_##each##_##length##_##suffix(const __grid_constant__ pgi_cuda_march march,    \
                                                  const pgi_cuda_memory memory)                    \
    {                                                                                              \
        march_channels<type, length, each>(march, memory);                                         \
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
