/* SPDX-License-Identifier: MIT */
/* A description of one of DirectML's two operators with everything it points to, and memory that
 * can be bound. */
#ifndef TESTS_UNIT_DIRECTML_CALL_H
#define TESTS_UNIT_DIRECTML_CALL_H

#include <poolgrad/directml.h>

#include "harness.h"

typedef struct dml_tensor {
    UINT sizes[8], strides[8];
    DML_BUFFER_TENSOR_DESC buffer;
    DML_TENSOR_DESC desc;
} dml_tensor;

typedef struct dml_call {
    dml_tensor x, dy, dx;
    UINT strides[3], window_size[3], start_padding[3], end_padding[3], dilations[3];
    DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC average;
    DML_MAX_POOLING_GRAD_OPERATOR_DESC max;
    DML_OPERATOR_DESC desc; /* of one of the two */
} dml_call;

/* Connects the structs: sizes and arrays are 0 or 1, strides are left out. */
void dml_begin(dml_call *call, int average, int spatial, DML_TENSOR_DATA_TYPE type);

/* Bytes that sizes and strides of the description imply, by DirectML's formula. */
UINT64 dml_bytes(const DML_BUFFER_TENSOR_DESC *desc);

/* Sets the total sizes of the three tensors to what they must be at least. */
void dml_totals(dml_call *call);

/* The documentation's examples: dx of 3 x 3, windows of 2 x 2. */
void dml_example(dml_call *call, int average);

/* Input, gradient and result of the example of max pooling. */
extern const float dml_x[9], dml_max_dy[4], dml_max_dx[9];

/* Creates the operator; anything but success fails the test. */
poolgrad_directml_operator *dml_create(const dml_call *call, const poolgrad_face_options *options);

/* Creating must fail with that code and a message that contains `words`; E_INVALIDARG. */
void dml_refuse_code(const dml_call *call, const poolgrad_face_options *options, HRESULT code,
                     const char *words);
void dml_refuse(const dml_call *call, const char *words);

/* Creating must succeed. */
void dml_accept(const dml_call *call);

#endif
