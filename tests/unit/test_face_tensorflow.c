/* SPDX-License-Identifier: MIT */
/* TensorFlow's face: its documents' example, the answers of the real one, memory and options. */
#include "allocator.h"
#include "golden.h"
#include "guard.h"
#include "tensorflow_calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int32_t tf_dtype(poolgrad_dtype dtype)
{
    static const int32_t numbers[] = {0, POOLGRAD_TENSORFLOW_FLOAT, POOLGRAD_TENSORFLOW_DOUBLE,
                                      POOLGRAD_TENSORFLOW_HALF, POOLGRAD_TENSORFLOW_BFLOAT16};

    return numbers[dtype];
}

/* The values that the original's enums have, since callers may hand over their own. */
static void numbers_of_the_original(void **state)
{
    (void)state;
    assert_int_equal(POOLGRAD_TENSORFLOW_FLOAT, 1);
    assert_int_equal(POOLGRAD_TENSORFLOW_DOUBLE, 2);
    assert_int_equal(POOLGRAD_TENSORFLOW_INT32, 3);
    assert_int_equal(POOLGRAD_TENSORFLOW_INT64, 9);
    assert_int_equal(POOLGRAD_TENSORFLOW_BFLOAT16, 14);
    assert_int_equal(POOLGRAD_TENSORFLOW_HALF, 19);
    assert_int_equal(POOLGRAD_TENSORFLOW_OK, 0);
    assert_int_equal(POOLGRAD_TENSORFLOW_INVALID_ARGUMENT, 3);
    assert_int_equal(POOLGRAD_TENSORFLOW_NOT_FOUND, 5);
    assert_int_equal(POOLGRAD_TENSORFLOW_RESOURCE_EXHAUSTED, 8);
    assert_int_equal(POOLGRAD_TENSORFLOW_UNIMPLEMENTED, 12);
    assert_int_equal(POOLGRAD_TENSORFLOW_INTERNAL, 13);
}

/* -------------------------------------------------------------- golden cases */

typedef struct tally {
    const char *file;
    int answers, differing, errors, bits;
    int operators[TF_OPS];
} tally;

/* The one case that the original refuses: it has no kernel for half in 3-D. One window covers the
 * whole input. */
static void check_refused(const golden *g, const void *dx)
{
    int64_t i;

    assert_string_equal(g->name, "3d_f16_unregistered");
    assert_non_null(strstr(g->error, "NotFoundError"));
    for (i = 0; i < 8; i++)
        assert_true(sup_load(POOLGRAD_F16, dx, i) == golden_value(POOLGRAD_F16, g->dyv[0]) / 8);
}

/* The forward result, which MaxPool3DGrad compares with in parity. */
static void *pooled(const golden *g, const void *x)
{
    poolgrad_desc desc = g->desc;
    poolgrad_buffers buffers;
    poolgrad_plan *plan;

    desc.op = POOLGRAD_MAX;
    desc.nan = POOLGRAD_NAN_SKIP;
    assert_int_equal(poolgrad_plan_create(&plan, &desc, NULL, NULL), POOLGRAD_OK);
    poolgrad_buffers_init(&buffers);
    buffers.x = x;
    buffers.y = calloc((size_t)g->values, 8);
    assert_non_null(buffers.y);
    assert_int_equal(poolgrad_execute(plan, &buffers, NULL), POOLGRAD_OK);
    poolgrad_plan_destroy(plan);
    return buffers.y;
}

static void check_golden(golden *g, void *context)
{
    tally *t = context;
    const poolgrad_desc *desc = &g->desc;
    const tf_op op = strcmp(g->api, "AvgPoolGrad") == 0     ? TF_AVG
                     : strcmp(g->api, "AvgPool3DGrad") == 0 ? TF_AVG3D
                     : strcmp(g->api, "MaxPoolGrad") == 0   ? TF_MAX
                                                            : TF_MAX3D;
    const int32_t rank = desc->rank + 2, dtype = tf_dtype(desc->dtype);
    int64_t ksize[5], strides[5], axes = rank, elements = 1;
    poolgrad_tensorflow_attributes attributes = {
        .ksize = {ksize, (size_t)rank},
        .strides = {strides, (size_t)rank},
        .padding = strcmp(g->auto_pad, "SAME_UPPER") == 0 ? "SAME" : g->auto_pad,
    };
    poolgrad_tensor tensors[TF_TENSORS], shape = {POOLGRAD_TENSORFLOW_INT64, 1, &axes, NULL, g->dx};
    const poolgrad_tensor *given[TF_TENSORS];
    const poolgrad_face_options parity = {.size = sizeof parity, .parity = 1};
    const int grad = tf_grad(op);
    poolgrad_error error;
    int i;

    assert_true(g->channels_last);
    for (i = 0; i < rank; i++) {
        ksize[i] = i > 0 && i <= desc->rank ? desc->kernel[i - 1] : 1;
        strides[i] = i > 0 && i <= desc->rank ? desc->stride[i - 1] : 1;
        elements *= g->dx[i];
    }
    for (i = 0; i < TF_TENSORS; i++) {
        tensors[i] =
            (poolgrad_tensor){dtype, rank, i == 0 || i == TF_OUTPUT ? g->dx : g->dy, NULL, NULL};
        given[i] = &tensors[i];
    }
    tensors[0].data = calloc((size_t)elements, 8);
    tensors[grad].data = calloc((size_t)g->values, 8);
    tensors[TF_OUTPUT].data = calloc((size_t)elements, 8);
    assert_true(tensors[0].data && tensors[grad].data && tensors[TF_OUTPUT].data);
    golden_put(g, g->xv, g->inputs, tensors[0].data);
    golden_put(g, g->dyv, g->values, tensors[grad].data);
    if (g->average)
        given[0] = &shape;
    if (tf_call(op, given, &attributes, NULL, &error))
        fail_msg("%s, %s: %s", t->file, g->name, error.message);
    if (g->has_out)
        golden_compare(g, t->file, tensors[TF_OUTPUT].data, g->differs);
    else
        check_refused(g, tensors[TF_OUTPUT].data);
    if (golden_has_formula(g, t->file)) {
        if (op == TF_MAX3D)
            tensors[1].data = pooled(g, tensors[0].data);
        assert_int_equal(tf_call(op, given, &attributes, &parity, &error), 0);
        golden_compare_bits(g, t->file, tensors[TF_OUTPUT].data);
        t->bits++;
        if (op == TF_MAX3D)
            free(tensors[1].data);
    }
    t->answers += g->has_out;
    t->differing += g->differs;
    t->errors += !g->has_out;
    t->operators[op]++;
    free(tensors[0].data);
    free(tensors[grad].data);
    free(tensors[TF_OUTPUT].data);
}

static void golden_cases(void **state)
{
    static const char *const files[] = {"golden_tf_stock.txt", "golden_tf_onednn.txt"};
    static const int differing[] = {5, 3}, bits[] = {38, 20};
    int i;

    (void)state;
    for (i = 0; i < 2; i++) {
        tally t = {.file = files[i]};

        assert_int_equal(golden_each(files[i], check_golden, &t), 41);
        assert_int_equal(t.answers, 40);
        assert_int_equal(t.differing, differing[i]);
        assert_int_equal(t.errors, 1);
        assert_int_equal(t.bits, bits[i]);
        assert_int_equal(t.operators[TF_AVG], 22);
        assert_int_equal(t.operators[TF_AVG3D], 6);
        assert_int_equal(t.operators[TF_MAX], 9);
        assert_int_equal(t.operators[TF_MAX3D], 4);
    }
}

/* ----------------------------------------------------------- by worked values */

static void documented_example(void **state)
{
    static const float values[] = {0.25F, 0.75F, 0.5F, 1, 2.5F, 1.5F, 0.75F, 1.75F, 1};
    int64_t wide[4] = {1, 3, 3, 1};
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    tf_expect_values(&s, 9, values);
    /* the same with a shape of int64, with the default written out, and channels first */
    tf_sample_make(&s, TF_AVG);
    s.tensors[0].dtype = POOLGRAD_TENSORFLOW_INT64;
    s.tensors[0].data = wide;
    s.attributes.data_format = "NHWC";
    tf_expect_values(&s, 9, values);
    tf_sample_make(&s, TF_AVG);
    tf_input(&s, 4, TF_LIST(1, 1, 3, 3));
    tf_sizes(&s, 1, 4, TF_LIST(1, 1, 2, 2));
    tf_window(&s, 4, TF_LIST(1, 1, 2, 2), TF_LIST(1, 1, 1, 1), "VALID");
    s.attributes.data_format = "NCHW";
    tf_expect_values(&s, 9, values);
}

/* The shape is a tensor like others: strides of any sign, and no alignment is asked of it. */
static void orig_input_shape_with_strides(void **state)
{
    static const float values[] = {0.25F, 0.75F, 0.5F, 1, 2.5F, 1.5F, 0.75F, 1.75F, 1};
    static const int32_t backwards[] = {1, 3, 3, 1}, spread[] = {1, 9, 3, 9, 3, 9, 1};
    static const int64_t steps[] = {-1, 2, 0};
    char odd[1 + sizeof backwards];
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    s.tensors[0].strides = &steps[0];
    s.tensors[0].data = (void *)&backwards[3];
    tf_expect_values(&s, 9, values);
    tf_sample_make(&s, TF_AVG);
    s.tensors[0].strides = &steps[1];
    s.tensors[0].data = (void *)spread;
    tf_expect_values(&s, 9, values);
    tf_sample_make(&s, TF_AVG);
    memcpy(odd + 1, backwards, sizeof backwards);
    s.tensors[0].data = odd + 1;
    tf_expect_values(&s, 9, values);
    /* one element for all sizes */
    tf_sample_make(&s, TF_AVG);
    tf_sizes(&s, 1, 4, TF_LIST(1, 1, 1, 1));
    tf_sizes(&s, TF_OUTPUT, 4, TF_LIST(1, 1, 1, 1));
    tf_window(&s, 4, TF_LIST(1, 1, 1, 1), TF_LIST(1, 1, 1, 1), "VALID");
    s.tensors[0].strides = &steps[2];
    s.tensors[0].data = (void *)backwards;
    tf_expect_values(&s, 1, s.data[1]);
}

/* MaxPoolGrad with explicit padding, as the original answered. */
static void explicit_paddings(void **state)
{
    static const float values[] = {1, 0, 2, 3};
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_MAX);
    tf_input(&s, 4, TF_LIST(1, 1, 4, 1));
    tf_sizes(&s, 1, 4, TF_LIST(1, 1, 3, 1));
    tf_sizes(&s, 2, 4, TF_LIST(1, 1, 3, 1));
    tf_window(&s, 4, TF_LIST(1, 1, 2, 1), TF_LIST(1, 1, 2, 1), "EXPLICIT");
    s.attributes.explicit_paddings = (poolgrad_list){TF_LIST(0, 0, 0, 0, 1, 1, 0, 0), 8};
    tf_expect_values(&s, 4, values);
}

/* A NaN in a window of two: in 2-D it wins where it comes first, in 3-D never. */
static void nan_rules(void **state)
{
    static const float x[] = {1, NAN, 3, 2, 5, NAN};
    static const float flat[] = {1, 2, 3, 0, 9, 0}, deep[] = {1, 0, 5, 0, 9, 0};
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_MAX);
    memcpy(s.data[0], x, sizeof x);
    tf_input(&s, 4, TF_LIST(1, 1, 6, 1));
    tf_sizes(&s, 1, 4, TF_LIST(1, 1, 5, 1));
    tf_sizes(&s, 2, 4, TF_LIST(1, 1, 5, 1));
    tf_window(&s, 4, TF_LIST(1, 1, 2, 1), TF_LIST(1, 1, 1, 1), "VALID");
    tf_expect_values(&s, 6, flat);
    tf_sample_make(&s, TF_MAX3D);
    memcpy(s.data[0], x, sizeof x);
    tf_input(&s, 5, TF_LIST(1, 1, 1, 6, 1));
    tf_sizes(&s, 1, 5, TF_LIST(1, 1, 1, 5, 1));
    tf_sizes(&s, 2, 5, TF_LIST(1, 1, 1, 5, 1));
    tf_window(&s, 5, TF_LIST(1, 1, 1, 2, 1), TF_LIST(1, 1, 1, 1, 1), "VALID");
    tf_expect_values(&s, 6, deep);
}

/* Two images of two channels: an index counts over one of them, or over both. */
static void argmax_with_and_without_batch(void **state)
{
    static const float values[] = {0, 0, 1, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 0, 3, 0};
    static const int32_t image[] = {2, 5, 6, 1}, tensor[] = {2, 5, 14, 9};
    tf_sample s;
    int whole;

    (void)state;
    for (whole = 0; whole < 2; whole++) {
        tf_sample_make(&s, TF_ARGMAX);
        tf_input(&s, 4, TF_LIST(2, 2, 2, 2));
        tf_sizes(&s, 1, 4, TF_LIST(2, 1, 1, 2));
        tf_sizes(&s, 2, 4, TF_LIST(2, 1, 1, 2));
        s.tensors[2].dtype = POOLGRAD_TENSORFLOW_INT32;
        s.tensors[2].data = (void *)(whole ? tensor : image);
        s.tensors[0].data = NULL; /* never read */
        s.attributes.include_batch_in_index = whole;
        tf_expect_values(&s, 16, values);
    }
}

/* What is legal although it looks odd. */
static void empty_tensors(void **state)
{
    static const float zeros[2] = {0};
    tf_sample s;
    int op;

    (void)state;
    for (op = TF_AVG; op <= TF_MAX; op += 2) {
        static const int64_t inputs[][4] = {{0, 3, 3, 1}, {1, 3, 3, 0}};
        static const int64_t outputs[][4] = {{0, 2, 2, 1}, {1, 2, 2, 0}};
        int i, k;

        for (i = 0; i < 2; i++) {
            char before[sizeof s.data[TF_OUTPUT]];

            tf_sample_make(&s, (tf_op)op);
            tf_input(&s, 4, inputs[i]);
            for (k = 1; k < TF_OUTPUT; k++)
                tf_sizes(&s, k, 4, outputs[i]);
            for (k = op == TF_MAX ? 0 : 1; k < TF_TENSORS; k++)
                s.tensors[k].data = NULL;
            memcpy(before, s.data[TF_OUTPUT], sizeof before);
            tf_expect_values(&s, 0, zeros);
            assert_memory_equal(s.data[TF_OUTPUT], before, sizeof before);
        }
    }
    /* rows 0 with SAME: no windows either */
    tf_sample_make(&s, TF_AVG);
    tf_input(&s, 4, TF_LIST(1, 0, 3, 1));
    tf_sizes(&s, 1, 4, TF_LIST(1, 0, 3, 1));
    tf_window(&s, 4, TF_LIST(1, 2, 2, 1), TF_LIST(1, 1, 1, 1), "SAME");
    tf_expect_values(&s, 0, zeros);
    /* VALID, an input one short of the window: no windows, the gradient is 0 */
    tf_sample_make(&s, TF_AVG);
    tf_input(&s, 4, TF_LIST(1, 1, 2, 1));
    tf_sizes(&s, 1, 4, TF_LIST(1, 1, 0, 1));
    tf_window(&s, 4, TF_LIST(1, 1, 3, 1), TF_LIST(1, 1, 1, 1), "VALID");
    s.tensors[1].data = NULL;
    tf_expect_values(&s, 2, zeros);
    /* as short as the stride allows */
    tf_sample_make(&s, TF_AVG);
    tf_input(&s, 4, TF_LIST(1, 1, 2, 1));
    tf_sizes(&s, 1, 4, TF_LIST(1, 1, 0, 1));
    tf_window(&s, 4, TF_LIST(1, 1, 7, 1), TF_LIST(1, 1, 3, 1), "VALID");
    tf_expect_values(&s, 2, zeros);
}

/* The largest kernel that an int32 can say costs no more than one that covers the input. */
static void ksize_of_2_to_the_31(void **state)
{
    static const float values[] = {5, 5, 5, 5, 5, 5, 5, 5, 5};
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    tf_sizes(&s, 1, 4, TF_LIST(1, 3, 3, 1));
    tf_window(&s, 4, TF_LIST(1, INT32_MAX, INT32_MAX, 1), TF_LIST(1, 1, 1, 1), "SAME");
    tf_expect_values(&s, 9, values);
}

/* --------------------------------------------------------- memory and options */

/* Every tensor between pages without access, also the shape. */
static void guard_pages(void **state)
{
    tf_sample s;
    int op, at_end, i;

    (void)state;
    for (op = 0; op < TF_OPS; op++) {
        for (at_end = 0; at_end < 2; at_end++) {
            guarded g[TF_TENSORS];
            float expected[18];

            tf_sample_make(&s, (tf_op)op);
            assert_int_equal(tf_call(s.op, s.given, &s.attributes, NULL, NULL), 0);
            memcpy(expected, s.data[TF_OUTPUT], sizeof expected);
            for (i = 0; i < TF_TENSORS; i++) {
                size_t bytes = s.tensors[i].dtype == POOLGRAD_TENSORFLOW_INT64 ? 8 : 4;
                int k;

                for (k = 0; k < s.tensors[i].rank; k++)
                    bytes *= (size_t)s.sizes[i][k];
                g[i] = guard(bytes, at_end);
                memcpy(g[i].memory, s.tensors[i].data, bytes);
                s.tensors[i].data = g[i].memory;
            }
            assert_int_equal(tf_call(s.op, s.given, &s.attributes, NULL, NULL), 0);
            assert_memory_equal(s.tensors[TF_OUTPUT].data, expected,
                                op == TF_AVG3D || op == TF_MAX3D ? 72 : 36);
            for (i = 0; i < TF_TENSORS; i++)
                unguard(&g[i]);
        }
    }
}

static void allocation_failure(void **state)
{
    poolgrad_options compute;
    allocator a;
    tf_sample s;
    int op, i, sites;

    (void)state;
    for (op = 0; op < TF_OPS; op++) {
        compute = counted_options(&a, NULL);
        tf_sample_make(&s, (tf_op)op);
        s.options.compute = &compute;
        assert_int_equal(tf_call(s.op, s.given, &s.attributes, &s.options, NULL), 0);
        sites = a.calls;
        assert_true(sites >= 2 && a.live == 0);
        for (i = 1; i <= sites; i++) {
            char before[sizeof s.data[TF_OUTPUT]];
            poolgrad_error error;

            compute = counted_options(&a, NULL);
            a.fail_at = i;
            memcpy(before, s.data[TF_OUTPUT], sizeof before);
            assert_int_equal(tf_call(s.op, s.given, &s.attributes, &s.options, &error),
                             POOLGRAD_TENSORFLOW_RESOURCE_EXHAUSTED);
            assert_int_equal(error.status, POOLGRAD_ERR_MEMORY);
            assert_int_equal(a.live, 0);
            assert_memory_equal(s.data[TF_OUTPUT], before, sizeof before);
        }
    }
}

/* A plan needs no data but that of the shape, and stands for the call. */
static void plan_only(void **state)
{
    poolgrad_buffers buffers;
    poolgrad_error error;
    poolgrad_plan *plan;
    tf_sample s;
    int op, i;

    (void)state;
    for (op = 0; op < TF_OPS; op++) {
        float expected[18];

        tf_sample_make(&s, (tf_op)op);
        assert_int_equal(tf_call(s.op, s.given, &s.attributes, NULL, NULL), 0);
        memcpy(expected, s.data[TF_OUTPUT], sizeof expected);
        for (i = op <= TF_AVG3D ? 1 : 0; i < TF_TENSORS; i++)
            s.tensors[i].data = NULL;
        s.options.plan = &plan;
        memset(&error, 0xff, sizeof error);
        assert_int_equal(tf_call(s.op, s.given, &s.attributes, &s.options, &error), 0);
        assert_int_equal(error.status, POOLGRAD_OK);
        assert_non_null(plan);
        poolgrad_buffers_init(&buffers);
        memset(s.data[TF_OUTPUT], 0, sizeof s.data[TF_OUTPUT]);
        buffers.dy = s.data[tf_grad(s.op)];
        buffers.dx = s.data[TF_OUTPUT];
        buffers.x = s.data[0];
        buffers.indices = s.argmax;
        assert_int_equal(poolgrad_execute(plan, &buffers, NULL), POOLGRAD_OK);
        assert_memory_equal(s.data[TF_OUTPUT], expected,
                            op == TF_AVG3D || op == TF_MAX3D ? 72 : 36);
        poolgrad_plan_destroy(plan);
    }
}

/* With enough workspace nothing but the plan is allocated; with too little nothing is computed. */
static void workspace(void **state)
{
    static char memory[1 << 16];
    allocator a;
    poolgrad_options compute = counted_options(&a, NULL);
    tf_sample s;

    (void)state;
    tf_sample_make(&s, TF_AVG);
    s.options.compute = &compute;
    s.options.workspace = memory;
    s.options.workspace_size = sizeof memory;
    assert_int_equal(tf_call(s.op, s.given, &s.attributes, &s.options, NULL), 0);
    assert_int_equal(a.calls, 1);
    tf_sample_make(&s, TF_AVG);
    s.options.workspace = memory;
    s.options.workspace_size = 1;
    tf_expect_memory(&s, POOLGRAD_TENSORFLOW_INVALID_ARGUMENT, "workspace");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_the_original),
        cmocka_unit_test(golden_cases),
        cmocka_unit_test(documented_example),
        cmocka_unit_test(orig_input_shape_with_strides),
        cmocka_unit_test(explicit_paddings),
        cmocka_unit_test(nan_rules),
        cmocka_unit_test(argmax_with_and_without_batch),
        cmocka_unit_test(empty_tensors),
        cmocka_unit_test(ksize_of_2_to_the_31),
        cmocka_unit_test(guard_pages),
        cmocka_unit_test(allocation_failure),
        cmocka_unit_test(plan_only),
        cmocka_unit_test(workspace),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
