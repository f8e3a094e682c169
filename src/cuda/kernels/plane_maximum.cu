// SPDX-License-Identifier: MIT
// Max pooling with large windows, forward: a plane, or a few that lie side by side, in shared
// memory. Winners are found axis by axis. The positions of an axis are lines there, with room for
// what windows have outside the plane; neighbouring threads have neighbouring lines, an odd number
// of elements apart, and leave what they find as lines of the next axis.
#include "cuda/kernels/award.cuh"
#include "cuda/kernels/step.cuh"
#include "cuda/kernels/vector.cuh"

#define RUN   PGI_PLANE_RUN
#define GROUP PGI_PLANE_GROUP

// Bids of an axis, line by line. Those of the first have their places in their order.
template <typename Bid, bool FIRST> struct pgi_lines {
    typename Bid::Key *key;
    uint16_t *place;

    __device__ pgi_lines operator+(int i) const
    {
        return {key + i, place + i};
    }

    __device__ Bid operator[](int i) const
    {
        if constexpr (sizeof(Bid) == sizeof(typename Bid::Key))
            return {key[i]};
        else
            return {key[i], FIRST ? i : place[i]};
    }

    __device__ void put(int i, const Bid &bid) const
    {
        key[i] = bid.key;
        if constexpr (sizeof(Bid) > sizeof(typename Bid::Key))
            place[i] = (uint16_t)bid.place;
    }
};

// Where a line's winners go: window o to base + o * step, in the next lines or the target's plane.
struct pgi_way {
    int base, step;
};

// All windows of an axis, of the plane whose `lanes` threads these are.
template <typename Bid, bool FIRST, typename Way, typename To>
__device__ static void contest(const pgi_cuda_plane &all, int axis, int lane, int lanes,
                               const pgi_lines<Bid, FIRST> &bids, const Way &way_of, const To &to)
{
    const int lines = all.lines[axis], out = all.out[axis], runs = all.runs[axis];
    const int tasks = lines * (runs > 0 ? runs : out);

#pragma unroll 1
    for (int task = lane; task < tasks; task += lanes) {
        const int turn = (int)quick_quotient((unsigned)task, all.by_lines[axis]);
        const int line = task - turn * lines;
        const int start = turn * (runs > 0 ? RUN : all.stride[axis]);
        const pgi_lines<Bid, FIRST> tap = bids + (line * all.line_pitch[axis] + start);
        const pgi_way way = way_of(line);
        const auto put = [&](int o, Bid bid) {
            if constexpr (FIRST && sizeof(Bid) > sizeof(typename Bid::Key))
                bid.place += line * all.in[2] - all.pad[2] + start;
            to(way.base + o * way.step, line, o, bid);
        };

        if (runs > 0) {
            Bid best[RUN];

            contest_run(tap, all.kernel[axis], best);
#pragma unroll
            for (int j = 0; j < RUN; j++)
                if (start + j < out)
                    put(start + j, best[j]);
        } else {
            Bid best = tap[0];

            for (int i = 1; i < all.kernel[axis]; i++)
                best.meet(tap[i * all.dilation[axis]]);
            put(turn, best);
        }
    }
}

// What lies outside the plane loses against everything.
template <typename Bid> __device__ static void clear(typename Bid::Key *keys, int count)
{
    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x)
        keys[i] = Bid::NONE;
    __syncthreads();
}

// GROUP neighbours in a row, or those of them that there are.
template <typename T>
__device__ static pgi_vector<T, GROUP> load_group(const T *from, int step, int count)
{
    pgi_vector<T, GROUP> values;

    if (count == GROUP && step == 1 && is_aligned<T, GROUP>(from)) {
        load_vector<true>(from, &values);
    } else {
#pragma unroll
        for (int k = 0; k < GROUP; k++)
            values.e[k] = from[min(k, count - 1) * step];
    }
    return values;
}

template <typename T>
__device__ static void load_plane(const pgi_cuda_plane &all, const T *source, int lane, int lanes,
                                  typename pgi_bid<T>::Key *keys)
{
    const int groups = (all.in[2] + GROUP - 1) / GROUP, items = all.lines[2] * groups;

#pragma unroll 1
    for (int item = lane; item < items; item += lanes) {
        const int row = (int)quick_quotient((unsigned)item, all.by_groups);
        const int column = (item - row * groups) * GROUP, count = min(GROUP, all.in[2] - column);
        const int place = row * all.in[2] + column;
        const pgi_vector<T, GROUP> values =
            load_group(source + offset_of(all.source, row, column), all.source.column, count);
        typename pgi_bid<T>::Key *const slot = keys + row * all.line_pitch[2] + all.pad[2] + column;

#pragma unroll
        for (int k = 0; k < GROUP; k++)
            if (k < count)
                slot[k] = bid_of(values.e[k], place + k, all.nan).key;
    }
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
    const int odd = all.member_pitch[0], even = all.member_pitch[1];
    Key *const keys = (Key *)shared, *const column_keys = keys + members * odd;
    uint16_t *const column_places = (uint16_t *)(column_keys + members * even);
    const pgi_lines<Bid, true> x = {keys + member * odd, NULL};
    const pgi_lines<Bid, false> columns = {column_keys + member * even,
                                           column_places + member * even};
    const pgi_lines<Bid, false> slices = {x.key, column_places + members * even + member * odd};
    const int out = all.out[2], area = all.out[1] * out;
    const auto slice_of = [&](int line, const pgi_cuda_quotient &by) {
        return all.in[0] == 1 ? 0 : (int)quick_quotient((unsigned)line, by);
    };
    const auto award_to = [&](int offset, int window, const Bid &bid) {
        int place = bid.exists() ? bid.winner(all.nan) : -1;

        if (!plane.exists)
            return;
        if (all.nan == POOLGRAD_NAN_LEADING && place >= 0)
            place = leading_or(&all, (const T *)memory.source + plane.source, window, place);
        award<T, Index>(all, memory, plane, plane.target + offset, bid, place);
    };

    clear<Bid>(keys, members * (odd + even));
    if (plane.exists)
        load_plane(all, (const T *)memory.source + plane.source, lane, lanes, x.key);
    __syncthreads();
    if (all.last == 2) {
        contest(
            all, 2, lane, lanes, x,
            [&](int line) {
                return pgi_way{offset_of(all.target, line, 0), all.target.column};
            },
            [&](int offset, int line, int o, const Bid &bid) {
                award_to(offset, line * out + o, bid);
            });
        return;
    }
    contest(
        all, 2, lane, lanes, x,
        [&](int line) {
            const int slice = slice_of(line, all.by_in[1]), pitch = all.line_pitch[1];

            return pgi_way{slice * out * pitch + line - slice * all.in[1] + all.pad[1], pitch};
        },
        [&](int i, int, int, const Bid &bid) { columns.put(i, bid); });
    __syncthreads();
    if (all.last == 1) {
        contest(
            all, 1, lane, lanes, columns,
            [&](int line) {
                const int slice = slice_of(line, all.by_out[0]);

                return pgi_way{offset_of(all.target, slice * all.out[1], line - slice * out),
                               all.target.row};
            },
            [&](int offset, int line, int o, const Bid &bid) {
                const int slice = slice_of(line, all.by_out[0]);

                award_to(offset, slice * (area - out) + line + o * out, bid);
            });
        return;
    }
    clear<Bid>(keys, members * odd);
    contest(
        all, 1, lane, lanes, columns,
        [&](int line) {
            const int slice = slice_of(line, all.by_out[0]), pitch = all.line_pitch[0];

            return pgi_way{(line - slice * out) * pitch + slice + all.pad[0], out * pitch};
        },
        [&](int i, int, int, const Bid &bid) { slices.put(i, bid); });
    __syncthreads();
    contest(
        all, 0, lane, lanes, slices,
        [&](int line) {
            const int row = (int)quick_quotient((unsigned)line, all.by_out[0]);

            return pgi_way{offset_of(all.target, row, line - row * out),
                           all.out[1] * all.target.row};
        },
        [&](int offset, int line, int o, const Bid &bid) {
            award_to(offset, line + o * area, bid);
        });
}

#define MAXIMUM(width, index, suffix, type)                                                        \
    extern "C" __global__ void __launch_bounds__(512, 2) pgi_plane_maximum_##width##_##suffix(     \
        const __grid_constant__ pgi_cuda_plane all, const pgi_cuda_memory memory)                  \
    {                                                                                              \
        admit_next_step();                                                                         \
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
