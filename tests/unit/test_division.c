/* SPDX-License-Identifier: MIT */
/* Quotients by counts are correctly rounded, whatever instructions make them: a kernel of one tap
 * with its own divisor divides every element, both ways, and nothing else. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int big;

static float f32_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static double f64_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Elements as doubles, for free. */
static double *widened(poolgrad_dtype dtype, const void *from, int64_t count)
{
    double *wide = malloc((size_t)count * sizeof *wide);

    assert_non_null(wide);
    assert_int_equal(poolgrad_convert(POOLGRAD_F64, wide, dtype, from, (size_t)count, NULL),
                     POOLGRAD_OK);
    return wide;
}

/* What is to be stored, likewise. */
static double *quotients(poolgrad_dtype dtype, const double *values, int64_t count, double divisor)
{
    double *wide = malloc((size_t)count * sizeof *wide);
    void *stored = malloc((size_t)count * poolgrad_dtype_size(dtype));
    int64_t i;

    assert_non_null(wide);
    assert_non_null(stored);
    for (i = 0; i < count; i++)
        wide[i] = dtype == POOLGRAD_F64 ? values[i] / divisor
                                        : (double)((float)values[i] / (float)divisor);
    assert_int_equal(poolgrad_convert(dtype, stored, POOLGRAD_F64, wide, (size_t)count, NULL),
                     POOLGRAD_OK);
    free(wide);
    wide = widened(dtype, stored, count);
    free(stored);
    return wide;
}

/* NaN and NaN are the same; otherwise the bits. A zero has no sign here: terms are +0. */
static int differs(double actual, double expected)
{
    return actual != expected && (actual == actual || expected == expected);
}

/* Runs `text` on every instruction set, `count` elements of `from`, and compares. */
static void divide(const char *text, poolgrad_dtype dtype, int forward, const void *from,
                   int64_t count, double divisor)
{
    poolgrad_options options = options_for("separable", 1);
    const size_t size = poolgrad_dtype_size(dtype);
    void *to = malloc((size_t)count * size);
    double *values = widened(dtype, from, count), *actual;
    double *expected = quotients(dtype, values, count, divisor);
    poolgrad_buffers buffers;
    poolgrad_desc desc;
    poolgrad_plan *plan;
    const char *cpu;
    int64_t i;
    size_t c;

    assert_non_null(to);
    assert_int_equal(poolgrad_desc_parse(text, &desc, NULL), POOLGRAD_OK);
    poolgrad_buffers_init(&buffers);
    *(forward ? &buffers.x : &buffers.dy) = from;
    *(forward ? &buffers.y : &buffers.dx) = to;
    for (c = 0; (cpu = poolgrad_name(POOLGRAD_NAME_CPU, c)) != NULL; c++) {
        options.cpu = cpu;
        assert_int_equal(poolgrad_plan_create(&plan, &desc, &options, NULL), POOLGRAD_OK);
        assert_int_equal(poolgrad_execute(plan, &buffers, NULL), POOLGRAD_OK);
        poolgrad_plan_destroy(plan);
        actual = widened(dtype, to, count);
        for (i = 0; i < count; i++)
            if (differs(actual[i], expected[i]))
                fail_msg("%s on %s: %a / %a is %a, not %a", text, cpu, values[i], divisor,
                         actual[i], expected[i]);
        free(actual);
    }
    free(values);
    free(expected);
    free(to);
}

static void divide_both_ways(const char *type, poolgrad_dtype dtype, const void *from,
                             int64_t count, int64_t divisor)
{
    char text[128];

    snprintf(text, sizeof text, "avg1d:%s:ncw:1x1x%lld:k1:div=%lld", type, (long long)count,
             (long long)divisor);
    divide(text, dtype, 0, from, count, (double)divisor);
    snprintf(text, sizeof text, "avgpool1d:%s:ncw:1x1x%lld:k1:div=%lld", type, (long long)count,
             (long long)divisor);
    divide(text, dtype, 1, from, count, (double)divisor);
}

/* Every significand of f32 in one binade: all that matters as long as nothing is subnormal. */
static void every_significand(void **state)
{
    static const int64_t divisors[] = {9, 3, 7, 25, 49, 121, 729, 12345, 2097151, 2097153, -9};
    const int64_t count = INT64_C(1) << 23;
    float *from = malloc((size_t)count * sizeof *from);
    const size_t used = big ? sizeof divisors / sizeof divisors[0] : (size_t)scaled(100) / 50 + 1;
    size_t d;
    int64_t i;

    (void)state;
    assert_non_null(from);
    for (i = 0; i < count; i++)
        from[i] = f32_of(0x3f800000U + (uint32_t)i);
    for (d = 0; d < used; d++)
        divide_both_ways("f32", POOLGRAD_F32, from, count, divisors[d]);
    for (d = 2; big && d < 4096; d++)
        divide_both_ways("f32", POOLGRAD_F32, from, count, (int64_t)d);
    free(from);
}

/* All there is of the narrow types. */
static void every_narrow(void **state)
{
    static uint16_t all[65536 + 3]; /* and a rest for every length of vectors */
    const int64_t count = sizeof all / sizeof all[0];
    const int most = big ? 4096 : scaled(60);
    int64_t i;
    int d;

    (void)state;
    for (i = 0; i < count; i++)
        all[i] = (uint16_t)i;
    for (d = 1; d <= most; d++) {
        divide_both_ways("f16", POOLGRAD_F16, all, count, d);
        divide_both_ways("bf16", POOLGRAD_BF16, all, count, d % 7 ? d : -d * INT64_C(511));
    }
}

/* Any bits at all: infinities, NaN, subnormals, and what becomes subnormal. */
static void any_bits(void **state)
{
    const int64_t count = 4099; /* a rest for every length of vectors */
    const int turns = scaled(300);
    float *narrow = malloc((size_t)count * sizeof *narrow);
    double *wide = malloc((size_t)count * sizeof *wide);
    sup_rng rng;
    int64_t i;
    int turn;

    (void)state;
    assert_non_null(narrow);
    assert_non_null(wide);
    sup_rng_seed(&rng, 7);
    for (turn = 0; turn < turns; turn++) {
        /* now and then only such that nothing is odd but a few: rows are divided again as a whole
         */
        const int tame = turn % 3;
        const int64_t divisor = 1 + (int64_t)(sup_rng_next(&rng) % (turn % 2 ? 1000 : 5000000));

        for (i = 0; i < count; i++) {
            const uint64_t bits = sup_rng_next(&rng);
            const int odd = tame == 0 || (tame == 1 && bits % 1000 == 0);

            narrow[i] = f32_of((uint32_t)(odd ? bits : (bits & 0x07ffffff) | 0x3c000000));
            wide[i] = f64_of(odd ? bits : (bits & 0x00ffffffffffffff) | 0x3f00000000000000);
            if (odd && bits % 5 == 0) { /* near the smallest */
                narrow[i] = f32_of((uint32_t)bits & 0x85ffffff);
                wide[i] = f64_of(bits & 0x803fffffffffffff);
            }
        }
        divide_both_ways("f32", POOLGRAD_F32, narrow, count, divisor);
        divide_both_ways("f64", POOLGRAD_F64, wide, count, divisor);
    }
    free(narrow);
    free(wide);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_significand),
        cmocka_unit_test(every_narrow),
        cmocka_unit_test(any_bits),
    };

    big = is_big(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
