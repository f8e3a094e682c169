/* SPDX-License-Identifier: MIT */
/* oneDNN's face: bad input. Each test asks for oneDNN's kind of error, for a message that says what
 * is wrong, and that the output is untouched. */
#include "face_onednn.h"

#include <string.h>

#define ARGUMENTS POOLGRAD_ONEDNN_INVALID_ARGUMENTS
#define GRAPH_OP  POOLGRAD_ONEDNN_INVALID_GRAPH_OP
#define SHAPE     POOLGRAD_ONEDNN_INVALID_SHAPE

static void the_good_calls_are_good(void **state)
{
    onednn_call c;

    (void)state;
    onednn_good(&c, 1);
    onednn_accepted(&c);
    onednn_good(&c, 0);
    onednn_accepted(&c);
}

/* ------------------------------------------------- the operation: invalid_graph_op */

static void required_attribute_left_out(void **state)
{
    static const poolgrad_list none = {NULL, 4};
    onednn_call c;
    int average;

    (void)state;
    for (average = 0; average < 2; average++) {
        onednn_good(&c, average);
        c.attributes.strides = none;
        onednn_refused(&c, GRAPH_OP, "attribute strides is required but not set");
        onednn_good(&c, average);
        c.attributes.pads_begin = none;
        onednn_refused(&c, GRAPH_OP, "attribute pads_begin is required but not set");
        onednn_good(&c, average);
        c.attributes.pads_end = none;
        c.attributes.auto_pad = "same_upper";
        onednn_refused(&c, GRAPH_OP, "attribute pads_end is required but not set");
        onednn_good(&c, average);
        c.attributes.kernel = none;
        onednn_refused(&c, GRAPH_OP, "attribute kernel is required but not set");
    }
    onednn_good(&c, 1);
    c.attributes.exclude_pad = NULL;
    onednn_refused(&c, GRAPH_OP, "attribute exclude_pad is required but not set");
}

static void no_attributes(void **state)
{
    poolgrad_error error;
    onednn_call c;

    (void)state;
    onednn_good(&c, 1);
    assert_int_equal(
        poolgrad_onednn_avg_pool_backward(&c.diff_dst, NULL, NULL, &c.diff_src, NULL, &error),
        GRAPH_OP);
    assert_non_null(strstr(error.message, "strides is required but not set"));
    assert_int_equal(
        poolgrad_onednn_max_pool_backward(&c.src, &c.diff_dst, NULL, &c.diff_src, NULL, NULL),
        GRAPH_OP);
    onednn_untouched(&c);
}

static void unknown_attribute(void **state)
{
    onednn_call c;

    (void)state;
    onednn_good(&c, 1);
    c.attributes.dilations = POOLGRAD_LIST(1, 1);
    onednn_refused(&c, GRAPH_OP, "attribute dilations is not defined in spec");
    onednn_good(&c, 0);
    c.attributes.exclude_pad = &c.exclude_pad;
    onednn_refused(&c, GRAPH_OP, "attribute exclude_pad is not defined in spec");
    onednn_good(&c, 0);
    c.attributes.src_shape = POOLGRAD_LIST(1, 1, 3, 3);
    onednn_refused(&c, GRAPH_OP, "attribute src_shape is not defined in spec");
}

static void wrong_string(void **state)
{
    static const char *const paddings[] = {"SAME", "", "same_upper ", "NOTSET", "VALI", "VALIDE"};
    static const char *const formats[] = {"NHWC", "", "NC", "NXCX", "any"};
    onednn_call c;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof paddings / sizeof paddings[0]; i++) {
        onednn_good(&c, (int)i % 2);
        c.attributes.auto_pad = paddings[i];
        onednn_refused(&c, GRAPH_OP, "attribute auto_pad has invalid value");
    }
    for (i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        onednn_good(&c, (int)i % 2);
        c.attributes.data_format = formats[i];
        onednn_refused(&c, GRAPH_OP, "attribute data_format has invalid value");
    }
}

static void negative_pads(void **state)
{
    onednn_call c;

    (void)state;
    onednn_good(&c, 1);
    c.pads_begin[1] = -1;
    onednn_refused(&c, GRAPH_OP, "pads_begin should be a s64 list containing non-negative values");
    c.attributes.auto_pad = "VALID"; /* would ignore them, but is not asked */
    onednn_refused(&c, GRAPH_OP, "pads_begin[1] is -1");
    onednn_good(&c, 0);
    c.pads_end[0] = INT64_MIN;
    onednn_refused(&c, GRAPH_OP, "pads_end should be a s64 list containing non-negative values");
}

static void data_types(void **state)
{
    static const int32_t wrong[] = {0, -1, 4, 5, 6, POOLGRAD_ONEDNN_F64, 8, 17, INT32_MAX};
    onednn_call c;
    size_t i;
    int average;

    (void)state;
    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        for (average = 0; average < 2; average++) {
            onednn_good(&c, average);
            c.src.dtype = c.diff_dst.dtype = c.diff_src.dtype = wrong[i];
            onednn_refused(&c, GRAPH_OP,
                           average ? "given data type for input diff_dst is "
                                   : "given data type for input src is ");
            onednn_good(&c, average);
            c.diff_src.dtype = wrong[i];
            onednn_refused(&c, GRAPH_OP, "given data type for output diff_src is ");
        }
    }
    onednn_good(&c, 0);
    c.diff_dst.dtype = POOLGRAD_ONEDNN_BF16;
    onednn_refused(&c, GRAPH_OP, "given data type for input diff_dst is 2");
    onednn_good(&c, 1);
    onednn_shape_as_input(&c);
    c.shape_tensor.dtype = POOLGRAD_ONEDNN_F32;
    onednn_refused(&c, GRAPH_OP, "given data type for input src_shape is 3");
}

/* ------------------------------------------------------------------- src_shape */

static void src_shape_left_out(void **state)
{
    onednn_call c;

    (void)state;
    onednn_good(&c, 1);
    c.attributes.src_shape = (poolgrad_list){NULL, 0};
    onednn_refused(&c, ARGUMENTS,
                   "src_shape should be specified in attributes if it's not given in inputs");
    c.attributes.data_format = "NXC";
    onednn_refused(&c, ARGUMENTS, "src_shape should be specified in attributes");
}

static void src_shape_of_3_elements(void **state)
{
    onednn_call c;

    (void)state;
    onednn_good(&c, 1);
    c.attributes.src_shape.count = 3;
    onednn_refused(&c, ARGUMENTS, "dimensions are invalid: src_shape has 3 values");
    c.attributes.src_shape.count = 0;
    onednn_refused(&c, ARGUMENTS, "dimensions are invalid: src_shape has 0 values");
    c.attributes.src_shape = POOLGRAD_LIST(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    onednn_refused(&c, ARGUMENTS, "dimensions are invalid: src_shape has 12 values");
    onednn_good(&c, 1);
    onednn_shape_as_input(&c);
    c.shape_count = 3;
    onednn_refused(&c, ARGUMENTS, "src_shape is a tensor of 3 elements");
    c.shape_count = INT64_MAX;
    onednn_refused(&c, ARGUMENTS, "dimensions are invalid");
    c.shape_count = INT64_MIN;
    onednn_refused(&c, ARGUMENTS, "dimensions are invalid");
}

static void src_shape_scalar_rank_2_empty(void **state)
{
    static const int64_t flat[] = {4, 1};
    onednn_call c;

    (void)state;
    onednn_good(&c, 1);
    onednn_shape_as_input(&c);
    c.shape_tensor.rank = 0;
    onednn_refused(&c, ARGUMENTS, "src_shape is a tensor of 0 dimensions");
    c.shape_tensor.rank = 2;
    c.shape_tensor.sizes = flat;
    onednn_refused(&c, ARGUMENTS, "src_shape is a tensor of 2 dimensions");
    onednn_shape_as_input(&c);
    c.shape_count = 0;
    onednn_refused(&c, ARGUMENTS, "src_shape is a tensor of 0 elements");
    c.shape_tensor.rank = -1;
    onednn_refused(&c, ARGUMENTS, "src_shape has the rank -1");
    onednn_shape_as_input(&c);
    c.shape_tensor.sizes = NULL;
    onednn_refused(&c, ARGUMENTS, "src_shape has the rank 1 but its sizes are NULL");
    onednn_shape_as_input(&c);
    c.shape_tensor.data = NULL;
    onednn_refused(&c, ARGUMENTS, "the data of src_shape is NULL");
}

static void src_shape_with_a_stride_out_of_range(void **state)
{
    int64_t stride = INT64_MAX;
    onednn_call c;

    (void)state;
    onednn_good(&c, 1);
    onednn_shape_as_input(&c);
    c.shape_tensor.strides = &stride;
    onednn_refused(&c, ARGUMENTS, "the stride of src_shape is");
    stride = INT64_MIN;
    onednn_refused(&c, ARGUMENTS, "the stride of src_shape is");
}

static void src_shape_contradicts_diff_src(void **state)
{
    static const int64_t other[] = {1, 1, 3, 9}, longer[] = {1, 1, 3, 3, 1};
    onednn_call c;

    (void)state;
    onednn_good(&c, 1);
    c.attributes.src_shape.values = other;
    onednn_refused(&c, ARGUMENTS, "diff_src is [1,1,3,3], src_shape is [1,1,3,9]");
    onednn_good(&c, 1);
    onednn_shape_as_input(&c);
    c.shape[3] = 9;
    onednn_refused(&c, ARGUMENTS, "diff_src is [1,1,3,3], src_shape is [1,1,3,9]");
    onednn_good(&c, 1);
    c.diff_src.rank = 5;
    c.diff_src.sizes = longer;
    onednn_refused(&c, ARGUMENTS, "diff_src is [1,1,3,3,1]");
}

static void src_shape_negative(void **state)
{
    onednn_call c;
    int tensor;

    (void)state;
    for (tensor = 0; tensor < 2; tensor++) {
        onednn_good(&c, 1);
        c.src_sizes[3] = -4;
        if (tensor)
            onednn_shape_as_input(&c);
        onednn_refused(&c, SHAPE, "the size 3 of src_shape is -4");
    }
    onednn_good(&c, 0);
    c.src_sizes[0] = -1;
    onednn_refused(&c, SHAPE, "the size 0 of src is -1");
}

/* An unknown dimension, which the original fills in; here the output is the caller's. */
static void diff_src_unknown(void **state)
{
    static const int64_t unknown[] = {1, 1, INT64_MIN, INT64_MIN};
    onednn_call c;

    (void)state;
    onednn_good(&c, 1);
    c.diff_src.sizes = unknown;
    onednn_refused(&c, ARGUMENTS, "shapes are not compatible");
    onednn_good(&c, 1);
    c.diff_src.rank = -1;
    onednn_refused(&c, ARGUMENTS, "diff_src has the rank -1");
}

/* ------------------------------------------------------------------ attributes */

static void list_of_another_length(void **state)
{
    static const int64_t ones[] = {1, 1, 1, 1, 1};
    onednn_call c;
    size_t count;
    int which;

    (void)state;
    for (which = 0; which < 5; which++) {
        for (count = 0; count < 6; count++) {
            poolgrad_list *const lists[] = {&c.attributes.strides, &c.attributes.kernel,
                                            &c.attributes.pads_begin, &c.attributes.pads_end,
                                            &c.attributes.dilations};

            if (count == 2)
                continue;
            onednn_good(&c, which < 4);
            *lists[which] = (poolgrad_list){ones, count};
            onednn_refused(&c, ARGUMENTS, "dimensions are invalid");
        }
    }
    onednn_good(&c, 1);
    c.attributes.auto_pad = "valid";
    c.attributes.pads_end = (poolgrad_list){ones, 3};
    onednn_refused(&c, ARGUMENTS, "pads_end has 3 values; there are 2 spatial axes");
    c.attributes.pads_begin = (poolgrad_list){ones, 1};
    onednn_refused(&c, ARGUMENTS, "pads_begin has 1 values; there are 2 spatial axes");
}

/* Accepted by the original, which answers with zeros. */
static void kernel_below_1(void **state)
{
    onednn_call c;
    int64_t kernel;

    (void)state;
    for (kernel = -1; kernel <= 0; kernel++) {
        onednn_good(&c, 1);
        c.kernel[1] = kernel;
        c.dst_sizes[3] = 4 - kernel;
        onednn_refused(&c, ARGUMENTS, kernel ? "kernel[1] is -1" : "kernel[1] is 0");
        c.attributes.auto_pad = "same_upper";
        c.dst_sizes[2] = c.dst_sizes[3] = 3;
        onednn_refused(&c, ARGUMENTS, "it must be at least 1");
        onednn_good(&c, 0);
        c.kernel[0] = kernel;
        onednn_refused(&c, ARGUMENTS, kernel ? "kernel[0] is -1" : "kernel[0] is 0");
    }
}

static void stride_below_1(void **state)
{
    onednn_call c;

    (void)state;
    onednn_good(&c, 1);
    c.strides[0] = 0;
    onednn_refused(&c, ARGUMENTS, "strides[0] is 0");
    c.strides[0] = -1;
    onednn_refused(&c, ARGUMENTS, "strides[0] is -1");
    onednn_good(&c, 0);
    c.strides[1] = INT64_MIN;
    onednn_refused(&c, ARGUMENTS, "strides[1] is -9223372036854775808");
}

/* The original divides by it: SIGFPE. */
static void stride_0_with_auto_pad(void **state)
{
    static const char *const paddings[] = {"SAME_UPPER", "SAME_LOWER", "VALID"};
    onednn_call c;
    int i;

    (void)state;
    for (i = 0; i < 6; i++) {
        onednn_good(&c, i % 2);
        c.strides[0] = c.strides[1] = 0;
        c.attributes.auto_pad = paddings[i / 2];
        onednn_refused(&c, ARGUMENTS, "strides[0] is 0");
    }
}

static void dilation_below_1(void **state)
{
    onednn_call c;

    (void)state;
    onednn_good(&c, 0);
    c.attributes.dilations = POOLGRAD_LIST(1, 0);
    onednn_refused(&c, ARGUMENTS, "dilations[1] is 0");
}

static void pads_of_the_kernel_with_exclude_pad(void **state)
{
    onednn_call c;
    int end;

    (void)state;
    for (end = 0; end < 4; end++) {
        onednn_good(&c, 1);
        (end / 2 ? c.pads_end : c.pads_begin)[1] = 2;
        c.dst_sizes[3] = 4;
        c.exclude_pad = end % 2;
        if (c.exclude_pad)
            onednn_refused(&c, ARGUMENTS, "inconsistent padding");
        else
            onednn_accepted(&c);
    }
    onednn_good(&c, 0);
    c.pads_begin[1] = c.pads_end[1] = 3;
    c.dst_sizes[3] = 8;
    onednn_accepted(&c);
}

static void kernel_of_2_to_the_31_with_pads_that_do_not_fit(void **state)
{
    onednn_call c;

    (void)state;
    onednn_good(&c, 1);
    c.kernel[0] = 2147483647;
    c.pads_begin[0] = 1073741823;
    c.pads_end[0] = 1073741826;
    c.exclude_pad = 1;
    onednn_refused(&c, ARGUMENTS, "diff_dst is [1,1,2,2], not [1,1,6,2]");
}

static void attributes_beyond_64_bits(void **state)
{
    static const int64_t huge = INT64_MAX;
    onednn_call c;

    (void)state;
    onednn_good(&c, 1);
    c.kernel[0] = huge;
    onednn_refused(&c, ARGUMENTS, "diff_dst is [1,1,2,2], not [1,1,0,2]");
    onednn_good(&c, 1);
    c.pads_begin[0] = c.pads_end[0] = huge;
    onednn_refused(&c, ARGUMENTS, "does not fit in 64 bits");
    onednn_good(&c, 0);
    c.pads_end[1] = huge;
    onednn_refused(&c, ARGUMENTS, "does not fit in 64 bits");
    onednn_good(&c, 0);
    c.kernel[0] = c.dilations[0] = huge;
    c.attributes.dilations = (poolgrad_list){c.dilations, 2};
    onednn_refused(&c, ARGUMENTS, "does not fit in 64 bits");
    c.attributes.auto_pad = "same_lower";
    onednn_refused(&c, ARGUMENTS, "does not fit in 64 bits");
    onednn_good(&c, 1);
    c.kernel[0] = c.strides[0] = huge;
    c.attributes.auto_pad = "same_lower"; /* one window per axis of that stride */
    onednn_refused(&c, ARGUMENTS, "diff_dst is [1,1,2,2], not [1,1,1,3]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_good_calls_are_good),
        cmocka_unit_test(required_attribute_left_out),
        cmocka_unit_test(no_attributes),
        cmocka_unit_test(unknown_attribute),
        cmocka_unit_test(wrong_string),
        cmocka_unit_test(negative_pads),
        cmocka_unit_test(data_types),
        cmocka_unit_test(src_shape_left_out),
        cmocka_unit_test(src_shape_of_3_elements),
        cmocka_unit_test(src_shape_scalar_rank_2_empty),
        cmocka_unit_test(src_shape_with_a_stride_out_of_range),
        cmocka_unit_test(src_shape_contradicts_diff_src),
        cmocka_unit_test(src_shape_negative),
        cmocka_unit_test(diff_src_unknown),
        cmocka_unit_test(list_of_another_length),
        cmocka_unit_test(kernel_below_1),
        cmocka_unit_test(stride_below_1),
        cmocka_unit_test(stride_0_with_auto_pad),
        cmocka_unit_test(dilation_below_1),
        cmocka_unit_test(pads_of_the_kernel_with_exclude_pad),
        cmocka_unit_test(kernel_of_2_to_the_31_with_pads_that_do_not_fit),
        cmocka_unit_test(attributes_beyond_64_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
