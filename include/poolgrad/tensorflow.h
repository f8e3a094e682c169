/* SPDX-License-Identifier: MIT */
/*
 * TensorFlow's AvgPoolGrad, AvgPool3DGrad, MaxPoolGrad, MaxPool3DGrad and MaxPoolGradWithArgmax,
 * callable from C. docs/faces/tensorflow.md goes through them argument by argument and lists what
 * differs.
 *
 *     float g[4] = {1, 2, 3, 4}, dx[9];
 *     int32_t shape[] = {1, 3, 3, 1};
 *     int64_t four[] = {4}, in[] = {1, 2, 2, 1}, out[] = {1, 3, 3, 1};
 *     poolgrad_tensor orig_input_shape = {POOLGRAD_TENSORFLOW_INT32, 1, four, NULL, shape};
 *     poolgrad_tensor grad = {POOLGRAD_TENSORFLOW_FLOAT, 4, in, NULL, g};
 *     poolgrad_tensor output = {POOLGRAD_TENSORFLOW_FLOAT, 4, out, NULL, dx};
 *     poolgrad_tensorflow_attributes attributes = {.ksize = POOLGRAD_LIST(1, 2, 2, 1),
 *                                                  .strides = POOLGRAD_LIST(1, 1, 1, 1),
 *                                                  .padding = "VALID"};
 *     poolgrad_tensorflow_avg_pool_grad(&orig_input_shape, &grad, &attributes, &output, NULL,
 * NULL);
 */
#ifndef POOLGRAD_TENSORFLOW_H
#define POOLGRAD_TENSORFLOW_H

#include <poolgrad/face.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The values of TF_Code. */
typedef enum poolgrad_tensorflow_code {
    POOLGRAD_TENSORFLOW_OK = 0,
    POOLGRAD_TENSORFLOW_INVALID_ARGUMENT = 3,   /* everything but the following */
    POOLGRAD_TENSORFLOW_NOT_FOUND = 5,          /* TensorFlow's for a type without a kernel; never
                                                   returned here */
    POOLGRAD_TENSORFLOW_RESOURCE_EXHAUSTED = 8, /* memory could not be had */
    POOLGRAD_TENSORFLOW_UNIMPLEMENTED = 12,     /* pooling over batch or channels; an instruction
                                                   set that this machine does not have */
    POOLGRAD_TENSORFLOW_INTERNAL = 13           /* never returned here */
} poolgrad_tensorflow_code;

/* The values of TF_DataType. */
typedef enum poolgrad_tensorflow_dtype {
    POOLGRAD_TENSORFLOW_FLOAT = 1,
    POOLGRAD_TENSORFLOW_DOUBLE = 2,
    POOLGRAD_TENSORFLOW_INT32 = 3, /* orig_input_shape, argmax */
    POOLGRAD_TENSORFLOW_INT64 = 9, /* likewise */
    POOLGRAD_TENSORFLOW_BFLOAT16 = 14,
    POOLGRAD_TENSORFLOW_HALF = 19
} poolgrad_tensorflow_dtype;

/* All zero: nothing is given. An attribute that the operator does not have is refused. Strings are
 * compared as TensorFlow does, upper and lower case being different. */
typedef struct poolgrad_tensorflow_attributes {
    poolgrad_list ksize;             /* required; one entry per axis of the tensors, in their order,
                                        1 for batch and channels; at most 2^31-1 */
    poolgrad_list strides;           /* required; likewise */
    const char *padding;             /* required; "SAME", "VALID"; MaxPoolGrad also "EXPLICIT" */
    poolgrad_list explicit_paddings; /* MaxPoolGrad with EXPLICIT: two per axis, begin and end */
    const char *data_format;         /* "NHWC" (default), "NCHW"; 3-D: "NDHWC" (default), "NCDHW";
                                        MaxPoolGradWithArgmax has none: NHWC */
    int64_t include_batch_in_index;  /* MaxPoolGradWithArgmax; not 0: argmax counts over the whole
                                        tensor, else over one image */
} poolgrad_tensorflow_attributes;

/*
 * The gradient of average pooling over height and width. orig_input_shape is a tensor of one axis
 * with the 4 sizes of the pooled input, INT32 or INT64; its data is read also if the plan only is
 * wanted. grad and output: FLOAT, DOUBLE, BFLOAT16 or HALF.
 */
POOLGRAD_API poolgrad_tensorflow_code poolgrad_tensorflow_avg_pool_grad(
    const poolgrad_tensor *orig_input_shape, const poolgrad_tensor *grad,
    const poolgrad_tensorflow_attributes *attributes, const poolgrad_tensor *output,
    const poolgrad_face_options *options, poolgrad_error *error);

/* The same over depth, height and width; orig_input_shape has 5 sizes. */
POOLGRAD_API poolgrad_tensorflow_code poolgrad_tensorflow_avg_pool3d_grad(
    const poolgrad_tensor *orig_input_shape, const poolgrad_tensor *grad,
    const poolgrad_tensorflow_attributes *attributes, const poolgrad_tensor *output,
    const poolgrad_face_options *options, poolgrad_error *error);

/*
 * The gradient of max pooling over height and width. The first maximum of every window is found
 * again in orig_input; a NaN wins only if it comes first in its window. Of orig_output type and
 * shape are checked, its data is not read and may be NULL.
 */
POOLGRAD_API poolgrad_tensorflow_code poolgrad_tensorflow_max_pool_grad(
    const poolgrad_tensor *orig_input, const poolgrad_tensor *orig_output,
    const poolgrad_tensor *grad, const poolgrad_tensorflow_attributes *attributes,
    const poolgrad_tensor *output, const poolgrad_face_options *options, poolgrad_error *error);

/* The same over depth, height and width; a NaN wins only if its window holds nothing else. */
POOLGRAD_API poolgrad_tensorflow_code poolgrad_tensorflow_max_pool3d_grad(
    const poolgrad_tensor *orig_input, const poolgrad_tensor *orig_output,
    const poolgrad_tensor *grad, const poolgrad_tensorflow_attributes *attributes,
    const poolgrad_tensor *output, const poolgrad_face_options *options, poolgrad_error *error);

/*
 * The gradient of max pooling over height and width from the argmax, INT32 or INT64, that
 * MaxPoolWithArgmax gave. Every index is checked against its window. Of input type and shape are
 * checked, its data is not read and may be NULL.
 */
POOLGRAD_API poolgrad_tensorflow_code poolgrad_tensorflow_max_pool_grad_with_argmax(
    const poolgrad_tensor *input, const poolgrad_tensor *grad, const poolgrad_tensor *argmax,
    const poolgrad_tensorflow_attributes *attributes, const poolgrad_tensor *output,
    const poolgrad_face_options *options, poolgrad_error *error);

#ifdef __cplusplus
}
#endif

#endif
