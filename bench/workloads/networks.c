/* SPDX-License-Identifier: MIT */
/*
 * The pooling layers of image classifiers, forward and gradient: what one training step of
 * ResNet-50, ResNet-50-D, Inception-v3, DenseNet-121 and VGG-16 spends on pooling.
 *
 * A gradient is the problem of its forward pass with another op; max pooling hands its winners from
 * one to the other as indices.
 */
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

#define MOST_LAYERS 20

/* What differs between torchvision and timm at even sizes, such as ceil, is left out. */
static const struct network {
    const char *name, *shape;
    const char *layers[MOST_LAYERS + 1]; /* NULL behind the last */
} networks[] = {
    {"ResNet-50",
     "8 images of 224x224",
     {
         "maxpool2d:f32:nchw:8x64x112x112:k3:s2:p1",
         "avgpool2d:f32:nchw:8x2048x7x7:k7",
     }},
    {"ResNet-50-D", /* its shortcuts average before they thin out */
     "8 images of 224x224",
     {
         "maxpool2d:f32:nchw:8x64x112x112:k3:s2:p1",
         "avgpool2d:f32:nchw:8x256x56x56:k2:s2:div=exclude",
         "avgpool2d:f32:nchw:8x512x28x28:k2:s2:div=exclude",
         "avgpool2d:f32:nchw:8x1024x14x14:k2:s2:div=exclude",
         "avgpool2d:f32:nchw:8x2048x7x7:k7",
     }},
    {"Inception-v3",
     "8 images of 299x299",
     {
         "maxpool2d:f32:nchw:8x64x147x147:k3:s2",
         "maxpool2d:f32:nchw:8x192x71x71:k3:s2",
         "avgpool2d:f32:nchw:8x192x35x35:k3:p1",
         "avgpool2d:f32:nchw:8x256x35x35:k3:p1",
         "avgpool2d:f32:nchw:8x288x35x35:k3:p1",
         "maxpool2d:f32:nchw:8x288x35x35:k3:s2",
         "avgpool2d:f32:nchw:8x768x17x17:k3:p1",
         "avgpool2d:f32:nchw:8x768x17x17:k3:p1",
         "avgpool2d:f32:nchw:8x768x17x17:k3:p1",
         "avgpool2d:f32:nchw:8x768x17x17:k3:p1",
         "avgpool2d:f32:nchw:8x768x17x17:k5:s3", /* the auxiliary classifier */
         "maxpool2d:f32:nchw:8x768x17x17:k3:s2",
         "avgpool2d:f32:nchw:8x1280x8x8:k3:p1",
         "avgpool2d:f32:nchw:8x2048x8x8:k3:p1",
         "avgpool2d:f32:nchw:8x2048x8x8:k8",
     }},
    {"DenseNet-121",
     "8 images of 224x224",
     {
         "maxpool2d:f32:nchw:8x64x112x112:k3:s2:p1",
         "avgpool2d:f32:nchw:8x128x56x56:k2:s2",
         "avgpool2d:f32:nchw:8x256x28x28:k2:s2",
         "avgpool2d:f32:nchw:8x512x14x14:k2:s2",
         "avgpool2d:f32:nchw:8x1024x7x7:k7",
     }},
    {"VGG-16",
     "8 images of 224x224",
     {
         "maxpool2d:f32:nchw:8x64x224x224:k2:s2",
         "maxpool2d:f32:nchw:8x128x112x112:k2:s2",
         "maxpool2d:f32:nchw:8x256x56x56:k2:s2",
         "maxpool2d:f32:nchw:8x512x28x28:k2:s2",
         "maxpool2d:f32:nchw:8x512x14x14:k2:s2",
     }},
};

typedef struct layer {
    work_pool forward, gradient;
    work_tensor x, y, dy, dx, indices;
} layer;

typedef struct layers {
    int count;
    layer at[MOST_LAYERS];
} layers;

static layer make_layer(const work_options *options, work *one, const char *problem)
{
    poolgrad_desc desc = work_problem(options, problem);
    int64_t inputs = work_inputs(&desc), outputs = work_outputs(&desc);
    int is_max = desc.op == POOLGRAD_MAX;
    layer new = {.forward = work_plan(options, &desc)};
    desc.op = is_max ? POOLGRAD_MAX_GRAD : POOLGRAD_AVG_GRAD;
    new.gradient = work_plan(options, &desc);
    new.x = work_floats(one, inputs);
    new.y = work_floats(one, outputs);
    new.dy = work_floats(one, outputs);
    new.dx = work_floats(one, inputs);
    new.indices = work_indices(one, is_max ? outputs : 0);
    return new;
}

static void fill(void *context, char *set)
{
    layers *all = context;
    for (int i = 0; i < all->count; i++) {
        work_random(work_at(set, all->at[i].x), all->at[i].x.count, -1, 1, 1);
        work_random(work_at(set, all->at[i].dy), all->at[i].dy.count, -1, 1, 2);
    }
}

static void step(void *context, work_run *run, char *set)
{
    layers *all = context;
    for (int i = 0; i < all->count; i++) {
        const layer *one = &all->at[i];
        work_execute(run, &one->forward,
                     (poolgrad_buffers){.x = work_at(set, one->x),
                                        .y = work_at(set, one->y),
                                        .indices_out = one->indices.count
                                                           ? work_indices_at(set, one->indices)
                                                           : NULL});
    }
    for (int i = all->count - 1; i >= 0; i--) {
        const layer *one = &all->at[i];
        work_execute(run, &one->gradient,
                     (poolgrad_buffers){.dy = work_at(set, one->dy),
                                        .dx = work_at(set, one->dx),
                                        .indices = work_indices_at(set, one->indices)});
    }
}

static int measure(const work_options *options, const struct network *network)
{
    layers all = {0};
    work one = {.name = network->name,
                .shape = network->shape,
                .context = &all,
                .fill = fill,
                .step = step};
    for (; network->layers[all.count]; all.count++)
        all.at[all.count] = make_layer(options, &one, network->layers[all.count]);
    int wrong = work_measure(options, &one);
    for (int i = 0; i < all.count; i++) {
        work_pool_free(&all.at[i].forward);
        work_pool_free(&all.at[i].gradient);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    work_options options = work_parse(argc, argv);
    int wrong = 0;
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        if (options.layers) { /* for torch_steps.py: a line per layer */
            for (int k = 0; networks[i].layers[k]; k++)
                printf("%s %s\n", networks[i].name, networks[i].layers[k]);
        } else {
            wrong += measure(&options, &networks[i]);
        }
    }
    return wrong;
}
