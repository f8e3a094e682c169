/* SPDX-License-Identifier: MIT */
/* What kernels are told whose threads have plots of positions, for max pooling over 3x3x3 with
 * stride 2, channels last. Shared by the host and the kernels. */
#ifndef PGI_CUDA_KERNELS_PLOTS_H
#define PGI_CUDA_KERNELS_PLOTS_H

#include "cuda/kernels/cell.h"

/* Threads of a block, and channels of a thread. */
#define PGI_PLOTS_BLOCK    128
#define PGI_PLOTS_CHANNELS 2

/* Positions of a plot on H and W, and slices of its sums in shared memory: the three that a layer
 * of windows reaches, the second of which has two rooms in turn. */
#define PGI_PLOTS_SIDE   4
#define PGI_PLOTS_SLICES 4

typedef struct pgi_cuda_plots {
    pgi_cuda_cell cell; /* groups of channels; segments of D, and cells of one */
    unsigned threads;
    unsigned plots[2]; /* on H and W */
} pgi_cuda_plots;

#endif
