// SPDX-License-Identifier: MIT
// Max pooling with large windows, a plane at a time in shared memory. Forward the winners are found
// axis by axis; backward a warp takes its windows 32 at a time, and where several have one winner,
// adds theirs in their order.
#include "cuda/kernels/element.cuh"
#include "cuda/kernels/general.h"
#include "cuda/kernels/plane.h"
#include "cuda/kernels/winner.cuh"

#include <math_constants.h>

#define WARP      32
#define ALL_LANES 0xffffffffu

__device__ static int64_t plane_offset(const pgi_cuda_plane &all, const pgi_cuda_strides &strides,
                                       unsigned plane)
{
    return plane / all.channels * strides.batch + plane % all.channels * strides.channel;
}

// Element i of a plane whose extents are given, row-major.
__device__ static int64_t element_offset(const pgi_cuda_strides &strides, const int (&extent)[3],
                                         unsigned i)
{
    const unsigned w = i % (unsigned)extent[2], rest = i / (unsigned)extent[2];

    return w * strides.place[2] + rest % (unsigned)extent[1] * strides.place[1] +
           rest / (unsigned)extent[1] * strides.place[0];
}

// ---------------------------------------------------------------- gradient

// The place that window o's index names; -1 if none, -2 if the index is bad.
__device__ static int place_of_index(const pgi_cuda_plane &all, int64_t index, int64_t base,
                                     unsigned o)
{
    const int64_t place = index - base;
    const unsigned w = o % (unsigned)all.out[2], rest = o / (unsigned)all.out[2];
    const int window[3] = {(int)(rest / (unsigned)all.out[1]), (int)(rest % (unsigned)all.out[1]),
                           (int)w};
    const unsigned row = (unsigned)place / (unsigned)all.in[2];
    const int at[3] = {(int)(row / (unsigned)all.in[1]), (int)(row % (unsigned)all.in[1]),
                       (int)((unsigned)place % (unsigned)all.in[2])};

    if (index == -1 && all.no_winner)
        return -1;
    if (index < 0 || place < 0 || place >= all.places)
        return -2;
    for (int k = 0; k < 3; k++) {
        const int distance = at[k] - (window[k] * all.stride[k] - all.pad[k]);

        if (distance < 0 || distance >= all.kernel[k])
            return -2;
    }
    return (int)place;
}

template <typename T, typename Index>
__device__ static void plane_gradient(const pgi_cuda_plane &all, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    extern __shared__ char shared[];
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const unsigned plane = blockIdx.x * (blockDim.x / WARP) + warp;
    Real *sums = (Real *)shared + warp * all.places;

    if (plane >= all.planes)
        return;
    const int64_t from = plane_offset(all, all.source, plane);
    const int64_t base = all.origin + plane / all.channels * all.index_batch +
                         plane % all.channels * all.index_channel;
    const T *dy = (const T *)memory.source + from;
    const Index *indices = (const Index *)memory.indices + from;
    T *dx = (T *)memory.target + plane_offset(all, all.target, plane);

    for (int i = (int)lane; i < all.places; i += WARP)
        sums[i] = 0;
    __syncwarp();
    for (int first = 0; first < all.windows; first += WARP) {
        const int o = first + (int)lane;
        int place = -1;
        Real term = 0;

        if (o < all.windows) {
            const int64_t offset = element_offset(all.source, all.out, (unsigned)o);
            const Index found = indices[offset];
            const int64_t wide = sizeof(Index) == 8 || found != (Index)-1 ? (int64_t)found : -1;

            term = widen(dy[offset]);
            place = place_of_index(all, wide, base, (unsigned)o);
            if (place == -2 && all.checks)
                atomicMin(memory.bad, (unsigned long long)((int64_t)plane * all.windows + o));
        }
        // lanes that have one place; the lowest adds for all of them, in their order
        const unsigned same = __match_any_sync(ALL_LANES, place);
        const bool leads = place >= 0 && (same & ((1u << lane) - 1)) == 0;
        unsigned rest = leads ? same : 0;
        Real sum = leads ? sums[place] : 0;

        while (__any_sync(ALL_LANES, rest != 0)) {
            const int next = rest ? __ffs((int)rest) - 1 : 0;
            const Real theirs = __shfl_sync(ALL_LANES, term, next);

            if (rest)
                sum = sum + theirs;
            rest &= rest - 1;
        }
        if (leads)
            sums[place] = sum;
        __syncwarp();
    }
    for (int i = (int)lane; i < all.places; i += WARP)
        store(dx + element_offset(all.target, all.in, (unsigned)i), sums[i], (Real)all.alpha,
              (Real)all.beta);
}

// ----------------------------------------------------------------- forward

// Between candidates; what leads is looked at in the end.
__device__ static int rule_of(const pgi_cuda_plane &all)
{
    return all.nan == POOLGRAD_NAN_LEADING ? POOLGRAD_NAN_SKIP : all.nan;
}

// Candidates: the winners of windows on the axes that are done. `places` of x itself are counted.
template <typename Real> struct pgi_candidates {
    Real *value;
    int *place; // NULL: that of x
};

template <typename Real> struct pgi_candidate {
    Real value;
    int place; // -1: none

    // What of this and another that comes later wins.
    __device__ void meet(int rule, const pgi_candidate &other)
    {
        if (other.place >= 0 && (place < 0 || wins(rule, other.value, value)))
            *this = other;
    }
};

template <typename Real>
__device__ static pgi_candidate<Real> candidate_at(const pgi_candidates<Real> &from, int k,
                                                   bool there)
{
    if (!there)
        return {(Real)-CUDART_INF, -1};
    return {from.value[k], from.place ? from.place[k] : k};
}

// One axis with stride 1, RUN windows side by side: what all of them have is looked at once. The
// others' taps before that are gone through from its end, those behind it from its beginning. An
// odd number keeps threads out of each other's banks.
#define RUN 7

template <typename Real>
__device__ static void contest_runs(const pgi_cuda_plane &all, int axis, int inner, int count,
                                    const pgi_candidates<Real> &from,
                                    const pgi_candidates<Real> &to)
{
    const int in = all.in[axis], out = all.out[axis], kernel = all.kernel[axis];
    const int runs = (out + RUN - 1) / RUN, tasks = count / out * runs;

    for (int task = (int)threadIdx.x; task < tasks; task += (int)blockDim.x) {
        const int within = task % inner, rest = task / inner;
        const int first = rest % runs * RUN, before = rest / runs;
        const int start = first - all.pad[axis], core = start + RUN - 1;
        pgi_candidate<Real> best[RUN], behind = {(Real)-CUDART_INF, -1};
        const auto tap = [&](int at) {
            return candidate_at(from, (before * in + at) * inner + within, at >= 0 && at < in);
        };

        best[RUN - 1] = tap(core);
        for (int at = core + 1; at < start + kernel; at++)
            best[RUN - 1].meet(rule_of(all), tap(at));
#pragma unroll
        for (int j = RUN - 2; j >= 0; j--) {
            const pgi_candidate<Real> later = best[j + 1];

            best[j] = tap(start + j);
            best[j].meet(rule_of(all), later);
        }
#pragma unroll
        for (int j = 0; j < RUN; j++) {
            if (j > 0) {
                behind.meet(rule_of(all), tap(start + kernel + j - 1));
                best[j].meet(rule_of(all), behind);
            }
            if (first + j < out) {
                const int i = (before * out + first + j) * inner + within;

                to.value[i] = best[j].value;
                to.place[i] = best[j].place;
            }
        }
    }
    __syncthreads();
}

// One axis: candidate i of [outer][out][inner] from those of [outer][in][inner].
template <typename Real>
__device__ static void contest(const pgi_cuda_plane &all, int axis, int inner, int count,
                               const pgi_candidates<Real> &from, const pgi_candidates<Real> &to)
{
    const int in = all.in[axis], out = all.out[axis];

    if (all.stride[axis] == 1 && all.dilation[axis] == 1 && all.kernel[axis] >= RUN) {
        contest_runs(all, axis, inner, count, from, to);
        return;
    }
    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x) {
        const int within = i % inner, o = i / inner % out, before = i / inner / out;
        const int start = o * all.stride[axis] - all.pad[axis];
        Real best = -CUDART_INF;
        int place = -1;

        for (int tap = 0; tap < all.kernel[axis]; tap++) {
            const int at = start + tap * all.dilation[axis];

            if (at < 0 || at >= in)
                continue;
            const int k = (before * in + at) * inner + within;
            const Real value = from.value[k];
            const int where = from.place ? from.place[k] : k;

            if (where >= 0 && (place < 0 || wins(rule_of(all), value, best))) {
                best = value;
                place = where;
            }
        }
        to.value[i] = best;
        to.place[i] = place;
    }
    __syncthreads();
}

// The first tap of window o that lies inside, as a place; there is one.
__device__ static int first_place(const pgi_cuda_plane &all, unsigned o)
{
    int place = 0;
    const int window[3] = {(int)(o / (unsigned)(all.out[1] * all.out[2])),
                           (int)(o / (unsigned)all.out[2] % (unsigned)all.out[1]),
                           (int)(o % (unsigned)all.out[2])};

    for (int k = 0; k < 3; k++) {
        const int start = window[k] * all.stride[k] - all.pad[k];
        const int skipped = start < 0 ? (-start + all.dilation[k] - 1) / all.dilation[k] : 0;

        place = place * all.in[k] + start + skipped * all.dilation[k];
    }
    return place;
}

template <typename T, typename Index>
__device__ static void plane_maximum(const pgi_cuda_plane &all, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    extern __shared__ char shared[];
    const unsigned plane = blockIdx.x;
    const int columns = all.in[0] * all.in[1] * all.out[2];
    const int rows = all.in[0] * all.out[1] * all.out[2];
    const int most = columns > all.windows ? columns : all.windows; // the second is written twice
    Real *x = (Real *)shared;
    const pgi_candidates<Real> source = {x, NULL};
    const pgi_candidates<Real> first = {x + all.places, (int *)(x + all.places + most + rows)};
    const pgi_candidates<Real> second = {first.value + most, first.place + most};
    const T *from = (const T *)memory.source + plane_offset(all, all.source, plane);
    const int64_t to = plane_offset(all, all.target, plane);
    const int64_t base = all.origin + plane / all.channels * all.index_batch +
                         plane % all.channels * all.index_channel;

    for (int i = (int)threadIdx.x; i < all.places; i += (int)blockDim.x)
        x[i] = widen(from[element_offset(all.source, all.in, (unsigned)i)]);
    __syncthreads();
    contest(all, 2, 1, columns, source, first);
    contest(all, 1, all.out[2], rows, first, second);
    contest(all, 0, all.out[1] * all.out[2], all.windows, second, first);
    for (int o = (int)threadIdx.x; o < all.windows; o += (int)blockDim.x) {
        const int64_t offset = to + element_offset(all.target, all.out, (unsigned)o);
        Real best = first.value[o];
        int place = first.place[o];

        if (all.nan == POOLGRAD_NAN_LEADING && place >= 0) {
            const int leading = first_place(all, (unsigned)o);

            if (x[leading] != x[leading]) {
                best = x[leading];
                place = leading;
            }
        }
        if (memory.target)
            store((T *)memory.target + offset, best, (Real)all.alpha, (Real)all.beta);
        if (memory.indices_out)
            ((Index *)memory.indices_out)[offset] = place < 0 ? (Index)-1 : (Index)(base + place);
    }
}

#define PLANE(width, index, suffix, type)                                                          \
    extern "C" __global__ void __launch_bounds__(256) pgi_plane_gradient_##width##_##suffix(       \
        const __grid_constant__ pgi_cuda_plane all, const pgi_cuda_memory memory)                  \
    {                                                                                              \
        plane_gradient<type, index>(all, memory);                                                  \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(256) pgi_plane_maximum_##width##_##suffix(        \
        const __grid_constant__ pgi_cuda_plane all, const pgi_cuda_memory memory)                  \
    {                                                                                              \
        plane_maximum<type, index>(all, memory);                                                   \
    }

#define PLANE_TYPE(suffix, type)                                                                   \
    PLANE(64, int64_t, suffix, type)                                                               \
    PLANE(32, uint32_t, suffix, type)

PLANE_TYPE(f32, float)
PLANE_TYPE(f64, double)
PLANE_TYPE(f16, pgi_f16)
PLANE_TYPE(bf16, pgi_bf16)
