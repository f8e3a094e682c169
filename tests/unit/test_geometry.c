/* SPDX-License-Identifier: MIT */
/* Output sizes, SAME pads, strides and reach, against counting by brute force. */
#include "harness.h"

#include <string.h>

/* A window of a 1-D problem as the definition has it. */
static int64_t tap(const poolgrad_desc *desc, int64_t o, int64_t t)
{
    return o * desc->stride[0] - desc->pad_lo[0] + t * desc->dilation[0];
}

/* Windows of an axis, counted one by one. Floor: the whole window lies in the padded input. Ceil:
 * windows go on until one reaches the end, and the last is dropped if it starts past in + pad_lo
 * (counted from the first padded position). */
static int64_t count_windows(const poolgrad_desc *desc)
{
    const int64_t end = desc->in[0] + desc->pad_hi[0], last_tap = desc->kernel[0] - 1;
    int64_t windows = 0;

    if (desc->rounding == POOLGRAD_FLOOR) {
        while (tap(desc, windows, last_tap) < end)
            windows++;
        return windows;
    }
    /* ceil(room / stride) + 1: the first window that ends at or past the end is the last */
    if (tap(desc, 0, last_tap) - desc->stride[0] >= end - 1)
        return 0;
    while (tap(desc, windows, last_tap) < end - 1)
        windows++;
    windows++;
    if ((windows - 1) * desc->stride[0] >= desc->in[0] + desc->pad_lo[0])
        windows--;
    return windows;
}

static void output_sizes(void **state)
{
    poolgrad_desc desc;
    int64_t in, kernel, stride, dilation, lo, hi;
    int rounding, checked = 0;

    (void)state;
    for (rounding = POOLGRAD_FLOOR; rounding <= POOLGRAD_CEIL; rounding++)
        for (in = 1; in <= 7; in++)
            for (kernel = 1; kernel <= 5; kernel++)
                for (stride = 1; stride <= 4; stride++)
                    for (dilation = 1; dilation <= 3; dilation++)
                        for (lo = 0; lo <= 3; lo++)
                            for (hi = 0; hi <= 3; hi++) {
                                poolgrad_desc_init(&desc);
                                desc.rank = 1;
                                desc.rounding = (poolgrad_rounding)rounding;
                                desc.in[0] = in;
                                desc.kernel[0] = kernel;
                                desc.stride[0] = stride;
                                desc.dilation[0] = dilation;
                                desc.pad_lo[0] = lo;
                                desc.pad_hi[0] = hi;
                                assert_int_equal(poolgrad_desc_resolve(&desc, NULL), POOLGRAD_OK);
                                assert_int_equal(desc.out[0], count_windows(&desc));
                                checked++;
                            }
    assert_int_equal(checked, 2 * 7 * 5 * 4 * 3 * 16);
}

/* SAME: ceil(in / stride) windows, as little padding as that needs, split evenly. */
static void same_padding(void **state)
{
    int64_t in, kernel, stride, dilation;

    (void)state;
    for (in = 0; in <= 9; in++)
        for (kernel = 1; kernel <= 6; kernel++)
            for (stride = 1; stride <= 4; stride++)
                for (dilation = 1; dilation <= 2; dilation++) {
                    const int64_t windows = (in + stride - 1) / stride;
                    poolgrad_desc upper, lower;
                    int64_t total;

                    poolgrad_desc_init(&upper);
                    upper.rank = 1;
                    upper.in[0] = in;
                    upper.kernel[0] = kernel;
                    upper.stride[0] = stride;
                    upper.dilation[0] = dilation;
                    lower = upper;
                    assert_int_equal(poolgrad_desc_set_padding(&upper, POOLGRAD_SAME_UPPER, NULL),
                                     POOLGRAD_OK);
                    assert_int_equal(poolgrad_desc_set_padding(&lower, POOLGRAD_SAME_LOWER, NULL),
                                     POOLGRAD_OK);
                    total = upper.pad_lo[0] + upper.pad_hi[0];
                    assert_int_equal(lower.pad_lo[0], upper.pad_hi[0]);
                    assert_int_equal(lower.pad_hi[0], upper.pad_lo[0]);
                    assert_true(upper.pad_hi[0] - upper.pad_lo[0] == total % 2);
                    if (in > 0 && total > 0)
                        assert_int_equal((windows - 1) * stride + (kernel - 1) * dilation + 1,
                                         in + total);
                    assert_int_equal(poolgrad_desc_resolve(&upper, NULL), POOLGRAD_OK);
                    assert_int_equal(upper.out[0], windows);
                    assert_int_equal(poolgrad_desc_set_padding(&upper, POOLGRAD_VALID, NULL),
                                     POOLGRAD_OK);
                    assert_true(upper.pad_lo[0] == 0 && upper.pad_hi[0] == 0);
                }
}

static void padding_errors(void **state)
{
    poolgrad_desc desc, before;
    poolgrad_error error;

    (void)state;
    poolgrad_desc_parse("avg2d:f32:nchw:1x1x5x5:k3", &desc, NULL);
    before = desc;
    assert_int_equal(poolgrad_desc_set_padding(&desc, (poolgrad_padding)4, &error),
                     POOLGRAD_ERR_ENUM);
    assert_non_null(strstr(error.message, "padding is 4"));
    desc.kernel[1] = before.kernel[1] = 0;
    assert_int_equal(poolgrad_desc_set_padding(&desc, POOLGRAD_SAME_UPPER, &error),
                     POOLGRAD_ERR_ATTRIBUTE);
    desc.kernel[1] = before.kernel[1] = 3;
    desc.in[0] = before.in[0] = -1;
    assert_int_equal(poolgrad_desc_set_padding(&desc, POOLGRAD_SAME_UPPER, &error),
                     POOLGRAD_ERR_SHAPE);
    desc.in[0] = before.in[0] = INT64_MAX;
    desc.kernel[0] = before.kernel[0] = INT64_MAX;
    assert_int_equal(poolgrad_desc_set_padding(&desc, POOLGRAD_SAME_UPPER, &error),
                     POOLGRAD_ERR_OVERFLOW);
    desc.rank = before.rank = 0;
    assert_int_equal(poolgrad_desc_set_padding(&desc, POOLGRAD_VALID, &error), POOLGRAD_ERR_RANK);
    assert_memory_equal(&desc, &before, sizeof desc);
    poolgrad_desc_parse("avg1d:f32:ncw:1x1x5:adaptive:o2", &desc, NULL);
    assert_int_equal(poolgrad_desc_set_padding(&desc, POOLGRAD_VALID, &error), POOLGRAD_ERR_ENUM);
    assert_non_null(strstr(error.message, "adaptive"));
}

static void strides(void **state)
{
    static const int64_t extent[] = {2, 3, 4, 5, 6};
    static const int64_t ncx[] = {360, 120, 30, 6, 1}, nxc[] = {360, 1, 90, 18, 3};
    static const int64_t empty[] = {2, 0, 4, 5, 6}, huge[] = {1, 1, INT64_MAX, 2, 1};
    static const int64_t negative[] = {1, -1, 2};
    int64_t stride[5];
    poolgrad_desc desc;

    (void)state;
    assert_int_equal(poolgrad_dense_strides(POOLGRAD_NCX, 3, extent, stride, NULL), POOLGRAD_OK);
    assert_memory_equal(stride, ncx, sizeof stride);
    assert_int_equal(poolgrad_dense_strides(POOLGRAD_NXC, 3, extent, stride, NULL), POOLGRAD_OK);
    assert_memory_equal(stride, nxc, sizeof stride);
    assert_int_equal(poolgrad_dense_strides(POOLGRAD_NCX, 3, empty, stride, NULL), POOLGRAD_OK);
    assert_true(stride[0] == 120 && stride[1] == 120);

    memset(stride, 7, sizeof stride);
    assert_int_equal(poolgrad_dense_strides(POOLGRAD_STRIDED, 3, extent, stride, NULL),
                     POOLGRAD_ERR_ENUM);
    assert_int_equal(poolgrad_dense_strides(POOLGRAD_NCX, 4, extent, stride, NULL),
                     POOLGRAD_ERR_RANK);
    assert_int_equal(poolgrad_dense_strides(POOLGRAD_NCX, 3, huge, stride, NULL),
                     POOLGRAD_ERR_OVERFLOW);
    assert_int_equal(poolgrad_dense_strides(POOLGRAD_NCX, 1, negative, stride, NULL),
                     POOLGRAD_ERR_SHAPE);
    assert_int_equal(poolgrad_dense_strides(POOLGRAD_NCX, 3, NULL, stride, NULL),
                     POOLGRAD_ERR_NULL);
    assert_int_equal(poolgrad_dense_strides(POOLGRAD_NCX, 3, extent, NULL, NULL),
                     POOLGRAD_ERR_NULL);
    assert_true(stride[0] == INT64_C(0x0707070707070707));

    poolgrad_desc_parse("avg2d:f32:nchw/nhwc:2x3x5x7:k2:dxbox=0+*,1+1,2+3,0+*", &desc, NULL);
    assert_int_equal(poolgrad_desc_resolve(&desc, NULL), POOLGRAD_OK);
    assert_true(desc.dx.extent[1] == 1 && desc.dx.extent[2] == 3 && desc.dx.extent[3] == 7);
    assert_true(desc.dx.stride[0] == 21 && desc.dx.stride[2] == 7 && desc.dx.stride[1] == 1);
    assert_true(desc.dy.stride[1] == 24 && desc.dy.extent[3] == 6);
}

/* Windows whose span meets a box of positions, found by looking at all of them. */
static void reach(void **state)
{
    const int count = scaled(20000);
    sup_limits limits = sup_limits_default();
    sup_rng rng;
    int i, axis;

    (void)state;
    limits.only_nonempty = 1;
    sup_rng_seed(&rng, 3);
    for (i = 0; i < count; i++) {
        poolgrad_desc desc, whole;

        sup_random_problem(&rng, &limits, &desc);
        whole = desc;
        assert_int_equal(poolgrad_desc_reach(&desc, NULL), POOLGRAD_OK);
        assert_int_equal(poolgrad_desc_resolve(&desc, NULL), POOLGRAD_OK);
        for (axis = 0; axis < desc.rank; axis++) {
            const int64_t begin = desc.dx.offset[2 + axis];
            const int64_t end = begin + desc.dx.extent[2 + axis];
            int64_t o, first = -1, last = -1;

            if (desc.out[axis] > 10000)
                continue;
            for (o = 0; o < desc.out[axis]; o++) {
                int64_t lowest = o * desc.stride[axis] - desc.pad_lo[axis];
                int64_t highest = lowest + (desc.kernel[axis] - 1) * desc.dilation[axis];

                if (desc.rounding == POOLGRAD_ADAPTIVE) {
                    lowest = o * desc.in[axis] / desc.out[axis];
                    highest = ((o + 1) * desc.in[axis] - 1) / desc.out[axis];
                }
                if (begin < end && lowest < end && highest >= begin) {
                    first = first < 0 ? o : first;
                    last = o;
                }
            }
            assert_int_equal(desc.dy.extent[2 + axis], first < 0 ? 0 : last - first + 1);
            if (first >= 0)
                assert_int_equal(desc.dy.offset[2 + axis], first);
        }
        assert_int_equal(whole.dx.layout, desc.dx.layout);
    }
}

/* A struct from an older header is smaller: the one without what max pooling needs. Nothing behind
 * it may be read or written, and the fields it lacks have their defaults. */
static void older_structs(void **state)
{
    enum {
        OLD_DESC = offsetof(poolgrad_desc, winner),
        OLD_BUFFERS = offsetof(poolgrad_buffers, x)
    };
    unsigned char memory[sizeof(poolgrad_desc)], small[sizeof(poolgrad_buffers)];
    poolgrad_desc desc, *old = (poolgrad_desc *)(void *)memory;
    poolgrad_buffers buffers;
    const float dy[9] = {9, 9, 9, 9, 9, 9, 9, 9, 9};
    float dx[25];
    poolgrad_plan *plan;
    size_t i;

    (void)state;
    assert_int_equal(poolgrad_desc_parse("avg2d:f32:nchw:1x1x5x5:k3", &desc, NULL), POOLGRAD_OK);
    desc.size = OLD_DESC;
    memset(memory, 0xa5, sizeof memory);
    memcpy(memory, &desc, OLD_DESC);
    assert_int_equal(poolgrad_desc_resolve(old, NULL), POOLGRAD_OK);
    assert_int_equal(poolgrad_desc_reach(old, NULL), POOLGRAD_OK);
    memcpy(&desc, memory, OLD_DESC);
    assert_int_equal(desc.size, OLD_DESC);
    assert_int_equal(desc.out[1], 3);
    for (i = OLD_DESC; i < sizeof memory; i++)
        assert_int_equal(memory[i], 0xa5);

    assert_int_equal(poolgrad_plan_create(&plan, old, NULL, NULL), POOLGRAD_OK);
    poolgrad_buffers_init(&buffers);
    buffers.size = OLD_BUFFERS;
    buffers.dy = dy;
    buffers.dx = dx;
    memset(small, 0xa5, sizeof small);
    memcpy(small, &buffers, OLD_BUFFERS);
    assert_int_equal(poolgrad_execute(plan, (poolgrad_buffers *)(void *)small, NULL), POOLGRAD_OK);
    assert_true(dx[0] == 1 && dx[12] == 9);
    poolgrad_plan_destroy(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_sizes),   cmocka_unit_test(same_padding),
        cmocka_unit_test(padding_errors), cmocka_unit_test(strides),
        cmocka_unit_test(reach),          cmocka_unit_test(older_structs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
