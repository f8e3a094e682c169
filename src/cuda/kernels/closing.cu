// SPDX-License-Identifier: MIT
// The gradient of max pooling from x, with large windows around every place, stride 1.
//
// A place wins a window if it is its maximum; so it wins some if it is the least of the maxima of
// the windows that reach it. Planes are closed, as morphology says: maxima of windows, and then of
// these the minima; whoever is still what he was has won. That takes only values along and no
// places. It is four sweeps over lines in shared memory. A thread has KERNEL + 1 windows of a line,
// with 2 KERNEL taps: of the first half it finds the maxima from the back, of the other half those
// from the front, and every window is one of each. What it finds it leaves turned, rows as columns
// and columns as rows, for the next sweep; behind the second also with the order turned round, so
// that minima are maxima, too.
//
// Few places win, each many windows, which lie around it. They are listed, those with windows in
// many rows first, so that lanes of a warp have as much to do, and a thread for each goes through
// its rows in order and adds what windows have whose maximum it is, its sum in a register.
//
// For that no two values may be equal. Those of two bytes are made different by their places. f32
// is taken as it is: where windows were found to be of two places, or a value is NaN, the planes
// are closed again with values and places in 64 bits.
#include "cuda/kernels/bid.cuh"
#include "cuda/kernels/closing.h"
#include "cuda/kernels/plane.cuh"
#include "cuda/kernels/vector.cuh"

constexpr int ROWS = PGI_CLOSING_SIDE;
constexpr int MANY = 1 << 30; // windows, more than there are

// Keys that differ. What is beyond lines is NONE, which is below all and equal to none.
template <typename Whole, Whole LEAST> struct pgi_distinct {
    typedef Whole Key;
    static constexpr bool DISTINCT = true;

    __device__ static Key none()
    {
        return LEAST;
    }
    __device__ static Key turned(Key key)
    {
        return -key;
    }
    __device__ static Key larger(Key a, Key b)
    {
        return max(a, b);
    }
};

template <typename T> struct pgi_placed : pgi_distinct<int32_t, INT32_MIN> {
    __device__ static Key of(T value, int place, int rule)
    {
        return bid_of(value, place, rule).key;
    }
};

template <> struct pgi_placed<float> : pgi_distinct<int64_t, INT64_MIN> {
    __device__ static Key of(float value, int place, int rule)
    {
        return (int64_t)bid_of(value, place, rule).key << 32 | (uint32_t)~place;
    }
};

// Values as they are. Of a NaN and a number the latter counts as larger.
struct pgi_plain {
    typedef float Key;
    static constexpr bool DISTINCT = false;

    __device__ static Key none()
    {
        return __int_as_float(0x7fffffff);
    }
    __device__ static Key turned(Key key)
    {
        return -key;
    }
    __device__ static Key larger(Key a, Key b)
    {
        return fmaxf(a, b);
    }
    __device__ static Key of(float value, int, int)
    {
        return value;
    }
};

// A winner in a word, with the rows of windows, of those that reach it, that have some of its own.
struct pgi_winner {
    unsigned word;

    __device__ static pgi_winner at(int member, int row, int column)
    {
        return {(unsigned)(member << 29 | row << 8 | column)};
    }
    __device__ pgi_winner with(unsigned rows) const
    {
        return {word | rows << 16};
    }
    __device__ unsigned rows() const
    {
        return word >> 16 & ((1u << ROWS) - 1);
    }
    __device__ int member() const
    {
        return (int)(word >> 29);
    }
    __device__ int row() const
    {
        return (int)(word >> 8 & 0xff);
    }
    __device__ int column() const
    {
        return (int)(word & 0xff);
    }
};

// What shared memory holds of some planes.
template <typename Key> struct pgi_room {
    int64_t *target; // of planes: where their dx begins
    int *windows;    // of planes: those that winners have taken for theirs
    int *with_rows;  // how many winners have so many rows
    int *count;      // of winners
    pgi_winner *winner;
    Key *key; // of those listed, turned round
    Key *by_row, *by_column;

    __device__ pgi_room(const pgi_cuda_closing &all, int members)
    {
        extern __shared__ __align__(16) char shared[];

        target = (int64_t *)shared;
        windows = (int *)(target + PGI_CLOSING_MEMBERS);
        with_rows = windows + PGI_CLOSING_MEMBERS;
        count = with_rows + ROWS + 1;
        static_assert(8 * PGI_CLOSING_MEMBERS + 4 * (PGI_CLOSING_MEMBERS + ROWS + 2) <=
                      PGI_CLOSING_FIXED);
        winner = (pgi_winner *)(shared + PGI_CLOSING_FIXED);
        key = (Key *)(winner + all.listed);
        by_row = (Key *)((char *)key + all.listed * all.key_size);
        by_column = by_row + members * all.row_room;
    }

    __device__ void reset() const
    {
        if (threadIdx.x < PGI_CLOSING_MEMBERS + ROWS + 2)
            windows[threadIdx.x] = 0;
    }
};

// What a thread has of a plane: a run of a line, of which another has the first `shared`.
struct pgi_task {
    int member, line, begin, shared;
    int number; // among those of the plane
    bool exists;
};

// ACROSS: lanes have planes side by side; otherwise lines.
template <bool ACROSS, int RUN>
__device__ static pgi_task task_of(int lines, const pgi_cuda_quotient &by_lines, int extent,
                                   int members)
{
    const int thread = (int)threadIdx.x, shift = __ffs(members) - 1;
    const int item = ACROSS ? thread >> shift : thread;
    const int outer = (int)quick_quotient((unsigned)item, by_lines), line = item - outer * lines;
    const int run = ACROSS ? outer : outer >> shift, begin = min(run * RUN, extent - RUN);

    return {(ACROSS ? thread : outer) & (members - 1),
            line,
            begin,
            run * RUN - begin,
            run * lines + line,
            run * RUN < extent};
}

// Some planes of a block, as a thread sees them, which has a run of a row and one of a column.
template <typename Rule, typename T, int KERNEL, bool ACROSS> struct pgi_closer {
    typedef typename Rule::Key Key;
    static constexpr int RUN = KERNEL + 1, PAD = KERNEL / 2, V = 16 / sizeof(T);

    const pgi_cuda_closing &all;
    const pgi_room<Key> room;
    const pgi_task of_row, of_column;
    T *const target;
    bool exists; // the column's plane
    const T *x, *dy;
    T *dx;
    pgi_word<T> word[RUN]; // of the column, x or dy

    __device__ pgi_closer(const pgi_cuda_closing &all, const pgi_cuda_memory &memory, int first,
                          int members)
        : all(all), room(all, members),
          of_row(task_of<ACROSS, RUN>(all.rows, all.by_rows, all.columns, members)),
          of_column(task_of<ACROSS, RUN>(all.columns, all.by_columns, all.rows, members)),
          target((T *)memory.target)
    {
        const unsigned number =
            blockIdx.x * (unsigned)all.members + (unsigned)(first + of_column.member);
        const unsigned batch = number / all.channels, channel = number - batch * all.channels;
        const int64_t begin = plane_offset(all.dx, batch, channel);

        exists = of_column.exists && number < all.planes;
        x = (const T *)memory.x + plane_offset(all.x, batch, channel);
        dy = (const T *)memory.source + plane_offset(all.dy, batch, channel);
        dx = target + begin;
        if (of_column.exists && of_column.number == 0)
            room.target[of_column.member] = begin;
    }

    // --------------------------------------------------------------- lines

    // Taps of the run's windows, one behind the other.
    __device__ Key *row() const
    {
        return room.by_row + of_row.member * all.row_room + of_row.line * all.row_pitch +
               of_row.begin;
    }
    __device__ Key *column() const
    {
        return room.by_column + of_column.member * all.column_room +
               of_column.line * all.column_pitch + of_column.begin;
    }

    // Where a row's run lies in columns, a column_pitch apart, and a column's in rows.
    __device__ Key *in_columns() const
    {
        return room.by_column + of_row.member * all.column_room + of_row.begin * all.column_pitch +
               PAD + of_row.line;
    }
    __device__ Key *in_rows() const
    {
        return room.by_row + of_column.member * all.row_room + of_column.begin * all.row_pitch +
               PAD + of_column.line;
    }

    __device__ static void surround(Key *line, int extent)
    {
#pragma unroll
        for (int i = 0; i < PAD; i++)
            line[i] = line[PAD + extent + i] = Rule::none();
    }

    // The first RUN become the maxima of windows that begin with them.
    __device__ static void find_maxima(const Key *from, Key (&tap)[2 * KERNEL])
    {
#pragma unroll
        for (int i = 0; i < 2 * KERNEL; i++)
            tap[i] = from[i];
#pragma unroll
        for (int i = KERNEL - 2; i >= 0; i--)
            tap[i] = Rule::larger(tap[i], tap[i + 1]);
#pragma unroll
        for (int i = KERNEL + 1; i < 2 * KERNEL; i++)
            tap[i] = Rule::larger(tap[i], tap[i - 1]);
#pragma unroll
        for (int i = 1; i < KERNEL; i++)
            tap[i] = Rule::larger(tap[i], tap[KERNEL - 1 + i]);
        tap[KERNEL] = tap[2 * KERNEL - 1];
    }

    template <bool TURN> __device__ static void sweep(const Key *from, Key *to, int pitch)
    {
        Key tap[2 * KERNEL];

        find_maxima(from, tap);
#pragma unroll
        for (int j = 0; j < RUN; j++, to += pitch)
            *to = TURN ? Rule::turned(tap[j]) : tap[j];
    }

    // -------------------------------------------------------------- memory

    __device__ void load(const T *from, const pgi_cuda_strides &strides)
    {
        const T *next = from + offset_of(strides, of_column.begin, of_column.line);

#pragma unroll
        for (int j = 0; j < RUN; j++, next += strides.row)
            word[j] = load_word(next);
    }

    // The plane as if nobody had won.
    __device__ void clear() const
    {
        if (!ACROSS && all.dx_vectors && is_aligned<T, V>(dx)) {
            for (int i = of_column.number * V; i < all.places; i += all.tasks * V)
                *(uint4 *)(dx + i) = uint4{0, 0, 0, 0};
        } else {
            T *next = dx + offset_of(all.dx, of_column.begin, of_column.line);

#pragma unroll
            for (int j = 0; j < RUN; j++, next += all.dx.row)
                narrow(0.0f, next);
        }
    }

    // What windows have, to shared memory, where columns were: whole vectors there directly.
    __device__ bool is_copied() const
    {
        return !ACROSS && all.dy_vectors && is_aligned<T, V>(dy);
    }
    __device__ void put_terms() const
    {
        T *const terms = (T *)room.by_column + of_column.member * all.term_room;

        if (is_copied()) {
            for (int i = of_column.number * V; i < all.places; i += all.tasks * V)
                copy_async<16>(terms + i, dy + i, true);
            end_group();
        } else {
            T *next = terms + of_column.begin * all.columns + of_column.line;

#pragma unroll
            for (int j = 0; j < RUN; j++, next += all.columns)
                *next = element_of<T>(word[j]);
        }
    }

    // ------------------------------------------------------------- winners

    __device__ Key key_of(int j) const
    {
        const int place = (of_column.begin + j) * all.columns + of_column.line;

        return Rule::of(element_of<T>(word[j]), place, all.nan);
    }

    __device__ bool has_nan() const
    {
        bool any = false;

#pragma unroll
        for (int j = 0; j < RUN; j++) {
            const T value = element_of<T>(word[j]);

            any |= value != value;
        }
        return any;
    }

    // Which of the column's run have won, a bit each.
    __device__ unsigned find_winners() const
    {
        unsigned winners = 0;
        Key tap[2 * KERNEL];

        find_maxima(column(), tap);
#pragma unroll
        for (int j = 0; j < RUN; j++)
            if (tap[j] == Rule::turned(key_of(j)))
                winners |= 1u << j;
        return winners & ~0u << of_column.shared;
    }

    __device__ pgi_winner winner_at(int j) const
    {
        return pgi_winner::at(of_column.member, of_column.begin + j, of_column.line);
    }

    __device__ void list(unsigned winners, int number) const
    {
        for (; winners; winners &= winners - 1)
            room.winner[number++] = winner_at(__ffs((int)winners) - 1);
    }

    // Those of them whose numbers there is room for, with all rows that reach them, and keys.
    __device__ void list_some(unsigned winners, int number) const
    {
#pragma unroll
        for (int j = 0; j < RUN; j++)
            if (winners >> j & 1) {
                if ((unsigned)number < (unsigned)all.listed) {
                    room.winner[number] = winner_at(j).with(rows_around(of_column.begin + j));
                    room.key[number] = Rule::turned(key_of(j));
                }
                number++;
            }
    }

    __device__ unsigned rows_around(int row) const
    {
        const int before = max(PAD - row, 0), behind = max(row + PAD - (all.rows - 1), 0);

        return ((1u << KERNEL) - 1) >> behind >> before << before;
    }

    // The rows in which a winner has windows. What columns have of these is the largest, its key.
    __device__ unsigned rows_of(pgi_winner winner, Key *key) const
    {
        const Key *const line = room.by_column + winner.member() * all.column_room +
                                winner.column() * all.column_pitch + winner.row();
        Key tap[KERNEL], largest = line[0];
        unsigned rows = 0;

#pragma unroll
        for (int i = 0; i < KERNEL; i++) {
            tap[i] = line[i];
            largest = Rule::larger(largest, tap[i]);
        }
#pragma unroll
        for (int i = 0; i < KERNEL; i++)
            if (tap[i] == largest)
                rows |= 1u << i;
        *key = largest;
        return rows;
    }

    __device__ void collect(pgi_winner winner, Key key) const
    {
        const int member = winner.member(), top = winner.row() - PAD, left = winner.column();
        const Key *const maxima = room.by_row + member * all.row_room + left;
        const T *const terms = (const T *)room.by_column + member * all.term_room + left - PAD;
        float sum = 0;
        int windows = 0;

#pragma unroll 1
        for (unsigned rows = winner.rows(); rows; rows &= rows - 1) {
            const int row = top + __ffs((int)rows) - 1;
            const Key *const maximum = maxima + row * all.row_pitch;
            const T *const term = terms + row * all.columns;

#pragma unroll
            for (int k = 0; k < KERNEL; k++)
                if (maximum[k] == key) {
                    sum = sum + widen(term[k]);
                    windows++;
                }
        }
        narrow(sum, target + room.target[member] + offset_of(all.dx, winner.row(), left));
        if constexpr (!Rule::DISTINCT)
            atomicAdd(room.windows + member, windows);
    }

    // -------------------------------------------------------------- phases
    // Called by all threads.

    __device__ void find_closing()
    {
        if (exists) {
            Key *next = in_rows();

            load(x, all.x);
            clear();
#pragma unroll
            for (int j = 0; j < RUN; j++, next += all.row_pitch)
                *next = key_of(j);
        }
        if (of_row.exists && of_row.begin == 0)
            surround(row(), all.columns);
        if (of_column.exists && of_column.begin == 0)
            surround(column(), all.rows);
        __syncthreads();
        if (of_row.exists)
            sweep<false>(row(), in_columns(), all.column_pitch);
        if constexpr (!Rule::DISTINCT)
            if (exists && has_nan())
                room.windows[of_column.member] = MANY;
        __syncthreads();
        if (of_column.exists)
            sweep<true>(column(), in_rows(), all.row_pitch);
        __syncthreads();
        if (of_row.exists)
            sweep<false>(row(), in_columns(), all.column_pitch);
        __syncthreads();
    }

    // The winners on the list.
    __device__ void settle(int listed) const
    {
        const int thread = (int)threadIdx.x;
        pgi_winner winner = {};
        Key key = {};
        int rows = 0, number = 0;

        if (thread < listed) {
            winner = room.winner[thread];
            winner = winner.with(rows_of(winner, &key));
            rows = __popc(winner.rows());
            number = atomicAdd(room.with_rows + rows, 1);
        }
        __syncthreads();
        if (exists)
            put_terms();
        if (thread < listed) {
#pragma unroll
            for (int i = 1; i <= KERNEL; i++)
                number += i > rows ? room.with_rows[i] : 0;
            room.winner[number] = winner;
            room.key[number] = key;
        }
        await_groups<0>();
        __syncthreads();
        if (thread < listed)
            collect(room.winner[thread], room.key[thread]);
        __syncthreads();
    }

    // More than can be listed, in several turns.
    __device__ void settle_many(unsigned winners, int number, int count)
    {
        if (exists) {
            put_terms();
            load(x, all.x);
        }
        await_groups<0>();
#pragma unroll 1
        for (int done = 0; done < count; done += all.listed) {
            list_some(winners, number - done);
            __syncthreads();
            if ((int)threadIdx.x < min(count - done, all.listed))
                collect(room.winner[threadIdx.x], room.key[threadIdx.x]);
            __syncthreads();
        }
    }

    __device__ void run()
    {
        unsigned winners = 0;
        int number = 0, count;

        room.reset();
        find_closing();
        if (exists) {
            winners = find_winners();
            if (winners)
                number = atomicAdd(room.count, __popc(winners));
            if (winners && number + RUN <= all.listed)
                list(winners, number);
            if (!is_copied())
                load(dy, all.dy);
        }
        __syncthreads();
        count = *room.count;
        if (count + RUN <= all.listed) {
            settle(count);
        } else if constexpr (Rule::DISTINCT) {
            settle_many(winners, number, count);
        } else {
            if (threadIdx.x < PGI_CLOSING_MEMBERS)
                room.windows[threadIdx.x] = MANY;
            __syncthreads();
        }
    }
};

template <typename T, int KERNEL, bool ACROSS>
__device__ static void closing(const pgi_cuda_closing &all, const pgi_cuda_memory &memory)
{
    if constexpr (sizeof(T) == 2) {
        pgi_closer<pgi_placed<T>, T, KERNEL, ACROSS>(all, memory, 0, all.members).run();
    } else {
        const pgi_room<float> room(all, all.members);
        const int half = max(all.members / 2, 1); // what there is room for with 64 bits
        unsigned again = 0;

        pgi_closer<pgi_plain, T, KERNEL, ACROSS>(all, memory, 0, all.members).run();
        for (int member = 0; member < all.members; member++)
            if (blockIdx.x * (unsigned)all.members + (unsigned)member < all.planes &&
                room.windows[member] != all.places)
                again |= 1u << member / half;
        __syncthreads();
#pragma unroll 1
        for (int i = 0; again >> i; i++)
            if (again >> i & 1)
                pgi_closer<pgi_placed<T>, T, KERNEL, ACROSS>(all, memory, i * half, half).run();
    }
}

// Blocks have 1024 threads at most. Elements of two bytes need so few registers that five blocks of
// 256 threads fit on a multiprocessor.
#define CLOSING(name, registers, type, kernel, across)                                             \
    extern "C" __global__ void registers pgi_closing_##name(                                       \
        const __grid_constant__ pgi_cuda_closing all, const pgi_cuda_memory memory)                \
    {                                                                                              \
        closing<type, kernel, across>(all, memory);                                                \
    }

#define CLOSING_SIDE(side)                                                                         \
    CLOSING(side##_f32, __launch_bounds__(1024), float, side, false)                               \
    CLOSING(side##_f16, __maxnreg__(48), pgi_f16, side, false)                                     \
    CLOSING(side##_bf16, __maxnreg__(48), pgi_bf16, side, false)                                   \
    CLOSING(across_##side##_f32, __launch_bounds__(1024), float, side, true)

CLOSING_SIDE(9)
CLOSING_SIDE(11)
CLOSING_SIDE(13)
