/* SPDX-License-Identifier: MIT */
/*
 * What must hold of every average gradient, whatever computes it, and the documented examples.
 * Values are compared as doubles in logical order, which hold every element exactly. Properties
 * that are exact are tried on small integers with divisors that are powers of two.
 */
#include "harness.h"

#include <math.h>
#include <string.h>

#define WINDOWS(f)  sup_view_count(&(f)->desc, &(f)->desc.dy)
#define ELEMENTS(f) sup_view_count(&(f)->desc, &(f)->desc.dx)

static sup_rng rng;

/* Memory for arrays, until pooled is 0 again. */
static double pool[1 << 18];
static int64_t pooled;

static double *array(int64_t count)
{
    pooled += count;
    assert_true(pooled <= (int64_t)(sizeof pool / sizeof pool[0]));
    return memset(pool + pooled - count, 0, (size_t)count * sizeof *pool);
}

static void release(fixture *f)
{
    fixture_free(f);
    pooled = 0;
}

static double *gathered(const fixture *f, const poolgrad_view *view, const void *first)
{
    double *v = array(sup_view_count(&f->desc, view));

    sup_view_gather(&f->desc, view, first, v);
    return v;
}

static double *filled(const fixture *f, const poolgrad_view *view, void *first, sup_kind kind)
{
    sup_view_fill(&f->desc, view, first, kind, &rng);
    return gathered(f, view, first);
}

/* dx after `times` executions of one plan, from f's dx and the given dy, on a random number of
 * threads with a random strategy and instruction set (NULL, past the last name: the default). */
static double *gradient(const fixture *f, const double *dy, int times)
{
    const uint64_t turn = sup_rng_next(&rng);
    poolgrad_options options =
        options_for(poolgrad_name(POOLGRAD_NAME_STRATEGY, turn & 7), 1 + (int)(turn >> 3 & 3));
    sup_memory dx = copy_of_result(f);
    poolgrad_buffers buffers;
    poolgrad_plan *plan;
    double *v;

    options.cpu = poolgrad_name(POOLGRAD_NAME_CPU, turn >> 5 & 3);
    if (options.strategy && !strategy_applies(f, options.strategy))
        options.strategy = NULL;
    assert_int_equal(poolgrad_plan_create(&plan, &f->desc, &options, NULL), POOLGRAD_OK);
    sup_view_scatter(&f->desc, &f->desc.dy, dy, f->dy.first);
    poolgrad_buffers_init(&buffers);
    buffers.dy = f->dy.first;
    buffers.dx = dx.first;
    while (times-- > 0)
        assert_int_equal(poolgrad_execute(plan, &buffers, NULL), POOLGRAD_OK);
    poolgrad_plan_destroy(plan);
    v = gathered(f, &f->desc.dx, dx.first);
    sup_view_free(&dx);
    return v;
}

#define BITS (-1.0) /* as a tolerance: the same bits, but that all NaN are alike */

static void check(const fixture *f, int64_t at, double actual, double expected, double tolerance)
{
    const int same = actual == expected && signbit(actual) == signbit(expected);
    const int nan = isnan(actual) && isnan(expected);

    if (tolerance == BITS ? !same && !nan : !(fabs(actual - expected) <= tolerance))
        fail_msg("%s\nelement %lld: %.17g instead of %.17g", f->text, (long long)at, actual,
                 expected);
}

/* Windows, straight from their definition. */
static int axis_covers(const poolgrad_desc *desc, int axis, int64_t o, int64_t p)
{
    const int64_t in = desc->in[axis], out = desc->out[axis], dilation = desc->dilation[axis];
    const int64_t place = p + desc->pad_lo[axis] - o * desc->stride[axis];

    if (desc->rounding == POOLGRAD_ADAPTIVE)
        return o * in / out <= p && p * out < (o + 1) * in;
    return place >= 0 && place % dilation == 0 && place / dilation < desc->kernel[axis];
}

/* Windows and positions are numbered within a plane, the last axis fastest. */
static int covers(const poolgrad_desc *desc, int axes, int64_t o, int64_t p)
{
    const int64_t in = axes ? desc->in[axes - 1] : 1, out = axes ? desc->out[axes - 1] : 1;

    return !axes || (axis_covers(desc, axes - 1, o % out, p % in) &&
                     covers(desc, axes - 1, o / out, p / in));
}

static double divisor(const poolgrad_desc *desc, int64_t o)
{
    const int64_t padded = desc->divisor == POOLGRAD_INCLUDE_CLIPPED;
    double count = 1;

    if (desc->divisor == POOLGRAD_OVERRIDE)
        return (double)desc->divisor_override;
    for (int axis = desc->rank - 1; axis >= 0; o /= desc->out[axis--]) {
        const int64_t end = desc->in[axis] + padded * desc->pad_hi[axis];
        int64_t taps = 0;

        for (int64_t p = -padded * desc->pad_lo[axis]; p < end; p++)
            taps += axis_covers(desc, axis, o % desc->out[axis], p);
        if (desc->divisor == POOLGRAD_INCLUDE && desc->rounding != POOLGRAD_ADAPTIVE)
            taps = desc->kernel[axis];
        count *= (double)taps;
    }
    return count;
}

static int64_t product(const int64_t *extent, int count)
{
    return count > 0 ? extent[0] * product(extent + 1, count - 1) : 1;
}

/* A whole dense problem with alpha 1 and beta 0, resolved. If `exact`, nothing rounds for integers
 * of at most 8: neither 3 * dx + 8 nor what is smaller. */
static void draw(int64_t size, int exact, poolgrad_desc *desc)
{
    static const double integers[] = {0, 0x1p24, 0x1p53, 0x1p11, 0x1p8}; /* exact, by dtype */
    const sup_limits limits = {.elements = size,
                               .work = 400000,
                               .only_dense = 1,
                               .only_whole = 1,
                               .only_gradient = 1,
                               .only_nonempty = 1};
    double most; /* windows that reach a position */

    do {
        sup_random_problem(&rng, &limits, desc);
        assert_int_equal(poolgrad_desc_resolve(desc, NULL), POOLGRAD_OK);
        most = 1;
        for (int axis = 0; axis < desc->rank; axis++) {
            const double kernel = (double)desc->kernel[axis], out = (double)desc->out[axis];

            most *= desc->rounding == POOLGRAD_ADAPTIVE ? out : fmin(kernel, out);
            if (kernel > 5000 && desc->divisor == POOLGRAD_INCLUDE_CLIPPED)
                desc->divisor = POOLGRAD_EXCLUDE; /* its padding is too wide to be walked */
        }
    } while (exact && 8 * (8 + 3 * most) > integers[desc->dtype]);
    if (exact) {
        desc->divisor = POOLGRAD_OVERRIDE;
        desc->divisor_override = sup_rng_chance(&rng, 50) ? 4 : -8;
    }
}

/* Linearity; and one plan again and again: beta 1 adds up, beta 0 leaves nothing behind. */
static void check_exact(fixture *f)
{
    double *a = filled(f, &f->desc.dy, f->dy.first, SUP_INTEGERS);
    double *b = filled(f, &f->desc.dy, f->dy.first, SUP_INTEGERS);
    double *before = filled(f, &f->desc.dx, f->dx.first, SUP_INTEGERS), *sum, *both;
    double *dx_a = gradient(f, a, 1), *dx_b = gradient(f, b, 1), *twice = gradient(f, a, 2);

    f->desc.beta = 1;
    sum = gradient(f, a, 3);
    f->desc.beta = 0;
    for (int64_t i = 0; i < WINDOWS(f); i++)
        a[i] -= 2 * b[i];
    both = gradient(f, a, 1);
    for (int64_t i = 0; i < ELEMENTS(f); i++) {
        check(f, i, both[i], dx_a[i] - 2 * dx_b[i], 0);
        check(f, i, sum[i], before[i] + 3 * dx_a[i], 0);
        check(f, i, twice[i], dx_a[i], BITS);
    }
}

/* <forward(x), dy> = <x, gradient(dy)>; with x = 1 that says that sums are conserved. */
static void check_adjoint(const fixture *f, sup_kind kind, int exact)
{
    const poolgrad_desc *desc = &f->desc;
    const int64_t in = product(desc->in, desc->rank), out = product(desc->out, desc->rank);
    const int64_t planes = desc->batch * desc->channels;
    const double *x = filled(f, &desc->dx, f->dx.first, kind);
    const double *dy = filled(f, &desc->dy, f->dy.first, SUP_INTEGERS), *dx = gradient(f, dy, 1);
    double *value = array(planes * in), *bound = array(planes * in);
    double forward = 0, backward = 0, slack = 0, reached = 0;

    for (int64_t w = 0; w < planes * out; w++) {
        double y = 0;
        int covered = 0;

        for (int64_t p = 0; p < in; p++) {
            const int here = covers(desc, desc->rank, w % out, p);

            y += here * x[w / out * in + p];
            covered |= here;
        }
        forward += covered ? y / divisor(desc, w % out) * dy[w] : 0;
        reached += covered ? dy[w] : 0;
    }
    sup_scatter_avg_grad(desc, dy, value, bound);
    for (int64_t p = 0; p < planes * in; p++) {
        const double own = bound[p] * 0x1p-52 * (double)(planes * (in + out) + in + 8);

        backward += x[p] * dx[p];
        slack += fabs(x[p]) * (sup_scatter_tolerance(desc, value[p], bound[p]) + own);
    }
    check(f, -1, backward, forward, exact ? 0 : slack);
    if (kind == SUP_ONES && desc->divisor == POOLGRAD_EXCLUDE)
        check(f, -1, backward, reached, exact ? 0 : slack);
}

static void algebra(void **state)
{
    static const char *const powers_of_two[] = {
        "avg1d:f32:ncw:3x2x9:k2:p1:div=exclude",
        "avg2d:f64:nhwc:2x3x8x6:k4x2:s4x1:p2x1:div=exclude",
        "avg3d:f16:ncdhw:1x2x4x4x5:k2:p1:div=exclude",
        "avg1d:bf16:nwc:2x3x16:k8:s4:p4:div=exclude",
        "avg2d:f32:nchw:1x3x8x5:k2x4:d3x1:p3x0:div=exclude",
        "avg2d:bf16:nhwc:1x3x8x12:adaptive:o4x6:div=exclude",
        "avg1d:f32:ncw:1x1x5:k2:s3:p7:div=exclude",
    };
    const int chosen = sizeof powers_of_two / sizeof powers_of_two[0];
    const int problems = chosen + scaled(6000);
    poolgrad_desc desc;
    fixture f;

    (void)state;
    for (int n = 0; n < problems; n++) {
        const int exact = n < chosen || n % 2;

        if (n < chosen)
            assert_int_equal(poolgrad_desc_parse(powers_of_two[n], &desc, NULL), POOLGRAD_OK);
        else
            draw(500, exact, &desc);
        fixture_make(&f, &desc, SUP_ONES, 0);
        check_adjoint(&f, SUP_INTEGERS, exact);
        check_adjoint(&f, SUP_ONES, exact);
        if (exact)
            check_exact(&f);
        release(&f);
    }
}

#define ROUND(value) (desc.dtype == POOLGRAD_F64 ? (value) : (float)(value))

/* The roundings after the sum, as documented. The sum of a 16-bit type is that of f32; a product or
 * sum of two f32 that is rounded to f64 first still rounds to the same f32. */
static void alpha_and_beta(void **state)
{
    static const double factors[] = {1, 0, -1, 0.1, -3, 1.0 / 3, 0x1.8p-3, 1e-3, -0.7, 1e-60};
    poolgrad_desc desc;
    fixture f, wide;

    (void)state;
    for (int n = scaled(8000); n > 0; n--) {
        const double *dy, *before, *sum, *got;

        draw(1000, 0, &desc);
        desc.alpha = factors[sup_rng_range(&rng, 0, 9)];
        desc.beta = factors[sup_rng_range(&rng, 0, 9)];
        fixture_make(&f, &desc, SUP_UNIFORM, (uint64_t)n);
        dy = gathered(&f, &f.desc.dy, f.dy.first);
        before = gathered(&f, &f.desc.dx, f.dx.first);
        got = gradient(&f, dy, 1);
        desc.dtype = desc.dtype == POOLGRAD_F64 ? POOLGRAD_F64 : POOLGRAD_F32;
        desc.alpha = 1;
        desc.beta = 0;
        fixture_make(&wide, &desc, SUP_ONES, 0);
        sum = gradient(&wide, dy, 1);
        fixture_free(&wide);
        for (int64_t i = 0; i < ELEMENTS(&f); i++) {
            const double a = ROUND(f.desc.alpha), b = ROUND(f.desc.beta);
            const double r = ROUND(a * sum[i]), s = ROUND(b * before[i]);
            double stored;

            sup_store(f.desc.dtype, &stored, 0, b != 0 ? ROUND(r + s) : r);
            check(&f, i, got[i], sup_load(f.desc.dtype, &stored, 0), BITS);
        }
        release(&f);
    }
}

/* dy shifted by m windows along a filled axis, zeros moving in: dx shifted by m * stride. */
static void shift_equivariance(void **state)
{
    poolgrad_desc desc;
    fixture f;

    (void)state;
    for (int n = scaled(20000); n > 0; n--) {
        int64_t axis, in, out, reach, m, inner_out, inner_in;
        double *dy, *moved, *dx, *dx_moved;

        draw(2000, 0, &desc);
        axis = sup_rng_range(&rng, 0, desc.rank - 1);
        in = desc.in[axis];
        out = desc.out[axis];
        reach = (desc.kernel[axis] - 1) * desc.dilation[axis];
        if (desc.rounding == POOLGRAD_ADAPTIVE || out < 2 || reach >= out)
            continue; /* it may not be filled */
        desc.divisor = desc.divisor == POOLGRAD_INCLUDE ? desc.divisor : POOLGRAD_OVERRIDE;
        desc.divisor_override = -7;
        fixture_make(&f, &desc, SUP_UNIFORM, (uint64_t)n);
        m = sup_rng_range(&rng, 1, out - 1);
        inner_out = product(desc.out + axis + 1, desc.rank - 1 - (int)axis);
        inner_in = product(desc.in + axis + 1, desc.rank - 1 - (int)axis);
        dy = gathered(&f, &f.desc.dy, f.dy.first);
        moved = array(WINDOWS(&f));
        for (int64_t i = 0; i < WINDOWS(&f); i++) {
            if (i / inner_out % out >= out - m)
                dy[i] = 0;
            if (i / inner_out % out >= m)
                moved[i] = dy[i - m * inner_out];
        }
        dx = gradient(&f, dy, 1);
        dx_moved = gradient(&f, moved, 1);
        for (int64_t i = 0; i < ELEMENTS(&f); i++)
            if (i / inner_in % in + m * desc.stride[axis] < in)
                check(&f, i, dx_moved[i + m * desc.stride[axis] * inner_in], dx[i], BITS);
        release(&f);
    }
}

/* A NaN or infinity reaches the positions that its window covers and no others; finite values
 * leave nothing of the NaN that dx holds before; a sum of zeros, whatever their signs, is +0. */
static void nan_infinity_and_zero(void **state)
{
    static const double specials[] = {NAN, INFINITY, -INFINITY};
    poolgrad_desc desc;
    fixture f;

    (void)state;
    for (int n = scaled(8000); n > 0; n--) {
        double *dy, *dx, *hit;

        draw(2000, 0, &desc);
        fixture_make(&f, &desc, SUP_UNIFORM, (uint64_t)n);
        dy = gathered(&f, &f.desc.dy, f.dy.first);
        dx = gradient(&f, dy, 1);
        for (int64_t i = 0; i < ELEMENTS(&f); i++)
            assert_true(isfinite(dx[i]));
        for (int kind = 0; kind < 3 && WINDOWS(&f) > 0; kind++) {
            const int64_t in = product(desc.in, desc.rank), out = product(desc.out, desc.rank);
            const int64_t w = sup_rng_range(&rng, 0, WINDOWS(&f) - 1);
            const double before = dy[w], sign = desc.divisor_override < 0 ? -1 : 1;

            dy[w] = specials[kind];
            hit = gradient(&f, dy, 1);
            dy[w] = before;
            for (int64_t i = 0; i < ELEMENTS(&f); i++) {
                const int hot = i / in == w / out && covers(&desc, desc.rank, w % out, i % in);

                check(&f, i, hit[i], hot ? sign * specials[kind] : dx[i], BITS);
            }
        }
        for (int64_t i = 0; i < WINDOWS(&f); i++)
            dy[i] = n & 1 ? -0.0 : copysign(0.0, dy[i]);
        dx = gradient(&f, dy, 1);
        f.desc.alpha = -1;
        hit = gradient(&f, dy, 1);
        for (int64_t i = 0; i < ELEMENTS(&f); i++) {
            check(&f, i, dx[i], 0.0, BITS);
            check(&f, i, hit[i], -0.0, BITS);
        }
        release(&f);
    }
}

/* The number in the whole tensor of element i of a box. */
static int64_t in_whole(const poolgrad_desc *desc, const poolgrad_view *whole,
                        const poolgrad_view *box, int64_t i)
{
    int64_t index = 0, inner = 1;

    for (int axis = desc->rank + 1; axis >= 0; inner *= whole->extent[axis--]) {
        index += inner * (box->offset[axis] + i % box->extent[axis]);
        i /= box->extent[axis];
    }
    return index;
}

/* Any box in any layout, from a dy box that reaches it: the bits of its part of the whole. */
static void boxes_and_layouts(void **state)
{
    const sup_limits limits = {3000, 400000, .only_gradient = 1, .only_nonempty = 1};
    poolgrad_desc desc, plain;
    fixture part, whole;

    (void)state;
    poolgrad_desc_init(&plain);
    for (int n = scaled(4000); n > 0; n--) {
        double *dy, *dy_part, *dx, *dx_part;

        sup_random_problem(&rng, &limits, &desc);
        fixture_make(&part, &desc, SUP_UNIFORM, (uint64_t)n);
        dy_part = gathered(&part, &part.desc.dy, part.dy.first);
        desc.dy = plain.dy;
        desc.dx = plain.dx;
        fixture_make(&whole, &desc, SUP_UNIFORM, 0);
        dy = gathered(&whole, &whole.desc.dy, whole.dy.first);
        for (int64_t i = 0; i < WINDOWS(&part); i++)
            dy[in_whole(&desc, &whole.desc.dy, &part.desc.dy, i)] = dy_part[i];
        dx = gradient(&whole, dy, 1);
        dx_part = gradient(&part, dy_part, 1);
        for (int64_t i = 0; i < ELEMENTS(&part); i++)
            check(&part, i, dx_part[i], dx[in_whole(&desc, &whole.desc.dx, &part.desc.dx, i)],
                  BITS);
        fixture_free(&whole);
        release(&part);
    }
}

/* The sum of consecutive terms, a power of two of them. */
static float block(const double *dy, int count)
{
    return count == 1 ? (float)dy[0] / 7 : block(dy, count / 2) + block(dy + count / 2, count / 2);
}

/* Quotients, not products with 1/7; 11 terms in blocks of 8, 2 and 1; the first axis first. */
static void order_of_operations(void **state)
{
    const double *v;
    fixture f;

    (void)state;
    for (uint64_t n = 0; n < 60; n++) {
        fixture_parse(&f, "avg1d:f32:ncw:1x1x21:k11:div=7", SUP_UNIFORM, n);
        v = gathered(&f, &f.desc.dy, f.dy.first);
        check(&f, 10, gradient(&f, v, 1)[10], block(v, 8) + block(v + 8, 2) + block(v + 10, 1),
              BITS);
        release(&f);
        fixture_parse(&f, "avg2d:f32:nchw:1x1x3x3:k2:div=7", SUP_UNIFORM, n);
        v = gathered(&f, &f.desc.dy, f.dy.first);
        check(&f, 4, gradient(&f, v, 1)[4],
              (block(v, 1) + block(v + 2, 1)) + (block(v + 1, 1) + block(v + 3, 1)), BITS);
        release(&f);
    }
}

/* The examples in the documents; dy is 1 2 3 4 ... */
static void documented_examples(void **state)
{
    static const struct {
        const char *text;
        double dx[16];
    } examples[] = {
        {"avg2d:f32:nchw:1x1x3x3:k2", {.25, .75, .5, 1, 2.5, 1.5, .75, 1.75, 1}},
        {"avg1d:f32:ncw:1x1x4:k3:s2:p1:ceil:div=exclude", {.5, .5 + 2. / 3, 2. / 3, 2. / 3 + 3}},
        {"avg1d:f32:ncw:1x1x4:k3:s2:p1:ceil:div=include", {1. / 3, 1, 2. / 3, 5. / 3}},
        {"avg1d:f32:ncw:1x1x4:k3:s2:p1:ceil", {1. / 3, 1, 2. / 3, 2. / 3 + 1.5}},
        {"avg1d:f32:ncw:1x1x4:k3:s2:p1:ceil:div=2", {.5, 1.5, 1, 2.5}},
        {"avg1d:f32:ncw:1x1x4:k3:p1:div=exclude", {7. / 6, 13. / 6, 11. / 3, 3}},
        {"avg1d:f32:ncw:1x1x4:k3:p1:div=include", {1, 2, 3, 7. / 3}},
        {"avg1d:f32:ncw:1x1x4:k3:p1", {1, 2, 3, 7. / 3}},
        {"avg1d:f32:ncw:1x1x4:k5:p2:div=exclude", {19. / 12, 35. / 12, 35. / 12, 31. / 12}},
        {"avg1d:f32:ncw:1x1x5:k2:s2", {.5, .5, 1, 1, 0}},
        {"avg1d:f32:ncw:1x1x5:adaptive:o3", {.5, 7. / 6, 2. / 3, 13. / 6, 1.5}},
        {"avg1d:f32:ncw:1x1x5:k2:d10:p5,1", {0, 0, 0, 0, 0}},
        {"avg1d:f32:ncw:1x1x16:k4:s2:d3:div=1", {1, 0, 2, 1, 3, 2, 5, 3, 2, 5, 3, 2, 4, 3, 0, 4}},
    };
    static const double epsilon[] = {0, 0x1p-23, 0x1p-52, 0x1p-10, 0x1p-7}; /* by dtype */

    (void)state;
    for (size_t n = 0; n < 4 * sizeof examples / sizeof examples[0]; n++) {
        poolgrad_desc desc;
        double *dy, *dx;
        fixture f;

        assert_int_equal(poolgrad_desc_parse(examples[n / 4].text, &desc, NULL), POOLGRAD_OK);
        desc.dtype = (poolgrad_dtype)(POOLGRAD_F32 + n % 4);
        fixture_make(&f, &desc, SUP_ONES, 0);
        dy = array(WINDOWS(&f));
        for (int64_t i = 0; i < WINDOWS(&f); i++)
            dy[i] = (double)(i + 1);
        dx = gradient(&f, dy, 1);
        for (int64_t i = 0; i < ELEMENTS(&f); i++) {
            const double expected = examples[n / 4].dx[i], slack = 2 * epsilon[desc.dtype];

            check(&f, i, dx[i], expected, fmod(expected, 0.125) == 0 ? 0 : slack * expected);
        }
        release(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(documented_examples),
                                       cmocka_unit_test(order_of_operations),
                                       cmocka_unit_test(algebra),
                                       cmocka_unit_test(alpha_and_beta),
                                       cmocka_unit_test(shift_equivariance),
                                       cmocka_unit_test(nan_infinity_and_zero),
                                       cmocka_unit_test(boxes_and_layouts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
