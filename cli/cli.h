/* SPDX-License-Identifier: MIT */
/*
 * What the verbs of the program share: errors, options, problems.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <poolgrad/poolgrad.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes. */
enum {
    CLI_OK = 0,
    CLI_DATA = 1, /* a file, a problem's values, a check that failed */
    CLI_USAGE = 2 /* the command line itself, a problem string that cannot be read */
};

/* -------------------------------------------------------------------- verbs */

typedef struct cli_verb {
    const char *name;
    const char *summary;               /* one line for the list of verbs */
    const char *help;                  /* whole text of `poolgrad help VERB` */
    int (*run)(int argc, char **argv); /* the words behind the verb; returns an exit code */
} cli_verb;

extern const cli_verb cli_info, cli_grad, cli_pool, cli_face_verb, cli_faces, cli_explain,
    cli_check, cli_bench, cli_picture, cli_demo;

/* ------------------------------------------------------------------- errors */

/* Prints "poolgrad: VERB: ..." and a newline on stderr; verb may be NULL. */
__attribute__((format(printf, 2, 3))) void cli_error(const char *verb, const char *format, ...);

/* Prints a library error that concerns `problem` and returns the exit code that fits it. */
int cli_library_error(const char *verb, const char *problem, const poolgrad_error *error);

/* The name in names[count] that `word` most likely means, or NULL if none is near. */
const char *cli_nearest(const char *word, const char *const *names, size_t count);

/* ------------------------------------------------------------------ options */

typedef enum cli_kind {
    CLI_FLAG,   /* int, set to 1 */
    CLI_TEXT,   /* const char * */
    CLI_NUMBER, /* int64_t in lo .. hi */
    CLI_REAL    /* double in lo .. hi */
} cli_kind;

typedef struct cli_option {
    const char *name; /* without the dashes; NULL ends a table */
    char letter;      /* short form, or 0 */
    cli_kind kind;
    void *target;
    double lo, hi;
} cli_option;

/* Options that verbs have in common, for their tables. */
#define CLI_OPTION_THREADS(compute)                                                                \
    {                                                                                              \
        "threads", 'j', CLI_NUMBER, &(compute).threads, 1, 4096                                    \
    }
#define CLI_OPTION_CPU(compute)                                                                    \
    {                                                                                              \
        "cpu", 0, CLI_TEXT, &(compute).cpu, 0, 0                                                   \
    }
#define CLI_OPTION_STRATEGY(compute)                                                               \
    {                                                                                              \
        "strategy", 0, CLI_TEXT, &(compute).strategy, 0, 0                                         \
    }

#define CLI_OPTION_DEVICE(device)                                                                  \
    {                                                                                              \
        "device", 0, CLI_TEXT, &(device), 0, 0                                                     \
    }

/* Returns 0 if the device is NULL or one that is known, or CLI_USAGE after a message. */
int cli_check_device(const char *verb, const char *device);

/*
 * Reads options from argv[argc] and moves the other words to its front. --name value, --name=value,
 * -o value, -ovalue; "--" ends the options. *words receives the number of other words. Returns 0,
 * or CLI_USAGE after a message.
 */
int cli_parse(const char *verb, const cli_option *options, int argc, char **argv, int *words);

/* How to compute, as the command line says. Zero-initialised: all defaults. */
typedef struct cli_compute {
    int64_t threads;
    const char *cpu, *strategy;
    const char *device; /* NULL: the CPU */
} cli_compute;

void cli_compute_options(const cli_compute *compute, poolgrad_options *options);

/* ----------------------------------------------------------------- problems */

/* Reads and resolves a problem string. Returns 0, or an exit code after a message. */
int cli_resolve(const char *verb, const char *problem, poolgrad_desc *resolved);

/* The problem string of *desc, malloc'ed; NULL after a message. */
char *cli_problem_text(const char *verb, const poolgrad_desc *desc);

/* Makes a plan and describes it (info may be NULL). Returns 0, or an exit code after a message. */
int cli_plan(const char *verb, const char *problem, const poolgrad_desc *desc,
             const cli_compute *compute, poolgrad_plan **plan, poolgrad_plan_info *info);

/* The same problem as an operator of the other direction spells it: avg2d for avgpool2d, max3d for
 * maxpool3d, or with `forward` the other way round; unchanged where it is one already. malloc'ed;
 * NULL after a message. */
char *cli_problem_directed(const char *verb, const char *problem, int forward);

/* 1 if the problem string has an item that begins with `word`, such as "index=". */
int cli_problem_states(const char *problem, const char *word);

/* The strategy that others are compared with: the definition, or with parity the only one. */
const char *cli_base_strategy(const poolgrad_desc *desc);

/* "avg,maxpool" as a set of operators, 1 << op each; 0 after a message. */
unsigned cli_read_ops(const char *verb, const char *list);

/* Names as problem strings spell them. */
const char *cli_dtype_name(poolgrad_dtype dtype);
const char *cli_divisor_name(poolgrad_divisor divisor);
const char *cli_rounding_name(poolgrad_rounding rounding);
const char *cli_op_name(poolgrad_op op);
const char *cli_index_type_name(poolgrad_index_type type);

/* -------------------------------------------------------------------- output */

/* Text as a JSON string, quotes included. */
void cli_json_text(const char *text);

#endif
