/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

void cli_error(const char *verb, const char *format, ...)
{
    va_list arguments;
    fflush(stdout); /* what was printed before the error comes before it */
    fprintf(stderr, verb ? "poolgrad: %s: " : "poolgrad: ", verb);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

int cli_library_error(const char *verb, const char *problem, const poolgrad_error *error)
{
    if (!problem) { /* about this machine */
        cli_error(verb, "%s", error->message);
        return CLI_DATA;
    }
    switch (error->status) {
    case POOLGRAD_ERR_SYNTAX:
        cli_error(verb, "cannot read '%s': %s; 'poolgrad help problem' shows the form", problem,
                  error->message);
        return CLI_USAGE;
    case POOLGRAD_ERR_OPTION:
        cli_error(verb, "%s; 'poolgrad info' lists the names", error->message);
        return CLI_USAGE;
    case POOLGRAD_ERR_UNSUPPORTED:
        cli_error(verb, "%s: %s; 'poolgrad info' lists what this machine has", problem,
                  error->message);
        return CLI_DATA;
    case POOLGRAD_ERR_MEMORY:
        cli_error(verb, "%s: out of memory; try a smaller problem", problem);
        return CLI_DATA;
    default:
        cli_error(verb, "%s: %s", problem, error->message);
        return CLI_DATA;
    }
}

/* Edits (insert, delete, replace) between two words, both cut to 23 characters. */
static size_t distance(const char *a, const char *b)
{
    enum {
        MOST = 24
    };
    size_t row[MOST];
    size_t length_a = strnlen(a, MOST - 1), length_b = strnlen(b, MOST - 1);
    for (size_t j = 0; j <= length_b; j++)
        row[j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[length_b];
}

const char *cli_nearest(const char *word, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t least = strlen(word) < 4 ? 1 : 2; /* more edits than this is another word */
    for (size_t i = 0; i < count; i++) {
        size_t edits = distance(word, names[i]);
        if (edits <= least) {
            least = edits;
            nearest = names[i];
            if (edits == 0)
                break;
        }
    }
    return nearest;
}

void cli_json_text(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if ((unsigned char)*text < ' ')
            printf("\\u%04x", (unsigned)*text);
        else
            putchar(*text);
    }
    putchar('"');
}
