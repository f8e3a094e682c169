/* SPDX-License-Identifier: MIT */
#include "verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_execute.h"
#include "data.h"
#include "floor.h"
#include "indices.h"
#include "naive.h"
#include "operands.h"
#include "scatter.h"

/* The naive oracles walk windows tap by tap; beyond this many steps they would take minutes. */
#define MOST_WORK 2e9

/* One tensor of the problem. */
typedef struct verify_tensor {
    cli_operand operand;
    int64_t count;                /* elements */
    sup_memory memory;            /* what is read; of what is written, its contents before */
    sup_memory reference, result; /* of what is written: by the reference, by another strategy */
    double *values;               /* what is read, or the reference's result, as numbers */
} verify_tensor;

typedef struct verify_trial {
    const char *verb, *problem;
    poolgrad_desc desc;
    verify_tensor tensors[CLI_MOST_OPERANDS];
    int count;
    double *expected, *bound, *previous; /* of dx or y, by the oracle */
    int64_t *winners, *found;            /* of the windows, by the oracle and by the reference */
    cli_verdict *verdict;
} verify_trial;

int cli_verify_exact(const poolgrad_desc *desc)
{
    return sup_is_max(desc) && desc->parity == POOLGRAD_PARITY_OFF;
}

/* ------------------------------------------------------------------- memory */

static void release(verify_trial *trial)
{
    for (int i = 0; i < trial->count; i++) {
        verify_tensor *tensor = &trial->tensors[i];
        sup_view_free(&tensor->memory);
        sup_view_free(&tensor->reference);
        sup_view_free(&tensor->result);
        free(tensor->values);
    }
    free(trial->expected);
    free(trial->bound);
    free(trial->previous);
    free(trial->winners);
    free(trial->found);
}

/* Zeros for `count` numbers of 8 bytes, at least one. */
static void *numbers(int64_t count)
{
    return calloc(count > 0 ? (size_t)count : 1, 8);
}

/* dx or y. */
static verify_tensor *target(verify_trial *trial)
{
    int i = 0;
    while (!trial->tensors[i].operand.written)
        i++;
    return &trial->tensors[i];
}

/* The tensor of a slot, or NULL if the problem has none. */
static verify_tensor *find(verify_trial *trial, cli_slot slot)
{
    for (int i = 0; i < trial->count; i++)
        if (trial->tensors[i].operand.slot == slot)
            return &trial->tensors[i];
    return NULL;
}

/* What acquire will ask for, without gaps between strided elements. */
static double bytes_needed(const verify_trial *trial)
{
    double bytes = 0, wide = trial->verdict->scattered ? 8 : 0;
    for (int i = 0; i < trial->count; i++) {
        const cli_operand *operand = &trial->tensors[i].operand;
        bytes += (double)trial->tensors[i].count * (operand->written ? 3 : 1) *
                 ((double)operand->size + (operand->indices ? 8 : wide));
    }
    return bytes;
}

static int acquire(verify_trial *trial)
{
    poolgrad_desc *desc = &trial->desc;
    cli_operand operands[CLI_MOST_OPERANDS];
    trial->count = cli_operands(desc, operands);
    for (int i = 0; i < trial->count; i++) {
        trial->tensors[i].operand = operands[i];
        trial->tensors[i].count = sup_view_count(desc, operands[i].view);
    }
    double memory = (double)sup_memory_bytes();
    /* Where memory is overcommitted, asking for too much does not fail but ends the program. */
    if (memory > 0 && bytes_needed(trial) > 0.6 * memory) {
        cli_error(trial->verb,
                  "%s: needs more than 60%% of this machine's memory; check a smaller "
                  "batch",
                  trial->problem);
        return 1;
    }
    int failed = 0;
    for (int i = 0; i < trial->count; i++) {
        verify_tensor *tensor = &trial->tensors[i];
        const cli_operand *operand = &tensor->operand;
        failed |= sup_view_alloc_sized(desc, operand->view, operand->size, &tensor->memory);
        if (operand->written) {
            failed |= sup_view_alloc_sized(desc, operand->view, operand->size, &tensor->reference);
            failed |= sup_view_alloc_sized(desc, operand->view, operand->size, &tensor->result);
        }
        if (!operand->indices && trial->verdict->scattered)
            failed |= !(tensor->values = numbers(tensor->count));
    }
    if (trial->verdict->scattered) {
        int64_t count = target(trial)->count;
        failed |= !(trial->expected = numbers(count));
        failed |= !(trial->bound = numbers(count));
        failed |= !(trial->previous = numbers(count));
    }
    if (sup_is_max(desc)) {
        int64_t windows = sup_view_count(desc, sup_view_windows(desc));
        failed |= !(trial->winners = numbers(windows));
        failed |= !(trial->found = numbers(windows));
    }
    if (failed)
        cli_error(trial->verb, "%s: out of memory; try a smaller problem", trial->problem);
    return failed;
}

static double naive_work(const poolgrad_desc *desc)
{
    const poolgrad_view *windows = sup_view_windows(desc);
    const poolgrad_view *places = sup_is_forward(desc) ? &desc->x : &desc->dx;
    double work = (double)(windows->extent[0] * windows->extent[1]);
    for (int axis = 0; axis < desc->rank; axis++) {
        double in = (double)places->extent[axis + 2], out = (double)windows->extent[axis + 2];
        double taps = desc->rounding == POOLGRAD_ADAPTIVE
                          ? (double)desc->in[axis] / (double)desc->out[axis] + 2
                          : (double)desc->kernel[axis];
        work *= out * fmin(in, taps) + in;
    }
    return work;
}

static void fill(verify_trial *trial, sup_kind kind, sup_rng *rng)
{
    const poolgrad_desc *desc = &trial->desc;
    for (int i = 0; i < trial->count; i++) {
        verify_tensor *tensor = &trial->tensors[i];
        sup_kind own = kind;
        if (tensor->operand.slot == CLI_INDICES) {
            sup_random_winners(desc, rng, trial->winners);
            sup_index_scatter(desc, trial->winners, tensor->memory.first);
            /* windows may share an index: what counts is what it means to each of them */
            sup_index_gather(desc, tensor->memory.first, trial->winners);
            continue;
        }
        if (tensor->operand.indices)
            continue;
        /* With beta 0 dx must not be read: NaN there would show in the result. */
        if (tensor->operand.written)
            own = sup_factor(desc, desc->beta) != 0 ? kind : SUP_NAN;
        sup_view_fill(desc, tensor->operand.view, tensor->memory.first, own, rng);
    }
}

/* ------------------------------------------------------------------ running */

/* dx or y by one strategy, and with `with_indices` the indices of max pooling. Returns the status;
 * POOLGRAD_ERR_UNSUPPORTED is the caller's business. */
static poolgrad_status execute(verify_trial *trial, const cli_compute *compute, int by_reference,
                               int with_indices, poolgrad_error *error)
{
    poolgrad_plan *plan;
    poolgrad_options options;
    poolgrad_buffers buffers;
    cli_compute_options(compute, &options);
    poolgrad_buffers_init(&buffers);
    for (int i = 0; i < trial->count; i++) {
        verify_tensor *tensor = &trial->tensors[i];
        sup_memory *memory = &tensor->memory;
        if (tensor->operand.written) {
            memory = by_reference ? &tensor->reference : &tensor->result;
            memcpy(memory->allocation, tensor->memory.allocation, memory->bytes);
        }
        if (tensor->operand.slot != CLI_INDICES_OUT || with_indices)
            cli_bind(&buffers, tensor->operand.slot, memory->first);
    }
    if (compute->device)
        return cli_cuda_execute(&trial->desc, &options, &buffers, error);
    poolgrad_status status = poolgrad_plan_create(&plan, &trial->desc, &options, error);
    if (status != POOLGRAD_OK)
        return status;
    status = poolgrad_execute(plan, &buffers, error);
    poolgrad_plan_destroy(plan);
    return status;
}

/* ---------------------------------------------------------------- comparing */

/* "y(0, 2, 5)": the element that is number `logical` of a view. */
static void place_text(const verify_trial *trial, const cli_operand *operand, int64_t logical,
                       char *text, size_t capacity)
{
    int64_t index[5];
    for (int axis = trial->desc.rank + 1; axis >= 0; axis--) {
        index[axis] = logical % operand->view->extent[axis];
        logical /= operand->view->extent[axis];
    }
    size_t used = (size_t)snprintf(text, capacity, "%s(", operand->name);
    for (int axis = 0; axis < trial->desc.rank + 2 && used < capacity; axis++)
        used += (size_t)snprintf(text + used, capacity - used, "%lld%s", (long long)index[axis],
                                 axis == trial->desc.rank + 1 ? ")" : ", ");
}

/* The numbers of a tensor that is read, NULL if the problem has no such tensor. */
static const double *values_of(verify_trial *trial, cli_slot slot)
{
    const verify_tensor *tensor = find(trial, slot);
    return tensor ? tensor->values : NULL;
}

/* The numbers of dx or y that the oracle expects, in trial->expected. */
static void ask_oracle(verify_trial *trial)
{
    const poolgrad_desc *desc = &trial->desc;
    const double *dy = values_of(trial, CLI_DY), *x = values_of(trial, CLI_X);
    const double *y = values_of(trial, CLI_MAXIMA);
    if (x && sup_is_max(desc) && !y)
        sup_naive_winners(desc, x, trial->winners);
    switch (desc->op) {
    case POOLGRAD_AVG_GRAD:
        sup_scatter_avg_grad(desc, dy, trial->expected, trial->bound);
        break;
    case POOLGRAD_AVG:
        sup_naive_avg(desc, x, trial->expected, trial->bound);
        break;
    case POOLGRAD_MAX_GRAD:
        if (y)
            sup_naive_near_y_grad(desc, x, y, dy, trial->expected, trial->bound);
        else
            sup_naive_max_grad(desc, trial->winners, dy, trial->expected, trial->bound);
        break;
    case POOLGRAD_MAX:
        sup_naive_max(desc, x, trial->winners, trial->expected);
        break;
    }
    if (sup_is_max(desc))
        sup_naive_scale(desc, trial->previous, trial->expected);
    else
        sup_scatter_scale(desc, trial->previous, trial->expected, trial->bound);
}

/* 1 if an element of the reference is what the oracle allows: near it, for max equal to it. */
static int agrees(verify_trial *trial, int64_t i, double got)
{
    const poolgrad_desc *desc = &trial->desc;
    double value = trial->expected[i];
    if (!cli_verify_exact(desc))
        return sup_scatter_agrees(desc, got, value, trial->bound[i]);
    double stored[2]; /* both as elements of the type */
    sup_store(desc->dtype, &stored[0], 0, got);
    sup_store(desc->dtype, &stored[1], 0, value);
    return sup_equal_bits(desc->dtype, &stored[0], &stored[1]);
}

static void compare_numbers(verify_trial *trial, const char *data_name)
{
    const poolgrad_desc *desc = &trial->desc;
    cli_verdict *verdict = trial->verdict;
    const verify_tensor *tensor = target(trial);
    for (int64_t i = 0; i < tensor->count; i++) {
        double got = tensor->values[i], value = trial->expected[i];
        double allowed =
            cli_verify_exact(desc) ? 0 : sup_scatter_tolerance(desc, value, trial->bound[i]);
        if (!agrees(trial, i, got)) {
            char where[160];
            place_text(trial, &tensor->operand, i, where, sizeof where);
            snprintf(verdict->failure, sizeof verdict->failure,
                     "strategy %s, %s data, %s: got %.9g (%a), the naive oracle gives "
                     "%.9g, allowed error %.3g",
                     cli_base_strategy(desc), data_name, where, got, got, value, allowed);
            return;
        }
        if (isfinite(got) && isfinite(value) && allowed > 0)
            verdict->worst = fmax(verdict->worst, fabs(got - value) / allowed);
    }
}

static void compare_indices(verify_trial *trial, const char *data_name)
{
    const verify_tensor *tensor = find(trial, CLI_INDICES_OUT);
    if (!tensor || trial->verdict->failure[0])
        return;
    sup_index_gather(&trial->desc, tensor->reference.first, trial->found);
    for (int64_t i = 0; i < tensor->count; i++) {
        if (trial->found[i] != trial->winners[i]) {
            char where[160];
            place_text(trial, &tensor->operand, i, where, sizeof where);
            snprintf(trial->verdict->failure, sizeof trial->verdict->failure,
                     "strategy %s, %s data, %s: position %lld of the plane, the naive "
                     "oracle gives %lld",
                     cli_base_strategy(&trial->desc), data_name, where, (long long)trial->found[i],
                     (long long)trial->winners[i]);
            return;
        }
    }
}

static void compare_with_oracle(verify_trial *trial, const char *data_name)
{
    const poolgrad_desc *desc = &trial->desc;
    for (int i = 0; i < trial->count; i++) {
        verify_tensor *tensor = &trial->tensors[i];
        const sup_memory *from = tensor->operand.written ? &tensor->reference : &tensor->memory;
        if (!tensor->operand.indices)
            sup_view_gather(desc, tensor->operand.view, from->first, tensor->values);
    }
    sup_view_gather(desc, target(trial)->operand.view, target(trial)->memory.first,
                    trial->previous);
    ask_oracle(trial);
    compare_numbers(trial, data_name);
    compare_indices(trial, data_name);
}

/* The first element in which result and reference differ, or -1. */
static int64_t difference(const verify_trial *trial, const verify_tensor *tensor)
{
    const poolgrad_desc *desc = &trial->desc;
    const cli_operand *operand = &tensor->operand;
    if (!operand->indices)
        return sup_view_difference(desc, operand->view, tensor->reference.first,
                                   tensor->result.first);
    for (int64_t i = 0; i < tensor->count; i++) {
        int64_t at = sup_view_offset(desc, operand->view, i);
        if (sup_index_load(desc->index_type, tensor->reference.first, at) !=
            sup_index_load(desc->index_type, tensor->result.first, at))
            return i;
    }
    return -1;
}

/* An element as a number; indices are small enough for a double where they are shown. */
static double element(const verify_trial *trial, const verify_tensor *tensor, const void *first,
                      int64_t logical)
{
    const poolgrad_desc *desc = &trial->desc;
    int64_t at = sup_view_offset(desc, tensor->operand.view, logical);
    return tensor->operand.indices ? (double)sup_index_load(desc->index_type, first, at)
                                   : sup_load(desc->dtype, first, at);
}

static void compare_with_reference(verify_trial *trial, const char *data_name,
                                   const cli_compute *compute, int with_indices)
{
    for (int i = 0; i < trial->count && !trial->verdict->failure[0]; i++) {
        const verify_tensor *tensor = &trial->tensors[i];
        if (!tensor->operand.written || (tensor->operand.indices && !with_indices))
            continue;
        int64_t at = difference(trial, tensor);
        if (at < 0)
            continue;
        char where[160];
        place_text(trial, &tensor->operand, at, where, sizeof where);
        double got = element(trial, tensor, tensor->result.first, at);
        double want = element(trial, tensor, tensor->reference.first, at);
        snprintf(trial->verdict->failure, sizeof trial->verdict->failure,
                 "strategy %s, cpu %s, %lld threads, %s data, %s: got %.9g (%a), strategy "
                 "%s gives %.9g (%a)",
                 compute->strategy, compute->cpu, (long long)compute->threads, data_name, where,
                 got, got, cli_base_strategy(&trial->desc), want, want);
    }
}

/* ----------------------------------------------------------------- the trial */

/* The same on a device, with all its strategies. */
static int try_device(verify_trial *trial, const char *device, const char *data_name)
{
    poolgrad_error error;
    cli_compute compute = {.threads = 1, .cpu = NULL, .device = device};
    trial->verdict->cpus = 1;
    trial->verdict->strategies = 0;
    for (size_t s = 0; (compute.strategy = cli_cuda_strategies[s]) != NULL; s++) {
        poolgrad_status status = execute(trial, &compute, 0, 1, &error);
        if (status == POOLGRAD_ERR_UNSUPPORTED && strstr(error.message, "does not apply"))
            continue;
        if (status != POOLGRAD_OK)
            return cli_library_error(trial->verb, trial->problem, &error);
        compute.cpu = device;
        trial->verdict->runs++;
        trial->verdict->strategies++;
        if (!trial->verdict->failure[0])
            compare_with_reference(trial, data_name, &compute, 1);
        compute.cpu = NULL;
    }
    return 0;
}

/* One kind of data through everything. Returns 0, or an exit code after a message. */
static int try_data(verify_trial *trial, const char *only_cpu, const char *device,
                    const char *data_name)
{
    poolgrad_error error;
    cli_verdict *verdict = trial->verdict;
    cli_compute compute = {
        .threads = 1, .cpu = only_cpu, .strategy = cli_base_strategy(&trial->desc)};
    if (execute(trial, &compute, 1, 1, &error) != POOLGRAD_OK)
        return cli_library_error(trial->verb, trial->problem, &error);
    if (verdict->scattered)
        compare_with_oracle(trial, data_name);
    if (device)
        return try_device(trial, device, data_name);

    verdict->strategies = 0;
    for (size_t s = 0; (compute.strategy = poolgrad_name(POOLGRAD_NAME_STRATEGY, s)); s++) {
        int accepted = 0;
        verdict->cpus = 0;
        for (size_t c = 0; (compute.cpu = poolgrad_name(POOLGRAD_NAME_CPU, c)); c++) {
            if (only_cpu && strcmp(only_cpu, compute.cpu) != 0)
                continue;
            verdict->cpus++;
            for (compute.threads = 1; compute.threads <= 3; compute.threads++) {
                /* y may not depend on whether indices are asked for. */
                int with_indices = compute.threads != 2;
                poolgrad_status status = execute(trial, &compute, 0, with_indices, &error);
                if (status == POOLGRAD_ERR_UNSUPPORTED)
                    continue;
                if (status != POOLGRAD_OK)
                    return cli_library_error(trial->verb, trial->problem, &error);
                accepted = 1;
                verdict->runs++;
                if (!verdict->failure[0])
                    compare_with_reference(trial, data_name, &compute, with_indices);
            }
        }
        verdict->strategies += accepted;
    }
    return 0;
}

int cli_verify(const char *verb, const char *problem, const poolgrad_desc *resolved,
               const char *cpu, const char *device, uint64_t seed, cli_verdict *verdict)
{
    static const struct {
        sup_kind kind;
        const char *name;
        int only_max;
    } data[] = {{SUP_UNIFORM, "uniform", 0}, {SUP_SPECIALS, "special", 0}, {SUP_TIES, "tied", 1}};
    verify_trial trial = {.verb = verb, .problem = problem, .desc = *resolved, .verdict = verdict};
    memset(verdict, 0, sizeof *verdict);
    verdict->scattered = naive_work(resolved) <= MOST_WORK;
    int code = acquire(&trial) ? CLI_DATA : CLI_OK;
    sup_rng rng;
    sup_rng_seed(&rng, seed);
    for (size_t i = 0; i < sizeof data / sizeof *data && !code; i++) {
        if (data[i].only_max && !sup_is_max(resolved))
            continue;
        fill(&trial, data[i].kind, &rng);
        code = try_data(&trial, cpu, device, data[i].name);
    }
    release(&trial);
    return code;
}
