/* SPDX-License-Identifier: MIT */
/*
 * Averages of overlapping windows, both ways, stride 1: L neighbours are summed on every axis.
 *
 * A block marches along the first axis (D, or H of rank 2) with a tile of the others, P steps at a
 * time. Sources are copied to shared memory ahead of time. A thread has V columns of them, divides
 * each source once, and has the sums of the last L from a ring of sums in registers (ring.cuh).
 * They go to a tile in shared memory, where rank 3 sums rows; along a row they are summed when they
 * are read to be stored. A thread's columns are far apart, so that threads meet in no bank whatever
 * the rows' alignment; sources are fetched and targets stored in pieces of a row.
 *
 * All stages work at the same time, each on the batch that the one before it had the last time: so
 * there is one barrier for a batch.
 *
 * Rank 1 has nothing to march along: it goes through its planes, some at a time.
 */
#ifndef PGI_CUDA_KERNELS_MARCH_CUH
#define PGI_CUDA_KERNELS_MARCH_CUH

#include "cuda/kernels/general.h"
#include "cuda/kernels/march.h"
#include "cuda/kernels/ring.cuh"
#include "cuda/kernels/vector.cuh"

/* What windows count on an axis; 1 for those that do not exist. */
__device__ static __noinline__ int count_of(const pgi_cuda_march *all,
                                            const pgi_cuda_march_axis *axis, int at)
{
    const int64_t windows = all->forward ? axis->targets : axis->sources;

    if (at < 0 || at >= windows)
        return 1;
    return (int)pgi_axis_count(&axis->axis, (poolgrad_divisor)all->divisor_rule, axis->window + at);
}

template <typename T, int L, int RANK, pgi_march_shape SHAPE> struct pgi_marcher {
    typedef pgi_real<T> Real;
    static constexpr int THREADS = PGI_MARCH_THREADS(RANK, L), STAGES = PGI_MARCH_STAGES(RANK, L);
    static constexpr int V = PGI_MARCH_CELLS(RANK, sizeof(Real)), P = PGI_MARCH_BATCH(RANK, L);
    static constexpr int TILE = THREADS * V;
    static constexpr int ALONG = RANK == 1 ? 1 : L;           /* terms on the marched axis */
    static constexpr int AHEAD = (ALONG - 1 + P - 1) / P * P; /* sources before the first targets */
    static constexpr int LAG = RANK == 3 ? 2 : 1; /* batches from the terms to the store */

    /* Elements of a piece that is fetched, and how many of them a thread has. */
    static constexpr int EACH = PGI_MARCH_FETCHED(sizeof(T)), PIECES = V / EACH;

    /* Elements of a piece that is stored. A thread has N of a step, or one of every TURNS-th. */
    static constexpr int WIDE = PGI_MARCH_STORED(sizeof(T));
    static constexpr int N = V > WIDE ? V / WIDE : 1, TURNS = WIDE > V ? WIDE / V : 1;

    /* Rows and columns that a thread sums rows of, in one of a batch's tiles. */
    static constexpr int ROWS = PGI_MARCH_ROWS(L), SIDE = P * V > ROWS ? P *V / ROWS : 1;
    static constexpr int ABSENT = INT32_MIN;

    const pgi_cuda_march &all;
    const int thread = (int)threadIdx.x, turn = thread / (THREADS / TURNS);
    const int first_piece = thread % (THREADS / TURNS); /* of those it stores */
    const Real alpha, beta;
    bool aligned_sources, aligned_targets; /* pieces, in memory */

    T *fetched;
    Real *cells, *summed;
    pgi_inverse<Real> *inverses, inverse; /* by count, and of all windows if they are alike */
    uint16_t *counts;
    int *steps, *sources;
    pgi_march_single *singles;

    /* Where its pieces of sources lie; ABSENT: nowhere. */
    int offset[PIECES];
    pgi_ring<Real, ALONG> ring[V];

    /* The rows it sums, and the pieces of targets that it stores; < 0: none. */
    int rows_from, rows_to, take[N], to[N];

    __device__ pgi_marcher(const pgi_cuda_march &march, const pgi_cuda_memory &memory, char *shared)
        : all(march), alpha((Real)march.alpha), beta((Real)march.beta)
    {
        aligned_sources = is_aligned<T, EACH>((const T *)memory.source + all.source_begin);
        aligned_targets = is_aligned<T, WIDE>((const T *)memory.target);
        fetched = (T *)shared;
        cells = (Real *)(shared + all.cells_at);
        summed = (Real *)(shared + all.summed_at);
        inverses = (pgi_inverse<Real> *)(shared + all.inverses_at);
        counts = (uint16_t *)(shared + all.counts_at);
        steps = (int *)(shared + all.steps_at);
        sources = (int *)(shared + all.sources_at);
        singles = (pgi_march_single *)(shared + all.singles_at);
        inverse = inverse_of((Real)all.divisor);
        for (int i = thread; all.divisor_rule != 0 && i <= all.volume; i += THREADS)
            inverses[i] = inverse_of((Real)i);
        if constexpr (RANK == 3) {
            const int wide = all.pitch / SIDE, each = all.rows / ROWS * wide;
            const int p = thread / each, row = thread % each / wide * ROWS;

            rows_from = p < P ? row * all.pitch + thread % wide * SIDE : -1;
            rows_to = rows_from + p * all.rows * all.pitch;
            rows_from += rows_from < 0 ? 0 : p * TILE;
        }
    }

    /* ------------------------------------------------------------------ a tile */

    /* Where a cell of a tile's row lies in its row of sources, and whether it does. */
    __device__ int source_of(int first_row, int row, int cell) const
    {
        const int place = cell >= 0 ? cell / all.lanes : -1, at = first_row + row;

        return row < all.source_rows && at >= 0 && at < all.row.sources && place >= 0 &&
                       place < all.column.sources
                   ? (int)(row * all.row.source_stride + place * all.column.source_stride + cell -
                           place * all.lanes)
                   : ABSENT;
    }

    __device__ int target_of(int first_row, int row, int column) const
    {
        const int place = column / all.lanes;

        return row < all.rows && first_row + row < all.row.targets && place < all.column.targets
                   ? (int)(row * all.row.target_stride + place * all.column.target_stride + column -
                           place * all.lanes)
                   : ABSENT;
    }

    /* Finds out what is where in a tile. */
    __device__ void enter(int row_tile, int column_tile)
    {
        const int target_row = RANK == 1 ? 0 : row_tile * all.rows;
        const int source_row = target_row + (RANK == 3 ? (int)all.row.shift : 0);
        const int target_column = column_tile * all.columns;
        const int cell = target_column + (int)all.column.shift * all.lanes - all.lead;

#pragma unroll
        for (int k = 0; k < PIECES; k++) {
            const int n = thread + k * THREADS, wide = all.pitch / EACH;

            offset[k] = source_of(source_row, n / wide, cell + n % wide * EACH);
        }
#pragma unroll
        for (int k = 0; SHAPE != PGI_MARCH_SINGLES && k < N; k++) {
            const int n = first_piece + k * THREADS, wide = all.columns / WIDE;

            to[k] = target_of(target_row, n / wide, target_column + n % wide * WIDE);
            take[k] = to[k] == ABSENT ? -1 : n / wide * all.pitch + n % wide * WIDE;
        }
        for (int n = thread; n < TILE && !all.pieces; n += THREADS)
            sources[n] = source_of(source_row, n / all.pitch, cell + n % all.pitch);
        for (int n = thread; SHAPE == PGI_MARCH_SINGLES && n < all.rows * all.columns;
             n += THREADS) {
            const int row = n / all.columns, x = n % all.columns;
            const int at = target_of(target_row, row, target_column + x);

            singles[n] = {at == ABSENT ? -1 : row * all.pitch + x, at};
        }
        for (int n = thread; n < TILE && all.divisor_rule != 0; n += THREADS) {
            const int row = (all.forward ? target_row : source_row) + n / all.pitch;
            const int at = (all.forward ? target_column : cell + all.lead) + n % all.pitch;
            const int wide = count_of(&all, &all.column, at < 0 ? -1 : at / all.lanes);

            counts[n] = (uint16_t)(RANK == 3 ? wide * count_of(&all, &all.row, row) : wide);
        }
    }

    /* What windows count on the way, sources of a gradient, targets of a forward pass. */
    __device__ void count_steps(int first, int number)
    {
        for (int i = thread; RANK != 1 && all.divisor_rule != 0 && i < number; i += THREADS)
            steps[i] = count_of(&all, &all.march, first + i);
    }

    /* Whether a row, the n-th piece of some per row, is there at a step of the march. */
    __device__ bool inside(int n, int per_row, int step, int64_t end) const
    {
        if (RANK != 1)
            return (unsigned)step < (unsigned)end;
        return (step + 1) * (int64_t)all.rows <= all.planes ||
               step * (int64_t)all.rows + n / per_row <
                   all.planes; /* some of the last are missing */
    }

    /* --------------------------------------------------------------- the stages */

    template <int COUNT> __device__ static void copy_elements(T *into, const T *from, bool here)
    {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            if constexpr (sizeof(T) >= 4)
                copy_async<sizeof(T)>(into + i, from + i, here);
            else
                into[i] = here ? load_element(from + i) : T{};
        }
    }

    template <bool ALIGNED> __device__ void fetch_pieces(const T *from, int step, T *into) const
    {
#pragma unroll
        for (int k = 0; k < PIECES; k++) {
            const int n = thread + k * THREADS;
            const T *piece = from + offset[k];

#pragma unroll
            for (int p = 0; p < P; p++) {
                const bool here =
                    offset[k] != ABSENT && inside(n, all.pitch / EACH, step + p, all.march.sources);

                if constexpr (ALIGNED)
                    copy_async<EACH * sizeof(T)>(into + p * TILE + n * EACH, piece, here);
                else
                    copy_elements<EACH>(into + p * TILE + n * EACH, piece, here);
                piece += all.march.source_stride;
            }
        }
    }

    __device__ void fetch_singles(const T *from, int step, T *into) const
    {
#pragma unroll
        for (int k = 0; k < V; k++) {
            const int n = thread + k * THREADS, at = sources[n];

#pragma unroll
            for (int p = 0; p < P; p++)
                copy_elements<1>(into + p * TILE + n, from + p * all.march.source_stride + at,
                                 at != ABSENT && inside(n, all.pitch, step + p, all.march.sources));
        }
    }

    /* Starts fetching the sources of P steps; 0 where there are none. */
    __device__ void fetch(const T *from, int step, T *into) const
    {
        if (!all.pieces)
            fetch_singles(from, step, into);
        else if (aligned_sources)
            fetch_pieces<true>(from, step, into);
        else
            fetch_pieces<false>(from, step, into);
    }

    /* Of the n-th cell, or target, at a step that counts so much on the marched axis. */
    __device__ pgi_inverse<Real> inverse_at(int n, const int *counted) const
    {
        return all.divisor_rule == 0 ? inverse
                                     : inverses[RANK == 1 ? counts[n] : counts[n] * *counted];
    }

    /* The terms of a batch, V of every step; `counted` is what windows count on the marched axis.
     * The last `lead` cells are in nobody's sum: behind the batch, where they would lie, the next
     * may just arrive, so that the last threads read the batch's last one instead. */
    __device__ void make_batch(const T *from, const int *counted, Real (&value)[P * V]) const
    {
        const int at = all.lead + thread, last = min(at, THREADS - 1);
        T read[P * V];

#pragma unroll
        for (int i = 0; i < P * V; i++) {
            read[i] = from[i / V * TILE + i % V * THREADS + (i < P * V - 1 ? at : last)];
            value[i] = widen(read[i]);
        }
        if (all.forward) {
            add_zero(value);
        } else if (all.divisor_rule == 0) {
            make_terms(value, inverse, are_ordinary(read));
        } else {
            pgi_inverse<Real> by[P * V];

#pragma unroll
            for (int i = 0; i < P * V; i++)
                by[i] = inverse_at(thread + i % V * THREADS, counted + i / V);
            make_terms(value, by, are_ordinary(read));
        }
    }

    /* The terms go into the rings, their sums into the tiles. */
    __device__ void sum_steps(const Real (&value)[P * V], Real *tiles)
    {
#pragma unroll
        for (int k = 0; k < V; k++) {
            Real column[P], sum[P];

#pragma unroll
            for (int p = 0; p < P; p++)
                column[p] = value[p * V + k];
            ring[k].push(column, sum);
#pragma unroll
            for (int p = 0; p < P; p++)
                tiles[p * TILE + k * THREADS + thread] = sum[p];
        }
    }

    __device__ void sum_rows(const Real *from, Real *into) const
    {
        typedef pgi_vector<Real, SIDE> Piece;
        Piece value[ROWS + L - 1], made[ROWS];

        if (rows_from < 0)
            return;
#pragma unroll
        for (int i = 0; i < ROWS + L - 1; i++)
            value[i] = *(const Piece *)(from + rows_from + i * all.pitch);
#pragma unroll
        for (int k = 0; k < SIDE; k++) {
            Real column[ROWS + L - 1], sum[ROWS];

#pragma unroll
            for (int i = 0; i < ROWS + L - 1; i++)
                column[i] = value[i].e[k];
            sum_runs<L, ROWS>(column, sum);
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                made[i].e[k] = sum[i];
        }
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            *(Piece *)(into + rows_to + i * all.pitch) = made[i];
    }

    /* Numbers side by side, in 16 bytes each. */
    template <int COUNT> __device__ static void load_shared(const Real *from, Real (&value)[COUNT])
    {
        constexpr int EACH = 16 / sizeof(Real);

#pragma unroll
        for (int i = 0; i < COUNT; i += EACH) {
            const pgi_vector<Real, EACH> read = *(const pgi_vector<Real, EACH> *)(from + i);

#pragma unroll
            for (int j = 0; j < EACH && i + j < COUNT; j++)
                value[i + j] = read.e[j];
        }
    }

    /* The runs of a piece. */
    __device__ void sum_piece(const Real *from, Real (&sum)[WIDE]) const
    {
        if constexpr (SHAPE == PGI_MARCH_NEIGHBOURS) {
            Real value[WIDE + L - 1];

            load_shared(from, value);
            sum_runs<L, WIDE>(value, sum);
        } else {
            Real value[L][WIDE];

#pragma unroll
            for (int n = 0; n < L; n++)
                load_shared(from + n * all.lanes, value[n]);
#pragma unroll
            for (int i = 0; i < WIDE; i++) {
                Real run[L], one[1];

#pragma unroll
                for (int n = 0; n < L; n++)
                    run[n] = value[n][i];
                sum_runs<L, 1>(run, one);
                sum[i] = one[0];
            }
        }
    }

    /* Divides the sums of a forward pass, whose targets are from the n-th cell on. */
    template <int COUNT>
    __device__ void average(Real (&sum)[COUNT], int n, const int *counted) const
    {
        pgi_inverse<Real> by[COUNT];

#pragma unroll
        for (int i = 0; i < COUNT; i++)
            by[i] = inverse_at(n + i, counted);
        make_means(sum, by, inverse.high != 0);
    }

    /* Sums along the rows of P tiles, as they are stored. */
    __device__ void store_batch(const Real *tiles, int size, T *target, int step, int end,
                                const int *counted) const
    {
        if constexpr (SHAPE == PGI_MARCH_SINGLES) {
#pragma unroll 1
            for (int n = thread; n < all.rows * all.columns; n += THREADS) {
                const pgi_march_single single = singles[n];
                Real sum[P][1];

                if (single.from < 0)
                    continue;
#pragma unroll
                for (int p = 0; p < P; p++) {
                    Real run[L];

#pragma unroll
                    for (int i = 0; i < L; i++)
                        run[i] = tiles[p * size + single.from + i * all.lanes];
                    sum_runs<L, 1>(run, sum[p]);
                }
#pragma unroll
                for (int p = 0; p < P; p++) {
                    if (step + p >= end || !inside(n, all.columns, step + p, end))
                        break;
                    if (all.forward)
                        average(sum[p], single.from, counted + p);
                    store_scaled<false>(target + p * all.march.target_stride + single.to, sum[p],
                                        alpha, beta);
                }
            }
        } else {
#pragma unroll
            for (int p = 0; p < P; p += TURNS)
#pragma unroll
                for (int k = 0; k < N; k++) {
                    const int at = p + turn;
                    Real sum[WIDE];

                    if (take[k] < 0 || step + at >= end ||
                        !inside(first_piece + k * THREADS, all.columns / WIDE, step + at, end))
                        continue;
                    sum_piece(tiles + at * size + take[k], sum);
                    if (all.forward)
                        average(sum, take[k], counted + at);
                    store_scaled(target + at * all.march.target_stride + to[k], sum, alpha, beta,
                                 aligned_targets);
                }
        }
    }

    /* Targets [begin, end) of a tile; `source` and `target` are the first elements of its rows. */
    __device__ void march(const T *source, T *target, int begin, int end)
    {
        const int first = begin + (int)all.march.shift + ALONG - 1 - AHEAD;
        const int batches = (end - begin + AHEAD + P - 1) / P, skipped = AHEAD / P;
        const int summed_size = all.rows * all.pitch;
        const T *from = source + first * all.march.source_stride;
        int stage = 0;

        target += begin * all.march.target_stride;
        count_steps(all.forward ? begin : first, end - begin + AHEAD + P);
#pragma unroll
        for (int k = 0; k < V; k++)
            ring[k].clear();
#pragma unroll
        for (int late = 0; late < STAGES - 1; late++) {
            if (late < batches)
                fetch(from, first + late * P, fetched + late * P * TILE);
            end_group();
            from += P * all.march.source_stride;
        }
        for (int batch = 0; batch < batches + LAG; batch++) {
            const int late = batch + STAGES - 1, stored = batch - LAG - skipped;
            const bool odd = batch & 1;

            await_groups<STAGES - 2>();
            __syncthreads();
            if (late < batches)
                fetch(from, first + late * P,
                      fetched + (stage == 0 ? STAGES - 1 : stage - 1) * P * TILE);
            end_group();
            from += P * all.march.source_stride;
            if (batch < batches) {
                Real value[P * V];

                make_batch(fetched + stage * P * TILE, steps + batch * P, value);
                sum_steps(value, cells + (odd ? P * TILE : 0));
            }
            stage = stage + 1 < STAGES ? stage + 1 : 0;
            if (RANK == 3 && batch > skipped)
                sum_rows(cells + (odd ? 0 : P * TILE), summed + (odd ? 0 : P * summed_size));
            if (stored >= 0) {
                if (RANK == 3)
                    store_batch(summed + (odd ? P * summed_size : 0), summed_size, target,
                                begin + stored * P, end, steps + stored * P);
                else
                    store_batch(cells + (odd ? 0 : P * TILE), TILE, target, begin + stored * P, end,
                                steps + stored * P);
                target += P * all.march.target_stride;
            }
        }
        __syncthreads();
    }
};

/* A block's share of all steps of all tiles. */
template <typename T, int L, int RANK, pgi_march_shape SHAPE>
__device__ inline void march_all(const pgi_cuda_march &all, const pgi_cuda_memory &memory)
{
    extern __shared__ __align__(16) char shared[];
    pgi_marcher<T, L, RANK, SHAPE> marcher(all, memory, shared);
    const int64_t targets = all.march.targets, tiles = (int64_t)all.row_tiles * all.column_tiles;
    const int64_t planes = all.inner.count * all.outer.count;
    int64_t at = blockIdx.x * all.share;
    const int64_t end = min(at + all.share, tiles * planes * targets);
    int entered = -1;

    while (at < end) {
        const int64_t unit = at / targets, plane = unit % planes;
        const int64_t slow = plane / all.inner.count, fast = plane % all.inner.count;
        const int tile = (int)(unit / planes), begin = (int)(at - unit * targets);
        const int count = (int)min(min(end - at, targets - begin), (int64_t)PGI_MARCH_MOST);
        const int row_tile = tile / all.column_tiles, column_tile = tile % all.column_tiles;
        const int64_t row = RANK == 1 ? 0 : (int64_t)row_tile * all.rows;

        /* where rows are planes, only the last tile has fewer of them */
        const int like = RANK == 2 && row_tile < all.row_tiles - 1 ? column_tile : tile;

        if (like != entered)
            marcher.enter(row_tile, column_tile);
        entered = like;
        marcher.march((const T *)memory.source + all.source_begin + slow * all.outer.source_stride +
                          fast * all.inner.source_stride +
                          (row + (RANK == 3 ? all.row.shift : 0)) * all.row.source_stride,
                      (T *)memory.target + slow * all.outer.target_stride +
                          fast * all.inner.target_stride + row * all.row.target_stride,
                      begin, begin + count);
        at += count;
    }
}

/* Blocks on a multiprocessor: long rings take many registers. */
#define PGI_MARCH_BLOCKS(rank, length)                                                             \
    ((rank) == 3 && (length) > 3 ? 1 : (rank) == 2 && (length) <= 3 ? 3 : 2)

#define MARCH(length, rank, name, shape, suffix, type)                                             \
    extern "C" __global__ void __launch_bounds__(PGI_MARCH_THREADS(rank, length),                  \
                                                 PGI_MARCH_BLOCKS(rank, length))                   \
        pgi_march_##name##_##rank##_##length##_##suffix(                                           \
            const __grid_constant__ pgi_cuda_march march, const pgi_cuda_memory memory)            \
    {                                                                                              \
        march_all<type, length, rank, shape>(march, memory);                                       \
    }

#define MARCH_SHAPES(length, rank, suffix, type)                                                   \
    MARCH(length, rank, neighbours, PGI_MARCH_NEIGHBOURS, suffix, type)                            \
    MARCH(length, rank, lanes, PGI_MARCH_LANES, suffix, type)                                      \
    MARCH(length, rank, singles, PGI_MARCH_SINGLES, suffix, type)

#define MARCH_TYPES(length, rank)                                                                  \
    MARCH_SHAPES(length, rank, f32, float)                                                         \
    MARCH_SHAPES(length, rank, f64, double)                                                        \
    MARCH_SHAPES(length, rank, f16, pgi_f16)                                                       \
    MARCH_SHAPES(length, rank, bf16, pgi_bf16)

#endif
