/* SPDX-License-Identifier: MIT */
/* The indices of max pooling: between places of a plane and the numbers that tensors hold. A place
 * is counted row-major over the three spatial axes of one (batch, channel). What is numbered by
 * windows instead is in core/window.h. */
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
    bool window;       /* an index is a tap of its window (core/window.h), no place */
} pgi_indexing;

size_t pgi_index_size(poolgrad_index_type type);

/* False if the largest index does not fit in the type. */
bool pgi_indexing_make(const poolgrad_desc *desc, const pgi_axis axis[3], pgi_indexing *indexing);

PGI_SHARED int64_t pgi_index_load(poolgrad_index_type type, const void *indices, int64_t i)
{
    if (type == POOLGRAD_I64)
        return ((const int64_t *)indices)[i];
    if (type == POOLGRAD_I32)
        return ((const int32_t *)indices)[i];
    /* all bits set stand for -1, "no winner", in unsigned types */
    if (type == POOLGRAD_U8)
        return (int64_t)(uint8_t)(((const uint8_t *)indices)[i] + 1) - 1;
    return (int64_t)(((const uint32_t *)indices)[i] + UINT32_C(1)) - 1;
}

PGI_SHARED void pgi_index_store(poolgrad_index_type type, void *indices, int64_t i, int64_t index)
{
    if (type == POOLGRAD_I64)
        ((int64_t *)indices)[i] = index;
    else if (type == POOLGRAD_U8)
        ((uint8_t *)indices)[i] = (uint8_t)(uint64_t)index;
    else
        ((uint32_t *)indices)[i] = (uint32_t)(uint64_t)index;
}

/* The index of a place. */
PGI_SHARED int64_t pgi_index_of_place(const pgi_indexing *indexing, int64_t batch, int64_t channel,
                                      int64_t place)
{
    if (indexing->column_major) {
        const int64_t w = place % indexing->in[2], rest = place / indexing->in[2];
        const int64_t h = rest % indexing->in[1], d = rest / indexing->in[1];

        place = d + indexing->in[0] * (h + indexing->in[1] * w);
    }
    return batch * indexing->batch_step + channel * indexing->channel_step + place * indexing->unit;
}

/* The coordinates that an index names; false if it names no place of this batch and channel. */
PGI_SHARED bool pgi_index_locate(const pgi_indexing *indexing, int64_t batch, int64_t channel,
                                 int64_t index, int64_t position[3])
{
    int64_t place;

    if (index < 0)
        return false;
    place = index - batch * indexing->batch_step - channel * indexing->channel_step;
    if (place < 0)
        return false;
    if (indexing->unit != 1) {
        if (place % indexing->unit)
            return false;
        place /= indexing->unit;
    }
    if (place >= indexing->plane)
        return false;
    if (indexing->column_major) {
        position[0] = place % indexing->in[0];
        place /= indexing->in[0];
        position[1] = place % indexing->in[1];
        position[2] = place / indexing->in[1];
    } else {
        position[2] = place % indexing->in[2];
        place /= indexing->in[2];
        position[1] = place % indexing->in[1];
        position[0] = place / indexing->in[1];
    }
    return true;
}

#endif
