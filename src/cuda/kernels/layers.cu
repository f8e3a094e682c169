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
    static constexpr int COLUMNS = PGI_LAYERS_COLUMNS, TARGETS = PGI_LAYERS_TARGETS;
    static constexpr int STAGES = PGI_LAYERS_STAGES;
    static constexpr int P = PGI_LAYERS_BATCH, SOURCES = PGI_LAYERS_SOURCES(L);
    static constexpr int PLACES = PGI_LAYERS_PLACES, PITCH = PGI_LAYERS_PITCH;
    static constexpr int MADE_PITCH = PGI_LAYERS_MADE_PITCH(sizeof(T));
    static constexpr int AHEAD = L - 1; // rows of sources before the first targets

    // Of a batch.
    static constexpr int FETCHED = P * SOURCES * COLUMNS, SUMS = P * DEEP * PITCH;
    static constexpr int MADE = P * DEEP * MADE_PITCH;

    // Pieces are fetched and stored by threads in rows, so many threads a row.
    static constexpr int EACH = PGI_LAYERS_FETCHED, FETCHERS = COLUMNS / EACH;
    static constexpr int WIDE = PGI_LAYERS_STORED(sizeof(T)), STORERS = TARGETS / WIDE;
    static constexpr int ITEMS = (P * DEEP + PLACES - 1) / PLACES; // that a thread sums along W

    const pgi_cuda_layers &all;
    const int thread = (int)threadIdx.x;
    const pgi_inverse<float> inverse;
    bool aligned_sources, aligned_targets;

    T *fetched, *made;
    float *sums;
    pgi_ring<float, L> ring[DEEP];

    // Its piece, or element, of the next row that is fetched, or stored, and of which layer,
    // counted from the tile's first; layers that there are.
    const T *source;
    T *target;
    int first_fetched, first_stored, layers_begin, layers_end, layers_stored;
    int column; // of the sums that it makes along H

    // Where sums of its places begin, and above that where they go; or < 0. The last warps, which
    // may have no columns, have the most of them.
    int item[ITEMS];

    __device__ pgi_layers(const pgi_cuda_layers &layers, const pgi_cuda_memory &memory,
                          char *shared)
        : all(layers), inverse(inverse_of((float)layers.divisor))
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
        const int first = w_tile * all.columns, layer = d_tile * DEEP + all.d.shift;
        const int at = aligned_sources ? thread % FETCHERS * EACH : thread;
        const int cell = first + all.w.shift * all.lanes - all.lead + at;
        const int place = cell < 0 ? -1 : cell / all.lanes;
        const int to = aligned_targets ? thread % STORERS * WIDE : thread;
        const int last_first = THREADS - 32 - thread / 32 * 32 + thread % 32; // by warps
        const bool fetches = place >= 0 && place < all.w.sources && at < all.lead + all.sources;
        const bool stores = to < min(all.columns, all.w.targets * all.lanes - first);

        first_fetched = aligned_sources ? thread / FETCHERS : 0;
        layers_begin = max(0, -layer);
        layers_end = fetches ? min(SOURCES, all.d.sources - layer) : 0;
        source = sources + (layer + first_fetched) * all.d.source_stride +
                 place * all.w.source_stride + cell - place * all.lanes;
        first_stored = aligned_targets ? thread / STORERS : 0;
        layers_stored = stores ? all.d.targets - d_tile * DEEP : 0;
        target = targets + (d_tile * DEEP + first_stored) * all.d.target_stride +
                 (first + to) / all.lanes * all.w.target_stride + (first + to) % all.lanes;
        column = thread % all.lanes * all.pitch + thread / all.lanes;
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            const int n = last_first + k * THREADS, lane = n % all.lanes;
            const int row = n / all.lanes % (P * DEEP), x = n / all.lanes / (P * DEEP) * PLACES;

            item[k] = x * all.lanes < all.columns
                          ? row * PITCH + lane * all.pitch + x +
                                ((row * MADE_PITCH + x * all.lanes + lane) << 16)
                          : -1;
        }
    }

    __device__ bool has_source(int z) const
    {
        return z >= layers_begin && z < layers_end;
    }

    // Starts fetching the sources of a batch of rows; 0 where there are none.
    __device__ void fetch(int row, T *into)
    {
        const bool there[P] = {(unsigned)row < (unsigned)all.h.sources,
                               (unsigned)row + 1 < (unsigned)all.h.sources};
        const T *from = source;

        static_assert(P == 2 && AHEAD % P == 0, "rows in whole batches");
        if (thread >= COLUMNS)
            return;
        if (aligned_sources) {
            constexpr int AT_ONCE = COLUMNS / FETCHERS;

            into += first_fetched * COLUMNS + thread % FETCHERS * EACH;
#pragma unroll
            for (int z = 0; z < SOURCES; z += AT_ONCE) {
                const bool here = has_source(z + first_fetched);

                if (z + AT_ONCE > SOURCES && z + first_fetched >= SOURCES)
                    break;
#pragma unroll
                for (int p = 0; p < P; p++)
                    copy_async<EACH * sizeof(T)>(into + (p * SOURCES + z) * COLUMNS,
                                                 from + p * all.h.source_stride, here && there[p]);
                from += AT_ONCE * all.d.source_stride;
            }
        } else {
#pragma unroll
            for (int z = 0; z < SOURCES; z++) {
#pragma unroll
                for (int p = 0; p < P; p++)
                    copy_element(into + (p * SOURCES + z) * COLUMNS + thread,
                                 from + p * all.h.source_stride, has_source(z) && there[p]);
                from += all.d.source_stride;
            }
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
                read[z] = from[(p * SOURCES + z) * COLUMNS];
                value[z] = widen(read[z]);
            }
            if (all.forward)
                add_zero(value);
            else
                make_terms(value, inverse, are_large(value) || are_ordinary(read));
            sum_runs<L, DEEP>(value, sum[p]);
        }
#pragma unroll
        for (int z = 0; z < DEEP; z++) {
            float rows[P], run[P];

#pragma unroll
            for (int p = 0; p < P; p++)
                rows[p] = sum[p][z];
            ring[z].push(rows, run);
#pragma unroll
            for (int p = 0; p < P; p++)
                into[(p * DEEP + z) * PITCH + column] = run[p];
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
            for (int i = 0; i < PLACES + L - 1; i += 4) {
                const pgi_vector<float, 4> read = *(const pgi_vector<float, 4> *)(at + i);

#pragma unroll
                for (int j = 0; j < 4 && i + j < PLACES + L - 1; j++)
                    value[i + j] = read.e[j];
            }
            sum_runs<L, PLACES>(value, sum);
            if (all.forward) {
                pgi_inverse<float> by[PLACES];

#pragma unroll
                for (int i = 0; i < PLACES; i++)
                    by[i] = inverse;
                make_means(sum, by, inverse.high != 0);
            }
            if (all.alpha != 1) {
#pragma unroll
                for (int i = 0; i < PLACES; i++)
                    sum[i] = all.alpha * sum[i];
            }
#pragma unroll
            for (int i = 0; i < PLACES; i++) {
                narrow(sum[i], to);
                to += all.lanes;
            }
        }
    }

    // The rows of a batch that there are.
    __device__ void store(const T *from, int rows)
    {
        if (thread >= TARGETS)
            return;
        if (aligned_targets) {
            constexpr int AT_ONCE = TARGETS / STORERS;
            typedef pgi_vector<T, WIDE> Piece;
            Piece piece[P * DEEP / AT_ONCE];

            from += first_stored * MADE_PITCH + thread % STORERS * WIDE;
#pragma unroll
            for (int n = 0; n < P * DEEP; n += AT_ONCE)
                piece[n / AT_ONCE] = *(const Piece *)(from + n * MADE_PITCH);
#pragma unroll
            for (int n = 0; n < P * DEEP; n += AT_ONCE)
                if (n / DEEP < rows && n % DEEP + first_stored < layers_stored)
                    store_vector<true>(target + n / DEEP * all.h.target_stride +
                                           n % DEEP * all.d.target_stride,
                                       piece[n / AT_ONCE]);
        } else {
#pragma unroll
            for (int n = 0; n < P * DEEP; n++)
                if (n / DEEP < rows && n % DEEP < layers_stored)
                    target[n / DEEP * all.h.target_stride + n % DEEP * all.d.target_stride] =
                        from[n * MADE_PITCH + thread];
        }
        target += P * all.h.target_stride;
    }

    // Targets [begin, end) of the tile, two batches in a turn, so that rings need not be moved.
    __device__ void march(int begin, int end)
    {
        const int first = begin + all.h.shift;
        const int batches = (end - begin + AHEAD + P - 1) / P, skipped = AHEAD / P;
        int stage = 0;

        source += first * all.h.source_stride;
        target += begin * all.h.target_stride;
#pragma unroll
        for (int z = 0; z < DEEP; z++)
            ring[z].clear();
#pragma unroll
        for (int late = 0; late < STAGES - 1; late++) {
            if (late < batches)
                fetch(first + late * P, fetched + late * FETCHED);
            end_group();
        }
#pragma unroll 2
        for (int batch = 0; batch < batches + 2; batch++) {
            const int now = batch & 1, summed = batch - 1 - skipped, stores = summed - 1;
            const int late = batch + STAGES - 1;

            await_groups<STAGES - 2>();
            __syncthreads();
            if (late < batches)
                fetch(first + late * P, fetched + (stage == 0 ? STAGES - 1 : stage - 1) * FETCHED);
            end_group();
            if (stores >= 0)
                store(made + (1 - now) * MADE, end - begin - stores * P);
            if (batch < batches)
                sum_columns(fetched + stage * FETCHED, sums + now * SUMS);
            if (summed >= 0 && batch <= batches)
                sum_places(sums + (1 - now) * SUMS, made + now * MADE);
            stage = stage + 1 < STAGES ? stage + 1 : 0;
        }
    }

  private:
    // Whether no value is 0 or small, which is soon said, and almost always so.
    __device__ static bool are_large(const float (&value)[SOURCES])
    {
        bool all = true;

#pragma unroll
        for (int i = 0; i < SOURCES; i++)
            all = all & !(fabsf(value[i]) < 0x1p-78f);
        return all;
    }

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
