// SPDX-License-Identifier: MIT
// The gradient of max pooling over 3x3x3 with stride 2, channels first. A block has the sums of a
// tile of positions in shared memory and goes along D; every window is looked at once, and its term
// added where its winner is. Windows that share a winner must be added in their order: that on D is
// the order of slices; on H and W the winner is the last tap of the earlier window and the first of
// the later one, so that windows are added in four phases, by whether their winner is their first
// tap on H, and on W. In one phase no two have the same winner.
#include "cuda/kernels/cell_gradient.cuh"
#include "cuda/kernels/scatter.h"
#include "cuda/kernels/step.cuh"

template <typename Element, typename Named> struct pgi_scatter_kind {
    typedef Element T;
    typedef Named Name;
    static constexpr int V = PGI_SCATTER_WIDTH, PASSES = PGI_SCATTER_PASSES;

    // What is loaded ahead is moved if it has to go where others still are, which waits until it
    // has come; but two buffers in turn take registers. Where they were measured to gain.
    static constexpr int BUFFERS = sizeof(T) == 2 ? 2 : 1;
};

// A block's tile: its plane, its first position and window, and its cells of D.
struct pgi_scatter_tile {
    pgi_cell_plane plane;
    int row, column, oh, ow, begin, end;
};

// The windows of a thread: those below (oh, ow), `rows` apart.
struct pgi_scatter_share {
    pgi_cell_plane plane;
    int oh, ow, count; // how many there are
    int row, column;   // of tap 0: as the place of its row's first column, and as that column
    unsigned at;       // where in a slice of sums, in bytes
    int64_t base;      // index of place 0
};

// Where the windows of the next slice are.
template <typename Kind> struct pgi_scatter_spot {
    const typename Kind::Name *names;
    const typename Kind::T *dy;
};

// The windows of a slice as they lie in memory.
template <typename Kind> struct pgi_scatter_loaded {
    typename Kind::Name name[Kind::PASSES];
    pgi_word<typename Kind::T> term[Kind::PASSES];
};

// The slices that a window's taps are in, without those skipped at first: in the padding, or not
// the block's. Where they begin, as a place, and how many places they have; and where each one's
// sums are.
struct pgi_scatter_slices {
    unsigned skipped, first, count;
    unsigned sums[3];
};

// A vector of positions in every few rows, which a thread stores.
template <typename T> struct pgi_scatter_output {
    T *to;        // of the first, in slice 0
    unsigned at;  // in a slice of sums, in bytes
    int lines;    // from there to the last row; 0 if there is nothing
    int room;     // elements that there are
    bool aligned; // at once
};

// No place of a sum. Others are multiples of 4, to which the phase is added.
constexpr unsigned NOWHERE = 0x80000000u;

__device__ static pgi_scatter_tile tile_of(const pgi_cuda_scatter &all)
{
    const pgi_cuda_cell &cell = all.cell;
    unsigned rest = blockIdx.x;
    const auto next = [&](unsigned count) {
        const unsigned quotient = rest / count, remainder = rest - quotient * count;

        rest = quotient;
        return (int)remainder;
    };
    pgi_scatter_tile tile;

    tile.column = next((unsigned)all.tiles[1]) * all.tile[1];
    tile.row = next((unsigned)all.tiles[0]) * all.tile[0];
    tile.begin = next(cell.segments) * (int)cell.length;
    tile.end = min(tile.begin + (int)cell.length, cell.cells[0]);
    tile.oh = max(0, tile.row / 2 - 1 + cell.pad[1]);
    tile.ow = max(0, tile.column / 2 - 1 + cell.pad[2]);
    tile.plane = plane_of(cell, rest);
    return tile;
}

__device__ static pgi_scatter_share share_of(const pgi_cuda_scatter &all,
                                             const pgi_scatter_tile &tile)
{
    const pgi_cuda_cell &cell = all.cell;
    const int t = (int)threadIdx.x, down = t / all.columns;
    const int last = min(cell.out[1], tile.oh + all.tile[0] / 2 + 1);
    pgi_scatter_share share;

    share.plane = tile.plane;
    share.oh = tile.oh + down;
    share.ow = tile.ow + t - down * all.columns;
    share.count = share.ow < cell.out[2] && down < all.rows && share.oh < last
                      ? (last - share.oh + all.rows - 1) / all.rows
                      : 0;
    share.row = (2 * share.oh - cell.pad[1]) * cell.in[2];
    share.column = 2 * share.ow - cell.pad[2];
    share.at = (unsigned)(2 * share.oh - cell.pad[1] - tile.row) * all.row_bytes +
               (unsigned)(share.column - tile.column) * (unsigned)sizeof(float);
    share.base = share.plane.index(cell);
    return share;
}

template <typename Kind>
__device__ static pgi_scatter_output<typename Kind::T>
output_of(const pgi_cuda_scatter &all, const pgi_cuda_memory &memory, const pgi_scatter_tile &tile)
{
    typedef typename Kind::T T;
    constexpr int V = Kind::V;
    const pgi_cuda_cell &cell = all.cell;
    const int t = (int)threadIdx.x, down = t / all.vectors, v = t - down * all.vectors;
    const int h = tile.row + down, w = tile.column + v * V;
    pgi_scatter_output<T> output;

    output.to =
        (T *)memory.target + tile.plane.offset(cell.positions) + (h * cell.positions.place[1] + w);
    output.at = (unsigned)(t * V) * (unsigned)sizeof(float);
    output.room = cell.in[2] - w;
    output.aligned = cell.vectors && is_aligned<T, V>((const T *)memory.target);
    output.lines =
        down < all.lines && output.room > 0 ? min(all.tile[0], cell.in[1] - tile.row) - down : 0;
    return output;
}

// The next slice's windows.
template <typename Kind>
__device__ static void load_slice(const pgi_cuda_scatter &all, const pgi_scatter_share &share,
                                  pgi_scatter_spot<Kind> *spot, pgi_scatter_loaded<Kind> *loaded)
{
    const auto *name = spot->names;
    const auto *dy = spot->dy;

#pragma unroll
    for (int k = 0; k < Kind::PASSES; k++) {
        if (k < share.count) {
            loaded->name[k] = load_name(name);
            loaded->term[k] = load_word(dy);
        }
        name += all.rows * all.cell.names.place[1];
        dy += all.rows * all.cell.windows.place[1];
    }
    spot->names += all.cell.names.place[0];
    spot->dy += all.cell.windows.place[0];
}

// Where the winner of the k-th window is, with its phase; by its code.
__device__ static unsigned winner_at(const pgi_cuda_scatter &all, const pgi_scatter_tile &tile,
                                     const pgi_scatter_share &share,
                                     const pgi_scatter_slices &slices, int k, uint8_t code, bool *)
{
    const unsigned d = (code >> 4) - slices.skipped, h = code >> 2 & 3, w = code & 3;
    const unsigned at =
        share.at + (unsigned)k * all.down_bytes + h * all.row_bytes + w * (unsigned)sizeof(float);
    const unsigned column = (unsigned)(share.column - tile.column) + w;
    const unsigned slice = d == 0 ? slices.sums[0] : d == 1 ? slices.sums[1] : slices.sums[2];
    const bool inside =
        (k < share.count) & (at < all.tile_bytes) & (column < (unsigned)all.tile[1]) & (d < 3);
    const unsigned phase = (h == 0 ? 2 : 0) | (w == 0 ? 1 : 0);

    return (unsigned)kept((int)(inside ? slice + at + phase : NOWHERE));
}

// By its index. Rows and columns need not be clipped: what is left of a place within its slice, and
// its row, is one inside. Slices begin at a place, so that one before them is far beyond them.
template <typename Index>
__device__ static unsigned
winner_at(const pgi_cuda_scatter &all, const pgi_scatter_tile &tile, const pgi_scatter_share &share,
          const pgi_scatter_slices &slices, int k, Index name, bool *good)
{
    const pgi_cuda_cell &cell = all.cell;
    const unsigned area = (unsigned)cell.area, width = (unsigned)cell.in[2];
    const int64_t place = (int64_t)name - share.base;
    const unsigned beyond = (unsigned)place - slices.first;
    const unsigned in_slice = modulo<3>(beyond, area);
    const unsigned in_rows = in_slice - (unsigned)(share.row + k * all.down_places);
    const unsigned column = modulo<3>(in_rows, width), tap = column - (unsigned)share.column;
    const unsigned row_bytes = in_rows < width       ? 0
                               : in_rows < 2 * width ? all.row_bytes
                                                     : 2 * all.row_bytes;
    const unsigned at =
        share.at + (unsigned)k * all.down_bytes + row_bytes + tap * (unsigned)sizeof(float);
    const unsigned slice = beyond < area       ? slices.sums[0]
                           : beyond < 2 * area ? slices.sums[1]
                                               : slices.sums[2];
    const bool there = k < share.count;
    const bool valid =
        there & ((place >> 32) == 0) & (beyond < slices.count) & (in_rows < 3 * width) & (tap < 3);
    const bool inside =
        valid & (at < all.tile_bytes) & (column - (unsigned)tile.column < (unsigned)all.tile[1]);
    const unsigned phase = (in_rows < width ? 2 : 0) | (tap == 0 ? 1 : 0);

    *good &= valid | !there;
    return (unsigned)kept((int)(inside ? slice + at + phase : NOWHERE));
}

// Adds the terms to their winners' sums.
template <int N>
__device__ static void add(char *sums, const unsigned (&at)[N], const float (&term)[N])
{
#pragma unroll
    for (unsigned phase = 0; phase < 4; phase++) {
        float sum[N];

#pragma unroll
        for (int k = 0; k < N; k++)
            if ((at[k] & (NOWHERE | 3)) == phase)
                sum[k] = *(float *)(sums + at[k] - phase);
#pragma unroll
        for (int k = 0; k < N; k++)
            if ((at[k] & (NOWHERE | 3)) == phase)
                *(float *)(sums + at[k] - phase) = sum[k] + term[k];
        __syncthreads();
    }
}

// Stores the sums of slices d and d + 1, and clears them.
template <bool PLAIN, typename Kind>
__device__ static void store_slices(const pgi_cuda_scatter &all,
                                    const pgi_scatter_output<typename Kind::T> &output, int d,
                                    char *sums, const unsigned (&slices)[3])
{
    typedef pgi_vector<float, Kind::V> Sums;
    const pgi_cuda_cell &cell = all.cell;
    const int step = cell.positions.place[0];
    auto *to = output.to + d * step;
    unsigned at = output.at;

#pragma unroll 2
    for (int line = 0; line < output.lines; line += all.lines) {
#pragma unroll
        for (int s = 0; s < 2; s++) {
            Sums *const from = (Sums *)(sums + (slices[s] + at));
            const Sums made = *from;

            *from = {};
            if (within(d + s, cell.in[0]))
                store_sums<PLAIN>(cell, to + s * step, made.e, output.aligned, output.room);
        }
        to += all.lines * cell.positions.place[1];
        at += (unsigned)all.lines * all.row_bytes;
    }
}

// Finds the bad indices of a thread's windows.
template <typename Kind>
__device__ static __noinline__ void find_bad(const pgi_cuda_scatter &all,
                                             const pgi_cuda_memory &memory, int begin, int end,
                                             const pgi_scatter_share &share)
{
    typedef typename Kind::Name Name;
    const pgi_cuda_cell &cell = all.cell;

    for (int od = begin; od < min(end, cell.out[0]); od++)
        for (int k = 0; k < share.count; k++) {
            const int oh = share.oh + k * all.rows;
            const pgi_cell_suspects<Name> one = {
                (const Name *)memory.indices + share.plane.offset(cell.names) +
                    (place_offset(cell.names, od, oh) + share.ow * cell.names.place[2]),
                0,
                od,
                oh,
                share.ow,
                1,
                1};

            examine<Name, 3, 3>(&cell, &one, &share.plane, memory.bad);
        }
}

template <typename Kind>
__device__ static void scatter(const pgi_cuda_scatter &all, const pgi_cuda_memory &memory)
{
    typedef typename Kind::T T;
    typedef typename Kind::Name Name;
    constexpr int PASSES = Kind::PASSES;
    extern __shared__ __align__(16) char sums[];
    const pgi_cuda_cell &cell = all.cell;
    const pgi_scatter_tile tile = tile_of(all);
    const pgi_scatter_share share = share_of(all, tile);
    const pgi_scatter_output<T> output = output_of<Kind>(all, memory, tile);
    const bool plain = cell.plain && output.aligned;
    const int last = min(tile.end, cell.out[0]) - 1;
    const int first = max(0, tile.begin - 1);
    unsigned slices[3] = {0, all.tile_bytes, 2 * all.tile_bytes};
    pgi_scatter_spot<Kind> spot;
    pgi_scatter_loaded<Kind> loaded[Kind::BUFFERS];
    bool good = true;
    const auto pass = [&](int od, const pgi_scatter_loaded<Kind> &now,
                          pgi_scatter_loaded<Kind> *next) {
        const int d = 2 * od - cell.pad[0];
        const unsigned cleared = slices[0];

        if (od <= last) {
            const bool before = od < tile.begin;
            const int skipped = before ? 2 : d < 0 ? 1 : 0, begin = d + skipped;
            const pgi_scatter_slices reach = {
                (unsigned)skipped,
                (unsigned)(begin * cell.area),
                (unsigned)(min(cell.in[0] - begin, 3 - skipped) * cell.area),
                {skipped == 0   ? slices[0]
                 : skipped == 1 ? slices[1]
                                : slices[2],
                 skipped == 0 ? slices[1] : slices[2], slices[2]}};
            unsigned at[PASSES];
            float term[PASSES];
            bool all_good = true;

#pragma unroll
            for (int k = 0; k < PASSES; k++) {
                at[k] = winner_at(all, tile, share, reach, k, now.name[k], &all_good);
                term[k] = widen(element_of<T>(now.term[k]));
            }
            good &= all_good | before;
            if (od < last)
                load_slice(all, share, &spot, next);
            add(sums, at, term);
        }
        if (od >= tile.begin) {
            if (plain)
                store_slices<true, Kind>(all, output, d, sums, slices);
            else
                store_slices<false, Kind>(all, output, d, sums, slices);
        }
        __syncthreads();
        slices[0] = slices[2];
        slices[2] = slices[1];
        slices[1] = cleared;
    };

    for (unsigned i = threadIdx.x; i < 3 * all.tile_bytes / sizeof(float); i += blockDim.x)
        ((float *)sums)[i] = 0;
    await_last_step();
    spot.names = (const Name *)memory.indices + share.plane.offset(cell.names) +
                 (place_offset(cell.names, first, share.oh) + share.ow * cell.names.place[2]);
    spot.dy = (const T *)memory.source + share.plane.offset(cell.windows) +
              (place_offset(cell.windows, first, share.oh) + share.ow * cell.windows.place[2]);
    if (first <= last)
        load_slice(all, share, &spot, &loaded[0]);
    __syncthreads();
#pragma unroll 1
    for (int od = first; od < tile.end; od += Kind::BUFFERS)
#pragma unroll
        for (int k = 0; k < Kind::BUFFERS; k++)
            if (od + k < tile.end)
                pass(od + k, loaded[k], &loaded[(k + 1) % Kind::BUFFERS]);
    if (cell.checks && !good)
        find_bad<Kind>(all, memory, tile.begin, tile.end, share);
}

#define SCATTER(width, name, suffix, type)                                                         \
    extern "C" __global__ void __launch_bounds__(256, 4) pgi_scatter_##width##_##suffix(           \
        const __grid_constant__ pgi_cuda_scatter all, const pgi_cuda_memory memory)                \
    {                                                                                              \
        scatter<pgi_scatter_kind<type, name>>(all, memory);                                        \
    }

#define SCATTER_TYPE(suffix, type)                                                                 \
    SCATTER(64, int64_t, suffix, type)                                                             \
    SCATTER(32, uint32_t, suffix, type)                                                            \
    SCATTER(8, uint8_t, suffix, type)

SCATTER_TYPE(f32, float)
SCATTER_TYPE(f16, pgi_f16)
SCATTER_TYPE(bf16, pgi_bf16)
