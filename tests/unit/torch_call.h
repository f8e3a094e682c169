/* SPDX-License-Identifier: MIT */
/* A call of PyTorch's face that is right, for tests to spoil in one place. */
#ifndef TESTS_UNIT_TORCH_CALL_H
#define TESTS_UNIT_TORCH_CALL_H

#include "harness.h"

#include <poolgrad/torch.h>

typedef enum torch_op {
    TORCH_AVG,
    TORCH_MAX,
    TORCH_ADAPTIVE_AVG,
    TORCH_ADAPTIVE_MAX,
    TORCH_OPS
} torch_op;

enum {
    TORCH_DX = 2 * 2 * 4 * 4 * 4,
    TORCH_DY = 2 * 2 * 2 * 2 * 2
};

/* Batch 2, channels 2, 4 positions and 2 windows of 2 on every axis; the first tap wins. */
typedef struct torch_call {
    torch_op op;
    int32_t dims;
    poolgrad_tensor grad_output, self, indices, grad_input;
    int64_t out[8], in[8], index[8], dx_sizes[8]; /* their sizes, in this order */
    poolgrad_torch_attributes attributes; /* lists as long as dims; no dilation for averages */
    int64_t kernel[4], stride[4], padding[4], dilation[4], divisor;
    float dy[TORCH_DY], dx[TORCH_DX], before[TORCH_DX];
    int64_t idx[TORCH_DY];
    poolgrad_error error;
} torch_call;

void torch_make(torch_call *c, torch_op op, int32_t dims);

/* Sets the sizes of self and grad_input, and those of grad_output and indices. */
void torch_sizes(torch_call *c, int32_t rank, const int64_t *in, const int64_t *out);

poolgrad_torch_code torch_run(torch_call *c, const poolgrad_face_options *options,
                              poolgrad_error *error);

/* The call is right. */
void torch_accepts(torch_call *c);

/* Fails the test unless the call ends with this code, the message has these words, and grad_input
 * is as it was; without an error to fill, and if a plan is asked for, likewise. */
void torch_refuses(torch_call *c, poolgrad_torch_code code, const char *words);

/* The same for what only memory can show, and a plan does not. */
void torch_refuses_memory(torch_call *c, poolgrad_torch_code code, const char *words);

/* torch_refuses for all twelve operators, each spoilt by the function. */
void torch_all_refuse(void (*spoil)(torch_call *c), poolgrad_torch_code code, const char *words);

/* c10::ScalarType of a dtype. */
int32_t torch_dtype(poolgrad_dtype dtype);

#endif
