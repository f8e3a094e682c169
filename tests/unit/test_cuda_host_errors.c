/* SPDX-License-Identifier: MIT */
/*
 * What the CUDA backend says when something is wrong, on a stand-in for the driver: no driver and
 * no device, memory and streams that are not the plan's, and every call of the driver that can
 * fail, failing. After each, the next attempt must work.
 */
#define _POSIX_C_SOURCE 200809L /* popen */
#include "cuda_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "allocator.h"

static const char max_problem[] = "max2d:f32:nchw:1x2x9x9:k3:s2:p1";
static const char from_x_problem[] = "max2d:f32:nchw:1x2x9x9:k3:s2:p1:from=x";

/* ------------------------------------------------------------------ starting */

/* What a program is told that finds another driver: it is this one, started with --answers. */
static int print_answers(void)
{
    poolgrad_cuda_device device = {.size = sizeof device};
    poolgrad_cuda_plan *plan = NULL;
    poolgrad_error error;
    poolgrad_desc desc;
    int32_t count = -5;

    poolgrad_cuda_device_count(&count, &error);
    printf("%d %d %s\n", (int)count, (int)error.status, error.message);
    poolgrad_cuda_device_describe(0, &device, &error);
    printf("%d %s\n", (int)error.status, error.message);
    poolgrad_desc_parse(max_problem, &desc, NULL);
    poolgrad_cuda_plan_create(&plan, &desc, NULL, 0, &error);
    printf("%s %d %s\n", plan ? "plan" : "none", (int)error.status, error.message);
    poolgrad_cuda_plan_destroy(plan);
    return 0;
}

static void expect_answers(const char *folder, const char *settings, const char *expected)
{
    char program[1024], command[2048], seen[2048];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    size_t bytes;
    FILE *pipe;

    assert_true(length > 0);
    program[length] = 0;
    snprintf(command, sizeof command, "LD_LIBRARY_PATH='%s/%s' %s '%s' --answers",
             FAKE_CUDA_DIRECTORY, folder, settings, program);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    bytes = fread(seen, 1, sizeof seen - 1, pipe);
    seen[bytes] = 0;
    assert_int_equal(pclose(pipe), 0);
    assert_string_equal(seen, expected);
}

/* The same answer, whichever function is asked. */
static void expect_unsupported(const char *folder, const char *settings, const char *message)
{
    char expected[1024];

    snprintf(expected, sizeof expected, "-5 %d %s\n%d %s\nnone %d %s\n", POOLGRAD_ERR_UNSUPPORTED,
             message, POOLGRAD_ERR_UNSUPPORTED, message, POOLGRAD_ERR_UNSUPPORTED, message);
    expect_answers(folder, settings, expected);
}

static void test_start(void **state)
{
    char expected[1024];

    (void)state;
    expect_unsupported("broken", "",
                       "there is no CUDA driver on this machine (libcuda.so.1 cannot be loaded)");
    expect_unsupported("old", "",
                       "the CUDA driver has no cuGetErrorName; it is too old, CUDA 13.0 is needed");
    expect_unsupported("driver", "FAKE_CUDA_VERSION=12080",
                       "the CUDA driver is of version 12.8; 13.0 is needed");
    expect_unsupported("driver", "FAKE_CUDA_DEVICES=0",
                       "the CUDA driver finds no device on this machine");
    snprintf(expected, sizeof expected, "2 0 \n0 \nnone %d %s\n", POOLGRAD_ERR_UNSUPPORTED,
             "device 0 (stand-in 0) has compute capability 7.5; 8.0 is needed");
    expect_answers("driver", "FAKE_CUDA_COMPUTE=75", expected);
    expect_answers("driver", "", "2 0 \n0 \nplan 0 \n");
}

/* The driver itself does not start, with an error that is not about devices. */
static void test_start_fails(void **state)
{
    static const char message[] = "starting the CUDA driver failed: an unknown error (no text)";
    char expected[1024];

    (void)state;
    snprintf(expected, sizeof expected, "-5 %d %s\n%d %s\nnone %d %s\n", POOLGRAD_ERR_DEVICE,
             message, POOLGRAD_ERR_DEVICE, message, POOLGRAD_ERR_DEVICE, message);
    expect_answers("driver", "FAKE_CUDA_FAIL=cuInit:1:999", expected);
}

/* --------------------------------------------------------- plans that fail */

/* Creates a plan on that device while the driver's function fails, the first time it is called,
 * then the second, ... until the plan is made. Returns how often it failed. */
static int fail_in_turn(const char *problem, int32_t device, const char *function, int result,
                        poolgrad_status expected, const char *words)
{
    const long live = fake->live();
    const int depth = fake->depth();
    poolgrad_cuda_plan *plan;
    poolgrad_options options;
    poolgrad_error error;
    poolgrad_desc desc;
    allocator a;
    int nth;

    poolgrad_desc_parse(problem, &desc, NULL);
    options = counted_options(&a, NULL);
    for (nth = 1;; nth++) {
        fake->reset();
        fake->fail_call(function, nth, result);
        if (poolgrad_cuda_plan_create(&plan, &desc, &options, device, &error) == POOLGRAD_OK)
            break;
        expect_error(error.status, &error, expected, words);
        assert_null(plan);
        assert_int_equal(a.live, 0);
        assert_int_equal(fake->live(), live);
        assert_int_equal(fake->depth(), depth);
        assert_true(nth < 100);
    }
    fake->reset();
    poolgrad_cuda_plan_destroy(plan);
    assert_int_equal(fake->live(), live);
    return nth - 1;
}

static int out_of_memory(const char *problem, const char *function)
{
    return fail_in_turn(problem, 0, function, FAKE_OUT_OF_MEMORY, POOLGRAD_ERR_MEMORY,
                        "failed: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
}

/* Device 1, which nobody has opened yet: what is done once for a device fails as well. */
static void test_opening_fails(void **state)
{
    static const struct {
        const char *function, *words;
    } once[] = {
        {"cuDeviceGetCount", "looking for the device failed: CUDA_ERROR_INVALID_VALUE"},
        {"cuDeviceGet", "looking for the device failed: CUDA_ERROR_INVALID_VALUE"},
        {"cuDeviceGetName", "asking the device what it is failed: CUDA_ERROR_INVALID_VALUE"},
        {"cuDeviceGetAttribute", "asking the device what it is failed: CUDA_ERROR_INVALID_VALUE"},
        {"cuDeviceTotalMem_v2", "asking the device what it is failed: CUDA_ERROR_INVALID_VALUE"},
        {"cuDevicePrimaryCtxRetain", "opening the device failed: CUDA_ERROR_INVALID_VALUE"},
        {"cuModuleLoadData", "loading the kernels onto the device failed: CUDA_ERROR_INVALID"},
    };
    poolgrad_cuda_plan *plan;
    poolgrad_error error;
    poolgrad_desc desc;
    long modules;
    size_t i;

    (void)state;
    fake->reset();
    poolgrad_cuda_plan_destroy(cuda_host_plan(max_problem, NULL)); /* the first on device 0 */
    modules = fake->calls("cuModuleLoadData");
    assert_true(modules > 1);
    poolgrad_desc_parse(max_problem, &desc, NULL);
    for (i = 0; i < sizeof once / sizeof *once; i++) {
        fake->reset();
        fake->fail_call(once[i].function, 1, FAKE_INVALID_VALUE);
        expect_error(poolgrad_cuda_plan_create(&plan, &desc, NULL, 1, &error), &error,
                     POOLGRAD_ERR_DEVICE, once[i].words);
        assert_null(plan);
        assert_int_equal(fake->depth(), 1);
    }
    /* what was loaded before a failure is not loaded again */
    fake->reset();
    fake->fail_call("cuModuleLoadData", 2, FAKE_OUT_OF_MEMORY);
    expect_error(poolgrad_cuda_plan_create(&plan, &desc, NULL, 1, &error), &error,
                 POOLGRAD_ERR_MEMORY, "loading the kernels onto the device failed");
    fake->reset();
    assert_int_equal(poolgrad_cuda_plan_create(&plan, &desc, NULL, 1, NULL), POOLGRAD_OK);
    assert_int_equal(fake->calls("cuModuleLoadData"), modules - 1);
    assert_int_equal(fake->calls("cuDevicePrimaryCtxRetain"), 0);
    poolgrad_cuda_plan_destroy(plan);
}

static void test_planning_fails(void **state)
{
    static const char *const problems[] = {
        max_problem,
        from_x_problem,
        "avg2d:f32:nchw:2x3x40x44:k2:s2",
        "avg2d:f32:nchw:2x3x40x44:k3:p1",
        "avg3d:f64:ncdhw:1x3x9x9x9:k3x2x5",
        "maxpool2d:f32:nchw:1x2x20x20:k13",
    };
    int tables = 0;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof problems / sizeof *problems; i++) {
        tables += out_of_memory(problems[i], "cuMemAlloc_v2");
        tables -= fail_in_turn(problems[i], 0, "cuMemcpyHtoD_v2", FAKE_ILLEGAL_ADDRESS,
                               POOLGRAD_ERR_DEVICE, "putting a table on the device failed");
        assert_true(fail_in_turn(problems[i], 0, "cuModuleGetFunction", FAKE_NOT_FOUND,
                                 POOLGRAD_ERR_DEVICE, "preparing the kernel pgi_") > 0);
        assert_true(fail_in_turn(problems[i], 0, "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                                 FAKE_INVALID_HANDLE, POOLGRAD_ERR_DEVICE,
                                 "failed: CUDA_ERROR_INVALID_HANDLE (invalid resource") > 0);
        assert_true(fail_in_turn(problems[i], 0, "cuCtxPushCurrent_v2", FAKE_INVALID_CONTEXT,
                                 POOLGRAD_ERR_DEVICE, "turning to the device failed") > 0);
    }
    assert_int_equal(tables, 0);
    assert_true(fail_in_turn("maxpool2d:f32:nchw:1x2x90x90:k13", 0, "cuFuncGetAttribute",
                             FAKE_INVALID_VALUE, POOLGRAD_ERR_DEVICE, "preparing the kernel") > 0);
    assert_true(fail_in_turn("maxpool2d:f32:nchw:1x2x90x90:k13", 0, "cuFuncSetAttribute",
                             FAKE_INVALID_VALUE, POOLGRAD_ERR_DEVICE, "preparing the kernel") > 0);
}

/* The host's memory too. */
static void test_allocator_fails(void **state)
{
    const long live = fake->live();
    poolgrad_cuda_plan *plan;
    poolgrad_options options;
    poolgrad_error error;
    poolgrad_desc desc;
    allocator a;
    int nth;

    (void)state;
    poolgrad_desc_parse("avg2d:f32:nchw:2x3x40x44:k2:s2", &desc, NULL);
    options = counted_options(&a, "near"); /* makes a table */
    for (nth = 1;; nth++) {
        a.calls = 0;
        a.fail_at = nth;
        if (poolgrad_cuda_plan_create(&plan, &desc, &options, 0, &error) == POOLGRAD_OK)
            break;
        expect_error(error.status, &error, POOLGRAD_ERR_MEMORY, "the allocator gave no ");
        assert_null(plan);
        assert_int_equal(a.live, 0);
        assert_int_equal(fake->live(), live);
    }
    assert_true(nth > 2);
    poolgrad_cuda_plan_destroy(plan);
}

/* Tensors that just fit in 64 bits, and what the kernels need beside them does not. */
static void test_overflow(void **state)
{
    static const char *const problems[][2] = {
        {"avg3d:f16:ncdhw:1200000000x1200000000x1x1x1:k1", "does not fit in 64 bits"},
        {"max2d:f16:nchw:1000000x1000000x2x2:adaptive:o1500x1000:from=x", "do not fit in 64 bits"},
    };
    const poolgrad_options options = options_for("general", 1);
    poolgrad_cuda_plan *plan;
    poolgrad_error error;
    poolgrad_desc desc;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof problems / sizeof *problems; i++) {
        assert_int_equal(poolgrad_desc_parse(problems[i][0], &desc, NULL), POOLGRAD_OK);
        expect_error(poolgrad_cuda_plan_create(&plan, &desc, &options, 0, &error), &error,
                     POOLGRAD_ERR_OVERFLOW, problems[i][1]);
        assert_null(plan);
    }
}

static void test_bad_arguments(void **state)
{
    poolgrad_cuda_device device = {.size = 3};
    poolgrad_plan_info info = {.size = 3};
    poolgrad_cuda_plan *plan = cuda_host_plan(max_problem, NULL), *none;
    poolgrad_buffers buffers = cuda_host_buffers(plan);
    poolgrad_error error;
    poolgrad_desc desc;
    int32_t count;

    (void)state;
    poolgrad_desc_parse(max_problem, &desc, NULL);
    expect_error(poolgrad_cuda_device_count(NULL, &error), &error, POOLGRAD_ERR_NULL, "count");
    expect_error(poolgrad_cuda_device_describe(0, &device, &error), &error,
                 POOLGRAD_ERR_STRUCT_SIZE, "info");
    device.size = sizeof device;
    expect_error(poolgrad_cuda_device_describe(2, &device, &error), &error, POOLGRAD_ERR_OPTION,
                 "device is 2; this machine has 2, counted from 0");
    expect_error(poolgrad_cuda_plan_create(&none, &desc, NULL, 2, &error), &error,
                 POOLGRAD_ERR_OPTION, "device is 2; this machine has 2, counted from 0");
    expect_error(poolgrad_cuda_plan_create(&none, &desc, NULL, -1, &error), &error,
                 POOLGRAD_ERR_OPTION, "device is -1; it must be from 0 to 63");
    expect_error(poolgrad_cuda_plan_create(NULL, &desc, NULL, 0, &error), &error, POOLGRAD_ERR_NULL,
                 "plan is NULL");
    expect_error(poolgrad_cuda_plan_create(&none, NULL, NULL, 0, &error), &error, POOLGRAD_ERR_NULL,
                 "desc is NULL");
    expect_error(poolgrad_cuda_plan_describe(plan, &info, &error), &error, POOLGRAD_ERR_STRUCT_SIZE,
                 "info");
    expect_error(poolgrad_cuda_plan_describe(NULL, &info, &error), &error, POOLGRAD_ERR_NULL,
                 "plan is NULL");
    expect_error(poolgrad_cuda_execute(NULL, &buffers, NULL, &error), &error, POOLGRAD_ERR_NULL,
                 "plan is NULL");
    expect_error(poolgrad_cuda_check(NULL, &buffers, NULL, &error), &error, POOLGRAD_ERR_NULL,
                 "plan is NULL");
    expect_error(poolgrad_cuda_check(plan, NULL, NULL, &error), &error, POOLGRAD_ERR_NULL,
                 "buffers is NULL");
    fake->fail_call("cuDeviceGetCount", 1, FAKE_INVALID_CONTEXT);
    expect_error(poolgrad_cuda_device_count(&count, &error), &error, POOLGRAD_ERR_DEVICE,
                 "counting devices failed: CUDA_ERROR_INVALID_CONTEXT");
    poolgrad_desc_parse("avg2d:f32:nchw:2x3x40x44:k2:s2:parity=torch", &desc, NULL);
    expect_error(poolgrad_cuda_plan_create(&none, &desc, NULL, 0, &error), &error,
                 POOLGRAD_ERR_UNSUPPORTED, "only the CPU");
    poolgrad_cuda_plan_destroy(plan);
}

/* ---------------------------------------------------- executions that fail */

/* A plan, its buffers, and one of them replaced by something else. */
typedef struct case_of_buffers {
    poolgrad_cuda_plan *plan;
    poolgrad_buffers good;
} case_of_buffers;

static case_of_buffers make_case(const char *problem)
{
    case_of_buffers made = {.plan = cuda_host_plan(problem, "general")};

    made.good = cuda_host_buffers(made.plan);
    return made;
}

/* Execute and check both say so; then good buffers work as if nothing had been. */
static void expect_refused(const case_of_buffers *c, const poolgrad_buffers *buffers, void *stream,
                           poolgrad_status expected, const char *words)
{
    const long launches = fake->calls("cuLaunchKernelEx");
    poolgrad_error error;

    expect_error(poolgrad_cuda_execute(c->plan, buffers, stream, &error), &error, expected, words);
    expect_error(poolgrad_cuda_check(c->plan, buffers, stream, &error), &error, expected, words);
    assert_int_equal(fake->calls("cuLaunchKernelEx"), launches);
    assert_int_equal(fake->depth(), 1);
    assert_int_equal(poolgrad_cuda_execute(c->plan, &c->good, NULL, &error), POOLGRAD_OK);
    assert_int_equal(poolgrad_cuda_check(c->plan, &c->good, NULL, &error), POOLGRAD_OK);
}

/* Every pointer in turn is one that must be refused. */
static void expect_pointers_refused(const case_of_buffers *c, void *bad, const char *words)
{
    static const struct {
        const char *name;
        size_t offset;
    } fields[] = {
        {"dy", offsetof(poolgrad_buffers, dy)},
        {"dx", offsetof(poolgrad_buffers, dx)},
        {"x", offsetof(poolgrad_buffers, x)},
        {"y", offsetof(poolgrad_buffers, y)},
        {"indices", offsetof(poolgrad_buffers, indices)},
        {"indices_out", offsetof(poolgrad_buffers, indices_out)},
        {"workspace", offsetof(poolgrad_buffers, workspace)},
    };
    char expected[128];
    size_t i;

    for (i = 0; i < sizeof fields / sizeof *fields; i++) {
        poolgrad_buffers buffers = c->good;
        char *field = (char *)&buffers + fields[i].offset;
        const void *was;

        memcpy(&was, field, sizeof was);
        if (!was)
            continue;
        memcpy(field, &bad, sizeof bad);
        snprintf(expected, sizeof expected, words, fields[i].name);
        expect_refused(c, &buffers, NULL, POOLGRAD_ERR_POINTER, expected);
    }
}

static void test_pointers(void **state)
{
    static const char *const problems[] = {max_problem, from_x_problem,
                                           "avg2d:f32:nchw:2x3x40x44:k3:p1",
                                           "maxpool2d:f32:nchw:1x2x20x20:k3"};
    void *host = malloc(1 << 16), *pinned = sup_gpu_allocate_pinned(1 << 16), *other;
    size_t i;

    (void)state;
    assert_null(sup_gpu_open(1));
    other = sup_gpu_allocate(1 << 16);
    assert_null(sup_gpu_open(0));
    for (i = 0; i < sizeof problems / sizeof *problems; i++) {
        const case_of_buffers c = make_case(problems[i]);

        expect_pointers_refused(&c, host, "buffers.%s is 0x");
        expect_pointers_refused(&c, pinned, "buffers.%s is 0x");
        expect_pointers_refused(&c, other,
                                "buffers.%s is memory of device 1; the plan is for device 0");
        poolgrad_cuda_plan_destroy(c.plan);
    }
    sup_gpu_free(other);
    sup_gpu_free_pinned(pinned);
    free(host);
}

static void test_streams(void **state)
{
    const case_of_buffers c = make_case(max_problem);
    void *mine = sup_gpu_stream(), *other, *per_thread = (void *)(uintptr_t)2;
    poolgrad_error error;

    (void)state;
    assert_null(sup_gpu_open(1));
    other = sup_gpu_stream();
    assert_null(sup_gpu_open(0));
    expect_refused(&c, &c.good, other, POOLGRAD_ERR_POINTER,
                   "the stream is not one of device 0's primary context");
    assert_int_equal(poolgrad_cuda_execute(c.plan, &c.good, mine, &error), POOLGRAD_OK);
    assert_int_equal(poolgrad_cuda_check(c.plan, &c.good, mine, &error), POOLGRAD_OK);
    assert_int_equal(poolgrad_cuda_execute(c.plan, &c.good, per_thread, &error), POOLGRAD_OK);
    sup_gpu_stream_free(mine);
    expect_refused(&c, &c.good, mine, POOLGRAD_ERR_DEVICE,
                   "looking at the stream failed: CUDA_ERROR_INVALID_HANDLE");
    sup_gpu_stream_free(other);
    poolgrad_cuda_plan_destroy(c.plan);
}

/* A stream that is being captured cannot be waited for; executing on it is what captures are for.
 */
static void test_captured_stream(void **state)
{
    const case_of_buffers c = make_case(max_problem);
    void *stream = sup_gpu_stream(), *graph;
    poolgrad_error error;

    (void)state;
    assert_int_equal(sup_gpu_capture_begin(stream), 0);
    assert_int_equal(poolgrad_cuda_execute(c.plan, &c.good, stream, &error), POOLGRAD_OK);
    expect_error(poolgrad_cuda_check(c.plan, &c.good, stream, &error), &error, POOLGRAD_ERR_DEVICE,
                 "waiting for the device failed: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED");
    assert_int_equal(sup_gpu_capture_end(stream, &graph), -1);
    assert_int_equal(poolgrad_cuda_execute(c.plan, &c.good, stream, &error), POOLGRAD_OK);
    assert_int_equal(poolgrad_cuda_check(c.plan, &c.good, stream, &error), POOLGRAD_OK);
    sup_gpu_stream_free(stream);
    poolgrad_cuda_plan_destroy(c.plan);
}

/* A plan works whichever device its caller has turned to, and leaves it so. */
static void test_other_device_current(void **state)
{
    const case_of_buffers c = make_case(max_problem);
    const void *context;

    (void)state;
    assert_null(sup_gpu_open(1));
    context = fake->current();
    assert_int_equal(poolgrad_cuda_execute(c.plan, &c.good, NULL, NULL), POOLGRAD_OK);
    assert_int_equal(poolgrad_cuda_check(c.plan, &c.good, NULL, NULL), POOLGRAD_OK);
    poolgrad_cuda_plan_destroy(c.plan);
    assert_ptr_equal(fake->current(), context);
    assert_null(sup_gpu_open(0));
}

static void test_workspace(void **state)
{
    static const char *const problems[] = {max_problem, from_x_problem,
                                           "avg3d:f64:ncdhw:1x3x9x9x9:k3x2x5"};
    char words[96];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof problems / sizeof *problems; i++) {
        const case_of_buffers c = make_case(problems[i]);
        poolgrad_buffers buffers = c.good;

        buffers.workspace = NULL;
        expect_refused(&c, &buffers, NULL, POOLGRAD_ERR_NULL,
                       "buffers.workspace is NULL; the plan");
        buffers = c.good;
        buffers.workspace_size--;
        snprintf(words, sizeof words, "buffers.workspace_size is %zu; the plan needs %zu bytes",
                 buffers.workspace_size, c.good.workspace_size);
        expect_refused(&c, &buffers, NULL, POOLGRAD_ERR_WORKSPACE, words);
        buffers = c.good;
        buffers.workspace = (char *)c.good.workspace + 4;
        expect_refused(&c, &buffers, NULL, POOLGRAD_ERR_MISALIGNED, "it must be a multiple of 8");
        buffers = c.good;
        buffers.dx = c.good.workspace;
        expect_refused(&c, &buffers, NULL, POOLGRAD_ERR_OVERLAP, "overlap");
        buffers = c.good;
        buffers.dx = (char *)c.good.dx + 2;
        expect_refused(&c, &buffers, NULL, POOLGRAD_ERR_MISALIGNED, "buffers.dx is ");
        buffers = c.good;
        buffers.dx = (void *)(uintptr_t)c.good.dy;
        expect_refused(&c, &buffers, NULL, POOLGRAD_ERR_OVERLAP, "overlap");
        poolgrad_cuda_plan_destroy(c.plan);
    }
}

/* Calls of the driver that fail while a plan is executed or checked. */
static void test_executing_fails(void **state)
{
    static const struct {
        const char *function, *words;
        int check, times; /* in check, not in execute; how often it is called */
    } failures[] = {
        {"cuCtxPushCurrent_v2", "turning to the device failed: ", 0, 1},
        {"cuStreamGetCtx", "looking at the stream failed: ", 0, 1},
        {"cuMemsetD8Async", "writing to the workspace failed: ", 0, 1},
        {"cuLaunchKernelEx", "launching a kernel failed: CUDA_ERROR_LAUNCH_OUT_OF", 0, 2},
        {"cuCtxPushCurrent_v2", "turning to the device failed: ", 1, 1},
        {"cuStreamSynchronize", "waiting for the device failed: ", 1, 2},
        {"cuMemcpyDtoHAsync_v2", "waiting for the device failed: ", 1, 1},
    };
    const case_of_buffers c = make_case(max_problem);
    void *stream = sup_gpu_stream();
    poolgrad_error error;
    size_t i;
    int nth;

    (void)state;
    for (i = 0; i < sizeof failures / sizeof *failures; i++) {
        for (nth = 1; nth <= failures[i].times; nth++) {
            fake->reset();
            fake->fail_call(failures[i].function, nth, FAKE_OUT_OF_RESOURCES);
            (failures[i].check ? poolgrad_cuda_check : poolgrad_cuda_execute)(c.plan, &c.good,
                                                                              stream, &error);
            expect_error(error.status, &error, POOLGRAD_ERR_DEVICE, failures[i].words);
            assert_int_equal(fake->depth(), 1);
            assert_int_equal(poolgrad_cuda_execute(c.plan, &c.good, stream, &error), POOLGRAD_OK);
            assert_int_equal(poolgrad_cuda_check(c.plan, &c.good, stream, &error), POOLGRAD_OK);
        }
    }
    fake->reset();
    sup_gpu_stream_free(stream);
    poolgrad_cuda_plan_destroy(c.plan);
}

/* The stand-in itself: a check that never fails would prove nothing. */
static void test_stand_in(void **state)
{
    char bytes[16] = {0}, *memory = sup_gpu_allocate(8);

    (void)state;
    assert_int_equal(sup_gpu_to_device(memory, bytes, 8), 0);
    assert_int_equal(sup_gpu_to_device(memory, bytes, 9), -1);
    assert_int_equal(sup_gpu_to_device(bytes, bytes, 1), -1);
    assert_int_equal(sup_gpu_fill(memory + 4, 7, 4), 0);
    assert_int_equal(sup_gpu_to_host(bytes, memory, 8), 0);
    assert_memory_equal(bytes, "\0\0\0\0\7\7\7\7", 8);
    sup_gpu_free(memory);
    assert_int_equal(sup_gpu_to_host(bytes, memory, 8), -1);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stand_in),        cmocka_unit_test(test_start),
        cmocka_unit_test(test_start_fails),     cmocka_unit_test(test_opening_fails),
        cmocka_unit_test(test_planning_fails),  cmocka_unit_test(test_allocator_fails),
        cmocka_unit_test(test_overflow),        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_pointers),        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_captured_stream), cmocka_unit_test(test_other_device_current),
        cmocka_unit_test(test_workspace),       cmocka_unit_test(test_executing_fails),
    };

    if (argc > 1 && strcmp(argv[1], "--answers") == 0)
        return print_answers();
    cuda_host_start(argv);
    return cmocka_run_group_tests(tests, cuda_host_open, cuda_host_close);
}
