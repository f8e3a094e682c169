// SPDX-License-Identifier: MIT
// Averages of rank 1.
#include "cuda/kernels/march.cuh"

PGI_MARCH_SIDES_1(MARCH_TYPES)
