/* SPDX-License-Identifier: MIT */
/*
 * How long an execution takes, cold and hot, and how long memory alone would.
 */
#ifndef CLI_MEASURE_H
#define CLI_MEASURE_H

#include "cli.h"
#include "timing.h"

typedef struct cli_case {
    const char *problem; /* as given */
    char *text;          /* as the library prints it; NULL until measured */
    poolgrad_plan_info info;
    double bytes; /* read and written */
    sup_times times;
} cli_case;

typedef struct cli_timing {
    double seconds; /* of timing for each case, about */
    int brief;      /* 1: a first look, without the hot time */
    int quiet;      /* 1: no progress on stderr */
    int verify;     /* 1: also compare with strategy "reference", bit for bit */
    int values;     /* 1: forward maxima without their indices */
} cli_timing;

/*
 * Measures cases[count] with one number of threads: the memory floor, cold and hot executions, in
 * turn. Cold executions rotate over sets of buffers that together exceed four times the last-level
 * cache; every time is the best of several. Returns 0, or an exit code after a message.
 */
int cli_measure(const char *verb, cli_case *cases, int count, const cli_compute *compute,
                const cli_timing *timing);
void cli_cases_free(cli_case *cases, int count);

/* The cold time as a multiple of the floor's; 0 where nothing is moved. */
double cli_case_multiple(const cli_case *one);

/* The least that it could be: a case that mostly reads or mostly writes may be bound by that, and
 * not by what a copy does. */
double cli_case_least(const cli_case *one);

/*
 * Looks at cases[count] briefly, measures those with the largest multiples of the floor properly,
 * and moves the worst of these to the front, the worst first: `worst` of them, or all if there are
 * fewer. Returns 0, or an exit code after a message.
 */
int cli_measure_worst(const char *verb, cli_case *cases, int count, int worst,
                      const cli_compute *compute, const cli_timing *timing);

/* The measured cases as an aligned table, and as a JSON array. */
void cli_print_table(const cli_case *cases, int count);
void cli_print_json(const cli_case *cases, int count);

#endif
