/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum {
    MOST_OPTIONS = 32
};

static const cli_option *find_long(const cli_option *options, const char *name, size_t length)
{
    for (; options->name; options++)
        if (strlen(options->name) == length && memcmp(options->name, name, length) == 0)
            return options;
    return NULL;
}

static const cli_option *find_short(const cli_option *options, char letter)
{
    for (; options->name; options++)
        if (options->letter == letter && letter != 0)
            return options;
    return NULL;
}

static int unknown(const char *verb, const cli_option *options, const char *word)
{
    const char *names[MOST_OPTIONS];
    size_t count = 0;
    for (; options[count].name && count < MOST_OPTIONS; count++)
        names[count] = options[count].name;
    const char *near = word[1] == '-' ? cli_nearest(word + 2, names, count) : NULL;
    if (near)
        cli_error(verb, "unknown option %s; did you mean --%s?", word, near);
    else
        cli_error(verb, "unknown option %s; 'poolgrad help %s' lists the options", word, verb);
    return CLI_USAGE;
}

static int set(const char *verb, const cli_option *option, const char *value)
{
    char *end;
    errno = 0;
    switch (option->kind) {
    case CLI_FLAG:
        *(int *)option->target = 1;
        return 0;
    case CLI_TEXT:
        if (*value == '\0') {
            cli_error(verb, "--%s is empty; give it a value", option->name);
            return CLI_USAGE;
        }
        *(const char **)option->target = value;
        return 0;
    case CLI_NUMBER: {
        long long number = strtoll(value, &end, 10);
        if (end == value || *end || errno || (double)number < option->lo ||
            (double)number > option->hi) {
            cli_error(verb, "--%s %s: give a whole number from %.0f to %.0f", option->name, value,
                      option->lo, option->hi);
            return CLI_USAGE;
        }
        *(int64_t *)option->target = number;
        return 0;
    }
    case CLI_REAL: {
        double number = strtod(value, &end);
        if (end == value || *end || errno || !(number >= option->lo && number <= option->hi)) {
            cli_error(verb, "--%s %s: give a number from %g to %g", option->name, value, option->lo,
                      option->hi);
            return CLI_USAGE;
        }
        *(double *)option->target = number;
        return 0;
    }
    }
    return 0;
}

int cli_parse(const char *verb, const cli_option *options, int argc, char **argv, int *words)
{
    int kept = 0;
    int only_words = 0;
    for (int i = 0; i < argc; i++) {
        char *word = argv[i];
        if (only_words || word[0] != '-' || word[1] == '\0') {
            argv[kept++] = word;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            only_words = 1;
            continue;
        }
        const cli_option *option;
        const char *value = NULL;
        if (word[1] == '-') {
            size_t length = strcspn(word + 2, "=");
            option = find_long(options, word + 2, length);
            if (word[2 + length] == '=')
                value = word + 2 + length + 1;
        } else {
            option = find_short(options, word[1]);
            if (word[2] != '\0')
                value = word + 2;
        }
        if (!option || (option->kind == CLI_FLAG && value && word[1] != '-'))
            return unknown(verb, options, word);
        if (option->kind == CLI_FLAG && value) {
            cli_error(verb, "--%s takes no value; leave '=%s' away", option->name, value);
            return CLI_USAGE;
        }
        if (option->kind != CLI_FLAG && !value) {
            if (i + 1 == argc) {
                cli_error(verb, "--%s needs a value; 'poolgrad help %s' says which", option->name,
                          verb);
                return CLI_USAGE;
            }
            value = argv[++i];
        }
        if (set(verb, option, value))
            return CLI_USAGE;
    }
    *words = kept;
    return 0;
}

void cli_compute_options(const cli_compute *compute, poolgrad_options *options)
{
    poolgrad_options_init(options);
    options->threads = (int32_t)compute->threads;
    options->cpu = compute->cpu;
    options->strategy = compute->strategy;
}

int cli_check_device(const char *verb, const char *device)
{
    if (!device || strcmp(device, "cuda") == 0)
        return 0;
    cli_error(verb, "--device %s: the only device is cuda", device);
    return CLI_USAGE;
}
