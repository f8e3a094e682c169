/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "indices.h"
#include "progress.h"
#include "sets.h"

/* What one execution needs to know. */
typedef struct execution {
    const poolgrad_plan *plan;
    const cli_sets *sets;
    poolgrad_error error;
} execution;

static int execute(void *context, size_t index)
{
    execution *one = context;
    return cli_sets_execute(one->plan, one->sets, index, &one->error) == POOLGRAD_OK ? 0 : -1;
}

/* The times of a case and of the memory around it. */
static int time_case(const char *verb, cli_case *one, const poolgrad_plan *plan,
                     const cli_sets *sets, sup_floor *floor, const cli_timing *timing)
{
    execution context = {.plan = plan, .sets = sets};
    switch (sup_time(floor, execute, &context, sets->count, timing->seconds, timing->brief,
                     &one->times)) {
    case SUP_STEP_FAILED:
        return cli_library_error(verb, one->problem, &context.error);
    case SUP_FLOOR_FAILED:
        cli_error(verb, "cannot start the threads that measure the memory floor; try fewer");
        return CLI_DATA;
    default:
        return CLI_OK;
    }
}

/* The plan in set 0 against strategy "reference" (with parity "parity") in set 1. beta makes the
 * result depend on how often it was computed, so both begin with zeros. */
static int verify_case(const char *verb, const char *problem, const poolgrad_plan *plan,
                       const cli_sets *sets)
{
    cli_compute compute = {.threads = 1, .strategy = cli_base_strategy(&sets->desc)};
    poolgrad_plan *reference;
    poolgrad_error error;
    int code = cli_plan(verb, problem, &sets->desc, &compute, &reference, NULL);
    if (code)
        return code;
    cli_sets_clear(sets, 0);
    cli_sets_clear(sets, 1);
    if (cli_sets_execute(plan, sets, 0, &error) != POOLGRAD_OK ||
        cli_sets_execute(reference, sets, 1, &error) != POOLGRAD_OK) {
        code = cli_library_error(verb, problem, &error);
    } else if (!cli_sets_equal(sets, 0, 1)) {
        cli_error(verb, "%s: the result differs from strategy %s; 'poolgrad check' says where",
                  problem, compute.strategy);
        code = CLI_DATA;
    }
    poolgrad_plan_destroy(reference);
    return code;
}

static int measure_case(const char *verb, cli_case *one, const cli_compute *compute,
                        sup_floor *floor, const cli_timing *timing)
{
    poolgrad_desc desc;
    poolgrad_plan *plan;
    poolgrad_error error;
    int code = poolgrad_desc_parse(one->problem, &desc, &error) == POOLGRAD_OK
                   ? CLI_OK
                   : cli_library_error(verb, one->problem, &error);
    if (!code && !one->text && !(one->text = cli_problem_text(verb, &desc)))
        code = CLI_DATA;
    if (!code)
        code = cli_plan(verb, one->problem, &desc, compute, &plan, &one->info);
    if (code)
        return code;
    if (timing->values && desc.op == POOLGRAD_MAX) {
        /* what is written is as many elements as indices */
        const int64_t element = (int64_t)poolgrad_dtype_size(desc.dtype);
        const int64_t index = (int64_t)sup_index_size(desc.index_type);
        one->info.bytes_written = one->info.bytes_written / (element + index) * element;
    }
    one->bytes = (double)one->info.bytes_read + (double)one->info.bytes_written;
    cli_sets sets;
    code = cli_sets_make(verb, one->problem, plan, !timing->values, &sets);
    if (!code) {
        code = time_case(verb, one, plan, &sets, floor, timing);
        if (!code && timing->verify && !timing->brief)
            code = verify_case(verb, one->problem, plan, &sets);
        cli_sets_free(&sets);
    }
    poolgrad_plan_destroy(plan);
    return code;
}

int cli_measure(const char *verb, cli_case *cases, int count, const cli_compute *compute,
                const cli_timing *timing)
{
    int threads = compute->threads ? (int)compute->threads : poolgrad_default_threads();
    sup_floor *floor = sup_floor_create(threads);
    if (!floor) {
        cli_error(verb, "no memory to measure the floor with");
        return CLI_DATA;
    }
    int code = CLI_OK;
    cli_progress progress = cli_progress_begin(count, timing->quiet);
    for (int i = 0; i < count && !code; i++) {
        cli_progress_show(&progress, i, cases[i].problem);
        code = measure_case(verb, &cases[i], compute, floor, timing);
    }
    sup_floor_destroy(floor);
    cli_progress_end(&progress);
    return code;
}

double cli_case_least(const cli_case *one)
{
    double floor = one->bytes / one->times.rate;
    double reads = (double)one->info.bytes_read / one->times.reading;
    double writes = (double)one->info.bytes_written / one->times.writing;
    double longest = reads > writes ? reads : writes;
    return longest > floor ? longest / floor : 1;
}

double cli_case_multiple(const cli_case *one)
{
    return one->bytes > 0 ? one->times.cold / (one->bytes / one->times.rate) : 0;
}

static int compare_multiples(const void *a, const void *b)
{
    double left = cli_case_multiple(a), right = cli_case_multiple(b);
    return (left < right) - (left > right);
}

int cli_measure_worst(const char *verb, cli_case *cases, int count, int worst,
                      const cli_compute *compute, const cli_timing *timing)
{
    cli_timing brief = *timing;
    brief.brief = 1;
    int code = cli_measure(verb, cases, count, compute, &brief);
    if (code)
        return code;
    qsort(cases, (size_t)count, sizeof *cases, compare_multiples);
    /* A brief look errs: as many again, and the best of them are left out. */
    int again = worst > count / 2 ? count : 2 * worst;
    code = cli_measure(verb, cases, again, compute, timing);
    if (!code)
        qsort(cases, (size_t)again, sizeof *cases, compare_multiples);
    return code;
}

void cli_cases_free(cli_case *cases, int count)
{
    for (int i = 0; i < count; i++) {
        free(cases[i].text);
        cases[i].text = NULL;
    }
}

void cli_print_table(const cli_case *cases, int count)
{
    int width = 7, strategy = 8, cpu = 3, threads = cases[0].info.threads;
    double slowest = cases[0].times.rate, fastest = cases[0].times.rate, waiting = 0;
    int busy = 0;
    for (int i = 0; i < count; i++) {
        busy += cases[i].times.waiting > SUP_BUSY;
        waiting = cases[i].times.waiting > waiting ? cases[i].times.waiting : waiting;
        slowest = cases[i].times.rate < slowest ? cases[i].times.rate : slowest;
        fastest = cases[i].times.rate > fastest ? cases[i].times.rate : fastest;
        if ((int)strlen(cases[i].problem) > width)
            width = (int)strlen(cases[i].problem);
        if ((int)strlen(cases[i].info.strategy) > strategy)
            strategy = (int)strlen(cases[i].info.strategy);
        if ((int)strlen(cases[i].info.cpu) > cpu)
            cpu = (int)strlen(cases[i].info.cpu);
    }
    printf("%-*s %10s %10s %8s %7s %10s  %-*s %-*s\n", width, "problem", "cold ms", "floor ms",
           "x floor", "least", "hot ms", strategy, "strategy", cpu, "cpu");
    for (int i = 0; i < count; i++) {
        const cli_case *one = &cases[i];
        double floor = one->bytes / one->times.rate;
        printf("%-*s %10.4f %10.4f ", width, one->problem, one->times.cold * 1e3, floor * 1e3);
        if (floor > 0)
            printf("%8.2f %7.2f", cli_case_multiple(one), cli_case_least(one));
        else
            printf("%8s %7s", "-", "-");
        printf("%s%9.4f  %-*s %-*s\n", one->times.waiting > SUP_BUSY ? "? " : "  ",
               one->times.hot * 1e3, strategy, one->info.strategy, cpu, one->info.cpu);
    }
    printf(
        "floor: bytes read and written / the better copy with %d thread%s in turn with the case, "
        "%.1f to %.1f GB/s\n"
        "least: what it can be where reading or writing alone is slower than that\n",
        threads, threads == 1 ? "" : "s", slowest * 1e-9, fastest * 1e-9);
    if (busy > 0)
        printf("other programs had the CPUs during %d of these measurements, up to %.0f %% of the "
               "time; measure these again\n",
               busy, waiting * 100);
}

/* Item `index` of a problem string, as a JSON string. */
static void json_item(const char *text, int index)
{
    for (; index > 0; index--)
        text += strcspn(text, ":") + 1;
    printf("\"%.*s\"", (int)strcspn(text, ":"), text);
}

void cli_print_json(const cli_case *cases, int count)
{
    printf("[");
    for (int i = 0; i < count; i++) {
        const cli_case *one = &cases[i];
        double floor = one->bytes / one->times.rate;
        printf("%s\n  {\"problem\": ", i ? "," : "");
        cli_json_text(one->text);
        printf(", \"type\": ");
        json_item(one->text, 1);
        printf(", \"layout\": ");
        json_item(one->text, 2);
        printf(", \"threads\": %d, \"seconds\": %.9g, \"floor_seconds\": %.9g, ", one->info.threads,
               one->times.cold, floor);
        if (floor > 0)
            printf("\"x_floor\": %.4f, \"least_x_floor\": %.4f, ", cli_case_multiple(one),
                   cli_case_least(one));
        else
            printf("\"x_floor\": null, \"least_x_floor\": null, ");
        printf("\"hot_seconds\": %.9g, \"waiting\": %.3f, \"strategy\": ", one->times.hot,
               one->times.waiting);
        cli_json_text(one->info.strategy);
        printf(", \"isa\": ");
        cli_json_text(one->info.cpu);
        putchar('}');
    }
    printf("\n]\n");
}
