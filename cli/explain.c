/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli.h"
#include "data.h"
#include "operands.h"

static const char help[] =
    "usage: poolgrad explain PROBLEM [--json] [--threads N] [--cpu NAME] [--strategy NAME]\n"
    "\n"
    "Says what a plan for PROBLEM will do, without doing it: the problem with all that follows "
    "from\n"
    "it, the strategy and why it was chosen, instruction set, threads, bytes moved, workspace.\n"
    "\n"
    "    --json            the same as a JSON object\n"
    "    --threads N       threads allowed (default: the CPUs this process may use)\n"
    "    --cpu NAME        instruction set (default: POOLGRAD_CPU, or the best there is)\n"
    "    --strategy NAME   strategy (default: the planner's choice)\n";

static const char *const divisor_words[] = {
    [POOLGRAD_EXCLUDE] = "taps inside the input",
    [POOLGRAD_INCLUDE] = "all taps of the window",
    [POOLGRAD_INCLUDE_CLIPPED] = "taps inside the padded input",
};

static const char *const op_words[] = {
    [POOLGRAD_AVG_GRAD] = "avg, the gradient of average pooling",
    [POOLGRAD_MAX_GRAD] = "max, the gradient of max pooling",
    [POOLGRAD_AVG] = "avgpool, average pooling forward",
    [POOLGRAD_MAX] = "maxpool, max pooling forward",
};

static const char *const result_words[] = {
    [POOLGRAD_AVG_GRAD] = "gradient",
    [POOLGRAD_MAX_GRAD] = "gradient",
    [POOLGRAD_AVG] = "average",
    [POOLGRAD_MAX] = "maximum",
};

static const char *const base_words[] = {
    [POOLGRAD_INDEX_TENSOR] = "tensor: counts over batch, channels, plane",
    [POOLGRAD_INDEX_PLANE] = "plane: counts in the plane",
    [POOLGRAD_INDEX_NXC] = "nxc: counts over batch, plane, channels",
    [POOLGRAD_INDEX_NXC_IMAGE] = "nxc_image: counts over plane, channels",
    [POOLGRAD_INDEX_WINDOW] = "window: counts the taps of the window",
};

static const char *const winner_names[] = {"?", "indices", "x", "y"};
static const char *const parity_names[] = {"?",           "off",   "tensorflow",
                                           "onnxruntime", "torch", "onednn"};
static const char *const nan_names[] = {"?", "first", "skip", "last", "leading"};
static const char *const base_names[] = {"?", "tensor", "plane", "nxc", "nxc_image", "window"};

static void print_list(const int64_t *values, int count, const char *separator)
{
    for (int i = 0; i < count; i++)
        printf("%s%lld", i ? separator : "", (long long)values[i]);
}

/* "6422528 (6.1 MiB)" */
static void print_bytes(const char *label, int64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    double scaled = (double)bytes / 1024;
    int unit = 0;
    for (; scaled >= 1024 && unit < 4; unit++)
        scaled /= 1024;
    printf("%-12s%lld bytes", label, (long long)bytes);
    if (bytes >= 1024)
        printf(" (%.1f %s)", scaled, units[unit]);
    putchar('\n');
}

static const char *layout_name(const poolgrad_view *view)
{
    static const char *const names[] = {"?", "ncx", "nxc", "strided"};
    return names[view->layout];
}

static void print_operand(const poolgrad_desc *desc, const cli_operand *operand)
{
    const poolgrad_view *view = operand->view;
    int64_t whole[5];
    cli_whole_extents(desc, operand->slot, whole);
    int axes = desc->rank + 2, is_whole = 1;
    for (int axis = 0; axis < axes; axis++)
        is_whole &= view->extent[axis] == whole[axis];
    printf("%-12s", operand->name);
    print_list(whole, axes, " x ");
    printf("; ");
    if (operand->indices)
        printf("%s, ", cli_index_type_name(desc->index_type));
    printf("%s, strides ", layout_name(view));
    print_list(view->stride, axes, ",");
    if (!is_whole) {
        printf("\n%-12sof it ", "");
        print_list(view->extent, axes, " x ");
        printf(" from ");
        print_list(view->offset, axes, ",");
    }
    putchar('\n');
}

/* Who wins, and how the winner is written down. */
static void print_max(const poolgrad_desc *desc)
{
    static const char *const nans[] = {
        "?", "the first NaN before any number", "NaN only if there is nothing else",
        "the last NaN before any number", "NaN only if it leads the window"};
    int from_indices = desc->op == POOLGRAD_MAX_GRAD && desc->winner == POOLGRAD_FROM_INDICES;
    printf("%-12s", "winner");
    if (desc->op == POOLGRAD_MAX_GRAD && desc->winner == POOLGRAD_NEAR_Y)
        printf("every position whose x is within 1e-5 of y; each gets the whole dy\n");
    else if (from_indices)
        printf("what the indices say; each is checked against its window%s\n",
               desc->no_winner ? "; -1 is none" : "");
    else
        printf("the first maximum in row-major order; %s\n", nans[desc->nan]);
    if (from_indices || desc->op == POOLGRAD_MAX)
        printf("%-12s%s, positions in %s order\n", "index", base_words[desc->index_base],
               desc->index_order == POOLGRAD_COLUMN_MAJOR ? "column-major" : "row-major");
}

static void print_window(const poolgrad_desc *desc)
{
    printf("%-12s", "window");
    if (desc->rounding == POOLGRAD_ADAPTIVE) {
        printf("adaptive: window o of an axis is [floor(o*in/out), ceil((o+1)*in/out))\n");
        return;
    }
    print_list(desc->kernel, desc->rank, "x");
    printf(", stride ");
    print_list(desc->stride, desc->rank, "x");
    printf(", dilation ");
    print_list(desc->dilation, desc->rank, "x");
    printf(", padding ");
    for (int axis = 0; axis < desc->rank; axis++)
        printf("%s%lld,%lld", axis ? "x" : "", (long long)desc->pad_lo[axis],
               (long long)desc->pad_hi[axis]);
    printf(", %s\n", cli_rounding_name(desc->rounding));
}

static void print_divisor(const poolgrad_desc *desc)
{
    if (desc->divisor == POOLGRAD_OVERRIDE)
        printf("%-12s%lld, for every window\n", "divisor", (long long)desc->divisor_override);
    else if (desc->rounding == POOLGRAD_ADAPTIVE)
        printf("%-12sthe size of the window\n", "divisor");
    else
        printf("%-12s%s: %s\n", "divisor", cli_divisor_name(desc->divisor),
               divisor_words[desc->divisor]);
}

static void print_result(const poolgrad_desc *desc)
{
    const char *name = sup_is_forward(desc) ? "y" : "dx";
    printf("%-12s%s = ", "result", name);
    if (desc->alpha != 1 || desc->beta != 0)
        printf("%.17g * ", desc->alpha);
    printf("%s", result_words[desc->op]);
    if (desc->beta != 0)
        printf(" + %.17g * %s", desc->beta, name);
    putchar('\n');
}

/* What sums are kept in: f64 or f32, or with parity what that system keeps them in. */
static const char *compute_name(const poolgrad_desc *desc)
{
    if (desc->parity != POOLGRAD_PARITY_OFF && desc->parity != POOLGRAD_PARITY_ONEDNN)
        return cli_dtype_name(desc->dtype);
    return desc->dtype == POOLGRAD_F64 ? "f64" : "f32";
}

static void print_text(const char *problem, poolgrad_desc *desc, const poolgrad_plan_info *info)
{
    cli_operand operands[CLI_MOST_OPERANDS];
    int count = cli_operands(desc, operands);
    printf("%-12s%s\n", "problem", problem);
    printf("%-12s%s\n", "operator", op_words[desc->op]);
    printf("%-12s%s, computed in %s\n", "type", cli_dtype_name(desc->dtype), compute_name(desc));
    for (int i = 0; i < count; i++)
        print_operand(desc, &operands[i]);
    print_window(desc);
    if (sup_is_max(desc))
        print_max(desc);
    else
        print_divisor(desc);
    print_result(desc);
    if (desc->parity != POOLGRAD_PARITY_OFF)
        printf("%-12s%s: its way of dividing, its order of additions, its roundings\n", "parity",
               parity_names[desc->parity]);

    printf("\n%-12s%s\n", "strategy", info->strategy);
    printf("%-12s%s\n", "because", info->reason);
    if (info->detail[0])
        printf("%-12s%s\n", "detail", info->detail);
    printf("%-12s%s\n", "cpu", info->cpu);
    printf("%-12s%d allowed; tasks %lld, units of work %lld\n", "threads", info->threads,
           (long long)info->tasks, (long long)info->units);
    print_bytes("reads", info->bytes_read);
    print_bytes("writes", info->bytes_written);
    print_bytes("workspace", info->workspace);
    printf("%-12s%lld bytes / B, with B the rate at which memory is copied;\n", "floor",
           (long long)(info->bytes_read + info->bytes_written));
    printf("%-12s'poolgrad bench' measures both\n", "");
}

static void json_list(const char *name, const int64_t *values, int count)
{
    printf(", \"%s\": [", name);
    print_list(values, count, ", ");
    putchar(']');
}

static void json_word(const char *name, const char *text)
{
    printf(", \"%s\": ", name);
    cli_json_text(text);
}

static void json_view(const char *name, const poolgrad_desc *desc, const poolgrad_view *view)
{
    printf(", \"%s\": {\"layout\": \"%s\"", name, layout_name(view));
    json_list("offset", view->offset, desc->rank + 2);
    json_list("extent", view->extent, desc->rank + 2);
    json_list("stride", view->stride, desc->rank + 2);
    putchar('}');
}

static void json_max(const poolgrad_desc *desc)
{
    if (desc->op == POOLGRAD_MAX_GRAD)
        json_word("from", winner_names[desc->winner]);
    json_word("nan", nan_names[desc->nan]);
    json_word("index", cli_index_type_name(desc->index_type));
    json_word("base", base_names[desc->index_base]);
    json_word("order", desc->index_order == POOLGRAD_COLUMN_MAJOR ? "column" : "row");
    printf(", \"nowinner\": %s", desc->no_winner ? "true" : "false");
}

static void print_json(const char *problem, poolgrad_desc *desc, const poolgrad_plan_info *info)
{
    cli_operand operands[CLI_MOST_OPERANDS];
    int count = cli_operands(desc, operands);
    printf("{\"problem\": ");
    cli_json_text(problem);
    json_word("operator", cli_op_name(desc->op));
    json_word("type", cli_dtype_name(desc->dtype));
    json_list("in", desc->in, desc->rank);
    json_list("out", desc->out, desc->rank);
    json_list("kernel", desc->kernel, desc->rank);
    json_list("stride", desc->stride, desc->rank);
    json_list("dilation", desc->dilation, desc->rank);
    json_list("pad_lo", desc->pad_lo, desc->rank);
    json_list("pad_hi", desc->pad_hi, desc->rank);
    json_word("rounding", cli_rounding_name(desc->rounding));
    if (sup_is_max(desc))
        json_max(desc);
    else
        json_word("divisor", cli_divisor_name(desc->divisor));
    if (!sup_is_max(desc) && desc->divisor == POOLGRAD_OVERRIDE)
        printf(", \"divisor_override\": %lld", (long long)desc->divisor_override);
    json_word("parity", parity_names[desc->parity]);
    printf(", \"alpha\": %.17g, \"beta\": %.17g", desc->alpha, desc->beta);
    for (int i = 0; i < count; i++)
        json_view(operands[i].name, desc, operands[i].view);
    json_word("strategy", info->strategy);
    json_word("reason", info->reason);
    json_word("detail", info->detail);
    json_word("isa", info->cpu);
    printf(", \"threads\": %d, \"tasks\": %lld, \"units\": %lld", info->threads,
           (long long)info->tasks, (long long)info->units);
    printf(", \"bytes_read\": %lld, \"bytes_written\": %lld, \"workspace\": %lld}\n",
           (long long)info->bytes_read, (long long)info->bytes_written, (long long)info->workspace);
}

static int run(int argc, char **argv)
{
    cli_compute compute = {0};
    int json = 0;
    const cli_option options[] = {
        CLI_OPTION_THREADS(compute),
        CLI_OPTION_CPU(compute),
        CLI_OPTION_STRATEGY(compute),
        {"json", 0, CLI_FLAG, &json, 0, 0},
        {0},
    };
    int words;
    if (cli_parse("explain", options, argc, argv, &words))
        return CLI_USAGE;
    if (words != 1) {
        cli_error("explain", "%s; give one PROBLEM, such as avg2d:f32:nchw:8x64x56x56:k3:s2:p1",
                  words ? "more than one problem" : "no problem");
        return CLI_USAGE;
    }
    poolgrad_desc desc;
    poolgrad_plan *plan;
    poolgrad_plan_info info;
    int code = cli_resolve("explain", argv[0], &desc);
    if (!code)
        code = cli_plan("explain", argv[0], &desc, &compute, &plan, &info);
    if (code)
        return code;
    desc = *poolgrad_plan_desc(plan);
    (json ? print_json : print_text)(argv[0], &desc, &info);
    poolgrad_plan_destroy(plan);
    return CLI_OK;
}

const cli_verb cli_explain = {"explain", "what a plan will do, and why", help, run};
