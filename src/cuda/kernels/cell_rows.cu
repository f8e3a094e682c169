// SPDX-License-Identifier: MIT
// The gradient of max pooling with stride 2, channels first: a thread has V places of a row and
// those below them, and goes down.
#include "cuda/kernels/cell_gradient.cuh"
#include "cuda/kernels/step.cuh"

// V neighbours of a row and the windows side by side that reach them, of which the thread has OWN:
// the others are its neighbours'. E is the padding. SIDE: how many windows reach a cell on an axis.
template <typename Element, typename Named, int K, int E, int R> struct pgi_cell_span {
    typedef Element T;
    typedef Named Name;
    typedef pgi_real<T> Real;
    static constexpr int V = PGI_CELL_ROW_WIDTH(sizeof(T)), OWN = V / 2, SIDE = K - 1,
                         N = OWN + SIDE - 1;
    static constexpr int BEFORE = SIDE - 1 - E > 0 ? SIDE - 1 - E : 0;
    static constexpr int DEPTH = R == 3 ? SIDE : 1, TAPS = K, AXES = R, PADDING = E;

    // How far tap 0 of one of these windows is from the first of the V.
    static __host__ __device__ constexpr int tap(int q)
    {
        return 2 * (q - BEFORE) - E;
    }

    // The windows that reach place i, among these.
    static __host__ __device__ constexpr int last(int i)
    {
        return (i + E) / 2 + BEFORE;
    }

    static __host__ __device__ constexpr int first(int i)
    {
        return (i + E) % 2 == 0 ? last(i) - (SIDE - 1) : last(i);
    }
};

// A row of windows in the slices that reach a cell.
template <typename Span> struct pgi_cell_row {
    int winner[Span::DEPTH][Span::N];
    typename Span::Real term[Span::DEPTH][Span::N];
};

// The same as it lies in memory. A thread has it of the next row while it answers with this one.
template <typename Span> struct pgi_cell_loaded {
    typename Span::Name name[Span::DEPTH][Span::N];
    typename Span::T term[Span::DEPTH][Span::N];
};

// What stays on the way through a plane.
template <typename Span> struct pgi_cell_line {
    bool load;                     // the windows that the thread has, as vectors
    bool store;                    // positions likewise
    bool slice_there[Span::DEPTH]; // of windows
    bool there[Span::N];           // windows of a row
    int own, beside;               // in memory: the thread's first window, and how far the other is
    int skipped;                   // taps of the thread's first window before the first column
    int jd, column, window, room;
    bool slice[2];         // of the cell exists
    pgi_cell_reach slices; // of the windows that are checked
    int64_t base;          // index of place 0
};

// Where the thread is: the next row of windows, and the cell.
template <typename Span> struct pgi_cell_spot {
    typedef typename Span::T T;
    const typename Span::Name *name[Span::DEPTH]; // of the first window that the thread has
    const T *dy[Span::DEPTH];
    T *dx; // positions of the cell's first row, in its first slice
    int place;
};

// The next row of windows. What does not exist is loaded from where something does.
template <bool VECTORS, typename Span>
__device__ static void load_row(const pgi_cuda_cell &cell, const pgi_cell_line<Span> &line,
                                const pgi_cell_spot<Span> &spot, pgi_cell_loaded<Span> *to)
{
    constexpr int OWN = Span::OWN, BESIDE = Span::BEFORE ? 0 : OWN;

#pragma unroll
    for (int a = 0; a < Span::DEPTH; a++) {
        if (Span::SIDE == 2) {
            to->name[a][BESIDE] = load_name(spot.name[a] + line.beside);
            to->term[a][BESIDE] = load_element(spot.dy[a] + line.beside);
        }
        if (VECTORS || line.load) {
            pgi_vector<typename Span::Name, OWN> name;
            pgi_vector<typename Span::T, OWN> term;

            load_vector<true>(spot.name[a], &name);
            load_vector<true>(spot.dy[a], &term);
#pragma unroll
            for (int j = 0; j < OWN; j++) {
                to->name[a][Span::BEFORE + j] = name.e[j];
                to->term[a][Span::BEFORE + j] = term.e[j];
            }
        } else {
#pragma unroll
            for (int j = 0; j < OWN; j++) {
                const int step = clamped(line.own + j, cell.out[2]) - line.own;

                to->name[a][Span::BEFORE + j] = load_name(spot.name[a] + step);
                to->term[a][Span::BEFORE + j] = load_element(spot.dy[a] + step);
            }
        }
    }
}

// Makes it ready to be asked.
template <typename Span>
__device__ static void take_row(const pgi_cell_line<Span> &line,
                                const pgi_cell_loaded<Span> &loaded, bool exists,
                                pgi_cell_row<Span> *row)
{
#pragma unroll
    for (int a = 0; a < Span::DEPTH; a++)
#pragma unroll
        for (int q = 0; q < Span::N; q++) {
            row->winner[a][q] = winner_of(loaded.name[a][q], line.base,
                                          exists && line.slice_there[a] && line.there[q]);
            row->term[a][q] = widen(loaded.term[a][q]);
        }
}

// V places of one row, D and H of its cell; windows in row-major order.
template <bool PLAIN, int D, int H, typename Span>
__device__ static void
answer_row(const pgi_cuda_cell &cell, const pgi_cell_row<Span> (&rows)[Span::SIDE], int place,
           typename Span::T *to, bool exists, const pgi_cell_line<Span> &line)
{
    constexpr int DEPTH = Span::DEPTH, SIDE = Span::SIDE;
    typename Span::Real sums[Span::V];

    if (!PLAIN && !exists)
        return;
#pragma unroll
    for (int i = 0; i < Span::V; i++) {
        sums[i] = 0;
#pragma unroll
        for (int a = D ? DEPTH - 1 : 0; a < DEPTH; a++)
#pragma unroll
            for (int b = H ? SIDE - 1 : 0; b < SIDE; b++)
#pragma unroll
                for (int q = Span::first(i); q <= Span::last(i); q++)
                    if (rows[b].winner[a][q] ==
                        winner_at<typename Span::Name>(place + i, cell_tap<DEPTH>(D, a),
                                                       cell_tap<SIDE>(H, b), i - Span::tap(q)))
                        sums[i] = sums[i] + rows[b].term[a][q];
    }
    if (exists)
        store_sums<PLAIN>(cell, to, sums, line.store, line.room);
}

// The positions of a cell on D and H, and V on W; `above`, `below`: which of its rows exist. PLAIN:
// without branches, so that the sums of all are made at the same time.
template <bool PLAIN, typename Span>
__device__ static void answer(const pgi_cuda_cell &cell, const pgi_cell_line<Span> &line,
                              const pgi_cell_spot<Span> &spot, bool above, bool below,
                              const pgi_cell_row<Span> (&rows)[Span::SIDE])
{
    const int step = cell.positions.place[1], place = kept(spot.place);
    typename Span::T *to = kept(spot.dx), *behind = to + cell.positions.place[0];
    const bool front = Span::AXES == 2 || line.slice[0], back = line.slice[1];

    answer_row<PLAIN, 0, 0>(cell, rows, place, to, above && front, line);
    answer_row<PLAIN, 0, 1>(cell, rows, place + cell.in[2], to + step, below && front, line);
    if (Span::AXES == 3) {
        answer_row<PLAIN, 1, 0>(cell, rows, place + cell.area, behind, above && back, line);
        answer_row<PLAIN, 1, 1>(cell, rows, place + cell.area + cell.in[2], behind + step,
                                below && back, line);
    }
}

// Whether the indices of the windows that the thread has are good, in row jh. Only window 0 can
// have taps before the first column.
template <typename Span>
__device__ static bool all_good(const pgi_cuda_cell &cell, const pgi_cell_line<Span> &line, int jh,
                                const pgi_cell_row<Span> &row)
{
    constexpr int K = Span::TAPS;
    const pgi_cell_reach rows = pgi_cell_reach::of<K>(jh, cell.pad[1], cell.in[1], cell.in[2]);
    bool good = true;

#pragma unroll
    for (int j = 0; j < Span::OWN; j++) {
        const int q = Span::BEFORE + j, skipped = j == 0 ? line.skipped : 0;
        const pgi_cell_reach columns = {line.column + Span::tap(q) + skipped,
                                        min(K, line.room - Span::tap(q)) - skipped};

        good &= !line.there[q] | is_tap<K, Span::AXES>(cell, row.winner[Span::DEPTH - 1][q],
                                                       line.slices, rows, columns);
    }
    return good;
}

// To row oh of windows; if it does not exist, the memory stays that of the last one.
template <typename Span>
__device__ static void next_windows(const pgi_cuda_cell &cell, int oh, pgi_cell_spot<Span> *spot)
{
    const bool moves = oh > 0 && oh < cell.out[1];

#pragma unroll
    for (int a = 0; a < Span::DEPTH; a++) {
        spot->name[a] += moves ? cell.names.place[1] : 0;
        spot->dy[a] += moves ? cell.windows.place[1] : 0;
    }
}

// Goes through rows [begin, end) of cells. Whether all indices are good.
template <bool PLAIN, typename Span>
__device__ static bool go_down(const pgi_cuda_cell &cell, const pgi_cell_line<Span> &line,
                               pgi_cell_spot<Span> spot, int begin, int end)
{
    constexpr int SIDE = Span::SIDE;
    const bool checks = sizeof(typename Span::Name) > 1 && cell.checks && line.jd < cell.out[0];
    pgi_cell_loaded<Span> loaded;
    pgi_cell_row<Span> rows[SIDE];
    bool good = true;

    load_row<PLAIN>(cell, line, spot, &loaded);
    if (SIDE == 2) {
        take_row(line, loaded, begin > 0, &rows[0]);
        next_windows(cell, begin, &spot);
        load_row<PLAIN>(cell, line, spot, &loaded);
    }
#pragma unroll 1
    for (int jh = begin; jh < end; jh++) {
        const int h = 2 * jh - cell.pad[1];

        take_row(line, loaded, jh < cell.out[1], &rows[SIDE - 1]);
        next_windows(cell, jh + 1, &spot);
        if (jh + 1 < end)
            load_row<PLAIN>(cell, line, spot, &loaded);
        if (checks && jh < cell.out[1])
            good &= all_good(cell, line, jh, rows[SIDE - 1]);
        answer<PLAIN>(cell, line, spot, h >= 0, h + 1 < cell.in[1], rows);
        spot.dx += 2 * cell.positions.place[1];
        spot.place += 2 * cell.in[2];
        rows[0] = rows[SIDE - 1];
    }
    return good;
}

// Finds the bad indices in rows [begin, end) of the thread's windows.
template <typename Span>
__device__ static void find_bad(const pgi_cuda_cell &cell, const pgi_cuda_memory &memory,
                                const pgi_cell_plane &plane, const pgi_cell_line<Span> &line,
                                int begin, int end)
{
    typedef typename Span::Name Name;
    const int ow = line.window + Span::BEFORE;

    for (int oh = begin; oh < min(end, cell.out[1]); oh++) {
        const pgi_cell_suspects<Name> row = {(const Name *)memory.indices +
                                                 plane.offset(cell.names) +
                                                 (place_offset(cell.names, line.jd, oh) + ow),
                                             1,
                                             line.jd,
                                             oh,
                                             ow,
                                             min(Span::OWN, cell.out[2] - ow),
                                             1};

        examine<Name, Span::TAPS, Span::AXES>(&cell, &row, &plane, memory.bad);
    }
}

// A thread's windows and positions in a plane.
template <typename Span>
__device__ static pgi_cell_spot<Span>
spot_of(const pgi_cuda_cell &cell, const pgi_cuda_memory &memory, const pgi_cell_plane &plane,
        const pgi_cell_line<Span> &line, int column, int begin)
{
    typedef typename Span::T T;
    const int d = Span::AXES == 3 ? 2 * line.jd - cell.pad[0] : line.jd;
    const int h = 2 * begin - cell.pad[1], oh = begin - (Span::SIDE - 1);
    pgi_cell_spot<Span> spot;

#pragma unroll
    for (int a = 0; a < Span::DEPTH; a++) {
        const int od = clamped(line.jd - (Span::DEPTH - 1) + a, cell.out[0]);
        const int row = clamped(oh, cell.out[1]);

        spot.name[a] = (const typename Span::Name *)memory.indices + plane.offset(cell.names) +
                       (place_offset(cell.names, od, row) + line.own);
        spot.dy[a] = (const T *)memory.source + plane.offset(cell.windows) +
                     (place_offset(cell.windows, od, row) + line.own);
    }
    spot.dx = (T *)memory.target + plane.offset(cell.positions) +
              (place_offset(cell.positions, d, h) + column);
    spot.place = d * cell.area + h * cell.in[2] + column;
    return spot;
}

template <typename Span>
__device__ static void gradient_rows(const pgi_cuda_cell &cell, const pgi_cuda_memory &memory)
{
    typedef typename Span::T T;
    const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned rest = v / cell.groups, slice = rest / cell.segments;
    const unsigned member = slice / (unsigned)cell.cells[0];
    const int begin = (int)((rest - slice * cell.segments) * cell.length);
    const int end = min(begin + (int)cell.length, cell.cells[1]);
    const int column = (int)(v - rest * cell.groups) * Span::V;
    pgi_cell_line<Span> line;

    if (v >= cell.inner)
        return;
    await_last_step();
    line.jd = (int)(slice - member * (unsigned)cell.cells[0]);
    line.slices = pgi_cell_reach::of_slices<Span::TAPS, Span::AXES>(cell, line.jd);
    line.column = column;
    line.window = column / 2 - Span::BEFORE;
    line.room = cell.in[2] - column;
    line.own = clamped(column / 2, cell.out[2]);
    line.beside =
        kept(clamped(Span::BEFORE ? line.window : column / 2 + Span::OWN, cell.out[2]) - line.own);
    line.skipped = max(0, Span::PADDING - column);
    line.store =
        cell.vectors && line.room >= Span::V && is_aligned<T, Span::V>((const T *)memory.target);
    line.load = cell.pairs && column / 2 + Span::OWN <= cell.out[2] &&
                is_aligned<T, Span::OWN>((const T *)memory.source) &&
                (uintptr_t)memory.indices % 16 == 0;
    line.slice[0] = 2 * line.jd - cell.pad[0] >= 0;
    line.slice[1] = 2 * line.jd - cell.pad[0] + 1 < cell.in[0];
#pragma unroll
    for (int a = 0; a < Span::DEPTH; a++)
        line.slice_there[a] = within(line.jd - (Span::DEPTH - 1) + a, cell.out[0]);
#pragma unroll
    for (int q = 0; q < Span::N; q++)
        line.there[q] = within(line.window + q, cell.out[2]);
    const bool plain = cell.plain && line.load && line.store;

    for (unsigned u = blockIdx.y; u < cell.outer; u += gridDim.y) {
        const unsigned number = u * cell.members + member;
        const pgi_cell_plane plane = plane_of(cell, number);
        pgi_cell_spot<Span> spot;

        if (number >= cell.planes)
            return;
        line.base = plane.index(cell);
        spot = spot_of(cell, memory, plane, line, column, begin);
        if (!(plain ? go_down<true>(cell, line, spot, begin, end)
                    : go_down<false>(cell, line, spot, begin, end)))
            find_bad(cell, memory, plane, line, begin, end);
    }
}

// Blocks that a multiprocessor is to hold: what the windows leave of its registers.
#define BLOCKS(r, type) (((r) == 3 ? 3 : 4) - (sizeof(type) == 2))

#define ROWS(k, e, r, width, name, suffix, type)                                                   \
    extern "C" __global__ void __launch_bounds__(256, BLOCKS(r, type))                             \
        pgi_cell_gradient_##k##e##r##_rows_##width##_##suffix(                                     \
            const __grid_constant__ pgi_cuda_cell cell, const pgi_cuda_memory memory)              \
    {                                                                                              \
        gradient_rows<pgi_cell_span<type, name, k, e, r>>(cell, memory);                           \
    }

#define NAMES(width, name, suffix, type)                                                           \
    ROWS(2, 0, 2, width, name, suffix, type)                                                       \
    ROWS(3, 0, 2, width, name, suffix, type)                                                       \
    ROWS(3, 1, 2, width, name, suffix, type)                                                       \
    ROWS(2, 0, 3, width, name, suffix, type)                                                       \
    ROWS(3, 0, 3, width, name, suffix, type)                                                       \
    ROWS(3, 1, 3, width, name, suffix, type)

PGI_CELL_NAMES(NAMES)
