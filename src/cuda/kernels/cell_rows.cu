// SPDX-License-Identifier: MIT
// The gradient of max pooling with stride 2, channels first: a thread has V places of a row and
// those below them, and goes down.
#include "cuda/kernels/cell_gradient.cuh"

// V neighbours of a row and the windows side by side that reach them, of which the thread has OWN:
// the others are its neighbours'. E is the padding. SIDE: how many windows reach a cell on an axis.
template <typename Element, typename Named, int K, int E, int R> struct pgi_cell_span {
    typedef Element T;
    typedef Named Name;
    typedef pgi_real<T> Real;
    static constexpr int V = pgi_cell_row_width<T>, OWN = V / 2, SIDE = K - 1, N = OWN + SIDE - 1;
    static constexpr int BEFORE = SIDE - 1 - E > 0 ? SIDE - 1 - E : 0;
    static constexpr int DEPTH = R == 3 ? SIDE : 1, TAPS = K, AXES = R;

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
    int place[Span::DEPTH][Span::N];
    typename Span::Real term[Span::DEPTH][Span::N];
};

// What stays on the way through a plane.
template <typename Span> struct pgi_cell_line {
    int mode;                         // a pgi_cell_mode
    bool there[Span::DEPTH][Span::N]; // windows
    int beside[Span::N];              // how far they are from the first that the thread has
    int inside[Span::OWN];            // columns of those that are checked, and
    int skipped[Span::OWN];           // how far behind the row's first tap the first of them is
    int jd, window, room;
    bool slice[2];   // of the cell exists
    int slice_place; // its first place, if there is one
    int64_t base;    // index of place 0
};

// Where the thread is: the next row of windows, and the cell.
template <typename Span> struct pgi_cell_spot {
    typedef typename Span::T T;
    const typename Span::Name *name[Span::DEPTH]; // of the first window that the thread has
    const T *dy[Span::DEPTH];
    int first; // place of tap 0 of the row's first window, in the last slice
    T *dx;     // positions of the cell's first row, in its first slice
    int place;
};

// The next row of windows, ready to be asked. What does not exist is loaded from where something
// does.
template <typename Span>
__device__ static void take_row(const pgi_cuda_cell &cell, const pgi_cell_line<Span> &line,
                                const pgi_cell_spot<Span> &spot, bool exists,
                                pgi_cell_row<Span> *row)
{
    typename Span::Name name[Span::DEPTH][Span::N];
    typename Span::T term[Span::DEPTH][Span::N];

#pragma unroll
    for (int a = 0; a < Span::DEPTH; a++)
#pragma unroll
        for (int q = 0; q < Span::N; q++) {
            const int beside = q == Span::BEFORE ? 0 : line.beside[q];

            name[a][q] = load_name(spot.name[a] + beside);
            term[a][q] = load_element(spot.dy[a] + beside);
        }
#pragma unroll
    for (int a = 0; a < Span::DEPTH; a++)
#pragma unroll
        for (int q = 0; q < Span::N; q++) {
            row->place[a][q] = place_of(cell, name[a][q], line.base,
                                        spot.first - (Span::DEPTH - 1 - a) * 2 * cell.area + 2 * q,
                                        exists && line.there[a][q]);
            row->term[a][q] = widen(term[a][q]);
        }
}

// V places of one row; windows in row-major order. D0, H0: the first slice and row that reach it.
template <int D0, int H0, typename Span>
__device__ static void answer_row(const pgi_cuda_cell &cell,
                                  const pgi_cell_row<Span> (&rows)[Span::SIDE], int first,
                                  typename Span::T *to, const pgi_cell_line<Span> &line)
{
    typename Span::Real sums[Span::V];

#pragma unroll
    for (int i = 0; i < Span::V; i++) {
        sums[i] = 0;
#pragma unroll
        for (int a = D0; a < Span::DEPTH; a++)
#pragma unroll
            for (int b = H0; b < Span::SIDE; b++)
#pragma unroll
                for (int q = Span::first(i); q <= Span::last(i); q++)
                    if (rows[b].place[a][q] == first + i)
                        sums[i] = sums[i] + rows[b].term[a][q];
    }
    store_sums(cell, to, sums, line.mode, line.room);
}

// The positions of a cell on D and H, and V on W; `above`, `below`: which of its rows exist.
template <typename Span>
__device__ static void answer(const pgi_cuda_cell &cell, const pgi_cell_line<Span> &line,
                              const pgi_cell_spot<Span> &spot, bool above, bool below,
                              const pgi_cell_row<Span> (&rows)[Span::SIDE])
{
    constexpr int D1 = Span::DEPTH - 1, H1 = Span::SIDE - 1;
    const int step = cell.positions.place[1];
    typename Span::T *to = kept(spot.dx), *behind = to + cell.positions.place[0];
    const int place = kept(spot.place);

    if (above) {
        if (Span::AXES == 2 || line.slice[0])
            answer_row<0, 0>(cell, rows, place, to, line);
        if (Span::AXES == 3 && line.slice[1])
            answer_row<D1, 0>(cell, rows, place + cell.area, behind, line);
    }
    if (below) {
        if (Span::AXES == 2 || line.slice[0])
            answer_row<0, H1>(cell, rows, place + cell.in[2], to + step, line);
        if (Span::AXES == 3 && line.slice[1])
            answer_row<D1, H1>(cell, rows, place + cell.area + cell.in[2], behind + step, line);
    }
}

// Whether the indices of the windows that the thread has are good, in row jh.
template <typename Span>
__device__ static bool all_good(const pgi_cuda_cell &cell, const pgi_cell_line<Span> &line,
                                const pgi_cell_spot<Span> &spot, int jh,
                                const pgi_cell_row<Span> &row)
{
    bool good = true;

#pragma unroll
    for (int j = 0; j < Span::OWN; j++) {
        const int q = Span::BEFORE + j, place = row.place[Span::DEPTH - 1][q];
        const bool tap = Span::AXES == 3
                             ? is_tap_of<Span::TAPS, 3>(cell, place, line.jd, jh, line.window + q)
                             : is_tap<Span::TAPS>(cell, place, line.slice_place,
                                                  spot.first + line.skipped[j], line.inside[j]);

        good &= tap | !line.there[Span::DEPTH - 1][q];
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
    spot->first += 2 * cell.in[2];
}

// Goes through rows [begin, end) of cells. Whether all indices are good.
template <typename Span>
__device__ static bool go_down(const pgi_cuda_cell &cell, const pgi_cell_line<Span> &line,
                               pgi_cell_spot<Span> spot, int begin, int end)
{
    constexpr int SIDE = Span::SIDE;
    const bool checks = sizeof(typename Span::Name) > 1 && cell.checks && line.jd < cell.out[0];
    pgi_cell_row<Span> rows[SIDE];
    bool good = true;

    if (SIDE == 2) {
        take_row(cell, line, spot, begin > 0, &rows[0]);
        next_windows(cell, begin, &spot);
    }
#pragma unroll 1
    for (int jh = begin; jh < end; jh++) {
        const int h = 2 * jh - cell.pad[1];

        take_row(cell, line, spot, jh < cell.out[1], &rows[SIDE - 1]);
        if (checks && jh < cell.out[1])
            good &= all_good(cell, line, spot, jh, rows[SIDE - 1]);
        answer(cell, line, spot, h >= 0, h + 1 < cell.in[1], rows);
        next_windows(cell, jh + 1, &spot);
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
        const int row = clamped(oh, cell.out[1]), ow = clamped(column / 2, cell.out[2]);

        spot.name[a] = (const typename Span::Name *)memory.indices + plane.offset(cell.names) +
                       (place_offset(cell.names, od, row) + ow);
        spot.dy[a] = (const T *)memory.source + plane.offset(cell.windows) +
                     (place_offset(cell.windows, od, row) + ow);
    }
    spot.first = first_place<Span::AXES>(cell, line.jd, oh, line.window);
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
    line.jd = (int)(slice - member * (unsigned)cell.cells[0]);
    line.slice_place = kept(line.jd * cell.area);
    line.window = column / 2 - Span::BEFORE;
    line.room = cell.in[2] - column;
    line.mode = mode_of(cell, cell.vectors && line.room >= Span::V &&
                                  is_aligned<T, Span::V>((const T *)memory.target));
    line.slice[0] = 2 * line.jd - cell.pad[0] >= 0;
    line.slice[1] = 2 * line.jd - cell.pad[0] + 1 < cell.in[0];
#pragma unroll
    for (int a = 0; a < Span::DEPTH; a++)
#pragma unroll
        for (int q = 0; q < Span::N; q++)
            line.there[a][q] = within(line.jd - (Span::DEPTH - 1) + a, cell.out[0]) &&
                               within(line.window + q, cell.out[2]);
#pragma unroll
    for (int q = 0; q < Span::N; q++)
        line.beside[q] = kept(clamped(line.window + q, cell.out[2]) -
                              clamped(line.window + Span::BEFORE, cell.out[2]));
#pragma unroll
    for (int j = 0; j < Span::OWN; j++) {
        const pgi_cell_columns<Span::TAPS> columns(cell, line.window + Span::BEFORE + j);

        line.inside[j] = kept(columns.count);
        line.skipped[j] = kept(2 * (Span::BEFORE + j) + columns.skipped);
    }
    for (unsigned u = blockIdx.y; u < cell.outer; u += gridDim.y) {
        const unsigned number = u * cell.members + member;
        const pgi_cell_plane plane = plane_of(cell, number);

        if (number >= cell.planes)
            return;
        line.base = plane.index(cell);
        if (!go_down(cell, line, spot_of(cell, memory, plane, line, column, begin), begin, end))
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

#define ELEMENT_TYPE(suffix, type)                                                                 \
    NAMES(64, int64_t, suffix, type)                                                               \
    NAMES(32, uint32_t, suffix, type)                                                              \
    NAMES(8, uint8_t, suffix, type)

ELEMENT_TYPE(f32, float)
ELEMENT_TYPE(f64, double)
ELEMENT_TYPE(f16, pgi_f16)
ELEMENT_TYPE(bf16, pgi_bf16)
