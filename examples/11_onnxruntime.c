/* SPDX-License-Identifier: MIT */
/* ONNX Runtime's AveragePoolGrad: a 3x3 dX from the 2x2 dY of a 2x2 window. */
#include <poolgrad/onnxruntime.h>
#include <stdio.h>

int main(void)
{
    float dy[] = {1, 2, 3, 4}, dx[9];
    const int64_t dy_shape[] = {1, 1, 2, 2}, dx_shape[] = {1, 1, 3, 3};
    const poolgrad_tensor dY = {POOLGRAD_ONNXRUNTIME_FLOAT, 4, dy_shape, NULL, dy};
    const poolgrad_tensor dX = {POOLGRAD_ONNXRUNTIME_FLOAT, 4, dx_shape, NULL, dx};
    const poolgrad_onnxruntime_attributes attributes = {.kernel_shape = POOLGRAD_LIST(2, 2)};
    poolgrad_error error;
    if (poolgrad_onnxruntime_average_pool_grad(&dY, &attributes, &dX, NULL, &error)) {
        printf("%s\n", error.message);
        return 1;
    }
    for (int i = 0; i < 9; i++)
        printf("%5g%s", (double)dx[i], i % 3 == 2 ? "\n" : "");
    return dx[4] != 2.5f; /* a quarter of 1 + 2 + 3 + 4 */
}
