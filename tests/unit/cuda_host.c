/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* execv, setenv */
#include "cuda_host.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Random problems have far fewer bytes than this, also with gaps, and before their first element.
 */
#define PLACE ((size_t)64 << 20)

enum {
    PLACES = 6
};

const fake_cuda_control *fake;

static char *memory;

void cuda_host_start(char **argv)
{
    static const char path[] = FAKE_CUDA_DIRECTORY "/driver";
    const char *set = getenv("LD_LIBRARY_PATH");
    void *library;

    if (!set || strcmp(set, path) != 0) {
        setenv("LD_LIBRARY_PATH", path, 1);
        execv("/proc/self/exe", argv);
        perror("/proc/self/exe");
        exit(1);
    }
    library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    fake = library ? dlsym(library, FAKE_CUDA_OBJECT) : NULL;
    if (!fake) {
        fprintf(stderr, "there is no stand-in for the driver in %s\n", path);
        exit(1);
    }
}

int cuda_host_open(void **state)
{
    (void)state;
    if (sup_gpu_open(0))
        return -1;
    memory = sup_gpu_allocate(PLACES * PLACE);
    return memory ? 0 : -1;
}

int cuda_host_close(void **state)
{
    (void)state;
    sup_gpu_free(memory);
    return fake->live() == 0 ? 0 : -1;
}

static void *place(int number)
{
    return memory + (size_t)number * PLACE + PLACE / 2;
}

poolgrad_buffers cuda_host_buffers(const poolgrad_cuda_plan *plan)
{
    const poolgrad_desc *desc = poolgrad_cuda_plan_desc(plan);
    poolgrad_buffers buffers;

    poolgrad_buffers_init(&buffers);
    if (sup_is_forward(desc)) {
        buffers.x = place(0);
        buffers.y = place(1);
        buffers.indices_out = desc->op == POOLGRAD_MAX ? place(2) : NULL;
    } else {
        buffers.dy = place(0);
        buffers.dx = place(1);
        if (sup_is_max(desc) && desc->winner == POOLGRAD_FROM_INDICES)
            buffers.indices = place(2);
        if (sup_is_max(desc) && desc->winner != POOLGRAD_FROM_INDICES)
            buffers.x = place(3);
    }
    buffers.workspace_size = poolgrad_cuda_plan_workspace(plan);
    if (buffers.workspace_size)
        buffers.workspace = memory + (PLACES - 1) * PLACE;
    assert_true(buffers.workspace_size <= PLACE);
    return buffers;
}

poolgrad_cuda_plan *cuda_host_plan(const char *problem, const char *strategy)
{
    const poolgrad_options options = options_for(strategy, 1);
    poolgrad_cuda_plan *plan = NULL;
    poolgrad_error error;
    poolgrad_desc desc;

    if (poolgrad_desc_parse(problem, &desc, &error) ||
        poolgrad_cuda_plan_create(&plan, &desc, &options, 0, &error))
        fail_msg("%s: %s", problem, error.message);
    return plan;
}

int cuda_host_strategies(const char *names[CUDA_HOST_STRATEGIES])
{
    static const char before[] = "on a device there are ";
    static char list[sizeof(poolgrad_error)];
    const poolgrad_options options = options_for("?", 1);
    poolgrad_cuda_plan *plan;
    poolgrad_error error;
    poolgrad_desc desc;
    int count = 1;
    char *name;

    poolgrad_desc_parse("avg2d:f32:nchw:2x3x40x44:k2:s2", &desc, NULL);
    expect_error(poolgrad_cuda_plan_create(&plan, &desc, &options, 0, &error), &error,
                 POOLGRAD_ERR_OPTION, before);
    snprintf(list, sizeof list, "%s", strstr(error.message, before) + strlen(before));
    names[0] = NULL;
    for (name = strtok(list, ", "); name && count < CUDA_HOST_STRATEGIES; name = strtok(NULL, ", "))
        names[count++] = name;
    assert_true(count > 2);
    assert_string_equal(names[count - 1], "general");
    return count;
}

void expect_error(poolgrad_status status, const poolgrad_error *error, poolgrad_status expected,
                  const char *words)
{
    if (status != expected || error->status != expected || !strstr(error->message, words))
        fail_msg("%d \"%s\"; expected %d and \"%s\"", (int)status, error->message, (int)expected,
                 words);
}
