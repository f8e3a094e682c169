// SPDX-License-Identifier: MIT
// Averages whose one window covers everything. Of a gradient, every position of a plane receives
// the same; forward, a square of positions becomes one number.
#include "cuda/kernels/general.h"
#include "cuda/kernels/ring.cuh"
#include "cuda/kernels/vector.cuh"
#include "cuda/kernels/whole.h"

// Planes that lie one behind the other, as one row of vectors. A plane has V places at least, so a
// vector is of two planes at most.
template <typename T, int V>
__device__ static void fill_planes(const pgi_cuda_whole &all, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    const int64_t elements = all.planes * all.places;
    const int64_t begin = (int64_t)blockIdx.x * (PGI_WHOLE_THREADS * PGI_WHOLE_VECTORS * V);
    const int64_t plane = begin / all.places;
    const unsigned places = (unsigned)all.places, lead = (unsigned)(begin - plane * all.places);
    const T *from = (const T *)memory.source + all.source_begin + plane;
    T *to = (T *)memory.target + begin;
    const bool aligned = is_aligned<T, V>((const T *)memory.target);
    const pgi_inverse<Real> inverse = inverse_of((Real)all.divisor);
    T loaded[PGI_WHOLE_VECTORS][2];
    unsigned rest[PGI_WHOLE_VECTORS]; // of the vector's first plane

#pragma unroll
    for (int k = 0; k < PGI_WHOLE_VECTORS; k++) {
        const unsigned at = (k * PGI_WHOLE_THREADS + threadIdx.x) * V, past = lead + at;
        const unsigned own = past / places;

        rest[k] = places - (past - own * places);
        if (begin + at >= elements)
            break;
        loaded[k][0] = load_element(from + own);
        loaded[k][1] = loaded[k][0];
        if (rest[k] < V && begin + at + rest[k] < elements)
            loaded[k][1] = load_element(from + own + 1);
    }
#pragma unroll
    for (int k = 0; k < PGI_WHOLE_VECTORS; k++) {
        const unsigned at = (k * PGI_WHOLE_THREADS + threadIdx.x) * V;
        Real term[2], made[V];

        if (begin + at >= elements)
            break;
        term[0] = widen(loaded[k][0]);
        term[1] = widen(loaded[k][1]);
        make_terms(term, inverse, are_ordinary(loaded[k]));
#pragma unroll
        for (int i = 0; i < V; i++)
            made[i] = i < rest[k] ? term[0] : term[1];
        if (aligned && begin + at + V <= elements) {
            store_scaled<true>(to + at, made, (Real)all.alpha, (Real)all.beta);
        } else {
            for (int i = 0; i < V && begin + at + i < elements; i++)
                store(to + at + i, i < rest[k] ? term[0] : term[1], (Real)all.alpha,
                      (Real)all.beta);
        }
    }
}

// V channels of an image, for some of its places.
template <typename T, int V>
__device__ static void fill_places(const pgi_cuda_whole &all, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    const int64_t thread = (int64_t)blockIdx.x * PGI_WHOLE_THREADS + threadIdx.x;
    const int64_t groups = all.channels / V, image = thread / groups;
    const int64_t channel = thread % groups * V;
    const int64_t begin = (int64_t)blockIdx.y * PGI_WHOLE_PLACES;
    const int64_t end = min(begin + PGI_WHOLE_PLACES, all.places);
    pgi_vector<T, V> loaded;
    Real made[V];

    if (image >= all.images)
        return;
    const T *from =
        (const T *)memory.source + all.source_begin + image * all.source_image + channel;
    T *to = (T *)memory.target + image * all.target_image + channel + begin * all.target_place;

    load_vector(from, &loaded, is_aligned<T, V>(from));
#pragma unroll
    for (int i = 0; i < V; i++)
        made[i] = widen(loaded, i);
    make_terms(made, inverse_of((Real)all.divisor), are_ordinary(loaded));
    for (int64_t place = begin; place < end; place++) {
        store_scaled(to, made, (Real)all.alpha, (Real)all.beta, is_aligned<T, V>(to));
        to += all.target_place;
    }
}

// The means of V squares side by side, load(h, w) their elements: columns first, as H comes before
// W.
template <typename T, int V, int SIDE, typename Load>
__device__ static void store_means(const pgi_cuda_whole &all, Load load, T *to)
{
    typedef pgi_real<T> Real;
    const pgi_inverse<Real> inverse = inverse_of((Real)all.divisor);
    pgi_inverse<Real> each[V];
    Real column[V][SIDE], mean[V];

#pragma unroll
    for (int w = 0; w < SIDE; w++) {
        pgi_vector<T, V> loaded[SIDE];

#pragma unroll
        for (int h = 0; h < SIDE; h++)
            loaded[h] = load(h, w);
#pragma unroll
        for (int i = 0; i < V; i++) {
            Real value[SIDE], made[1];

#pragma unroll
            for (int h = 0; h < SIDE; h++)
                value[h] = widen(loaded[h], i);
            add_zero(value);
            sum_runs<SIDE, 1>(value, made);
            column[i][w] = made[0];
        }
    }
#pragma unroll
    for (int i = 0; i < V; i++) {
        Real made[1];

        sum_runs<SIDE, 1>(column[i], made);
        mean[i] = made[0];
        each[i] = inverse;
    }
    make_means(mean, each, inverse.high != 0);
    store_scaled(to, mean, (Real)all.alpha, (Real)all.beta, is_aligned<T, V>(to));
}

// Planes that lie one behind the other: as many as a block has threads are copied to shared memory
// in whole vectors, where every thread adds one. The side is odd: lanes then meet in few banks.
template <typename T, int SIDE>
__device__ static void mean_planes(const pgi_cuda_whole &all, const pgi_cuda_memory &memory)
{
    constexpr int PLACES = SIDE * SIDE, V = 16 / sizeof(T), PLANES = PGI_WHOLE_PLANES;
    __shared__ __align__(16) T planes[PLANES * PLACES];
    const int64_t first = (int64_t)blockIdx.x * PLANES;
    const int count = (int)min((int64_t)PLANES, all.planes - first), thread = (int)threadIdx.x;
    const T *from = (const T *)memory.source + all.source_begin + first * PLACES;
    const int whole = is_aligned<T, V>(from) ? count * PLACES / V * V : 0;

    for (int i = thread * V; i < whole; i += PLANES * V)
        copy_async<16>(planes + i, from + i, true);
    end_group();
    for (int i = whole + thread; i < count * PLACES; i += PLANES)
        planes[i] = load_element(from + i);
    await_groups<0>();
    __syncthreads();
    if (thread < count)
        store_means<T, 1, SIDE>(
            all,
            [&](int h, int w) { return pgi_vector<T, 1>{planes[(thread * SIDE + h) * SIDE + w]}; },
            (T *)memory.target + first + thread);
}

// V channels of an image.
template <typename T, int SIDE>
__device__ static void mean_places(const pgi_cuda_whole &all, const pgi_cuda_memory &memory)
{
    constexpr int V = 16 / sizeof(T);
    const int64_t thread = (int64_t)blockIdx.x * PGI_WHOLE_PLANES + threadIdx.x;
    const int64_t groups = all.channels / V, image = thread / groups;
    const int64_t channel = thread % groups * V;

    if (image >= all.images)
        return;
    const T *from =
        (const T *)memory.source + all.source_begin + image * all.source_image + channel;
    const bool aligned = is_aligned<T, V>(from);

    store_means<T, V, SIDE>(
        all,
        [&](int h, int w) {
            pgi_vector<T, V> loaded;

            load_vector(from + (h * SIDE + w) * all.source_place, &loaded, aligned);
            return loaded;
        },
        (T *)memory.target + image * all.target_image + channel);
}

#define WHOLE(name, suffix, type)                                                                  \
    extern "C" __global__ void __launch_bounds__(PGI_WHOLE_THREADS) pgi_whole_##name##_##suffix(   \
        const __grid_constant__ pgi_cuda_whole whole, const pgi_cuda_memory memory)                \
    {                                                                                              \
        fill_##name<type, 16 / sizeof(type)>(whole, memory);                                       \
    }

#define MEANS(name, side, suffix, type)                                                            \
    extern "C" __global__ void __launch_bounds__(PGI_WHOLE_PLANES)                                 \
        pgi_whole_means_##name##_##side##_##suffix(const __grid_constant__ pgi_cuda_whole whole,   \
                                                   const pgi_cuda_memory memory)                   \
    {                                                                                              \
        mean_##name<type, side>(whole, memory);                                                    \
    }

#define WHOLE_TYPE(suffix, type)                                                                   \
    WHOLE(planes, suffix, type)                                                                    \
    WHOLE(places, suffix, type)                                                                    \
    MEANS(planes, 5, suffix, type)                                                                 \
    MEANS(planes, 7, suffix, type)                                                                 \
    MEANS(places, 4, suffix, type)                                                                 \
    MEANS(places, 5, suffix, type)                                                                 \
    MEANS(places, 6, suffix, type)                                                                 \
    MEANS(places, 7, suffix, type)                                                                 \
    MEANS(places, 8, suffix, type)

WHOLE_TYPE(f32, float)
WHOLE_TYPE(f64, double)
WHOLE_TYPE(f16, pgi_f16)
WHOLE_TYPE(bf16, pgi_bf16)
