/* SPDX-License-Identifier: MIT */
/*
 * Averages of overlapping windows, both ways, stride 1: L neighbours are summed on every axis.
 *
 * A block marches along the first axis (D, or H of rank 2) with a tile of the others. A thread has
 * V columns of sources and takes P sources of each at a time; the sums of the last L come from a
 * ring of sums in registers (ring.cuh). They go to shared memory, where rank 3 sums rows; along a
 * row they are summed when they are read to be stored. Every dy is divided once.
 *
 * Rank 1 has nothing to march along: it goes through its planes, some at a time.
 *
 * The cells of a thread are a vector, or SINGLES, far apart, so that neighbours in memory have
 * neighbouring threads: where rows are no whole vectors, or channels are few.
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

/*
 * A block. A tile has rows of cells, one for every column of sources. In shared memory the cells of
 * a row lie in parts: cell y is the y / parts-th of part y % parts. With as many parts as a thread
 * has neighbours, threads meet in no bank.
 */
template <typename T, int L, int RANK, bool SINGLES> struct pgi_marcher {
    typedef pgi_real<T> Real;
    static constexpr int V = PGI_MARCH_CELLS(RANK, SINGLES), P = PGI_MARCH_BATCH(RANK, sizeof(T));
    static constexpr int N = SINGLES ? V : 1;                 /* pieces of memory */
    static constexpr int ALONG = RANK == 1 ? 1 : L;           /* terms on the marched axis */
    static constexpr int AHEAD = (ALONG - 1 + P - 1) / P * P; /* sources before the first targets */
    static constexpr int ROWS = 4; /* targets that are summed at once in a column of a tile */

    const pgi_cuda_march &all;
    bool aligned; /* vectors are, in memory */

    /* In shared memory: what the thread has fetched, and the inverses of the divisors of its
     * sources, or of its targets in a forward pass. */
    pgi_vector<T, V> *fetched;
    pgi_vector<Real, V> *inverses; /* what is high of them; what is low, after all threads' */

    /* P tiles; P after the rows' stage, or another P in turn; what windows count. */
    Real *cells, *summed;
    int cells_size, summed_size;
    int *march_count, *row_count, *column_count;
    int pitch, part, summed_part; /* from row to row, and from part to part */
    int row_tile, column_tile, segment;

    /* The thread's columns: which of them are there, where they lie, where their sums go; -1:
     * nobody wants them. */
    int there, offset[N], put[V];
    pgi_ring<Real, ALONG> ring[V];

    /* The column whose rows it sums, and the targets that it stores; -1: none. */
    int rows_from, rows_to;
    int take[N], to[N];

    int counted; /* by the windows of the inverses, on the marched axis */
    bool usual;  /* none of them has a `high` of 0 */

    __device__ pgi_marcher(const pgi_cuda_march &march, const pgi_cuda_memory &memory, char *shared)
        : all(march)
    {
        int block = (int)blockIdx.x;

        aligned = !SINGLES && is_aligned<T, V>((const T *)memory.source + all.source_begin) &&
                  is_aligned<T, V>((const T *)memory.target);
        column_tile = block % all.column_tiles;
        block /= all.column_tiles;
        row_tile = block % all.row_tiles;
        segment = block / all.row_tiles;
        pitch = all.cells / parts();
        part = padded(all.source_rows * pitch);
        summed_part = padded(all.rows * pitch);
        cells_size = parts() * part;
        summed_size = RANK == 3 ? parts() * summed_part : cells_size;
        fetched = (pgi_vector<T, V> *)shared + threadIdx.x;
        shared += PGI_MARCH_STAGES * P * blockDim.x * sizeof *fetched;
        inverses = (pgi_vector<Real, V> *)shared + threadIdx.x;
        shared += 2 * blockDim.x * sizeof *inverses;
        cells = (Real *)shared;
        summed = cells + P * cells_size;
        march_count = (int *)(summed + P * summed_size);
        row_count = march_count + all.segment + AHEAD + P;
        column_count = row_count + all.source_rows;
        counted = -1;
    }

    /* A part's size such that the words of a row, part after part, lie in banks one after the
     * other. */
    __device__ int padded(int words) const
    {
        return words + ((pitch - words) & (PGI_MARCH_BANKS - 1));
    }

    __device__ int parts() const
    {
        return SINGLES || all.by_lanes ? 1 : V;
    }

    /* Where the first source of a row lies, and how many cells of its vector come before the first
     * that is needed. */
    __device__ int first_cell(int *lead) const
    {
        const int from = column_tile * all.columns + (int)all.column.shift * all.lanes;
        const int first = SINGLES ? from : from >= 0 ? from / V * V : -((-from + V - 1) / V) * V;

        *lead = from - first;
        return first;
    }

    /* The source of the first batch of a block. */
    __device__ int first_source() const
    {
        return segment * all.segment + (int)all.march.shift + ALONG - 1 - AHEAD;
    }

    /* What windows of the tile count: sources of a gradient, targets of a forward pass. */
    __device__ void count_windows()
    {
        const int thread = (int)threadIdx.x, threads = (int)blockDim.x;
        const int march = all.forward ? segment * all.segment : first_source();
        const int row = row_tile * all.rows + (all.forward ? 0 : (int)all.row.shift);
        int lead;
        const int cell = all.forward ? column_tile * all.columns : first_cell(&lead);

        if (all.divisor_rule == 0)
            return;
        for (int i = thread; RANK != 1 && i < all.segment + AHEAD + P; i += threads)
            march_count[i] = count_of(&all, &all.march, march + i);
        for (int i = thread; RANK == 3 && i < all.source_rows; i += threads)
            row_count[i] = count_of(&all, &all.row, row + i);
        for (int i = thread; i < all.cells; i += threads)
            column_count[i] =
                cell + i < 0 ? 1 : count_of(&all, &all.column, (cell + i) / all.lanes);
        __syncthreads();
    }

    /* The row and the column of the i-th of the thread's cells, or targets, of rows of so many. */
    __device__ void own(int i, int wide, int *row, int *x) const
    {
        const int number =
            SINGLES ? (int)threadIdx.x + i * (int)blockDim.x : (int)threadIdx.x * V + i;

        *row = number / wide; /* no vector is of two rows */
        *x = number - *row * wide;
    }

    __device__ void find_columns()
    {
        int lead;
        const int first = first_cell(&lead);

        there = 0;
#pragma unroll
        for (int i = 0; i < V; i++) {
            int row, x;

            own(i, all.cells, &row, &x);
            const int at = RANK == 1   ? row
                           : RANK == 2 ? row_tile * all.rows + row
                                       : row_tile * all.rows + (int)all.row.shift + row;
            const int cell = first + x, place = cell >= 0 ? cell / all.lanes : -1, y = x - lead;

            put[i] = row < all.source_rows && y >= 0
                         ? y % parts() * part + row * pitch + y / parts()
                         : -1;
            if (i < N)
                offset[i] = (int)(row * all.row.source_stride + place * all.column.source_stride +
                                  cell - place * all.lanes);
            if (row < all.source_rows && at >= 0 && at < all.row.sources && place >= 0 &&
                place < all.column.sources)
                there |= 1 << i;
        }
    }

    /* What is divided by, where windows count so much on the marched axis. */
    __device__ void find_inverses(int steps_count)
    {
        const int wide = all.forward ? all.columns : all.cells;
        pgi_vector<Real, V> high, low;
        int row, x;

        counted = steps_count;
        usual = true;
        own(0, wide, &row, &x);
#pragma unroll
        for (int i = 0; i < V; i++) {
            Real divisor = (Real)all.divisor;

            if (all.divisor_rule != 0) {
                if (SINGLES)
                    own(i, wide, &row, &x);
                divisor = 1;
                if (row < all.source_rows)
                    divisor = (Real)(column_count[SINGLES ? x : x + i] *
                                     (RANK == 3 ? row_count[row] : 1)) *
                              (Real)steps_count;
            }
            const pgi_inverse<Real> inverse = inverse_of(divisor);

            high.e[i] = inverse.high;
            low.e[i] = inverse.low;
            usual = usual && inverse.high != 0;
        }
        copy_shared(inverses->e, high.e);
        copy_shared(inverses[blockDim.x].e, low.e);
    }

    /* Those of a step; `counts` is what its windows count on the marched axis. */
    __device__ void get_inverses(const int *counts, pgi_inverse<Real> (&inverse)[V])
    {
        const int steps_count = RANK != 1 && all.divisor_rule != 0 ? *counts : 1;
        pgi_vector<Real, V> high, low;

        if (steps_count != counted)
            find_inverses(steps_count);
        copy_shared(high.e, inverses->e);
        copy_shared(low.e, inverses[blockDim.x].e);
#pragma unroll
        for (int i = 0; i < V; i++)
            inverse[i] = {high.e[i], low.e[i]};
    }

    /* V numbers, which are aligned to 16 bytes. */
    __device__ static void copy_shared(Real *to, const Real *from)
    {
#pragma unroll
        for (int i = 0; i < (int)(V * sizeof(Real) / sizeof(uint4)); i++)
            ((uint4 *)to)[i] = ((const uint4 *)from)[i];
    }

    __device__ void find_targets()
    {
        const int y = (int)threadIdx.x % all.cells, four = (int)threadIdx.x / all.cells;

        rows_from = RANK == 3 && four < all.rows / ROWS
                        ? y / pitch * part + four * ROWS * pitch + y % pitch
                        : -1;
        rows_to = y / pitch * summed_part + four * ROWS * pitch + y % pitch;
#pragma unroll
        for (int i = 0; i < N; i++) {
            int row, x;

            own(i, all.columns, &row, &x);
            const int column = column_tile * all.columns + x, place = column / all.lanes;
            const int at = RANK == 1 ? row : row_tile * all.rows + row;

            take[i] = row < all.rows && at < all.row.targets && place < all.column.targets
                          ? row * pitch + x / parts()
                          : -1;
            to[i] = (int)(row * all.row.target_stride + place * all.column.target_stride + column -
                          place * all.lanes);
        }
    }

    /* Whether the i-th cell, or target, is there at a step of the march. */
    __device__ bool inside(int i, int wide, int step, int steps) const
    {
        int row, x;

        if (RANK != 1)
            return (unsigned)step < (unsigned)steps;
        if ((step + 1) * all.rows <= all.planes)
            return true;
        own(i, wide, &row, &x); /* of the last planes some are missing */
        return step * all.rows + row < all.planes;
    }

    /* Starts fetching the sources of P steps; 0 where there are none. */
    __device__ void fetch(const T *from, int step, int stage)
    {
        const int steps = (int)all.march.sources;

#pragma unroll
        for (int p = 0; p < P; p++) {
            pgi_vector<T, V> *to = fetched + (stage * P + p) * (int)blockDim.x;

            if (aligned) {
                const bool here = there && inside(0, all.cells, step + p, steps);

                copy_async<sizeof *to>(to, here ? from + offset[0] : from, here);
            } else {
#pragma unroll
                for (int i = 0; i < V; i++) {
                    const bool here = there >> i & 1 && inside(i, all.cells, step + p, steps);
                    const T *at = from + (SINGLES ? offset[i % N] : offset[0] + i);

                    if constexpr (sizeof(T) >= 4)
                        copy_async<sizeof(T)>(&to->e[i], here ? at : from, here);
                    else
                        to->e[i] = here ? load_element(at) : T{};
                }
            }
            from += all.march.source_stride;
        }
    }

    /* Whether the inverses at hand are those of all steps of a batch. */
    __device__ bool has_inverses(const int *counts) const
    {
        bool same = true;

        if (RANK != 1 && all.divisor_rule != 0) {
#pragma unroll
            for (int p = 0; p < P; p++)
                same = same && counts[p] == counted;
            return same;
        }
        return counted == 1;
    }

    /* The terms of a batch. Hardly ever is there one that needs more than a look at all of them. */
    __device__ void make_batch(int stage, const int *counts, Real (&value)[P][V])
    {
        pgi_inverse<Real> inverse[V];
        pgi_vector<T, V> read[P];

#pragma unroll
        for (int p = 0; p < P; p++) {
            read[p] = fetched[(stage * P + p) * (int)blockDim.x];
#pragma unroll
            for (int i = 0; i < V; i++)
                value[p][i] = widen(read[p], i);
        }
        if (all.forward) {
#pragma unroll
            for (int p = 0; p < P; p++)
                add_zero(value[p]);
        } else if (has_inverses(counts) && usual && are_ordinary(read)) {
            get_inverses(counts, inverse);
#pragma unroll
            for (int p = 0; p < P; p++)
                make_terms(value[p], inverse, true);
        } else {
#pragma unroll
            for (int p = 0; p < P; p++) {
                get_inverses(counts + p, inverse);
                make_terms(value[p], inverse, usual && are_ordinary(read[p]));
            }
        }
    }

    /* The terms go into the rings; their sums, if there are targets for them, into the tiles. */
    __device__ void sum_steps(const Real (&value)[P][V], bool complete, Real *tiles)
    {
        Real sum[V][P];

#pragma unroll
        for (int i = 0; i < V; i++) {
            Real column[P];

#pragma unroll
            for (int p = 0; p < P; p++)
                column[p] = value[p][i];
            ring[i].push(column, sum[i]);
        }
        if (!complete)
            return;
#pragma unroll
        for (int p = 0; p < P; p++) {
            pgi_vector<Real, V> made;

#pragma unroll
            for (int i = 0; i < V; i++)
                made.e[i] = sum[i][p];
            if (!SINGLES && all.by_lanes) {
                if (put[0] >= 0)
                    copy_shared(tiles + p * cells_size + put[0], made.e);
            } else {
#pragma unroll
                for (int i = 0; i < V; i++)
                    if (put[i] >= 0)
                        tiles[p * cells_size + put[i]] = made.e[i];
            }
        }
    }

    __device__ void sum_rows()
    {
        if (rows_from < 0)
            return;
#pragma unroll 1
        for (int p = 0; p < P; p++) {
            const Real *from = cells + p * cells_size + rows_from;
            Real *into = summed + p * summed_size + rows_to;
            Real value[ROWS + L - 1], sum[ROWS];

#pragma unroll
            for (int i = 0; i < ROWS + L - 1; i++)
                value[i] = from[i * pitch];
            sum_runs<L, ROWS>(value, sum);
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                into[i * pitch] = sum[i];
        }
    }

    /* Runs of V neighbours along a row; their parts lie so far apart. */
    __device__ static void sum_neighbours(const Real *begin, int apart, Real (&sum)[V])
    {
        Real value[V + L - 1];

#pragma unroll
        for (int i = 0; i < V + L - 1; i++)
            value[i] = begin[i % V * apart + i / V];
        sum_runs<L, V>(value, sum);
    }

    /* A run for each of V lanes, which have their like so many cells further. */
    __device__ static void sum_lanes(const Real *begin, int lanes, Real (&sum)[V])
    {
        pgi_vector<Real, V> read[L];

#pragma unroll
        for (int n = 0; n < L; n++)
            copy_shared(read[n].e, begin + n * lanes);
#pragma unroll
        for (int i = 0; i < V; i++) {
            Real value[L], one[1];

#pragma unroll
            for (int n = 0; n < L; n++)
                value[n] = read[n].e[i];
            sum_runs<L, 1>(value, one);
            sum[i] = one[0];
        }
    }

    __device__ static Real sum_single(const Real *begin, int lanes)
    {
        Real value[L], one[1];

#pragma unroll
        for (int n = 0; n < L; n++)
            value[n] = begin[n * lanes];
        sum_runs<L, 1>(value, one);
        return one[0];
    }

    /* The targets of one step; `tile` has the sums, its parts so far apart. */
    __device__ void store_step(const Real *tile, int apart, T *target, int step, const int *counts)
    {
        const Real alpha = (Real)all.alpha, beta = (Real)all.beta;
        const int steps = (int)all.march.targets;
        Real sum[V];

        if constexpr (SINGLES) {
#pragma unroll
            for (int i = 0; i < V; i++)
                sum[i] = sum_single(tile + max(take[i], 0), all.lanes);
        } else {
            if (take[0] < 0 || !inside(0, all.columns, step, steps))
                return;
            if (all.by_lanes)
                sum_lanes(tile + take[0], all.lanes, sum);
            else
                sum_neighbours(tile + take[0], apart, sum);
        }
        if (all.forward) {
            pgi_inverse<Real> inverse[V];

            get_inverses(counts, inverse);
            make_means(sum, inverse, usual);
        }
        if constexpr (SINGLES) {
#pragma unroll
            for (int i = 0; i < V; i++) {
                const Real one[1] = {sum[i]};

                if (take[i] >= 0 && inside(i, all.columns, step, steps))
                    store_scaled<false>(target + to[i], one, alpha, beta);
            }
        } else {
            store_scaled(target + to[0], sum, alpha, beta, aligned);
        }
    }

    __device__ void store_batch(const Real *tiles, T *target, int step, int end, const int *counts)
    {
#pragma unroll 1 /* short code is worth more here */
        for (int p = 0; p < P; p++) {
            if (step + p >= end)
                return;
            store_step(tiles, RANK == 3 ? summed_part : part, target, step + p, counts + p);
            tiles += RANK == 3 ? summed_size : cells_size;
            target += all.march.target_stride;
        }
    }

    /* One plane; `source` and `target` are its first elements. */
    __device__ void march(const T *source, T *target)
    {
        const int begin = segment * all.segment, first = first_source();
        const int end = min(begin + all.segment, (int)all.march.targets);
        const int64_t row = RANK == 1 ? 0 : (int64_t)row_tile * all.rows;
        const T *from = source + first * all.march.source_stride +
                        (row + (RANK == 3 ? all.row.shift : 0)) * all.row.source_stride;
        const int batches = (end - begin + AHEAD + P - 1) / P;
        bool turn = false;
        int stage = 0;

        target += begin * all.march.target_stride + row * all.row.target_stride;
#pragma unroll
        for (int i = 0; i < V; i++)
            ring[i].clear();
        for (int batch = 1 - PGI_MARCH_STAGES; batch < batches; batch++) {
            const int late = batch + PGI_MARCH_STAGES - 1, done = batch * P - AHEAD;
            Real *tiles = turn ? summed : cells, value[P][V];

            if (batch >= 0) {
                await_groups<PGI_MARCH_STAGES - 2>();
                make_batch(stage, march_count + batch * P, value);
            }
            if (late < batches)
                fetch(from, first + late * P,
                      batch < 0    ? late
                      : stage == 0 ? PGI_MARCH_STAGES - 1
                                   : stage - 1);
            end_group();
            from += P * all.march.source_stride;
            if (batch < 0)
                continue;
            stage = stage + 1 < PGI_MARCH_STAGES ? stage + 1 : 0;
            sum_steps(value, done >= 0, tiles);
            if (done < 0)
                continue;
            __syncthreads();
            if (RANK == 3) {
                sum_rows();
                __syncthreads();
            }
            store_batch(RANK == 3 ? summed : tiles, target, begin + done, end, march_count + done);
            target += P * all.march.target_stride;
            turn = RANK < 3 && !turn;
        }
        __syncthreads();
    }
};

template <typename T, int L, int RANK, bool SINGLES>
__device__ inline void march_all(const pgi_cuda_march &march, const pgi_cuda_memory &memory)
{
    extern __shared__ __align__(16) char shared[];
    pgi_marcher<T, L, RANK, SINGLES> marcher(march, memory, shared);
    const int64_t planes = march.inner.count * march.outer.count;

    marcher.count_windows();
    marcher.find_columns();
    marcher.find_targets();
    for (int64_t u = blockIdx.y; u < planes; u += gridDim.y) {
        const int64_t slow = u / march.inner.count, fast = u % march.inner.count;

        marcher.march((const T *)memory.source + march.source_begin +
                          slow * march.outer.source_stride + fast * march.inner.source_stride,
                      (T *)memory.target + slow * march.outer.target_stride +
                          fast * march.inner.target_stride);
    }
}

/* Blocks on a multiprocessor: long rings take many registers, and so do eight cells. */
#define PGI_MARCH_BLOCKS(rank, length)                                                             \
    ((rank) == 3 && (length) > 3 ? 1 : (rank) == 1 || (length) > 7 ? 2 : 3)

#define MARCH(length, rank, name, singles, suffix, type)                                           \
    extern "C" __global__ void __launch_bounds__(PGI_MARCH_THREADS(rank, length),                  \
                                                 PGI_MARCH_BLOCKS(rank, length))                   \
        pgi_march_##name##_##rank##_##length##_##suffix(                                           \
            const __grid_constant__ pgi_cuda_march march, const pgi_cuda_memory memory)            \
    {                                                                                              \
        march_all<type, length, rank, singles>(march, memory);                                     \
    }

#define MARCH_TYPES(length, rank)                                                                  \
    MARCH(length, rank, vectors, false, f32, float)                                                \
    MARCH(length, rank, singles, true, f32, float)                                                 \
    MARCH(length, rank, vectors, false, f64, double)                                               \
    MARCH(length, rank, singles, true, f64, double)                                                \
    MARCH(length, rank, vectors, false, f16, pgi_f16)                                              \
    MARCH(length, rank, singles, true, f16, pgi_f16)                                               \
    MARCH(length, rank, vectors, false, bf16, pgi_bf16)                                            \
    MARCH(length, rank, singles, true, bf16, pgi_bf16)

#endif
