/* SPDX-License-Identifier: MIT */
/* The rules are those of TensorFlow 2.21's CPU kernels: attributes as the operators register them,
 * then the kernels' own checks in their order, except that an empty result ends nothing early. */
#include "operation.h"

#include <string.h>

/* --------------------------------------------------------------------- types */

static poolgrad_dtype dtype_of(int32_t dtype)
{
    switch (dtype) {
    case POOLGRAD_TENSORFLOW_FLOAT:
        return POOLGRAD_F32;
    case POOLGRAD_TENSORFLOW_DOUBLE:
        return POOLGRAD_F64;
    case POOLGRAD_TENSORFLOW_HALF:
        return POOLGRAD_F16;
    case POOLGRAD_TENSORFLOW_BFLOAT16:
        return POOLGRAD_BF16;
    default:
        return (poolgrad_dtype)0;
    }
}

/* All types of TensorFlow: what it would say of one that does not fit. */
const char *pgi_tensorflow_type_name(int32_t dtype)
{
    static const char *const names[] = {
        "invalid",   "float",  "double",     "int32", "uint8",    "int16",   "int8",     "string",
        "complex64", "int64",  "bool",       "qint8", "quint8",   "qint32",  "bfloat16", "qint16",
        "quint16",   "uint16", "complex128", "half",  "resource", "variant", "uint32",   "uint64"};

    return dtype < 0 || dtype >= (int32_t)(sizeof names / sizeof *names) ? "unknown" : names[dtype];
}

poolgrad_status pgi_tensorflow_wrong_type(const char *attribute, int32_t dtype, const char *allowed,
                                          poolgrad_error *error)
{
    return pgi_face_fail(error, POOLGRAD_ERR_ENUM,
                         "Value for attr '%s' of %s is not in the list of allowed values: %s "
                         "(TF_DataType %d was given)",
                         attribute, pgi_tensorflow_type_name(dtype), allowed, (int)dtype);
}

poolgrad_status pgi_tensorflow_set_type(pgi_tensorflow_call *o, const poolgrad_tensor *tensor,
                                        poolgrad_error *error)
{
    o->dtype = tensor->dtype;
    o->call.desc.dtype = dtype_of(tensor->dtype);
    if (!o->call.desc.dtype)
        return pgi_tensorflow_wrong_type("T", tensor->dtype, "half, bfloat16, float, double",
                                         error);
    return POOLGRAD_OK;
}

poolgrad_status pgi_tensorflow_check_type(const pgi_tensorflow_call *o,
                                          const poolgrad_tensor *tensor, int place, int32_t dtype,
                                          poolgrad_error *error)
{
    if (tensor->dtype == dtype)
        return POOLGRAD_OK;
    return pgi_face_fail(error, POOLGRAD_ERR_ENUM,
                         "cannot compute %s as input #%d(zero-based) was expected to be a %s "
                         "tensor but is a %s tensor",
                         o->op->name, place, pgi_tensorflow_type_name(dtype),
                         pgi_tensorflow_type_name(tensor->dtype));
}

/* ---------------------------------------------------------------- attributes */

static poolgrad_status check_list(const pgi_tensorflow_call *o, poolgrad_list list,
                                  const char *name, poolgrad_error *error)
{
    const size_t axes = (size_t)o->op->spatial + 2;
    size_t i;

    if (!list.values)
        return pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE, "NodeDef missing attr '%s' from %s",
                             name, o->op->name);
    if (list.count < axes)
        return pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                             "Length for attr '%s' of %zu must be at least minimum %zu", name,
                             list.count, axes);
    if (list.count > axes)
        return pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                             "Sliding window %s field must specify %zu dimensions; it has %zu",
                             name, axes, list.count);
    for (i = 0; i < axes; i++)
        if (list.values[i] < INT32_MIN || list.values[i] > INT32_MAX)
            return pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                                 "Attr %s has value %lld out of range for an int32", name,
                                 (long long)list.values[i]);
    return POOLGRAD_OK;
}

static poolgrad_status check_word(const pgi_tensorflow_call *o, const char *name, const char *value,
                                  const char *const *allowed, poolgrad_error *error)
{
    int i;

    if (!value)
        return pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE, "NodeDef missing attr '%s' from %s",
                             name, o->op->name);
    for (i = 0; allowed[i]; i++)
        if (strcmp(value, allowed[i]) == 0)
            return POOLGRAD_OK;
    return pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                         "Value for attr '%s' of \"%.40s\" is not in the list of allowed values: "
                         "\"%s\", \"%s\"%s",
                         name, value, allowed[0], allowed[1], allowed[2] ? ", \"EXPLICIT\"" : "");
}

/* Attributes of other operators, given to this one. */
static poolgrad_status check_strangers(const pgi_tensorflow_call *o, poolgrad_error *error)
{
    const poolgrad_tensorflow_attributes *a = o->attributes;
    const char *stranger = NULL;

    if (a->explicit_paddings.values && !o->op->has_explicit)
        stranger = "explicit_paddings";
    if (a->data_format && !o->op->has_format)
        stranger = "data_format";
    if (a->include_batch_in_index && !o->op->has_batch_in_index)
        stranger = "include_batch_in_index";
    if (!stranger)
        return POOLGRAD_OK;
    return pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE, "NodeDef mentions attr '%s' not in Op %s",
                         stranger, o->op->name);
}

static poolgrad_status set_format(pgi_tensorflow_call *o, poolgrad_error *error)
{
    static const char *const formats[][3] = {{"NHWC", "NCHW", NULL}, {"NDHWC", "NCDHW", NULL}};
    const char *const *allowed = formats[o->op->spatial == 3];
    const char *format = o->attributes->data_format;

    o->order = format && strcmp(format, allowed[1]) == 0 ? POOLGRAD_NCX : POOLGRAD_NXC;
    return format ? check_word(o, "data_format", format, allowed, error) : POOLGRAD_OK;
}

poolgrad_status pgi_tensorflow_check_channels(const pgi_tensorflow_call *o, const char *name,
                                              poolgrad_list list, poolgrad_error *error)
{
    const int axis = pgi_face_axis(o->order, o->op->spatial, 1);

    if (list.values[axis] == 1)
        return POOLGRAD_OK;
    return pgi_face_fail(error, POOLGRAD_ERR_UNSUPPORTED, "%s %s[%d] is %lld; it must be 1",
                         o->op->for_channels, name, axis, (long long)list.values[axis]);
}

static poolgrad_status check_window(const pgi_tensorflow_call *o, poolgrad_error *error)
{
    const poolgrad_tensorflow_attributes *a = o->attributes;
    poolgrad_status status;
    int i;

    /* An entry for the batch is judged below; that of 3-D operators here already. */
    for (i = o->op->spatial == 3 ? 0 : 1; i < o->op->spatial + 2; i++)
        if (a->ksize.values[i] < 1)
            return pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                                 "Sliding window ksize field for dimension %d must be positive, "
                                 "got: %lld",
                                 i, (long long)a->ksize.values[i]);
    if (a->ksize.values[0] != 1 || a->strides.values[0] != 1)
        return pgi_face_fail(error, POOLGRAD_ERR_UNSUPPORTED,
                             "Pooling is not yet supported on the batch dimension. ksize[0] is "
                             "%lld and strides[0] is %lld; they must be 1",
                             (long long)a->ksize.values[0], (long long)a->strides.values[0]);
    if (o->op->channels_late)
        return POOLGRAD_OK;
    status = pgi_tensorflow_check_channels(o, "ksize", a->ksize, error);
    if (!status)
        status = pgi_tensorflow_check_channels(o, "strides", a->strides, error);
    return status;
}

static poolgrad_status check_explicit(const pgi_tensorflow_call *o, poolgrad_error *error)
{
    const poolgrad_list list = o->attributes->explicit_paddings;
    const int channels = pgi_face_axis(o->order, o->op->spatial, 1);
    const size_t wanted = 2 * ((size_t)o->op->spatial + 2), given = list.values ? list.count : 0;
    size_t i;

    if (strcmp(o->attributes->padding, "EXPLICIT") != 0) {
        if (given == 0)
            return POOLGRAD_OK;
        return pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                             "explicit_paddings attribute must be empty if the padding attribute "
                             "is not EXPLICIT");
    }
    if (!list.values || list.count != wanted)
        return pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                             "explicit_paddings attribute must contain %zu values, but got: %zu",
                             wanted, given);
    for (i = 0; i < wanted; i++)
        if (list.values[i] < 0)
            return pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                                 "All elements of explicit_paddings must be nonnegative; element "
                                 "%zu is %lld",
                                 i, (long long)list.values[i]);
    if (list.values[0] || list.values[1] || list.values[2 * channels] ||
        list.values[2 * channels + 1])
        return pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                             "Nonzero explicit padding in the batch or depth dimensions is not "
                             "supported");
    return POOLGRAD_OK;
}

poolgrad_status pgi_tensorflow_check_attributes(pgi_tensorflow_call *o, poolgrad_error *error)
{
    static const char *const paddings[] = {"SAME", "VALID", "EXPLICIT", NULL};
    static const char *const automatic[] = {"SAME", "VALID", NULL};
    static const poolgrad_tensorflow_attributes none = {0};
    const poolgrad_tensorflow_attributes *a = o->attributes = o->attributes ? o->attributes : &none;
    poolgrad_status status;

    status = check_list(o, a->ksize, "ksize", error);
    if (!status)
        status = check_list(o, a->strides, "strides", error);
    if (!status)
        status =
            check_word(o, "padding", a->padding, o->op->has_explicit ? paddings : automatic, error);
    if (!status)
        status = check_strangers(o, error);
    if (!status)
        status = set_format(o, error);
    if (!status)
        status = check_window(o, error);
    if (!status)
        status = check_explicit(o, error);
    return status;
}

/* -------------------------------------------------------------------- shapes */

poolgrad_status pgi_tensorflow_check_rank(const pgi_tensorflow_call *o,
                                          const poolgrad_tensor *tensor, const char *name,
                                          const char *original, poolgrad_error *error)
{
    char found[128];

    if (tensor->rank == o->op->spatial + 2)
        return POOLGRAD_OK;
    return pgi_face_fail(error, POOLGRAD_ERR_RANK, "%s must be %d-dimensional; %s has the shape %s",
                         original, (int)o->op->spatial + 2, name,
                         pgi_face_sizes_text(tensor->rank, tensor->sizes, found, sizeof found));
}

poolgrad_status pgi_tensorflow_read_shape(pgi_tensorflow_call *o, const poolgrad_tensor *shape,
                                          poolgrad_error *error)
{
    const int32_t axes = o->op->spatial + 2;
    char found[128];

    if (shape->rank != 1 || shape->sizes[0] != axes)
        return pgi_face_fail(error, POOLGRAD_ERR_SHAPE,
                             "orig_input_shape must be 1-dimensional and %d elements; it has the "
                             "shape %s",
                             (int)axes,
                             pgi_face_sizes_text(shape->rank, shape->sizes, found, sizeof found));
    return pgi_face_read_ints(shape, "orig_input_shape",
                              shape->dtype == POOLGRAD_TENSORFLOW_INT32 ? 4 : 8, axes, o->sizes,
                              error);
}

poolgrad_status pgi_tensorflow_set_input(pgi_tensorflow_call *o, poolgrad_error *error)
{
    const poolgrad_tensor input = {o->dtype, o->op->spatial + 2, o->sizes, NULL, NULL};
    int64_t elements = 1;
    int32_t i;

    for (i = 0; i < input.rank; i++) {
        const int64_t size = o->sizes[i];

        if (size < 0)
            return pgi_face_fail(error, POOLGRAD_ERR_SHAPE,
                                 "Expected a non-negative size, got %lld (dimension %d of the "
                                 "input)",
                                 (long long)size, (int)i);
        if (size > 0 && elements > INT64_MAX / size)
            return pgi_face_fail(error, POOLGRAD_ERR_OVERFLOW,
                                 "Encountered overflow when multiplying %lld with %lld (dimension "
                                 "%d of the input)",
                                 (long long)elements, (long long)size, (int)i);
        elements *= size;
    }
    pgi_face_set_input(&o->call.desc, &input, o->order);
    return POOLGRAD_OK;
}

static poolgrad_status set_explicit(pgi_tensorflow_call *o, poolgrad_error *error)
{
    static const char *const sides[] = {"Top", "Bottom", "Left", "Right"};
    poolgrad_desc *desc = &o->call.desc;
    int i;

    for (i = 0; i < 2 * desc->rank; i++) {
        const int axis = pgi_face_axis(o->order, desc->rank, 2 + i / 2);
        const int64_t pad = o->attributes->explicit_paddings.values[2 * axis + i % 2];

        if (pad >= desc->kernel[i / 2])
            return pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                                 "%s padding %lld needs to be smaller than the window size %lld",
                                 sides[i], (long long)pad, (long long)desc->kernel[i / 2]);
        *(i % 2 ? &desc->pad_hi[i / 2] : &desc->pad_lo[i / 2]) = pad;
    }
    return POOLGRAD_OK;
}

/* TensorFlow rounds (padded - kernel + stride) / stride towards zero: it may be 0, but must not
 * become negative. Kernel, stride and pads are below 2^31, the input may be anything. */
static poolgrad_status check_output_size(const pgi_tensorflow_call *o, poolgrad_error *error)
{
    const poolgrad_desc *desc = &o->call.desc;
    int i;

    for (i = 0; i < desc->rank; i++) {
        const int64_t in = desc->in[i], stride = desc->stride[i];
        const int64_t needed = desc->kernel[i] - desc->pad_lo[i] - desc->pad_hi[i] - stride;

        if (in <= needed - stride)
            return pgi_face_fail(error, POOLGRAD_ERR_SHAPE,
                                 "Computed output size would be negative: %lld [input_size: %lld, "
                                 "effective_filter_size: %lld, stride: %lld]",
                                 (long long)((in - needed) / stride), (long long)in,
                                 (long long)desc->kernel[i], (long long)stride);
    }
    return POOLGRAD_OK;
}

static poolgrad_status set_padding(pgi_tensorflow_call *o, poolgrad_error *error)
{
    poolgrad_status status = POOLGRAD_OK;

    if (strcmp(o->attributes->padding, "SAME") == 0)
        return poolgrad_desc_set_padding(&o->call.desc, POOLGRAD_SAME_UPPER, error);
    if (strcmp(o->attributes->padding, "EXPLICIT") == 0)
        status = set_explicit(o, error);
    return status ? status : check_output_size(o, error);
}

poolgrad_status pgi_tensorflow_set_windows(pgi_tensorflow_call *o, poolgrad_error *error)
{
    poolgrad_desc *desc = &o->call.desc;
    pgi_face_call call;
    poolgrad_status status;
    int64_t out[3];
    int i;

    for (i = 0; i < desc->rank; i++) {
        const int axis = pgi_face_axis(o->order, desc->rank, 2 + i);

        desc->kernel[i] = o->attributes->ksize.values[axis];
        desc->stride[i] = o->attributes->strides.values[axis];
        if (desc->stride[i] < 1)
            return pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                                 "Stride must be > 0, but got %lld (strides[%d])",
                                 (long long)desc->stride[i], axis);
    }
    status = set_padding(o, error);
    if (status)
        return status;
    /* Explicit padding around nothing makes windows, too. The library will refuse them, but what
     * their number would be decides which shapes are wrong. */
    call = o->call;
    for (i = 0; i < desc->rank; i++) {
        if (desc->in[i] == 0) {
            call.desc.in[i] = desc->pad_lo[i] + desc->pad_hi[i];
            call.desc.pad_lo[i] = call.desc.pad_hi[i] = 0;
        }
    }
    status = pgi_face_windows(&call, out, error);
    pgi_face_sizes(o->order, desc->rank, desc->batch, desc->channels, out, o->windows);
    return status;
}

poolgrad_status pgi_tensorflow_check_shape(const pgi_tensorflow_call *o,
                                           const poolgrad_tensor *tensor, const char *name,
                                           poolgrad_error *error)
{
    const int32_t axes = o->op->spatial + 2;
    char expected[128], found[128];

    if (pgi_face_has_sizes(tensor, axes, o->windows))
        return POOLGRAD_OK;
    return pgi_face_fail(error, POOLGRAD_ERR_SHAPE, "Expected %s shape to be %s, but got %s", name,
                         pgi_face_sizes_text(axes, o->windows, expected, sizeof expected),
                         pgi_face_sizes_text(tensor->rank, tensor->sizes, found, sizeof found));
}

poolgrad_status pgi_tensorflow_check_ends(const pgi_tensorflow_call *o, const poolgrad_tensor *grad,
                                          poolgrad_error *error)
{
    const int ends[] = {0, pgi_face_axis(o->order, o->op->spatial, 1)};
    int i;

    for (i = 0; i < 2; i++)
        if (grad->sizes[ends[i]] != o->sizes[ends[i]])
            return pgi_face_fail(error, POOLGRAD_ERR_SHAPE,
                                 "Expected %s dimension of tensor_in_shape and out_backprop to "
                                 "match, got %lld and %lld",
                                 i == 0                     ? "first"
                                 : o->order == POOLGRAD_NXC ? "last"
                                                            : "second",
                                 (long long)o->sizes[ends[i]], (long long)grad->sizes[ends[i]]);
    return POOLGRAD_OK;
}
