/* SPDX-License-Identifier: MIT */
#include "directml_call.h"

#include <string.h>

const float dml_x[9] = {1, 2, 3, 2, 4, 2, 5, 6, 7};
const float dml_max_dy[4] = {1, 2, 4, 5};
const float dml_max_dx[9] = {0, 0, 0, 0, 3, 0, 0, 4, 5};

static void begin_tensor(dml_tensor *tensor, int spatial, DML_TENSOR_DATA_TYPE type)
{
    tensor->buffer.DataType = type;
    tensor->buffer.Flags = DML_TENSOR_FLAG_NONE;
    tensor->buffer.DimensionCount = (UINT)spatial + 2;
    tensor->buffer.Sizes = tensor->sizes;
    tensor->desc.Type = DML_TENSOR_TYPE_BUFFER;
    tensor->desc.Desc = &tensor->buffer;
}

void dml_begin(dml_call *call, int average, int spatial, DML_TENSOR_DATA_TYPE type)
{
    int i;

    memset(call, 0, sizeof *call);
    begin_tensor(&call->x, spatial, type);
    begin_tensor(&call->dy, spatial, type);
    begin_tensor(&call->dx, spatial, type);
    for (i = 0; i < 3; i++)
        call->strides[i] = call->window_size[i] = call->dilations[i] = 1;
    call->average.InputGradientTensor = call->max.InputGradientTensor = &call->dy.desc;
    call->average.OutputGradientTensor = call->max.OutputGradientTensor = &call->dx.desc;
    call->average.DimensionCount = call->max.DimensionCount = (UINT)spatial;
    call->average.Strides = call->max.Strides = call->strides;
    call->average.WindowSize = call->max.WindowSize = call->window_size;
    call->average.StartPadding = call->max.StartPadding = call->start_padding;
    call->average.EndPadding = call->max.EndPadding = call->end_padding;
    call->max.InputTensor = &call->x.desc;
    call->max.Dilations = call->dilations;
    call->desc.Type = average ? DML_OPERATOR_AVERAGE_POOLING_GRAD : DML_OPERATOR_MAX_POOLING_GRAD;
    call->desc.Desc = average ? (const void *)&call->average : &call->max;
}

UINT64 dml_bytes(const DML_BUFFER_TENSOR_DESC *desc)
{
    const UINT64 size = desc->DataType == DML_TENSOR_DATA_TYPE_FLOAT16 ? 2 : 4;
    UINT64 packed = 1, last = 0;
    UINT i;

    for (i = 0; i < desc->DimensionCount; i++) {
        packed *= desc->Sizes[i];
        last += desc->Strides ? (desc->Sizes[i] - (UINT64)1) * desc->Strides[i] : 0;
    }
    return ((desc->Strides ? last + 1 : packed) * size + 3) & ~(UINT64)3;
}

void dml_totals(dml_call *call)
{
    dml_tensor *const tensors[] = {&call->x, &call->dy, &call->dx};
    int i;

    for (i = 0; i < 3; i++)
        tensors[i]->buffer.TotalTensorSizeInBytes = dml_bytes(&tensors[i]->buffer);
}

void dml_example(dml_call *call, int average)
{
    static const UINT dy[] = {1, 1, 2, 2}, dx[] = {1, 1, 3, 3};

    dml_begin(call, average, 2, DML_TENSOR_DATA_TYPE_FLOAT32);
    memcpy(call->dy.sizes, dy, sizeof dy);
    memcpy(call->dx.sizes, dx, sizeof dx);
    memcpy(call->x.sizes, dx, sizeof dx);
    call->window_size[0] = call->window_size[1] = 2;
    dml_totals(call);
}

poolgrad_directml_operator *dml_create(const dml_call *call, const poolgrad_face_options *options)
{
    poolgrad_directml_operator *made = NULL;
    poolgrad_error error;

    if (FAILED(poolgrad_directml_create_operator(&call->desc, options, &made, &error)))
        fail_msg("%s", error.message);
    assert_int_equal(error.status, POOLGRAD_OK);
    assert_non_null(made);
    return made;
}

void dml_refuse_code(const dml_call *call, const poolgrad_face_options *options, HRESULT code,
                     const char *words)
{
    poolgrad_directml_operator *made = (poolgrad_directml_operator *)&made;
    poolgrad_error error;

    memset(&error, 0xff, sizeof error);
    assert_int_equal(poolgrad_directml_create_operator(&call->desc, options, &made, &error), code);
    assert_null(made);
    assert_true(error.status > POOLGRAD_OK && error.position == -1);
    if (!strstr(error.message, words))
        fail_msg("'%s' does not contain '%s'", error.message, words);
    assert_int_equal(poolgrad_directml_create_operator(&call->desc, options, &made, NULL), code);
}

void dml_refuse(const dml_call *call, const char *words)
{
    dml_refuse_code(call, NULL, E_INVALIDARG, words);
}

void dml_accept(const dml_call *call)
{
    poolgrad_directml_release(dml_create(call, NULL));
}
