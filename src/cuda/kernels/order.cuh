/* SPDX-License-Identifier: MIT */
/* Elements of two bytes as signed integers in the same order, two at a time in a word. Zeros are
 * equal, and all NaN are PGI_IMAGE_NAN, above all numbers. */
#ifndef PGI_CUDA_KERNELS_ORDER_CUH
#define PGI_CUDA_KERNELS_ORDER_CUH

#include "cuda/kernels/element.cuh"

constexpr int PGI_IMAGE_NAN = 0x7fff;

/* Once and plus 0, which -0 and NaN come out of as one of their kind. */
__device__ inline unsigned settled(unsigned two, pgi_bf16)
{
    asm("fma.rn.bf16x2 %0, %0, %1, %2;" : "+r"(two) : "r"(0x3f803f80), "r"(0));
    return two;
}

__device__ inline unsigned settled(unsigned two, pgi_f16)
{
    asm("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(two) : "r"(0x3c003c00), "r"(0));
    return two;
}

template <typename T> __device__ inline unsigned images_of(unsigned two)
{
    const unsigned value = settled(two, T{});
    unsigned signs;

    asm("prmt.b32 %0, %1, 0, 0xbb99;" : "=r"(signs) : "r"(value)); /* 0xffff for negative ones */
    return value ^ (signs & 0x7fff7fff);
}

/* The image of one half above, and below it what is the larger the earlier a tap is, so that of two
 * keys the larger wins. */
__device__ inline int key_of(unsigned images, int half, int behind)
{
    return (int)__byte_perm(images, (unsigned)behind, half ? 0x3254 : 0x1054);
}

#endif
