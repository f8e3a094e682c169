/* SPDX-License-Identifier: MIT */
/* What all faces have in common, seen through one of them: their options, plans instead of results,
 * workspace, allocation failure, strides. */
#include "allocator.h"

#include <poolgrad/onnxruntime.h>
#include <stdlib.h>
#include <string.h>

enum {
    DY = 2 * 3 * 5 * 5,
    DX = 2 * 3 * 10 * 10
};

static const int64_t dy_sizes[] = {2, 3, 5, 5}, dx_sizes[] = {2, 3, 10, 10};

typedef struct problem {
    float dy[DY], dx[DX], expected[DX];
    poolgrad_tensor dY, dX;
    poolgrad_onnxruntime_attributes a;
    poolgrad_face_options options;
    poolgrad_error error;
} problem;

static void make(problem *p)
{
    int i;

    memset(p, 0, sizeof *p);
    for (i = 0; i < DY; i++)
        p->dy[i] = (float)(i * 7 % 11) / 3;
    p->dY = (poolgrad_tensor){POOLGRAD_ONNXRUNTIME_FLOAT, 4, dy_sizes, NULL, p->dy};
    p->dX = (poolgrad_tensor){POOLGRAD_ONNXRUNTIME_FLOAT, 4, dx_sizes, NULL, p->expected};
}

static poolgrad_onnxruntime_code call(problem *p)
{
    p->a.kernel_shape = POOLGRAD_LIST(3, 3);
    p->a.strides = POOLGRAD_LIST(2, 2);
    p->a.pads = POOLGRAD_LIST(1, 1, 1, 1);
    return poolgrad_onnxruntime_average_pool_grad(&p->dY, &p->a, &p->dX,
                                                  p->options.size ? &p->options : NULL, &p->error);
}

/* With the expected result computed; dX is then a second array. */
static void make_expected(problem *p)
{
    make(p);
    assert_int_equal(call(p), POOLGRAD_ONNXRUNTIME_OK);
    p->dX.data = p->dx;
    assert_int_equal(poolgrad_face_options_init(&p->options), POOLGRAD_OK);
}

static void options_are_checked(void **state)
{
    problem p;

    (void)state;
    assert_int_equal(poolgrad_face_options_init(NULL), POOLGRAD_ERR_NULL);
    make_expected(&p);
    p.options.size++;
    assert_int_equal(call(&p), POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT);
    p.options.size -= 2;
    assert_int_equal(call(&p), POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT);
    assert_int_equal(p.error.status, POOLGRAD_ERR_STRUCT_SIZE);
    assert_non_null(strstr(p.error.message, "poolgrad_face_options_init"));
}

static void a_plan_instead_of_a_result(void **state)
{
    poolgrad_buffers buffers;
    poolgrad_plan *plan;
    char text[256];
    problem p;

    (void)state;
    make_expected(&p);
    p.options.plan = &plan;
    p.dY.data = p.dX.data = NULL;
    assert_int_equal(call(&p), POOLGRAD_ONNXRUNTIME_OK);
    assert_int_equal(p.error.status, POOLGRAD_OK);
    assert_non_null(plan);
    assert_int_equal(poolgrad_desc_print(poolgrad_plan_desc(plan), text, sizeof text, NULL, NULL),
                     POOLGRAD_OK);
    assert_non_null(strstr(text, "avg2d:f32:nchw:2x3x10x10:k3:s2:p1"));
    poolgrad_buffers_init(&buffers);
    buffers.dy = p.dy;
    buffers.dx = p.dx;
    assert_int_equal(poolgrad_execute(plan, &buffers, NULL), POOLGRAD_OK);
    assert_memory_equal(p.dx, p.expected, sizeof p.dx);
    poolgrad_plan_destroy(plan);
    p.dY.rank = 3; /* a failure leaves no plan behind */
    assert_int_not_equal(call(&p), POOLGRAD_ONNXRUNTIME_OK);
    assert_null(plan);
}

static void allocation_failure(void **state)
{
    static const float untouched[DX] = {0};
    poolgrad_options compute;
    allocator a;
    problem p;
    int sites, i;

    (void)state;
    make_expected(&p);
    compute = counted_options(&a, NULL);
    p.options.compute = &compute;
    assert_int_equal(call(&p), POOLGRAD_ONNXRUNTIME_OK);
    assert_memory_equal(p.dx, p.expected, sizeof p.dx);
    assert_int_equal(a.live, 0);
    sites = a.calls;
    assert_true(sites >= 2);
    memset(p.dx, 0, sizeof p.dx);
    for (i = 1; i <= sites; i++) {
        compute = counted_options(&a, NULL);
        a.fail_at = i;
        assert_int_equal(call(&p), POOLGRAD_ONNXRUNTIME_FAIL);
        assert_int_equal(p.error.status, POOLGRAD_ERR_MEMORY);
        assert_int_equal(a.live, 0);
        assert_memory_equal(p.dx, untouched, sizeof p.dx);
    }
}

static void workspace(void **state)
{
    poolgrad_options compute;
    poolgrad_plan *plan;
    allocator a;
    problem p;
    size_t bytes;
    int planning;

    (void)state;
    make_expected(&p);
    compute = counted_options(&a, NULL);
    p.options.compute = &compute;
    p.options.plan = &plan;
    assert_int_equal(call(&p), POOLGRAD_ONNXRUNTIME_OK);
    planning = a.calls;
    bytes = poolgrad_plan_workspace(plan);
    poolgrad_plan_destroy(plan);
    p.options.plan = NULL;
    p.options.workspace = malloc(bytes + 1);
    assert_non_null(p.options.workspace);
    p.options.workspace_size = bytes;
    a.calls = 0;
    assert_int_equal(call(&p), POOLGRAD_ONNXRUNTIME_OK);
    assert_int_equal(a.calls, planning);
    assert_memory_equal(p.dx, p.expected, sizeof p.dx);
    if (bytes > 0) {
        p.options.workspace_size = bytes - 1;
        assert_int_equal(call(&p), POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT);
        assert_int_equal(p.error.status, POOLGRAD_ERR_WORKSPACE);
    }
    free(p.options.workspace);
}

/* Channels last in memory, by strides; dy the other way round. */
static void strides(void **state)
{
    const int64_t dy_strides[] = {-75, 25, 5, 1}, dx_strides[] = {300, 1, 30, 3};
    float flipped[DY];
    problem p;
    int i, n, c, h, w;

    (void)state;
    make_expected(&p);
    for (i = 0; i < DY; i++)
        flipped[i] = p.dy[(i + 75) % DY];
    p.dY.data = flipped + 75;
    p.dY.strides = dy_strides;
    p.dX.strides = dx_strides;
    assert_int_equal(call(&p), POOLGRAD_ONNXRUNTIME_OK);
    for (n = i = 0; n < 2; n++)
        for (c = 0; c < 3; c++)
            for (h = 0; h < 10; h++)
                for (w = 0; w < 10; w++)
                    assert_true(p.dx[n * 300 + c + h * 30 + w * 3] == p.expected[i++]);
    p.dX.strides = dy_strides; /* 10 x 10 elements cannot lie apart at those */
    assert_int_equal(call(&p), POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT);
    assert_int_equal(p.error.status, POOLGRAD_ERR_LAYOUT);
}

/* Windows whose taps would not fit in 64 bits if padding were counted: it is not. */
static void huge_kernels(void **state)
{
    const int64_t sizes[] = {1, 1, 2, 2, 2}, indices[] = {0, 0, 0, 0, 0, 0, 0, 0};
    float dy[8] = {1, 2, 3, 4, 5, 6, 7, 8}, dx[8];
    const poolgrad_tensor dY = {POOLGRAD_ONNXRUNTIME_FLOAT, 5, sizes, NULL, dy};
    const poolgrad_tensor dX = {POOLGRAD_ONNXRUNTIME_FLOAT, 5, sizes, NULL, dx};
    const poolgrad_tensor Indices = {POOLGRAD_ONNXRUNTIME_INT64, 5, sizes, NULL,
                                     (void *)(uintptr_t)indices};
    poolgrad_onnxruntime_attributes a = {.kernel_shape = POOLGRAD_LIST(INT32_MAX, INT32_MAX, 4),
                                         .auto_pad = "SAME_UPPER"};
    poolgrad_error error;

    (void)state;
    if (poolgrad_onnxruntime_average_pool_grad(&dY, &a, &dX, NULL, &error))
        fail_msg("%s", error.message);
    assert_true(dx[0] == 4.5f && dx[7] == 4.5f); /* each window covers everything: 36 / 8 */
    if (poolgrad_onnxruntime_max_pool_grad(&dY, &Indices, &a, &dX, NULL, &error))
        fail_msg("%s", error.message);
    assert_true(dx[0] == 36 && dx[7] == 0);
    a.count_include_pad = 1;
    assert_int_equal(poolgrad_onnxruntime_average_pool_grad(&dY, &a, &dX, NULL, &error),
                     POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT);
    assert_int_equal(error.status, POOLGRAD_ERR_OVERFLOW);
}

/* More axes than any tensor has are not looked at, also not for the message. */
static void a_rank_without_its_sizes(void **state)
{
    int64_t *sizes = malloc(sizeof dy_sizes + sizeof *sizes);
    problem p;

    (void)state;
    assert_non_null(sizes);
    make_expected(&p);
    memcpy(sizes, dy_sizes, sizeof dy_sizes);
    sizes[4] = 1;
    p.dY.sizes = sizes;
    p.dY.rank = 1000;
    assert_int_equal(call(&p), POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT);
    assert_non_null(strstr(p.error.message, "[2,3,5,5,1,...]"));
    free(sizes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(a_plan_instead_of_a_result),
        cmocka_unit_test(allocation_failure),
        cmocka_unit_test(workspace),
        cmocka_unit_test(strides),
        cmocka_unit_test(huge_kernels),
        cmocka_unit_test(a_rank_without_its_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
