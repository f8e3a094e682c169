/* SPDX-License-Identifier: MIT */
#include <poolgrad/torch.h>

#include "face.h"

static const char self_note[] = "sizes of the pooled input: N, C, spatial; N may be left out";

#define ATTRIBUTES_OF_BOTH                                                                         \
    {"self", CLI_ATTR_INTS, NULL, self_note},                                                      \
        {"kernel_size", CLI_ATTR_INTS, NULL, "per spatial axis, or one value for all"},            \
        {"stride", CLI_ATTR_INTS, "kernel", "likewise"},                                           \
        {"padding", CLI_ATTR_INTS, "0", "likewise; at most half of the kernel"},                   \
    {                                                                                              \
        "ceil_mode", CLI_ATTR_BOOL, "false", "a last, partial window counts"                       \
    }

static const cli_attribute average_attributes[] = {
    ATTRIBUTES_OF_BOTH,
    {"count_include_pad", CLI_ATTR_BOOL, "true", "padding counts in the divisor"},
    {"divisor_override", CLI_ATTR_INT, "none", "instead of the count; not 0"},
    {0},
};

static const cli_attribute max_attributes[] = {
    ATTRIBUTES_OF_BOTH,
    {"dilation", CLI_ATTR_INTS, "1", "per spatial axis, or one value for all"},
    {0},
};

static const cli_attribute adaptive_attributes[] = {
    {"self", CLI_ATTR_INTS, NULL, self_note},
    {0},
};

static poolgrad_torch_attributes attributes_of(const cli_face_call *call)
{
    poolgrad_torch_attributes attributes;
    poolgrad_torch_attributes_init(&attributes);
    attributes.kernel_size = cli_attr_list(call, "kernel_size");
    attributes.stride = cli_attr_list(call, "stride");
    attributes.padding = cli_attr_list(call, "padding");
    attributes.dilation = cli_attr_list(call, "dilation");
    attributes.ceil_mode = (int32_t)cli_attr_int(call, "ceil_mode", 0);
    attributes.count_include_pad = (int32_t)cli_attr_int(call, "count_include_pad", 1);
    attributes.divisor_override = cli_attr_list(call, "divisor_override").values;
    return attributes;
}

static int32_t dims_of(const cli_face_call *call);

/* What the gradient needs of the pooled input: the type and sizes that the result has. */
static poolgrad_tensor self_of(const cli_face_call *call)
{
    poolgrad_tensor self = call->output;
    self.data = NULL;
    return self;
}

static int64_t avg_pool(const cli_face_call *call, poolgrad_error *error)
{
    const poolgrad_torch_attributes attributes = attributes_of(call);
    const poolgrad_tensor self = self_of(call);
    return poolgrad_torch_avg_pool_backward(dims_of(call), &call->input[0], &self, &attributes,
                                            &call->output, &call->options, error);
}

static int64_t max_pool(const cli_face_call *call, poolgrad_error *error)
{
    const poolgrad_torch_attributes attributes = attributes_of(call);
    const poolgrad_tensor self = self_of(call);
    return poolgrad_torch_max_pool_with_indices_backward(dims_of(call), &call->input[0], &self,
                                                         &call->input[1], &attributes,
                                                         &call->output, &call->options, error);
}

static int64_t adaptive_avg_pool(const cli_face_call *call, poolgrad_error *error)
{
    const poolgrad_tensor self = self_of(call);
    return poolgrad_torch_adaptive_avg_pool_backward(dims_of(call), &call->input[0], &self,
                                                     &call->output, &call->options, error);
}

static int64_t adaptive_max_pool(const cli_face_call *call, poolgrad_error *error)
{
    const poolgrad_tensor self = self_of(call);
    return poolgrad_torch_adaptive_max_pool_backward(dims_of(call), &call->input[0], &self,
                                                     &call->input[1], &call->output, &call->options,
                                                     error);
}

static const char types[] = "Half BFloat16 Float Double";

/* One per number of dimensions; a set of three begins at a multiple of three, see dims_of. */
#define AVERAGE(d)                                                                                 \
    {                                                                                              \
        "torch.avg_pool" #d "d_backward", "gradient of avg_pool" #d "d", {"grad_output"},          \
            "grad_input", "self", types, average_attributes, avg_pool                              \
    }
#define MAX(d)                                                                                     \
    {                                                                                              \
        "torch.max_pool" #d "d_with_indices_backward",                                             \
            "gradient of max_pool" #d "d, from its indices (Long)", {"grad_output", "indices"},    \
            "grad_input", "self", types, max_attributes, max_pool                                  \
    }
#define ADAPTIVE_AVERAGE(d)                                                                        \
    {                                                                                              \
        "torch.adaptive_avg_pool" #d "d_backward", "gradient of adaptive_avg_pool" #d "d",         \
            {"grad_output"}, "grad_input", "self", types, adaptive_attributes, adaptive_avg_pool   \
    }
#define ADAPTIVE_MAX(d)                                                                            \
    {                                                                                              \
        "torch.adaptive_max_pool" #d "d_backward",                                                 \
            "gradient of adaptive_max_pool" #d "d, from its indices (Long)",                       \
            {"grad_output", "indices"}, "grad_input", "self", types, adaptive_attributes,          \
            adaptive_max_pool                                                                      \
    }

static const cli_operator operators[] = {
    AVERAGE(1),
    AVERAGE(2),
    AVERAGE(3),
    MAX(1),
    MAX(2),
    MAX(3),
    ADAPTIVE_AVERAGE(1),
    ADAPTIVE_AVERAGE(2),
    ADAPTIVE_AVERAGE(3),
    ADAPTIVE_MAX(1),
    ADAPTIVE_MAX(2),
    ADAPTIVE_MAX(3),
};

static int32_t dims_of(const cli_face_call *call)
{
    return (int32_t)((call->op - operators) % 3) + 1;
}

static const char *code_name(int64_t code)
{
    switch (code) {
    case POOLGRAD_TORCH_RUNTIME_ERROR:
        return "RuntimeError";
    case POOLGRAD_TORCH_NOT_IMPLEMENTED_ERROR:
        return "NotImplementedError";
    case POOLGRAD_TORCH_INDEX_ERROR:
        return "IndexError";
    case POOLGRAD_TORCH_OUT_OF_MEMORY_ERROR:
        return "OutOfMemoryError";
    default:
        return "OK";
    }
}

const cli_face cli_face_torch = {
    .name = "torch",
    .header = "poolgrad/torch.h",
    .operators = operators,
    .count = sizeof operators / sizeof *operators,
    .dtypes = {[CLI_FACE_F32] = POOLGRAD_TORCH_FLOAT,
               [CLI_FACE_F64] = POOLGRAD_TORCH_DOUBLE,
               [CLI_FACE_F16] = POOLGRAD_TORCH_HALF,
               [CLI_FACE_BF16] = POOLGRAD_TORCH_BFLOAT16,
               [CLI_FACE_I32] = 3,
               [CLI_FACE_I64] = POOLGRAD_TORCH_LONG,
               [CLI_FACE_U32] = -1},
    .code_name = code_name,
};
