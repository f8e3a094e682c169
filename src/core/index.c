/* SPDX-License-Identifier: MIT */
#include "core/index.h"

#include "core/integer.h"

size_t pgi_index_size(poolgrad_index_type type)
{
    return type == POOLGRAD_I64  ? sizeof(int64_t)
           : type == POOLGRAD_U8 ? sizeof(uint8_t)
                                 : sizeof(int32_t);
}

/* Taps of the largest window; false if that does not fit in 64 bits. */
static bool most_taps(const pgi_axis axis[3], int64_t *taps)
{
    int i;

    for (*taps = 1, i = 0; i < 3; i++)
        if (!pgi_mul(*taps, pgi_axis_longest_window(&axis[i]), taps))
            return false;
    return true;
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
                               .no_winner = desc->no_winner != 0,
                               .window = desc->index_base == POOLGRAD_INDEX_WINDOW};
    for (i = 0; i < 3; i++) {
        indexing->in[i] = axis[i].in;
        if (!pgi_mul(indexing->plane, axis[i].in, &indexing->plane))
            return false;
    }
    largest = indexing->plane;
    if (indexing->window && !most_taps(axis, &largest))
        return false;
    if (!indexing->window && desc->index_base != POOLGRAD_INDEX_PLANE &&
        !pgi_mul(indexing->plane, channels, &largest))
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
    case POOLGRAD_INDEX_WINDOW:
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
    if (desc->index_type == POOLGRAD_U8)
        return largest <= UINT8_MAX;
    if (desc->index_type == POOLGRAD_I32)
        return largest - 1 <= INT32_MAX;
    return desc->index_type == POOLGRAD_I64 || largest <= UINT32_MAX;
}
