// SPDX-License-Identifier: MIT
// The gradient of max pooling over 3x3x3 with stride 2, from codes of winners, channels last. A
// thread has a plot of positions on H and W, of two channels, and goes along D. It adds what its
// positions get in shared memory that is its own, window by window in their order, so that no
// thread waits for another. Windows that reach several plots are looked at by as many threads.
#include "cuda/kernels/cell_gradient.cuh"
#include "cuda/kernels/plots.h"
#include "cuda/kernels/step.cuh"
#include "cuda/kernels/two.cuh"

#define WARP 32
#define V    PGI_PLOTS_CHANNELS

// Positions of a plot on an axis, and windows that reach it.
#define SIDE  PGI_PLOTS_SIDE
#define REACH 3

// Floats from the sums of a place to those of the next, and of a slice.
#define PLACE (V * WARP)
#define SLICE (SIDE * SIDE * PLACE)

// H and W are the padding of these axes.
template <typename Element, int H, int W> struct pgi_plot_kind {
    typedef Element T;
    typedef typename pgi_word_of<V * sizeof(T)>::word Word;

    // The position of the plot that tap 0 of a window is.
    static __host__ __device__ constexpr int first_row(int window)
    {
        return 2 * (window - 1) + H;
    }
    static __host__ __device__ constexpr int first_column(int window)
    {
        return 2 * (window - 1) + W;
    }
};

// Where the next layer of windows is, row by row, and the next cell.
template <typename Kind> struct pgi_plot_spot {
    const uint8_t *codes[REACH];
    const typename Kind::T *dy[REACH];
    typename Kind::T *dx;
};

// What stays on the way: how far a window's column is, and whether row and column are there.
struct pgi_plot_line {
    int code_column[REACH], dy_column[REACH];
    unsigned no_row[REACH], no_column[REACH]; // 0, or codes that no tap has
    int rows, columns;                        // of the plot that are there
    bool store;                               // in vectors
};

// A layer of windows as it lies in memory.
template <typename Kind> struct pgi_plot_layer {
    unsigned codes[REACH][REACH];
    typename Kind::Word terms[REACH][REACH];
};

// A thread's sums. Those of its channels lie side by side, in lanes from 16 on in reverse, so that
// of one channel no two lanes' are in the same bank.
struct pgi_plot_sums {
    float *first, *of[V];
    bool reverse;

    __device__ pgi_plot_sums(float *shared)
    {
        const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;

        first = shared + warp * (PGI_PLOTS_SLICES * SLICE) + lane * V;
        reverse = lane >= WARP / V;
        of[0] = first + (reverse ? 1 : 0);
        of[1] = first + (reverse ? 0 : 1);
    }

    // Those of a place as they lie, which are left 0.
    __device__ float2 take(int at) const
    {
        float2 *const both = (float2 *)(first + at);
        const float2 taken = *both;

        *both = {0, 0};
        return taken;
    }
};

// Two terms of a window. PLAIN: at once.
template <bool PLAIN, typename Word, typename T> __device__ static Word load_terms(const T *from)
{
    if constexpr (PLAIN)
        return __ldg((const Word *)from);
    else
        return (Word)load_word(from + 1) << (8 * sizeof(T)) | load_word(from);
}

template <bool PLAIN, typename Kind>
__device__ static void load_layer(const pgi_plot_line &line, const pgi_plot_spot<Kind> &spot,
                                  pgi_plot_layer<Kind> *to)
{
#pragma unroll
    for (int i = 0; i < REACH; i++)
#pragma unroll
        for (int j = 0; j < REACH; j++) {
            to->codes[i][j] = __ldg((const uint16_t *)(spot.codes[i] + line.code_column[j]));
            to->terms[i][j] =
                load_terms<PLAIN, typename Kind::Word>(spot.dy[i] + line.dy_column[j]);
        }
}

template <typename T> __device__ static float term_of(unsigned two, int k)
{
    return k ? upper_of(two, T{}) : lower_of(two, T{});
}

template <typename T> __device__ static float term_of(unsigned long long two, int k)
{
    return __uint_as_float((unsigned)(k ? two >> 32 : two));
}

// Which taps of window (i, j) lie in the plot: as bits, for a tap's code on H and W, in both
// halves.
template <typename Kind> __host__ __device__ constexpr unsigned taps_within(int i, int j)
{
    unsigned taps = 0;

    for (int h = 0; h < 3; h++)
        for (int w = 0; w < 3; w++) {
            const int row = Kind::first_row(i) + h, column = Kind::first_column(j) + w;

            if (row >= 0 && row < SIDE && column >= 0 && column < SIDE)
                taps |= 0x10001u << tap_code(0, h, w);
        }
    return taps;
}

// Adds a layer to the sums of the slices that it reaches: the first of its cell, the second, and
// the first of the next cell. Their rooms are the taps' codes on D but for `turned`, 0 and 2 in
// turn, since the last becomes the first. BEFORE: only the last is of the thread's.
template <bool BEFORE, typename Kind>
__device__ static void add_layer(const pgi_plot_line &line, const pgi_plot_layer<Kind> &layer,
                                 unsigned turned, const pgi_plot_sums &sums)
{
#pragma unroll
    for (int i = 0; i < REACH; i++)
#pragma unroll
        for (int j = 0; j < REACH; j++) {
            const unsigned codes = layer.codes[i][j] | line.no_row[i] | line.no_column[j];
            const unsigned taps = taps_within<Kind>(i, j);
            const int first = Kind::first_row(i) * SIDE + Kind::first_column(j);
            float *at[V], sum[V];
            bool here[V];

#pragma unroll
            for (int k = 0; k < V; k++) {
                const unsigned code = codes >> (8 * k) & 0xff;

                here[k] = __funnelshift_r(taps, taps, code) & 1;
                if (BEFORE)
                    here[k] &= code >> 4 == 2;
                at[k] = sums.of[k] + (code ^ turned * (SIDE * SIDE)) * PLACE + first * PLACE;
                if (here[k])
                    sum[k] = *at[k];
            }
#pragma unroll
            for (int k = 0; k < V; k++)
                if (here[k])
                    *at[k] = sum[k] + term_of<typename Kind::T>(layer.terms[i][j], k);
        }
}

// Both channels of a position. PLAIN: at once, as they are.
template <bool PLAIN, typename T>
__device__ static void store_two(const pgi_cuda_cell &cell, T *to, float2 taken, bool reverse,
                                 bool vectors)
{
    if constexpr (PLAIN && sizeof(T) == 2) {
        const unsigned two = narrow_two(taken.x, taken.y, T{});

        __stcs((unsigned *)to, __byte_perm(two, 0, reverse ? 0x1032 : 0x3210));
    } else {
        const float both[V] = {reverse ? taken.y : taken.x, reverse ? taken.x : taken.y};

        store_sums<PLAIN>(cell, to, both, vectors, V);
    }
}

// Stores a slice, whose sums begin `at`. PLAIN: all of it.
template <bool PLAIN, typename T>
__device__ static void store_slice(const pgi_cuda_cell &cell, const pgi_plot_line &line, T *to,
                                   const pgi_plot_sums &sums, int at)
{
#pragma unroll 1
    for (int row = 0; row < SIDE; row++) {
        float2 taken[SIDE];

#pragma unroll
        for (int i = 0; i < SIDE; i++)
            taken[i] = sums.take(at + i * PLACE);
#pragma unroll
        for (int i = 0; i < SIDE; i++)
            if (PLAIN || (row < line.rows && i < line.columns))
                store_two<PLAIN>(cell, to + i * cell.positions.place[2], taken[i], sums.reverse,
                                 line.store);
        to += cell.positions.place[1];
        at += SIDE * PLACE;
    }
}

// Goes through cells [begin, end) of D.
template <bool PLAIN, typename Kind>
__device__ static void go_along(const pgi_cuda_cell &cell, const pgi_plot_line &line,
                                pgi_plot_spot<Kind> spot, int begin, int end,
                                const pgi_plot_sums &sums)
{
    const int last = cell.out[0] - 1;
    pgi_plot_layer<Kind> layer, next;
    unsigned turned = 0;
    const auto advance = [&](bool there) {
#pragma unroll
        for (int i = 0; i < REACH; i++) {
            spot.codes[i] += there ? cell.names.place[0] : 0;
            spot.dy[i] += there ? cell.windows.place[0] : 0;
        }
    };

    load_layer<PLAIN>(line, spot, &layer);
    if (begin > 0) {
        add_layer<true>(line, layer, 2, sums);
        advance(begin <= last);
        load_layer<PLAIN>(line, spot, &layer);
    }
#pragma unroll 1
    for (int jd = begin; jd < end; jd++) {
        const int d = 2 * jd - cell.pad[0];

        advance(jd < last);
        load_layer<PLAIN>(line, spot, &next);
        if (jd <= last)
            add_layer<false>(line, layer, turned, sums);
        if (d >= 0)
            store_slice<PLAIN>(cell, line, spot.dx, sums, (int)turned * SLICE);
        if (d + 1 < cell.in[0])
            store_slice<PLAIN>(cell, line, spot.dx + cell.positions.place[0], sums,
                               ((int)turned + 1) * SLICE);
        spot.dx += 2 * cell.positions.place[0];
        turned ^= 2;
        layer = next;
    }
}

template <typename T, int H, int W>
__device__ static void plots(const pgi_cuda_plots &all, const pgi_cuda_memory &memory)
{
    typedef pgi_plot_kind<T, H, W> Kind;
    extern __shared__ __align__(16) float shared[];
    const pgi_cuda_cell &cell = all.cell;
    const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    const pgi_plot_sums sums(shared);
    unsigned rest = v;
    const auto next = [&](unsigned count) {
        const unsigned quotient = rest / count, remainder = rest - quotient * count;

        rest = quotient;
        return (int)remainder;
    };
    const int channel = next(cell.groups) * V;
    const int w = next(all.plots[1]) * SIDE, h = next(all.plots[0]) * SIDE;
    const int begin = next(cell.segments) * (int)cell.length;
    const int end = min(begin + (int)cell.length, cell.cells[0]);
    const pgi_cell_plane plane = {(int)rest, channel};
    const int od = clamped(begin - 1, cell.out[0]);
    const int oh = h / 2 - 1 + H, ow = w / 2 - 1 + W; // the first window that reaches the plot
    pgi_plot_line line;
    pgi_plot_spot<Kind> spot;

    if (v >= all.threads)
        return;
#pragma unroll
    for (int i = 0; i < REACH; i++) {
        const int row = clamped(oh + i, cell.out[1]), column = clamped(ow + i, cell.out[2]);

        line.no_row[i] = within(oh + i, cell.out[1]) ? 0 : ~0u;
        line.no_column[i] = within(ow + i, cell.out[2]) ? 0 : ~0u;
        line.code_column[i] = column * cell.names.place[2];
        line.dy_column[i] = column * cell.windows.place[2];
        spot.codes[i] = (const uint8_t *)memory.indices + plane.offset(cell.names) +
                        place_offset(cell.names, od, row);
        spot.dy[i] = (const T *)memory.source + plane.offset(cell.windows) +
                     place_offset(cell.windows, od, row);
    }
    spot.dx =
        (T *)memory.target + plane.offset(cell.positions) +
        (place_offset(cell.positions, 2 * begin - cell.pad[0], h) + w * cell.positions.place[2]);
    line.rows = min(SIDE, cell.in[1] - h);
    line.columns = min(SIDE, cell.in[2] - w);
    line.store = cell.vectors && is_aligned<T, V>((const T *)memory.target);
#pragma unroll 8
    for (int i = 0; i < PGI_PLOTS_SLICES * SLICE; i += PLACE)
        sums.take(i);
    await_last_step();
    if (cell.plain && line.store && is_aligned<T, V>((const T *)memory.source) &&
        line.rows == SIDE && line.columns == SIDE)
        go_along<true>(cell, line, spot, begin, end, sums);
    else
        go_along<false>(cell, line, spot, begin, end, sums);
}

// As many blocks as there is shared memory for.
#define PLOTS(h, w, suffix, type)                                                                  \
    extern "C" __global__ void __launch_bounds__(PGI_PLOTS_BLOCK, 3) pgi_plots_##h##w##_##suffix(  \
        const __grid_constant__ pgi_cuda_plots all, const pgi_cuda_memory memory)                  \
    {                                                                                              \
        plots<type, h, w>(all, memory);                                                            \
    }

#define PLOTS_TYPE(suffix, type)                                                                   \
    PLOTS(0, 0, suffix, type)                                                                      \
    PLOTS(0, 1, suffix, type)                                                                      \
    PLOTS(1, 0, suffix, type)                                                                      \
    PLOTS(1, 1, suffix, type)

PLOTS_TYPE(f32, float)
PLOTS_TYPE(f16, pgi_f16)
PLOTS_TYPE(bf16, pgi_bf16)
