/* SPDX-License-Identifier: MIT */
/*
 * Every strategy on every instruction set against both oracles, over random problems of every op:
 * equal bit for bit to the reference strategy, and the reference to a naive formulation that
 * shares nothing with the library: averages within a proven bound, maxima and their gradients bit
 * for bit. Gaps between strided elements of the result must keep their bytes.
 */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

/* What the naive oracles make of a fixture, in logical order of the result. */
typedef struct naive {
    int64_t elements;
    double *values, *bound;
    int64_t *winners; /* of every window; max only */
    int64_t windows;
} naive;

static double *doubles(int64_t count)
{
    double *values = malloc((size_t)(count + 1) * sizeof *values);

    assert_non_null(values);
    return values;
}

static double *gathered(const fixture *f, const poolgrad_view *view, const sup_memory *memory)
{
    double *values = doubles(sup_view_count(&f->desc, view));

    sup_view_gather(&f->desc, view, memory->first, values);
    return values;
}

static void naive_make(const fixture *f, naive *n)
{
    const poolgrad_desc *desc = &f->desc;
    const int forward = sup_is_forward(desc);
    double *previous = gathered(f, fixture_view(f), forward ? &f->y : &f->dx);
    double *x = f->x.first ? gathered(f, &desc->x, &f->x) : NULL;
    double *dy = f->dy.first ? gathered(f, &desc->dy, &f->dy) : NULL;

    n->elements = sup_view_count(desc, fixture_view(f));
    n->windows = sup_view_count(desc, sup_view_windows(desc));
    n->values = doubles(n->elements);
    n->bound = doubles(n->elements);
    n->winners = malloc((size_t)(n->windows + 1) * sizeof *n->winners);
    assert_non_null(n->winners);
    if (sup_is_max(desc) && x)
        sup_naive_winners(desc, x, n->winners);
    else if (sup_is_max(desc))
        sup_index_gather(desc, f->indices.first, n->winners);
    switch (desc->op) {
    case POOLGRAD_AVG_GRAD:
        sup_scatter_avg_grad(desc, dy, n->values, n->bound);
        sup_scatter_scale(desc, previous, n->values, n->bound);
        break;
    case POOLGRAD_AVG:
        sup_naive_avg(desc, x, n->values, n->bound);
        sup_scatter_scale(desc, previous, n->values, n->bound);
        break;
    case POOLGRAD_MAX_GRAD:
        sup_naive_max_grad(desc, n->winners, dy, n->values, NULL);
        sup_naive_scale(desc, previous, n->values);
        break;
    case POOLGRAD_MAX:
        sup_naive_max(desc, x, n->winners, n->values);
        sup_naive_scale(desc, previous, n->values);
        break;
    }
    free(previous);
    free(x);
    free(dy);
}

static void naive_free(naive *n)
{
    free(n->values);
    free(n->bound);
    free(n->winners);
}

static void check_against_naive(const fixture *f, const naive *n, const void *result)
{
    const poolgrad_dtype dtype = f->desc.dtype;
    int64_t i;

    for (i = 0; i < n->elements; i++) {
        const int64_t offset = sup_view_offset(&f->desc, fixture_view(f), i);
        const double got = sup_load(dtype, result, offset);
        double rounded;
        int good;

        if (sup_is_max(&f->desc)) {
            sup_store(dtype, &rounded, 0, n->values[i]);
            good =
                sup_equal_bits(dtype, &rounded,
                               (const char *)result + offset * (int64_t)poolgrad_dtype_size(dtype));
        } else {
            good = sup_scatter_agrees(&f->desc, got, n->values[i], n->bound[i]);
        }
        if (!good)
            fail_msg("%s\nelement %lld is %.17g, the naive oracle gives %.17g", f->text,
                     (long long)i, got, n->values[i]);
    }
}

/* What lies between the elements of the result must not change: give the elements back their
 * previous values and compare everything. */
static void check_gaps(fixture *f, sup_memory *result)
{
    const size_t size = poolgrad_dtype_size(f->desc.dtype);
    const int64_t elements = sup_view_count(&f->desc, fixture_view(f));
    int64_t i;

    for (i = 0; i < elements; i++) {
        const int64_t offset = sup_view_offset(&f->desc, fixture_view(f), i) * (int64_t)size;

        memcpy((char *)result->first + offset, (const char *)fixture_result(f)->first + offset,
               size);
    }
    assert_memory_equal(result->allocation, fixture_result(f)->allocation, result->bytes);
}

/* The winners that a forward pass reports. */
static void check_winners(const fixture *f, const naive *n, const void *indices)
{
    int64_t *winners = malloc((size_t)(n->windows + 1) * sizeof *winners);
    int64_t i;

    assert_non_null(winners);
    sup_index_gather(&f->desc, indices, winners);
    for (i = 0; i < n->windows; i++)
        if (winners[i] != n->winners[i])
            fail_msg("%s\nwinner %lld is %lld, expected %lld", f->text, (long long)i,
                     (long long)winners[i], (long long)n->winners[i]);
    free(winners);
}

static void check_strategy(fixture *f, const naive *n, const char *strategy, const char *cpu,
                           int threads, const sup_memory *expected)
{
    poolgrad_options options = options_for(strategy, threads);
    sup_memory actual = copy_of_result(f), indices = {0};

    options.cpu = cpu;
    if (f->desc.op == POOLGRAD_MAX)
        assert_int_equal(sup_index_alloc(&f->desc, &indices), 0);
    run_with_indices(f, &options, actual.first, indices.first);
    assert_same_result(f, expected->first, actual.first, strategy);
    if (f->desc.op == POOLGRAD_MAX)
        check_winners(f, n, indices.first);
    check_gaps(f, &actual);
    sup_view_free(&actual);
    sup_view_free(&indices);
}

static void check_problem(const poolgrad_desc *desc, sup_kind kind, uint64_t seed)
{
    const poolgrad_options reference = options_for("reference", 1);
    const char *strategy, *cpu;
    sup_memory expected;
    size_t s, c;
    fixture f;
    naive n;

    fixture_make(&f, desc, kind, seed);
    naive_make(&f, &n);
    expected = copy_of_result(&f);
    run_into(&f, &reference, expected.first);
    check_against_naive(&f, &n, expected.first);
    for (s = 0; (strategy = poolgrad_name(POOLGRAD_NAME_STRATEGY, s)) != NULL; s++)
        for (c = 0; (cpu = poolgrad_name(POOLGRAD_NAME_CPU, c)) != NULL; c++)
            if (strategy_applies(&f, strategy))
                check_strategy(&f, &n, strategy, cpu, 1 + (int)((seed + c) % 3), &expected);
    sup_view_free(&expected);
    naive_free(&n);
    fixture_free(&f);
}

/* How many times the usual number of random problems, and seeds apart from the usual ones. */
static int times = 1;

static const sup_kind kinds[] = {SUP_UNIFORM, SUP_INTEGERS, SUP_SPECIALS, SUP_TIES};

enum {
    KINDS = sizeof kinds / sizeof kinds[0]
};

static void check_random(const sup_limits *limits, int problems, uint64_t seed)
{
    sup_rng rng;
    int i;

    sup_rng_seed(&rng, seed * (uint64_t)times);
    for (i = 0; i < problems * times; i++) {
        poolgrad_desc desc;

        sup_random_problem(&rng, limits, &desc);
        check_problem(&desc, kinds[i % KINDS], (uint64_t)i);
    }
}

static void random_average_gradients(void **state)
{
    (void)state;
    check_random(NULL, scaled(3000), 20260101);
}

static void random_max_gradients(void **state)
{
    sup_limits limits = sup_limits_default();

    (void)state;
    limits.ops = SUP_OP(POOLGRAD_MAX_GRAD);
    check_random(&limits, scaled(3000), 3);
}

static void random_forward_passes(void **state)
{
    sup_limits limits = sup_limits_default();

    (void)state;
    limits.ops = SUP_OP(POOLGRAD_AVG) | SUP_OP(POOLGRAD_MAX);
    check_random(&limits, scaled(3000), 5);
}

/* Larger ones, so that tiles, channel blocks and every doubling level are used. */
static void random_large_problems(void **state)
{
    sup_limits limits = sup_limits_default();

    (void)state;
    limits.elements = 400000;
    limits.work = 8000000;
    limits.ops = SUP_ALL_OPS;
    check_random(&limits, scaled(60), 7);
}

static void chosen_problems(void **state)
{
    static const char *const texts[] = {
#include "chosen.def"
    };
    size_t i, kind;

    (void)state;
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        for (kind = 0; kind < KINDS; kind++) {
            poolgrad_desc desc;
            poolgrad_error error;

            if (poolgrad_desc_parse(texts[i], &desc, &error))
                fail_msg("%s: %s", texts[i], error.message);
            check_problem(&desc, kinds[kind], i);
        }
    }
}

/* Numbers at the edge of 64 bits, beyond what the naive oracle can count with: all strategies agree
 * with the reference, quickly and without overflow. */
static void edge_of_64_bits(void **state)
{
    static const char *const texts[] = {
        "avg1d:f32:ncw:1x1x4:k2:s3:d4000000000000000007:p4000000000000000004,0",
        /* places beyond 32 and near 64 bits */
        ("max3d:f32:ncdhw:1x1x3x50000x50000:k2:index=i64:dxbox=0+*,0+*,0+*,0+2,0+*:"
         "dybox=0+*,0+*,0+*,0+2,0+*"),
        ("maxpool2d:f32:nchw:1x1x100000x100000:k3:ybox=0+*,0+*,99980+8,99980+8:"
         "xbox=0+*,0+*,99980+10,99980+10:base=plane:nan=last"),
        ("maxpool1d:f32:nwc:1x4x2305843009213693952:k2:ybox=0+*,0+*,2305843009213693000+8:"
         "xbox=0+*,0+*,2305843009213693000+9:base=plane"),
        ("avgpool1d:f64:nwc:1x16x2305843009213693952:k2:d1152921504606846976:"
         "p2305843009213693952,0:ybox=0+*,0+*,0+1:xbox=0+*,0+*,0+1"),
        "avg1d:f32:ncw:1x1x3:k2:d4611686018427387904:p4611686018427387904,0",
        "avg2d:f32:nchw:1x1x3x3:k2:d4611686018427387904:p4611686018427387904,0",
        "avg2d:f32:nchw:1x1x2x2:k1:d9223372036854775807",
        "avg3d:f16:ndhwc:2x3x5x2x7:k9223372036854775807:div=exclude",
        ("avg2d:f32:strided:1x1x1x4:k1:dystride=1,1,9223372036854775807,1:"
         "dxstride=1,1,9223372036854775807,1"),
        "avg3d:f32:ncdhw:2x2x2x4x4:k3x2x2",
        ("avg1d:f32:ncw:1x1x9223372036854775807:k1:dxbox=0+1,0+1,9223372036854075806+701:"
         "dybox=0+1,0+1,9223372036854075806+701"),
        "avg1d:f64:ncw:1x1x3:k1:s9223372036854775807:ceil:p3",
        ("avgpool1d:f32:ncw:1x1x10:k1:s1700000000000000000:p8600000000000000000,0:"
         "ybox=0+1,0+1,0+3:xbox=0+1,0+1,0+0"),
        ("avgpool1d:f64:nwc:3x3x10:k2:s9223372036854775790:d4611686018427387904:"
         "p6942726137112050689,2:ceil:div=-3:ybox=1+2,0+*,0+1"),
        ("max1d:f32:ncw:1x1x100:k3100000000000000000:p0,6200000000000000000:"
         "dybox=0+1,0+1,0+100:nowinner"),
        ("max2d:f16:nchw/nhwc:2x2x12x10:k2x1:d2x2039764718570943489:p9223372036854775795,0x0:ceil:"
         "alpha=1.25:dybox=0+2,0+2,9223372036854775788+17,6+4:dxbox=0+*,0+*,0+*,6+4:from=x:"
         "xlayout=nchw:xbox=0+2,0+2,0+12,6+4"),
        ("max1d:f32:ncw:4611686018427387904x4x8:k2:base=plane:index=i32:dxbox=0+1,0+1,0+*:"
         "dybox=0+1,0+1,0+*"),
    };
    const poolgrad_options reference = options_for("reference", 1);
    size_t i;

    (void)state;
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sup_memory expected, actual;
        fixture f;

        fixture_parse(&f, texts[i], SUP_UNIFORM, i);
        expected = copy_of_result(&f);
        actual = copy_of_result(&f);
        run_into(&f, &reference, expected.first);
        run_into(&f, NULL, actual.first);
        assert_same_result(&f, expected.first, actual.first, "at the edge of 64 bits");
        sup_view_free(&expected);
        sup_view_free(&actual);
        fixture_free(&f);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chosen_problems),          cmocka_unit_test(edge_of_64_bits),
        cmocka_unit_test(random_average_gradients), cmocka_unit_test(random_max_gradients),
        cmocka_unit_test(random_forward_passes),    cmocka_unit_test(random_large_problems),
    };

    times = is_big(argc, argv) ? 20 : 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
