// SPDX-License-Identifier: MIT
// The maxima of windows of 2 or 3 with stride 2: the forward pass, and the winners of a gradient
// from x. A thread has windows side by side, or V channels of one, and goes along the first axis
// that is pooled. Of a window there it takes the taps layer by layer; a layer that two windows
// share is looked at once, and the next one is loaded meanwhile. A tap outside the input is
// replaced by the nearest inside, which changes no maximum, and in the end its code by that one's.
// Where nothing is NaN, that and "larger wins" are all there is to do.
#include "cuda/kernels/cell.cuh"
#include "cuda/kernels/step.cuh"
#include "cuda/kernels/winner.cuh"

#include <math_constants.h>

// Whether values are wanted, or winners alone.
enum pgi_cell_rules {
    CELL_VALUES,
    CELL_WINNERS
};

// The best of some taps, in row-major order, if none is NaN.
template <int RULES, typename Real> struct pgi_cell_bout {
    Real best = (Real)-CUDART_INF; // CELL_WINNERS: NaN from the first on
    int code = 0;                  // of its tap
    bool nan = false;              // CELL_VALUES: one was

    __device__ void meet(Real value, int tap)
    {
        const bool wins_now = value > best;

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

// ------------------------------------------------------------------- layers

// What a layer is: rows of a slice, or with two axes one row. AXIS is the one they lie along.
template <int K, int R> struct pgi_cell_layers {
    static constexpr int SIDE = K, AXES = R, AXIS = R == 3 ? 0 : 1, ROWS = R == 3 ? K : 1;

    // Of a tap in layer t of a window.
    static __host__ __device__ constexpr int code(int t, int row, int column)
    {
        return R == 3 ? tap_code(t, row, column) : tap_code(0, t, column);
    }
};

// Channels first: a layer has V columns, and one more before or behind, of OWN windows side by
// side.
template <typename Element, int K, int E, int R> struct pgi_cell_row_taps : pgi_cell_layers<K, R> {
    typedef Element T;
    using pgi_cell_layers<K, R>::ROWS;
    static constexpr int V = PGI_CELL_ROW_WIDTH(sizeof(T)), OWN = V / 2;
    struct Layer {
        pgi_vector<T, V> middle[ROWS];
        T beside[ROWS];
    };

    int column, beyond; // of the V, and the one more
    int row[ROWS];      // offsets
    bool vectors;

    __device__ void load(const pgi_cuda_cell &cell, const T *x, Layer *layer) const
    {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            if (vectors) {
                load_vector<true>(x + (row[r] + column), &layer->middle[r]);
            } else {
#pragma unroll
                for (int c = 0; c < V; c++)
                    layer->middle[r].e[c] =
                        load_element(x + (row[r] + clamped(column + c, cell.in[2])));
            }
            if (K == 3)
                layer->beside[r] = load_element(x + (row[r] + beyond));
        }
    }

    static __device__ pgi_real<T> value(const Layer &layer, int j, int r, int tap)
    {
        const int c = 2 * j + tap - E;

        return c < 0 || c >= V ? widen(layer.beside[r]) : widen(layer.middle[r], c);
    }
};

// Channels last: OWN channels of one window.
template <typename Element, int K, int R> struct pgi_cell_lane_taps : pgi_cell_layers<K, R> {
    typedef Element T;
    using pgi_cell_layers<K, R>::ROWS;
    static constexpr int OWN = PGI_CELL_MAXIMUM_WIDTH(R, sizeof(T));
    struct Layer {
        pgi_vector<T, OWN> tap[ROWS][K];
    };

    int row[ROWS], column[K]; // offsets
    bool vectors;

    template <bool ALIGNED> __device__ void load_all(const T *x, Layer *layer) const
    {
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int c = 0; c < K; c++)
                load_vector<ALIGNED>(x + (row[r] + column[c]), &layer->tap[r][c]);
    }

    __device__ void load(const pgi_cuda_cell &, const T *x, Layer *layer) const
    {
        if (vectors)
            load_all<true>(x, layer);
        else
            load_all<false>(x, layer);
    }

    static __device__ pgi_real<T> value(const Layer &layer, int j, int r, int tap)
    {
        return widen(layer.tap[r][tap], j);
    }
};

// ------------------------------------------------------------------ contest

template <int RULES, typename Taps>
using pgi_cell_bouts = pgi_cell_bout<RULES, pgi_real<typename Taps::T>>[Taps::OWN];

// Layer t of all windows.
template <int RULES, typename Taps>
__device__ static void meet_layer(const typename Taps::Layer &layer, int t,
                                  pgi_cell_bouts<RULES, Taps> &bouts)
{
#pragma unroll
    for (int j = 0; j < Taps::OWN; j++)
#pragma unroll
        for (int r = 0; r < Taps::ROWS; r++)
#pragma unroll
            for (int c = 0; c < Taps::SIDE; c++)
                bouts[j].meet(Taps::value(layer, j, r, c), Taps::code(t, r, c));
}

// The winners by the rules for NaN, from the first tap on; `first`: where layer 0 is on the axis.
template <int RULES, typename Taps>
__device__ static void contest_by_rules(const pgi_cuda_cell &cell, const typename Taps::T *x,
                                        const Taps &taps, int first,
                                        pgi_cell_bouts<RULES, Taps> &bouts)
{
    constexpr int AXIS = Taps::AXIS;

#pragma unroll 1
    for (int t = 0; t < Taps::SIDE; t++) {
        typename Taps::Layer layer;

        taps.load(cell, x + clamped(first + t, cell.in[AXIS]) * cell.positions.place[AXIS], &layer);
#pragma unroll
        for (int j = 0; j < Taps::OWN; j++)
#pragma unroll
            for (int r = 0; r < Taps::ROWS; r++)
#pragma unroll
                for (int c = 0; c < Taps::SIDE; c++) {
                    const auto value = Taps::value(layer, j, r, c);

                    if ((t == 0 && r == 0 && c == 0) || wins(cell.nan, value, bouts[j].best)) {
                        bouts[j].best = value;
                        bouts[j].code = Taps::code(t, r, c);
                    }
                }
    }
}

// Goes through windows [begin, end) of the axis and hands each to `finish`.
template <int RULES, typename Taps, typename Finish>
__device__ static void go_along(const pgi_cuda_cell &cell, const typename Taps::T *x,
                                const Taps &taps, int begin, int end, Finish finish)
{
    constexpr int K = Taps::SIDE, AXIS = Taps::AXIS;
    typename Taps::Layer first, second; // of the two that a window has for itself, or with the next
    pgi_cell_bouts<RULES, Taps> shared = {};
    int place = 2 * begin - cell.pad[AXIS]; // of layer 0
    const auto load = [&](int t, typename Taps::Layer *layer) {
        const int there = clamped(place + t, cell.in[AXIS]);

        taps.load(cell, x + there * cell.positions.place[AXIS], layer);
    };

    load(0, &first);
    if (K == 3) {
        load(1, &second);
        meet_layer<RULES, Taps>(first, 0, shared);
        first = second;
    }
#pragma unroll 1
    for (int o = begin; o < end; o++, place += 2) {
        pgi_cell_bouts<RULES, Taps> bouts = {};
        bool nan = false;

        load(K - 1, &second);
        if (K == 3) {
#pragma unroll
            for (int j = 0; j < Taps::OWN; j++) {
                bouts[j] = shared[j];
                shared[j] = {};
            }
        }
        meet_layer<RULES, Taps>(first, K - 2, bouts);
        if (o + 1 < end)
            load(K, &first);
        if (K == 3) {
            meet_layer<RULES, Taps>(second, 0, shared);
#pragma unroll
            for (int j = 0; j < Taps::OWN; j++) {
                bouts[j].meet(shared[j].best, Taps::code(2, 0, 0) + shared[j].code);
                bouts[j].nan |= shared[j].nan;
            }
        } else {
            meet_layer<RULES, Taps>(second, 1, bouts);
        }
#pragma unroll
        for (int j = 0; j < Taps::OWN; j++)
            nan |= bouts[j].saw_nan();
        if (nan)
            contest_by_rules<RULES, Taps>(cell, x, taps, place, bouts);
        finish(o, bouts);
    }
}

// ------------------------------------------------------------------ threads

// Values and names of the windows of a thread, the first of which is (od, oh, ow); they lie behind
// each other on W or are channels of one.
template <int RULES, bool LANES, typename Taps>
__device__ static void store_windows(const pgi_cuda_cell &cell, const pgi_cuda_memory &memory,
                                     const pgi_cell_plane &plane, int od, int oh, int ow,
                                     bool vectors, const pgi_cell_bouts<RULES, Taps> &bouts)
{
    typedef typename Taps::T T;
    typedef pgi_real<T> Real;
    constexpr int K = Taps::SIDE, R = Taps::AXES, OWN = Taps::OWN;
    const int last = LANES ? ow : ow + OWN - 1, room = LANES ? OWN : cell.out[2] - ow;
    const pgi_cell_clip d =
        R == 3 ? pgi_cell_clip::of<K>(od, cell.pad[0], cell.in[0]) : pgi_cell_clip{0, 0};
    const pgi_cell_clip h = pgi_cell_clip::of<K>(oh, cell.pad[1], cell.in[1]);
    const bool inside = (R == 2 || d.whole(K)) && h.whole(K) &&
                        pgi_cell_clip::of<K>(ow, cell.pad[2], cell.in[2]).whole(K) &&
                        pgi_cell_clip::of<K>(last, cell.pad[2], cell.in[2]).whole(K);
    Real value[OWN];
    int code[OWN];

#pragma unroll
    for (int j = 0; j < OWN; j++) {
        value[j] = bouts[j].best;
        code[j] = bouts[j].code;
    }
    if (!inside) {
#pragma unroll
        for (int j = 0; j < OWN; j++)
            code[j] = clip_code(code[j], d, h,
                                pgi_cell_clip::of<K>(LANES ? ow : ow + j, cell.pad[2], cell.in[2]));
    }
    if (RULES == CELL_VALUES && memory.target)
        store_values((T *)memory.target + plane.offset(cell.windows) +
                         (place_offset(cell.windows, od, oh) + ow * cell.windows.place[2]),
                     value, (Real)cell.alpha, (Real)cell.beta, vectors, room);
    if (memory.indices_out)
        store_winners<RULES>(cell, memory.indices_out,
                             plane.offset(cell.names) +
                                 (place_offset(cell.names, od, oh) + ow * cell.names.place[2]),
                             code, first_place<R>(cell, od, oh, ow), LANES ? 0 : 2,
                             plane.index(cell), LANES ? cell.index_channel : 0,
                             LANES ? cell.vectors : cell.pairs, room);
}

template <int RULES, typename Taps, bool LANES>
__device__ static void march(const pgi_cuda_cell &cell, const pgi_cuda_memory &memory,
                             const pgi_cell_plane &plane, const Taps &taps,
                             const pgi_cell_share &share, int ow, bool vectors)
{
    typedef typename Taps::T T;
    constexpr int R = Taps::AXES;
    const T *x = (const T *)memory.source + plane.offset(cell.positions) +
                 (R == 3 ? 0 : share.across * cell.positions.place[0]);

    go_along<RULES>(cell, x, taps, share.begin, share.end,
                    [&](int o, const pgi_cell_bouts<RULES, Taps> &bouts) {
                        store_windows<RULES, LANES, Taps>(
                            cell, memory, plane, R == 3 ? o : share.across,
                            R == 3 ? share.across : o, ow, vectors, bouts);
                    });
}

template <int RULES, typename T, int K, int E, int R>
__device__ static void maximum_rows(const pgi_cuda_cell &cell, const pgi_cuda_memory &memory)
{
    typedef pgi_cell_row_taps<T, K, E, R> Taps;
    constexpr int V = Taps::V;
    const unsigned v = blockIdx.x * blockDim.x + threadIdx.x, line = v / cell.groups;
    const pgi_cell_share share = pgi_cell_share::of<R>(cell, line);
    const int ow = (int)(v - line * cell.groups) * Taps::OWN;
    const bool pairs = cell.pairs && is_aligned<T, Taps::OWN>((const T *)memory.target);
    Taps taps;

    admit_next_step();
    if (v >= cell.inner)
        return;
    taps.column = 2 * ow;
    taps.beyond = clamped(E ? taps.column - 1 : taps.column + V, cell.in[2]);
    taps.vectors =
        cell.vectors && taps.column + V <= cell.in[2] && is_aligned<T, V>((const T *)memory.source);
#pragma unroll
    for (int r = 0; r < Taps::ROWS; r++)
        taps.row[r] = R == 3 ? clamped(2 * share.across - cell.pad[1] + r, cell.in[1]) *
                                   cell.positions.place[1]
                             : 0;
    for (unsigned u = blockIdx.y; u < cell.outer; u += gridDim.y) {
        const unsigned number = u * cell.members + share.member;

        if (number >= cell.planes)
            return;
        march<RULES, Taps, false>(cell, memory, plane_of(cell, number), taps, share, ow, pairs);
    }
}

template <int RULES, typename T, int K, int R>
__device__ static void maximum_lanes(const pgi_cuda_cell &cell, const pgi_cuda_memory &memory)
{
    typedef pgi_cell_lane_taps<T, K, R> Taps;
    const unsigned v = blockIdx.x * blockDim.x + threadIdx.x, window = v / cell.groups;
    const unsigned line = window / (unsigned)cell.out[2];
    const int channel = (int)(v - window * cell.groups) * Taps::OWN;
    const int ow = (int)(window - line * (unsigned)cell.out[2]);
    const pgi_cell_share share = pgi_cell_share::of<R>(cell, line);
    const bool keep = cell.vectors && is_aligned<T, Taps::OWN>((const T *)memory.target);
    Taps taps;

    admit_next_step();
    if (v >= cell.inner)
        return;
    taps.vectors = cell.vectors && is_aligned<T, Taps::OWN>((const T *)memory.source);
#pragma unroll
    for (int r = 0; r < Taps::ROWS; r++)
        taps.row[r] = R == 3 ? clamped(2 * share.across - cell.pad[1] + r, cell.in[1]) *
                                   cell.positions.place[1]
                             : 0;
#pragma unroll
    for (int c = 0; c < K; c++)
        taps.column[c] = clamped(2 * ow - cell.pad[2] + c, cell.in[2]) * cell.positions.place[2];
    for (unsigned u = blockIdx.y; u < cell.outer; u += gridDim.y)
        march<RULES, Taps, true>(cell, memory, {(int)u, channel}, taps, share, ow, keep);
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

PASS(maximum, CELL_VALUES, f32, float)
PASS(maximum, CELL_VALUES, f64, double)
PASS(maximum, CELL_VALUES, f16, pgi_f16)
PASS(maximum, CELL_VALUES, bf16, pgi_bf16)
PASS(winners, CELL_WINNERS, f32, float)
PASS(winners, CELL_WINNERS, f64, double)
