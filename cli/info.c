/* SPDX-License-Identifier: MIT */
#include <poolgrad/cuda.h>
#include <stdio.h>

#include "cli.h"

static const char help[] =
    "usage: poolgrad info [--threads N] [--cpu NAME]\n"
    "\n"
    "Prints what the library is and what it finds on this machine: version, compiler, instruction\n"
    "sets and the one that will be used, threads, strategies and kernels. The names it prints are\n"
    "those that --cpu and --strategy take.\n"
    "\n"
    "    --threads N   as if N threads were asked for\n"
    "    --cpu NAME    as if this instruction set were asked for\n";

static void print_names(const char *label, poolgrad_name_kind kind)
{
    printf("%-11s", label);
    const char *name;
    for (size_t i = 0; (name = poolgrad_name(kind, i)) != NULL; i++)
        printf(" %s", name);
    putchar('\n');
}

static void print_devices(void)
{
    poolgrad_error error;
    int32_t count;
    if (poolgrad_cuda_device_count(&count, &error) != POOLGRAD_OK) {
        printf("cuda        none: %s\n", error.message);
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        poolgrad_cuda_device device = {.size = sizeof device};
        if (poolgrad_cuda_device_describe(i, &device, &error) != POOLGRAD_OK) {
            printf("cuda        %d: %s\n", (int)i, error.message);
            continue;
        }
        printf("cuda        %d: %s, compute capability %d.%d, %d multiprocessors, %.0f GB, driver "
               "%d.%d\n",
               (int)i, device.name, (int)device.compute_major, (int)device.compute_minor,
               (int)device.multiprocessors, (double)device.memory / 1e9, (int)device.driver / 1000,
               (int)device.driver % 1000 / 10);
    }
}

static int run(int argc, char **argv)
{
    cli_compute compute = {0};
    const cli_option options[] = {
        CLI_OPTION_THREADS(compute),
        CLI_OPTION_CPU(compute),
        {0},
    };
    int words;
    if (cli_parse("info", options, argc, argv, &words))
        return CLI_USAGE;
    if (words > 0) {
        cli_error("info", "unexpected '%s'; info takes only options", argv[0]);
        return CLI_USAGE;
    }

    /* What a plan would use is asked of a plan, so that it cannot differ from the truth. */
    static const char smallest[] = "avg1d:f32:ncw:1x1x1:k1";
    poolgrad_desc desc;
    poolgrad_plan *plan;
    poolgrad_plan_info plan_info;
    int code = cli_resolve("info", smallest, &desc);
    if (!code)
        code = cli_plan("info", smallest, &desc, &compute, &plan, &plan_info);
    if (code)
        return code;
    poolgrad_plan_destroy(plan);

    printf("poolgrad    %s\n", poolgrad_version());
#if defined(__clang__)
    printf("compiler    clang %s\n", __clang_version__);
#elif defined(__GNUC__)
    printf("compiler    gcc %s\n", __VERSION__);
#else
    printf("compiler    unknown\n");
#endif
    print_names("cpu levels", POOLGRAD_NAME_CPU);
    printf("cpu used    %s\n", plan_info.cpu);
    printf("threads     %d\n", plan_info.threads);
    print_names("strategies", POOLGRAD_NAME_STRATEGY);
    print_names("kernels", POOLGRAD_NAME_KERNEL);
    print_devices();
    printf("operators   avg max (gradients), avgpool maxpool (forward)\n");
    printf("types       f32 f64 f16 bf16; indices i64 i32 u32 u8\n");
    return CLI_OK;
}

const cli_verb cli_info = {"info", "version, instruction sets, threads, strategies", help, run};
