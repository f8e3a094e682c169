/* SPDX-License-Identifier: MIT */
/* ONNX Runtime's face: the recorded answers of ONNX Runtime 1.19, bad input row by row, and the
 * same bits as the native call. */
#include "golden.h"
#include "guard.h"

#include <poolgrad/onnxruntime.h>
#include <stdlib.h>
#include <string.h>

typedef poolgrad_onnxruntime_attributes attributes_t;

static int32_t dtype_number(poolgrad_dtype dtype)
{
    static const int32_t numbers[] = {0, POOLGRAD_ONNXRUNTIME_FLOAT, POOLGRAD_ONNXRUNTIME_DOUBLE,
                                      POOLGRAD_ONNXRUNTIME_FLOAT16, POOLGRAD_ONNXRUNTIME_BFLOAT16};

    return numbers[dtype];
}

/* -------------------------------------------------------------------- golden */

typedef struct tally {
    int ok, differs, errors, bits;
} tally;

static void check_auto_pad(const golden *g, poolgrad_tensor dy, poolgrad_tensor dx)
{
    const int64_t pads[] = {0, 2};
    attributes_t a = {.kernel_shape = {g->desc.kernel, 1}, .auto_pad = "SAME_UPPER"};
    const float *out = dx.data, *in = dy.data;
    const float expected[] = {in[0] / 2 + in[1] / 3, in[0] / 2 + in[1] / 3 + in[2] / 3,
                              in[1] / 3 + in[2] / 3 + in[3] / 2, in[2] / 3 + in[3] / 2};
    int i;

    /* What was asked for: padding 1 and 1. */
    assert_int_equal(poolgrad_onnxruntime_average_pool_grad(&dy, &a, &dx, NULL, NULL), 0);
    for (i = 0; i < 4; i++)
        assert_float_equal(out[i], expected[i], 1e-5);
    /* What ONNX Runtime computed instead. */
    a.auto_pad = NULL;
    a.pads = (poolgrad_list){pads, 2};
    assert_int_equal(poolgrad_onnxruntime_average_pool_grad(&dy, &a, &dx, NULL, NULL), 0);
    golden_compare(g, "golden_ort.txt", dx.data, 0);
}

static void check_case(golden *g, void *context)
{
    tally *t = context;
    const poolgrad_desc *d = &g->desc;
    const size_t size = poolgrad_dtype_size(d->dtype);
    const size_t spatial = (size_t)g->dims - 2;
    int64_t pads[6], dx_count = 1;
    attributes_t a = {.kernel_shape = {d->kernel, spatial},
                      .strides = {d->stride, spatial},
                      .pads = {pads, 2 * spatial},
                      .dilations = {d->dilation, spatial},
                      .ceil_mode = d->rounding == POOLGRAD_CEIL,
                      .count_include_pad = d->divisor != POOLGRAD_EXCLUDE,
                      .storage_order = strcmp(g->name, "max_storage_order_1") == 0};
    poolgrad_tensor dy = {dtype_number(d->dtype), g->dims, g->dy, NULL, NULL};
    poolgrad_tensor dx = {dtype_number(d->dtype), g->dims, g->dx, NULL, NULL};
    poolgrad_tensor indices = {POOLGRAD_ONNXRUNTIME_INT64, g->dims, g->dy, NULL, g->idx};
    const poolgrad_face_options parity = {.size = sizeof parity, .parity = 1};
    poolgrad_onnxruntime_code code;
    poolgrad_error error;
    int i;

    for (i = 0; i < g->dims; i++)
        dx_count *= g->dx[i];
    memcpy(pads, d->pad_lo, spatial * sizeof *pads);
    memcpy(pads + spatial, d->pad_hi, spatial * sizeof *pads);
    dy.data = malloc((size_t)g->values * size + 1);
    dx.data = malloc((size_t)dx_count * size + 1);
    assert_non_null(dy.data);
    assert_non_null(dx.data);
    golden_put(g, g->dyv, g->values, dy.data);
    if (strcmp(g->name, "1d_auto_pad_ignored") == 0) {
        check_auto_pad(g, dy, dx);
        t->ok++;
    } else {
        code = g->average
                   ? poolgrad_onnxruntime_average_pool_grad(&dy, &a, &dx, NULL, &error)
                   : poolgrad_onnxruntime_max_pool_grad(&dy, &indices, &a, &dx, NULL, &error);
        if (!g->has_out) {
            /* Types that it has no kernel for are computed; bad indices are refused. */
            assert_int_equal(code, g->average ? POOLGRAD_ONNXRUNTIME_OK
                                              : POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT);
            t->errors++;
        } else {
            if (code)
                fail_msg("%s: %s", g->name, error.message);
            /* The indices given decide, also where its forward pass chose them by another rule than
             * the reference (max_nan). */
            golden_compare(g, "golden_ort.txt", dx.data,
                           g->differs && strcmp(g->name, "max_nan") != 0);
            g->differs ? t->differs++ : t->ok++;
            if (golden_has_formula(g, "golden_ort.txt")) {
                code = g->average
                           ? poolgrad_onnxruntime_average_pool_grad(&dy, &a, &dx, &parity, &error)
                           : poolgrad_onnxruntime_max_pool_grad(&dy, &indices, &a, &dx, &parity,
                                                                &error);
                assert_int_equal(code, POOLGRAD_ONNXRUNTIME_OK);
                golden_compare_bits(g, "golden_ort.txt", dx.data);
                t->bits++;
            }
        }
    }
    free(dy.data);
    free(dx.data);
}

static void golden_cases(void **state)
{
    tally t = {0, 0, 0, 0};

    (void)state;
    assert_int_equal(golden_each("golden_ort.txt", check_case, &t), 43);
    assert_int_equal(t.ok, 32);
    assert_int_equal(t.differs, 7);
    assert_int_equal(t.errors, 4);
    assert_int_equal(t.bits, 34);
}

/* ----------------------------------------------------------------- bad input */

/* A call that is right: dX [1,1,4] from dY [1,1,3], kernel 2. A test spoils one thing. */
typedef struct good_call {
    float dy[8], dx[8], before[8];
    int64_t dy_sizes[6], dx_sizes[6], kernel[4], strides[4], pads[8], dilations[4], idx[8];
    poolgrad_tensor dY, dX, Indices;
    attributes_t a;
    poolgrad_error error;
} good_call;

static void make_good(good_call *c)
{
    int i;

    memset(c, 0, sizeof *c);
    for (i = 0; i < 8; i++) {
        c->dy[i] = (float)(i + 1);
        c->dx[i] = -77;
        c->idx[i] = i;
    }
    memcpy(c->before, c->dx, sizeof c->dx);
    c->dy_sizes[0] = c->dy_sizes[1] = c->dx_sizes[0] = c->dx_sizes[1] = 1;
    c->dy_sizes[2] = 3;
    c->dx_sizes[2] = 4;
    c->kernel[0] = 2;
    c->strides[0] = c->dilations[0] = 1;
    c->dY = (poolgrad_tensor){POOLGRAD_ONNXRUNTIME_FLOAT, 3, c->dy_sizes, NULL, c->dy};
    c->dX = (poolgrad_tensor){POOLGRAD_ONNXRUNTIME_FLOAT, 3, c->dx_sizes, NULL, c->dx};
    c->Indices = (poolgrad_tensor){POOLGRAD_ONNXRUNTIME_INT64, 3, c->dy_sizes, NULL, c->idx};
    c->a.kernel_shape = (poolgrad_list){c->kernel, 1};
    c->a.strides = (poolgrad_list){c->strides, 1};
    c->a.pads = (poolgrad_list){c->pads, 2};
    c->a.dilations = (poolgrad_list){c->dilations, 1};
}

/* Both operators answer with this code and these words, and dX is as it was. */
static void both_refuse(good_call *c, poolgrad_onnxruntime_code code, const char *words)
{
    assert_int_equal(poolgrad_onnxruntime_average_pool_grad(&c->dY, &c->a, &c->dX, NULL, &c->error),
                     code);
    if (!strstr(c->error.message, words))
        fail_msg("'%s' does not say '%s'", c->error.message, words);
    assert_int_not_equal(c->error.status, POOLGRAD_OK);
    assert_int_equal(
        poolgrad_onnxruntime_max_pool_grad(&c->dY, &c->Indices, &c->a, &c->dX, NULL, &c->error),
        code);
    if (!strstr(c->error.message, words))
        fail_msg("'%s' does not say '%s'", c->error.message, words);
    assert_int_equal(
        poolgrad_onnxruntime_max_pool_grad(&c->dY, &c->Indices, &c->a, &c->dX, NULL, NULL), code);
    assert_memory_equal(c->dx, c->before, sizeof c->dx);
}

static void max_refuses(good_call *c, poolgrad_onnxruntime_code code, const char *words)
{
    assert_int_equal(
        poolgrad_onnxruntime_max_pool_grad(&c->dY, &c->Indices, &c->a, &c->dX, NULL, &c->error),
        code);
    if (!strstr(c->error.message, words))
        fail_msg("'%s' does not say '%s'", c->error.message, words);
}

static void the_unspoilt_call_is_right(void **state)
{
    good_call c;

    (void)state;
    make_good(&c);
    assert_int_equal(poolgrad_onnxruntime_average_pool_grad(&c.dY, &c.a, &c.dX, NULL, &c.error), 0);
    assert_int_equal(c.error.status, POOLGRAD_OK);
    assert_true(c.dx[0] == 0.5f && c.dx[1] == 1.5f && c.dx[2] == 2.5f && c.dx[3] == 1.5f);
    assert_int_equal(
        poolgrad_onnxruntime_max_pool_grad(&c.dY, &c.Indices, &c.a, &c.dX, NULL, &c.error), 0);
    assert_true(c.dx[0] == 1 && c.dx[1] == 2 && c.dx[2] == 3 && c.dx[3] == 0);
}

static void missing_dx_shape(void **state)
{
    good_call c;

    (void)state;
    make_good(&c);
    c.dX.sizes = NULL;
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_INVALID_GRAPH, "the shape of dX is missing");
    assert_int_equal(poolgrad_onnxruntime_average_pool_grad(&c.dY, &c.a, NULL, NULL, NULL),
                     POOLGRAD_ONNXRUNTIME_INVALID_GRAPH);
}

static void symbolic_dx_size(void **state)
{
    good_call c;

    (void)state;
    make_good(&c);
    c.dx_sizes[0] = -1;
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_INVALID_GRAPH, "static shape");
}

static void missing_tensors(void **state)
{
    good_call c;

    (void)state;
    make_good(&c);
    assert_int_equal(poolgrad_onnxruntime_average_pool_grad(NULL, &c.a, &c.dX, NULL, &c.error),
                     POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT);
    assert_string_equal(c.error.message, "dY is NULL");
    assert_int_equal(poolgrad_onnxruntime_max_pool_grad(&c.dY, NULL, &c.a, &c.dX, NULL, &c.error),
                     POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT);
    assert_string_equal(c.error.message, "Indices is NULL");
    c.dX.data = NULL;
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT, "dx is dX");
    c.dX.data = c.dy; /* one memory for both */
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT, "overlap");
    c.dX.data = (char *)c.dx + 1;
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT, "multiple of its element size");
}

static void missing_kernel_shape(void **state)
{
    good_call c;

    (void)state;
    make_good(&c);
    c.a.kernel_shape.values = NULL;
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_INVALID_GRAPH,
                "Required attribute 'kernel_shape' is missing");
    assert_int_equal(poolgrad_onnxruntime_average_pool_grad(&c.dY, NULL, &c.dX, NULL, NULL),
                     POOLGRAD_ONNXRUNTIME_INVALID_GRAPH);
}

static void auto_pad_and_ceil_are_not_ignored(void **state)
{
    good_call c;

    (void)state;
    make_good(&c);
    c.a.auto_pad = "SAME_LOWER"; /* dY would be as long as dX */
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT, "make it [1,1,4]");
    c.a.auto_pad = "VALID"; /* makes the pads irrelevant */
    c.pads[0] = c.pads[1] = 1;
    assert_int_equal(poolgrad_onnxruntime_average_pool_grad(&c.dY, &c.a, &c.dX, NULL, &c.error), 0);
    make_good(&c);
    c.a.auto_pad = "same_upper";
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_RUNTIME_EXCEPTION, "Unknown AutoPadType String");
    make_good(&c);
    c.strides[0] = 2;
    c.dx_sizes[2] = 5;
    c.a.ceil_mode = 1; /* windows at 0, 2, 4 */
    assert_int_equal(poolgrad_onnxruntime_average_pool_grad(&c.dY, &c.a, &c.dX, NULL, &c.error), 0);
    assert_true(c.dx[4] == 3);
    make_good(&c);
    c.dilations[0] = 2;
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT, "make it [1,1,2]");
}

static void wrong_dy_shape(void **state)
{
    static const int64_t wrong[][3] = {{1, 1, 1}, {1, 1, 4}, {1, 1, 7}, {1, 1, 0},
                                       {2, 1, 3}, {1, 2, 3}, {0, 1, 3}, {1, 0, 3}};
    good_call c;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        make_good(&c);
        memcpy(c.dy_sizes, wrong[i], sizeof wrong[i]);
        both_refuse(&c, POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT, "dY has the shape");
    }
    make_good(&c);
    c.dx_sizes[1] = 3; /* three channels from one: read past its end */
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT, "make it [1,3,3]");
    make_good(&c);
    c.dY.rank = c.Indices.rank = 2;
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT, "dY has the shape [1,1]");
}

static void bad_attribute_values(void **state)
{
    good_call c;

    (void)state;
    make_good(&c);
    c.kernel[0] = 0;
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_RUNTIME_EXCEPTION, "kernel_shape[0] is 0");
    c.kernel[0] = -1;
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_RUNTIME_EXCEPTION, "kernel_shape[0] is -1");
    make_good(&c);
    c.strides[0] = 0;
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_RUNTIME_EXCEPTION, "strides[0] is 0");
    make_good(&c);
    c.pads[1] = -1;
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_RUNTIME_EXCEPTION, "pads[1] is -1");
    make_good(&c);
    c.dilations[0] = 0;
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_RUNTIME_EXCEPTION, "dilations[0] is 0");
}

static void attributes_of_another_rank(void **state)
{
    good_call c;

    (void)state;
    make_good(&c);
    c.a.kernel_shape.count = 2;
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_RUNTIME_EXCEPTION, "kernel_shape has 2 values");
    make_good(&c);
    c.a.strides.count = 3;
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_RUNTIME_EXCEPTION, "strides has 3 values");
    make_good(&c);
    c.a.pads.count = 1;
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_RUNTIME_EXCEPTION, "pads has 1 values");
    make_good(&c);
    c.a.dilations.count = 0;
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_RUNTIME_EXCEPTION, "dilations has 0 values");
}

static void unsupported_ranks_and_types(void **state)
{
    good_call c;
    int32_t rank;

    (void)state;
    for (rank = -1; rank <= 6; rank++) {
        if (rank >= 3 && rank <= 5)
            continue;
        make_good(&c);
        c.dX.rank = rank;
        c.dx_sizes[3] = c.dx_sizes[4] = c.dx_sizes[5] = 1;
        both_refuse(&c, POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT, "Unsupported pooling size");
    }
    make_good(&c);
    c.dY.dtype = c.dX.dtype = POOLGRAD_ONNXRUNTIME_INT64;
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_NOT_IMPLEMENTED, "Could not find an implementation");
    make_good(&c);
    c.dX.dtype = POOLGRAD_ONNXRUNTIME_FLOAT16;
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_INVALID_GRAPH, "dX has the element type 10 but dY has 1");
    make_good(&c);
    c.Indices.dtype = 6;
    max_refuses(&c, POOLGRAD_ONNXRUNTIME_INVALID_GRAPH, "it must be INT64");
    assert_memory_equal(c.dx, c.before, sizeof c.dx);
}

static void sizes_that_overflow(void **state)
{
    good_call c;

    (void)state;
    make_good(&c);
    c.dx_sizes[0] = c.dx_sizes[1] = INT64_C(1) << 40;
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT, "does not fit in 64 bits");
    make_good(&c);
    c.pads[0] = c.pads[1] = INT64_MAX;
    both_refuse(&c, POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT, "64 bits");
}

static void bad_indices(void **state)
{
    static const int64_t bad[] = {-1, -5, 4, 1000000000, INT64_C(1000000000000), 2, INT64_MIN};
    good_call c;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        make_good(&c);
        c.idx[0] = bad[i]; /* window 0 covers 0 and 1 */
        max_refuses(&c, POOLGRAD_ONNXRUNTIME_INVALID_ARGUMENT, "element 0 of the indices");
        assert_int_equal(c.error.position, 0);
        assert_memory_equal(c.dx + 4, c.before, 4 * sizeof *c.dx);
    }
    make_good(&c);
    c.Indices.rank = 2;
    max_refuses(&c, POOLGRAD_ONNXRUNTIME_RUNTIME_EXCEPTION, "indices->Shape() was false");
    assert_memory_equal(c.dx, c.before, sizeof c.dx);
    make_good(&c);
    c.a.storage_order = 2;
    max_refuses(&c, POOLGRAD_ONNXRUNTIME_RUNTIME_EXCEPTION, "storage_order is 2");
    assert_memory_equal(c.dx, c.before, sizeof c.dx);
}

static void empty_tensors(void **state)
{
    good_call c;

    (void)state;
    make_good(&c);
    c.dx_sizes[0] = c.dy_sizes[0] = 0;
    c.dX.data = c.dY.data = NULL;
    assert_int_equal(poolgrad_onnxruntime_average_pool_grad(&c.dY, &c.a, &c.dX, NULL, &c.error), 0);
    make_good(&c);
    c.dx_sizes[2] = c.dy_sizes[2] = 0;
    c.kernel[0] = 1;
    assert_int_equal(poolgrad_onnxruntime_average_pool_grad(&c.dY, &c.a, &c.dX, NULL, &c.error), 0);
    make_good(&c); /* no window fits: dX is zeros */
    c.kernel[0] = 5;
    c.dy_sizes[2] = 0;
    assert_int_equal(poolgrad_onnxruntime_average_pool_grad(&c.dY, &c.a, &c.dX, NULL, &c.error), 0);
    assert_true(c.dx[0] == 0 && c.dx[3] == 0 && c.dx[4] == -77);
}

/* ------------------------------------------------------ the same as natively */

/* A random call, guarded, against the problem string it should stand for. */
static void compare_with_native(sup_rng *rng, int at_end)
{
    static const char *const autos[] = {"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"};
    const int average = sup_rng_chance(rng, 50);
    attributes_t a = {.ceil_mode = sup_rng_range(rng, 0, 1),
                      .count_include_pad = sup_rng_range(rng, 0, 1),
                      .storage_order = sup_rng_range(rng, 0, 1)};
    int64_t pads[6], dx_sizes[5], dy_sizes[5];
    poolgrad_desc desc;
    poolgrad_tensor dy, dx, indices;
    guarded_fixture g;
    poolgrad_error error;
    fixture f;
    int i, pick = (int)sup_rng_range(rng, 0, 3);

    poolgrad_desc_init(&desc);
    desc.op = average ? POOLGRAD_AVG_GRAD : POOLGRAD_MAX_GRAD;
    desc.dtype = (poolgrad_dtype)(sup_rng_range(rng, 1, 4));
    desc.rank = (int32_t)sup_rng_range(rng, 1, 3);
    desc.batch = sup_rng_range(rng, 0, 2);
    desc.channels = sup_rng_range(rng, 1, 3);
    desc.rounding = a.ceil_mode ? POOLGRAD_CEIL : POOLGRAD_FLOOR;
    desc.divisor = a.count_include_pad ? POOLGRAD_INCLUDE_CLIPPED : POOLGRAD_EXCLUDE;
    desc.index_order = a.storage_order ? POOLGRAD_COLUMN_MAJOR : POOLGRAD_ROW_MAJOR;
    for (i = 0; i < desc.rank; i++) {
        desc.in[i] = sup_rng_range(rng, 1, 9);
        desc.kernel[i] = sup_rng_range(rng, 1, 4);
        desc.stride[i] = sup_rng_range(rng, 1, 3);
        desc.dilation[i] = sup_rng_range(rng, 1, 2);
        pads[i] = sup_rng_range(rng, 0, 2);
        pads[i + desc.rank] = sup_rng_range(rng, 0, 2);
        desc.pad_lo[i] = pads[i];
        desc.pad_hi[i] = pads[i + desc.rank];
    }
    if (pick > 0)
        assert_int_equal(poolgrad_desc_set_padding(&desc, (poolgrad_padding)pick, NULL), 0);
    a.auto_pad = autos[pick];
    a.kernel_shape = (poolgrad_list){desc.kernel, (size_t)desc.rank};
    a.strides = (poolgrad_list){desc.stride, (size_t)desc.rank};
    a.dilations = (poolgrad_list){desc.dilation, (size_t)desc.rank};
    a.pads = (poolgrad_list){pads, 2 * (size_t)desc.rank};
    fixture_make(&f, &desc, SUP_UNIFORM, 3);
    run_into(&f, NULL, f.dx.first);
    guard_fixture(&g, &f, at_end);
    for (i = 0; i < desc.rank + 2; i++) {
        dx_sizes[i] = f.desc.dx.extent[i];
        dy_sizes[i] = f.desc.dy.extent[i];
    }
    dy = (poolgrad_tensor){dtype_number(desc.dtype), desc.rank + 2, dy_sizes, NULL,
                           (void *)(uintptr_t)g.buffers.dy};
    dx = (poolgrad_tensor){dtype_number(desc.dtype), desc.rank + 2, dx_sizes, NULL, g.buffers.dx};
    indices = (poolgrad_tensor){POOLGRAD_ONNXRUNTIME_INT64, desc.rank + 2, dy_sizes, NULL,
                                (void *)(uintptr_t)g.buffers.indices};
    if (average ? poolgrad_onnxruntime_average_pool_grad(&dy, &a, &dx, NULL, &error)
                : poolgrad_onnxruntime_max_pool_grad(&dy, &indices, &a, &dx, NULL, &error))
        fail_msg("%s: %s", f.text, error.message);
    assert_same_result(&f, f.dx.first, g.buffers.dx, "through the face");
    unguard_fixture(&g);
    fixture_free(&f);
}

static void same_bits_as_native(void **state)
{
    const int problems = scaled(400);
    sup_rng rng;
    int i;

    (void)state;
    sup_rng_seed(&rng, 11);
    for (i = 0; i < problems; i++)
        compare_with_native(&rng, i & 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_cases),
        cmocka_unit_test(the_unspoilt_call_is_right),
        cmocka_unit_test(missing_dx_shape),
        cmocka_unit_test(symbolic_dx_size),
        cmocka_unit_test(missing_tensors),
        cmocka_unit_test(missing_kernel_shape),
        cmocka_unit_test(auto_pad_and_ceil_are_not_ignored),
        cmocka_unit_test(wrong_dy_shape),
        cmocka_unit_test(bad_attribute_values),
        cmocka_unit_test(attributes_of_another_rank),
        cmocka_unit_test(unsupported_ranks_and_types),
        cmocka_unit_test(sizes_that_overflow),
        cmocka_unit_test(bad_indices),
        cmocka_unit_test(empty_tensors),
        cmocka_unit_test(same_bits_as_native),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
