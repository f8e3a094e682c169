/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

int cli_resolve(const char *verb, const char *problem, poolgrad_desc *resolved)
{
    poolgrad_error error;
    if (poolgrad_desc_parse(problem, resolved, &error) != POOLGRAD_OK ||
        poolgrad_desc_resolve(resolved, &error) != POOLGRAD_OK)
        return cli_library_error(verb, problem, &error);
    return 0;
}

char *cli_problem_text(const char *verb, const poolgrad_desc *desc)
{
    poolgrad_error error;
    size_t length = 0;
    if (poolgrad_desc_print(desc, NULL, 0, &length, &error) != POOLGRAD_OK) {
        cli_error(verb, "%s", error.message);
        return NULL;
    }
    char *text = malloc(length + 1);
    if (!text) {
        cli_error(verb, "out of memory");
        return NULL;
    }
    poolgrad_desc_print(desc, text, length + 1, NULL, NULL);
    return text;
}

int cli_plan(const char *verb, const char *problem, const poolgrad_desc *desc,
             const cli_compute *compute, poolgrad_plan **plan, poolgrad_plan_info *info)
{
    poolgrad_error error;
    poolgrad_options options;
    cli_compute_options(compute, &options);
    if (poolgrad_plan_create(plan, desc, &options, &error) != POOLGRAD_OK)
        return cli_library_error(verb, problem, &error);
    if (info) {
        memset(info, 0, sizeof *info);
        info->size = sizeof *info;
        if (poolgrad_plan_describe(*plan, info, &error) != POOLGRAD_OK) {
            poolgrad_plan_destroy(*plan);
            *plan = NULL;
            return cli_library_error(verb, problem, &error);
        }
    }
    return 0;
}

char *cli_problem_directed(const char *verb, const char *problem, int forward)
{
    static const char word[] = "pool";
    /* Anything but an operator is left to the parser, whose message will say what is wrong. */
    int known = strncmp(problem, "avg", 3) == 0 || strncmp(problem, "max", 3) == 0;
    int head = known ? 3 : 0;
    const char *rest = problem + head;
    if (known && strncmp(rest, word, sizeof word - 1) == 0)
        rest += sizeof word - 1;
    size_t capacity = strlen(problem) + sizeof word;
    char *text = malloc(capacity);
    if (!text) {
        cli_error(verb, "out of memory");
        return NULL;
    }
    snprintf(text, capacity, "%.*s%s%s", head, problem, known && forward ? word : "", rest);
    return text;
}

int cli_problem_states(const char *problem, const char *word)
{
    size_t length = strlen(word);
    while ((problem = strchr(problem, ':')) != NULL)
        if (strncmp(++problem, word, length) == 0)
            return 1;
    return 0;
}

const char *cli_base_strategy(const poolgrad_desc *desc)
{
    return desc->parity == POOLGRAD_PARITY_OFF ? "reference" : "parity";
}

const char *cli_dtype_name(poolgrad_dtype dtype)
{
    static const char *const names[] = {"?", "f32", "f64", "f16", "bf16"};
    return names[dtype];
}

const char *cli_divisor_name(poolgrad_divisor divisor)
{
    static const char *const names[] = {"?", "exclude", "include", "include_clipped", "override"};
    return names[divisor];
}

const char *cli_rounding_name(poolgrad_rounding rounding)
{
    static const char *const names[] = {"?", "floor", "ceil", "adaptive"};
    return names[rounding];
}

const char *cli_op_name(poolgrad_op op)
{
    static const char *const names[] = {"?", "avg", "max", "avgpool", "maxpool"};
    return names[op];
}

const char *cli_index_type_name(poolgrad_index_type type)
{
    static const char *const names[] = {"?", "i64", "i32", "u32", "u8"};
    return names[type];
}

unsigned cli_read_ops(const char *verb, const char *list)
{
    unsigned ops = 0;
    for (;;) {
        size_t length = strcspn(list, ",");
        unsigned found = 0;
        for (int op = POOLGRAD_AVG_GRAD; op <= POOLGRAD_MAX; op++) {
            const char *name = cli_op_name((poolgrad_op)op);
            if (strlen(name) == length && memcmp(name, list, length) == 0)
                found = 1u << (unsigned)op;
        }
        if (!found) {
            cli_error(verb, "--ops: '%.*s' is no operator; there are avg, max, avgpool, maxpool",
                      (int)length, list);
            return 0;
        }
        ops |= found;
        if (!list[length])
            return ops;
        list += length + 1;
    }
}
