/* SPDX-License-Identifier: MIT */
/*
 * YOLO's spatial pyramid pooling at 640x640, forward and gradient: maxima over 5x5, 9x9 and 13x13
 * windows beside the input itself, concatenated along the channels.
 *
 * SPP pools x three times. The results go straight to their places in the concatenation, by strides
 * of y; on the way back dy is read there, and beta = 1 adds one gradient to the other. SPPF pools
 * 5x5 three times in a row, which covers the same windows; then the pieces are copied, because what
 * is written may not lie between what is read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

#define BRANCHES 3

typedef struct pyramid {
    work_pool forward[BRANCHES], gradient[BRANCHES];
    work_tensor x, dx, joined, djoined;
    work_tensor indices[BRANCHES];
    work_tensor y[BRANCHES], dy[BRANCHES]; /* SPPF */
    int64_t images;
    size_t piece;               /* floats that an image has in x */
    work_pool direct[BRANCHES]; /* SPPF: what it must be equal to */
} pyramid;

/* Part `piece` of the concatenation, beginning with image `image`. */
static float *part(const pyramid *one, float *joined, int64_t image, int piece)
{
    return joined + ((size_t)image * (BRANCHES + 1) + (size_t)piece) * one->piece;
}

/* A view of a part: images are further apart than in a tensor of its own. */
static poolgrad_view part_view(const poolgrad_desc *desc)
{
    int64_t plane = desc->in[0] * desc->in[1];
    poolgrad_view view = desc->y;
    view.layout = POOLGRAD_STRIDED;
    view.stride[0] = (BRANCHES + 1) * desc->channels * plane;
    view.stride[1] = plane;
    view.stride[2] = desc->in[1];
    view.stride[3] = 1;
    return view;
}

static void fill(void *context, char *set)
{
    const pyramid *one = context;
    work_random(work_at(set, one->x), one->x.count, -1, 1, 1);
    work_random(work_at(set, one->djoined), one->djoined.count, -1, 1, 2);
}

static void step_spp(void *context, work_run *run, char *set)
{
    const pyramid *one = context;
    float *x = work_at(set, one->x), *dx = work_at(set, one->dx);
    float *joined = work_at(set, one->joined), *djoined = work_at(set, one->djoined);
    for (int64_t image = 0; image < one->images; image++)
        work_copy(run, part(one, joined, image, 0), x + (size_t)image * one->piece, one->piece);
    for (int i = 0; i < BRANCHES; i++)
        work_execute(run, &one->forward[i],
                     (poolgrad_buffers){.x = x,
                                        .y = part(one, joined, 0, i + 1),
                                        .indices_out = work_indices_at(set, one->indices[i])});

    for (int64_t image = 0; image < one->images; image++)
        work_copy(run, dx + (size_t)image * one->piece, part(one, djoined, image, 0), one->piece);
    for (int i = 0; i < BRANCHES; i++)
        work_execute(run, &one->gradient[i],
                     (poolgrad_buffers){.dy = part(one, djoined, 0, i + 1),
                                        .dx = dx,
                                        .indices = work_indices_at(set, one->indices[i])});
}

static void step_sppf(void *context, work_run *run, char *set)
{
    const pyramid *one = context;
    float *joined = work_at(set, one->joined), *djoined = work_at(set, one->djoined);
    float *y[BRANCHES + 1] = {work_at(set, one->x)}, *dy[BRANCHES + 1] = {work_at(set, one->dx)};
    for (int i = 0; i < BRANCHES; i++) {
        y[i + 1] = work_at(set, one->y[i]);
        dy[i + 1] = work_at(set, one->dy[i]);
    }

    for (int i = 0; i < BRANCHES; i++)
        work_execute(run, &one->forward[i],
                     (poolgrad_buffers){.x = y[i],
                                        .y = y[i + 1],
                                        .indices_out = work_indices_at(set, one->indices[i])});
    for (int64_t image = 0; image < one->images; image++) {
        for (int i = 0; i <= BRANCHES; i++) {
            size_t at = (size_t)image * one->piece;
            work_copy(run, part(one, joined, image, i), y[i] + at, one->piece);
            work_copy(run, dy[i] + at, part(one, djoined, image, i), one->piece);
        }
    }
    for (int i = BRANCHES - 1; i >= 0; i--)
        work_execute(run, &one->gradient[i],
                     (poolgrad_buffers){.dy = dy[i + 1],
                                        .dx = dy[i],
                                        .indices = work_indices_at(set, one->indices[i])});
}

/* Two 5x5 in a row are one 9x9, three are one 13x13. */
static int check_sppf(void *context, char *set)
{
    const pyramid *one = context;
    int wrong = 0;
    for (int i = 1; i < BRANCHES; i++) {
        size_t bytes = one->x.count * sizeof(float);
        float *y = work_memory(bytes);
        poolgrad_buffers buffers = {.size = sizeof buffers, .x = work_at(set, one->x), .y = y};
        if (poolgrad_execute(one->direct[i].plan, &buffers, NULL) != POOLGRAD_OK ||
            memcmp(y, work_at(set, one->y[i]), bytes) != 0)
            wrong = -1;
        free(y);
    }
    if (wrong)
        fprintf(stderr, "SPPF: its maxima are not those of SPP\n");
    return wrong;
}

static int measure(const work_options *options, int fast)
{
    static const char *const problems[BRANCHES] = {
        "maxpool2d:f32:nchw:8x512x20x20:k5:p2",
        "maxpool2d:f32:nchw:8x512x20x20:k9:p4",
        "maxpool2d:f32:nchw:8x512x20x20:k13:p6",
    };
    pyramid model = {0};
    work one = {.name = fast ? "YOLO SPPF" : "YOLO SPP",
                .shape = "8 images of 640x640",
                .context = &model,
                .fill = fill,
                .step = fast ? step_sppf : step_spp,
                .check = fast ? check_sppf : NULL,
                .checked = fast ? "the maxima of SPP" : NULL};
    for (int i = 0; i < BRANCHES; i++) {
        poolgrad_desc desc = work_problem(options, problems[fast ? 0 : i]);
        int64_t count = work_inputs(&desc);
        if (fast) {
            poolgrad_desc direct = work_problem(options, problems[i]);
            model.direct[i] = work_plan(options, &direct);
            model.y[i] = work_floats(&one, count);
            model.dy[i] = work_floats(&one, count);
        } else {
            desc.y = desc.dy = part_view(&desc);
        }
        model.forward[i] = work_plan(options, &desc);
        desc.op = POOLGRAD_MAX_GRAD;
        desc.beta = 1;
        model.gradient[i] = work_plan(options, &desc);
        model.indices[i] = work_indices(&one, count);
        if (i == 0) {
            model.images = desc.batch;
            model.piece = (size_t)(count / desc.batch);
            model.x = work_floats(&one, count);
            model.dx = work_floats(&one, count);
            model.joined = work_floats(&one, (BRANCHES + 1) * count);
            model.djoined = work_floats(&one, (BRANCHES + 1) * count);
        }
    }
    int wrong = work_measure(options, &one);
    for (int i = 0; i < BRANCHES; i++) {
        work_pool_free(&model.forward[i]);
        work_pool_free(&model.gradient[i]);
        work_pool_free(&model.direct[i]);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    work_options options = work_parse(argc, argv);
    return measure(&options, 0) + measure(&options, 1);
}
