/* SPDX-License-Identifier: MIT */
#include "cuda/plan.h"

/* clang-format off */
const pgi_cuda_strategy *const pgi_cuda_strategies[] = {
    &pgi_cuda_strategy_whole,
    &pgi_cuda_strategy_spread,
    &pgi_cuda_strategy_halves,
    &pgi_cuda_strategy_threes,
    &pgi_cuda_strategy_cell,
    &pgi_cuda_strategy_near,
    &pgi_cuda_strategy_layers,
    &pgi_cuda_strategy_march,
    &pgi_cuda_strategy_closing,
    &pgi_cuda_strategy_plane,
    &pgi_cuda_strategy_general,
    NULL,
};
/* clang-format on */
