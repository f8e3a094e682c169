/* SPDX-License-Identifier: MIT */
#include "core/tensor.h"

#include "core/integer.h"

#include <stdlib.h>

bool pgi_dense_strides(poolgrad_layout layout, int count, const int64_t *extent, int64_t *stride)
{
    int64_t step = 1;
    int i;

    if (layout == POOLGRAD_NXC) {
        stride[PGI_CHANNEL] = 1;
        step = pgi_max(extent[PGI_CHANNEL], 1);
    }
    for (i = count - 1; i >= 0; i--) {
        if (layout == POOLGRAD_NXC && i == PGI_CHANNEL)
            continue;
        stride[i] = step;
        if (!pgi_mul(step, pgi_max(extent[i], 1), &step))
            return false;
    }
    return true;
}

bool pgi_tensor_measure(pgi_tensor *tensor, size_t element_size)
{
    const int64_t size = (int64_t)element_size;
    int64_t distance, bytes;
    int i;

    tensor->elements = 1;
    tensor->lowest = tensor->highest = 0;
    for (i = 0; i < PGI_AXES; i++)
        if (!pgi_mul(tensor->elements, tensor->extent[i], &tensor->elements))
            return false;
    if (!pgi_mul(tensor->elements, size, &bytes))
        return false;
    if (tensor->elements == 0)
        return true;
    for (i = 0; i < PGI_AXES; i++) {
        int64_t *end = tensor->stride[i] < 0 ? &tensor->lowest : &tensor->highest;

        if (!pgi_mul(tensor->extent[i] - 1, tensor->stride[i], &distance) ||
            !pgi_add(*end, distance, end))
            return false;
    }
    return !__builtin_sub_overflow(tensor->highest, tensor->lowest, &distance) &&
           pgi_add(distance, 1, &distance) && pgi_mul(distance, size, &bytes);
}

bool pgi_tensor_folds(const pgi_tensor *tensor, int *axis)
{
    int order[PGI_AXES], used = 0, i, k;
    int64_t span = 0;

    if (tensor->elements == 0)
        return false;
    for (i = 0; i < PGI_AXES; i++) {
        if (tensor->extent[i] == 1)
            continue;
        for (k = used++; k > 0 && llabs(tensor->stride[order[k - 1]]) > llabs(tensor->stride[i]);
             k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    for (k = 0; k < used; k++) {
        const int64_t stride = llabs(tensor->stride[order[k]]);

        if (stride <= span) {
            *axis = order[k];
            return true;
        }
        span += (tensor->extent[order[k]] - 1) * stride; /* measured before: fits */
    }
    return false;
}

bool pgi_bytes_overlap(const void *a, size_t a_size, const void *b, size_t b_size)
{
    const uintptr_t a_begin = (uintptr_t)a, b_begin = (uintptr_t)b;

    return a_size > 0 && b_size > 0 && a_begin < b_begin + b_size && b_begin < a_begin + a_size;
}
