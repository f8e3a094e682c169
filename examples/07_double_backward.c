/* SPDX-License-Identifier: MIT */
/*
 * Double backward: the gradient of the average gradient is average pooling, same divisor.
 *
 * A loss that is made of gradients, such as the gradient penalty sum(dx^2)/2, has to be
 * differentiated through dx. dx is linear in dy, so the way back from dx to dy is its transpose:
 * the forward pass of the same problem.
 */
#include <poolgrad/poolgrad.h>
#include <stdio.h>

#define IN  (2 * 6 * 5)
#define OUT (2 * 7 * 6)

static double dot(const float *a, const float *b, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

/* Half the square of the gradient that dy gives; leaves that gradient in dx. */
static double penalty(const poolgrad_plan *gradient, const float *dy, float *dx)
{
    poolgrad_buffers buffers = {.size = sizeof buffers, .dy = dy, .dx = dx};
    poolgrad_execute(gradient, &buffers, NULL);
    return dot(dx, dx, IN) / 2;
}

int main(void)
{
    /* 2x2 windows that run over the border, padding not counted: they divide by 4, 2 and 1. With
     * small integers every number below is exact, and == is the right comparison. */
    static float dy[OUT], dx[IN], d_dy[OUT], c[IN], pooled[OUT], other[IN];
    for (int i = 0; i < OUT; i++)
        dy[i] = (float)(i * 5 % 11 - 5);
    for (int i = 0; i < IN; i++)
        c[i] = (float)(i * 3 % 7 - 3);

    /* One descriptor, two ops. */
    poolgrad_desc desc;
    poolgrad_error error;
    poolgrad_plan *gradient = NULL, *forward = NULL;
    poolgrad_desc_parse("avg2d:f32:nchw:1x2x6x5:k2:p1:div=exclude", &desc, NULL);
    poolgrad_status status = poolgrad_plan_create(&gradient, &desc, NULL, &error);
    desc.op = POOLGRAD_AVG;
    if (status != POOLGRAD_OK ||
        poolgrad_plan_create(&forward, &desc, NULL, &error) != POOLGRAD_OK) {
        fprintf(stderr, "%s\n", error.message);
        poolgrad_plan_destroy(gradient);
        return 1;
    }

    /* The penalty's derivative by dx is dx, by dy the pooled dx. */
    double here = penalty(gradient, dy, dx);
    poolgrad_buffers buffers = {.size = sizeof buffers, .x = dx, .y = d_dy};
    int ok = poolgrad_execute(forward, &buffers, NULL) == POOLGRAD_OK;

    /* Finite differences: central ones are exact for a quadratic, whatever the step. */
    int wrong = 0;
    for (int i = 0; i < OUT; i++) {
        float value = dy[i];
        dy[i] = value + 1;
        double above = penalty(gradient, dy, other);
        dy[i] = value - 1;
        double below = penalty(gradient, dy, other);
        dy[i] = value;
        wrong += (above - below) / 2 != (double)d_dy[i];
    }
    printf("penalty %g; %d of %d derivatives differ from finite differences\n", here, wrong, OUT);

    /* The same as a statement about any c and dy: <gradient(dy), c> = <dy, pooled c>. */
    buffers.x = c;
    buffers.y = pooled;
    ok &= poolgrad_execute(forward, &buffers, NULL) == POOLGRAD_OK;
    double left = dot(dx, c, IN), right = dot(dy, pooled, OUT);
    printf("<gradient(dy), c> = %g, <dy, pool(c)> = %g\n", left, right);

    poolgrad_plan_destroy(forward);
    poolgrad_plan_destroy(gradient);
    return ok && wrong == 0 && left == right && here > 0 ? 0 : 1;
}
