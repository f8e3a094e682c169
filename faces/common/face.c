/* SPDX-License-Identifier: MIT */
#include "common/face.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The smallest options that a caller can have been compiled with. */
#define OPTIONS_SIZE_0_1 (offsetof(poolgrad_face_options, reserved) + sizeof(int32_t))

enum {
    MOST_AXES = 5 /* of any tensor; a rank above it may come without the sizes it promises */
};

poolgrad_status poolgrad_face_options_init(poolgrad_face_options *options)
{
    if (!options)
        return POOLGRAD_ERR_NULL;
    memset(options, 0, sizeof *options);
    options->size = sizeof *options;
    return POOLGRAD_OK;
}

void pgi_face_say(poolgrad_error *error, poolgrad_status status, const char *format, ...)
{
    va_list arguments;

    if (!error)
        return;
    memset(error, 0, sizeof *error);
    error->status = status;
    error->position = -1;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
}

static poolgrad_parity parity_of(pgi_face_origin origin)
{
    switch (origin) {
    case PGI_FACE_TENSORFLOW:
        return POOLGRAD_PARITY_TENSORFLOW;
    case PGI_FACE_ONEDNN:
        return POOLGRAD_PARITY_ONEDNN;
    case PGI_FACE_ONNXRUNTIME:
        return POOLGRAD_PARITY_ONNXRUNTIME;
    case PGI_FACE_TORCH:
        return POOLGRAD_PARITY_TORCH;
    case PGI_FACE_DIRECTML:
        break;
    }
    return POOLGRAD_PARITY_OFF;
}

poolgrad_status pgi_face_begin(pgi_face_call *call, const poolgrad_face_options *options,
                               pgi_face_origin origin, poolgrad_error *error)
{
    memset(call, 0, sizeof *call);
    poolgrad_desc_init(&call->desc);
    poolgrad_buffers_init(&call->buffers);
    poolgrad_face_options_init(&call->options);
    if (!options)
        return POOLGRAD_OK;
    if (options->size < OPTIONS_SIZE_0_1 || options->size > sizeof *options)
        return pgi_face_fail(error, POOLGRAD_ERR_STRUCT_SIZE,
                             "options.size is %zu; this library knows %zu to %zu bytes; use "
                             "poolgrad_face_options_init",
                             options->size, OPTIONS_SIZE_0_1, sizeof *options);
    memcpy(&call->options, options, options->size);
    if (options->plan)
        *options->plan = NULL;
    if (options->parity)
        call->desc.parity = parity_of(origin);
    if (options->parity && call->desc.parity == POOLGRAD_PARITY_OFF)
        return pgi_face_fail(error, POOLGRAD_ERR_UNSUPPORTED,
                             "options.parity is set, but the arithmetic of the original is not "
                             "known");
    return POOLGRAD_OK;
}

poolgrad_status pgi_face_tensor(const poolgrad_tensor *tensor, const char *name,
                                poolgrad_error *error)
{
    if (!tensor)
        return pgi_face_fail(error, POOLGRAD_ERR_NULL, "%s is NULL", name);
    if (tensor->rank < 0)
        return pgi_face_fail(error, POOLGRAD_ERR_RANK, "%s has the rank %d", name,
                             (int)tensor->rank);
    if (tensor->rank > 0 && !tensor->sizes)
        return pgi_face_fail(error, POOLGRAD_ERR_NULL, "%s has the rank %d but its sizes are NULL",
                             name, (int)tensor->rank);
    return POOLGRAD_OK;
}

/* Whether messages of a status name tensors. */
static int names_tensors(poolgrad_status status)
{
    switch (status) {
    case POOLGRAD_ERR_NULL:
    case POOLGRAD_ERR_SHAPE:
    case POOLGRAD_ERR_OVERFLOW:
    case POOLGRAD_ERR_LAYOUT:
    case POOLGRAD_ERR_MISALIGNED:
    case POOLGRAD_ERR_OVERLAP:
    case POOLGRAD_ERR_INDEX:
        return 1;
    default:
        return 0;
    }
}

/* The library's message with the face's names behind it. */
static void add_names(const pgi_face_call *call, poolgrad_error *error)
{
    static const char *const native[] = {"dy", "dx", "x", "y", "indices"};
    size_t used;
    int i, first = 1;

    if (!error || !names_tensors(error->status))
        return;
    used = strlen(error->message);
    for (i = 0; i < PGI_FACE_SLOTS; i++) {
        if (!call->name[i] || used + 1 >= sizeof error->message)
            continue;
        used += (size_t)snprintf(error->message + used, sizeof error->message - used, "%s%s is %s",
                                 first ? " (" : ", ", native[i], call->name[i]);
        first = 0;
    }
    if (!first && used + 1 < sizeof error->message)
        snprintf(error->message + used, sizeof error->message - used, ")");
}

/* ------------------------------------------------------------------- shapes */

int pgi_face_axis(poolgrad_layout order, int32_t spatial, int view_axis)
{
    if (order == POOLGRAD_NCX || view_axis == 0)
        return view_axis;
    return view_axis == 1 ? spatial + 1 : view_axis - 1;
}

void pgi_face_set_input(poolgrad_desc *desc, const poolgrad_tensor *tensor, poolgrad_layout order)
{
    int i;

    desc->rank = tensor->rank - 2;
    desc->batch = tensor->sizes[0];
    desc->channels = tensor->sizes[pgi_face_axis(order, desc->rank, 1)];
    for (i = 0; i < desc->rank; i++)
        desc->in[i] = tensor->sizes[pgi_face_axis(order, desc->rank, 2 + i)];
}

void pgi_face_copy(poolgrad_list list, int64_t *array, int32_t count, int64_t fill)
{
    int32_t i;

    for (i = 0; i < count; i++)
        array[i] = list.values ? list.values[i] : fill;
}

poolgrad_status pgi_face_windows(const pgi_face_call *call, int64_t *out, poolgrad_error *error)
{
    poolgrad_desc desc = call->desc;
    poolgrad_status status;

    memset(desc.out, 0, sizeof desc.out);
    /* Only windows are counted here; whether their taps can be is judged when the plan is made, by
     * the divisor that the face sets. */
    desc.op = POOLGRAD_AVG_GRAD;
    desc.parity = POOLGRAD_PARITY_OFF;
    desc.divisor = POOLGRAD_OVERRIDE;
    desc.divisor_override = 1;
    status = poolgrad_desc_resolve(&desc, error);
    memcpy(out, desc.out, sizeof desc.out);
    if (status != POOLGRAD_OK)
        add_names(call, error);
    return status;
}

void pgi_face_sizes(poolgrad_layout order, int32_t spatial, int64_t batch, int64_t channels,
                    const int64_t *extent, int64_t *sizes)
{
    int32_t i;

    sizes[0] = batch;
    sizes[pgi_face_axis(order, spatial, 1)] = channels;
    for (i = 0; i < spatial; i++)
        sizes[pgi_face_axis(order, spatial, 2 + i)] = extent[i];
}

int pgi_face_has_sizes(const poolgrad_tensor *tensor, int32_t rank, const int64_t *sizes)
{
    int32_t i;

    if (tensor->rank != rank)
        return 0;
    for (i = 0; i < rank; i++)
        if (tensor->sizes[i] != sizes[i])
            return 0;
    return 1;
}

char *pgi_face_sizes_text(int32_t rank, const int64_t *sizes, char *text, size_t capacity)
{
    size_t used = 0;
    int32_t i;

    used += (size_t)snprintf(text, capacity, "[");
    for (i = 0; i < rank && i < MOST_AXES && used < capacity; i++)
        used += (size_t)snprintf(text + used, capacity - used, i ? ",%lld" : "%lld",
                                 (long long)sizes[i]);
    if (used < capacity)
        snprintf(text + used, capacity - used, rank > MOST_AXES ? ",...]" : "]");
    return text;
}

/* ------------------------------------------------------------------ running */

static poolgrad_view *view_of(poolgrad_desc *desc, pgi_face_slot slot)
{
    switch (slot) {
    case PGI_FACE_DY:
        return &desc->dy;
    case PGI_FACE_DX:
        return &desc->dx;
    case PGI_FACE_X:
        return &desc->x;
    case PGI_FACE_Y:
        return &desc->y;
    case PGI_FACE_INDICES:
        break;
    }
    return &desc->indices;
}

void pgi_face_bind(pgi_face_call *call, pgi_face_slot slot, const poolgrad_tensor *tensor,
                   poolgrad_layout order, const char *name)
{
    poolgrad_view *view = view_of(&call->desc, slot);
    const int32_t spatial = call->desc.rank;
    const int missing = tensor->rank == spatial + 1; /* no batch axis: its stride is never used */
    int i;

    view->layout = tensor->strides ? POOLGRAD_STRIDED : order;
    for (i = missing; i < spatial + 2 && tensor->strides; i++)
        view->stride[i] = tensor->strides[pgi_face_axis(order, spatial, i) - missing];
    call->name[slot] = name;
    switch (slot) {
    case PGI_FACE_DY:
        call->buffers.dy = tensor->data;
        break;
    case PGI_FACE_DX:
        call->buffers.dx = tensor->data;
        break;
    case PGI_FACE_X:
        call->buffers.x = tensor->data;
        break;
    case PGI_FACE_Y:
        call->buffers.y = tensor->data;
        break;
    case PGI_FACE_INDICES:
        call->buffers.indices = tensor->data;
        break;
    }
}

poolgrad_status pgi_face_execute(const pgi_face_call *call, const poolgrad_plan *plan,
                                 poolgrad_error *error)
{
    const poolgrad_status status = poolgrad_execute(plan, &call->buffers, error);

    if (status != POOLGRAD_OK)
        add_names(call, error);
    return status;
}

poolgrad_status pgi_face_finish(pgi_face_call *call, poolgrad_error *error)
{
    poolgrad_plan *plan;
    poolgrad_status status;

    status = poolgrad_plan_create(&plan, &call->desc, call->options.compute, error);
    if (status != POOLGRAD_OK) {
        add_names(call, error);
        return status;
    }
    if (call->options.plan) {
        *call->options.plan = plan;
        return POOLGRAD_OK;
    }
    call->buffers.workspace = call->options.workspace;
    call->buffers.workspace_size = call->options.workspace_size;
    status = pgi_face_execute(call, plan, error);
    poolgrad_plan_destroy(plan);
    return status;
}

poolgrad_status pgi_face_read_ints(const poolgrad_tensor *tensor, const char *name, size_t bytes,
                                   int32_t count, int64_t *values, poolgrad_error *error)
{
    const int64_t farthest = PTRDIFF_MAX / (MOST_AXES * (int64_t)sizeof(int64_t));
    const int64_t stride = tensor->strides ? tensor->strides[0] : 1;
    int32_t i, narrow;

    if (!tensor->data)
        return pgi_face_fail(error, POOLGRAD_ERR_NULL, "the data of %s is NULL", name);
    if (stride > farthest || stride < -farthest)
        return pgi_face_fail(error, POOLGRAD_ERR_OVERFLOW,
                             "the stride of %s is %lld; its bytes do not fit in 64 bits", name,
                             (long long)stride);
    for (i = 0; i < count; i++) {
        const char *from = (const char *)tensor->data + i * stride * (int64_t)bytes;

        /* by bytes: nothing is said about its alignment */
        if (bytes == sizeof values[i]) {
            memcpy(&values[i], from, bytes);
        } else {
            memcpy(&narrow, from, sizeof narrow);
            values[i] = narrow;
        }
    }
    return POOLGRAD_OK;
}

int pgi_face_same_word(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        const char x = *a >= 'A' && *a <= 'Z' ? (char)(*a - 'A' + 'a') : *a;
        const char y = *b >= 'A' && *b <= 'Z' ? (char)(*b - 'A' + 'a') : *b;

        if (x != y)
            return 0;
    }
    return *a == *b;
}
