/* SPDX-License-Identifier: MIT */
/*
 * What the workloads share: pooling calls that can be checked, buffers, the measurement.
 *
 * A workload is a step of training as far as it is pooling. Its buffers form a set; the step is run
 * on one set after the other, so that every run finds its buffers outside the caches. The first run
 * is watched: every pooling call is repeated by strategy "reference" and must give the same bits,
 * and what is read and written is counted. Its floor is the time to copy that many bytes.
 */
#ifndef WORKLOADS_WORK_H
#define WORKLOADS_WORK_H

#include <poolgrad/poolgrad.h>
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------------- the command line */

/* --check: no timing; --tiny: tensors that fit anywhere. */
typedef struct work_options {
    int check, tiny, json, layers;
    int32_t threads;
    double seconds;
} work_options;

/* Reads the options of a workload's program; ends it when they are wrong. */
work_options work_parse(int argc, char **argv);

/* Prints a sentence and ends the program. */
_Noreturn void work_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* -------------------------------------------------------------------- a step */

/* Where a tensor lies in a set. */
typedef struct work_tensor {
    size_t offset, count;
} work_tensor;

typedef struct work_run work_run;

typedef struct work {
    const char *name;  /* "ResNet-50" */
    const char *shape; /* "8 images of 224x224" */
    void *context;     /* handed to the functions below */
    size_t set_bytes;  /* grows with every tensor that is added */
    void (*fill)(void *context, char *set);
    void (*step)(void *context, work_run *run, char *set);
    /* What else must hold after a step, and in words; NULL if nothing. Returns 0, or -1 after a
     * message. */
    int (*check)(void *context, char *set);
    const char *checked;
} work;

/* Makes room for f32 or i64 elements in every set; they begin at a page. */
work_tensor work_floats(work *one, int64_t count);
work_tensor work_indices(work *one, int64_t count);

float *work_at(char *set, work_tensor tensor);
int64_t *work_indices_at(char *set, work_tensor tensor);

/* Numbers in [low, high), the same on every machine. */
void work_random(float *to, size_t count, double low, double high, uint64_t seed);

/* Checks the step; unless --check also times it. Prints a line. Returns 0, or 1 if a result is
 * wrong: main can add them up. */
int work_measure(const work_options *options, work *one);

/* ------------------------------------------------------------- inside a step */

/* A problem and the plan of it. */
typedef struct work_pool {
    poolgrad_plan *plan, *reference;
    const poolgrad_desc *desc; /* resolved */
    void *workspace;
    size_t workspace_size;
} work_pool;

/* The descriptor of a problem string; with --tiny batch 1 and at most two channels. */
poolgrad_desc work_problem(const work_options *options, const char *text);

/* Elements of the x and y tensors of a problem, dx and dy the same. */
int64_t work_inputs(const poolgrad_desc *desc);
int64_t work_outputs(const poolgrad_desc *desc);

work_pool work_plan(const work_options *options, const poolgrad_desc *desc);
void work_pool_free(work_pool *pool);

/* Executes; on the run that is watched, checks. Workspace and size of the buffers are filled in. */
void work_execute(work_run *run, const work_pool *pool, poolgrad_buffers buffers);

/* What a step does beside pooling says how many floats it reads and writes. */
void work_count(work_run *run, size_t floats);

/* to = from, with all threads; counted. */
void work_copy(work_run *run, float *to, const float *from, size_t count);

/* Threads, for loops of one's own. */
int work_threads(const work_run *run);

/* malloc, for check functions; ends the program when there is no memory. */
void *work_memory(size_t bytes);

#endif
