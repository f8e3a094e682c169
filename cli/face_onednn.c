/* SPDX-License-Identifier: MIT */
#include <poolgrad/onednn.h>

#include "face.h"

#define ATTRIBUTES_OF_BOTH                                                                         \
    {"strides", CLI_ATTR_INTS, NULL, "per spatial axis"},                                          \
        {"pads_begin", CLI_ATTR_INTS, NULL, "per spatial axis; ignored with auto_pad"},            \
        {"pads_end", CLI_ATTR_INTS, NULL, "likewise"},                                             \
        {"kernel", CLI_ATTR_INTS, NULL, "per spatial axis"},                                       \
        {"auto_pad", CLI_ATTR_TEXT, "none", "none, same_upper, same_lower, valid"},                \
    {                                                                                              \
        "data_format", CLI_ATTR_TEXT, "NXC", "NCX, NXC: axes of the files"                         \
    }

static const cli_attribute average_attributes[] = {
    ATTRIBUTES_OF_BOTH,
    {"exclude_pad", CLI_ATTR_BOOL, NULL, "true: padding does not count in the divisor"},
    {"src_shape", CLI_ATTR_INTS, NULL, "sizes of diff_src"},
    {0},
};

static const cli_attribute max_attributes[] = {
    ATTRIBUTES_OF_BOTH,
    {"dilations", CLI_ATTR_INTS, "1s", "per spatial axis"},
    {0},
};

/* exclude_pad keeps what the attribute points at. */
static poolgrad_onednn_attributes attributes_of(const cli_face_call *call, int32_t *exclude_pad)
{
    *exclude_pad = (int32_t)cli_attr_int(call, "exclude_pad", 0);
    return (poolgrad_onednn_attributes){
        .strides = cli_attr_list(call, "strides"),
        .pads_begin = cli_attr_list(call, "pads_begin"),
        .pads_end = cli_attr_list(call, "pads_end"),
        .kernel = cli_attr_list(call, "kernel"),
        .exclude_pad = cli_attr_text(call, "exclude_pad") ? exclude_pad : NULL,
        .auto_pad = cli_attr_text(call, "auto_pad"),
        .data_format = cli_attr_text(call, "data_format"),
        .src_shape = cli_attr_list(call, "src_shape"),
        .dilations = cli_attr_list(call, "dilations"),
    };
}

static int64_t avg_pool_backward(const cli_face_call *call, poolgrad_error *error)
{
    int32_t exclude_pad;
    const poolgrad_onednn_attributes attributes = attributes_of(call, &exclude_pad);
    return poolgrad_onednn_avg_pool_backward(&call->input[0], NULL, &attributes, &call->output,
                                             &call->options, error);
}

static int64_t max_pool_backward(const cli_face_call *call, poolgrad_error *error)
{
    int32_t exclude_pad;
    const poolgrad_onednn_attributes attributes = attributes_of(call, &exclude_pad);
    return poolgrad_onednn_max_pool_backward(&call->input[0], &call->input[1], &attributes,
                                             &call->output, &call->options, error);
}

static const char types[] = "f32 bf16 f16";

static const cli_operator operators[] = {
    {"onednn.AvgPoolBackward",
     "gradient of AvgPool",
     {"diff_dst"},
     "diff_src",
     "src_shape",
     types,
     average_attributes,
     avg_pool_backward},
    {"onednn.MaxPoolBackward",
     "gradient of MaxPool, from its input",
     {"src", "diff_dst"},
     "diff_src",
     "src",
     types,
     max_attributes,
     max_pool_backward},
};

static const char *code_name(int64_t code)
{
    switch (code) {
    case POOLGRAD_ONEDNN_OUT_OF_MEMORY:
        return "out_of_memory";
    case POOLGRAD_ONEDNN_INVALID_ARGUMENTS:
        return "invalid_arguments";
    case POOLGRAD_ONEDNN_UNIMPLEMENTED:
        return "unimplemented";
    case POOLGRAD_ONEDNN_INVALID_GRAPH_OP:
        return "invalid_graph_op";
    case POOLGRAD_ONEDNN_INVALID_SHAPE:
        return "invalid_shape";
    default:
        return "success";
    }
}

const cli_face cli_face_onednn = {
    .name = "onednn",
    .header = "poolgrad/onednn.h",
    .operators = operators,
    .count = sizeof operators / sizeof *operators,
    .dtypes = {[CLI_FACE_F32] = POOLGRAD_ONEDNN_F32,
               [CLI_FACE_F64] = POOLGRAD_ONEDNN_F64,
               [CLI_FACE_F16] = POOLGRAD_ONEDNN_F16,
               [CLI_FACE_BF16] = POOLGRAD_ONEDNN_BF16,
               [CLI_FACE_I32] = POOLGRAD_ONEDNN_S32,
               [CLI_FACE_I64] = POOLGRAD_ONEDNN_S64},
    .code_name = code_name,
};
