/* SPDX-License-Identifier: MIT */
/*
 * DirectML's pooling gradients through the face: the documentation's examples, random calls against
 * the native interface, memory, options. What is refused is in test_face_directml_bad.c.
 */
#include "allocator.h"
#include "directml_call.h"
#include "golden.h"
#include "guard.h"

#include <math.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------- golden */

static void golden_case(golden *g, void *context)
{
    alignas(16) char x[4096], dy[4096], dx[4096];
    poolgrad_directml_binding inputs[] = {{x, 0, sizeof x}, {dy, 0, sizeof dy}};
    poolgrad_directml_binding output = {dx, 0, sizeof dx};
    poolgrad_directml_operator *made;
    int i, *seen = context;
    dml_call call;

    assert_string_equal(g->error, "");
    assert_true(g->has_out && !g->differs && !g->channels_last && g->results * 4 <= 4096);
    assert_string_equal(g->api, g->average ? "DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC"
                                           : "DML_MAX_POOLING_GRAD_OPERATOR_DESC");
    dml_begin(&call, g->average, g->dims - 2, DML_TENSOR_DATA_TYPE_FLOAT32);
    assert_int_equal(g->desc.dtype, POOLGRAD_F32);
    for (i = 0; i < g->dims; i++) {
        call.dy.sizes[i] = (UINT)g->dy[i];
        call.x.sizes[i] = call.dx.sizes[i] = (UINT)g->dx[i];
    }
    for (i = 0; i < g->dims - 2; i++) {
        call.strides[i] = (UINT)g->desc.stride[i];
        call.window_size[i] = (UINT)g->desc.kernel[i];
        call.start_padding[i] = (UINT)g->desc.pad_lo[i];
        call.end_padding[i] = (UINT)g->desc.pad_hi[i];
        call.dilations[i] = (UINT)g->desc.dilation[i];
    }
    call.average.IncludePadding = g->desc.divisor == POOLGRAD_INCLUDE;
    dml_totals(&call);
    golden_put(g, g->dyv, g->values, dy);
    golden_put(g, g->xv, g->inputs, x);
    made = dml_create(&call, NULL);
    assert_int_equal(poolgrad_directml_execute(made, inputs + g->average, g->average ? 1 : 2,
                                               &output, 1, NULL, NULL),
                     S_OK);
    poolgrad_directml_release(made);
    golden_compare(g, "golden_directml_doc.txt", dx, 0);
    seen[g->average]++;
}

static void golden_answers(void **state)
{
    int seen[2] = {0, 0};

    (void)state;
    assert_int_equal(golden_each("golden_directml_doc.txt", golden_case, seen), 2);
    assert_int_equal(seen[0], 1);
    assert_int_equal(seen[1], 1);
}

/* -------------------------------------------------------------------- sweep */

typedef struct sweep_tensor {
    int64_t sizes[5];
    int64_t stride[5];
    char *memory; /* of `bytes` bytes behind `offset` others */
    size_t offset, bytes;
} sweep_tensor;

/* How a tensor lies in memory: packed without and with strides, permuted, padded, broadcast. */
static void random_layout(sup_rng *rng, dml_tensor *tensor, sweep_tensor *s, int written)
{
    const int dims = (int)tensor->buffer.DimensionCount;
    int axes[5] = {0, 1, 2, 3, 4}, i;
    const int strided = sup_rng_chance(rng, 60);
    int64_t stride = 1;

    for (i = dims - 1; i > 0 && strided; i--) {
        const int k = (int)sup_rng_range(rng, 0, i), swap = axes[i];

        axes[i] = axes[k];
        axes[k] = swap;
    }
    for (i = dims - 1; i >= 0; i--) {
        const int axis = axes[i];

        if (strided && sup_rng_chance(rng, 20))
            stride += sup_rng_range(rng, 1, 3);
        s->stride[axis] = stride;
        stride *= s->sizes[axis];
        if (strided && sup_rng_chance(rng, 10) && (!written || s->sizes[axis] == 1)) {
            stride /= s->sizes[axis];
            s->stride[axis] = 0;
        }
    }
    tensor->buffer.Strides = strided ? tensor->strides : NULL;
    for (i = 0; i < dims; i++) {
        tensor->sizes[i] = (UINT)s->sizes[i];
        tensor->strides[i] = (UINT)s->stride[i];
    }
    tensor->buffer.TotalTensorSizeInBytes =
        dml_bytes(&tensor->buffer) + (UINT64)(sup_rng_chance(rng, 30) ? 20 : 0);
    tensor->buffer.GuaranteedBaseOffsetAlignment = sup_rng_chance(rng, 30) ? 32 : 0;
    s->bytes = (size_t)tensor->buffer.TotalTensorSizeInBytes;
    s->offset = (size_t)sup_rng_range(rng, 0, 3) * 32;
    s->memory = aligned_alloc(64, (s->offset + s->bytes + 63) / 64 * 64);
    assert_non_null(s->memory);
    memset(s->memory, 0x5a, s->offset + s->bytes);
}

/* The descriptor that the call should stand for, and the call. */
static void random_call(sup_rng *rng, dml_call *call, poolgrad_desc *desc, sweep_tensor *dy,
                        sweep_tensor *dx)
{
    const int average = sup_rng_chance(rng, 60);
    const int spatial = average ? (int)sup_rng_range(rng, 2, 3) : 2;
    const int half = sup_rng_chance(rng, 40);
    int i;

    dml_begin(call, average, spatial,
              half ? DML_TENSOR_DATA_TYPE_FLOAT16 : DML_TENSOR_DATA_TYPE_FLOAT32);
    poolgrad_desc_init(desc);
    desc->op = average ? POOLGRAD_AVG_GRAD : POOLGRAD_MAX_GRAD;
    desc->dtype = half ? POOLGRAD_F16 : POOLGRAD_F32;
    desc->rank = spatial;
    desc->divisor = POOLGRAD_EXCLUDE;
    if (sup_rng_chance(rng, 50)) {
        desc->divisor = POOLGRAD_INCLUDE;
        call->average.IncludePadding = (BOOL)sup_rng_range(rng, 1, 3) - 4; /* anything but 0 */
    }
    desc->winner = POOLGRAD_FROM_X;
    desc->nan = POOLGRAD_NAN_FIRST;
    desc->batch = dx->sizes[0] = dy->sizes[0] = sup_rng_range(rng, 1, 3);
    desc->channels = dx->sizes[1] = dy->sizes[1] = sup_rng_range(rng, 1, 5);
    for (i = 0; i < spatial; i++) {
        const int64_t in = sup_rng_range(rng, 1, 9), k = sup_rng_range(rng, 1, 5);
        const int64_t d = average ? 1 : sup_rng_range(rng, 1, 3), s = sup_rng_range(rng, 1, 4);
        const int64_t lo = sup_rng_range(rng, 0, k + 1), span = (k - 1) * d + 1;
        int64_t hi = sup_rng_range(rng, 0, k);

        if (in + lo + hi < span)
            hi = span - in - lo;
        desc->in[i] = dx->sizes[2 + i] = in;
        dy->sizes[2 + i] = (in + lo + hi - span) / s + 1;
        desc->kernel[i] = k, call->window_size[i] = (UINT)k;
        desc->dilation[i] = d, call->dilations[i] = (UINT)d;
        desc->stride[i] = s, call->strides[i] = (UINT)s;
        desc->pad_lo[i] = lo, call->start_padding[i] = (UINT)lo;
        desc->pad_hi[i] = hi, call->end_padding[i] = (UINT)hi;
    }
}

static void set_view(poolgrad_view *view, const sweep_tensor *s)
{
    view->layout = POOLGRAD_STRIDED;
    memcpy(view->stride, s->stride, sizeof s->stride);
}

static poolgrad_directml_binding binding_of(const sweep_tensor *s)
{
    return (poolgrad_directml_binding){s->memory, s->offset, s->bytes};
}

static void one_random_call(sup_rng *rng)
{
    sweep_tensor x = {0}, dy = {0}, dx = {0};
    poolgrad_directml_binding inputs[2], output;
    poolgrad_directml_operator *made;
    poolgrad_buffers buffers;
    poolgrad_plan *plan;
    poolgrad_desc desc;
    poolgrad_error error;
    dml_call call;
    char *expected;
    int average;

    random_call(rng, &call, &desc, &dy, &dx);
    memcpy(x.sizes, dx.sizes, sizeof x.sizes);
    random_layout(rng, &call.x, &x, 0);
    random_layout(rng, &call.dy, &dy, 0);
    random_layout(rng, &call.dx, &dx, 1);
    set_view(&desc.x, &x);
    set_view(&desc.dy, &dy);
    set_view(&desc.dx, &dx);
    average = desc.op == POOLGRAD_AVG_GRAD;

    if (poolgrad_plan_create(&plan, &desc, NULL, &error))
        fail_msg("native: %s", error.message);
    sup_view_fill(poolgrad_plan_desc(plan), &poolgrad_plan_desc(plan)->dy, dy.memory + dy.offset,
                  SUP_SPECIALS, rng);
    if (!average)
        sup_view_fill(poolgrad_plan_desc(plan), &poolgrad_plan_desc(plan)->x, x.memory + x.offset,
                      SUP_TIES, rng);
    expected = malloc(dx.offset + dx.bytes);
    assert_non_null(expected);
    memcpy(expected, dx.memory, dx.offset + dx.bytes);
    poolgrad_buffers_init(&buffers);
    buffers.x = x.memory + x.offset;
    buffers.dy = dy.memory + dy.offset;
    buffers.dx = expected + dx.offset;
    assert_int_equal(poolgrad_execute(plan, &buffers, NULL), POOLGRAD_OK);
    poolgrad_plan_destroy(plan);

    made = dml_create(&call, NULL);
    inputs[0] = binding_of(&x);
    inputs[1] = binding_of(&dy);
    output = binding_of(&dx);
    if (FAILED(poolgrad_directml_execute(made, inputs + average, average ? 1 : 2, &output, 1, NULL,
                                         &error)))
        fail_msg("%s", error.message);
    assert_int_equal(error.status, POOLGRAD_OK);
    poolgrad_directml_release(made);
    /* bytes between and behind the elements too */
    assert_memory_equal(dx.memory, expected, dx.offset + dx.bytes);
    free(expected);
    free(x.memory);
    free(dy.memory);
    free(dx.memory);
}

static void random_calls(void **state)
{
    const int calls = scaled(400);
    sup_rng rng;
    int i;

    (void)state;
    sup_rng_seed(&rng, 130131);
    for (i = 0; i < calls; i++)
        one_random_call(&rng);
}

/* -------------------------------------------------------------------- memory */

/* Every range between pages without access, flush with both at their turn: 16 and 64 bytes. */
static void guard_pages(void **state)
{
    static const float expected[][16] = {{0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 4, 0, 5},
                                         {0.25f, 0.25f, 0.5f, 0.5f, 0.25f, 0.25f, 0.5f, 0.5f, 1, 1,
                                          1.25f, 1.25f, 1, 1, 1.25f, 1.25f}};
    int average, at_end, i;

    (void)state;
    for (average = 0; average < 2; average++) {
        for (at_end = 0; at_end < 2; at_end++) {
            guarded x = guard(64, at_end), dy = guard(16, at_end), dx = guard(64, at_end);
            poolgrad_directml_binding inputs[] = {{x.memory, 0, 64}, {dy.memory, 0, 16}};
            poolgrad_directml_binding output = {dx.memory, 0, 64}, temporary = {0};
            poolgrad_directml_binding_properties properties;
            poolgrad_directml_operator *made;
            guarded workspace;
            dml_call call;

            dml_example(&call, average);
            for (i = 0; i < 2; i++) {
                call.x.sizes[2 + i] = call.dx.sizes[2 + i] = 4;
                call.strides[i] = 2;
            }
            dml_totals(&call);
            made = dml_create(&call, NULL);
            assert_int_equal(poolgrad_directml_get_binding_properties(made, &properties), S_OK);
            workspace = guard((size_t)properties.TemporaryResourceSize + 1, at_end);
            temporary.Buffer = workspace.memory;
            temporary.Offset = (UINT64)at_end;
            temporary.SizeInBytes = properties.TemporaryResourceSize;
            for (i = 0; i < 16; i++)
                ((float *)x.memory)[i] = (float)i;
            memcpy(dy.memory, dml_max_dy, sizeof dml_max_dy);
            memset(dx.memory, 0x5a, 64);
            assert_int_equal(poolgrad_directml_execute(made, inputs + average, average ? 1 : 2,
                                                       &output, 1, &temporary, NULL),
                             S_OK);
            assert_memory_equal(dx.memory, expected[average], 64);
            poolgrad_directml_release(made);
            unguard(&x);
            unguard(&dy);
            unguard(&dx);
            unguard(&workspace);
        }
    }
}

/* Sizes, strides and windows flush with the end of a page: no list is read past its count. */
static void guarded_lists(void **state)
{
    guarded lists[6];
    dml_call call;
    int i;

    (void)state;
    dml_example(&call, 0);
    for (i = 0; i < 6; i++)
        lists[i] = guard((i < 1 ? 4 : 2) * sizeof(UINT), 1);
    memcpy(lists[0].memory, call.dx.sizes, 4 * sizeof(UINT));
    memcpy(lists[1].memory, call.strides, 2 * sizeof(UINT));
    memcpy(lists[2].memory, call.window_size, 2 * sizeof(UINT));
    memcpy(lists[3].memory, call.start_padding, 2 * sizeof(UINT));
    memcpy(lists[4].memory, call.end_padding, 2 * sizeof(UINT));
    memcpy(lists[5].memory, call.dilations, 2 * sizeof(UINT));
    call.dx.buffer.Sizes = (const UINT *)lists[0].memory;
    call.max.Strides = (const UINT *)lists[1].memory;
    call.max.WindowSize = (const UINT *)lists[2].memory;
    call.max.StartPadding = (const UINT *)lists[3].memory;
    call.max.EndPadding = (const UINT *)lists[4].memory;
    call.max.Dilations = (const UINT *)lists[5].memory;
    poolgrad_directml_release(dml_create(&call, NULL));
    for (i = 0; i < 6; i++)
        unguard(&lists[i]);
}

/* Create, execute, release; what the first failing step said. */
static HRESULT attempt(const dml_call *call, const poolgrad_face_options *options, float *dx,
                       poolgrad_error *error)
{
    alignas(16) float x[9], dy[4];
    const poolgrad_directml_binding inputs[] = {{x, 0, sizeof x}, {dy, 0, sizeof dy}};
    const poolgrad_directml_binding output = {dx, 0, 36};
    poolgrad_directml_operator *made;
    HRESULT code;

    memcpy(x, dml_x, sizeof x);
    memcpy(dy, dml_max_dy, sizeof dy);
    code = poolgrad_directml_create_operator(&call->desc, options, &made, error);
    if (FAILED(code)) {
        assert_null(made);
        return code;
    }
    code = poolgrad_directml_execute(made, inputs, 2, &output, 1, NULL, error);
    poolgrad_directml_release(made);
    return code;
}

static void allocation_failure(void **state)
{
    alignas(16) float dx[9], before[9];
    poolgrad_face_options options;
    poolgrad_options compute;
    poolgrad_error error;
    allocator a;
    dml_call call;
    int sites, i;

    (void)state;
    dml_example(&call, 0);
    compute = counted_options(&a, NULL);
    poolgrad_face_options_init(&options);
    options.compute = &compute;
    assert_int_equal(attempt(&call, &options, dx, &error), S_OK);
    assert_memory_equal(dx, dml_max_dx, sizeof dx);
    assert_int_equal(a.live, 0);
    sites = a.calls;
    assert_true(sites >= 3); /* plan, operator, workspace */
    memset(dx, 0x5a, sizeof dx);
    memset(before, 0x5a, sizeof before);
    for (i = 1; i <= sites; i++) {
        a = (allocator){.fail_at = i};
        assert_int_equal(attempt(&call, &options, dx, &error), E_OUTOFMEMORY);
        assert_int_equal(error.status, POOLGRAD_ERR_MEMORY);
        assert_non_null(strstr(error.message, "the allocator gave no "));
        assert_int_equal(a.live, 0);
        assert_memory_equal(dx, before, sizeof dx);
    }
}

/* ------------------------------------------------------------------- options */

static void plan_only(void **state)
{
    poolgrad_directml_operator *made = (poolgrad_directml_operator *)&made;
    poolgrad_face_options options;
    const poolgrad_desc *desc;
    poolgrad_error error;
    poolgrad_plan *plan;
    dml_call call;
    char text[256];

    (void)state;
    dml_example(&call, 1);
    call.average.IncludePadding = 1;
    poolgrad_face_options_init(&options);
    options.plan = &plan;
    assert_int_equal(poolgrad_directml_create_operator(&call.desc, &options, &made, &error), S_OK);
    assert_int_equal(error.status, POOLGRAD_OK);
    assert_null(made);
    desc = poolgrad_plan_desc(plan);
    assert_int_equal(desc->op, POOLGRAD_AVG_GRAD);
    assert_int_equal(desc->divisor, POOLGRAD_INCLUDE);
    assert_int_equal(poolgrad_desc_print(desc, text, sizeof text, NULL, NULL), POOLGRAD_OK);
    assert_non_null(strstr(text, "avg2d:f32:nchw:1x1x3x3:"));
    poolgrad_plan_destroy(plan);
    dml_example(&call, 0);
    /* no operator is made, so none need be asked for */
    assert_int_equal(poolgrad_directml_create_operator(&call.desc, &options, NULL, NULL), S_OK);
    desc = poolgrad_plan_desc(plan);
    assert_int_equal(desc->op, POOLGRAD_MAX_GRAD);
    assert_int_equal(desc->winner, POOLGRAD_FROM_X);
    assert_int_equal(desc->nan, POOLGRAD_NAN_FIRST);
    poolgrad_plan_destroy(plan);
    call.strides[0] = 0;
    plan = (poolgrad_plan *)&plan;
    assert_int_equal(poolgrad_directml_create_operator(&call.desc, &options, NULL, NULL),
                     E_INVALIDARG);
    assert_null(plan);
}

/* The description is not needed once the operator is made, and an operator can be used again. */
static void operators_stand_alone(void **state)
{
    alignas(16) float x[9], dy[4], dx[9];
    const poolgrad_directml_binding inputs[] = {{x, 0, sizeof x}, {dy, 0, sizeof dy}};
    const poolgrad_directml_binding output = {dx, 0, sizeof dx}, none = {NULL, 0, 0};
    poolgrad_directml_binding_properties properties;
    poolgrad_directml_operator *made;
    dml_call *call = malloc(sizeof *call);
    int i;

    (void)state;
    assert_non_null(call);
    dml_example(call, 0);
    call->dx.buffer.TotalTensorSizeInBytes = 36;
    call->x.buffer.TotalTensorSizeInBytes = 36;
    made = dml_create(call, NULL);
    memset(call, 0xff, sizeof *call);
    free(call);
    memcpy(x, dml_x, sizeof x);
    memcpy(dy, dml_max_dy, sizeof dy);
    for (i = 0; i < 3; i++) {
        memset(dx, 0xff, sizeof dx);
        assert_int_equal(
            poolgrad_directml_execute(made, inputs, 2, &output, 1, i ? &none : NULL, NULL), S_OK);
        assert_memory_equal(dx, dml_max_dx, sizeof dx);
    }
    assert_int_equal(poolgrad_directml_get_binding_properties(made, &properties), S_OK);
    assert_int_equal(properties.InputCount, 2);
    assert_int_equal(properties.OutputCount, 1);
    assert_int_equal(properties.InputSizes[0], 36);
    assert_int_equal(properties.InputSizes[1], 16);
    assert_int_equal(properties.OutputSizes[0], 36);
    assert_int_equal(properties.PersistentResourceSize, 0);
    poolgrad_directml_release(made);
    poolgrad_directml_release(NULL);
}

/* Worked by hand, windows 0,1  1,2  2,3: the first NaN wins, -inf and signed zeros are ties, of
 * which the lowest index wins. */
static void contested_maxima(void **state)
{
    static const UINT sizes[] = {1, 1, 1, 4}, windows[] = {1, 1, 1, 3};
    static const float expected[][4] = {{0, 3, 4, 0}, {1, 2, 4, 0}, {1, 2, 4, 0}};
    alignas(16) float x[][4] = {{1, (float)NAN, (float)NAN, (float)NAN},
                                {-INFINITY, -INFINITY, -INFINITY, -INFINITY},
                                {-0.f, 0, -0.f, 0}};
    alignas(16) float dy[] = {1, 2, 4}, dx[4];
    dml_call call;
    int i;

    (void)state;
    dml_begin(&call, 0, 2, DML_TENSOR_DATA_TYPE_FLOAT32);
    memcpy(call.x.sizes, sizes, sizeof sizes);
    memcpy(call.dx.sizes, sizes, sizeof sizes);
    memcpy(call.dy.sizes, windows, sizeof windows);
    call.window_size[1] = 2;
    dml_totals(&call);
    for (i = 0; i < 3; i++) {
        const poolgrad_directml_binding inputs[] = {{x[i], 0, 16}, {dy, 0, 12}};
        const poolgrad_directml_binding output = {dx, 0, 16};
        poolgrad_directml_operator *made = dml_create(&call, NULL);

        assert_int_equal(poolgrad_directml_execute(made, inputs, 2, &output, 1, NULL, NULL), S_OK);
        poolgrad_directml_release(made);
        assert_memory_equal(dx, expected[i], sizeof dx);
    }
}

/* Worked by hand: rows of 2 with a padding of 1 on both sides and windows of 2, dy 1 2 4. The
 * divisors are 2, or what lies inside: 1, 2, 1. With a padding of 2 windows that lie in it add
 * nothing. */
static void padding(void **state)
{
    static const UINT sizes[] = {1, 1, 1, 2};
    static const float expected[][2] = {{2, 5}, {1.5f, 3}};
    alignas(16) float dy[] = {1, 2, 4}, wide[] = {INFINITY, 1, 2, 4, NAN}, dx[2];
    const poolgrad_directml_binding output = {dx, 0, 8};
    dml_call call;
    int include, more;

    (void)state;
    for (include = 0; include < 2; include++) {
        for (more = 0; more < 2; more++) {
            const poolgrad_directml_binding input = {more ? wide : dy, 0, more ? 20 : 12};
            poolgrad_directml_operator *made;

            dml_begin(&call, 1, 2, DML_TENSOR_DATA_TYPE_FLOAT32);
            memcpy(call.dx.sizes, sizes, sizeof sizes);
            memcpy(call.dy.sizes, sizes, sizeof sizes);
            call.dy.sizes[3] = more ? 5 : 3;
            call.start_padding[1] = call.end_padding[1] = more ? 2 : 1;
            call.window_size[1] = 2;
            call.average.IncludePadding = include;
            dml_totals(&call);
            made = dml_create(&call, NULL);
            assert_int_equal(poolgrad_directml_execute(made, &input, 1, &output, 1, NULL, NULL),
                             S_OK);
            poolgrad_directml_release(made);
            assert_memory_equal(dx, expected[include], sizeof dx);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_answers),
        cmocka_unit_test(random_calls),
        cmocka_unit_test(guard_pages),
        cmocka_unit_test(guarded_lists),
        cmocka_unit_test(allocation_failure),
        cmocka_unit_test(plan_only),
        cmocka_unit_test(operators_stand_alone),
        cmocka_unit_test(contested_maxima),
        cmocka_unit_test(padding),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
