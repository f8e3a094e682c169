// SPDX-License-Identifier: MIT
// Averages of rank 3 over windows of equal sides, stride 1, both ways, with few channels side by
// side. A block marches along H with a tile of DEEP layers of D and some columns of W, whose
// channels are neighbours; sources are copied to shared memory ahead of time. A thread has a column
// of all layers: it divides the sources, sums them along D, and has the sums of the last L rows
// from rings in registers, one for every layer. Unlike march's, they are not of sources that only
// neighbours need, so that a tile can be wide, which is what few channels in one row need. Sums of
// H go to shared memory, where a thread sums some places of a channel along W; what it makes is
// put together there, to be stored by whole vectors.
//
// All stages work at the same time, each on the batch of rows that the one before it had the last
// time: so there is one barrier for a batch.
#include "cuda/kernels/general.h"
#include "cuda/kernels/layers.h"
#include "cuda/kernels/ring.cuh"
#include "cuda/kernels/vector.cuh"

template <typename T, int L> struct pgi_layers {
    static constexpr int THREADS = PGI_LAYERS_THREADS, DEEP = PGI_LAYERS_DEEP;
    static constexpr int P = PGI_LAYERS_BATCH, SOURCES = PGI_LAYERS_SOURCES(L);
    static constexpr int PLACES = PGI_LAYERS_PLACES, PITCH = PGI_LAYERS_PITCH;
    static constexpr int AHEAD =
        (L - 1 + P - 1) / P * P; // rows of sources before the first targets

    // Of a batch.
    static constexpr int FETCHED = P * SOURCES * THREADS, SUMS = P * DEEP * PITCH;
    static constexpr int MADE = P * DEEP * THREADS;

    // Pieces are fetched and stored by threads in rows; rows that all of them have at once.
    static constexpr int EACH = PGI_LAYERS_FETCHED, FETCHERS = THREADS / EACH;
    static constexpr int WIDE = PGI_LAYERS_STORED(sizeof(T)), STORERS = THREADS / WIDE;
    static constexpr int ITEMS = (P * DEEP + PLACES - 1) / PLACES; // that a thread sums along W

    const pgi_cuda_layers &all;
    const int thread = (int)threadIdx.x;
    const float alpha;
    const pgi_inverse<float> inverse;
    bool aligned_sources, aligned_targets;

    T *fetched, *made;
    float *sums;
    pgi_ring<float, L> ring[DEEP];

    const T *source; // its piece, or element, of the first layer, in the row that is fetched next
    T *target;       // the same of targets
    int layer;       // the first of the tile's sources
    bool fetches;
    int stored_layers, stored; // of the tile; columns of them, or none that it stores
    int item[ITEMS];           // where its sums begin, and above that where they go; or < 0

    __device__ pgi_layers(const pgi_cuda_layers &layers, const pgi_cuda_memory &memory,
                          char *shared)
        : all(layers), alpha((float)layers.alpha), inverse(inverse_of((float)layers.divisor))
    {
        aligned_sources =
            all.pieces && is_aligned<T, EACH>((const T *)memory.source + all.source_begin);
        aligned_targets = all.vectors && is_aligned<T, WIDE>((const T *)memory.target);
        fetched = (T *)shared;
        sums = (float *)(shared + PGI_LAYERS_FETCHED_BYTES(L, sizeof(T)));
        made = (T *)((char *)sums + PGI_LAYERS_SUMS_BYTES);
    }

    // Finds out what is where in a tile.
    __device__ void enter(const T *sources, T *targets, int d_tile, int w_tile)
    {
        const int column = w_tile * all.columns;
        const int at = aligned_sources ? thread % FETCHERS * EACH : thread;
        const int cell = column + all.w.shift * all.lanes - all.lead + at;
        const int place = cell < 0 ? -1 : cell / all.lanes;
        const int to = aligned_targets ? thread % STORERS * WIDE : thread;
        const int groups = all.columns / (PLACES * all.lanes);

        layer = d_tile * DEEP + all.d.shift;
        fetches = place >= 0 && place < all.w.sources && at < all.lead + all.sources;
        source = sources + layer * all.d.source_stride + place * all.w.source_stride + cell -
                 place * all.lanes;
        stored = to < min(all.columns, all.w.targets * all.lanes - column);
        stored_layers = stored ? min(DEEP, all.d.targets - d_tile * DEEP) : 0;
        target = targets + d_tile * DEEP * all.d.target_stride +
                 (column + to) / all.lanes * all.w.target_stride + (column + to) % all.lanes;
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            const int n = thread + k * THREADS, group = n / all.low % groups;
            const int row = n / all.low / groups % (P * DEEP);
            const int lane = n / all.low / groups / (P * DEEP) * all.low + n % all.low;
            const int from = group * PLACES * all.lanes + lane;

            item[k] = lane < all.lanes ? from + row * PITCH + ((from + row * THREADS) << 16) : -1;
        }
    }

    // Starts fetching the sources of a batch of rows; 0 where there are none.
    __device__ void fetch(int row, T *into)
    {
        if (aligned_sources) {
            constexpr int AT_ONCE = THREADS / FETCHERS;
            const int first = thread / FETCHERS;

#pragma unroll
            for (int k = 0; k < SOURCES; k += AT_ONCE) {
                const int z = k + first;
                const bool here = fetches && (unsigned)(layer + z) < (unsigned)all.d.sources;
                const T *from = source + z * all.d.source_stride;

                if (k + AT_ONCE > SOURCES && z >= SOURCES)
                    break;
#pragma unroll
                for (int p = 0; p < P; p++) {
                    copy_async<EACH * sizeof(T)>(
                        into + (p * SOURCES + z) * THREADS + thread % FETCHERS * EACH, from,
                        here && (unsigned)(row + p) < (unsigned)all.h.sources);
                    from += all.h.source_stride;
                }
            }
        } else {
#pragma unroll
            for (int p = 0; p < P; p++)
#pragma unroll
                for (int z = 0; z < SOURCES; z++)
                    copy_element(into + (p * SOURCES + z) * THREADS + thread,
                                 source + z * all.d.source_stride + p * all.h.source_stride,
                                 fetches && (unsigned)(layer + z) < (unsigned)all.d.sources &&
                                     (unsigned)(row + p) < (unsigned)all.h.sources);
        }
        source += P * all.h.source_stride;
    }

    // Sums along D and H of a batch.
    __device__ void sum_columns(const T *from, float *into)
    {
        float sum[P][DEEP];

        if (thread >= all.sources)
            return;
        from += all.lead + thread;
#pragma unroll
        for (int p = 0; p < P; p++) {
            T read[SOURCES];
            float value[SOURCES];

#pragma unroll
            for (int z = 0; z < SOURCES; z++) {
                read[z] = from[(p * SOURCES + z) * THREADS];
                value[z] = widen(read[z]);
            }
            if (all.forward)
                add_zero(value);
            else
                make_terms(value, inverse, are_ordinary(read));
            sum_runs<L, DEEP>(value, sum[p]);
        }
#pragma unroll
        for (int z = 0; z < DEEP; z++) {
            float column[P], run[P];

#pragma unroll
            for (int p = 0; p < P; p++)
                column[p] = sum[p][z];
            ring[z].push(column, run);
#pragma unroll
            for (int p = 0; p < P; p++)
                into[(p * DEEP + z) * PITCH + thread] = run[p];
        }
    }

    // Sums along W of a batch, as elements of the target.
    __device__ void sum_places(const float *from, T *into) const
    {
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            const float *at = from + (item[k] & 0xffff);
            T *to = into + (item[k] >> 16);
            float value[PLACES + L - 1], sum[PLACES];

            if (item[k] < 0)
                break;
#pragma unroll
            for (int i = 0; i < PLACES + L - 1; i++)
                value[i] = at[i * all.lanes];
            sum_runs<L, PLACES>(value, sum);
            if (all.forward) {
                pgi_inverse<float> by[PLACES];

#pragma unroll
                for (int i = 0; i < PLACES; i++)
                    by[i] = inverse;
                make_means(sum, by, inverse.high != 0);
            }
#pragma unroll
            for (int i = 0; i < PLACES; i++)
                narrow(alpha * sum[i], to + i * all.lanes);
        }
    }

    // The rows of a batch that there are.
    __device__ void store(const T *from, int rows)
    {
        if (aligned_targets) {
            constexpr int AT_ONCE = THREADS / STORERS;

#pragma unroll
            for (int k = 0; k < P * DEEP; k += AT_ONCE) {
                const int n = k + thread / STORERS, p = n / DEEP, z = n % DEEP;

                if (p < rows && z < stored_layers)
                    store_vector<true>(target + p * all.h.target_stride + z * all.d.target_stride,
                                       *(const pgi_vector<T, WIDE> *)(from + n * THREADS +
                                                                      thread % STORERS * WIDE));
            }
        } else {
#pragma unroll
            for (int n = 0; n < P * DEEP; n++)
                if (n / DEEP < rows && n % DEEP < stored_layers)
                    target[n / DEEP * all.h.target_stride + n % DEEP * all.d.target_stride] =
                        from[n * THREADS + thread];
        }
        target += P * all.h.target_stride;
    }

    // Targets [begin, end) of the tile.
    __device__ void march(int begin, int end)
    {
        const int first = begin + all.h.shift + L - 1 - AHEAD;
        const int batches = (end - begin + AHEAD + P - 1) / P, skipped = AHEAD / P;

        source += first * all.h.source_stride;
        target += begin * all.h.target_stride;
#pragma unroll
        for (int z = 0; z < DEEP; z++)
            ring[z].clear();
        fetch(first, fetched);
        end_group();
        for (int batch = 0; batch < batches + 2; batch++) {
            const int now = batch & 1, summed = batch - 1 - skipped, stores = summed - 1;

            await_groups<0>();
            __syncthreads();
            if (batch + 1 < batches)
                fetch(first + (batch + 1) * P, fetched + (1 - now) * FETCHED);
            end_group();
            if (stores >= 0)
                store(made + (1 - now) * MADE, end - begin - stores * P);
            if (batch < batches)
                sum_columns(fetched + now * FETCHED, sums + now * SUMS);
            if (summed >= 0 && batch <= batches)
                sum_places(sums + (1 - now) * SUMS, made + now * MADE);
        }
    }

  private:
    __device__ static void copy_element(T *into, const T *from, bool here)
    {
        if constexpr (sizeof(T) >= 4)
            copy_async<sizeof(T)>(into, from, here);
        else
            *into = here ? load_element(from) : T{};
    }
};

template <typename T, int L>
__device__ inline void march_layers(const pgi_cuda_layers &all, const pgi_cuda_memory &memory)
{
    extern __shared__ __align__(16) char shared[];
    pgi_layers<T, L> block(all, memory, shared);
    unsigned number = blockIdx.x;
    const int d_tile = (int)(number % (unsigned)all.d_tiles);
    const int w_tile = (int)((number /= (unsigned)all.d_tiles) % (unsigned)all.w_tiles);
    const int begin =
        (int)((number /= (unsigned)all.w_tiles) % (unsigned)all.segments) * all.segment;
    const int64_t batch = number / (unsigned)all.segments;

    block.enter((const T *)memory.source + all.source_begin + batch * all.source_batch,
                (T *)memory.target + batch * all.target_batch, d_tile, w_tile);
    block.march(begin, min(begin + all.segment, all.h.targets));
}

#define LAYERS_TYPE(length, suffix, type)                                                          \
    extern "C" __global__ void __launch_bounds__(PGI_LAYERS_THREADS, 1)                            \
        pgi_layers_##length##_##suffix(const __grid_constant__ pgi_cuda_layers layers,             \
                                       const pgi_cuda_memory memory)                               \
    {                                                                                              \
        march_layers<type, length>(layers, memory);                                                \
    }

#define LAYERS(length)                                                                             \
    LAYERS_TYPE(length, f32, float)                                                                \
    LAYERS_TYPE(length, f16, pgi_f16)                                                              \
    LAYERS_TYPE(length, bf16, pgi_bf16)

PGI_LAYERS_SIDES(LAYERS)
