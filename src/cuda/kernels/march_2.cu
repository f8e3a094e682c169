// SPDX-License-Identifier: MIT
// Averages of rank 2.
#include "cuda/kernels/march.cuh"

PGI_MARCH_SIDES_2(MARCH_TYPES)
