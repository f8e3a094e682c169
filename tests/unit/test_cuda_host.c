/* SPDX-License-Identifier: MIT */
/*
 * The CUDA backend without a device, on a stand-in for the driver that checks every launch and
 * computes nothing: plans for everything, what executing one asks of the driver, bad indices,
 * threads. The results themselves are the subject of test_cuda.c, which needs a device.
 */
#define _POSIX_C_SOURCE 200809L /* pthread_barrier_t */
#include "cuda_host.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator.h"

/* ------------------------------------------------------------------- threads */

typedef struct thread_job {
    pthread_t thread;
    pthread_barrier_t *barrier;
    int number;
    void *memory, *stream; /* of its own */
    int failures;
} thread_job;

static const char *const thread_problems[] = {
    "avg2d:f32:nchw:2x3x40x44:k2:s2",     "avg2d:f16:nhwc:2x8x40x44:k3:p1",
    "max2d:bf16:nhwc:2x8x20x20:k3:s2:p1", "max2d:f32:nchw:2x8x20x20:k3:s2:p1:from=x",
    "maxpool2d:f32:nchw:1x2x20x20:k13",   "avg3d:f64:ncdhw:1x3x9x9x9:k3x2x5",
};

enum {
    THREADS = 8,
    THREAD_PROBLEMS = sizeof thread_problems / sizeof *thread_problems
};

/* Not with cmocka's asserts, which belong to the main thread. */
static int thread_turn(const char *problem, void *device_memory, void *stream)
{
    poolgrad_cuda_plan *plan;
    poolgrad_buffers buffers;
    poolgrad_desc desc;
    char *place = device_memory;
    int failed;

    if (poolgrad_desc_parse(problem, &desc, NULL) ||
        poolgrad_cuda_plan_create(&plan, &desc, NULL, 0, NULL))
        return 1;
    poolgrad_buffers_init(&buffers);
    buffers.dy = buffers.indices = place; /* both are only read */
    buffers.dx = buffers.y = place + (1 << 20);
    buffers.x = place + (2 << 20);
    buffers.workspace = place + (3 << 20);
    buffers.workspace_size = poolgrad_cuda_plan_workspace(plan);
    failed = poolgrad_cuda_execute(plan, &buffers, stream, NULL) ||
             poolgrad_cuda_check(plan, &buffers, stream, NULL);
    poolgrad_cuda_plan_destroy(plan);
    return failed;
}

/* A thread that has no context of its own, before or after. */
static void *thread_main(void *data)
{
    thread_job *job = data;
    int i;

    pthread_barrier_wait(job->barrier);
    for (i = 0; i < scaled(400); i++)
        job->failures += thread_turn(thread_problems[(i + job->number) % THREAD_PROBLEMS],
                                     job->memory, job->stream);
    job->failures += fake->depth() != 0;
    return NULL;
}

/* The first test of the program: the backend has opened no device yet, and all threads want one. */
static void test_threads(void **state)
{
    thread_job jobs[THREADS];
    pthread_barrier_t barrier;
    int i;

    (void)state;
    assert_int_equal(fake->calls("cuModuleLoadData"), 0);
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (i = 0; i < THREADS; i++) {
        jobs[i] = (thread_job){.number = i,
                               .barrier = &barrier,
                               .memory = sup_gpu_allocate(4 << 20),
                               .stream = i % 2 ? sup_gpu_stream() : NULL};
        assert_int_equal(pthread_create(&jobs[i].thread, NULL, thread_main, &jobs[i]), 0);
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(jobs[i].thread, NULL);
        assert_int_equal(jobs[i].failures, 0);
        sup_gpu_free(jobs[i].memory);
        sup_gpu_stream_free(jobs[i].stream);
    }
    assert_int_equal(fake->calls("cuDevicePrimaryCtxRetain"), 2); /* ours, and one of all threads */
    pthread_barrier_destroy(&barrier);
}

/* --------------------------------------------------------------------- plans */

/* What an execution may ask of the driver; nothing of it waits or allocates. */
static long allowed_calls(void)
{
    static const char *const names[] = {
        "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuPointerGetAttribute",  "cuStreamGetCtx",
        "cuMemsetD8Async",     "cuLaunchKernelEx",   "cuTensorMapEncodeTiled",
    };
    long calls = 0;
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++)
        calls += fake->calls(names[i]);
    return calls;
}

static void fail_at(const char *text, const char *strategy, const poolgrad_error *error)
{
    fail_msg("%s (strategy %s): %s", text, strategy ? strategy : "default", error->message);
}

/* Executes and checks, in a graph too; what the driver was asked must be what may be. */
static void execute(const poolgrad_cuda_plan *plan, const poolgrad_buffers *buffers, void *stream,
                    const char *text, const char *strategy)
{
    poolgrad_plan_info info = {.size = sizeof info};
    poolgrad_error error;
    void *graph = NULL;

    assert_int_equal(poolgrad_cuda_plan_describe(plan, &info, &error), POOLGRAD_OK);
    assert_string_equal(info.cpu, "cuda");
    assert_int_equal(info.workspace, poolgrad_cuda_plan_workspace(plan));
    if (strategy)
        assert_string_equal(info.strategy, strategy);
    if (stream)
        assert_int_equal(sup_gpu_capture_begin(stream), 0);
    fake->reset();
    if (poolgrad_cuda_execute(plan, buffers, stream, &error))
        fail_at(text, strategy, &error);
    assert_int_equal(fake->calls(NULL), allowed_calls());
    assert_true(fake->calls("cuLaunchKernelEx") <= info.tasks);
    if (stream) {
        assert_int_equal(sup_gpu_capture_end(stream, &graph), 0);
        assert_int_equal(sup_gpu_graph_launch(graph, stream), 0);
        sup_gpu_graph_free(graph);
    }
    if (poolgrad_cuda_check(plan, buffers, stream, &error))
        fail_at(text, strategy, &error);
}

/* One problem by one strategy, from plan to destruction; whether the strategy applies. */
static int try_plan(const poolgrad_desc *desc, const char *strategy, void *stream, const char *text)
{
    const long live = fake->live();
    const void *context = fake->current();
    poolgrad_options options;
    poolgrad_cuda_plan *plan;
    poolgrad_buffers buffers;
    poolgrad_error error;
    allocator a;

    options = counted_options(&a, strategy);
    if (poolgrad_cuda_plan_create(&plan, desc, &options, 0, &error)) {
        if (!strategy || error.status != POOLGRAD_ERR_UNSUPPORTED ||
            !strstr(error.message, "does not apply"))
            fail_at(text, strategy, &error);
        assert_null(plan);
        assert_int_equal(a.live, 0);
        assert_int_equal(fake->live(), live);
        return 0;
    }
    buffers = cuda_host_buffers(plan);
    a.calls = 0;
    execute(plan, &buffers, stream, text, strategy);
    assert_int_equal(a.calls, 0);
    poolgrad_cuda_plan_destroy(plan);
    assert_int_equal(a.live, 0);
    assert_int_equal(fake->live(), live);
    assert_int_equal(fake->depth(), 1);
    assert_ptr_equal(fake->current(), context);
    return 1;
}

/* The backend's strategies, NULL first, and how many problems each was tried on. */
static const char *strategies[CUDA_HOST_STRATEGIES];
static int strategy_count, used[CUDA_HOST_STRATEGIES];

/* By the first `count` of them. */
static void try_strategies(const poolgrad_desc *desc, int count, void *stream)
{
    char text[1024];
    int i;

    poolgrad_desc_print(desc, text, sizeof text, NULL, NULL);
    for (i = 0; i < count; i++)
        used[i] += try_plan(desc, strategies[i], stream, text);
}

static int find_strategies(void **state)
{
    (void)state;
    if (!strategy_count)
        strategy_count = cuda_host_strategies(strategies);
    return 0;
}

static void test_random(void **state)
{
    static const poolgrad_op ops[] = {POOLGRAD_AVG_GRAD, POOLGRAD_MAX_GRAD, POOLGRAD_AVG,
                                      POOLGRAD_MAX};
    sup_limits limits = sup_limits_default();
    void *streams[3] = {NULL, NULL, sup_gpu_stream()};
    poolgrad_desc desc;
    sup_rng rng;
    int op, i;

    (void)state;
    for (op = 0; op < 4; op++) {
        limits.ops = SUP_OP(ops[op]);
        sup_rng_seed(&rng, (uint64_t)op + 100);
        for (i = 0; i < scaled(8000); i++) {
            limits.only_dense = limits.only_whole = i % 2;
            sup_random_problem(&rng, &limits, &desc);
            try_strategies(&desc, strategy_count, streams[i % 3]);
        }
    }
    sup_gpu_stream_free(streams[2]);
}

/* Tensors of more than 2^31 elements, and of planes of many sizes: launches must stay within the
 * limits of a grid. Too large for cuda_host_buffers. */
static void test_large(void **state)
{
    static const char *const problems[] = {
        "%s2d:%s:nchw:40000x60x30x30:k2:s2",     "%s2d:%s:nchw:40000x60x30x30:k3:s2:p1",
        "%s2d:%s:nchw:40000x60x30x30:k3:p1",     "%s2d:%s:nhwc:40000x64x30x30:k3:p1",
        "%s2d:%s:nchw:40000x60x30x30:k7x4:s3x2", "%s1d:%s:ncw:1x1x2200000000:k2:s2",
        "%s1d:%s:ncw:1x1x2200000000:k3:p1",      "%s1d:%s:ncw:47000x47000x1:k1",
        "%s1d:%s:nwc:3x700000000x1:k1",          "%s2d:%s:nchw:1x1x47000x47000:k5:p2",
        "%s3d:%s:ncdhw:9x70000x15x15x15:k3:p1",  "%s2d:%s:nhwc:1x4x25000x25000:k2:s2",
    };
    static const char *const ops[] = {"avg", "avgpool", "max", "maxpool"};
    static const size_t room = (size_t)15 << 30; /* of addresses; nothing of it is touched */
    char *pieces[4];
    size_t i, op, k;

    (void)state;
    for (k = 0; k < 4; k++)
        assert_non_null(pieces[k] = sup_gpu_allocate(room));
    for (i = 0; i < sizeof problems / sizeof *problems; i++) {
        for (op = 0; op < 4; op++) {
            poolgrad_cuda_plan *plan;
            poolgrad_buffers buffers;
            char text[128];

            snprintf(text, sizeof text, problems[i], ops[op], "bf16");
            if (op == 2)
                strcat(text, ":from=x");
            plan = cuda_host_plan(text, NULL);
            assert_true(poolgrad_cuda_plan_workspace(plan) <= room);
            poolgrad_buffers_init(&buffers);
            buffers.dy = pieces[0];
            buffers.dx = buffers.y = pieces[1];
            buffers.x = pieces[2];
            buffers.workspace = pieces[3];
            buffers.workspace_size = poolgrad_cuda_plan_workspace(plan);
            execute(plan, &buffers, NULL, text, NULL);
            poolgrad_cuda_plan_destroy(plan);
        }
    }
    for (k = 0; k < 4; k++)
        sup_gpu_free(pieces[k]);
}

/* Two plans whose launches have one kernel, with shared memory of different sizes: the second must
 * not take from the first what it has asked for. */
static void test_shared_memory(void **state)
{
    poolgrad_cuda_plan *large = cuda_host_plan("maxpool2d:f32:nchw:1x2x75x75:k13", "plane");
    poolgrad_cuda_plan *small = cuda_host_plan("maxpool2d:f32:nchw:1x2x60x60:k13", "plane");
    const poolgrad_buffers buffers = cuda_host_buffers(large);
    poolgrad_error error;

    (void)state;
    if (poolgrad_cuda_execute(large, &buffers, NULL, &error))
        fail_msg("%s", error.message);
    poolgrad_cuda_plan_destroy(large);
    poolgrad_cuda_plan_destroy(small);
}

/* ---------------------------------------------------------------------- maps */

static const char map_tensor[] = "cuTensorMapEncodeTiled";

/* How many maps an execution asks for, with tensors moved by so many bytes. */
static long maps_wanted(const char *problem, const char *strategy, size_t moved)
{
    poolgrad_cuda_plan *plan = cuda_host_plan(problem, strategy);
    poolgrad_buffers buffers = cuda_host_buffers(plan);

    buffers.dy = (const char *)buffers.dy + moved;
    buffers.dx = (char *)buffers.dx + moved;
    buffers.x = (const char *)buffers.x + moved;
    execute(plan, &buffers, NULL, problem, strategy);
    poolgrad_cuda_plan_destroy(plan);
    return fake->calls(map_tensor);
}

/* The tensor of a map that was made is that of 2x16x20x30 with channels last. */
static void expect_map(int before, const void *tensor, unsigned rows, uint64_t size)
{
    fake_map map;

    assert_true(fake->last_map(before, &map));
    assert_int_equal(map.address, (uintptr_t)tensor);
    assert_int_equal(map.type * 2, size);
    assert_int_equal(map.extent[0], 16);
    assert_int_equal(map.extent[1], 30);
    assert_int_equal(map.extent[2], 20);
    assert_int_equal(map.extent[3], 2);
    assert_int_equal(map.distance[0], 16 * size);
    assert_int_equal(map.distance[1], 30 * 16 * size);
    assert_int_equal(map.distance[2], 20 * 30 * 16 * size);
    assert_int_equal(map.box[0], 8);
    assert_int_equal(map.box[1], 30);
    assert_int_equal(map.box[2], rows);
    assert_int_equal(map.box[3], 1);
}

/* What the copy engine is told of tensors, and where it is told nothing: channels that are no whole
 * blocks, and no room for a stage. A tensor that it does not take does no harm. */
static void test_maps(void **state)
{
    static const char problem[] = "max2d:f32:nhwc:2x16x20x30:k9:p4:from=x";
    static const char halves[] = "max2d:bf16:nhwc:2x16x20x30:k9:p4:from=x";
    poolgrad_cuda_plan *plan = cuda_host_plan(problem, NULL);
    const poolgrad_buffers buffers = cuda_host_buffers(plan);
    long wanted;

    (void)state;
    poolgrad_cuda_plan_destroy(plan);
    wanted = maps_wanted(problem, NULL, 0);
#ifdef POOLGRAD_TEST_KERNELS
    assert_true(wanted > 0 || getenv("FAKE_CUDA_SHARED") || getenv("FAKE_CUDA_COMPUTE"));
#endif
    if (wanted == 0)
        return; /* no kernels for that, or no room */
    assert_int_equal(wanted, 3);
    expect_map(2, buffers.x, 20, 4);
    expect_map(1, buffers.dy, 20, 4);
    expect_map(0, buffers.dx, 1, 4);
    assert_int_equal(maps_wanted(problem, NULL, 4), 1);
    assert_int_equal(maps_wanted(halves, "closing", 0), 3);
    expect_map(2, buffers.x, 20, 2);
    expect_map(1, buffers.dy, 20, 2);
    expect_map(0, buffers.dx, 1, 2);
    assert_int_equal(maps_wanted("max2d:f32:nhwc:2x12x20x30:k9:p4:from=x", NULL, 0), 0);
    assert_int_equal(maps_wanted("max2d:f32:nchw:2x16x20x30:k9:p4:from=x", NULL, 0), 0);
    assert_int_equal(maps_wanted("max2d:f32:nhwc:2x16x42x42:k13:p6:from=x", NULL, 0), 0);
}

/* ------------------------------------------------------------------- kernels */

static void print_kernel(void *data, const char *kernel)
{
    int *left = data;

    if ((*left)-- > 0)
        print_message("  %s\n", kernel);
}

/* A window of that side in a tensor of that width, for every operator, type, layout and rank, by
 * the first `count` strategies. */
static void try_side(int side, int width, int count)
{
    static const char *const ops[] = {"avg", "avgpool", "max", "maxpool"};
    static const char *const types[] = {"f32", "f64", "f16", "bf16"};
    static const char *const shapes[] = {
        "%s1d:%s:ncx:2x3x%d:k%d%s",       "%s1d:%s:nxc:2x9x%d:k%d%s",
        "%s1d:%s:nxc:2x16x%d:k%d%s",      "%s2d:%s:ncx:2x3x40x%d:k%d%s",
        "%s2d:%s:nxc:2x16x40x%d:k%d%s",   "%s2d:%s:ncx:2x3x40x%d:k2x%d%s",
        "%s2d:%s:nxc:2x16x40x%d:k2x%d%s", "%s2d:%s:ncx:2x3x40x%d:k3x%d%s",
        "%s2d:%s:nxc:2x16x40x%d:k3x%d%s", "%s3d:%s:ncx:1x3x40x40x%d:k%d%s",
        "%s3d:%s:nxc:1x16x40x40x%d:k%d%s"};
    char pad[16];
    const char *const ends[] = {"",
                                pad,
                                ":s2",
                                ":s2:p1",
                                ":from=x",
                                ":s2:from=x",
                                ":s2:p1:from=x",
                                ":s2:index=i32:base=plane",
                                ":s2:p1:index=i32:base=plane"};
    size_t shape, op, type, end;
    poolgrad_desc desc;
    char text[128];

    snprintf(pad, sizeof pad, ":p%d", side / 2);
    for (shape = 0; shape < sizeof shapes / sizeof *shapes; shape++) {
        for (op = 0; op < 4; op++) {
            for (type = 0; type < 4; type++) {
                for (end = 0; end < sizeof ends / sizeof *ends; end++) {
                    snprintf(text, sizeof text, shapes[shape], ops[op], types[type], width, side,
                             ends[end]);
                    if (poolgrad_desc_parse(text, &desc, NULL) == POOLGRAD_OK)
                        try_strategies(&desc, count, NULL);
                }
            }
        }
    }
}

/* Windows of that side around every place, with winners from x, by all strategies. */
static void try_around(int side)
{
    static const char *const types[] = {"f32", "f16", "bf16"};
    poolgrad_desc desc;
    char text[128];
    int i;

    for (i = 0; i < 6; i++) {
        snprintf(text, sizeof text, "max2d:%s:%s:2x%dx20x20:k%d:p%d:from=x", types[i / 2],
                 i % 2 ? "nxc" : "ncx", i % 2 ? 16 : 9, side, side / 2);
        assert_int_equal(poolgrad_desc_parse(text, &desc, NULL), POOLGRAD_OK);
        try_strategies(&desc, strategy_count, NULL);
    }
}

/* Windows of every side, so that every strategy and kernel is wanted by someone: a name that host
 * and kernels spell differently is found here. */
static void test_kernels(void **state)
{
    int side, i, left = 20;

    (void)state;
    for (side = 1; side <= 32; side++) {
        const int count = side <= 5 ? strategy_count : 1; /* few care for other sides */

        try_side(side, 40, count);
        try_side(side, 41, count);
        if (side % 2)
            try_around(side);
    }
    for (i = 0; i < strategy_count; i++) {
        print_message("%s %d%s", strategies[i] ? strategies[i] : "default", used[i],
                      i + 1 < strategy_count ? ", " : " problems\n");
        /* where shared memory is small, some have too little */
        assert_true(used[i] > 0 || getenv("FAKE_CUDA_SHARED"));
    }
    if (fake->unread_images() == 0) {
        print_message("%ld of %ld kernels were asked for\n", fake->kernels_asked(),
                      fake->kernels());
        fake->each_unasked(print_kernel, &left);
    }
#ifdef POOLGRAD_TEST_KERNELS
    assert_int_equal(fake->unread_images(), 0);
    assert_true(fake->kernels() > 100);
#endif
}

/* --------------------------------------------------------------- bad indices */

/* One problem whose element `at` of the indices is bad: what the CPU says of it, and what
 * poolgrad_cuda_check says when a kernel has left that element's number in the workspace. */
static int compare_bad_index(fixture *f, int64_t at, int64_t bad)
{
    const poolgrad_view view = sup_index_view(&f->desc);
    poolgrad_cuda_plan *plan;
    poolgrad_plan *host;
    poolgrad_buffers buffers;
    poolgrad_error expected, error;
    const uint64_t word = (uint64_t)at;
    char *lowest;

    sup_index_store(f->desc.index_type, f->indices.first, sup_view_offset(&f->desc, &view, at),
                    bad);
    assert_int_equal(poolgrad_plan_create(&host, &f->desc, NULL, NULL), POOLGRAD_OK);
    buffers = fixture_buffers(f, NULL);
    poolgrad_execute(host, &buffers, &expected);
    poolgrad_plan_destroy(host);
    if (expected.status != POOLGRAD_ERR_INDEX)
        return 0;
    plan = cuda_host_plan(f->text, NULL);
    buffers = cuda_host_buffers(plan);
    lowest = (char *)buffers.indices - ((char *)f->indices.first - (char *)f->indices.allocation);
    assert_int_equal(sup_gpu_to_device(lowest, f->indices.allocation, f->indices.bytes), 0);
    assert_int_equal(poolgrad_cuda_execute(plan, &buffers, NULL, NULL), POOLGRAD_OK);
    assert_int_equal(poolgrad_cuda_check(plan, &buffers, NULL, &error), POOLGRAD_OK);
    assert_int_equal(sup_gpu_to_device(buffers.workspace, &word, sizeof word), 0);
    expect_error(poolgrad_cuda_check(plan, &buffers, NULL, &error), &error, POOLGRAD_ERR_INDEX,
                 expected.message);
    assert_int_equal(error.position, expected.position);
    /* the next execution begins anew */
    assert_int_equal(poolgrad_cuda_execute(plan, &buffers, NULL, NULL), POOLGRAD_OK);
    assert_int_equal(poolgrad_cuda_check(plan, &buffers, NULL, &error), POOLGRAD_OK);
    poolgrad_cuda_plan_destroy(plan);
    return 1;
}

static void test_bad_indices(void **state)
{
    static const int64_t bad[] = {-1, -7, INT64_C(1) << 40, 1 << 20};
    sup_limits limits = sup_limits_default();
    poolgrad_desc desc;
    sup_rng rng;
    int i, compared = 0;

    (void)state;
    limits.ops = SUP_OP(POOLGRAD_MAX_GRAD);
    limits.only_nonempty = 1;
    sup_rng_seed(&rng, 77);
    for (i = 0; i < scaled(1500); i++) {
        poolgrad_view view;
        fixture f;
        int64_t count;

        sup_random_problem(&rng, &limits, &desc);
        if (desc.winner != POOLGRAD_FROM_INDICES)
            continue;
        fixture_make(&f, &desc, SUP_UNIFORM, (uint64_t)i);
        view = sup_index_view(&f.desc);
        count = sup_view_count(&f.desc, &view);
        if (count > 0)
            compared += compare_bad_index(&f, sup_rng_range(&rng, 0, count - 1), bad[i % 4]);
        fixture_free(&f);
    }
    assert_true(compared > 0);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test_setup(test_random, find_strategies),
        cmocka_unit_test_setup(test_large, find_strategies),
        cmocka_unit_test(test_shared_memory),
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_bad_indices),
        cmocka_unit_test_setup(test_kernels, find_strategies),
    };

    (void)argc;
    cuda_host_start(argv);
    return cmocka_run_group_tests(tests, cuda_host_open, cuda_host_close);
}
