/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "files.h"

static const char help[] =
    "usage: poolgrad grad PROBLEM dy.npy -o dx.npy [OPTION...]\n"
    "       poolgrad grad PROBLEM dy.npy --indices i.npy -o dx.npy [OPTION...]\n"
    "       poolgrad grad PROBLEM dy.npy --x x.npy [--y y.npy] -o dx.npy [OPTION...]\n"
    "\n"
    "Computes dx from the dy in a NumPy file and writes it to another; for max pooling it takes "
    "the\n"
    "winners' indices as well, or x, to find the winners again. The axes of the files are in the\n"
    "memory order of PROBLEM's layout (nchw: N, C, H, W; nhwc: N, H, W, C), their extents those "
    "of\n"
    "dy and dx, or of their boxes. C and Fortran order, both byte orders and all versions of the\n"
    "format are read. dx.npy is written whole or not at all, with the dtype of dy.npy.\n"
    "\n"
    "PROBLEM may also be that of the forward pass (avgpool2d, maxpool2d); its gradient is meant.\n"
    "\n"
    "    -o, --output FILE   where dx goes; required\n"
    "    --indices FILE      max: the winners, as int64, int32, uint32 or, with base=window, "
    "uint8.\n"
    "                        The type is the file's, or what index= says; base= and order= say "
    "what\n"
    "                        they count. Every index is checked against its window.\n"
    "    --x FILE            max: x, whose first maxima are the winners (from=x)\n"
    "    --y FILE            max, with --x and parity=tensorflow: y; what in x is within 1e-5 of "
    "it\n"
    "                        wins (from=y)\n"
    "    --dtype bf16        the uint16 or V2 elements of the files are bf16\n"
    "    --dx FILE           the dx that beta multiplies; required if beta is not 0\n"
    "    --threads N         threads allowed (default: the CPUs this process may use)\n"
    "    --cpu NAME          instruction set (default: POOLGRAD_CPU, or the best there is)\n"
    "    --strategy NAME     strategy (default: the planner's choice)\n"
    "    --device cuda       on the first CUDA device; --strategy then names its kernels\n";

/* Lets the problem and the options agree on where the winners come from. */
static int choose_winners(const cli_files *files, poolgrad_desc *desc)
{
    static const char *const words[] = {"?", "indices", "x", "y"};
    const char *indices = files->path[CLI_INDICES], *x = files->path[CLI_X];
    const char *y = files->path[CLI_MAXIMA];
    poolgrad_winner given = indices ? POOLGRAD_FROM_INDICES : y ? POOLGRAD_NEAR_Y : POOLGRAD_FROM_X;
    if (desc->op == POOLGRAD_AVG_GRAD && (indices || x || y)) {
        cli_error("grad", "--%s is for max pooling; the average gradient needs dy only",
                  words[given]);
        return CLI_USAGE;
    }
    if (desc->op == POOLGRAD_AVG_GRAD)
        return 0;
    if (!indices && !x && !y) {
        cli_error("grad", "max needs the winners; give --indices FILE, or --x FILE to find them "
                          "again");
        return CLI_USAGE;
    }
    if (indices && (x || y)) {
        cli_error("grad", "--indices and --%s both say who wins; give one of them", x ? "x" : "y");
        return CLI_USAGE;
    }
    if (y && !x) {
        cli_error("grad", "--y is what x is compared with; give --x FILE too");
        return CLI_USAGE;
    }
    if (cli_problem_states(files->problem, "from=") && desc->winner != given) {
        cli_error("grad", "the problem says from=%s but --%s is given; let them agree",
                  words[desc->winner], words[given]);
        return CLI_USAGE;
    }
    desc->winner = given;
    return 0;
}

static int grad(cli_files *files)
{
    poolgrad_desc desc;
    poolgrad_error error;
    files->index_stated = cli_problem_states(files->problem, "index=");
    if (poolgrad_desc_parse(files->problem, &desc, &error) != POOLGRAD_OK)
        return cli_library_error("grad", files->problem, &error);
    int code = choose_winners(files, &desc);
    if (code)
        return code;
    if (poolgrad_desc_resolve(&desc, &error) != POOLGRAD_OK)
        return cli_library_error("grad", files->problem, &error);
    return cli_files_run(files, &desc);
}

static int run(int argc, char **argv)
{
    cli_files files = {.verb = "grad", .previous_option = "dx"};
    const cli_option options[] = {
        CLI_OPTIONS_FILES(files, CLI_DX),
        {"dx", 0, CLI_TEXT, &files.previous, 0, 0},
        {"indices", 0, CLI_TEXT, &files.path[CLI_INDICES], 0, 0},
        {"x", 0, CLI_TEXT, &files.path[CLI_X], 0, 0},
        {"y", 0, CLI_TEXT, &files.path[CLI_MAXIMA], 0, 0},
        {0},
    };
    int words;
    if (cli_parse("grad", options, argc, argv, &words))
        return CLI_USAGE;
    if (words != 2 || !files.path[CLI_DX]) {
        cli_error("grad", "give PROBLEM, dy.npy and -o dx.npy; 'poolgrad help grad' explains");
        return CLI_USAGE;
    }
    char *problem = cli_problem_directed("grad", argv[0], 0);
    if (!problem)
        return CLI_DATA;
    files.problem = problem;
    files.path[CLI_DY] = argv[1];
    int code = grad(&files);
    free(problem);
    return code;
}

const cli_verb cli_grad = {"grad", "dx from a dy in a NumPy file", help, run};
