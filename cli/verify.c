/* SPDX-License-Identifier: MIT */
#include "verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "floor.h"
#include "scatter.h"

/* The scatter walks windows tap by tap; beyond this many additions it would take minutes. */
#define MOST_WORK 2e9

typedef struct verify_trial {
    const char *verb, *problem;
    const poolgrad_desc *desc;
    sup_memory dy;
    sup_memory previous, reference, result; /* dx before, by the reference, by another strategy */
    double *dy_values, *dx_values, *bound, *previous_values, *reference_values;
    cli_verdict *verdict;
} verify_trial;

static void release(verify_trial *trial)
{
    sup_view_free(&trial->dy);
    sup_view_free(&trial->previous);
    sup_view_free(&trial->reference);
    sup_view_free(&trial->result);
    free(trial->dy_values);
    free(trial->dx_values);
    free(trial->bound);
    free(trial->previous_values);
    free(trial->reference_values);
}

static double *doubles(int64_t count)
{
    return calloc(count > 0 ? (size_t)count : 1, sizeof(double));
}

/* What acquire will ask for, without gaps between strided elements. */
static double bytes_needed(const verify_trial *trial)
{
    const poolgrad_desc *desc = trial->desc;
    double size = (double)poolgrad_dtype_size(desc->dtype);
    double wide = trial->verdict->scattered ? sizeof(double) : 0;
    return (double)sup_view_count(desc, &desc->dy) * (size + wide) +
           (double)sup_view_count(desc, &desc->dx) * (3 * size + 4 * wide);
}

static int acquire(verify_trial *trial)
{
    const poolgrad_desc *desc = trial->desc;
    int64_t count = sup_view_count(desc, &desc->dx);
    double memory = (double)sup_memory_bytes();
    /* Where memory is overcommitted, asking for too much does not fail but ends the program. */
    int failed = memory > 0 && bytes_needed(trial) > 0.6 * memory;
    if (failed) {
        cli_error(trial->verb,
                  "%s: needs more than 60%% of this machine's memory; check a smaller "
                  "batch",
                  trial->problem);
        return failed;
    }
    failed = sup_view_alloc(desc, &desc->dy, &trial->dy);
    failed |= sup_view_alloc(desc, &desc->dx, &trial->previous);
    failed |= sup_view_alloc(desc, &desc->dx, &trial->reference);
    failed |= sup_view_alloc(desc, &desc->dx, &trial->result);
    if (trial->verdict->scattered) {
        trial->dy_values = doubles(sup_view_count(desc, &desc->dy));
        trial->dx_values = doubles(count);
        trial->bound = doubles(count);
        trial->previous_values = doubles(count);
        trial->reference_values = doubles(count);
        failed |= !trial->dy_values || !trial->dx_values || !trial->bound ||
                  !trial->previous_values || !trial->reference_values;
    }
    if (failed)
        cli_error(trial->verb, "%s: out of memory; try a smaller problem", trial->problem);
    return failed;
}

static double scatter_work(const poolgrad_desc *desc)
{
    double work = (double)(desc->dx.extent[0] * desc->dx.extent[1]);
    for (int axis = 0; axis < desc->rank; axis++) {
        double in = (double)desc->dx.extent[axis + 2], out = (double)desc->dy.extent[axis + 2];
        double taps = desc->rounding == POOLGRAD_ADAPTIVE
                          ? (double)desc->in[axis] / (double)desc->out[axis] + 2
                          : (double)desc->kernel[axis];
        work *= out * fmin(in, taps) + in;
    }
    return work;
}

/* "(0, 2, 5)": where in the view the element lies that is number `logical` of it. */
static void position_text(const poolgrad_desc *desc, int64_t logical, char *text, size_t capacity)
{
    int64_t index[5];
    for (int axis = desc->rank + 1; axis >= 0; axis--) {
        index[axis] = logical % desc->dx.extent[axis];
        logical /= desc->dx.extent[axis];
    }
    size_t used = 0;
    for (int axis = 0; axis < desc->rank + 2 && used < capacity; axis++)
        used += (size_t)snprintf(text + used, capacity - used, "%s%lld", axis ? ", " : "",
                                 (long long)index[axis]);
}

static double element(const poolgrad_desc *desc, const sup_memory *memory, int64_t logical)
{
    return sup_load(desc->dtype, memory->first, sup_view_offset(desc, &desc->dx, logical));
}

/* dx by one strategy. Returns the status; POOLGRAD_ERR_UNSUPPORTED is the caller's business. */
static poolgrad_status execute(verify_trial *trial, const cli_compute *compute, sup_memory *dx,
                               poolgrad_error *error)
{
    poolgrad_plan *plan;
    poolgrad_options options;
    cli_compute_options(compute, &options);
    memcpy(dx->allocation, trial->previous.allocation, dx->bytes);
    poolgrad_status status = poolgrad_plan_create(&plan, trial->desc, &options, error);
    if (status != POOLGRAD_OK)
        return status;
    status = cli_execute(plan, trial->dy.first, dx->first, NULL, 0, error);
    poolgrad_plan_destroy(plan);
    return status;
}

static void compare_with_scatter(verify_trial *trial, const char *data_name)
{
    const poolgrad_desc *desc = trial->desc;
    cli_verdict *verdict = trial->verdict;
    sup_view_gather(desc, &desc->dy, trial->dy.first, trial->dy_values);
    sup_view_gather(desc, &desc->dx, trial->previous.first, trial->previous_values);
    sup_view_gather(desc, &desc->dx, trial->reference.first, trial->reference_values);
    sup_scatter_avg_grad(desc, trial->dy_values, trial->dx_values, trial->bound);
    sup_scatter_scale(desc, trial->previous_values, trial->dx_values, trial->bound);
    int64_t count = sup_view_count(desc, &desc->dx);
    for (int64_t i = 0; i < count; i++) {
        double got = trial->reference_values[i], value = trial->dx_values[i];
        if (!sup_scatter_agrees(desc, got, value, trial->bound[i])) {
            char where[128];
            position_text(desc, i, where, sizeof where);
            snprintf(verdict->failure, sizeof verdict->failure,
                     "strategy reference, %s data, dx(%s): got %.9g (%a), the f64 scatter gives "
                     "%.9g, allowed error %.3g",
                     data_name, where, got, got, value,
                     sup_scatter_tolerance(desc, value, trial->bound[i]));
            return;
        }
        if (isfinite(got) && isfinite(value)) {
            double part = fabs(got - value) / sup_scatter_tolerance(desc, value, trial->bound[i]);
            verdict->worst = fmax(verdict->worst, part);
        }
    }
}

static void compare_with_reference(verify_trial *trial, const char *data_name,
                                   const cli_compute *compute)
{
    const poolgrad_desc *desc = trial->desc;
    int64_t at = sup_view_difference(desc, &desc->dx, trial->reference.first, trial->result.first);
    if (at < 0)
        return;
    char where[128];
    position_text(desc, at, where, sizeof where);
    double got = element(desc, &trial->result, at), want = element(desc, &trial->reference, at);
    snprintf(
        trial->verdict->failure, sizeof trial->verdict->failure,
        "strategy %s, cpu %s, %lld threads, %s data, dx(%s): got %.9g (%a), strategy reference "
        "gives %.9g (%a)",
        compute->strategy, compute->cpu, (long long)compute->threads, data_name, where, got, got,
        want, want);
}

/* One kind of data through everything. Returns 0, or an exit code after a message. */
static int try_data(verify_trial *trial, const char *only_cpu, const char *data_name)
{
    poolgrad_error error;
    cli_verdict *verdict = trial->verdict;
    cli_compute compute = {.threads = 1, .cpu = only_cpu, .strategy = "reference"};
    if (execute(trial, &compute, &trial->reference, &error) != POOLGRAD_OK)
        return cli_library_error(trial->verb, trial->problem, &error);
    if (verdict->scattered)
        compare_with_scatter(trial, data_name);

    verdict->strategies = 0;
    for (size_t s = 0; (compute.strategy = poolgrad_name(POOLGRAD_NAME_STRATEGY, s)); s++) {
        int accepted = 0;
        verdict->cpus = 0;
        for (size_t c = 0; (compute.cpu = poolgrad_name(POOLGRAD_NAME_CPU, c)); c++) {
            if (only_cpu && strcmp(only_cpu, compute.cpu) != 0)
                continue;
            verdict->cpus++;
            for (compute.threads = 1; compute.threads <= 3; compute.threads++) {
                poolgrad_status status = execute(trial, &compute, &trial->result, &error);
                if (status == POOLGRAD_ERR_UNSUPPORTED)
                    continue;
                if (status != POOLGRAD_OK)
                    return cli_library_error(trial->verb, trial->problem, &error);
                accepted = 1;
                verdict->runs++;
                if (!verdict->failure[0])
                    compare_with_reference(trial, data_name, &compute);
            }
        }
        verdict->strategies += accepted;
    }
    return 0;
}

int cli_verify(const char *verb, const char *problem, const poolgrad_desc *resolved,
               const char *cpu, uint64_t seed, cli_verdict *verdict)
{
    static const struct {
        sup_kind kind;
        const char *name;
    } data[] = {{SUP_UNIFORM, "uniform"}, {SUP_SPECIALS, "special"}};
    verify_trial trial = {.verb = verb, .problem = problem, .desc = resolved, .verdict = verdict};
    memset(verdict, 0, sizeof *verdict);
    verdict->scattered = scatter_work(resolved) <= MOST_WORK;
    int code = acquire(&trial) ? CLI_DATA : CLI_OK;
    sup_rng rng;
    sup_rng_seed(&rng, seed);
    for (size_t i = 0; i < sizeof data / sizeof *data && !code; i++) {
        sup_view_fill(resolved, &resolved->dy, trial.dy.first, data[i].kind, &rng);
        /* With beta 0 dx must not be read: NaN there would show in the result. */
        sup_view_fill(resolved, &resolved->dx, trial.previous.first,
                      resolved->beta != 0 ? data[i].kind : SUP_NAN, &rng);
        code = try_data(&trial, cpu, data[i].name);
    }
    release(&trial);
    return code;
}
