/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "cases.h"
#include "cli.h"
#include "cuda_measure.h"
#include "measure.h"
#include "random_problem.h"

static const char help[] =
    "usage: poolgrad bench PROBLEM... [--cases FILE] [--random N] [--worst N] [OPTION...]\n"
    "\n"
    "Measures problems as multiples of the memory floor: (bytes read + bytes written) / B, "
    "indices\n"
    "and x included where they are read or written, with B the better of a plain and a streaming\n"
    "copy with the same threads, timed in turn with the problem. Both are timed cold, rotating "
    "over\n"
    "buffers that together exceed four times the last-level cache; 'hot' is the time on the same\n"
    "buffers again and again. 'least' is the multiple below which this memory cannot get, because\n"
    "reading or writing alone is slower than copying. Best of several. A '?' marks what other\n"
    "programs disturbed.\n"
    "\n"
    "    --cases FILE      also the problems in FILE, one in a line; '#' begins a comment, - is\n"
    "                      standard input\n"
    "    --random N        also N random problems: every operator, type, layout, slices and\n"
    "                      broadcasts, dilation, adaptive windows, ... of 4 to 30 MB\n"
    "    --ops LIST        of these operators only, with commas: avg, max, avgpool, maxpool\n"
    "    --seed S          other random problems (default 1)\n"
    "    --worst N         a brief look at each of these problems (without any, at 300 random\n"
    "                      ones), then the N with the largest multiples, measured properly\n"
    "    --json            an array of {problem, type, layout, threads, seconds, floor_seconds,\n"
    "                      x_floor, least_x_floor, hot_seconds, waiting, strategy, isa}\n"
    "    --seconds S       timing for each problem (default 1)\n"
    "    --values          forward maxima without their indices\n"
    "    --verify          also compare the result with strategy reference, bit for bit\n"
    "    --quiet           no progress on stderr\n"
    "    --threads N       threads (default: the CPUs this process may use)\n"
    "    --cpu NAME        instruction set (default: POOLGRAD_CPU, or the best there is)\n"
    "    --strategy NAME   strategy (default: the planner's choice)\n"
    "    --device cuda     on the first CUDA device; B is a copy there\n";

typedef struct bench_options {
    cli_compute compute;
    cli_timing timing;
    const char *file, *ops, *device;
    int64_t random, seed, worst;
    int json;
} bench_options;

/* The problems that the command line speaks of. */
static int collect(const bench_options *options, int words, char **argv, cli_list *list)
{
    unsigned ops = SUP_ALL_OPS;
    int64_t random = options->random;
    if (words == 0 && !options->file && random == 0) {
        if (options->worst == 0) {
            cli_error("bench", "nothing to measure; give a PROBLEM, such as "
                               "avg2d:f32:nchw:8x64x112x112:k3:s2:p1, or --cases FILE");
            return CLI_USAGE;
        }
        random = 300;
    }
    if (options->ops && random == 0) {
        cli_error("bench", "--ops chooses among random problems; add --random N");
        return CLI_USAGE;
    }
    if (options->ops && !(ops = cli_read_ops("bench", options->ops)))
        return CLI_USAGE;
    int code = CLI_OK;
    for (int i = 0; i < words && !code; i++)
        code = cli_list_add("bench", list, argv[i]);
    if (!code && options->file)
        code = cli_list_read("bench", list, options->file);
    if (!code)
        code = cli_list_random("bench", list, random, ops, (uint64_t)options->seed);
    return code;
}

static int measure(const bench_options *options, const cli_list *list)
{
    int count = list->count;
    cli_case *cases = count > 0 ? calloc((size_t)count, sizeof *cases) : NULL;
    if (!cases) {
        cli_error("bench", "out of memory");
        return CLI_DATA;
    }
    for (int i = 0; i < count; i++)
        cases[i].problem = list->problems[i];
    int code, shown = count;
    if (options->device) {
        code = cli_cuda_measure("bench", cases, count, options->compute.strategy,
                                options->timing.quiet);
    } else if (options->worst > 0) {
        shown = options->worst < count ? (int)options->worst : count;
        code = cli_measure_worst("bench", cases, count, shown, &options->compute, &options->timing);
    } else {
        code = cli_measure("bench", cases, count, &options->compute, &options->timing);
    }
    if (!code)
        (options->json ? cli_print_json : cli_print_table)(cases, shown);
    cli_cases_free(cases, count);
    free(cases);
    return code;
}

static int run(int argc, char **argv)
{
    bench_options chosen = {.timing.seconds = 1, .seed = 1};
    int words;
    const cli_option options[] = {
        CLI_OPTION_THREADS(chosen.compute),
        CLI_OPTION_CPU(chosen.compute),
        CLI_OPTION_STRATEGY(chosen.compute),
        CLI_OPTION_DEVICE(chosen.device),
        {"cases", 0, CLI_TEXT, &chosen.file, 0, 0},
        {"random", 0, CLI_NUMBER, &chosen.random, 1, 1e6},
        {"ops", 0, CLI_TEXT, &chosen.ops, 0, 0},
        {"seed", 0, CLI_NUMBER, &chosen.seed, 0, 1e18},
        {"worst", 0, CLI_NUMBER, &chosen.worst, 1, 1e6},
        {"json", 0, CLI_FLAG, &chosen.json, 0, 0},
        {"quiet", 'q', CLI_FLAG, &chosen.timing.quiet, 0, 0},
        {"verify", 0, CLI_FLAG, &chosen.timing.verify, 0, 0},
        {"values", 0, CLI_FLAG, &chosen.timing.values, 0, 0},
        {"seconds", 0, CLI_REAL, &chosen.timing.seconds, 0, 3600},
        {0},
    };
    if (cli_parse("bench", options, argc, argv, &words))
        return CLI_USAGE;
    if (chosen.device && (chosen.timing.values || chosen.timing.verify || chosen.worst)) {
        cli_error("bench", "--values, --verify and --worst are for the CPU; 'poolgrad check "
                           "--device cuda' compares results");
        return CLI_USAGE;
    }
    if (cli_check_device("bench", chosen.device))
        return CLI_USAGE;
    /* A mistake in the last problem is told before minutes go into the first. */
    cli_list list = {0};
    int code = collect(&chosen, words, argv, &list);
    if (!code)
        code = measure(&chosen, &list);
    cli_list_free(&list);
    return code;
}

const cli_verb cli_bench = {"bench", "time in multiples of the memory floor", help, run};
