/* SPDX-License-Identifier: MIT */
/* oneDNN's face: every golden case of both versions, what its documents promise, and random calls
 * against the native interface. */
#include "face_onednn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"

/* -------------------------------------------------------------------- golden */

typedef struct tally {
    const char *file;
    int compared, refused, repaired; /* with out, like oneDNN, where oneDNN could not */
    int bits;                        /* compared bit for bit, in parity */
} tally;

static int32_t number_of(poolgrad_dtype dtype)
{
    return dtype == POOLGRAD_F32   ? POOLGRAD_ONEDNN_F32
           : dtype == POOLGRAD_F16 ? POOLGRAD_ONEDNN_F16
                                   : POOLGRAD_ONEDNN_BF16;
}

/* The case in the face's terms. The pads of the file are what oneDNN made of auto_pad, so with
 * auto_pad the call gets others, which must not matter. */
static void from_golden(const golden *g, onednn_call *c)
{
    const int resolved = strcmp(g->auto_pad, "NONE") != 0;
    int i;

    onednn_start(c, g->average, g->desc.rank);
    memcpy(c->src_sizes, g->dx, sizeof c->src_sizes);
    memcpy(c->dst_sizes, g->dy, sizeof c->dst_sizes);
    for (i = 0; i < g->desc.rank; i++) {
        c->strides[i] = g->desc.stride[i];
        c->kernel[i] = g->desc.kernel[i];
        c->dilations[i] = g->desc.dilation[i];
        c->pads_begin[i] = resolved ? 9 : g->desc.pad_lo[i];
        c->pads_end[i] = resolved ? 9 : g->desc.pad_hi[i];
    }
    c->exclude_pad = g->desc.divisor == POOLGRAD_EXCLUDE;
    c->attributes.auto_pad = g->auto_pad;
    c->attributes.data_format = g->channels_last ? "NXC" : "NCX";
    if (!g->average)
        c->attributes.dilations = (poolgrad_list){c->dilations, (size_t)g->desc.rank};
    c->src.dtype = c->diff_dst.dtype = c->diff_src.dtype = number_of(g->desc.dtype);
}

static int64_t product(const int64_t *sizes, int count)
{
    int64_t p = 1;

    while (count-- > 0)
        p *= *sizes++;
    return p;
}

static void *elements(int64_t count)
{
    void *memory = malloc((size_t)count * sizeof(double) + 1);

    assert_non_null(memory);
    memset(memory, 0xa5, (size_t)count * sizeof(double) + 1);
    return memory;
}

static void succeed(const golden *g, const onednn_call *c)
{
    poolgrad_error error;

    if (onednn_run(c, NULL, &error))
        fail_msg("%s: %s", g->name, error.message);
    assert_int_equal(error.status, POOLGRAD_OK);
}

/* Refused by oneDNN on this CPU, but not here: sums are f32, rounded once. */
static void check_narrow(golden *g, onednn_call *c)
{
    const int64_t outputs = product(g->dx, g->dims);
    float *dy = elements(g->values), *dx = elements(outputs);
    uint16_t *narrow = elements(outputs), *expected = elements(outputs);
    int64_t i;

    c->diff_src.data = narrow;
    succeed(g, c);
    for (i = 0; i < g->values; i++)
        dy[i] = (float)golden_value(g->desc.dtype, g->dyv[i]);
    c->diff_dst.dtype = c->diff_src.dtype = POOLGRAD_ONEDNN_F32;
    c->diff_dst.data = dy;
    c->diff_src.data = dx;
    succeed(g, c);
    poolgrad_convert(g->desc.dtype, expected, POOLGRAD_F32, dx, (size_t)outputs, NULL);
    assert_memory_equal(narrow, expected, (size_t)outputs * sizeof *narrow);
    free(dy);
    free(dx);
    free(narrow);
    free(expected);
}

/* What oneDNN could not do although its document says so, two ways to the same bits. */
static void check_repaired(golden *g, onednn_call *c)
{
    const int64_t outputs = product(g->dx, g->dims);
    float *dx = elements(outputs), *other = elements(outputs);

    c->diff_src.data = dx;
    succeed(g, c);
    if (g->average)
        onednn_shape_as_input(c);
    else
        c->attributes.dilations = (poolgrad_list){NULL, 0};
    c->diff_src.data = other;
    succeed(g, c);
    assert_memory_equal(dx, other, (size_t)outputs * sizeof *dx);
    free(dx);
    free(other);
}

static void check_error(golden *g, onednn_call *c, tally *t)
{
    const int64_t outputs = product(g->dx, g->dims);
    unsigned char *dx = elements(outputs), *untouched = elements(outputs);
    poolgrad_error error;

    c->diff_src.data = dx;
    if (strncmp(g->error, "invalid_arguments", 17) == 0) {
        assert_int_equal(onednn_run(c, NULL, &error), POOLGRAD_ONEDNN_INVALID_ARGUMENTS);
        assert_memory_equal(dx, untouched, (size_t)outputs * sizeof(double));
        t->refused++;
    } else if (g->desc.dtype != POOLGRAD_F32) {
        check_narrow(g, c);
        t->repaired++;
    } else {
        assert_true(strcmp(g->name, "src_shape_as_input_refused") == 0 ||
                    strcmp(g->name, "max_no_dilations_attr") == 0);
        check_repaired(g, c);
        t->repaired++;
    }
    free(dx);
    free(untouched);
}

/* oneDNN's answer; only the gradient that it loses in the padding is compared with the rule. (The
 * other case that differs is NaN, where this face follows oneDNN.) */
static void check_case(golden *g, void *context)
{
    const int by_rule = g->differs && strcmp(g->name, "max_nan") != 0;
    const poolgrad_face_options parity = {.size = sizeof parity, .parity = 1};
    tally *t = context;
    onednn_call c;
    void *dy = elements(g->values), *x = elements(g->inputs), *dx;

    from_golden(g, &c);
    golden_put(g, g->dyv, g->values, dy);
    golden_put(g, g->xv, g->inputs, x);
    c.diff_dst.data = dy;
    c.src.data = x;
    if (g->error[0]) {
        check_error(g, &c, t);
    } else {
        assert_int_equal(product(g->dx, g->dims), g->results);
        assert_true(!by_rule || strcmp(g->name, "max_neg_inf_left_pad") == 0);
        dx = elements(g->results);
        c.diff_src.data = dx;
        succeed(g, &c);
        golden_compare(g, t->file, dx, by_rule);
        if (golden_has_formula(g, t->file)) {
            assert_int_equal(onednn_run(&c, &parity, NULL), 0);
            golden_compare_bits(g, t->file, dx);
            t->bits++;
        }
        free(dx);
        t->compared++;
    }
    free(dy);
    free(x);
}

static void golden_cases(void **state)
{
    static const char *const files[] = {"golden_onednn_3.2.0.txt", "golden_onednn_3.13.2.txt"};
    int i;

    (void)state;
    for (i = 0; i < 2; i++) {
        tally t = {.file = files[i]};

        assert_int_equal(golden_each(files[i], check_case, &t), 44);
        assert_int_equal(t.compared, 37);
        assert_int_equal(t.refused, 3);
        assert_int_equal(t.repaired, 4);
        assert_int_equal(t.bits, i == 0 ? 30 : 36);
    }
}

/* ------------------------------------------------------------ small examples */

/* One axis, 1 x 1 x in, with dy 1, 2, 3, ... */
static void one_axis(onednn_call *c, int average, int64_t in, int64_t out, float *dy, float *dx)
{
    int i;

    onednn_start(c, average, 1);
    c->src_sizes[0] = c->src_sizes[1] = c->dst_sizes[0] = c->dst_sizes[1] = 1;
    c->src_sizes[2] = in;
    c->dst_sizes[2] = out;
    for (i = 0; i < out; i++)
        dy[i] = (float)(i + 1);
    c->diff_dst.data = dy;
    c->diff_src.data = dx;
}

static void expect(const onednn_call *c, const float *expected)
{
    const float *dx = c->diff_src.data;
    poolgrad_error error;
    int i;

    if (onednn_run(c, NULL, &error))
        fail_msg("%s", error.message);
    for (i = 0; i < c->src_sizes[2]; i++)
        assert_float_equal(dx[i], expected[i], 4e-6F);
}

/* The probes of semantics: both divisors, automatic padding in any spelling. */
static void paddings_and_divisors(void **state)
{
    static const struct {
        const char *auto_pad;
        int64_t kernel, pads;
        int exclude;
        float dx[4];
    } rows[] = {
        {NULL, 3, 1, 0, {1, 2, 3, 2.33333333F}},
        {"None", 3, 1, 1, {1.16666667F, 2.16666667F, 3.66666667F, 3}},
        {"none", 3, 1, 1, {1.16666667F, 2.16666667F, 3.66666667F, 3}},
        {"SAME_UPPER", 2, 9, 1, {0.5F, 1.5F, 2.5F, 5.5F}},
        {"same_upper", 2, 9, 1, {0.5F, 1.5F, 2.5F, 5.5F}},
        {"SAME_LOWER", 2, 9, 1, {2, 2.5F, 3.5F, 2}},
        {"Same_Lower", 2, 9, 0, {1.5F, 2.5F, 3.5F, 2}},
        {"same_upper", 5, 0, 1, {1.58333333F, 2.91666667F, 2.91666667F, 2.58333333F}},
        {"same_upper", 2147483647, 0, 1, {2.5F, 2.5F, 2.5F, 2.5F}},
        {"valid", 1, 7, 0, {1, 2, 3, 4}},
    };
    float dy[4], dx[4];
    onednn_call c;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        one_axis(&c, 1, 4, 4, dy, dx);
        c.attributes.auto_pad = rows[i].auto_pad;
        c.kernel[0] = rows[i].kernel;
        c.pads_begin[0] = c.pads_end[0] = rows[i].pads;
        c.exclude_pad = rows[i].exclude ? 7 : 0;
        expect(&c, rows[i].dx);
        if (rows[i].pads <= 1)
            continue;
        c.attributes.pads_begin.count = c.attributes.pads_end.count = 0;
        expect(&c, rows[i].dx);
    }
}

/* No ceil mode: a larger pads_end, and the divisor stays the kernel. */
static void more_pads_end_instead_of_ceil(void **state)
{
    static const float expected[] = {0.5F, 0.5F, 1, 1, 1.5F};
    float dy[3], dx[5];
    onednn_call c;

    (void)state;
    one_axis(&c, 1, 5, 3, dy, dx);
    c.kernel[0] = c.strides[0] = 2;
    c.pads_end[0] = 1;
    expect(&c, expected);
}

/* With exclude_pad 0 windows may lie in the padding altogether. */
static void windows_in_the_padding(void **state)
{
    static const float expected[] = {3.5F, 4.5F, 5.5F};
    float dy[8], dx[3];
    onednn_call c;

    (void)state;
    one_axis(&c, 1, 3, 8, dy, dx);
    c.kernel[0] = 2;
    c.pads_begin[0] = c.pads_end[0] = 3;
    expect(&c, expected);
}

/* NaN never wins unless all are NaN; -inf does, also in a window that begins in the padding. */
static void winners(void **state)
{
    static const struct {
        float x[6];
        int64_t in, kernel, stride, pad, out;
        float dx[6];
    } rows[] = {
        {{1, 1, 1, 1}, 4, 2, 2, 0, 2, {1, 0, 2, 0}},
        {{1, NAN, 3, 2, 5, NAN}, 6, 2, 1, 0, 5, {1, 0, 5, 0, 9, 0}},
        {{NAN, NAN, -INFINITY, -INFINITY}, 4, 2, 2, 0, 2, {1, 0, 2, 0}},
        {{-1, -1, -1, -1}, 4, 3, 2, 1, 2, {1, 2, 0, 0}},
        {{-INFINITY, -INFINITY, -INFINITY, -INFINITY}, 4, 3, 2, 1, 2, {1, 2, 0, 0}},
        {{NAN, NAN, NAN, NAN}, 4, 3, 2, 1, 2, {1, 2, 0, 0}},
        {{-0.0F, 0, 0, -0.0F}, 4, 2, 2, 0, 2, {1, 0, 2, 0}},
    };
    float x[6], dy[6], dx[6];
    onednn_call c;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        one_axis(&c, 0, rows[i].in, rows[i].out, dy, dx);
        memcpy(x, rows[i].x, sizeof x);
        c.src.data = x;
        c.kernel[0] = rows[i].kernel;
        c.strides[0] = rows[i].stride;
        c.pads_begin[0] = rows[i].pad;
        expect(&c, rows[i].dx);
    }
}

/* src_shape as a tensor: either type, any stride, and it wins over the attribute. */
static void src_shape_as_input(void **state)
{
    static const float expected[] = {0.5F, 1.5F, 2.5F, 1.5F};
    int64_t wide[] = {1, 1, 4}, backwards = -1, apart = 2;
    int32_t spread[] = {1, 99, 1, 99, 4};
    float dy[3], dx[4];
    onednn_call c;

    (void)state;
    one_axis(&c, 1, 4, 3, dy, dx);
    c.kernel[0] = 2;
    onednn_shape_as_input(&c);
    expect(&c, expected);
    c.shape_tensor.data = spread;
    c.shape_tensor.strides = &apart;
    expect(&c, expected);
    c.shape_tensor.dtype = POOLGRAD_ONEDNN_S64;
    c.shape_tensor.data = wide;
    c.shape_tensor.strides = NULL;
    expect(&c, expected);
    wide[0] = 4;
    wide[2] = 1;
    c.shape_tensor.data = wide + 2;
    c.shape_tensor.strides = &backwards;
    expect(&c, expected);
    c.attributes.src_shape = POOLGRAD_LIST(-7, 0, 0, 0, 0, 0, 0);
    expect(&c, expected);
}

/* Batch, channels or a spatial size 0: success, nothing is read or written. */
static void empty_tensors(void **state)
{
    onednn_call c;
    int average, zero;

    (void)state;
    for (average = 0; average < 2; average++) {
        for (zero = 0; zero < 3; zero++) {
            onednn_start(&c, average, 1);
            c.src_sizes[0] = c.src_sizes[1] = c.dst_sizes[0] = c.dst_sizes[1] = 2;
            c.src_sizes[2] = c.dst_sizes[2] = 4;
            c.src_sizes[zero] = c.dst_sizes[zero] = 0;
            assert_int_equal(onednn_run(&c, NULL, NULL), POOLGRAD_ONEDNN_SUCCESS);
        }
    }
}

/* -------------------------------------------------------------- random calls */

typedef struct random_call {
    onednn_call call;
    poolgrad_desc expected; /* written from the same draws, not from the face */
    int64_t stride[3][5];   /* of diff_dst, diff_src, src */
} random_call;

/* Memory order, and gaps, of one tensor: strides in the order of the tensor's axes, and the same in
 * view order. */
static void draw_strides(sup_rng *rng, const int64_t *sizes, int spatial, int channels_last,
                         int64_t *strides, poolgrad_view *view)
{
    const int dims = spatial + 2;
    int order[5], i;
    int64_t step = 1;

    for (i = 0; i < dims; i++)
        order[i] = i;
    for (i = dims - 1; i > 0; i--) {
        const int other = (int)sup_rng_range(rng, 0, i), kept = order[i];

        order[i] = order[other];
        order[other] = kept;
    }
    for (i = 0; i < dims; i++) {
        strides[order[i]] = step;
        step *= (sizes[order[i]] ? sizes[order[i]] : 1) + sup_rng_range(rng, 0, 1);
    }
    view->layout = POOLGRAD_STRIDED;
    view->stride[0] = strides[0];
    view->stride[1] = strides[channels_last ? dims - 1 : 1];
    for (i = 0; i < spatial; i++)
        view->stride[2 + i] = strides[(channels_last ? 1 : 2) + i];
}

static void draw_axis(sup_rng *rng, random_call *r, int axis, int padding)
{
    poolgrad_desc *d = &r->expected;
    onednn_call *c = &r->call;
    const int64_t in = sup_rng_range(rng, 1, 9), stride = sup_rng_range(rng, 1, 4);
    const int64_t dilation = c->average ? 1 : sup_rng_range(rng, 1, 2);
    const int64_t kernel = sup_rng_range(rng, 1, 4), span = (kernel - 1) * dilation + 1;
    int64_t lo, hi, total, out;

    lo = sup_rng_range(rng, 0, c->exclude_pad ? kernel - 1 : kernel + 1);
    hi = sup_rng_range(rng, 0, c->exclude_pad ? kernel - 1 : kernel + 1);
    c->pads_begin[axis] = lo;
    c->pads_end[axis] = hi;
    if (padding == 1)
        lo = hi = 0;
    if (padding >= 2) {
        total = in % stride == 0 ? span - stride : span - in % stride;
        total = total < 0 ? 0 : total;
        lo = padding == 2 ? total / 2 : (total + 1) / 2;
        hi = total - lo;
    }
    out = in + lo + hi < span ? 0 : (in + lo + hi - span) / stride + 1;
    c->kernel[axis] = d->kernel[axis] = kernel;
    c->strides[axis] = d->stride[axis] = stride;
    c->dilations[axis] = d->dilation[axis] = dilation;
    d->pad_lo[axis] = lo;
    d->pad_hi[axis] = hi;
    d->in[axis] = in;
    d->out[axis] = out;
}

static void draw_call(sup_rng *rng, random_call *r)
{
    static const char *const words[] = {"none", "VALID", "same_upper", "Same_Lower"};
    static const poolgrad_dtype dtypes[] = {POOLGRAD_F32, POOLGRAD_F16, POOLGRAD_BF16};
    const int average = (int)sup_rng_range(rng, 0, 1), spatial = (int)sup_rng_range(rng, 1, 3);
    const int last = (int)sup_rng_range(rng, 0, 1), padding = (int)sup_rng_range(rng, 0, 3);
    poolgrad_desc *d = &r->expected;
    onednn_call *c = &r->call;
    int i;

    onednn_start(c, average, spatial);
    poolgrad_desc_init(d);
    c->exclude_pad = (int)sup_rng_range(rng, 0, 1);
    c->attributes.auto_pad = padding || sup_rng_chance(rng, 50) ? words[padding] : NULL;
    c->attributes.data_format = !last ? "ncx" : sup_rng_chance(rng, 50) ? "NXC" : NULL;
    d->op = average ? POOLGRAD_AVG_GRAD : POOLGRAD_MAX_GRAD;
    d->winner = POOLGRAD_FROM_X;
    d->nan = POOLGRAD_NAN_SKIP;
    d->divisor = c->exclude_pad ? POOLGRAD_EXCLUDE : POOLGRAD_INCLUDE;
    d->dtype = dtypes[sup_rng_range(rng, 0, 2)];
    d->rank = spatial;
    d->batch = sup_rng_range(rng, 0, 3);
    d->channels = sup_rng_range(rng, 1, 3);
    c->src.dtype = c->diff_dst.dtype = c->diff_src.dtype = number_of(d->dtype);
    for (i = 0; i < spatial; i++)
        draw_axis(rng, r, i, padding);
    c->src_sizes[0] = c->dst_sizes[0] = d->batch;
    c->src_sizes[last ? spatial + 1 : 1] = c->dst_sizes[last ? spatial + 1 : 1] = d->channels;
    for (i = 0; i < spatial; i++) {
        c->src_sizes[(last ? 1 : 2) + i] = d->in[i];
        c->dst_sizes[(last ? 1 : 2) + i] = d->out[i];
    }
    if (!average && sup_rng_chance(rng, 80))
        c->attributes.dilations = (poolgrad_list){c->dilations, (size_t)spatial};
    for (i = 0; i < spatial && !average && !c->attributes.dilations.values; i++)
        if (c->dilations[i] != 1)
            c->attributes.dilations = (poolgrad_list){c->dilations, (size_t)spatial};
    if (average && sup_rng_chance(rng, 50))
        onednn_shape_as_input(c);
    d->dy.layout = d->dx.layout = d->x.layout = last ? POOLGRAD_NXC : POOLGRAD_NCX;
    if (sup_rng_chance(rng, 50))
        draw_strides(rng, c->dst_sizes, spatial, last, r->stride[0], &d->dy);
    if (sup_rng_chance(rng, 50))
        draw_strides(rng, c->src_sizes, spatial, last, r->stride[1], &d->dx);
    if (sup_rng_chance(rng, 50))
        draw_strides(rng, c->src_sizes, spatial, last, r->stride[2], &d->x);
    c->diff_dst.strides = d->dy.layout == POOLGRAD_STRIDED ? r->stride[0] : NULL;
    c->diff_src.strides = d->dx.layout == POOLGRAD_STRIDED ? r->stride[1] : NULL;
    c->src.strides = d->x.layout == POOLGRAD_STRIDED ? r->stride[2] : NULL;
}

/* Bit for bit, gaps between elements included; returns whether anything was computed. */
static int compare_with_native(sup_rng *rng, random_call *r)
{
    onednn_call *c = &r->call;
    poolgrad_error error;
    sup_memory native;
    int computed;
    fixture f;

    fixture_make(&f, &r->expected, SUP_TIES, sup_rng_next(rng));
    native = copy_of_result(&f);
    run_into(&f, NULL, native.first);
    c->diff_dst.data = f.dy.first;
    c->diff_src.data = f.dx.first;
    c->src.data = f.x.first;
    if (onednn_run(c, NULL, &error))
        fail_msg("%s: %s", f.text, error.message);
    assert_memory_equal(f.dx.allocation, native.allocation, native.bytes);
    computed = sup_view_count(&f.desc, &f.desc.dy) > 0;
    sup_view_free(&native);
    fixture_free(&f);
    return computed;
}

static void random_calls(void **state)
{
    const int calls = 400;
    int i, computed = 0;
    random_call r;
    sup_rng rng;

    (void)state;
    sup_rng_seed(&rng, 20);
    for (i = 0; i < calls; i++) {
        memset(&r, 0, sizeof r);
        draw_call(&rng, &r);
        computed += compare_with_native(&rng, &r);
    }
    assert_true(computed > calls / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_cases),
        cmocka_unit_test(paddings_and_divisors),
        cmocka_unit_test(more_pads_end_instead_of_ceil),
        cmocka_unit_test(windows_in_the_padding),
        cmocka_unit_test(winners),
        cmocka_unit_test(src_shape_as_input),
        cmocka_unit_test(empty_tensors),
        cmocka_unit_test(random_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
