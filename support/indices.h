/* SPDX-License-Identifier: MIT */
/*
 * The indices of max pooling: what they count, how they are stored, and memory for them.
 */
#ifndef SUPPORT_INDICES_H
#define SUPPORT_INDICES_H

#include "data.h"

/* Bytes per element. */
size_t sup_index_size(poolgrad_index_type type);

/* Element `index` of an array. In every type, all bits set is -1, "no winner", also in u32 and u8,
 * which have no negative numbers; their other values are not negative. Storing keeps the low bits.
 */
int64_t sup_index_load(poolgrad_index_type type, const void *array, int64_t index);
void sup_index_store(poolgrad_index_type type, void *array, int64_t index, int64_t value);

/* From a place in the whole plane, (d*H + h)*W + w, to the index that the descriptor's index_base
 * and index_order mean for window `window`, in logical order of its view. -1 stays -1. */
int64_t sup_index_encode(const poolgrad_desc *resolved, int64_t window, int64_t position);
/* And back; -1 if the index is not one of the window's plane, or no tap of it inside the input. */
int64_t sup_index_decode(const poolgrad_desc *resolved, int64_t window, int64_t index);

/* The view of the indices with offset and extent of the dy view (of y), as they count for it. */
poolgrad_view sup_index_view(const poolgrad_desc *resolved);

/* As sup_view_alloc, for that view and the index type; every byte 0xff, so -1. */
int sup_index_alloc(const poolgrad_desc *resolved, sup_memory *memory);

/* Winners (as in naive.h) in logical order, to and from the memory of the view. */
void sup_index_scatter(const poolgrad_desc *resolved, const int64_t *winners, void *first);
void sup_index_gather(const poolgrad_desc *resolved, const void *first, int64_t *winners);

#endif
