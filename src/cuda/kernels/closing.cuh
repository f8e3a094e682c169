/* SPDX-License-Identifier: MIT */
/* What closing.cu works with: keys, winners, shared memory and tasks. */
#ifndef PGI_CUDA_KERNELS_CLOSING_CUH
#define PGI_CUDA_KERNELS_CLOSING_CUH

#include "cuda/kernels/bid.cuh"
#include "cuda/kernels/closing.h"
#include "cuda/kernels/map.cuh"
#include "cuda/kernels/quotient.cuh"

constexpr int ROWS = PGI_CLOSING_SIDE;

/* Keys that differ. What is beyond lines is below all of them, and equal to none. */
template <typename Whole, Whole LEAST> struct pgi_distinct {
    typedef Whole Key;
    static constexpr bool DISTINCT = true;

    __device__ static Key none()
    {
        return LEAST;
    }
    __device__ static Key turned(Key key)
    {
        return -key;
    }
    __device__ static Key larger(Key a, Key b)
    {
        return max(a, b);
    }
};

template <typename T> struct pgi_placed : pgi_distinct<int32_t, INT32_MIN> {
    __device__ static Key of(T value, int place, int rule)
    {
        return bid_of(value, place, rule).key;
    }
};

template <> struct pgi_placed<float> : pgi_distinct<int64_t, INT64_MIN> {
    __device__ static Key of(float value, int place, int rule)
    {
        return (int64_t)bid_of(value, place, rule).key << 32 | (uint32_t)~place;
    }
};

/* Values as they are. Of a NaN and a number the latter counts as larger. */
struct pgi_plain {
    typedef float Key;
    static constexpr bool DISTINCT = false;

    __device__ static Key none()
    {
        return __int_as_float(0x7fffffff);
    }
    __device__ static Key turned(Key key)
    {
        return -key;
    }
    __device__ static Key larger(Key a, Key b)
    {
        return fmaxf(a, b);
    }
    __device__ static Key of(float value, int, int)
    {
        return value;
    }
};

/* A winner in a word, with the rows of windows, of those that reach it, that have some of its own.
 */
struct pgi_winner {
    unsigned word;

    __device__ static pgi_winner at(int member, int row, int column)
    {
        return {(unsigned)(member << 29 | row << 8 | column)};
    }
    __device__ pgi_winner with(unsigned rows) const
    {
        return {word | rows << 16};
    }
    __device__ unsigned rows() const
    {
        return word >> 16 & ((1u << ROWS) - 1);
    }
    __device__ int member() const
    {
        return (int)(word >> 29);
    }
    __device__ int row() const
    {
        return (int)(word >> 8 & 0xff);
    }
    __device__ int column() const
    {
        return (int)(word & 0xff);
    }
};

/* What shared memory holds of some planes. */
template <typename Key> struct pgi_room {
    int64_t *target; /* of planes: where their dx begins */
    int *windows;    /* of planes: those that winners have taken for theirs */
    int *with_rows;  /* how many winners have so many rows */
    int *count;      /* of winners */
    int listed;      /* winners, at a time */
    Key *key;        /* of those listed, turned round */
    pgi_winner *winner;
    Key *by_row, *by_column;

    __device__ pgi_room(const pgi_cuda_closing &all, int members)
    {
        extern __shared__ __align__(128) char shared[];

        target = (int64_t *)shared;
        windows = (int *)(target + PGI_CLOSING_MEMBERS);
        with_rows = windows + PGI_CLOSING_MEMBERS;
        count = with_rows + ROWS + 1;
        static_assert(8 * PGI_CLOSING_MEMBERS + 4 * (PGI_CLOSING_MEMBERS + ROWS + 2) + 16 <=
                      PGI_CLOSING_FIXED); /* the engine's barriers, too */
        listed = (int)(all.list_room / (sizeof(Key) + sizeof(pgi_winner)));
        key = (Key *)(shared + PGI_CLOSING_FIXED);
        winner = (pgi_winner *)(key + listed);
        by_row = (Key *)(shared + PGI_CLOSING_FIXED + all.list_room);
        by_column = by_row + members * all.row_room;
    }

    __device__ void reset() const
    {
        if (threadIdx.x < PGI_CLOSING_MEMBERS + ROWS + 2)
            windows[threadIdx.x] = 0;
    }
};

/* Planes that there is room for with keys of 64 bits. */
__device__ inline int half_of(const pgi_cuda_closing &all)
{
    return max(all.members / 2, 1);
}

/* In which halves of a block's planes windows were found to be of two places, or of none: a bit
 * each. Called by all threads. */
__device__ inline unsigned find_doubtful(const pgi_cuda_closing &all, unsigned block)
{
    const pgi_room<float> room(all, all.members);
    unsigned halves = 0;

    for (int member = 0; member < all.members; member++)
        if (block * (unsigned)all.members + (unsigned)member < all.planes &&
            room.windows[member] != all.places)
            halves |= 1u << member / half_of(all);
    __syncthreads();
    return halves;
}

/* What the copy engine does for a block that has planes side by side, of one image at a time: it
 * brings x to where columns will be, dy to a stage of its own, and clears dx. */
template <typename T> struct pgi_engine {
    static constexpr int PLACE = PGI_CLOSING_MEMBERS * (int)sizeof(T);

    const pgi_cuda_closing &all;
    const pgi_cuda_maps &maps;
    pgi_arrival of_x, of_dy;
    T *x, *dy;
    uint4 *zeros;

    __device__ pgi_engine(const pgi_cuda_closing &all, const pgi_cuda_maps &maps)
        : all(all), maps(maps), x((T *)pgi_room<int32_t>(all, all.members).by_column)
    {
        extern __shared__ __align__(128) char shared[];

        of_x.barrier = (uint64_t *)(shared + PGI_CLOSING_FIXED) - 2;
        of_dy.barrier = of_x.barrier + 1;
        dy = (T *)(shared + all.stage);
        zeros = (uint4 *)(shared + all.zeros);
    }

    /* By all threads, before a barrier of the block. */
    __device__ void prepare() const
    {
        if (threadIdx.x == 0) {
            of_x.begin();
            of_dy.begin();
        }
        for (int i = (int)threadIdx.x; i < all.columns * PLACE / 16; i += (int)blockDim.x)
            zeros[i] = uint4{0, 0, 0, 0};
        hand_over();
    }

    /* By all threads, behind a barrier before which they have handed over columns. */
    __device__ void fetch_x(unsigned block) const
    {
        if (threadIdx.x == 0 && block < all.blocks)
            of_x.fetch(x, maps.x, channel(block), batch(block), PLACE * all.places);
    }

    /* By all threads, behind a barrier before which they have handed over dy; a thread of every
     * warp sends zeros. */
    __device__ void start(unsigned block) const
    {
        const int warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32;

        if (threadIdx.x == 0)
            of_dy.fetch(dy, maps.dy, channel(block), batch(block), PLACE * all.places);
        if (threadIdx.x % 32 == 0)
            for (int row = warp; row < all.rows; row += warps)
                send_row(maps.dx, zeros, channel(block), row, batch(block));
    }

    /* dy is there, and dx cleared, behind a barrier. */
    __device__ void await()
    {
        of_dy.await();
        await_sent();
    }

  private:
    __device__ int batch(unsigned block) const
    {
        return (int)(block * PGI_CLOSING_MEMBERS / all.channels);
    }
    __device__ int channel(unsigned block) const
    {
        return (int)(block * PGI_CLOSING_MEMBERS % all.channels);
    }
};

/* What a thread has of a plane: a run of a line. The last run of a line may begin before the one
 * before it ends. */
struct pgi_task {
    int member, line, begin, overlap;
    int number; /* among those of the plane */
    bool exists;
};

/* ACROSS: lanes have planes side by side; otherwise lines. */
template <bool ACROSS, int RUN>
__device__ inline pgi_task task_of(int lines, const pgi_cuda_quotient &by_lines, int extent,
                                   int members)
{
    const int thread = (int)threadIdx.x, shift = __ffs(members) - 1;
    const int item = ACROSS ? thread >> shift : thread;
    const int outer = (int)quick_quotient((unsigned)item, by_lines), line = item - outer * lines;
    const int run = ACROSS ? outer : outer >> shift, begin = min(run * RUN, extent - RUN);

    return {(ACROSS ? thread : outer) & (members - 1),
            line,
            begin,
            run * RUN - begin,
            run * lines + line,
            run * RUN < extent};
}

#endif
