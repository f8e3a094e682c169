/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "demo_faces.h"
#include "measure.h"
#include "picture.h"
#include "verify.h"

static const char help[] =
    "usage: poolgrad demo [-o FOLDER] [--threads N] [--quiet]\n"
    "\n"
    "Shows the library at work, in half a minute: the worked examples of DirectML's "
    "documentation,\n"
    "computed by the operators of five systems; a picture of a problem; that every strategy,\n"
    "instruction set and number of threads gives the same bits; and the time of some larger\n"
    "problems in multiples of the memory floor.\n"
    "\n"
    "    -o, --output FOLDER   where the picture goes, made if it is not there (default: here)\n"
    "    --threads N           threads (default: the CPUs this process may use)\n"
    "    --quiet               no progress on stderr\n";

#define EXAMPLE     "avg2d:f32:nchw:1x1x3x3:k2"
#define MAX_EXAMPLE "max2d:f32:nchw:1x1x3x3:k2:from=x"
#define PICTURE     "avg2d:f32:nchw:1x1x9x12:k4x3:s2:p1:ceil:div=exclude"

static int show_picture(const char *folder)
{
    static const char name[] = "/poolgrad-demo.svg";
    size_t folder_length = strlen(folder);
    while (folder_length > 1 && folder[folder_length - 1] == '/')
        folder_length--;
    size_t length = folder_length + sizeof name;
    char *path = malloc(length);
    if (!path) {
        cli_error("demo", "out of memory");
        return CLI_DATA;
    }
    snprintf(path, length, "%.*s%s", (int)folder_length, folder, name);
    int code = cli_draw("demo", PICTURE, path);
    if (!code)
        printf("3. A picture: which windows reach which inputs, with what weight\n\n"
               "  %s\n  is drawn in %s; open it in a browser\n\n",
               PICTURE, path);
    free(path);
    return code;
}

static int show_bits(void)
{
    static const char *const problems[] = {
        EXAMPLE,
        PICTURE,
        "avg1d:f64:ncw:3x5x200:k25",
        "avg2d:bf16:nhwc:2x19x23x21:k3:s2:p1:div=exclude",
        "avg2d:f16:nchw:2x3x17x31:k5x4:s2x1:d2:p3,1",
        "avg3d:f32:ncdhw:1x2x12x11x13:k9:p4:alpha=0.5",
        "avg2d:f32:nhwc:2x8x13x17:adaptive:o5x7",
        MAX_EXAMPLE,
        "max2d:bf16:nhwc:2x19x23x21:k3:s2:p1:index=i32:base=plane",
        "avgpool3d:f32:ncdhw:1x2x12x11x13:k5:p2:div=exclude",
        "maxpool2d:f16:nchw:2x3x17x31:k5x4:s2x1:d2:p3,1:ceil",
    };
    printf("4. The same bits from every strategy and instruction set, with 1, 2 and 3 threads\n\n");
    int runs = 0, failed = 0, strategies = 0, cpus = 0, count = sizeof problems / sizeof *problems;
    for (int i = 0; i < count; i++) {
        poolgrad_desc desc;
        cli_verdict verdict;
        int code = cli_resolve("demo", problems[i], &desc);
        if (!code)
            code = cli_verify("demo", problems[i], &desc, NULL, NULL, 1, &verdict);
        if (code)
            return code;
        runs += verdict.runs;
        strategies = verdict.strategies > strategies ? verdict.strategies : strategies;
        cpus = verdict.cpus;
        if (verdict.failure[0]) {
            failed++;
            printf("  %s\n    %s\n", problems[i], verdict.failure);
        }
    }
    if (!failed)
        printf("  %d problems, up to %d strategies, %d instruction sets, NaN and infinities among "
               "the\n"
               "  data: all %d results have equal bits, and agree with a naive oracle in f64\n\n",
               count, strategies, cpus, runs);
    return failed ? CLI_DATA : CLI_OK;
}

static int show_speed(const cli_compute *compute, int quiet)
{
    cli_case cases[] = {
        {.problem = "avg2d:f32:nchw:8x64x112x112:k2:s2"},
        {.problem = "avg2d:bf16:nhwc:8x64x112x112:k2:s2"},
        {.problem = "avg2d:f32:nchw:8x64x56x56:k3:p1:div=exclude"},
        {.problem = "avg2d:bf16:nhwc:8x64x56x56:k3:p1:div=exclude"},
        {.problem = "avg2d:f32:nchw:4x16x192x192:k11"},
        {.problem = "avg1d:f32:ncw:16x321x360:k25"},
        {.problem = "avg3d:f32:ncdhw:1x2x80x96x112:k9:p4"},
        {.problem = "avg3d:bf16:ncdhw:1x2x80x96x112:k9:p4"},
        {.problem = "max2d:f32:nchw:8x64x112x112:k3:s2:p1"},
        {.problem = "max2d:f32:nchw:8x64x112x112:k3:s2:p1:from=x"},
        {.problem = "maxpool2d:f32:nchw:8x64x112x112:k3:s2:p1"},
        {.problem = "avgpool2d:f32:nchw:4x16x192x192:k11"},
    };
    int count = sizeof cases / sizeof *cases;
    printf("5. Time, in multiples of what it takes only to move the memory\n\n");
    fflush(stdout);
    const cli_timing timing = {.seconds = 0.5, .quiet = quiet};
    int code = cli_measure("demo", cases, count, compute, &timing);
    if (!code)
        cli_print_table(cases, count);
    cli_cases_free(cases, count);
    return code;
}

static int run(int argc, char **argv)
{
    cli_compute compute = {0};
    const char *folder = ".";
    int quiet = 0, words;
    const cli_option options[] = {
        CLI_OPTION_THREADS(compute),
        {"output", 'o', CLI_TEXT, &folder, 0, 0},
        {"quiet", 'q', CLI_FLAG, &quiet, 0, 0},
        {0},
    };
    if (cli_parse("demo", options, argc, argv, &words))
        return CLI_USAGE;
    if (words > 0) {
        cli_error("demo", "unexpected '%s'; the folder is given with -o", argv[0]);
        return CLI_USAGE;
    }
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        cli_error("demo", "cannot make the folder %s: %s; name another with -o", folder,
                  strerror(errno));
        return CLI_DATA;
    }
    int code = cli_demo_faces();
    if (!code)
        code = show_picture(folder);
    if (!code)
        code = show_bits();
    if (!code)
        code = show_speed(&compute, quiet);
    return code;
}

const cli_verb cli_demo = {"demo", "a first look: an example, a picture, times", help, run};
