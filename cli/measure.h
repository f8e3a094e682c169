/* SPDX-License-Identifier: MIT */
/*
 * How long an execution takes, cold and hot, and how long memory alone would.
 */
#ifndef CLI_MEASURE_H
#define CLI_MEASURE_H

#include "cli.h"
#include "floor.h"

typedef struct cli_case {
    const char *problem; /* as given */
    char *text;          /* as the library prints it; NULL until measured */
    poolgrad_plan_info info;
    double seconds;     /* cold */
    double hot_seconds; /* the same buffers again and again */
    double bytes;       /* read and written */
    double rate;        /* of memory, in bytes per second, measured in turn with the times */
} cli_case;

/*
 * Measures cases[count] with one number of threads, about `seconds` of timing for each: the memory
 * floor, cold and hot executions, in turn. Cold executions rotate over sets of buffers that
 * together exceed four times the last-level cache; every time is the best of several. Progress goes
 * to stderr unless `quiet`. With `verify` the result is also compared with strategy "reference",
 * bit for bit. Returns 0, or an exit code after a message.
 */
int cli_measure(const char *verb, cli_case *cases, int count, const cli_compute *compute,
                double seconds, int quiet, int verify);
void cli_cases_free(cli_case *cases, int count);

/* The measured cases as an aligned table, and as a JSON array. */
void cli_print_table(const cli_case *cases, int count);
void cli_print_json(const cli_case *cases, int count);

#endif
