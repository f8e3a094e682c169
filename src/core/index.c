/* SPDX-License-Identifier: MIT */
#include "core/index.h"

#include "core/integer.h"

size_t pgi_index_size(poolgrad_index_type type)
{
    return type == POOLGRAD_I64 ? sizeof(int64_t) : sizeof(int32_t);
}

bool pgi_indexing_make(const poolgrad_desc *desc, const pgi_axis axis[3], pgi_indexing *indexing)
{
    const int64_t channels = desc->channels;
    int64_t image, largest;
    int i;

    *indexing = (pgi_indexing){.type = desc->index_type,
                               .plane = 1,
                               .unit = 1,
                               .column_major = desc->index_order == POOLGRAD_COLUMN_MAJOR,
                               .no_winner = desc->no_winner != 0};
    for (i = 0; i < 3; i++) {
        indexing->in[i] = axis[i].in;
        if (!pgi_mul(indexing->plane, axis[i].in, &indexing->plane))
            return false;
    }
    largest = indexing->plane;
    if (desc->index_base != POOLGRAD_INDEX_PLANE && !pgi_mul(indexing->plane, channels, &largest))
        return false;
    image = largest;
    if ((desc->index_base == POOLGRAD_INDEX_TENSOR || desc->index_base == POOLGRAD_INDEX_NXC) &&
        !pgi_mul(image, desc->batch, &largest))
        return false;
    switch (desc->index_base) {
    case POOLGRAD_INDEX_TENSOR:
        indexing->batch_step = image;
        indexing->channel_step = indexing->plane;
        break;
    case POOLGRAD_INDEX_PLANE:
        break;
    case POOLGRAD_INDEX_NXC:
        indexing->batch_step = image;
        indexing->channel_step = 1;
        indexing->unit = channels;
        break;
    case POOLGRAD_INDEX_NXC_IMAGE:
        indexing->channel_step = 1;
        indexing->unit = channels;
        break;
    }
    if (desc->index_type == POOLGRAD_I32)
        return largest - 1 <= INT32_MAX;
    return desc->index_type == POOLGRAD_I64 || largest <= UINT32_MAX;
}

int64_t pgi_index_load(poolgrad_index_type type, const void *indices, int64_t i)
{
    if (type == POOLGRAD_I64)
        return ((const int64_t *)indices)[i];
    if (type == POOLGRAD_I32)
        return ((const int32_t *)indices)[i];
    /* 2^32 - 1 stands for -1, "no winner", in the unsigned type */
    return (int64_t)(((const uint32_t *)indices)[i] + UINT32_C(1)) - 1;
}

void pgi_index_store(poolgrad_index_type type, void *indices, int64_t i, int64_t index)
{
    if (type == POOLGRAD_I64)
        ((int64_t *)indices)[i] = index;
    else
        ((uint32_t *)indices)[i] = (uint32_t)(uint64_t)index;
}

int64_t pgi_index_of_place(const pgi_indexing *indexing, int64_t batch, int64_t channel,
                           int64_t place)
{
    if (indexing->column_major) {
        const int64_t w = place % indexing->in[2], rest = place / indexing->in[2];
        const int64_t h = rest % indexing->in[1], d = rest / indexing->in[1];

        place = d + indexing->in[0] * (h + indexing->in[1] * w);
    }
    return batch * indexing->batch_step + channel * indexing->channel_step + place * indexing->unit;
}

bool pgi_index_locate(const pgi_indexing *indexing, int64_t batch, int64_t channel, int64_t index,
                      int64_t position[3])
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
