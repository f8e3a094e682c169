/* SPDX-License-Identifier: MIT */
#ifndef PGI_CUDA_KERNELS_QUOTIENT_CUH
#define PGI_CUDA_KERNELS_QUOTIENT_CUH

#include "cuda/kernels/quotient.h"

__device__ inline unsigned quick_quotient(unsigned n, const pgi_cuda_quotient &by)
{
    return __umulhi(n << 2, by.factor) >> by.shift;
}

#endif
