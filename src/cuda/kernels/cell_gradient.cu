// SPDX-License-Identifier: MIT
// The gradient of max pooling, cell by cell: a thread has all positions of a cell and asks the
// windows that reach it, at most two on an axis, in row-major order. It marches along an axis, so
// that what it has loaded of the windows of one cell serves the next, too. Nothing is shared between
// threads but what the caches hold, and every index is checked by the thread whose cell it begins in.
#include "cuda/kernels/cell.cuh"

// What a thread knows of the plane or of the channels that it has.
template <typename T> struct pgi_cell_view {
    const T *dy; // of its first window on W, or of its first channel; names, dx likewise
    const void *names;
    int64_t name;
    T *dx;
    int64_t base; // index of place 0
    int64_t plane;
    pgi_real<T> alpha, beta;
};

// The places that names stand for; what is not in the plane becomes a number that no position has.
// `first` is that of the first window's tap 0, `next` how much further that of the next is; `base` the
// index of place 0, and `step` what the next has more.
template <int V>
__device__ static void find_places(const pgi_cuda_cell &cell, const int64_t (&name)[V], int first,
                                   int next, int64_t base, int64_t step, int (&place)[V])
{
    if (cell.kind == PGI_CELL_CODES) {
#pragma unroll
        for (int i = 0; i < V; i++)
            place[i] = name[i] < 0 ? -1 : first + i * next + code_distance(cell, (int)name[i]);
    } else {
#pragma unroll
        for (int i = 0; i < V; i++) {
            const int64_t found = name[i] - (base + i * step);

            place[i] = found >> 32 ? -1 : (int)found;
        }
    }
}

template <int K, int R>
__device__ static bool is_tap(const pgi_cuda_cell &cell, int place, int od, int oh, int ow)
{
    const unsigned rest = (unsigned)(R == 3 ? place : place - od * cell.area);
    unsigned row = quick_quotient(rest, cell.by_width);
    const unsigned column = rest - row * (unsigned)cell.in[2];
    bool good = rest < (unsigned)(R == 3 ? cell.plane : cell.area);

    if (R == 3) {
        const unsigned slice = quick_quotient(row, cell.by_height);

        row -= slice * (unsigned)cell.in[1];
        good &= within((int)slice - (2 * od - cell.pad[0]), K);
    }
    return good & within((int)row - (2 * oh - cell.pad[1]), K) &
           within((int)column - (2 * ow - cell.pad[2]), K);
}

// Looks again at an index that is no tap's, the `at`-th, and notes it unless it says that there is no
// winner.
__device__ static __noinline__ void examine(const pgi_cuda_cell *cell, const void *names, int64_t at,
                                            int64_t plane, int od, int oh, int ow,
                                            unsigned long long *bad)
{
    const bool none = cell->kind == PGI_CELL_64 ? ((const int64_t *)names)[at] == -1
                                                : ((const uint32_t *)names)[at] == UINT32_MAX;

    if (!(none && cell->no_winner))
        atomicMin(bad, (unsigned long long)(((plane * cell->out[0] + od) * cell->out[1] + oh) *
                                                (int64_t)cell->out[2] +
                                            ow));
}

// ---------------------------------------------------------- channels first

// V neighbours of a row and the windows side by side that reach them, of which the thread has OWN: the
// others are its neighbours'. E is the padding. SIDE: how many windows reach a cell on an axis.
template <typename T, int K, int E> struct pgi_cell_span {
    static constexpr int V = pgi_cell_width<T>, OWN = V / 2, SIDE = K - 1, N = OWN + SIDE - 1;
    static constexpr int BEFORE = SIDE - 1 - E > 0 ? SIDE - 1 - E : 0;

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

// Rows of windows as they were loaded, and as they are asked.
template <typename T, int DEPTH, int N> struct pgi_cell_loaded {
    int64_t name[DEPTH][N];
    T term[DEPTH][N];
};

template <typename T, int DEPTH, int N> struct pgi_cell_rows {
    int place[DEPTH][N];
    pgi_real<T> term[DEPTH][N];
};

// The names of the windows of row oh, in the slices that reach slice jd; -1 where there is none.
template <typename Name, typename T, int DEPTH, int N>
__device__ static void load_names(const pgi_cuda_cell &cell, const pgi_cell_view<T> &view, int jd,
                                  int oh, const bool (&there)[N], int64_t (&name)[DEPTH][N])
{
#pragma unroll
    for (int a = 0; a < DEPTH; a++) {
        const int od = jd - (DEPTH - 1) + a;
        const bool row = within(od, cell.out[0]) && within(oh, cell.out[1]);
        const Name *from = (const Name *)view.names + view.name + place_offset(cell.names, od, oh);

#pragma unroll
        for (int q = 0; q < N; q++)
            name[a][q] = row && there[q] ? (int64_t)__ldg(from + q) : -1;
    }
}

// The same windows, as they lie in memory.
template <typename T, int DEPTH, int N>
__device__ static void load_rows(const pgi_cuda_cell &cell, const pgi_cell_view<T> &view, int jd,
                                 int oh, const bool (&there)[N], pgi_cell_loaded<T, DEPTH, N> *to)
{
    if (cell.kind == PGI_CELL_64)
        load_names<long long>(cell, view, jd, oh, there, to->name);
    else if (cell.kind == PGI_CELL_32)
        load_names<unsigned>(cell, view, jd, oh, there, to->name);
    else
        load_names<unsigned char>(cell, view, jd, oh, there, to->name);
#pragma unroll
    for (int a = 0; a < DEPTH; a++) {
        const int od = jd - (DEPTH - 1) + a;
        const bool row = within(od, cell.out[0]) && within(oh, cell.out[1]);
        const T *from = view.dy + place_offset(cell.windows, od, oh);

#pragma unroll
        for (int q = 0; q < N; q++)
            if (row && there[q]) // where not, the name says so
                to->term[a][q] = load_element(from + q);
    }
}

template <typename T, int R, int DEPTH, int N>
__device__ static void settle_rows(const pgi_cuda_cell &cell, const pgi_cell_view<T> &view, int jd,
                                   int oh, int ow, const pgi_cell_loaded<T, DEPTH, N> &from,
                                   pgi_cell_rows<T, DEPTH, N> *to)
{
#pragma unroll
    for (int a = 0; a < DEPTH; a++) {
        find_places(cell, from.name[a], first_place<R>(cell, jd - (DEPTH - 1) + a, oh, ow), 2,
                    view.base, 0, to->place[a]);
#pragma unroll
        for (int q = 0; q < N; q++)
            to->term[a][q] = widen(from.term[a][q]);
    }
}

template <typename T, int V>
__device__ static void store_row(T *to, const pgi_real<T> (&sums)[V], pgi_real<T> alpha,
                                 pgi_real<T> beta, bool vectors, int room)
{
    if (vectors && room >= V) {
        store_scaled<true>(to, sums, alpha, beta);
    } else {
#pragma unroll
        for (int i = 0; i < V; i++)
            if (i < room)
                store(to + i, sums[i], alpha, beta);
    }
}

// The positions of a cell on D and H, and V on W. Windows in row-major order.
template <typename T, int K, int E, int R, int DEPTH, int N>
__device__ static void answer_rows(const pgi_cuda_cell &cell, const pgi_cell_view<T> &view, int jd,
                                   int jh, int column, bool vectors,
                                   const pgi_cell_rows<T, DEPTH, N> (&rows)[K - 1])
{
    typedef pgi_cell_span<T, K, E> Span;
    typedef pgi_real<T> Real;
    constexpr int SIDE = K - 1;

#pragma unroll
    for (int rd = 0; rd < (R == 3 ? 2 : 1); rd++) {
#pragma unroll
        for (int rh = 0; rh < 2; rh++) {
            const int d = R == 3 ? 2 * jd - cell.pad[0] + rd : jd, h = 2 * jh - cell.pad[1] + rh;
            const int first = d * cell.area + h * cell.in[2] + column;
            Real sums[Span::V];

            if (!within(d, cell.in[0]) || !within(h, cell.in[1]))
                continue;
#pragma unroll
            for (int i = 0; i < Span::V; i++) {
                sums[i] = 0;
#pragma unroll
                for (int a = rd == 0 ? 0 : DEPTH - 1; a < DEPTH; a++)
#pragma unroll
                    for (int b = rh == 0 ? 0 : SIDE - 1; b < SIDE; b++)
#pragma unroll
                        for (int q = Span::first(i); q <= Span::last(i); q++)
                            if (rows[b].place[a][q] == first + i)
                                sums[i] = sums[i] + rows[b].term[a][q];
            }
            store_row(view.dx + place_offset(cell.positions, d, h), sums, view.alpha, view.beta,
                      vectors, cell.in[2] - column);
        }
    }
}

// Indices of the windows that the thread has are checked.
template <typename T, int K, int E, int R, int DEPTH, int N>
__device__ static void check_rows(const pgi_cuda_cell &cell, const pgi_cell_view<T> &view, int jd,
                                  int jh, int first_window, const bool (&there)[N],
                                  const pgi_cell_rows<T, DEPTH, N> &row, unsigned long long *bad)
{
    typedef pgi_cell_span<T, K, E> Span;

    if (!within(jd, cell.out[0]) || !within(jh, cell.out[1]))
        return;
#pragma unroll
    for (int q = Span::BEFORE; q < Span::BEFORE + Span::OWN; q++)
        if (there[q] && !is_tap<K, R>(cell, row.place[DEPTH - 1][q], jd, jh, first_window + q))
            examine(&cell, view.names, view.name + place_offset(cell.names, jd, jh) + q, view.plane,
                    jd, jh, first_window + q, bad);
}

// V places of a row of cells that lie below each other.
template <typename T, int K, int E, int R>
__device__ static void gradient_rows(const pgi_cuda_cell &cell, const pgi_cuda_memory &memory)
{
    typedef pgi_cell_span<T, K, E> Span;
    constexpr int SIDE = K - 1, DEPTH = R == 3 ? SIDE : 1, N = Span::N;
    const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned line = v / cell.groups, slice = line / cell.segments;
    const unsigned member = slice / (unsigned)cell.cells[0];
    const int jd = (int)(slice - member * (unsigned)cell.cells[0]);
    const int column = (int)(v - line * cell.groups) * Span::V;
    const int begin = (int)((line - slice * cell.segments) * cell.length);
    const int end = min(begin + (int)cell.length, cell.cells[1]);
    const int first_window = column / 2 - Span::BEFORE;
    const bool vectors = cell.vectors && is_aligned<T, Span::V>((const T *)memory.target);
    bool there[N];

    if (v >= cell.inner)
        return;
#pragma unroll
    for (int q = 0; q < N; q++)
        there[q] = within(first_window + q, cell.out[2]);
    for (unsigned u = blockIdx.y; u < cell.outer; u += gridDim.y) {
        const unsigned number = u * cell.members + member;
        const pgi_cell_plane plane = plane_of(cell, number);
        const pgi_cell_view<T> view = {
            (const T *)memory.source + plane.offset(cell.windows) + first_window,
            memory.indices,
            plane.offset(cell.names) + first_window,
            (T *)memory.target + plane.offset(cell.positions) + column,
            plane.index(cell),
            number,
            (pgi_real<T>)cell.alpha,
            (pgi_real<T>)cell.beta};
        pgi_cell_loaded<T, DEPTH, N> loaded;
        pgi_cell_rows<T, DEPTH, N> rows[SIDE];

        if (number >= cell.planes)
            return;
        if (SIDE == 2) {
            load_rows(cell, view, jd, begin - 1, there, &loaded);
            settle_rows<T, R>(cell, view, jd, begin - 1, first_window, loaded, &rows[0]);
        }
        load_rows(cell, view, jd, begin, there, &loaded);
        for (int jh = begin; jh < end; jh++) {
            settle_rows<T, R>(cell, view, jd, jh, first_window, loaded, &rows[SIDE - 1]);
            if (jh + 1 < end) // while the cell is computed
                load_rows(cell, view, jd, jh + 1, there, &loaded);
            if (cell.checks)
                check_rows<T, K, E, R>(cell, view, jd, jh, first_window, there, rows[SIDE - 1],
                                       memory.bad);
            answer_rows<T, K, E, R>(cell, view, jd, jh, column, vectors, rows);
            rows[0] = rows[SIDE - 1];
        }
    }
}

// ----------------------------------------------------------- channels last

// The windows of a column that reach a cell on D and H, V channels of each.
template <typename T, int DEPTH, int SIDE> struct pgi_cell_column {
    static constexpr int V = pgi_cell_width<T>;
    int place[DEPTH][SIDE][V];
    pgi_real<T> term[DEPTH][SIDE][V];
};

// The names of such windows, in V channels each.
template <bool ALIGNED, typename Name, typename T, int DEPTH, int SIDE, int V>
__device__ static void load_names(const pgi_cuda_cell &cell, const pgi_cell_view<T> &view, int jd,
                                  int jh, int ow, int64_t (&name)[DEPTH][SIDE][V])
{
#pragma unroll
    for (int a = 0; a < DEPTH; a++)
#pragma unroll
        for (int b = 0; b < SIDE; b++) {
            const int od = jd - (DEPTH - 1) + a, oh = jh - (SIDE - 1) + b;
            const Name *from = (const Name *)view.names + view.name +
                               (place_offset(cell.names, od, oh) + ow * cell.names.place[2]);
            pgi_vector<Name, V> loaded;

#pragma unroll
            for (int i = 0; i < V; i++)
                name[a][b][i] = -1;
            if (!within(od, cell.out[0]) || !within(oh, cell.out[1]) || !within(ow, cell.out[2]))
                continue;
            load_vector<ALIGNED>(from, &loaded);
#pragma unroll
            for (int i = 0; i < V; i++)
                name[a][b][i] = (int64_t)loaded.e[i];
        }
}

// Names and terms, as they lie in memory.
template <bool ALIGNED, typename T, int DEPTH, int SIDE, int V>
__device__ static void load_lanes(const pgi_cuda_cell &cell, const pgi_cell_view<T> &view, int jd,
                                  int jh, int ow, int64_t (&name)[DEPTH][SIDE][V],
                                  pgi_vector<T, V> (&term)[DEPTH][SIDE])
{
    if (cell.kind == PGI_CELL_64)
        load_names<ALIGNED, int64_t>(cell, view, jd, jh, ow, name);
    else if (cell.kind == PGI_CELL_32)
        load_names<ALIGNED, uint32_t>(cell, view, jd, jh, ow, name);
    else
        load_names<ALIGNED, uint8_t>(cell, view, jd, jh, ow, name);
#pragma unroll
    for (int a = 0; a < DEPTH; a++)
#pragma unroll
        for (int b = 0; b < SIDE; b++) {
            const int od = jd - (DEPTH - 1) + a, oh = jh - (SIDE - 1) + b;

            if (within(od, cell.out[0]) && within(oh, cell.out[1]) && within(ow, cell.out[2]))
                load_vector<ALIGNED>(view.dy + (place_offset(cell.windows, od, oh) +
                                                ow * cell.windows.place[2]),
                                     &term[a][b]);
        }
}

template <typename T, int R, int DEPTH, int SIDE>
__device__ static void load_column(const pgi_cuda_cell &cell, const pgi_cell_view<T> &view, int jd,
                                   int jh, int ow, bool vectors,
                                   pgi_cell_column<T, DEPTH, SIDE> *to)
{
    constexpr int V = pgi_cell_width<T>;
    int64_t name[DEPTH][SIDE][V];
    pgi_vector<T, V> term[DEPTH][SIDE];

    if (vectors)
        load_lanes<true>(cell, view, jd, jh, ow, name, term);
    else
        load_lanes<false>(cell, view, jd, jh, ow, name, term);
#pragma unroll
    for (int a = 0; a < DEPTH; a++)
#pragma unroll
        for (int b = 0; b < SIDE; b++) {
            const int od = jd - (DEPTH - 1) + a, oh = jh - (SIDE - 1) + b;

            find_places(cell, name[a][b], first_place<R>(cell, od, oh, ow), 0, view.base,
                        cell.index_channel, to->place[a][b]);
#pragma unroll
            for (int i = 0; i < V; i++)
                to->term[a][b][i] = widen(term[a][b].e[i]);
        }
}

// V channels of one position; windows in row-major order. BOTH: the first of the axis' two positions,
// which windows of both sides reach.
template <bool BOTH_D, bool BOTH_H, bool BOTH_W, typename T, int DEPTH, int SIDE, int V>
__device__ static void ask(const pgi_cell_column<T, DEPTH, SIDE> (&columns)[SIDE], int place,
                           pgi_real<T> (&sums)[V])
{
#pragma unroll
    for (int i = 0; i < V; i++) {
        sums[i] = 0;
#pragma unroll
        for (int a = BOTH_D ? 0 : DEPTH - 1; a < DEPTH; a++)
#pragma unroll
            for (int b = BOTH_H ? 0 : SIDE - 1; b < SIDE; b++)
#pragma unroll
                for (int c = BOTH_W ? 0 : SIDE - 1; c < SIDE; c++)
                    if (columns[c].place[a][b][i] == place)
                        sums[i] = sums[i] + columns[c].term[a][b][i];
    }
}

template <int RD, int RH, int RW, typename T, int R, int DEPTH, int SIDE>
__device__ static void answer_position(const pgi_cuda_cell &cell, const pgi_cell_view<T> &view,
                                       int jd, int jh, int jw, bool vectors,
                                       const pgi_cell_column<T, DEPTH, SIDE> (&columns)[SIDE])
{
    const int d = R == 3 ? 2 * jd - cell.pad[0] + RD : jd;
    const int h = 2 * jh - cell.pad[1] + RH, w = 2 * jw - cell.pad[2] + RW;
    pgi_real<T> sums[pgi_cell_width<T>];
    T *to = view.dx + (place_offset(cell.positions, d, h) + w * cell.positions.place[2]);

    if (!within(d, cell.in[0]) || !within(h, cell.in[1]) || !within(w, cell.in[2]))
        return;
    ask<RD == 0, RH == 0, RW == 0>(columns, d * cell.area + h * cell.in[2] + w, sums);
    if (vectors)
        store_scaled<true>(to, sums, view.alpha, view.beta);
    else
        store_scaled<false>(to, sums, view.alpha, view.beta);
}

template <typename T, int R, int DEPTH, int SIDE>
__device__ static void answer_cell(const pgi_cuda_cell &cell, const pgi_cell_view<T> &view, int jd,
                                   int jh, int jw, bool vectors,
                                   const pgi_cell_column<T, DEPTH, SIDE> (&columns)[SIDE])
{
    answer_position<0, 0, 0, T, R>(cell, view, jd, jh, jw, vectors, columns);
    answer_position<0, 0, 1, T, R>(cell, view, jd, jh, jw, vectors, columns);
    answer_position<0, 1, 0, T, R>(cell, view, jd, jh, jw, vectors, columns);
    answer_position<0, 1, 1, T, R>(cell, view, jd, jh, jw, vectors, columns);
    if (R == 3) {
        answer_position<1, 0, 0, T, R>(cell, view, jd, jh, jw, vectors, columns);
        answer_position<1, 0, 1, T, R>(cell, view, jd, jh, jw, vectors, columns);
        answer_position<1, 1, 0, T, R>(cell, view, jd, jh, jw, vectors, columns);
        answer_position<1, 1, 1, T, R>(cell, view, jd, jh, jw, vectors, columns);
    }
}

template <typename T, int K, int R, int DEPTH, int SIDE>
__device__ static void check_column(const pgi_cuda_cell &cell, const pgi_cell_view<T> &view, int jd,
                                    int jh, int jw, const pgi_cell_column<T, DEPTH, SIDE> &column,
                                    unsigned long long *bad)
{
    if (!within(jd, cell.out[0]) || !within(jh, cell.out[1]) || !within(jw, cell.out[2]))
        return;
#pragma unroll
    for (int i = 0; i < pgi_cell_width<T>; i++)
        if (!is_tap<K, R>(cell, column.place[DEPTH - 1][SIDE - 1][i], jd, jh, jw))
            examine(&cell, view.names,
                    view.name + place_offset(cell.names, jd, jh) + jw * cell.names.place[2] + i,
                    view.plane + i, jd, jh, jw, bad);
}

template <typename T> __device__ static bool lanes_aligned(const pgi_cuda_memory &memory)
{
    return is_aligned<T, pgi_cell_width<T>>((const T *)memory.source) &&
           is_aligned<T, pgi_cell_width<T>>((const T *)memory.target) &&
           (uintptr_t)memory.indices % 16 == 0;
}

// V channels of a column of cells on D and H, along W.
template <typename T, int K, int R>
__device__ static void gradient_lanes(const pgi_cuda_cell &cell, const pgi_cuda_memory &memory)
{
    constexpr int V = pgi_cell_width<T>, SIDE = K - 1, DEPTH = R == 3 ? SIDE : 1;
    const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = v / cell.groups, slice = row / (unsigned)cell.cells[1];
    const unsigned segment = slice / (unsigned)cell.cells[0];
    const int jd = (int)(slice - segment * (unsigned)cell.cells[0]);
    const int jh = (int)(row - slice * (unsigned)cell.cells[1]);
    const int channel = (int)(v - row * cell.groups) * V;
    const int begin = (int)(segment * cell.length);
    const int end = min(begin + (int)cell.length, cell.cells[2]);
    const bool vectors = cell.vectors && lanes_aligned<T>(memory);

    if (v >= cell.inner)
        return;
    for (unsigned u = blockIdx.y; u < cell.outer; u += gridDim.y) {
        const pgi_cell_plane plane = {(int)u, channel};
        const pgi_cell_view<T> view = {(const T *)memory.source + plane.offset(cell.windows),
                                       memory.indices,
                                       plane.offset(cell.names),
                                       (T *)memory.target + plane.offset(cell.positions),
                                       plane.index(cell),
                                       (int64_t)u * cell.channels + channel,
                                       (pgi_real<T>)cell.alpha,
                                       (pgi_real<T>)cell.beta};
        pgi_cell_column<T, DEPTH, SIDE> columns[SIDE];

        if (SIDE == 2)
            load_column<T, R>(cell, view, jd, jh, begin - 1, vectors, &columns[0]);
        for (int jw = begin; jw < end; jw++) {
            load_column<T, R>(cell, view, jd, jh, jw, vectors, &columns[SIDE - 1]);
            if (cell.checks)
                check_column<T, K, R>(cell, view, jd, jh, jw, columns[SIDE - 1], memory.bad);
            answer_cell<T, R>(cell, view, jd, jh, jw, vectors, columns);
            columns[0] = columns[SIDE - 1];
        }
    }
}

#define ROWS(k, e, r, suffix, type)                                                                \
    extern "C" __global__ void __launch_bounds__(256) pgi_cell_gradient_##k##e##r##_rows_##suffix( \
        const __grid_constant__ pgi_cuda_cell cell, const pgi_cuda_memory memory)                  \
    {                                                                                              \
        gradient_rows<type, k, e, r>(cell, memory);                                                \
    }

#define LANES(k, r, suffix, type)                                                                  \
    extern "C" __global__ void __launch_bounds__(256) pgi_cell_gradient_##k##r##_lanes_##suffix(   \
        const __grid_constant__ pgi_cuda_cell cell, const pgi_cuda_memory memory)                  \
    {                                                                                              \
        gradient_lanes<type, k, r>(cell, memory);                                                  \
    }

#define ELEMENT_TYPE(suffix, type)                                                                 \
    ROWS(2, 0, 2, suffix, type)                                                                    \
    ROWS(3, 0, 2, suffix, type)                                                                    \
    ROWS(3, 1, 2, suffix, type)                                                                    \
    ROWS(2, 0, 3, suffix, type)                                                                    \
    ROWS(3, 0, 3, suffix, type)                                                                    \
    ROWS(3, 1, 3, suffix, type)                                                                    \
    LANES(2, 2, suffix, type)                                                                      \
    LANES(3, 2, suffix, type)                                                                      \
    LANES(2, 3, suffix, type)                                                                      \
    LANES(3, 3, suffix, type)

ELEMENT_TYPE(f32, float)
ELEMENT_TYPE(f64, double)
ELEMENT_TYPE(f16, pgi_f16)
ELEMENT_TYPE(bf16, pgi_bf16)
