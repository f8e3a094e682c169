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
        /* windows that tile W, with more places than a kernel has rows for */
        "avg1d:f32:nwc:2x32x400:k100:s100",
        "avg1d:bf16:nwc:2x40x68:k17:s17",
        "avg1d:f16:ncw/strided:1x32x423:o1:adaptive:dxstride=13536,1,32",
        "avg1d:f32:ncw:1x1x4000:k2800:s3",
        "avg3d:bf16:ndhwc:1x5x20x21x22:k9:p4",
        "avg2d:f32:strided/nchw:2x3x8x8:k2:s2:dystride=0,0,0,0",
        /* planes or batch elements that are all the same: of one number, of rows, in boxes */
        "avg2d:f32:strided/nchw:9x4x9x8:k3:s2:p1:dystride=0,0,0,0",
        "avg2d:f32:strided/nchw:2x200x5x5:k2:dystride=0,0,0,0",
        "avg2d:bf16:strided/nhwc:33x5x6x7:k3:p1:div=exclude:dystride=0,1,35,5",
        "avg2d:f16:strided/nchw:33x2x6x7:k3:p1:alpha=-2:dystride=0,42,7,1",
        "avg2d:f32:strided/nchw:7x9x9x9:k2:dystride=0,0,8,1:dxbox=1+6,2+7,2+5,1+7",
        "avg2d:f32:strided/nchw:7x9x20x20:k3:p1:dystride=0,0,20,1:dxbox=1+6,2+7,0+*,0+*",
        "avg2d:f32:strided/nhwc:40x32x20x20:k3:p1:dystride=0,1,640,32:dxbox=3+37,0+*,0+*,0+*",
        "avg2d:f32:strided/nchw:7x9x41x41:k3:s2:p1:dystride=0,0,21,1:dxbox=1+6,2+7,0+*,0+*",
        "avgpool2d:f32:strided/nchw:7x9x20x20:k3:p1:xstride=0,0,20,1:ybox=1+6,2+7,0+*,0+*",
        "avg2d:f32:strided/nhwc:40x3x5x4:k2:dystride=0,0,0,0:beta=1",
        "avg2d:f64:strided/nchw:20x3x1x1:k3:p1:dystride=0,0,0,0",
        "avg1d:f32:strided/ncw:1x39x7:k3:dystride=5,0,1",
        "avgpool3d:f64:strided/ncdhw:18x2x4x5x6:k2:xstride=0,0,30,6,1:alpha=-2",
        "avg2d:f32:nchw:1x1x6x6:k3:p1:dxbox=0+*,0+*,2+0,0+*:dybox=0+*,0+*,0+0,0+*",
        "avg2d:f32:nchw:1x1x9x9:k2:s4:dxbox=0+*,0+*,2+2,0+*:dybox=0+*,0+*,1+0,0+*",
        /* a filled axis whose windows hang over far */
        "avg1d:f32:ncw:1x1x4:k2:s3:d100000007:p100000004,0",
        "avgpool1d:f32:ncw:1x1x4:k2:s3:p1000000,0:d1000001",
        /* windows wholly behind the input, in boxes */
        "avgpool1d:f16:ncw:1x3x25:k5:s4:p0,64:xbox=0+1,0+2,22+3:ybox=0+*,0+2,8+4",
        ("maxpool2d:bf16:nchw:1x1x14x9:k2x5:d4x2:p6,0x3,20:xbox=0+1,0+1,0+8,6+3:"
         "ybox=0+1,0+1,6+3,16+1"),
        "maxpool1d:f32:nwc:3x3x10:k1:s36:d9223372036854775806:p0,1:ceil",
        /* sums of 16 of rows and planes: with rows that are no whole vectors, with planes in the
         * padding, with windows in it */
        "avg3d:f32:ncdhw:1x1x5x300x17:k2x65x1:p1x32x0",
        "avgpool3d:f32:ncdhw:1x1x2x260x17:k2x65x3:p0x32x0",
        "avgpool3d:f32:ncdhw:1x1x40x8x16:k32x3x3",
        "avgpool3d:f32:ncdhw:1x1x3x140x160:k1x63x3:p1x31x1",
        "avgpool2d:f32:nchw:1x1x90x64:k33x2:p34x0",
        "avgpool2d:f32:nchw:1x1x90x64:k70x2:p70x0",
        /* four planes of 3x3x3 at a time: the last ones alone, paddings of all sizes, in boxes;
         * rows by fours, with windows wholly in the padding, dy the same in all rows */
        "avg3d:bf16:ncdhw:1x2x5x9x40:k3:p2x1x0:div=exclude",
        "avgpool3d:f32:ndhwc:1x35x7x6x5:k3:p1,3x2,4x1:div=-7",
        ("avg3d:f64:ndhwc:1x17x9x8x7:k3:p1:dxbox=0+*,0+*,3+3,2+4,1+5:"
         "dybox=0+*,0+*,2+5,1+6,0+7"),
        "avgpool2d:f16:nchw:2x2x10x37:k3:p0,5x2,3:div=exclude:alpha=0.3",
        /* many channels of a place after each other, of rows whose first columns exist, or not */
        "avgpool2d:f32:nhwc:1x64x9x11:k3",
        "avg2d:bf16:nhwc:1x71x9x11:k3:p2:div=exclude",
        "avg2d:f32:nhwc:1x40x9x11:k3:p1:dxbox=0+*,0+*,0+*,5+6",
        "avgpool3d:f16:ndhwc:1x70x5x6x7:k3:p0x1x0",
        "avg2d:f32:strided/nchw:1x2x11x33:k3:p1:dystride=33,33,0,1",
        /* axes without windows that are part of the channels, of the batch, of neither; in boxes */
        "avg3d:f16:ncdhw:2x9x70x2x5:k1x5x4:s1x7x1:p0x10,6x0:ceil:div=exclude:dxbox=0+*,1+7,0+*,0+*,"
        "1+4",
        "avgpool3d:f32:ndhwc:3x5x6x7x8:k1x3x3:p0x1x1",
        "avg3d:bf16:ncdhw/ndhwc:2x3x6x7x8:k1x3x3:dxbox=0+*,1+1,2+3,0+*,0+*",
        "avgpool3d:f32:strided/ndhwc:1x6x1x90x9:k4x1x6:p2,1x0x0:xstride=0,810,0,-9,1",
        "maxpool3d:f32:ncdhw:2x3x4x6x7:k1x3x2:base=plane:index=i32",
        "maxpool3d:bf16:ncdhw:2x3x9x6x1:k3x1x1:ybox=0+*,1+2,3+4,0+*,0+*",
        "maxpool3d:f32:ncdhw:2x3x4x6x7:k1x3x2",
        "maxpool3d:f64:ndhwc:2x5x4x6x7:k1x3x2:base=nxc",
        "maxpool3d:f16:ndhwc:2x5x4x6x7:k1x3x2:index=u8:base=window:ybox=0+*,0+*,0+*,1+2,0+*",
        "maxpool3d:f16:ndhwc:2x5x4x6x7:k1x3x2:index=u8:base=window:ybox=1+1,0+*,1+3,0+*,0+*",
        "max3d:f64:ncdhw:2x3x4x6x7:k1x3x2:s1x2x2:from=x:dxbox=0+*,2+1,1+2,0+*,0+*",
        "max3d:f32:ncdhw:1x2x9x3x7:k1x2x2",
        /* short rows of few channels, and many batch elements */
        "avgpool2d:f16:nchw:40x3x6x7:k3:p1:ybox=2+30,1+2,0+*,0+*",
        "max2d:f32:nchw:40x3x6x7:k3:s2:dxbox=2+30,0+*,0+*,0+*",
        "maxpool1d:bf16:ncw/nwc:90x4x8:k5:p4:ybox=3+80,1+2,1+7:index=u8:base=window",
        "maxpool2d:f64:strided/nchw:70x3x5x2:k1x2:xstride=-10,700,2,1:base=nxc",
        "max1d:f16:nwc/ncw:77x8x22:k2:d4:order=column:index=i32",
        "max2d:f32:nhwc/nchw:66x5x4x4:k3:p1:from=x:nan=leading:alpha=2:beta=1",
        /* windows longer than their short rows, many channels at a time */
        "maxpool2d:f32:nchw:2x67x70x4:k3x9:p1x4",
        "maxpool2d:bf16:nchw:2x5x30x4:k3x9:s2x3:p1x4:index=u8:base=window:nan=leading",
        "max2d:f64:nchw:3x5x9x5:k3x8:d1x2:p1x9:from=x:nan=leading",
        /* columns first, and taps of adaptive windows, of all kinds of contests */
        "maxpool2d:f32:nchw:2x3x9x40:k3:s2:p1:order=column",
        "maxpool3d:bf16:ndhwc:1x20x5x6x7:k3:s2:p1:order=column:nan=leading",
        "maxpool3d:f64:ncdhw:1x3x5x6x7:k3:order=column:base=plane:nan=skip",
        "maxpool3d:f32:ncdhw:2x3x5x7x9:adaptive:o3x5x4:index=u8:base=window:nan=skip",
        "maxpool2d:bf16:nhwc:1x70x9x11:adaptive:o5x4:index=i32:base=window",
        "maxpool1d:f16:ncw/nwc:2x90x10:o6:adaptive:nan=leading:index=u8:base=window",
        /* maxima */
        "max2d:f32:nchw:1x1x3x3:k2:from=x",
        /* dy whose planes have one row, broadcast */
        "max3d:f32:strided/ncdhw:1x16x6x1x20:k3x1x13:from=x:dystride=0,16,0,0,1",
        "max3d:f32:strided/ncdhw:1x16x4x1x20:k1x1x13:from=x:dystride=200,20,0,5,1",
        "max2d:f16:nhwc:2x5x9x7:k3:s2:p1:from=x:nan=skip",
        /* channels that fill vectors of narrow elements, and some more; taps, and indices of them
         */
        "maxpool2d:bf16:nhwc:2x70x9x11:k3:s2:p1:index=u8:base=window",
        "maxpool2d:f16:nhwc:2x64x9x10:k3:s2:p1:index=i32:base=plane:nan=last",
        "maxpool2d:f32:nhwc:1x33x8x7:k2:s2:index=u8:base=window:nan=skip",
        "maxpool3d:bf16:ndhwc:1x96x3x5x6:k2x3x2:p1:index=u32:base=nxc",
        "maxpool2d:f16:nhwc:1x64x12x9:k5x3:s2:d2:p2:base=nxc_image",
        "max2d:bf16:nhwc:2x70x11x9:k3:s2:p1:from=x:nan=leading",
        "max3d:f16:ndhwc:1x64x5x6x7:k3:s2:p1:from=x",
        "max1d:f32:ncw:1x1x4:k3:s2:p1:from=x",
        "max1d:f32:ncw:1x1x3:k2:p5:from=x",
        "max2d:f32:nchw:2x3x7x7:k3:s2:p1:index=i32:base=plane",
        "max2d:f64:nhwc:2x3x7x7:k3:s2:p1:index=u32:base=nxc",
        "max3d:f32:ncdhw:1x2x4x5x6:k2:order=column:nowinner",
        "max3d:bf16:ndhwc:1x200x4x5x6:k3:p1:from=x",
        /* channels brought side by side: windows in the padding, boxes, steps of all kinds */
        "max2d:f32:nchw:2x20x2x2:k1:s5:p4:from=x",
        "maxpool2d:bf16:nchw:2x20x2x2:k1:s5:p4",
        "max2d:f16:nchw:3x40x7x9:k3:s2:p1:alpha=3:beta=-1:dxbox=1+2,3+33,2+3,1+7",
        "maxpool2d:f64:nchw:3x40x7x9:k3:s2:p1:ybox=1+2,3+33,1+2,1+3:order=column",
        "maxpool3d:f32:strided/ncdhw:2x17x3x4x5:k2:xstride=2040,120,-40,10,2",
        "max2d:f32:strided/nchw:2x17x6x6:k2:s2:dystride=0,0,0,0",
        "max2d:f32:nchw:2x17x7x1:k3x1:s2x1:p1x0:index=u8:base=window",
        /* adaptive windows that tile one axis, or all */
        "avg2d:bf16:nchw:2x3x12x9:o4x4:adaptive:dxbox=0+*,1+2,2+5,1+7",
        "avgpool3d:f32:ndhwc:1x3x4x9x8:o2x4x2:adaptive",
        "maxpool2d:f32:nchw:2x3x12x9:o4x3:adaptive:index=u8:base=window",
        "max2d:f32:nhwc:2x3x12x9:o4x4:adaptive:index=i32:base=window",
        /* axes of one place and window behind others, also if rows and channels change roles */
        "avg2d:f32:nchw:2x20x40x1:k3x1:s2x1:p1x0",
        "avg3d:bf16:ndhwc:2x17x9x1x1:k3x1x1:p1x0x0:div=exclude",
        "avgpool3d:f16:ncdhw:1x3x5x1x9:k2x1x3:ybox=0+*,1+2,1+3,0+*,2+4",
        "max3d:f32:ncdhw:2x3x40x1x1:k3x1x1:s2x1x1:order=column:dxbox=0+*,1+2,5+21,0+*,0+*",
        "max3d:f32:ndhwc:2x18x5x9x1:k3x3x1:p1x1x0:index=u8:base=window",
        "maxpool2d:bf16:nchw:2x3x50x1:k3x1:base=nxc_image:nan=last",
        "max2d:f32:nchw:2x3x9x1:k3:p1:index=u8:base=window",
        "avg2d:f32:nchw:1x1x1x1:k1",
        /* indices of one row that is cut into tiles, and of part of it */
        "max1d:f32:nwc:1x64x900:k3:s2:p1",
        "max1d:bf16:nwc:1x40x1200:k2:d3:index=i32:base=nxc_image:dxbox=0+*,0+*,7+900",
        "max2d:f32:nchw:1x2x1x30000:k3:p1",
        /* indices of rows and of planes too long for fractions of these, and of parts of planes */
        "max2d:f32:nchw:1x1x31x11876:k31x2:s2",
        "max3d:f32:ncdhw:1x1x3x250x300:k2:s2",
        "max3d:f64:ncdhw:1x1x17x80x80:k3:s2:p1",
        /* one index for all */
        "max2d:f32:nchw:2x3x6x6:k2:s2:index=u8:base=window:ilayout=strided:istride=0,0,0,0",
        "avgpool1d:f32:ncw/nwc:2x40x9:k2:s2", /* channels that lie apart in x only */
        "maxpool1d:f32:ncw:1x2x5:k2:p4",
        "avgpool1d:f32:ncw:1x1x7:k2:p3:div=-28",
        "maxpool2d:f32:nchw:1x2x9x11:adaptive:o4x3:base=nxc_image",
        "maxpool2d:f64:nhwc:1x70x40x41:k13:p6:nan=skip",
        "avgpool2d:f32:nhwc:1x70x40x41:k13:p6:s3:div=exclude",
        "avgpool2d:f32:nhwc:2x3x8x8:k3:s4611686018427387904:p1",
        "avgpool1d:f32:ncw:1x1x4:k2147483647:p1073741823",
        "avgpool1d:f32:ncw:1x1x0:k1",
        /* a box that no window reaches, and one of the other tensor that has nothing of it */
        "avg2d:f32:nhwc:2x64x10x10:k3:s2:dxbox=0+2,0+64,0+10,9+1:dybox=0+2,0+64,0+4,0+2",
        "avg2d:f32:nhwc:1x16x10x2002:k3:s2:dxbox=0+*,0+*,0+*,2001+1:dybox=0+*,0+*,0+4,0+1",
        ("avgpool2d:f32:nchw:1x1x10x20:k1:p2:s1:ybox=0+1,0+1,0+14,0+2:"
         "xbox=0+1,0+1,0+10,5+5"),
        /* 3x3 with stride 2: rows and columns of all parities, boxes, padding on both sides */
        "avg2d:bf16:nchw:2x3x9x21:k3:s2:p2,1x0,2:div=exclude:dxbox=0+*,0+*,1+7,3+17",
        "avg2d:f16:nhwc:2x20x8x9:k3:s2:p1:ceil:alpha=3",
        "avg2d:f64:nchw:2x20x7x33:k3:s2:p0,2:div=-7",
        /* quotients of sums along the last axis, in doubt and not */
        "avgpool1d:f32:ncw:2x3x101:k5",
        "avgpool2d:bf16:nhwc:1x17x12x9:k5:div=exclude",
        "avgpool2d:f32:nchw:2x18x7x7:o16:adaptive",
        /* 3x3 in rooms: in parts, in pairs of vectors, in boxes, with divisors too large for both
         */
        "avgpool3d:bf16:ndhwc:1x16x4x5x6:k3:p1:div=3000000",
        "avg3d:bf16:ndhwc:1x16x4x5x6:k3:div=3000000",
        "avgpool3d:bf16:ndhwc:1x400x5x6x30:k3:p0,2",
        "avg3d:bf16:ndhwc:1x400x5x6x30:k3:p0,2:div=exclude",
        "avg2d:f16:nhwc:1x416x9x21:k3:p2:div=exclude",
        "avgpool2d:bf16:nhwc:2x48x19x40:k3:p2:div=exclude:ybox=0+*,0+*,3+11,9+30",
        "avg2d:f32:nchw:1x1x9x1100:k3:p1",
        "avg2d:f64:nchw:1x2x9x1100:k3:p2,0:div=exclude",
        "avg3d:f32:ncdhw:1x1x5x6x1100:k3:p2:div=exclude",
        "avgpool3d:f32:ncdhw:1x1x5x6x1100:k3:p2:div=exclude",
        "avgpool2d:f32:nhwc:1x1030x9x11:k3:p1:div=exclude",
        "avg2d:f32:nchw:1x3x9x2100:k3:p1:dxbox=0+*,0+*,1+7,1000+1050:dybox=0+*,0+*,0+9,900+1180",
        /* stride 2 in pairs of vectors */
        "avgpool2d:bf16:nhwc:1x48x100x100:k2:s2",
        "avgpool2d:bf16:nchw:1x16x224x71:k3:s2:p0,2:ybox=0+*,0+*,0+*,3+20",
        "avg2d:f32:nchw:4x64x7x7:o16:adaptive",
        /* adaptive windows place by place: all of a row of channels, of a box, beside other planes
         */
        "avg2d:f32:nhwc:2x160x7x7:o16:adaptive:alpha=-2",
        "avgpool2d:f16:nhwc:1x200x7x9:o16x4:adaptive",
        "avg2d:bf16:nhwc:2x133x12x40:o5x13:adaptive:beta=1:dxbox=0+*,1+131,2+9,3+30",
        "avgpool2d:f64:nhwc:1x130x12x40:o5x13:adaptive:ybox=0+*,1+129,1+3,2+9",
        "avg2d:f32:nchw:4x512x4x4:o7:adaptive",
        "avgpool2d:f32:nchw:4x512x4x4:o7:adaptive:alpha=3",
        /* channels side by side to planes; short rows with gaps between */
        "avg2d:bf16:nhwc/nchw:2x70x9x11:k3:p1:div=exclude",
        "avgpool2d:f16:nhwc/nchw:1x129x8x19:k3:s2:p1:alpha=3",
        "avg2d:f64:nhwc/nchw:1x65x8x19:k5:p2:beta=1",
        "avg2d:f32:strided/nchw:2x3x9x11:k3:p1:dystride=594,198,22,1",
        "avg2d:f16:strided/nchw:2x3x9x11:k5:p2:dystride=594,198,22,1",
        /* planes of one place, made larger */
        "avgpool2d:f32:nchw:3x40x1x1:o7:adaptive",
        "avgpool2d:bf16:nhwc:2x40x1x1:o5x3:adaptive:alpha=-2:ybox=1+1,3+30,1+3,0+2",
        "avgpool3d:f64:ncdhw:2x3x1x1x1:o2x3x4:adaptive:div=-3",
        "avg2d:f16:nchw:3x40x1x1:o7x4:adaptive:alpha=-2",
        "avg2d:f32:nhwc:2x35x1x1:o7:adaptive:beta=1:dxbox=1+1,3+30,0+*,0+*",
        "avg3d:f32:ncdhw:2x3x1x1x1:o2x3x4:adaptive",
        "avg2d:f32:nchw:2x3x1x1:o3:adaptive:div=-3",
        /* tiles of max gradients made slice by slice: planes and rows, gaps, no windows */
        "max3d:f32:ndhwc:1x16x20x24x40:k3:p1",
        "max3d:f16:ncdhw:1x1x36x64x64:k4:s2:p1:alpha=-2",
        "max3d:bf16:ndhwc:1x16x10x80x12:k3x2x3:s1x40x1",
        "max2d:f64:nhwc:1x16x80x64:k5:d2:p4",
        "max2d:f32:nchw:1x1x400x401:k6:s3:beta=1",
        "max3d:f32:ncdhw:1x1x40x72x72:k3:p1:from=x",
        "max3d:bf16:ncdhw:1x1x41x70x80:k3:p1:from=x:alpha=-2:dxbox=0+*,0+*,3+36,2+66,1+77",
        "max2d:f64:nchw:1x1x500x160:k3:p1:from=x:beta=1",
        /* planes that follow each other stored as one */
        "max3d:f32:ncdhw:2x3x16x14x14:k1x2x2:s1x2x2:dxbox=0+*,1+2,3+7,0+*,0+*",
        /* 3x3 windows with stride 1, which share two rows with those below */
        "maxpool2d:f32:nchw:2x3x70x45:k3:p1:ybox=0+*,1+2,1+66,2+40",
        "maxpool2d:f16:nchw:1x2x37x50:k3:base=window:index=u8:alpha=-2",
        "maxpool3d:f64:ncdhw:1x2x7x40x50:k3:p1",
        "max2d:f32:nchw:2x3x24x50:k3:p1:from=x",
        "max3d:bf16:ncdhw:1x2x6x24x50:k2x3x3:p0x1x1:from=x",
        "max2d:bf16:nhwc:1x17x110x90:k8:s4:p1:dxbox=0+*,0+*,3+100,1+88",
        /* indices of many channels that lie apart, some KiB, and not, in rows that are joined */
        "max2d:f32:nchw:4x75x7x7:o16:adaptive",
        "max2d:f64:nchw:4x67x7x9:k5:p2:alpha=-2",
        "max2d:f32:nhwc:1x70x16x8:k3:p1:ilayout=nchw",
        "max2d:bf16:nhwc:1x37x32x8:k5:p2:index=i32:ilayout=nchw:dxbox=0+1,3+34,1+30,0+*",
        "max3d:f16:ndhwc:1x37x9x8x8:k3:s2:p1:index=u32:ilayout=ncdhw",
        /* forward, few channels side by side, indices of all of them in one pass */
        "maxpool2d:f32:nhwc:2x3x33x140:k3:s2:p1",
        "maxpool3d:bf16:ndhwc:1x15x9x12x40:k3:p1:index=i32",
        "maxpool2d:f64:nhwc:2x7x19x56:k4:s2:base=nxc:index=u32:ybox=1+1,2+4,1+6,2+20",
        /* many planes of adaptive windows, in boxes */
        "maxpool2d:f16:nchw:1x70x21x30:o8x13:adaptive:ybox=0+*,1+67,1+6,2+9",
        "max2d:f32:nchw:1x70x21x30:o8x13:adaptive:from=x:dxbox=0+*,1+67,1+19,2+20",
        /* small planes as one long row: pieces that begin within planes, rings of several planes,
         * divisors of all kinds, boxes of whole planes, numbers that leave a quotient in doubt */
        "avg2d:f32:nchw:3x23x14x13:k3:p1",
        "avg2d:bf16:nchw:2x150x7x7:k3:p1:div=exclude:alpha=-0.5",
        "avg2d:f16:nchw:1x9x28x31:k3:p1:div=include",
        "avg2d:f64:nchw:2x11x17x9:k3:p1:div=7",
        "avg2d:f32:nchw:3x70x4x4:k3:p1:div=4194304",
        "avg3d:f32:ncdhw:2x3x6x9x10:k1x3x3:p0x1x1:dxbox=1+1,0+*,2+3,0+*,0+*:dybox=1+1,0+*,2+3,0+*,"
        "0+*",
        "avgpool2d:f32:nchw:3x23x14x13:k3:p1",
        "avgpool2d:bf16:nchw:2x150x7x7:k3:p1:div=include:alpha=3",
        "avgpool2d:f16:nchw:1x9x56x57:k3:p1:div=exclude",
        "avgpool2d:f64:nchw:2x11x17x9:k3:p1:div=-7",
        "avgpool2d:bf16:nchw:3x70x8x2:k3:p1:div=4194304",
        /* whole planes that are not small: pieces of all sizes, rest of a vector, one or three
         * axes, channels side by side, all of a row and some */
        "avgpool1d:f32:ncw:3x5x1023:o1:adaptive",
        "avgpool1d:bf16:ncw:2x3x77:k77:beta=0.5",
        "avgpool1d:f64:ncw:2x3x4097:o1:adaptive",
        "avgpool1d:f16:nwc:2x33x517:o1:adaptive",
        "avgpool2d:f32:nchw:2x9x55x37:o1:adaptive:ybox=1+1,2+6,0+*,0+*",
        "avgpool2d:bf16:nchw:1x3x17x5:k17x5:alpha=-2",
        "avgpool2d:f64:nchw/nhwc:2x5x31x18:o1:adaptive",
        "avgpool2d:f32:nhwc:9x35x40x21:o1:adaptive",
        "avgpool2d:f16:nhwc:1x130x18x5:k18x5:ybox=0+*,17+100,0+*,0+*",
        "avgpool2d:f64:nhwc/nchw:2x20x16x47:o1:adaptive:beta=1",
        "avgpool3d:f32:ncdhw:2x3x19x5x9:o1:adaptive",
        "avgpool3d:bf16:ncdhw:1x4x8x1x33:k8x1x33",
        "avg2d:f32:nchw:2x3x1x1:o40x33:adaptive",
        "avg2d:bf16:nhwc:2x18x1x1:o20x3:adaptive:beta=-1",
        /* from one layout to the other: what lies ready, of boxes, of parts of blocks, unreached */
        "max2d:f32:nchw/nhwc:2x70x12x13:k3:s2:p1",
        "max2d:f32:nhwc/nchw:3x90x12x13:k5:p2",
        "max2d:f64:nhwc/nchw:3x40x12x13:k3:s2:p1:from=x:dxbox=1+2,3+33,1+9,2+8",
        "max2d:f32:nchw/nhwc:3x150x9x8:k3:p1:from=x:dxbox=1+2,3+140,1+7,2+5",
        "max2d:f32:nchw/nhwc:2x40x12x13:k3:s2:p1:alpha=-2:beta=1",
        "max2d:f32:nchw/nhwc:2x20x9x9:k2:s4:dxbox=0+*,0+*,2+2,0+*:dybox=0+*,0+*,1+0,0+*",
        "maxpool2d:f32:nhwc/nchw:2x70x12x13:k3:s2:p1:ybox=0+*,2+67,1+4,2+5",
        "maxpool2d:f32:nchw/nhwc:3x90x12x13:k3:p1:ybox=1+2,1+88,1+10,2+9",
        "maxpool2d:f16:nchw/nhwc:2x40x9x9:k2:s2:p1",
        "max2d:bf16:nhwc/nchw:2x150x8x9:k2:s2:dxbox=0+*,2+140,1+6,2+5",
        /* long rows, whose positions take from three windows */
        "max1d:bf16:ncw:2x3x700:k3:p1",
        "max1d:f64:ncw:1x2x1400:k5:s2:p1:from=x:dxbox=0+*,1+1,3+1300",
        /* one number in each plane, both ways, in boxes */
        "avg2d:f32:strided/nchw:2x3x9x20:k3:p1:div=exclude:dystride=3,1,0,0",
        "avg2d:bf16:strided/nchw:4x5x19x41:k3:s2:p1:dystride=5,1,0,0:dxbox=1+3,2+3,3+12,1+30",
        "avg2d:f16:strided/nhwc:4x20x9x20:k3:p1:dystride=0,0,0,0:dxbox=1+3,3+16,2+6,1+19",
        "avg2d:f32:strided/nhwc:3x20x9x20:k5:p2:beta=1:dystride=40,-2,0,0",
        "avgpool3d:f64:strided/ncdhw:2x3x4x5x18:k3:p1:xstride=3,1,0,0,0:ybox=0+*,1+2,1+3,0+*,1+16",
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
