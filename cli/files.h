/* SPDX-License-Identifier: MIT */
/*
 * From NumPy files through a plan to NumPy files: what `grad` and `pool` have in common.
 */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include "cli.h"
#include "operands.h"

typedef struct cli_files {
    const char *verb;
    const char *problem;         /* as messages call it */
    const char *path[CLI_SLOTS]; /* what is read and what is written, by operand; NULL: none */
    const char *previous;        /* the dx or y that beta multiplies, or NULL */
    const char *previous_option; /* what its option is called, for messages */
    const char *dtype;           /* what --dtype says, or NULL */
    int index_stated;            /* 1: the problem says what type the indices have */
    cli_compute compute;
} cli_files;

/* What --output, --dtype and the compute options mean to both verbs, for their tables. */
#define CLI_OPTIONS_FILES(files, slot)                                                             \
    {"output", 'o', CLI_TEXT, &(files).path[slot], 0, 0},                                          \
        {"dtype", 0, CLI_TEXT, &(files).dtype, 0, 0}, CLI_OPTION_THREADS((files).compute),         \
        CLI_OPTION_CPU((files).compute), CLI_OPTION_STRATEGY((files).compute),                     \
        CLI_OPTION_DEVICE((files).compute.device)

/* Reads, computes, writes. *desc is resolved; its views and index type follow what the files hold.
 * Returns an exit code, other than 0 after a message; no file is then changed. */
int cli_files_run(const cli_files *files, poolgrad_desc *desc);

#endif
