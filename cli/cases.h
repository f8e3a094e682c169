/* SPDX-License-Identifier: MIT */
/*
 * A list of problems: words of the command line, the lines of a file, random ones.
 */
#ifndef CLI_CASES_H
#define CLI_CASES_H

#include "cli.h"

typedef struct cli_list {
    char **problems; /* each malloc'ed, and known to be valid */
    int count, capacity;
} cli_list; /* zero-initialised: empty */

/* Checks a problem string and adds a copy of it. Returns 0, or an exit code after a message. */
int cli_list_add(const char *verb, cli_list *list, const char *problem);

/* Adds the problems of the file `path`, one in a line; "-" is standard input. Blank lines do not
 * count, nor does what follows a '#'. Messages about a line begin with file and number. Returns 0,
 * or an exit code after a message. */
int cli_list_read(const char *verb, cli_list *list, const char *path);

/* Adds `count` random problems of the operators `ops` (1 << op each), large enough that memory
 * matters; the same ones for the same seed. Returns 0, or an exit code after a message. */
int cli_list_random(const char *verb, cli_list *list, int64_t count, unsigned ops, uint64_t seed);

void cli_list_free(cli_list *list);

#endif
