/* SPDX-License-Identifier: MIT */
/* Elements of two bytes, two in a word, compared and added where they lie; and codes of taps
 * (cell.h), two in a word likewise. */
#ifndef PGI_CUDA_KERNELS_TWO_CUH
#define PGI_CUDA_KERNELS_TWO_CUH

#include "cuda/kernels/cell.cuh"
#include "cuda/kernels/order.cuh"
#include "cuda/kernels/winner.cuh"

/* NaN as larger_of_two makes it, in both types. */
constexpr unsigned PGI_TWO_NAN = 0x7fff;

/* The same in both halves. */
__host__ __device__ constexpr unsigned twice(unsigned half)
{
    return half * 0x10001;
}

/* Halves in the order of memory, `low` first: the lower ones of two words, the upper ones, and the
 * upper one of the first before the lower one of the second. */
__device__ inline unsigned lower_halves(unsigned low, unsigned high)
{
    return __byte_perm(low, high, 0x5410);
}

__device__ inline unsigned upper_halves(unsigned low, unsigned high)
{
    return __byte_perm(low, high, 0x7632);
}

__device__ inline unsigned middle_halves(unsigned low, unsigned high)
{
    return __byte_perm(low, high, 0x5432);
}

/* Minus infinity. */
__device__ inline unsigned lowest_of(pgi_bf16)
{
    return 0xff80;
}

__device__ inline unsigned lowest_of(pgi_f16)
{
    return 0xfc00;
}

/* The larger ones, or PGI_TWO_NAN where one of them is NaN. */
__device__ inline unsigned larger_of_two(unsigned a, unsigned b, pgi_bf16)
{
    asm("max.NaN.bf16x2 %0, %0, %1;" : "+r"(a) : "r"(b));
    return a;
}

__device__ inline unsigned larger_of_two(unsigned a, unsigned b, pgi_f16)
{
    asm("max.NaN.f16x2 %0, %0, %1;" : "+r"(a) : "r"(b));
    return a;
}

/* 0xffff where a > b, 0 elsewhere and with NaN. */
__device__ inline unsigned is_greater(unsigned a, unsigned b, pgi_bf16)
{
#if __CUDA_ARCH__ >= 900
    unsigned mask;

    asm("set.gt.u32.bf16x2 %0, %1, %2;" : "=r"(mask) : "r"(a), "r"(b));
    return mask;
#else
    return (__uint_as_float(a << 16) > __uint_as_float(b << 16) ? 0xffffu : 0) |
           (__uint_as_float(a & 0xffff0000) > __uint_as_float(b & 0xffff0000) ? 0xffff0000 : 0);
#endif
}

__device__ inline unsigned is_greater(unsigned a, unsigned b, pgi_f16)
{
    unsigned mask;

    asm("set.gt.u32.f16x2 %0, %1, %2;" : "=r"(mask) : "r"(a), "r"(b));
    return mask;
}

__device__ inline bool has_nan(unsigned maxima)
{
    return (maxima & 0xffff) == PGI_TWO_NAN || maxima >> 16 == PGI_TWO_NAN;
}

/* a + b, rounded once. That is what a sum in f32 is rounded to as well: it is exact, or so close to
 * one of the two that no number halfway between others is near. */
__device__ inline unsigned sum_of_two(unsigned a, unsigned b, pgi_bf16)
{
    asm("fma.rn.bf16x2 %0, %0, %1, %2;" : "+r"(a) : "r"(0x3f803f80), "r"(b));
    return a;
}

__device__ inline unsigned sum_of_two(unsigned a, unsigned b, pgi_f16)
{
    asm("add.rn.f16x2 %0, %0, %1;" : "+r"(a) : "r"(b));
    return a;
}

/* As f32. */
__device__ inline float lower_of(unsigned two, pgi_bf16)
{
    return __uint_as_float(two << 16);
}

__device__ inline float upper_of(unsigned two, pgi_bf16)
{
    return __uint_as_float(two & 0xffff0000);
}

__device__ inline float lower_of(unsigned two, pgi_f16)
{
    return widen(pgi_f16{(uint16_t)two});
}

__device__ inline float upper_of(unsigned two, pgi_f16)
{
    return widen(pgi_f16{(uint16_t)(two >> 16)});
}

__device__ inline unsigned narrow_two(float lower, float upper, pgi_bf16)
{
    unsigned two;

    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(two) : "f"(upper), "f"(lower));
    return two;
}

__device__ inline unsigned narrow_two(float lower, float upper, pgi_f16)
{
    unsigned two;

    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(two) : "f"(upper), "f"(lower));
    return two;
}

/* Codes are compared as f16, small as they are; those that are NaN are equal to none. */
constexpr unsigned PGI_TWO_NOWHERE = 0xff;

/* Of two codes in bytes, the first or second two of a word: as halves. `above`: 0, or
 * PGI_TWO_NOWHERE if the windows are not there. */
__device__ inline unsigned codes_of(unsigned bytes, int second, unsigned above)
{
    return __byte_perm(bytes, above, second ? 0x4342 : 0x4140);
}

/* And back, of four. */
__device__ inline unsigned bytes_of(unsigned first, unsigned second)
{
    return __byte_perm(first, second, 0x6420);
}

/* 0xffff where they are the same. */
__device__ inline unsigned is_same(unsigned codes, unsigned code)
{
    unsigned mask;

    asm("set.eq.u32.f16x2 %0, %1, %2;" : "=r"(mask) : "r"(codes), "r"(code));
    return mask;
}

/* Adds terms whose codes are the same. */
__device__ inline void add_same(unsigned codes, unsigned code, float lower, float upper,
                                float *lower_sum, float *upper_sum)
{
    asm("{ .reg .pred lower, upper; setp.eq.f16x2 lower|upper, %2, %3;"
        "@lower add.rn.f32 %0, %0, %4; @upper add.rn.f32 %1, %1, %5; }"
        : "+f"(*lower_sum), "+f"(*upper_sum)
        : "r"(codes), "r"(code), "f"(lower), "f"(upper));
}

/* The winner of one window where there are NaN, by the rules for them; as a code. */
template <typename T, int K, int R>
__device__ static __noinline__ int code_by_rules(const pgi_cuda_cell *cell,
                                                 const pgi_cuda_cell_strides *strides, const T *x,
                                                 int od, int oh, int ow)
{
    const pgi_cell_clip d =
        R == 3 ? pgi_cell_clip::of<K>(od, cell->pad[0], cell->in[0]) : pgi_cell_clip{0, 0};
    const pgi_cell_clip h = pgi_cell_clip::of<K>(oh, cell->pad[1], cell->in[1]);
    const pgi_cell_clip w = pgi_cell_clip::of<K>(ow, cell->pad[2], cell->in[2]);
    float best = 0;
    int code = -1;

    for (int a = d.first; a <= d.last; a++)
        for (int b = h.first; b <= h.last; b++)
            for (int c = w.first; c <= w.last; c++) {
                const int slice = R == 3 ? 2 * od - cell->pad[0] + a : od;
                const int row = 2 * oh - cell->pad[1] + b, column = 2 * ow - cell->pad[2] + c;
                const float value =
                    widen(x[place_offset(*strides, slice, row) + column * strides->place[2]]);

                if (code < 0 || wins(cell->nan, value, best)) {
                    best = value;
                    code = tap_code(a, b, c);
                }
            }
    return code;
}

#endif
