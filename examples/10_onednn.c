/* SPDX-License-Identifier: MIT */
/* oneDNN's AvgPoolBackward: a 3x3 diff_src from the 2x2 diff_dst of a 2x2 window. The axes are in
 * oneDNN's default order, NXC: batch, height, width, channels. */
#include <poolgrad/onednn.h>
#include <stdio.h>

int main(void)
{
    float dy[] = {1, 2, 3, 4}, dx[9];
    const int64_t dst[] = {1, 2, 2, 1}, src[] = {1, 3, 3, 1};
    const poolgrad_tensor diff_dst = {POOLGRAD_ONEDNN_F32, 4, dst, NULL, dy};
    const poolgrad_tensor diff_src = {POOLGRAD_ONEDNN_F32, 4, src, NULL, dx};
    const poolgrad_onednn_attributes attributes = {.strides = POOLGRAD_LIST(1, 1),
                                                   .pads_begin = POOLGRAD_LIST(0, 0),
                                                   .pads_end = POOLGRAD_LIST(0, 0),
                                                   .kernel = POOLGRAD_LIST(2, 2),
                                                   .exclude_pad = &(int32_t){0},
                                                   .src_shape = POOLGRAD_LIST(1, 3, 3, 1)};
    poolgrad_error error;
    if (poolgrad_onednn_avg_pool_backward(&diff_dst, NULL, &attributes, &diff_src, NULL, &error)) {
        printf("%s\n", error.message);
        return 1;
    }
    for (int i = 0; i < 9; i++)
        printf("%5g%s", (double)dx[i], i % 3 == 2 ? "\n" : "");
    return dx[4] != 2.5f; /* a quarter of 1 + 2 + 3 + 4 */
}
