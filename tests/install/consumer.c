/* SPDX-License-Identifier: MIT */
/* The smallest program that proves the installed library usable: one gradient, checked. */
#include <poolgrad/poolgrad.h>
#include <stdio.h>

int main(void)
{
    poolgrad_desc desc;
    poolgrad_error error;
    poolgrad_plan *plan;
    if (poolgrad_desc_parse("avg1d:f32:ncw:1x1x4:k2:s2", &desc, &error) != POOLGRAD_OK ||
        poolgrad_plan_create(&plan, &desc, NULL, &error) != POOLGRAD_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }

    const float dy[2] = {2, 6};
    const float expected[4] = {1, 1, 3, 3};
    float dx[4];
    poolgrad_buffers buffers;
    poolgrad_buffers_init(&buffers);
    buffers.dy = dy;
    buffers.dx = dx;
    poolgrad_status status = poolgrad_execute(plan, &buffers, &error);
    poolgrad_plan_destroy(plan);
    if (status != POOLGRAD_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    for (int i = 0; i < 4; i++) {
        if (dx[i] != expected[i]) {
            fprintf(stderr, "dx[%d] is %g, not %g\n", i, (double)dx[i], (double)expected[i]);
            return 1;
        }
    }
    puts(poolgrad_version());
    return 0;
}
