/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "cli.h"
#include "measure.h"

static const char help[] =
    "usage: poolgrad bench PROBLEM... [OPTION...]\n"
    "\n"
    "Measures problems as multiples of the memory floor: (bytes read + bytes written) / B, "
    "indices\n"
    "and x included where they are read or written, with B the better of a plain and a streaming\n"
    "copy with the same threads, timed in turn with the problem. Both are timed cold, rotating "
    "over\n"
    "buffers that together exceed four times the last-level cache; 'hot' is the time on the same\n"
    "buffers again and again. Best of several.\n"
    "\n"
    "    --json            an array of {problem, type, layout, threads, seconds, floor_seconds,\n"
    "                      x_floor, hot_seconds, strategy, isa}\n"
    "    --seconds S       timing for each problem (default 1)\n"
    "    --verify          also compare the result with strategy reference, bit for bit\n"
    "    --quiet           no progress on stderr\n"
    "    --threads N       threads (default: the CPUs this process may use)\n"
    "    --cpu NAME        instruction set (default: POOLGRAD_CPU, or the best there is)\n"
    "    --strategy NAME   strategy (default: the planner's choice)\n";

static int run(int argc, char **argv)
{
    cli_compute compute = {0};
    int json = 0, quiet = 0, verify = 0, words;
    double seconds = 1;
    const cli_option options[] = {
        CLI_OPTION_THREADS(compute),
        CLI_OPTION_CPU(compute),
        CLI_OPTION_STRATEGY(compute),
        {"json", 0, CLI_FLAG, &json, 0, 0},
        {"quiet", 'q', CLI_FLAG, &quiet, 0, 0},
        {"verify", 0, CLI_FLAG, &verify, 0, 0},
        {"seconds", 0, CLI_REAL, &seconds, 0, 3600},
        {0},
    };
    if (cli_parse("bench", options, argc, argv, &words))
        return CLI_USAGE;
    if (words == 0) {
        cli_error("bench", "nothing to measure; give a PROBLEM, such as "
                           "avg2d:f32:nchw:8x64x112x112:k3:s2:p1");
        return CLI_USAGE;
    }
    cli_case *cases = calloc((size_t)words, sizeof *cases);
    if (!cases) {
        cli_error("bench", "out of memory");
        return CLI_DATA;
    }
    int code = CLI_OK;
    /* A mistake in the last problem is told before minutes go into the first. */
    for (int i = 0; i < words && !code; i++) {
        poolgrad_desc desc;
        cases[i].problem = argv[i];
        code = cli_resolve("bench", argv[i], &desc);
    }
    if (!code)
        code = cli_measure("bench", cases, words, &compute, seconds, quiet, verify);
    if (!code)
        (json ? cli_print_json : cli_print_table)(cases, words);
    cli_cases_free(cases, words);
    free(cases);
    return code;
}

const cli_verb cli_bench = {"bench", "time in multiples of the memory floor", help, run};
