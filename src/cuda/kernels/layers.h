/* SPDX-License-Identifier: MIT */
/* What the kernels that march with layers of a volume are told. Shared by the host and the kernels.
 */
#ifndef PGI_CUDA_KERNELS_LAYERS_H
#define PGI_CUDA_KERNELS_LAYERS_H

#include <stdint.h>

/* Sides of windows that there are kernels for. */
#define PGI_LAYERS_SIDES(each) each(5) each(7) each(9)

/* A block's threads, each with a column of so many layers, whose rings take most of its registers;
 * rows that are taken in one go. */
#define PGI_LAYERS_THREADS 384
#define PGI_LAYERS_DEEP    8
#define PGI_LAYERS_BATCH   2

/* Columns of sources and of targets that a tile has at most, such that there is room for three
 * batches of sources: one at hand, two under way. */
#define PGI_LAYERS_COLUMNS 352
#define PGI_LAYERS_TARGETS 336
#define PGI_LAYERS_STAGES  3

/* Layers of sources that those of targets need. */
#define PGI_LAYERS_SOURCES(side) (PGI_LAYERS_DEEP + (side)-1)

/* Places of a row that a thread sums for one channel. */
#define PGI_LAYERS_PLACES 8

/* Reals from one row of sums to the next, and elements from one row of targets, such that channels
 * and rows that are worked on together begin at banks of their own. */
#define PGI_LAYERS_PITCH             372
#define PGI_LAYERS_MADE_PITCH(bytes) (PGI_LAYERS_TARGETS + 16 / (int)(bytes))

/* Elements that are fetched at once, and stored. */
#define PGI_LAYERS_FETCHED       4
#define PGI_LAYERS_STORED(bytes) (16 / (int)(bytes))

/* Shared memory, in this order: sources of STAGES batches, sums and targets of two. */
#define PGI_LAYERS_FETCHED_BYTES(side, bytes)                                                      \
    (PGI_LAYERS_STAGES * PGI_LAYERS_BATCH * PGI_LAYERS_SOURCES(side) * PGI_LAYERS_COLUMNS *        \
     (int)(bytes))
#define PGI_LAYERS_SUMS_BYTES (2 * PGI_LAYERS_BATCH * PGI_LAYERS_DEEP * PGI_LAYERS_PITCH * 4)
#define PGI_LAYERS_MADE_BYTES(bytes)                                                               \
    (2 * PGI_LAYERS_BATCH * PGI_LAYERS_DEEP * PGI_LAYERS_MADE_PITCH(bytes) * (int)(bytes))

/* Target t takes sources t + shift, t + shift + 1, ...; both count from the first of their views.
 */
typedef struct pgi_cuda_layers_axis {
    int sources, targets, shift;
    int64_t source_stride, target_stride;
} pgi_cuda_layers_axis;

typedef struct pgi_cuda_layers {
    pgi_cuda_layers_axis d, h, w;
    int64_t source_batch, target_batch; /* from one batch element to the next */
    int64_t source_begin;               /* where the target's first batch and channel lie */
    int64_t divisor;
    float alpha;
    int forward;

    /* Columns are places of all channels: column = place * lanes + lane. A tile has `columns` of
     * targets, and of sources those that are needed for them and `lead` before the first, for the
     * sake of pieces. Sums of a lane lie side by side, `pitch` from the next lane's. */
    int lanes, pitch;
    int columns, sources, lead;
    int pieces, vectors; /* sources and targets can be fetched and stored so */

    /* Blocks: tiles of D first, whose neighbours have sources in common, then of W, then segments
     * of H, then batch elements. */
    int d_tiles, w_tiles, segments, segment;
} pgi_cuda_layers;

#endif
