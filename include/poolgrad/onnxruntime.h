/* SPDX-License-Identifier: MIT */
/*
 * ONNX Runtime's AveragePoolGrad and MaxPoolGrad (its training operators, CPU), callable from C.
 * docs/faces/onnxruntime.md goes through them attribute by attribute and lists what differs.
 *
 *     float dY[4] = {1, 2, 3, 4}, dX[9];
 *     int64_t in[] = {1, 1, 2, 2}, out[] = {1, 1, 3, 3};
 *     poolgrad_tensor dy = {POOLGRAD_ONNXRUNTIME_FLOAT, 4, in, NULL, dY};
 *     poolgrad_tensor dx = {POOLGRAD_ONNXRUNTIME_FLOAT, 4, out, NULL, dX};
 *     poolgrad_onnxruntime_attributes attributes = {.kernel_shape = POOLGRAD_LIST(2, 2)};
 *     poolgrad_onnxruntime_average_pool_grad(&dy, &attributes, &dx, NULL, NULL);
 */
#ifndef POOLGRAD_ONNXRUNTIME_H
#define POOLGRAD_ONNXRUNTIME_H

#include <poolgrad/face.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The values of OrtErrorCode. */
typedef enum poolgrad_onnxruntime_code {
    POOLGRAD_ONNXRUNTIME_OK = 0,
    POOLGRAD_ONNXRUNTIME_FAIL = 1,             /* memory could not be had */
    POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT = 2, /* a tensor's sizes or memory, an index, an option */
    POOLGRAD_ONNXRUNTIME_RUNTIME_EXCEPTION = 6, /* an attribute, the shape of Indices */
    POOLGRAD_ONNXRUNTIME_NOT_IMPLEMENTED = 9,   /* an element type, instruction set or strategy */
    POOLGRAD_ONNXRUNTIME_INVALID_GRAPH = 10     /* kernel_shape or the shape of dX is missing */
} poolgrad_onnxruntime_code;

/* The values of ONNXTensorElementDataType. */
typedef enum poolgrad_onnxruntime_dtype {
    POOLGRAD_ONNXRUNTIME_FLOAT = 1,
    POOLGRAD_ONNXRUNTIME_INT64 = 7, /* Indices */
    POOLGRAD_ONNXRUNTIME_FLOAT16 = 10,
    POOLGRAD_ONNXRUNTIME_DOUBLE = 11,
    POOLGRAD_ONNXRUNTIME_BFLOAT16 = 16
} poolgrad_onnxruntime_dtype;

/* The attributes of the forward node. All zero: nothing is given. */
typedef struct poolgrad_onnxruntime_attributes {
    poolgrad_list kernel_shape; /* required; one entry per spatial axis, 1 to 3 of them */
    poolgrad_list strides;      /* default 1s */
    poolgrad_list pads;         /* all begins, then all ends; default 0s */
    poolgrad_list dilations;    /* default 1s */
    const char *auto_pad;       /* "NOTSET" (default), "VALID", "SAME_UPPER", "SAME_LOWER"; all but
                                   NOTSET make `pads` irrelevant */
    int64_t ceil_mode;          /* not 0: the last, partial window counts */
    int64_t count_include_pad;  /* AveragePoolGrad; not 0: divide by the taps in the padded input */
    int64_t storage_order;      /* MaxPoolGrad; 1: Indices are column-major */
} poolgrad_onnxruntime_attributes;

/*
 * dX from dY. Tensors are N, C, then 1 to 3 spatial axes; the sizes of dX are those of the pooled
 * input, which ONNX Runtime takes from the graph. FLOAT as in the original, and FLOAT16, BFLOAT16,
 * DOUBLE.
 */
POOLGRAD_API poolgrad_onnxruntime_code poolgrad_onnxruntime_average_pool_grad(
    const poolgrad_tensor *dY, const poolgrad_onnxruntime_attributes *attributes,
    const poolgrad_tensor *dX, const poolgrad_face_options *options, poolgrad_error *error);

/*
 * dX from dY and the forward pass' Indices, INT64, which count over the whole tensor N, C, spatial.
 * Every index is checked against its window.
 */
POOLGRAD_API poolgrad_onnxruntime_code poolgrad_onnxruntime_max_pool_grad(
    const poolgrad_tensor *dY, const poolgrad_tensor *Indices,
    const poolgrad_onnxruntime_attributes *attributes, const poolgrad_tensor *dX,
    const poolgrad_face_options *options, poolgrad_error *error);

#ifdef __cplusplus
}
#endif

#endif
