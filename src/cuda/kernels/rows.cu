// SPDX-License-Identifier: MIT
// Averages of rank 1 around every position, whose rows lie one behind the other: a block copies
// some of them to shared memory. Every thread marches along a segment of a row, and puts the sums
// where the sources were. What its runs need of the segments beside its own it reads before the
// first sum is written.
#include "cuda/kernels/general.h"
#include "cuda/kernels/march.h"
#include "cuda/kernels/quotient.cuh"
#include "cuda/kernels/ring.cuh"
#include "cuda/kernels/vector.cuh"

template <typename T, int L, bool FORWARD, bool PLAIN> struct pgi_row_march {
    typedef pgi_real<T> Real;
    static constexpr int V = PGI_ROWS_VECTOR(sizeof(T)), HALF = (L - 1) / 2;

    /* Vectors beside a segment that its runs need, and elements by which that is too many: so many
     * of a vector's sums come with the vector before. */
    static constexpr int BESIDE = PGI_ROWS_BESIDE(L, sizeof(T)), LATE = BESIDE * V - HALF;
    typedef pgi_vector<T, V> Vector;

    const pgi_inverse<Real> inverse;
    const Real alpha;
    pgi_ring<Real, L> ring;
    Real before[V]; /* sums of the vector before */

    __device__ pgi_row_march(const pgi_cuda_march &all)
        : inverse(inverse_of((Real)all.divisor)), alpha(PLAIN ? 1 : (Real)all.alpha)
    {
        ring.clear();
    }

    /* Takes the next sources; returns the sums around those BESIDE vectors before. */
    __device__ Vector push(const Vector &next)
    {
        Real value[V], sum[V], made[V];
        Vector result;

#pragma unroll
        for (int i = 0; i < V; i++)
            value[i] = widen(next, i);
        if (FORWARD)
            add_zero(value);
        else
            make_terms(value, inverse, are_ordinary(next));
        ring.push(value, sum);
#pragma unroll
        for (int i = 0; i < V; i++) {
            made[i] = i < LATE ? before[i < LATE ? V - LATE + i : 0] : sum[i < LATE ? 0 : i - LATE];
            before[i] = sum[i];
        }
        if (FORWARD) {
            pgi_inverse<Real> each[V];

#pragma unroll
            for (int i = 0; i < V; i++)
                each[i] = inverse;
            make_means(made, each, inverse.high != 0);
        }
#pragma unroll
        for (int i = 0; i < V; i++)
            narrow(alpha * made[i], &result.e[i]);
        return result;
    }

    /* Along the `count` vectors of a segment, of the first or the last of a row, where nothing lies
     * beside it. */
    __device__ void march(Vector *own, int count, bool first, bool last)
    {
        Vector left[BESIDE] = {}, right[BESIDE] = {}, next;

#pragma unroll
        for (int k = 0; k < BESIDE; k++) {
            if (!first)
                left[k] = own[k - BESIDE];
            if (!last)
                right[k] = own[count + k];
        }
        __syncthreads();
        if (count == 0)
            return;
#pragma unroll
        for (int k = 0; k < BESIDE; k++)
            push(left[k]);
        next = own[0];
#pragma unroll 2
        for (int k = 0; k < count; k++) {
            const Vector now = next;

            if (k + 1 < count)
                next = own[k + 1];
            const Vector sums = push(now);

            if (k >= BESIDE)
                own[k - BESIDE] = sums;
        }
#pragma unroll
        for (int k = 0; k < BESIDE; k++)
            own[count - BESIDE + k] = push(right[k]);
    }
};

template <typename T, int L, bool FORWARD, bool PLAIN>
__device__ static void march_rows(const pgi_cuda_march &all, const pgi_cuda_memory &memory)
{
    typedef pgi_row_march<T, L, FORWARD, PLAIN> March;
    typedef typename March::Vector Vector;
    constexpr int V = March::V;
    extern __shared__ __align__(16) char shared[];
    Vector *const vectors = (Vector *)shared;
    const int64_t begin = (int64_t)blockIdx.x * all.rows;
    const int rows = (int)min((int64_t)all.rows, all.planes - begin), thread = (int)threadIdx.x;
    const int wide = all.columns / V, across = all.pitch / all.segment, x = thread % across;
    const bool here = thread < rows * across;
    const T *from = (const T *)memory.source + all.source_begin + begin * all.columns;
    T *to = (T *)memory.target + begin * all.columns;
    const auto at = [&](int i) { /* where the i-th vector lies */
                                 return i + (int)quick_quotient((unsigned)i, all.by_row) *
                                                (all.pitch - wide);
    };

    if (PLAIN || is_aligned<T, V>(from))
        for (int i = thread; i < rows * wide; i += (int)blockDim.x)
            copy_async<16>(vectors + at(i), from + i * V, true);
    else
        for (int i = thread; i < rows * all.columns; i += (int)blockDim.x)
            vectors[at(i / V)].e[i % V] = load_element(from + i);
    end_group();
    March march(all);
    await_groups<0>();
    __syncthreads();
    march.march(vectors + thread * all.segment, here ? min(all.segment, wide - x * all.segment) : 0,
                !here || x == 0, !here || x == across - 1);
    __syncthreads();
    if (PLAIN || is_aligned<T, V>(to))
        for (int i = thread; i < rows * wide; i += (int)blockDim.x)
            store_vector<true>(to + i * V, vectors[at(i)]);
    else
        for (int i = thread; i < rows * all.columns; i += (int)blockDim.x)
            to[i] = vectors[at(i / V)].e[i % V];
}

// PLAIN: vectors are aligned in memory, and results stored as they are.
#define ROWS(length, suffix, type)                                                                 \
    extern "C" __global__ void __launch_bounds__(PGI_ROWS_MOST) pgi_rows_##length##_##suffix(      \
        const __grid_constant__ pgi_cuda_march march, const pgi_cuda_memory memory)                \
    {                                                                                              \
        constexpr int V = PGI_ROWS_VECTOR(sizeof(type));                                           \
        const bool plain =                                                                         \
            march.alpha == 1 &&                                                                    \
            is_aligned<type, V>((const type *)memory.source + march.source_begin) &&               \
            is_aligned<type, V>((const type *)memory.target);                                      \
                                                                                                   \
        if (march.forward)                                                                         \
            plain ? march_rows<type, length, true, true>(march, memory)                            \
                  : march_rows<type, length, true, false>(march, memory);                          \
        else                                                                                       \
            plain ? march_rows<type, length, false, true>(march, memory)                           \
                  : march_rows<type, length, false, false>(march, memory);                         \
    }

#define ROWS_TYPES(length, rank)                                                                   \
    ROWS(length, f32, float)                                                                       \
    ROWS(length, f64, double)                                                                      \
    ROWS(length, f16, pgi_f16)                                                                     \
    ROWS(length, bf16, pgi_bf16)

PGI_MARCH_SIDES_1(ROWS_TYPES)
