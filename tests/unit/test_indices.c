/* SPDX-License-Identifier: MIT */
/*
 * The indices of max pooling: every kind of bad index is found wherever it stands, the lowest one
 * is named, nothing outside the buffers is touched; and what the forward pass produces is always
 * accepted, also for windows of NaN, of -inf, and of padding.
 */
#include "guard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An index that is wrong for the window, in as many ways as there are. */
static const char *const kinds_of_bad[] = {"negative",     "past the end", "other plane",
                                           "other window", "-1",           "huge",
                                           "2^32 more",    "between taps"};

enum {
    BAD_KINDS = sizeof kinds_of_bad / sizeof kinds_of_bad[0]
};

/* The bad tap of a kind: none, past the last, or in the padding if the window has such a tap. */
static int64_t bad_tap(const poolgrad_desc *desc, int kind, int64_t window)
{
    const int64_t taps = desc->kernel[0] * desc->kernel[1];
    int64_t tap = 0;

    if (kind == 4)
        return -1;
    if (kind % 2)
        return taps + kind;
    while (tap < taps && sup_index_decode(desc, window, tap) >= 0)
        tap++;
    return tap;
}

/* The bad index of a kind for window `window` (in logical order of dy), or a good one if there is
 * none of that kind in the index type. */
static int64_t bad_index(const fixture *f, int kind, int64_t window, int64_t good)
{
    const poolgrad_desc *desc = &f->desc;
    const int64_t plane = desc->in[0] * desc->in[1];
    const int64_t windows = desc->out[0] * desc->out[1], image = windows * desc->channels;

    if (desc->index_base == POOLGRAD_INDEX_WINDOW)
        return bad_tap(desc, kind, window);
    switch (kind) {
    case 0:
        return -5;
    case 1:
        return desc->batch * desc->channels * plane;
    case 2: /* the first place of another plane (base plane has no other) */
        return desc->index_base == POOLGRAD_INDEX_PLANE
                   ? plane
                   : sup_index_encode(desc, window / image * image + (window + windows) % image, 0);
    case 3: /* the opposite corner, which no window of this problem shares */
        return sup_index_encode(desc, window, window % windows < windows / 2 ? plane - 1 : 0);
    case 4:
        return -1;
    case 5:
        return desc->index_type == POOLGRAD_I64 ? INT64_C(1) << 62 : INT32_MAX;
    case 6: /* the winner, in 32 bits */
        return desc->index_type == POOLGRAD_I64 ? good + (INT64_C(1) << 32) : -5;
    default: { /* a neighbour of the winner that a dilated window does not cover */
        const int64_t place = sup_index_decode(desc, window, good);

        if (desc->dilation[1] == 1)
            return -5;
        return sup_index_encode(desc, window,
                                place % desc->in[1] + 1 < desc->in[1] ? place + 1 : place - 1);
    }
    }
}

static void expect_bad(const fixture *f, const poolgrad_plan *plan, int64_t element,
                       const char *kind)
{
    poolgrad_error error;
    int at_end;

    for (at_end = 0; at_end < 2; at_end++) {
        guarded_fixture g;

        guard_fixture(&g, f, at_end);
        if (poolgrad_execute(plan, &g.buffers, &error) != POOLGRAD_ERR_INDEX ||
            error.status != POOLGRAD_ERR_INDEX || error.position != element)
            fail_msg("%s: %s at %lld: status %d, position %lld, \"%s\"", f->text, kind,
                     (long long)element, (int)error.status, (long long)error.position,
                     error.message);
        assert_non_null(strstr(error.message, "of the indices (batch "));
        assert_int_equal(poolgrad_execute(plan, &g.buffers, NULL), POOLGRAD_ERR_INDEX);
        unguard_fixture(&g);
    }
}

/* Puts one bad index, and then a second one behind it, at every `apart`-th place. */
static void check_bad_indices(const char *text, const char *strategy, int64_t apart)
{
    const poolgrad_options options = options_for(strategy, 3);
    poolgrad_plan *plan;
    fixture f;
    int64_t windows, at;
    int kind;

    fixture_parse(&f, text, SUP_UNIFORM, 1);
    assert_int_equal(poolgrad_plan_create(&plan, &f.desc, &options, NULL), POOLGRAD_OK);
    windows = sup_view_count(&f.desc, &f.desc.dy);
    for (kind = 0; kind < BAD_KINDS; kind++) {
        for (at = kind % apart; at < windows; at += apart) {
            const poolgrad_view view = sup_index_view(&f.desc);
            const int64_t here = sup_view_offset(&f.desc, &view, at);
            const int64_t last = sup_view_offset(&f.desc, &view, windows - 1);
            const poolgrad_index_type type = f.desc.index_type;
            const int64_t good = sup_index_load(type, f.indices.first, here);
            const int64_t good_last = sup_index_load(type, f.indices.first, last);

            sup_index_store(type, f.indices.first, here, bad_index(&f, kind, at, good));
            expect_bad(&f, plan, at, kinds_of_bad[kind]);
            sup_index_store(type, f.indices.first, last,
                            bad_index(&f, kind, windows - 1, good_last));
            expect_bad(&f, plan, at, "two bad ones");
            sup_index_store(type, f.indices.first, last, good_last);
            sup_index_store(type, f.indices.first, here, good);
        }
    }
    run_into(&f, &options, f.dx.first); /* all good again */
    poolgrad_plan_destroy(plan);
    fixture_free(&f);
}

/* For tests that write out their indices. */
static poolgrad_plan *plan_of(const char *text, const poolgrad_options *options)
{
    poolgrad_plan *plan;
    poolgrad_desc desc;

    assert_int_equal(poolgrad_desc_parse(text, &desc, NULL), POOLGRAD_OK);
    assert_int_equal(poolgrad_plan_create(&plan, &desc, options, NULL), POOLGRAD_OK);
    return plan;
}

static poolgrad_buffers buffers_of(const void *dy, const void *indices, void *dx)
{
    poolgrad_buffers buffers;

    poolgrad_buffers_init(&buffers);
    buffers.dy = dy;
    buffers.indices = indices;
    buffers.dx = dx;
    return buffers;
}

/* An index that is right for one window and given to all: with channels side by side, where rows of
 * indices are looked at at once, each must still be held against its own channel and window. */
static void one_index_for_all(void **state)
{
    static const struct {
        const char *text;
        int64_t bad; /* the first element that it is wrong for */
    } cases[] = {
        {"max2d:f32:nhwc:1x8x4x2:k2:s2", 1},            /* the second window of the channel */
        {"max2d:f32:nhwc:1x8x2x2:k2:s2", 1},            /* the second channel */
        {"max2d:f32:nhwc:1x8x2x6:k2:s2:base=plane", 1}, /* the second window of the row */
        {"max2d:f32:nchw:1x2x2x6:k2:s2:base=plane", 1},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const poolgrad_options options = options_for("scatter", 1);
        poolgrad_plan *plan;
        int64_t w;
        fixture f;

        fixture_parse(&f, cases[i].text, SUP_UNIFORM, 1);
        assert_int_equal(poolgrad_plan_create(&plan, &f.desc, &options, NULL), POOLGRAD_OK);
        for (w = 0; w < sup_view_count(&f.desc, &f.desc.dy); w++)
            sup_index_store(f.desc.index_type, f.indices.first, w, 0);
        expect_bad(&f, plan, cases[i].bad, "one for all");
        poolgrad_plan_destroy(plan);
        fixture_free(&f);
    }
}

/* Few channels side by side, and one index for the windows of a diagonal: each of them is held
 * against its own window all the same. The last indices are of no window, and would do for one. */
static void indices_that_overlap(void **state)
{
    enum {
        SIDE = 6,
        CHANNELS = 3
    };
    const poolgrad_options options = options_for("scatter", 1);
    int64_t indices[4 * CHANNELS];
    float dy[4 * CHANNELS], dx[SIDE * SIDE * CHANNELS], expected[SIDE * SIDE * CHANNELS] = {0};
    const poolgrad_buffers buffers = buffers_of(dy, indices, dx);
    poolgrad_plan *plan =
        plan_of("max2d:f32:nhwc:1x3x6x6:k5:base=plane:ilayout=strided:istride=0,1,3,3", &options);
    poolgrad_error error;
    int h, w, c;

    (void)state;
    for (c = 0; c < CHANNELS; c++)
        indices[3 * CHANNELS + c] = (1 + c) * SIDE + 5;
    for (h = 0; h < 2; h++) {
        for (w = 0; w < 2; w++) {
            for (c = 0; c < CHANNELS; c++) {
                const int at = (h * 2 + w) * CHANNELS + c, place = (1 + c) * SIDE + 2 + h + w;

                dy[at] = (float)(1 << at);
                indices[(h + w) * CHANNELS + c] = place;
                expected[place * CHANNELS + c] += dy[at];
            }
        }
    }
    assert_int_equal(poolgrad_execute(plan, &buffers, NULL), POOLGRAD_OK);
    assert_memory_equal(dx, expected, sizeof dx);
    indices[CHANNELS + 1] = 3; /* in the first row: window 0,1 has it, window 1,0 has not */
    assert_int_equal(poolgrad_execute(plan, &buffers, &error), POOLGRAD_ERR_INDEX);
    assert_int_equal(error.position, 4 + 2);
    poolgrad_plan_destroy(plan);
}

/* A message counts windows on the axes that the caller has, also if some have one only. */
static void bad_index_of_unit_axes(void **state)
{
    const int64_t indices[] = {0, 9};
    const float dy[] = {1, 2};
    float dx[2];
    const poolgrad_buffers buffers = buffers_of(dy, indices, dx);
    poolgrad_plan *plan = plan_of("max3d:f32:ncdhw:1x1x1x2x1:k1", NULL);
    poolgrad_error error;

    (void)state;
    assert_int_equal(poolgrad_execute(plan, &buffers, &error), POOLGRAD_ERR_INDEX);
    assert_string_equal(error.message,
                        "element 1 of the indices (batch 0, channel 0, window 0,1,0) is 9; it must "
                        "be a position that its window covers");
    poolgrad_plan_destroy(plan);
}

static void bad_indices(void **state)
{
    static const char *const texts[] = {
        "max2d:f32:nchw:2x3x6x7:k2",
        "max2d:f32:nchw:2x3x6x7:k3:s2:p1:base=plane",
        "max2d:f32:nhwc:2x3x6x7:k2:s2:base=nxc:index=i32",
        "max2d:f16:nhwc:2x3x6x7:k2:base=nxc_image:index=u32",
        "max2d:f64:nchw:2x3x6x7:k2:order=column",
        "max2d:f32:nchw:2x3x6x7:k2:d2:ilayout=nhwc",
        "max2d:f32:nchw:2x3x6x9:k2:d2:base=plane",
        "max2d:f32:nchw:2x3x7x7:k3:s2:p1:base=plane", /* windows past the last row */
        "max2d:f32:nhwc:2x3x7x7:k3:s2:p1:index=i32",
        "max2d:f32:nchw:2x3x9x9:k5:s2:p2",
        "max2d:f32:nhwc:1x3x9x9:k5:s2:p2:base=plane",
        "max2d:f32:nhwc:2x3x6x7:k3:d2:s2:p2",
        "max2d:f32:nhwc:1x17x6x7:k2:d2:base=nxc",
        "max2d:f32:nchw:2x3x6x7:k2:index=u8:base=window",
        "max2d:f32:nchw:1x2x7x40:k2:s2:index=u8:base=window",
        "max2d:bf16:nhwc:2x17x7x7:k3:s2:p1:index=u8:base=window",
        "max2d:f64:nhwc:1x17x6x7:k3:d2:s2:p2:index=u8:base=window",
        "max2d:f32:nchw:1x3x9x9:k5:s2:p2:index=u8:base=window:ilayout=nhwc",
        "max2d:f32:nchw:1x3x9x9:k5:s2:p2:index=i32:base=window",
        "max2d:f32:nchw:1x1x420x420:k104:s50", /* rows of windows, one after the other */
    };
    static const char *const short_rows[] = {
        "max2d:f32:nchw:2x17x6x7:k2",
        "max2d:bf16:nchw:1x35x7x7:k3:s2:p1:base=plane",
        "max2d:f32:nhwc/nchw:2x300x2x3:k2:index=u8:base=window",
        "max2d:f32:nhwc/nchw:2x35x5x4:k2:base=plane",
        "max2d:f32:nchw/nhwc:2x35x5x4:k2:s2",
        /* few channels: joined with the batch, or in its place */
        "max2d:f32:nchw:9x2x5x6:k2",
        "max2d:f32:nhwc/nchw:67x2x2x4:k2:ilayout=nchw",
        "max2d:f64:nchw/nhwc:64x3x2x3:k2:base=plane:index=i32",
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        check_bad_indices(texts[i], "scatter", 3);
        check_bad_indices(texts[i], "reference", 3);
    }
    for (i = 0; i < sizeof short_rows / sizeof short_rows[0]; i++)
        check_bad_indices(short_rows[i], "turned", 3);
    /* 32 of the channels, then one */
    check_bad_indices("max2d:f32:nhwc:1x33x16x8:k3:p1:ilayout=nchw", "scatter", 61);
}

/* -1 is for those who say so, and for windows that cover nothing. */
static void no_winner(void **state)
{
    int64_t indices[4];
    float dy[4] = {1, 2, 3, 4}, dx[4];
    const poolgrad_buffers buffers = buffers_of(dy, indices, dx);
    poolgrad_plan *plan = plan_of("max1d:f32:ncw:1x1x4:k1:nowinner", NULL);
    poolgrad_error error;

    (void)state;
    memcpy(indices, (int64_t[]){0, -1, 2, 3}, sizeof indices);
    assert_int_equal(poolgrad_execute(plan, &buffers, &error), POOLGRAD_OK);
    assert_memory_equal(dx, ((float[]){1, 0, 3, 4}), sizeof dx);
    indices[1] = -2;
    assert_int_equal(poolgrad_execute(plan, &buffers, &error), POOLGRAD_ERR_INDEX);
    assert_string_equal(error.message,
                        "element 1 of the indices (batch 0, channel 0, window 1) is -2; it must be "
                        "a position that its window covers, or -1");
    poolgrad_plan_destroy(plan);

    /* windows 0 and 3 lie in the padding */
    plan = plan_of("max1d:f32:ncw:1x1x2:k1:p1", NULL);
    memcpy(indices, (int64_t[]){-1, 0, 1, -1}, sizeof indices);
    assert_int_equal(poolgrad_execute(plan, &buffers, &error), POOLGRAD_OK);
    assert_true(dx[0] == 2 && dx[1] == 3);
    indices[3] = 1; /* no window that reaches dx, and checked all the same */
    assert_int_equal(poolgrad_execute(plan, &buffers, &error), POOLGRAD_ERR_INDEX);
    assert_int_equal(error.position, 3);
    poolgrad_plan_destroy(plan);

    /* also if there is nothing to compute */
    plan = plan_of("max1d:f32:ncw:1x1x4:k2:dxbox=0+*,0+*,0+0:dybox=0+*,0+*,0+3", NULL);
    memcpy(indices, (int64_t[]){0, 1, 99, 0}, sizeof indices);
    assert_int_equal(poolgrad_execute(plan, &buffers, &error), POOLGRAD_ERR_INDEX);
    assert_int_equal(error.position, 2);
    poolgrad_plan_destroy(plan);
}

/* A byte for each window of 2x3, with padding above and on the left; the last two cover nothing. */
static void taps_of_windows(void **state)
{
    static const float x[] = {1, 9, 2, /**/ 8, 3, 4}, dy[] = {1, 2, 4, 8, 16, 32};
    uint8_t taps[6];
    float y[6], dx[6];
    poolgrad_buffers buffers;
    poolgrad_error error;
    poolgrad_plan *plan;
    poolgrad_desc desc;

    (void)state;
    poolgrad_buffers_init(&buffers);
    buffers.x = x;
    buffers.y = y;
    buffers.indices_out = taps;
    poolgrad_desc_parse("maxpool2d:f32:nchw:1x1x2x3:k2x3:s2x1:p1,3x1,0:index=u8:base=window", &desc,
                        NULL);
    assert_int_equal(poolgrad_plan_create(&plan, &desc, NULL, NULL), POOLGRAD_OK);
    assert_int_equal(poolgrad_execute(plan, &buffers, NULL), POOLGRAD_OK);
    assert_memory_equal(taps, ((uint8_t[]){5, 4, 1, 0, 255, 255}), sizeof taps);
    assert_memory_equal(y, ((float[]){9, 9, 8, 8, -INFINITY, -INFINITY}), sizeof y);
    poolgrad_plan_destroy(plan);

    desc.op = POOLGRAD_MAX_GRAD;
    buffers.dy = dy;
    buffers.dx = dx;
    buffers.indices = taps;
    assert_int_equal(poolgrad_plan_create(&plan, &desc, NULL, NULL), POOLGRAD_OK);
    assert_int_equal(poolgrad_execute(plan, &buffers, NULL), POOLGRAD_OK);
    assert_memory_equal(dx, ((float[]){0, 3, 0, 12, 0, 0}), sizeof dx);
    taps[3] = 255;
    assert_int_equal(poolgrad_execute(plan, &buffers, &error), POOLGRAD_ERR_INDEX);
    assert_string_equal(error.message,
                        "element 3 of the indices (batch 0, channel 0, window 1,1) is -1; it must "
                        "be a tap of its window inside the input");
    poolgrad_plan_destroy(plan);
    desc.no_winner = 1;
    assert_int_equal(poolgrad_plan_create(&plan, &desc, NULL, NULL), POOLGRAD_OK);
    assert_int_equal(poolgrad_execute(plan, &buffers, NULL), POOLGRAD_OK);
    assert_memory_equal(dx, ((float[]){0, 3, 0, 4, 0, 0}), sizeof dx);
    poolgrad_plan_destroy(plan);
}

/* ------------------------------------------------- forward, then backward */

/* The gradient problem that belongs to a forward one: dy like y, dx like x, whole views. */
static poolgrad_desc gradient_of(const poolgrad_desc *forward, poolgrad_winner winner)
{
    poolgrad_desc desc = *forward;

    desc.op = POOLGRAD_MAX_GRAD;
    desc.winner = winner;
    desc.dy = desc.y;
    desc.dx = desc.x;
    desc.alpha = 1;
    desc.beta = 0;
    return desc;
}

/* y and indices from x; then dx from those indices and dx from x have the same bits, and
 * <y, dy> = <x, dx> exactly, dy and x being small integers. */
static void check_circle(const poolgrad_desc *forward, sup_kind kind, uint64_t seed)
{
    poolgrad_desc from_indices = gradient_of(forward, POOLGRAD_FROM_INDICES);
    poolgrad_desc from_x = gradient_of(forward, POOLGRAD_FROM_X);
    fixture f, by_index, by_x;
    sup_memory other;

    fixture_make(&f, forward, kind, seed);
    fixture_make(&by_index, &from_indices, SUP_INTEGERS, seed + 1);
    fixture_make(&by_x, &from_x, SUP_INTEGERS, seed + 1);
    run_with_indices(&f, NULL, f.y.first, by_index.indices.first);
    run_into(&by_index, NULL, by_index.dx.first);
    assert_int_equal(f.x.bytes, by_x.x.bytes);
    memcpy(by_x.x.allocation, f.x.allocation, f.x.bytes);
    other = copy_of_result(&by_x);
    run_into(&by_x, NULL, other.first);
    assert_same_result(&by_index, by_index.dx.first, other.first, "from x against from indices");
    if (kind == SUP_INTEGERS && forward->alpha == 1 && forward->beta == 0) {
        const int64_t windows = sup_view_count(&f.desc, &f.desc.y);
        const int64_t places = sup_view_count(&f.desc, &f.desc.x);
        double left = 0, right = 0;
        int64_t i;

        for (i = 0; i < windows; i++) {
            const double y =
                sup_load(f.desc.dtype, f.y.first, sup_view_offset(&f.desc, &f.desc.y, i));

            if (y != -(double)INFINITY) /* covers nothing, its dy goes nowhere */
                left += y * sup_load(f.desc.dtype, by_index.dy.first,
                                     sup_view_offset(&by_index.desc, &by_index.desc.dy, i));
        }
        for (i = 0; i < places; i++)
            right +=
                sup_load(f.desc.dtype, f.x.first, sup_view_offset(&f.desc, &f.desc.x, i)) *
                sup_load(f.desc.dtype, other.first, sup_view_offset(&by_x.desc, &by_x.desc.dx, i));
        if (left != right)
            fail_msg("%s\n<y, dy> is %.17g but <x, dx> is %.17g", f.text, left, right);
    }
    sup_view_free(&other);
    fixture_free(&f);
    fixture_free(&by_index);
    fixture_free(&by_x);
}

static void forward_then_backward(void **state)
{
    static const sup_kind kinds[] = {SUP_TIES, SUP_SPECIALS, SUP_INTEGERS};
    const int problems = scaled(2000);
    sup_limits limits = sup_limits_default();
    sup_rng rng;
    int i;

    (void)state;
    limits.ops = SUP_OP(POOLGRAD_MAX);
    limits.only_dense = limits.only_whole = 1;
    limits.elements = 4000;
    sup_rng_seed(&rng, 17);
    for (i = 0; i < problems; i++) {
        poolgrad_desc desc;

        do
            sup_random_problem(&rng, &limits, &desc);
        /* sums of small integers must be exact in 8 bits of fraction */
        while (desc.dtype == POOLGRAD_BF16 && kinds[i % 3] == SUP_INTEGERS);
        check_circle(&desc, kinds[i % 3], (uint64_t)i);
    }
}

/* Worked cases: ties, NaN, -inf, zeros of both signs. y, index and where dy = 1 goes. */
static void contested_windows(void **state)
{
    static const struct {
        float x[3];
        int64_t winner[4]; /* by the NaN rules first, skip, last, leading */
    } cases[] = {
        {{1, 2, 3}, {2, 2, 2, 2}},
        {{3, 3, 3}, {0, 0, 0, 0}},
        {{1, 3, 3}, {1, 1, 1, 1}},
        {{NAN, 3, 1}, {0, 1, 0, 0}},
        {{3, NAN, 1}, {1, 0, 1, 0}},
        {{1, NAN, 3}, {1, 2, 1, 2}},
        {{NAN, NAN, NAN}, {0, 0, 2, 0}},
        {{1, NAN, NAN}, {1, 0, 2, 0}},
        {{NAN, 1, NAN}, {0, 1, 2, 0}},
        {{-INFINITY, -INFINITY, -INFINITY}, {0, 0, 0, 0}},
        {{NAN, -INFINITY, -INFINITY}, {0, 1, 0, 0}},
        {{-INFINITY, NAN, INFINITY}, {1, 2, 1, 2}},
        {{-0.0f, 0.0f, -1}, {0, 0, 0, 0}},
        {{0.0f, -0.0f, 0.0f}, {0, 0, 0, 0}},
        {{-1, -0.0f, 0.0f}, {1, 1, 1, 1}},
    };
    size_t i;
    int rule;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (rule = POOLGRAD_NAN_FIRST; rule <= POOLGRAD_NAN_LEADING; rule++) {
            const int64_t winner = cases[i].winner[rule - POOLGRAD_NAN_FIRST];
            const float one = 1;
            poolgrad_buffers buffers;
            poolgrad_plan *plan;
            poolgrad_desc desc;
            int64_t index = -7;
            float y, dx[3];

            poolgrad_buffers_init(&buffers);
            buffers.x = cases[i].x;
            buffers.y = &y;
            buffers.indices_out = &index;
            buffers.dy = &one;
            buffers.dx = dx;
            poolgrad_desc_parse("maxpool1d:f32:ncw:1x1x3:k3", &desc, NULL);
            desc.nan = (poolgrad_nan)rule;
            assert_int_equal(poolgrad_plan_create(&plan, &desc, NULL, NULL), POOLGRAD_OK);
            assert_int_equal(poolgrad_execute(plan, &buffers, NULL), POOLGRAD_OK);
            poolgrad_plan_destroy(plan);
            assert_int_equal(index, winner);
            assert_true(sup_equal_bits(POOLGRAD_F32, &y, &cases[i].x[winner]));
            desc.op = POOLGRAD_MAX_GRAD;
            desc.winner = POOLGRAD_FROM_X;
            assert_int_equal(poolgrad_plan_create(&plan, &desc, NULL, NULL), POOLGRAD_OK);
            assert_int_equal(poolgrad_execute(plan, &buffers, NULL), POOLGRAD_OK);
            poolgrad_plan_destroy(plan);
            assert_true(dx[0] == (winner == 0) && dx[1] == (winner == 1) && dx[2] == (winner == 2));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_indices),
        cmocka_unit_test(one_index_for_all),
        cmocka_unit_test(indices_that_overlap),
        cmocka_unit_test(bad_index_of_unit_axes),
        cmocka_unit_test(no_winner),
        cmocka_unit_test(taps_of_windows),
        cmocka_unit_test(forward_then_backward),
        cmocka_unit_test(contested_windows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
