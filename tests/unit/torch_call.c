/* SPDX-License-Identifier: MIT */
#include "torch_call.h"

#include <string.h>

int32_t torch_dtype(poolgrad_dtype dtype)
{
    static const int32_t numbers[] = {0, POOLGRAD_TORCH_FLOAT, POOLGRAD_TORCH_DOUBLE,
                                      POOLGRAD_TORCH_HALF, POOLGRAD_TORCH_BFLOAT16};

    return numbers[dtype];
}

void torch_sizes(torch_call *c, int32_t rank, const int64_t *in, const int64_t *out)
{
    const size_t bytes = (size_t)rank * sizeof *in;

    c->grad_output.rank = c->self.rank = c->indices.rank = c->grad_input.rank = rank;
    memcpy(c->in, in, bytes);
    memcpy(c->dx_sizes, in, bytes);
    memcpy(c->out, out, bytes);
    memcpy(c->index, out, bytes);
}

void torch_make(torch_call *c, torch_op op, int32_t dims)
{
    static const int64_t in[] = {2, 2, 4, 4, 4}, out[] = {2, 2, 2, 2, 2};
    const size_t count = (size_t)dims;
    int i;

    memset(c, 0, sizeof *c);
    c->op = op;
    c->dims = dims;
    c->grad_output = (poolgrad_tensor){POOLGRAD_TORCH_FLOAT, 0, c->out, NULL, c->dy};
    c->self = (poolgrad_tensor){POOLGRAD_TORCH_FLOAT, 0, c->in, NULL, NULL};
    c->indices = (poolgrad_tensor){POOLGRAD_TORCH_LONG, 0, c->index, NULL, c->idx};
    c->grad_input = (poolgrad_tensor){POOLGRAD_TORCH_FLOAT, 0, c->dx_sizes, NULL, c->dx};
    torch_sizes(c, dims + 2, in, out);
    for (i = 0; i < 4; i++) {
        c->kernel[i] = c->stride[i] = 2;
        c->dilation[i] = 1;
    }
    poolgrad_torch_attributes_init(&c->attributes);
    c->attributes.kernel_size = (poolgrad_list){c->kernel, count};
    c->attributes.stride = (poolgrad_list){c->stride, count};
    c->attributes.padding = (poolgrad_list){c->padding, count};
    if (op == TORCH_MAX)
        c->attributes.dilation = (poolgrad_list){c->dilation, count};
    for (i = 0; i < TORCH_DX; i++)
        c->dx[i] = -77;
    memcpy(c->before, c->dx, sizeof c->dx);
    for (i = 0; i < TORCH_DY; i++) {
        const int w = i & 1, h = dims > 1 ? i >> 1 & 1 : 0, d = dims > 2 ? i >> 2 & 1 : 0;

        c->dy[i] = (float)(i + 1);
        c->idx[i] = (d * 2 * 4 + h * 2) * 4 + w * 2;
    }
}

poolgrad_torch_code torch_run(torch_call *c, const poolgrad_face_options *options,
                              poolgrad_error *error)
{
    switch (c->op) {
    case TORCH_AVG:
        return poolgrad_torch_avg_pool_backward(c->dims, &c->grad_output, &c->self, &c->attributes,
                                                &c->grad_input, options, error);
    case TORCH_MAX:
        return poolgrad_torch_max_pool_with_indices_backward(c->dims, &c->grad_output, &c->self,
                                                             &c->indices, &c->attributes,
                                                             &c->grad_input, options, error);
    case TORCH_ADAPTIVE_AVG:
        return poolgrad_torch_adaptive_avg_pool_backward(c->dims, &c->grad_output, &c->self,
                                                         &c->grad_input, options, error);
    case TORCH_ADAPTIVE_MAX:
    case TORCH_OPS:
        break;
    }
    return poolgrad_torch_adaptive_max_pool_backward(c->dims, &c->grad_output, &c->self,
                                                     &c->indices, &c->grad_input, options, error);
}

void torch_accepts(torch_call *c)
{
    memset(&c->error, 0x5a, sizeof c->error);
    if (torch_run(c, NULL, &c->error))
        fail_msg("%s", c->error.message);
    assert_int_equal(c->error.status, POOLGRAD_OK);
}

static void check_refusal(torch_call *c, const poolgrad_face_options *options,
                          poolgrad_torch_code code, const char *words)
{
    memset(&c->error, 0, sizeof c->error);
    assert_int_equal(torch_run(c, options, &c->error), code);
    assert_int_not_equal(c->error.status, POOLGRAD_OK);
    if (!strstr(c->error.message, words))
        fail_msg("'%s' does not say '%s'", c->error.message, words);
    assert_true(strlen(c->error.message) + 1 < sizeof c->error.message); /* not cut */
    assert_int_equal(torch_run(c, options, NULL), code);
    assert_memory_equal(c->dx, c->before, sizeof c->dx);
}

void torch_refuses_memory(torch_call *c, poolgrad_torch_code code, const char *words)
{
    check_refusal(c, NULL, code, words);
}

void torch_refuses(torch_call *c, poolgrad_torch_code code, const char *words)
{
    char not_a_plan;
    poolgrad_plan *plan = (poolgrad_plan *)(void *)&not_a_plan;
    poolgrad_face_options options;

    check_refusal(c, NULL, code, words);
    poolgrad_face_options_init(&options);
    options.plan = &plan;
    check_refusal(c, &options, code, words);
    assert_null(plan);
}

void torch_all_refuse(void (*spoil)(torch_call *c), poolgrad_torch_code code, const char *words)
{
    torch_call c;
    int32_t dims;
    int op;

    for (op = 0; op < TORCH_OPS; op++) {
        for (dims = 1; dims <= 3; dims++) {
            torch_make(&c, (torch_op)op, dims);
            spoil(&c);
            torch_refuses(&c, code, words);
        }
    }
}
