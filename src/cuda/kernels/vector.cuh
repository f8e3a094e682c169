/* SPDX-License-Identifier: MIT */
/* Vectors of elements that lie side by side. */
#ifndef PGI_CUDA_KERNELS_VECTOR_CUH
#define PGI_CUDA_KERNELS_VECTOR_CUH

#include "cuda/kernels/element.cuh"

template <typename T, int V> struct alignas(sizeof(T) * V) pgi_vector {
    T e[V];
};

template <typename T, int V> __device__ inline bool is_aligned(const T *pointer)
{
    return (uintptr_t)pointer % (sizeof(T) * V) == 0;
}

/* The i-th of them. The compiler would take the upper of two bf16 down and up again. */
template <typename T, int V>
__device__ inline pgi_real<T> widen(const pgi_vector<T, V> &vector, int i)
{
    return widen(vector.e[i]);
}

template <int V> __device__ inline float widen(const pgi_vector<pgi_bf16, V> &vector, int i)
{
    return i % 2 ? __uint_as_float(((const unsigned *)&vector)[i / 2] & 0xffff0000)
                 : widen(vector.e[i]);
}

template <typename T, int V> __device__ inline bool are_ordinary(const pgi_vector<T, V> &vector)
{
    return are_ordinary(vector.e);
}

template <typename T, int V, int N>
__device__ inline bool are_ordinary(const pgi_vector<T, V> (&vectors)[N])
{
    bool all = true;

#pragma unroll
    for (int i = 0; i < N; i++)
        all = all & are_ordinary(vectors[i]);
    return all;
}

/* Two at a time: of words without signs, less 1 each, which makes 0 the largest, no half must be
 * too small. */
template <int V, int N>
__device__ inline bool are_ordinary(const pgi_vector<pgi_bf16, V> (&vectors)[N])
{
    if constexpr (V == 1) {
        return are_ordinary((const pgi_bf16(&)[N])vectors);
    } else {
        constexpr unsigned both = 0x10001, sizes = 0x7fff * both, least = 0x1880 - 1; /* 2^-78 */
        unsigned smallest = sizes;

#pragma unroll
        for (int i = 0; i < N * V / 2; i++)
            smallest = __viaddmin_u16x2(((const unsigned *)&vectors)[i] & sizes, ~0u, smallest);
        return (~(smallest + (0x8000 - least) * both) & 0x8000 * both) == 0;
    }
}

template <int V> __device__ inline bool are_ordinary(const pgi_vector<pgi_bf16, V> &vector)
{
    return are_ordinary((const pgi_vector<pgi_bf16, V>(&)[1])vector);
}

/* One element, of memory that nobody writes. */
__device__ inline float load_element(const float *from)
{
    return __ldg(from);
}

__device__ inline double load_element(const double *from)
{
    return __ldg(from);
}

template <typename T> __device__ inline T load_element(const T *from)
{
    return T{__ldg(&from->bits)};
}

/* The same as it lies in memory, in registers of its own: where half of one is loaded under a
 * condition the compiler moves it, and that waits until it has come. */
template <int BYTES> struct pgi_word_of {
    typedef uint32_t word;
};

template <> struct pgi_word_of<8> {
    typedef unsigned long long word;
};

template <typename T> using pgi_word = typename pgi_word_of<sizeof(T)>::word;

template <typename T> __device__ inline pgi_word<T> load_word(const T *from)
{
    if constexpr (sizeof(T) == 2)
        return __ldg((const uint16_t *)from);
    else
        return __ldg((const pgi_word<T> *)from);
}

template <typename T> __device__ inline T element_of(pgi_word<T> word)
{
    if constexpr (sizeof(T) == 2)
        return T{(uint16_t)word};
    else
        return *(const T *)&word;
}

/* V elements, at once if they are aligned. */
template <bool ALIGNED, typename T, int V>
__device__ inline void load_vector(const T *from, pgi_vector<T, V> *to)
{
    constexpr int whole = sizeof(pgi_vector<T, V>);

    if constexpr (ALIGNED && whole >= 16) {
#pragma unroll
        for (int i = 0; i < whole / 16; i++)
            ((uint4 *)to)[i] = __ldg((const uint4 *)from + i);
    } else if constexpr (ALIGNED && whole == 8) {
        *(uint2 *)to = __ldg((const uint2 *)from);
    } else if constexpr (ALIGNED && whole == 4) {
        *(unsigned *)to = __ldg((const unsigned *)from);
    } else if constexpr (ALIGNED && whole == 2) {
        *(unsigned short *)to = __ldg((const unsigned short *)from);
    } else {
#pragma unroll
        for (int i = 0; i < V; i++)
            to->e[i] = from[i];
    }
}

template <typename T, int V>
__device__ inline void load_vector(const T *from, pgi_vector<T, V> *to, bool aligned)
{
    if (aligned)
        load_vector<true>(from, to);
    else
        load_vector<false>(from, to);
}

/* The same if they are there, without a branch where they are aligned; what is not stays. */
template <typename T, int V>
__device__ inline void load_vector_if(bool there, const T *from, pgi_vector<T, V> *to, bool aligned)
{
    constexpr int whole = sizeof(pgi_vector<T, V>);
    unsigned *const word = (unsigned *)to;

    if (!aligned || whole < 4) {
        if (there)
            load_vector(from, to, aligned);
    } else if constexpr (whole == 16) {
        asm("{ .reg .pred there; setp.ne.s32 there, %5, 0;"
            "@there ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4]; }"
            : "+r"(word[0]), "+r"(word[1]), "+r"(word[2]), "+r"(word[3])
            : "l"(from), "r"((int)there));
    } else if constexpr (whole == 8) {
        asm("{ .reg .pred there; setp.ne.s32 there, %3, 0;"
            "@there ld.global.nc.v2.u32 {%0, %1}, [%2]; }"
            : "+r"(word[0]), "+r"(word[1])
            : "l"(from), "r"((int)there));
    } else {
        asm("{ .reg .pred there; setp.ne.s32 there, %2, 0; @there ld.global.nc.u32 %0, [%1]; }"
            : "+r"(word[0])
            : "l"(from), "r"((int)there));
    }
}

template <bool ALIGNED, typename T, int V>
__device__ inline void store_vector(T *to, const pgi_vector<T, V> &from)
{
    constexpr int whole = sizeof(pgi_vector<T, V>);

    if constexpr (ALIGNED && whole >= 16) {
#pragma unroll
        for (int i = 0; i < whole / 16; i++)
            __stcs((uint4 *)to + i, ((const uint4 *)&from)[i]);
    } else if constexpr (ALIGNED && whole == 8) {
        __stcs((uint2 *)to, *(const uint2 *)&from);
    } else if constexpr (ALIGNED && whole == 4) {
        __stcs((unsigned *)to, *(const unsigned *)&from);
    } else {
#pragma unroll
        for (int i = 0; i < V; i++)
            to[i] = from.e[i];
    }
}

template <typename T, int V>
__device__ inline void store_vector(T *to, const pgi_vector<T, V> &from, bool aligned)
{
    if (aligned)
        store_vector<true>(to, from);
    else
        store_vector<false>(to, from);
}

/* Starts copying BYTES from memory to shared memory, or zeros. Copies are made in groups, which
 * arrive in order; await_groups waits until no more than so many are under way. */
template <int BYTES> __device__ inline void copy_async(void *to, const void *from, bool there)
{
    const unsigned shared = (unsigned)__cvta_generic_to_shared(to);

    if constexpr (BYTES > 16) {
        copy_async<16>(to, from, there);
        copy_async<BYTES - 16>((char *)to + 16, (const char *)from + 16, there);
    } else if constexpr (BYTES == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from),
                     "r"(there ? 16 : 0)
                     : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared), "l"(from),
                     "n"(BYTES), "r"(there ? BYTES : 0)
                     : "memory");
    }
}

__device__ inline void end_group()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int UNDER_WAY> __device__ inline void await_groups()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(UNDER_WAY) : "memory");
}

/* alpha * values + beta * what was there. */
template <bool ALIGNED, typename T, int V>
__device__ inline void store_scaled(T *to, const pgi_real<T> (&values)[V], pgi_real<T> alpha,
                                    pgi_real<T> beta)
{
    pgi_vector<T, V> made;

    if (alpha == 1 && beta == 0) {
#pragma unroll
        for (int i = 0; i < V; i++)
            narrow(values[i], &made.e[i]);
    } else {
#pragma unroll
        for (int i = 0; i < V; i++) {
            if (beta != 0)
                made.e[i] = to[i];
            store(&made.e[i], values[i], alpha, beta);
        }
    }
    store_vector<ALIGNED>(to, made);
}

template <typename T, int V>
__device__ inline void store_scaled(T *to, const pgi_real<T> (&values)[V], pgi_real<T> alpha,
                                    pgi_real<T> beta, bool aligned)
{
    if (aligned)
        store_scaled<true>(to, values, alpha, beta);
    else
        store_scaled<false>(to, values, alpha, beta);
}

#endif
