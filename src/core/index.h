/* SPDX-License-Identifier: MIT */
/* The indices of max pooling: between places of a plane and the numbers that tensors hold. A place
 * is counted row-major over the three spatial axes of one (batch, channel). */
#ifndef PGI_CORE_INDEX_H
#define PGI_CORE_INDEX_H

#include "core/axis.h"

typedef struct pgi_indexing {
    poolgrad_index_type type;
    int64_t in[3];
    int64_t plane; /* places */
    int64_t batch_step, channel_step,
        unit;          /* index = n * batch_step + c * channel_step + place * unit */
    bool column_major; /* the place is counted with the first axis fastest */
    bool no_winner;    /* -1 is allowed everywhere */
} pgi_indexing;

size_t pgi_index_size(poolgrad_index_type type);

/* False if the largest index does not fit in the type. */
bool pgi_indexing_make(const poolgrad_desc *desc, const pgi_axis axis[3], pgi_indexing *indexing);

int64_t pgi_index_load(poolgrad_index_type type, const void *indices, int64_t i);
void pgi_index_store(poolgrad_index_type type, void *indices, int64_t i, int64_t index);

/* The index of a place. */
int64_t pgi_index_of_place(const pgi_indexing *indexing, int64_t batch, int64_t channel,
                           int64_t place);

/* The coordinates that an index names; false if it names no place of this batch and channel. */
bool pgi_index_locate(const pgi_indexing *indexing, int64_t batch, int64_t channel, int64_t index,
                      int64_t position[3]);

#endif
