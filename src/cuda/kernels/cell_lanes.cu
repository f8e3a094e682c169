// SPDX-License-Identifier: MIT
// The gradient of max pooling with stride 2, channels last: a thread has V channels of the
// positions of a cell, and goes along W.
#include "cuda/kernels/cell_gradient.cuh"
#include "cuda/kernels/step.cuh"

// The windows that reach a cell: DEPTH x SIDE of a column, in V channels each. With three axes they
// are so many that there are registers for few channels.
template <typename Element, typename Named, int K, int R> struct pgi_cell_block {
    typedef Element T;
    typedef Named Name;
    typedef pgi_real<T> Real;
    static constexpr int V = PGI_CELL_GRADIENT_WIDTH(R, sizeof(T), sizeof(Name)), SIDE = K - 1;
    static constexpr int DEPTH = R == 3 ? SIDE : 1, TAPS = K, AXES = R;

    // Columns are loaded ahead, if need be behind the last one: under a condition the compiler
    // would load them elsewhere and move them, which waits until they have come. Where registers
    // suffice.
    static constexpr bool STEADY = K == 3 && R == 2 && sizeof(Name) == 8 && sizeof(T) <= 4;
};

template <typename Block> struct pgi_cell_column {
    int winner[Block::DEPTH][Block::SIDE][Block::V];
    typename Block::Real term[Block::DEPTH][Block::SIDE][Block::V];
};

// What stays on the way through an image.
template <typename Block> struct pgi_cell_line {
    bool load, store;                      // vectors
    bool there[Block::DEPTH][Block::SIDE]; // windows
    bool slice[2], row[2];                 // of the cell exist
    int name_slice, name_row;              // how far before are names of the slice and row before
    int dy_slice, dy_row;                  // and their dy
    int jd, jh;
    pgi_cell_reach slices, rows; // of the window that is checked
    int64_t base;                // index of place 0
};

// Where the thread is: the last window of the next column, and the cell.
template <typename Block> struct pgi_cell_spot {
    typedef typename Block::T T;
    const typename Block::Name *name;
    const T *dy;
    T *dx; // the cell's first position
    int place;
};

// A column as it lies in memory. A thread has the next one while it answers with this one.
template <typename Block> struct pgi_cell_loaded {
    pgi_vector<typename Block::Name, Block::V> name[Block::DEPTH][Block::SIDE];
    pgi_vector<typename Block::T, Block::V> term[Block::DEPTH][Block::SIDE];
};

// The next column. What does not exist is loaded from where something does.
template <bool PLAIN, typename Block>
__device__ static void load_column(const pgi_cell_line<Block> &line,
                                   const pgi_cell_spot<Block> &spot, pgi_cell_loaded<Block> *to)
{
#pragma unroll
    for (int a = 0; a < Block::DEPTH; a++)
#pragma unroll
        for (int b = 0; b < Block::SIDE; b++) {
            const int slices = Block::DEPTH - 1 - a, rows = Block::SIDE - 1 - b;
            const auto *name = spot.name - (slices * line.name_slice + rows * line.name_row);
            const auto *dy = spot.dy - (slices * line.dy_slice + rows * line.dy_row);

            if (PLAIN || line.load) {
                load_vector<true>(name, &to->name[a][b]);
                load_vector<true>(dy, &to->term[a][b]);
            } else {
                load_vector<false>(name, &to->name[a][b]);
                load_vector<false>(dy, &to->term[a][b]);
            }
        }
}

// Makes it ready to be asked.
template <typename Block>
__device__ static void take_column(const pgi_cuda_cell &cell, const pgi_cell_line<Block> &line,
                                   const pgi_cell_loaded<Block> &loaded, bool exists,
                                   pgi_cell_column<Block> *column)
{
#pragma unroll
    for (int a = 0; a < Block::DEPTH; a++)
#pragma unroll
        for (int b = 0; b < Block::SIDE; b++)
#pragma unroll
            for (int i = 0; i < Block::V; i++) {
                column->winner[a][b][i] =
                    winner_of(loaded.name[a][b].e[i], line.base + i * cell.index_channel,
                              exists && line.there[a][b]);
                column->term[a][b][i] = widen(loaded.term[a][b], i);
            }
}

// V channels of one position, D, H and W of its cell; windows in row-major order.
template <bool PLAIN, int D, int H, int W, typename Block>
__device__ static void
answer_one(const pgi_cuda_cell &cell, const pgi_cell_column<Block> (&columns)[Block::SIDE],
           int place, typename Block::T *to, bool exists, const pgi_cell_line<Block> &line)
{
    constexpr int DEPTH = Block::DEPTH, SIDE = Block::SIDE;
    typename Block::Real sums[Block::V];

    if (!PLAIN && !exists)
        return;
#pragma unroll
    for (int i = 0; i < Block::V; i++) {
        sums[i] = 0;
#pragma unroll
        for (int a = D ? DEPTH - 1 : 0; a < DEPTH; a++)
#pragma unroll
            for (int b = H ? SIDE - 1 : 0; b < SIDE; b++)
#pragma unroll
                for (int c = W ? SIDE - 1 : 0; c < SIDE; c++)
                    if (columns[c].winner[a][b][i] ==
                        winner_at<typename Block::Name>(place, cell_tap<DEPTH>(D, a),
                                                        cell_tap<SIDE>(H, b), cell_tap<SIDE>(W, c)))
                        sums[i] = sums[i] + columns[c].term[a][b][i];
    }
    if (exists)
        store_sums<PLAIN>(cell, to, sums, line.store, Block::V);
}

// The positions of a cell on H and W, in one slice; `left`, `right`: which columns exist.
template <bool PLAIN, int D, typename Block>
__device__ static void answer_slice(const pgi_cuda_cell &cell, const pgi_cell_line<Block> &line,
                                    const pgi_cell_column<Block> (&columns)[Block::SIDE], int place,
                                    typename Block::T *to, bool left, bool right)
{
    const int next = cell.positions.place[2], below = place + cell.in[2];
    typename Block::T *to_below = to + cell.positions.place[1];

    answer_one<PLAIN, D, 0, 0>(cell, columns, place, to, line.row[0] && left, line);
    answer_one<PLAIN, D, 0, 1>(cell, columns, place + 1, to + next, line.row[0] && right, line);
    answer_one<PLAIN, D, 1, 0>(cell, columns, below, to_below, line.row[1] && left, line);
    answer_one<PLAIN, D, 1, 1>(cell, columns, below + 1, to_below + next, line.row[1] && right,
                               line);
}

// PLAIN: without branches, so that the sums of all are made at the same time.
template <bool PLAIN, typename Block>
__device__ static void answer(const pgi_cuda_cell &cell, const pgi_cell_line<Block> &line,
                              const pgi_cell_spot<Block> &spot, bool left, bool right,
                              const pgi_cell_column<Block> (&columns)[Block::SIDE])
{
    typename Block::T *to = kept(spot.dx);
    const int place = kept(spot.place);
    const bool front = Block::AXES == 2 || line.slice[0], back = line.slice[1];

    answer_slice<PLAIN, 0>(cell, line, columns, place, to, front && left, front && right);
    if (Block::AXES == 3)
        answer_slice<PLAIN, 1>(cell, line, columns, place + cell.area, to + cell.positions.place[0],
                               back && left, back && right);
}

// Whether the indices of the window that begins in the cell are good.
template <typename Block>
__device__ static bool all_good(const pgi_cuda_cell &cell, const pgi_cell_line<Block> &line, int jw,
                                const pgi_cell_column<Block> &column)
{
    constexpr int K = Block::TAPS;
    const pgi_cell_reach columns = pgi_cell_reach::of<K>(jw, cell.pad[2], cell.in[2], 1);
    bool good = true;

#pragma unroll
    for (int i = 0; i < Block::V; i++)
        good &= is_tap<K, Block::AXES>(cell, column.winner[Block::DEPTH - 1][Block::SIDE - 1][i],
                                       line.slices, line.rows, columns);
    return good;
}

// To column ow of windows; if it does not exist, the memory stays that of the last one.
template <typename Block>
__device__ static void next_windows(const pgi_cuda_cell &cell, int ow, pgi_cell_spot<Block> *spot)
{
    const bool moves = ow > 0 && ow < cell.out[2];

    spot->name += moves ? cell.names.place[2] : 0;
    spot->dy += moves ? cell.windows.place[2] : 0;
}

// Goes through columns [begin, end) of cells. Whether all indices are good.
template <bool PLAIN, typename Block>
__device__ static bool go_along(const pgi_cuda_cell &cell, const pgi_cell_line<Block> &line,
                                pgi_cell_spot<Block> spot, int begin, int end)
{
    constexpr int SIDE = Block::SIDE;
    const bool checks =
        sizeof(typename Block::Name) > 1 && cell.checks && line.there[Block::DEPTH - 1][SIDE - 1];
    pgi_cell_loaded<Block> loaded;
    pgi_cell_column<Block> columns[SIDE];
    bool good = true;

    load_column<PLAIN>(line, spot, &loaded);
    if (SIDE == 2) {
        take_column(cell, line, loaded, begin > 0, &columns[0]);
        next_windows(cell, begin, &spot);
        load_column<PLAIN>(line, spot, &loaded);
    }
#pragma unroll 1
    for (int jw = begin; jw < end; jw++) {
        const int w = 2 * jw - cell.pad[2];

        take_column(cell, line, loaded, jw < cell.out[2], &columns[SIDE - 1]);
        next_windows(cell, jw + 1, &spot);
        if (Block::STEADY || jw + 1 < end)
            load_column<PLAIN>(line, spot, &loaded);
        if (checks && jw < cell.out[2])
            good &= all_good(cell, line, jw, columns[SIDE - 1]);
        answer<PLAIN>(cell, line, spot, w >= 0, w + 1 < cell.in[2], columns);
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
    const int od = clamped(line.jd, cell.out[0]), oh = clamped(line.jh, cell.out[1]);
    const int ow = clamped(begin - (Block::SIDE - 1), cell.out[2]);
    pgi_cell_spot<Block> spot;

    spot.name = (const typename Block::Name *)memory.indices + plane.offset(cell.names) +
                (place_offset(cell.names, od, oh) + ow * cell.names.place[2]);
    spot.dy = (const T *)memory.source + plane.offset(cell.windows) +
              (place_offset(cell.windows, od, oh) + ow * cell.windows.place[2]);
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
    await_last_step();
    line.jd = (int)(slice - segment * (unsigned)cell.cells[0]);
    line.slices = pgi_cell_reach::of_slices<Block::TAPS, Block::AXES>(cell, line.jd);
    line.jh = (int)(row - slice * (unsigned)cell.cells[1]);
    line.rows = pgi_cell_reach::of<Block::TAPS>(line.jh, cell.pad[1], cell.in[1], cell.in[2]);
    line.store = cell.vectors && is_aligned<T, Block::V>((const T *)memory.target);
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
    line.name_slice = within(line.jd - 1, cell.out[0] - 1) ? cell.names.place[0] : 0;
    line.name_row = within(line.jh - 1, cell.out[1] - 1) ? cell.names.place[1] : 0;
    line.dy_slice = within(line.jd - 1, cell.out[0] - 1) ? cell.windows.place[0] : 0;
    line.dy_row = within(line.jh - 1, cell.out[1] - 1) ? cell.windows.place[1] : 0;
    const bool plain = cell.plain && line.load && line.store;

    for (unsigned u = blockIdx.y; u < cell.outer; u += gridDim.y) {
        const pgi_cell_plane plane = {(int)u, channel};
        pgi_cell_spot<Block> spot;

        line.base = plane.index(cell);
        spot = spot_of(cell, memory, plane, line, begin);
        if (!(plain ? go_along<true>(cell, line, spot, begin, end)
                    : go_along<false>(cell, line, spot, begin, end)))
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

PGI_CELL_NAMES(NAMES)
