/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's pooling gradients (aten, CPU), callable from C. Each function is three operators: dims
 * is 1, 2 or 3. docs/faces/torch.md goes through them argument by argument and lists what differs.
 *
 *     float dy[4] = {1, 2, 3, 4}, dx[9];
 *     int64_t out[] = {1, 1, 2, 2}, in[] = {1, 1, 3, 3};
 *     poolgrad_tensor grad_output = {POOLGRAD_TORCH_FLOAT, 4, out, NULL, dy};
 *     poolgrad_tensor self = {POOLGRAD_TORCH_FLOAT, 4, in, NULL, NULL};
 *     poolgrad_tensor grad_input = {POOLGRAD_TORCH_FLOAT, 4, in, NULL, dx};
 *     poolgrad_torch_attributes attributes;
 *     poolgrad_torch_attributes_init(&attributes);
 *     attributes.kernel_size = POOLGRAD_LIST(2);
 *     attributes.stride = POOLGRAD_LIST(1);
 *     poolgrad_torch_avg_pool_backward(2, &grad_output, &self, &attributes, &grad_input, NULL,
 *                                      NULL);
 */
#ifndef POOLGRAD_TORCH_H
#define POOLGRAD_TORCH_H

#include <poolgrad/face.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The exceptions that PyTorch raises in Python; the numbers are this library's. */
typedef enum poolgrad_torch_code {
    POOLGRAD_TORCH_OK = 0,
    POOLGRAD_TORCH_RUNTIME_ERROR = 1,         /* an argument, a size, memory handed in */
    POOLGRAD_TORCH_NOT_IMPLEMENTED_ERROR = 2, /* an element type, a way of computing */
    POOLGRAD_TORCH_INDEX_ERROR = 3,           /* an index outside its window */
    POOLGRAD_TORCH_OUT_OF_MEMORY_ERROR = 4
} poolgrad_torch_code;

/* The values of c10::ScalarType. */
typedef enum poolgrad_torch_dtype {
    POOLGRAD_TORCH_LONG = 4, /* indices */
    POOLGRAD_TORCH_HALF = 5,
    POOLGRAD_TORCH_FLOAT = 6,
    POOLGRAD_TORCH_DOUBLE = 7,
    POOLGRAD_TORCH_BFLOAT16 = 15
} poolgrad_torch_dtype;

/* The arguments of the forward operators that their gradients repeat. A list has one value per
 * spatial axis, or one that stands for all. Call poolgrad_torch_attributes_init first: all zero
 * means all defaults but for count_include_pad, which is then false. */
typedef struct poolgrad_torch_attributes {
    poolgrad_list kernel_size; /* required */
    poolgrad_list stride;      /* default, also if it is empty: kernel_size */
    poolgrad_list padding;     /* on both sides; default 0 */
    poolgrad_list dilation;    /* max; default 1 */
    int32_t ceil_mode;         /* default 0; not 0: the last, partial window counts */
    int32_t count_include_pad; /* average; default 1: divide by the taps in the padded input */
    const int64_t *divisor_override; /* average; default NULL: none */
} poolgrad_torch_attributes;

/* Fills *attributes with PyTorch's defaults. Fails with ERR_NULL only. */
POOLGRAD_API poolgrad_status poolgrad_torch_attributes_init(poolgrad_torch_attributes *attributes);

/*
 * grad_input from grad_output. In all functions tensors are N, C, then `dims` spatial axes, or the
 * same without N; any strides, so that channels_last is one case of many. Of `self`, the input of
 * the forward operator, only dtype and sizes are used; grad_input must have the same. HALF,
 * BFLOAT16, FLOAT, DOUBLE.
 */
POOLGRAD_API poolgrad_torch_code poolgrad_torch_avg_pool_backward(
    int32_t dims, const poolgrad_tensor *grad_output, const poolgrad_tensor *self,
    const poolgrad_torch_attributes *attributes, const poolgrad_tensor *grad_input,
    const poolgrad_face_options *options, poolgrad_error *error);

/*
 * grad_input from grad_output and the forward pass' indices, LONG, which count within the plane of
 * one channel. Every index is checked against its window.
 */
POOLGRAD_API poolgrad_torch_code poolgrad_torch_max_pool_with_indices_backward(
    int32_t dims, const poolgrad_tensor *grad_output, const poolgrad_tensor *self,
    const poolgrad_tensor *indices, const poolgrad_torch_attributes *attributes,
    const poolgrad_tensor *grad_input, const poolgrad_face_options *options, poolgrad_error *error);

/* The adaptive operators have no attributes: the sizes of grad_output and self say it all. */
POOLGRAD_API poolgrad_torch_code poolgrad_torch_adaptive_avg_pool_backward(
    int32_t dims, const poolgrad_tensor *grad_output, const poolgrad_tensor *self,
    const poolgrad_tensor *grad_input, const poolgrad_face_options *options, poolgrad_error *error);

POOLGRAD_API poolgrad_torch_code poolgrad_torch_adaptive_max_pool_backward(
    int32_t dims, const poolgrad_tensor *grad_output, const poolgrad_tensor *self,
    const poolgrad_tensor *indices, const poolgrad_tensor *grad_input,
    const poolgrad_face_options *options, poolgrad_error *error);

#ifdef __cplusplus
}
#endif

#endif
