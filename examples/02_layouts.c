/* SPDX-License-Identifier: MIT */
/*
 * Layout is data: channels last, a strided view and a broadcast dy give the same bits.
 */
#include <poolgrad/poolgrad.h>
#include <stdio.h>
#include <string.h>

#define N    2
#define C    3
#define H    6
#define W    7
#define SIZE (N * C * H * W)

/* Runs one problem; the pointers address the first element of each view. */
static int run(const char *problem, const float *dy, float *dx)
{
    poolgrad_desc desc;
    poolgrad_plan *plan = NULL;
    poolgrad_error error;
    poolgrad_buffers buffers = {.size = sizeof buffers, .dy = dy, .dx = dx};
    if (poolgrad_desc_parse(problem, &desc, &error) == POOLGRAD_OK &&
        poolgrad_plan_create(&plan, &desc, NULL, &error) == POOLGRAD_OK)
        poolgrad_execute(plan, &buffers, &error);
    poolgrad_plan_destroy(plan);
    if (error.status != POOLGRAD_OK)
        fprintf(stderr, "%s: %s\n", problem, error.message);
    return error.status == POOLGRAD_OK;
}

static int same(const char *what, const float *a, const float *b)
{
    int equal = memcmp(a, b, SIZE * sizeof(float)) == 0;
    printf("%-28s %s\n", what, equal ? "same bits" : "DIFFERENT");
    return equal;
}

int main(void)
{
    /* k3 p1 stride 1: dy has the extents of dx. Once as NCHW, once as NHWC, and once with two
     * floats of space after every element and every row backwards. */
    static float dy[SIZE], dy_last[SIZE], dy_odd[3 * SIZE], ones[SIZE];
    static float whole[SIZE], dx[SIZE], dx_last[SIZE];
    for (int i = 0; i < SIZE; i++) {
        int w = i % W, h = i / W % H, c = i / W / H % C, n = i / W / H / C;
        dy[i] = (float)(i % 17) / 7 - 1;
        dy_last[((n * H + h) * W + w) * C + c] = dy[i];
        dy_odd[3 * (i - w + (W - 1 - w))] = dy[i];
        ones[i] = 1;
    }

    int ok = run("avg2d:f32:nchw:2x3x6x7:k3:p1", dy, whole);

    ok &= run("avg2d:f32:nhwc:2x3x6x7:k3:p1", dy_last, dx_last);
    for (int i = 0; i < SIZE; i++) {
        int w = i % W, h = i / W % H, c = i / W / H % C, n = i / W / H / C;
        dx[i] = dx_last[((n * H + h) * W + w) * C + c];
    }
    ok &= same("channels last", dx, whole);

    /* With a negative stride, element 0 of the view is not at its lowest address. */
    ok &= run("avg2d:f32:strided/nchw:2x3x6x7:k3:p1:dystride=378,126,21,-3", dy_odd + 3 * (W - 1),
              dx);
    ok &= same("every third, rows reversed", dx, whole);

    /* Stride 0 on every axis: one number stands for all of dy. */
    const float one = 1;
    ok &= run("avg2d:f32:nchw:2x3x6x7:k3:p1", ones, whole);
    ok &= run("avg2d:f32:strided/nchw:2x3x6x7:k3:p1:dystride=0,0,0,0", &one, dx);
    ok &= same("dy broadcast from one value", dx, whole);
    return ok ? 0 : 1;
}
