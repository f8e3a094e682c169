// SPDX-License-Identifier: MIT
// The gradient of max pooling with stride 2 from codes of winners, of elements of two bytes: as
// cell_rows.cu and cell_lanes.cu make it, but two windows at a time, whose codes and terms are the
// halves of words. A position that at most two windows reach has its sum in these; others have
// theirs in f32.
#include "cuda/kernels/step.cuh"
#include "cuda/kernels/two_block.cuh"

// ----------------------------------------------------------- channels first

// A thread has V places of a row and those below them, and goes down. OWN windows are its, one more
// is a neighbour's. E is the padding.
template <typename Element, int K, int E, int R, int B> struct pgi_two_span {
    typedef Element T;
    static constexpr int V = PGI_CELL_ROW_WIDTH(2), OWN = V / 2, SIDE = K - 1, PADDING = E;
    static constexpr int BUFFERS = B;
    typedef pgi_two_block<T, K, R, OWN / 2, SIDE - 1 - E> Block;

    // A row of windows as it lies in memory. A thread has BUFFERS of those to come.
    struct Loaded {
        pgi_vector<T, OWN> term[Block::DEPTH];
        pgi_word<T> other_term[Block::DEPTH];
        unsigned codes[Block::DEPTH], other_code[Block::DEPTH];
    };

    // What stays on the way through a plane.
    struct Line {
        bool load, store;               // vectors
        bool slice_there[Block::DEPTH]; // of windows
        bool slice[2];                  // of the cell exists
        int room, windows;              // columns and windows from the thread's first on
        int other;                      // from that window to the neighbour's
        unsigned none;                  // 0, or PGI_TWO_NOWHERE if there is no such
    };

    // Where the thread is: the next row of windows, and the cell.
    struct Spot {
        const uint8_t *codes[Block::DEPTH];
        const T *dy[Block::DEPTH];
        T *dx;
    };
};

// The next row of windows. What does not exist is loaded from where something does.
template <bool PLAIN, typename Span>
__device__ static void load_row(const typename Span::Line &line, const typename Span::Spot &spot,
                                typename Span::Loaded *to)
{
    constexpr int OWN = Span::OWN;

#pragma unroll
    for (int a = 0; a < Span::Block::DEPTH; a++) {
        if (Span::SIDE == 2) {
            to->other_code[a] = load_name(spot.codes[a] + line.other);
            to->other_term[a] = load_word(spot.dy[a] + line.other);
        }
        if (PLAIN || line.load) {
            to->codes[a] = __ldg((const unsigned *)spot.codes[a]);
            load_vector<true>(spot.dy[a], &to->term[a]);
        } else {
            to->codes[a] = 0;
#pragma unroll
            for (int j = 0; j < OWN; j++) {
                const int step = min(j, line.windows - 1);
                const unsigned code = load_name(spot.codes[a] + step);

                to->codes[a] |= (j < line.windows ? code : PGI_TWO_NOWHERE) << (8 * j);
                to->term[a].e[j] = load_element(spot.dy[a] + step);
            }
        }
    }
}

// Pairs of windows, and pairs of each one's neighbour, before or behind.
template <typename Span>
__device__ static void pair_windows(unsigned (&to)[Span::SIDE][2], unsigned first, unsigned second,
                                    unsigned other)
{
    constexpr int OWN = Span::Block::SINGLE, BESIDE = Span::SIDE - 1 - OWN;

    if (Span::SIDE == 2) {
        to[BESIDE][0] = Span::PADDING ? middle_halves(first, second) : lower_halves(other, first);
        to[BESIDE][1] = Span::PADDING ? middle_halves(second, other) : middle_halves(first, second);
    }
    to[OWN][0] = first;
    to[OWN][1] = second;
}

// Makes a row ready to be asked.
template <typename Span>
__device__ static void take_row(const typename Span::Line &line,
                                const typename Span::Loaded &loaded, bool exists,
                                typename Span::Block *block)
{
    typedef typename Span::T T;

#pragma unroll
    for (int a = 0; a < Span::Block::DEPTH; a++) {
        const unsigned none = exists && line.slice_there[a] ? 0 : PGI_TWO_NOWHERE;
        const unsigned *const term = (const unsigned *)&loaded.term[a];
        const bool two = Span::SIDE == 2;

        pair_windows<Span>(block->code[a][Span::SIDE - 1], codes_of(loaded.codes[a], 0, none),
                           codes_of(loaded.codes[a], 1, none),
                           two ? codes_of(loaded.other_code[a], 0, none | line.none) : 0);
        pair_windows<Span>(block->term[a][Span::SIDE - 1], settled(term[0], T{}),
                           settled(term[1], T{}),
                           two ? settled((unsigned)loaded.other_term[a], T{}) : 0);
    }
}

// V places of one row, D and H of its cell.
template <bool PLAIN, int D, int H, typename Span>
__device__ static void answer_row(const pgi_cuda_cell &cell, const typename Span::Line &line,
                                  const typename Span::Block &block, typename Span::T *to,
                                  bool exists)
{
    typedef typename Span::T T;
    constexpr int WORDS = Span::Block::WORDS, E = Span::PADDING;

    if constexpr (PLAIN) {
        pgi_vector<T, Span::V> made;
        unsigned results[2][WORDS]; // of even columns, and odd ones

        results_of<D, H, 0>(block, results[E]);
        results_of<D, H, 1>(block, results[1 - E]);
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            ((unsigned *)&made)[2 * i] = lower_halves(results[0][i], results[1][i]);
            ((unsigned *)&made)[2 * i + 1] = upper_halves(results[0][i], results[1][i]);
        }
        if (exists)
            store_vector<true>(to, made);
    } else {
        float parts[2][WORDS][2], sums[Span::V];

        if (!exists)
            return;
        sums_of<D, H, 0>(block, parts[E]);
        sums_of<D, H, 1>(block, parts[1 - E]);
#pragma unroll
        for (int i = 0; i < Span::V; i++)
            sums[i] = parts[i % 2][i / 4][i / 2 % 2];
        store_sums<false>(cell, to, sums, line.store, line.room);
    }
}

template <bool PLAIN, typename Span>
__device__ static void answer_rows(const pgi_cuda_cell &cell, const typename Span::Line &line,
                                   const typename Span::Block &block, typename Span::T *to,
                                   bool above, bool below)
{
    const int step = cell.positions.place[1];
    const bool front = Span::Block::AXES == 2 || line.slice[0], back = line.slice[1];

    answer_row<PLAIN, 0, 0, Span>(cell, line, block, to, above && front);
    answer_row<PLAIN, 0, 1, Span>(cell, line, block, to + step, below && front);
    if (Span::Block::AXES == 3) {
        typename Span::T *const behind = to + cell.positions.place[0];

        answer_row<PLAIN, 1, 0, Span>(cell, line, block, behind, above && back);
        answer_row<PLAIN, 1, 1, Span>(cell, line, block, behind + step, below && back);
    }
}

// To row oh of windows; if it does not exist, the memory stays that of the last one.
template <typename Span>
__device__ static void next_row(const pgi_cuda_cell &cell, int oh, typename Span::Spot *spot)
{
    const bool moves = oh > 0 && oh < cell.out[1];

#pragma unroll
    for (int a = 0; a < Span::Block::DEPTH; a++) {
        spot->codes[a] += moves ? cell.names.place[1] : 0;
        spot->dy[a] += moves ? cell.windows.place[1] : 0;
    }
}

// Goes through rows [begin, end) of cells. Windows are loaded ahead also behind the last: under a
// condition the compiler would load them elsewhere and move them, which waits until they have come.
template <bool PLAIN, typename Span>
__device__ static void go_down(const pgi_cuda_cell &cell, const typename Span::Line &line,
                               typename Span::Spot spot, int begin, int end)
{
    constexpr int SIDE = Span::SIDE;
    typename Span::Loaded loaded[Span::BUFFERS];
    typename Span::Block block;
    const auto pass = [&](int jh, typename Span::Loaded *row) {
        const int h = 2 * jh - cell.pad[1];

#pragma unroll
        for (int a = 0; a < Span::Block::DEPTH; a++)
#pragma unroll
            for (int c = 0; c < SIDE; c++)
#pragma unroll
                for (int i = 0; i < Span::Block::WORDS; i++) {
                    block.code[a][0][c][i] = block.code[a][SIDE - 1][c][i];
                    block.term[a][0][c][i] = block.term[a][SIDE - 1][c][i];
                }
        take_row<Span>(line, *row, jh < cell.out[1], &block);
        next_row<Span>(cell, jh + Span::BUFFERS, &spot);
        load_row<PLAIN, Span>(line, spot, row);
        answer_rows<PLAIN, Span>(cell, line, block, kept(spot.dx), h >= 0, h + 1 < cell.in[1]);
        spot.dx += 2 * cell.positions.place[1];
    };

    load_row<PLAIN, Span>(line, spot, &loaded[0]);
    if (SIDE == 2) {
        take_row<Span>(line, loaded[0], begin > 0, &block);
        next_row<Span>(cell, begin, &spot);
        load_row<PLAIN, Span>(line, spot, &loaded[0]);
    }
#pragma unroll
    for (int k = 1; k < Span::BUFFERS; k++) {
        next_row<Span>(cell, begin + k, &spot);
        load_row<PLAIN, Span>(line, spot, &loaded[k]);
    }
#pragma unroll 1
    for (int jh = begin; jh < end; jh += Span::BUFFERS)
#pragma unroll
        for (int k = 0; k < Span::BUFFERS; k++)
            if (jh + k < end)
                pass(jh + k, &loaded[k]);
}

template <typename Span>
__device__ static void gradient_rows(const pgi_cuda_cell &cell, const pgi_cuda_memory &memory)
{
    typedef typename Span::T T;
    constexpr int DEPTH = Span::Block::DEPTH, R = Span::Block::AXES;
    const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned rest = v / cell.groups, slice = rest / cell.segments;
    const unsigned member = slice / (unsigned)cell.cells[0];
    const int begin = (int)((rest - slice * cell.segments) * cell.length);
    const int end = min(begin + (int)cell.length, cell.cells[1]);
    const int column = (int)(v - rest * cell.groups) * Span::V;
    const int jd = (int)(slice - member * (unsigned)cell.cells[0]);
    const int own = clamped(column / 2, cell.out[2]);
    const int other = Span::PADDING ? column / 2 + Span::OWN : column / 2 - 1;
    const int d = R == 3 ? 2 * jd - cell.pad[0] : jd, h = 2 * begin - cell.pad[1];
    typename Span::Line line;

    if (v >= cell.inner)
        return;
    await_last_step();
    line.room = cell.in[2] - column;
    line.windows = cell.out[2] - column / 2;
    line.other = kept(clamped(other, cell.out[2]) - own);
    line.none = within(other, cell.out[2]) ? 0 : PGI_TWO_NOWHERE;
    line.store =
        cell.vectors && line.room >= Span::V && is_aligned<T, Span::V>((const T *)memory.target);
    line.load = cell.pairs && line.windows >= Span::OWN &&
                is_aligned<T, Span::OWN>((const T *)memory.source);
    line.slice[0] = 2 * jd - cell.pad[0] >= 0;
    line.slice[1] = 2 * jd - cell.pad[0] + 1 < cell.in[0];
#pragma unroll
    for (int a = 0; a < DEPTH; a++)
        line.slice_there[a] = within(jd - (DEPTH - 1) + a, cell.out[0]);
    const bool plain = cell.plain && line.load && line.store;

    for (unsigned u = blockIdx.y; u < cell.outer; u += gridDim.y) {
        const unsigned number = u * cell.members + member;
        const pgi_cell_plane plane = plane_of(cell, number);
        typename Span::Spot spot;

        if (number >= cell.planes)
            return;
#pragma unroll
        for (int a = 0; a < DEPTH; a++) {
            const int od = clamped(jd - (DEPTH - 1) + a, cell.out[0]);
            const int oh = clamped(begin - (Span::SIDE - 1), cell.out[1]);

            spot.codes[a] = (const uint8_t *)memory.indices + plane.offset(cell.names) +
                            (place_offset(cell.names, od, oh) + own);
            spot.dy[a] = (const T *)memory.source + plane.offset(cell.windows) +
                         (place_offset(cell.windows, od, oh) + own);
        }
        spot.dx = (T *)memory.target + plane.offset(cell.positions) +
                  (place_offset(cell.positions, d, h) + column);
        if (plain)
            go_down<true, Span>(cell, line, spot, begin, end);
        else
            go_down<false, Span>(cell, line, spot, begin, end);
    }
}

// ------------------------------------------------------------ channels last

// A thread has N channels of the positions of a cell, and goes along W.
template <typename Element, int K, int R, int N, int B> struct pgi_two_lane {
    typedef Element T;
    static constexpr int V = N, SIDE = K - 1, BUFFERS = B;
    typedef pgi_two_block<T, K, R, V / 2, SIDE - 1> Block;

    // A column of windows as it lies in memory.
    struct Loaded {
        pgi_vector<uint8_t, V> code[Block::DEPTH][SIDE];
        pgi_vector<T, V> term[Block::DEPTH][SIDE];
    };

    // What stays on the way through an image.
    struct Line {
        bool load, store;               // vectors
        bool there[Block::DEPTH][SIDE]; // windows
        bool slice[2], row[2];          // of the cell exist
        int code_slice, code_row;       // how far before are codes of the slice and row before
        int dy_slice, dy_row;           // and their dy
    };

    // Where the thread is: the last window of the next column, and the cell.
    struct Spot {
        const uint8_t *codes;
        const T *dy;
        T *dx;
    };
};

// The next column. What does not exist is loaded from where something does.
template <bool PLAIN, typename Lane>
__device__ static void load_column(const typename Lane::Line &line, const typename Lane::Spot &spot,
                                   typename Lane::Loaded *to)
{
#pragma unroll
    for (int a = 0; a < Lane::Block::DEPTH; a++)
#pragma unroll
        for (int b = 0; b < Lane::SIDE; b++) {
            const int slices = Lane::Block::DEPTH - 1 - a, rows = Lane::SIDE - 1 - b;
            const auto *codes = spot.codes - (slices * line.code_slice + rows * line.code_row);
            const auto *dy = spot.dy - (slices * line.dy_slice + rows * line.dy_row);

            if (PLAIN || line.load) {
                load_vector<true>(codes, &to->code[a][b]);
                load_vector<true>(dy, &to->term[a][b]);
            } else {
                load_vector<false>(codes, &to->code[a][b]);
                load_vector<false>(dy, &to->term[a][b]);
            }
        }
}

// Makes it ready to be asked.
template <typename Lane>
__device__ static void take_column(const typename Lane::Line &line,
                                   const typename Lane::Loaded &loaded, bool exists,
                                   typename Lane::Block *block)
{
    constexpr int SIDE = Lane::SIDE;

#pragma unroll
    for (int a = 0; a < Lane::Block::DEPTH; a++)
#pragma unroll
        for (int b = 0; b < SIDE; b++) {
            const unsigned none = exists && line.there[a][b] ? 0 : PGI_TWO_NOWHERE;

#pragma unroll
            for (int i = 0; i < Lane::Block::WORDS; i++) {
                block->code[a][b][SIDE - 1][i] =
                    codes_of(((const unsigned *)&loaded.code[a][b])[i / 2], i % 2, none);
                block->term[a][b][SIDE - 1][i] =
                    settled(((const unsigned *)&loaded.term[a][b])[i], typename Lane::T{});
            }
        }
}

// V channels of one position, D, H and W of its cell.
template <bool PLAIN, int D, int H, int W, typename Lane>
__device__ static void answer_one(const pgi_cuda_cell &cell, const typename Lane::Line &line,
                                  const typename Lane::Block &block, typename Lane::T *to,
                                  bool exists)
{
    constexpr int WORDS = Lane::Block::WORDS;

    if constexpr (PLAIN) {
        pgi_vector<typename Lane::T, Lane::V> made;

        results_of<D, H, W>(block, (unsigned(&)[WORDS])made);
        if (exists)
            store_vector<true>(to, made);
    } else {
        float sums[WORDS][2];

        if (!exists)
            return;
        sums_of<D, H, W>(block, sums);
        store_sums<false>(cell, to, (float(&)[Lane::V])sums, line.store, Lane::V);
    }
}

// The positions of a cell on H and W, in one slice; `left`, `right`: which columns exist.
template <bool PLAIN, int D, typename Lane>
__device__ static void answer_slice(const pgi_cuda_cell &cell, const typename Lane::Line &line,
                                    const typename Lane::Block &block, typename Lane::T *to,
                                    bool left, bool right)
{
    const int next = cell.positions.place[2];
    typename Lane::T *const below = to + cell.positions.place[1];

    answer_one<PLAIN, D, 0, 0, Lane>(cell, line, block, to, line.row[0] && left);
    answer_one<PLAIN, D, 0, 1, Lane>(cell, line, block, to + next, line.row[0] && right);
    answer_one<PLAIN, D, 1, 0, Lane>(cell, line, block, below, line.row[1] && left);
    answer_one<PLAIN, D, 1, 1, Lane>(cell, line, block, below + next, line.row[1] && right);
}

// To column ow of windows; if it does not exist, the memory stays that of the last one.
template <typename Lane>
__device__ static void next_column(const pgi_cuda_cell &cell, int ow, typename Lane::Spot *spot)
{
    const bool moves = ow > 0 && ow < cell.out[2];

    spot->codes += moves ? cell.names.place[2] : 0;
    spot->dy += moves ? cell.windows.place[2] : 0;
}

// Goes through columns [begin, end) of cells.
template <bool PLAIN, typename Lane>
__device__ static void go_along(const pgi_cuda_cell &cell, const typename Lane::Line &line,
                                typename Lane::Spot spot, int begin, int end)
{
    constexpr int SIDE = Lane::SIDE;
    typename Lane::Loaded loaded[Lane::BUFFERS];
    typename Lane::Block block;
    const auto pass = [&](int jw, typename Lane::Loaded *column) {
        const int w = 2 * jw - cell.pad[2];
        const bool left = w >= 0, right = w + 1 < cell.in[2];
        const bool front = Lane::Block::AXES == 2 || line.slice[0], back = line.slice[1];

#pragma unroll
        for (int a = 0; a < Lane::Block::DEPTH; a++)
#pragma unroll
            for (int b = 0; b < SIDE; b++)
#pragma unroll
                for (int i = 0; i < Lane::Block::WORDS; i++) {
                    block.code[a][b][0][i] = block.code[a][b][SIDE - 1][i];
                    block.term[a][b][0][i] = block.term[a][b][SIDE - 1][i];
                }
        take_column<Lane>(line, *column, jw < cell.out[2], &block);
        next_column<Lane>(cell, jw + Lane::BUFFERS, &spot);
        load_column<PLAIN, Lane>(line, spot, column);
        answer_slice<PLAIN, 0, Lane>(cell, line, block, spot.dx, front && left, front && right);
        if (Lane::Block::AXES == 3)
            answer_slice<PLAIN, 1, Lane>(cell, line, block, spot.dx + cell.positions.place[0],
                                         back && left, back && right);
        spot.dx += 2 * cell.positions.place[2];
    };

    load_column<PLAIN, Lane>(line, spot, &loaded[0]);
    if (SIDE == 2) {
        take_column<Lane>(line, loaded[0], begin > 0, &block);
        next_column<Lane>(cell, begin, &spot);
        load_column<PLAIN, Lane>(line, spot, &loaded[0]);
    }
#pragma unroll
    for (int k = 1; k < Lane::BUFFERS; k++) {
        next_column<Lane>(cell, begin + k, &spot);
        load_column<PLAIN, Lane>(line, spot, &loaded[k]);
    }
#pragma unroll 1
    for (int jw = begin; jw < end; jw += Lane::BUFFERS)
#pragma unroll
        for (int k = 0; k < Lane::BUFFERS; k++)
            if (jw + k < end)
                pass(jw + k, &loaded[k]);
}

template <typename Lane>
__device__ static void gradient_lanes(const pgi_cuda_cell &cell, const pgi_cuda_memory &memory)
{
    typedef typename Lane::T T;
    constexpr int DEPTH = Lane::Block::DEPTH, SIDE = Lane::SIDE, R = Lane::Block::AXES;
    const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = v / cell.groups, slice = row / (unsigned)cell.cells[1];
    const unsigned segment = slice / (unsigned)cell.cells[0];
    const int channel = (int)(v - row * cell.groups) * Lane::V;
    const int begin = (int)(segment * cell.length);
    const int end = min(begin + (int)cell.length, cell.cells[2]);
    const int jd = (int)(slice - segment * (unsigned)cell.cells[0]);
    const int jh = (int)(row - slice * (unsigned)cell.cells[1]);
    const int od = clamped(jd, cell.out[0]), oh = clamped(jh, cell.out[1]);
    const int ow = clamped(begin - (SIDE - 1), cell.out[2]);
    const int d = R == 3 ? 2 * jd - cell.pad[0] : jd, h = 2 * jh - cell.pad[1];
    const int w = 2 * begin - cell.pad[2];
    typename Lane::Line line;

    if (v >= cell.inner)
        return;
    await_last_step();
    line.store = cell.vectors && is_aligned<T, Lane::V>((const T *)memory.target);
    line.load = cell.vectors && is_aligned<T, Lane::V>((const T *)memory.source);
    line.slice[0] = 2 * jd - cell.pad[0] >= 0;
    line.slice[1] = 2 * jd - cell.pad[0] + 1 < cell.in[0];
    line.row[0] = h >= 0;
    line.row[1] = h + 1 < cell.in[1];
#pragma unroll
    for (int a = 0; a < DEPTH; a++)
#pragma unroll
        for (int b = 0; b < SIDE; b++)
            line.there[a][b] = within(jd - (DEPTH - 1) + a, cell.out[0]) &&
                               within(jh - (SIDE - 1) + b, cell.out[1]);
    line.code_slice = within(jd - 1, cell.out[0] - 1) ? cell.names.place[0] : 0;
    line.code_row = within(jh - 1, cell.out[1] - 1) ? cell.names.place[1] : 0;
    line.dy_slice = within(jd - 1, cell.out[0] - 1) ? cell.windows.place[0] : 0;
    line.dy_row = within(jh - 1, cell.out[1] - 1) ? cell.windows.place[1] : 0;
    const bool plain = cell.plain && line.load && line.store;

    for (unsigned u = blockIdx.y; u < cell.outer; u += gridDim.y) {
        const pgi_cell_plane plane = {(int)u, channel};
        const typename Lane::Spot spot = {
            (const uint8_t *)memory.indices + plane.offset(cell.names) +
                (place_offset(cell.names, od, oh) + ow * cell.names.place[2]),
            (const T *)memory.source + plane.offset(cell.windows) +
                (place_offset(cell.windows, od, oh) + ow * cell.windows.place[2]),
            (T *)memory.target + plane.offset(cell.positions) +
                (place_offset(cell.positions, d, h) + w * cell.positions.place[2])};

        if (plain)
            go_along<true, Lane>(cell, line, spot, begin, end);
        else
            go_along<false, Lane>(cell, line, spot, begin, end);
    }
}

// Blocks that a multiprocessor is to hold, and rows or columns that a thread has ahead: what the
// windows leave of its registers.
#define ROWS(k, e, r, blocks, ahead, suffix, type)                                                 \
    extern "C" __global__ void __launch_bounds__(256, blocks)                                      \
        pgi_two_gradient_##k##e##r##_rows_##suffix(const __grid_constant__ pgi_cuda_cell cell,     \
                                                   const pgi_cuda_memory memory)                   \
    {                                                                                              \
        gradient_rows<pgi_two_span<type, k, e, r, ahead>>(cell, memory);                           \
    }

#define LANES(k, r, v, blocks, ahead, suffix, type)                                                \
    extern "C" __global__ void __launch_bounds__(256, blocks)                                      \
        pgi_two_gradient_##k##r##_lanes_##v##_##suffix(const __grid_constant__ pgi_cuda_cell cell, \
                                                       const pgi_cuda_memory memory)               \
    {                                                                                              \
        gradient_lanes<pgi_two_lane<type, k, r, v, ahead>>(cell, memory);                          \
    }

#define ELEMENT_TYPE(suffix, type)                                                                 \
    ROWS(2, 0, 2, 4, 2, suffix, type)                                                              \
    ROWS(3, 0, 2, 4, 2, suffix, type)                                                              \
    ROWS(3, 1, 2, 4, 2, suffix, type)                                                              \
    ROWS(2, 0, 3, 3, 1, suffix, type)                                                              \
    ROWS(3, 0, 3, 2, 1, suffix, type)                                                              \
    ROWS(3, 1, 3, 2, 1, suffix, type)                                                              \
    LANES(2, 2, 4, 3, 1, suffix, type)                                                             \
    LANES(3, 2, 4, 3, 1, suffix, type)                                                             \
    LANES(2, 3, 4, 3, 1, suffix, type)                                                             \
    LANES(3, 3, 4, 3, 1, suffix, type)                                                             \
    LANES(2, 2, 8, 3, 1, suffix, type)                                                             \
    LANES(3, 2, 8, 3, 1, suffix, type)

ELEMENT_TYPE(f16, pgi_f16)
ELEMENT_TYPE(bf16, pgi_bf16)
