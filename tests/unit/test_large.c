/* SPDX-License-Identifier: MIT */
/*
 * Tensors beyond 2^31 elements and strides beyond 2^32. Memory is mapped and touched only where it
 * is used, except for the one problem that really has that many elements; that one needs 5 GiB and
 * is skipped, loudly, where there is less.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "harness.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

/* `from` is dy, x or both, `to` is dx or y. */
static void execute(const poolgrad_desc *desc, const void *from, void *to)
{
    poolgrad_buffers buffers;
    poolgrad_error error;
    poolgrad_plan *plan;

    if (poolgrad_plan_create(&plan, desc, NULL, &error))
        fail_msg("%s", error.message);
    poolgrad_buffers_init(&buffers);
    buffers.dy = buffers.x = from;
    buffers.dx = buffers.y = to;
    if (poolgrad_execute(plan, &buffers, &error))
        fail_msg("%s", error.message);
    poolgrad_plan_destroy(plan);
}

/* Strides of 2^33 elements and more, on both tensors, also negative: the same bits as dense. */
static void strides_above_2_32(void **state)
{
    enum {
        SPAN = 3
    };
    const int64_t far = (INT64_C(1) << 33) + 5;
    const size_t bytes = (size_t)(far * SPAN) * sizeof(float);
    fixture dense;
    poolgrad_desc desc;
    float *dy, *dx;
    int64_t i, c;

    (void)state;
    fixture_parse(&dense, "avg1d:f32:ncw:1x3x40:k3:p1", SUP_UNIFORM, 1);
    run_into(&dense, NULL, dense.dx.first);
    desc = dense.desc;
    desc.dy.layout = desc.dx.layout = POOLGRAD_STRIDED;
    desc.dy.stride[1] = far;
    desc.dx.stride[1] = -far;
    dy = map(bytes);
    dx = map(bytes);
    if (!dy || !dx)
        skip();
    for (c = 0; c < 3; c++)
        memcpy(dy + c * far, (float *)dense.dy.first + c * 40, 40 * sizeof(float));
    execute(&desc, dy, dx + 2 * far);
    for (c = 0; c < 3; c++)
        for (i = 0; i < 40; i++)
            assert_true(dx[(2 - c) * far + i] == ((float *)dense.dx.first)[c * 40 + i]);
    munmap(dy, bytes);
    munmap(dx, bytes);
    fixture_free(&dense);
}

/* A box at the far end of an axis of 2^40 positions has the bits of the end of a short axis whose
 * windows end in the same phase. */
static void far_boxes(void **state)
{
    const int64_t length = INT64_C(1) << 40, short_length = 499, extent = 50;
    fixture near;
    poolgrad_desc desc;
    float dy[64], dx[50];
    int64_t i;

    (void)state;
    fixture_parse(&near, "avg1d:f32:ncw:1x1x499:k7:s3:p2:div=exclude", SUP_UNIFORM, 2);
    run_into(&near, NULL, near.dx.first);
    assert_int_equal(length % 3, short_length % 3);
    poolgrad_desc_parse("avg1d:f32:ncw:1x1x499:k7:s3:p2:div=exclude", &desc, NULL);
    desc.in[0] = length;
    desc.dx.offset[2] = length - extent;
    assert_int_equal(poolgrad_desc_reach(&desc, NULL), POOLGRAD_OK);
    assert_true(desc.dy.extent[2] <= 64 && desc.dy.offset[2] > INT64_C(1) << 38);
    for (i = 0; i < desc.dy.extent[2]; i++)
        dy[i] = ((float *)near.dy.first)[near.desc.out[0] - desc.dy.extent[2] + i];
    execute(&desc, dy, dx);
    for (i = 0; i < extent; i++)
        assert_true(dx[i] == ((float *)near.dx.first)[short_length - extent + i]);
    fixture_free(&near);
}

/* Stride and dilation beyond 2^31 and coprime: the run of a position is found modulo the stride,
 * with products that do not fit in 64 bits. Window 5 alone has a tap, its 8th, at that position. */
static void large_coprime_stride_and_dilation(void **state)
{
    const int64_t stride = INT64_C(6074001001), dilation = INT64_C(6074000999);
    const int64_t position = 5 * stride + 7 * dilation;
    poolgrad_desc desc;
    float dy[8], dx[3];
    int64_t i;

    (void)state;
    poolgrad_desc_parse("avg1d:f32:ncw:1x1x1:k10:div=include", &desc, NULL);
    desc.in[0] = 6 * stride + 9 * dilation;
    desc.stride[0] = stride;
    desc.dilation[0] = dilation;
    desc.dx.offset[2] = position - 1;
    desc.dx.extent[2] = 3;
    assert_int_equal(poolgrad_desc_resolve(&desc, NULL), POOLGRAD_OK);
    assert_int_equal(desc.out[0], 6);
    for (i = 0; i < 8; i++)
        dy[i] = (float)(10 * (i + 1));
    execute(&desc, dy, dx);
    assert_true(dx[0] == 0 && dx[1] == 6 && dx[2] == 0);
}

static int64_t free_bytes(void)
{
    char line[128];
    long long kilobytes = 0;
    FILE *file = fopen("/proc/meminfo", "r");

    if (!file)
        return 0;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %lld kB", &kilobytes) == 1)
            break;
    fclose(file);
    return kilobytes * 1024;
}

/*
 * More than 2^31 elements of dx or y (in bf16, so that 4.3 GB do); what is read is one value,
 * broadcast by stride 0. Equal to the same problem in boxes of rows, at the ends and in the middle.
 */
static void check_beyond_2_31(const char *text)
{
    enum {
        ROWS = 16
    };
    const uint16_t one = 0x3f80;
    poolgrad_desc desc, box;
    poolgrad_view *written;
    uint16_t *result, *part;
    int64_t begin, rows, row, planes;
    size_t bytes, part_bytes;

    assert_int_equal(poolgrad_desc_parse(text, &desc, NULL), POOLGRAD_OK);
    box = desc;
    assert_int_equal(poolgrad_desc_resolve(&box, NULL), POOLGRAD_OK);
    planes = desc.channels;
    rows = sup_is_forward(&desc) ? box.out[0] : box.in[0];
    row = sup_is_forward(&desc) ? box.out[1] : box.in[1];
    assert_true(planes * rows * row > INT64_C(1) << 31);
    bytes = (size_t)(planes * rows * row) * sizeof *result;
    part_bytes = (size_t)(ROWS * row) * sizeof *part;
    result = map(bytes);
    part = map(part_bytes);
    assert_non_null(result);
    assert_non_null(part);
    execute(&desc, &one, result);
    for (begin = 0; begin <= rows - ROWS; begin += (rows - ROWS) / 4) {
        box = desc;
        written = sup_is_forward(&desc) ? &box.y : &box.dx;
        written->offset[1] = planes - 1;
        written->extent[1] = 1;
        written->offset[2] = begin;
        written->extent[2] = ROWS;
        execute(&box, &one, part);
        assert_memory_equal(part, result + ((planes - 1) * rows + begin) * row, part_bytes);
    }
    munmap(part, part_bytes);
    munmap(result, bytes);
}

static void need_memory(void)
{
    if (free_bytes() < INT64_C(6) << 30 || scaled(100) < 100) {
        print_message("SKIPPED: a tensor beyond 2^31 elements needs 5 GiB of free memory and an "
                      "ordinary build\n");
        skip();
    }
}

static void more_than_2_31_elements(void **state)
{
    (void)state;
    need_memory();
    check_beyond_2_31("avg2d:bf16:strided/nchw:1x3x26800x26801:k3x2:s2:p1x0:div=exclude:"
                      "dystride=0,0,0,0");
}

/* From indices: planes of one element, so that one index serves them all. */
static void check_indices_beyond_2_31(void)
{
    const int64_t planes = (INT64_C(1) << 31) + 8;
    const uint16_t one = 0x3f80;
    const int64_t zero = 0;
    poolgrad_buffers buffers;
    poolgrad_plan *plan;
    poolgrad_desc desc;
    uint16_t *dx = map((size_t)planes * sizeof *dx);
    int64_t i;

    assert_non_null(dx);
    assert_int_equal(
        poolgrad_desc_parse("max1d:bf16:strided/ncw:1x2147483656x1:k1:base=plane:dystride=0,0,0:"
                            "ilayout=strided:istride=0,0,0",
                            &desc, NULL),
        POOLGRAD_OK);
    assert_int_equal(desc.channels, planes);
    assert_int_equal(poolgrad_plan_create(&plan, &desc, NULL, NULL), POOLGRAD_OK);
    poolgrad_buffers_init(&buffers);
    buffers.dy = &one;
    buffers.dx = dx;
    buffers.indices = &zero;
    assert_int_equal(poolgrad_execute(plan, &buffers, NULL), POOLGRAD_OK);
    for (i = 0; i < planes; i++)
        if (dx[i] != one)
            fail_msg("element %lld is wrong", (long long)i);
    poolgrad_plan_destroy(plan);
    munmap(dx, (size_t)planes * sizeof *dx);
}

static void more_than_2_31_elements_of_the_others(void **state)
{
    (void)state;
    need_memory();
    check_indices_beyond_2_31();
    check_beyond_2_31("avgpool2d:bf16:strided/nchw:1x3x26800x26801:k3x2:p1x1:div=exclude:"
                      "xstride=0,0,0,0");
    check_beyond_2_31("max2d:bf16:strided/nchw:1x3x26800x26801:k3x2:s2:p1x0:from=x:"
                      "dystride=0,0,0,0:xlayout=strided:xstride=0,0,0,0");
    check_beyond_2_31("maxpool2d:bf16:strided/nchw:1x3x26800x26801:k3x2:p1x1:xstride=0,0,0,0");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest big_tests[] = {
        cmocka_unit_test(more_than_2_31_elements_of_the_others),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strides_above_2_32),
        cmocka_unit_test(far_boxes),
        cmocka_unit_test(large_coprime_stride_and_dilation),
        cmocka_unit_test(more_than_2_31_elements),
    };

    if (is_big(argc, argv))
        return cmocka_run_group_tests(big_tests, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
