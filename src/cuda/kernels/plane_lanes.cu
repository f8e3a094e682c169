// SPDX-License-Identifier: MIT
// Max pooling with large windows and stride 1, forward: a lane has a plane. Keys of 32 planes lie
// in shared memory place by place, those of a place side by side, so that lanes do the same to
// neighbours, whatever a window's position is. A warp goes along a row, with the taps of two runs
// of windows in registers, and leaves winners where it had read before; then, down a column of
// these, the winners of all.
#include "cuda/kernels/award.cuh"
#include "cuda/kernels/step.cuh"
#include "cuda/kernels/vector.cuh"

#define WARP    32
#define RUN     PGI_PLANE_LANES_RUN
#define THREADS (PGI_PLANE_LANES_WARPS * WARP)

// Places that a thread loads vectors of before it makes keys of the first.
#define BATCH 4

template <typename T> using pgi_key = typename pgi_bid<T>::Key;
template <typename T> using pgi_piece = pgi_vector<T, 16 / sizeof(T)>;

// Taps of a run in registers, as bids of the line.
template <typename Bid, int SIZE> struct pgi_taps {
    const typename Bid::Key (&key)[SIZE];
    int begin;

    __device__ Bid operator[](int i) const
    {
        if constexpr (sizeof(Bid) == sizeof(typename Bid::Key))
            return {key[begin + i]};
        else
            return {key[begin + i], i};
    }
};

// COUNT keys of a line, from `first` on, of which there are `extent`.
template <typename Bid, int AT, int COUNT, int SIZE>
__device__ static void fetch(const typename Bid::Key *line, int step, int first, int extent,
                             typename Bid::Key (&key)[SIZE])
{
    if (first >= 0 && first + COUNT <= extent) {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            key[AT + i] = line[(first + i) * step];
    } else {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            key[AT + i] =
                (unsigned)(first + i) < (unsigned)extent ? line[(first + i) * step] : Bid::NONE;
    }
}

// For those of a run that there are: all, mostly.
template <typename Each> __device__ static void each_of(int there, const Each &each)
{
    if (there >= RUN) {
#pragma unroll
        for (int j = 0; j < RUN; j++)
            each(j);
    } else {
#pragma unroll
        for (int j = 0; j < RUN - 1; j++)
            if (j < there)
                each(j);
    }
}

// All windows of a line. What put() gets has been read before it writes in its place.
template <typename Bid, int KERNEL, typename Put>
__device__ static void contest_line(const typename Bid::Key *line, int step, int pad, int in,
                                    int out, const Put &put)
{
    typename Bid::Key key[KERNEL - 1 + 2 * RUN];
    Bid best[RUN];

    fetch<Bid, 0, KERNEL - 1>(line, step, -pad, in, key);
#pragma unroll 1
    for (int o = 0; o < out; o += 2 * RUN) {
        fetch<Bid, KERNEL - 1, RUN>(line, step, o + KERNEL - 1 - pad, in, key);
        contest_run(pgi_taps<Bid, KERNEL - 1 + 2 * RUN>{key, 0}, KERNEL, best);
        put(o, best);
        if (o + RUN >= out)
            break;
        fetch<Bid, KERNEL - 1 + RUN, RUN>(line, step, o + RUN + KERNEL - 1 - pad, in, key);
        contest_run(pgi_taps<Bid, KERNEL - 1 + 2 * RUN>{key, RUN}, KERNEL, best);
        put(o + RUN, best);
#pragma unroll
        for (int i = 0; i < KERNEL - 1; i++)
            key[i] = key[i + 2 * RUN];
    }
}

// Keys of a vector, of neighbours in a plane (ALONG) or of different planes.
template <bool ALONG, typename T, int V>
__device__ static void make_keys(const pgi_vector<T, V> &values, int place, int rule,
                                 pgi_key<T> (&key)[V])
{
#pragma unroll
    for (int k = 0; k < V; k++) {
        if constexpr (sizeof(T) == 2)
            key[k] = pgi_bid<T>::plain(images_of<T>(((const unsigned *)&values)[k / 2]), k % 2,
                                       ALONG ? place + k : place);
        else
            key[k] = pgi_bid<T>::plain(values.e[k]);
    }
    if (rule != POOLGRAD_NAN_FIRST) {
#pragma unroll
        for (int k = 0; k < V; k++)
            key[k] = pgi_bid<T>::amended(key[k], ALONG ? place + k : place, rule);
    }
}

// Planes whose elements of a place are neighbours, all of them aligned.
template <typename T>
__device__ static void load_across(const pgi_cuda_plane &all, const T *x, pgi_key<T> *keys)
{
    constexpr int V = 16 / sizeof(T), PIECES = WARP / V;
    const int items = all.places * PIECES, threads = (int)blockDim.x;

#pragma unroll 1
    for (int first = (int)threadIdx.x; first < items; first += BATCH * threads) {
        pgi_piece<T> values[BATCH];

#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            const int item = min(first + b * threads, items - 1);

            load_vector<true>(x + item / PIECES * all.source.column + item % PIECES * V,
                              &values[b]);
        }
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            const int item = first + b * threads;
            alignas(16) pgi_key<T> key[V];

            make_keys<false>(values[b], item / PIECES, all.nan, key);
            if (item < items)
#pragma unroll
                for (int k = 0; k < V; k += 4)
                    *(int4 *)(keys + item * V + k) = *(const int4 *)(key + k);
        }
    }
}

// Planes whose own elements are neighbours: lanes load two pieces of 16 of them.
template <typename T>
__device__ static void load_along(const pgi_cuda_plane &all, const T *x, pgi_key<T> *keys)
{
    constexpr int V = 16 / sizeof(T), HALF = WARP / 2;
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    const int warps = (int)blockDim.x / WARP, half = warp % 2;
    const int member = half * HALF + lane % HALF;
    const pgi_member plane = member_of(all, member);
    const T *const from = x + plane.source;
    const bool aligned = is_aligned<T, V>(from);

    if (!plane.exists)
        return;
#pragma unroll 1
    for (int first = (warp / 2 * 2 + lane / HALF) * V; first < all.places;
         first += BATCH * warps * V) {
        pgi_piece<T> values[BATCH];

#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            const int at = first + b * warps * V;

            if (aligned && at + V <= all.places) {
                load_vector<true>(from + at, &values[b]);
            } else {
#pragma unroll
                for (int k = 0; k < V; k++)
                    values[b].e[k] = from[min(at + k, all.places - 1)];
            }
        }
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            const int at = first + b * warps * V;
            pgi_key<T> key[V];

            make_keys<true>(values[b], at, all.nan, key);
            if (at + V <= all.places) {
#pragma unroll
                for (int k = 0; k < V; k++)
                    keys[(at + k) * WARP + member] = key[k];
            } else {
#pragma unroll
                for (int k = 0; k < V; k++)
                    if (at + k < all.places)
                        keys[(at + k) * WARP + member] = key[k];
            }
        }
    }
}

// Planes that lie in any other way.
template <typename T>
__device__ static void load_any(const pgi_cuda_plane &all, const T *x, const pgi_member &plane,
                                pgi_key<T> *keys)
{
    const int lane = (int)threadIdx.x % WARP, warps = (int)blockDim.x / WARP;

    if (!plane.exists)
        return;
#pragma unroll 4
    for (int at = (int)threadIdx.x / WARP; at < all.places; at += warps) {
        const T value = x[plane.source + element_offset(all.source, at, all.in[2], all.by_in[0])];

        keys[at * WARP + lane] = bid_of(value, at, all.nan).key;
    }
}

template <typename T>
__device__ static void load_planes(const pgi_cuda_plane &all, const T *x, const pgi_member &plane,
                                   pgi_key<T> *keys)
{
    constexpr int V = 16 / sizeof(T);
    const bool dense = all.source.row == all.in[2] * all.source.column;
    const T *const first = x + member_of(all, 0).source;

    if (dense && all.source.interleaved && all.channels % WARP == 0 && is_aligned<T, V>(first) &&
        all.source.column % V == 0)
        load_across(all, first, keys);
    else if (dense && all.source.column == 1)
        load_along(all, x, keys);
    else
        load_any(all, x, plane, keys);
}

// Places of 16 planes, from where their windows' keys were, to memory where they are neighbours.
__device__ static void store_along(const pgi_cuda_plane &all, const int *found, uint16_t *places)
{
    constexpr int V = 8, HALF = WARP / 2;
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    const int warps = (int)blockDim.x / WARP;
    const int member = warp % 2 * HALF + lane % HALF;
    const pgi_member plane = member_of(all, member);
    uint16_t *const to = places + plane.target;
    const bool aligned = is_aligned<uint16_t, V>(to);

    if (!plane.exists)
        return;
#pragma unroll 1
    for (int at = (warp / 2 * 2 + lane / HALF) * V; at < all.windows; at += warps * V) {
        pgi_vector<uint16_t, V> made;

        if (aligned && at + V <= all.windows) {
#pragma unroll
            for (int k = 0; k < V; k++)
                made.e[k] = (uint16_t)found[(at + k) * WARP + member];
            store_vector<true>(to + at, made);
        } else {
            for (int k = at; k < min(at + V, all.windows); k++)
                to[k] = (uint16_t)found[k * WARP + member];
        }
    }
}

// Where the winners of windows o to o + RUN - 1 of a column are. All windows have a position
// inside.
template <typename T>
__device__ static void find_places(const pgi_cuda_plane &all, const unsigned *taps, int o,
                                   int column, const pgi_bid<T> (&best)[RUN], int (&place)[RUN])
{
    if constexpr (sizeof(T) == 4) {
        const int words = (all.out[2] + RUN - 1) / RUN, shift = column % RUN * 4;
        const unsigned *const tap = taps + ((o - all.pad[1]) * words + column / RUN) * WARP;
        const int begin = (o - all.pad[1]) * all.in[2] + column - all.pad[2];

        each_of(all.out[1] - o, [&](int j) {
            const int row = best[j].place;

            place[j] = begin + row * all.in[2] + (int)(tap[row * words * WARP] >> shift & 15);
        });
    } else if (all.nan == POOLGRAD_NAN_LAST) {
#pragma unroll
        for (int j = 0; j < RUN; j++)
            place[j] = best[j].winner(POOLGRAD_NAN_LAST);
    } else {
#pragma unroll
        for (int j = 0; j < RUN; j++)
            place[j] = best[j].winner(POOLGRAD_NAN_FIRST);
    }
}

template <typename T, typename Index, int KERNEL>
__device__ static void plane_lanes(const pgi_cuda_plane &all, const pgi_cuda_memory &memory)
{
    typedef pgi_bid<T> Bid;
    typedef pgi_key<T> Key;
    constexpr bool WIDE = sizeof(Bid) > sizeof(Key);
    constexpr bool FOUND = sizeof(Index) == sizeof(uint16_t);
    extern __shared__ __align__(16) char shared[];
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    const int warps = (int)blockDim.x / WARP;
    const int rows = all.in[1], columns = all.in[2];
    Key *const keys = (Key *)shared + lane;
    unsigned *const taps = (unsigned *)shared + (WIDE ? all.places * WARP : 0) + lane;
    const pgi_member plane = member_of(all, lane);
    const bool along = FOUND && !all.target.interleaved;

    load_planes(all, (const T *)memory.source, plane, (Key *)shared);
    __syncthreads();
#pragma unroll 1
    for (int row = warp; row < rows; row += warps) {
        Key *const line = keys + row * columns * WARP;
        const int out = all.out[2], words = (out + RUN - 1) / RUN;

        contest_line<Bid, KERNEL>(
            line, WARP, all.pad[2], columns, out, [&](int o, const Bid(&best)[RUN]) {
                each_of(out - o, [&](int j) { line[(o + j) * WARP] = best[j].key; });
                if constexpr (WIDE) {
                    unsigned word = 0;

#pragma unroll
                    for (int j = 0; j < RUN; j++)
                        word += (unsigned)(best[j].place - j) << 4 * j;
                    taps[(row * words + o / RUN) * WARP] = word;
                }
            });
    }
    __syncthreads();
#pragma unroll 1
    for (int column = warp; column < all.out[2]; column += warps) {
        Key *const line = keys + column * WARP;
        const int out = all.out[1];

        contest_line<Bid, KERNEL>(
            line, columns * WARP, all.pad[1], rows, out, [&](int o, const Bid(&best)[RUN]) {
                int place[RUN] = {};

                if (plane.exists)
                    find_places<T>(all, taps, o, column, best, place);
                if (all.nan == POOLGRAD_NAN_LEADING && plane.exists)
                    each_of(out - o, [&](int j) {
                        place[j] = leading_or(&all, (const T *)memory.source + plane.source,
                                              (o + j) * all.out[2] + column, place[j]);
                    });
                if (along) {
                    Key *const to = line + o * columns * WARP;

                    each_of(out - o, [&](int j) { to[j * columns * WARP] = (Key)place[j]; });
                } else if (plane.exists) {
                    const int64_t to = plane.target + offset_of(all.target, o, column);

                    each_of(out - o, [&](int j) {
                        award<T, Index>(all, memory, plane, to + j * all.target.row, best[j],
                                        place[j]);
                    });
                }
            });
    }
    if (!along)
        return;
    __syncthreads();
    store_along(all, (const int *)shared, (uint16_t *)memory.indices_out);
}

#define MAXIMUM(kernel, width, index, suffix, type)                                                \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                       \
        pgi_plane_lanes_##kernel##_##width##_##suffix(const __grid_constant__ pgi_cuda_plane all,  \
                                                      const pgi_cuda_memory memory)                \
    {                                                                                              \
        admit_next_step();                                                                         \
        plane_lanes<type, index, kernel>(all, memory);                                             \
    }

#define MAXIMUM_INDEX(kernel, suffix, type)                                                        \
    MAXIMUM(kernel, 64, int64_t, suffix, type)                                                     \
    MAXIMUM(kernel, 32, uint32_t, suffix, type)                                                    \
    MAXIMUM(kernel, 16, uint16_t, suffix, type)

#define MAXIMUM_TYPE(kernel)                                                                       \
    MAXIMUM_INDEX(kernel, f32, float)                                                              \
    MAXIMUM_INDEX(kernel, f16, pgi_f16)                                                            \
    MAXIMUM_INDEX(kernel, bf16, pgi_bf16)

MAXIMUM_TYPE(9)
MAXIMUM_TYPE(11)
MAXIMUM_TYPE(13)
