// SPDX-License-Identifier: MIT
// Max pooling with large windows and stride 1, forward: a lane has a plane. Keys of 32 planes lie
// in shared memory as the elements do in memory: those of a place side by side (STEP WARP), or
// those of a plane (STEP 1), an odd number of them from one plane to the next. Either way lanes
// that do the same meet in no bank, whatever a window's position is. A warp goes along a row, with
// the taps of two runs of windows in registers, and leaves winners where it had read before; then,
// down a column of these, the winners of all.
#include "cuda/kernels/award.cuh"
#include "cuda/kernels/step.cuh"
#include "cuda/kernels/vector.cuh"

#define WARP    32
#define RUN     PGI_PLANE_LANES_RUN
#define THREADS (PGI_PLANE_LANES_WARPS * WARP)

// Places that a thread loads vectors of before it makes keys of the first; or words, where
// neighbours are of one plane.
#define BATCH 4
#define WORDS 13

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

// From plane to plane, where a plane's elements are neighbours.
__device__ static int along_pitch(const pgi_cuda_plane &all)
{
    return all.places | 1;
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

// Keys of the elements that a word has. Of two the second is stored first by half of the lanes, so
// that they meet in no bank.
template <bool FIRST, typename T>
__device__ static void put_keys(const pgi_vector<T, 4 / sizeof(T)> &values, int place, int rule,
                                pgi_key<T> *to)
{
    constexpr int V = 4 / sizeof(T);
    pgi_key<T> key[V];

    make_keys<true>(values, place, FIRST ? (int)POOLGRAD_NAN_FIRST : rule, key);
    if constexpr (V == 1) {
        to[0] = key[0];
    } else {
        const int odd = (int)threadIdx.x / (WARP / 2) % 2;

        to[odd] = odd ? key[1] : key[0];
        to[1 - odd] = odd ? key[0] : key[1];
    }
}

// Planes whose own elements are neighbours: a warp loads words of one, WORDS a lane at a time.
// FIRST: by that rule.
template <bool FIRST, typename T>
__device__ static void load_along(const pgi_cuda_plane &all, const T *x, pgi_key<T> *keys)
{
    constexpr int V = 4 / sizeof(T), CHUNK = WORDS * WARP * V;
    const int lane = (int)threadIdx.x % WARP, warps = (int)blockDim.x / WARP;
    const int chunks = (all.places + CHUNK - 1) / CHUNK;

#pragma unroll 1
    for (int item = (int)threadIdx.x / WARP; item < WARP * chunks; item += warps) {
        const int member = item / chunks, begin = (item - member * chunks) * CHUNK + lane * V;
        const pgi_member plane = member_of(all, member);
        const T *const from = x + plane.source + begin;
        pgi_key<T> *const to = keys + member * along_pitch(all) + begin;
        const bool aligned = all.places % V == 0 && is_aligned<T, V>(from);
        const int words = aligned ? (all.places - begin + (WARP - 1) * V) / (WARP * V) : 0;
        pgi_vector<T, V> values[WORDS];

        if (!plane.exists)
            return;
#pragma unroll
        for (int b = 0; b < WORDS; b++)
            load_vector_if(b < words, from + b * WARP * V, &values[b], true);
#pragma unroll
        for (int b = 0; b < WORDS; b++)
            if (b < words)
                put_keys<FIRST, T>(values[b], begin + b * WARP * V, all.nan, to + b * WARP * V);
        for (int at = 0; !aligned && at < CHUNK; at += WARP * V)
            for (int k = at; k < at + V && begin + k < all.places; k++)
                to[k] = bid_of(from[k], begin + k, all.nan).key;
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

template <int STEP, typename T>
__device__ static void load_planes(const pgi_cuda_plane &all, const T *x, const pgi_member &plane,
                                   pgi_key<T> *keys)
{
    constexpr int V = 16 / sizeof(T);
    const T *const first = x + member_of(all, 0).source;

    if (STEP == 1) {
        if (all.nan == POOLGRAD_NAN_FIRST)
            load_along<true>(all, x, keys);
        else
            load_along<false>(all, x, keys);
    } else if (all.source.row == all.in[2] * all.source.column && all.channels % WARP == 0 &&
               is_aligned<T, V>(first) && all.source.column % V == 0) {
        load_across(all, first, keys);
    } else {
        load_any(all, x, plane, keys);
    }
}

// Places of planes, from where their windows' keys were, to memory where those of a plane are
// neighbours; two at once, by a warp.
template <int STEP>
__device__ static void store_along(const pgi_cuda_plane &all, const int *found, uint16_t *places)
{
    constexpr int CHUNK = 2 * BATCH * WARP;
    const int lane = (int)threadIdx.x % WARP, warps = (int)blockDim.x / WARP;
    const int chunks = (all.windows + CHUNK - 1) / CHUNK;

#pragma unroll 1
    for (int item = (int)threadIdx.x / WARP; item < WARP * chunks; item += warps) {
        const int member = item / chunks, begin = (item - member * chunks) * CHUNK + 2 * lane;
        const pgi_member plane = member_of(all, member);
        const int *const own = found + member * (STEP == 1 ? along_pitch(all) : 1) + begin * STEP;
        uint16_t *const to = places + plane.target + begin;
        const bool aligned = is_aligned<uint16_t, 2>(to);

        if (!plane.exists)
            return;
#pragma unroll
        for (int at = 0; at < CHUNK; at += 2 * WARP) {
            const int there = all.windows - begin - at;

            if (aligned && there >= 2) {
                *(unsigned *)(to + at) =
                    __byte_perm((unsigned)own[at * STEP], (unsigned)own[(at + 1) * STEP], 0x5410);
            } else {
                if (there >= 1)
                    to[at] = (uint16_t)own[at * STEP];
                if (there >= 2)
                    to[at + 1] = (uint16_t)own[(at + 1) * STEP];
            }
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

template <typename T, typename Index, int KERNEL, int STEP>
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
    Key *const keys = (Key *)shared + lane * (STEP == 1 ? along_pitch(all) : 1);
    unsigned *const taps = (unsigned *)shared + (WIDE ? along_pitch(all) * WARP : 0) + lane;
    const pgi_member plane = member_of(all, lane);
    const bool along = FOUND && !all.target.interleaved;

    load_planes<STEP>(all, (const T *)memory.source, plane, (Key *)shared);
    __syncthreads();
#pragma unroll 1
    for (int row = warp; row < rows; row += warps) {
        Key *const line = keys + row * columns * STEP;
        const int out = all.out[2], words = (out + RUN - 1) / RUN;

        contest_line<Bid, KERNEL>(
            line, STEP, all.pad[2], columns, out, [&](int o, const Bid(&best)[RUN]) {
                each_of(out - o, [&](int j) { line[(o + j) * STEP] = best[j].key; });
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
        Key *const line = keys + column * STEP;
        const int out = all.out[1];

        contest_line<Bid, KERNEL>(
            line, columns * STEP, all.pad[1], rows, out, [&](int o, const Bid(&best)[RUN]) {
                int place[RUN] = {};

                if (plane.exists)
                    find_places<T>(all, taps, o, column, best, place);
                if (all.nan == POOLGRAD_NAN_LEADING && plane.exists)
                    each_of(out - o, [&](int j) {
                        place[j] = leading_or(&all, (const T *)memory.source + plane.source,
                                              (o + j) * all.out[2] + column, place[j]);
                    });
                if (along) {
                    Key *const to = line + o * columns * STEP;

                    each_of(out - o, [&](int j) { to[j * columns * STEP] = (Key)place[j]; });
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
    store_along<STEP>(all, (const int *)shared, (uint16_t *)memory.indices_out);
}

#define MAXIMUM(kernel, width, index, suffix, type)                                                \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                       \
        pgi_plane_lanes_##kernel##_##width##_##suffix(const __grid_constant__ pgi_cuda_plane all,  \
                                                      const pgi_cuda_memory memory)                \
    {                                                                                              \
        admit_next_step();                                                                         \
        if (all.source.interleaved)                                                                \
            plane_lanes<type, index, kernel, WARP>(all, memory);                                   \
        else                                                                                       \
            plane_lanes<type, index, kernel, 1>(all, memory);                                      \
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
