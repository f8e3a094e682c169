/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data.h"

/* Buffers for all sets of one case, in one allocation. */
typedef struct bench_sets {
    char *memory;
    size_t dy_first, dx_first;  /* element 0 of the views within a set */
    size_t dx_offset, dx_bytes; /* the dx view within a set */
    size_t set_bytes, count;
    void *workspace;
    size_t workspace_size;
} bench_sets;

static size_t round_up(size_t bytes)
{
    return (bytes + 4095) / 4096 * 4096;
}

/* Bytes from the lowest to the highest element of a view, and where element 0 is among them. */
static int view_bytes(const poolgrad_desc *desc, const poolgrad_view *view, size_t *bytes,
                      size_t *first)
{
    int64_t lowest = 0, highest = 0, reach, elements, total;
    int64_t size = (int64_t)poolgrad_dtype_size(desc->dtype);
    for (int axis = 0; axis < desc->rank + 2; axis++) {
        int64_t steps = view->extent[axis] > 0 ? view->extent[axis] - 1 : 0;
        int64_t *end = view->stride[axis] < 0 ? &lowest : &highest;
        if (__builtin_mul_overflow(steps, view->stride[axis], &reach) ||
            __builtin_add_overflow(*end, reach, end))
            return -1;
    }
    if (__builtin_sub_overflow(highest, lowest, &elements) || elements == INT64_MAX ||
        __builtin_mul_overflow(elements + 1, size, &total))
        return -1;
    *bytes = (size_t)total;
    *first = (size_t)(-lowest * size);
    return 0;
}

static void sets_free(bench_sets *sets)
{
    free(sets->memory);
    free(sets->workspace);
    memset(sets, 0, sizeof *sets);
}

/* Random dy, the same block again and again: the time does not depend on the values. */
static void fill(poolgrad_dtype dtype, char *to, size_t bytes)
{
    size_t size = poolgrad_dtype_size(dtype), block = 65536 * size;
    sup_rng rng;
    sup_rng_seed(&rng, 1);
    if (block > bytes)
        block = bytes / size * size;
    sup_fill(dtype, to, (int64_t)(block / size), SUP_UNIFORM, &rng);
    for (size_t done = block; done < bytes; done += block)
        memcpy(to + done, to, bytes - done < block ? bytes - done : block);
}

static int sets_make(const char *verb, const char *problem, const poolgrad_plan *plan,
                     bench_sets *sets)
{
    const poolgrad_desc *desc = poolgrad_plan_desc(plan);
    size_t dy_bytes, dy_first, dx_first;
    memset(sets, 0, sizeof *sets);
    size_t available = sup_memory_bytes() / 10 * 6;
    sets->workspace_size = poolgrad_plan_workspace(plan);
    if (view_bytes(desc, &desc->dy, &dy_bytes, &dy_first) ||
        view_bytes(desc, &desc->dx, &sets->dx_bytes, &dx_first) || dy_bytes > SIZE_MAX / 8 ||
        sets->dx_bytes > SIZE_MAX / 8) {
        cli_error(verb, "%s: its memory is too large to address", problem);
        return CLI_DATA;
    }
    sets->dy_first = dy_first;
    sets->dx_offset = round_up(dy_bytes);
    sets->dx_first = sets->dx_offset + dx_first;
    sets->set_bytes = sets->dx_offset + round_up(sets->dx_bytes);
    if (available > 0 && 2 * sets->set_bytes + sets->workspace_size > available) {
        cli_error(verb,
                  "%s: needs %.1f GiB for two sets of buffers, more than 60%% of this "
                  "machine's memory; measure a smaller batch",
                  problem, (double)(2 * sets->set_bytes + sets->workspace_size) / (1 << 30));
        return CLI_DATA;
    }
    sets->count = 4 * sup_cache_bytes() / sets->set_bytes + 1;
    if (sets->count < 2)
        sets->count = 2;
    void *memory = NULL;
    sets->workspace = malloc(sets->workspace_size ? sets->workspace_size : 1);
    if (!sets->workspace || posix_memalign(&memory, 4096, sets->set_bytes * sets->count) != 0) {
        sets_free(sets);
        cli_error(verb, "%s: out of memory; measure a smaller batch", problem);
        return CLI_DATA;
    }
    sets->memory = memory;
    memset(memory, 0, sets->set_bytes * sets->count);
    memset(sets->workspace, 0, sets->workspace_size);
    for (size_t i = 0; i < sets->count; i++)
        fill(desc->dtype, sets->memory + i * sets->set_bytes, dy_bytes);
    return CLI_OK;
}

static poolgrad_status execute(const poolgrad_plan *plan, const bench_sets *sets, size_t index,
                               poolgrad_error *error)
{
    char *set = sets->memory + index * sets->set_bytes;
    return cli_execute(plan, set + sets->dy_first, set + sets->dx_first, sets->workspace,
                       sets->workspace_size, error);
}

/* The best time of executions that rotate over `rotate` sets, for `seconds`, and at least five
 * executions; the first of all warms up threads and pages and does not count. */
static int time_executions(const poolgrad_plan *plan, const bench_sets *sets, size_t rotate,
                           double seconds, double *best, poolgrad_error *error)
{
    double end = sup_now() + seconds;
    *best = 1e300;
    for (size_t i = 0; i < 6 || sup_now() < end; i++) {
        double begin = sup_now();
        if (execute(plan, sets, i % rotate, error) != POOLGRAD_OK)
            return -1;
        double taken = sup_now() - begin;
        if (i > 0 && taken < *best)
            *best = taken;
    }
    return 0;
}

/* Set 0, as it was left by the timing, against strategy "reference" in set 1. beta makes dx depend
 * on how often it was computed, so both begin with dx 0. */
static int verify_case(const char *verb, const char *problem, const poolgrad_plan *plan,
                       const bench_sets *sets)
{
    const poolgrad_desc *desc = poolgrad_plan_desc(plan);
    cli_compute compute = {.threads = 1, .strategy = "reference"};
    poolgrad_plan *reference;
    poolgrad_error error;
    int code = cli_plan(verb, problem, desc, &compute, &reference, NULL);
    if (code)
        return code;
    char *set = sets->memory + sets->set_bytes;
    memset(sets->memory + sets->dx_offset, 0, sets->dx_bytes);
    memset(set + sets->dx_offset, 0, sets->dx_bytes);
    if (execute(plan, sets, 0, &error) != POOLGRAD_OK ||
        cli_execute(reference, set + sets->dy_first, set + sets->dx_first, NULL, 0, &error) !=
            POOLGRAD_OK) {
        code = cli_library_error(verb, problem, &error);
    } else if (sup_view_difference(desc, &desc->dx, sets->memory + sets->dx_first,
                                   set + sets->dx_first) >= 0) {
        cli_error(verb,
                  "%s: the result differs from strategy reference; 'poolgrad check' says where",
                  problem);
        code = CLI_DATA;
    }
    poolgrad_plan_destroy(reference);
    return code;
}

static int measure_case(const char *verb, cli_case *one, const cli_compute *compute, double seconds,
                        int verify)
{
    poolgrad_desc desc;
    poolgrad_plan *plan;
    poolgrad_error error;
    int code = poolgrad_desc_parse(one->problem, &desc, &error) == POOLGRAD_OK
                   ? CLI_OK
                   : cli_library_error(verb, one->problem, &error);
    if (!code && !(one->text = cli_problem_text(verb, &desc)))
        code = CLI_DATA;
    if (!code)
        code = cli_plan(verb, one->problem, &desc, compute, &plan, &one->info);
    if (code)
        return code;
    one->bytes = (double)one->info.bytes_read + (double)one->info.bytes_written;
    bench_sets sets;
    code = sets_make(verb, one->problem, plan, &sets);
    if (!code) {
        if (time_executions(plan, &sets, sets.count, seconds * 0.7, &one->seconds, &error) ||
            time_executions(plan, &sets, 1, seconds * 0.3, &one->hot_seconds, &error))
            code = cli_library_error(verb, one->problem, &error);
        else if (verify)
            code = verify_case(verb, one->problem, plan, &sets);
        sets_free(&sets);
    }
    poolgrad_plan_destroy(plan);
    return code;
}

/* One line that is overwritten on a terminal; a line for each case elsewhere. */
static void progress(int quiet, int done, int count, const char *problem)
{
    if (quiet)
        return;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, done < count ? "\r\033[K[%d/%d] %.60s" : "\r\033[K", done + 1, count,
                problem);
    else if (done < count)
        fprintf(stderr, "[%d/%d] %s\n", done + 1, count, problem);
    fflush(stderr);
}

int cli_measure(const char *verb, cli_case *cases, int count, const cli_compute *compute,
                double seconds, int quiet, int verify, double *rate)
{
    int threads = compute->threads ? (int)compute->threads : poolgrad_default_threads();
    int code = CLI_OK;
    *rate = 0;
    for (int i = 0; i < count && !code; i++) {
        progress(quiet, i, count, cases[i].problem);
        /* The floor's buffers do not live beside a case's: both may be large. */
        sup_floor *floor = sup_floor_create(threads);
        double now = floor ? sup_floor_measure(floor, 0.2) : 0;
        sup_floor_destroy(floor);
        if (now <= 0) {
            cli_error(verb, "cannot measure the memory floor with %d threads; try fewer", threads);
            code = CLI_DATA;
            break;
        }
        if (now > *rate)
            *rate = now;
        code = measure_case(verb, &cases[i], compute, seconds, verify);
    }
    if (!code) {
        sup_floor *floor = sup_floor_create(threads);
        double now = floor ? sup_floor_measure(floor, 0.2) : 0;
        sup_floor_destroy(floor);
        if (now > *rate)
            *rate = now;
    }
    progress(quiet, count, count, "");
    return code;
}

void cli_cases_free(cli_case *cases, int count)
{
    for (int i = 0; i < count; i++) {
        free(cases[i].text);
        cases[i].text = NULL;
    }
}

void cli_print_table(const cli_case *cases, int count, double rate)
{
    int width = 7, strategy = 8, cpu = 3;
    for (int i = 0; i < count; i++) {
        if ((int)strlen(cases[i].problem) > width)
            width = (int)strlen(cases[i].problem);
        if ((int)strlen(cases[i].info.strategy) > strategy)
            strategy = (int)strlen(cases[i].info.strategy);
        if ((int)strlen(cases[i].info.cpu) > cpu)
            cpu = (int)strlen(cases[i].info.cpu);
    }
    printf("%-*s %10s %10s %8s %10s  %-*s %-*s\n", width, "problem", "cold ms", "floor ms",
           "x floor", "hot ms", strategy, "strategy", cpu, "cpu");
    for (int i = 0; i < count; i++) {
        const cli_case *one = &cases[i];
        double floor = one->bytes / rate;
        printf("%-*s %10.4f %10.4f ", width, one->problem, one->seconds * 1e3, floor * 1e3);
        if (floor > 0)
            printf("%8.2f", one->seconds / floor);
        else
            printf("%8s", "-");
        printf(" %10.4f  %-*s %-*s\n", one->hot_seconds * 1e3, strategy, one->info.strategy, cpu,
               one->info.cpu);
    }
    printf("floor: bytes read and written / %.1f GB/s, the better copy with %d thread%s\n",
           rate * 1e-9, cases[0].info.threads, cases[0].info.threads == 1 ? "" : "s");
}

/* Item `index` of a problem string, as a JSON string. */
static void json_item(const char *text, int index)
{
    for (; index > 0; index--)
        text += strcspn(text, ":") + 1;
    printf("\"%.*s\"", (int)strcspn(text, ":"), text);
}

void cli_print_json(const cli_case *cases, int count, double rate)
{
    printf("[");
    for (int i = 0; i < count; i++) {
        const cli_case *one = &cases[i];
        double floor = one->bytes / rate;
        printf("%s\n  {\"problem\": ", i ? "," : "");
        cli_json_text(one->text);
        printf(", \"type\": ");
        json_item(one->text, 1);
        printf(", \"layout\": ");
        json_item(one->text, 2);
        printf(", \"threads\": %d, \"seconds\": %.9g, \"floor_seconds\": %.9g, ", one->info.threads,
               one->seconds, floor);
        if (floor > 0)
            printf("\"x_floor\": %.4f, ", one->seconds / floor);
        else
            printf("\"x_floor\": null, ");
        printf("\"hot_seconds\": %.9g, \"strategy\": ", one->hot_seconds);
        cli_json_text(one->info.strategy);
        printf(", \"isa\": ");
        cli_json_text(one->info.cpu);
        putchar('}');
    }
    printf("\n]\n");
}
