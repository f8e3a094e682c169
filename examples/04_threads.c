/* SPDX-License-Identifier: MIT */
/*
 * The caller's own threads, workspace and allocator, as a program with a thread pool needs them.
 */
#include <poolgrad/poolgrad.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define SIZE    (4 * 8 * 64 * 64)

typedef struct share {
    int64_t first, tasks; /* this thread runs tasks first, first + THREADS, ... */
    void (*task)(void *data, int64_t index);
    void *data;
} share;

static void *run_share(void *argument)
{
    const share *mine = argument;
    for (int64_t i = mine->first; i < mine->tasks; i += THREADS)
        mine->task(mine->data, i);
    return NULL;
}

/* A poolgrad_parallel_for: any order, any threads, and all tasks have returned when it returns. */
static void parallel_for(void *context, int64_t tasks, void (*task)(void *data, int64_t index),
                         void *data)
{
    pthread_t thread[THREADS];
    share shares[THREADS];
    int started[THREADS];
    for (int t = 0; t < THREADS; t++) {
        shares[t] = (share){t, tasks, task, data};
        started[t] = pthread_create(&thread[t], NULL, run_share, &shares[t]) == 0;
    }
    for (int t = 0; t < THREADS; t++) {
        if (started[t])
            pthread_join(thread[t], NULL);
        else
            run_share(&shares[t]); /* no thread to be had: do it here */
    }
    ++*(int *)context;
}

static void *count_and_allocate(void *context, size_t bytes)
{
    ++*(int *)context;
    return malloc(bytes);
}

static void release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

int main(void)
{
    static float dy[SIZE], dx[SIZE], plain[SIZE];
    for (int i = 0; i < SIZE; i++)
        dy[i] = (float)(i % 101) / 37 - 1;
    poolgrad_desc desc;
    poolgrad_desc_parse("avg2d:f32:nchw:4x8x64x64:k9:p4", &desc, NULL);

    int calls = 0, allocations = 0;
    poolgrad_plan *serial = NULL, *plan = NULL;
    poolgrad_options options;
    poolgrad_options_init(&options);
    options.threads = 1;
    poolgrad_plan_create(&serial, &desc, &options, NULL);
    options.threads = THREADS;
    options.parallel_for = parallel_for;
    options.parallel_context = &calls;
    options.allocate = count_and_allocate;
    options.release = release;
    options.allocator_context = &allocations;
    poolgrad_plan_create(&plan, &desc, &options, NULL);
    poolgrad_buffers buffers = {.size = sizeof buffers, .dy = dy, .dx = plain};
    int ok = poolgrad_execute(serial, &buffers, NULL) == POOLGRAD_OK;

    /* With a workspace of the stated size an execution allocates nothing. */
    buffers.dx = dx;
    buffers.workspace_size = poolgrad_plan_workspace(plan);
    buffers.workspace = malloc(buffers.workspace_size);
    int before = allocations;
    ok &= poolgrad_execute(plan, &buffers, NULL) == POOLGRAD_OK && allocations == before;
    ok &= calls == 1 && memcmp(dx, plain, sizeof dx) == 0;
    printf("%zu bytes of workspace, %d allocations to make the plan, none to execute it: %s\n",
           buffers.workspace_size, before, ok ? "same bits as one thread" : "FAILED");
    free(buffers.workspace);
    poolgrad_plan_destroy(plan);
    poolgrad_plan_destroy(serial);
    return ok ? 0 : 1;
}
