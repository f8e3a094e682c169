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
    const auto tap = [&](int at) {
        return from(origin + min(max(at, 0), in - 1) * line.inner);
    };
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
    const int rest = (int)quick_quotient((unsigned)i, line.by_inner), within = i - rest * line.inner;
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

// All bids of an axis, of all planes: `from` and `to` are told which one, and of which plane.
template <typename From, typename To>
__device__ static void contest(const pgi_cuda_plane &all, int axis, int befores, const From &from,
                               const To &to)
{
    const pgi_line line = {axis, axis == 2 ? 1 : axis == 1 ? all.out[2] : all.out[1] * all.out[2],
                           axis == 2   ? pgi_cuda_quotient{1u << 30, 0}
                           : axis == 1 ? all.by_out[0]
                                       : all.by_area};
    const int tasks = befores * line.inner * (all.runs[axis] ? all.runs[axis] : all.out[axis]);
    const int member = (int)threadIdx.x % all.members;
    const auto source = [&](int i) { return from(member, i); };
    const auto target = [&](int i, decltype(from(0, 0)) bid) { to(member, i, bid); };

    for (int task = (int)threadIdx.x / all.members; task < tasks;
         task += (int)blockDim.x / all.members) {
        if (all.runs[axis])
            contest_run(all, line, task, source, target);
        else
            contest_one(all, line, task, source, target);
    }
    __syncthreads();
}

// The first tap of window o that lies inside, as a place; there is one.
__device__ static int first_place(const pgi_cuda_plane &all, int o)
{
    const pgi_spot window = spot_of(o, all.out, all.by_out);
    int place = 0;

    for (int k = 0; k < 3; k++) {
        const int start = window.at[k] * all.stride[k] - all.pad[k];
        const int skipped = start < 0 ? (-start + all.dilation[k] - 1) / all.dilation[k] : 0;

        place = place * all.in[k] + start + skipped * all.dilation[k];
    }
    return place;
}

// The end of a contest: what is wanted of window o.
template <typename T, typename Index>
__device__ static void award(const pgi_cuda_plane &all, const pgi_cuda_memory &memory,
                             const pgi_member &plane, int o, const pgi_bid<T> &bid)
{
    typedef pgi_real<T> Real;
    const T *x = (const T *)memory.source + plane.source;
    const int64_t offset = plane.target + element_offset(all.target, o, all.out, all.by_out);
    const auto value_at = [&](int place) {
        return widen(x[element_offset(all.source, place, all.in, all.by_in)]);
    };
    int place = bid.exists() ? bid.winner(all.nan) : -1;

    if (all.nan == POOLGRAD_NAN_LEADING && place >= 0) {
        const int leading = first_place(all, o);
        const Real value = value_at(leading);

        if (value != value)
            place = leading;
    }
    if (memory.target)
        store((T *)memory.target + offset, place < 0 ? (Real)-CUDART_INF : value_at(place),
              (Real)all.alpha, (Real)all.beta);
    if (memory.indices_out)
        ((Index *)memory.indices_out)[offset] =
            place < 0 ? (Index)-1 : (Index)(plane.base + place);
}

template <typename T, typename Index>
__device__ static void plane_maximum(const pgi_cuda_plane &all, const pgi_cuda_memory &memory)
{
    typedef pgi_bid<T> Bid;
    typedef typename Bid::Key Key;
    extern __shared__ char shared[];
    Key *keys = (Key *)shared;
    uint16_t *places =
        (uint16_t *)(keys + all.members * (all.place_pitch + all.column_pitch));
    const pgi_bids<Bid> x = {keys, NULL};
    const pgi_bids<Bid> columns = {keys + all.members * all.place_pitch, places};
    const pgi_bids<Bid> rows = {keys, places + all.members * all.column_pitch}; // in place of x
    const int member = (int)threadIdx.x % all.members;
    const pgi_member plane = member_of(all, member);
    const T *from = (const T *)memory.source + plane.source;
    const auto held = [](const pgi_bids<Bid> &bids, int pitch) {
        return [=](int m, int i) { return bids.from(m * pitch).at(i); };
    };
    const auto kept = [](const pgi_bids<Bid> &bids, int pitch) {
        return [=](int m, int i, const Bid &bid) { bids.from(m * pitch).put(i, bid); };
    };
    const auto end = [&](int, int o, const Bid &bid) {
        if (plane.exists)
            award<T, Index>(all, memory, plane, o, bid);
    };

    for (int i = (int)threadIdx.x / all.members; i < all.places;
         i += (int)blockDim.x / all.members)
        if (plane.exists)
            x.from(member * all.place_pitch)
                .put(i, bid_of(from[element_offset(all.source, i, all.in, all.by_in)], i, all.nan));
    __syncthreads();
    if (all.last == 2) {
        contest(all, 2, all.in[0] * all.in[1], held(x, all.place_pitch), end);
        return;
    }
    contest(all, 2, all.in[0] * all.in[1], held(x, all.place_pitch),
            kept(columns, all.column_pitch));
    if (all.last == 1) {
        contest(all, 1, all.in[0], held(columns, all.column_pitch), end);
        return;
    }
    contest(all, 1, all.in[0], held(columns, all.column_pitch), kept(rows, all.place_pitch));
    contest(all, 0, 1, held(rows, all.place_pitch), end);
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
