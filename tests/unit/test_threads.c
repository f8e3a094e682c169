/* SPDX-License-Identifier: MIT */
/*
 * The same bits from any number of threads, any order of tasks and any floating-point environment;
 * plans shared by threads; use after fork.
 */
#define _GNU_SOURCE /* sched_setaffinity */
#include "harness.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

static const char *const texts[] = {
    "avg2d:f32:nchw:3x5x61x67:k3:s2:p1:div=exclude",
    "avg2d:bf16:nhwc:2x19x50x51:k5:p2",
    "avg3d:f64:ncdhw:1x3x20x33x35:k4x3x5:s1x2x1:p2",
    "avg1d:f16:ncw:7x9x1000:k25:p12:div=include",
    "avg2d:f32:nchw:4x8x40x41:adaptive:o7x50",
    "max2d:f32:nchw:3x5x61x67:k3:s2:p1",
    "max2d:bf16:nhwc:2x19x50x51:k5:p2:from=x",
    "maxpool3d:f64:ncdhw:1x3x20x33x35:k4x3x5:s1x2x1:p2:nan=skip",
    "avgpool2d:f16:nchw:3x5x61x67:k3:s2:p1:div=exclude",
};

enum {
    TEXTS = sizeof texts / sizeof texts[0]
};

static sup_memory reference_of(const fixture *f)
{
    const poolgrad_options options = options_for("reference", 1);
    sup_memory expected = copy_of_result(f);

    run_into(f, &options, expected.first);
    return expected;
}

/* Runs with these options and compares with the reference; also that several tasks are used. */
static void check(const fixture *f, const poolgrad_options *options, const sup_memory *expected,
                  const char *what)
{
    sup_memory actual = copy_of_result(f);

    run_into(f, options, actual.first);
    assert_same_result(f, expected->first, actual.first, what);
    sup_view_free(&actual);
}

static void thread_counts(void **state)
{
    static const int counts[] = {1, 2, 3, 7};
    size_t i, k;

    (void)state;
    for (i = 0; i < TEXTS; i++) {
        fixture f;
        sup_memory expected;

        fixture_parse(&f, texts[i], SUP_SPECIALS, i);
        expected = reference_of(&f);
        for (k = 0; k < sizeof counts / sizeof counts[0]; k++) {
            const poolgrad_options options = options_for(NULL, counts[k]);

            check(&f, &options, &expected, "threads");
        }
        sup_view_free(&expected);
        fixture_free(&f);
    }
}

/* ------------------------------------------------------ the caller's threads */

typedef void task_fn(void *data, int64_t index);

static void backwards(void *context, int64_t tasks, task_fn *task, void *data)
{
    *(int64_t *)context += tasks;
    while (tasks-- > 0)
        task(data, tasks);
}

static void odd_then_even(void *context, int64_t tasks, task_fn *task, void *data)
{
    int64_t first, i;

    *(int64_t *)context += tasks;
    for (first = 1; first >= 0; first--)
        for (i = first; i < tasks; i += 2)
            task(data, i);
}

typedef struct worker {
    pthread_t thread;
    task_fn *task;
    void *data;
    int64_t index;
} worker;

static void *work(void *argument)
{
    worker *w = argument;

    w->task(w->data, w->index);
    return NULL;
}

static void thread_per_task(void *context, int64_t tasks, task_fn *task, void *data)
{
    worker workers[64];
    int64_t i;

    *(int64_t *)context += tasks;
    assert_true(tasks <= 64);
    for (i = 0; i < tasks; i++) {
        workers[i] = (worker){.task = task, .data = data, .index = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (i = 0; i < tasks; i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
}

static void callers_threads(void **state)
{
    static const poolgrad_parallel_for ways[] = {backwards, odd_then_even, thread_per_task};
    size_t i, k;

    (void)state;
    for (i = 0; i < TEXTS; i++) {
        fixture f;
        sup_memory expected;

        fixture_parse(&f, texts[i], SUP_UNIFORM, i);
        expected = reference_of(&f);
        for (k = 0; k < sizeof ways / sizeof ways[0]; k++) {
            poolgrad_options options = options_for(NULL, 7);
            int64_t tasks = 0;

            options.parallel_for = ways[k];
            options.parallel_context = &tasks;
            check(&f, &options, &expected, "the caller's threads");
            assert_true(tasks > 1 && tasks <= 7);
        }
        sup_view_free(&expected);
        fixture_free(&f);
    }
}

/* ----------------------------------------------------------- many at a time */

typedef struct crowd {
    const fixture *f;
    const sup_memory *expected;
    poolgrad_plan *shared;
    int failures;
} crowd;

static int execute_once(const crowd *c, const poolgrad_plan *plan)
{
    sup_memory dx = {0};
    poolgrad_buffers buffers;
    int bad;

    if (sup_view_alloc(&c->f->desc, fixture_view(c->f), &dx))
        return 1;
    buffers = fixture_buffers(c->f, dx.first);
    bad = poolgrad_execute(plan, &buffers, NULL) != POOLGRAD_OK ||
          sup_view_difference(&c->f->desc, fixture_view(c->f), c->expected->first, dx.first) >= 0;
    sup_view_free(&dx);
    return bad;
}

static void *member(void *argument)
{
    crowd *c = argument;
    int i;

    for (i = 0; i < 4; i++) {
        poolgrad_plan *own;

        c->failures += execute_once(c, c->shared);
        if (poolgrad_plan_create(&own, &c->f->desc, NULL, NULL)) {
            c->failures++;
            continue;
        }
        c->failures += execute_once(c, own);
        poolgrad_plan_destroy(own);
    }
    return NULL;
}

/* 16 threads make plans and execute them and one that they share. */
static void crowd_on(const char *text)
{
    pthread_t threads[16];
    crowd members[16];
    sup_memory expected;
    poolgrad_plan *shared;
    fixture f;
    int i;

    fixture_parse(&f, text, SUP_UNIFORM, 1);
    expected = reference_of(&f);
    assert_int_equal(poolgrad_plan_create(&shared, &f.desc, NULL, NULL), POOLGRAD_OK);
    for (i = 0; i < 16; i++) {
        members[i] = (crowd){.f = &f, .expected = &expected, .shared = shared};
        assert_int_equal(pthread_create(&threads[i], NULL, member, &members[i]), 0);
    }
    for (i = 0; i < 16; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(members[i].failures, 0);
    }
    poolgrad_plan_destroy(shared);
    sup_view_free(&expected);
    fixture_free(&f);
}

static void sixteen_at_once(void **state)
{
    (void)state;
    crowd_on("avg2d:f32:nchw:2x4x33x35:k5:p2:div=exclude");
    crowd_on("max2d:f32:nchw:2x4x33x35:k5:p2:from=x");
    crowd_on("maxpool2d:f32:nchw:2x4x33x35:k5:p2");
}

/* --------------------------------------------------------------------- fork */

/* The child of a process that has used threads must not wait for them. */
static void after_fork(void **state)
{
    const poolgrad_options options = options_for(NULL, 2);
    sup_memory expected;
    poolgrad_plan *plan;
    pid_t child;
    fixture f;
    crowd c;
    int status;

    (void)state;
    fixture_parse(&f, texts[0], SUP_UNIFORM, 1);
    expected = reference_of(&f);
    assert_int_equal(poolgrad_plan_create(&plan, &f.desc, &options, NULL), POOLGRAD_OK);
    c = (crowd){.f = &f, .expected = &expected, .shared = plan};
    assert_int_equal(execute_once(&c, plan), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        poolgrad_plan *own = NULL;
        int bad;

        alarm(30); /* a hang ends the child, not the test */
        bad = execute_once(&c, plan) || poolgrad_plan_create(&own, &f.desc, &options, NULL) ||
              execute_once(&c, own);
        poolgrad_plan_destroy(own);
        _exit(bad);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(execute_once(&c, plan), 0);
    poolgrad_plan_destroy(plan);
    sup_view_free(&expected);
    fixture_free(&f);
}

/* -------------------------------------------------------------- environment */

static void set_flush(int on)
{
#if defined(__SSE2__)
    const unsigned bits = 0x8040; /* flush to zero, denormals are zero */

    _mm_setcsr(on ? _mm_getcsr() | bits : _mm_getcsr() & ~bits);
#elif defined(__aarch64__)
    uint64_t control;

    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    control = on ? control | UINT64_C(1) << 24 : control & ~(UINT64_C(1) << 24);
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
#else
    (void)on;
#endif
}

static int flush_is_set(void)
{
    volatile float smallest = 0x1p-149f, half = 0.5f;

    return smallest * half + smallest == 0;
}

/* Denormal results, and roundings that show the mode. */
static void environment(void **state)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    static const char *const problems[] = {
        "avg2d:f32:nchw:2x2x33x35:k3:p1:div=7:alpha=0x1p-126",
        "avg2d:f16:nchw:2x2x33x35:k3:p1:div=7:alpha=0x1p-16",
        "avg2d:bf16:nhwc:2x8x33x35:k3:p1:div=1000003:alpha=0x1p-120",
        "avg2d:f64:nchw:2x2x33x35:k3:p1:div=7:alpha=0x1p-1022",
        "max2d:f32:nchw:2x2x33x35:k3:p1:alpha=0x1p-126",
        "avgpool2d:f32:nhwc:2x3x33x35:k3:p1:div=7:alpha=0x1p-126",
    };
    size_t i, mode;
    int flush, threads;

    (void)state;
    for (i = 0; i < sizeof problems / sizeof problems[0]; i++) {
        fixture f;
        sup_memory expected;

        fixture_parse(&f, problems[i], SUP_UNIFORM, i);
        expected = reference_of(&f);
        for (mode = 0; mode < 4; mode++) {
            for (flush = 0; flush < 2; flush++) {
                for (threads = 1; threads <= 2; threads++) {
                    const poolgrad_options options = options_for(NULL, threads);
                    sup_memory actual = copy_of_result(&f);
                    int kept;

                    assert_int_equal(fesetround(modes[mode]), 0);
                    set_flush(flush);
                    feclearexcept(FE_ALL_EXCEPT);
                    feraiseexcept(FE_OVERFLOW);
                    run_into(&f, &options, actual.first);
                    kept = fegetround() == modes[mode] && flush_is_set() == flush &&
                           fetestexcept(FE_OVERFLOW | FE_DIVBYZERO | FE_INVALID) == FE_OVERFLOW;
                    set_flush(0);
                    fesetround(FE_TONEAREST);
                    feclearexcept(FE_ALL_EXCEPT);
#if defined(__SSE2__) || defined(__aarch64__)
                    assert_true(kept);
#else
                    (void)kept;
#endif
                    assert_same_result(&f, expected.first, actual.first, "environment");
                    sup_view_free(&actual);
                }
            }
        }
        sup_view_free(&expected);
        fixture_free(&f);
    }
}

/* ------------------------------------------------------------------ defaults */

/* A process bound to one CPU gets one thread. */
static void default_threads(void **state)
{
    cpu_set_t before, one;
    int32_t threads = poolgrad_default_threads();
    size_t cpu = 0;

    (void)state;
    assert_true(threads >= 1);
    if (sched_getaffinity(0, sizeof before, &before) != 0)
        skip();
    assert_true(threads <= CPU_COUNT(&before));
    while (!CPU_ISSET(cpu, &before))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        skip();
    threads = poolgrad_default_threads();
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(threads, 1);
}

/* Small problems wake nobody; large ones use what they may. */
static void tasks(void **state)
{
    const poolgrad_options options = options_for(NULL, 4);
    poolgrad_plan_info info = {.size = sizeof info};
    poolgrad_desc desc;
    poolgrad_plan *plan;

    (void)state;
    poolgrad_desc_parse("avg2d:f32:nchw:1x8x8x8:k2:s2", &desc, NULL);
    assert_int_equal(poolgrad_plan_create(&plan, &desc, &options, NULL), POOLGRAD_OK);
    assert_int_equal(poolgrad_plan_describe(plan, &info, NULL), POOLGRAD_OK);
    assert_true(info.tasks == 1 && info.threads == 4);
    assert_int_equal(info.bytes_written, 8 * 8 * 8 * 4);
    assert_int_equal(info.bytes_read, 8 * 4 * 4 * 4);
    assert_int_equal(info.workspace, poolgrad_plan_workspace(plan));
    assert_string_equal(info.strategy, "spread");
    assert_true(strlen(info.reason) > 0 && strlen(info.detail) > 0);
    poolgrad_plan_destroy(plan);
    poolgrad_desc_parse("avg1d:f32:ncw:1x1x1000000:k9:p4:beta=1", &desc, NULL);
    assert_int_equal(poolgrad_plan_create(&plan, &desc, &options, NULL), POOLGRAD_OK);
    assert_int_equal(poolgrad_plan_describe(plan, &info, NULL), POOLGRAD_OK);
    assert_int_equal(info.tasks, 4);
    assert_int_equal(info.bytes_read, 8000000);
    poolgrad_plan_destroy(plan);
}

/* Large windows and large dilations are not cut into tiles that would each do most of the work
 * again; they once took hours. */
static void tiles_of_large_windows(void **state)
{
    static const char *const large[] = {
        "avg1d:f32:ncw:1x1x2097152:k1048576",
        "avg2d:f32:nchw:1x1x2048x2048:k1025:p512",
        "avg3d:f32:ncdhw:1x1x160x192x224:k65:p32",
        "avg1d:f32:ncw:1x1x1000000:k3:d300000",
        "avg2d:f32:nchw:1x1x1024x1024:k3:d256:p256",
        "avgpool2d:f32:nchw:1x1x2048x2048:k1025:p512",
        "max2d:f32:nchw:1x1x512x512:k257:p128:from=x",
    };
    static const char *const strides[] = {"maxpool1d:f32:ncw:1x1x100000000:k2:s100000",
                                          "maxpool2d:f32:nchw:1x1x4096x4096:k512:s512"};
    const poolgrad_options options = options_for(NULL, 2);
    size_t i;

    (void)state;
    for (i = 0; i < sizeof large / sizeof large[0]; i++) {
        poolgrad_plan_info info = {.size = sizeof info};
        poolgrad_desc desc;
        poolgrad_plan *plan;

        assert_int_equal(poolgrad_desc_parse(large[i], &desc, NULL), POOLGRAD_OK);
        assert_int_equal(poolgrad_plan_create(&plan, &desc, &options, NULL), POOLGRAD_OK);
        assert_int_equal(poolgrad_plan_describe(plan, &info, NULL), POOLGRAD_OK);
        if (info.units > 64)
            fail_msg("%s: %lld units; %s", large[i], (long long)info.units, info.detail);
        /* the large windows cost a few levels of doubling, in units no larger than the problem */
        if (info.workspace > 200 * (info.bytes_read + info.bytes_written))
            fail_msg("%s: %lld bytes of workspace", large[i], (long long)info.workspace);
        poolgrad_plan_destroy(plan);
    }
    for (i = 0; i < sizeof strides / sizeof strides[0]; i++) {
        poolgrad_desc desc;
        poolgrad_plan *plan;

        assert_int_equal(poolgrad_desc_parse(strides[i], &desc, NULL), POOLGRAD_OK);
        assert_int_equal(poolgrad_plan_create(&plan, &desc, &options, NULL), POOLGRAD_OK);
        if (poolgrad_plan_workspace(plan) > (size_t)128 << 20)
            fail_msg("%s: %zu bytes of workspace", strides[i], poolgrad_plan_workspace(plan));
        poolgrad_plan_destroy(plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_of_large_windows),
        cmocka_unit_test(thread_counts),
        cmocka_unit_test(callers_threads),
        cmocka_unit_test(sixteen_at_once),
        cmocka_unit_test(after_fork),
        cmocka_unit_test(environment),
        cmocka_unit_test(default_threads),
        cmocka_unit_test(tasks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
