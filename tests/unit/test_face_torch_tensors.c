/* SPDX-License-Identifier: MIT */
/* PyTorch's face and its tensors: types, indices, the memory handed in and how it lies; options;
 * the inputs that crashed TensorFlow, in PyTorch's terms. */
#include "allocator.h"
#include "torch_call.h"

#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------- types */

static void long_tensors(torch_call *c)
{
    c->self.dtype = c->grad_output.dtype = c->grad_input.dtype = POOLGRAD_TORCH_LONG;
}
static void unknown_type(torch_call *c)
{
    c->self.dtype = INT32_MAX;
}
static void negative_type(torch_call *c)
{
    c->self.dtype = -1;
}
static void output_double(torch_call *c)
{
    c->grad_output.dtype = POOLGRAD_TORCH_DOUBLE;
}
static void result_half(torch_call *c)
{
    c->grad_input.dtype = POOLGRAD_TORCH_HALF;
}

static void element_types(void **state)
{
    (void)state;
    torch_all_refuse(long_tensors, POOLGRAD_TORCH_NOT_IMPLEMENTED_ERROR,
                     "d_backward\" not implemented for 'Long'");
    torch_all_refuse(unknown_type, POOLGRAD_TORCH_NOT_IMPLEMENTED_ERROR,
                     "not implemented for 'Undefined'");
    torch_all_refuse(negative_type, POOLGRAD_TORCH_NOT_IMPLEMENTED_ERROR, "self has the dtype -1");
    torch_all_refuse(output_double, POOLGRAD_TORCH_RUNTIME_ERROR,
                     "expected dtype Float for `grad_output` but got dtype Double");
    torch_all_refuse(result_half, POOLGRAD_TORCH_RUNTIME_ERROR,
                     "expected dtype Float for `grad_input` but got dtype Half");
}

/* ------------------------------------------------------------------- indices */

static const torch_op with_indices[] = {TORCH_MAX, TORCH_ADAPTIVE_MAX};

static void indices_of_another_type_or_shape(void **state)
{
    torch_call c;
    int32_t dims;
    int i;

    (void)state;
    for (i = 0; i < 2; i++) {
        for (dims = 1; dims <= 3; dims++) {
            torch_make(&c, with_indices[i], dims);
            c.indices.dtype = 3;
            torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR,
                          "expected scalar type Long but found Int");
            torch_make(&c, with_indices[i], dims);
            c.index[dims + 1] = 1;
            torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "= 1 (indices)");
            torch_make(&c, with_indices[i], dims);
            c.index[0] = 1;
            torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "tensor.size[0] = 1 (indices)");
            torch_make(&c, with_indices[i], dims);
            c.indices.rank--;
            torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "(indices)");
            torch_make(&c, with_indices[i], dims);
            c.indices.sizes = NULL;
            torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "its sizes are NULL");
        }
    }
}

/* The original loses the gradient or writes anywhere. grad_input is unspecified then, but what
 * follows it is not touched. */
static void indices_outside_their_window(void **state)
{
    static const int64_t bad[] = {-1, 4, 16, 2, INT64_C(1000000000000), INT64_MAX, INT64_MIN};
    torch_call c;
    int32_t dims;
    size_t i, k;

    (void)state;
    for (i = 0; i < 2; i++) {
        for (dims = 1; dims <= 2; dims++) {
            for (k = 0; k < sizeof bad / sizeof *bad; k++) {
                if (dims == 2 && bad[k] == 4)
                    continue; /* the second row of the first window */
                torch_make(&c, with_indices[i], dims);
                c.idx[0] = bad[k];
                assert_int_equal(torch_run(&c, NULL, &c.error), POOLGRAD_TORCH_INDEX_ERROR);
                assert_int_equal(c.error.status, POOLGRAD_ERR_INDEX);
                assert_int_equal(c.error.position, 0);
                assert_non_null(strstr(c.error.message, "element 0 of the indices"));
                assert_int_equal(torch_run(&c, NULL, NULL), POOLGRAD_TORCH_INDEX_ERROR);
                assert_memory_equal(c.dx + 64, c.before, sizeof c.dx - 64 * sizeof *c.dx);
            }
        }
    }
    torch_make(&c, TORCH_MAX, 2); /* counted over the tensor, as ONNX Runtime does */
    c.idx[4] += 16;
    assert_int_equal(torch_run(&c, NULL, &c.error), POOLGRAD_TORCH_INDEX_ERROR);
    assert_int_equal(c.error.position, 4);
}

/* In 1, kernel 2, dilation 3, padding 2: the taps are at -2 and 1, and at -1 and 2. */
static void windows_without_a_tap(void **state)
{
    static const int64_t in[] = {1, 1, 1, 1, 1}, out[] = {1, 1, 2, 2, 2};
    torch_call c;
    int32_t dims;
    int i;

    (void)state;
    for (dims = 1; dims <= 3; dims++) {
        torch_make(&c, TORCH_MAX, dims);
        torch_sizes(&c, dims + 2, in, out);
        for (i = 0; i < dims; i++) {
            c.stride[i] = 1;
            c.dilation[i] = 3;
            c.padding[i] = 2;
        }
        for (i = 0; i < TORCH_DY; i++)
            c.idx[i] = -1;
        torch_accepts(&c);
        assert_true(c.dx[0] == 0 && c.dx[1] == -77);
        c.idx[0] = 1; /* what PyTorch's forward pass makes of it */
        assert_int_equal(torch_run(&c, NULL, &c.error), POOLGRAD_TORCH_INDEX_ERROR);
        assert_true(c.dx[1] == -77);
    }
}

/* -------------------------------------------------------------------- memory */

static void no_sizes(torch_call *c)
{
    c->self.sizes = NULL;
}
static void negative_rank(torch_call *c)
{
    c->grad_output.rank = INT32_MIN;
}

static void missing_tensors(void **state)
{
    torch_call c;

    (void)state;
    torch_all_refuse(no_sizes, POOLGRAD_TORCH_RUNTIME_ERROR, "self has the rank");
    torch_all_refuse(negative_rank, POOLGRAD_TORCH_RUNTIME_ERROR, "grad_output has the rank");
    torch_make(&c, TORCH_MAX, 2);
    assert_int_equal(poolgrad_torch_avg_pool_backward(2, NULL, &c.self, &c.attributes,
                                                      &c.grad_input, NULL, &c.error),
                     POOLGRAD_TORCH_RUNTIME_ERROR);
    assert_string_equal(c.error.message, "grad_output is NULL");
    assert_int_equal(poolgrad_torch_adaptive_avg_pool_backward(2, &c.grad_output, NULL,
                                                               &c.grad_input, NULL, &c.error),
                     POOLGRAD_TORCH_RUNTIME_ERROR);
    assert_string_equal(c.error.message, "self is NULL");
    assert_int_equal(poolgrad_torch_max_pool_with_indices_backward(2, &c.grad_output, &c.self, NULL,
                                                                   &c.attributes, &c.grad_input,
                                                                   NULL, &c.error),
                     POOLGRAD_TORCH_RUNTIME_ERROR);
    assert_string_equal(c.error.message, "indices is NULL");
    assert_int_equal(poolgrad_torch_adaptive_max_pool_backward(2, &c.grad_output, &c.self,
                                                               &c.indices, NULL, NULL, &c.error),
                     POOLGRAD_TORCH_RUNTIME_ERROR);
    assert_string_equal(c.error.message, "grad_input is NULL");
    assert_int_equal(poolgrad_torch_attributes_init(NULL), POOLGRAD_ERR_NULL);
}

static void missing_misplaced_and_shared_memory(void **state)
{
    torch_call c;
    int op;

    (void)state;
    for (op = 0; op < TORCH_OPS; op++) {
        torch_make(&c, (torch_op)op, 2);
        c.grad_input.data = NULL;
        torch_refuses_memory(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "dx is grad_input");
        torch_make(&c, (torch_op)op, 2);
        c.grad_output.data = NULL;
        torch_refuses_memory(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "dy is grad_output");
        c.grad_output.data = c.dx;
        torch_refuses_memory(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "overlap");
        torch_make(&c, (torch_op)op, 2);
        c.grad_input.data = (char *)c.dx + 1;
        torch_refuses_memory(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "multiple of its element size");
    }
    torch_make(&c, TORCH_MAX, 2);
    c.indices.data = NULL;
    torch_refuses_memory(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "indices");
}

/* ------------------------------------------------------------------- strides */

static void expanded_result(torch_call *c)
{
    static const int64_t strides[] = {1, 0, 1, 1, 1};

    c->grad_input.strides = strides;
}

static void huge_strides(torch_call *c)
{
    static const int64_t strides[] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};

    c->grad_output.strides = strides;
}

static void impossible_strides(void **state)
{
    (void)state;
    torch_all_refuse(expanded_result, POOLGRAD_TORCH_RUNTIME_ERROR, "dx");
    torch_all_refuse(huge_strides, POOLGRAD_TORCH_RUNTIME_ERROR, "64 bits");
}

/* channels_last in and out, and an expanded grad_output (stride 0), against the dense call. */
static void strided_tensors(void **state)
{
    static const int64_t last_in[] = {32, 1, 8, 2}, last_out[] = {8, 1, 4, 2},
                         none[] = {0, 0, 0, 0};
    torch_call dense, c;
    int op, i, k;

    (void)state;
    for (op = 0; op < TORCH_OPS; op++) {
        torch_make(&dense, (torch_op)op, 2);
        torch_accepts(&dense);
        torch_make(&c, (torch_op)op, 2);
        for (i = 0; i < 16; i++) { /* n, c, position */
            c.dy[(i / 8) * 8 + i % 4 * 2 + i / 4 % 2] = dense.dy[i];
            c.idx[(i / 8) * 8 + i % 4 * 2 + i / 4 % 2] = dense.idx[i];
        }
        c.grad_output.strides = c.indices.strides = last_out;
        c.grad_input.strides = last_in;
        torch_accepts(&c);
        for (i = 0; i < 4; i++)
            for (k = 0; k < 16; k++)
                assert_true(c.dx[i / 2 * 32 + k * 2 + i % 2] == dense.dx[i * 16 + k]);
        torch_make(&c, (torch_op)op, 2);
        c.grad_output.strides = none;
        torch_accepts(&c);
        torch_make(&dense, (torch_op)op, 2);
        for (i = 0; i < TORCH_DY; i++)
            dense.dy[i] = 1;
        torch_accepts(&dense);
        assert_memory_equal(c.dx, dense.dx, sizeof c.dx);
    }
}

/* ------------------------------------------------------------------- options */

static void options_of_another_size(void **state)
{
    poolgrad_face_options options;
    torch_call c;
    int op;

    (void)state;
    for (op = 0; op < TORCH_OPS; op++) {
        torch_make(&c, (torch_op)op, 2);
        poolgrad_face_options_init(&options);
        options.size++;
        assert_int_equal(torch_run(&c, &options, &c.error), POOLGRAD_TORCH_RUNTIME_ERROR);
        assert_int_equal(c.error.status, POOLGRAD_ERR_STRUCT_SIZE);
        assert_memory_equal(c.dx, c.before, sizeof c.dx);
    }
}

static void plan_only(void **state)
{
    static const char *const words[] = {"avg2d:f32:nchw:2x2x4x4:k2:s2", "max2d:f32:nchw:2x2x4x4:k2",
                                        "avg2d:f32:nchw:2x2x4x4:o2:adaptive",
                                        "max2d:f32:nchw:2x2x4x4:o2:adaptive"};
    poolgrad_face_options options;
    poolgrad_buffers buffers;
    poolgrad_plan *plan;
    char text[512];
    torch_call c;
    int op, i;

    (void)state;
    for (op = 0; op < TORCH_OPS; op++) {
        torch_make(&c, (torch_op)op, 2);
        torch_accepts(&c);
        memcpy(c.before, c.dx, sizeof c.dx); /* what is expected */
        poolgrad_face_options_init(&options);
        options.plan = &plan;
        c.grad_output.data = c.grad_input.data = c.indices.data = NULL;
        assert_int_equal(torch_run(&c, &options, &c.error), POOLGRAD_TORCH_OK);
        assert_int_equal(c.error.status, POOLGRAD_OK);
        poolgrad_desc_print(poolgrad_plan_desc(plan), text, sizeof text, NULL, NULL);
        if (!strstr(text, words[op]))
            fail_msg("'%s' is not '%s'", text, words[op]);
        poolgrad_buffers_init(&buffers);
        buffers.dy = c.dy;
        buffers.dx = c.dx;
        buffers.indices = c.idx;
        for (i = 0; i < 2 * 2 * 4 * 4; i++)
            c.dx[i] = 0;
        assert_int_equal(poolgrad_execute(plan, &buffers, NULL), POOLGRAD_OK);
        assert_memory_equal(c.dx, c.before, sizeof c.dx);
        poolgrad_plan_destroy(plan);
    }
}

static void allocation_failure(void **state)
{
    poolgrad_face_options options;
    poolgrad_options compute;
    torch_call c;
    allocator a;
    int op, sites, i;

    (void)state;
    for (op = 0; op < TORCH_OPS; op++) {
        torch_make(&c, (torch_op)op, 2);
        poolgrad_face_options_init(&options);
        options.compute = &compute;
        compute = counted_options(&a, NULL);
        assert_int_equal(torch_run(&c, &options, &c.error), POOLGRAD_TORCH_OK);
        assert_int_equal(a.live, 0);
        sites = a.calls;
        assert_true(sites >= 1);
        memcpy(c.dx, c.before, sizeof c.dx);
        for (i = 1; i <= sites; i++) {
            compute = counted_options(&a, NULL);
            a.fail_at = i;
            assert_int_equal(torch_run(&c, &options, &c.error), POOLGRAD_TORCH_OUT_OF_MEMORY_ERROR);
            assert_int_equal(c.error.status, POOLGRAD_ERR_MEMORY);
            assert_int_equal(a.live, 0);
            assert_memory_equal(c.dx, c.before, sizeof c.dx);
        }
    }
}

static void workspace(void **state)
{
    poolgrad_face_options options;
    poolgrad_options compute;
    poolgrad_plan *plan;
    torch_call c, expected;
    allocator a;
    size_t bytes;
    int op, planning;

    (void)state;
    for (op = 0; op < TORCH_OPS; op++) {
        torch_make(&expected, (torch_op)op, 3);
        torch_accepts(&expected);
        torch_make(&c, (torch_op)op, 3);
        compute = counted_options(&a, NULL);
        poolgrad_face_options_init(&options);
        options.compute = &compute;
        options.plan = &plan;
        assert_int_equal(torch_run(&c, &options, &c.error), POOLGRAD_TORCH_OK);
        planning = a.calls;
        bytes = poolgrad_plan_workspace(plan);
        poolgrad_plan_destroy(plan);
        options.plan = NULL;
        options.workspace = malloc(bytes + 1);
        assert_non_null(options.workspace);
        options.workspace_size = bytes;
        a.calls = 0;
        assert_int_equal(torch_run(&c, &options, &c.error), POOLGRAD_TORCH_OK);
        assert_int_equal(a.calls, planning);
        assert_memory_equal(c.dx, expected.dx, sizeof c.dx);
        if (bytes > 0) {
            options.workspace_size = bytes - 1;
            assert_int_equal(torch_run(&c, &options, &c.error), POOLGRAD_TORCH_RUNTIME_ERROR);
            assert_int_equal(c.error.status, POOLGRAD_ERR_WORKSPACE);
        }
        free(options.workspace);
    }
}

/* ---------------------------------------------------------------- advisories */

/* One kernel and stride for all axes, unless the test sets them. */
static void advisory(torch_op op, int32_t dims, int64_t window, const int64_t *in,
                     const int64_t *out, const char *words)
{
    torch_call c;
    int i;

    torch_make(&c, op, dims);
    torch_sizes(&c, dims + 2, in, out);
    for (i = 0; i < dims; i++)
        c.kernel[i] = c.stride[i] = window;
    torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, words);
}

#define SIZES(...) ((const int64_t[]){__VA_ARGS__})

static void cve_2021_29577(void **state)
{
    (void)state;
    advisory(TORCH_AVG, 3, 1, SIZES(10, 7, 6, 3, 7), SIZES(3, 1, 1, 1, 1),
             "tensor.size[1] == 7 but got: dimension 5 and tensor.size[1] = 1");
}

static void cve_2022_35959(void **state)
{
    const int64_t n = 1879048192;

    (void)state;
    advisory(TORCH_AVG, 3, 1, SIZES(n, n, n, n, n), SIZES(1, 2, 3, 2, 4), "64 bits");
}

static void cve_2022_35968(void **state)
{
    const int64_t n = -536870912;

    (void)state;
    advisory(TORCH_AVG, 2, 2, SIZES(n, n, n, n), SIZES(1, 1, 5, 7),
             "negative dimension -536870912");
}

static void cve_2023_25664(void **state)
{
    torch_call c;

    (void)state;
    torch_make(&c, TORCH_AVG, 2);
    torch_sizes(&c, 4, SIZES(11, 9, 9, 78), SIZES(16, 16, 16, 16));
    c.kernel[0] = 40;
    c.kernel[1] = c.stride[0] = c.stride[1] = 128;
    torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "Output size is too small");
}

static void cve_2023_25669(void **state)
{
    (void)state;
    advisory(TORCH_AVG, 2, 0, SIZES(1, 0, 0, 0), SIZES(1, 1, 1, 1), "optional 0 dim batch size");
    advisory(TORCH_AVG, 2, 0, SIZES(1, 1, 1, 1), SIZES(1, 1, 1, 1), "stride should not be zero");
}

static void cve_2021_29579(void **state)
{
    (void)state;
    advisory(TORCH_MAX, 2, 1, SIZES(1, 1, 1, 1), SIZES(0, 0, 0, 0), "tensor.size[1] == 1 but got");
}

static void cve_2021_37674(void **state)
{
    (void)state;
    advisory(TORCH_MAX, 2, 16, SIZES(3, 2, 0, 0), SIZES(3, 2, 0, 0), "optional 0 dim batch size");
}

static void cve_2021_29573(void **state)
{
    (void)state;
    advisory(TORCH_MAX, 2, 1, SIZES(0, 0, 0, 0), SIZES(0, 0, 0, 0), "optional 0 dim batch size");
}

static void cve_2021_29576(void **state)
{
    (void)state;
    advisory(TORCH_MAX, 3, 1, SIZES(11, 1, 1, 1, 1), SIZES(1, 1, 1, 1, 1),
             "tensor.size[0] == 11 but got: dimension 5 and tensor.size[0] = 1");
}

static void cve_2022_35941(void **state)
{
    (void)state;
    advisory(TORCH_AVG, 2, -1, SIZES(1, 1, 2, 2), SIZES(1, 1, 2, 2),
             "kernel size should be greater than zero, but got kH: -1 kW: -1");
}

static void issue_63353(void **state)
{
    (void)state;
    advisory(TORCH_AVG, 2, 2, SIZES(1, 3, 28, 28), SIZES(1, 6, 14, 14),
             "tensor.size[1] == 3 but got: dimension 4 and tensor.size[1] = 6");
}

static void issue_110797(void **state)
{
    torch_call c;

    (void)state;
    torch_make(&c, TORCH_AVG, 3);
    torch_sizes(&c, 5, SIZES(2, 3, 3, 3, 3), SIZES(6, 2, 0, 0, 0));
    c.grad_output.rank = 2;
    torch_refuses(&c, POOLGRAD_TORCH_RUNTIME_ERROR, "got: dimension 2 and tensor.size[1] = 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(element_types),
        cmocka_unit_test(indices_of_another_type_or_shape),
        cmocka_unit_test(indices_outside_their_window),
        cmocka_unit_test(windows_without_a_tap),
        cmocka_unit_test(missing_tensors),
        cmocka_unit_test(missing_misplaced_and_shared_memory),
        cmocka_unit_test(impossible_strides),
        cmocka_unit_test(strided_tensors),
        cmocka_unit_test(options_of_another_size),
        cmocka_unit_test(plan_only),
        cmocka_unit_test(allocation_failure),
        cmocka_unit_test(workspace),
        cmocka_unit_test(cve_2021_29577),
        cmocka_unit_test(cve_2022_35959),
        cmocka_unit_test(cve_2022_35968),
        cmocka_unit_test(cve_2023_25664),
        cmocka_unit_test(cve_2023_25669),
        cmocka_unit_test(cve_2021_29579),
        cmocka_unit_test(cve_2021_37674),
        cmocka_unit_test(cve_2021_29573),
        cmocka_unit_test(cve_2021_29576),
        cmocka_unit_test(cve_2022_35941),
        cmocka_unit_test(issue_63353),
        cmocka_unit_test(issue_110797),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
