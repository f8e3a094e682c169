// SPDX-License-Identifier: MIT
// The gradient of max pooling with large windows and stride 1, some planes at a time in shared
// memory: every winner collects what its windows have.
//
// Few places win, each many windows, which lie around it. First every window, or the first of those
// in a row that have the same winner, notes for the winner in which of the rows that reach it some
// window is its own; who is noted for the first time is put on a list. The list is sorted by how
// many rows that are, so that lanes of a warp have as much to do, and a thread for each on it goes
// through the windows of these rows, in their order, and adds those that are its own. So a sum
// stays in a register, and no thread waits for what another adds.
#include "cuda/kernels/plane.cuh"
#include "cuda/kernels/step.cuh"
#include "cuda/kernels/vector.cuh"

#define SHARE  PGI_COLLECT_SHARE
#define LISTED PGI_COLLECT_LISTED
#define ROWS   PGI_COLLECT_ROWS
#define NOBODY 0xffff

// Blocks on a multiprocessor that registers are to suffice for.
#define RESIDENT 8

// What shared memory holds. Members are planes, and their windows lie one behind the other.
template <typename T> struct pgi_room {
    T *dy;
    uint16_t *winner;    // of windows: places, or NOBODY
    unsigned *rows;      // of places, two in a word: which rows of windows they collect from
    unsigned *list;      // of winners, in the order of notes: member and place
    unsigned *sorted;    // the same, who has most rows first
    unsigned *with_rows; // how many have so many rows; then where the next of them belongs
    unsigned *listed;    // how many winners there are, of which LISTED a member are on the list
    pgi_member *member;

    __device__ explicit pgi_room(const pgi_cuda_plane &all)
    {
        extern __shared__ __align__(16) char shared[];

        dy = (T *)shared;
        winner = (uint16_t *)(dy + all.members * all.slot_pitch);
        member = (pgi_member *)(winner + all.members * all.slot_pitch);
        rows = (unsigned *)(member + all.members);
        list = rows + all.members * words(all);
        sorted = list + all.members * LISTED;
        with_rows = sorted + all.members * LISTED;
        listed = with_rows + ROWS + 1;
    }

    __device__ static int words(const pgi_cuda_plane &all)
    {
        return (all.places + 7) / 8 * 4;
    }

    // Of a member's place, as lists name it.
    __device__ unsigned rows_of(const pgi_cuda_plane &all, unsigned entry) const
    {
        const unsigned place = entry & 0xffff;

        return rows[(entry >> 16) * (unsigned)words(all) + place / 2] >> place % 2 * 16 & 0xffff;
    }
};

// Whether a member's elements, and so every member's, lie one behind the other in whole vectors.
template <typename T>
__device__ static bool are_vectors(const pgi_cuda_strides &strides, int count, int columns,
                                   const T *first)
{
    constexpr int V = 16 / sizeof(T);

    return strides.column == 1 && strides.row == columns && count % V == 0 &&
           is_aligned<T, V>(first) && strides.channel % V == 0 && strides.batch % V == 0;
}

// Brings what a member's windows have to shared memory.
template <typename T>
__device__ static void bring(const pgi_cuda_plane &all, const pgi_member &member, const T *from,
                             T *to)
{
    constexpr int V = 16 / sizeof(T);
    const int thread = (int)threadIdx.x % SHARE;
    const T *const own = from + member.source;

    if (are_vectors(all.source, all.windows, all.out[2], own)) {
        for (int i = thread * V; i < all.windows; i += SHARE * V)
            copy_async<16>(to + i, own + i, true);
    } else {
#pragma unroll 4
        for (int i = thread; i < all.windows; i += SHARE) {
            const int row = (int)quick_quotient((unsigned)i, all.by_out[0]);

            to[i] = own[offset_of(all.source, row, i - row * all.out[2])];
        }
    }
}

// The winner of a window, if its index is of a position of it.
template <typename Index>
__device__ static int winner_of(const pgi_cuda_plane &all, int64_t base, Index found, int row,
                                int column)
{
    const int64_t index = sizeof(Index) == 8 || found != (Index)-1 ? (int64_t)found : -1;
    const uint64_t place = (uint64_t)(index - base);
    const int at_row = (int)quick_quotient((unsigned)place & 0xffff, all.by_in[0]);
    const int at = (int)(place & 0xffff) - at_row * all.in[2];
    const bool within = (place < (unsigned)all.places) &
                        ((unsigned)(at_row + all.pad[1] - row) < (unsigned)all.kernel[1]) &
                        ((unsigned)(at + all.pad[2] - column) < (unsigned)all.kernel[2]);

    return within ? (int)place : NOBODY;
}

// A member's winners from indices. Notes those that are none, nor say that there is no winner.
template <typename Index>
__device__ static void check_indices(const pgi_cuda_plane &all, const pgi_cuda_memory &memory,
                                     const pgi_member &member, uint16_t *winners)
{
    constexpr int AT_ONCE = 8;
    const Index *const first = (const Index *)memory.indices + member.source;

#pragma unroll 1
    for (int begin = (int)threadIdx.x % SHARE; begin < all.windows; begin += AT_ONCE * SHARE) {
        int row[AT_ONCE], column[AT_ONCE];
        pgi_word<Index> found[AT_ONCE];

#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            const int window = min(begin + k * SHARE, all.windows - 1);

            row[k] = (int)quick_quotient((unsigned)window, all.by_out[0]);
            column[k] = window - row[k] * all.out[2];
            found[k] = load_word(first + offset_of(all.source, row[k], column[k]));
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            const int window = begin + k * SHARE;
            const Index index = (Index)found[k];
            const int winner = winner_of(all, member.base, index, row[k], column[k]);

            if (window < all.windows)
                winners[window] = (uint16_t)winner;
            if (winner == NOBODY && (index != (Index)-1 || !all.no_winner) && window < all.windows)
                atomicMin(memory.bad,
                          (unsigned long long)((int64_t)member.number * all.windows + window));
        }
    }
}

// A window of a row is a place's own. Rows are counted from the first that reaches the place.
template <typename T>
__device__ static void note(const pgi_cuda_plane &all, const pgi_room<T> &room, int member, int row,
                            int place)
{
    const int at = (int)quick_quotient((unsigned)place, all.by_in[0]);
    const int bit = row - (at + all.pad[1] - all.kernel[1] + 1), shift = place % 2 * 16;
    const unsigned before =
        atomicOr(room.rows + member * room.words(all) + place / 2, 1u << (shift + bit));

    if ((before >> shift & 0xffff) == 0) {
        const unsigned number = atomicAdd(room.listed, 1u);

        if (number < (unsigned)(all.members * LISTED))
            room.list[number] = (unsigned)member << 16 | (unsigned)place;
    }
}

// A thread has some windows one behind the other, and looks for where runs of one winner in a row
// begin.
template <typename T>
__device__ static void note_winners(const pgi_cuda_plane &all, const pgi_room<T> &room)
{
    const int member = (int)threadIdx.x / SHARE, thread = (int)threadIdx.x % SHARE;
    const int chunk = min((all.windows + SHARE - 1) / SHARE, 32);

    for (int first = thread * chunk; first < all.windows; first += SHARE * chunk) {
        const uint16_t *const winner = room.winner + member * all.slot_pitch + first;
        const int count = min(chunk, all.windows - first);
        const int row = (int)quick_quotient((unsigned)first, all.by_out[0]);
        const int column = first - row * all.out[2];
        unsigned begins = 1;
        int last = winner[0];

#pragma unroll 8
        for (int k = 1; k < count; k++) {
            const int now = winner[k];

            if (now != last)
                begins |= 1u << k;
            last = now;
        }
        for (int k = all.out[2] - column; k < count; k += all.out[2])
            begins |= 1u << k;
        while (begins) {
            const int k = __ffs((int)begins) - 1, place = winner[k];

            if (place != NOBODY)
                note(all, room, member, (int)quick_quotient((unsigned)(first + k), all.by_out[0]),
                     place);
            begins &= begins - 1;
        }
    }
}

// By numbers of rows. Called by all threads.
template <typename T>
__device__ static void sort_winners(const pgi_cuda_plane &all, const pgi_room<T> &room, int listed)
{
    const int thread = (int)threadIdx.x, threads = SHARE * all.members;

    for (int i = thread; i < listed; i += threads)
        atomicAdd(room.with_rows + __popc(room.rows_of(all, room.list[i])), 1u);
    __syncthreads();
    if (thread < 32) {
        const int rows = ROWS - thread; // the more, the earlier
        const unsigned own = rows >= 0 ? room.with_rows[rows] : 0;
        unsigned before = own;

#pragma unroll
        for (int step = 1; step < 32; step *= 2) {
            const unsigned other = __shfl_up_sync(~0u, before, step);

            before += thread >= step ? other : 0;
        }
        if (rows >= 0)
            room.with_rows[rows] = before - own;
    }
    __syncthreads();
    for (int i = thread; i < listed; i += threads) {
        const unsigned winner = room.list[i];

        room.sorted[atomicAdd(room.with_rows + __popc(room.rows_of(all, winner)), 1u)] = winner;
    }
    __syncthreads();
}

// Where a place of a member is in dx.
template <typename T>
__device__ static T *target_of(const pgi_cuda_plane &all, const pgi_cuda_memory &memory,
                               const pgi_room<T> &room, int member, int place)
{
    const int row = (int)quick_quotient((unsigned)place, all.by_in[0]);

    return (T *)memory.target + room.member[member].target +
           offset_of(all.target, row, place - row * all.in[2]);
}

// What a place collects from the rows of windows that it has been noted for. Winners are looked at
// AT_ONCE together, from an even one on; what that is more than the windows that reach the place
// can be its own only where rows are short.
template <bool SHORT, typename T>
__device__ static pgi_real<T> collected(const pgi_cuda_plane &all, const pgi_room<T> &room,
                                        int member, int place, unsigned rows)
{
    constexpr int AT_ONCE = PGI_COLLECT_AT_ONCE;
    const int row = (int)quick_quotient((unsigned)place, all.by_in[0]);
    const int column = place - row * all.in[2];
    const int top = row + all.pad[1] - all.kernel[1] + 1;
    const int left = max(column + all.pad[2] - all.kernel[2] + 1, 0);
    const int count = min(column + all.pad[2] + 1, all.out[2]) - left;
    const unsigned both = (unsigned)place * 0x10001;
    pgi_real<T> sum = 0;

#pragma unroll 1
    for (; rows; rows &= rows - 1) {
        const int begin =
            member * all.slot_pitch + (top + __ffs((int)rows) - 1) * all.out[2] + left;
        const unsigned *winners = (const unsigned *)(room.winner + (begin & ~1));
        const T *dy = room.dy + (begin & ~1);
        int before = begin & 1, left_over = count + before;

#pragma unroll 1
        do {
            unsigned other[AT_ONCE / 2];

#pragma unroll
            for (int k = 0; k < AT_ONCE / 2; k++)
                other[k] = winners[k] ^ both;
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                const bool mine = k % 2 ? other[k / 2] < 0x10000 : (other[k / 2] & 0xffff) == 0;

                if (mine && (!SHORT || (k >= before && k < left_over)))
                    sum = sum + widen(dy[k]);
            }
            winners += AT_ONCE / 2;
            dy += AT_ONCE;
            left_over -= AT_ONCE;
            before = 0;
        } while (left_over > 0);
    }
    return sum;
}

// A member's places as if none of them had won.
template <typename T>
__device__ static void clear(const pgi_cuda_plane &all, const pgi_member &member, T *dx)
{
    constexpr int V = 16 / sizeof(T);
    const int thread = (int)threadIdx.x % SHARE;
    T *const own = dx + member.target;

    if (are_vectors<T>(all.target, all.places, all.in[2], own)) {
        for (int i = thread * V; i < all.places; i += SHARE * V)
            *(uint4 *)(own + i) = uint4{0, 0, 0, 0};
    } else {
        for (int i = thread; i < all.places; i += SHARE) {
            const int row = (int)quick_quotient((unsigned)i, all.by_in[0]);

            narrow((pgi_real<T>)0, own + offset_of(all.target, row, i - row * all.in[2]));
        }
    }
}

// PLAIN: of a winner, all other places having been cleared. Otherwise of any place.
template <bool PLAIN, typename T>
__device__ static void settle(const pgi_cuda_plane &all, const pgi_cuda_memory &memory,
                              const pgi_room<T> &room, int member, int place)
{
    const unsigned rows = room.rows_of(all, (unsigned)member << 16 | (unsigned)place);
    const pgi_real<T> sum = all.out[2] > all.kernel[2] + 2 * PGI_COLLECT_AT_ONCE
                                ? collected<false>(all, room, member, place, rows)
                                : collected<true>(all, room, member, place, rows);
    T *const to = target_of(all, memory, room, member, place);

    if (PLAIN)
        narrow(sum, to);
    else
        store(to, sum, (pgi_real<T>)all.alpha, (pgi_real<T>)all.beta);
}

template <typename T>
__device__ static void settle_listed(const pgi_cuda_plane &all, const pgi_cuda_memory &memory,
                                     const pgi_room<T> &room, const unsigned *list, int listed)
{
    for (int i = (int)threadIdx.x; i < listed; i += SHARE * all.members)
        settle<true>(all, memory, room, (int)(list[i] >> 16), (int)(list[i] & 0xffff));
}

// Where there are too many winners for the list: those of LISTED places of a member, or of none if
// that is below 0. Called by all threads.
template <typename T>
__device__ static void list_again(const pgi_cuda_plane &all, const pgi_room<T> &room, int member,
                                  int begin)
{
    __syncthreads();
    if (threadIdx.x == 0)
        *room.listed = 0;
    __syncthreads();
    for (int i = begin + (int)threadIdx.x % SHARE; i < min(begin + LISTED, all.places);
         i += SHARE) {
        const unsigned entry = (unsigned)member << 16 | (unsigned)i;

        if (member >= 0 && room.rows_of(all, entry))
            room.list[atomicAdd(room.listed, 1u)] = entry;
    }
    __syncthreads();
}

template <typename T, typename Index>
__device__ static void plane_collect(const pgi_cuda_plane &all, const pgi_cuda_memory &memory)
{
    const pgi_room<T> room(all);
    const int thread = (int)threadIdx.x, threads = SHARE * all.members, own = thread / SHARE;
    const pgi_member member = member_of(all, own);
    const bool plain = all.alpha == 1 && all.beta == 0;
    int listed;

    if (thread % SHARE == 0)
        room.member[own] = member;
    if (thread <= ROWS)
        room.with_rows[thread] = 0;
    if (thread == 0)
        *room.listed = 0;
    for (int i = thread; i < all.members * room.words(all) / 4; i += threads)
        ((uint4 *)room.rows)[i] = uint4{0, 0, 0, 0};
    for (int i = all.windows + thread % SHARE; i < all.slot_pitch; i += SHARE)
        room.winner[own * all.slot_pitch + i] = NOBODY;
    await_last_step();
    if (member.exists) {
        if constexpr (sizeof(Index) == sizeof(uint16_t))
            bring(all, member, (const uint16_t *)memory.indices,
                  room.winner + own * all.slot_pitch);
        else
            check_indices<Index>(all, memory, member, room.winner + own * all.slot_pitch);
        bring(all, member, (const T *)memory.source, room.dy + own * all.slot_pitch);
        if (plain)
            clear(all, member, (T *)memory.target);
    }
    end_group();
    await_groups<0>();
    __syncthreads();
    if (member.exists)
        note_winners(all, room);
    __syncthreads();
    listed = (int)*room.listed;
    if (!plain) {
        for (int i = thread % SHARE; member.exists && i < all.places; i += SHARE)
            settle<false>(all, memory, room, own, i);
    } else if (listed <= all.members * LISTED) {
        sort_winners(all, room, listed);
        settle_listed(all, memory, room, room.sorted, listed);
    } else {
        for (int begin = 0; begin < all.places; begin += LISTED) {
            list_again(all, room, member.exists ? own : -1, begin);
            settle_listed(all, memory, room, room.list, (int)*room.listed);
        }
    }
}

#define COLLECT(width, index, suffix, type)                                                        \
    extern "C" __global__ void __launch_bounds__(SHARE *PGI_COLLECT_MEMBERS, RESIDENT)             \
        pgi_plane_collect_##width##_##suffix(const __grid_constant__ pgi_cuda_plane all,           \
                                             const pgi_cuda_memory memory)                         \
    {                                                                                              \
        plane_collect<type, index>(all, memory);                                                   \
    }

#define COLLECT_TYPE(suffix, type)                                                                 \
    COLLECT(64, int64_t, suffix, type)                                                             \
    COLLECT(32, uint32_t, suffix, type)                                                            \
    COLLECT(16, uint16_t, suffix, type)

COLLECT_TYPE(f32, float)
COLLECT_TYPE(f64, double)
COLLECT_TYPE(f16, pgi_f16)
COLLECT_TYPE(bf16, pgi_bf16)
