/* SPDX-License-Identifier: MIT */
/* Parts of a workspace, one after the other, each aligned. */
#ifndef PGI_PLAN_PLACEMENT_H
#define PGI_PLAN_PLACEMENT_H

#include "core/integer.h"

#include <stddef.h>

/* Parts start at multiples of this: a cache line, and enough for any vector. */
#define PGI_ALIGNMENT 64

typedef struct pgi_placement {
    int64_t end;
    bool fits; /* turns false for good when a size does not fit in 64 bits */
} pgi_placement;

/* Room for a * b * c things of `size` bytes; returns its offset. */
static inline size_t pgi_place(pgi_placement *placement, int64_t a, int64_t b, int64_t c,
                               int64_t size)
{
    const int64_t begin = placement->end;
    int64_t bytes;

    placement->fits = placement->fits && pgi_mul(a, b, &bytes) && pgi_mul(bytes, c, &bytes) &&
                      pgi_mul(bytes, size, &bytes) && pgi_add(begin, bytes, &placement->end) &&
                      pgi_add(placement->end, PGI_ALIGNMENT - 1, &placement->end);
    if (placement->fits)
        placement->end -= placement->end % PGI_ALIGNMENT;
    return (size_t)begin;
}

#endif
