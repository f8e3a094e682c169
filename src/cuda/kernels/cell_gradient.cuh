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

/* PLAIN: in vectors, and as they are; else they may be neither. */
template <bool PLAIN, typename T, int V>
__device__ inline void store_sums(const pgi_cuda_cell &cell, T *to, const pgi_real<T> (&sums)[V],
                                  bool vectors, int room)
{
    const pgi_real<T> alpha = (pgi_real<T>)cell.alpha, beta = (pgi_real<T>)cell.beta;

    if (PLAIN || vectors) {
        pgi_vector<T, V> made;

#pragma unroll
        for (int i = 0; i < V; i++) {
            if (PLAIN) {
                narrow(sums[i], &made.e[i]);
            } else {
                made.e[i] = beta != 0 ? to[i] : T{};
                store(&made.e[i], sums[i], alpha, beta);
            }
        }
        store_vector<true>(to, made);
    } else {
        store_pieces(to, sums, alpha, beta, room);
    }
}

/* What names winners, of every type: indices, or codes, which two_gradient.cu has for elements of
 * two bytes. */
#define PGI_CELL_INDICES(each, suffix, type)                                                       \
    each(64, int64_t, suffix, type) each(32, uint32_t, suffix, type)

#define PGI_CELL_NAMES(each)                                                                       \
    PGI_CELL_INDICES(each, f32, float)                                                             \
    PGI_CELL_INDICES(each, f64, double)                                                            \
    PGI_CELL_INDICES(each, f16, pgi_f16)                                                           \
    PGI_CELL_INDICES(each, bf16, pgi_bf16)                                                         \
    each(8, uint8_t, f32, float) each(8, uint8_t, f64, double)

/* What a position compares with: the place that an index stands for, or a code. What is not in the
 * plane, or not there, becomes a number that no position has. */
template <typename Name> __device__ inline int winner_of(Name name, int64_t base, bool there)
{
    const int64_t place = (int64_t)name - base;

    if (sizeof(Name) == 1)
        return there ? (int)name : -1;
    return there && (unsigned)(place >> 32) == 0 ? (int)place : -1;
}

/* What a position compares it with, if it is tap (d, h, w) of the window. */
template <typename Name> __device__ inline int winner_at(int place, int d, int h, int w)
{
    return sizeof(Name) == 1 ? tap_code(d, h, w) : place;
}

/* A position's tap on an axis, the position being `parity` of its cell, of window s of SIDE. */
template <int SIDE> __host__ __device__ constexpr int cell_tap(int parity, int s)
{
    return parity + 2 * (SIDE - 1 - s);
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

/* The places of an axis that a window has, the first and how many; counted in places of a plane,
 * which are `unit` for one of the axis. */
struct pgi_cell_reach {
    int first, count;

    template <int K> __device__ static pgi_cell_reach of(int o, int pad, int in, int unit)
    {
        const int first = max(0, 2 * o - pad);

        return {first * unit, (min(in, 2 * o - pad + K) - first) * unit};
    }

    /* Of slices, which with two axes are not pooled. */
    template <int K, int R>
    __device__ static pgi_cell_reach of_slices(const pgi_cuda_cell &cell, int od)
    {
        if (R == 2)
            return {od * cell.area, cell.area};
        return of<K>(od, cell.pad[0], cell.in[0], cell.area);
    }

    __device__ bool holds(unsigned place) const
    {
        return place - (unsigned)first < (unsigned)count;
    }
};

/* n modulo m, for n below K * m. */
template <int K> __device__ inline unsigned modulo(unsigned n, unsigned m)
{
#pragma unroll
    for (int k = 1; k < K; k++)
        n = min(n, n - m);
    return n;
}

/* Whether a place is that of a tap. */
template <int K, int R>
__device__ inline bool is_tap(const pgi_cuda_cell &cell, int place, const pgi_cell_reach &slices,
                              const pgi_cell_reach &rows, const pgi_cell_reach &columns)
{
    const unsigned beyond = (unsigned)(place - slices.first);
    const unsigned in_slice = R == 3 ? modulo<K>(beyond, (unsigned)cell.area) : beyond;
    const unsigned in_rows = in_slice - (unsigned)rows.first;

    return (beyond < (unsigned)slices.count) & (in_rows < (unsigned)rows.count) &
           columns.holds(modulo<K>(in_rows, (unsigned)cell.in[2]));
}

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
    const pgi_cell_reach slices = pgi_cell_reach::of_slices<K, R>(*cell, row->od);
    const pgi_cell_reach rows =
        pgi_cell_reach::of<K>(row->oh, cell->pad[1], cell->in[1], cell->in[2]);

    for (int j = 0; j < row->count; j++) {
        const pgi_cell_reach columns =
            pgi_cell_reach::of<K>(row->ow + j, cell->pad[2], cell->in[2], 1);

        for (int i = 0; i < row->lanes; i++) {
            const Name name = row->names[j * row->step + i];
            const int64_t number = (int64_t)plane->batch * cell->channels + plane->channel + i;
            const int place = winner_of(name, plane->index(*cell) + i * cell->index_channel, true);

            if (name == (Name)-1 && cell->no_winner)
                continue;
            if (!is_tap<K, R>(*cell, place, slices, rows, columns))
                atomicMin(bad,
                          (unsigned long long)(((number * cell->out[0] + row->od) * cell->out[1] +
                                                row->oh) *
                                                   (int64_t)cell->out[2] +
                                               row->ow + j));
        }
    }
}

#endif
