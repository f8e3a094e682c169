/* SPDX-License-Identifier: MIT */
/*
 * The CUDA backend against the CPU: every operator, type, layout and strategy on random problems,
 * bit for bit. Without a device, what the library says then is tested and the rest is skipped.
 */
#include "harness.h"

#include <poolgrad/cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_large.h"
#include "gpu.h"

/* ------------------------------------------------------------ device memory */

/* One piece for all tests; views are put into it one behind the other. */
enum {
    ARENA = 256 << 20
};

static char *arena;
static size_t arena_used;

/* Room for so many bytes, where elements of 8 bytes may lie but rarely vectors. */
static void *room(size_t bytes)
{
    void *memory = arena + arena_used;

    arena_used += (bytes / 8 + 3) * 8;
    assert_true(arena_used <= ARENA);
    return memory;
}

static void put(void *to, const void *from, size_t bytes)
{
    assert_int_equal(sup_gpu_to_device(to, from, bytes), 0);
}

/* A view's memory on the device, as it is on the host; returns its element 0. */
static void *mirror(const sup_memory *memory, size_t shift)
{
    char *copy;

    if (!memory->allocation)
        return NULL;
    copy = (char *)room(memory->bytes + shift) + shift;
    put(copy, memory->allocation, memory->bytes);
    return copy + ((char *)memory->first - (char *)memory->allocation);
}

static void fetch(const sup_memory *to, const void *first)
{
    const char *lowest = (const char *)first - ((char *)to->first - (char *)to->allocation);

    assert_int_equal(sup_gpu_to_host(to->allocation, lowest, to->bytes), 0);
}

/* --------------------------------------------------------------- comparison */

static const char *const strategies[] = {NULL,     "whole",   "spread", "halves",
                                         "threes", "cell",    "near",   "layers",
                                         "march",  "closing", "plane",  "general"};

enum {
    STRATEGIES = sizeof strategies / sizeof *strategies
};

static int used[STRATEGIES];

/* Results that were wrong in the test at hand. The first are told, the rest counted. */
static int wrong_results;

static void complain(const fixture *f, int strategy, const char *what, int64_t at)
{
    if (wrong_results++ < 10)
        print_error("%s\n%s of strategy %s differs from the CPU's at element %lld\n", f->text, what,
                    strategies[strategy] ? strategies[strategy] : "default", (long long)at);
}

static int reset_results(void **state)
{
    (void)state;
    wrong_results = 0;
    return 0;
}

static poolgrad_buffers device_buffers(const fixture *f, const poolgrad_cuda_plan *plan,
                                       size_t shift)
{
    poolgrad_buffers buffers;

    arena_used = 0;
    poolgrad_buffers_init(&buffers);
    buffers.dy = mirror(&f->dy, shift);
    buffers.dx = mirror(&f->dx, shift);
    buffers.x = mirror(&f->x, shift);
    buffers.y = mirror(&f->y, shift);
    buffers.indices = mirror(&f->indices, 0);
    buffers.workspace_size = poolgrad_cuda_plan_workspace(plan);
    if (buffers.workspace_size) {
        buffers.workspace = room(buffers.workspace_size);
        sup_gpu_fill(buffers.workspace, 0x5a, buffers.workspace_size);
    }
    return buffers;
}

/* One strategy, where it applies; the result must be `expected`, the indices of MAX too. */
static void compare(const fixture *f, int strategy, const sup_memory *expected,
                    const sup_memory *expected_indices, size_t shift)
{
    const poolgrad_options options = options_for(strategies[strategy], 1);
    sup_memory actual = copy_of_result(f), actual_indices = {0};
    const int forward = sup_is_forward(&f->desc);
    poolgrad_cuda_plan *plan;
    poolgrad_buffers buffers;
    poolgrad_status status;
    poolgrad_error error;
    int64_t at;

    status = poolgrad_cuda_plan_create(&plan, &f->desc, &options, 0, &error);
    if (status == POOLGRAD_ERR_UNSUPPORTED && strategies[strategy]) {
        sup_view_free(&actual);
        return;
    }
    if (status)
        fail_msg("%s: %s", f->text, error.message);
    used[strategy]++;
    buffers = device_buffers(f, plan, shift);
    if (expected_indices->allocation) {
        assert_int_equal(sup_index_alloc(&f->desc, &actual_indices), 0);
        buffers.indices_out = mirror(&actual_indices, 0);
    }
    if (poolgrad_cuda_execute(plan, &buffers, NULL, &error) ||
        poolgrad_cuda_check(plan, &buffers, NULL, &error))
        fail_msg("%s: %s", f->text, error.message);
    fetch(&actual, forward ? buffers.y : buffers.dx);
    at = sup_view_difference(&f->desc, fixture_view(f), expected->first, actual.first);
    if (at >= 0)
        complain(f, strategy, "the result", at);
    if (expected_indices->allocation) {
        fetch(&actual_indices, buffers.indices_out);
        if (memcmp(actual_indices.allocation, expected_indices->allocation,
                   expected_indices->bytes) != 0)
            complain(f, strategy, "an index", -1);
    }
    poolgrad_cuda_plan_destroy(plan);
    sup_view_free(&actual);
    sup_view_free(&actual_indices);
}

static void compare_all(const fixture *f, size_t shift)
{
    sup_memory expected = copy_of_result(f), indices = {0};
    int i;

    if (f->desc.op == POOLGRAD_MAX)
        assert_int_equal(sup_index_alloc(&f->desc, &indices), 0);
    run_with_indices(f, NULL, expected.first, indices.first);
    for (i = 0; i < STRATEGIES; i++)
        compare(f, i, &expected, &indices, shift);
    sup_view_free(&expected);
    sup_view_free(&indices);
}

static void compare_text(const char *text, sup_kind kind, uint64_t seed, size_t shift)
{
    fixture f;

    fixture_parse(&f, text, kind, seed);
    compare_all(&f, shift);
    fixture_free(&f);
}

static void compare_random(unsigned ops, int count, uint64_t seed, int dense)
{
    static const sup_kind kinds[] = {SUP_UNIFORM, SUP_SPECIALS, SUP_TIES, SUP_INTEGERS};
    sup_limits limits = sup_limits_default();
    poolgrad_desc desc;
    fixture f;
    sup_rng rng;
    int i;

    limits.ops = ops;
    limits.only_dense = limits.only_whole = dense;
    sup_rng_seed(&rng, seed);
    for (i = 0; i < scaled(count); i++) {
        sup_random_problem(&rng, &limits, &desc);
        fixture_make(&f, &desc, kinds[i % 4], (uint64_t)i + seed);
        compare_all(&f, (size_t)(i / 4 % 3 == 0 ? 0 : 8));
        fixture_free(&f);
    }
}

static void test_random_averages(void **state)
{
    (void)state;
    compare_random(SUP_OP(POOLGRAD_AVG_GRAD), 3000, 1, 0);
    compare_random(SUP_OP(POOLGRAD_AVG_GRAD), 2000, 2, 1);
    compare_random(SUP_OP(POOLGRAD_AVG), 2000, 3, 0);
    compare_random(SUP_OP(POOLGRAD_AVG), 1000, 4, 1);
    assert_int_equal(wrong_results, 0);
}

static void test_random_maxima(void **state)
{
    (void)state;
    compare_random(SUP_OP(POOLGRAD_MAX_GRAD), 3000, 5, 0);
    compare_random(SUP_OP(POOLGRAD_MAX_GRAD), 2000, 6, 1);
    compare_random(SUP_OP(POOLGRAD_MAX), 2000, 7, 0);
    compare_random(SUP_OP(POOLGRAD_MAX), 1000, 8, 1);
    assert_int_equal(wrong_results, 0);
}

/* Shapes of real models, small, so that every kernel sees what it was made for. */
static void test_models(void **state)
{
    /* k2 on 40x40: more winners than the strategy plane lists */
    static const char *const shapes[] = {
        "%s2d:%s:%s:3x8x28x24:k2:s2",      "%s2d:%s:%s:2x24x17x20:k3:s2:p1",
        "%s2d:%s:%s:3x16x20x32:k3:p1",     "%s2d:%s:%s:9x7x35x35:k3:p1",
        "%s2d:%s:%s:1x3x70x300:k11:p5",    "%s2d:%s:%s:2x5x40x52:k13:p6",
        "%s2d:%s:%s:2x5x30x20:k13:p6",     "%s2d:%s:%s:2x5x40x40:k2",
        "%s2d:%s:%s:3x40x7x7:k7",          "%s2d:%s:%s:2x32x9x64:k5:p2",
        "%s1d:%s:%s:5x12x336:k25:p12",     "%s1d:%s:%s:3x9x1000:k9:p4",
        "%s1d:%s:%s:3x32x501:k4",          "%s3d:%s:%s:2x8x8x12x12:k2:s2",
        "%s3d:%s:%s:2x8x9x14x20:k3:p1",    "%s3d:%s:%s:1x5x12x40x48:k9:p4",
        "%s3d:%s:%s:1x5x20x13x33:k5:p2",   "%s3d:%s:%s:2x4x9x12x16:k3:s2:p1",
        "%s3d:%s:%s:1x2x33x18x70:k7:p3",   "%s2d:%s:%s:2x3x30x200:k7x3:p3x1",
        "%s2d:%s:%s:2x3x30x200:k1x9:p0x4", "%s2d:%s:%s:2x3x30x130:k9x1:p4x0",
        "%s2d:%s:%s:2x64x30x26:k3x9:p1x4", "%s2d:%s:%s:1x2x90x90:k31:p15",
        "%s2d:%s:%s:2x4x20x24:k15:p7:d2",  "%s3d:%s:%s:1x32x6x7x40:k3:p1",
        "%s2d:%s:%s:2x16x8x8:k8",          "%s1d:%s:%s:37x3x344:k25:p12",
        "%s1d:%s:%s:70x2x24:k7:p3",        "%s3d:%s:%s:2x16x7x9x8:k3x2x2:s3x2x2",
        "%s3d:%s:%s:2x8x7x9x12:k3:s2",     "%s2d:%s:%s:2x8x21x12:k3:s2:p1x0",
        "%s3d:%s:%s:1x3x17x20x200:k9:p4",  "%s3d:%s:%s:2x8x5x9x9:k3:s2:p0x1x0",
        "%s3d:%s:%s:2x6x12x11x45:k5",      "%s3d:%s:%s:2x12x9x13x21:k3:s2:p1x0x1",
    };
    static const char *const ops[] = {"avg", "avgpool", "max", "maxpool"};
    static const char *const types[] = {"f32", "f64", "f16", "bf16"};
    static const char *const layouts[] = {"ncx", "nxc"};
    static const char *const ends[] = {"",        ":div=exclude",          ":alpha=0.3:beta=0.7",
                                       ":from=x", ":index=i32:base=plane", ":alpha=0.3"};
    size_t shape, op, type, layout, end;
    char text[256];

    (void)state;
    for (shape = 0; shape < sizeof shapes / sizeof *shapes; shape++) {
        for (op = 0; op < 4; op++) {
            for (type = 0; type < 4; type++) {
                for (layout = 0; layout < 2; layout++) {
                    for (end = 0; end < 6; end++) {
                        int length;

                        if ((end == 1 && op > 1) || (end == 3 && op != 2) || (end == 4 && op < 2) ||
                            (end == 5 && op > 1))
                            continue;
                        length = snprintf(text, sizeof text, shapes[shape], ops[op], types[type],
                                          layouts[layout]);
                        snprintf(text + length, sizeof text - (size_t)length, "%s", ends[end]);
                        compare_text(text, SUP_UNIFORM, shape * 100 + end, 0);
                    }
                }
            }
        }
    }
    assert_int_equal(wrong_results, 0);
}

/* Large windows of so many planes that a lane of every warp has one; winners that are contested,
 * under every rule. */
static void test_lanes(void **state)
{
    static const char *const shapes[] = {
        "%s2d:%s:%s:9x240x13x16:k13:p6:%s%s", /* the last block has fewer planes */
        "%s2d:%s:%s:3x735x11x24:k9:p4:%s%s",    "%s2d:%s:%s:17x128x20x17:k11:p3x5:%s%s",
        "%s2d:%s:%s:70x32x21x19:k13:p4x6:%s%s", "%s2d:%s:%s:5x440x24x33:k9:p0x4:%s%s",
    };
    static const char *const types[] = {"f32", "f16", "bf16"};
    static const char *const rules[] = {"nan=first", "nan=skip", "nan=last", "nan=leading"};
    static const char *const ends[2][2] = {{":from=x", ":from=x:alpha=0.3:beta=0.7"},
                                           {":index=i32:base=plane:alpha=0.5", ""}};
    char text[256];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof shapes / sizeof *shapes * 48; i++) {
        const size_t shape = i / 48, forward = i / 24 % 2, rule = i % 4;

        snprintf(text, sizeof text, shapes[shape], forward ? "maxpool" : "max", types[i / 8 % 3],
                 i / 4 % 2 ? "nxc" : "ncx", rules[rule], ends[forward][rule % 2]);
        compare_text(text, rule == shape ? SUP_SPECIALS : SUP_TIES, shape * 100 + rule,
                     rule < 2 ? 0 : 8);
    }
    assert_int_equal(wrong_results, 0);
}

/* Large windows around every place: values that differ, that are equal, NaN, and more winners than
 * a block lists; planes that no whole blocks have, nor runs whole lines. */
static void test_closing(void **state)
{
    static const char *const shapes[] = {
        "max2d:%s:%s:1x3x40x40:k13:p6:from=x:%s",
        "max2d:%s:%s:3x19x14x31:k13:p6:from=x:%s",
        "max2d:%s:%s:2x16x29x12:k11:p5:from=x:%s",
        "max2d:%s:%s:2x24x20x31:k9:p4:from=x:%s",
        "max2d:%s:%s:1x8x81x70:k9:p4:from=x:%s",
        "max2d:%s:%s:1x1072x11x33:k9:p4:from=x:%s", /* more than there are blocks for */
        "max3d:%s:%s:2x9x1x17x20:k3x9x9:p1x4x4:from=x:%s",
        "max3d:%s:%s:1x2x1x20x20:k2x13x13:d2x1x1:p1x6x6:from=x:%s", /* windows of nothing */
    };
    static const char *const types[] = {"f32", "f16", "bf16"};
    static const char *const rules[] = {"nan=first", "nan=skip", "nan=last"};
    static const sup_kind kinds[] = {SUP_UNIFORM, SUP_SPECIALS, SUP_TIES, SUP_INTEGERS, SUP_ONES};
    char text[256];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof shapes / sizeof *shapes * 30; i++) {
        const size_t shape = i / 30, kind = i / 6 % 5;

        snprintf(text, sizeof text, shapes[shape], types[i / 2 % 3], i % 2 ? "nxc" : "ncx",
                 rules[(shape + kind) % 3]);
        compare_text(text, kinds[kind], i, kind % 2 ? 0 : 8);
    }
    assert_int_equal(wrong_results, 0);
}

/* So many planes that blocks, or threads, go along D for several cells, where small problems have
 * one for each. */
static void test_segments(void **state)
{
    static const char *const types[] = {"f32", "f16", "bf16"};
    char text[256];
    size_t i;

    (void)state;
    for (i = 0; i < 3 * 2 * 2; i++) {
        snprintf(text, sizeof text, "max3d:%s:%s:4x64x21x38x40:k3:s2:p1%s", types[i / 4],
                 i / 2 % 2 ? "nxc" : "ncx", i % 2 ? "" : ":from=x");
        compare_text(text, SUP_TIES, i / 4, 0);
    }
    assert_int_equal(wrong_results, 0);
}

/* ------------------------------------------------------------- bad indices */

/* Some indices are replaced by numbers that are none; status and position must be the CPU's. */
static void test_bad_indices(void **state)
{
    static const int64_t bad[] = {-1, -2, -7, INT64_C(1) << 40, 0, 5, 1 << 20};
    static const char *const chosen[] = {"max3d:bf16:ncx:2x2x2x3x3:k3:s2:p1:index=i32",
                                         "max3d:f16:nxc:1x16x4x11x1:k3:s2:p1:index=i32:base=plane",
                                         "max3d:bf16:nxc:2x4x5x7x9:k3:s2:p1",
                                         "max3d:f32:nxc:2x4x6x7x9:k3:s2:p1x0x1",
                                         "max3d:f16:nxc:2x12x5x6x7:k3:s2:p1:index=i32:base=plane",
                                         "max2d:f32:ncx:1x3x21x20:k5:p2:index=i32:base=plane",
                                         "max2d:bf16:ncx:1x3x21x20:k16x3:p15x1"};
    sup_limits limits = sup_limits_default();
    poolgrad_desc desc;
    sup_rng rng;
    int i, wrong = 0, strategy;

    (void)state;
    limits.ops = SUP_OP(POOLGRAD_MAX_GRAD);
    sup_rng_seed(&rng, 77);
    for (i = 0; i < scaled(1500); i++) {
        poolgrad_buffers buffers;
        poolgrad_error expected, error;
        poolgrad_cuda_plan *plan;
        poolgrad_plan *host;
        poolgrad_view view;
        int64_t count;
        fixture f;
        int k;

        limits.only_whole = limits.only_dense = i % 2;
        sup_random_problem(&rng, &limits, &desc);
        if (desc.winner != POOLGRAD_FROM_INDICES)
            fixture_parse(&f, chosen[(size_t)i / 2 % (sizeof chosen / sizeof *chosen)], SUP_UNIFORM,
                          (uint64_t)i);
        else
            fixture_make(&f, &desc, SUP_UNIFORM, (uint64_t)i);
        view = sup_index_view(&f.desc);
        count = sup_view_count(&f.desc, &view);
        for (k = 0; k < 3 && count > 0; k++)
            sup_index_store(f.desc.index_type, f.indices.first,
                            sup_view_offset(&f.desc, &view, sup_rng_range(&rng, 0, count - 1)),
                            bad[sup_rng_range(&rng, 0, 6)]);
        assert_int_equal(poolgrad_plan_create(&host, &f.desc, NULL, NULL), POOLGRAD_OK);
        buffers = fixture_buffers(&f, NULL);
        poolgrad_execute(host, &buffers, &expected);
        poolgrad_plan_destroy(host);
        wrong += expected.status != POOLGRAD_OK;
        for (strategy = 0; strategy < STRATEGIES; strategy++) {
            const poolgrad_options options = options_for(strategies[strategy], 1);

            if (poolgrad_cuda_plan_create(&plan, &f.desc, &options, 0, &error)) {
                assert_int_equal(error.status, POOLGRAD_ERR_UNSUPPORTED);
                continue;
            }
            buffers = device_buffers(&f, plan, 0);
            assert_int_equal(poolgrad_cuda_execute(plan, &buffers, NULL, NULL), POOLGRAD_OK);
            poolgrad_cuda_check(plan, &buffers, NULL, &error);
            if (error.status != expected.status || error.position != expected.position ||
                strcmp(error.message, expected.message) != 0)
                fail_msg("%s (%s): %d at %lld, \"%s\"; expected %d at %lld, \"%s\"", f.text,
                         strategies[strategy] ? strategies[strategy] : "default", (int)error.status,
                         (long long)error.position, error.message, (int)expected.status,
                         (long long)expected.position, expected.message);
            poolgrad_cuda_plan_destroy(plan);
        }
        fixture_free(&f);
    }
    assert_true(wrong > 0);
}

/* ------------------------------------------------------------------ citizen */

static void expect(poolgrad_status status, poolgrad_status expected, const poolgrad_error *error,
                   const char *words)
{
    if (status != expected || !strstr(error->message, words))
        fail_msg("%d \"%s\"; expected %d and \"%s\"", (int)status, error->message, (int)expected,
                 words);
}

static void test_errors(void **state)
{
    poolgrad_cuda_plan *plan;
    poolgrad_buffers buffers, good;
    poolgrad_error error;
    float host[4];
    void *pinned = sup_gpu_allocate_pinned(4096);
    fixture f;

    (void)state;
    fixture_parse(&f, "max2d:f32:nchw:1x2x9x9:k3:s2:p1", SUP_UNIFORM, 1);
    expect(poolgrad_cuda_plan_create(&plan, &f.desc, NULL, 63, &error), POOLGRAD_ERR_OPTION, &error,
           "device is 63");
    assert_null(plan);
    assert_int_equal(poolgrad_cuda_plan_create(&plan, &f.desc, NULL, 0, &error), POOLGRAD_OK);
    good = buffers = device_buffers(&f, plan, 0);
    buffers.dy = host;
    expect(poolgrad_cuda_execute(plan, &buffers, NULL, &error), POOLGRAD_ERR_POINTER, &error,
           "buffers.dy is ");
    buffers = good;
    buffers.dx = pinned;
    expect(poolgrad_cuda_execute(plan, &buffers, NULL, &error), POOLGRAD_ERR_POINTER, &error,
           "buffers.dx is ");
    buffers = good;
    buffers.workspace = NULL;
    expect(poolgrad_cuda_execute(plan, &buffers, NULL, &error), POOLGRAD_ERR_NULL, &error,
           "buffers.workspace is NULL");
    buffers = good;
    buffers.workspace_size = 1;
    expect(poolgrad_cuda_execute(plan, &buffers, NULL, &error), POOLGRAD_ERR_WORKSPACE, &error,
           "workspace_size is 1");
    buffers = good;
    buffers.dx = (char *)good.dx + 2;
    expect(poolgrad_cuda_execute(plan, &buffers, NULL, &error), POOLGRAD_ERR_MISALIGNED, &error,
           "buffers.dx");
    buffers = good;
    buffers.dx = (char *)good.dy;
    expect(poolgrad_cuda_execute(plan, &buffers, NULL, &error), POOLGRAD_ERR_OVERLAP, &error,
           "overlap");
    assert_int_equal(poolgrad_cuda_execute(plan, &good, NULL, &error), POOLGRAD_OK);
    assert_int_equal(poolgrad_cuda_check(plan, &good, NULL, &error), POOLGRAD_OK);
    poolgrad_cuda_plan_destroy(plan);
    fixture_free(&f);
    sup_gpu_free_pinned(pinned);
}

/* Captured in a graph and launched twice, on a stream of its own. */
static void test_graph(void **state)
{
    static const char *const problems[] = {
        "avg2d:f32:nchw:2x3x40x44:k3:p1",     "avg3d:f32:ncdhw:1x3x9x9x9:k3x2x5",
        "max2d:bf16:nhwc:2x8x20x20:k3:s2:p1", "max2d:f32:nchw:2x8x20x20:k3:s2:p1:from=x",
        "maxpool2d:f32:nchw:1x2x20x20:k13",
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof problems / sizeof *problems; i++) {
        void *stream = sup_gpu_stream(), *graph;
        poolgrad_cuda_plan *plan;
        poolgrad_buffers buffers;
        poolgrad_error error;
        sup_memory expected;
        fixture f;
        int turn;

        fixture_parse(&f, problems[i], SUP_UNIFORM, i);
        expected = copy_of_result(&f);
        run_into(&f, NULL, expected.first);
        assert_int_equal(poolgrad_cuda_plan_create(&plan, &f.desc, NULL, 0, &error), POOLGRAD_OK);
        buffers = device_buffers(&f, plan, 0);
        assert_int_equal(sup_gpu_capture_begin(stream), 0);
        assert_int_equal(poolgrad_cuda_execute(plan, &buffers, stream, &error), POOLGRAD_OK);
        assert_int_equal(sup_gpu_capture_end(stream, &graph), 0);
        for (turn = 0; turn < 2; turn++) {
            assert_int_equal(sup_gpu_graph_launch(graph, stream), 0);
            assert_int_equal(poolgrad_cuda_check(plan, &buffers, stream, &error), POOLGRAD_OK);
            fetch(fixture_result(&f), sup_is_forward(&f.desc) ? buffers.y : buffers.dx);
            assert_same_result(&f, expected.first, fixture_result(&f)->first, "graph");
        }
        sup_gpu_graph_free(graph);
        poolgrad_cuda_plan_destroy(plan);
        sup_gpu_stream_free(stream);
        sup_view_free(&expected);
        fixture_free(&f);
    }
}

static void test_describe(void **state)
{
    poolgrad_cuda_device device = {.size = sizeof device};
    poolgrad_plan_info info = {.size = sizeof info};
    poolgrad_cuda_plan *plan;
    poolgrad_desc desc;
    int32_t count = 0;
    int i;

    (void)state;
    assert_int_equal(poolgrad_cuda_device_count(&count, NULL), POOLGRAD_OK);
    assert_true(count > 0);
    assert_int_equal(poolgrad_cuda_device_describe(0, &device, NULL), POOLGRAD_OK);
    assert_true(device.multiprocessors > 0 && device.memory > 0 && device.driver >= 13000);
    poolgrad_desc_parse("avg2d:f32:nchw:2x3x40x44:k2:s2", &desc, NULL);
    assert_int_equal(poolgrad_cuda_plan_create(&plan, &desc, NULL, 0, NULL), POOLGRAD_OK);
    assert_int_equal(poolgrad_cuda_plan_describe(plan, &info, NULL), POOLGRAD_OK);
    assert_string_equal(info.cpu, "cuda");
    assert_string_equal(info.strategy, "spread");
    poolgrad_cuda_plan_destroy(plan);
    print_message("%s, %d multiprocessors, driver %d; ", device.name, (int)device.multiprocessors,
                  (int)device.driver);
    for (i = 0; i < STRATEGIES; i++)
        print_message("%s %d%s", strategies[i] ? strategies[i] : "default", used[i],
                      i + 1 < STRATEGIES ? ", " : " problems\n");
}

/* ----------------------------------------------------------- without device */

static void test_absent(void **state)
{
    poolgrad_cuda_plan *plan = NULL;
    poolgrad_error error;
    poolgrad_desc desc;
    int32_t count = -5;

    (void)state;
    poolgrad_desc_parse("avg2d:f32:nchw:2x3x40x44:k2:s2", &desc, NULL);
    assert_int_equal(poolgrad_cuda_device_count(&count, &error), POOLGRAD_ERR_UNSUPPORTED);
    assert_int_equal(count, -5);
    assert_true(strlen(error.message) > 10);
    assert_int_equal(poolgrad_cuda_plan_create(&plan, &desc, NULL, 0, &error),
                     POOLGRAD_ERR_UNSUPPORTED);
    assert_null(plan);
    assert_true(strlen(error.message) > 10);
    poolgrad_cuda_plan_destroy(NULL);
    assert_null(poolgrad_cuda_plan_desc(NULL));
    assert_int_equal(poolgrad_cuda_plan_workspace(NULL), 0);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest device_tests[] = {
        cmocka_unit_test_setup(test_models, reset_results),
        cmocka_unit_test_setup(test_lanes, reset_results),
        cmocka_unit_test_setup(test_closing, reset_results),
        cmocka_unit_test_setup(test_segments, reset_results),
        cmocka_unit_test_setup(test_random_averages, reset_results),
        cmocka_unit_test_setup(test_random_maxima, reset_results),
        cmocka_unit_test(test_bad_indices),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_graph),
        cmocka_unit_test(cuda_large_test),
        cmocka_unit_test(test_describe),
    };
    static const struct CMUnitTest absent_tests[] = {
        cmocka_unit_test(test_absent),
    };
    int32_t count;

    cuda_large_wanted = is_big(argc, argv);
    if (poolgrad_cuda_device_count(&count, NULL) != POOLGRAD_OK) {
        const int failed = cmocka_run_group_tests(absent_tests, NULL, NULL);

        printf("no CUDA device here: nothing but the answers without one was tested\n");
        return failed ? failed : 77;
    }
    if (sup_gpu_open(0) || !(arena = sup_gpu_allocate(ARENA)))
        return 1;
    return cmocka_run_group_tests(device_tests, NULL, NULL);
}
