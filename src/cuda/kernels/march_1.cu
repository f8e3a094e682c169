// SPDX-License-Identifier: MIT
// Averages of rank 1, channels first and channels last.
#include "cuda/kernels/march.cuh"

PGI_MARCH_SIDES_1(MARCH_TYPES)
PGI_MARCH_SIDES_1(MARCH_CHANNELS)
