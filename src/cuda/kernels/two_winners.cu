// SPDX-License-Identifier: MIT
// The winners of windows of 2 or 3 with stride 2 in x, of elements of two bytes: as cell_maximum.cu
// finds them, but two windows at a time, whose values are the halves of words. Channels first they
// lie side by side; channels last they are those of two channels.
#include "cuda/kernels/step.cuh"
#include "cuda/kernels/two.cuh"

// The best of some taps in row-major order, if none is NaN.
template <typename T, int WORDS> struct pgi_two_bouts {
    unsigned best[WORDS], code[WORDS];

    // Nothing yet; what is no larger than all of nothing leaves `origin`.
    __device__ void begin(const unsigned (&origin)[WORDS])
    {
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            best[i] = twice(lowest_of(T{}));
            code[i] = origin[i];
        }
    }

    __device__ void meet(int i, unsigned values, unsigned codes)
    {
        const unsigned wins_now = is_greater(values, best[i], T{});

        code[i] = (code[i] & ~wins_now) | (codes & wins_now);
        best[i] = larger_of_two(best[i], values, T{});
    }

    __device__ bool saw_nan() const
    {
        unsigned all = best[0];

#pragma unroll
        for (int i = 1; i < WORDS; i++)
            all = larger_of_two(all, best[i], T{});
        return has_nan(all);
    }
};

// ------------------------------------------------------------------- layers

// What a layer is: rows of a slice, or with two axes one row. AXIS is the one they lie along.
template <int K, int R> struct pgi_two_layers {
    static constexpr int SIDE = K, AXES = R, AXIS = R == 3 ? 0 : 1, ROWS = R == 3 ? K : 1;

    // Of a tap in layer t of a window.
    static __host__ __device__ constexpr unsigned code(int t, int row, int column)
    {
        return twice((unsigned)(R == 3 ? tap_code(t, row, column) : tap_code(0, t, column)));
    }
};

// Channels first: 8 columns, and one more before or behind, of four windows side by side. A column
// outside the input is the lowest of numbers.
template <typename Element, int K, int E, int R, int AHEAD>
struct pgi_two_rows : pgi_two_layers<K, R> {
    typedef Element T;
    static constexpr bool BOTH = AHEAD == 2;
    using pgi_two_layers<K, R>::ROWS;
    static constexpr int V = PGI_CELL_ROW_WIDTH(2), OWN = V / 2, WORDS = OWN / 2;
    struct Layer {
        pgi_vector<T, V> middle[ROWS];
        pgi_word<T> beside[ROWS];
    };

    int row[ROWS]; // offsets of the first of these columns
    int room;      // how many there are
    int beside;    // from the first to the one more
    bool vectors, beyond;

    template <bool VECTORS> __device__ void load(const T *x, Layer *layer) const
    {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const T *const from = x + row[r];

            if (VECTORS) {
                load_vector<true>(from, &layer->middle[r]);
            } else {
#pragma unroll
                for (int c = 0; c < V; c++) {
                    layer->middle[r].e[c] = load_element(from + min(c, room - 1));
                    if (c >= room)
                        layer->middle[r].e[c].bits = (uint16_t)lowest_of(T{});
                }
            }
            if (K == 3)
                layer->beside[r] = load_word(from + beside);
        }
    }

    // A tap of a row, of all windows.
    __device__ void values(const Layer &layer, int r, int tap, unsigned (&to)[WORDS]) const
    {
        const unsigned *const word = (const unsigned *)&layer.middle[r];
        const unsigned other = K < 3 ? 0 : beyond ? lowest_of(T{}) : (unsigned)layer.beside[r];

        if (tap == 0 && E) {
            to[0] = __byte_perm(other, word[0], 0x7610);
            to[1] = upper_halves(word[1], word[2]);
        } else if (tap == 2 && !E) {
            to[0] = lower_halves(word[1], word[2]);
            to[1] = lower_halves(word[3], other);
        } else if (tap == E) {
            to[0] = lower_halves(word[0], word[1]);
            to[1] = lower_halves(word[2], word[3]);
        } else {
            to[0] = upper_halves(word[0], word[1]);
            to[1] = upper_halves(word[2], word[3]);
        }
    }
};

// Channels last: V channels of one window.
template <typename Element, int K, int R, int V, int AHEAD>
struct pgi_two_lanes : pgi_two_layers<K, R> {
    typedef Element T;
    static constexpr bool BOTH = AHEAD == 2;
    using pgi_two_layers<K, R>::ROWS;
    static constexpr int OWN = V, WORDS = V / 2;
    struct Layer {
        pgi_vector<T, V> tap[ROWS][K];
    };

    int row[ROWS], column[K]; // offsets, of the nearest inside
    bool vectors;

    template <bool VECTORS> __device__ void load(const T *x, Layer *layer) const
    {
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int c = 0; c < K; c++)
                load_vector<VECTORS>(x + (row[r] + column[c]), &layer->tap[r][c]);
    }

    __device__ void values(const Layer &layer, int r, int tap, unsigned (&to)[WORDS]) const
    {
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            to[i] = ((const unsigned *)&layer.tap[r][tap])[i];
    }
};

// Layer t of all windows.
template <typename Taps>
__device__ static void meet_layer(const Taps &taps, const typename Taps::Layer &layer, int t,
                                  pgi_two_bouts<typename Taps::T, Taps::WORDS> *bouts)
{
#pragma unroll
    for (int r = 0; r < Taps::ROWS; r++)
#pragma unroll
        for (int c = 0; c < Taps::SIDE; c++) {
            unsigned values[Taps::WORDS];

            taps.values(layer, r, c, values);
#pragma unroll
            for (int i = 0; i < Taps::WORDS; i++)
                bouts->meet(i, values[i], Taps::code(t, r, c));
        }
}

// ------------------------------------------------------------------ threads

// A thread's windows, but for the axis that it goes along: the first of them, which of its taps lie
// inside, and what their codes are at first.
template <typename Taps> struct pgi_two_line {
    int across, ow;
    pgi_cell_clip rows, columns;
    bool whole; // all taps are
    unsigned origin[Taps::WORDS];
};

// Two codes, the taps of an axis clipped.
__device__ static unsigned clipped(unsigned codes, int shift, const pgi_cell_clip &clip)
{
    const unsigned taps = twice(3u << shift);
    const unsigned most = __vminu2(codes & taps, twice((unsigned)clip.last << shift));

    return (codes & ~taps) | __vmaxu2(most, twice((unsigned)clip.first << shift));
}

// Hands out the codes of windows `o` of the axis.
template <bool LANES, typename Taps>
__device__ static void finish(const pgi_cuda_cell &cell, const typename Taps::T *x,
                              const pgi_two_line<Taps> &line, int o, uint8_t *to,
                              pgi_two_bouts<typename Taps::T, Taps::WORDS> *bouts)
{
    typedef typename Taps::T T;
    constexpr int R = Taps::AXES, K = Taps::SIDE, WORDS = Taps::WORDS, AXIS = Taps::AXIS;
    const int place = 2 * o - cell.pad[AXIS], room = LANES ? Taps::OWN : cell.out[2] - line.ow;
    pgi_vector<uint8_t, Taps::OWN> made;

    if (!line.whole || place < 0 || place + K > cell.in[AXIS]) {
        const pgi_cell_clip along = pgi_cell_clip::of<K>(o, cell.pad[AXIS], cell.in[AXIS]);

#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            bouts->code[i] = clipped(bouts->code[i], R == 3 ? 4 : 2, along);
            if (R == 3)
                bouts->code[i] = clipped(bouts->code[i], 2, line.rows);
            if (LANES)
                bouts->code[i] = clipped(bouts->code[i], 0, line.columns);
        }
    }
    if (bouts->saw_nan()) {
#pragma unroll
        for (int j = 0; j < Taps::OWN; j++)
            if ((bouts->best[j / 2] >> (j % 2 * 16) & 0xffff) == PGI_TWO_NAN && j < room) {
                const unsigned code = (unsigned)code_by_rules<T, K, R>(
                    &cell, &cell.positions, LANES ? x + j : x, R == 3 ? o : line.across,
                    R == 3 ? line.across : o, LANES ? line.ow : line.ow + j);

                bouts->code[j / 2] = __byte_perm(bouts->code[j / 2], code, j % 2 ? 0x5410 : 0x3254);
            }
    }
#pragma unroll
    for (int i = 0; i < WORDS; i += 2)
        ((unsigned *)&made)[i / 2] = bytes_of(bouts->code[i], bouts->code[i + 1]);
    if ((LANES ? cell.vectors : cell.pairs) && room >= Taps::OWN) {
        *(pgi_vector<uint8_t, Taps::OWN> *)to = made;
    } else {
#pragma unroll
        for (int j = 0; j < Taps::OWN; j++)
            if (j < room)
                to[j] = made.e[j];
    }
}

// Goes through windows [begin, end) of the axis. `x` and `to` are those of the first tap and window
// of the plane, or channel.
template <bool VECTORS, bool LANES, typename Taps>
__device__ static void go_along(const pgi_cuda_cell &cell, const Taps &taps,
                                const typename Taps::T *x, uint8_t *to,
                                const pgi_two_line<Taps> &line, int begin, int end)
{
    constexpr int K = Taps::SIDE, WORDS = Taps::WORDS, AXIS = Taps::AXIS;
    typename Taps::Layer first, second; // of the two that a window has for itself, or with the next
    pgi_two_bouts<typename Taps::T, WORDS> shared;
    int place = 2 * begin - cell.pad[AXIS]; // of layer 0
    const auto load = [&](int t, typename Taps::Layer *layer) {
        const int there = clamped(place + t, cell.in[AXIS]);

        taps.template load<VECTORS>(x + there * cell.positions.place[AXIS], layer);
    };

    load(0, &first);
    shared.begin(line.origin);
    if (K == 3) {
        meet_layer(taps, first, 0, &shared);
        load(1, &first);
    }
    if (Taps::BOTH)
        load(K - 1, &second);
#pragma unroll 1
    for (int o = begin; o < end; o++, place += 2) {
        pgi_two_bouts<typename Taps::T, WORDS> bouts = shared;

        if (!Taps::BOTH)
            load(K - 1, &second);
        meet_layer(taps, first, K - 2, &bouts);
        if (Taps::BOTH || o + 1 < end)
            load(K, &first);
        if (K == 3) {
            shared.begin(line.origin);
            meet_layer(taps, second, 0, &shared);
#pragma unroll
            for (int i = 0; i < WORDS; i++)
                bouts.meet(i, shared.best[i], shared.code[i] | Taps::code(2, 0, 0));
        } else {
            meet_layer(taps, second, 1, &bouts);
        }
        if (Taps::BOTH)
            load(K + 1, &second);
        finish<LANES>(cell, x, line, o, to + o * cell.names.place[AXIS], &bouts);
    }
}

template <typename T, int K, int E, int R, int AHEAD>
__device__ static void winners_rows(const pgi_cuda_cell &cell, const pgi_cuda_memory &memory)
{
    typedef pgi_two_rows<T, K, E, R, AHEAD> Taps;
    constexpr int V = Taps::V;
    const unsigned v = blockIdx.x * blockDim.x + threadIdx.x, place = v / cell.groups;
    const pgi_cell_share share = pgi_cell_share::of<R>(cell, place);
    const int ow = (int)(v - place * cell.groups) * Taps::OWN, column = 2 * ow;
    pgi_two_line<Taps> line = {share.across, ow, {0, 0}, {0, 0}, true, {0}};
    Taps taps;

    admit_next_step();
    if (v >= cell.inner)
        return;
    taps.room = cell.in[2] - column;
    taps.beyond = E ? column == 0 : taps.room <= V;
    taps.beside = taps.beyond ? 0 : E ? -1 : V;
    taps.vectors = cell.vectors && taps.room >= V && is_aligned<T, V>((const T *)memory.source);
    if (E && column == 0)
        line.origin[0] = 1;
#pragma unroll
    for (int r = 0; r < Taps::ROWS; r++)
        taps.row[r] = column + (R == 3 ? clamped(2 * share.across - cell.pad[1] + r, cell.in[1]) *
                                             cell.positions.place[1]
                                       : share.across * cell.positions.place[0]);
    if (R == 3) {
        line.rows = pgi_cell_clip::of<K>(share.across, cell.pad[1], cell.in[1]);
        line.whole = line.rows.whole(K);
    }
    for (unsigned u = blockIdx.y; u < cell.outer; u += gridDim.y) {
        const unsigned number = u * cell.members + share.member;

        if (number >= cell.planes)
            return;

        const pgi_cell_plane plane = plane_of(cell, number);
        const T *const x = (const T *)memory.source + plane.offset(cell.positions);
        uint8_t *const to = (uint8_t *)memory.indices_out + plane.offset(cell.names) +
                            (share.across * cell.names.place[R == 3 ? 1 : 0] + ow);

        if (taps.vectors)
            go_along<true, false>(cell, taps, x, to, line, share.begin, share.end);
        else
            go_along<false, false>(cell, taps, x, to, line, share.begin, share.end);
    }
}

template <typename T, int K, int R, int V, int AHEAD>
__device__ static void winners_lanes(const pgi_cuda_cell &cell, const pgi_cuda_memory &memory)
{
    typedef pgi_two_lanes<T, K, R, V, AHEAD> Taps;
    const unsigned v = blockIdx.x * blockDim.x + threadIdx.x, window = v / cell.groups;
    const unsigned place = window / (unsigned)cell.out[2];
    const int ow = (int)(window - place * (unsigned)cell.out[2]);
    const pgi_cell_share share = pgi_cell_share::of<R>(cell, place);
    const int channel = (int)(v - window * cell.groups) * V;
    pgi_two_line<Taps> line = {share.across, ow, {0, 0}, {0, 0}, true, {0}};
    Taps taps;

    admit_next_step();
    if (v >= cell.inner)
        return;
    line.columns = pgi_cell_clip::of<K>(ow, cell.pad[2], cell.in[2]);
    line.whole = line.columns.whole(K);
    if (R == 3) {
        line.rows = pgi_cell_clip::of<K>(share.across, cell.pad[1], cell.in[1]);
        line.whole = line.whole && line.rows.whole(K);
    }
    taps.vectors = cell.vectors && is_aligned<T, V>((const T *)memory.source);
#pragma unroll
    for (int r = 0; r < Taps::ROWS; r++)
        taps.row[r] = R == 3 ? clamped(2 * share.across - cell.pad[1] + r, cell.in[1]) *
                                   cell.positions.place[1]
                             : share.across * cell.positions.place[0];
#pragma unroll
    for (int c = 0; c < K; c++)
        taps.column[c] = clamped(2 * ow - cell.pad[2] + c, cell.in[2]) * cell.positions.place[2];
    for (unsigned u = blockIdx.y; u < cell.outer; u += gridDim.y) {
        const pgi_cell_plane plane = {(int)u, channel};
        const T *const x = (const T *)memory.source + plane.offset(cell.positions);
        uint8_t *const to =
            (uint8_t *)memory.indices_out + plane.offset(cell.names) +
            (share.across * cell.names.place[R == 3 ? 1 : 0] + ow * cell.names.place[2]);

        if (taps.vectors)
            go_along<true, true>(cell, taps, x, to, line, share.begin, share.end);
        else
            go_along<false, true>(cell, taps, x, to, line, share.begin, share.end);
    }
}

// Blocks that a multiprocessor is to hold, and layers that a thread has ahead: what the taps leave
// of its registers.
#define ROWS(k, e, r, blocks, ahead, suffix, type)                                                 \
    extern "C" __global__ void __launch_bounds__(256, blocks)                                      \
        pgi_two_winners_##k##e##r##_rows_##suffix(const __grid_constant__ pgi_cuda_cell cell,      \
                                                  const pgi_cuda_memory memory)                    \
    {                                                                                              \
        winners_rows<type, k, e, r, ahead>(cell, memory);                                          \
    }

#define LANES(k, r, v, blocks, ahead, suffix, type)                                                \
    extern "C" __global__ void __launch_bounds__(256, blocks)                                      \
        pgi_two_winners_##k##r##_lanes_##v##_##suffix(const __grid_constant__ pgi_cuda_cell cell,  \
                                                      const pgi_cuda_memory memory)                \
    {                                                                                              \
        winners_lanes<type, k, r, v, ahead>(cell, memory);                                         \
    }

#define ELEMENT_TYPE(suffix, type)                                                                 \
    ROWS(2, 0, 2, 3, 2, suffix, type)                                                              \
    ROWS(3, 0, 2, 3, 2, suffix, type)                                                              \
    ROWS(3, 1, 2, 3, 2, suffix, type)                                                              \
    ROWS(2, 0, 3, 2, 2, suffix, type)                                                              \
    ROWS(3, 0, 3, 2, 2, suffix, type)                                                              \
    ROWS(3, 1, 3, 2, 2, suffix, type)                                                              \
    LANES(2, 2, 4, 3, 1, suffix, type)                                                             \
    LANES(3, 2, 4, 3, 1, suffix, type)                                                             \
    LANES(2, 3, 4, 2, 2, suffix, type)                                                             \
    LANES(3, 3, 4, 2, 2, suffix, type)                                                             \
    LANES(2, 2, 8, 2, 2, suffix, type)                                                             \
    LANES(3, 2, 8, 2, 2, suffix, type)

ELEMENT_TYPE(f16, pgi_f16)
ELEMENT_TYPE(bf16, pgi_bf16)
