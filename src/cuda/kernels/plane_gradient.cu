// SPDX-License-Identifier: MIT
// The gradient of max pooling with large windows, some planes at a time in shared memory.
//
// A thread adds for one plane, and the planes of a warp lie side by side in shared memory, so that
// whatever places their windows' winners are, no two lanes want the same bank. A plane is cut into
// bands of columns with a thread each, which looks at all windows that reach its band, in their
// order, and adds those whose winners lie there. Other warps fetch windows meanwhile, and check
// their indices; two chunks of windows take turns.
#include "cuda/kernels/plane.cuh"
#include "cuda/kernels/step.cuh"
#include "cuda/kernels/vector.cuh"

#define WARP     32
#define ADDERS   (PGI_PLANE_ADDERS * WARP)
#define FETCHERS (PGI_PLANE_FETCHERS * WARP)
#define GROUP    PGI_PLANE_GROUP
#define BATCH    PGI_PLANE_BATCH

// A place is known by its cell: where its sums begin. Cells go down the columns, so that those of a
// band follow each other.
#define NO_CELL 0xffff

// A window for those who add: its dy and its winner's cell, in whole words.
template <typename T> struct pgi_slot {
    pgi_word<T> dy, cell;

    __device__ static pgi_slot of(pgi_word<T> dy, unsigned cell)
    {
        return {dy, cell};
    }
    __device__ unsigned winner() const
    {
        return (unsigned)cell;
    }
    __device__ pgi_real<T> term() const
    {
        return widen(element_of<T>(dy));
    }
};

template <typename T>
requires(sizeof(T) == 2) struct pgi_slot<T> {
    uint32_t both;

    __device__ static pgi_slot of(pgi_word<T> dy, unsigned cell)
    {
        return {dy | cell << 16};
    }
    __device__ unsigned winner() const
    {
        return both >> 16;
    }
    __device__ pgi_real<T> term() const
    {
        return widen(element_of<T>(both));
    }
};

// What shared memory holds. Members are planes.
template <typename T> struct pgi_shelf {
    pgi_slot<T> *slots; // of a chunk, a member's side by side
    pgi_member *member;
    pgi_real<T> *sums; // of a place, those of all members side by side

    __device__ pgi_shelf(const pgi_cuda_plane &all, int turn = 0)
    {
        extern __shared__ __align__(16) char shared[];

        slots = (pgi_slot<T> *)shared;
        member = (pgi_member *)(slots + 2 * all.members * all.slot_pitch);
        sums = (pgi_real<T> *)(member + all.members);
        slots += turn % 2 * all.members * all.slot_pitch;
    }
};

// Windows [column, column + row_slots) of the rows from `row` on.
struct pgi_chunk {
    int row, column;

    __device__ void advance(const pgi_cuda_plane &all)
    {
        column += all.row_slots;
        if (column >= all.out[2]) {
            column = 0;
            row += all.chunk_rows;
        }
    }
};

__device__ static bool is_within(const pgi_cuda_plane &all, int axis, int window, int position)
{
    return (unsigned)(position + all.pad[axis] - window * all.stride[axis]) <
           (unsigned)all.kernel[axis];
}

// The same for D and H, of rows. FLAT: D has one position and one window.
template <bool FLAT>
__device__ static bool is_row_within(const pgi_cuda_plane &all, int window, int position)
{
    if (FLAT)
        return is_within(all, 1, window, position);
    const int slice = (int)quick_quotient((unsigned)window, all.by_out[1]);
    const int at = (int)quick_quotient((unsigned)position, all.by_in[1]);

    return is_within(all, 0, slice, at) &
           is_within(all, 1, window - slice * all.out[1], position - at * all.in[1]);
}

// The cell that an index names; NO_CELL if it is no position of the window. `base`: the index of
// the plane's first place.
template <bool FLAT, typename Index>
__device__ static unsigned cell_of_index(const pgi_cuda_plane &all, int64_t base, Index found,
                                         int row, int column)
{
    const int64_t index = sizeof(Index) == 8 || found != (Index)-1 ? (int64_t)found : -1;
    const uint64_t place = (uint64_t)(index - base);
    const int at_row = (int)quick_quotient((unsigned)place, all.by_in[0]);
    const int at = (int)place - at_row * all.in[2];
    const bool within = (place < (unsigned)all.places) & is_within(all, 2, column, at) &
                        is_row_within<FLAT>(all, row, at_row);

    return within ? (unsigned)((at * all.place_rows + at_row) * all.members) : NO_CELL;
}

// Winners that were found in x are places.
template <bool FLAT>
__device__ static unsigned cell_of_index(const pgi_cuda_plane &all, int64_t, uint16_t found, int,
                                         int)
{
    const int row = (int)quick_quotient(found, all.by_in[0]);
    const int cell = ((found - row * all.in[2]) * all.place_rows + row) * all.members;

    return found == 0xffff ? NO_CELL : (unsigned)cell;
}

// What a thread fetches of every chunk: some windows of one member, or one window of some members,
// as the memory goes.
struct pgi_errand {
    int member, member_step;
    int row[BATCH], column[BATCH]; // of the slots; a row behind all others if there is no such slot
    int at[BATCH];                 // on the shelf
    int64_t offset[BATCH];         // in memory, from the beginning of a chunk
    int64_t base[BATCH];           // of indices

    __device__ void begin(const pgi_cuda_plane &all, const pgi_member *members, int fetcher)
    {
        const bool across = all.source.interleaved;
        const int side = across ? all.members : all.slots, sides = FETCHERS / side;
        const int along = fetcher % side, other = fetcher / side;
        const int slot = across ? other : along, slot_step = across ? sides : 0;

        member = across ? along : other;
        member_step = across ? 0 : sides;
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            const int s = slot + k * slot_step, m = member + k * member_step;

            row[k] = (int)quick_quotient((unsigned)s, all.by_row_slots);
            column[k] = s - row[k] * all.row_slots;
            at[k] = m * all.slot_pitch + s;
            if (other < sides && s < all.slots && m < all.members && members[m].exists) {
                offset[k] = members[m].source + offset_of(all.source, row[k], column[k]);
                base[k] = members[m].base;
            } else {
                row[k] = all.window_rows;
            }
        }
    }

    // Whether the k-th is a window of a chunk.
    __device__ bool has(const pgi_cuda_plane &all, const pgi_chunk &chunk, int k) const
    {
        return row[k] < all.window_rows - chunk.row && column[k] < all.out[2] - chunk.column;
    }
};

// Windows on their way from memory to their slots.
template <typename T, typename Index> struct pgi_windows {
    pgi_word<T> dy[BATCH];
    pgi_word<Index> index[BATCH];

    __device__ void load(const pgi_cuda_plane &all, const pgi_cuda_memory &memory,
                         const pgi_errand &errand, const pgi_chunk &chunk)
    {
        const int begin = offset_of(all.source, chunk.row, chunk.column);

#pragma unroll
        for (int k = 0; k < BATCH; k++)
            if (errand.has(all, chunk, k)) {
                dy[k] = load_word((const T *)memory.source + begin + errand.offset[k]);
                index[k] = load_word((const Index *)memory.indices + begin + errand.offset[k]);
            }
    }

    // Returns whether all indices are positions of their windows.
    template <bool FLAT>
    __device__ bool put(const pgi_cuda_plane &all, const pgi_errand &errand, const pgi_chunk &chunk,
                        const pgi_shelf<T> &shelf) const
    {
        bool good = true;

#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            const bool there = errand.has(all, chunk, k);
            const unsigned cell =
                cell_of_index<FLAT>(all, errand.base[k], (Index)index[k], errand.row[k] + chunk.row,
                                    errand.column[k] + chunk.column);

            good &= (cell != NO_CELL) | !there;
            if (errand.row[k] < all.chunk_rows)
                shelf.slots[errand.at[k]] = pgi_slot<T>::of(dy[k], there ? cell : NO_CELL);
        }
        return good;
    }

    // Notes those that are not, nor say that there is no winner.
    __device__ void note_bad(const pgi_cuda_plane &all, const pgi_cuda_memory &memory,
                             const pgi_errand &errand, const pgi_chunk &chunk,
                             const pgi_member *members) const
    {
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            const int row = errand.row[k] + chunk.row, column = errand.column[k] + chunk.column;

            if (errand.has(all, chunk, k) && ((Index)index[k] != (Index)-1 || !all.no_winner) &&
                cell_of_index<false>(all, errand.base[k], (Index)index[k], row, column) == NO_CELL)
                atomicMin(
                    memory.bad,
                    (unsigned long long)((int64_t)members[errand.member + k * errand.member_step]
                                                 .number *
                                             all.windows +
                                         row * all.out[2] + column));
        }
    }
};

// The columns of a member that a thread adds for, as cells, and the windows of a row that reach
// them.
struct pgi_band {
    int cell, cells;
    int first, end;
};

__device__ static pgi_band band_of(const pgi_cuda_plane &all, const pgi_member &plane, int band)
{
    const int column = band * all.band, end = plane.exists ? min(column + all.band, all.in[2]) : 0;
    const int before = column + all.pad[2] - all.kernel[2]; // the last start of a window before it
    const int cells = all.place_rows * all.members;

    return {column * cells, max(end - column, 0) * cells,
            before < 0 ? 0 : before / all.stride[2] + 1,
            min((end - 1 + all.pad[2]) / all.stride[2] + 1, all.out[2])};
}

// Slots that are loaded at once.
template <typename T> struct pgi_group {
    pgi_slot<T> slot[GROUP];

    __device__ void load(const pgi_slot<T> *from)
    {
#pragma unroll
        for (int i = 0; i < (int)(sizeof slot / sizeof(uint4)); i++)
            ((uint4 *)slot)[i] = ((const uint4 *)from)[i];
    }
};

// Adds GROUP windows, all of a member. Sums are loaded together; where a window before has the same
// winner, its sum is the newer one.
template <typename T>
__device__ static void add_group(const pgi_group<T> &group, const pgi_band &band, pgi_real<T> *sums)
{
    unsigned cell[GROUP];
    bool mine[GROUP];
    pgi_real<T> sum[GROUP];

#pragma unroll
    for (int k = 0; k < GROUP; k++) {
        cell[k] = group.slot[k].winner();
        mine[k] = cell[k] - (unsigned)band.cell < (unsigned)band.cells;
        sum[k] = mine[k] ? sums[cell[k]] : 0;
    }
#pragma unroll
    for (int k = 0; k < GROUP; k++) {
#pragma unroll
        for (int before = 0; before < k; before++)
            if (cell[before] == cell[k])
                sum[k] = sum[before];
        sum[k] = sum[k] + group.slot[k].term();
    }
#pragma unroll
    for (int k = 0; k < GROUP; k++)
        if (mine[k])
            sums[cell[k]] = sum[k];
}

// The slots of the next group are loaded while those of one are added.
template <typename T>
__device__ static void add_chunk(const pgi_cuda_plane &all, const pgi_shelf<T> &shelf,
                                 const pgi_chunk &chunk, const pgi_band &band, int member)
{
    const int first = max(band.first - chunk.column, 0) / GROUP * GROUP;
    const int end = min(band.end - chunk.column, all.row_slots);
    const int rows = min(all.chunk_rows, all.window_rows - chunk.row);

    for (int row = 0; row < rows && first < end; row++) {
        const pgi_slot<T> *at = shelf.slots + member * all.slot_pitch + row * all.row_slots + first;
        pgi_group<T> next;

        next.load(at);
        for (int slot = first; slot < end; slot += GROUP) {
            const pgi_group<T> now = next;

            at += slot + GROUP < end ? GROUP : 0;
            next.load(at);
            add_group(now, band, shelf.sums + member);
        }
    }
}

// PLAIN: as it is.
template <bool PLAIN, typename T>
__device__ static void store_sum(const pgi_cuda_plane &all, T *to, pgi_real<T> sum)
{
    if (PLAIN)
        narrow(sum, to);
    else
        store(to, sum, (pgi_real<T>)all.alpha, (pgi_real<T>)all.beta);
}

// Sums to memory, as they lie if channels do.
template <bool PLAIN, typename T>
__device__ static void store_members(const pgi_cuda_plane &all, const pgi_cuda_memory &memory)
{
    const pgi_shelf<T> shelf(all);
    const int member = (int)threadIdx.x % all.members, first = (int)threadIdx.x / all.members;
    T *const dx = (T *)memory.target + shelf.member[member].target;

    if (shelf.member[member].exists)
#pragma unroll 4
        for (int i = first; i < all.places; i += (ADDERS + FETCHERS) / all.members) {
            const int row = (int)quick_quotient((unsigned)i, all.by_in[0]);
            const int column = i - row * all.in[2];
            const int cell = (column * all.place_rows + row) * all.members;

            store_sum<PLAIN>(all, dx + offset_of(all.target, row, column),
                             shelf.sums[cell + member]);
        }
}

// Else a warp turns the sums of 32 places where they are: a lane has a member of every place, and
// then a place. Those of a place change their order by its number, so that lanes meet in no bank
// either way.
template <bool PLAIN, typename T>
__device__ static void store_places(const pgi_cuda_plane &all, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    constexpr int AT_ONCE = 4;
    const pgi_shelf<T> shelf(all);
    const int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
    const int last = all.members - 1, member = lane & last, each = WARP / all.members;
    const int existing = (int)min((unsigned)all.members, all.planes - shelf.member[0].number);

    for (int from = warp * WARP; from < all.places; from += ADDERS + FETCHERS) {
        const int row = (int)quick_quotient((unsigned)(from + lane), all.by_in[0]);
        const int column = from + lane - row * all.in[2], count = min(WARP, all.places - from);
        const int cell = (column * all.place_rows + row) * all.members;
        T *const dx = (T *)memory.target + offset_of(all.target, row, column);

        for (int first = lane / all.members; first - lane / all.members < count;
             first += AT_ONCE * each) {
            Real *of[AT_ONCE], sum[AT_ONCE];

#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                of[k] = shelf.sums + __shfl_sync(~0u, cell, first + k * each);
                if (first + k * each < count)
                    sum[k] = of[k][member];
            }
            __syncwarp();
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                if (first + k * each < count)
                    of[k][member ^ ((first + k * each) & last)] = sum[k];
        }
        __syncwarp();
#pragma unroll 4
        for (int m = 0; m < existing; m++)
            if (lane < count)
                store_sum<PLAIN>(all, dx + shelf.member[m].target,
                                 shelf.sums[cell + (m ^ (lane & last))]);
    }
}

template <bool PLAIN, typename T>
__device__ static void store_sums(const pgi_cuda_plane &all, const pgi_cuda_memory &memory)
{
    if (all.target.interleaved)
        store_members<PLAIN, T>(all, memory);
    else
        store_places<PLAIN, T>(all, memory);
}

template <typename T, typename Index>
__device__ static void plane_gradient(const pgi_cuda_plane &all, const pgi_cuda_memory &memory)
{
    const int thread = (int)threadIdx.x, member = thread % all.members;
    const bool adds = thread < ADDERS;
    const pgi_shelf<T> shelf(all);
    pgi_windows<T, Index> windows[2]; // of the next turn, and of that after it
    pgi_errand errand;
    pgi_band band;
    pgi_chunk chunk = {0, 0}, ahead = {0, 0}; // that is put or added, and that is loaded
    const auto take_turn = [&](int turn, pgi_windows<T, Index> &fetched) {
        if (!adds && turn < all.turns) {
            const pgi_shelf<T> now(all, turn);
            const bool good = all.flat ? fetched.template put<true>(all, errand, chunk, now)
                                       : fetched.template put<false>(all, errand, chunk, now);

            if (sizeof(Index) > 2 && !good)
                fetched.note_bad(all, memory, errand, chunk, shelf.member);
            fetched.load(all, memory, errand, ahead);
            chunk.advance(all);
            ahead.advance(all);
        }
        if (adds && turn > 0 && turn <= all.turns) {
            add_chunk(all, pgi_shelf<T>(all, turn - 1), chunk, band, member);
            chunk.advance(all);
        }
        __syncthreads();
    };

    if (thread < all.members)
        shelf.member[thread] = member_of(all, thread);
    __syncthreads();
    band = band_of(all, shelf.member[member], thread / all.members);
    await_last_step();
    if (!adds) {
        errand.begin(all, shelf.member, thread - ADDERS);
#pragma unroll
        for (int k = 0; k < 2; k++) {
            windows[k].load(all, memory, errand, ahead);
            ahead.advance(all);
        }
    }
    for (int i = thread; i < all.places * all.members; i += ADDERS + FETCHERS)
        shelf.sums[i] = 0;
    for (int turn = 0; turn <= all.turns; turn += 2) {
        take_turn(turn, windows[0]);
        take_turn(turn + 1, windows[1]);
    }
    if (all.alpha == 1 && all.beta == 0)
        store_sums<true, T>(all, memory);
    else
        store_sums<false, T>(all, memory);
}

#define GRADIENT(width, index, suffix, type)                                                       \
    extern "C" __global__ void __launch_bounds__(ADDERS + FETCHERS, 1)                             \
        pgi_plane_gradient_##width##_##suffix(const __grid_constant__ pgi_cuda_plane all,          \
                                              const pgi_cuda_memory memory)                        \
    {                                                                                              \
        plane_gradient<type, index>(all, memory);                                                  \
    }

#define GRADIENT_TYPE(suffix, type)                                                                \
    GRADIENT(64, int64_t, suffix, type)                                                            \
    GRADIENT(32, uint32_t, suffix, type)                                                           \
    GRADIENT(16, uint16_t, suffix, type)

GRADIENT_TYPE(f32, float)
GRADIENT_TYPE(f64, double)
GRADIENT_TYPE(f16, pgi_f16)
GRADIENT_TYPE(bf16, pgi_bf16)
