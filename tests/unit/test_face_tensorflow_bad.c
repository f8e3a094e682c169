/* SPDX-License-Identifier: MIT */
/*
 * Bad calls of TensorFlow's face: the inputs of its security advisories and of the crashes that are
 * left, a bad orig_input_shape, bad attributes. Tests are named after the advisory or after what is
 * wrong. Bad tensors: test_face_tensorflow_tensors.c.
 */
#include "tensorflow_calls.h"

#include <string.h>

#define INVALID       POOLGRAD_TENSORFLOW_INVALID_ARGUMENT
#define UNIMPLEMENTED POOLGRAD_TENSORFLOW_UNIMPLEMENTED

#define ONES4 TF_LIST(1, 1, 1, 1)
#define ONES5 TF_LIST(1, 1, 1, 1, 1)

/* ---------------------------------------------------------------- advisories */

static void cve_2021_29577(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG3D);
    tf_input(&s, 5, TF_LIST(10, 6, 3, 7, 7));
    tf_sizes(&s, 1, 5, TF_LIST(3, 1, 1, 1, 1));
    tf_window(&s, 5, ONES5, ONES5, "SAME");
    tf_expect(&s, INVALID,
              "Expected first dimension of tensor_in_shape and out_backprop to match, got 10 and "
              "3");
}

static void cve_2022_35959(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG3D);
    tf_input(&s, 5, TF_LIST(1879048192, 1879048192, 1879048192, 1879048192, 1879048192));
    tf_sizes(&s, 1, 5, TF_LIST(1, 3, 2, 4, 2));
    tf_window(&s, 5, ONES5, ONES5, "SAME");
    tf_expect(&s, INVALID,
              "Encountered overflow when multiplying 3530822107858468864 with 1879048192");
}

static void cve_2022_35968(void **state)
{
    double grad[35] = {0};
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    s.tensors[1].dtype = s.tensors[TF_OUTPUT].dtype = POOLGRAD_TENSORFLOW_DOUBLE;
    s.tensors[1].data = grad;
    tf_input(&s, 4, TF_LIST(-536870912, -536870912, -536870912, -536870912));
    tf_sizes(&s, 1, 4, TF_LIST(1, 5, 7, 1));
    tf_window(&s, 4, TF_LIST(1, 2, 2, 1), TF_LIST(1, 2, 2, 1), "VALID");
    tf_expect(&s, INVALID, "Expected a non-negative size, got -536870912");
}

static void cve_2023_25664(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    tf_input(&s, 4, TF_LIST(11, 9, 78, 9));
    tf_sizes(&s, 1, 4, TF_LIST(16, 16, 16, 16));
    tf_window(&s, 4, TF_LIST(1, 40, 128, 1), TF_LIST(1, 128, 128, 30), "SAME");
    tf_expect(&s, INVALID, "Expected grad shape to be [11,1,1,9], but got [16,16,16,16]");
    /* with the right grad it is the stride over channels that nobody can mean */
    tf_sizes(&s, 1, 4, TF_LIST(11, 1, 1, 9));
    tf_expect(&s, UNIMPLEMENTED, "strides[3] is 30");
}

static void cve_2023_25669(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    tf_input(&s, 4, TF_LIST(1, 0, 0, 0));
    tf_sizes(&s, 1, 4, ONES4);
    tf_window(&s, 4, TF_LIST(1, 0, 0, 0), TF_LIST(1, 0, 0, 0), "SAME");
    s.attributes.data_format = "NCHW";
    tf_expect(&s, INVALID, "ksize field for dimension 1 must be positive");
}

static void cve_2021_29579(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_MAX);
    tf_input(&s, 4, ONES4);
    tf_sizes(&s, 1, 4, ONES4);
    tf_sizes(&s, 2, 4, TF_LIST(0, 0, 0, 0));
    tf_window(&s, 4, ONES4, ONES4, "SAME");
    tf_expect(&s, INVALID, "Expected grad shape to be [1,1,1,1], but got [0,0,0,0]");
}

static void cve_2021_37674(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_MAX);
    tf_input(&s, 4, TF_LIST(3, 0, 0, 2));
    tf_sizes(&s, 1, 4, TF_LIST(3, 0, 0, 2));
    tf_sizes(&s, 2, 4, TF_LIST(3, 0, 0, 2));
    tf_window(&s, 4, TF_LIST(1, 16, 16, 1), TF_LIST(1, 16, 18, 1), "EXPLICIT");
    s.attributes.explicit_paddings = (poolgrad_list){TF_LIST(0, 0, 14, 3, 15, 5, 0, 0), 8};
    tf_expect(&s, INVALID, "Expected orig_output shape to be [3,1,1,2], but got [3,0,0,2]");
    /* windows that lie in the padding around nothing, even with the shapes that they have */
    tf_sizes(&s, 1, 4, TF_LIST(3, 1, 1, 2));
    tf_expect(&s, INVALID, "Expected grad shape to be [3,1,1,2], but got [3,0,0,2]");
    tf_sizes(&s, 2, 4, TF_LIST(3, 1, 1, 2));
    tf_expect(&s, INVALID, "in[0]");
}

static void cve_2021_29573(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_ARGMAX);
    tf_input(&s, 4, TF_LIST(0, 0, 0, 0));
    tf_sizes(&s, 1, 4, TF_LIST(0, 0, 0, 0));
    tf_sizes(&s, 2, 1, TF_LIST(0));
    tf_window(&s, 4, ONES4, ONES4, "SAME");
    tf_expect(&s, INVALID, "Expected argmax shape to be [0,0,0,0], but got [0]");
}

/* Of MaxPool3DGradGrad, which takes the same tensors. */
static void cve_2021_29574(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_MAX3D);
    tf_input(&s, 5, ONES5);
    tf_sizes(&s, 1, 5, ONES5);
    tf_sizes(&s, 2, 5, TF_LIST(0, 0, 0, 0, 0));
    tf_window(&s, 5, ONES5, ONES5, "SAME");
    tf_expect(&s, INVALID, "Expected grad shape to be [1,1,1,1,1], but got [0,0,0,0,0]");
}

static void cve_2021_29576(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_MAX3D);
    tf_input(&s, 5, TF_LIST(11, 1, 1, 1, 1));
    tf_sizes(&s, 1, 5, ONES5);
    tf_sizes(&s, 2, 5, ONES5);
    tf_window(&s, 5, ONES5, ONES5, "SAME");
    tf_expect(&s, INVALID, "Expected orig_output shape to be [11,1,1,1,1], but got [1,1,1,1,1]");
}

/* Of AvgPool: windows of less than nothing. */
static void cve_2022_35941(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    tf_window(&s, 4, TF_LIST(1, -1, -1, 1), ONES4, "VALID");
    tf_expect(&s, INVALID, "must be positive, got: -1");
}

/* The original still crashes on the next two, with its own kernels and with oneDNN's. */
static void issue_63353(void **state)
{
    static float grad[14 * 14 * 6];
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    tf_input(&s, 4, TF_LIST(1, 28, 28, 3));
    tf_sizes(&s, 1, 4, TF_LIST(1, 14, 14, 6));
    s.tensors[1].data = grad;
    tf_window(&s, 4, TF_LIST(1, 2, 2, 1), TF_LIST(1, 2, 2, 1), "VALID");
    tf_expect(&s, INVALID, "Expected grad shape to be [1,14,14,3], but got [1,14,14,6]");
}

static void issue_110797(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG3D);
    tf_input(&s, 5, TF_LIST(2, 3, 3, 3, 3));
    tf_sizes(&s, 1, 2, TF_LIST(6, 2));
    tf_window(&s, 5, ONES5, ONES5, "VALID");
    tf_expect(&s, INVALID, "out_backprop must be 5-dimensional; grad has the shape [6,2]");
}

/* ----------------------------------------------------------- orig_input_shape */

static void orig_input_shape_of_3_elements(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    s.sizes[0][0] = 3;
    tf_expect(&s, INVALID, "must be 1-dimensional and 4 elements");
    tf_sample_make(&s, TF_AVG3D);
    s.sizes[0][0] = 4;
    tf_expect(&s, INVALID, "must be 1-dimensional and 5 elements");
    s.sizes[0][0] = 10;
    tf_expect(&s, INVALID, "must be 1-dimensional and 5 elements");
}

static void orig_input_shape_scalar(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    s.tensors[0].rank = 0;
    s.tensors[0].sizes = NULL;
    tf_expect(&s, INVALID, "must be 1-dimensional and 4 elements");
}

static void orig_input_shape_of_rank_2(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    tf_sizes(&s, 0, 2, TF_LIST(1, 4));
    tf_expect(&s, INVALID, "must be 1-dimensional and 4 elements");
    tf_sizes(&s, 0, 2, TF_LIST(4, 1));
    tf_expect(&s, INVALID, "must be 1-dimensional and 4 elements");
}

static void orig_input_shape_empty(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    s.sizes[0][0] = 0;
    s.tensors[0].data = NULL;
    tf_expect(&s, INVALID, "must be 1-dimensional and 4 elements");
    s.sizes[0][0] = -4;
    tf_expect(&s, INVALID, "must be 1-dimensional and 4 elements");
}

static void orig_input_shape_of_another_type(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    s.tensors[0].dtype = POOLGRAD_TENSORFLOW_FLOAT;
    tf_expect(&s, INVALID,
              "input #0(zero-based) was expected to be a int32 tensor but is a float tensor");
}

static void orig_input_shape_without_data(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    s.tensors[0].data = NULL;
    tf_expect(&s, INVALID, "the data of orig_input_shape is NULL");
}

static void orig_input_shape_with_a_wild_stride(void **state)
{
    const int64_t strides[] = {INT64_MAX, INT64_MIN, INT64_MAX / 8, INT64_MIN / 8};
    tf_sample s;
    int i;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    for (i = 0; i < 4; i++) {
        s.tensors[0].strides = &strides[i];
        tf_expect(&s, INVALID, "the stride of orig_input_shape");
    }
}

static void negative_dim(void **state)
{
    tf_sample s;
    int op;

    (void)state;
    for (op = 0; op < TF_OPS; op++) {
        const int deep = op == TF_AVG3D || op == TF_MAX3D;

        tf_sample_make(&s, (tf_op)op);
        tf_input(&s, deep ? 5 : 4, deep ? TF_LIST(1, 2, -3, 3, 1) : TF_LIST(1, -3, 3, 1));
        tf_expect(&s, INVALID, "Expected a non-negative size, got -3");
    }
}

static void product_overflow(void **state)
{
    int64_t shape[4] = {INT64_MAX, 1, 1, 1};
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    tf_input(&s, 4, TF_LIST(2147483647, 2147483647, 2147483647, 1));
    tf_expect(&s, INVALID,
              "Encountered overflow when multiplying 4611686014132420609 with 2147483647");
    /* elements that can be counted, but not their bytes, nor their windows */
    s.tensors[0].dtype = POOLGRAD_TENSORFLOW_INT64;
    s.tensors[0].data = shape;
    tf_sizes(&s, TF_OUTPUT, 4, shape);
    tf_sizes(&s, 1, 4, TF_LIST(INT64_MAX, 0, 0, 1));
    tf_expect(&s, INVALID, "64 bits");
    shape[0] = 0;
    shape[1] = INT64_MAX;
    tf_sizes(&s, 1, 4, TF_LIST(0, INT64_MAX, 1, 1));
    tf_window(&s, 4, TF_LIST(1, INT32_MAX, 1, 1), TF_LIST(1, 1, 1, 1), "SAME");
    tf_expect(&s, INVALID, "64 bits");
    tf_window(&s, 4, ONES4, TF_LIST(1, INT32_MAX, 1, 1), "VALID");
    tf_expect(&s, INVALID, "Expected grad shape to be [0,4294967299,1,1]");
}

/* ------------------------------------------------------------------ attributes */

static void ksize_of_length_5(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    s.ksize[4] = 1;
    s.attributes.ksize.count = 5;
    tf_expect(&s, INVALID, "Sliding window ksize field must specify 4 dimensions");
    tf_sample_make(&s, TF_MAX3D);
    s.strides[5] = 1;
    s.attributes.strides.count = 6;
    tf_expect(&s, INVALID, "Sliding window strides field must specify 5 dimensions");
}

static void strides_of_length_3(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    s.attributes.strides.count = 3;
    tf_expect(&s, INVALID, "Length for attr 'strides' of 3 must be at least minimum 4");
    tf_sample_make(&s, TF_AVG3D);
    s.attributes.ksize.count = 0;
    tf_expect(&s, INVALID, "Length for attr 'ksize' of 0 must be at least minimum 5");
}

static void attributes_left_out(void **state)
{
    tf_sample s;
    poolgrad_error error;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    s.attributes.ksize.values = NULL;
    tf_expect(&s, INVALID, "missing attr 'ksize'");
    tf_sample_make(&s, TF_MAX);
    s.attributes.strides.values = NULL;
    tf_expect(&s, INVALID, "missing attr 'strides'");
    tf_sample_make(&s, TF_ARGMAX);
    s.attributes.padding = NULL;
    tf_expect(&s, INVALID, "missing attr 'padding'");
    assert_int_equal(tf_call(TF_ARGMAX, s.given, NULL, NULL, &error), INVALID);
    assert_non_null(strstr(error.message, "missing attr 'ksize'"));
}

static void attributes_of_other_operators(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_ARGMAX);
    s.attributes.data_format = "NHWC";
    tf_expect(&s, INVALID, "mentions attr 'data_format' not in Op");
    tf_sample_make(&s, TF_AVG);
    s.attributes.explicit_paddings = (poolgrad_list){s.paddings, 0};
    tf_expect(&s, INVALID, "mentions attr 'explicit_paddings' not in Op");
    tf_sample_make(&s, TF_MAX3D);
    s.attributes.include_batch_in_index = 1;
    tf_expect(&s, INVALID, "mentions attr 'include_batch_in_index' not in Op");
}

static void padding_of_another_name(void **state)
{
    static const tf_op without[] = {TF_AVG, TF_AVG3D, TF_MAX3D, TF_ARGMAX};
    tf_sample s;
    int i;

    (void)state;
    for (i = 0; i < 4; i++) {
        tf_sample_make(&s, without[i]);
        s.attributes.padding = "EXPLICIT";
        tf_expect(&s, INVALID,
                  "Value for attr 'padding' of \"EXPLICIT\" is not in the list of allowed values: "
                  "\"SAME\", \"VALID\"");
    }
    tf_sample_make(&s, TF_MAX);
    s.attributes.padding = "valid";
    tf_expect(&s, INVALID, "\"SAME\", \"VALID\", \"EXPLICIT\"");
    s.attributes.padding = "";
    tf_expect(&s, INVALID, "attr 'padding' of \"\" is not");
}

static void data_format_of_another_name(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    s.attributes.data_format = "nchw";
    tf_expect(&s, INVALID, "attr 'data_format' of \"nchw\" is not in the list");
    s.attributes.data_format = "NDHWC";
    tf_expect(&s, INVALID, "\"NHWC\", \"NCHW\"");
    tf_sample_make(&s, TF_MAX3D);
    s.attributes.data_format = "NHWC";
    tf_expect(&s, INVALID, "\"NDHWC\", \"NCDHW\"");
}

static void ksize_not_positive(void **state)
{
    tf_sample s;
    int op, value;

    (void)state;
    for (op = 0; op < TF_OPS; op++) {
        for (value = 0; value >= -1; value--) {
            tf_sample_make(&s, (tf_op)op);
            s.ksize[2] = value;
            tf_expect(&s, INVALID,
                      value ? "must be positive, got: -1" : "must be positive, got: 0");
            s.attributes.padding = "SAME";
            tf_expect(&s, INVALID, "must be positive");
        }
    }
    /* the original gives 3 windows of nothing and zeros */
    tf_sample_make(&s, TF_MAX);
    tf_input(&s, 4, TF_LIST(1, 2, 2, 1));
    tf_sizes(&s, 1, 4, TF_LIST(1, 3, 3, 1));
    tf_sizes(&s, 2, 4, TF_LIST(1, 3, 3, 1));
    tf_window(&s, 4, TF_LIST(1, 0, 0, 1), ONES4, "VALID");
    tf_expect(&s, INVALID, "ksize field for dimension 1 must be positive, got: 0");
}

static void stride_not_positive(void **state)
{
    tf_sample s;
    int op;

    (void)state;
    for (op = 0; op < TF_OPS; op++) {
        tf_sample_make(&s, (tf_op)op);
        s.strides[2] = 0;
        tf_expect(&s, INVALID, "Stride must be > 0, but got 0");
        s.strides[2] = -1;
        s.attributes.padding = "SAME";
        tf_expect(&s, INVALID, "Stride must be > 0, but got -1");
    }
}

static void attributes_beyond_int32(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    s.ksize[1] = INT64_C(1) << 31;
    tf_expect(&s, INVALID, "Attr ksize has value 2147483648 out of range for an int32");
    tf_sample_make(&s, TF_MAX);
    s.strides[2] = INT64_MIN;
    tf_expect(&s, INVALID, "Attr strides has value -9223372036854775808 out of range");
}

static void batch_pooling(void **state)
{
    tf_sample s;
    int op;

    (void)state;
    for (op = 0; op < TF_OPS; op++) {
        tf_sample_make(&s, (tf_op)op);
        s.ksize[0] = 2;
        tf_expect(&s, UNIMPLEMENTED, "Pooling is not yet supported on the batch dimension.");
        tf_sample_make(&s, (tf_op)op);
        s.strides[0] = 2;
        tf_expect(&s, UNIMPLEMENTED, "Pooling is not yet supported on the batch dimension.");
    }
}

static void channel_pooling(void **state)
{
    static const char *const words[] = {
        "Non-spatial pooling is not yet supported.",
        "Pooling is not yet supported on the depth dimension.",
        "MaxPoolingGrad is not yet supported on the depth dimension.",
        "Pooling is not yet supported on the depth dimension.",
        "MaxPoolingGrad is not yet supported on the depth dimension.",
    };
    tf_sample s;
    int op;

    (void)state;
    for (op = 0; op < TF_OPS; op++) {
        const int last = op == TF_AVG3D || op == TF_MAX3D ? 4 : 3;

        tf_sample_make(&s, (tf_op)op);
        s.ksize[last] = 2;
        tf_expect(&s, UNIMPLEMENTED, words[op]);
        tf_sample_make(&s, (tf_op)op);
        s.strides[last] = 2;
        tf_expect(&s, UNIMPLEMENTED, words[op]);
    }
    /* channels first: entry 1, and the last is a spatial one */
    tf_sample_make(&s, TF_AVG);
    s.attributes.data_format = "NCHW";
    tf_expect(&s, UNIMPLEMENTED, "ksize[1] is 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cve_2021_29577),
        cmocka_unit_test(cve_2022_35959),
        cmocka_unit_test(cve_2022_35968),
        cmocka_unit_test(cve_2023_25664),
        cmocka_unit_test(cve_2023_25669),
        cmocka_unit_test(cve_2021_29579),
        cmocka_unit_test(cve_2021_37674),
        cmocka_unit_test(cve_2021_29573),
        cmocka_unit_test(cve_2021_29574),
        cmocka_unit_test(cve_2021_29576),
        cmocka_unit_test(cve_2022_35941),
        cmocka_unit_test(issue_63353),
        cmocka_unit_test(issue_110797),
        cmocka_unit_test(orig_input_shape_of_3_elements),
        cmocka_unit_test(orig_input_shape_scalar),
        cmocka_unit_test(orig_input_shape_of_rank_2),
        cmocka_unit_test(orig_input_shape_empty),
        cmocka_unit_test(orig_input_shape_of_another_type),
        cmocka_unit_test(orig_input_shape_without_data),
        cmocka_unit_test(orig_input_shape_with_a_wild_stride),
        cmocka_unit_test(negative_dim),
        cmocka_unit_test(product_overflow),
        cmocka_unit_test(ksize_of_length_5),
        cmocka_unit_test(strides_of_length_3),
        cmocka_unit_test(attributes_left_out),
        cmocka_unit_test(attributes_of_other_operators),
        cmocka_unit_test(padding_of_another_name),
        cmocka_unit_test(data_format_of_another_name),
        cmocka_unit_test(ksize_not_positive),
        cmocka_unit_test(stride_not_positive),
        cmocka_unit_test(attributes_beyond_int32),
        cmocka_unit_test(batch_pooling),
        cmocka_unit_test(channel_pooling),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
