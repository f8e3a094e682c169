/* SPDX-License-Identifier: MIT */
/*
 * PoolFormer-S12: twelve blocks in four stages, each of which mixes its tokens by
 * y = pool(x) - x with 3x3 windows that do not count the padding.
 *
 * beta does the subtraction: with y holding x, one call gives pool(x) + beta * y. The gradient of
 * it, dx = gradient(dy) - dy, is the same again.
 */
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

#define MOST_BLOCKS 12

static const struct stage {
    int blocks;
    const char *problem;
} stages[] = {
    {2, "avgpool2d:f32:nchw:8x64x56x56:k3:p1:div=exclude:beta=-1"},
    {2, "avgpool2d:f32:nchw:8x128x28x28:k3:p1:div=exclude:beta=-1"},
    {6, "avgpool2d:f32:nchw:8x320x14x14:k3:p1:div=exclude:beta=-1"},
    {2, "avgpool2d:f32:nchw:8x512x7x7:k3:p1:div=exclude:beta=-1"},
};

enum {
    STAGES = sizeof stages / sizeof *stages
};

/* A plan never changes: the blocks of a stage share it. */
typedef struct poolformer {
    work_pool forward[STAGES], gradient[STAGES];
    struct block {
        int stage;
        work_tensor x, y, dy, dx;
    } blocks[MOST_BLOCKS];
    int count;
} poolformer;

static void fill(void *context, char *set)
{
    poolformer *model = context;
    for (int i = 0; i < model->count; i++) {
        work_random(work_at(set, model->blocks[i].x), model->blocks[i].x.count, -1, 1, 1);
        work_random(work_at(set, model->blocks[i].dy), model->blocks[i].dy.count, -1, 1, 2);
    }
}

static void step(void *context, work_run *run, char *set)
{
    poolformer *model = context;
    for (int i = 0; i < model->count; i++) {
        struct block *block = &model->blocks[i];
        float *x = work_at(set, block->x), *y = work_at(set, block->y);
        work_copy(run, y, x, block->x.count);
        work_execute(run, &model->forward[block->stage], (poolgrad_buffers){.x = x, .y = y});
    }
    for (int i = model->count - 1; i >= 0; i--) {
        struct block *block = &model->blocks[i];
        float *dy = work_at(set, block->dy), *dx = work_at(set, block->dx);
        work_copy(run, dx, dy, block->dy.count);
        work_execute(run, &model->gradient[block->stage], (poolgrad_buffers){.dy = dy, .dx = dx});
    }
}

int main(int argc, char **argv)
{
    work_options options = work_parse(argc, argv);
    poolformer model = {.count = 0};
    work one = {.name = "PoolFormer-S12",
                .shape = "8 images of 224x224",
                .context = &model,
                .fill = fill,
                .step = step};
    for (int stage = 0; stage < STAGES; stage++) {
        poolgrad_desc desc = work_problem(&options, stages[stage].problem);
        int64_t count = work_inputs(&desc);
        model.forward[stage] = work_plan(&options, &desc);
        desc.op = POOLGRAD_AVG_GRAD;
        model.gradient[stage] = work_plan(&options, &desc);
        for (int i = 0; i < stages[stage].blocks; i++)
            model.blocks[model.count++] = (struct block){.stage = stage,
                                                         .x = work_floats(&one, count),
                                                         .y = work_floats(&one, count),
                                                         .dy = work_floats(&one, count),
                                                         .dx = work_floats(&one, count)};
    }
    int wrong = work_measure(&options, &one);
    for (int stage = 0; stage < STAGES; stage++) {
        work_pool_free(&model.forward[stage]);
        work_pool_free(&model.gradient[stage]);
    }
    return wrong;
}
