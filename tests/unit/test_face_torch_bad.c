/* SPDX-License-Identifier: MIT */
/* PyTorch's face and bad input: every row gets the original's kind of error, a message with its
 * words, and leaves grad_input as it was. */
#include "torch_call.h"

#include <string.h>

/* What the operators with attributes share, in all three ranks. */
static void windowed_refuse(void (*spoil)(torch_call *c), const char *words)
{
    torch_call c;
    int32_t dims;

    for (dims = 1; dims <= 3; dims++) {
        torch_make(&c, TORCH_AVG, dims);
        spoil(&c);
        torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, words);
        torch_make(&c, TORCH_MAX, dims);
        spoil(&c);
        torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, words);
    }
}

/* --------------------------------------------------------------- attributes */

static void zero_kernel(torch_call *c)
{
    c->kernel[c->dims - 1] = 0;
}
static void negative_kernel(torch_call *c)
{
    c->kernel[0] = -1;
}
static void most_negative_kernel(torch_call *c)
{
    c->kernel[0] = INT32_MIN;
}
static void zero_stride(torch_call *c)
{
    c->stride[0] = 0;
}
static void negative_stride(torch_call *c)
{
    c->stride[c->dims - 1] = -2;
}
static void negative_pad(torch_call *c)
{
    c->padding[c->dims - 1] = -1;
}
static void large_pad(torch_call *c)
{
    c->padding[0] = 2;
}
static void wide_kernel(torch_call *c)
{
    c->kernel[0] = INT64_C(1) << 31;
}
static void wide_stride(torch_call *c)
{
    c->stride[0] = INT64_MIN;
}
static void wide_pad(torch_call *c)
{
    c->padding[0] = INT64_MAX;
}

static void kernel_of_0_or_less(void **state)
{
    torch_call c;

    (void)state;
    windowed_refuse(zero_kernel, "kernel size should be greater than zero, but got k");
    windowed_refuse(negative_kernel, "kernel size should be greater than zero, but got k");
    windowed_refuse(most_negative_kernel, "kernel size should be greater than zero, but got k");
    torch_make(&c, TORCH_AVG, 2);
    zero_kernel(&c);
    torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "but got kH: 2 kW: 0");
    torch_make(&c, TORCH_AVG, 3);
    negative_kernel(&c);
    torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "but got kT: -1 kH: 2 kW: 2");
}

static void stride_of_0_or_less(void **state)
{
    (void)state;
    windowed_refuse(zero_stride, "stride should not be zero");
    windowed_refuse(negative_stride, "stride should be greater than zero, but got d");
}

static void pad_negative(void **state)
{
    (void)state;
    windowed_refuse(negative_pad, "pad must be non-negative, but got pad: -1");
}

static void pad_above_half_of_the_kernel(void **state)
{
    (void)state;
    windowed_refuse(large_pad,
                    "pad should be at most half of effective kernel size, but got pad=2, "
                    "kernel_size=2 and dilation=1");
}

/* aten narrows them to 32 bits. */
static void integers_out_of_range(void **state)
{
    (void)state;
    windowed_refuse(wide_kernel, "integer out of range: kernel_size is 2147483648");
    windowed_refuse(wide_stride, "integer out of range: stride is");
    windowed_refuse(wide_pad, "integer out of range: padding is");
}

static void dilation_of_0_or_less(void **state)
{
    torch_call c;
    int32_t dims;

    (void)state;
    for (dims = 1; dims <= 3; dims++) {
        torch_make(&c, TORCH_MAX, dims);
        c.dilation[dims - 1] = 0;
        torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR,
                      "dilation should be greater than zero, but got dilation");
        c.dilation[dims - 1] = INT64_C(1) << 40;
        torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "integer out of range: dilation");
    }
}

static void divisor_of_0(void **state)
{
    torch_call c;
    int32_t dims;

    (void)state;
    for (dims = 1; dims <= 3; dims++) {
        torch_make(&c, TORCH_AVG, dims);
        c.attributes.divisor_override = &c.divisor;
        torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "divisor must be not zero");
        c.divisor = INT64_MIN;
        torch_accepts(&c);
    }
}

/* What the other operator has is not silently dropped. */
static void arguments_of_the_other_operator(void **state)
{
    torch_call c;

    (void)state;
    torch_make(&c, TORCH_AVG, 2);
    c.attributes.dilation = (poolgrad_list){c.dilation, 2};
    torch_accepts(&c); /* 1 changes nothing */
    torch_make(&c, TORCH_AVG, 2);
    c.attributes.dilation = (poolgrad_list){c.dilation, 2};
    c.dilation[1] = 2;
    torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "avg_pool2d has no dilation");
    torch_make(&c, TORCH_MAX, 2);
    c.divisor = 3;
    c.attributes.divisor_override = &c.divisor;
    torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "max_pool2d has no divisor");
}

static void no_kernel(torch_call *c)
{
    c->attributes.kernel_size.values = NULL;
}
static void empty_kernel(torch_call *c)
{
    c->attributes.kernel_size.count = 0;
}
static void long_kernel(torch_call *c)
{
    c->attributes.kernel_size.count = 4;
}
static void long_stride(torch_call *c)
{
    c->attributes.stride.count = SIZE_MAX;
}
static void empty_padding(torch_call *c)
{
    c->attributes.padding.count = 0;
}
static void long_padding(torch_call *c)
{
    c->attributes.padding.count = 4;
}

static void list_lengths(void **state)
{
    torch_call c;

    (void)state;
    windowed_refuse(no_kernel, "is missing value for argument 'kernel_size'");
    windowed_refuse(empty_kernel, "kernel_size");
    windowed_refuse(long_kernel, "kernel_size");
    windowed_refuse(long_stride, "stride");
    windowed_refuse(empty_padding, "padding");
    windowed_refuse(long_padding, "padding");
    torch_make(&c, TORCH_AVG, 2);
    long_kernel(&c);
    torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR,
                  "avg_pool2d: kernel_size must either be a single int, or a tuple of two ints");
    torch_make(&c, TORCH_MAX, 3);
    c.attributes.stride.count = 2;
    torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR,
                  "max_pool3d: stride must either be omitted, a single int, or a tuple of three "
                  "ints");
    torch_make(&c, TORCH_AVG, 1);
    c.attributes.padding.count = 2;
    torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR,
                  "avg_pool1d() argument 'padding' should contain one int (got 2)");
    torch_make(&c, TORCH_MAX, 2);
    c.attributes.dilation.count = 3;
    torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "max_pool2d: dilation must either be");
    assert_int_equal(poolgrad_torch_avg_pool_backward(2, &c.grad_output, &c.self, NULL,
                                                      &c.grad_input, NULL, &c.error),
                     POOLGRAD_TORCH_RUNTIME_ERROR);
    assert_non_null(strstr(c.error.message, "kernel_size"));
}

static void dims_other_than_1_2_3(void **state)
{
    static const int32_t wrong[] = {0, 4, -1, INT32_MIN, INT32_MAX};
    torch_call c;
    size_t i;
    int op;

    (void)state;
    for (op = 0; op < TORCH_OPS; op++) {
        for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            torch_make(&c, (torch_op)op, 2);
            c.dims = wrong[i];
            torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "it must be 1, 2 or 3");
        }
    }
}

/* -------------------------------------------------------------------- shapes */

static void last_window_more(torch_call *c)
{
    c->out[c->dims + 1] = 3;
}
static void no_window(torch_call *c)
{
    c->out[c->dims + 1] = 0;
}
static void last_window_less(torch_call *c)
{
    c->out[c->dims + 1] = 1;
}
static void channel_more(torch_call *c)
{
    c->out[1] = 3;
}
static void batch_less(torch_call *c)
{
    c->out[0] = 1;
}
static void batch_of_none(torch_call *c)
{
    c->out[0] = 0;
}
static void negative_batch(torch_call *c)
{
    c->out[0] = -2;
}
static void output_rank_less(torch_call *c)
{
    c->grad_output.rank--;
}
static void output_rank_0(torch_call *c)
{
    c->grad_output.rank = 0, c->grad_output.sizes = NULL;
}

static void grad_output_of_another_shape(void **state)
{
    torch_call c;

    (void)state;
    windowed_refuse(last_window_more, "= 3 (grad_output)");
    windowed_refuse(last_window_less, "= 1 (grad_output)");
    windowed_refuse(no_window, "= 0 (grad_output)");
    torch_all_refuse(channel_more, POOLGRAD_TORCH_RUNTIME_ERROR,
                     "tensor.size[1] == 2 but got: dimension");
    torch_all_refuse(batch_less, POOLGRAD_TORCH_RUNTIME_ERROR,
                     "tensor.size[0] == 2 but got: dimension");
    torch_all_refuse(batch_of_none, POOLGRAD_TORCH_RUNTIME_ERROR, "tensor.size[0] = 0");
    torch_all_refuse(negative_batch, POOLGRAD_TORCH_RUNTIME_ERROR, "tensor.size[0] = -2");
    torch_all_refuse(output_rank_less, POOLGRAD_TORCH_RUNTIME_ERROR, "dimension");
    torch_all_refuse(output_rank_0, POOLGRAD_TORCH_RUNTIME_ERROR, "dimension");
    torch_make(&c, TORCH_AVG, 2);
    c.out[3] = 3;
    torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR,
                  "Expected a tensor of dimension 4 and tensor.size[3] == 2 but got: dimension 4 "
                  "and tensor.size[3] = 3");
}

/* in 4, kernel 4, stride 3, padding 2: the formula's third window would start in the padding. */
static void ceil_window_that_is_dropped(void **state)
{
    static const int64_t in[] = {1, 1, 1, 4}, out[] = {1, 1, 1, 3};
    torch_call c;

    (void)state;
    torch_make(&c, TORCH_AVG, 2);
    torch_sizes(&c, 4, in, out);
    memcpy(c.kernel, (int64_t[]){1, 4}, 2 * sizeof *c.kernel);
    memcpy(c.stride, (int64_t[]){1, 3}, 2 * sizeof *c.stride);
    memcpy(c.padding, (int64_t[]){0, 2}, 2 * sizeof *c.padding);
    c.attributes.ceil_mode = 1;
    torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR,
                  "tensor.size[3] == 2 but got: dimension 4 and tensor.size[3] = 3");
}

static void input_channels_0(torch_call *c)
{
    c->in[1] = c->dx_sizes[1] = c->out[1] = 0;
}
static void input_row_0(torch_call *c)
{
    c->in[2] = c->dx_sizes[2] = c->out[2] = 0;
}
static void input_negative(torch_call *c)
{
    c->in[0] = c->dx_sizes[0] = c->out[0] = -3;
}
static void input_rank_less(torch_call *c)
{
    c->self.rank = c->grad_input.rank = c->dims;
}
static void input_rank_more(torch_call *c)
{
    c->self.rank = c->grad_input.rank = c->dims + 3;
}
static void input_rank_0(torch_call *c)
{
    c->self.rank = 0, c->self.sizes = NULL;
}

static void empty_and_impossible_inputs(void **state)
{
    static const char words[] = "(batch mode) tensor with optional 0 dim batch size for input";
    static const int64_t in[] = {0, 4, 4}, out[] = {0, 2, 2};
    torch_call c;
    int op;

    (void)state;
    torch_all_refuse(input_channels_0, POOLGRAD_TORCH_RUNTIME_ERROR, words);
    torch_all_refuse(input_row_0, POOLGRAD_TORCH_RUNTIME_ERROR, words);
    torch_all_refuse(input_negative, POOLGRAD_TORCH_RUNTIME_ERROR, "negative dimension -3");
    torch_all_refuse(input_rank_less, POOLGRAD_TORCH_RUNTIME_ERROR, words);
    torch_all_refuse(input_rank_more, POOLGRAD_TORCH_RUNTIME_ERROR, words);
    torch_all_refuse(input_rank_0, POOLGRAD_TORCH_RUNTIME_ERROR, words);
    for (op = 0; op < TORCH_OPS; op++) { /* without a batch, the first size is the channels */
        torch_make(&c, (torch_op)op, 2);
        torch_sizes(&c, 3, in, out);
        torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "Expected 3D or 4D (batch mode)");
    }
}

static void zero_batch(void **state)
{
    torch_call c;
    int32_t dims;
    int op;

    (void)state;
    for (op = 0; op < TORCH_OPS; op++) {
        for (dims = 1; dims <= 3; dims++) {
            torch_make(&c, (torch_op)op, dims);
            c.in[0] = c.dx_sizes[0] = c.out[0] = c.index[0] = 0;
            c.grad_output.data = c.grad_input.data = c.indices.data = NULL;
            torch_accepts(&c);
            assert_memory_equal(c.dx, c.before, sizeof c.dx);
        }
    }
}

static void kernel_larger_than_the_input(torch_call *c)
{
    c->kernel[0] = 5;
}

static void output_size_too_small(void **state)
{
    static const int64_t in[] = {1, 1, 1, 2}, out[] = {1, 1, 1, 1};
    torch_call c;

    (void)state;
    torch_make(&c, TORCH_AVG, 2);
    torch_sizes(&c, 4, in, out);
    memcpy(c.kernel, (int64_t[]){1, 3}, 2 * sizeof *c.kernel);
    memcpy(c.stride, (int64_t[]){1, 1}, 2 * sizeof *c.stride);
    torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR,
                  "Given input size: (1x1x2). Calculated output size: (1x1x0). Output size is too "
                  "small");
    c.out[3] = 0;
    torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "Output size is too small");
    torch_make(&c, TORCH_MAX, 3);
    kernel_larger_than_the_input(&c);
    torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "Output size is too small");
    torch_make(&c, TORCH_AVG, 1);
    kernel_larger_than_the_input(&c);
    torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "Output size is too small");
    /* the 3-D average refuses it also where padding makes up for it */
    torch_make(&c, TORCH_AVG, 3);
    kernel_larger_than_the_input(&c);
    c.padding[0] = 1;
    c.out[2] = 1;
    torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR,
                  "input image (T: 4 H: 4 W: 4) smaller than kernel size (kT: 5 kH: 2 kW: 2)");
    torch_make(&c, TORCH_AVG, 2);
    kernel_larger_than_the_input(&c);
    c.padding[0] = 1;
    c.out[2] = 1;
    torch_accepts(&c);
}

static void adaptive_output_of_none(void **state)
{
    torch_call c;
    int32_t dims;
    int op;

    (void)state;
    for (op = TORCH_ADAPTIVE_AVG; op < TORCH_OPS; op++) {
        for (dims = 1; dims <= 3; dims++) {
            torch_make(&c, (torch_op)op, dims);
            no_window(&c);
            torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR,
                          "Expected grad_output to have non-zero size for non-batch dimensions");
            c.out[dims + 1] = INT64_MIN;
            torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "being empty");
        }
    }
}

/* The words survive the longest numbers. */
static void numbers_of_19_digits(void **state)
{
    const int64_t n = INT64_MAX;
    torch_call c;

    (void)state;
    torch_make(&c, TORCH_MAX, 3);
    torch_sizes(&c, 5, (int64_t[]){1, n / 64, 2, 2, 2}, (int64_t[]){1, n / 64, 1, 1, 1});
    c.kernel[2] = 5;
    torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "Output size is too small");
    torch_make(&c, TORCH_ADAPTIVE_AVG, 3);
    torch_sizes(&c, 5, (int64_t[]){n, n, n, n, n}, (int64_t[]){n, n, n, n, INT64_MIN});
    torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "with dimension 4 being empty");
    c.dx_sizes[4] = n - 1;
    torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "but self has [9223372036854775807,");
    c.in[4] = INT64_MIN;
    torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "negative dimension -9223372036854775808");
}

static void result_of_another_shape(torch_call *c)
{
    c->dx_sizes[c->dims + 1] = 5;
}
static void result_rank_less(torch_call *c)
{
    c->grad_input.rank--;
}

static void grad_input_of_another_shape(void **state)
{
    (void)state;
    torch_all_refuse(result_of_another_shape, POOLGRAD_TORCH_RUNTIME_ERROR,
                     "grad_input has the sizes");
    torch_all_refuse(result_rank_less, POOLGRAD_TORCH_RUNTIME_ERROR, "grad_input has the sizes");
}

static void product_overflows(torch_call *c)
{
    c->in[0] = c->dx_sizes[0] = c->out[0] = c->index[0] = INT64_C(1) << 40;
    c->in[1] = c->dx_sizes[1] = c->out[1] = c->index[1] = INT64_C(1) << 40;
}

static void sizes_that_overflow(void **state)
{
    (void)state;
    torch_all_refuse(product_overflows, POOLGRAD_TORCH_RUNTIME_ERROR, "64 bits");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_of_0_or_less),
        cmocka_unit_test(stride_of_0_or_less),
        cmocka_unit_test(pad_negative),
        cmocka_unit_test(pad_above_half_of_the_kernel),
        cmocka_unit_test(integers_out_of_range),
        cmocka_unit_test(dilation_of_0_or_less),
        cmocka_unit_test(divisor_of_0),
        cmocka_unit_test(arguments_of_the_other_operator),
        cmocka_unit_test(list_lengths),
        cmocka_unit_test(dims_other_than_1_2_3),
        cmocka_unit_test(grad_output_of_another_shape),
        cmocka_unit_test(ceil_window_that_is_dropped),
        cmocka_unit_test(empty_and_impossible_inputs),
        cmocka_unit_test(zero_batch),
        cmocka_unit_test(output_size_too_small),
        cmocka_unit_test(adaptive_output_of_none),
        cmocka_unit_test(numbers_of_19_digits),
        cmocka_unit_test(grad_input_of_another_shape),
        cmocka_unit_test(sizes_that_overflow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
