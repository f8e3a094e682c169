/* SPDX-License-Identifier: MIT */
/* PyTorch's avg_pool2d_backward: a 3x3 gradient from the 2x2 one of a 2x2 window with stride 1. */
#include <poolgrad/torch.h>
#include <stdio.h>

int main(void)
{
    float dy[] = {1, 2, 3, 4}, dx[9];
    const int64_t out[] = {1, 1, 2, 2}, in[] = {1, 1, 3, 3};
    const poolgrad_tensor grad_output = {POOLGRAD_TORCH_FLOAT, 4, out, NULL, dy};
    const poolgrad_tensor self = {POOLGRAD_TORCH_FLOAT, 4, in, NULL, NULL}; /* sizes are enough */
    const poolgrad_tensor grad_input = {POOLGRAD_TORCH_FLOAT, 4, in, NULL, dx};
    poolgrad_torch_attributes attributes;
    poolgrad_error error;
    poolgrad_torch_attributes_init(&attributes);
    attributes.kernel_size = POOLGRAD_LIST(2, 2);
    attributes.stride = POOLGRAD_LIST(1);
    if (poolgrad_torch_avg_pool_backward(2, &grad_output, &self, &attributes, &grad_input, NULL,
                                         &error)) {
        printf("%s\n", error.message);
        return 1;
    }
    for (int i = 0; i < 9; i++)
        printf("%5g%s", (double)dx[i], i % 3 == 2 ? "\n" : "");
    return dx[4] != 2.5f; /* a quarter of 1 + 2 + 3 + 4 */
}
