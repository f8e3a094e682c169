// SPDX-License-Identifier: MIT
// The gradient of max pooling with stride 2, channels last: a thread has V channels of the
// positions of a cell, and goes along W.
#include "cuda/kernels/cell_gradient.cuh"

// The windows that reach a cell: DEPTH x SIDE of a column, in V channels each. With three axes they
// are so many that there are registers for few channels.
template <typename Element, typename Named, int K, int R> struct pgi_cell_block {
    typedef Element T;
    typedef Named Name;
    typedef pgi_real<T> Real;
    static constexpr int V = R == 3 ? 2 : pgi_cell_width<T>, SIDE = K - 1;
    static constexpr int DEPTH = R == 3 ? SIDE : 1, TAPS = K, AXES = R;
};

template <typename Block> struct pgi_cell_column {
    int place[Block::DEPTH][Block::SIDE][Block::V];
    typename Block::Real term[Block::DEPTH][Block::SIDE][Block::V];
};

// What stays on the way through an image.
template <typename Block> struct pgi_cell_line {
    int mode;                              // a pgi_cell_mode
    bool load;                             // vectors
    bool there[Block::DEPTH][Block::SIDE]; // windows
    bool slice[2], row[2];                 // of the cell exist
    int jd, jh;
    int slice_place; // its first place, if there is one
    int64_t base;    // index of place 0
};

// Where the thread is: the next column of windows, and the cell.
template <typename Block> struct pgi_cell_spot {
    typedef typename Block::T T;
    const typename Block::Name *name[Block::DEPTH][Block::SIDE];
    const T *dy[Block::DEPTH][Block::SIDE];
    int first; // place of tap 0 of the last of them
    T *dx;     // the cell's first position
    int place;
};

template <typename Block> struct pgi_cell_loaded {
    pgi_vector<typename Block::Name, Block::V> name[Block::DEPTH][Block::SIDE];
    pgi_vector<typename Block::T, Block::V> term[Block::DEPTH][Block::SIDE];
};

// Names and terms, as they lie in memory.
template <bool ALIGNED, typename Block>
__device__ static void load_column(const pgi_cell_spot<Block> &spot, pgi_cell_loaded<Block> *to)
{
#pragma unroll
    for (int a = 0; a < Block::DEPTH; a++)
#pragma unroll
        for (int b = 0; b < Block::SIDE; b++) {
            load_vector<ALIGNED>(spot.name[a][b], &to->name[a][b]);
            load_vector<ALIGNED>(spot.dy[a][b], &to->term[a][b]);
        }
}

// The next column of windows, ready to be asked. What does not exist is loaded from where something
// does.
template <typename Block>
__device__ static void take_column(const pgi_cuda_cell &cell, const pgi_cell_line<Block> &line,
                                   const pgi_cell_spot<Block> &spot, bool exists,
                                   pgi_cell_column<Block> *column)
{
    pgi_cell_loaded<Block> loaded;

    if (line.load)
        load_column<true>(spot, &loaded);
    else
        load_column<false>(spot, &loaded);
#pragma unroll
    for (int a = 0; a < Block::DEPTH; a++)
#pragma unroll
        for (int b = 0; b < Block::SIDE; b++) {
            const int first = spot.first - (Block::DEPTH - 1 - a) * 2 * cell.area -
                              (Block::SIDE - 1 - b) * 2 * cell.in[2];

#pragma unroll
            for (int i = 0; i < Block::V; i++) {
                column->place[a][b][i] =
                    place_of(cell, loaded.name[a][b].e[i], line.base + i * cell.index_channel,
                             first, exists && line.there[a][b]);
                column->term[a][b][i] = widen(loaded.term[a][b].e[i]);
            }
        }
}

// V channels of one position; windows in row-major order. D0, H0, W0: the first that reach it.
template <int D0, int H0, int W0, typename Block>
__device__ static void answer_one(const pgi_cuda_cell &cell,
                                  const pgi_cell_column<Block> (&columns)[Block::SIDE], int place,
                                  typename Block::T *to, const pgi_cell_line<Block> &line)
{
    typename Block::Real sums[Block::V];

#pragma unroll
    for (int i = 0; i < Block::V; i++) {
        sums[i] = 0;
#pragma unroll
        for (int a = D0; a < Block::DEPTH; a++)
#pragma unroll
            for (int b = H0; b < Block::SIDE; b++)
#pragma unroll
                for (int c = W0; c < Block::SIDE; c++)
                    if (columns[c].place[a][b][i] == place)
                        sums[i] = sums[i] + columns[c].term[a][b][i];
    }
    store_sums(cell, to, sums, line.mode, Block::V);
}

// The positions of a cell on H and W, in one slice; `left`, `right`: which columns exist.
template <int D0, typename Block>
__device__ static void answer_slice(const pgi_cuda_cell &cell, const pgi_cell_line<Block> &line,
                                    const pgi_cell_column<Block> (&columns)[Block::SIDE], int place,
                                    typename Block::T *to, bool left, bool right)
{
    constexpr int LAST = Block::SIDE - 1;
    const int next = cell.positions.place[2];

    if (line.row[0]) {
        if (left)
            answer_one<D0, 0, 0>(cell, columns, place, to, line);
        if (right)
            answer_one<D0, 0, LAST>(cell, columns, place + 1, to + next, line);
    }
    place += cell.in[2];
    to += cell.positions.place[1];
    if (line.row[1]) {
        if (left)
            answer_one<D0, LAST, 0>(cell, columns, place, to, line);
        if (right)
            answer_one<D0, LAST, LAST>(cell, columns, place + 1, to + next, line);
    }
}

template <typename Block>
__device__ static void answer(const pgi_cuda_cell &cell, const pgi_cell_line<Block> &line,
                              const pgi_cell_spot<Block> &spot, bool left, bool right,
                              const pgi_cell_column<Block> (&columns)[Block::SIDE])
{
    typename Block::T *to = kept(spot.dx);
    const int place = kept(spot.place);

    if (Block::AXES == 2 || line.slice[0])
        answer_slice<0>(cell, line, columns, place, to, left, right);
    if (Block::AXES == 3 && line.slice[1])
        answer_slice<Block::DEPTH - 1>(cell, line, columns, place + cell.area,
                                       to + cell.positions.place[0], left, right);
}

// Whether the indices of the window that begins in the cell are good.
template <typename Block>
__device__ static bool all_good(const pgi_cuda_cell &cell, const pgi_cell_line<Block> &line,
                                const pgi_cell_spot<Block> &spot, int jw,
                                const pgi_cell_column<Block> &column)
{
    const pgi_cell_columns<Block::TAPS> inside(cell, jw);
    bool good = true;

#pragma unroll
    for (int i = 0; i < Block::V; i++) {
        const int place = column.place[Block::DEPTH - 1][Block::SIDE - 1][i];

        good &= Block::AXES == 3 ? is_tap_of<Block::TAPS, 3>(cell, place, line.jd, line.jh, jw)
                                 : is_tap<Block::TAPS>(cell, place, line.slice_place,
                                                       spot.first + inside.skipped, inside.count);
    }
    return good;
}

// To column ow of windows; if it does not exist, the memory stays that of the last one.
template <typename Block>
__device__ static void next_windows(const pgi_cuda_cell &cell, int ow, pgi_cell_spot<Block> *spot)
{
    const bool moves = ow > 0 && ow < cell.out[2];
    const int name = moves ? cell.names.place[2] : 0;
    const int dy = moves ? cell.windows.place[2] : 0;

#pragma unroll
    for (int a = 0; a < Block::DEPTH; a++)
#pragma unroll
        for (int b = 0; b < Block::SIDE; b++) {
            spot->name[a][b] += name;
            spot->dy[a][b] += dy;
        }
    spot->first += 2;
}

// Goes through columns [begin, end) of cells. Whether all indices are good.
template <typename Block>
__device__ static bool go_along(const pgi_cuda_cell &cell, const pgi_cell_line<Block> &line,
                                pgi_cell_spot<Block> spot, int begin, int end)
{
    constexpr int SIDE = Block::SIDE;
    const bool checks =
        sizeof(typename Block::Name) > 1 && cell.checks && line.there[Block::DEPTH - 1][SIDE - 1];
    pgi_cell_column<Block> columns[SIDE];
    bool good = true;

    if (SIDE == 2) {
        take_column(cell, line, spot, begin > 0, &columns[0]);
        next_windows(cell, begin, &spot);
    }
#pragma unroll 1
    for (int jw = begin; jw < end; jw++) {
        const int w = 2 * jw - cell.pad[2];

        take_column(cell, line, spot, jw < cell.out[2], &columns[SIDE - 1]);
        if (checks && jw < cell.out[2])
            good &= all_good(cell, line, spot, jw, columns[SIDE - 1]);
        answer(cell, line, spot, w >= 0, w + 1 < cell.in[2], columns);
        next_windows(cell, jw + 1, &spot);
        spot.dx += 2 * cell.positions.place[2];
        spot.place += 2;
        columns[0] = columns[SIDE - 1];
    }
    return good;
}

// Finds the bad indices in columns [begin, end) of the thread's windows.
template <typename Block>
__device__ static void find_bad(const pgi_cuda_cell &cell, const pgi_cuda_memory &memory,
                                const pgi_cell_plane &plane, const pgi_cell_line<Block> &line,
                                int begin, int end)
{
    typedef typename Block::Name Name;
    const pgi_cell_suspects<Name> row = {
        (const Name *)memory.indices + plane.offset(cell.names) +
            (place_offset(cell.names, line.jd, line.jh) + begin * cell.names.place[2]),
        cell.names.place[2],
        line.jd,
        line.jh,
        begin,
        min(end, cell.out[2]) - begin,
        Block::V};

    examine<Name, Block::TAPS, Block::AXES>(&cell, &row, &plane, memory.bad);
}

// A thread's windows and positions in an image.
template <typename Block>
__device__ static pgi_cell_spot<Block>
spot_of(const pgi_cuda_cell &cell, const pgi_cuda_memory &memory, const pgi_cell_plane &plane,
        const pgi_cell_line<Block> &line, int begin)
{
    typedef typename Block::T T;
    const int d = Block::AXES == 3 ? 2 * line.jd - cell.pad[0] : line.jd;
    const int h = 2 * line.jh - cell.pad[1], w = 2 * begin - cell.pad[2];
    const int ow = begin - (Block::SIDE - 1), column = clamped(ow, cell.out[2]);
    pgi_cell_spot<Block> spot;

#pragma unroll
    for (int a = 0; a < Block::DEPTH; a++)
#pragma unroll
        for (int b = 0; b < Block::SIDE; b++) {
            const int od = clamped(line.jd - (Block::DEPTH - 1) + a, cell.out[0]);
            const int oh = clamped(line.jh - (Block::SIDE - 1) + b, cell.out[1]);

            spot.name[a][b] = (const typename Block::Name *)memory.indices +
                              plane.offset(cell.names) +
                              (place_offset(cell.names, od, oh) + column * cell.names.place[2]);
            spot.dy[a][b] = (const T *)memory.source + plane.offset(cell.windows) +
                            (place_offset(cell.windows, od, oh) + column * cell.windows.place[2]);
        }
    spot.first = first_place<Block::AXES>(cell, line.jd, line.jh, ow);
    spot.dx = (T *)memory.target + plane.offset(cell.positions) +
              (place_offset(cell.positions, d, h) + w * cell.positions.place[2]);
    spot.place = d * cell.area + h * cell.in[2] + w;
    return spot;
}

template <typename Block>
__device__ static void gradient_lanes(const pgi_cuda_cell &cell, const pgi_cuda_memory &memory)
{
    typedef typename Block::T T;
    const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = v / cell.groups, slice = row / (unsigned)cell.cells[1];
    const unsigned segment = slice / (unsigned)cell.cells[0];
    const int channel = (int)(v - row * cell.groups) * Block::V;
    const int begin = (int)(segment * cell.length);
    const int end = min(begin + (int)cell.length, cell.cells[2]);
    pgi_cell_line<Block> line;

    if (v >= cell.inner)
        return;
    line.jd = (int)(slice - segment * (unsigned)cell.cells[0]);
    line.slice_place = kept(line.jd * cell.area);
    line.jh = (int)(row - slice * (unsigned)cell.cells[1]);
    line.mode = mode_of(cell, cell.vectors && is_aligned<T, Block::V>((const T *)memory.target));
    line.load = cell.vectors && is_aligned<T, Block::V>((const T *)memory.source) &&
                (uintptr_t)memory.indices % 16 == 0;
    line.slice[0] = 2 * line.jd - cell.pad[0] >= 0;
    line.slice[1] = 2 * line.jd - cell.pad[0] + 1 < cell.in[0];
    line.row[0] = 2 * line.jh - cell.pad[1] >= 0;
    line.row[1] = 2 * line.jh - cell.pad[1] + 1 < cell.in[1];
#pragma unroll
    for (int a = 0; a < Block::DEPTH; a++)
#pragma unroll
        for (int b = 0; b < Block::SIDE; b++)
            line.there[a][b] = within(line.jd - (Block::DEPTH - 1) + a, cell.out[0]) &&
                               within(line.jh - (Block::SIDE - 1) + b, cell.out[1]);
    for (unsigned u = blockIdx.y; u < cell.outer; u += gridDim.y) {
        const pgi_cell_plane plane = {(int)u, channel};

        line.base = plane.index(cell);
        if (!go_along(cell, line, spot_of(cell, memory, plane, line, begin), begin, end))
            find_bad(cell, memory, plane, line, begin, end);
    }
}

// Blocks that a multiprocessor is to hold: what the windows leave of its registers.
#define BLOCKS(r) ((r) == 3 ? 2 : 3)

#define LANES(k, r, width, name, suffix, type)                                                     \
    extern "C" __global__ void __launch_bounds__(256, BLOCKS(r))                                   \
        pgi_cell_gradient_##k##r##_lanes_##width##_##suffix(                                       \
            const __grid_constant__ pgi_cuda_cell cell, const pgi_cuda_memory memory)              \
    {                                                                                              \
        gradient_lanes<pgi_cell_block<type, name, k, r>>(cell, memory);                            \
    }

#define NAMES(width, name, suffix, type)                                                           \
    LANES(2, 2, width, name, suffix, type)                                                         \
    LANES(3, 2, width, name, suffix, type)                                                         \
    LANES(2, 3, width, name, suffix, type)                                                         \
    LANES(3, 3, width, name, suffix, type)

#define ELEMENT_TYPE(suffix, type)                                                                 \
    NAMES(64, int64_t, suffix, type)                                                               \
    NAMES(32, uint32_t, suffix, type)                                                              \
    NAMES(8, uint8_t, suffix, type)

ELEMENT_TYPE(f32, float)
ELEMENT_TYPE(f64, double)
ELEMENT_TYPE(f16, pgi_f16)
ELEMENT_TYPE(bf16, pgi_bf16)
