// SPDX-License-Identifier: MIT
// The gradient of max pooling with large windows, a few planes at a time in shared memory.
//
// In a row of windows the columns of the winners ascend: of two windows side by side, the later
// could have an earlier winner only if both had both, and then they would have the same. So the
// windows of a winner lie side by side in a row, as a run, and no other run of the row is its own:
// runs are added at the same time, rows one after the other. Indices that are not of maxima, or
// of maxima with `leading` NaN, may do otherwise; where they do, a warp takes the plane's windows
// 32 at a time, and where several have one winner, adds theirs in their order.
#include "cuda/kernels/plane.cuh"

#define WARP      32
#define ALL_LANES 0xffffffffu

#define NO_PLACE 0xffff

// What shared memory holds of a plane: its sums, and twice what follows, of a chunk of windows. One
// is added while the other is fetched.
template <typename T> struct pgi_shelf {
    pgi_real<T> *sums;
    T *dy;
    uint16_t *place; // of every window's winner
    uint16_t *begin; // the runs' first windows, and the end of the last
    uint16_t *first; // the rows' first runs, and the end of the last

    __device__ pgi_shelf(const pgi_cuda_plane &all, int member, int turn)
    {
        extern __shared__ char shared[];
        const int copies = 2 * all.members, copy = turn % 2 * all.members + member;
        pgi_real<T> *all_sums = (pgi_real<T> *)shared;
        T *all_dy = (T *)(all_sums + all.members * all.place_pitch);
        uint16_t *all_places = (uint16_t *)(all_dy + copies * all.chunk_pitch);
        uint16_t *all_begins = all_places + copies * all.chunk_pitch;

        sums = all_sums + member * all.place_pitch;
        dy = all_dy + copy * all.chunk_pitch;
        place = all_places + copy * all.chunk_pitch;
        begin = all_begins + copy * all.chunk_pitch;
        first = all_begins + copies * all.chunk_pitch + copy * all.row_pitch;
    }
};

// Windows [begin, begin + count) of a plane.
struct pgi_chunk {
    int begin, count;
};

__device__ static pgi_chunk chunk_of(const pgi_cuda_plane &all, int turn)
{
    const int begin = turn * all.chunk;

    return {begin, min(all.chunk, all.windows - begin)};
}

// The place that window o's index names; NO_PLACE if none, or if the index is bad.
template <typename Index>
__device__ static int place_of_index(const pgi_cuda_plane &all, const pgi_member &plane,
                                     Index found, int o, unsigned long long *bad)
{
    const int64_t index = sizeof(Index) == 8 || found != (Index)-1 ? (int64_t)found : -1;
    const uint64_t place = (uint64_t)(index - plane.base);
    bool good = place < (uint64_t)all.places;

    if (good) {
        const pgi_spot window = spot_of(o, all.out, all.by_out);
        const pgi_spot winner = spot_of((int)place, all.in, all.by_in);

#pragma unroll
        for (int k = 0; k < 3; k++) {
            const int start = window.at[k] * all.stride[k] - all.pad[k];

            good = good && (unsigned)(winner.at[k] - start) < (unsigned)all.kernel[k];
        }
    }
    if (!good && !(index == -1 && all.no_winner))
        atomicMin(bad, (unsigned long long)((int64_t)plane.number * all.windows + o));
    return good ? (int)place : NO_PLACE;
}

// Winners that were found in x are places.
__device__ static int place_of_index(const pgi_cuda_plane &, const pgi_member &, uint16_t found,
                                     int, unsigned long long *)
{
    return found;
}

// Fetches every WARP-th window of a chunk, from `lane` on; several at a time are under way.
template <typename T, typename Index>
__device__ static void fetch_windows(const pgi_cuda_plane &all, const pgi_cuda_memory &memory,
                                     const pgi_member &plane, const pgi_chunk &chunk, int lane,
                                     const pgi_shelf<T> &shelf)
{
    constexpr int BATCH = 10;
    const T *dy = (const T *)memory.source + plane.source;
    const Index *indices = (const Index *)memory.indices + plane.source;

    for (int first = lane; first < chunk.count; first += BATCH * WARP) {
        Index index[BATCH];
        T term[BATCH];

#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            const int o = chunk.begin + min(first + k * WARP, chunk.count - 1);
            const int64_t offset = element_offset(all.source, o, all.out, all.by_out);

            index[k] = indices[offset];
            term[k] = dy[offset];
        }
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            const int i = first + k * WARP;

            if (i < chunk.count) {
                shelf.dy[i] = term[k];
                shelf.place[i] =
                    (uint16_t)place_of_index(all, plane, index[k], chunk.begin + i, memory.bad);
            }
        }
    }
}

__device__ static int column_of(const pgi_cuda_plane &all, int place)
{
    return place - (int)quick_quotient((unsigned)place, all.by_in[0]) * all.in[2];
}

// A warp finds the runs in a chunk of its plane's rows. Whether they are as they should be.
template <typename T>
__device__ static bool find_runs(const pgi_cuda_plane &all, int count, int lane,
                                 const pgi_shelf<T> &shelf)
{
    int runs = 0;
    bool ascends = true;

#pragma unroll 2
    for (int from = 0; from < count; from += WARP) {
        const int i = from + lane;
        const bool there = i < count;
        const int mine = there ? shelf.place[i] : 0, before = there && i ? shelf.place[i - 1] : 0;
        const int row = (int)quick_quotient((unsigned)i, all.by_out[0]);
        const bool opens = there && row * all.out[2] == i;
        const bool begins = opens || (there && mine != before);
        const unsigned beginnings = __ballot_sync(ALL_LANES, begins);
        const int run = runs + __popc(beginnings & ((1u << lane) - 1));

        if (begins) {
            ascends = ascends && mine != NO_PLACE &&
                      (opens || column_of(all, mine) > column_of(all, before));
            shelf.begin[run] = (uint16_t)i;
            if (opens)
                shelf.first[row] = (uint16_t)run;
        }
        runs += __popc(beginnings);
    }
    if (lane == 0) {
        shelf.begin[runs] = (uint16_t)count;
        shelf.first[quick_quotient((unsigned)count, all.by_out[0])] = (uint16_t)runs;
    }
    return ascends;
}

// Windows [begin, end), and their winner.
struct pgi_winner_run {
    int begin, end, place;
};

template <typename T>
__device__ static pgi_winner_run run_of(const pgi_shelf<T> &shelf, int run, int end)
{
    if (run >= end)
        return {0, 0, 0};
    const int begin = shelf.begin[run];

    return {begin, shelf.begin[run + 1], shelf.place[begin]};
}

// Adds a run to its winner's sum; what is loaded behind its end is not used.
template <typename T>
__device__ static void add_run(const pgi_shelf<T> &shelf, const pgi_winner_run &run)
{
    constexpr int BATCH = 8;

    if (run.begin >= run.end)
        return;
    pgi_real<T> sum = shelf.sums[run.place];

#pragma unroll 1
    for (int i = run.begin; i < run.end; i += BATCH) {
        pgi_real<T> term[BATCH];

#pragma unroll
        for (int k = 0; k < BATCH; k++)
            term[k] = widen(shelf.dy[i + k]);
#pragma unroll
        for (int k = 0; k < BATCH; k++)
            if (k == 0 || i + k < run.end)
                sum = sum + term[k];
    }
    shelf.sums[run.place] = sum;
}

// A warp adds rows of all planes, each with its part of the lanes: rows have few runs.
template <typename T>
__device__ static void add_rows(const pgi_cuda_plane &all, int rows, int lane, int turn)
{
    const int lanes = WARP / all.members, mine = lane % lanes;
    const pgi_shelf<T> shelf(all, lane / lanes, turn);
    const bool exists = member_of(all, lane / lanes).exists;
    pgi_winner_run next = {0, 0, 0};
    int next_end = 0;

#pragma unroll 1
    for (int row = -1; row < rows; row++) {
        const pgi_winner_run run = next;
        const int end = next_end;

        // the next row's runs, while this one's are added
        if (exists && row + 1 < rows) {
            next_end = shelf.first[row + 2];
            next = run_of(shelf, shelf.first[row + 1] + mine, next_end);
        }
        add_run(shelf, run);
        if (exists && row >= 0)
            for (int more = shelf.first[row] + mine + lanes; more < end; more += lanes)
                add_run(shelf, run_of(shelf, more, end));
        __syncwarp();
    }
}

// A warp adds windows of one plane, 32 at a time.
template <typename T>
__device__ static void add_windows(int count, int lane, const pgi_shelf<T> &shelf)
{
    typedef pgi_real<T> Real;

    for (int from = 0; from < count; from += WARP) {
        const int i = from + lane;
        const int place = i < count ? shelf.place[i] : NO_PLACE;
        const Real term = i < count ? widen(shelf.dy[i]) : 0;
        // lanes that have one place; the lowest adds for all of them, in their order
        const unsigned same = __match_any_sync(ALL_LANES, place);
        const bool leads = place != NO_PLACE && (same & ((1u << lane) - 1)) == 0;
        unsigned rest = leads ? same : 0;
        Real sum = leads ? shelf.sums[place] : 0;

        while (__any_sync(ALL_LANES, rest != 0)) {
            const int next = rest ? __ffs((int)rest) - 1 : 0;
            const Real theirs = __shfl_sync(ALL_LANES, term, next);

            if (rest)
                sum = sum + theirs;
            rest &= rest - 1;
        }
        if (leads)
            shelf.sums[place] = sum;
        __syncwarp();
    }
}

// `ordered`: all of the chunk's runs are as they should be.
template <typename T>
__device__ static void add_chunk(const pgi_cuda_plane &all, int turn, bool ordered, int lane)
{
    const int count = chunk_of(all, turn).count;

    if (ordered) {
        add_rows<T>(all, (int)quick_quotient((unsigned)count, all.by_out[0]), lane, turn);
        return;
    }
    for (int member = 0; member < all.members; member++)
        if (member_of(all, member).exists)
            add_windows(count, lane, pgi_shelf<T>(all, member, turn));
}

// Waits for those that fetch what the warp's plane has.
__device__ static void await_fetchers(const pgi_cuda_plane &all)
{
    __syncwarp();
    if (all.interleaved)
        asm volatile("bar.sync 1, %0;" ::"r"(all.members * WARP) : "memory");
}

// The first warp adds, the others fetch for it.
template <typename T, typename Index>
__device__ static void plane_gradient(const pgi_cuda_plane &all, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    const int warp = (int)threadIdx.x / WARP - 1, warp_lane = (int)threadIdx.x % WARP;
    const int fetcher = (int)threadIdx.x - WARP;
    const bool adds = warp < 0;
    // to fetch and to store, threads go with the memory
    const int member = adds ? 0 : all.interleaved ? fetcher % all.members : warp;
    const int lane = all.interleaved ? fetcher / all.members : warp_lane;
    const int turns = (all.windows + all.chunk - 1) / all.chunk;
    const pgi_member plane = member_of(all, member);
    const pgi_shelf<T> shelf(all, member, 0);
    // whether what the warp has found in its plane is ordered
    const auto fetch = [&](int turn) {
        const pgi_chunk chunk = chunk_of(all, turn);

        if (plane.exists)
            fetch_windows<T, Index>(all, memory, plane, chunk, lane,
                                    pgi_shelf<T>(all, member, turn));
        if (!all.by_rows)
            return false;
        await_fetchers(all);
        return !member_of(all, warp).exists ||
               find_runs(all, chunk.count, warp_lane, pgi_shelf<T>(all, warp, turn));
    };
    bool ordered = true;

    if (!adds) {
        for (int i = lane; i < all.places; i += WARP)
            shelf.sums[i] = 0;
        ordered = fetch(0);
    }
    for (int turn = 0; turn < turns; turn++) {
        const bool all_ordered = !__syncthreads_or(!ordered);

        if (adds)
            add_chunk<T>(all, turn, all_ordered, warp_lane);
        else if (turn + 1 < turns)
            ordered = fetch(turn + 1);
    }
    __syncthreads();
    if (!adds && plane.exists) {
        T *dx = (T *)memory.target + plane.target;

        for (int i = lane; i < all.places; i += WARP)
            store(dx + element_offset(all.target, i, all.in, all.by_in), shelf.sums[i],
                  (Real)all.alpha, (Real)all.beta);
    }
}

#define GRADIENT(width, index, suffix, type)                                                       \
    extern "C" __global__ void __launch_bounds__(160) pgi_plane_gradient_##width##_##suffix(       \
        const __grid_constant__ pgi_cuda_plane all, const pgi_cuda_memory memory)                  \
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
