/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sets.h"

/* How often floor, cold and hot executions take turns: a machine whose speed changes while it is
 * measured is in the same state for all three, now and then. */
#define ROUNDS 4

/* Lowers *best to the best time of executions that rotate over `rotate` sets, for `seconds`, and at
 * least three executions; the first warms up threads and pages and does not count. */
static int time_executions(const poolgrad_plan *plan, const cli_sets *sets, size_t rotate,
                           double seconds, double *best, poolgrad_error *error)
{
    double end = sup_now() + seconds;
    for (size_t i = 0; i < 4 || sup_now() < end; i++) {
        double begin = sup_now();
        if (cli_sets_execute(plan, sets, i % rotate, error) != POOLGRAD_OK)
            return -1;
        double taken = sup_now() - begin;
        if (i > 0 && taken < *best)
            *best = taken;
    }
    return 0;
}

/* The times of a case and of the memory around it. */
static int time_case(const char *verb, cli_case *one, const poolgrad_plan *plan,
                     const cli_sets *sets, sup_floor *floor, double seconds)
{
    poolgrad_error error;
    double part = seconds / ROUNDS;
    one->seconds = one->hot_seconds = 1e300;
    sup_floor_reset(floor);
    for (int round = 0; round < ROUNDS; round++) {
        one->rate = sup_floor_measure(floor, part * 0.2);
        if (one->rate <= 0) {
            cli_error(verb, "cannot start the threads that measure the memory floor; try fewer");
            return CLI_DATA;
        }
        if (time_executions(plan, sets, sets->count, part * 0.6, &one->seconds, &error) ||
            time_executions(plan, sets, 1, part * 0.2, &one->hot_seconds, &error))
            return cli_library_error(verb, one->problem, &error);
    }
    return CLI_OK;
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
                        sup_floor *floor, double seconds, int verify)
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
    cli_sets sets;
    code = cli_sets_make(verb, one->problem, plan, &sets);
    if (!code) {
        code = time_case(verb, one, plan, &sets, floor, seconds);
        if (!code && verify)
            code = verify_case(verb, one->problem, plan, &sets);
        cli_sets_free(&sets);
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
                double seconds, int quiet, int verify)
{
    int threads = compute->threads ? (int)compute->threads : poolgrad_default_threads();
    sup_floor *floor = sup_floor_create(threads);
    if (!floor) {
        cli_error(verb, "no memory to measure the floor with");
        return CLI_DATA;
    }
    int code = CLI_OK;
    for (int i = 0; i < count && !code; i++) {
        progress(quiet, i, count, cases[i].problem);
        code = measure_case(verb, &cases[i], compute, floor, seconds, verify);
    }
    sup_floor_destroy(floor);
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

void cli_print_table(const cli_case *cases, int count)
{
    int width = 7, strategy = 8, cpu = 3, threads = cases[0].info.threads;
    double slowest = cases[0].rate, fastest = cases[0].rate;
    for (int i = 0; i < count; i++) {
        slowest = cases[i].rate < slowest ? cases[i].rate : slowest;
        fastest = cases[i].rate > fastest ? cases[i].rate : fastest;
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
        double floor = one->bytes / one->rate;
        printf("%-*s %10.4f %10.4f ", width, one->problem, one->seconds * 1e3, floor * 1e3);
        if (floor > 0)
            printf("%8.2f", one->seconds / floor);
        else
            printf("%8s", "-");
        printf(" %10.4f  %-*s %-*s\n", one->hot_seconds * 1e3, strategy, one->info.strategy, cpu,
               one->info.cpu);
    }
    printf(
        "floor: bytes read and written / the better copy with %d thread%s in turn with the case, "
        "%.1f to %.1f GB/s\n",
        threads, threads == 1 ? "" : "s", slowest * 1e-9, fastest * 1e-9);
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
        double floor = one->bytes / one->rate;
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
