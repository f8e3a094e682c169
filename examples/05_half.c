/* SPDX-License-Identifier: MIT */
/*
 * bfloat16: computed in f32, rounded once on store; and accumulating into dx with alpha and beta.
 */
#include <poolgrad/poolgrad.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SIDE 8
#define IN   (SIDE * SIDE)
#define OUT  IN

static int run(const char *problem, const void *dy, void *dx)
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

int main(void)
{
    float values[OUT], exact[OUT], wide[IN], first[IN], second[IN], sum[IN];
    uint16_t dy[OUT], dx[IN], rounded[IN];

    /* Narrow the data; what bf16 cannot hold is lost here, and `exact` is what remains. */
    for (int i = 0; i < OUT; i++)
        values[i] = (float)(i % 13) / 3 - 2;
    poolgrad_convert(POOLGRAD_BF16, dy, POOLGRAD_F32, values, OUT, NULL);
    poolgrad_convert(POOLGRAD_F32, exact, POOLGRAD_BF16, dy, OUT, NULL);

    /* A bf16 plan gives the f32 result, rounded once. */
    int ok = run("avg2d:bf16:nchw:1x1x8x8:k5:p2", dy, dx);
    ok &= run("avg2d:f32:nchw:1x1x8x8:k5:p2", exact, wide);
    poolgrad_convert(POOLGRAD_BF16, rounded, POOLGRAD_F32, wide, IN, NULL);
    int equal = memcmp(dx, rounded, sizeof dx) == 0;
    printf("bf16 plan and rounded f32 plan: %s\n", equal ? "same bits" : "DIFFERENT");
    ok &= equal;

    /* x feeds two poolings, so dx is the sum of two gradients. The first plan writes dx (beta is
     * 0: what is there is not read), the second adds to it; alpha undoes a loss scale of 2. */
    ok &= run("avg2d:bf16:nchw:1x1x8x8:k5:p2:alpha=0.5", dy, dx);
    ok &= run("avg2d:bf16:nchw:1x1x8x8:k3:p1:alpha=0.5:beta=1", dy, dx);

    /* The same by hand: round(r + beta*dx), with the first result already rounded to bf16. */
    ok &= run("avg2d:f32:nchw:1x1x8x8:k5:p2:alpha=0.5", exact, first);
    poolgrad_convert(POOLGRAD_BF16, rounded, POOLGRAD_F32, first, IN, NULL);
    poolgrad_convert(POOLGRAD_F32, first, POOLGRAD_BF16, rounded, IN, NULL);
    ok &= run("avg2d:f32:nchw:1x1x8x8:k3:p1:alpha=0.5", exact, second);
    for (int i = 0; i < IN; i++)
        sum[i] = second[i] + first[i];
    poolgrad_convert(POOLGRAD_BF16, rounded, POOLGRAD_F32, sum, IN, NULL);
    equal = memcmp(dx, rounded, sizeof dx) == 0;
    printf("beta=1 and the sum by hand: %s\n", equal ? "same bits" : "DIFFERENT");

    poolgrad_convert(POOLGRAD_F32, sum, POOLGRAD_BF16, dx, IN, NULL);
    printf("dx[0..3] = %g %g %g %g\n", (double)sum[0], (double)sum[1], (double)sum[2],
           (double)sum[3]);
    return ok && equal ? 0 : 1;
}
