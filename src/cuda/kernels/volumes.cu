// SPDX-License-Identifier: MIT
// Averages over windows of 3x3x3 around every position, both ways: a thread marches through a
// volume with neighbours of a row, in a band of rows, and shuffles what its neighbours need.
#include "cuda/kernels/threes.cuh"

template <typename T, int V> struct pgi_volumes_thread {
    typedef pgi_real<T> Real;
    static constexpr int R = PGI_THREES_BAND, ROWS = R + 2;

    const pgi_cuda_threes &all;
    const pgi_threes_lane own;
    const Real *reciprocals;
    const Real divisor, reciprocal; // of all windows, if they are alike
    int band;                       // its first row
    bool here, aligned;
    const T *from;
    T *to;
    pgi_ring<Real, 3> ring[ROWS][V];
    pgi_vector<T, V> next[ROWS];

    __device__ pgi_volumes_thread(const pgi_cuda_threes &threes, const pgi_cuda_memory &memory,
                                  int begin)
        : all(threes), own(threes, V), reciprocals(make_reciprocals<Real>()),
          divisor((Real)threes.divisor), reciprocal(reciprocal_of(divisor))
    {
        const unsigned volume = own.piece / (unsigned)all.bands;

        band = (int)(own.piece % (unsigned)all.bands) * R;
        here = own.there && volume < all.outer.count;
        from = (const T *)memory.source;
        to = (T *)memory.target;
        aligned = is_aligned<T, V>(from + all.outer.source_begin) && is_aligned<T, V>(to);
        if (here) {
            from += source_of(all.outer, volume) + (begin - 1) * all.d.source_stride +
                    (band - 1) * all.h.source_stride + own.x;
            to += target_of(all.outer, volume) + begin * all.d.target_stride +
                  band * all.h.target_stride + own.x;
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            next[r] = {};
#pragma unroll
            for (int i = 0; i < V; i++)
                ring[r][i].clear();
        }
    }

    // The sources of a plane; 0 where there are none.
    __device__ void fetch(bool inside)
    {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            next[r] = {};
            if (inside && here && (unsigned)(band - 1 + r) < (unsigned)all.h.size) {
                if (aligned)
                    load_vector<true>(from + r * all.h.source_stride, &next[r]);
                else
                    load_vector<false>(from + r * all.h.source_stride, &next[r]);
            }
        }
        from += all.d.source_stride;
    }

    // Divides places of a row, of a plane whose windows count so much on D.
    __device__ void divide(Real (&value)[V], int row, int planes_count, Real zero) const
    {
        const int count = count_of(all.h, row) * planes_count;
        Real by[V], inverse[V];

#pragma unroll
        for (int i = 0; i < V; i++) {
            by[i] = divisor;
            inverse[i] = reciprocal;
            if (all.divisor == 0) {
                by[i] = (Real)(count * count_of(all.w, own.x + i));
                inverse[i] = reciprocals[count * count_of(all.w, own.x + i)];
            }
        }
        divide_all(value, by, inverse, all.divisor == 0 || reciprocal != 0, zero);
    }

    // The terms of a row, from what was fetched.
    __device__ void make_row(int r, int planes_count, Real (&value)[V]) const
    {
#pragma unroll
        for (int i = 0; i < V; i++)
            value[i] = widen(next[r].e[i]);
        if (!all.forward) {
            divide(value, band - 1 + r, planes_count, (Real)0);
        } else {
#pragma unroll
            for (int i = 0; i < V; i++)
                value[i] = value[i] + 0;
        }
    }

    // The targets of a plane, of which sums over D are at hand.
    __device__ void store_plane(const Real (&sum)[ROWS][V], int planes_count)
    {
        Real made[R][V];

#pragma unroll
        for (int i = 0; i < V; i++) {
            Real column[ROWS], down[R];

#pragma unroll
            for (int r = 0; r < ROWS; r++)
                column[r] = sum[r][i];
            sum_runs<3, R>(column, down);
#pragma unroll
            for (int r = 0; r < R; r++)
                made[r][i] = down[r];
        }
#pragma unroll
        for (int r = 0; r < R; r++) {
            T *row = to + r * all.h.target_stride;

            sum_threes(made[r], own.x == 0, own.x + V >= all.w.size);
            if (all.forward)
                divide(made[r], band + r, planes_count, (Real)-0.0);
            if (!here || !own.stores || band + r >= all.h.size)
                continue;
            if (aligned)
                store_scaled<true>(row, made[r], (Real)all.alpha, (Real)all.beta);
            else
                store_scaled<false>(row, made[r], (Real)all.alpha, (Real)all.beta);
        }
        to += all.d.target_stride;
    }
};

template <typename T, int V>
__device__ static void march_volumes(const pgi_cuda_threes &all, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    constexpr int ROWS = PGI_THREES_BAND + 2;
    const int begin = (int)blockIdx.y * all.segment, end = min(begin + all.segment, all.d.size);
    pgi_volumes_thread<T, V> thread(all, memory, begin);

    // a plane is fetched, and worked on when the next is under way; then it completes the target
    // before
    for (int plane = begin - 2; plane <= end; plane++) {
        const bool fetched = plane >= begin - 1;
        Real value[ROWS][V];

        if (fetched) {
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                thread.make_row(r, count_of(all.d, plane), value[r]);
        }
        thread.fetch((unsigned)(plane + 1) < (unsigned)all.d.size && plane < end);
        if (!fetched)
            continue;
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int i = 0; i < V; i++) {
                const Real now[1] = {value[r][i]};
                Real sum[1];

                thread.ring[r][i].push(now, sum);
                value[r][i] = sum[0];
            }
        if (plane > begin)
            thread.store_plane(value, count_of(all.d, plane - 1));
    }
}

#define VOLUMES(suffix, type)                                                                      \
    extern "C" __global__ void __launch_bounds__(PGI_THREES_THREADS, 2)                            \
        pgi_threes_volumes_##suffix(const __grid_constant__ pgi_cuda_threes threes,                \
                                    const pgi_cuda_memory memory)                                  \
    {                                                                                              \
        march_volumes<type, PGI_THREES_IN_BAND(sizeof(type))>(threes, memory);                     \
    }

VOLUMES(f32, float)
VOLUMES(f64, double)
VOLUMES(f16, pgi_f16)
VOLUMES(bf16, pgi_bf16)
