/* SPDX-License-Identifier: MIT */
/*
 * Boxes: dx in pieces, each from the part of dy that reaches it, equal to the whole to the bit.
 * This is how to tile an array that does not fit in memory, or to share it between processes.
 */
#include <inttypes.h>
#include <poolgrad/poolgrad.h>
#include <stdio.h>
#include <string.h>

#define H    40
#define W    50
#define TILE 16

static int execute(const poolgrad_desc *desc, const float *dy, float *dx)
{
    poolgrad_plan *plan = NULL;
    poolgrad_error error;
    poolgrad_buffers buffers = {.size = sizeof buffers, .dy = dy, .dx = dx};
    if (poolgrad_plan_create(&plan, desc, NULL, &error) == POOLGRAD_OK)
        poolgrad_execute(plan, &buffers, &error);
    poolgrad_plan_destroy(plan);
    if (error.status != POOLGRAD_OK)
        fprintf(stderr, "%s\n", error.message);
    return error.status == POOLGRAD_OK;
}

int main(void)
{
    static float dy[H * W], whole[H * W], glued[H * W];
    static float dy_part[H * W], dx_part[TILE * TILE];
    poolgrad_desc problem;
    poolgrad_desc_parse("avg2d:f32:nchw:1x1x40x50:k5x3:s2x1:p2x1:div=exclude", &problem, NULL);
    if (poolgrad_desc_resolve(&problem, NULL) != POOLGRAD_OK)
        return 1;
    int64_t out_w = problem.out[1];
    for (int64_t i = 0; i < problem.out[0] * out_w; i++)
        dy[i] = (float)(i % 23) / 11 - 1;
    int ok = execute(&problem, dy, whole);

    for (int64_t h = 0; h < H; h += TILE) {
        for (int64_t w = 0; w < W; w += TILE) {
            /* Say which part of dx, and let the library say which part of dy. */
            poolgrad_desc desc = problem;
            poolgrad_error error;
            desc.dx.offset[2] = h;
            desc.dx.offset[3] = w;
            desc.dx.extent[2] = H - h < TILE ? H - h : TILE;
            desc.dx.extent[3] = W - w < TILE ? W - w : TILE;
            if (poolgrad_desc_reach(&desc, &error) != POOLGRAD_OK) {
                fprintf(stderr, "%s\n", error.message);
                return 1;
            }
            const int64_t *from = desc.dy.offset, *size = desc.dy.extent;
            printf("dx rows %2" PRId64 "+%-2" PRId64 " columns %2" PRId64 "+%-2" PRId64
                   "  from dy rows %2" PRId64 "+%-2" PRId64 " columns %2" PRId64 "+%-2" PRId64 "\n",
                   h, desc.dx.extent[2], w, desc.dx.extent[3], from[2], size[2], from[3], size[3]);

            /* Cut that part out, compute, and paste the result: only these parts are in memory. */
            for (int64_t y = 0; y < size[2]; y++) {
                memcpy(dy_part + y * size[3], dy + (from[2] + y) * out_w + from[3],
                       (size_t)size[3] * sizeof(float));
            }
            ok &= execute(&desc, dy_part, dx_part);
            for (int64_t y = 0; y < desc.dx.extent[2]; y++) {
                memcpy(glued + (h + y) * W + w, dx_part + y * desc.dx.extent[3],
                       (size_t)desc.dx.extent[3] * sizeof(float));
            }
        }
    }
    int equal = memcmp(glued, whole, sizeof whole) == 0;
    printf("glued boxes and the whole: %s\n", equal ? "same bits" : "DIFFERENT");
    return ok && equal ? 0 : 1;
}
