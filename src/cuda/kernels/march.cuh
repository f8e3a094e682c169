/* SPDX-License-Identifier: MIT */
/*
 * Averages of overlapping windows, both ways, stride 1: L neighbours are summed on every axis.
 *
 * A block marches along the first axis (D, or H of rank 2) with a tile of the others. A thread has
 * some columns of sources; the sum of the last L sources of a column comes from a ring of sums of
 * 2, 4, 8, ... in registers. The sums of all columns go to shared memory, where rank 3 sums rows;
 * the columns are summed when they are read to be stored. Every dy is divided once.
 *
 * Rank 1 has nothing to march along: it goes through its planes, some at a time. Where channels lie
 * side by side it marches along W, with the channels as columns that are not summed: rank 0.
 */
#ifndef PGI_CUDA_KERNELS_MARCH_CUH
#define PGI_CUDA_KERNELS_MARCH_CUH

#include "cuda/kernels/general.h"
#include "cuda/kernels/march.h"
#include "cuda/kernels/near.cuh"

__host__ __device__ constexpr int top_level(int length)
{
    return length > 1 ? 1 + top_level(length / 2) : 0;
}

/* How long sums of 2^level terms of a run of L must be remembered: until they are the left half of
 * the next larger, or until the terms behind them in a run have come. */
__host__ __device__ constexpr int memory_of(int length, int level)
{
    const int half = level < top_level(length) ? 1 << level : 0;
    const int behind = length >> level & 1 ? length & ((1 << level) - 1) : 0;

    return half > behind ? half : behind;
}

/* The last terms of a column as sums of 2^J, 2^(J+1), ... of them. One struct for every level: all
 * of it must be in registers, so every index is a constant. */
template <typename Real, int L, int J = 0> struct pgi_ring {
    static constexpr int TOP = top_level(L), DEPTH = memory_of(L, J);
    static constexpr int BEHIND = L & ((1 << J) - 1);
    static constexpr bool PART = L >> J & 1;
    Real past[DEPTH > 0 ? DEPTH : 1];
    pgi_ring<Real, L, J + 1> larger;

    __device__ void clear()
    {
#pragma unroll
        for (int k = 0; k < DEPTH; k++)
            past[k] = 0;
        larger.clear();
    }

    /* Takes a sum of 2^J terms; returns that of the last L terms, without what lies behind the last
     * whole sum of this size. */
    __device__ Real push(Real now)
    {
        const Real part = BEHIND == 0 ? now : past[BEHIND > 0 ? BEHIND - 1 : 0];
        Real sum;

        if constexpr (J < TOP)
            sum = PART ? larger.push(past[(1 << J) - 1] + now) + part
                       : larger.push(past[(1 << J) - 1] + now);
        else
            sum = part;
#pragma unroll
        for (int k = DEPTH - 1; k > 0; k--)
            past[k] = past[k - 1];
        if (DEPTH > 0)
            past[0] = now;
        return sum;
    }
};

template <typename Real, int L> struct pgi_ring<Real, L, top_level(L) + 1> {
    __device__ void clear()
    {
    }
};

/* sum[i] = the run of L terms from the i-th on, of which `value` holds the sums of 2^J. */
template <int L, int N, int J = 0, typename Real, int COUNT>
__device__ inline void sum_runs(const Real (&value)[COUNT], Real (&sum)[N])
{
    static_assert(COUNT == N + L - (1 << J), "all sums of this size");

    if constexpr (J < top_level(L)) {
        Real larger[N + L - (2 << J)];

#pragma unroll
        for (int i = 0; i < N + L - (2 << J); i++)
            larger[i] = value[i] + value[i + (1 << J)];
        sum_runs<L, N, J + 1>(larger, sum);
        if constexpr (L >> J & 1) {
#pragma unroll
            for (int i = 0; i < N; i++)
                sum[i] = sum[i] + value[i + (L >> (J + 1) << (J + 1))];
        }
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            sum[i] = value[i];
    }
}

/* What windows count on an axis; 1 where all of them count the same. */
__device__ static __noinline__ int count_of(const pgi_cuda_march *all,
                                            const pgi_cuda_march_axis *axis, int64_t at)
{
    return (int)pgi_axis_count(&axis->axis, (poolgrad_divisor)all->divisor_rule,
                               axis->window + at);
}

/*
 * A block. A tile has rows of cells, one for every column of sources; in shared memory the cells of
 * a row lie V apart first, so that threads which have V neighbours each meet in no bank: cell y of a
 * row is the y / V-th of part y % V.
 */
template <bool ALIGNED, typename T, int L, int RANK, int V, int K> struct pgi_marcher {
    typedef pgi_real<T> Real;
    static constexpr int ALONG = RANK == 1 ? 1 : L;    /* terms on the marched axis */
    static constexpr int ACROSS = RANK == 0 ? 1 : L;   /* and along a row */
    static constexpr int ROWS = 4;                  /* targets that are summed at once in a column */

    const pgi_cuda_march &all;
    Real divisor, reciprocal; /* of all windows, if they are alike */

    /* In shared memory: the tile; after the rows' stage, or for rank 2 another tile in turn; what
     * windows count. */
    Real *cells, *summed;
    int *march_count, *row_count, *column_count;
    int pitch, part, summed_part; /* from row to row, and from part to part */
    int row_tile, column_tile, segment;

    /* The thread's columns. */
    bool there[K];
    int row_of[K], offset[K], put[K][V];
    Real count[K][V], inverse[K][V];
    pgi_ring<Real, ALONG> ring[K][V];
    pgi_vector<T, V> next[K];

    /* The column whose rows it sums, and the targets that it stores. */
    int rows_from, rows_to; /* -1: none */
    int take[K], to[K], target_row[K];

    __device__ pgi_marcher(const pgi_cuda_march &march, char *shared) : all(march)
    {
        int block = (int)blockIdx.x;

        divisor = (Real)all.divisor;
        reciprocal = divisor == 0 ? 0 : reciprocal_of(divisor);
        column_tile = block % all.column_tiles;
        block /= all.column_tiles;
        row_tile = block % all.row_tiles;
        segment = block / all.row_tiles;
        pitch = all.cells / V;
        part = all.source_rows * pitch;
        summed_part = all.rows * pitch;
        cells = (Real *)shared;
        summed = cells + all.source_rows * all.cells;
        march_count = (int *)(summed + all.rows * all.cells);
        row_count = march_count + all.segment + L;
        column_count = row_count + all.source_rows;
    }

    /* Where the first source of a row lies, and how many cells of its vector come before the first
     * that is needed. */
    __device__ int first_cell(int *lead) const
    {
        const int from = column_tile * all.columns + (int)all.column.shift * all.lanes;
        const int first = from >= 0 ? from / V * V : -((-from + V - 1) / V) * V;

        *lead = from - first;
        return first;
    }

    /* What windows of the tile count: sources of a gradient, targets of a forward pass. */
    __device__ void count_windows()
    {
        const int thread = (int)threadIdx.x, threads = (int)blockDim.x;
        const int shifts = all.forward ? 0 : 1;
        int lead;
        const int first = first_cell(&lead);

        if (all.divisor_rule == 0)
            return;
        for (int i = thread; RANK != 1 && i < all.segment + L - 1; i += threads)
            march_count[i] =
                count_of(&all, &all.march, segment * all.segment + shifts * all.march.shift + i);
        for (int i = thread; RANK == 3 && i < all.source_rows; i += threads)
            row_count[i] =
                count_of(&all, &all.row, row_tile * all.rows + shifts * all.row.shift + i);
        for (int i = thread; i < all.cells; i += threads) {
            const int cell = shifts ? first + i : column_tile * all.columns + i;

            column_count[i] = RANK == 0  ? 1
                              : cell < 0 ? 0
                                         : count_of(&all, &all.column, cell / all.lanes);
        }
        __syncthreads();
    }

    /* Of cell y of a row, in a tile whose parts are so far apart. */
    __device__ int address(int row, int y, int apart) const
    {
        return (y & (V - 1)) * apart + row * pitch + y / V;
    }

    __device__ void find_columns()
    {
        int lead;
        const int first = first_cell(&lead);

#pragma unroll
        for (int k = 0; k < K; k++) {
            const int group = (int)threadIdx.x + k * (int)blockDim.x;
            const int row = group / pitch, x = group % pitch * V;
            const int at = RANK == 1   ? row
                           : RANK != 3 ? row_tile * all.rows + row
                                       : row_tile * all.rows + (int)all.row.shift + row;
            const int cell = first + x, place = cell >= 0 ? cell / all.lanes : -1;

            row_of[k] = row;
            there[k] = row < all.source_rows && at >= 0 && at < all.row.sources && place >= 0 &&
                       place < all.column.sources;
            offset[k] = there[k] ? (int)(row * all.row.source_stride +
                                         place * all.column.source_stride + cell -
                                         place * all.lanes)
                                 : 0;
#pragma unroll
            for (int i = 0; i < V; i++) {
                const int y = x + i - lead;

                put[k][i] = row < all.source_rows && y >= 0 ? address(row, y, part) : -1;
                count[k][i] = 1;
                if (all.divisor_rule != 0 && !all.forward && there[k])
                    count[k][i] = (Real)(column_count[x + i] * (RANK == 3 ? row_count[row] : 1));
                inverse[k][i] = reciprocal_of(count[k][i]);
            }
        }
    }

    __device__ void find_targets()
    {
        const int groups = all.columns / V, rows_groups = all.rows / ROWS;
        const int y = (int)threadIdx.x % all.cells, four = (int)threadIdx.x / all.cells;

        rows_from = RANK == 3 && four < rows_groups
                        ? y / pitch * part + four * ROWS * pitch + y % pitch
                        : -1;
        rows_to = y / pitch * summed_part + four * ROWS * pitch + y % pitch;
#pragma unroll
        for (int k = 0; k < K; k++) {
            const int group = (int)threadIdx.x + k * (int)blockDim.x;
            const int row = group / groups, x = group % groups * V;
            const int column = column_tile * all.columns + x, place = column / all.lanes;
            const int at = RANK == 1 ? row : row_tile * all.rows + row;

            target_row[k] = row;
            take[k] = row < all.rows && at < all.row.targets && place < all.column.targets
                          ? row * all.cells + x
                          : -1;
            to[k] = (int)(row * all.row.target_stride + place * all.column.target_stride + column -
                          place * all.lanes);
        }
    }

    /* Whether the thread's k-th columns have sources at step m; `rest` planes are left (rank 1). */
    __device__ bool present(int k, int m, int64_t rest) const
    {
        if (RANK == 1)
            return there[k] && row_of[k] < rest;
        return there[k] && m >= 0 && m < all.march.sources;
    }

    __device__ void fetch(const T *from, int m, int64_t rest)
    {
#pragma unroll
        for (int k = 0; k < K; k++)
            if (present(k, m, rest))
                load_vector<ALIGNED>(from + offset[k], &next[k]);
    }

    /* The terms of the thread's k-th columns. */
    __device__ void make_column_terms(int k, Real steps_count, Real (&value)[V]) const
    {
        if (all.forward) {
#pragma unroll
            for (int i = 0; i < V; i++)
                value[i] = value[i] + 0;
        } else if (all.divisor_rule == 0) {
            make_terms(value, divisor, reciprocal);
        } else {
            Real product[V];

#pragma unroll
            for (int i = 0; i < V; i++)
                product[i] = count[k][i] * steps_count;
            make_terms(value, product, inverse[k]);
        }
    }

    /* The terms of step m go into the rings; their sums, if they are complete, into the tile. */
    __device__ void sum_steps(int m, int64_t rest, Real steps_count, bool complete, Real *tile)
    {
#pragma unroll
        for (int k = 0; k < K; k++) {
            Real value[V];

            if (present(k, m, rest)) {
#pragma unroll
                for (int i = 0; i < V; i++)
                    value[i] = widen(next[k].e[i]);
                make_column_terms(k, steps_count, value);
            } else {
#pragma unroll
                for (int i = 0; i < V; i++)
                    value[i] = 0;
            }
#pragma unroll
            for (int i = 0; i < V; i++) {
                const Real sum = ring[k][i].push(value[i]);

                if (complete && put[k][i] >= 0)
                    tile[put[k][i]] = sum;
            }
        }
    }

    __device__ void sum_rows()
    {
        Real value[ROWS + L - 1], sum[ROWS];

        if (rows_from < 0)
            return;
#pragma unroll
        for (int i = 0; i < ROWS + L - 1; i++)
            value[i] = cells[rows_from + i * pitch];
        sum_runs<L, ROWS>(value, sum);
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            summed[rows_to + i * pitch] = sum[i];
    }

    /* The runs of the thread's k-th targets along a row. */
    __device__ void sum_columns(const Real *tile, int apart, int k, Real (&sum)[V]) const
    {
        const int row = target_row[k], x = take[k] - row * all.cells;

        if (all.lanes == 1) {
            const Real *begin = tile + row * pitch + x / V;
            Real value[V + ACROSS - 1];

#pragma unroll
            for (int i = 0; i < V + ACROSS - 1; i++)
                value[i] = begin[i % V * apart + i / V];
            sum_runs<ACROSS, V>(value, sum);
            return;
        }
#pragma unroll
        for (int i = 0; i < V; i++) {
            Real value[ACROSS], one[1];

#pragma unroll
            for (int n = 0; n < ACROSS; n++)
                value[n] = tile[address(row, x + i + n * all.lanes, apart)];
            sum_runs<ACROSS, 1>(value, one);
            sum[i] = one[0];
        }
    }

    __device__ void store_targets(const Real *tile, int apart, T *target, int64_t rest,
                                  Real steps_count)
    {
#pragma unroll
        for (int k = 0; k < K; k++) {
            Real sum[V];

            if (take[k] < 0 || (RANK == 1 && target_row[k] >= rest))
                continue;
            sum_columns(tile, apart, k, sum);
            if (all.forward) {
                const int row = target_row[k], x = take[k] - row * all.cells;

#pragma unroll
                for (int i = 0; i < V; i++) {
                    Real by = divisor, inverse_by = reciprocal;

                    if (all.divisor_rule != 0) {
                        by = (Real)(column_count[x + i] * (RANK == 3 ? row_count[row] : 1)) *
                             steps_count;
                        inverse_by = by == 0 ? 0 : reciprocal_of(by);
                    }
                    sum[i] = by == 0 ? 0 : quotient(sum[i], by, inverse_by);
                }
            }
            store_scaled<ALIGNED>(target + to[k], sum, (Real)all.alpha, (Real)all.beta);
        }
    }

    /* One plane; `source` and `target` are its first elements. */
    __device__ void march(const T *source, T *target)
    {
        const int begin = segment * all.segment;
        const int end = min(begin + all.segment, (int)all.march.targets);
        const int first = begin + (int)all.march.shift, last = first + end - begin + ALONG - 2;
        const int64_t row = RANK == 1 ? 0 : (int64_t)row_tile * all.rows;
        const T *from = source + first * all.march.source_stride +
                        (row + (RANK == 3 ? all.row.shift : 0)) * all.row.source_stride;
        int64_t rest = all.planes - (int64_t)begin * all.rows;
        int counted = 1;
        bool turn = false;

        target += begin * all.march.target_stride + row * all.row.target_stride;
#pragma unroll
        for (int k = 0; k < K; k++)
#pragma unroll
            for (int i = 0; i < V; i++)
                ring[k][i].clear();
        fetch(from, first, rest);
        for (int m = first; m <= last; m++) {
            const bool complete = m - first >= ALONG - 1;
            Real *tile = turn ? summed : cells;
            int steps_count = 1;

            if (RANK != 1 && all.divisor_rule != 0) {
                steps_count = march_count[m - first - (all.forward && complete ? ALONG - 1 : 0)];
                if (!all.forward && steps_count != counted) {
                    counted = steps_count;
#pragma unroll
                    for (int k = 0; k < K; k++)
#pragma unroll
                        for (int i = 0; i < V; i++)
                            inverse[k][i] = reciprocal_of(count[k][i] * (Real)steps_count);
                }
            }
            sum_steps(m, rest, (Real)steps_count, complete, tile);
            from += all.march.source_stride;
            if (m < last)
                fetch(from, m + 1, rest - all.rows);
            if (complete) {
                __syncthreads();
                if (RANK == 3) {
                    sum_rows();
                    __syncthreads();
                }
                store_targets(RANK == 3 ? summed : tile, RANK == 3 ? summed_part : part, target,
                              rest, (Real)steps_count);
                target += all.march.target_stride;
                turn = RANK < 3 && !turn;
            }
            rest -= all.rows;
        }
        __syncthreads();
    }
};

template <bool ALIGNED, typename T, int L, int RANK, int V, int K>
__device__ inline void march_all(const pgi_cuda_march &march, const pgi_cuda_memory &memory)
{
    extern __shared__ char shared[];
    pgi_marcher<ALIGNED, T, L, RANK, V, K> marcher(march, shared);
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

#define MARCH(length, rank, width, groups, suffix, type)                                           \
    extern "C" __global__ void __launch_bounds__(rank == 3 ? 512 : 256,                            \
                                                 rank == 3   ? 1                                   \
                                                 : rank == 0 ? 2                                   \
                                                 : length < 8 ? 4                                   \
                                                             : 3)                                  \
        pgi_march_##rank##_##length##_##width##_##suffix(                                          \
        const __grid_constant__ pgi_cuda_march march, const pgi_cuda_memory memory)                \
    {                                                                                              \
        if (width == 1 || (is_aligned<type, width>((const type *)memory.source) &&                 \
                           is_aligned<type, width>((const type *)memory.target)))                  \
            march_all<true, type, length, rank, width, groups>(march, memory);                     \
        else                                                                                       \
            march_all<false, type, length, rank, width, groups>(march, memory);                    \
    }

/* Whole vectors, one for a thread, or single elements, four. */
#define MARCH_TYPES(length, rank)                                                                  \
    MARCH(length, rank, 4, 1, f32, float)                                                          \
    MARCH(length, rank, 1, 4, f32, float)                                                          \
    MARCH(length, rank, 2, 2, f64, double)                                                         \
    MARCH(length, rank, 1, 4, f64, double)                                                         \
    MARCH(length, rank, 4, 1, f16, pgi_f16)                                                        \
    MARCH(length, rank, 1, 4, f16, pgi_f16)                                                        \
    MARCH(length, rank, 4, 1, bf16, pgi_bf16)                                                      \
    MARCH(length, rank, 1, 4, bf16, pgi_bf16)

/* Channels as columns, two for a thread: long rings take many registers. */
#define MARCH_CHANNELS(length, rank)                                                               \
    MARCH(length, 0, 2, 1, f32, float)                                                             \
    MARCH(length, 0, 1, 1, f32, float)                                                             \
    MARCH(length, 0, 2, 1, f64, double)                                                            \
    MARCH(length, 0, 1, 1, f64, double)                                                            \
    MARCH(length, 0, 2, 1, f16, pgi_f16)                                                           \
    MARCH(length, 0, 1, 1, f16, pgi_f16)                                                           \
    MARCH(length, 0, 2, 1, bf16, pgi_bf16)                                                         \
    MARCH(length, 0, 1, 1, bf16, pgi_bf16)

#endif
