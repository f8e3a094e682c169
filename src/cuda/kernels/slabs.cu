// SPDX-License-Identifier: MIT
// Averages over windows of 3x3x3 around every position, both ways. A thread marches along H with V
// neighbours of a row, in a slab of planes at once: sums on D are made of what it has loaded, those
// on H of what it keeps, and for W it asks other threads. Its neighbours are places of a row, which
// lanes of a warp shuffle; or channels of one, and the threads with the places beside it in shared
// memory.
#include "cuda/kernels/threes.cuh"

// What a thread has: of which volume or image, which planes, places and channels.
template <int V, bool CHANNELS> struct pgi_slab {
    static constexpr int DEEP = PGI_SLAB_DEEP, SOURCES = DEEP + 2;
    static constexpr int SLOTS = PGI_THREES_THREADS + 2 * PGI_SLAB_LANES;
    unsigned outer;
    int plane, x, channel; // the first targets
    bool here, stores;

    __device__ pgi_slab(const pgi_cuda_threes &all)
    {
        const int halo = all.tiles > 1;
        unsigned number;
        int lane;

        if (CHANNELS) {
            const unsigned block = blockIdx.x / (unsigned)all.groups;

            number = block / (unsigned)all.tiles;
            lane = (int)threadIdx.x / all.lanes;
            x = (int)(block % (unsigned)all.tiles) * (all.places - 2 * halo) + lane - halo;
            channel = (int)(blockIdx.x % (unsigned)all.groups * (unsigned)all.lanes +
                            threadIdx.x % (unsigned)all.lanes) *
                      V;
            here = lane < all.places;
            stores = lane >= halo && lane < all.places - halo;
        } else {
            const unsigned warp = (blockIdx.x * PGI_THREES_THREADS + threadIdx.x) / 32;
            const int group = (int)threadIdx.x % 32 / all.lanes;

            number = warp / (unsigned)all.tiles * (unsigned)all.grouped + (unsigned)group;
            lane = (int)threadIdx.x % 32 % all.lanes;
            x = ((int)(warp % (unsigned)all.tiles) * (all.lanes - 2 * halo) + lane - halo) * V;
            channel = 0;
            here = group < all.grouped;
            stores = lane >= halo && lane < all.lanes - halo;
        }
        outer = number / all.slabs;
        plane = (int)(number % all.slabs) * DEEP;
        here = here && outer < all.outer.count && (unsigned)x < (unsigned)all.w.size;
        stores = stores && here;
    }

    // Whether there is the z-th plane of targets; of sources, also that before and that behind.
    __device__ bool has(const pgi_cuda_threes &all, int z) const
    {
        return (unsigned)(plane + z) < (unsigned)all.d.size;
    }

    // Where threads put what their neighbours need, in turn with the row before; at both ends, and
    // where nobody is here, are zeros.
    template <typename Real> __device__ static auto &shared_slots(int row)
    {
        __shared__ pgi_vector<Real, V> slots[2][DEEP][SLOTS];

        return slots[row & 1];
    }

    template <typename Real> __device__ static void clear_slots()
    {
        for (int i = (int)threadIdx.x; CHANNELS && i < 2 * DEEP * SLOTS; i += PGI_THREES_THREADS)
            shared_slots<Real>(i & 1)[i / 2 / SLOTS][i / 2 % SLOTS] = {};
        __syncthreads();
    }

    // Sums along rows, of all planes.
    template <typename Real>
    __device__ void sum_rows(const pgi_cuda_threes &all, int row, Real (&sum)[DEEP][V]) const
    {
        if constexpr (CHANNELS) {
            auto &slots = shared_slots<Real>(row);
            const int slot = PGI_SLAB_LANES + (int)threadIdx.x;

#pragma unroll
            for (int z = 0; z < DEEP; z++)
                slots[z][slot] = *(const pgi_vector<Real, V> *)&sum[z];
            __syncthreads(); // one for a row: all are past reading these when the next is over
#pragma unroll
            for (int z = 0; z < DEEP; z++) {
                const auto before = slots[z][slot - all.lanes], after = slots[z][slot + all.lanes];

#pragma unroll
                for (int i = 0; i < V; i++)
                    sum[z][i] = (before.e[i] + sum[z][i]) + after.e[i];
            }
        } else {
#pragma unroll
            for (int z = 0; z < DEEP; z++)
                sum_threes(sum[z], x == 0, x + V >= all.w.size);
        }
    }
};

// One row at a time, AHEAD others fetched; where there are registers for two, the loop is unrolled
// for them: moving what has not come would wait for it. ALIKE: all windows have one divisor, a
// usual one.
template <typename T, int V, bool CHANNELS, bool FORWARD, bool PLAIN, bool ALIKE>
__device__ static void march_slab(const pgi_cuda_threes &all, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    typedef pgi_slab<V, CHANNELS> Slab;
    constexpr int DEEP = Slab::DEEP, SOURCES = Slab::SOURCES, N = CHANNELS ? 1 : V;
    constexpr int AHEAD = sizeof(T) == 2 && ALIKE ? 2 : 1;
    const Slab slab(all);
    const int begin = (int)blockIdx.y * all.segment, end = min(begin + all.segment, all.h.size);
    const Real alpha = PLAIN ? 1 : (Real)all.alpha, beta = PLAIN ? 0 : (Real)all.beta;
    const bool aligned = PLAIN || are_aligned<T, V>(all, memory);
    const T *from = (const T *)memory.source;
    T *to = (T *)memory.target;
    pgi_threes_divisors<Real, N> divisors(all, all.w, slab.x);
    const pgi_inverse<Real> only = divisors.inverses[1];
    pgi_ring<Real, 3> ring[DEEP][V];
    pgi_vector<T, V> next[AHEAD][SOURCES];
    const auto fetch = [&](pgi_vector<T, V>(&into)[SOURCES], int row) {
        const bool inside = slab.here && (unsigned)row < (unsigned)all.h.size && row <= end;

#pragma unroll
        for (int z = 0; z < SOURCES; z++) {
            into[z] = {};
            load_vector_if(inside && slab.has(all, z - 1), from + z * all.d.source_stride, &into[z],
                           aligned);
        }
        from += all.h.source_stride;
    };

    if (slab.here) {
        from += source_of(all.outer, slab.outer) + slab.channel + slab.x * all.w.source_stride +
                (begin - 1) * all.h.source_stride + (slab.plane - 1) * all.d.source_stride;
        to += target_of(all.outer, slab.outer) + slab.channel + slab.x * all.w.target_stride +
              (begin - 2) * all.h.target_stride + slab.plane * all.d.target_stride;
    }
#pragma unroll
    for (int z = 0; z < DEEP; z++)
#pragma unroll
        for (int i = 0; i < V; i++)
            ring[z][i].clear();
    Slab::template clear_slots<Real>();
#pragma unroll
    for (int k = 0; k < AHEAD; k++)
        fetch(next[k], begin - 1 + k);
#pragma unroll AHEAD
    for (int row = begin - 1; row <= end; row++) {
        const bool ordinary = FORWARD || are_ordinary(next[0]);
        const int target = row - 1;
        Real value[SOURCES][V], sum[DEEP][V];
        Real(&values)[SOURCES * V] = *(Real(*)[SOURCES * V]) value;

#pragma unroll
        for (int z = 0; z < SOURCES; z++) {
#pragma unroll
            for (int i = 0; i < V; i++)
                value[z][i] = widen(next[0][z], i);
#pragma unroll
            for (int k = 1; k < AHEAD; k++)
                next[k - 1][z] = next[k][z];
        }
        fetch(next[AHEAD - 1], row + AHEAD);
        if (FORWARD)
            add_zero(values);
        else if (ALIKE)
            make_terms(values, only, ordinary);
#pragma unroll
        for (int z = 0; z < SOURCES && !FORWARD && !ALIKE; z++) {
            pgi_inverse<Real> each[V];

            divisors.find(count_of(all.d, slab.plane - 1 + z) * count_of(all.h, row));
#pragma unroll
            for (int i = 0; i < V; i++)
                each[i] = divisors.inverse[CHANNELS ? 0 : i];
            make_terms(value[z], each, ordinary && divisors.usual());
        }
#pragma unroll
        for (int i = 0; i < V; i++) {
            Real column[SOURCES], deep[DEEP];

#pragma unroll
            for (int z = 0; z < SOURCES; z++)
                column[z] = value[z][i];
            sum_runs<3, DEEP>(column, deep);
#pragma unroll
            for (int z = 0; z < DEEP; z++) {
                const Real now[1] = {deep[z]};
                Real three[1];

                ring[z][i].push(now, three);
                sum[z][i] = three[0];
            }
        }
        slab.sum_rows(all, row, sum);
#pragma unroll
        for (int z = 0; z < DEEP; z++) {
            if (FORWARD) {
                pgi_inverse<Real> each[V];

                if (!ALIKE)
                    divisors.find(count_of(all.d, slab.plane + z) * count_of(all.h, target));
#pragma unroll
                for (int i = 0; i < V; i++)
                    each[i] = ALIKE ? only : divisors.inverse[CHANNELS ? 0 : i];
                make_means(sum[z], each, ALIKE || divisors.usual());
            }
            if (slab.stores && target >= begin && target < end && slab.has(all, z))
                store_scaled(to + z * all.d.target_stride, sum[z], alpha, beta, aligned);
        }
        to += all.h.target_stride;
    }
}

template <typename T, bool CHANNELS, bool FORWARD>
__device__ static void march_slabs(const pgi_cuda_threes &all, const pgi_cuda_memory &memory)
{
    constexpr int V = PGI_SLAB_EACH(sizeof(T));
    const bool plain = all.alpha == 1 && all.beta == 0 && are_aligned<T, V>(all, memory);

    if (plain && all.divisor > 0 && all.divisor < PGI_SLAB_USUAL)
        march_slab<T, V, CHANNELS, FORWARD, true, true>(all, memory);
    else if (plain)
        march_slab<T, V, CHANNELS, FORWARD, true, false>(all, memory);
    else
        march_slab<T, V, CHANNELS, FORWARD, false, false>(all, memory);
}

#define SLABS(name, channels, suffix, type)                                                        \
    extern "C" __global__ void __launch_bounds__(PGI_THREES_THREADS, 2)                            \
        pgi_slabs_##name##_##suffix(const __grid_constant__ pgi_cuda_threes threes,                \
                                    const pgi_cuda_memory memory)                                  \
    {                                                                                              \
        if (threes.forward)                                                                        \
            march_slabs<type, channels, true>(threes, memory);                                     \
        else                                                                                       \
            march_slabs<type, channels, false>(threes, memory);                                    \
    }

#define SLABS_TYPE(suffix, type)                                                                   \
    SLABS(places, false, suffix, type)                                                             \
    SLABS(channels, true, suffix, type)

SLABS_TYPE(f32, float)
SLABS_TYPE(f64, double)
SLABS_TYPE(f16, pgi_f16)
SLABS_TYPE(bf16, pgi_bf16)
