/* SPDX-License-Identifier: MIT */
/* Who wins a window. */
#ifndef PGI_CUDA_KERNELS_WINNER_CUH
#define PGI_CUDA_KERNELS_WINNER_CUH

#include <poolgrad/poolgrad.h>

/* Whether `value` wins against what was the best before it in row-major order; NaN may be among
 * them. */
template <typename Real> __device__ inline bool wins(int rule, Real value, Real best)
{
    if (value > best)
        return true;
    if (value <= best)
        return false;
    if (rule == POOLGRAD_NAN_FIRST)
        return value != value && best == best;
    if (rule == POOLGRAD_NAN_LAST)
        return value != value;
    return rule == POOLGRAD_NAN_SKIP && best != best && value == value;
}

#endif
