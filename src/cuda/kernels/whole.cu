// SPDX-License-Identifier: MIT
// Gradients of averages whose one window covers everything: every position of a plane receives the
// same.
#include "cuda/kernels/general.h"
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

#define WHOLE(name, suffix, type)                                                                  \
    extern "C" __global__ void __launch_bounds__(PGI_WHOLE_THREADS) pgi_whole_##name##_##suffix(   \
        const __grid_constant__ pgi_cuda_whole whole, const pgi_cuda_memory memory)                \
    {                                                                                              \
        fill_##name<type, 16 / sizeof(type)>(whole, memory);                                       \
    }

#define WHOLE_TYPE(suffix, type)                                                                   \
    WHOLE(planes, suffix, type)                                                                    \
    WHOLE(places, suffix, type)

WHOLE_TYPE(f32, float)
WHOLE_TYPE(f64, double)
WHOLE_TYPE(f16, pgi_f16)
WHOLE_TYPE(bf16, pgi_bf16)
