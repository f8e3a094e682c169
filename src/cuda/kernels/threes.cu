// SPDX-License-Identifier: MIT
// Averages over windows of 3x3 around every position, both ways. Nothing is shared but by shuffles:
// a thread marches down a plane with neighbours of a row, or along the rows of a band with
// channels.
#include "cuda/kernels/general.h"
#include "cuda/kernels/ring.cuh"
#include "cuda/kernels/threes.h"
#include "cuda/kernels/vector.cuh"

// What a window counts on an axis; of those that do not exist, what the nearest does.
__device__ static int count_of(const pgi_cuda_threes_axis &axis, int at)
{
    return at <= 0 ? axis.first : at >= axis.size - 1 ? axis.last : axis.middle;
}

// The reciprocals of all counts, 1 to 9, in shared memory.
template <typename Real> __device__ static const Real *make_reciprocals()
{
    __shared__ Real reciprocals[10];

    if (threadIdx.x < 10)
        reciprocals[threadIdx.x] = reciprocal_of((Real)threadIdx.x);
    __syncthreads();
    return reciprocals;
}

// The places of a row that a thread has, and what they are divided by.
template <typename T, int V> struct pgi_threes_places {
    typedef pgi_real<T> Real;
    Real by[V], inverse[V];
    const Real *reciprocals;
    int counted; // on H
    bool usual;

    __device__ pgi_threes_places() : reciprocals(make_reciprocals<Real>()), counted(-1)
    {
    }

    __device__ void find_divisors(const pgi_cuda_threes &all, int x, int rows_count)
    {
        const Real one = (Real)all.divisor, inverse_of_one = reciprocal_of(one);

        counted = rows_count;
        usual = all.divisor == 0 || inverse_of_one != 0;
#pragma unroll
        for (int i = 0; i < V; i++) {
            const int count = count_of(all.w, x + i) * rows_count;

            by[i] = all.divisor ? one : (Real)count;
            inverse[i] = all.divisor ? inverse_of_one : reciprocals[count];
        }
    }

    __device__ void divide(const pgi_cuda_threes &all, int x, int row, Real (&value)[V], Real zero)
    {
        const int rows_count = count_of(all.h, row);

        if (rows_count != counted)
            find_divisors(all, x, rows_count);
        divide_all(value, by, inverse, usual, zero);
    }
};

// Sums of three neighbours of a row; those at the ends come from the lanes beside this one.
template <typename Real, int V>
__device__ static void sum_threes(Real (&sum)[V], bool first, bool last)
{
    const Real before = __shfl_up_sync(~0u, sum[V - 1], 1);
    const Real after = __shfl_down_sync(~0u, sum[0], 1);
    Real value[V + 2];

    value[0] = first ? (Real)0 : before;
    value[V + 1] = last ? (Real)0 : after;
#pragma unroll
    for (int i = 0; i < V; i++)
        value[i + 1] = sum[i];
    sum_runs<3, V>(value, sum);
}

// V places of a row, down a plane, two rows at a time.
template <typename T, int V>
__device__ static void march_planes(const pgi_cuda_threes &all, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    constexpr int P = 2;
    const unsigned warp = (blockIdx.x * PGI_THREES_THREADS + threadIdx.x) / 32;
    const int lane = (int)threadIdx.x % 32, group = lane / all.lanes;
    const int tile = (int)(warp % (unsigned)all.tiles), halo = all.tiles > 1;
    const unsigned plane = warp / (unsigned)all.tiles * (unsigned)all.grouped + (unsigned)group;
    const int x = (tile * (all.lanes - 2 * halo) + lane % all.lanes - halo) * V;
    const bool here =
        group < all.grouped && plane < all.outer.count && (unsigned)x < (unsigned)all.w.size;
    const bool stores = here && lane % all.lanes >= halo && lane % all.lanes < all.lanes - halo;
    const int begin = (int)blockIdx.y * all.segment, end = min(begin + all.segment, all.h.size);
    const T *from = (const T *)memory.source;
    T *to = (T *)memory.target;
    pgi_threes_places<T, V> places;
    pgi_ring<Real, 3> ring[V];
    pgi_vector<T, V> next[P] = {};
    const bool aligned = is_aligned<T, V>(from + all.outer.source_begin) && is_aligned<T, V>(to);

    if (here) {
        from += source_of(all.outer, plane) + (begin - 1) * all.h.source_stride + x;
        to += target_of(all.outer, plane) + begin * all.h.target_stride + x;
    }
#pragma unroll
    for (int i = 0; i < V; i++)
        ring[i].clear();
    // the first batch has no targets: it has the rows before the first and at it
    for (int row = begin - 1 - P; row <= end; row += P) {
        Real value[P][V], sum[V][P];

#pragma unroll
        for (int p = 0; p < P; p++) {
#pragma unroll
            for (int i = 0; i < V; i++)
                value[p][i] = widen(next[p].e[i]);
            next[p] = {};
            if (here && (unsigned)(row + P + p) < (unsigned)all.h.size && row + P + p <= end) {
                load_vector(from + p * all.h.source_stride, &next[p], aligned);
            }
        }
        from += P * all.h.source_stride;
        if (row < begin - 1)
            continue;
#pragma unroll
        for (int p = 0; p < P; p++) {
            if (!all.forward) {
                places.divide(all, x, row + p, value[p], (Real)0);
            } else {
#pragma unroll
                for (int i = 0; i < V; i++)
                    value[p][i] = value[p][i] + 0;
            }
        }
#pragma unroll
        for (int i = 0; i < V; i++) {
            Real column[P];

#pragma unroll
            for (int p = 0; p < P; p++)
                column[p] = value[p][i];
            ring[i].push(column, sum[i]);
        }
#pragma unroll
        for (int p = 0; p < P; p++) {
            const int target = row + p - 1;
            Real made[V];

            if (target < begin)
                continue;
#pragma unroll
            for (int i = 0; i < V; i++)
                made[i] = sum[i][p];
            sum_threes(made, x == 0, x + V >= all.w.size);
            if (all.forward)
                places.divide(all, x, target, made, (Real)-0.0);
            if (stores && target < end) {
                store_scaled(to, made, (Real)all.alpha, (Real)all.beta, aligned);
            }
            to += all.h.target_stride;
        }
    }
}

// The rows that a band needs, or has, and what a place of theirs is divided by.
template <typename Real, int ROWS> struct pgi_threes_rows {
    Real by[ROWS], inverse[ROWS];
    const Real *reciprocals;
    int counted; // on W

    __device__ pgi_threes_rows() : reciprocals(make_reciprocals<Real>()), counted(-1)
    {
    }

    __device__ void find_divisors(const pgi_cuda_threes &all, int first, int column_count)
    {
        const Real one = (Real)all.divisor, inverse_of_one = reciprocal_of(one);

        counted = column_count;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const int count = count_of(all.h, first + r) * column_count;

            by[r] = all.divisor ? one : (Real)count;
            inverse[r] = all.divisor ? inverse_of_one : reciprocals[count];
        }
    }
};

// V channels of a band of rows, along W.
template <typename T, int V>
__device__ static void march_channels(const pgi_cuda_threes &all, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    constexpr int R = PGI_THREES_BAND, ROWS = R + 2;
    const unsigned thread = blockIdx.x * PGI_THREES_THREADS + threadIdx.x;
    const int channel = (int)(thread % (unsigned)all.groups) * V;
    const unsigned piece = thread / (unsigned)all.groups;
    const int band = (int)(piece % (unsigned)all.bands) * R;
    const unsigned image = piece / (unsigned)all.bands;
    const int begin = (int)blockIdx.y * all.segment, end = min(begin + all.segment, all.w.size);
    pgi_threes_rows<Real, ROWS> rows;
    pgi_ring<Real, 3> ring[R][V];
    pgi_vector<T, V> next[ROWS] = {};

    if (image >= all.outer.count)
        return;
    const T *from = (const T *)memory.source + source_of(all.outer, image) + channel +
                    (band - 1) * all.h.source_stride + (begin - 1) * all.w.source_stride;
    T *to = (T *)memory.target + target_of(all.outer, image) + channel +
            band * all.h.target_stride + begin * all.w.target_stride;
    const bool aligned = is_aligned<T, V>(from) && is_aligned<T, V>(to);

#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int i = 0; i < V; i++)
            ring[r][i].clear();
    for (int place = begin - 2; place <= end; place++) {
        Real value[ROWS][V];
        const int counted_at = all.forward ? place - 1 : place;
        const int column_count = count_of(all.w, counted_at);

#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int i = 0; i < V; i++)
                value[r][i] = widen(next[r].e[i]);
            next[r] = {};
            if (place < end && (unsigned)(place + 1) < (unsigned)all.w.size &&
                (unsigned)(band - 1 + r) < (unsigned)all.h.size) {
                load_vector(from + r * all.h.source_stride, &next[r], aligned);
            }
        }
        from += all.w.source_stride;
        if (place < begin - 1)
            continue;
        if (column_count != rows.counted)
            rows.find_divisors(all, band - 1, column_count);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            if (!all.forward) {
                make_terms(value[r], rows.by[r], rows.inverse[r]);
            } else {
#pragma unroll
                for (int i = 0; i < V; i++)
                    value[r][i] = value[r][i] + 0;
            }
        }
        Real sum[R][V];

#pragma unroll
        for (int i = 0; i < V; i++) {
            Real column[ROWS], down[R];

#pragma unroll
            for (int r = 0; r < ROWS; r++)
                column[r] = value[r][i];
            sum_runs<3, R>(column, down);
#pragma unroll
            for (int r = 0; r < R; r++) {
                const Real now[1] = {down[r]};
                Real all_three[1];

                ring[r][i].push(now, all_three);
                sum[r][i] = all_three[0];
            }
        }
        if (place - 1 < begin)
            continue;
#pragma unroll
        for (int r = 0; r < R; r++) {
            T *row = to + r * all.h.target_stride;

            if (band + r >= all.h.size)
                break;
            if (all.forward) {
#pragma unroll
                for (int i = 0; i < V; i++)
                    sum[r][i] = quotient(sum[r][i], rows.by[r + 1], rows.inverse[r + 1]);
            }
            store_scaled(row, sum[r], (Real)all.alpha, (Real)all.beta, aligned);
        }
        to += all.w.target_stride;
    }
}

#define THREES(name, vector, suffix, type)                                                         \
    extern "C" __global__ void __launch_bounds__(PGI_THREES_THREADS, 2)                            \
        pgi_threes_##name##_##suffix(const __grid_constant__ pgi_cuda_threes threes,               \
                                     const pgi_cuda_memory memory)                                 \
    {                                                                                              \
        march_##name<type, vector>(threes, memory);                                                \
    }

#define THREES_TYPE(suffix, type)                                                                  \
    THREES(planes, PGI_THREES_PLACES(sizeof(type)), suffix, type)                                  \
    THREES(channels, PGI_THREES_CHANNELS(sizeof(type)), suffix, type)

THREES_TYPE(f32, float)
THREES_TYPE(f64, double)
THREES_TYPE(f16, pgi_f16)
THREES_TYPE(bf16, pgi_bf16)
