/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "cases.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_problem.h"

static int out_of_memory(const char *verb)
{
    cli_error(verb, "out of memory");
    return CLI_DATA;
}

int cli_list_add(const char *verb, cli_list *list, const char *problem)
{
    poolgrad_desc desc;
    int code = cli_resolve(verb, problem, &desc);
    if (code)
        return code;
    if (list->count == list->capacity) {
        int capacity = list->capacity > INT_MAX / 2 ? INT_MAX : 2 * list->capacity + 16;
        char **larger = list->count < capacity
                            ? realloc(list->problems, (size_t)capacity * sizeof *larger)
                            : NULL;
        if (!larger)
            return out_of_memory(verb);
        list->problems = larger;
        list->capacity = capacity;
    }
    char *copy = strdup(problem);
    if (!copy)
        return out_of_memory(verb);
    list->problems[list->count++] = copy;
    return CLI_OK;
}

/* What a line says, without comment and blanks: a part of it, cut in place. */
static char *trim(char *line)
{
    static const char blanks[] = " \t\r\n\v\f";
    line += strspn(line, blanks);
    line[strcspn(line, "#")] = '\0';
    size_t length = strlen(line);
    while (length > 0 && strchr(blanks, line[length - 1]))
        length--;
    line[length] = '\0';
    return line;
}

static int read_lines(const char *verb, cli_list *list, const char *path, FILE *file)
{
    char *line = NULL;
    size_t size = 0;
    int code = CLI_OK, before = list->count;
    errno = 0;
    for (int number = 1; !code && getline(&line, &size, file) >= 0; number++) {
        const char *problem = trim(line);
        if (*problem == '\0')
            continue;
        /* In front of a message the place of the line stands where the verb does. */
        size_t capacity = strlen(verb) + strlen(path) + 32;
        char *place = malloc(capacity);
        if (!place) {
            code = out_of_memory(verb);
            break;
        }
        snprintf(place, capacity, "%s: %s:%d", verb, path, number);
        code = cli_list_add(place, list, problem);
        free(place);
    }
    if (!code && !feof(file)) {
        cli_error(verb, "cannot read %s: %s", path, strerror(errno));
        code = CLI_DATA;
    } else if (!code && list->count == before) {
        cli_error(verb, "%s holds no problem; write one in a line", path);
        code = CLI_DATA;
    }
    free(line);
    return code;
}

int cli_list_read(const char *verb, cli_list *list, const char *path)
{
    if (strcmp(path, "-") == 0)
        return read_lines(verb, list, "standard input", stdin);
    FILE *file = fopen(path, "re");
    if (!file) {
        cli_error(verb, "cannot open %s: %s", path, strerror(errno));
        return CLI_DATA;
    }
    int code = read_lines(verb, list, path, file);
    fclose(file);
    return code;
}

int cli_list_random(const char *verb, cli_list *list, int64_t count, unsigned ops, uint64_t seed)
{
    sup_rng rng;
    sup_limits limits = sup_limits_large();
    limits.ops = ops;
    sup_rng_seed(&rng, seed);
    int code = CLI_OK;
    for (int64_t i = 0; i < count && !code; i++) {
        poolgrad_desc desc;
        sup_random_problem(&rng, &limits, &desc);
        char *problem = cli_problem_text(verb, &desc);
        code = problem ? cli_list_add(verb, list, problem) : CLI_DATA;
        free(problem);
    }
    return code;
}

void cli_list_free(cli_list *list)
{
    for (int i = 0; i < list->count; i++)
        free(list->problems[i]);
    free(list->problems);
    memset(list, 0, sizeof *list);
}
