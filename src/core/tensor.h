/* SPDX-License-Identifier: MIT */
/* Where the elements of a view lie: always five axes here (batch, channels, three spatial), the
 * spatial axes that a problem of lower rank lacks being leading ones of extent 1. */
#ifndef PGI_CORE_TENSOR_H
#define PGI_CORE_TENSOR_H

#include <poolgrad/poolgrad.h>
#include <stdbool.h>

enum {
    PGI_BATCH = 0,
    PGI_CHANNEL = 1,
    PGI_SPATIAL = 2,
    PGI_AXES = 5
};

typedef struct pgi_tensor {
    int64_t offset[PGI_AXES];
    int64_t extent[PGI_AXES];
    int64_t stride[PGI_AXES]; /* in elements */
    int64_t elements;
    int64_t lowest, highest; /* offsets of the outermost elements from element 0 */
} pgi_tensor;

/* The view's axis that tensor axis i stands for, or -1 for an axis the rank lacks. */
static inline int pgi_view_axis(int rank, int i)
{
    if (i < PGI_SPATIAL)
        return i;
    return i < PGI_AXES - rank ? -1 : i - (3 - rank);
}

/* Dense strides of `count` axes; false if they do not fit in 64 bits. Extents of 0 count as 1. */
bool pgi_dense_strides(poolgrad_layout layout, int count, const int64_t *extent, int64_t *stride);

/* Fills elements, lowest, highest from extents and strides; false if the number of bytes, or the
 * distance between two elements in bytes, does not fit in 64 bits. */
bool pgi_tensor_measure(pgi_tensor *tensor, size_t element_size);

/* Whether elements might share memory: sorted by size, a stride does not exceed the span of the
 * smaller ones. *axis is then that axis. */
bool pgi_tensor_folds(const pgi_tensor *tensor, int *axis);

bool pgi_bytes_overlap(const void *a, size_t a_size, const void *b, size_t b_size);

#endif
