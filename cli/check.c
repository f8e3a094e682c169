/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "random_problem.h"
#include "verify.h"

static const char help[] =
    "usage: poolgrad check PROBLEM... [--random N] [--ops LIST] [--seed S] [--cpu NAME] "
    "[--quiet]\n"
    "\n"
    "Checks this machine against both oracles, with random data, with NaN, infinities, denormals "
    "and\n"
    "-0, and for max with ties: every strategy that accepts the problem, on every instruction "
    "set,\n"
    "with 1, 2 and 3 threads must give, bit for bit, what the strategy 'reference' gives (all "
    "NaNs\n"
    "are equal); and that must be within the rounding errors of a naive oracle in f64, for max "
    "equal\n"
    "to it, indices included. With parity= the strategy 'parity' takes the place of 'reference', "
    "and\n"
    "max too is compared within rounding errors; the other system's own bits are not known here. "
    "One\n"
    "line for each problem; exit code 1 if anything differs.\n"
    "\n"
    "    --random N   N random problems as well (or instead)\n"
    "    --ops LIST   of these operators only, with commas: avg, max, avgpool, maxpool\n"
    "    --seed S     other random problems and data (default 1)\n"
    "    --cpu NAME   this instruction set only\n"
    "    --device cuda   the kernels of the first CUDA device instead of the CPU's strategies\n"
    "    --quiet      print failures and the last line only\n";

typedef struct check_totals {
    long long problems, failed;
} check_totals;

static int check_one(const char *problem, const poolgrad_desc *resolved, const cli_compute *on,
                     uint64_t seed, int quiet, check_totals *totals)
{
    cli_verdict verdict;
    int code = cli_verify("check", problem, resolved, on->cpu, on->device, seed, &verdict);
    if (code)
        return code;
    totals->problems++;
    if (verdict.failure[0]) {
        totals->failed++;
        printf("FAIL %s\n     %s\n", problem, verdict.failure);
    } else if (!quiet) {
        printf("ok   %s: %d runs of %d strategies on %d instruction sets", problem, verdict.runs,
               verdict.strategies, verdict.cpus);
        if (!verdict.scattered)
            printf(", too large for the naive oracle\n");
        else if (cli_verify_exact(resolved))
            printf(", exact\n");
        else
            printf(", error %.2f of allowed\n", verdict.worst);
    }
    fflush(stdout);
    return CLI_OK;
}

static int check_random(int64_t count, unsigned ops, uint64_t seed, const cli_compute *on,
                        int quiet, check_totals *totals)
{
    sup_rng rng;
    sup_limits limits = sup_limits_default();
    limits.ops = ops;
    sup_rng_seed(&rng, seed);
    for (int64_t i = 0; i < count; i++) {
        poolgrad_desc desc;
        poolgrad_error error;
        sup_random_problem(&rng, &limits, &desc);
        char *problem = cli_problem_text("check", &desc);
        if (!problem)
            return CLI_DATA;
        int code;
        if (poolgrad_desc_resolve(&desc, &error) != POOLGRAD_OK)
            code = cli_library_error("check", problem, &error);
        else
            code = check_one(problem, &desc, on, sup_rng_next(&rng), quiet, totals);
        free(problem);
        if (code)
            return code;
    }
    return CLI_OK;
}

static int run(int argc, char **argv)
{
    int64_t count = 0, seed = 1;
    const char *list = NULL;
    cli_compute on = {0};
    unsigned ops = SUP_ALL_OPS;
    int quiet = 0, words;
    const cli_option options[] = {
        {"random", 0, CLI_NUMBER, &count, 1, 1e9},
        {"ops", 0, CLI_TEXT, &list, 0, 0},
        {"seed", 0, CLI_NUMBER, &seed, 0, 1e18},
        CLI_OPTION_CPU(on),
        {"quiet", 'q', CLI_FLAG, &quiet, 0, 0},
        CLI_OPTION_DEVICE(on.device),
        {0},
    };
    if (cli_parse("check", options, argc, argv, &words))
        return CLI_USAGE;
    if (cli_check_device("check", on.device))
        return CLI_USAGE;
    if (words == 0 && count == 0) {
        cli_error("check", "nothing to check; give a PROBLEM, or --random 100");
        return CLI_USAGE;
    }
    if (list && count == 0) {
        cli_error("check", "--ops chooses among random problems; add --random N");
        return CLI_USAGE;
    }
    if (list && !(ops = cli_read_ops("check", list)))
        return CLI_USAGE;
    check_totals totals = {0, 0};
    int code = CLI_OK;
    for (int i = 0; i < words && !code; i++) {
        poolgrad_desc desc;
        code = cli_resolve("check", argv[i], &desc);
        if (!code)
            code = check_one(argv[i], &desc, &on, (uint64_t)seed, quiet, &totals);
    }
    if (!code)
        code = check_random(count, ops, (uint64_t)seed, &on, quiet, &totals);
    if (code)
        return code;
    printf("%lld checked, %lld failed\n", totals.problems, totals.failed);
    if (totals.failed) {
        cli_error("check", "results differ on this machine; please report the lines above");
        return CLI_DATA;
    }
    return CLI_OK;
}

const cli_verb cli_check = {"check", "this machine against both oracles", help, run};
