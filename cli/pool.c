/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "files.h"

static const char help[] =
    "usage: poolgrad pool PROBLEM x.npy -o y.npy [--indices-out i.npy] [OPTION...]\n"
    "\n"
    "The forward pass: computes the pooled y from the x in a NumPy file, and for max pooling the\n"
    "indices of the winners if asked for. Files are as for 'poolgrad grad'; y.npy and i.npy are "
    "each\n"
    "written whole or not at all, y.npy with the dtype of x.npy.\n"
    "\n"
    "PROBLEM may also be that of the gradient (avg2d, max2d); its forward pass is meant, so that "
    "one\n"
    "string serves pool and grad. Two layouts are then those of x/y here and of dy/dx there.\n"
    "\n"
    "    -o, --output FILE    where y goes; required\n"
    "    --indices-out FILE   max: where the indices go, with the type that index= says (i64), "
    "and\n"
    "                         counted as base= and order= say\n"
    "    --dtype bf16         the uint16 or V2 elements of the files are bf16\n"
    "    --y FILE             the y that beta multiplies; required if beta is not 0\n"
    "    --threads N          threads allowed (default: the CPUs this process may use)\n"
    "    --cpu NAME           instruction set (default: POOLGRAD_CPU, or the best there is)\n"
    "    --strategy NAME      strategy (default: the planner's choice)\n"
    "    --device cuda        on the first CUDA device; --strategy then names its kernels\n";

static int pool(cli_files *files)
{
    poolgrad_desc desc;
    int code = cli_resolve("pool", files->problem, &desc);
    if (code)
        return code;
    const char *indices = files->path[CLI_INDICES_OUT];
    if (indices && desc.op == POOLGRAD_AVG) {
        cli_error("pool", "--indices-out is for max pooling; an average has no winner");
        return CLI_USAGE;
    }
    if (indices && strcmp(indices, files->path[CLI_Y]) == 0) {
        cli_error("pool", "--output and --indices-out are both %s; name two files", indices);
        return CLI_USAGE;
    }
    return cli_files_run(files, &desc);
}

static int run(int argc, char **argv)
{
    cli_files files = {.verb = "pool", .previous_option = "y"};
    const cli_option options[] = {
        CLI_OPTIONS_FILES(files, CLI_Y),
        {"y", 0, CLI_TEXT, &files.previous, 0, 0},
        {"indices-out", 0, CLI_TEXT, &files.path[CLI_INDICES_OUT], 0, 0},
        {0},
    };
    int words;
    if (cli_parse("pool", options, argc, argv, &words))
        return CLI_USAGE;
    if (words != 2 || !files.path[CLI_Y]) {
        cli_error("pool", "give PROBLEM, x.npy and -o y.npy; 'poolgrad help pool' explains");
        return CLI_USAGE;
    }
    char *problem = cli_problem_directed("pool", argv[0], 1);
    if (!problem)
        return CLI_DATA;
    files.problem = problem;
    files.path[CLI_X] = argv[1];
    int code = pool(&files);
    free(problem);
    return code;
}

const cli_verb cli_pool = {"pool", "y, and indices, from an x in a NumPy file", help, run};
