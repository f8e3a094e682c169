/* SPDX-License-Identifier: MIT */
/* Quotients by numbers that are known beforehand. Shared by the host and the kernels. */
#ifndef PGI_CUDA_KERNELS_QUOTIENT_H
#define PGI_CUDA_KERNELS_QUOTIENT_H

#include <stdint.h>

/* n / number = (4n * factor >> 32) >> shift, for n < 2^30 and numbers up to that. */
typedef struct pgi_cuda_quotient {
    unsigned factor, shift;
} pgi_cuda_quotient;

static inline pgi_cuda_quotient pgi_cuda_quotient_by(int64_t number)
{
    pgi_cuda_quotient quotient = {0, 0};

    while (INT64_C(1) << quotient.shift < number)
        quotient.shift++;
    quotient.factor = (unsigned)(((INT64_C(1) << (30 + quotient.shift)) + number - 1) / number);
    return quotient;
}

#endif
