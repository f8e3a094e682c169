// SPDX-License-Identifier: MIT
// Averages over windows of 3x3 around every position, both ways. A thread marches down a plane with
// neighbours of a row, and shuffles what other lanes need; or along the rows of a band with
// channels, and needs nobody's.
#include "cuda/kernels/threes.cuh"

// V places of a row, down a plane, two rows at a time; the first two have no targets, but are
// before the first and at it. AHEAD such batches are under way, since threads are few, and the loop
// is unrolled for them: moving what has not come would wait for it.
template <typename T, int V, bool FORWARD, bool PLAIN>
__device__ static void march_planes(const pgi_cuda_threes &all, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    constexpr int P = 2, AHEAD = 2;
    const unsigned warp = (blockIdx.x * PGI_THREES_THREADS + threadIdx.x) / 32;
    const int lane = (int)threadIdx.x % 32, group = lane / all.lanes;
    const int tile = (int)(warp % (unsigned)all.tiles), halo = all.tiles > 1;
    const unsigned plane = warp / (unsigned)all.tiles * (unsigned)all.grouped + (unsigned)group;
    const int x = (tile * (all.lanes - 2 * halo) + lane % all.lanes - halo) * V;
    const bool here =
        group < all.grouped && plane < all.outer.count && (unsigned)x < (unsigned)all.w.size;
    const bool stores = here && lane % all.lanes >= halo && lane % all.lanes < all.lanes - halo;
    const int begin = (int)blockIdx.y * all.segment, end = min(begin + all.segment, all.h.size);
    const Real alpha = PLAIN ? 1 : (Real)all.alpha, beta = PLAIN ? 0 : (Real)all.beta;
    const bool aligned = PLAIN || are_aligned<T, V>(all, memory);
    const T *from = (const T *)memory.source;
    T *to = (T *)memory.target;
    pgi_threes_divisors<Real, V> divisors(all, all.w, x);
    pgi_ring<Real, 3> ring[V];
    pgi_vector<T, V> next[AHEAD][P] = {};

    if (here) {
        from += source_of(all.outer, plane) + (begin - 1) * all.h.source_stride + x;
        to += target_of(all.outer, plane) + begin * all.h.target_stride + x;
    }
#pragma unroll
    for (int i = 0; i < V; i++)
        ring[i].clear();
#pragma unroll AHEAD
    for (int row = begin - 1 - AHEAD * P; row <= end; row += P) {
        const bool ordinary = FORWARD || are_ordinary(next[0]);
        Real value[P][V], sum[V][P];

#pragma unroll
        for (int p = 0; p < P; p++) {
#pragma unroll
            for (int i = 0; i < V; i++)
                value[p][i] = widen(next[0][p], i);
#pragma unroll
            for (int k = 1; k < AHEAD; k++)
                next[k - 1][p] = next[k][p];
            const int late = row + AHEAD * P + p;

            next[AHEAD - 1][p] = {};
            if (here && (unsigned)late < (unsigned)all.h.size && late <= end)
                load_vector(from + p * all.h.source_stride, &next[AHEAD - 1][p], aligned);
        }
        from += P * all.h.source_stride;
        if (row < begin - 1)
            continue;
#pragma unroll
        for (int p = 0; p < P; p++) {
            if (FORWARD) {
                add_zero(value[p]);
            } else {
                divisors.find(count_of(all.h, row + p));
                make_terms(value[p], divisors.inverse, ordinary && divisors.usual());
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
            if (FORWARD) {
                divisors.find(count_of(all.h, target));
                make_means(made, divisors.inverse, divisors.usual());
            }
            if (stores && target < end)
                store_scaled(to, made, alpha, beta, aligned);
            to += all.h.target_stride;
        }
    }
}

// V channels of a band of rows, along W. One place of the band has too few bytes of 16-bit types.
template <typename T, int V, bool FORWARD, bool PLAIN>
__device__ static void march_channels(const pgi_cuda_threes &all, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    constexpr int R = PGI_THREES_BAND, ROWS = R + 2, AHEAD = sizeof(T) == 2 ? 2 : 1;
    const unsigned thread = blockIdx.x * PGI_THREES_THREADS + threadIdx.x;
    const int channel = (int)(thread % (unsigned)all.groups) * V;
    const unsigned piece = thread / (unsigned)all.groups;
    const int band = (int)(piece % (unsigned)all.bands) * R;
    const unsigned image = piece / (unsigned)all.bands;
    const int begin = (int)blockIdx.y * all.segment, end = min(begin + all.segment, all.w.size);
    const Real alpha = PLAIN ? 1 : (Real)all.alpha, beta = PLAIN ? 0 : (Real)all.beta;
    const bool aligned = PLAIN || are_aligned<T, V>(all, memory);
    const pgi_inverse<Real> *inverses = make_inverses<Real>(all);
    pgi_inverse<Real> inverse[ROWS]; // of the places of these rows: to keep them costs registers
    int counts[ROWS];
    pgi_ring<Real, 3> ring[R][V];
    pgi_vector<T, V> next[AHEAD][ROWS] = {};

    if (image >= all.outer.count)
        return;
    const T *from = (const T *)memory.source + source_of(all.outer, image) + channel +
                    (band - 1) * all.h.source_stride + (begin - 1) * all.w.source_stride;
    T *to = (T *)memory.target + target_of(all.outer, image) + channel +
            band * all.h.target_stride + begin * all.w.target_stride;

#pragma unroll
    for (int r = 0; r < ROWS; r++)
        counts[r] = count_of(all.h, band - 1 + r);
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int i = 0; i < V; i++)
            ring[r][i].clear();
#pragma unroll AHEAD
    for (int place = begin - 1 - AHEAD; place <= end; place++) {
        const bool ordinary = FORWARD || are_ordinary(next[0]);
        const int column_count = count_of(all.w, FORWARD ? place - 1 : place);
        const int late = place + AHEAD;
        Real value[ROWS * V], sum[R][V];

#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int i = 0; i < V; i++)
                value[r * V + i] = widen(next[0][r], i);
#pragma unroll
            for (int k = 1; k < AHEAD; k++)
                next[k - 1][r] = next[k][r];
            next[AHEAD - 1][r] = {};
            load_vector_if(late <= end && (unsigned)late < (unsigned)all.w.size &&
                               (unsigned)(band - 1 + r) < (unsigned)all.h.size,
                           from + r * all.h.source_stride, &next[AHEAD - 1][r], aligned);
        }
        from += all.w.source_stride;
        if (place < begin - 1)
            continue;
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            inverse[r] = inverses[counts[r] * column_count];
        if (FORWARD) {
            add_zero(value);
        } else {
            pgi_inverse<Real> each[ROWS * V];

#pragma unroll
            for (int i = 0; i < ROWS * V; i++)
                each[i] = inverse[i / V];
            make_terms(value, each, ordinary && inverse[0].high != 0);
        }
#pragma unroll
        for (int i = 0; i < V; i++) {
            Real column[ROWS], down[R];

#pragma unroll
            for (int r = 0; r < ROWS; r++)
                column[r] = value[r * V + i];
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
            if (band + r >= all.h.size)
                break;
            if (FORWARD) {
                pgi_inverse<Real> each[V];

#pragma unroll
                for (int i = 0; i < V; i++)
                    each[i] = inverse[r + 1];
                make_means(sum[r], each, each[0].high != 0);
            }
            store_scaled(to + r * all.h.target_stride, sum[r], alpha, beta, aligned);
        }
        to += all.w.target_stride;
    }
}

// C places of a row, down a plane in shared memory, where the sums take the place of the sources.
// Which of the C there are a thread asks for each, so that rows need not be whole vectors.
template <typename T, int C, bool FORWARD, bool PLAIN>
__device__ static void march_shared(const pgi_cuda_threes &all, T *planes, unsigned count)
{
    typedef pgi_real<T> Real;
    const int lane = (int)threadIdx.x % 32, group = lane / all.lanes, wide = all.w.size;
    const unsigned plane = threadIdx.x / 32 * (unsigned)all.grouped + (unsigned)group;
    const int x = lane % all.lanes * C;
    const int own = group < all.grouped && plane < count ? min(C, wide - x) : 0;
    const Real alpha = PLAIN ? 1 : (Real)all.alpha;
    T *at = planes + (own > 0 ? plane * (unsigned)(wide * all.h.size) + (unsigned)x : 0);
    pgi_threes_divisors<Real, C> divisors(all, all.w, x);
    pgi_ring<Real, 3> ring[C];
    Real next[C];
    const auto fetch = [&](int row) {
#pragma unroll
        for (int i = 0; i < C; i++)
            next[i] = i < own && row < all.h.size ? widen(at[row * wide + i]) : (Real)0;
    };

#pragma unroll
    for (int i = 0; i < C; i++)
        ring[i].clear();
    fetch(0);
    for (int row = 0; row <= all.h.size; row++) {
        const bool ordinary = FORWARD || are_ordinary(next);
        Real value[C];

#pragma unroll
        for (int i = 0; i < C; i++)
            value[i] = next[i];
        fetch(row + 1);
        if (FORWARD) {
            add_zero(value);
        } else {
            divisors.find(count_of(all.h, row));
            make_terms(value, divisors.inverse, ordinary && divisors.usual());
        }
#pragma unroll
        for (int i = 0; i < C; i++) {
            const Real now[1] = {value[i]};
            Real down[1];

            ring[i].push(now, down);
            value[i] = down[0];
        }
        if (row == 0)
            continue;
        sum_threes(value, x == 0, x + C >= wide);
        if (FORWARD) {
            divisors.find(count_of(all.h, row - 1));
            make_means(value, divisors.inverse, divisors.usual());
        }
#pragma unroll
        for (int i = 0; i < C; i++)
            if (i < own)
                narrow(alpha * value[i], at + (row - 1) * wide + i);
    }
}

// Planes that lie one behind the other, whatever their rows are: as many as there are in a block's
// piece of memory, which is read and written in whole vectors.
template <typename T, int C, bool FORWARD, bool PLAIN>
__device__ static void march_dense(const pgi_cuda_threes &all, const pgi_cuda_memory &memory)
{
    constexpr int V = 16 / sizeof(T);
    extern __shared__ __align__(16) char shared[];
    T *planes = (T *)shared;
    const unsigned first = blockIdx.x * (unsigned)all.dense;
    const unsigned count = min((unsigned)all.dense, all.outer.count - first);
    const unsigned size = (unsigned)(all.h.size * all.w.size), elements = count * size;
    const T *from = (const T *)memory.source + all.outer.source_begin + first * (int64_t)size;
    T *to = (T *)memory.target + first * (int64_t)size;
    const unsigned loaded = is_aligned<T, V>(from) ? elements / V * V : 0;
    const unsigned stored = is_aligned<T, V>(to) ? elements / V * V : 0;

    for (unsigned i = threadIdx.x * V; i < loaded; i += blockDim.x * V)
        copy_async<16>(planes + i, from + i, true);
    end_group();
    for (unsigned i = loaded + threadIdx.x; i < elements; i += blockDim.x)
        planes[i] = load_element(from + i);
    await_groups<0>();
    __syncthreads();
    march_shared<T, C, FORWARD, PLAIN>(all, planes, count);
    __syncthreads();
    for (unsigned i = threadIdx.x * V; i < stored; i += blockDim.x * V)
        store_vector<true>(to + i, *(const pgi_vector<T, V> *)(planes + i));
    for (unsigned i = stored + threadIdx.x; i < elements; i += blockDim.x)
        to[i] = planes[i];
}

// PLAIN: vectors, if there are any, are aligned, and results stored as they are.
#define THREES(name, each, aligned, suffix, type)                                                  \
    extern "C" __global__ void __launch_bounds__(PGI_THREES_THREADS, 2)                            \
        pgi_threes_##name##_##suffix(const __grid_constant__ pgi_cuda_threes threes,               \
                                     const pgi_cuda_memory memory)                                 \
    {                                                                                              \
        const bool plain =                                                                         \
            threes.alpha == 1 && threes.beta == 0 && are_aligned<type, aligned>(threes, memory);   \
                                                                                                   \
        if (threes.forward)                                                                        \
            plain ? march_##name<type, each, true, true>(threes, memory)                           \
                  : march_##name<type, each, true, false>(threes, memory);                         \
        else                                                                                       \
            plain ? march_##name<type, each, false, true>(threes, memory)                          \
                  : march_##name<type, each, false, false>(threes, memory);                        \
    }

#define THREES_VECTORS(name, each, suffix, type) THREES(name, each, each, suffix, type)

#define THREES_TYPE(suffix, type)                                                                  \
    THREES_VECTORS(planes, PGI_THREES_PLACES(sizeof(type)), suffix, type)                          \
    THREES_VECTORS(channels, PGI_THREES_CHANNELS(sizeof(type)), suffix, type)                      \
    THREES(dense, PGI_THREES_DENSE(sizeof(type)), 1, suffix, type)

THREES_TYPE(f32, float)
THREES_TYPE(f64, double)
THREES_TYPE(f16, pgi_f16)
THREES_TYPE(bf16, pgi_bf16)
