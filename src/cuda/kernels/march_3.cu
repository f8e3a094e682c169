// SPDX-License-Identifier: MIT
// Averages of rank 3.
#include "cuda/kernels/march.cuh"

PGI_MARCH_SIDES_3(MARCH_TYPES)
