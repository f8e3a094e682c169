/* SPDX-License-Identifier: MIT */
/*
 * Max pooling: values and winners forward; the gradient from the winners, or from x again; and
 * what a bad index gets.
 */
#include <inttypes.h>
#include <math.h>
#include <poolgrad/poolgrad.h>
#include <stdio.h>
#include <string.h>

#define C   2
#define H   5
#define W   6
#define IN  (C * H * W)
#define OUT (C * 3 * 3)

static poolgrad_status run(const char *problem, const poolgrad_buffers *buffers,
                           poolgrad_error *error)
{
    poolgrad_desc desc;
    poolgrad_plan *plan = NULL;
    if (poolgrad_desc_parse(problem, &desc, error) == POOLGRAD_OK &&
        poolgrad_plan_create(&plan, &desc, NULL, error) == POOLGRAD_OK)
        poolgrad_execute(plan, buffers, error);
    poolgrad_plan_destroy(plan);
    if (error->status != POOLGRAD_OK)
        printf("%s: %s\n", problem, error->message);
    return error->status;
}

int main(void)
{
    /* Ties everywhere, a NaN, and a first channel that is -inf in its upper left corner. */
    float x[IN], y[OUT], dy[OUT], dx[IN], again[IN];
    for (int i = 0; i < IN; i++)
        x[i] = (float)(i * 7 % 5);
    x[0] = x[1] = x[W] = x[W + 1] = -INFINITY;
    x[IN - 2] = NAN;
    for (int i = 0; i < OUT; i++)
        dy[i] = (float)(i + 1) / 3;

    /* Forward. Indices count over the whole tensor, as in ONNX Runtime, or over a plane, as in
     * PyTorch; padding never wins, and a winner always lies in its window. */
    int64_t indices[OUT];
    int32_t in_plane[OUT];
    poolgrad_error error;
    poolgrad_buffers forward = {.size = sizeof forward, .x = x, .y = y, .indices_out = indices};
    int ok = run("maxpool2d:f32:nchw:1x2x5x6:k3:s2:p1", &forward, &error) == POOLGRAD_OK;
    forward.indices_out = in_plane;
    ok &= run("maxpool2d:f32:nchw:1x2x5x6:k3:s2:p1:index=i32:base=plane", &forward, &error) ==
          POOLGRAD_OK;
    for (int i = 0; i < OUT; i++) {
        printf("%4g at %2" PRId64 "%s", (double)y[i], indices[i], i % 3 == 2 ? "\n" : "   ");
        ok &= indices[i] == in_plane[i] + (i < OUT / C ? 0 : H * W);
        ok &= isnan(y[i]) ? indices[i] == IN - 2 : y[i] == x[indices[i]];
    }
    ok &= y[0] < 0 && indices[0] == 0; /* all -inf: the first position inside the input */

    /* Back. Overlapping windows with one winner add; the two ways give the same bits. */
    poolgrad_buffers back = {.size = sizeof back, .dy = dy, .dx = dx, .indices = indices};
    ok &= run("max2d:f32:nchw:1x2x5x6:k3:s2:p1", &back, &error) == POOLGRAD_OK;
    poolgrad_buffers from_x = {.size = sizeof from_x, .dy = dy, .dx = again, .x = x};
    ok &= run("max2d:f32:nchw:1x2x5x6:k3:s2:p1:from=x", &from_x, &error) == POOLGRAD_OK;
    int equal = memcmp(dx, again, sizeof dx) == 0;
    printf("gradient from indices and from x: %s\n", equal ? "same bits" : "DIFFERENT");

    /* Every index is checked against its window: element 4 names a position that exists but is not
     * in its window, element 11 one that does not exist. The lowest is reported. */
    indices[4] = 0;
    indices[11] = INT64_C(1) << 62;
    ok &= run("max2d:f32:nchw:1x2x5x6:k3:s2:p1", &back, &error) == POOLGRAD_ERR_INDEX;
    ok &= error.position == 4;
    return ok && equal ? 0 : 1;
}
