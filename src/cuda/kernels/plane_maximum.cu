// SPDX-License-Identifier: MIT
// Max pooling with large windows, forward: a plane, or a few that lie side by side, in shared
// memory. Winners are found axis by axis.
#include "cuda/kernels/bid.cuh"
#include "cuda/kernels/plane.cuh"

#include <math_constants.h>

// The bids of an axis that are met by windows: [before][in][inner].
struct pgi_line {
    int axis, inner;
    pgi_cuda_quotient by_inner;
};

// RUN windows side by side, of an axis with stride 1 whose windows all have a position: what all of
// them have is looked at once. The others' taps before that are gone through from its end, those
// behind it from its beginning. A tap outside is that at the edge, which the window has anyway.
template <typename From, typename To>
__device__ static void contest_run(const pgi_cuda_plane &all, const pgi_line &line, int task,
                                   const From &from, const To &to)
{
    constexpr int RUN = PGI_PLANE_RUN;
    const int in = all.in[line.axis], out = all.out[line.axis], kernel = all.kernel[line.axis];
    const int rest = (int)quick_quotient((unsigned)task, line.by_inner);
    const int before = (int)quick_quotient((unsigned)rest, all.by_runs[line.axis]);
    const int within = task - rest * line.inner;
    const int first = (rest - before * all.runs[line.axis]) * RUN;
    const int start = first - all.pad[line.axis], core = start + RUN - 1;
    const int origin = before * in * line.inner + within;
    const auto tap = [&](int at) { return from(origin + min(max(at, 0), in - 1) * line.inner); };
    decltype(from(0)) best[RUN], behind;

    best[RUN - 1] = tap(core);
#pragma unroll 4
    for (int at = core + 1; at < start + kernel; at++)
        best[RUN - 1].meet(tap(at));
#pragma unroll
    for (int j = RUN - 2; j >= 0; j--) {
        best[j] = tap(start + j);
        best[j].meet(best[j + 1]);
    }
    behind = tap(start + kernel);
#pragma unroll
    for (int j = 0; j < RUN; j++) {
        if (j > 1)
            behind.meet(tap(start + kernel + j - 1));
        if (j > 0)
            best[j].meet(behind);
        if (first + j < out)
            to((before * out + first + j) * line.inner + within, best[j]);
    }
}

template <typename From, typename To>
__device__ static void contest_one(const pgi_cuda_plane &all, const pgi_line &line, int i,
                                   const From &from, const To &to)
{
    const int in = all.in[line.axis], out = all.out[line.axis];
    const int rest = (int)quick_quotient((unsigned)i, line.by_inner),
              within = i - rest * line.inner;
    const int before = rest / out;
    const int start = (rest - before * out) * all.stride[line.axis] - all.pad[line.axis];
    decltype(from(0)) best = {decltype(best)::NONE};

    for (int tap = 0; tap < all.kernel[line.axis]; tap++) {
        const int at = start + tap * all.dilation[line.axis];

        if (at >= 0 && at < in)
            best.meet(from((before * in + at) * line.inner + within));
    }
    to(i, best);
}

// All bids of an axis, of the plane whose `lanes` threads these are.
template <typename From, typename To>
__device__ static void contest(const pgi_cuda_plane &all, int axis, int befores, int lane,
                               int lanes, const From &from, const To &to)
{
    const pgi_line line = {axis,
                           axis == 2   ? 1
                           : axis == 1 ? all.out[2]
                                       : all.out[1] * all.out[2],
                           axis == 2   ? pgi_cuda_quotient{1u << 30, 0}
                           : axis == 1 ? all.by_out[0]
                                       : all.by_area};
    const bool by_runs = all.runs[axis] > 0;
    const int tasks = befores * line.inner * (by_runs ? all.runs[axis] : all.out[axis]);

#pragma unroll 1
    for (int task = lane; task < tasks; task += lanes) {
        if (by_runs)
            contest_run(all, line, task, from, to);
        else
            contest_one(all, line, task, from, to);
    }
    __syncthreads();
}

// The first tap of window o that lies inside, as a place, if it is a NaN that leads; there is one.
template <typename T>
__device__ static __noinline__ int leading_or(const pgi_cuda_plane *all, const T *x, int o,
                                              int place)
{
    const pgi_spot window = spot_of(o, all->out, all->by_out);
    int leading = 0;

    for (int k = 0; k < 3; k++) {
        const int start = window.at[k] * all->stride[k] - all->pad[k];
        const int skipped = start < 0 ? (-start + all->dilation[k] - 1) / all->dilation[k] : 0;

        leading = leading * all->in[k] + start + skipped * all->dilation[k];
    }
    const pgi_real<T> value = widen(x[element_offset(all->source, leading, all->in, all->by_in)]);

    return value != value ? leading : place;
}

// The end of a contest: what is wanted of window o.
template <typename T, typename Index>
__device__ static void award(const pgi_cuda_plane &all, const pgi_cuda_memory &memory,
                             const pgi_member &plane, int o, const pgi_bid<T> &bid)
{
    typedef pgi_real<T> Real;
    const T *x = (const T *)memory.source + plane.source;
    const int64_t offset = plane.target + element_offset(all.target, o, all.out, all.by_out);
    int place = bid.exists() ? bid.winner(all.nan) : -1;

    if (all.nan == POOLGRAD_NAN_LEADING && place >= 0)
        place = leading_or(&all, x, o, place);
    if (memory.target) {
        const Real value = place < 0
                               ? (Real)-CUDART_INF
                               : widen(x[element_offset(all.source, place, all.in, all.by_in)]);

        store((T *)memory.target + offset, value, (Real)all.alpha, (Real)all.beta);
    }
    if (memory.indices_out)
        ((Index *)memory.indices_out)[offset] = place < 0 ? (Index)-1 : (Index)(plane.base + place);
}

template <typename T, typename Index>
__device__ static void plane_maximum(const pgi_cuda_plane &all, const pgi_cuda_memory &memory)
{
    typedef pgi_bid<T> Bid;
    typedef typename Bid::Key Key;
    extern __shared__ char shared[];
    const int members = all.members, lanes = (int)blockDim.x / members;
    const int lane = (int)threadIdx.x / members, member = (int)threadIdx.x - lane * members;
    const pgi_member plane = member_of(all, member);
    Key *keys = (Key *)shared, *column_keys = keys + members * all.place_pitch;
    uint16_t *column_places = (uint16_t *)(column_keys + members * all.column_pitch);
    uint16_t *row_places = column_places + members * all.column_pitch;
    const int here = member * all.place_pitch, there = member * all.column_pitch;
    const pgi_bids<Bid> x = {keys + here, NULL};
    const pgi_bids<Bid> columns = {column_keys + there, column_places + there};
    const pgi_bids<Bid> rows = {keys + here, row_places + here}; // in place of x
    const T *source = (const T *)memory.source + plane.source;
    const int slices = all.in[0];
    const auto of = [](const pgi_bids<Bid> &bids) { return [=](int i) { return bids.at(i); }; };
    const auto to = [](const pgi_bids<Bid> &bids) {
        return [=](int i, const Bid &bid) { bids.put(i, bid); };
    };
    const auto end = [&](int o, const Bid &bid) {
        if (plane.exists)
            award<T, Index>(all, memory, plane, o, bid);
    };

    if (plane.exists)
        for (int i = lane; i < all.places; i += lanes)
            x.put(i, bid_of(source[element_offset(all.source, i, all.in, all.by_in)], i, all.nan));
    __syncthreads();
    if (all.last == 2) {
        contest(all, 2, slices * all.in[1], lane, lanes, of(x), end);
        return;
    }
    contest(all, 2, slices * all.in[1], lane, lanes, of(x), to(columns));
    if (all.last == 1) {
        contest(all, 1, slices, lane, lanes, of(columns), end);
        return;
    }
    contest(all, 1, slices, lane, lanes, of(columns), to(rows));
    contest(all, 0, 1, lane, lanes, of(rows), end);
}

#define MAXIMUM(width, index, suffix, type)                                                        \
    extern "C" __global__ void __launch_bounds__(256) pgi_plane_maximum_##width##_##suffix(        \
        const __grid_constant__ pgi_cuda_plane all, const pgi_cuda_memory memory)                  \
    {                                                                                              \
        plane_maximum<type, index>(all, memory);                                                   \
    }

#define MAXIMUM_TYPE(suffix, type)                                                                 \
    MAXIMUM(64, int64_t, suffix, type)                                                             \
    MAXIMUM(32, uint32_t, suffix, type)                                                            \
    MAXIMUM(16, uint16_t, suffix, type)

MAXIMUM_TYPE(f32, float)
MAXIMUM_TYPE(f64, double)
MAXIMUM_TYPE(f16, pgi_f16)
MAXIMUM_TYPE(bf16, pgi_bf16)
