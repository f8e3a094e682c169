/* SPDX-License-Identifier: MIT */
/* PyTorch's face: the recorded answers of PyTorch 2.15, its defaults, and the same bits as the
 * native call, between guard pages. */
#include "golden.h"
#include "guard.h"
#include "torch_call.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------- golden */

static const char file[] = "golden_torch.txt";

typedef struct tally {
    int ok, differs, errors;
} tally;

static void *zeroed(int64_t count, size_t size)
{
    void *memory = calloc((size_t)count + 1, size);

    assert_non_null(memory);
    return memory;
}

/* The attributes of the recorded call; the stride is left out where it is the kernel. */
static poolgrad_torch_attributes attributes_of(const golden *g)
{
    const poolgrad_desc *d = &g->desc;
    const size_t dims = (size_t)g->dims - 2;
    poolgrad_torch_attributes a;

    poolgrad_torch_attributes_init(&a);
    a.kernel_size = (poolgrad_list){d->kernel, dims};
    if (memcmp(d->kernel, d->stride, dims * sizeof *d->kernel) != 0)
        a.stride = (poolgrad_list){d->stride, dims};
    a.padding = (poolgrad_list){d->pad_lo, dims};
    if (!g->average)
        a.dilation = (poolgrad_list){d->dilation, dims};
    a.ceil_mode = d->rounding == POOLGRAD_CEIL;
    a.count_include_pad = d->divisor != POOLGRAD_EXCLUDE;
    if (d->divisor == POOLGRAD_OVERRIDE)
        a.divisor_override = &d->divisor_override;
    return a;
}

/* PyTorch lets the last NaN of a window win, the reference a NaN only if it is the first cell. The
 * gradient follows the indices it is given: PyTorch's give its answer, the reference's give that.
 */
static void check_reference_indices(golden *g, const poolgrad_tensor *grad_output,
                                    const poolgrad_tensor *self, const poolgrad_tensor *grad_input)
{
    const poolgrad_torch_attributes a = attributes_of(g);
    int64_t nan[] = {0, 1, 2, 4, 4}, two_nan[] = {0, 2};
    poolgrad_tensor indices = {POOLGRAD_TORCH_LONG, g->dims, g->dy, NULL, NULL};

    indices.data = strcmp(g->name, "max_nan") == 0 ? nan : two_nan;
    assert_int_equal(poolgrad_torch_max_pool_with_indices_backward(
                         g->dims - 2, grad_output, self, &indices, &a, grad_input, NULL, NULL),
                     POOLGRAD_TORCH_OK);
    golden_compare(g, file, grad_input->data, 1);
}

static void check_error(const golden *g, poolgrad_torch_code code, const poolgrad_error *error,
                        const void *dx)
{
    if (strcmp(g->name, "divisor_0") == 0) {
        assert_int_equal(code, POOLGRAD_TORCH_RUNTIME_ERROR);
        assert_non_null(strstr(error->message, "divisor must be not zero"));
        return;
    }
    /* No kernel there; here it is computed. One window of 8 cells reaches the corner. */
    assert_string_equal(g->name, "3d_f16");
    assert_int_equal(code, POOLGRAD_TORCH_OK);
    assert_true(fabs(sup_load(POOLGRAD_F16, dx, 0) - golden_value(POOLGRAD_F16, g->dyv[0]) / 8) <
                1e-3);
}

static void check_case(golden *g, void *context)
{
    tally *t = context;
    const int32_t dtype = torch_dtype(g->desc.dtype), dims = g->dims - 2;
    const size_t size = poolgrad_dtype_size(g->desc.dtype);
    const poolgrad_torch_attributes a = attributes_of(g);
    poolgrad_tensor grad_output = {dtype, g->dims, g->dy, NULL, zeroed(g->values, size)};
    poolgrad_tensor self = {dtype, g->dims, g->dx, NULL, NULL};
    poolgrad_tensor indices = {POOLGRAD_TORCH_LONG, g->dims, g->dy, NULL, g->idx};
    poolgrad_tensor grad_input = {dtype, g->dims, g->dx, NULL, NULL};
    const poolgrad_face_options parity = {.size = sizeof parity, .parity = 1};
    poolgrad_torch_code code;
    poolgrad_error error;
    int64_t count = 1;
    int i;

    for (i = 0; i < g->dims; i++)
        count *= g->dx[i];
    grad_input.data = zeroed(count, size);
    golden_put(g, g->dyv, g->values, grad_output.data);
    code = g->average ? poolgrad_torch_avg_pool_backward(dims, &grad_output, &self, &a, &grad_input,
                                                         NULL, &error)
                      : poolgrad_torch_max_pool_with_indices_backward(
                            dims, &grad_output, &self, &indices, &a, &grad_input, NULL, &error);
    if (g->error[0]) {
        check_error(g, code, &error, grad_input.data);
        t->errors++;
    } else {
        if (code)
            fail_msg("%s: %s", g->name, error.message);
        assert_int_equal(error.status, POOLGRAD_OK);
        assert_int_equal(count, g->results);
        golden_compare(g, file, grad_input.data, 0);
        assert_int_equal(
            g->average ? poolgrad_torch_avg_pool_backward(dims, &grad_output, &self, &a,
                                                          &grad_input, &parity, NULL)
                       : poolgrad_torch_max_pool_with_indices_backward(
                             dims, &grad_output, &self, &indices, &a, &grad_input, &parity, NULL),
            POOLGRAD_TORCH_OK);
        golden_compare_bits(g, file, grad_input.data);
        if (g->differs)
            check_reference_indices(g, &grad_output, &self, &grad_input);
        g->differs ? t->differs++ : t->ok++;
    }
    free(grad_output.data);
    free(grad_input.data);
}

static void golden_cases(void **state)
{
    tally t = {0, 0, 0};

    (void)state;
    assert_int_equal(golden_each(file, check_case, &t), 39);
    assert_int_equal(t.ok, 35);
    assert_int_equal(t.differs, 2); /* max_nan, max_two_nan */
    assert_int_equal(t.errors, 2);  /* divisor_0, 3d_f16 */
}

/* ------------------------------------------------------------------ defaults */

static void unspoilt_calls_are_right(void **state)
{
    torch_call c;
    int32_t dims;
    int op, i;

    (void)state;
    for (op = 0; op < TORCH_OPS; op++) {
        for (dims = 1; dims <= 3; dims++) {
            const int average = op == TORCH_AVG || op == TORCH_ADAPTIVE_AVG;
            const int plane = dims == 1 ? 4 : dims == 2 ? 16 : 64, windows = 1 << dims;

            torch_make(&c, (torch_op)op, dims);
            torch_accepts(&c);
            for (i = 0; i < 4 * windows; i++)
                assert_true(c.dx[i / windows * plane + (int)c.idx[i]] ==
                            (average ? c.dy[i] / (float)windows : c.dy[i]));
            assert_true(c.dx[plane - 1] == (average ? c.dy[windows - 1] / (float)windows : 0));
            assert_int_equal(torch_run(&c, NULL, NULL), POOLGRAD_TORCH_OK);
        }
    }
}

/* One value for all axes; stride left out or empty: the kernel; padding and dilation left out. */
static void lists_and_defaults(void **state)
{
    torch_call c, expected;
    int op;

    (void)state;
    for (op = TORCH_AVG; op <= TORCH_MAX; op++) {
        torch_make(&expected, (torch_op)op, 3);
        torch_accepts(&expected);
        torch_make(&c, (torch_op)op, 3);
        c.attributes.kernel_size.count = c.attributes.stride.count = 1;
        c.attributes.padding.count = 1;
        c.kernel[1] = c.stride[1] = c.padding[1] = -9; /* behind the lists: not read */
        torch_accepts(&c);
        assert_memory_equal(c.dx, expected.dx, sizeof c.dx);
        torch_make(&c, (torch_op)op, 3);
        c.attributes.stride.count = 0;
        torch_accepts(&c);
        assert_memory_equal(c.dx, expected.dx, sizeof c.dx);
        torch_make(&c, (torch_op)op, 3);
        c.attributes.stride = c.attributes.padding = (poolgrad_list){NULL, 0};
        c.attributes.dilation = (poolgrad_list){NULL, 0};
        torch_accepts(&c);
        assert_memory_equal(c.dx, expected.dx, sizeof c.dx);
    }
}

/* in 4, kernel 3, padding 1, dy 1 2 3 4, and with stride 2 and ceil_mode 1 2 3. */
static void divisors(void **state)
{
    static const struct {
        int include, ceil, override;
        double dx[4];
    } rows[] = {
        {1, 0, 0, {1, 2, 3, 2.33333}},
        {0, 0, 0, {1.16667, 2.16667, 3.66667, 3}},
        {1, 0, 10, {.3, .6, .9, .7}},
        {0, 0, -2, {-1.5, -3, -4.5, -3.5}},
        {1, 1, 0, {.33333, 1, .66667, 2.16667}},
        {0, 1, 0, {.5, 1.16667, .66667, 3.66667}},
    };
    static const int64_t in[] = {1, 4};
    int64_t out[] = {1, 4};
    torch_call c;
    size_t i;
    int k;

    (void)state;
    poolgrad_torch_attributes_init(&c.attributes);
    assert_int_equal(c.attributes.count_include_pad, 1);
    assert_int_equal(c.attributes.ceil_mode, 0);
    assert_null(c.attributes.divisor_override);
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        torch_make(&c, TORCH_AVG, 1);
        c.kernel[0] = 3;
        c.stride[0] = rows[i].ceil ? 2 : 1;
        c.padding[0] = 1;
        c.divisor = rows[i].override;
        c.attributes.count_include_pad = rows[i].include;
        c.attributes.ceil_mode = rows[i].ceil;
        if (c.divisor)
            c.attributes.divisor_override = &c.divisor;
        out[1] = rows[i].ceil ? 3 : 4;
        torch_sizes(&c, 2, in, out); /* no batch */
        torch_accepts(&c);
        for (k = 0; k < 4; k++)
            assert_true(fabs((double)c.dx[k] - rows[i].dx[k]) < 1e-5);
        assert_true(c.dx[4] == -77);
    }
}

/* Overlapping windows: in 5, out 3 gives [0,2), [1,4), [3,5). */
static void adaptive_windows(void **state)
{
    static const int64_t in[] = {1, 1, 5}, out[] = {1, 1, 3};
    static const double expected[] = {.5, .5 + 2 / 3., 2 / 3., 2 / 3. + 1.5, 1.5};
    torch_call c;
    int i;

    (void)state;
    torch_make(&c, TORCH_ADAPTIVE_AVG, 1);
    torch_sizes(&c, 3, in, out);
    torch_accepts(&c);
    for (i = 0; i < 5; i++)
        assert_true(fabs((double)c.dx[i] - expected[i]) < 1e-6);
    torch_make(&c, TORCH_ADAPTIVE_MAX, 1);
    torch_sizes(&c, 3, in, out);
    c.idx[0] = 1;
    c.idx[1] = 1;
    c.idx[2] = 3;
    torch_accepts(&c);
    assert_true(c.dx[0] == 0 && c.dx[1] == 3 && c.dx[2] == 0 && c.dx[3] == 3 && c.dx[4] == 0);
    c.idx[2] = 2;
    assert_int_equal(torch_run(&c, NULL, NULL), POOLGRAD_TORCH_INDEX_ERROR);
}

/* ------------------------------------------------------ the same as natively */

/* A random problem that PyTorch's operators can pose; *a says it in its terms. */
static torch_op random_problem(sup_rng *rng, poolgrad_desc *desc, int64_t *divisor,
                               poolgrad_torch_attributes *a)
{
    const torch_op op = (torch_op)sup_rng_range(rng, 0, TORCH_OPS - 1);
    const int adaptive = op == TORCH_ADAPTIVE_AVG || op == TORCH_ADAPTIVE_MAX;
    const int average = op == TORCH_AVG || op == TORCH_ADAPTIVE_AVG;
    const poolgrad_layout layouts[] = {POOLGRAD_NCX, POOLGRAD_NXC};
    int i;

    poolgrad_desc_init(desc);
    desc->op = average ? POOLGRAD_AVG_GRAD : POOLGRAD_MAX_GRAD;
    desc->index_base = POOLGRAD_INDEX_PLANE;
    desc->dtype = (poolgrad_dtype)sup_rng_range(rng, 1, 4);
    desc->rank = (int32_t)sup_rng_range(rng, 1, 3);
    desc->batch = sup_rng_range(rng, 0, 3);
    desc->channels = sup_rng_range(rng, 1, 5);
    desc->dy.layout = layouts[sup_rng_range(rng, 0, 1)];
    desc->dx.layout = layouts[sup_rng_range(rng, 0, 1)];
    desc->indices.layout = layouts[sup_rng_range(rng, 0, 1)];
    poolgrad_torch_attributes_init(a);
    if (adaptive) {
        desc->rounding = POOLGRAD_ADAPTIVE;
        desc->divisor = POOLGRAD_EXCLUDE;
        for (i = 0; i < desc->rank; i++) {
            desc->in[i] = sup_rng_range(rng, 1, 9);
            desc->out[i] = sup_rng_range(rng, 1, 9);
        }
        return op;
    }
    a->ceil_mode = (int32_t)sup_rng_range(rng, 0, 1);
    a->count_include_pad = (int32_t)sup_rng_range(rng, 0, 1);
    *divisor = sup_rng_range(rng, -3, 3);
    if (average && *divisor && sup_rng_chance(rng, 30))
        a->divisor_override = divisor;
    desc->rounding = a->ceil_mode ? POOLGRAD_CEIL : POOLGRAD_FLOOR;
    desc->divisor = a->divisor_override    ? POOLGRAD_OVERRIDE
                    : a->count_include_pad ? POOLGRAD_INCLUDE_CLIPPED
                                           : POOLGRAD_EXCLUDE;
    desc->divisor_override = a->divisor_override ? *divisor : 0;
    for (i = 0; i < desc->rank; i++) {
        const int64_t kernel = sup_rng_range(rng, 1, 4), step = sup_rng_range(rng, 1, 2);
        const int64_t dilation = average ? 1 : step, span = (kernel - 1) * dilation + 1;

        desc->kernel[i] = kernel;
        desc->dilation[i] = dilation;
        desc->in[i] = span + sup_rng_range(rng, 0, 6);
        desc->stride[i] = sup_rng_range(rng, 1, 4);
        desc->pad_lo[i] = desc->pad_hi[i] = sup_rng_range(rng, 0, span / 2);
    }
    a->kernel_size = (poolgrad_list){desc->kernel, (size_t)desc->rank};
    a->stride = (poolgrad_list){desc->stride, (size_t)desc->rank};
    a->padding = (poolgrad_list){desc->pad_lo, (size_t)desc->rank};
    if (!average)
        a->dilation = (poolgrad_list){desc->dilation, (size_t)desc->rank};
    return op;
}

/* A view as a tensor, now and then without the batch axis; strides only if they are needed. */
static poolgrad_tensor tensor_of(const poolgrad_view *view, int32_t rank, int32_t dtype,
                                 int skip_batch, const void *data)
{
    return (poolgrad_tensor){dtype, rank + 2 - skip_batch, view->extent + skip_batch,
                             view->layout == POOLGRAD_NCX ? NULL : view->stride + skip_batch,
                             (void *)(uintptr_t)data};
}

static void compare_with_native(sup_rng *rng, int at_end, int *seen)
{
    torch_call c;
    poolgrad_desc desc;
    poolgrad_view indices;
    guarded_fixture g;
    poolgrad_error error;
    fixture f;
    int skip_batch;
    int32_t dtype;

    memset(&c, 0, sizeof c);
    c.op = random_problem(rng, &desc, &c.divisor, &c.attributes);
    c.dims = desc.rank;
    dtype = torch_dtype(desc.dtype);
    skip_batch = desc.batch == 1;
    fixture_make(&f, &desc, SUP_UNIFORM, 3);
    run_into(&f, NULL, f.dx.first);
    guard_fixture(&g, &f, at_end);
    indices = sup_index_view(&f.desc);
    c.grad_output = tensor_of(&f.desc.dy, desc.rank, dtype, skip_batch, g.buffers.dy);
    c.grad_input = tensor_of(&f.desc.dx, desc.rank, dtype, skip_batch, g.buffers.dx);
    c.indices = tensor_of(&indices, desc.rank, POOLGRAD_TORCH_LONG, skip_batch, g.buffers.indices);
    c.self = c.grad_input;
    c.self.data = NULL;
    c.self.strides = NULL;
    if (torch_run(&c, NULL, &error))
        fail_msg("%s: %s", f.text, error.message);
    assert_same_result(&f, f.dx.first, g.buffers.dx, "through the face");
    seen[(int)c.op * 3 + c.dims - 1]++;
    unguard_fixture(&g);
    fixture_free(&f);
}

static void same_bits_as_native(void **state)
{
    const int problems = scaled(400);
    int seen[TORCH_OPS * 3] = {0};
    sup_rng rng;
    int i;

    (void)state;
    sup_rng_seed(&rng, 12);
    for (i = 0; i < problems; i++)
        compare_with_native(&rng, i & 1, seen);
    for (i = 0; i < TORCH_OPS * 3 && problems >= 400; i++)
        assert_true(seen[i] > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_cases),       cmocka_unit_test(unspoilt_calls_are_right),
        cmocka_unit_test(lists_and_defaults), cmocka_unit_test(divisors),
        cmocka_unit_test(adaptive_windows),   cmocka_unit_test(same_bits_as_native),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
