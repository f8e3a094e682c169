/* SPDX-License-Identifier: MIT */
/* The rules are those of ONNX Runtime 1.19's training kernels and of the ONNX operators AveragePool
 * and MaxPool, whose attributes the gradients repeat. */
#include <poolgrad/onnxruntime.h>

#include "common/face.h"

#include <string.h>

typedef poolgrad_onnxruntime_code code;
typedef poolgrad_onnxruntime_attributes attributes_t;

static const poolgrad_layout order = POOLGRAD_NCX;

/* What ONNX Runtime would call the library's own failures. */
static code code_of(poolgrad_status status)
{
    switch (status) {
    case POOLGRAD_OK:
        return POOLGRAD_ONNXRUNTIME_OK;
    case POOLGRAD_ERR_MEMORY:
        return POOLGRAD_ONNXRUNTIME_FAIL;
    case POOLGRAD_ERR_UNSUPPORTED:
        return POOLGRAD_ONNXRUNTIME_NOT_IMPLEMENTED;
    case POOLGRAD_ERR_ATTRIBUTE:
        return POOLGRAD_ONNXRUNTIME_RUNTIME_EXCEPTION;
    default:
        return POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT;
    }
}

static poolgrad_dtype dtype_of(int32_t dtype)
{
    switch (dtype) {
    case POOLGRAD_ONNXRUNTIME_FLOAT:
        return POOLGRAD_F32;
    case POOLGRAD_ONNXRUNTIME_DOUBLE:
        return POOLGRAD_F64;
    case POOLGRAD_ONNXRUNTIME_FLOAT16:
        return POOLGRAD_F16;
    case POOLGRAD_ONNXRUNTIME_BFLOAT16:
        return POOLGRAD_BF16;
    default:
        return (poolgrad_dtype)0;
    }
}

/* What both operators ask of dY and dX before they look at attributes. */
static code check_tensors(pgi_face_call *call, const char *op, const poolgrad_tensor *dY,
                          const poolgrad_tensor *dX, poolgrad_error *error)
{
    poolgrad_status status;
    int32_t i;

    status = pgi_face_tensor(dY, "dY", error);
    if (status != POOLGRAD_OK)
        return code_of(status);
    if (!dX || (dX->rank > 0 && !dX->sizes)) {
        pgi_face_say(error, POOLGRAD_ERR_NULL,
                     "the shape of dX is missing; %s takes the sizes of its result from it", op);
        return POOLGRAD_ONNXRUNTIME_INVALID_GRAPH;
    }
    call->desc.dtype = dtype_of(dY->dtype);
    if (!call->desc.dtype) {
        pgi_face_say(error, POOLGRAD_ERR_UNSUPPORTED,
                     "Could not find an implementation for %s(9): dY has the element type %d; it "
                     "must be FLOAT (1), FLOAT16 (10), DOUBLE (11) or BFLOAT16 (16)",
                     op, (int)dY->dtype);
        return POOLGRAD_ONNXRUNTIME_NOT_IMPLEMENTED;
    }
    if (dX->dtype != dY->dtype) {
        pgi_face_say(error, POOLGRAD_ERR_ENUM, "dX has the element type %d but dY has %d",
                     (int)dX->dtype, (int)dY->dtype);
        return POOLGRAD_ONNXRUNTIME_INVALID_GRAPH;
    }
    if (dX->rank < 3 || dX->rank > 5) {
        pgi_face_say(error, POOLGRAD_ERR_RANK,
                     "Unsupported pooling size : dX has the rank %d; it must be 3, 4 or 5",
                     (int)dX->rank);
        return POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT;
    }
    for (i = 0; i < dX->rank; i++) {
        if (dX->sizes[i] < 0) {
            pgi_face_say(error, POOLGRAD_ERR_SHAPE,
                         "the size %d of dX is %lld; the gradient needs a static shape", (int)i,
                         (long long)dX->sizes[i]);
            return POOLGRAD_ONNXRUNTIME_INVALID_GRAPH;
        }
    }
    return POOLGRAD_ONNXRUNTIME_OK;
}

static code check_list(poolgrad_list list, const char *name, size_t count, int64_t least,
                       poolgrad_error *error)
{
    size_t i;

    if (!list.values)
        return POOLGRAD_ONNXRUNTIME_OK;
    if (list.count != count) {
        pgi_face_say(error, POOLGRAD_ERR_ATTRIBUTE, "%s has %zu values; dX needs %zu", name,
                     list.count, count);
        return POOLGRAD_ONNXRUNTIME_RUNTIME_EXCEPTION;
    }
    for (i = 0; i < count; i++) {
        if (list.values[i] < least) {
            pgi_face_say(error, POOLGRAD_ERR_ATTRIBUTE, "%s[%zu] is %lld; it must be at least %d",
                         name, i, (long long)list.values[i], (int)least);
            return POOLGRAD_ONNXRUNTIME_RUNTIME_EXCEPTION;
        }
    }
    return POOLGRAD_ONNXRUNTIME_OK;
}

static code set_padding(poolgrad_desc *desc, const attributes_t *a, poolgrad_error *error)
{
    static const struct {
        const char *name;
        poolgrad_padding padding;
    } known[] = {
        {"VALID", POOLGRAD_VALID},
        {"SAME_UPPER", POOLGRAD_SAME_UPPER},
        {"SAME_LOWER", POOLGRAD_SAME_LOWER},
    };
    size_t i;

    if (!a->auto_pad || strcmp(a->auto_pad, "NOTSET") == 0) {
        for (i = 0; i < (size_t)desc->rank && a->pads.values; i++) {
            desc->pad_lo[i] = a->pads.values[i];
            desc->pad_hi[i] = a->pads.values[i + (size_t)desc->rank];
        }
        return POOLGRAD_ONNXRUNTIME_OK;
    }
    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(a->auto_pad, known[i].name) == 0)
            return code_of(poolgrad_desc_set_padding(desc, known[i].padding, error));
    pgi_face_say(error, POOLGRAD_ERR_ATTRIBUTE,
                 "Unknown AutoPadType String: %.40s; it is one of NOTSET, VALID, SAME_UPPER, "
                 "SAME_LOWER",
                 a->auto_pad);
    return POOLGRAD_ONNXRUNTIME_RUNTIME_EXCEPTION;
}

static code set_attributes(pgi_face_call *call, const attributes_t *a, const poolgrad_tensor *dX,
                           poolgrad_error *error)
{
    poolgrad_desc *desc = &call->desc;
    const size_t spatial = (size_t)dX->rank - 2;
    code c;

    if (!a || !a->kernel_shape.values) {
        pgi_face_say(error, POOLGRAD_ERR_ATTRIBUTE,
                     "Required attribute 'kernel_shape' is missing.");
        return POOLGRAD_ONNXRUNTIME_INVALID_GRAPH;
    }
    c = check_list(a->kernel_shape, "kernel_shape", spatial, 1, error);
    if (!c)
        c = check_list(a->strides, "strides", spatial, 1, error);
    if (!c)
        c = check_list(a->dilations, "dilations", spatial, 1, error);
    if (!c)
        c = check_list(a->pads, "pads", 2 * spatial, 0, error);
    if (c)
        return c;
    pgi_face_set_input(desc, dX, order);
    pgi_face_copy(a->kernel_shape, desc->kernel, desc->rank, 0);
    pgi_face_copy(a->strides, desc->stride, desc->rank, 1);
    pgi_face_copy(a->dilations, desc->dilation, desc->rank, 1);
    if (a->ceil_mode)
        desc->rounding = POOLGRAD_CEIL;
    return set_padding(desc, a, error);
}

/* dY must have exactly the shape that the forward operator gives. */
static code check_shape(const pgi_face_call *call, const poolgrad_tensor *dY, poolgrad_error *error)
{
    const poolgrad_desc *desc = &call->desc;
    poolgrad_status status;
    int64_t out[3], sizes[5];
    char expected[128], found[128];

    status = pgi_face_windows(call, out, error);
    if (status != POOLGRAD_OK)
        return code_of(status);
    pgi_face_sizes(order, desc->rank, desc->batch, desc->channels, out, sizes);
    if (pgi_face_has_sizes(dY, desc->rank + 2, sizes))
        return POOLGRAD_ONNXRUNTIME_OK;
    pgi_face_say(error, POOLGRAD_ERR_SHAPE, "dY has the shape %s; dX and the attributes make it %s",
                 pgi_face_sizes_text(dY->rank, dY->sizes, found, sizeof found),
                 pgi_face_sizes_text(desc->rank + 2, sizes, expected, sizeof expected));
    return POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT;
}

/* Everything that the two operators have in common, up to the binding of dY and dX. */
static code begin(pgi_face_call *call, const char *op, const poolgrad_tensor *dY,
                  const attributes_t *attributes, const poolgrad_tensor *dX,
                  const poolgrad_face_options *options, poolgrad_error *error)
{
    code c = code_of(pgi_face_begin(call, options, PGI_FACE_ONNXRUNTIME, error));

    if (!c)
        c = check_tensors(call, op, dY, dX, error);
    if (!c)
        c = set_attributes(call, attributes, dX, error);
    if (c)
        return c;
    pgi_face_bind(call, PGI_FACE_DX, dX, order, "dX");
    c = check_shape(call, dY, error);
    if (!c)
        pgi_face_bind(call, PGI_FACE_DY, dY, order, "dY");
    return c;
}

poolgrad_onnxruntime_code poolgrad_onnxruntime_average_pool_grad(
    const poolgrad_tensor *dY, const poolgrad_onnxruntime_attributes *attributes,
    const poolgrad_tensor *dX, const poolgrad_face_options *options, poolgrad_error *error)
{
    pgi_face_call call;
    const code c = begin(&call, "AveragePoolGrad", dY, attributes, dX, options, error);

    if (c)
        return c;
    call.desc.op = POOLGRAD_AVG_GRAD;
    call.desc.divisor = POOLGRAD_EXCLUDE;
    if (attributes->count_include_pad) /* ONNX Runtime counts what lies behind the padding too */
        call.desc.divisor = call.options.parity ? POOLGRAD_INCLUDE : POOLGRAD_INCLUDE_CLIPPED;
    return code_of(pgi_face_finish(&call, error));
}

poolgrad_onnxruntime_code
poolgrad_onnxruntime_max_pool_grad(const poolgrad_tensor *dY, const poolgrad_tensor *Indices,
                                   const poolgrad_onnxruntime_attributes *attributes,
                                   const poolgrad_tensor *dX, const poolgrad_face_options *options,
                                   poolgrad_error *error)
{
    pgi_face_call call;
    poolgrad_status status;
    char of_dY[64], found[64];
    const code c = begin(&call, "MaxPoolGrad", dY, attributes, dX, options, error);

    if (c)
        return c;
    status = pgi_face_tensor(Indices, "Indices", error);
    if (status != POOLGRAD_OK)
        return code_of(status);
    if (Indices->dtype != POOLGRAD_ONNXRUNTIME_INT64) {
        pgi_face_say(error, POOLGRAD_ERR_ENUM,
                     "Indices has the element type %d; it must be INT64 (7)", (int)Indices->dtype);
        return POOLGRAD_ONNXRUNTIME_INVALID_GRAPH;
    }
    if (!pgi_face_has_sizes(Indices, dY->rank, dY->sizes)) {
        pgi_face_say(error, POOLGRAD_ERR_SHAPE,
                     "dY->Shape() == indices->Shape() was false: dY has the shape %s, Indices has "
                     "%s",
                     pgi_face_sizes_text(dY->rank, dY->sizes, of_dY, sizeof of_dY),
                     pgi_face_sizes_text(Indices->rank, Indices->sizes, found, sizeof found));
        return POOLGRAD_ONNXRUNTIME_RUNTIME_EXCEPTION;
    }
    if (attributes->storage_order != 0 && attributes->storage_order != 1) {
        pgi_face_say(error, POOLGRAD_ERR_ATTRIBUTE, "storage_order is %lld; it must be 0 or 1",
                     (long long)attributes->storage_order);
        return POOLGRAD_ONNXRUNTIME_RUNTIME_EXCEPTION;
    }
    call.desc.op = POOLGRAD_MAX_GRAD;
    call.desc.winner = POOLGRAD_FROM_INDICES;
    call.desc.index_base = POOLGRAD_INDEX_TENSOR;
    call.desc.index_order = attributes->storage_order ? POOLGRAD_COLUMN_MAJOR : POOLGRAD_ROW_MAJOR;
    pgi_face_bind(&call, PGI_FACE_INDICES, Indices, order, "Indices");
    return code_of(pgi_face_finish(&call, error));
}
