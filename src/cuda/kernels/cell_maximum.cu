// SPDX-License-Identifier: MIT
// The maxima of windows of 2 or 3 with stride 2: the forward pass, and the winners of a gradient from x.
// A thread has windows side by side, or V channels of one. It loads all taps at once; a tap outside
// the input is replaced by the nearest inside, which changes no maximum, and in the end its code by
// that one's. Where nothing is NaN, that and "larger wins" are all there is to do.
#include "cuda/kernels/cell.cuh"
#include "cuda/kernels/winner.cuh"

#include <math_constants.h>

// How taps are compared: where none is NaN, with the value of the winner or for the winner alone; or by
// the rules.
enum pgi_cell_rules { CELL_VALUES, CELL_WINNERS, CELL_NAN };

// The best of a window so far, and the code of its tap.
template <typename Real> struct pgi_cell_best {
    Real value;
    int code;
};

// What the taps of one slice do to it, in row-major order.
template <int RULES, typename Real> struct pgi_cell_bout {
    Real best; // CELL_WINNERS: NaN from the first on
    int code;  // of the last winner in this slice, -1: none
    bool nan;  // CELL_VALUES: one was

    __device__ void meet(Real value, int tap, bool first, int rule)
    {
        const bool wins_now =
            RULES == CELL_NAN ? (first && tap == 0) || wins(rule, value, best) : value > best;

        code = wins_now ? tap : code;
        if (RULES == CELL_WINNERS) {
            best = larger_or_nan(best, value);
        } else {
            best = wins_now ? value : best;
            nan |= value != value;
        }
    }

    __device__ bool saw_nan() const
    {
        return RULES == CELL_WINNERS ? best != best : nan;
    }
};

// Which taps of a window lie inside, on one axis.
struct pgi_cell_clip {
    int first, last;

    template <int K> __device__ static pgi_cell_clip of(int o, int pad, int in)
    {
        return {max(0, pad - 2 * o), min(K - 1, in - 1 - (2 * o - pad))};
    }

    __device__ int clip(int tap) const
    {
        return min(max(tap, first), last);
    }

    __device__ bool whole(int k) const
    {
        return first == 0 && last == k - 1;
    }
};

__device__ static int clip_code(int code, const pgi_cell_clip &d, const pgi_cell_clip &h,
                                const pgi_cell_clip &w)
{
    return d.clip(code >> 4) << 4 | h.clip(code >> 2 & 3) << 2 | w.clip(code & 3);
}

template <typename T, int V>
__device__ static void store_values(T *to, const pgi_real<T> (&values)[V], pgi_real<T> alpha,
                                    pgi_real<T> beta, bool vectors, int room)
{
    if (vectors) {
        store_scaled<true>(to, values, alpha, beta);
    } else {
#pragma unroll
        for (int i = 0; i < V; i++)
            if (i < room)
                store(to + i, values[i], alpha, beta);
    }
}

// Numbers as names; the pointer of vectors is a multiple of their size.
template <typename Name, typename Number, int V>
__device__ static void store_names(void *names, int64_t at, const Number (&number)[V], bool vectors,
                                   int room)
{
    Name *to = (Name *)names + at;
    pgi_vector<Name, V> made;

#pragma unroll
    for (int i = 0; i < V; i++)
        made.e[i] = (Name)number[i];
    if (vectors && is_aligned<Name, V>(to)) {
        *(pgi_vector<Name, V> *)to = made;
    } else {
#pragma unroll
        for (int i = 0; i < V; i++)
            if (i < room)
                to[i] = made.e[i];
    }
}

// The codes themselves, or the indices they stand for: of V windows whose first taps are `next`
// further each, as are indices by `step`.
template <int RULES, int V>
__device__ static void store_winners(const pgi_cuda_cell &cell, void *names, int64_t at,
                                     const int (&code)[V], int first, int next, int64_t base,
                                     int64_t step, bool vectors, int room)
{
    if constexpr (RULES == CELL_WINNERS) {
        store_names<uint8_t>(names, at, code, vectors, room);
    } else {
        int64_t index[V];

#pragma unroll
        for (int i = 0; i < V; i++)
            index[i] = base + i * step + (first + i * next + code_distance(cell, code[i]));
        if (cell.kind == PGI_CELL_64)
            store_names<int64_t>(names, at, index, vectors, room);
        else
            store_names<uint32_t>(names, at, index, vectors, room);
    }
}

// ---------------------------------------------------------- channels first

// The taps of OWN windows side by side: V columns, and one more before or behind, of K rows.
template <typename T, int K, int E> struct pgi_cell_taps {
    static constexpr int V = pgi_cell_row_width<T>, OWN = V / 2, COLUMNS = V - 2 + K;
    int column, beyond; // of the V, and the one more
    int row[K];         // offsets
    bool vectors;

    __device__ void load(const pgi_cuda_cell &cell, const T *x,
                         pgi_real<T> (&value)[K][COLUMNS]) const
    {
        if (vectors) {
            pgi_vector<T, V> loaded[K];
            T beside[K];

#pragma unroll
            for (int th = 0; th < K; th++) {
                load_vector<true>(x + (row[th] + column), &loaded[th]);
                if (K == 3)
                    beside[th] = load_element(x + (row[th] + beyond));
            }
#pragma unroll
            for (int th = 0; th < K; th++) {
                widen_all(loaded[th], value[th] + E);
                if (K == 3)
                    value[th][E ? 0 : COLUMNS - 1] = widen(beside[th]);
            }
        } else {
#pragma unroll
            for (int th = 0; th < K; th++)
#pragma unroll
                for (int c = 0; c < COLUMNS; c++)
                    value[th][c] =
                        widen(load_element(x + (row[th] + clamped(column - E + c, cell.in[2]))));
        }
    }
};

// The winners of OWN windows; whether a tap is NaN.
template <int RULES, typename T, int K, int E, int R>
__device__ static bool contest_rows(const pgi_cuda_cell &cell, const T *x,
                                    const pgi_cell_taps<T, K, E> &taps, int od,
                                    pgi_cell_best<pgi_real<T>> (&best)[pgi_cell_taps<T, K, E>::OWN])
{
    typedef pgi_cell_taps<T, K, E> Taps;
    typedef pgi_real<T> Real;
    bool nan = false;

#pragma unroll
    for (int j = 0; j < Taps::OWN; j++)
        best[j] = {(Real)-CUDART_INF, 0};
#pragma unroll 1
    for (int td = 0; td < (R == 3 ? K : 1); td++) {
        const int d = R == 3 ? clamped(2 * od - cell.pad[0] + td, cell.in[0]) : od;
        Real value[K][Taps::COLUMNS];

        taps.load(cell, x + d * cell.positions.place[0], value);
#pragma unroll
        for (int j = 0; j < Taps::OWN; j++) {
            pgi_cell_bout<RULES, Real> bout = {best[j].value, -1, false};

#pragma unroll
            for (int th = 0; th < K; th++)
#pragma unroll
                for (int tw = 0; tw < K; tw++)
                    bout.meet(value[th][2 * j + tw], th << 2 | tw, td == 0, cell.nan);
            best[j].value = bout.best;
            best[j].code = bout.code >= 0 ? td << 4 | bout.code : best[j].code;
            nan |= bout.saw_nan();
        }
    }
    return nan;
}

// RULES: whether values are wanted, or winners alone, as codes.
template <int RULES, typename T, int K, int E, int R>
__device__ static void maximum_rows(const pgi_cuda_cell &cell, const pgi_cuda_memory &memory)
{
    typedef pgi_cell_taps<T, K, E> Taps;
    typedef pgi_real<T> Real;
    constexpr int V = Taps::V, OWN = Taps::OWN;
    const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned line = v / cell.groups, slice = line / (unsigned)cell.out[1];
    const unsigned member = slice / (unsigned)cell.out[0];
    const int od = (int)(slice - member * (unsigned)cell.out[0]);
    const int oh = (int)(line - slice * (unsigned)cell.out[1]);
    const int ow = (int)(v - line * cell.groups) * OWN;
    const pgi_cell_clip d = R == 3 ? pgi_cell_clip::of<K>(od, cell.pad[0], cell.in[0])
                                   : pgi_cell_clip{0, 0};
    const pgi_cell_clip h = pgi_cell_clip::of<K>(oh, cell.pad[1], cell.in[1]);
    const bool edge = !((R == 2 || d.whole(K)) && h.whole(K) &&
                        pgi_cell_clip::of<K>(ow, cell.pad[2], cell.in[2]).whole(K) &&
                        pgi_cell_clip::of<K>(ow + OWN - 1, cell.pad[2], cell.in[2]).whole(K));
    const bool pairs = cell.pairs && is_aligned<T, OWN>((const T *)memory.target);
    Taps taps;

    if (v >= cell.inner)
        return;
    taps.column = 2 * ow;
    taps.beyond = clamped(E ? taps.column - 1 : taps.column + V, cell.in[2]);
    taps.vectors = cell.vectors && taps.column + V <= cell.in[2] &&
                   is_aligned<T, V>((const T *)memory.source);
#pragma unroll
    for (int th = 0; th < K; th++)
        taps.row[th] = clamped(2 * oh - cell.pad[1] + th, cell.in[1]) * cell.positions.place[1];
    for (unsigned u = blockIdx.y; u < cell.outer; u += gridDim.y) {
        const unsigned number = u * cell.members + member;
        const pgi_cell_plane plane = plane_of(cell, number);
        const T *x = (const T *)memory.source + plane.offset(cell.positions);
        pgi_cell_best<Real> best[OWN];
        Real value[OWN];
        int code[OWN];

        if (number >= cell.planes)
            return;
        if (contest_rows<RULES, T, K, E, R>(cell, x, taps, od, best))
            contest_rows<CELL_NAN, T, K, E, R>(cell, x, taps, od, best);
#pragma unroll
        for (int j = 0; j < OWN; j++) {
            value[j] = best[j].value;
            code[j] = best[j].code;
        }
        if (edge) {
#pragma unroll
            for (int j = 0; j < OWN; j++)
                code[j] = clip_code(code[j], d, h,
                                    pgi_cell_clip::of<K>(ow + j, cell.pad[2], cell.in[2]));
        }
        if (RULES == CELL_VALUES && memory.target)
            store_values((T *)memory.target + plane.offset(cell.windows) +
                             (place_offset(cell.windows, od, oh) + ow),
                         value, (Real)cell.alpha, (Real)cell.beta, pairs, cell.out[2] - ow);
        if (memory.indices_out)
            store_winners<RULES>(cell, memory.indices_out,
                                 plane.offset(cell.names) + (place_offset(cell.names, od, oh) + ow),
                                 code, first_place<R>(cell, od, oh, ow), 2, plane.index(cell), 0,
                                 cell.pairs, cell.out[2] - ow);
    }
}

// ----------------------------------------------------------- channels last

template <int RULES, typename T, int K, int R>
__device__ static bool contest_lanes(const pgi_cuda_cell &cell, const T *x, bool vectors, int od,
                                     const int (&row)[K], const int (&column)[K],
                                     pgi_cell_best<pgi_real<T>> (&best)[pgi_cell_width<T>])
{
    typedef pgi_real<T> Real;
    constexpr int V = pgi_cell_width<T>;
    bool nan = false;

#pragma unroll
    for (int i = 0; i < V; i++)
        best[i] = {(Real)-CUDART_INF, 0};
#pragma unroll 1
    for (int td = 0; td < (R == 3 ? K : 1); td++) {
        const int d = R == 3 ? clamped(2 * od - cell.pad[0] + td, cell.in[0]) : od;
        const T *slice = x + d * cell.positions.place[0];
        pgi_vector<T, V> loaded[K * K];
        Real value[K * K][V];

        if (vectors) {
#pragma unroll
            for (int tap = 0; tap < K * K; tap++)
                load_vector<true>(slice + (row[tap / K] + column[tap % K]), &loaded[tap]);
        } else {
#pragma unroll
            for (int tap = 0; tap < K * K; tap++)
                load_vector<false>(slice + (row[tap / K] + column[tap % K]), &loaded[tap]);
        }
#pragma unroll
        for (int tap = 0; tap < K * K; tap++)
            widen_all(loaded[tap], value[tap]);
#pragma unroll
        for (int i = 0; i < V; i++) {
            pgi_cell_bout<RULES, Real> bout = {best[i].value, -1, false};

#pragma unroll
            for (int tap = 0; tap < K * K; tap++)
                bout.meet(value[tap][i], (tap / K) << 2 | tap % K, td == 0, cell.nan);
            best[i].value = bout.best;
            best[i].code = bout.code >= 0 ? td << 4 | bout.code : best[i].code;
            nan |= bout.saw_nan();
        }
    }
    return nan;
}

template <int RULES, typename T, int K, int R>
__device__ static void maximum_lanes(const pgi_cuda_cell &cell, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    constexpr int V = pgi_cell_width<T>;
    const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned window = v / cell.groups, line = window / (unsigned)cell.out[2];
    const int channel = (int)(v - window * cell.groups) * V;
    const int od = (int)(line / (unsigned)cell.out[1]);
    const int oh = (int)(line - (unsigned)od * (unsigned)cell.out[1]);
    const int ow = (int)(window - line * (unsigned)cell.out[2]);
    const pgi_cell_clip d = R == 3 ? pgi_cell_clip::of<K>(od, cell.pad[0], cell.in[0])
                                   : pgi_cell_clip{0, 0};
    const pgi_cell_clip h = pgi_cell_clip::of<K>(oh, cell.pad[1], cell.in[1]);
    const pgi_cell_clip w = pgi_cell_clip::of<K>(ow, cell.pad[2], cell.in[2]);
    const bool edge = !((R == 2 || d.whole(K)) && h.whole(K) && w.whole(K));
    const bool load = cell.vectors && is_aligned<T, V>((const T *)memory.source);
    const bool keep = cell.vectors && is_aligned<T, V>((const T *)memory.target);
    int row[K], column[K];

    if (v >= cell.inner)
        return;
#pragma unroll
    for (int t = 0; t < K; t++) {
        row[t] = clamped(2 * oh - cell.pad[1] + t, cell.in[1]) * cell.positions.place[1];
        column[t] = clamped(2 * ow - cell.pad[2] + t, cell.in[2]) * cell.positions.place[2];
    }
    for (unsigned u = blockIdx.y; u < cell.outer; u += gridDim.y) {
        const pgi_cell_plane plane = {(int)u, channel};
        const T *x = (const T *)memory.source + plane.offset(cell.positions);
        pgi_cell_best<Real> best[V];
        Real value[V];
        int code[V];

        if (contest_lanes<RULES, T, K, R>(cell, x, load, od, row, column, best))
            contest_lanes<CELL_NAN, T, K, R>(cell, x, load, od, row, column, best);
#pragma unroll
        for (int i = 0; i < V; i++) {
            value[i] = best[i].value;
            code[i] = best[i].code;
        }
        if (edge) {
#pragma unroll
            for (int i = 0; i < V; i++)
                code[i] = clip_code(code[i], d, h, w);
        }
        if (RULES == CELL_VALUES && memory.target)
            store_values((T *)memory.target + plane.offset(cell.windows) +
                             (place_offset(cell.windows, od, oh) + ow * cell.windows.place[2]),
                         value, (Real)cell.alpha, (Real)cell.beta, keep, V);
        if (memory.indices_out)
            store_winners<RULES>(cell, memory.indices_out,
                          plane.offset(cell.names) +
                              (place_offset(cell.names, od, oh) + ow * cell.names.place[2]),
                          code, first_place<R>(cell, od, oh, ow), 0, plane.index(cell),
                          cell.index_channel, cell.vectors, V);
    }
}

// Blocks that a multiprocessor is to hold: what the taps leave of its registers.
#define BLOCKS(r, type) ((r) == 2 ? 4 : sizeof(type) == 2 ? 2 : 3)

#define ROWS(pass, rules, k, e, r, suffix, type)                                                   \
    extern "C" __global__ void __launch_bounds__(256, BLOCKS(r, type))                             \
        pgi_cell_##pass##_##k##e##r##_rows_##suffix(const __grid_constant__ pgi_cuda_cell cell,    \
                                                    const pgi_cuda_memory memory)                  \
    {                                                                                              \
        maximum_rows<rules, type, k, e, r>(cell, memory);                                          \
    }

#define LANES(pass, rules, k, r, suffix, type)                                                     \
    extern "C" __global__ void __launch_bounds__(256, BLOCKS(r, type))                             \
        pgi_cell_##pass##_##k##r##_lanes_##suffix(const __grid_constant__ pgi_cuda_cell cell,      \
                                                  const pgi_cuda_memory memory)                    \
    {                                                                                              \
        maximum_lanes<rules, type, k, r>(cell, memory);                                            \
    }

#define PASS(pass, rules, suffix, type)                                                            \
    ROWS(pass, rules, 2, 0, 2, suffix, type)                                                       \
    ROWS(pass, rules, 3, 0, 2, suffix, type)                                                       \
    ROWS(pass, rules, 3, 1, 2, suffix, type)                                                       \
    ROWS(pass, rules, 2, 0, 3, suffix, type)                                                       \
    ROWS(pass, rules, 3, 0, 3, suffix, type)                                                       \
    ROWS(pass, rules, 3, 1, 3, suffix, type)                                                       \
    LANES(pass, rules, 2, 2, suffix, type)                                                         \
    LANES(pass, rules, 3, 2, suffix, type)                                                         \
    LANES(pass, rules, 2, 3, suffix, type)                                                         \
    LANES(pass, rules, 3, 3, suffix, type)

#define ELEMENT_TYPE(suffix, type)                                                                 \
    PASS(maximum, CELL_VALUES, suffix, type)                                                       \
    PASS(winners, CELL_WINNERS, suffix, type)

ELEMENT_TYPE(f32, float)
ELEMENT_TYPE(f64, double)
ELEMENT_TYPE(f16, pgi_f16)
ELEMENT_TYPE(bf16, pgi_bf16)
