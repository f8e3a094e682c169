/* SPDX-License-Identifier: MIT */
#include <poolgrad/directml.h>

#include <stdio.h>
#include <string.h>

#include "face.h"

enum {
    MAX_DIMENSIONS = 8, /* of any tensor of DirectML */
    MAX_TENSORS = 3
};

#define ATTRIBUTES_OF_BOTH                                                                         \
    {"Strides", CLI_ATTR_INTS, NULL, "per spatial axis"},                                          \
        {"WindowSize", CLI_ATTR_INTS, NULL, "per spatial axis"},                                   \
        {"StartPadding", CLI_ATTR_INTS, NULL, "per spatial axis"},                                 \
    {                                                                                              \
        "EndPadding", CLI_ATTR_INTS, NULL, "per spatial axis"                                      \
    }

static const cli_attribute average_attributes[] = {
    {"OutputGradientTensor", CLI_ATTR_INTS, NULL, "its sizes: N, C, H, W or N, C, D, H, W"},
    ATTRIBUTES_OF_BOTH,
    {"IncludePadding", CLI_ATTR_BOOL, NULL, "true: padding counts in the divisor"},
    {0},
};

static const cli_attribute max_attributes[] = {
    ATTRIBUTES_OF_BOTH,
    {"Dilations", CLI_ATTR_INTS, NULL, "per spatial axis; 1: none"},
    {0},
};

/* DirectML's structs with the arrays they point to. */
typedef struct tensor {
    UINT sizes[MAX_DIMENSIONS], strides[MAX_DIMENSIONS];
    DML_BUFFER_TENSOR_DESC buffer;
    DML_TENSOR_DESC desc;
    poolgrad_directml_binding binding;
} tensor;

typedef struct arrays {
    UINT dimensions;
    UINT strides[MAX_DIMENSIONS], window_size[MAX_DIMENSIONS], start_padding[MAX_DIMENSIONS],
        end_padding[MAX_DIMENSIONS], dilations[MAX_DIMENSIONS];
} arrays;

static HRESULT refuse(poolgrad_error *error, poolgrad_status status, const char *what,
                      const char *rule)
{
    memset(error, 0, sizeof *error);
    error->status = status;
    error->position = -1;
    snprintf(error->message, sizeof error->message, "%s %s", what, rule);
    return E_INVALIDARG;
}

/* What a UINT cannot hold, no program could have said to DirectML. */
static HRESULT to_uints(const int64_t *from, size_t count, UINT *to, const char *what,
                        poolgrad_error *error)
{
    if (count > MAX_DIMENSIONS)
        return refuse(error, POOLGRAD_ERR_RANK, what, "has more than 8 values");
    for (size_t i = 0; i < count; i++) {
        if (from[i] < 0 || from[i] > UINT32_MAX)
            return refuse(error, POOLGRAD_ERR_ATTRIBUTE, what,
                          "has a value that is no UINT: they are from 0 to 2^32-1");
        to[i] = (UINT)from[i];
    }
    return S_OK;
}

static HRESULT read_tensor(const poolgrad_tensor *from, tensor *to, const char *what,
                           poolgrad_error *error)
{
    const UINT64 size = from->dtype == DML_TENSOR_DATA_TYPE_FLOAT16 ? 2 : 4;
    UINT64 elements = 1;
    HRESULT code = to_uints(from->sizes, (size_t)from->rank, to->sizes, what, error);
    if (!code && from->strides)
        code = to_uints(from->strides, (size_t)from->rank, to->strides, what, error);
    if (code)
        return code;
    /* A product too large for the file to exist wraps, and is then refused by the face. */
    for (int i = 0; i < from->rank; i++)
        elements *= to->sizes[i];
    to->buffer = (DML_BUFFER_TENSOR_DESC){
        .DataType = (DML_TENSOR_DATA_TYPE)from->dtype,
        .DimensionCount = (UINT)from->rank,
        .Sizes = to->sizes,
        .Strides = from->strides ? to->strides : NULL,
        /* An odd number of halves has 2 bytes more by DirectML's rule than our memory, which the
         * face does not touch. */
        .TotalTensorSizeInBytes = (elements * size + 3) / 4 * 4,
    };
    to->desc = (DML_TENSOR_DESC){DML_TENSOR_TYPE_BUFFER, &to->buffer};
    to->binding = (poolgrad_directml_binding){from->data, 0, to->buffer.TotalTensorSizeInBytes};
    return S_OK;
}

/* Arrays of one length: DirectML says it once. */
static HRESULT read_arrays(const cli_face_call *call, arrays *to, poolgrad_error *error)
{
    const struct {
        const char *name;
        UINT *values;
    } fields[] = {
        {"Strides", to->strides},
        {"WindowSize", to->window_size},
        {"StartPadding", to->start_padding},
        {"EndPadding", to->end_padding},
        {"Dilations", to->dilations},
    };
    to->dimensions = (UINT)cli_attr_list(call, "WindowSize").count;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const poolgrad_list list = cli_attr_list(call, fields[i].name);
        if (i == 4 && call->op->attributes != max_attributes)
            break;
        if (!list.values)
            return refuse(error, POOLGRAD_ERR_ATTRIBUTE, fields[i].name, "is missing");
        if (list.count != to->dimensions)
            return refuse(error, POOLGRAD_ERR_ATTRIBUTE, fields[i].name,
                          "has not as many values as WindowSize");
        HRESULT code = to_uints(list.values, list.count, fields[i].values, fields[i].name, error);
        if (code)
            return code;
    }
    return S_OK;
}

/* Creates, executes, releases. */
static HRESULT run(const cli_face_call *call, const DML_OPERATOR_DESC *desc, const tensor *tensors,
                   UINT inputs, poolgrad_error *error)
{
    poolgrad_directml_binding bindings[MAX_TENSORS];
    poolgrad_directml_operator *op;
    HRESULT code = poolgrad_directml_create_operator(desc, &call->options, &op, error);
    if (code || call->options.plan)
        return code;
    for (UINT i = 0; i <= inputs; i++)
        bindings[i] = tensors[i].binding;
    code = poolgrad_directml_execute(op, bindings, inputs, &bindings[inputs], 1, NULL, error);
    poolgrad_directml_release(op);
    return code;
}

static int64_t average_pooling_grad(const cli_face_call *call, poolgrad_error *error)
{
    tensor tensors[2];
    arrays a;
    const poolgrad_list include = cli_attr_list(call, "IncludePadding");
    HRESULT code = read_tensor(&call->input[0], &tensors[0], "InputGradientTensor", error);
    if (!code)
        code = read_tensor(&call->output, &tensors[1], "OutputGradientTensor", error);
    if (!code)
        code = read_arrays(call, &a, error);
    if (!code && !include.values)
        code = refuse(error, POOLGRAD_ERR_ATTRIBUTE, "IncludePadding", "is missing");
    if (code)
        return code;
    const DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC desc = {
        .InputGradientTensor = &tensors[0].desc,
        .OutputGradientTensor = &tensors[1].desc,
        .DimensionCount = a.dimensions,
        .Strides = a.strides,
        .WindowSize = a.window_size,
        .StartPadding = a.start_padding,
        .EndPadding = a.end_padding,
        .IncludePadding = include.values[0] != 0,
    };
    return run(call, &(DML_OPERATOR_DESC){DML_OPERATOR_AVERAGE_POOLING_GRAD, &desc}, tensors, 1,
               error);
}

static int64_t max_pooling_grad(const cli_face_call *call, poolgrad_error *error)
{
    tensor tensors[3];
    arrays a;
    HRESULT code = read_tensor(&call->input[0], &tensors[0], "InputTensor", error);
    if (!code)
        code = read_tensor(&call->input[1], &tensors[1], "InputGradientTensor", error);
    if (!code)
        code = read_tensor(&call->output, &tensors[2], "OutputGradientTensor", error);
    if (!code)
        code = read_arrays(call, &a, error);
    if (code)
        return code;
    const DML_MAX_POOLING_GRAD_OPERATOR_DESC desc = {
        .InputTensor = &tensors[0].desc,
        .InputGradientTensor = &tensors[1].desc,
        .OutputGradientTensor = &tensors[2].desc,
        .DimensionCount = a.dimensions,
        .Strides = a.strides,
        .WindowSize = a.window_size,
        .StartPadding = a.start_padding,
        .EndPadding = a.end_padding,
        .Dilations = a.dilations,
    };
    return run(call, &(DML_OPERATOR_DESC){DML_OPERATOR_MAX_POOLING_GRAD, &desc}, tensors, 2, error);
}

static const char types[] = "FLOAT32 FLOAT16";

static const cli_operator operators[] = {
    {"directml.AVERAGE_POOLING_GRAD",
     "gradient of AVERAGE_POOLING",
     {"InputGradientTensor"},
     "OutputGradientTensor",
     "OutputGradientTensor",
     types,
     average_attributes,
     average_pooling_grad},
    {"directml.MAX_POOLING_GRAD",
     "gradient of MAX_POOLING2, from its input",
     {"InputTensor", "InputGradientTensor"},
     "OutputGradientTensor",
     "InputTensor",
     types,
     max_attributes,
     max_pooling_grad},
};

static const char *code_name(int64_t code)
{
    switch ((uint32_t)code) {
    case (uint32_t)E_NOTIMPL:
        return "E_NOTIMPL";
    case (uint32_t)E_POINTER:
        return "E_POINTER";
    case (uint32_t)E_OUTOFMEMORY:
        return "E_OUTOFMEMORY";
    case (uint32_t)E_INVALIDARG:
        return "E_INVALIDARG";
    default:
        return "S_OK";
    }
}

const cli_face cli_face_directml = {
    .name = "directml",
    .header = "poolgrad/directml.h",
    .operators = operators,
    .count = sizeof operators / sizeof *operators,
    .dtypes = {[CLI_FACE_F32] = DML_TENSOR_DATA_TYPE_FLOAT32,
               [CLI_FACE_F64] = DML_TENSOR_DATA_TYPE_FLOAT64,
               [CLI_FACE_F16] = DML_TENSOR_DATA_TYPE_FLOAT16,
               [CLI_FACE_BF16] = DML_TENSOR_DATA_TYPE_UNKNOWN,
               [CLI_FACE_I32] = DML_TENSOR_DATA_TYPE_INT32,
               [CLI_FACE_I64] = DML_TENSOR_DATA_TYPE_INT64,
               [CLI_FACE_U32] = DML_TENSOR_DATA_TYPE_UINT32},
    .code_name = code_name,
};
