/* SPDX-License-Identifier: MIT */
#include "cuda_large.h"

#include "harness.h"

#include <poolgrad/cuda.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu.h"

int cuda_large_wanted;

static void check_plane(const char *op, const char *end, const poolgrad_cuda_plan *plan,
                        const poolgrad_buffers *buffers, int64_t plane)
{
    const poolgrad_desc *desc = poolgrad_cuda_plan_desc(plan);
    const size_t size = poolgrad_dtype_size(desc->dtype);
    const size_t in = (size_t)(desc->in[0] * desc->in[1]) * size;
    const size_t out = (size_t)(desc->out[0] * desc->out[1]) * size;
    sup_memory expected;
    char text[128];
    fixture f;

    snprintf(text, sizeof text, "%s:nchw:1x1x%dx%d:%s", op, (int)desc->in[0], (int)desc->in[1],
             end);
    fixture_parse(&f, text, SUP_UNIFORM, 1);
    expected = copy_of_result(&f);
    sup_gpu_to_host(f.dy.allocation, (const char *)buffers->dy + (size_t)plane * out, out);
    if (f.x.allocation)
        sup_gpu_to_host(f.x.allocation, (const char *)buffers->x + (size_t)plane * in, in);
    run_into(&f, NULL, expected.first);
    sup_gpu_to_host(f.dx.allocation, (char *)buffers->dx + (size_t)plane * in, in);
    assert_same_result(&f, expected.first, f.dx.first, "a plane of many");
    sup_view_free(&expected);
    fixture_free(&f);
}

/* Random elements, the same over and over; no plane is a multiple of them. */
static void *large_tensor(poolgrad_dtype dtype, size_t bytes)
{
    enum {
        BLOCK = 1000003
    };
    const size_t block = BLOCK * poolgrad_dtype_size(dtype);
    char *memory = sup_gpu_allocate(bytes + block), *numbers = malloc(block);
    sup_rng rng;
    size_t done;

    assert_non_null(memory);
    assert_non_null(numbers);
    sup_rng_seed(&rng, 3);
    sup_fill(dtype, numbers, BLOCK, SUP_UNIFORM, &rng);
    assert_int_equal(sup_gpu_to_device(memory, numbers, block), 0);
    for (done = block; done < bytes; done += block)
        assert_int_equal(sup_gpu_copy(memory + done, memory, block, NULL), 0);
    free(numbers);
    return memory;
}

void cuda_large_test(void **state)
{
    static const char *const problems[][2] = {
        {"avg2d:bf16", "k2:s2"},        {"avg2d:bf16", "k3:s2:p1"},     {"avg2d:bf16", "k3:p1"},
        {"avg2d:bf16", "k7x4:s3x2:p1"}, {"max2d:bf16", "k2:s2:from=x"},
    };
    static const int64_t planes = 2400000, plane = 900; /* 2.16e9 elements */
    size_t i;

    (void)state;
    if (!cuda_large_wanted)
        skip();
    for (i = 0; i < sizeof problems / sizeof *problems; i++) {
        poolgrad_cuda_plan *plan;
        poolgrad_buffers buffers;
        poolgrad_error error;
        poolgrad_desc desc;
        char text[128];
        void *dy, *workspace, *x = NULL;
        size_t windows;

        snprintf(text, sizeof text, "%s:nchw:40000x60x30x30:%s", problems[i][0], problems[i][1]);
        assert_int_equal(poolgrad_desc_parse(text, &desc, NULL), POOLGRAD_OK);
        if (poolgrad_cuda_plan_create(&plan, &desc, NULL, 0, &error))
            fail_msg("%s: %s", text, error.message);
        desc = *poolgrad_cuda_plan_desc(plan);
        windows = (size_t)(desc.out[0] * desc.out[1]);
        poolgrad_buffers_init(&buffers);
        buffers.dy = dy = large_tensor(desc.dtype, (size_t)planes * windows * 2);
        if (desc.op == POOLGRAD_MAX_GRAD)
            buffers.x = x = large_tensor(desc.dtype, (size_t)(planes * plane) * 2);
        buffers.dx = sup_gpu_allocate((size_t)(planes * plane) * 2);
        buffers.workspace_size = poolgrad_cuda_plan_workspace(plan);
        buffers.workspace = workspace = sup_gpu_allocate(buffers.workspace_size);
        assert_non_null(buffers.dx);
        if (poolgrad_cuda_execute(plan, &buffers, NULL, &error) ||
            poolgrad_cuda_check(plan, &buffers, NULL, &error))
            fail_msg("%s: %s", text, error.message);
        check_plane(problems[i][0], problems[i][1], plan, &buffers, 0);
        check_plane(problems[i][0], problems[i][1], plan, &buffers, planes / 2 + 1);
        check_plane(problems[i][0], problems[i][1], plan, &buffers, planes - 1);
        sup_gpu_free(dy);
        sup_gpu_free(x);
        sup_gpu_free(buffers.dx);
        sup_gpu_free(workspace);
        poolgrad_cuda_plan_destroy(plan);
    }
}
