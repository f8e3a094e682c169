/* SPDX-License-Identifier: MIT */
/*
 * How long executions take on a CUDA device, and a copy there. Executions are captured in a graph,
 * so that the time to put them on a stream does not count.
 */
#include "cuda_measure.h"

#include <poolgrad/cuda.h>
#include <stdio.h>
#include <stdlib.h>

#include "data.h"
#include "gpu.h"
#include "sets.h"

/* Sets of buffers together exceed the L2 cache this often. */
#define CACHES 4

/* Bytes that the copy which gives the floor reads. */
#define COPIED ((size_t)512 << 20)

/* Elements of random numbers that a tensor repeats. */
#define RANDOM (1 << 20)

typedef struct cuda_sets {
    poolgrad_desc desc;
    cli_operand operands[CLI_MOST_OPERANDS];
    int operand_count;
    size_t offset[CLI_MOST_OPERANDS], bytes[CLI_MOST_OPERANDS], first[CLI_MOST_OPERANDS];
    char *memory;
    size_t set_bytes, count;
    char *workspace;
    const poolgrad_cuda_plan *plan;
    poolgrad_error error;
} cuda_sets;

static poolgrad_buffers buffers_of(const cuda_sets *sets, size_t index)
{
    poolgrad_buffers buffers;
    poolgrad_buffers_init(&buffers);
    for (int i = 0; i < sets->operand_count; i++)
        cli_bind(&buffers, sets->operands[i].slot,
                 sets->memory + index * sets->set_bytes + sets->offset[i] + sets->first[i]);
    buffers.workspace = sets->workspace;
    buffers.workspace_size = poolgrad_cuda_plan_workspace(sets->plan);
    return buffers;
}

/* Repeats the first `done` bytes until there are `bytes`. */
static int repeat(char *memory, size_t done, size_t bytes)
{
    int failed = 0;
    while (done < bytes && !failed) {
        size_t more = bytes - done < done ? bytes - done : done;
        failed = sup_gpu_copy(memory + done, memory, more, NULL);
        done += more;
    }
    return failed;
}

static int fill_numbers(poolgrad_dtype dtype, char *to, size_t bytes)
{
    size_t size = poolgrad_dtype_size(dtype), block = RANDOM * size;
    char *numbers = malloc(block);
    sup_rng rng;
    if (!numbers)
        return -1;
    sup_rng_seed(&rng, 1);
    sup_fill(dtype, numbers, RANDOM, SUP_UNIFORM, &rng);
    if (block > bytes)
        block = bytes;
    int failed = sup_gpu_to_device(to, numbers, block) || repeat(to, block, bytes);
    free(numbers);
    return failed;
}

/* The indices of a max gradient: a forward pass over random numbers finds them. */
static int fill_indices(cuda_sets *sets, int operand)
{
    poolgrad_desc forward;
    poolgrad_cuda_plan *plan = NULL;
    cli_operand operands[CLI_MOST_OPERANDS];
    char *memory[CLI_MOST_OPERANDS] = {0};
    poolgrad_buffers buffers;
    int failed = cli_forward_problem(&sets->desc, &forward, &sets->error) ||
                 poolgrad_cuda_plan_create(&plan, &forward, NULL, 0, &sets->error);
    if (failed)
        return failed;
    int count = cli_operands(&forward, operands);
    poolgrad_buffers_init(&buffers);
    for (int i = 0; i < count && !failed; i++) {
        size_t bytes, first;
        if (operands[i].slot == CLI_INDICES_OUT) {
            cli_bind(&buffers, CLI_INDICES_OUT,
                     sets->memory + sets->offset[operand] + sets->first[operand]);
            continue;
        }
        failed = cli_view_bytes(&forward, &operands[i], &bytes, &first) ||
                 !(memory[i] = sup_gpu_allocate(bytes)) ||
                 fill_numbers(forward.dtype, memory[i], bytes);
        cli_bind(&buffers, operands[i].slot, memory[i] + first);
    }
    buffers.workspace_size = poolgrad_cuda_plan_workspace(plan);
    void *workspace = sup_gpu_allocate(buffers.workspace_size);
    buffers.workspace = workspace;
    failed = failed || !workspace || poolgrad_cuda_execute(plan, &buffers, NULL, &sets->error) ||
             poolgrad_cuda_check(plan, &buffers, NULL, &sets->error);
    for (int i = 0; i < count; i++)
        sup_gpu_free(memory[i]);
    sup_gpu_free(workspace);
    poolgrad_cuda_plan_destroy(plan);
    return failed;
}

static int make_sets(cuda_sets *sets, const poolgrad_cuda_plan *plan, size_t cache)
{
    sets->plan = plan;
    sets->desc = *poolgrad_cuda_plan_desc(plan);
    sets->operand_count = cli_operands(&sets->desc, sets->operands);
    for (int i = 0; i < sets->operand_count; i++) {
        if (cli_view_bytes(&sets->desc, &sets->operands[i], &sets->bytes[i], &sets->first[i]))
            return -1;
        sets->offset[i] = sets->set_bytes;
        sets->set_bytes += (sets->bytes[i] + 511) / 256 * 256;
    }
    sets->count = CACHES * cache / sets->set_bytes + 2;
    sets->memory = sup_gpu_allocate(sets->count * sets->set_bytes);
    sets->workspace = sup_gpu_allocate(poolgrad_cuda_plan_workspace(plan));
    if (!sets->memory || !sets->workspace)
        return -1;
    for (int i = 0; i < sets->operand_count; i++)
        if (sets->operands[i].indices
                ? !sets->operands[i].written && fill_indices(sets, i)
                : fill_numbers(sets->desc.dtype, sets->memory + sets->offset[i], sets->bytes[i]))
            return -1;
    return repeat(sets->memory, sets->set_bytes, sets->count * sets->set_bytes) ||
           sup_gpu_wait(NULL);
}

static void free_sets(cuda_sets *sets)
{
    sup_gpu_free(sets->memory);
    sup_gpu_free(sets->workspace);
}

static int execute_cold(void *data, int turn, void *stream)
{
    cuda_sets *sets = data;
    poolgrad_buffers buffers = buffers_of(sets, (size_t)turn % sets->count);
    return poolgrad_cuda_execute(sets->plan, &buffers, stream, &sets->error) != POOLGRAD_OK;
}

static int execute_hot(void *data, int turn, void *stream)
{
    (void)turn;
    return execute_cold(data, 0, stream);
}

static int measure_case(const char *verb, cli_case *one, const char *strategy, size_t cache,
                        char *copied)
{
    poolgrad_options options;
    poolgrad_desc desc;
    poolgrad_cuda_plan *plan;
    poolgrad_error error;
    cuda_sets sets = {0};
    poolgrad_options_init(&options);
    options.strategy = strategy;
    one->info.size = sizeof one->info;
    if (poolgrad_desc_parse(one->problem, &desc, &error) ||
        poolgrad_cuda_plan_create(&plan, &desc, &options, 0, &error))
        return cli_library_error(verb, one->problem, &error);
    int code = CLI_OK;
    poolgrad_cuda_plan_describe(plan, &one->info, NULL);
    one->bytes = (double)one->info.bytes_read + (double)one->info.bytes_written;
    if (!one->text && !(one->text = cli_problem_text(verb, &desc)))
        code = CLI_DATA;
    if (!code && make_sets(&sets, plan, cache)) {
        cli_error(verb, "%s: %s", one->problem,
                  sets.error.message[0] ? sets.error.message : "the device has too little memory");
        code = CLI_DATA;
    }
    if (!code) {
        /* about a hundredth of a second, and every set at least once */
        double guess = one->bytes / 2e12;
        int times = guess * 200 > 0.01 ? (int)(0.01 / guess) + 1 : 200;
        if ((size_t)times < sets.count)
            times = (int)sets.count;
        double copy = sup_gpu_copy_time(copied, copied + COPIED, COPIED);
        one->times.cold = sup_gpu_time(times, execute_cold, &sets);
        one->times.hot = one->times.cold > 0 ? sup_gpu_time(times, execute_hot, &sets) : -1;
        one->times.rate = one->times.reading = one->times.writing = 2.0 * (double)COPIED / copy;
        if (copy <= 0 || one->times.cold <= 0 || one->times.hot <= 0) {
            cli_error(verb, "%s: the device failed: %s", one->problem, sets.error.message);
            code = CLI_DATA;
        }
    }
    free_sets(&sets);
    poolgrad_cuda_plan_destroy(plan);
    return code;
}

int cli_cuda_measure(const char *verb, cli_case *cases, int count, const char *strategy, int quiet)
{
    poolgrad_cuda_device device = {.size = sizeof device};
    poolgrad_error error;
    const char *reason;
    if (poolgrad_cuda_device_describe(0, &device, &error))
        return cli_library_error(verb, NULL, &error);
    if ((reason = sup_gpu_open(0)) != NULL) {
        cli_error(verb, "%s", reason);
        return CLI_DATA;
    }
    char *copied = sup_gpu_allocate(2 * COPIED);
    int code = copied && !sup_gpu_fill(copied, 1, 2 * COPIED) ? CLI_OK : CLI_DATA;
    if (code)
        cli_error(verb, "the device has no memory to measure the floor with");
    for (int i = 0; i < count && !code; i++) {
        if (!quiet)
            fprintf(stderr, "[%d/%d] %s\n", i + 1, count, cases[i].problem);
        code = measure_case(verb, &cases[i], strategy, (size_t)device.cache, copied);
    }
    sup_gpu_free(copied);
    return code;
}
