/* SPDX-License-Identifier: MIT */
#include "demo_faces.h"

#include <stdio.h>
#include <string.h>

#include "face.h"

enum {
    MOST_AXES = 5
};

/* A tensor of the example, with the axes that an operator wants. */
typedef struct operand {
    float *values;            /* NULL: the winners' indices */
    int64_t sizes[MOST_AXES]; /* 0 ends */
} operand;

typedef struct demo_call {
    const char *op;
    operand inputs[CLI_FACE_INPUTS];
    const char *attributes[7][2];
} demo_call;

/* The worked examples of DirectML's pages: a window of 2x2, stride 1, on an input of 3x3; in memory
 * aligned as it wants it. */
static _Alignas(16) float avg_dy[] = {1, 2, 3, 4};
static const float avg_dx[] = {0.25f, 0.75f, 0.5f, 1, 2.5f, 1.5f, 0.75f, 1.75f, 1};
static _Alignas(16) float max_x[] = {1, 2, 3, 2, 4, 2, 5, 6, 7}, max_y[] = {4, 4, 6, 7};
static _Alignas(16) float max_dy[] = {1, 2, 4, 5};
static const float max_dx[] = {0, 0, 0, 0, 3, 0, 0, 4, 5};
static int64_t max_indices[] = {4, 4, 7, 8};

static const demo_call avg_calls[] = {
    {"directml.AVERAGE_POOLING_GRAD",
     {{avg_dy, {1, 1, 2, 2}}},
     {{"OutputGradientTensor", "1,1,3,3"},
      {"Strides", "1,1"},
      {"WindowSize", "2,2"},
      {"StartPadding", "0,0"},
      {"EndPadding", "0,0"},
      {"IncludePadding", "0"}}},
    {"tensorflow.AvgPoolGrad",
     {{avg_dy, {1, 2, 2, 1}}},
     {{"orig_input_shape", "1,3,3,1"},
      {"ksize", "1,2,2,1"},
      {"strides", "1,1,1,1"},
      {"padding", "VALID"}}},
    {"tensorflow.AvgPool3DGrad",
     {{avg_dy, {1, 1, 2, 2, 1}}},
     {{"orig_input_shape", "1,1,3,3,1"},
      {"ksize", "1,1,2,2,1"},
      {"strides", "1,1,1,1,1"},
      {"padding", "VALID"}}},
    {"onednn.AvgPoolBackward",
     {{avg_dy, {1, 2, 2, 1}}},
     {{"src_shape", "1,3,3,1"},
      {"strides", "1,1"},
      {"pads_begin", "0,0"},
      {"pads_end", "0,0"},
      {"kernel", "2,2"},
      {"exclude_pad", "true"}}},
    {"onnxruntime.AveragePoolGrad",
     {{avg_dy, {1, 1, 2, 2}}},
     {{"dX", "1,1,3,3"}, {"kernel_shape", "2,2"}}},
    {"torch.avg_pool2d_backward",
     {{avg_dy, {1, 1, 2, 2}}},
     {{"self", "1,1,3,3"}, {"kernel_size", "2"}, {"stride", "1"}}},
};

static const demo_call max_calls[] = {
    {"directml.MAX_POOLING_GRAD",
     {{max_x, {1, 1, 3, 3}}, {max_dy, {1, 1, 2, 2}}},
     {{"Strides", "1,1"},
      {"WindowSize", "2,2"},
      {"StartPadding", "0,0"},
      {"EndPadding", "0,0"},
      {"Dilations", "1,1"}}},
    {"tensorflow.MaxPoolGrad",
     {{max_x, {1, 3, 3, 1}}, {max_y, {1, 2, 2, 1}}, {max_dy, {1, 2, 2, 1}}},
     {{"ksize", "1,2,2,1"}, {"strides", "1,1,1,1"}, {"padding", "VALID"}}},
    {"onednn.MaxPoolBackward",
     {{max_x, {1, 3, 3, 1}}, {max_dy, {1, 2, 2, 1}}},
     {{"strides", "1,1"}, {"pads_begin", "0,0"}, {"pads_end", "0,0"}, {"kernel", "2,2"}}},
    {"onnxruntime.MaxPoolGrad",
     {{max_dy, {1, 1, 2, 2}}, {NULL, {1, 1, 2, 2}}},
     {{"dX", "1,1,3,3"}, {"kernel_shape", "2,2"}}},
    {"torch.max_pool2d_with_indices_backward",
     {{max_dy, {1, 1, 2, 2}}, {NULL, {1, 1, 2, 2}}},
     {{"self", "1,1,3,3"}, {"kernel_size", "2"}, {"stride", "1"}}},
};

static int32_t rank_of(const int64_t *sizes)
{
    int32_t rank = 0;
    while (rank < MOST_AXES && sizes[rank])
        rank++;
    return rank;
}

static int set_attributes(cli_face_call *call, const demo_call *demo)
{
    for (size_t i = 0; i < sizeof demo->attributes / sizeof *demo->attributes; i++)
        for (int k = 0; call->op->attributes[k].name && demo->attributes[i][0]; k++)
            if (strcmp(call->op->attributes[k].name, demo->attributes[i][0]) == 0)
                call->text[k] = demo->attributes[i][1];
    return cli_face_read_attributes(call);
}

/* Calls the operator as the command line would, on the example's numbers. */
static int compute(cli_face_call *call, const demo_call *demo, float *dx)
{
    const cli_face *face = call->face;
    poolgrad_list sizes = cli_attr_list(call, call->op->output_sizes);
    poolgrad_error error;
    for (int i = 0; i < CLI_FACE_INPUTS && call->op->inputs[i]; i++) {
        const operand *in = &demo->inputs[i];
        void *data = in->values ? (void *)in->values : max_indices;
        call->input[i] = (poolgrad_tensor){face->dtypes[in->values ? CLI_FACE_F32 : CLI_FACE_I64],
                                           rank_of(in->sizes), in->sizes, NULL, data};
        if (strcmp(call->op->inputs[i], call->op->output_sizes) == 0)
            sizes = (poolgrad_list){in->sizes, (size_t)rank_of(in->sizes)};
    }
    call->output =
        (poolgrad_tensor){face->dtypes[CLI_FACE_F32], (int32_t)sizes.count, sizes.values, NULL, dx};
    poolgrad_face_options_init(&call->options);
    if (!call->op->run(call, &error))
        return 0;
    cli_error("demo", "%s: %s", demo->op, error.message);
    return CLI_DATA;
}

/* One operator: what is asked of it, and whether it answers what DirectML's page says. */
static int show_call(const demo_call *demo, const float *documented)
{
    cli_face_call call = {0};
    _Alignas(16) float dx[9];
    int code = cli_face_find(&call, demo->op);
    if (!code)
        code = set_attributes(&call, demo);
    if (!code)
        code = compute(&call, demo, dx);
    cli_face_free_attributes(&call);
    if (code)
        return code;
    const int equal = memcmp(dx, documented, sizeof dx) == 0;
    printf("  %s  %s\n      ", equal ? "equal" : "WRONG", demo->op);
    for (int i = 0; i < 7 && demo->attributes[i][0]; i++)
        printf(" %s=%s", demo->attributes[i][0], demo->attributes[i][1]);
    printf("\n");
    return equal ? CLI_OK : CLI_DATA;
}

static void print_rows(const char *label, const float *values, int size)
{
    for (int i = 0; i < size; i++) {
        printf("  %-4s [", i == 0 ? label : "");
        for (int j = 0; j < size; j++)
            printf("%s%6.4g", j ? ", " : "", (double)values[i * size + j]);
        printf("]\n");
    }
}

static int show_calls(const demo_call *calls, size_t count, const float *documented)
{
    int code = CLI_OK;
    print_rows("dx", documented, 3);
    printf("\n");
    for (size_t i = 0; i < count && !code; i++)
        code = show_call(&calls[i], documented);
    printf("\n");
    return code;
}

int cli_demo_faces(void)
{
    printf(
        "1. One average gradient, by the operators of five systems, in their own words\n\n"
        "  The example of DirectML's page on DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC: window 2x2,\n"
        "  stride 1; every element of dy goes, divided by 4, to the four inputs of its window\n\n");
    print_rows("dy", avg_dy, 2);
    int code = show_calls(avg_calls, sizeof avg_calls / sizeof *avg_calls, avg_dx);
    if (code)
        return code;
    printf(
        "2. One max gradient, likewise\n\n"
        "  The example of DirectML's page on DML_MAX_POOLING_GRAD_OPERATOR_DESC: every element of\n"
        "  dy goes to the largest input of its window; the 4 in the middle wins two of them\n\n");
    print_rows("x", max_x, 3);
    print_rows("dy", max_dy, 2);
    return show_calls(max_calls, sizeof max_calls / sizeof *max_calls, max_dx);
}
