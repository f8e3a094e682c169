/* SPDX-License-Identifier: MIT */
#include "operation.h"

#include <string.h>

typedef poolgrad_tensorflow_code code;

static const pgi_tensorflow_op avg_pool_grad = {
    .name = "AvgPoolGrad",
    .spatial = 2,
    .has_format = 1,
    .channels_late = 1,
    .for_channels = "Non-spatial pooling is not yet supported.",
};

static const pgi_tensorflow_op avg_pool3d_grad = {
    .name = "AvgPool3DGrad",
    .spatial = 3,
    .has_format = 1,
    .for_channels = "Pooling is not yet supported on the depth dimension.",
};

static const pgi_tensorflow_op max_pool_grad = {
    .name = "MaxPoolGrad",
    .spatial = 2,
    .has_explicit = 1,
    .has_format = 1,
    .for_channels = "MaxPoolingGrad is not yet supported on the depth dimension.",
};

static const pgi_tensorflow_op max_pool3d_grad = {
    .name = "MaxPool3DGrad",
    .spatial = 3,
    .has_format = 1,
    .for_channels = "Pooling is not yet supported on the depth dimension.",
};

static const pgi_tensorflow_op max_pool_grad_with_argmax = {
    .name = "MaxPoolGradWithArgmax",
    .spatial = 2,
    .has_batch_in_index = 1,
    .for_channels = "MaxPoolingGrad is not yet supported on the depth dimension.",
};

/* What TensorFlow would call a failure, the library's own or the face's. */
static code code_of(poolgrad_status status)
{
    switch (status) {
    case POOLGRAD_OK:
        return POOLGRAD_TENSORFLOW_OK;
    case POOLGRAD_ERR_MEMORY:
        return POOLGRAD_TENSORFLOW_RESOURCE_EXHAUSTED;
    case POOLGRAD_ERR_UNSUPPORTED:
        return POOLGRAD_TENSORFLOW_UNIMPLEMENTED;
    default:
        return POOLGRAD_TENSORFLOW_INVALID_ARGUMENT;
    }
}

static poolgrad_status begin(pgi_tensorflow_call *o, const pgi_tensorflow_op *op,
                             const poolgrad_tensorflow_attributes *attributes,
                             const poolgrad_face_options *options, poolgrad_error *error)
{
    memset(o, 0, sizeof *o);
    o->op = op;
    o->attributes = attributes;
    return pgi_face_begin(&o->call, options, PGI_FACE_TENSORFLOW, error);
}

/* Checks the caller's result tensor and computes. */
static poolgrad_status finish(pgi_tensorflow_call *o, const poolgrad_tensor *grad,
                              const poolgrad_tensor *output, poolgrad_error *error)
{
    const int32_t axes = o->op->spatial + 2;
    char expected[128], found[128];

    if (output->dtype != o->dtype)
        return pgi_face_fail(
            error, POOLGRAD_ERR_ENUM, "output is a %s tensor; the gradient is a %s tensor",
            pgi_tensorflow_type_name(output->dtype), pgi_tensorflow_type_name(o->dtype));
    if (!pgi_face_has_sizes(output, axes, o->sizes))
        return pgi_face_fail(error, POOLGRAD_ERR_SHAPE,
                             "output has the shape %s; the gradient has the shape %s",
                             pgi_face_sizes_text(output->rank, output->sizes, found, sizeof found),
                             pgi_face_sizes_text(axes, o->sizes, expected, sizeof expected));
    pgi_face_bind(&o->call, PGI_FACE_DY, grad, o->order, "grad");
    pgi_face_bind(&o->call, PGI_FACE_DX, output, o->order, "output");
    return pgi_face_finish(&o->call, error);
}

static poolgrad_status check_average(pgi_tensorflow_call *o,
                                     const poolgrad_tensor *orig_input_shape,
                                     const poolgrad_tensor *grad, const poolgrad_tensor *output,
                                     poolgrad_error *error)
{
    poolgrad_status status = pgi_face_tensor(orig_input_shape, "orig_input_shape", error);

    if (!status)
        status = pgi_face_tensor(grad, "grad", error);
    if (!status)
        status = pgi_face_tensor(output, "output", error);
    if (!status && orig_input_shape->dtype != POOLGRAD_TENSORFLOW_INT64)
        status =
            pgi_tensorflow_check_type(o, orig_input_shape, 0, POOLGRAD_TENSORFLOW_INT32, error);
    if (!status)
        status = pgi_tensorflow_set_type(o, grad, error);
    if (!status)
        status = pgi_tensorflow_check_attributes(o, error);
    if (!status)
        status = pgi_tensorflow_read_shape(o, orig_input_shape, error);
    if (!status)
        status = pgi_tensorflow_check_rank(o, grad, "grad", "out_backprop", error);
    if (!status)
        status = pgi_tensorflow_set_input(o, error);
    return status;
}

static code average(const pgi_tensorflow_op *op, const poolgrad_tensor *orig_input_shape,
                    const poolgrad_tensor *grad, const poolgrad_tensorflow_attributes *attributes,
                    const poolgrad_tensor *output, const poolgrad_face_options *options,
                    poolgrad_error *error)
{
    pgi_tensorflow_call o;
    poolgrad_status status = begin(&o, op, attributes, options, error);

    if (!status)
        status = check_average(&o, orig_input_shape, grad, output, error);
    if (!status)
        status = op->channels_late
                     ? pgi_tensorflow_check_channels(&o, "ksize", o.attributes->ksize, error)
                     : pgi_tensorflow_check_ends(&o, grad, error);
    if (!status)
        status = pgi_tensorflow_set_windows(&o, error);
    if (!status)
        status = pgi_tensorflow_check_shape(&o, grad, "grad", error);
    /* TensorFlow ignores a stride over channels in 2-D, so it comes after what TensorFlow sees. */
    if (!status && op->channels_late)
        status = pgi_tensorflow_check_channels(&o, "strides", o.attributes->strides, error);
    if (!status) {
        o.call.desc.op = POOLGRAD_AVG_GRAD;
        o.call.desc.divisor = POOLGRAD_EXCLUDE;
        status = finish(&o, grad, output, error);
    }
    return code_of(status);
}

poolgrad_tensorflow_code poolgrad_tensorflow_avg_pool_grad(
    const poolgrad_tensor *orig_input_shape, const poolgrad_tensor *grad,
    const poolgrad_tensorflow_attributes *attributes, const poolgrad_tensor *output,
    const poolgrad_face_options *options, poolgrad_error *error)
{
    return average(&avg_pool_grad, orig_input_shape, grad, attributes, output, options, error);
}

poolgrad_tensorflow_code poolgrad_tensorflow_avg_pool3d_grad(
    const poolgrad_tensor *orig_input_shape, const poolgrad_tensor *grad,
    const poolgrad_tensorflow_attributes *attributes, const poolgrad_tensor *output,
    const poolgrad_face_options *options, poolgrad_error *error)
{
    return average(&avg_pool3d_grad, orig_input_shape, grad, attributes, output, options, error);
}

/* The operators of max pooling have a whole tensor, not a shape, for the input. */
static poolgrad_status set_input_tensor(pgi_tensorflow_call *o, const poolgrad_tensor *input,
                                        poolgrad_error *error)
{
    int32_t i;

    for (i = 0; i < input->rank; i++)
        o->sizes[i] = input->sizes[i];
    return pgi_tensorflow_set_input(o, error);
}

static poolgrad_status check_max(pgi_tensorflow_call *o, const poolgrad_tensor *orig_input,
                                 const poolgrad_tensor *orig_output, const poolgrad_tensor *grad,
                                 const poolgrad_tensor *output, poolgrad_error *error)
{
    poolgrad_status status = pgi_face_tensor(orig_input, "orig_input", error);

    if (!status)
        status = pgi_face_tensor(orig_output, "orig_output", error);
    if (!status)
        status = pgi_face_tensor(grad, "grad", error);
    if (!status)
        status = pgi_face_tensor(output, "output", error);
    if (!status)
        status = pgi_tensorflow_set_type(o, orig_input, error);
    if (!status)
        status = pgi_tensorflow_check_type(o, orig_output, 1, o->dtype, error);
    if (!status)
        status = pgi_tensorflow_check_type(o, grad, 2, o->dtype, error);
    if (!status)
        status = pgi_tensorflow_check_attributes(o, error);
    if (!status)
        status = pgi_tensorflow_check_rank(o, orig_input, "orig_input", "tensor_in", error);
    if (!status)
        status = pgi_tensorflow_check_rank(o, orig_output, "orig_output", "tensor_out", error);
    if (!status)
        status = pgi_tensorflow_check_rank(o, grad, "grad", "out_backprop", error);
    if (!status)
        status = set_input_tensor(o, orig_input, error);
    return status;
}

static code maximum(const pgi_tensorflow_op *op, const poolgrad_tensor *orig_input,
                    const poolgrad_tensor *orig_output, const poolgrad_tensor *grad,
                    const poolgrad_tensorflow_attributes *attributes, const poolgrad_tensor *output,
                    poolgrad_nan nan, const poolgrad_face_options *options, poolgrad_error *error)
{
    pgi_tensorflow_call o;
    poolgrad_status status = begin(&o, op, attributes, options, error);

    if (!status)
        status = check_max(&o, orig_input, orig_output, grad, output, error);
    if (!status)
        status = pgi_tensorflow_set_windows(&o, error);
    if (!status)
        status = pgi_tensorflow_check_shape(&o, orig_output, "orig_output", error);
    if (!status)
        status = pgi_tensorflow_check_shape(&o, grad, "grad", error);
    if (!status) {
        o.call.desc.op = POOLGRAD_MAX_GRAD;
        o.call.desc.winner = POOLGRAD_FROM_X;
        o.call.desc.nan = nan;
        pgi_face_bind(&o.call, PGI_FACE_X, orig_input, o.order, "orig_input");
        if (o.call.options.parity && op->spatial == 3) { /* all within 1e-5 of orig_output */
            o.call.desc.winner = POOLGRAD_NEAR_Y;
            pgi_face_bind(&o.call, PGI_FACE_Y, orig_output, o.order, "orig_output");
        }
        status = finish(&o, grad, output, error);
    }
    return code_of(status);
}

poolgrad_tensorflow_code poolgrad_tensorflow_max_pool_grad(
    const poolgrad_tensor *orig_input, const poolgrad_tensor *orig_output,
    const poolgrad_tensor *grad, const poolgrad_tensorflow_attributes *attributes,
    const poolgrad_tensor *output, const poolgrad_face_options *options, poolgrad_error *error)
{
    return maximum(&max_pool_grad, orig_input, orig_output, grad, attributes, output,
                   POOLGRAD_NAN_LEADING, options, error);
}

poolgrad_tensorflow_code poolgrad_tensorflow_max_pool3d_grad(
    const poolgrad_tensor *orig_input, const poolgrad_tensor *orig_output,
    const poolgrad_tensor *grad, const poolgrad_tensorflow_attributes *attributes,
    const poolgrad_tensor *output, const poolgrad_face_options *options, poolgrad_error *error)
{
    return maximum(&max_pool3d_grad, orig_input, orig_output, grad, attributes, output,
                   POOLGRAD_NAN_SKIP, options, error);
}

static poolgrad_status check_argmax(pgi_tensorflow_call *o, const poolgrad_tensor *input,
                                    const poolgrad_tensor *grad, const poolgrad_tensor *argmax,
                                    const poolgrad_tensor *output, poolgrad_error *error)
{
    poolgrad_status status = pgi_face_tensor(input, "input", error);

    if (!status)
        status = pgi_face_tensor(grad, "grad", error);
    if (!status)
        status = pgi_face_tensor(argmax, "argmax", error);
    if (!status)
        status = pgi_face_tensor(output, "output", error);
    if (!status)
        status = pgi_tensorflow_set_type(o, input, error);
    if (!status)
        status = pgi_tensorflow_check_type(o, grad, 1, o->dtype, error);
    if (!status && argmax->dtype != POOLGRAD_TENSORFLOW_INT32 &&
        argmax->dtype != POOLGRAD_TENSORFLOW_INT64)
        status = pgi_tensorflow_wrong_type("Targmax", argmax->dtype, "int32, int64", error);
    if (!status)
        status = pgi_tensorflow_check_attributes(o, error);
    if (!status)
        status = pgi_tensorflow_check_rank(o, input, "input", "tensor_in", error);
    if (!status)
        status = set_input_tensor(o, input, error);
    return status;
}

poolgrad_tensorflow_code poolgrad_tensorflow_max_pool_grad_with_argmax(
    const poolgrad_tensor *input, const poolgrad_tensor *grad, const poolgrad_tensor *argmax,
    const poolgrad_tensorflow_attributes *attributes, const poolgrad_tensor *output,
    const poolgrad_face_options *options, poolgrad_error *error)
{
    pgi_tensorflow_call o;
    poolgrad_desc *desc = &o.call.desc;
    poolgrad_status status = begin(&o, &max_pool_grad_with_argmax, attributes, options, error);

    if (!status)
        status = check_argmax(&o, input, grad, argmax, output, error);
    if (!status)
        status = pgi_tensorflow_set_windows(&o, error);
    if (!status)
        status = pgi_tensorflow_check_shape(&o, grad, "grad", error);
    if (!status)
        status = pgi_tensorflow_check_shape(&o, argmax, "argmax", error);
    if (!status) {
        desc->op = POOLGRAD_MAX_GRAD;
        desc->winner = POOLGRAD_FROM_INDICES;
        desc->index_type = argmax->dtype == POOLGRAD_TENSORFLOW_INT32 ? POOLGRAD_I32 : POOLGRAD_I64;
        desc->index_base =
            attributes->include_batch_in_index ? POOLGRAD_INDEX_NXC : POOLGRAD_INDEX_NXC_IMAGE;
        pgi_face_bind(&o.call, PGI_FACE_INDICES, argmax, o.order, "argmax");
        status = finish(&o, grad, output, error);
    }
    return code_of(status);
}
