/* SPDX-License-Identifier: MIT */
/* The rules are those of PyTorch 2.15's CPU operators. Its 1-D operators go through the 2-D ones
 * and so have the same rules. */
#include <poolgrad/torch.h>

#include "common/face.h"

#include <stdio.h>
#include <string.h>

typedef poolgrad_torch_code code;
typedef poolgrad_torch_attributes attributes_t;

static const poolgrad_layout order = POOLGRAD_NCX;

enum {
    NAME_SIZE = 48,
    TEXT_SIZE = 72 /* two of them and a sentence fit in a message */
};

/* The tensors of a call, the operator's name for messages, and what has become of them. */
typedef struct operation {
    pgi_face_call call;
    char name[NAME_SIZE]; /* "avg_pool2d" */
    int32_t dims;
    const poolgrad_tensor *grad_output, *self, *grad_input;
} operation;

/* What PyTorch would call the library's own failures. */
static code code_of(poolgrad_status status)
{
    switch (status) {
    case POOLGRAD_OK:
        return POOLGRAD_TORCH_OK;
    case POOLGRAD_ERR_MEMORY:
        return POOLGRAD_TORCH_OUT_OF_MEMORY_ERROR;
    case POOLGRAD_ERR_INDEX:
        return POOLGRAD_TORCH_INDEX_ERROR;
    case POOLGRAD_ERR_UNSUPPORTED:
        return POOLGRAD_TORCH_NOT_IMPLEMENTED_ERROR;
    default:
        return POOLGRAD_TORCH_RUNTIME_ERROR;
    }
}

static poolgrad_dtype dtype_of(int32_t dtype)
{
    switch (dtype) {
    case POOLGRAD_TORCH_FLOAT:
        return POOLGRAD_F32;
    case POOLGRAD_TORCH_DOUBLE:
        return POOLGRAD_F64;
    case POOLGRAD_TORCH_HALF:
        return POOLGRAD_F16;
    case POOLGRAD_TORCH_BFLOAT16:
        return POOLGRAD_BF16;
    default:
        return (poolgrad_dtype)0;
    }
}

/* Messages name types that have no kernel, too. */
static const char *type_name(int32_t dtype)
{
    static const char *const names[] = {"Byte",        "Char",         "Short",         "Int",
                                        "Long",        "Half",         "Float",         "Double",
                                        "ComplexHalf", "ComplexFloat", "ComplexDouble", "Bool",
                                        "QInt8",       "QUInt8",       "QInt32",        "BFloat16"};

    if (dtype < 0 || (size_t)dtype >= sizeof names / sizeof *names)
        return "Undefined";
    return names[dtype];
}

poolgrad_status poolgrad_torch_attributes_init(poolgrad_torch_attributes *attributes)
{
    if (!attributes)
        return POOLGRAD_ERR_NULL;
    memset(attributes, 0, sizeof *attributes);
    attributes->count_include_pad = 1;
    return POOLGRAD_OK;
}

/* ------------------------------------------------------------------ tensors */

static code check_types(const operation *o, poolgrad_error *error)
{
    const int32_t dtype = o->self->dtype;

    if (!dtype_of(dtype))
        return code_of(pgi_face_fail(error, POOLGRAD_ERR_UNSUPPORTED,
                                     "\"%s_backward\" not implemented for '%s': self has the dtype "
                                     "%d; it must be Half (5), Float (6), Double (7) or BFloat16 "
                                     "(15)",
                                     o->name, type_name(dtype), (int)dtype));
    if (o->grad_output->dtype != dtype)
        return code_of(pgi_face_fail(
            error, POOLGRAD_ERR_ENUM, "expected dtype %s for `grad_output` but got dtype %s (%d)",
            type_name(dtype), type_name(o->grad_output->dtype), (int)o->grad_output->dtype));
    if (o->grad_input->dtype != dtype)
        return code_of(pgi_face_fail(
            error, POOLGRAD_ERR_ENUM, "expected dtype %s for `grad_input` but got dtype %s (%d)",
            type_name(dtype), type_name(o->grad_input->dtype), (int)o->grad_input->dtype));
    return POOLGRAD_TORCH_OK;
}

/* A batch may be empty, nothing else. */
static code check_input_sizes(const operation *o, poolgrad_error *error)
{
    const poolgrad_tensor *self = o->self;
    const int32_t batched = o->dims + 2;
    int good = self->rank == batched || self->rank == batched - 1;
    char text[TEXT_SIZE], other[TEXT_SIZE];
    int32_t i;

    for (i = 0; i < self->rank && good; i++) {
        if (self->sizes[i] < 0)
            return code_of(pgi_face_fail(
                error, POOLGRAD_ERR_SHAPE, "self is a tensor with negative dimension %lld: %s",
                (long long)self->sizes[i],
                pgi_face_sizes_text(self->rank, self->sizes, text, sizeof text)));
        good = self->sizes[i] > 0 || (i == 0 && self->rank == batched);
    }
    if (!good)
        return code_of(pgi_face_fail(
            error, POOLGRAD_ERR_SHAPE,
            "%s: Expected %dD or %dD (batch mode) tensor with optional 0 dim batch size for input, "
            "but got:%s",
            o->name, (int)batched - 1, (int)batched,
            pgi_face_sizes_text(self->rank, self->sizes, text, sizeof text)));
    if (!pgi_face_has_sizes(o->grad_input, self->rank, self->sizes))
        return code_of(pgi_face_fail(
            error, POOLGRAD_ERR_SHAPE, "grad_input has the sizes %s but self has %s",
            pgi_face_sizes_text(o->grad_input->rank, o->grad_input->sizes, text, sizeof text),
            pgi_face_sizes_text(self->rank, self->sizes, other, sizeof other)));
    return POOLGRAD_TORCH_OK;
}

/* Checks everything about self and grad_input, and lets the descriptor have their shape. `family`
 * is the operator's name up to the number of dimensions. */
static code begin(operation *o, const char *family, int32_t dims,
                  const poolgrad_tensor *grad_output, const poolgrad_tensor *self,
                  const poolgrad_tensor *grad_input, const poolgrad_face_options *options,
                  poolgrad_error *error)
{
    poolgrad_desc *desc = &o->call.desc;
    poolgrad_status status;
    code c;
    int32_t i;

    status = pgi_face_begin(&o->call, options, PGI_FACE_TORCH, error);
    if (status == POOLGRAD_OK && (dims < 1 || dims > 3))
        status = pgi_face_fail(error, POOLGRAD_ERR_RANK,
                               "dims is %d; it must be 1, 2 or 3: %s1d, "
                               "%s2d, %s3d",
                               (int)dims, family, family, family);
    if (status == POOLGRAD_OK)
        status = pgi_face_tensor(grad_output, "grad_output", error);
    if (status == POOLGRAD_OK)
        status = pgi_face_tensor(self, "self", error);
    if (status == POOLGRAD_OK)
        status = pgi_face_tensor(grad_input, "grad_input", error);
    if (status != POOLGRAD_OK)
        return code_of(status);
    snprintf(o->name, sizeof o->name, "%s%dd", family, (int)dims);
    o->dims = dims;
    o->grad_output = grad_output;
    o->self = self;
    o->grad_input = grad_input;
    c = check_types(o, error);
    if (!c)
        c = check_input_sizes(o, error);
    if (c)
        return c;
    desc->dtype = dtype_of(self->dtype);
    desc->rank = dims;
    desc->batch = self->rank == dims + 2 ? self->sizes[0] : 1;
    desc->channels = self->sizes[self->rank - dims - 1];
    for (i = 0; i < dims; i++)
        desc->in[i] = self->sizes[self->rank - dims + i];
    return POOLGRAD_TORCH_OK;
}

static code check_size(const poolgrad_tensor *tensor, const char *name, int32_t rank, int32_t axis,
                       int64_t size, poolgrad_error *error)
{
    char got[TEXT_SIZE] = "";

    if (tensor->rank == rank && tensor->sizes[axis] == size)
        return POOLGRAD_TORCH_OK;
    if (axis < tensor->rank)
        snprintf(got, sizeof got, " and tensor.size[%d] = %lld", (int)axis,
                 (long long)tensor->sizes[axis]);
    return code_of(
        pgi_face_fail(error, POOLGRAD_ERR_SHAPE,
                      "Expected a tensor of dimension %d and tensor.size[%d] == %lld but "
                      "got: dimension %d%s (%s)",
                      (int)rank, (int)axis, (long long)size, (int)tensor->rank, got, name));
}

/* A tensor with as many axes as self, with self's batch and channels, and these spatial sizes. In
 * aten's order: the batch comes last. */
static code check_output_sizes(const operation *o, const poolgrad_tensor *tensor, const char *name,
                               const int64_t *out, poolgrad_error *error)
{
    const int32_t rank = o->self->rank, first = rank - o->dims;
    code c;
    int32_t i;

    c = check_size(tensor, name, rank, first - 1, o->call.desc.channels, error);
    for (i = 0; i < o->dims && !c; i++)
        c = check_size(tensor, name, rank, first + i, out[i], error);
    if (!c && first == 2)
        c = check_size(tensor, name, rank, 0, o->call.desc.batch, error);
    return c;
}

/* --------------------------------------------------------------- attributes */

/* "kH: 3 kW: 2" */
static const char *axes_text(const operation *o, const char *prefix, const int64_t *values,
                             char *text)
{
    static const char axes[] = "THW";
    size_t used = 0;
    int32_t i;

    text[0] = '\0';
    for (i = 0; i < o->dims && used < TEXT_SIZE; i++)
        used += (size_t)snprintf(text + used, TEXT_SIZE - used, "%s%s%c: %lld", i ? " " : "",
                                 prefix, axes[3 - o->dims + i], (long long)values[i]);
    return text;
}

/* "3x8x8": channels and spatial sizes. */
static const char *extents_text(const operation *o, const int64_t *extent, char *text)
{
    size_t used = (size_t)snprintf(text, TEXT_SIZE, "%lld", (long long)o->call.desc.channels);
    int32_t i;

    for (i = 0; i < o->dims && used < TEXT_SIZE; i++)
        used += (size_t)snprintf(text + used, TEXT_SIZE - used, "x%lld", (long long)extent[i]);
    return text;
}

static code check_count(const operation *o, poolgrad_list list, const char *name, int may_be_empty,
                        poolgrad_error *error)
{
    static const char *const numbers[] = {"", "one int", "two ints", "three ints"};

    if (list.count == 1 || list.count == (size_t)o->dims || (list.count == 0 && may_be_empty))
        return POOLGRAD_TORCH_OK;
    if (o->dims == 1)
        return code_of(pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                                     "%s() argument '%s' should contain one int (got %zu)", o->name,
                                     name, list.count));
    return code_of(pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                                 "%s: %s must either be %sa single int, or a tuple of %s; "
                                 "got %zu",
                                 o->name, name, may_be_empty ? "omitted, " : "", numbers[o->dims],
                                 list.count));
}

/* Fills values[dims]; what was left out comes from fallback[dims]. Aten holds these numbers in 32
 * bits, so products of two of them fit in 64. */
static code read_list(const operation *o, poolgrad_list list, const char *name, int may_be_empty,
                      const int64_t *fallback, int64_t *values, poolgrad_error *error)
{
    int32_t i;
    code c;

    if (list.values) {
        c = check_count(o, list, name, may_be_empty, error);
        if (c)
            return c;
    }
    for (i = 0; i < o->dims; i++) {
        if (!list.values || list.count == 0)
            values[i] = fallback[i];
        else
            values[i] = list.values[list.count == 1 ? 0 : i];
        if (values[i] < INT32_MIN || values[i] > INT32_MAX)
            return code_of(pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                                         "%s: integer out of range: %s is %lld", o->name, name,
                                         (long long)values[i]));
    }
    return POOLGRAD_TORCH_OK;
}

static code all_positive(const operation *o, const char *what, const char *prefix,
                         const int64_t *values, poolgrad_error *error)
{
    char text[TEXT_SIZE];
    int32_t i;

    for (i = 0; i < o->dims; i++)
        if (values[i] <= 0)
            return code_of(pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                                         "%s: %s should be greater than zero, but got %s", o->name,
                                         what, axes_text(o, prefix, values, text)));
    return POOLGRAD_TORCH_OK;
}

static code check_window(const operation *o, poolgrad_error *error)
{
    const poolgrad_desc *desc = &o->call.desc;
    int32_t i;
    code c;

    for (i = 0; i < o->dims; i++) {
        if (desc->stride[i] == 0)
            return code_of(pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                                         "%s: stride should not be zero", o->name));
        if (desc->pad_lo[i] < 0)
            return code_of(pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                                         "%s: pad must be non-negative, but got pad: %lld", o->name,
                                         (long long)desc->pad_lo[i]));
    }
    c = all_positive(o, "kernel size", "k", desc->kernel, error);
    if (!c)
        c = all_positive(o, "stride", "d", desc->stride, error);
    if (!c)
        c = all_positive(o, "dilation", "dilation", desc->dilation, error);
    for (i = 0; i < o->dims && !c; i++)
        if (desc->pad_lo[i] > ((desc->kernel[i] - 1) * desc->dilation[i] + 1) / 2)
            c = code_of(pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                                      "%s: pad should be at most half of effective kernel size, "
                                      "but got pad=%lld, kernel_size=%lld and dilation=%lld",
                                      o->name, (long long)desc->pad_lo[i],
                                      (long long)desc->kernel[i], (long long)desc->dilation[i]));
    return c;
}

static code set_attributes(operation *o, const attributes_t *a, poolgrad_error *error)
{
    static const int64_t zeros[3] = {0, 0, 0}, ones[3] = {1, 1, 1};
    poolgrad_desc *desc = &o->call.desc;
    code c;

    if (!a || !a->kernel_size.values)
        return code_of(pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                                     "%s is missing value for argument 'kernel_size'", o->name));
    c = read_list(o, a->kernel_size, "kernel_size", 0, zeros, desc->kernel, error);
    if (!c)
        c = read_list(o, a->stride, "stride", 1, desc->kernel, desc->stride, error);
    if (!c)
        c = read_list(o, a->padding, "padding", 0, zeros, desc->pad_lo, error);
    if (!c)
        c = read_list(o, a->dilation, "dilation", 0, ones, desc->dilation, error);
    if (c)
        return c;
    memcpy(desc->pad_hi, desc->pad_lo, sizeof desc->pad_hi);
    desc->rounding = a->ceil_mode ? POOLGRAD_CEIL : POOLGRAD_FLOOR;
    return check_window(o, error);
}

/* How many windows there are: at least one on every axis. */
static code count_windows(const operation *o, int64_t *out, poolgrad_error *error)
{
    const poolgrad_status status = pgi_face_windows(&o->call, out, error);
    char in_text[TEXT_SIZE], out_text[TEXT_SIZE];
    int32_t i;

    for (i = 0; i < o->dims && status == POOLGRAD_OK; i++)
        if (out[i] < 1)
            return code_of(pgi_face_fail(error, POOLGRAD_ERR_SHAPE,
                                         "%s: Given input size: (%s). Calculated output size: "
                                         "(%s). Output size is too small",
                                         o->name, extents_text(o, o->call.desc.in, in_text),
                                         extents_text(o, out, out_text)));
    return code_of(status);
}

/* The windows of an adaptive operator are as many as grad_output is large. */
static code set_adaptive(operation *o, poolgrad_error *error)
{
    const poolgrad_tensor *tensor = o->grad_output;
    poolgrad_desc *desc = &o->call.desc;
    char text[TEXT_SIZE];
    int32_t i;

    if (tensor->rank != o->self->rank)
        return code_of(pgi_face_fail(error, POOLGRAD_ERR_SHAPE,
                                     "%s_backward: Expected dimensions %d for `grad_output` but "
                                     "got dimensions %d",
                                     o->name, (int)o->self->rank, (int)tensor->rank));
    for (i = 0; i < o->dims; i++) {
        desc->out[i] = tensor->sizes[tensor->rank - o->dims + i];
        if (desc->out[i] < 1)
            return code_of(pgi_face_fail(
                error, POOLGRAD_ERR_SHAPE,
                "%s_backward(): Expected grad_output to have non-zero size for non-batch "
                "dimensions, but grad_output has sizes %s with dimension %d being empty",
                o->name, pgi_face_sizes_text(tensor->rank, tensor->sizes, text, sizeof text),
                (int)(tensor->rank - o->dims + i)));
    }
    desc->rounding = POOLGRAD_ADAPTIVE;
    return check_output_sizes(o, tensor, "grad_output", desc->out, error);
}

/* ---------------------------------------------------------------- operators */

static code finish(operation *o, poolgrad_error *error)
{
    pgi_face_bind(&o->call, PGI_FACE_DY, o->grad_output, order, "grad_output");
    pgi_face_bind(&o->call, PGI_FACE_DX, o->grad_input, order, "grad_input");
    return code_of(pgi_face_finish(&o->call, error));
}

static code finish_max(operation *o, const poolgrad_tensor *indices, const int64_t *out,
                       poolgrad_error *error)
{
    poolgrad_desc *desc = &o->call.desc;
    const poolgrad_status status = pgi_face_tensor(indices, "indices", error);
    code c;

    if (status != POOLGRAD_OK)
        return code_of(status);
    if (indices->dtype != POOLGRAD_TORCH_LONG)
        return code_of(pgi_face_fail(error, POOLGRAD_ERR_ENUM,
                                     "expected scalar type Long but found %s (indices have the "
                                     "dtype %d)",
                                     type_name(indices->dtype), (int)indices->dtype));
    c = check_output_sizes(o, indices, "indices", out, error);
    if (c)
        return c;
    desc->op = POOLGRAD_MAX_GRAD;
    desc->winner = POOLGRAD_FROM_INDICES;
    desc->index_type = POOLGRAD_I64;
    desc->index_base = POOLGRAD_INDEX_PLANE;
    pgi_face_bind(&o->call, PGI_FACE_INDICES, indices, order, NULL); /* the same name */
    return finish(o, error);
}

/* Arguments that the average operators have and the others have not, and the reverse. */
static code set_average(operation *o, const attributes_t *a, poolgrad_error *error)
{
    poolgrad_desc *desc = &o->call.desc;
    char in_text[TEXT_SIZE], kernel_text[TEXT_SIZE];
    int32_t i;

    for (i = 0; i < o->dims; i++)
        if (desc->dilation[i] != 1)
            return code_of(pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                                         "%s has no dilation, but got dilation=%lld", o->name,
                                         (long long)desc->dilation[i]));
    desc->op = POOLGRAD_AVG_GRAD;
    desc->divisor = a->count_include_pad ? POOLGRAD_INCLUDE_CLIPPED : POOLGRAD_EXCLUDE;
    if (a->divisor_override) {
        desc->divisor = POOLGRAD_OVERRIDE;
        desc->divisor_override = *a->divisor_override;
        if (desc->divisor_override == 0)
            return code_of(pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                                         "%s: divisor must be not zero", o->name));
    }
    /* The 3-D operator alone asks for this, whatever the padding. */
    for (i = 0; i < o->dims && o->dims == 3; i++)
        if (desc->in[i] < desc->kernel[i])
            return code_of(pgi_face_fail(error, POOLGRAD_ERR_SHAPE,
                                         "%s: input image (%s) smaller than kernel size (%s)",
                                         o->name, axes_text(o, "", desc->in, in_text),
                                         axes_text(o, "k", desc->kernel, kernel_text)));
    return POOLGRAD_TORCH_OK;
}

poolgrad_torch_code poolgrad_torch_avg_pool_backward(
    int32_t dims, const poolgrad_tensor *grad_output, const poolgrad_tensor *self,
    const poolgrad_torch_attributes *attributes, const poolgrad_tensor *grad_input,
    const poolgrad_face_options *options, poolgrad_error *error)
{
    operation o;
    int64_t out[3];
    code c = begin(&o, "avg_pool", dims, grad_output, self, grad_input, options, error);

    if (!c)
        c = set_attributes(&o, attributes, error);
    if (!c)
        c = set_average(&o, attributes, error);
    if (!c)
        c = count_windows(&o, out, error);
    if (!c)
        c = check_output_sizes(&o, grad_output, "grad_output", out, error);
    return c ? c : finish(&o, error);
}

poolgrad_torch_code poolgrad_torch_max_pool_with_indices_backward(
    int32_t dims, const poolgrad_tensor *grad_output, const poolgrad_tensor *self,
    const poolgrad_tensor *indices, const poolgrad_torch_attributes *attributes,
    const poolgrad_tensor *grad_input, const poolgrad_face_options *options, poolgrad_error *error)
{
    operation o;
    int64_t out[3];
    code c = begin(&o, "max_pool", dims, grad_output, self, grad_input, options, error);

    if (!c)
        c = set_attributes(&o, attributes, error);
    if (!c && attributes->divisor_override)
        c = code_of(pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                                  "%s has no divisor, but got divisor_override=%lld", o.name,
                                  (long long)*attributes->divisor_override));
    if (!c)
        c = count_windows(&o, out, error);
    if (!c)
        c = check_output_sizes(&o, grad_output, "grad_output", out, error);
    return c ? c : finish_max(&o, indices, out, error);
}

poolgrad_torch_code poolgrad_torch_adaptive_avg_pool_backward(
    int32_t dims, const poolgrad_tensor *grad_output, const poolgrad_tensor *self,
    const poolgrad_tensor *grad_input, const poolgrad_face_options *options, poolgrad_error *error)
{
    operation o;
    code c = begin(&o, "adaptive_avg_pool", dims, grad_output, self, grad_input, options, error);

    if (!c)
        c = set_adaptive(&o, error);
    if (c)
        return c;
    o.call.desc.op = POOLGRAD_AVG_GRAD;
    o.call.desc.divisor = POOLGRAD_EXCLUDE;
    return finish(&o, error);
}

poolgrad_torch_code poolgrad_torch_adaptive_max_pool_backward(
    int32_t dims, const poolgrad_tensor *grad_output, const poolgrad_tensor *self,
    const poolgrad_tensor *indices, const poolgrad_tensor *grad_input,
    const poolgrad_face_options *options, poolgrad_error *error)
{
    operation o;
    code c = begin(&o, "adaptive_max_pool", dims, grad_output, self, grad_input, options, error);

    if (!c)
        c = set_adaptive(&o, error);
    return c ? c : finish_max(&o, indices, o.call.desc.out, error);
}
