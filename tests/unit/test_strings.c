/* SPDX-License-Identifier: MIT */
/* Problem strings: what they mean, that they round-trip, and what is said of wrong ones. */
#include "harness.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static poolgrad_desc parsed(const char *text)
{
    poolgrad_desc desc;
    poolgrad_error error;

    if (poolgrad_desc_parse(text, &desc, &error))
        fail_msg("%s: %s", text, error.message);
    return desc;
}

static void meaning(void **state)
{
    poolgrad_desc desc = parsed("avg2d:bf16:nchw/nhwc:8x64x56x57:k3x5:s2:d1x2:p0,1x2,3:o28x29:ceil:"
                                "div=-7:alpha=0.5:beta=-1.25e-2:dxbox=0+*,1+2,3+4,5+*");
    int i;

    (void)state;
    assert_int_equal(desc.size, sizeof desc);
    assert_int_equal(desc.op, POOLGRAD_AVG_GRAD);
    assert_int_equal(desc.dtype, POOLGRAD_BF16);
    assert_int_equal(desc.rank, 2);
    assert_int_equal(desc.rounding, POOLGRAD_CEIL);
    assert_int_equal(desc.divisor, POOLGRAD_OVERRIDE);
    assert_int_equal(desc.divisor_override, -7);
    assert_true(desc.alpha == 0.5 && desc.beta == -0.0125);
    assert_int_equal(desc.batch, 8);
    assert_int_equal(desc.channels, 64);
    assert_true(desc.in[0] == 56 && desc.in[1] == 57);
    assert_true(desc.out[0] == 28 && desc.out[1] == 29);
    assert_true(desc.kernel[0] == 3 && desc.kernel[1] == 5);
    assert_true(desc.stride[0] == 2 && desc.stride[1] == 2);
    assert_true(desc.dilation[0] == 1 && desc.dilation[1] == 2);
    assert_true(desc.pad_lo[0] == 0 && desc.pad_hi[0] == 1);
    assert_true(desc.pad_lo[1] == 2 && desc.pad_hi[1] == 3);
    assert_int_equal(desc.dy.layout, POOLGRAD_NCX);
    assert_int_equal(desc.dx.layout, POOLGRAD_NXC);
    for (i = 0; i < 4; i++) {
        static const int64_t offset[] = {0, 1, 3, 5}, extent[] = {-1, 2, 4, -1};

        assert_int_equal(desc.dx.offset[i], offset[i]);
        assert_int_equal(desc.dx.extent[i], extent[i]);
        assert_int_equal(desc.dy.extent[i], POOLGRAD_WHOLE);
    }
    desc = parsed("avg1d:f64:strided/nxc:1x2x9:k4:dystride=-9223372036854775808,0,5");
    assert_true(desc.dy.stride[0] == INT64_MIN && desc.dy.stride[1] == 0 && desc.dy.stride[2] == 5);
    assert_int_equal(desc.dx.layout, POOLGRAD_NXC);
    assert_int_equal(parsed("avg3d:f16:ncdhw:1x1x4x5x6:adaptive:o1x2x3").out[2], 3);
}

/* Strings are printed in one canonical form. */
static void canonical(void **state)
{
    static const char *const texts[][2] = {
        {"avg2d:f32:nchw:8x64x56x56:p1:s2:k3", "avg2d:f32:nchw:8x64x56x56:k3:s2:p1"},
        {"avg2d:f32:ncx/nchw:1x1x5x5:k3x3:s1:floor", "avg2d:f32:nchw:1x1x5x5:k3"},
        {"avg1d:f16:nxc:1x1x5:k2:p1,1:div=include_clipped", "avg1d:f16:nwc:1x1x5:k2:p1"},
        {"avg3d:f64:ndhwc:1x1x5x5x5:k2:p1x2,3x0", "avg3d:f64:ndhwc:1x1x5x5x5:k2:p1x2,3x0"},
        {"avg1d:f32:ncw:1x1x5:k2:alpha=0x1p-3:beta=1e3",
         "avg1d:f32:ncw:1x1x5:k2:alpha=0.125:beta=1000"},
        {"avg1d:f32:ncw:1x1x5:k2:dxbox=0+*,0+*,0+*", "avg1d:f32:ncw:1x1x5:k2"},
        {"avg1d:f32:ncw:1x1x5:parity=torch:k2:div=exclude",
         "avg1d:f32:ncw:1x1x5:k2:div=exclude:parity=torch"},
        {"avg1d:f32:ncw:1x1x5:k2:parity=off", "avg1d:f32:ncw:1x1x5:k2"},
        {"max1d:f32:nwc:1x1x5:k2:from=y:ylayout=nwc:xlayout=ncw:parity=tensorflow",
         "max1d:f32:nwc:1x1x5:k2:parity=tensorflow:from=y:xlayout=ncw"},
    };
    char text[256];
    size_t i, length;

    (void)state;
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const poolgrad_desc desc = parsed(texts[i][0]);

        assert_int_equal(poolgrad_desc_print(&desc, text, sizeof text, &length, NULL), POOLGRAD_OK);
        assert_string_equal(text, texts[i][1]);
        assert_int_equal(length, strlen(text));
    }
}

static void assert_same_view(const poolgrad_view *a, const poolgrad_view *b, int axes)
{
    const size_t bytes = (size_t)axes * sizeof a->offset[0];

    assert_int_equal(a->layout, b->layout);
    assert_memory_equal(a->offset, b->offset, bytes);
    assert_memory_equal(a->extent, b->extent, bytes);
    if (a->layout == POOLGRAD_STRIDED)
        assert_memory_equal(a->stride, b->stride, bytes);
}

/* The fields that this max op uses. */
static void assert_same_max(const poolgrad_desc *a, const poolgrad_desc *b)
{
    const int gradient = b->op == POOLGRAD_MAX_GRAD;
    const int from_x = gradient && b->winner == POOLGRAD_FROM_X;
    const int near_y = gradient && b->winner == POOLGRAD_NEAR_Y;

    if (gradient)
        assert_int_equal(a->winner, b->winner);
    if (!gradient || from_x)
        assert_int_equal(a->nan, b->nan);
    if (from_x || near_y)
        assert_same_view(&a->x, &b->x, b->rank + 2);
    if (near_y)
        assert_same_view(&a->y, &b->y, b->rank + 2);
    if (from_x || near_y)
        return;
    assert_int_equal(a->index_type, b->index_type);
    assert_int_equal(a->index_base, b->index_base);
    assert_int_equal(a->index_order, b->index_order);
    assert_int_equal(a->indices.layout, b->indices.layout);
    if (b->indices.layout == POOLGRAD_STRIDED)
        assert_memory_equal(a->indices.stride, b->indices.stride,
                            (size_t)(b->rank + 2) * sizeof b->indices.stride[0]);
    if (gradient)
        assert_int_equal(a->no_winner, b->no_winner);
}

static void assert_round_trip(const poolgrad_desc *desc)
{
    const size_t bytes = (size_t)desc->rank * sizeof desc->in[0];
    poolgrad_desc again;
    char text[2048];
    size_t length;

    assert_int_equal(poolgrad_desc_print(desc, text, sizeof text, &length, NULL), POOLGRAD_OK);
    assert_true(length < sizeof text);
    again = parsed(text);
    assert_int_equal(again.op, desc->op);
    assert_int_equal(again.dtype, desc->dtype);
    assert_int_equal(again.rank, desc->rank);
    assert_int_equal(again.rounding, desc->rounding);
    assert_int_equal(again.parity, desc->parity);
    if (!sup_is_max(desc))
        assert_int_equal(again.divisor, desc->divisor);
    if (!sup_is_max(desc) && desc->divisor == POOLGRAD_OVERRIDE)
        assert_int_equal(again.divisor_override, desc->divisor_override);
    assert_memory_equal(&again.alpha, &desc->alpha, sizeof desc->alpha);
    assert_memory_equal(&again.beta, &desc->beta, sizeof desc->beta);
    assert_int_equal(again.batch, desc->batch);
    assert_int_equal(again.channels, desc->channels);
    assert_memory_equal(again.in, desc->in, bytes);
    assert_memory_equal(again.out, desc->out, bytes);
    assert_memory_equal(again.kernel, desc->kernel, bytes);
    assert_memory_equal(again.stride, desc->stride, bytes);
    assert_memory_equal(again.dilation, desc->dilation, bytes);
    assert_memory_equal(again.pad_lo, desc->pad_lo, bytes);
    assert_memory_equal(again.pad_hi, desc->pad_hi, bytes);
    if (sup_is_forward(desc)) {
        assert_same_view(&again.x, &desc->x, desc->rank + 2);
        assert_same_view(&again.y, &desc->y, desc->rank + 2);
    } else {
        assert_same_view(&again.dy, &desc->dy, desc->rank + 2);
        assert_same_view(&again.dx, &desc->dx, desc->rank + 2);
    }
    if (sup_is_max(desc))
        assert_same_max(&again, desc);
}

static int64_t any_int(sup_rng *rng)
{
    static const int64_t special[] = {0, 1, 2, 3, INT64_MAX, INT64_MAX - 1, INT64_C(1) << 31};

    return sup_rng_chance(rng, 40) ? special[sup_rng_range(rng, 0, 6)]
                                   : (int64_t)(sup_rng_next(rng) >> sup_rng_range(rng, 1, 62));
}

static double any_finite(sup_rng *rng)
{
    double value;

    do {
        const uint64_t bits = sup_rng_next(rng);

        if (sup_rng_chance(rng, 30))
            return (double)sup_rng_range(rng, -1000, 1000) / 1000;
        memcpy(&value, &bits, sizeof value);
    } while (!isfinite(value) || (value == 0 && signbit(value)));
    return value;
}

/* Descriptors of every field at random, most of them no valid problem. */
static void round_trip(void **state)
{
    const int count = scaled(100000);
    sup_rng rng;
    int i, k;

    (void)state;
    sup_rng_seed(&rng, 11);
    for (i = 0; i < count; i++) {
        poolgrad_desc desc;
        int64_t *per_axis[] = {desc.in,       desc.out,    desc.kernel, desc.stride,
                               desc.dilation, desc.pad_lo, desc.pad_hi};
        poolgrad_view *views[] = {&desc.dy, &desc.dx, &desc.x, &desc.y, &desc.indices};
        size_t field;

        poolgrad_desc_init(&desc);
        desc.op = (poolgrad_op)sup_rng_range(&rng, 1, 4);
        desc.dtype = (poolgrad_dtype)sup_rng_range(&rng, 1, 4);
        desc.winner = (poolgrad_winner)sup_rng_range(&rng, 1, 3);
        desc.parity = (poolgrad_parity)sup_rng_range(&rng, 1, 5);
        desc.nan = (poolgrad_nan)sup_rng_range(&rng, 1, 4);
        desc.index_type = (poolgrad_index_type)sup_rng_range(&rng, 1, 4);
        desc.index_base = (poolgrad_index_base)sup_rng_range(&rng, 1, 5);
        desc.index_order = (poolgrad_index_order)sup_rng_range(&rng, 1, 2);
        desc.no_winner = (int32_t)sup_rng_range(&rng, 0, 1);
        desc.rank = (int32_t)sup_rng_range(&rng, 1, 3);
        desc.rounding = (poolgrad_rounding)sup_rng_range(&rng, 1, 3);
        desc.divisor = (poolgrad_divisor)sup_rng_range(&rng, 1, 4);
        desc.divisor_override = (int64_t)sup_rng_next(&rng);
        desc.alpha = any_finite(&rng);
        desc.beta = any_finite(&rng);
        desc.batch = any_int(&rng);
        desc.channels = any_int(&rng);
        for (field = 0; field < sizeof per_axis / sizeof per_axis[0]; field++)
            for (k = 0; k < 3; k++)
                per_axis[field][k] = any_int(&rng);
        for (field = 0; field < 5; field++) {
            views[field]->layout = (poolgrad_layout)sup_rng_range(&rng, 1, 3);
            for (k = 0; k < 5; k++) {
                views[field]->offset[k] = any_int(&rng);
                views[field]->extent[k] = sup_rng_chance(&rng, 50) ? POOLGRAD_WHOLE : any_int(&rng);
                views[field]->stride[k] = (int64_t)sup_rng_next(&rng);
            }
        }
        assert_round_trip(&desc);
    }
}

static void round_trip_valid(void **state)
{
    const int count = scaled(20000);
    sup_limits limits = sup_limits_default();
    sup_rng rng;
    int i;

    (void)state;
    sup_rng_seed(&rng, 12);
    limits.ops = SUP_ALL_OPS;
    for (i = 0; i < count; i++) {
        poolgrad_desc desc;

        sup_random_problem(&rng, &limits, &desc);
        assert_round_trip(&desc);
    }
}

static void wrong_strings(void **state)
{
    static const char *const cases[][2] = {
        {"", "character 1: expected avg, max, avgpool or maxpool"},
        {"sum2d:f32:nchw:1x1x3x3:k2", "expected avg, max"},
        {"avg4d:f32:nchw:1x1x3x3:k2", "character 4: expected 1d, 2d or 3d"},
        {"avg2d", "\":\" and a type"},
        {"avg2d:f8:nchw:1x1x3x3:k2", "expected f32, f64, f16 or bf16, found \"f8:"},
        {"avg2d:f32", "\":\" and a layout"},
        {"avg2d:f32:ncw:1x1x3x3:k2", "a layout of this rank"},
        {"avg2d:f32:nchw/ndhwc:1x1x3x3:k2", "a layout of this rank for what is written"},
        {"avg2d:f32:nchw", "\":\" and a shape"},
        {"avg2d:f32:nchw:1", "the channels"},
        {"avg2d:f32:nchw:1x1x3:k2", "an extent for every spatial axis"},
        {"avg2d:f32:nchw:-1x1x3x3:k2", "an integer from 0"},
        {"avg2d:f32:nchw:9223372036854775808x1x3x3:k2", "an integer from 0"},
        {"avg2d:f32:nchw:1x1x3x3", "a kernel"},
        {"avg2d:f32:nchw:1x1x3x3:", "an item"},
        {"avg2d:f32:nchw:1x1x3x3:k", "an integer"},
        {"avg2d:f32:nchw:1x1x3x3:k2x2x2", "no more numbers than spatial axes"},
        {"avg3d:f32:ncdhw:1x1x3x3x3:k2x2", "a number for every axis"},
        {"avg2d:f32:nchw:1x1x3x3:k2:k2", "each item at most once"},
        {"avg2d:f32:nchw:1x1x3x3:k2:floor:ceil", "each item at most once"},
        {"avg2d:f32:nchw:1x1x3x3:k2 ", "\":\" or the end"},
        {"avg2d:f32:nchw:1x1x3x3:k2:q7", "an item"},
        {"avg2d:f32:nchw:1x1x3x3:k2:div=mean", "exclude, include, include_clipped or a number"},
        {"avg2d:f32:nchw:1x1x3x3:k2:alpha=", "a decimal"},
        {"avg2d:f32:nchw:1x1x3x3:k2:alpha=nan", "a decimal"},
        {"avg2d:f32:nchw:1x1x3x3:k2:alpha=1e400", "a decimal"},
        {"avg2d:f32:nchw:1x1x3x3:k2:alpha=1.2345678901234567", "at most 15 digits and exponent 22"},
        {"avg2d:f32:nchw:1x1x3x3:k2:alpha=0x1p99999", "hexadecimal"},
        {"avg2d:f32:nchw:1x1x3x3:k2:alpha=0x1p-1080", "hexadecimal"},
        {"avg2d:f32:nchw:1x1x3x3:k2:dxbox=1+2", "offset+extent for every tensor axis"},
        {"avg2d:f32:nchw:1x1x3x3:k2:dxbox=1,2", "\"+\" and an extent"},
        {"avg2d:f32:nchw:1x1x3x3:k2:dystride=1,1,1,1", "strides only with the layout"},
        {"avg2d:f32:strided:1x1x3x3:k2", "dystride=, dxstride= and so on"},
        {"max2d:f32:nchw:1x1x3x3:k2:ilayout=strided", "dystride=, dxstride= and so on"},
        {"avg2d:f32:nchw:1x1x3x3:k2:ceil:foo", "an item such as"},
        {"avg2d:f32:nchw:1x1x3x3:k2:from=x", "only with max pooling"},
        {"max2d:f32:nchw:1x1x3x3:k2:from=z", "indices, x or y"},
        {"max2d:f32:nchw:1x1x3x3:k2:ylayout=ncw", "a layout of this rank for y"},
        {"avg2d:f32:nchw:1x1x3x3:k2:parity=keras", "tensorflow, onnxruntime, torch or onednn"},
        {"avg2d:f32:nchw:1x1x3x3:k2:parity=torch:parity=off", "each item at most once"},
        {"max2d:f32:nchw:1x1x3x3:k2:nan=none", "first, skip, last or leading"},
        {"max2d:f32:nchw:1x1x3x3:k2:index=i8", "i64, i32, u32 or u8"},
        {"max2d:f32:nchw:1x1x3x3:k2:base=image", "tensor, plane, nxc, nxc_image or window"},
        {"max2d:f32:nchw:1x1x3x3:k2:order=z", "row or column"},
        {"max2d:f32:nchw:1x1x3x3:k2:xlayout=ncw", "a layout of this rank for x"},
        {"max2d:f32:nchw:1x1x3x3:k2:ilayout=ncw", "a layout of this rank for the indices"},
        {"avg2d:f32:strided:1x1x3x3:k2:dystride=1,1,1", "a stride for every tensor axis"},
    };
    poolgrad_desc desc, before;
    poolgrad_error error;
    size_t i;

    (void)state;
    poolgrad_desc_init(&desc);
    before = desc;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(poolgrad_desc_parse(cases[i][0], &desc, &error), POOLGRAD_ERR_SYNTAX);
        assert_int_equal(error.status, POOLGRAD_ERR_SYNTAX);
        if (!strstr(error.message, cases[i][1]))
            fail_msg("%s: message is \"%s\", without \"%s\"", cases[i][0], error.message,
                     cases[i][1]);
        assert_memory_equal(&desc, &before, sizeof desc);
    }
    assert_int_equal(poolgrad_desc_parse(NULL, &desc, NULL), POOLGRAD_ERR_NULL);
    assert_int_equal(poolgrad_desc_parse("avg2d", NULL, NULL), POOLGRAD_ERR_NULL);
}

static void printing(void **state)
{
    poolgrad_desc desc = parsed("avg2d:f32:nchw:8x64x56x56:k3:s2:p1");
    char text[8] = "#######";
    size_t length = 0;

    (void)state;
    assert_int_equal(poolgrad_desc_print(&desc, NULL, 0, &length, NULL), POOLGRAD_OK);
    assert_int_equal(length, strlen("avg2d:f32:nchw:8x64x56x56:k3:s2:p1"));
    assert_int_equal(poolgrad_desc_print(&desc, text, 6, NULL, NULL), POOLGRAD_OK);
    assert_memory_equal(text, "avg2d\0#", 8);
    assert_int_equal(poolgrad_desc_print(&desc, NULL, 1, NULL, NULL), POOLGRAD_ERR_NULL);
    assert_int_equal(poolgrad_desc_print(NULL, text, 1, NULL, NULL), POOLGRAD_ERR_NULL);
    desc.alpha = (double)INFINITY;
    assert_int_equal(poolgrad_desc_print(&desc, text, 8, NULL, NULL), POOLGRAD_ERR_ATTRIBUTE);
    desc.rank = 4;
    assert_int_equal(poolgrad_desc_print(&desc, text, 8, NULL, NULL), POOLGRAD_ERR_RANK);
    desc.rank = 2;
    desc.dtype = (poolgrad_dtype)9;
    assert_int_equal(poolgrad_desc_print(&desc, text, 8, NULL, NULL), POOLGRAD_ERR_ENUM);
    desc.size = 7;
    assert_int_equal(poolgrad_desc_print(&desc, text, 8, NULL, NULL), POOLGRAD_ERR_STRUCT_SIZE);
}

/* With a decimal comma in force numbers are still read and written with a point. C.UTF-8 has none,
 * so this needs any European locale; it says so if there is none to be had. */
static void locale_does_not_matter(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    char text[128], number[8];
    poolgrad_desc desc;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof names / sizeof names[0] && !setlocale(LC_ALL, names[i]); i++)
        ;
    snprintf(number, sizeof number, "%.1f", 0.5);
    if (strchr(number, '.'))
        skip();
    desc = parsed("avg1d:f32:ncw:1x1x5:k2:alpha=0.5");
    assert_true(desc.alpha == 0.5);
    assert_int_equal(poolgrad_desc_print(&desc, text, sizeof text, NULL, NULL), POOLGRAD_OK);
    setlocale(LC_ALL, "C");
    assert_string_equal(text, "avg1d:f32:ncw:1x1x5:k2:alpha=0.5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meaning),
        cmocka_unit_test(canonical),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(round_trip_valid),
        cmocka_unit_test(wrong_strings),
        cmocka_unit_test(printing),
        cmocka_unit_test(locale_does_not_matter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
