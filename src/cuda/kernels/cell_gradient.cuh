/* SPDX-License-Identifier: MIT */
/*
 * What the gradients of cells share. A thread has all positions of a cell and asks the windows that
 * reach it, at most two on an axis, in row-major order. It goes along an axis, so that what it has
 * loaded of the windows of one cell serves the next, too. Nothing is shared between threads but
 * what the caches hold, and every index is checked by the thread whose cell its window begins in.
 */
#ifndef PGI_CUDA_KERNELS_CELL_GRADIENT_CUH
#define PGI_CUDA_KERNELS_CELL_GRADIENT_CUH

#include "cuda/kernels/cell.cuh"

/* A value that stays in a register: the compiler would rather compute it again for every cell. */
__device__ inline int kept(int value)
{
    asm volatile("" : "+r"(value));
    return value;
}

/* The same for pointers: others that are some distance from it shall not be kept beside it. */
template <typename T> __device__ inline T *kept(T *pointer)
{
    asm volatile("" : "+l"(pointer));
    return pointer;
}

/* How results are stored: one by one, in vectors, or in vectors and as they are. */
enum pgi_cell_mode {
    CELL_SINGLE,
    CELL_VECTORS,
    CELL_PLAIN
};

__device__ inline int mode_of(const pgi_cuda_cell &cell, bool vectors)
{
    return kept(!vectors ? CELL_SINGLE : cell.plain ? CELL_PLAIN : CELL_VECTORS);
}

/* Where rows are no multiples of vectors: pieces of 8 bytes if these are in line, or one by one. */
template <typename T, int V>
__device__ inline void store_pieces(T *to, const pgi_real<T> (&sums)[V], pgi_real<T> alpha,
                                    pgi_real<T> beta, int room)
{
    constexpr int PIECE = 8 / sizeof(T) < V ? 8 / sizeof(T) : V;

#pragma unroll
    for (int first = 0; first < V; first += PIECE) {
        if (PIECE > 1 && first + PIECE <= room && is_aligned<T, PIECE>(to + first)) {
            pgi_vector<T, PIECE> made;

#pragma unroll
            for (int i = 0; i < PIECE; i++) {
                made.e[i] = beta != 0 ? to[first + i] : T{};
                store(&made.e[i], sums[first + i], alpha, beta);
            }
            store_vector<true>(to + first, made);
        } else {
#pragma unroll
            for (int i = first; i < first + PIECE; i++)
                if (i < room)
                    store(to + i, sums[i], alpha, beta);
        }
    }
}

template <typename T, int V>
__device__ inline void store_sums(const pgi_cuda_cell &cell, T *to, const pgi_real<T> (&sums)[V],
                                  int mode, int room)
{
    const pgi_real<T> alpha = (pgi_real<T>)cell.alpha, beta = (pgi_real<T>)cell.beta;

    if (mode == CELL_PLAIN) {
        pgi_vector<T, V> made;

#pragma unroll
        for (int i = 0; i < V; i++)
            narrow(sums[i], &made.e[i]);
        store_vector<true>(to, made);
    } else if (mode == CELL_VECTORS) {
        pgi_vector<T, V> made;

#pragma unroll
        for (int i = 0; i < V; i++) {
            made.e[i] = beta != 0 ? to[i] : T{};
            store(&made.e[i], sums[i], alpha, beta);
        }
        store_vector<true>(to, made);
    } else {
        store_pieces(to, sums, alpha, beta, room);
    }
}

/* The place that a name stands for: an index, less that of place 0, or a code, from the window's
 * tap 0 on. What is not in the plane becomes a number that no position has. */
template <typename Name>
__device__ inline int place_of(const pgi_cuda_cell &cell, Name name, int64_t base, int first,
                               bool there)
{
    const int64_t place = (int64_t)name - base;

    if (sizeof(Name) == 1) {
        const int coded = first + code_distance(cell, (int)name);

        return there ? coded : -1;
    }
    return there && (unsigned)(place >> 32) == 0 ? (int)place : -1;
}

/* One name, of memory that nobody writes. */
__device__ inline int64_t load_name(const int64_t *from)
{
    return __ldg((const long long *)from);
}

__device__ inline uint32_t load_name(const uint32_t *from)
{
    return __ldg(from);
}

__device__ inline uint8_t load_name(const uint8_t *from)
{
    return __ldg(from);
}

/* Whether a place is that of a tap. `first` is the place of the window's first tap that lies inside
 * on W, or of what would be it, and `columns` the number of those; `slice` the first place of the
 * slice, outside of which the rows lie that do not exist. */
template <int K>
__device__ inline bool is_tap(const pgi_cuda_cell &cell, int place, int slice, int first,
                              int columns)
{
    const unsigned beyond = (unsigned)(place - first), row = (unsigned)cell.in[2];
    bool good = beyond < (unsigned)columns;

    good |= beyond - row < (unsigned)columns;
    if (K == 3)
        good |= beyond - 2 * row < (unsigned)columns;
    return good & ((unsigned)(place - slice) < (unsigned)cell.area);
}

/* The same in general. */
template <int K, int R>
__device__ inline bool is_tap_of(const pgi_cuda_cell &cell, int place, int od, int oh, int ow)
{
    const unsigned row = quick_quotient((unsigned)place, cell.by_width);
    const unsigned slice = quick_quotient(row, cell.by_height);

    return ((unsigned)place < (unsigned)cell.plane) &
           (R == 3 ? within((int)slice - (2 * od - cell.pad[0]), K) : (int)slice == od) &
           within((int)(row - slice * (unsigned)cell.in[1]) - (2 * oh - cell.pad[1]), K) &
           within(place - (int)row * cell.in[2] - (2 * ow - cell.pad[2]), K);
}

/* The columns of a window that lie inside: which tap is the first, and how many there are. */
template <int K> struct pgi_cell_columns {
    int skipped, count;

    __device__ pgi_cell_columns(const pgi_cuda_cell &cell, int ow)
        : skipped(max(0, cell.pad[2] - 2 * ow)),
          count(min(K, cell.in[2] + cell.pad[2] - 2 * ow) - max(0, cell.pad[2] - 2 * ow))
    {
    }
};

/* A row of indices of which at least one is no tap's: `count` of them, `step` apart, in `lanes`
 * planes each. */
template <typename Name> struct pgi_cell_suspects {
    const Name *names;
    int64_t step;
    int od, oh, ow, count, lanes;
};

/* Looks at them again and notes those that are bad: no tap's, nor one that says that there is no
 * winner. So the loops that find them need not know where they are. */
template <typename Name, int K, int R>
__device__ static __noinline__ void examine(const pgi_cuda_cell *cell,
                                            const pgi_cell_suspects<Name> *row,
                                            const pgi_cell_plane *plane, unsigned long long *bad)
{
    for (int j = 0; j < row->count; j++)
        for (int i = 0; i < row->lanes; i++) {
            const Name name = row->names[j * row->step + i];
            const int64_t number = (int64_t)plane->batch * cell->channels + plane->channel + i;
            const int place =
                place_of(*cell, name, plane->index(*cell) + i * cell->index_channel, 0, true);

            if (name == (Name)-1 && cell->no_winner)
                continue;
            if (!is_tap_of<K, R>(*cell, place, row->od, row->oh, row->ow + j))
                atomicMin(bad,
                          (unsigned long long)(((number * cell->out[0] + row->od) * cell->out[1] +
                                                row->oh) *
                                                   (int64_t)cell->out[2] +
                                               row->ow + j));
        }
}

#endif
