/* SPDX-License-Identifier: MIT */
/* TensorFlow's AvgPoolGrad: the gradient of 2x2 windows over a 3x3 image. */
#include <poolgrad/tensorflow.h>
#include <stdio.h>

int main(void)
{
    float gradient[] = {1, 2, 3, 4}, dx[9];
    int32_t shape[] = {1, 3, 3, 1}; /* batch, height, width, channels */
    const int64_t axes[] = {4}, grad_sizes[] = {1, 2, 2, 1}, sizes[] = {1, 3, 3, 1};
    const poolgrad_tensor orig_input_shape = {POOLGRAD_TENSORFLOW_INT32, 1, axes, NULL, shape};
    const poolgrad_tensor grad = {POOLGRAD_TENSORFLOW_FLOAT, 4, grad_sizes, NULL, gradient};
    const poolgrad_tensor output = {POOLGRAD_TENSORFLOW_FLOAT, 4, sizes, NULL, dx};
    const poolgrad_tensorflow_attributes attributes = {.ksize = POOLGRAD_LIST(1, 2, 2, 1),
                                                       .strides = POOLGRAD_LIST(1, 1, 1, 1),
                                                       .padding = "VALID"};
    poolgrad_error error;
    if (poolgrad_tensorflow_avg_pool_grad(&orig_input_shape, &grad, &attributes, &output, NULL,
                                          &error)) {
        printf("%s\n", error.message);
        return 1;
    }
    for (int i = 0; i < 9; i++)
        printf("%5g%s", (double)dx[i], i % 3 == 2 ? "\n" : "");
    return dx[4] != 2.5f; /* a quarter of 1 + 2 + 3 + 4 */
}
