/* SPDX-License-Identifier: MIT */
/*
 * Every strategy on every instruction set against both oracles, over random problems: equal bit
 * for bit to the reference strategy, and the reference within a proven bound of the naive scatter
 * in f64. Gaps between strided elements of dx must keep their bytes.
 */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

static void check_against_scatter(const fixture *f, const void *dx)
{
    const int64_t windows = sup_view_count(&f->desc, &f->desc.dy);
    const int64_t elements = sup_view_count(&f->desc, &f->desc.dx);
    double *dy = malloc((size_t)(windows + 1) * sizeof *dy);
    double *values = malloc((size_t)(elements + 1) * 4 * sizeof *values);
    double *bound = values + elements, *previous = bound + elements, *got = previous + elements;
    int64_t i;

    assert_non_null(dy);
    assert_non_null(values);
    sup_view_gather(&f->desc, &f->desc.dy, f->dy.first, dy);
    sup_view_gather(&f->desc, &f->desc.dx, f->dx.first, previous);
    sup_view_gather(&f->desc, &f->desc.dx, dx, got);
    sup_scatter_avg_grad(&f->desc, dy, values, bound);
    sup_scatter_scale(&f->desc, previous, values, bound);
    for (i = 0; i < elements; i++)
        if (!sup_scatter_agrees(&f->desc, got[i], values[i], bound[i]))
            fail_msg("%s\nelement %lld is %.17g, the scatter in f64 gives %.17g", f->text,
                     (long long)i, got[i], values[i]);
    free(dy);
    free(values);
}

/* What lies between the elements of dx must not change: give the elements back their previous
 * values and compare everything. */
static void check_gaps(const fixture *f, sup_memory *dx)
{
    const size_t size = poolgrad_dtype_size(f->desc.dtype);
    const int64_t elements = sup_view_count(&f->desc, &f->desc.dx);
    int64_t i;

    for (i = 0; i < elements; i++) {
        const int64_t offset = sup_view_offset(&f->desc, &f->desc.dx, i) * (int64_t)size;

        memcpy((char *)dx->first + offset, (const char *)f->dx.first + offset, size);
    }
    assert_memory_equal(dx->allocation, f->dx.allocation, dx->bytes);
}

static void check_problem(const poolgrad_desc *desc, sup_kind kind, uint64_t seed)
{
    poolgrad_options options = options_for("reference", 1);
    sup_memory expected, actual;
    const char *strategy, *cpu;
    size_t s, c;
    fixture f;

    fixture_make(&f, desc, kind, seed);
    expected = copy_of_dx(&f);
    run_into(&f, &options, expected.first);
    check_against_scatter(&f, expected.first);
    for (s = 0; (strategy = poolgrad_name(POOLGRAD_NAME_STRATEGY, s)) != NULL; s++) {
        for (c = 0; (cpu = poolgrad_name(POOLGRAD_NAME_CPU, c)) != NULL; c++) {
            options = options_for(strategy, 1 + (int)((seed + c) % 3));
            options.cpu = cpu;
            actual = copy_of_dx(&f);
            run_into(&f, &options, actual.first);
            assert_same_dx(&f, expected.first, actual.first, strategy);
            check_gaps(&f, &actual);
            sup_view_free(&actual);
        }
    }
    sup_view_free(&expected);
    fixture_free(&f);
}

/* How many times the usual number of random problems, and seeds apart from the usual ones. */
static int times = 1;

static const sup_kind kinds[] = {SUP_UNIFORM, SUP_INTEGERS, SUP_SPECIALS};

static void random_problems(void **state)
{
    const int problems = scaled(3000) * times;
    sup_rng rng;
    int i;

    (void)state;
    sup_rng_seed(&rng, 20260101u * (unsigned)times);
    for (i = 0; i < problems; i++) {
        poolgrad_desc desc;

        sup_random_problem(&rng, NULL, &desc);
        check_problem(&desc, kinds[i % 3], (uint64_t)i);
    }
}

/* Larger ones, so that tiles, channel blocks and every doubling level are used. */
static void random_large_problems(void **state)
{
    sup_limits limits = sup_limits_default();
    const int problems = scaled(30) * times;
    sup_rng rng;
    int i;

    (void)state;
    limits.elements = 400000;
    limits.work = 8000000;
    sup_rng_seed(&rng, 7u * (unsigned)times);
    for (i = 0; i < problems; i++) {
        poolgrad_desc desc;

        sup_random_problem(&rng, &limits, &desc);
        check_problem(&desc, kinds[i % 3], (uint64_t)i);
    }
}

/* Problems that are rare among random ones, or that once were wrong. */
static void chosen_problems(void **state)
{
    static const char *const texts[] = {
        "avg2d:f32:nchw:1x1x3x3:k2",
        "avg1d:f32:ncw:1x1x4:k2147483647:p1073741823",
        "avg3d:f64:ncdhw:1x2x3x4x5:k2147483647:p1073741823,1073741824:div=exclude",
        "avg1d:bf16:ncw:1x1x5:k3:p4:div=exclude",
        "avg2d:f16:nhwc:2x3x5x4:k1:s3",
        "avg2d:f32:nchw:1x2x9x7:k2:s5x4:p1",
        "avg2d:f32:nchw:1x1x2x5:k3:s2:ceil",
        "avg1d:f32:ncw:2x2x10:k3:s2:d3:p2,5",
        "avg1d:f64:ncw:1x1x50:k5:s6:d4:p7",
        "avg1d:f32:ncw:1x1x1:k2:d3:p3:div=exclude",
        "avg2d:f32:nchw:2x2x5x7:adaptive:o1",
        "avg2d:f32:nchw:2x2x5x7:adaptive:o8x3",
        "avg1d:f32:ncw:1x1x7:adaptive:o19:div=-3",
        "avg2d:f32:nchw:0x3x4x4:k2",
        "avg2d:f32:nchw:2x0x4x4:k2",
        "avg2d:f32:nchw:1x1x2x2:k3",
        "avg1d:f32:ncw:1x1x0:k1",
        "avg2d:f32:nhwc:1x200x40x3:k3:p1:alpha=-1:beta=0.5",
        "avg1d:f32:ncw:1x1x3000:k1000:p500",
        "avg1d:f32:ncw:1x1x4000:k2800:s3",
        "avg3d:bf16:ndhwc:1x5x20x21x22:k9:p4",
        "avg2d:f32:strided/nchw:2x3x8x8:k2:s2:dystride=0,0,0,0",
        "avg2d:f32:nchw:1x1x6x6:k3:p1:dxbox=0+*,0+*,2+0,0+*:dybox=0+*,0+*,0+0,0+*",
        "avg2d:f32:nchw:1x1x9x9:k2:s4:dxbox=0+*,0+*,2+2,0+*:dybox=0+*,0+*,1+0,0+*",
    };
    size_t i, kind;

    (void)state;
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        for (kind = 0; kind < 3; kind++) {
            poolgrad_desc desc;
            poolgrad_error error;

            if (poolgrad_desc_parse(texts[i], &desc, &error))
                fail_msg("%s", error.message);
            check_problem(&desc, kinds[kind], i);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chosen_problems),
        cmocka_unit_test(random_problems),
        cmocka_unit_test(random_large_problems),
    };

    times = is_big(argc, argv) ? 20 : 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
