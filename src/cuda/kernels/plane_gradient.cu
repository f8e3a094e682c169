// SPDX-License-Identifier: MIT
// The gradient of max pooling with large windows, some planes at a time in shared memory.
//
// A thread adds for one plane, and the planes of a warp lie side by side in shared memory, so that
// whatever places their windows' winners are, no two lanes want the same bank. A plane is cut into
// bands of columns with a thread each, which looks at all windows that reach its band, in their
// order, and adds those whose winners lie there. Other warps fetch windows meanwhile, and check
// their indices; two chunks of windows take turns.
#include "cuda/kernels/plane.cuh"

#define WARP     32
#define ADDERS   (PGI_PLANE_ADDERS * WARP)
#define FETCHERS (PGI_PLANE_FETCHERS * WARP)
#define GROUP    PGI_PLANE_GROUP
#define BATCH    PGI_PLANE_BATCH

// A place is known by its cell: where its sums begin. Cells go down the columns, so that those of a
// band follow each other.
#define NO_CELL 0xffff

// What shared memory holds. Members are planes; the last dimension is theirs.
template <typename T> struct pgi_shelf {
    pgi_member *member;
    pgi_real<T> *sums;
    pgi_real<T> *stage; // sums on their way to memory, in place of the following
    T *dy;              // of a chunk's slots: windows, each row's ending at a whole group
    uint16_t *cell;     // of their winners
    int pitch;          // from slot to slot: odd, for threads that store a member's slots

    __device__ pgi_shelf(const pgi_cuda_plane &all, int turn = 0)
    {
        extern __shared__ char shared[];
        int copy;

        pitch = all.members + 1;
        copy = turn % 2 * all.slots * pitch;
        member = (pgi_member *)shared;
        sums = (pgi_real<T> *)(member + all.members);
        stage = sums + all.places * all.members;
        dy = (T *)stage + copy;
        cell = (uint16_t *)((T *)stage + 2 * all.slots * pitch) + copy;
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

// The same for D and H, of rows.
__device__ static bool is_row_within(const pgi_cuda_plane &all, int window, int position)
{
    if (all.flat)
        return is_within(all, 1, window, position);
    const int slice = (int)quick_quotient((unsigned)window, all.by_out[1]);
    const int at = (int)quick_quotient((unsigned)position, all.by_in[1]);

    return is_within(all, 0, slice, at) &&
           is_within(all, 1, window - slice * all.out[1], position - at * all.in[1]);
}

// The cell that an index names; NO_CELL if none, or if the index is bad.
template <typename Index>
__device__ static int cell_of_index(const pgi_cuda_plane &all, const pgi_member &plane, Index found,
                                    int row, int column, unsigned long long *bad)
{
    const int64_t index = sizeof(Index) == 8 || found != (Index)-1 ? (int64_t)found : -1;
    const uint64_t place = (uint64_t)(index - plane.base);
    const int at_row = (int)quick_quotient((unsigned)place, all.by_in[0]);
    const int at = (int)place - at_row * all.in[2];

    if (place < (unsigned)all.places && is_within(all, 2, column, at) &&
        is_row_within(all, row, at_row))
        return (at * all.place_rows + at_row) * all.members;
    if (index != -1 || !all.no_winner)
        atomicMin(bad, (unsigned long long)((int64_t)plane.number * all.windows +
                                            row * all.out[2] + column));
    return NO_CELL;
}

// Winners that were found in x are places.
__device__ static int cell_of_index(const pgi_cuda_plane &all, const pgi_member &, uint16_t found,
                                    int, int, unsigned long long *)
{
    const int row = (int)quick_quotient(found, all.by_in[0]);
    const int cell = ((found - row * all.in[2]) * all.place_rows + row) * all.members;

    return found == 0xffff ? NO_CELL : cell;
}

// What a thread fetches of every chunk: some windows of one member, or one window of some members,
// as the memory goes.
struct pgi_errand {
    int slot, slot_step, member, member_step;
    int row[BATCH], column[BATCH]; // of the slots; a row behind all others if there is no such slot
    int64_t offset[BATCH];         // in memory, from the beginning of a chunk

    __device__ void begin(const pgi_cuda_plane &all, const pgi_member *members, int fetcher)
    {
        const bool across = all.source.interleaved;
        const int side = across ? all.members : all.slots, sides = FETCHERS / side;
        const int along = fetcher % side, other = fetcher / side;

        slot = across ? other : along;
        member = across ? along : other;
        slot_step = across ? sides : 0;
        member_step = across ? 0 : sides;
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            const int at = slot + k * slot_step, m = member + k * member_step;

            row[k] = (int)quick_quotient((unsigned)at, all.by_row_slots);
            column[k] = at - row[k] * all.row_slots;
            offset[k] = 0;
            if (other < sides && at < all.slots && m < all.members && members[m].exists)
                offset[k] = members[m].source + offset_of(all.source, row[k], column[k]);
            else
                row[k] = all.window_rows;
        }
    }

    // Whether the k-th is a window of a chunk.
    __device__ bool has(const pgi_cuda_plane &all, const pgi_chunk &chunk, int k) const
    {
        return row[k] + chunk.row < all.window_rows && column[k] + chunk.column < all.out[2];
    }
};

// Windows on their way from memory to their slots.
template <typename T, typename Index> struct pgi_windows {
    T dy[BATCH];
    Index index[BATCH];

    __device__ void load(const pgi_cuda_plane &all, const pgi_cuda_memory &memory,
                         const pgi_errand &errand, const pgi_chunk &chunk)
    {
        const int begin = offset_of(all.source, chunk.row, chunk.column);

#pragma unroll
        for (int k = 0; k < BATCH; k++)
            if (errand.has(all, chunk, k)) {
                dy[k] = ((const T *)memory.source + begin)[errand.offset[k]];
                index[k] = ((const Index *)memory.indices + begin)[errand.offset[k]];
            }
    }

    __device__ void put(const pgi_cuda_plane &all, const pgi_cuda_memory &memory,
                        const pgi_errand &errand, const pgi_chunk &chunk,
                        const pgi_shelf<T> &shelf) const
    {
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            const int m = errand.member + k * errand.member_step;
            const int at = (errand.slot + k * errand.slot_step) * shelf.pitch + m;

            if (errand.has(all, chunk, k)) {
                shelf.dy[at] = dy[k];
                shelf.cell[at] = (uint16_t)cell_of_index(
                    all, shelf.member[m], index[k], errand.row[k] + chunk.row,
                    errand.column[k] + chunk.column, memory.bad);
            } else if (errand.row[k] < all.chunk_rows) {
                shelf.cell[at] = NO_CELL;
            }
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

// Adds GROUP windows, all of a member. Sums are loaded together; where a window before has the same
// winner, its sum is the newer one.
template <typename T>
__device__ static void add_group(const T *dy, const uint16_t *cells, int pitch,
                                 const pgi_band &band, pgi_real<T> *sums)
{
    unsigned cell[GROUP];
    bool mine[GROUP];
    pgi_real<T> sum[GROUP];

#pragma unroll
    for (int k = 0; k < GROUP; k++) {
        cell[k] = cells[k * pitch];
        mine[k] = cell[k] - (unsigned)band.cell < (unsigned)band.cells;
        sum[k] = mine[k] ? sums[cell[k]] : 0;
    }
#pragma unroll
    for (int k = 0; k < GROUP; k++) {
#pragma unroll
        for (int before = 0; before < k; before++)
            if (cell[before] == cell[k])
                sum[k] = sum[before];
        sum[k] = sum[k] + widen(dy[k * pitch]);
    }
#pragma unroll
    for (int k = 0; k < GROUP; k++)
        if (mine[k])
            sums[cell[k]] = sum[k];
}

template <typename T>
__device__ static void add_chunk(const pgi_cuda_plane &all, const pgi_shelf<T> &shelf,
                                 const pgi_chunk &chunk, const pgi_band &band, int member)
{
    const int first = max(band.first - chunk.column, 0) / GROUP * GROUP;
    const int end = min(band.end - chunk.column, all.row_slots);
    const int rows = min(all.chunk_rows, all.window_rows - chunk.row);

    for (int row = 0; row < rows; row++)
        for (int slot = first; slot < end; slot += GROUP) {
            const int at = (row * all.row_slots + slot) * shelf.pitch + member;

            add_group(shelf.dy + at, shelf.cell + at, shelf.pitch, band, shelf.sums + member);
        }
}

// Sums to memory: as they lie if channels do, else transposed on the way.
template <typename T>
__device__ static void store_sums(const pgi_cuda_plane &all, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    const pgi_shelf<T> shelf(all);
    const int member = (int)threadIdx.x % all.members, first = (int)threadIdx.x / all.members;
    const int step = (ADDERS + FETCHERS) / all.members;
    const int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
    const Real alpha = (Real)all.alpha, beta = (Real)all.beta;
    const auto row_of = [&](int i) { return (int)quick_quotient((unsigned)i, all.by_in[0]); };
    const auto sum_of = [&](int row, int column) {
        return shelf.sums[(column * all.place_rows + row) * all.members + member];
    };

    if (all.target.interleaved) {
        T *const dx = (T *)memory.target + shelf.member[member].target;

        if (shelf.member[member].exists)
#pragma unroll 4
            for (int i = first; i < all.places; i += step) {
                const int row = row_of(i), column = i - row * all.in[2];

                store(dx + offset_of(all.target, row, column), sum_of(row, column), alpha, beta);
            }
        return;
    }
    for (int from = 0; from < all.places; from += all.stage) {
        const int count = min(all.stage, all.places - from);

#pragma unroll 4
        for (int i = first; i < count; i += step) {
            const int row = row_of(from + i);

            shelf.stage[i * shelf.pitch + member] = sum_of(row, from + i - row * all.in[2]);
        }
        __syncthreads();
        for (int i = lane; i < count; i += WARP) {
            const int row = row_of(from + i);
            T *const dx =
                (T *)memory.target + offset_of(all.target, row, from + i - row * all.in[2]);

#pragma unroll 2
            for (int m = warp; m < all.members; m += PGI_PLANE_ADDERS + PGI_PLANE_FETCHERS) {
                const pgi_member &plane = shelf.member[m];

                if (plane.exists)
                    store(dx + plane.target, shelf.stage[i * shelf.pitch + m], alpha, beta);
            }
        }
        __syncthreads();
    }
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
            fetched.put(all, memory, errand, chunk, pgi_shelf<T>(all, turn));
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
    for (int i = thread; i < all.places * all.members; i += ADDERS + FETCHERS)
        shelf.sums[i] = 0;
    __syncthreads();
    band = band_of(all, shelf.member[member], thread / all.members);
    if (!adds) {
        errand.begin(all, shelf.member, thread - ADDERS);
#pragma unroll
        for (int k = 0; k < 2; k++) {
            windows[k].load(all, memory, errand, ahead);
            ahead.advance(all);
        }
    }
    for (int turn = 0; turn <= all.turns; turn += 2) {
        take_turn(turn, windows[0]);
        take_turn(turn + 1, windows[1]);
    }
    store_sums<T>(all, memory);
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
