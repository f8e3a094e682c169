/* SPDX-License-Identifier: MIT */
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

poolgrad_status cli_execute(const poolgrad_plan *plan, const void *dy, void *dx, void *workspace,
                            size_t workspace_size, poolgrad_error *error)
{
    poolgrad_buffers buffers;
    poolgrad_buffers_init(&buffers);
    buffers.dy = dy;
    buffers.dx = dx;
    buffers.workspace = workspace;
    buffers.workspace_size = workspace_size;
    return poolgrad_execute(plan, &buffers, error);
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
