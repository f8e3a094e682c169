/* SPDX-License-Identifier: MIT */
/*
 * The arithmetic of other systems, on random problems, against a scatter in their loop order, which
 * shares nothing with the library but poolgrad_convert. (test_parity_golden.c has the systems' own
 * answers.)
 */
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ a plain scatter */

/* One window axis of a descriptor. */
typedef struct axis {
    int64_t in, out, kernel, stride, dilation, pad_lo, pad_hi;
    int adaptive;
} axis;

static axis axis_of(const poolgrad_desc *desc, int i)
{
    const int own = i - (3 - desc->rank);

    if (own < 0)
        return (axis){1, 1, 1, 1, 1, 0, 0, 0};
    return (axis){desc->in[own],       desc->out[own],
                  desc->kernel[own],   desc->stride[own],
                  desc->dilation[own], desc->pad_lo[own],
                  desc->pad_hi[own],   desc->rounding == POOLGRAD_ADAPTIVE};
}

static int covers(const axis *a, int64_t o, int64_t p)
{
    const int64_t tap = p - o * a->stride + a->pad_lo;

    if (a->adaptive)
        return p >= o * a->in / a->out && p < ((o + 1) * a->in + a->out - 1) / a->out;
    return tap >= 0 && tap % a->dilation == 0 && tap / a->dilation < a->kernel;
}

static int64_t count_of(const axis *a, poolgrad_divisor rule, int64_t o)
{
    const int64_t room = a->in + a->pad_hi + a->pad_lo - o * a->stride;
    const int64_t clipped = (room + a->dilation - 1) / a->dilation;
    int64_t p, inside = 0;

    for (p = 0; p < a->in; p++)
        inside += covers(a, o, p);
    if (rule == POOLGRAD_EXCLUDE || a->adaptive || inside == 0)
        return inside;
    return rule == POOLGRAD_INCLUDE || clipped > a->kernel ? a->kernel : clipped;
}

/* A value in the element type. */
static double in_type(poolgrad_dtype dtype, double value)
{
    const float single = (float)value;
    uint16_t stored;
    float back;

    if (dtype == POOLGRAD_F64)
        return value;
    if (dtype == POOLGRAD_F32)
        return (double)single;
    assert_int_equal(poolgrad_convert(dtype, &stored, POOLGRAD_F32, &single, 1, NULL), POOLGRAD_OK);
    assert_int_equal(poolgrad_convert(POOLGRAD_F32, &back, dtype, &stored, 1, NULL), POOLGRAD_OK);
    return (double)back;
}

/* One operation in the compute type, and what the system keeps of it. */
static double step(const poolgrad_desc *desc, char operation, double a, double b)
{
    const float x = (float)a, y = (float)b;
    const float single = operation == '+' ? x + y : operation == '*' ? x * y : x / y;
    const double wide = operation == '+' ? a + b : operation == '*' ? a * b : a / b;

    if (desc->dtype == POOLGRAD_F64)
        return wide;
    return desc->parity == POOLGRAD_PARITY_ONEDNN ? (double)single
                                                  : in_type(desc->dtype, (double)single);
}

static double term_of(const poolgrad_desc *desc, const axis axes[3], const int64_t o[3], double dy)
{
    const poolgrad_dtype dtype = desc->dtype;
    int64_t n = 1;
    int i;

    for (i = 0; i < 3; i++)
        n *= count_of(&axes[i], desc->divisor, o[i]);
    if (n != 0 && desc->divisor == POOLGRAD_OVERRIDE)
        n = desc->divisor_override;
    switch (desc->parity) {
    case POOLGRAD_PARITY_TENSORFLOW:
        if (desc->rank == 3)
            return step(desc, '*', dy, in_type(dtype, (double)(1.0f / (float)n)));
        return step(desc, '*', dy, in_type(dtype, 1.0 / (double)n));
    case POOLGRAD_PARITY_ONNXRUNTIME:
        return step(desc, '*', dy, step(desc, '/', 1, in_type(dtype, (double)n)));
    case POOLGRAD_PARITY_TORCH:
        if (desc->rounding != POOLGRAD_ADAPTIVE || desc->divisor == POOLGRAD_OVERRIDE)
            return step(desc, '/', dy, in_type(dtype, (double)n));
        for (i = 0; i < 3; i++)
            dy = step(desc, '/', dy,
                      in_type(dtype, (double)count_of(&axes[i], desc->divisor, o[i])));
        return dy;
    default:
        return step(desc, '/', dy, (double)n);
    }
}

/* What a scatter works on: everything in logical order of its view. */
typedef struct scene {
    const poolgrad_desc *desc;
    axis axes[3];
    double *dy, *x, *y, *dx;
    int64_t *winners;
} scene;

static double *values_of(const fixture *f, const poolgrad_view *view, const sup_memory *memory)
{
    double *values = malloc((size_t)(sup_view_count(&f->desc, view) + 1) * sizeof *values);

    assert_non_null(values);
    if (memory->first)
        sup_view_gather(&f->desc, view, memory->first, values);
    return values;
}

/* Where batch, channel and three coordinates of the whole lie in a view, or -1. */
static int64_t place_in(const scene *s, const poolgrad_view *view, const int64_t at[5])
{
    int64_t place = 0;
    int i;

    for (i = 0; i < 5; i++) {
        const int own = i < 2 ? i : i - (3 - s->desc->rank);

        if (i >= 2 && own < 2)
            continue;
        if (at[i] < view->offset[own] || at[i] >= view->offset[own] + view->extent[own])
            return -1;
        place = place * view->extent[own] + at[i] - view->offset[own];
    }
    return place;
}

/* One window, given by batch, channel and o: its taps in row-major order. */
static void scatter_window(const scene *s, const int64_t o[5])
{
    const poolgrad_desc *desc = s->desc;
    const axis *axes = s->axes;
    const int64_t window = place_in(s, &desc->dy, o);
    int64_t p[5] = {o[0], o[1], 0, 0, 0}, at;
    double term;

    if (window < 0)
        return;
    term = s->dy[window];
    if (desc->op == POOLGRAD_AVG_GRAD)
        term = term_of(desc, axes, o + 2, term);
    for (p[2] = 0; p[2] < axes[0].in; p[2]++) {
        for (p[3] = 0; p[3] < axes[1].in && covers(&axes[0], o[2], p[2]); p[3]++) {
            for (p[4] = 0; p[4] < axes[2].in && covers(&axes[1], o[3], p[3]); p[4]++) {
                at = place_in(s, &desc->dx, p);
                if (at < 0 || !covers(&axes[2], o[4], p[4]))
                    continue;
                if (desc->op == POOLGRAD_MAX_GRAD && desc->winner == POOLGRAD_NEAR_Y) {
                    const double x = s->x[place_in(s, &desc->x, p)];
                    const double y = s->y[place_in(s, &desc->y, o)];

                    if (!(fabs(step(desc, '+', x, -y)) < in_type(desc->dtype, 1e-5)))
                        continue;
                } else if (desc->op == POOLGRAD_MAX_GRAD &&
                           s->winners[window] != (p[2] * axes[1].in + p[3]) * axes[2].in + p[4]) {
                    continue;
                }
                s->dx[at] = step(desc, '+', s->dx[at], term);
            }
        }
    }
}

/* The windows in the system's order: that of dy, or the last axis outermost. */
static void scatter_all(const scene *s)
{
    const poolgrad_desc *desc = s->desc;
    const int reversed =
        desc->parity == POOLGRAD_PARITY_TENSORFLOW &&
        (desc->op == POOLGRAD_AVG_GRAD ? desc->rank == 3 : desc->winner == POOLGRAD_NEAR_Y);
    const int64_t *out[3] = {&s->axes[0].out, &s->axes[1].out, &s->axes[2].out};
    const int first = reversed ? 2 : 0, last = 2 - first;
    int64_t o[5], a, b, c;

    for (o[0] = 0; o[0] < desc->batch; o[0]++) {
        for (o[1] = 0; o[1] < desc->channels; o[1]++) {
            for (a = 0; a < *out[first]; a++) {
                for (b = 0; b < *out[1]; b++) {
                    for (c = 0; c < *out[last]; c++) {
                        o[2 + first] = a;
                        o[3] = b;
                        o[2 + last] = c;
                        scatter_window(s, o);
                    }
                }
            }
        }
    }
}

/* dx of a fixture as the system computes it, stored in `expected`. */
static void scatter(const fixture *f, void *expected)
{
    const poolgrad_desc *desc = &f->desc;
    const int64_t windows = sup_view_count(desc, &desc->dy);
    const int64_t count = sup_view_count(desc, &desc->dx);
    scene s = {.desc = desc};
    int i;

    for (i = 0; i < 3; i++)
        s.axes[i] = axis_of(desc, i);
    s.dy = values_of(f, &desc->dy, &f->dy);
    s.x = f->x.first ? values_of(f, &desc->x, &f->x) : NULL;
    s.y = f->y.first ? values_of(f, &desc->y, &f->y) : NULL;
    s.dx = calloc((size_t)count + 1, sizeof *s.dx);
    s.winners = malloc((size_t)(windows + 1) * sizeof *s.winners);
    assert_true(s.dx && s.winners);
    if (f->indices.first)
        sup_index_gather(desc, f->indices.first, s.winners);
    else if (s.x && !s.y)
        sup_naive_winners(desc, s.x, s.winners);
    scatter_all(&s);
    sup_view_scatter(desc, &desc->dx, s.dx, expected);
    free(s.dy);
    free(s.x);
    free(s.y);
    free(s.dx);
    free(s.winners);
}

/* ------------------------------------------------------------------- problems */

static void check_problem(const poolgrad_desc *desc, sup_kind kind, uint64_t seed)
{
    const poolgrad_options threads = options_for(NULL, 3);
    sup_memory expected, again;
    fixture f;

    fixture_make(&f, desc, kind, seed);
    expected = copy_of_result(&f);
    again = copy_of_result(&f);
    scatter(&f, expected.first);
    run_into(&f, NULL, f.dx.first);
    assert_same_result(&f, expected.first, f.dx.first, "against the scatter");
    run_into(&f, &threads, again.first);
    assert_same_result(&f, expected.first, again.first, "with three threads");
    sup_view_free(&expected);
    sup_view_free(&again);
    fixture_free(&f);
}

static void random_problems(void **state)
{
    static const sup_kind kinds[] = {SUP_UNIFORM, SUP_SPECIALS, SUP_TIES, SUP_INTEGERS};
    const int problems = scaled(2500);
    sup_limits limits = sup_limits_default();
    sup_rng rng;
    int i;

    (void)state;
    limits.elements = 2500;
    limits.work = 60000;
    limits.parity = 100;
    limits.ops = SUP_OP(POOLGRAD_AVG_GRAD) | SUP_OP(POOLGRAD_MAX_GRAD);
    sup_rng_seed(&rng, 12);
    for (i = 0; i < problems; i++) {
        poolgrad_desc desc;

        sup_random_problem(&rng, &limits, &desc);
        check_problem(&desc, kinds[sup_rng_range(&rng, 0, 3)], (uint64_t)i);
    }
}

/* Chosen for what random problems may miss. */
static void chosen_problems(void **state)
{
    static const char *const texts[] = {
        /* counts that do not fit in the element type; sums of many terms */
        "avg2d:bf16:nchw:1x2x24x24:k17:parity=torch",
        "avg2d:bf16:nchw:1x2x24x24:k17:parity=onnxruntime",
        "avg2d:bf16:nhwc:1x2x24x24:k17:parity=tensorflow",
        "avg2d:f16:nchw:1x1x50x50:k47:parity=torch",
        "avg2d:bf16:nchw:1x2x24x24:k17:parity=onednn",
        "avg1d:bf16:ncw:1x1x601:adaptive:o2:parity=torch",
        "avg3d:f64:ncdhw:1x1x5x6x7:k3:p1:div=exclude:parity=tensorflow",
        "avg3d:f32:ndhwc:1x3x5x6x7:k3x2x3:parity=tensorflow",
        "avg3d:bf16:ndhwc:1x3x5x6x7:k3x2x3:parity=tensorflow",
        "avg2d:f32:nchw:1x1x7x5:adaptive:o3x4:parity=torch",
        "avg3d:f16:ncdhw:1x1x7x5x9:adaptive:o3x4x5:parity=torch",
        "avg2d:f32:nchw:1x1x7x5:adaptive:o3x4:div=7:parity=torch",
        /* a kernel that no loop may walk */
        "avg2d:f32:nchw:1x1x5x5:k2147483647:p1073741823:div=exclude:parity=torch",
        "max2d:f32:nchw:1x1x5x5:k2147483647:p1073741823:from=x:nan=leading:parity=tensorflow",
        /* no window reaches the box; no windows at all; nothing to write */
        "avg1d:f32:ncw:1x1x10:k1:s5:dxbox=0+*,0+*,2+2:parity=torch",
        "max1d:f32:ncw:1x1x2:k3:parity=torch",
        "avg1d:f32:ncw:0x1x5:k3:parity=onednn",
        "max3d:bf16:ndhwc:2x3x6x5x7:k2:from=y:parity=tensorflow",
        "max3d:f32:ndhwc:2x3x6x5x7:k3:s2:p1:from=y:parity=tensorflow",
    };
    size_t i;
    int kind;

    (void)state;
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        for (kind = SUP_UNIFORM; kind <= SUP_TIES; kind++) {
            poolgrad_desc desc;

            assert_int_equal(poolgrad_desc_parse(texts[i], &desc, NULL), POOLGRAD_OK);
            if (desc.op == POOLGRAD_AVG_GRAD)
                assert_int_equal(poolgrad_desc_reach(&desc, NULL), POOLGRAD_OK);
            check_problem(&desc, (sup_kind)kind, (uint64_t)kind);
        }
    }
}

/* Problems large enough for several tasks; a box has the bits of the whole. */
static void threads_and_boxes(void **state)
{
    static const char *const problems[] = {
        "avg2d:f32:nchw:3x5x70x70:k3:s2:p1:div=exclude",
        "max2d:bf16:nhwc:3x5x90x90:k3:from=x",
    };
    size_t i;
    int parity;

    (void)state;
    for (i = 0; i < 2; i++) {
        for (parity = POOLGRAD_PARITY_TENSORFLOW; parity <= POOLGRAD_PARITY_ONEDNN; parity++) {
            const poolgrad_options one = options_for(NULL, 1), four = options_for("parity", 4);
            poolgrad_plan_info info = {.size = sizeof info};
            poolgrad_desc desc;
            poolgrad_plan *plan;
            sup_memory again;
            fixture f;

            poolgrad_desc_parse(problems[i], &desc, NULL);
            desc.parity = (poolgrad_parity)parity;
            fixture_make(&f, &desc, SUP_UNIFORM, 5);
            again = copy_of_result(&f);
            run_into(&f, &one, f.dx.first);
            assert_int_equal(poolgrad_plan_create(&plan, &f.desc, &four, NULL), POOLGRAD_OK);
            poolgrad_plan_describe(plan, &info, NULL);
            poolgrad_plan_destroy(plan);
            assert_string_equal(info.strategy, "parity");
            assert_true(info.tasks > 1);
            run_into(&f, &four, again.first);
            assert_same_result(&f, f.dx.first, again.first, "with four threads");
            sup_view_free(&again);
            fixture_free(&f);
        }
    }
}

/* A descriptor from before there was parity, and what lies behind it in memory. */
static void older_descriptor(void **state)
{
    poolgrad_plan_info info = {.size = sizeof info};
    poolgrad_desc desc;
    poolgrad_plan *plan;

    (void)state;
    assert_int_equal(poolgrad_desc_parse("avg1d:f32:ncw:1x1x5:k3:parity=torch", &desc, NULL),
                     POOLGRAD_OK);
    desc.size = offsetof(poolgrad_desc, parity);
    assert_int_equal(poolgrad_plan_create(&plan, &desc, NULL, NULL), POOLGRAD_OK);
    assert_int_equal(poolgrad_plan_desc(plan)->parity, POOLGRAD_PARITY_OFF);
    poolgrad_plan_describe(plan, &info, NULL);
    assert_string_not_equal(info.strategy, "parity");
    poolgrad_plan_destroy(plan);
}

/* Parity is one strategy's; the others refuse it, and it refuses everything else. */
static void strategies(void **state)
{
    const char *name;
    size_t i;
    fixture with, without;

    (void)state;
    fixture_parse(&with, "avg1d:f32:ncw:1x1x5:k3:parity=torch", SUP_ONES, 1);
    fixture_parse(&without, "avg1d:f32:ncw:1x1x5:k3", SUP_ONES, 1);
    for (i = 0; (name = poolgrad_name(POOLGRAD_NAME_STRATEGY, i)); i++)
        assert_int_equal(strategy_applies(&with, name), strcmp(name, "parity") == 0);
    assert_false(strategy_applies(&without, "parity"));
    fixture_free(&with);
    fixture_free(&without);
}

/* What is near: the distance is rounded to the type before it is compared, 1e-5 is not near. */
static void near_enough(void **state)
{
    static const struct {
        const char *type;
        double x, y;
        int near;
    } cases[] = {
        {"f32", 1, 1 + 9e-6, 1},
        {"f32", 1 + 9e-6, 1, 1},
        {"f32", 1, 1 + 1.1e-5, 0},
        {"f64", 1e-5, 0, 0},
        {"f64", 0, 0x1.4f8b588e368f0p-17, 1}, /* the double below 1e-5 */
        {"f64", INFINITY, INFINITY, 0},
        {"f64", NAN, NAN, 0},
        {"bf16", 0x1.4ep-17, 0, 1},          /* the bf16 below 1e-5 */
        {"bf16", 0x1.4ep-17, -0x1.8p-25, 0}, /* 9.9987e-6, which is 1.0014e-5 in bf16 */
        {"f16", 167 * 0x1p-24, 0, 1},
        {"f16", 168 * 0x1p-24, 0, 0},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[80];
        fixture f;

        snprintf(text, sizeof text, "max1d:%s:ncw:1x1x1:k1:from=y:parity=tensorflow",
                 cases[i].type);
        fixture_parse(&f, text, SUP_ONES, 1);
        sup_store(f.desc.dtype, f.x.first, 0, cases[i].x);
        sup_store(f.desc.dtype, f.y.first, 0, cases[i].y);
        run_into(&f, NULL, f.dx.first);
        if (sup_load(f.desc.dtype, f.dx.first, 0) != cases[i].near)
            fail_msg("%s: %a and %a", text, cases[i].x, cases[i].y);
        fixture_free(&f);
    }
}

/* Indices are checked as without parity, also those that reach nothing; y is only read. */
static void memory(void **state)
{
    fixture f;
    poolgrad_buffers buffers;
    poolgrad_error error;
    poolgrad_plan *plan;

    (void)state;
    fixture_parse(&f, "max1d:f32:ncw:2x1x6:k2:s2:parity=torch:base=plane", SUP_ONES, 1);
    ((int64_t *)f.indices.first)[4] = 5;
    buffers = fixture_buffers(&f, NULL);
    assert_int_equal(poolgrad_plan_create(&plan, &f.desc, NULL, NULL), POOLGRAD_OK);
    assert_int_equal(poolgrad_execute(plan, &buffers, &error), POOLGRAD_ERR_INDEX);
    assert_int_equal(error.position, 4);
    poolgrad_plan_destroy(plan);
    fixture_free(&f);

    fixture_parse(&f, "max1d:f32:ncw:2x1x6:k2:from=y:parity=tensorflow", SUP_ONES, 1);
    assert_int_equal(poolgrad_plan_create(&plan, &f.desc, NULL, NULL), POOLGRAD_OK);
    buffers = fixture_buffers(&f, NULL);
    buffers.y = NULL;
    assert_int_equal(poolgrad_execute(plan, &buffers, &error), POOLGRAD_ERR_NULL);
    assert_string_equal(error.message, "buffers.y is NULL");
    buffers.y = buffers.dx;
    assert_int_equal(poolgrad_execute(plan, &buffers, &error), POOLGRAD_ERR_OVERLAP);
    buffers.y = f.x.first; /* read both: may be one */
    assert_int_equal(poolgrad_execute(plan, &buffers, &error), POOLGRAD_OK);
    poolgrad_plan_destroy(plan);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_problems),
        cmocka_unit_test(chosen_problems),
        cmocka_unit_test(threads_and_boxes),
        cmocka_unit_test(strategies),
        cmocka_unit_test(memory),
        cmocka_unit_test(near_enough),
        cmocka_unit_test(older_descriptor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
