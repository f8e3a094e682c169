/* SPDX-License-Identifier: MIT */
/* oneDNN's face: nothing outside the tensors is touched, no allocation is lost, and the options of
 * a call do what they say. */
#include "face_onednn.h"

#include <stdlib.h>
#include <string.h>

#include "allocator.h"
#include "guard.h"

/* A call of some size on the memory of a fixture for the same problem, NXC; it can be strided. */
static const char *problem(int average, int strided)
{
    if (strided)
        return average ? "avg2d:f32:strided:2x3x9x11:k3x2:s2x1:p1x0:div=include:"
                         "dystride=250,1,40,3:dxstride=-400,1,40,3"
                       : "max2d:f32:strided:2x3x9x11:k3x2:s2x1:p1x0:from=x:nan=skip:"
                         "dystride=250,1,40,3:dxstride=400,1,40,3:xlayout=strided:xstride=-1000,"
                         "200,-1,13";
    return average ? "avg2d:f32:nhwc:2x3x9x11:k3x2:s2x1:p1x0:div=include"
                   : "max2d:f32:nhwc:2x3x9x11:k3x2:s2x1:p1x0:from=x:nan=skip";
}

typedef struct tried {
    fixture f;
    onednn_call c;
    int64_t strides[3][4]; /* of diff_dst, diff_src, src */
} tried;

static const int64_t *strides_of(int64_t *strides, const poolgrad_view *view)
{
    if (view->layout != POOLGRAD_STRIDED)
        return NULL;
    strides[0] = view->stride[0];
    strides[1] = view->stride[2];
    strides[2] = view->stride[3];
    strides[3] = view->stride[1];
    return strides;
}

static void make(tried *t, int average, int strided)
{
    static const int64_t src[] = {2, 9, 11, 3}, dst[] = {2, 5, 10, 3};
    onednn_call *c = &t->c;

    fixture_parse(&t->f, problem(average, strided), SUP_UNIFORM, 5);
    onednn_start(c, average, 2);
    memcpy(c->src_sizes, src, sizeof src);
    memcpy(c->dst_sizes, dst, sizeof dst);
    c->kernel[0] = 3;
    c->kernel[1] = 2;
    c->strides[0] = 2;
    c->pads_begin[0] = c->pads_end[0] = 1;
    c->attributes.data_format = "NXC";
    c->diff_dst.strides = strides_of(t->strides[0], &t->f.desc.dy);
    c->diff_src.strides = strides_of(t->strides[1], &t->f.desc.dx);
    c->src.strides = average ? NULL : strides_of(t->strides[2], &t->f.desc.x);
    c->diff_dst.data = t->f.dy.first;
    c->diff_src.data = t->f.dx.first;
    c->src.data = t->f.x.first;
}

static void check(const tried *t, const void *dx, const char *what)
{
    sup_memory expected = copy_of_result(&t->f);

    run_into(&t->f, NULL, expected.first);
    assert_same_result(&t->f, expected.first, dx, what);
    sup_view_free(&expected);
}

static void guard_pages(void **state)
{
    guarded_fixture g;
    guarded shape;
    poolgrad_error error;
    tried t;
    int i;

    (void)state;
    for (i = 0; i < 16; i++) {
        const int average = i % 2, strided = i / 2 % 2, at_end = i / 4 % 2, tensor = i / 8;

        make(&t, average, strided);
        guard_fixture(&g, &t.f, at_end);
        t.c.diff_dst.data = (void *)g.buffers.dy;
        t.c.diff_src.data = g.buffers.dx;
        t.c.src.data = (void *)g.buffers.x;
        shape = guard(4 * sizeof(int32_t), at_end);
        if (tensor && average) {
            onednn_shape_as_input(&t.c);
            memcpy(shape.memory, t.c.shape, 4 * sizeof(int32_t));
            t.c.shape_tensor.data = shape.memory;
        }
        if (onednn_run(&t.c, NULL, &error))
            fail_msg("%s", error.message);
        assert_int_equal(error.status, POOLGRAD_OK);
        check(&t, g.buffers.dx, "guarded");
        unguard(&shape);
        unguard_fixture(&g);
        fixture_free(&t.f);
    }
}

/* Lists that end where they end: nothing behind them is read, whatever the rank. */
static void guarded_lists(void **state)
{
    guarded lists[5];
    onednn_call c;
    int i, spatial;

    (void)state;
    for (spatial = 1; spatial <= 3; spatial++) {
        onednn_start(&c, 1, spatial);
        for (i = 0; i < 5; i++) {
            const int count = i < 4 ? spatial : spatial + 2;

            lists[i] = guard((size_t)count * sizeof(int64_t), 1);
            memcpy(lists[i].memory,
                   i == 4  ? c.src_sizes
                   : i < 2 ? c.strides
                           : c.pads_begin,
                   (size_t)count * sizeof(int64_t));
        }
        c.attributes.strides.values = (const int64_t *)(const void *)lists[0].memory;
        c.attributes.kernel.values = (const int64_t *)(const void *)lists[1].memory;
        c.attributes.pads_begin.values = (const int64_t *)(const void *)lists[2].memory;
        c.attributes.pads_end.values = (const int64_t *)(const void *)lists[3].memory;
        c.attributes.src_shape.values = (const int64_t *)(const void *)lists[4].memory;
        onednn_accepted(&c); /* all sizes 0 */
        c.attributes.kernel.count--;
        c.attributes.kernel.values++;
        assert_int_equal(onednn_run(&c, NULL, NULL), POOLGRAD_ONEDNN_INVALID_ARGUMENTS);
        for (i = 0; i < 5; i++)
            unguard(&lists[i]);
    }
}

/* A rank that no tensor has: the sizes are not looked at. */
static void guarded_sizes(void **state)
{
    onednn_call c;
    int i;

    (void)state;
    for (i = 0; i < 6; i++) {
        poolgrad_tensor *const tensors[] = {&c.diff_dst, &c.diff_src, &c.src, &c.shape_tensor};
        guarded sizes = guard(sizeof(int64_t), 1);

        onednn_good(&c, i < 3);
        if (i < 3)
            onednn_shape_as_input(&c);
        memset(sizes.memory, 0, sizeof(int64_t));
        tensors[i == 2 ? 3 : i % 3]->rank = INT32_MAX;
        tensors[i == 2 ? 3 : i % 3]->sizes = (const int64_t *)(const void *)sizes.memory;
        onednn_refused(&c, POOLGRAD_ONEDNN_INVALID_ARGUMENTS, "2147483647 dimensions");
        unguard(&sizes);
    }
}

/* ---------------------------------------------------------------- allocation */

static void counted(allocator *a, poolgrad_options *compute, poolgrad_face_options *options)
{
    *compute = counted_options(a, NULL);
    poolgrad_face_options_init(options);
    options->compute = compute;
}

static void allocation_failure(void **state)
{
    poolgrad_face_options options;
    poolgrad_options compute;
    poolgrad_error error;
    sup_memory before;
    allocator a;
    int average, i, sites;
    tried t;

    (void)state;
    for (average = 0; average < 2; average++) {
        make(&t, average, 0);
        before = copy_of_result(&t.f);
        counted(&a, &compute, &options);
        assert_int_equal(onednn_run(&t.c, &options, &error), POOLGRAD_ONEDNN_SUCCESS);
        assert_int_equal(a.live, 0);
        sites = a.calls;
        assert_true(sites >= 2);
        check(&t, t.f.dx.first, "own allocator");
        memcpy(t.f.dx.allocation, before.allocation, before.bytes);
        for (i = 1; i <= sites; i++) {
            counted(&a, &compute, &options);
            a.fail_at = i;
            assert_int_equal(onednn_run(&t.c, &options, &error), POOLGRAD_ONEDNN_OUT_OF_MEMORY);
            assert_int_equal(error.status, POOLGRAD_ERR_MEMORY);
            assert_non_null(strstr(error.message, "the allocator gave no "));
            assert_int_equal(a.live, 0);
            assert_memory_equal(t.f.dx.allocation, before.allocation, before.bytes);
        }
        sup_view_free(&before);
        fixture_free(&t.f);
    }
}

/* ------------------------------------------------------------------- options */

/* The plan alone needs no data; executed, it gives what the call gives. With a workspace of its
 * size the call allocates nothing but the plan. */
static void plan_and_workspace(void **state)
{
    poolgrad_face_options options;
    poolgrad_options compute;
    poolgrad_buffers buffers;
    poolgrad_plan *plan;
    poolgrad_error error;
    void *workspace;
    allocator a;
    int i, planning;
    tried t;

    (void)state;
    for (i = 0; i < 4; i++) {
        make(&t, i % 2, i / 2);
        counted(&a, &compute, &options);
        plan = (poolgrad_plan *)(void *)&a;
        options.plan = &plan;
        t.c.diff_dst.data = t.c.diff_src.data = t.c.src.data = NULL;
        assert_int_equal(onednn_run(&t.c, &options, &error), POOLGRAD_ONEDNN_SUCCESS);
        assert_int_equal(error.status, POOLGRAD_OK);
        assert_non_null(plan);
        planning = a.calls;
        assert_int_equal(poolgrad_plan_desc(plan)->op, t.f.desc.op);
        buffers = fixture_buffers(&t.f, NULL);
        assert_int_equal(poolgrad_execute(plan, &buffers, NULL), POOLGRAD_OK);
        check(&t, t.f.dx.first, "by plan");
        options.plan = NULL;
        options.workspace_size = poolgrad_plan_workspace(plan);
        options.workspace = workspace = malloc(options.workspace_size);
        poolgrad_plan_destroy(plan);
        assert_int_equal(a.live, 0);
        t.c.diff_dst.data = t.f.dy.first;
        t.c.diff_src.data = t.f.dx.first;
        t.c.src.data = t.f.x.first;
        memset(t.f.dx.allocation, 0xff, t.f.dx.bytes);
        a.calls = 0;
        assert_int_equal(onednn_run(&t.c, &options, NULL), POOLGRAD_ONEDNN_SUCCESS);
        assert_int_equal(a.calls, planning);
        check(&t, t.f.dx.first, "with a workspace");
        free(workspace);
        fixture_free(&t.f);
    }
}

/* src_shape's elements are part of the problem: a plan needs them too. */
static void plan_with_src_shape_as_input(void **state)
{
    poolgrad_face_options options;
    poolgrad_plan *plan;
    onednn_call c;

    (void)state;
    poolgrad_face_options_init(&options);
    options.plan = &plan;
    onednn_good(&c, 1);
    onednn_shape_as_input(&c);
    c.diff_dst.data = c.diff_src.data = NULL;
    assert_int_equal(onednn_run(&c, &options, NULL), POOLGRAD_ONEDNN_SUCCESS);
    assert_int_equal(poolgrad_plan_desc(plan)->in[1], 3);
    poolgrad_plan_destroy(plan);
    c.shape_tensor.data = NULL;
    onednn_refused_with(&c, &options, POOLGRAD_ONEDNN_INVALID_ARGUMENTS, "the data of src_shape");
    assert_null(plan);
}

static void failed_plan_is_null(void **state)
{
    poolgrad_face_options options;
    poolgrad_plan *plan;
    onednn_call c;
    int i;

    (void)state;
    poolgrad_face_options_init(&options);
    options.plan = &plan;
    for (i = 0; i < 4; i++) {
        plan = (poolgrad_plan *)(void *)&c;
        onednn_good(&c, i % 2);
        if (i < 2)
            c.attributes.kernel.values = NULL;
        else
            c.dst_sizes[2] = 7;
        onednn_refused_with(&c, &options,
                            i < 2 ? POOLGRAD_ONEDNN_INVALID_GRAPH_OP
                                  : POOLGRAD_ONEDNN_INVALID_ARGUMENTS,
                            "PoolBackward");
        assert_null(plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guard_pages),         cmocka_unit_test(guarded_lists),
        cmocka_unit_test(guarded_sizes),       cmocka_unit_test(allocation_failure),
        cmocka_unit_test(plan_and_workspace),  cmocka_unit_test(plan_with_src_shape_as_input),
        cmocka_unit_test(failed_plan_is_null),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
