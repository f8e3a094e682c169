/* SPDX-License-Identifier: MIT */
/*
 * The decomposition of DLinear (Zeng et al. 2023) for the Traffic data: 862 series of 336 hours,
 * stored hour by hour, split into a moving average over 25 hours, the trend, and the rest.
 *
 *     trend = pool(padded x)      the first and the last hour are repeated 12 times
 *     rest  = x - trend
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

#define PAD 12 /* (25 - 1) / 2 */

typedef struct model {
    work_pool forward, gradient;
    int64_t batch, hours;
    size_t series;
    work_tensor x, padded, trend, rest;
    work_tensor dtrend, drest, dy, dpadded, dx;
} model;

static void fill(void *context, char *set)
{
    const model *one = context;
    work_random(work_at(set, one->x), one->x.count, -1, 1, 1);
    work_random(work_at(set, one->dtrend), one->dtrend.count, -1, 1, 2);
    work_random(work_at(set, one->drest), one->drest.count, -1, 1, 3);
}

static int64_t clamp(int64_t hour, int64_t hours)
{
    return hour < 0 ? 0 : hour < hours ? hour : hours - 1;
}

/* Rows of all series, one per hour. */
static void replicate(const model *one, work_run *run, const float *x, float *padded)
{
    int64_t rows = one->hours + 2 * PAD;
    work_count(run, one->x.count + one->padded.count);
#pragma omp parallel for num_threads(work_threads(run))
    for (int64_t i = 0; i < one->batch * rows; i++) {
        int64_t from = i / rows * one->hours + clamp(i % rows - PAD, one->hours);
        memcpy(padded + (size_t)i * one->series, x + (size_t)from * one->series,
               one->series * sizeof *x);
    }
}

/* The gradient of that: what the copies of an hour got, and what the rest got. */
static void fold(const model *one, work_run *run, const float *dpadded, const float *drest,
                 float *dx)
{
    int64_t rows = one->hours + 2 * PAD;
    work_count(run, one->dpadded.count + one->drest.count + one->dx.count);
#pragma omp parallel for num_threads(work_threads(run))
    for (int64_t i = 0; i < one->batch * one->hours; i++) {
        int64_t image = i / one->hours, hour = i % one->hours;
        int64_t first = hour == 0 ? 0 : hour + PAD;
        int64_t last = hour == one->hours - 1 ? rows - 1 : hour + PAD;
        float *to = dx + (size_t)i * one->series;
        memcpy(to, drest + (size_t)i * one->series, one->series * sizeof *to);
        for (int64_t row = first; row <= last; row++) {
            const float *from = dpadded + (size_t)(image * rows + row) * one->series;
            for (size_t k = 0; k < one->series; k++)
                to[k] += from[k];
        }
    }
}

static void subtract(work_run *run, const float *a, const float *b, float *to, size_t count)
{
    work_count(run, 3 * count);
#pragma omp parallel for num_threads(work_threads(run))
    for (int64_t i = 0; i < (int64_t)count; i++)
        to[i] = a[i] - b[i];
}

static void step(void *context, work_run *run, char *set)
{
    const model *one = context;
    float *x = work_at(set, one->x), *padded = work_at(set, one->padded);
    float *trend = work_at(set, one->trend);
    replicate(one, run, x, padded);
    work_execute(run, &one->forward, (poolgrad_buffers){.x = padded, .y = trend});
    subtract(run, x, trend, work_at(set, one->rest), one->x.count);

    float *dy = work_at(set, one->dy), *dpadded = work_at(set, one->dpadded);
    float *drest = work_at(set, one->drest);
    subtract(run, work_at(set, one->dtrend), drest, dy, one->dy.count);
    work_execute(run, &one->gradient, (poolgrad_buffers){.dy = dy, .dx = dpadded});
    fold(one, run, dpadded, drest, work_at(set, one->dx));
}

/* The gradient by its definition, hour by hour, in double precision. */
static int check(void *context, char *set)
{
    const model *one = context;
    const float *dtrend = work_at(set, one->dtrend), *drest = work_at(set, one->drest);
    const float *dx = work_at(set, one->dx);
    double *exact = work_memory(one->dx.count * sizeof *exact);
    size_t wrong = 0;
    for (size_t i = 0; i < one->dx.count; i++)
        exact[i] = (double)drest[i];
    for (int64_t i = 0; i < one->batch * one->hours; i++) {
        int64_t begin = i / one->hours * one->hours, hour = i % one->hours;
        size_t from = (size_t)i * one->series;
        for (int64_t tap = -PAD; tap <= PAD; tap++) {
            size_t to = (size_t)(begin + clamp(hour + tap, one->hours)) * one->series;
            for (size_t k = 0; k < one->series; k++)
                exact[to + k] += ((double)dtrend[from + k] - (double)drest[from + k]) / 25;
        }
    }
    for (size_t i = 0; i < one->dx.count; i++)
        wrong += !(fabs(exact[i] - (double)dx[i]) <= 1e-5); /* a NaN is wrong, too */
    free(exact);
    if (wrong == 0)
        return 0;
    fprintf(stderr, "DLinear: %zu elements of the gradient are wrong\n", wrong);
    return -1;
}

int main(int argc, char **argv)
{
    work_options options = work_parse(argc, argv);
    poolgrad_desc desc = work_problem(&options, "avgpool1d:f32:nwc:16x862x360:k25");
    if (options.tiny)
        desc.in[0] = 41;
    model one = {
        .batch = desc.batch, .hours = desc.in[0] - 2 * PAD, .series = (size_t)desc.channels};
    work job = {.name = "DLinear",
                .shape = "16 x 336 hours x 862 series, k 25",
                .context = &one,
                .fill = fill,
                .step = step,
                .check = check,
                .checked = "the gradient by double precision"};
    int64_t inner = work_outputs(&desc), outer = work_inputs(&desc);
    one.forward = work_plan(&options, &desc);
    desc.op = POOLGRAD_AVG_GRAD; /* of other tensors, so their layout is to be said, too */
    desc.dy.layout = desc.dx.layout = POOLGRAD_NXC;
    one.gradient = work_plan(&options, &desc);
    work_tensor *const small[] = {&one.x,     &one.trend, &one.rest, &one.dtrend,
                                  &one.drest, &one.dy,    &one.dx};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        *small[i] = work_floats(&job, inner);
    one.padded = work_floats(&job, outer);
    one.dpadded = work_floats(&job, outer);
    int wrong = work_measure(&options, &job);
    work_pool_free(&one.forward);
    work_pool_free(&one.gradient);
    return wrong;
}
