/* SPDX-License-Identifier: MIT */
/*
 * Forward passes and gradients belong together: <pool(x), dy> = <x, gradient(dy)>, and the gradient
 * is what finite differences of the forward pass say. Both sides are the library's own; the oracles
 * judge each of them elsewhere.
 */
#include "harness.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* A forward problem with its x, and the gradient problem of the same geometry with its dy. */
typedef struct pair {
    fixture forward, gradient;
} pair;

/* The gradient that belongs to a forward problem of whole views: dy lies like y, dx like x. */
static void pair_make(pair *p, const poolgrad_desc *forward, sup_kind kind, uint64_t seed)
{
    poolgrad_desc gradient = *forward;

    gradient.op = forward->op == POOLGRAD_AVG ? POOLGRAD_AVG_GRAD : POOLGRAD_MAX_GRAD;
    gradient.winner = POOLGRAD_FROM_X;
    gradient.dy = forward->y;
    gradient.dx = forward->x;
    fixture_make(&p->forward, forward, kind, seed);
    fixture_make(&p->gradient, &gradient, kind, seed + 1);
}

static void pair_free(pair *p)
{
    fixture_free(&p->forward);
    fixture_free(&p->gradient);
}

/* The product of two buffers of the same shape, summed; and the sum of absolute values. */
static double inner(const fixture *a, const poolgrad_view *a_view, const void *a_first,
                    const fixture *b, const poolgrad_view *b_view, const void *b_first,
                    double *absolute)
{
    const int64_t count = sup_view_count(&a->desc, a_view);
    double sum = 0;
    int64_t i;

    assert_int_equal(count, sup_view_count(&b->desc, b_view));
    for (i = 0; i < count; i++) {
        const double product =
            sup_load(a->desc.dtype, a_first, sup_view_offset(&a->desc, a_view, i)) *
            sup_load(b->desc.dtype, b_first, sup_view_offset(&b->desc, b_view, i));

        sum += product;
        *absolute += fabs(product);
    }
    return sum;
}

/* Exactly if `exact`, else up to the rounding of the two passes. */
static void check_adjoint(const poolgrad_desc *forward, sup_kind kind, uint64_t seed, int exact)
{
    static const double epsilons[] = {0, FLT_EPSILON, DBL_EPSILON, 0x1p-10, 0x1p-7};
    double left, right, scale = 0;
    pair p;

    pair_make(&p, forward, kind, seed);
    run_into(&p.forward, NULL, p.forward.y.first);
    run_into(&p.gradient, NULL, p.gradient.dx.first);
    left = inner(&p.forward, &p.forward.desc.y, p.forward.y.first, &p.gradient, &p.gradient.desc.dy,
                 p.gradient.dy.first, &scale);
    right = inner(&p.forward, &p.forward.desc.x, p.forward.x.first, &p.gradient,
                  &p.gradient.desc.dx, p.gradient.dx.first, &scale);
    /* every product carries the error of one result: of sums of up to 2^16 terms by doubling */
    if (exact ? left != right
              : !(fabs(left - right) <= 64 * epsilons[forward->dtype] * (scale + 1)))
        fail_msg("%s\n<pool(x), dy> is %.17g but <x, gradient(dy)> is %.17g", p.forward.text, left,
                 right);
    pair_free(&p);
}

/* Whether every window's divisor is a power of two, so that quotients of small integers are
 * exact. */
static int counts_are_powers_of_two(poolgrad_desc *desc)
{
    int axis;

    desc->divisor = POOLGRAD_INCLUDE;
    if (desc->rounding == POOLGRAD_ADAPTIVE)
        return 0;
    for (axis = 0; axis < desc->rank; axis++)
        if (desc->kernel[axis] > 64 || (desc->kernel[axis] & (desc->kernel[axis] - 1)) != 0)
            return 0;
    return 1;
}

static void average_is_adjoint(void **state)
{
    const int problems = scaled(3000);
    sup_limits limits = sup_limits_default();
    int exact_ones = 0, i;
    sup_rng rng;

    (void)state;
    limits.ops = SUP_OP(POOLGRAD_AVG);
    limits.only_whole = limits.only_gradient = 1;
    limits.elements = 3000;
    sup_rng_seed(&rng, 23);
    for (i = 0; i < problems; i++) {
        poolgrad_desc desc, exact;

        do
            sup_random_problem(&rng, &limits, &desc);
        while (desc.y.layout == POOLGRAD_STRIDED || desc.x.layout == POOLGRAD_STRIDED);
        check_adjoint(&desc, SUP_UNIFORM, (uint64_t)i, 0);
        exact = desc;
        exact.dtype = i % 2 ? POOLGRAD_F64 : POOLGRAD_F32;
        if (!counts_are_powers_of_two(&exact))
            continue;
        check_adjoint(&exact, SUP_INTEGERS, (uint64_t)i, 1);
        exact_ones++;
    }
    assert_true(exact_ones > problems / 20);
}

/* d/dx of <pool(x), dy> by central differences, at a few places. For the average any step is exact
 * up to rounding; for the maximum the step must not change a winner. */
static void check_differences(const poolgrad_desc *forward, uint64_t seed)
{
    const double step = 0x1p-20;
    int64_t places, i;
    double unused = 0;
    sup_rng rng;
    pair p;

    pair_make(&p, forward, SUP_UNIFORM, seed);
    if (forward->op == POOLGRAD_MAX)
        sup_view_scatter(&p.gradient.desc, &p.gradient.desc.x, p.forward.x.first,
                         p.gradient.x.first);
    run_into(&p.gradient, NULL, p.gradient.dx.first);
    places = sup_view_count(&p.forward.desc, &p.forward.desc.x);
    sup_rng_seed(&rng, seed);
    for (i = 0; i < 12 && places > 0; i++) {
        const int64_t at = sup_rng_range(&rng, 0, places - 1);
        double *x = (double *)p.forward.x.first + at, kept = *x, difference;
        const double dx = ((const double *)p.gradient.dx.first)[at];

        *x = kept + step;
        run_into(&p.forward, NULL, p.forward.y.first);
        difference = inner(&p.forward, &p.forward.desc.y, p.forward.y.first, &p.gradient,
                           &p.gradient.desc.dy, p.gradient.dy.first, &unused);
        *x = kept - step;
        run_into(&p.forward, NULL, p.forward.y.first);
        difference -= inner(&p.forward, &p.forward.desc.y, p.forward.y.first, &p.gradient,
                            &p.gradient.desc.dy, p.gradient.dy.first, &unused);
        *x = kept;
        difference /= 2 * step;
        if (!(fabs(difference - dx) <= 1e-6 * (1 + fabs(dx))))
            fail_msg("%s\nelement %lld: the gradient is %.12g, differences give %.12g",
                     p.forward.text, (long long)at, dx, difference);
    }
    pair_free(&p);
}

static void finite_differences(void **state)
{
    static const char *const texts[] = {
        "avgpool1d:f64:ncw:1x2x9:k3:s2:p1:div=exclude",
        "avgpool2d:f64:nchw:1x2x7x8:k3x2:s1x2:p1:ceil",
        "avgpool3d:f64:ncdhw:1x1x4x5x6:k2x3x2:d1x2x1:p1:div=include",
        "avgpool2d:f64:nchw:1x2x7x8:adaptive:o3x5",
        "avgpool1d:f64:ncw:1x2x9:k4:p3:div=-7",
        "maxpool1d:f64:ncw:1x2x9:k3:s2:p1",
        "maxpool2d:f64:nchw:1x2x7x8:k3:p1",
        "maxpool3d:f64:ncdhw:1x1x4x5x6:k2x3x2:d1x2x1:p1",
        "maxpool2d:f64:nchw:1x2x7x8:adaptive:o3x5",
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        poolgrad_desc desc;

        assert_int_equal(poolgrad_desc_parse(texts[i], &desc, NULL), POOLGRAD_OK);
        check_differences(&desc, i);
    }
}

/* Sums that only the defined order rounds to these values (docs/arithmetic.md, section 8). The
 * reference shares its runs with the other strategies, so the order is written down here too. */
static void order_of_forward_sums(void **state)
{
    const float tiny = 0x1p-24f;
    const struct {
        const char *text;
        float x[8];
        float first; /* y[0] */
    } cases[] = {
        /* filled, taps -1 to 3: ((0 + x0) + (x1 + x2)) + x3 */
        {"avgpool1d:f32:ncw:1x1x7:k5:p1:div=1", {1, tiny, tiny, 0}, 1 + 2 * tiny},
        /* clipped to taps 0 to 3: (x0 + x1) + (x2 + x3) */
        {"avgpool1d:f32:ncw:1x1x4:k5:p1:div=1", {1, tiny, tiny, 0}, 1},
        /* the first axis first: (x00 + x10) + (x01 + x11) */
        {"avgpool2d:f32:nchw:1x1x2x2:k2:div=1", {1, 0, tiny, tiny}, 1},
        /* 3 taps: ((x0 + x1) + x2) / 3, divided once, after the sum */
        {"avgpool1d:f32:ncw:1x1x3:k3", {1, tiny, tiny}, 1.0f / 3},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        poolgrad_buffers buffers;
        poolgrad_plan *plan;
        poolgrad_desc desc;
        float y[8];

        poolgrad_buffers_init(&buffers);
        buffers.x = cases[i].x;
        buffers.y = y;
        assert_int_equal(poolgrad_desc_parse(cases[i].text, &desc, NULL), POOLGRAD_OK);
        assert_int_equal(poolgrad_plan_create(&plan, &desc, NULL, NULL), POOLGRAD_OK);
        assert_int_equal(poolgrad_execute(plan, &buffers, NULL), POOLGRAD_OK);
        poolgrad_plan_destroy(plan);
        if (y[0] != cases[i].first)
            fail_msg("%s: y[0] is %a, expected %a", cases[i].text, (double)y[0],
                     (double)cases[i].first);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(average_is_adjoint),
        cmocka_unit_test(finite_differences),
        cmocka_unit_test(order_of_forward_sums),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
