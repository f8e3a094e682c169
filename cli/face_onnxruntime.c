/* SPDX-License-Identifier: MIT */
#include <poolgrad/onnxruntime.h>

#include "face.h"

#define ATTRIBUTES_OF_BOTH                                                                         \
    {"dX", CLI_ATTR_INTS, NULL, "sizes of dX, which the graph has: N, C, spatial"},                \
        {"kernel_shape", CLI_ATTR_INTS, NULL, "per spatial axis"},                                 \
        {"strides", CLI_ATTR_INTS, "1s", "per spatial axis"},                                      \
        {"pads", CLI_ATTR_INTS, "0s", "all begins, then all ends"},                                \
        {"dilations", CLI_ATTR_INTS, "1s", "per spatial axis"},                                    \
        {"auto_pad", CLI_ATTR_TEXT, "NOTSET", "NOTSET, VALID, SAME_UPPER, SAME_LOWER"},            \
    {                                                                                              \
        "ceil_mode", CLI_ATTR_INT, "0", "1: a last, partial window counts"                         \
    }

static const cli_attribute average_attributes[] = {
    ATTRIBUTES_OF_BOTH,
    {"count_include_pad", CLI_ATTR_INT, "0", "1: padding counts in the divisor"},
    {0},
};

static const cli_attribute max_attributes[] = {
    ATTRIBUTES_OF_BOTH,
    {"storage_order", CLI_ATTR_INT, "0", "1: Indices are column-major"},
    {0},
};

static poolgrad_onnxruntime_attributes attributes_of(const cli_face_call *call)
{
    return (poolgrad_onnxruntime_attributes){
        .kernel_shape = cli_attr_list(call, "kernel_shape"),
        .strides = cli_attr_list(call, "strides"),
        .pads = cli_attr_list(call, "pads"),
        .dilations = cli_attr_list(call, "dilations"),
        .auto_pad = cli_attr_text(call, "auto_pad"),
        .ceil_mode = cli_attr_int(call, "ceil_mode", 0),
        .count_include_pad = cli_attr_int(call, "count_include_pad", 0),
        .storage_order = cli_attr_int(call, "storage_order", 0),
    };
}

static int64_t average_pool_grad(const cli_face_call *call, poolgrad_error *error)
{
    const poolgrad_onnxruntime_attributes attributes = attributes_of(call);
    return poolgrad_onnxruntime_average_pool_grad(&call->input[0], &attributes, &call->output,
                                                  &call->options, error);
}

static int64_t max_pool_grad(const cli_face_call *call, poolgrad_error *error)
{
    const poolgrad_onnxruntime_attributes attributes = attributes_of(call);
    return poolgrad_onnxruntime_max_pool_grad(&call->input[0], &call->input[1], &attributes,
                                              &call->output, &call->options, error);
}

static const char types[] = "float float16 double bfloat16";

static const cli_operator operators[] = {
    {"onnxruntime.AveragePoolGrad",
     "gradient of AveragePool",
     {"dY"},
     "dX",
     "dX",
     types,
     average_attributes,
     average_pool_grad},
    {"onnxruntime.MaxPoolGrad",
     "gradient of MaxPool, from its Indices (int64)",
     {"dY", "Indices"},
     "dX",
     "dX",
     types,
     max_attributes,
     max_pool_grad},
};

static const char *code_name(int64_t code)
{
    switch (code) {
    case POOLGRAD_ONNXRUNTIME_FAIL:
        return "FAIL";
    case POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT:
        return "INVALID_ARGUMENT";
    case POOLGRAD_ONNXRUNTIME_RUNTIME_EXCEPTION:
        return "RUNTIME_EXCEPTION";
    case POOLGRAD_ONNXRUNTIME_NOT_IMPLEMENTED:
        return "NOT_IMPLEMENTED";
    case POOLGRAD_ONNXRUNTIME_INVALID_GRAPH:
        return "INVALID_GRAPH";
    default:
        return "OK";
    }
}

const cli_face cli_face_onnxruntime = {
    .name = "onnxruntime",
    .header = "poolgrad/onnxruntime.h",
    .operators = operators,
    .count = sizeof operators / sizeof *operators,
    .dtypes = {[CLI_FACE_F32] = POOLGRAD_ONNXRUNTIME_FLOAT,
               [CLI_FACE_F64] = POOLGRAD_ONNXRUNTIME_DOUBLE,
               [CLI_FACE_F16] = POOLGRAD_ONNXRUNTIME_FLOAT16,
               [CLI_FACE_BF16] = POOLGRAD_ONNXRUNTIME_BFLOAT16,
               [CLI_FACE_I32] = 6,
               [CLI_FACE_I64] = POOLGRAD_ONNXRUNTIME_INT64,
               [CLI_FACE_U32] = 12},
    .code_name = code_name,
};
