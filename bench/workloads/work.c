/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "work.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "timing.h"

struct work_run {
    int threads;
    int watched; /* compare with the reference, and count */
    double bytes;
    int calls, wrong;
};

_Noreturn void work_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(2);
}

void *work_memory(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory)
        work_fail("out of memory");
    return memory;
}

/* ------------------------------------------------------------- the command line */

work_options work_parse(int argc, char **argv)
{
    work_options options = {.seconds = 1, .threads = poolgrad_default_threads()};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        char *end = NULL;
        if (strcmp(word, "--check") == 0)
            options.check = 1;
        else if (strcmp(word, "--tiny") == 0)
            options.tiny = 1;
        else if (strcmp(word, "--json") == 0)
            options.json = 1;
        else if (strcmp(word, "--layers") == 0)
            options.layers = 1;
        else if (strcmp(word, "--seconds") == 0)
            options.seconds = strtod(value, &end);
        else if (strcmp(word, "--threads") == 0)
            options.threads = (int32_t)strtol(value, &end, 10);
        else
            end = argv[i];
        if (end) { /* an option with a value, or no option */
            if (end == word || end == value || *end || options.seconds < 0 || options.threads < 1)
                work_fail("usage: %s [--check] [--tiny] [--seconds S] [--threads N] [--json]",
                          argv[0]);
            i++;
        }
    }
    return options;
}

/* ------------------------------------------------------------------ buffers */

static work_tensor reserve(work *one, int64_t count, size_t size)
{
    work_tensor tensor = {.offset = one->set_bytes, .count = (size_t)count};
    one->set_bytes += (tensor.count * size + 4095) / 4096 * 4096;
    return tensor;
}

work_tensor work_floats(work *one, int64_t count)
{
    return reserve(one, count, sizeof(float));
}

work_tensor work_indices(work *one, int64_t count)
{
    return reserve(one, count, sizeof(int64_t));
}

float *work_at(char *set, work_tensor tensor)
{
    return (float *)(void *)(set + tensor.offset);
}

int64_t *work_indices_at(char *set, work_tensor tensor)
{
    return (int64_t *)(void *)(set + tensor.offset);
}

void work_random(float *to, size_t count, double low, double high, uint64_t seed)
{
    sup_rng rng;
    sup_rng_seed(&rng, seed);
    for (size_t i = 0; i < count; i++)
        to[i] = (float)(low + (high - low) * sup_rng_unit(&rng));
}

/* ------------------------------------------------------------ pooling calls */

poolgrad_desc work_problem(const work_options *options, const char *text)
{
    poolgrad_desc desc;
    poolgrad_error error;
    if (poolgrad_desc_parse(text, &desc, &error) != POOLGRAD_OK)
        work_fail("%s: %s", text, error.message);
    if (options->tiny) {
        desc.batch = 1;
        desc.channels = desc.channels < 2 ? desc.channels : 2;
    }
    return desc;
}

static poolgrad_plan *make_plan(const poolgrad_desc *desc, int32_t threads, const char *strategy)
{
    poolgrad_options options;
    poolgrad_plan *plan;
    poolgrad_error error;
    poolgrad_options_init(&options);
    options.threads = threads;
    options.strategy = strategy;
    if (poolgrad_plan_create(&plan, desc, &options, &error) != POOLGRAD_OK)
        work_fail("%s", error.message);
    return plan;
}

work_pool work_plan(const work_options *options, const poolgrad_desc *desc)
{
    work_pool pool = {.plan = make_plan(desc, options->threads, NULL),
                      .reference = make_plan(desc, options->threads, "reference")};
    pool.desc = poolgrad_plan_desc(pool.plan);
    pool.workspace_size = poolgrad_plan_workspace(pool.plan);
    pool.workspace = work_memory(pool.workspace_size);
    return pool;
}

void work_pool_free(work_pool *pool)
{
    poolgrad_plan_destroy(pool->plan);
    poolgrad_plan_destroy(pool->reference);
    free(pool->workspace);
}

static int64_t elements(const poolgrad_desc *desc, const int64_t *extent)
{
    int64_t count = desc->batch * desc->channels;
    for (int axis = 0; axis < desc->rank; axis++)
        count *= extent[axis];
    return count;
}

int64_t work_inputs(const poolgrad_desc *desc)
{
    return elements(desc, desc->in);
}

int64_t work_outputs(const poolgrad_desc *desc)
{
    poolgrad_desc resolved = *desc;
    poolgrad_error error;
    if (poolgrad_desc_resolve(&resolved, &error) != POOLGRAD_OK)
        work_fail("%s", error.message);
    return elements(&resolved, resolved.out);
}

/* From the first to the last element of a view whose strides are not negative. */
static size_t span(const poolgrad_desc *desc, const poolgrad_view *view)
{
    int64_t last = 0;
    for (int axis = 0; axis < desc->rank + 2; axis++)
        last += (view->extent[axis] - 1) * view->stride[axis];
    return (size_t)last + 1;
}

static void *copy_of(const void *memory, size_t bytes)
{
    return memcpy(work_memory(bytes), memory, bytes);
}

static void execute(const poolgrad_plan *plan, const poolgrad_buffers *buffers)
{
    poolgrad_error error;
    if (poolgrad_execute(plan, buffers, &error) != POOLGRAD_OK)
        work_fail("%s", error.message);
}

/* Executes, then once more by the reference from the same state, and compares the bits. beta may
 * make the state matter, and with strides there is something between the elements. */
static void execute_watched(work_run *run, const work_pool *pool, poolgrad_buffers buffers)
{
    size_t bytes = span(pool->desc, sup_view_written(pool->desc)) * sizeof(float);
    size_t index_bytes =
        buffers.indices_out ? span(pool->desc, &pool->desc->indices) * sizeof(int64_t) : 0;
    void *to = sup_is_forward(pool->desc) ? buffers.y : buffers.dx;
    void *before = copy_of(to, bytes);
    execute(pool->plan, &buffers);
    void *result = copy_of(to, bytes);
    void *winners = index_bytes ? copy_of(buffers.indices_out, index_bytes) : NULL;
    memcpy(to, before, bytes);
    buffers.workspace = NULL;
    execute(pool->reference, &buffers);
    run->calls++;
    run->wrong += memcmp(to, result, bytes) != 0 ||
                  (winners && memcmp(buffers.indices_out, winners, index_bytes) != 0);
    free(before);
    free(result);
    free(winners);
}

void work_execute(work_run *run, const work_pool *pool, poolgrad_buffers buffers)
{
    buffers.size = sizeof buffers;
    buffers.workspace = pool->workspace;
    buffers.workspace_size = pool->workspace_size;
    if (!run->watched) {
        execute(pool->plan, &buffers);
        return;
    }
    execute_watched(run, pool, buffers);
    poolgrad_plan_info info = {.size = sizeof info};
    poolgrad_plan_describe(pool->plan, &info, NULL);
    run->bytes += (double)info.bytes_read + (double)info.bytes_written;
}

void work_count(work_run *run, size_t floats)
{
    if (run->watched)
        run->bytes += (double)floats * sizeof(float);
}

void work_copy(work_run *run, float *to, const float *from, size_t count)
{
    enum {
        BLOCK = 65536
    };
    int64_t blocks = (int64_t)((count + BLOCK - 1) / BLOCK);
    work_count(run, 2 * count);
#pragma omp parallel for num_threads(run->threads)
    for (int64_t block = 0; block < blocks; block++) {
        size_t begin = (size_t)block * BLOCK, rest = count - begin;
        memcpy(to + begin, from + begin, (rest < BLOCK ? rest : BLOCK) * sizeof(float));
    }
}

int work_threads(const work_run *run)
{
    return run->threads;
}

/* -------------------------------------------------------------- measurement */

typedef struct sets {
    work *one;
    work_run *run;
    char *memory;
} sets;

static int step(void *context, size_t index)
{
    sets *all = context;
    all->one->step(all->one->context, all->run, all->memory + index * all->one->set_bytes);
    return 0;
}

static void print_times(const work_options *options, const work *one, const work_run *run,
                        const sup_times *times)
{
    double floor = run->bytes / times->rate;
    if (options->json) {
        printf("{\"name\": \"%s\", \"shape\": \"%s\", \"threads\": %d, \"seconds\": %.9g, "
               "\"hot_seconds\": %.9g, \"floor_seconds\": %.9g, \"waiting\": %.3f}\n",
               one->name, one->shape, run->threads, times->cold, times->hot, floor, times->waiting);
    } else {
        printf("%-14s %-34s %8.2f ms a step, hot %8.2f ms, %5.2f x floor%s\n", one->name,
               one->shape, times->cold * 1e3, times->hot * 1e3, times->cold / floor,
               times->waiting > SUP_BUSY ? " ? other programs had the CPUs" : "");
    }
    fflush(stdout);
}

int work_measure(const work_options *options, work *one)
{
    work_run run = {.threads = options->threads, .watched = 1};
    size_t count = options->check ? 1 : sup_set_count(one->set_bytes);
    void *memory = NULL;
    if (posix_memalign(&memory, 4096, count * one->set_bytes) != 0)
        work_fail("%s: no memory for %zu sets of buffers", one->name, count);
    sets all = {.one = one, .run = &run, .memory = memory};
    memset(memory, 0, one->set_bytes);
    one->fill(one->context, all.memory);
    for (size_t set = 1; set < count; set++)
        memcpy(all.memory + set * one->set_bytes, memory, one->set_bytes);

    step(&all, 0);
    run.watched = 0;
    int wrong = run.wrong > 0;
    if (wrong)
        fprintf(stderr, "%s: %d of %d pooling calls differ from strategy reference\n", one->name,
                run.wrong, run.calls);
    if (one->check && one->check(one->context, all.memory))
        wrong = 1;
    if (!wrong && options->check)
        printf("%s: right, %d pooling calls bit for bit%s%s\n", one->name, run.calls,
               one->checked ? "; " : "", one->checked ? one->checked : "");
    if (!wrong && !options->check) {
        sup_floor *floor = sup_floor_create(run.threads);
        sup_times times;
        if (!floor || sup_time(floor, step, &all, count, options->seconds, 0, &times) != SUP_TIMED)
            work_fail("%s: cannot measure the memory floor", one->name);
        print_times(options, one, &run, &times);
        sup_floor_destroy(floor);
    }
    free(memory);
    return wrong;
}
