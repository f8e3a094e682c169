/* SPDX-License-Identifier: MIT */
/* Bad calls of TensorFlow's face: tensors whose type, rank, shape or memory is wrong, explicit
 * paddings, indices, options. */
#include "tensorflow_calls.h"

#include <string.h>

#define INVALID       POOLGRAD_TENSORFLOW_INVALID_ARGUMENT
#define UNIMPLEMENTED POOLGRAD_TENSORFLOW_UNIMPLEMENTED

#define ONES4 TF_LIST(1, 1, 1, 1)
#define ONES5 TF_LIST(1, 1, 1, 1, 1)

/* -------------------------------------------------------------- shape of grad */

static void grad_of_rank_3(void **state)
{
    tf_sample s;
    int op;

    (void)state;
    for (op = TF_AVG; op <= TF_MAX; op += 2) {
        tf_sample_make(&s, (tf_op)op);
        tf_sizes(&s, tf_grad(s.op), 3, TF_LIST(2, 2, 1));
        tf_expect(&s, INVALID, "out_backprop must be 4-dimensional; grad has the shape [2,2,1]");
    }
    tf_sample_make(&s, TF_ARGMAX);
    tf_sizes(&s, 1, 3, TF_LIST(2, 2, 1));
    tf_expect(&s, INVALID, "Expected grad shape to be [1,2,2,1], but got [2,2,1]");
}

static void grad_of_rank_4_or_2_in_3d(void **state)
{
    tf_sample s;
    int op;

    (void)state;
    for (op = TF_AVG3D; op <= TF_MAX3D; op += 2) {
        tf_sample_make(&s, (tf_op)op);
        tf_sizes(&s, tf_grad(s.op), 4, TF_LIST(2, 2, 2, 1));
        tf_expect(&s, INVALID, "out_backprop must be 5-dimensional");
        tf_sizes(&s, tf_grad(s.op), 2, TF_LIST(8, 1));
        tf_expect(&s, INVALID, "out_backprop must be 5-dimensional");
    }
}

static void grad_without_axes(void **state)
{
    tf_sample s;
    int op;

    (void)state;
    for (op = 0; op < TF_OPS; op++) {
        tf_sample_make(&s, (tf_op)op);
        s.tensors[tf_grad(s.op)].rank = 0;
        s.tensors[tf_grad(s.op)].sizes = NULL;
        tf_expect(&s, INVALID, op == TF_ARGMAX ? "but got []" : "-dimensional; grad has");
    }
}

/* A long list of sizes is quoted in part. */
static void grad_of_rank_1000(void **state)
{
    static int64_t sizes[1000];
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    s.tensors[1].rank = 1000;
    s.tensors[1].sizes = sizes;
    tf_expect(&s, INVALID, "out_backprop must be 4-dimensional");
    tf_sample_make(&s, TF_ARGMAX);
    s.tensors[1].rank = 1000;
    s.tensors[1].sizes = sizes;
    tf_expect(&s, INVALID, "Expected grad shape to be [1,2,2,1], but got [0,0");
}

/* Every size of every tensor, one too many and one too few. */
static void any_size_off_by_one(void **state)
{
    tf_sample s;
    int op, tensor, axis, step;

    (void)state;
    for (op = 0; op < TF_OPS; op++) {
        const int32_t rank = op == TF_AVG3D || op == TF_MAX3D ? 5 : 4;

        for (tensor = op <= TF_AVG3D ? 1 : 0; tensor < TF_TENSORS; tensor++) {
            for (axis = 0; axis < rank; axis++) {
                for (step = -1; step <= 1; step += 2) {
                    tf_sample_make(&s, (tf_op)op);
                    if (s.tensors[tensor].rank == 0)
                        continue; /* AvgPoolGrad has two inputs */
                    s.sizes[tensor][axis] += step;
                    tf_expect(&s, INVALID, "");
                }
            }
        }
        for (axis = 0; axis < rank && op <= TF_AVG3D; axis++) {
            tf_sample_make(&s, (tf_op)op);
            s.shape[axis]++;
            tf_expect(&s, INVALID, "");
        }
    }
}

static void grad_batch_1_input_batch_2(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    tf_input(&s, 4, TF_LIST(2, 3, 3, 1));
    tf_expect(&s, INVALID, "Expected grad shape to be [2,2,2,1], but got [1,2,2,1]");
    tf_sample_make(&s, TF_AVG3D);
    tf_input(&s, 5, TF_LIST(2, 2, 3, 3, 1));
    tf_expect(&s, INVALID,
              "Expected first dimension of tensor_in_shape and out_backprop to match, "
              "got 2 and 1");
}

static void grad_channels_1_input_channels_2(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    tf_input(&s, 4, TF_LIST(1, 3, 3, 2));
    tf_expect(&s, INVALID, "Expected grad shape to be [1,2,2,2], but got [1,2,2,1]");
    tf_sample_make(&s, TF_AVG3D);
    tf_input(&s, 5, TF_LIST(1, 2, 3, 3, 2));
    tf_expect(&s, INVALID,
              "Expected last dimension of tensor_in_shape and out_backprop to match, "
              "got 2 and 1");
    /* channels first: the second */
    tf_sample_make(&s, TF_AVG3D);
    s.attributes.data_format = "NCDHW";
    tf_window(&s, 5, ONES5, ONES5, "VALID");
    tf_input(&s, 5, TF_LIST(1, 7, 2, 2, 1));
    tf_expect(&s, INVALID,
              "Expected second dimension of tensor_in_shape and out_backprop to "
              "match, got 7 and 2");
}

/* Too many or too few rows: the original takes what index * stride allows. */
static void grad_of_another_extent(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    tf_input(&s, 4, TF_LIST(1, 1, 4, 1));
    tf_window(&s, 4, TF_LIST(1, 1, 2, 1), ONES4, "VALID");
    tf_sizes(&s, 1, 4, TF_LIST(1, 1, 4, 1));
    tf_expect(&s, INVALID, "Expected grad shape to be [1,1,3,1], but got [1,1,4,1]");
    tf_sizes(&s, 1, 4, TF_LIST(1, 1, 9, 1));
    tf_expect(&s, INVALID, "Expected grad shape to be [1,1,3,1], but got [1,1,9,1]");
    tf_sample_make(&s, TF_AVG3D);
    tf_sizes(&s, 1, 5, TF_LIST(1, 1, 1, 1, 1));
    tf_expect(&s, INVALID, "Expected grad shape to be [1,2,2,2,1], but got [1,1,1,1,1]");
}

static void input_batch_0_grad_batch_1(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    tf_input(&s, 4, TF_LIST(0, 3, 3, 1));
    tf_expect(&s, INVALID, "Expected grad shape to be [0,2,2,1], but got [1,2,2,1]");
}

static void rows_0_with_valid(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    tf_input(&s, 4, TF_LIST(1, 0, 3, 1));
    tf_sizes(&s, 1, 4, TF_LIST(1, 0, 2, 1));
    tf_expect(
        &s, INVALID,
        "Computed output size would be negative: -1 [input_size: 0, effective_filter_size: 2, "
        "stride: 1]");
}

static void output_size_negative(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    tf_input(&s, 4, TF_LIST(1, 1, 1, 1));
    tf_window(&s, 4, TF_LIST(1, 1, 3, 1), ONES4, "VALID");
    tf_sizes(&s, 1, 4, TF_LIST(1, 1, 0, 1));
    tf_expect(
        &s, INVALID,
        "Computed output size would be negative: -1 [input_size: 1, effective_filter_size: 3, "
        "stride: 1]");
    /* rounded towards zero: (2 - 8 + 3) / 3 is the first that is not 0 */
    tf_input(&s, 4, TF_LIST(1, 1, 2, 1));
    tf_window(&s, 4, TF_LIST(1, 1, 8, 1), TF_LIST(1, 1, 3, 1), "VALID");
    tf_expect(&s, INVALID, "Computed output size would be negative: -1");
    tf_window(&s, 4, TF_LIST(1, 1, INT32_MAX, 1), TF_LIST(1, 1, 1, 1), "VALID");
    tf_expect(&s, INVALID, "Computed output size would be negative: -2147483644");
    /* explicit padding counts */
    tf_sample_make(&s, TF_MAX);
    tf_input(&s, 4, TF_LIST(1, 1, 1, 1));
    tf_window(&s, 4, TF_LIST(1, 1, 4, 1), ONES4, "EXPLICIT");
    s.attributes.explicit_paddings = (poolgrad_list){TF_LIST(0, 0, 0, 0, 0, 1, 0, 0), 8};
    tf_expect(&s, INVALID, "Computed output size would be negative: -1");
}

static void grad_empty_input_not(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    tf_sizes(&s, 1, 4, TF_LIST(0, 0, 0, 0));
    tf_expect(&s, INVALID, "Expected grad shape to be [1,2,2,1], but got [0,0,0,0]");
    tf_sample_make(&s, TF_AVG3D);
    tf_sizes(&s, 1, 5, TF_LIST(1, 0, 0, 0, 1));
    tf_expect(&s, INVALID, "Expected grad shape to be [1,2,2,2,1], but got [1,0,0,0,1]");
}

/* ------------------------------------------------------------- other tensors */

static void orig_output_of_another_shape(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_MAX);
    tf_sizes(&s, 1, 4, TF_LIST(1, 2, 3, 1));
    tf_expect(&s, INVALID, "Expected orig_output shape to be [1,2,2,1], but got [1,2,3,1]");
    tf_sizes(&s, 1, 3, TF_LIST(2, 2, 1));
    tf_expect(&s, INVALID, "tensor_out must be 4-dimensional; orig_output has the shape [2,2,1]");
}

static void input_of_another_rank(void **state)
{
    tf_sample s;
    int op;

    (void)state;
    for (op = TF_MAX; op < TF_OPS; op++) {
        tf_sample_make(&s, (tf_op)op);
        tf_sizes(&s, 0, 6, TF_LIST(1, 1, 1, 3, 3, 1));
        tf_expect(&s, INVALID, "tensor_in must be ");
        tf_sizes(&s, 0, 2, TF_LIST(3, 3));
        tf_expect(&s, INVALID, "tensor_in must be ");
    }
}

static void output_of_another_shape(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    tf_sizes(&s, TF_OUTPUT, 4, TF_LIST(1, 3, 1, 3));
    tf_expect(&s, INVALID, "output has the shape [1,3,1,3]; the gradient has the shape [1,3,3,1]");
    tf_sizes(&s, TF_OUTPUT, 1, TF_LIST(9));
    tf_expect(&s, INVALID, "output has the shape [9]");
}

static void types_not_allowed(void **state)
{
    static const int32_t types[] = {3, 9, 8, 0, -1, 24, 101, INT32_MAX, INT32_MIN};
    tf_sample s;
    int op, i;

    (void)state;
    for (op = 0; op < TF_OPS; op++) {
        for (i = 0; i < 9; i++) {
            tf_sample_make(&s, (tf_op)op);
            s.tensors[op <= TF_AVG3D ? 1 : 0].dtype = types[i];
            tf_expect(&s, INVALID,
                      i ? "is not in the list of allowed values: half, bfloat16, float, double"
                        : "Value for attr 'T' of int32 is not in the list of allowed values: half, "
                          "bfloat16, float, double");
        }
    }
    tf_sample_make(&s, TF_ARGMAX);
    s.tensors[2].dtype = POOLGRAD_TENSORFLOW_FLOAT;
    tf_expect(&s, INVALID,
              "Value for attr 'Targmax' of float is not in the list of allowed values: int32, "
              "int64");
}

static void types_that_differ(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_MAX);
    s.tensors[2].dtype = POOLGRAD_TENSORFLOW_DOUBLE;
    tf_expect(&s, INVALID,
              "cannot compute MaxPoolGrad as input #2(zero-based) was expected to be a float "
              "tensor but is a double tensor");
    tf_sample_make(&s, TF_MAX3D);
    s.tensors[1].dtype = POOLGRAD_TENSORFLOW_HALF;
    tf_expect(&s, INVALID, "input #1(zero-based) was expected to be a float tensor but is a half");
    tf_sample_make(&s, TF_ARGMAX);
    s.tensors[1].dtype = POOLGRAD_TENSORFLOW_HALF;
    tf_expect(&s, INVALID, "input #1(zero-based) was expected to be a float tensor but is a half");
    tf_sample_make(&s, TF_AVG);
    s.tensors[TF_OUTPUT].dtype = POOLGRAD_TENSORFLOW_HALF;
    tf_expect(&s, INVALID, "output is a half tensor; the gradient is a float tensor");
}

static void null_tensors(void **state)
{
    tf_sample s;
    int op, i;

    (void)state;
    for (op = 0; op < TF_OPS; op++) {
        for (i = 0; i < TF_TENSORS; i++) {
            tf_sample_make(&s, (tf_op)op);
            if (op <= TF_AVG3D && i == 2)
                continue;
            s.given[i] = NULL;
            tf_expect(&s, INVALID, " is NULL");
            s.given[i] = &s.tensors[i];
            s.tensors[i].sizes = NULL;
            tf_expect(&s, INVALID, "its sizes are NULL");
            s.tensors[i].rank = -1;
            tf_expect(&s, INVALID, "has the rank -1");
        }
    }
}

/* ---------------------------------------------------------- explicit paddings */

static void explicit_sample(tf_sample *s)
{
    tf_sample_make(s, TF_MAX);
    s->attributes.padding = "EXPLICIT";
    s->attributes.explicit_paddings = (poolgrad_list){s->paddings, 8};
}

static void explicit_padding_of_the_window(void **state)
{
    static const char *const words[] = {
        "Top padding 2 needs to be smaller than the window size 2", "Bottom padding 2 needs",
        "Left padding 2 needs to be smaller than the window size 2", "Right padding 2 needs"};
    tf_sample s;
    int i;

    (void)state;
    for (i = 0; i < 4; i++) {
        explicit_sample(&s);
        s.paddings[2 + i] = 2;
        tf_expect(&s, INVALID, words[i]);
        s.paddings[2 + i] = INT64_MAX;
        tf_expect(&s, INVALID, "needs to be smaller than the window size 2");
    }
}

static void explicit_paddings_that_do_not_fit(void **state)
{
    tf_sample s;

    (void)state;
    explicit_sample(&s);
    s.attributes.explicit_paddings.count = 7;
    tf_expect(&s, INVALID, "explicit_paddings attribute must contain 8 values, but got: 7");
    s.attributes.explicit_paddings.values = NULL;
    tf_expect(&s, INVALID, "must contain 8 values, but got: 0");
    explicit_sample(&s);
    s.paddings[3] = -1;
    tf_expect(&s, INVALID, "All elements of explicit_paddings must be nonnegative");
    explicit_sample(&s);
    s.paddings[0] = 1;
    tf_expect(&s, INVALID, "Nonzero explicit padding in the batch or depth dimensions");
    explicit_sample(&s);
    s.paddings[7] = 1;
    tf_expect(&s, INVALID, "Nonzero explicit padding in the batch or depth dimensions");
    s.attributes.data_format = "NCHW";
    tf_window(&s, 4, TF_LIST(1, 1, 3, 2), ONES4, "EXPLICIT");
    s.paddings[2] = 1;
    tf_expect(&s, INVALID, "Nonzero explicit padding in the batch or depth dimensions");
    explicit_sample(&s);
    s.attributes.padding = "SAME";
    tf_expect(&s, INVALID, "must be empty if the padding attribute is not EXPLICIT");
}

/* --------------------------------------------------------- indices and memory */

/* The original aborts. What is in the output afterwards is not specified, but nothing is written
 * beside it. */
static void argmax_out_of_range(void **state)
{
    static const int64_t bad[] = {-1, 9, 1000000, INT64_MAX, INT64_MIN, 0};
    tf_sample s;
    poolgrad_error error;
    int i;

    (void)state;
    for (i = 0; i < 6; i++) {
        float pattern;

        tf_sample_make(&s, TF_ARGMAX);
        s.argmax[3] = bad[i];
        pattern = s.data[TF_OUTPUT][9];
        assert_int_equal(tf_call(s.op, s.given, &s.attributes, NULL, &error), INVALID);
        assert_int_equal(error.status, POOLGRAD_ERR_INDEX);
        assert_int_equal(error.position, 3);
        assert_non_null(strstr(error.message, "indices is argmax"));
        assert_memory_equal(&pattern, &s.data[TF_OUTPUT][9], sizeof pattern);
    }
    /* a plan is made without looking at them */
    tf_sample_make(&s, TF_ARGMAX);
    s.argmax[0] = -1;
    s.tensors[2].dtype = POOLGRAD_TENSORFLOW_INT32;
    assert_int_equal(tf_call(s.op, s.given, &s.attributes, NULL, NULL), INVALID);
}

/* Indices of a tensor that an INT32 cannot count. */
static void argmax_type_too_narrow(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_ARGMAX);
    tf_input(&s, 4, TF_LIST(1, 65536, 65536, 1));
    tf_sizes(&s, 1, 4, ONES4);
    tf_sizes(&s, 2, 4, ONES4);
    tf_window(&s, 4, TF_LIST(1, 65536, 65536, 1), ONES4, "VALID");
    s.tensors[2].dtype = POOLGRAD_TENSORFLOW_INT32;
    tf_expect(&s, INVALID, "do not fit in index_type");
}

static void memory_that_cannot_be_used(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    s.tensors[1].data = NULL;
    tf_expect_memory(&s, INVALID, "dy is grad, dx is output");
    tf_sample_make(&s, TF_MAX);
    s.tensors[0].data = (char *)s.data[0] + 1;
    tf_expect_memory(&s, INVALID, "x is orig_input");
    tf_sample_make(&s, TF_MAX);
    s.tensors[TF_OUTPUT].data = s.data[0];
    tf_expect_memory(&s, INVALID, "overlap");
}

/* A result whose elements share memory. */
static void output_strides_that_coincide(void **state)
{
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    s.tensors[TF_OUTPUT].strides = TF_LIST(9, 1, 1, 1);
    tf_expect(&s, INVALID, "dx is output");
}

static void bad_options(void **state)
{
    poolgrad_options compute = options_for("no such strategy", 1);
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    s.options.size = 3;
    tf_expect(&s, INVALID, "options.size is 3");
    tf_sample_make(&s, TF_AVG);
    s.options.compute = &compute;
    tf_expect(&s, INVALID, "no such strategy");
    compute.strategy = "sliding_max"; /* known, but not for this */
    tf_expect(&s, UNIMPLEMENTED, "sliding_max");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grad_of_rank_3),
        cmocka_unit_test(grad_of_rank_4_or_2_in_3d),
        cmocka_unit_test(grad_without_axes),
        cmocka_unit_test(grad_of_rank_1000),
        cmocka_unit_test(any_size_off_by_one),
        cmocka_unit_test(grad_batch_1_input_batch_2),
        cmocka_unit_test(grad_channels_1_input_channels_2),
        cmocka_unit_test(grad_of_another_extent),
        cmocka_unit_test(input_batch_0_grad_batch_1),
        cmocka_unit_test(rows_0_with_valid),
        cmocka_unit_test(output_size_negative),
        cmocka_unit_test(grad_empty_input_not),
        cmocka_unit_test(orig_output_of_another_shape),
        cmocka_unit_test(input_of_another_rank),
        cmocka_unit_test(output_of_another_shape),
        cmocka_unit_test(types_not_allowed),
        cmocka_unit_test(types_that_differ),
        cmocka_unit_test(null_tensors),
        cmocka_unit_test(explicit_padding_of_the_window),
        cmocka_unit_test(explicit_paddings_that_do_not_fit),
        cmocka_unit_test(argmax_out_of_range),
        cmocka_unit_test(argmax_type_too_narrow),
        cmocka_unit_test(memory_that_cannot_be_used),
        cmocka_unit_test(output_strides_that_coincide),
        cmocka_unit_test(bad_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
