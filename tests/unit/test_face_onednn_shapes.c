/* SPDX-License-Identifier: MIT */
/* oneDNN's face: shapes that do not belong together, among them those that crashed TensorFlow, and
 * memory that cannot be used. */
#include "face_onednn.h"

#include <string.h>

#define ARGUMENTS POOLGRAD_ONEDNN_INVALID_ARGUMENTS
#define GRAPH_OP  POOLGRAD_ONEDNN_INVALID_GRAPH_OP
#define SHAPE     POOLGRAD_ONEDNN_INVALID_SHAPE

/* Sizes from lists; `window` is every kernel and stride. Axes are N, C, spatial. */
static void set(onednn_call *c, int average, int spatial, const int64_t *src, const int64_t *dst,
                int64_t window)
{
    int i;

    onednn_good(c, average);
    c->src.rank = c->diff_dst.rank = c->diff_src.rank = spatial + 2;
    c->attributes.strides.count = c->attributes.kernel.count = (size_t)spatial;
    c->attributes.pads_begin.count = c->attributes.pads_end.count = (size_t)spatial;
    c->attributes.src_shape.count = (size_t)spatial + 2;
    memcpy(c->src_sizes, src, (size_t)(spatial + 2) * sizeof *src);
    memcpy(c->dst_sizes, dst, (size_t)(spatial + 2) * sizeof *dst);
    for (i = 0; i < spatial; i++)
        c->kernel[i] = c->strides[i] = window;
}

/* -------------------------------------------------------------------- diff_dst */

static void diff_dst_of_another_shape(void **state)
{
    onednn_call c;
    int average, axis, more;

    (void)state;
    for (average = 0; average < 2; average++) {
        for (axis = 0; axis < 4; axis++) {
            for (more = -1; more < 2; more += 2) {
                onednn_good(&c, average);
                c.dst_sizes[axis] += more;
                onednn_refused(&c, ARGUMENTS, "mismatch between actual and computed dims");
            }
            onednn_good(&c, average);
            c.dst_sizes[axis] = 0;
            onednn_refused(&c, ARGUMENTS, "mismatch between actual and computed dims");
            c.dst_sizes[axis] = INT64_MIN;
            onednn_refused(&c, ARGUMENTS, "mismatch between actual and computed dims");
        }
    }
}

static void diff_dst_as_ceil_would_have_it(void **state)
{
    static const int64_t in[] = {1, 1, 5}, out[] = {1, 1, 3};
    onednn_call c;

    (void)state;
    set(&c, 1, 1, in, out, 2);
    onednn_refused(&c, ARGUMENTS, "diff_dst is [1,1,3], not [1,1,2]");
}

static void rank_other_than_3_to_5(void **state)
{
    static const int64_t ones[] = {1, 1, 1, 1, 1, 1};
    static const int32_t ranks[] = {0, 1, 2, 6};
    onednn_call c;
    size_t i;

    (void)state;
    for (i = 0; i < 8; i++) {
        onednn_good(&c, (int)i % 2);
        c.src.rank = c.diff_src.rank = c.diff_dst.rank = ranks[i / 2];
        c.src.sizes = c.diff_src.sizes = c.diff_dst.sizes = ones;
        if (c.average)
            c.attributes.src_shape = (poolgrad_list){ones, (size_t)ranks[i / 2]};
        onednn_refused(&c, ARGUMENTS, "it must have 3, 4 or 5");
    }
    onednn_good(&c, 0);
    c.src.rank = INT32_MIN;
    onednn_refused(&c, ARGUMENTS, "src has the rank -2147483648");
    onednn_good(&c, 0);
    c.diff_dst.rank = 3;
    onednn_refused(&c, ARGUMENTS, "diff_dst is [1,1,2], not [1,1,2,2]");
    onednn_good(&c, 1);
    c.diff_dst.rank = 3;
    onednn_refused(&c, ARGUMENTS, "src_shape has 4 values; diff_dst has 3 dimensions");
}

static void src_and_diff_src_differ(void **state)
{
    static const int64_t other[] = {1, 1, 3, 4};
    onednn_call c;

    (void)state;
    onednn_good(&c, 0);
    c.diff_src.sizes = other;
    onednn_refused(&c, SHAPE, "input and output shapes are not compatible");
    onednn_good(&c, 0);
    c.diff_src.rank = 3;
    onednn_refused(&c, SHAPE, "diff_src is [1,1,3], src is [1,1,3,3]");
}

/* ------------------------------------------------ tuples that crashed TensorFlow */

static void cve_2021_29577(void **state)
{
    static const int64_t src[] = {10, 6, 3, 7, 7}, dst[] = {3, 1, 1, 1, 1};
    onednn_call c;

    (void)state;
    set(&c, 1, 3, src, dst, 1);
    c.attributes.auto_pad = "same_upper";
    c.attributes.data_format = NULL;
    onednn_refused(&c, ARGUMENTS, "diff_dst is [3,1,1,1,1], not [10,6,3,7,7]");
}

static void cve_2022_35959(void **state)
{
    static const int64_t src[] = {1879048192, 1879048192, 1879048192, 1879048192, 1879048192};
    static const int64_t dst[] = {1, 3, 2, 4, 2};
    onednn_call c;

    (void)state;
    set(&c, 1, 3, src, dst, 1);
    onednn_refused(&c, ARGUMENTS, "64 bits");
    onednn_shape_as_input(&c);
    onednn_refused(&c, ARGUMENTS, "64 bits");
    set(&c, 0, 3, src, dst, 1);
    onednn_refused(&c, ARGUMENTS, "64 bits");
}

static void cve_2022_35968(void **state)
{
    static const int64_t src[] = {-536870912, -536870912, -536870912, -536870912};
    static const int64_t dst[] = {1, 5, 7, 1};
    onednn_call c;

    (void)state;
    set(&c, 1, 2, src, dst, 2);
    c.attributes.auto_pad = "valid";
    onednn_refused(&c, SHAPE, "the size 0 of src_shape is -536870912");
    onednn_shape_as_input(&c);
    onednn_refused(&c, SHAPE, "the size 0 of src_shape is -536870912");
}

static void cve_2023_25664(void **state)
{
    static const int64_t src[] = {11, 9, 78, 9}, dst[] = {16, 16, 16, 16};
    onednn_call c;

    (void)state;
    set(&c, 1, 2, src, dst, 128);
    c.kernel[0] = 40;
    c.attributes.auto_pad = "same_upper";
    c.attributes.data_format = "NXC";
    onednn_refused(&c, ARGUMENTS, "diff_dst is [16,16,16,16], not [11,1,1,9]");
}

static void cve_2023_25669(void **state)
{
    static const int64_t src[] = {1, 0, 0, 0}, dst[] = {1, 1, 1, 1};
    onednn_call c;

    (void)state;
    set(&c, 1, 2, src, dst, 0);
    c.attributes.auto_pad = "same_upper";
    onednn_refused(&c, ARGUMENTS, "strides[0] is 0");
    set(&c, 1, 2, src, dst, 1);
    onednn_refused(&c, ARGUMENTS, "diff_dst is [1,1,1,1], not [1,0,0,0]");
}

static void cve_2021_29579(void **state)
{
    static const int64_t src[] = {1, 1, 1, 1}, dst[] = {0, 0, 0, 0};
    onednn_call c;

    (void)state;
    set(&c, 0, 2, src, dst, 1);
    c.attributes.auto_pad = "same_upper";
    onednn_refused(&c, ARGUMENTS, "diff_dst is [0,0,0,0], not [1,1,1,1]");
}

static void cve_2021_37674(void **state)
{
    static const int64_t src[] = {3, 0, 0, 2};
    onednn_call c;

    (void)state;
    set(&c, 0, 2, src, src, 16);
    c.strides[1] = 18;
    c.pads_begin[0] = 14;
    c.pads_end[0] = 3;
    c.pads_begin[1] = 15;
    c.pads_end[1] = 5;
    c.attributes.data_format = "NXC";
    onednn_refused(&c, ARGUMENTS, "in[0] is 0");
}

/* TensorFlow issue 63353: too many channels in the gradient, a heap overflow there. */
static void channels_6_instead_of_3(void **state)
{
    static const int64_t src[] = {1, 28, 28, 3}, dst[] = {1, 14, 14, 6};
    onednn_call c;
    int average;

    (void)state;
    for (average = 0; average < 2; average++) {
        set(&c, average, 2, src, dst, 2);
        c.attributes.data_format = "NXC";
        onednn_refused(&c, ARGUMENTS, "diff_dst is [1,14,14,6], not [1,14,14,3]");
    }
}

/* TensorFlow issue 110797: aborts with its oneDNN kernels. */
static void gradient_of_rank_2(void **state)
{
    static const int64_t src[] = {2, 3, 3, 3, 3}, dst[] = {6, 2, 0, 0, 0};
    onednn_call c;

    (void)state;
    set(&c, 1, 3, src, dst, 1);
    c.diff_dst.rank = 2;
    onednn_refused(&c, ARGUMENTS, "diff_dst has 2 dimensions");
}

static void empty_batch_with_a_gradient(void **state)
{
    static const int64_t src[] = {0, 1, 4}, dst[] = {1, 1, 4};
    onednn_call c;

    (void)state;
    set(&c, 1, 1, src, dst, 1);
    onednn_refused(&c, ARGUMENTS, "diff_dst is [1,1,4], not [0,1,4]");
    set(&c, 1, 1, dst, src, 1);
    onednn_refused(&c, ARGUMENTS, "diff_dst is [0,1,4], not [1,1,4]");
}

/* A padded input shorter than the window: no windows, and a gradient of zeros. */
static void no_windows(void **state)
{
    static const int64_t src[] = {1, 1, 2}, dst[] = {1, 1, 0};
    onednn_call c;
    int i;

    (void)state;
    set(&c, 1, 1, src, dst, 3);
    c.diff_dst.data = NULL;
    onednn_accepted(&c);
    for (i = 0; i < 2; i++)
        assert_true(c.dx[i] == 0);
    c.dst_sizes[2] = 1;
    c.diff_dst.data = c.dy;
    memset(c.dx, 0xa5, sizeof c.dx);
    onednn_refused(&c, ARGUMENTS, "diff_dst is [1,1,1], not [1,1,0]");
}

static void input_of_size_0_with_windows(void **state)
{
    static const int64_t src[] = {1, 1, 0}, dst[] = {1, 1, 2};
    onednn_call c;

    (void)state;
    set(&c, 1, 1, src, dst, 1);
    c.pads_begin[0] = c.pads_end[0] = 1;
    onednn_refused(&c, ARGUMENTS, "in[0] is 0");
}

/* ---------------------------------------------------------------------- memory */

static void tensors_left_out(void **state)
{
    onednn_call c;
    poolgrad_error error;

    (void)state;
    onednn_good(&c, 1);
    assert_int_equal(
        poolgrad_onednn_avg_pool_backward(NULL, NULL, &c.attributes, &c.diff_src, NULL, &error),
        ARGUMENTS);
    assert_string_equal(error.message, "diff_dst is NULL");
    assert_int_equal(
        poolgrad_onednn_avg_pool_backward(&c.diff_dst, NULL, &c.attributes, NULL, NULL, &error),
        ARGUMENTS);
    assert_string_equal(error.message, "diff_src is NULL");
    onednn_untouched(&c);
    onednn_good(&c, 0);
    assert_int_equal(poolgrad_onednn_max_pool_backward(NULL, &c.diff_dst, &c.attributes,
                                                       &c.diff_src, NULL, &error),
                     ARGUMENTS);
    assert_string_equal(error.message, "src is NULL");
    assert_int_equal(
        poolgrad_onednn_max_pool_backward(&c.src, NULL, &c.attributes, &c.diff_src, NULL, &error),
        ARGUMENTS);
    assert_string_equal(error.message, "diff_dst is NULL");
    assert_int_equal(
        poolgrad_onednn_max_pool_backward(&c.src, &c.diff_dst, &c.attributes, NULL, NULL, &error),
        ARGUMENTS);
    assert_string_equal(error.message, "diff_src is NULL");
    onednn_untouched(&c);
}

static void sizes_left_out(void **state)
{
    onednn_call c;
    int i;

    (void)state;
    for (i = 0; i < 3; i++) {
        poolgrad_tensor *const tensors[] = {&c.diff_dst, &c.diff_src, &c.src};

        onednn_good(&c, i < 2);
        tensors[i]->sizes = NULL;
        onednn_refused(&c, ARGUMENTS, "has the rank 4 but its sizes are NULL");
    }
}

static void data_left_out(void **state)
{
    onednn_call c;
    int i;

    (void)state;
    for (i = 0; i < 3; i++) {
        static const char *const words[] = {"buffers.dy is NULL (dy is diff_dst, dx is diff_src",
                                            "buffers.dx is NULL (dy is diff_dst, dx is diff_src",
                                            "buffers.x is NULL (dy is diff_dst, dx is diff_src"};
        poolgrad_tensor *const tensors[] = {&c.diff_dst, &c.diff_src, &c.src};

        onednn_good(&c, i < 2);
        tensors[i]->data = NULL;
        onednn_refused(&c, ARGUMENTS, words[i]);
    }
}

static void memory_misaligned_or_shared(void **state)
{
    static const int64_t broadcast[] = {9, 9, 0, 1}, far[] = {9, 9, INT64_MAX, 1};
    onednn_call c;

    (void)state;
    onednn_good(&c, 1);
    c.diff_src.data = (char *)c.dx + 1;
    onednn_refused(&c, ARGUMENTS, "it must be a multiple of its element size");
    onednn_good(&c, 0);
    c.diff_src.data = c.x;
    onednn_refused(&c, ARGUMENTS, "overlap");
    onednn_good(&c, 1);
    c.diff_src.strides = broadcast;
    onednn_refused(&c, ARGUMENTS, "dx is diff_src");
    onednn_good(&c, 1);
    c.diff_dst.strides = far;
    onednn_refused(&c, ARGUMENTS, "64 bits");
}

static void options_that_cannot_be(void **state)
{
    poolgrad_face_options options;
    poolgrad_options compute;
    onednn_call c;
    char workspace;

    (void)state;
    poolgrad_face_options_init(&options);
    options.size = 8;
    onednn_good(&c, 1);
    onednn_refused_with(&c, &options, ARGUMENTS, "options.size is 8");
    poolgrad_face_options_init(&options);
    options.workspace = &workspace;
    options.workspace_size = 1;
    onednn_refused_with(&c, &options, ARGUMENTS, "workspace");
    poolgrad_face_options_init(&options);
    poolgrad_options_init(&compute);
    compute.strategy = "no such strategy";
    options.compute = &compute;
    onednn_refused_with(&c, &options, ARGUMENTS, "no such strategy");
    compute.strategy = "scatter"; /* of max pooling */
    onednn_refused_with(&c, &options, POOLGRAD_ONEDNN_UNIMPLEMENTED, "scatter");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(diff_dst_of_another_shape),
        cmocka_unit_test(diff_dst_as_ceil_would_have_it),
        cmocka_unit_test(rank_other_than_3_to_5),
        cmocka_unit_test(src_and_diff_src_differ),
        cmocka_unit_test(cve_2021_29577),
        cmocka_unit_test(cve_2022_35959),
        cmocka_unit_test(cve_2022_35968),
        cmocka_unit_test(cve_2023_25664),
        cmocka_unit_test(cve_2023_25669),
        cmocka_unit_test(cve_2021_29579),
        cmocka_unit_test(cve_2021_37674),
        cmocka_unit_test(channels_6_instead_of_3),
        cmocka_unit_test(gradient_of_rank_2),
        cmocka_unit_test(empty_batch_with_a_gradient),
        cmocka_unit_test(no_windows),
        cmocka_unit_test(input_of_size_0_with_windows),
        cmocka_unit_test(tensors_left_out),
        cmocka_unit_test(sizes_left_out),
        cmocka_unit_test(data_left_out),
        cmocka_unit_test(memory_misaligned_or_shared),
        cmocka_unit_test(options_that_cannot_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
