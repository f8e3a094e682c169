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
// is taken as it is: where windows were found to be of two places, a value is NaN, or more have won
// than can be listed, planes are closed again with values and places in 64 bits.
//
// With channels side by side a block has 32 or 16 bytes of every place, and there is one on a
// multiprocessor. It stays, and has one group of planes after the other: while these are closed the
// copy engine brings dy and clears dx, and while winners collect it brings the next x.
#include "cuda/kernels/closing.cuh"
#include "cuda/kernels/plane.cuh"
#include "cuda/kernels/vector.cuh"

#include <type_traits>

constexpr int MANY = 1 << 30; // windows, more than there are

// Some planes of a block, as a thread sees them, which has a run of a row and one of a column.
// STAGED: planes lie side by side, and the copy engine brings x and dy and clears dx.
template <typename Rule, typename T, int KERNEL, bool ACROSS, bool STAGED = false>
struct pgi_closer {
    typedef typename Rule::Key Key;
    static constexpr int RUN = KERNEL + 1, PAD = KERNEL / 2, V = 16 / sizeof(T);
    static_assert(KERNEL <= ROWS);

    const pgi_cuda_closing &all;
    const unsigned block;
    const pgi_room<Key> room;
    pgi_engine<T> *const engine;
    const pgi_task of_row, of_column;
    T *const target;
    bool exists; // the column's run, and its plane
    const T *x, *dy;
    T *dx;
    pgi_word<T> word[RUN]; // of the column, x or dy

    __device__ pgi_closer(const pgi_cuda_closing &all, const pgi_cuda_memory &memory,
                          unsigned block, int first, int members, pgi_engine<T> *engine = nullptr)
        : all(all), block(block), room(all, members), engine(engine),
          of_row(task_of<ACROSS, RUN>(all.rows, all.by_rows, all.columns, members)),
          of_column(task_of<ACROSS, RUN>(all.columns, all.by_columns, all.rows, members)),
          target((T *)memory.target)
    {
        const unsigned number =
            block * (unsigned)all.members + (unsigned)(first + of_column.member);
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

    __device__ static pgi_word<T> word_at(const T *shared)
    {
        if constexpr (sizeof(T) == 2)
            return shared->bits;
        else
            return *(const pgi_word<T> *)shared;
    }

    __device__ void load(const T *from, const pgi_cuda_strides &strides)
    {
        const T *next = from + offset_of(strides, of_column.begin, of_column.line);

#pragma unroll
        for (int j = 0; j < RUN; j++, next += strides.row)
            word[j] = load_word(next);
    }

    // x, from where columns will be.
    __device__ void take_x()
    {
        const int place = of_column.begin * all.columns + of_column.line;
        const T *next = engine->x + place * PGI_CLOSING_MEMBERS + of_column.member;

#pragma unroll
        for (int j = 0; j < RUN; j++, next += all.columns * PGI_CLOSING_MEMBERS)
            word[j] = word_at(next);
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
        return winners & ~0u << of_column.overlap;
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
                if ((unsigned)number < (unsigned)room.listed) {
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
        constexpr int APART = STAGED ? PGI_CLOSING_MEMBERS : 1;
        const T *const terms =
            STAGED ? engine->dy + (left - PAD) * APART + member
                   : (const T *)room.by_column + member * all.term_room + left - PAD;
        float sum = 0;
        int windows = 0;

#pragma unroll 1
        for (unsigned rows = winner.rows(); rows; rows &= rows - 1) {
            const int row = top + __ffs((int)rows) - 1;
            const Key *const maximum = maxima + row * all.row_pitch;
            const T *const term = terms + row * all.columns * APART;

#pragma unroll
            for (int k = 0; k < KERNEL; k++)
                if (maximum[k] == key) {
                    sum = sum + widen(term[k * APART]);
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
        if (STAGED)
            engine->of_x.await();
        if (exists) {
            Key *next = in_rows();

            if (STAGED) {
                take_x();
            } else {
                load(x, all.x);
                clear();
            }
#pragma unroll
            for (int j = 0; j < RUN; j++, next += all.row_pitch)
                *next = key_of(j);
        }
        if (of_row.exists && of_row.begin == 0)
            surround(row(), all.columns);
        if (STAGED)
            hand_over(); // the last dy
        __syncthreads();
        if (STAGED)
            engine->start(block);
        if (of_column.exists && of_column.begin == 0)
            surround(column(), all.rows);
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

    // Behind this, and a barrier of the block, columns are no longer needed.
    __device__ void release_columns() const
    {
        if (STAGED)
            hand_over();
        __syncthreads();
        if (STAGED)
            engine->fetch_x(block + gridDim.x);
    }

    // Terms are there, and zeros, behind a barrier.
    __device__ void await_terms() const
    {
        if constexpr (STAGED) {
            engine->await();
        } else {
            await_groups<0>();
        }
    }

    // The winners on the list, not more than there are threads.
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
        release_columns();
        if (!STAGED && exists)
            put_terms();
        if (thread < listed) {
#pragma unroll
            for (int i = 1; i <= KERNEL; i++)
                number += i > rows ? room.with_rows[i] : 0;
            room.winner[number] = winner;
            room.key[number] = key;
        }
        await_terms();
        __syncthreads();
        if (thread < listed)
            collect(room.winner[thread], room.key[thread]);
        __syncthreads();
    }

    // More than threads, as they come.
    __device__ void settle_unsorted(int listed) const
    {
        for (int i = (int)threadIdx.x; i < listed; i += (int)blockDim.x) {
            const pgi_winner winner = room.winner[i];

            room.winner[i] = winner.with(rows_of(winner, &room.key[i]));
        }
        release_columns();
        if (!STAGED && exists)
            put_terms();
        await_terms();
        __syncthreads();
        collect_listed(listed);
    }

    __device__ void collect_listed(int listed) const
    {
#pragma unroll 1
        for (int i = (int)threadIdx.x; i < listed; i += (int)blockDim.x)
            collect(room.winner[i], room.key[i]);
        __syncthreads();
    }

    // More than can be listed, in several turns.
    __device__ void settle_many(unsigned winners, int number, int count)
    {
        if (STAGED)
            release_columns();
        if (!STAGED && exists) {
            put_terms();
            if (!is_copied()) // dy is in its place
                load(x, all.x);
        }
        await_terms();
#pragma unroll 1
        for (int done = 0; done < count; done += room.listed) {
            list_some(winners, number - done);
            __syncthreads();
            collect_listed(min(count - done, room.listed));
        }
    }

    // Others will do it.
    __device__ void give_up() const
    {
        release_columns();
        await_terms();
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
            if (winners && number + RUN <= room.listed)
                list(winners, number);
            if (!STAGED && !is_copied())
                load(dy, all.dy);
        }
        __syncthreads();
        count = *room.count;
        if (count <= (int)blockDim.x)
            settle(count);
        else if (count + RUN <= room.listed)
            settle_unsorted(count);
        else if constexpr (Rule::DISTINCT)
            settle_many(winners, number, count);
        else
            give_up();
    }
};

// Halves of a block's planes, a bit each.
template <typename T, int KERNEL, bool ACROSS>
__device__ static void close_halves(const pgi_cuda_closing &all, const pgi_cuda_memory &memory,
                                    unsigned block, unsigned halves)
{
    const int half = half_of(all);

#pragma unroll 1
    for (int i = 0; halves >> i; i++)
        if (halves >> i & 1)
            pgi_closer<pgi_placed<T>, T, KERNEL, ACROSS>(all, memory, block, i * half, half).run();
}

template <typename T> using pgi_rule = std::conditional_t<sizeof(T) == 2, pgi_placed<T>, pgi_plain>;

// A plane lies in one piece.
template <typename T, int KERNEL>
__device__ static void close_along(const pgi_cuda_closing &all, const pgi_cuda_memory &memory)
{
    pgi_closer<pgi_rule<T>, T, KERNEL, false>(all, memory, blockIdx.x, 0, all.members).run();
    if constexpr (!pgi_rule<T>::DISTINCT)
        close_halves<T, KERNEL, false>(all, memory, blockIdx.x, find_doubtful(all, blockIdx.x));
}

// Planes lie side by side, and threads load x and dy and clear dx. Returns the halves that are to
// be closed again, two bits a turn: behind all turns, since that needs more registers.
template <typename T, int KERNEL>
__device__ static unsigned close_loaded(const pgi_cuda_closing &all, const pgi_cuda_memory &memory)
{
    unsigned doubtful = 0;
    int turn = 0;

#pragma unroll 1
    for (unsigned block = blockIdx.x; block < all.blocks; block += gridDim.x, turn++) {
        pgi_closer<pgi_rule<T>, T, KERNEL, true>(all, memory, block, 0, all.members).run();
        if constexpr (!pgi_rule<T>::DISTINCT)
            doubtful |= find_doubtful(all, block) << 2 * turn;
    }
    return doubtful;
}

// The same, but the copy engine does that.
template <typename T, int KERNEL>
__device__ static unsigned close_staged(const pgi_cuda_closing &all, const pgi_cuda_memory &memory,
                                        const pgi_cuda_maps &maps)
{
    pgi_engine<T> engine(all, maps);
    unsigned doubtful = 0;
    int turn = 0;

    engine.prepare();
    __syncthreads();
    engine.fetch_x(blockIdx.x);
#pragma unroll 1
    for (unsigned block = blockIdx.x; block < all.blocks; block += gridDim.x, turn++) {
        pgi_closer<pgi_rule<T>, T, KERNEL, true, true>(all, memory, block, 0, all.members, &engine)
            .run();
        if constexpr (!pgi_rule<T>::DISTINCT)
            doubtful |= find_doubtful(all, block) << 2 * turn;
    }
    return doubtful;
}

template <typename T, int KERNEL>
__device__ static void close_across(const pgi_cuda_closing &all, const pgi_cuda_memory &memory,
                                    const pgi_cuda_maps &maps)
{
    unsigned doubtful = maps.there ? close_staged<T, KERNEL>(all, memory, maps)
                                   : close_loaded<T, KERNEL>(all, memory);

    if constexpr (!pgi_rule<T>::DISTINCT)
#pragma unroll 1
        for (unsigned block = blockIdx.x; doubtful; block += gridDim.x, doubtful >>= 2)
            close_halves<T, KERNEL, true>(all, memory, block, doubtful & 3);
}

// Blocks have 1024 threads at most. Elements of two bytes need so few registers that five blocks of
// 256 threads fit on a multiprocessor.
#define CLOSING(name, registers, type, kernel)                                                     \
    extern "C" __global__ void registers pgi_closing_##name(                                       \
        const __grid_constant__ pgi_cuda_closing all, const pgi_cuda_memory memory)                \
    {                                                                                              \
        close_along<type, kernel>(all, memory);                                                    \
    }

#define CLOSING_ACROSS(name, type, kernel)                                                         \
    extern "C" __global__ void __launch_bounds__(1024) pgi_closing_across_##name(                  \
        const __grid_constant__ pgi_cuda_closing all, const __grid_constant__ pgi_cuda_maps maps,  \
        const pgi_cuda_memory memory)                                                              \
    {                                                                                              \
        close_across<type, kernel>(all, memory, maps);                                             \
    }

#define CLOSING_SIDE(side)                                                                         \
    CLOSING(side##_f32, __launch_bounds__(1024), float, side)                                      \
    CLOSING(side##_f16, __maxnreg__(48), pgi_f16, side)                                            \
    CLOSING(side##_bf16, __maxnreg__(48), pgi_bf16, side)                                          \
    CLOSING_ACROSS(side##_f32, float, side)                                                        \
    CLOSING_ACROSS(side##_f16, pgi_f16, side)                                                      \
    CLOSING_ACROSS(side##_bf16, pgi_bf16, side)

CLOSING_SIDE(9)
CLOSING_SIDE(11)
CLOSING_SIDE(13)
