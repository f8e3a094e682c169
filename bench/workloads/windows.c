/* SPDX-License-Identifier: MIT */
#include "windows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Loops are cut into blocks: their partial sums do not depend on the number of threads. */
#define BLOCK 4096

typedef struct model {
    const windows_loss *loss;
    work_pool forward, gradient;
    size_t inputs, outputs; /* elements of one map, and windows */
    work_tensor maps, means, slopes, spread, db;
    double value; /* of the loss, after a step */
} model;

static int64_t blocks(size_t count)
{
    return (int64_t)((count + BLOCK - 1) / BLOCK);
}

static void fill(void *context, char *set)
{
    const model *one = context;
    float *a = work_at(set, one->maps), *b = a + one->inputs;
    work_random(a, one->inputs, 0, 1, 1);
    work_random(b, one->inputs, 0, 1, 2);
    for (size_t i = 0; i < one->inputs; i++) /* alike, as image and reconstruction are */
        b[i] = 0.75F * a[i] + 0.25F * b[i];
}

static void make_maps(const model *one, work_run *run, char *set)
{
    size_t count = one->inputs;
    float *a = work_at(set, one->maps), *b = a + count;
    float *aa = b + count, *bb = aa + count, *ab = bb + count;
    work_count(run, 5 * count);
#pragma omp parallel for num_threads(work_threads(run))
    for (int64_t i = 0; i < (int64_t)count; i++) {
        aa[i] = a[i] * a[i];
        bb[i] = b[i] * b[i];
        ab[i] = a[i] * b[i];
    }
}

/* Returns the sum of the scores. */
static double make_slopes(const model *one, work_run *run, char *set)
{
    const float *means = work_at(set, one->means);
    float *slopes = work_at(set, one->slopes);
    int64_t count = blocks(one->outputs);
    double *sums = work_memory((size_t)count * sizeof *sums), sum = 0;
    work_count(run, (MEANS + SLOPES) * one->outputs);
#pragma omp parallel for num_threads(work_threads(run))
    for (int64_t block = 0; block < count; block++) {
        size_t begin = (size_t)block * BLOCK, rest = one->outputs - begin;
        const float *mean[MEANS];
        float *slope[SLOPES];
        for (int i = 0; i < MEANS; i++)
            mean[i] = means + (size_t)i * one->outputs + begin;
        for (int i = 0; i < SLOPES; i++)
            slope[i] = slopes + (size_t)i * one->outputs + begin;
        sums[block] = one->loss->slopes(rest < BLOCK ? rest : BLOCK, mean, slope);
    }
    for (int64_t block = 0; block < count; block++)
        sum += sums[block];
    free(sums);
    return sum;
}

static void combine(const model *one, work_run *run, char *set)
{
    size_t count = one->inputs;
    const float *a = work_at(set, one->maps), *b = a + count;
    const float *by_b = work_at(set, one->spread), *by_bb = by_b + count, *by_ab = by_bb + count;
    float *db = work_at(set, one->db);
    work_count(run, 6 * count);
#pragma omp parallel for num_threads(work_threads(run))
    for (int64_t i = 0; i < (int64_t)count; i++)
        db[i] = by_b[i] + 2 * b[i] * by_bb[i] + a[i] * by_ab[i];
}

static void step(void *context, work_run *run, char *set)
{
    model *one = context;
    make_maps(one, run, set);
    work_execute(run, &one->forward,
                 (poolgrad_buffers){.x = work_at(set, one->maps), .y = work_at(set, one->means)});
    one->value = -make_slopes(one, run, set) / (double)one->outputs;
    /* alpha = -1 / windows: the loss is minus the mean of the scores */
    work_execute(
        run, &one->gradient,
        (poolgrad_buffers){.dy = work_at(set, one->slopes), .dx = work_at(set, one->spread)});
    combine(one, run, set);
}

/* ----------------------------------------------------------------- checking */

/* The mean over windows along one axis of an array of outer x in x inner; replaces *values. */
static void mean_along(double **values, int64_t outer, int64_t in, int64_t out, int64_t inner,
                       int64_t kernel, int64_t pad)
{
    double *result = work_memory((size_t)(outer * out * inner) * sizeof *result);
    for (int64_t i = 0; i < outer * out; i++) {
        int64_t first = i % out - pad;
        double *to = result + i * inner;
        const double *from = *values + i / out * in * inner;
        memset(to, 0, (size_t)inner * sizeof *to);
        for (int64_t p = first < 0 ? 0 : first; p < first + kernel && p < in; p++)
            for (int64_t k = 0; k < inner; k++)
                to[k] += from[p * inner + k] / (double)kernel;
    }
    free(*values);
    *values = result;
}

/* The loss in double precision, with pooling of its own: one axis after the other. */
static double exact_loss(const model *one, const double *a, const double *b)
{
    const poolgrad_desc *desc = one->forward.desc;
    double *mean[MEANS], sum = 0;
    for (int m = 0; m < MEANS; m++) {
        mean[m] = work_memory(one->inputs * sizeof(double));
        for (size_t i = 0; i < one->inputs; i++) {
            double left = m == MEAN_B || m == MEAN_BB ? b[i] : a[i];
            double right = m == MEAN_AA ? a[i] : b[i];
            mean[m][i] = m == MEAN_A || m == MEAN_B ? left : left * right;
        }
        int64_t outer = (int64_t)one->inputs;
        for (int axis = 0; axis < desc->rank; axis++)
            outer /= desc->in[axis];
        for (int axis = 0; axis < desc->rank; axis++) {
            int64_t inner = 1;
            for (int k = axis + 1; k < desc->rank; k++)
                inner *= desc->in[k];
            mean_along(&mean[m], outer, desc->in[axis], desc->out[axis], inner, desc->kernel[axis],
                       desc->pad_lo[axis]);
            outer *= desc->out[axis];
        }
    }
    for (size_t i = 0; i < one->outputs; i++) {
        double means[MEANS];
        for (int m = 0; m < MEANS; m++)
            means[m] = mean[m][i];
        sum += one->loss->score(means);
    }
    for (int m = 0; m < MEANS; m++)
        free(mean[m]);
    return -sum / (double)one->outputs;
}

/* b + step * direction, with a direction of random signs; returns gradient times direction. */
static double move(const model *one, const float *b, const float *db, double step, double *to)
{
    float *signs = work_memory(one->inputs * sizeof *signs);
    double slope = 0;
    work_random(signs, one->inputs, -1, 1, 3);
    for (size_t i = 0; i < one->inputs; i++) {
        double sign = signs[i] < 0 ? -1 : 1;
        to[i] = (double)b[i] + step * sign;
        slope += (double)db[i] * sign;
    }
    free(signs);
    return slope;
}

/* Along a random direction the slope is about as large as the gradient is long, so that is what an
 * error is measured by. */
static int check(void *context, char *set)
{
    const model *one = context;
    const float *a = work_at(set, one->maps), *b = a + one->inputs, *db = work_at(set, one->db);
    double *exact_a = work_memory(one->inputs * sizeof *exact_a);
    double *exact_b = work_memory(one->inputs * sizeof *exact_b);
    double length = 0, size = 1e-4;
    for (size_t i = 0; i < one->inputs; i++) {
        exact_a[i] = (double)a[i];
        length += (double)db[i] * (double)db[i];
    }
    length = sqrt(length);
    move(one, b, db, 0, exact_b);
    double value = exact_loss(one, exact_a, exact_b);
    move(one, b, db, size, exact_b);
    double above = exact_loss(one, exact_a, exact_b);
    double slope = move(one, b, db, -size, exact_b);
    double difference = (above - exact_loss(one, exact_a, exact_b)) / (2 * size);
    free(exact_a);
    free(exact_b);
    if (fabs(value - one->value) <= 1e-4 * fabs(value) && length > 0 &&
        fabs(difference - slope) <= 1e-3 * length)
        return 0;
    fprintf(stderr, "%s: the loss is %.9g, exactly %.9g; its slope %.9g, by differences %.9g\n",
            one->loss->name, one->value, value, slope, difference);
    return -1;
}

int windows_main(int argc, char **argv, const windows_loss *loss)
{
    work_options options = work_parse(argc, argv);
    poolgrad_desc desc = work_problem(&options, loss->problem);
    if (options.tiny)
        memcpy(desc.in, loss->tiny_size, sizeof desc.in);
    int64_t inputs = work_inputs(&desc), outputs = work_outputs(&desc), images = desc.batch;
    model one = {.loss = loss, .inputs = (size_t)inputs, .outputs = (size_t)outputs};
    work job = {.name = loss->name,
                .shape = loss->shape,
                .context = &one,
                .fill = fill,
                .step = step,
                .check = check,
                .checked = "loss and gradient by double precision"};
    desc.batch = MEANS * images;
    one.forward = work_plan(&options, &desc);
    desc.op = POOLGRAD_AVG_GRAD;
    desc.batch = SLOPES * images;
    desc.alpha = -1.0 / (double)outputs;
    one.gradient = work_plan(&options, &desc);
    one.maps = work_floats(&job, MEANS * inputs);
    one.means = work_floats(&job, MEANS * outputs);
    one.slopes = work_floats(&job, SLOPES * outputs);
    one.spread = work_floats(&job, SLOPES * inputs);
    one.db = work_floats(&job, inputs);
    int wrong = work_measure(&options, &job);
    work_pool_free(&one.forward);
    work_pool_free(&one.gradient);
    return wrong;
}
