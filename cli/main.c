/* SPDX-License-Identifier: MIT */
/*
 * poolgrad VERB ...: finds the verb and lets it run.
 */
#define _XOPEN_SOURCE 700

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "outfile.h"

static const cli_verb *const verbs[] = {
    &cli_info,    &cli_grad,  &cli_pool,  &cli_face_verb, &cli_faces,
    &cli_explain, &cli_check, &cli_bench, &cli_picture,   &cli_demo,
};
enum {
    VERBS = sizeof verbs / sizeof *verbs
};

static const char problem_help[] =
    "A problem string says what to compute:\n"
    "\n"
    "    avg2d:f32:nchw:8x64x56x56:k3:s2:p1\n"
    "\n"
    "is the gradient of 2-D average pooling in 32-bit floats, dense NCHW, of an input of 8 "
    "batches,\n"
    "64 channels, 56 by 56; window 3x3, stride 2, padding 1 on every side.\n"
    "\n"
    "    operator  avg max: the gradients; avgpool maxpool: the forward passes; then 1d 2d 3d\n"
    "    type      f32 f64 f16 bf16\n"
    "    layout    ncw nchw ncdhw ncx | nwc nhwc ndhwc nxc | strided; dy/dx (forward x/y)\n"
    "              if the two differ\n"
    "    shape     batch x channels x spatial extents of the input, whatever the layout\n"
    "\n"
    "come first, in this order. The others follow in any order:\n"
    "\n"
    "    k3 k3x5                window; one number for all axes, or one for each\n"
    "    s2 s2x1                stride (1)\n"
    "    d2 d1x2                dilation (1)\n"
    "    p1 p1x2 p0,1x2,3       padding; low,high where the two sides differ (0)\n"
    "    floor ceil adaptive    how many windows there are (floor)\n"
    "    o28 o28x30             output extents; needed by adaptive, otherwise derived\n"
    "    div=exclude            divide by the taps inside the input\n"
    "    div=include            divide by all taps\n"
    "    div=include_clipped    divide by the taps inside the padded input (the default)\n"
    "    div=7                  divide by 7\n"
    "    alpha=0.5 beta=1       dx = alpha * gradient + beta * dx (1, 0); forward likewise, y\n"
    "    parity=tensorflow      a gradient with that system's own roundings, bit for bit; also\n"
    "                           onnxruntime, torch, onednn (off)\n"
    "    dxbox=B dybox=B        compute a part: offset+extent for every axis, with commas;\n"
    "                           0+* is a whole axis; also xbox=, ybox=\n"
    "    dxstride=I,.. dystride=I,..   strides in elements, for layout strided; also xstride=,\n"
    "                           ystride=, istride=\n"
    "\n"
    "and for max:\n"
    "\n"
    "    from=indices from=x    where the gradient has its winners from (indices)\n"
    "    from=y                 all positions whose x is within 1e-5 of y; with parity=tensorflow\n"
    "    nan=first nan=last     the first NaN wins, or the last (first)\n"
    "    nan=skip               NaN only where there is no number\n"
    "    nan=leading            a NaN only if it comes first in its window, otherwise as skip\n"
    "    index=i64 =i32 =u32    type of the indices (i64)\n"
    "    index=u8               one byte each; with base=window\n"
    "    base=tensor            indices count over batch, channels, plane (the default)\n"
    "    base=plane             in the plane\n"
    "    base=nxc               over batch, plane, channels\n"
    "    base=nxc_image         over plane, channels\n"
    "    base=window            the taps of the window\n"
    "    order=row order=column the last, or the first, spatial axis fastest (row)\n"
    "    nowinner               the index -1 is allowed\n"
    "    xlayout=L ilayout=L    layouts of x (that of dx) and of the indices (that of dy, y); "
    "also\n"
    "                           ylayout=\n";

static void print_general(FILE *to)
{
    fprintf(to, "usage: poolgrad VERB [OPTION...] [PROBLEM...]\n"
                "\n"
                "Pooling and its gradient: the same bits everywhere.\n"
                "\n");
    for (size_t i = 0; i < VERBS; i++)
        fprintf(to, "    %-9s %s\n", verbs[i]->name, verbs[i]->summary);
    fprintf(to, "\n"
                "'poolgrad help VERB' explains a verb, 'poolgrad help problem' how to write a "
                "PROBLEM,\n"
                "'poolgrad --version' prints the version. To begin: poolgrad demo\n");
}

static const cli_verb *find_verb(const char *name)
{
    for (size_t i = 0; i < VERBS; i++)
        if (strcmp(verbs[i]->name, name) == 0)
            return verbs[i];
    return NULL;
}

static int unknown_verb(const char *name)
{
    const char *names[VERBS + 2];
    for (size_t i = 0; i < VERBS; i++)
        names[i] = verbs[i]->name;
    names[VERBS] = "help";
    names[VERBS + 1] = "problem";
    const char *near = cli_nearest(name, names, VERBS + 2);
    if (near)
        cli_error(NULL, "unknown verb '%s'; did you mean %s?", name, near);
    else
        cli_error(NULL, "unknown verb '%s'; 'poolgrad --help' lists the verbs", name);
    return CLI_USAGE;
}

static int help(int argc, char **argv)
{
    if (argc > 1) {
        cli_error("help", "too many words; name one verb");
        return CLI_USAGE;
    }
    if (argc == 0 || strcmp(argv[0], "help") == 0) {
        print_general(stdout);
    } else if (strcmp(argv[0], "problem") == 0) {
        fputs(problem_help, stdout);
    } else {
        const cli_verb *verb = find_verb(argv[0]);
        if (!verb)
            return unknown_verb(argv[0]);
        fputs(verb->help, stdout);
    }
    return CLI_OK;
}

static int wants_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return 1;
    return 0;
}

static int dispatch(int argc, char **argv)
{
    if (argc == 0) {
        print_general(stderr);
        return CLI_USAGE;
    }
    const char *name = argv[0];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help(argc - 1, argv + 1);
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("poolgrad %s\n", poolgrad_version());
        return CLI_OK;
    }
    if (name[0] == '-') {
        cli_error(NULL, "unknown option %s; a verb comes first, 'poolgrad --help' lists them",
                  name);
        return CLI_USAGE;
    }
    const cli_verb *verb = find_verb(name);
    if (!verb)
        return unknown_verb(name);
    if (wants_help(argc - 1, argv + 1)) {
        fputs(verb->help, stdout);
        return CLI_OK;
    }
    return verb->run(argc - 1, argv + 1);
}

/* Ctrl-C leaves no temporary file behind; the signal then does what it would have done. */
static void on_signal(int number)
{
    sup_outfile_remove_pending();
    raise(number); /* SA_RESETHAND: now with the default action */
}

int main(int argc, char **argv)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = (int)SA_RESETHAND;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGXFSZ};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction before; /* what the parent set to be ignored stays ignored */
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }

    int code = argc > 0 ? dispatch(argc - 1, argv + 1) : CLI_USAGE;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        /* A reader that has gone away (head, less) needs no message. */
        if (errno != EPIPE)
            cli_error(NULL, "cannot write to standard output: %s", strerror(errno));
        return code == CLI_OK ? CLI_DATA : code;
    }
    return code;
}
