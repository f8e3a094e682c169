/* SPDX-License-Identifier: MIT */
#include "indices.h"

#include <string.h>

size_t sup_index_size(poolgrad_index_type type)
{
    return type == POOLGRAD_I64 ? 8 : type == POOLGRAD_U8 ? 1 : 4;
}

int64_t sup_index_load(poolgrad_index_type type, const void *array, int64_t index)
{
    if (type == POOLGRAD_I64) {
        int64_t value;
        memcpy(&value, (const char *)array + index * 8, 8);
        return value;
    }
    if (type == POOLGRAD_U8) {
        uint8_t byte = ((const uint8_t *)array)[index];
        return byte == UINT8_MAX ? -1 : byte;
    }
    uint32_t word;
    memcpy(&word, (const char *)array + index * 4, 4);
    if (word == UINT32_MAX)
        return -1;
    if (type == POOLGRAD_I32 && word > INT32_MAX)
        return (int64_t)word - (INT64_C(1) << 32);
    return word;
}

void sup_index_store(poolgrad_index_type type, void *array, int64_t index, int64_t value)
{
    uint32_t word = (uint32_t)(uint64_t)value;
    if (type == POOLGRAD_I64)
        memcpy((char *)array + index * 8, &value, 8);
    else if (type == POOLGRAD_U8)
        ((uint8_t *)array)[index] = (uint8_t)word;
    else
        memcpy((char *)array + index * 4, &word, 4);
}

static int64_t plane_positions(const poolgrad_desc *desc)
{
    int64_t count = 1;
    for (int axis = 0; axis < desc->rank; axis++)
        count *= desc->in[axis];
    return count;
}

/* Row-major to column-major (the axes in `from` order are the digits, slowest first), or back. */
static int64_t reorder(const poolgrad_desc *desc, int64_t position, int to_column)
{
    int64_t digit[3] = {0, 0, 0}, result = 0;
    int last = desc->rank - 1;
    for (int i = last; i >= 0; i--) {
        int axis = to_column ? i : last - i;
        digit[axis] = position % desc->in[axis];
        position /= desc->in[axis];
    }
    for (int i = 0; i <= last; i++) {
        int axis = to_column ? last - i : i;
        result = result * desc->in[axis] + digit[axis];
    }
    return result;
}

/* Batch and channel, in the whole tensor, of an element of a view. */
static void plane_of(const poolgrad_desc *desc, const poolgrad_view *view, int64_t logical,
                     int64_t *n, int64_t *c)
{
    for (int axis = 0; axis < desc->rank; axis++)
        logical /= view->extent[axis + 2];
    *c = view->offset[1] + logical % view->extent[1];
    *n = view->offset[0] + logical / view->extent[1];
}

/* Where the window on an axis begins, and how many taps it has. */
static void window_on_axis(const poolgrad_desc *desc, int axis, int64_t window, int64_t *start,
                           int64_t *taps)
{
    int64_t in = desc->in[axis], out = desc->out[axis];
    *start = window * desc->stride[axis] - desc->pad_lo[axis];
    *taps = desc->kernel[axis];
    if (desc->rounding == POOLGRAD_ADAPTIVE) {
        *start = window * in / out;
        *taps = ((window + 1) * in + out - 1) / out - *start;
    }
}

/* Between a position of the plane and the tap of a window that lies there. */
static int64_t tap_of(const poolgrad_desc *desc, int64_t window, int64_t position)
{
    const poolgrad_view *view = sup_view_windows(desc);
    int64_t tap = 0, weight = 1, start, taps;
    for (int axis = desc->rank - 1; axis >= 0; axis--) {
        int64_t extent = view->extent[axis + 2];
        window_on_axis(desc, axis, view->offset[axis + 2] + window % extent, &start, &taps);
        tap += (position % desc->in[axis] - start) / desc->dilation[axis] * weight;
        weight *= taps;
        window /= extent;
        position /= desc->in[axis];
    }
    return tap;
}

static int64_t position_of(const poolgrad_desc *desc, int64_t window, int64_t tap)
{
    const poolgrad_view *view = sup_view_windows(desc);
    int64_t position = 0, weight = 1, start, taps;
    for (int axis = desc->rank - 1; axis >= 0; axis--) {
        int64_t extent = view->extent[axis + 2];
        window_on_axis(desc, axis, view->offset[axis + 2] + window % extent, &start, &taps);
        int64_t at = start + tap % taps * desc->dilation[axis];
        if (at < 0 || at >= desc->in[axis])
            return -1;
        position += at * weight;
        weight *= desc->in[axis];
        tap /= taps;
        window /= extent;
    }
    return tap == 0 ? position : -1;
}

int64_t sup_index_encode(const poolgrad_desc *resolved, int64_t window, int64_t position)
{
    int64_t plane = plane_positions(resolved), channels = resolved->channels, n, c;
    plane_of(resolved, sup_view_windows(resolved), window, &n, &c);
    if (position < 0)
        return -1;
    if (resolved->index_order == POOLGRAD_COLUMN_MAJOR)
        position = reorder(resolved, position, 1);
    switch (resolved->index_base) {
    case POOLGRAD_INDEX_TENSOR:
        return (n * channels + c) * plane + position;
    case POOLGRAD_INDEX_PLANE:
        return position;
    case POOLGRAD_INDEX_NXC:
        return (n * plane + position) * channels + c;
    case POOLGRAD_INDEX_NXC_IMAGE:
        return position * channels + c;
    case POOLGRAD_INDEX_WINDOW:
        return tap_of(resolved, window, position);
    }
    return -1;
}

int64_t sup_index_decode(const poolgrad_desc *resolved, int64_t window, int64_t index)
{
    int64_t plane = plane_positions(resolved), channels = resolved->channels, n, c;
    int64_t position = -1;
    plane_of(resolved, sup_view_windows(resolved), window, &n, &c);
    if (index < 0)
        return -1;
    switch (resolved->index_base) {
    case POOLGRAD_INDEX_TENSOR:
        position = index - (n * channels + c) * plane;
        break;
    case POOLGRAD_INDEX_PLANE:
        position = index;
        break;
    case POOLGRAD_INDEX_NXC:
        position = index % channels == c ? index / channels - n * plane : -1;
        break;
    case POOLGRAD_INDEX_NXC_IMAGE:
        position = index % channels == c ? index / channels : -1;
        break;
    case POOLGRAD_INDEX_WINDOW:
        position = position_of(resolved, window, index);
        break;
    }
    if (position < 0 || position >= plane)
        return -1;
    return resolved->index_order == POOLGRAD_COLUMN_MAJOR ? reorder(resolved, position, 0)
                                                          : position;
}

poolgrad_view sup_index_view(const poolgrad_desc *resolved)
{
    poolgrad_view view = resolved->indices;
    const poolgrad_view *windows = sup_view_windows(resolved);
    memcpy(view.offset, windows->offset, sizeof view.offset);
    memcpy(view.extent, windows->extent, sizeof view.extent);
    return view;
}

int sup_index_alloc(const poolgrad_desc *resolved, sup_memory *memory)
{
    poolgrad_view view = sup_index_view(resolved);
    return sup_view_alloc_sized(resolved, &view, sup_index_size(resolved->index_type), memory);
}

void sup_index_scatter(const poolgrad_desc *resolved, const int64_t *winners, void *first)
{
    poolgrad_view view = sup_index_view(resolved);
    int64_t count = sup_view_count(resolved, &view);
    for (int64_t i = 0; i < count; i++)
        sup_index_store(resolved->index_type, first, sup_view_offset(resolved, &view, i),
                        sup_index_encode(resolved, i, winners[i]));
}

void sup_index_gather(const poolgrad_desc *resolved, const void *first, int64_t *winners)
{
    poolgrad_view view = sup_index_view(resolved);
    int64_t count = sup_view_count(resolved, &view);
    for (int64_t i = 0; i < count; i++) {
        int64_t index =
            sup_index_load(resolved->index_type, first, sup_view_offset(resolved, &view, i));
        winners[i] = sup_index_decode(resolved, i, index);
    }
}
