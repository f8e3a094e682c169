/* SPDX-License-Identifier: MIT */
#include <poolgrad/tensorflow.h>

#include "face.h"

#define WINDOW                                                                                     \
    {"ksize", CLI_ATTR_INTS, NULL, "per axis of the tensors; 1 for batch and channels"},           \
    {                                                                                              \
        "strides", CLI_ATTR_INTS, NULL, "likewise"                                                 \
    }
#define SHAPE(count)                                                                               \
    {                                                                                              \
        "orig_input_shape", CLI_ATTR_INTS, NULL, "the " count " sizes of the pooled input"         \
    }
#define PADDING                                                                                    \
    {                                                                                              \
        "padding", CLI_ATTR_TEXT, NULL, "SAME, VALID"                                              \
    }
#define FORMAT(last, first)                                                                        \
    {                                                                                              \
        "data_format", CLI_ATTR_TEXT, last, last ", " first                                        \
    }

static const cli_attribute avg_pool_attributes[] = {
    SHAPE("4"), WINDOW, PADDING, FORMAT("NHWC", "NCHW"), {0},
};

static const cli_attribute avg_pool3d_attributes[] = {
    SHAPE("5"), WINDOW, PADDING, FORMAT("NDHWC", "NCDHW"), {0},
};

static const cli_attribute max_pool_attributes[] = {
    WINDOW,
    {"padding", CLI_ATTR_TEXT, NULL, "SAME, VALID, EXPLICIT"},
    {"explicit_paddings", CLI_ATTR_INTS, "none", "with EXPLICIT: two per axis, begin and end"},
    FORMAT("NHWC", "NCHW"),
    {0},
};

static const cli_attribute max_pool3d_attributes[] = {
    WINDOW,
    PADDING,
    FORMAT("NDHWC", "NCDHW"),
    {0},
};

static const cli_attribute argmax_attributes[] = {
    WINDOW,
    PADDING,
    {"include_batch_in_index", CLI_ATTR_BOOL, "false", "argmax counts over the whole tensor"},
    {0},
};

static poolgrad_tensorflow_attributes attributes_of(const cli_face_call *call)
{
    return (poolgrad_tensorflow_attributes){
        .ksize = cli_attr_list(call, "ksize"),
        .strides = cli_attr_list(call, "strides"),
        .padding = cli_attr_text(call, "padding"),
        .explicit_paddings = cli_attr_list(call, "explicit_paddings"),
        .data_format = cli_attr_text(call, "data_format"),
        .include_batch_in_index = cli_attr_int(call, "include_batch_in_index", 0),
    };
}

typedef poolgrad_tensorflow_code average_function(const poolgrad_tensor *, const poolgrad_tensor *,
                                                  const poolgrad_tensorflow_attributes *,
                                                  const poolgrad_tensor *,
                                                  const poolgrad_face_options *, poolgrad_error *);

/* orig_input_shape is a tensor of the original, an option here. */
static int64_t average(const cli_face_call *call, average_function *function, poolgrad_error *error)
{
    const poolgrad_tensorflow_attributes attributes = attributes_of(call);
    const poolgrad_list list = cli_attr_list(call, "orig_input_shape");
    const int64_t count = (int64_t)list.count;
    const poolgrad_tensor shape = {POOLGRAD_TENSORFLOW_INT64, 1, &count, NULL, (void *)list.values};
    return function(&shape, &call->input[0], &attributes, &call->output, &call->options, error);
}

static int64_t avg_pool_grad(const cli_face_call *call, poolgrad_error *error)
{
    return average(call, poolgrad_tensorflow_avg_pool_grad, error);
}

static int64_t avg_pool3d_grad(const cli_face_call *call, poolgrad_error *error)
{
    return average(call, poolgrad_tensorflow_avg_pool3d_grad, error);
}

static int64_t max_pool_grad(const cli_face_call *call, poolgrad_error *error)
{
    const poolgrad_tensorflow_attributes attributes = attributes_of(call);
    return poolgrad_tensorflow_max_pool_grad(&call->input[0], &call->input[1], &call->input[2],
                                             &attributes, &call->output, &call->options, error);
}

static int64_t max_pool3d_grad(const cli_face_call *call, poolgrad_error *error)
{
    const poolgrad_tensorflow_attributes attributes = attributes_of(call);
    return poolgrad_tensorflow_max_pool3d_grad(&call->input[0], &call->input[1], &call->input[2],
                                               &attributes, &call->output, &call->options, error);
}

static int64_t max_pool_grad_with_argmax(const cli_face_call *call, poolgrad_error *error)
{
    const poolgrad_tensorflow_attributes attributes = attributes_of(call);
    return poolgrad_tensorflow_max_pool_grad_with_argmax(&call->input[0], &call->input[1],
                                                         &call->input[2], &attributes,
                                                         &call->output, &call->options, error);
}

static const char types[] = "half bfloat16 float double";

static const cli_operator operators[] = {
    {"tensorflow.AvgPoolGrad",
     "gradient of average pooling, 2-D",
     {"grad"},
     "output",
     "orig_input_shape",
     types,
     avg_pool_attributes,
     avg_pool_grad},
    {"tensorflow.AvgPool3DGrad",
     "gradient of average pooling, 3-D",
     {"grad"},
     "output",
     "orig_input_shape",
     types,
     avg_pool3d_attributes,
     avg_pool3d_grad},
    {"tensorflow.MaxPoolGrad",
     "gradient of max pooling, 2-D, from its input",
     {"orig_input", "orig_output", "grad"},
     "output",
     "orig_input",
     types,
     max_pool_attributes,
     max_pool_grad},
    {"tensorflow.MaxPool3DGrad",
     "gradient of max pooling, 3-D, from its input",
     {"orig_input", "orig_output", "grad"},
     "output",
     "orig_input",
     types,
     max_pool3d_attributes,
     max_pool3d_grad},
    {"tensorflow.MaxPoolGradWithArgmax",
     "gradient of max pooling, 2-D, from its argmax (int32, int64)",
     {"input", "grad", "argmax"},
     "output",
     "input",
     types,
     argmax_attributes,
     max_pool_grad_with_argmax},
};

static const char *code_name(int64_t code)
{
    switch (code) {
    case POOLGRAD_TENSORFLOW_INVALID_ARGUMENT:
        return "INVALID_ARGUMENT";
    case POOLGRAD_TENSORFLOW_NOT_FOUND:
        return "NOT_FOUND";
    case POOLGRAD_TENSORFLOW_RESOURCE_EXHAUSTED:
        return "RESOURCE_EXHAUSTED";
    case POOLGRAD_TENSORFLOW_UNIMPLEMENTED:
        return "UNIMPLEMENTED";
    case POOLGRAD_TENSORFLOW_INTERNAL:
        return "INTERNAL";
    default:
        return "OK";
    }
}

const cli_face cli_face_tensorflow = {
    .name = "tensorflow",
    .header = "poolgrad/tensorflow.h",
    .operators = operators,
    .count = sizeof operators / sizeof *operators,
    .dtypes = {[CLI_FACE_F32] = POOLGRAD_TENSORFLOW_FLOAT,
               [CLI_FACE_F64] = POOLGRAD_TENSORFLOW_DOUBLE,
               [CLI_FACE_F16] = POOLGRAD_TENSORFLOW_HALF,
               [CLI_FACE_BF16] = POOLGRAD_TENSORFLOW_BFLOAT16,
               [CLI_FACE_I32] = POOLGRAD_TENSORFLOW_INT32,
               [CLI_FACE_I64] = POOLGRAD_TENSORFLOW_INT64,
               [CLI_FACE_U32] = 22},
    .code_name = code_name,
};
