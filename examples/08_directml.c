/* SPDX-License-Identifier: MIT */
/*
 * DirectML's average pooling gradient on the CPU, with DirectML's own structs: the example of its
 * documentation.
 */
#include <poolgrad/directml.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    /* Memory that is bound begins at a multiple of 16. */
    alignas(16) float dy[] = {1, 2, 3, 4}, dx[9];
    UINT dySizes[] = {1, 1, 2, 2}, dxSizes[] = {1, 1, 3, 3};
    DML_BUFFER_TENSOR_DESC dyBuffer = {.DataType = DML_TENSOR_DATA_TYPE_FLOAT32,
                                       .DimensionCount = 4,
                                       .Sizes = dySizes,
                                       .TotalTensorSizeInBytes = sizeof dy};
    DML_BUFFER_TENSOR_DESC dxBuffer = {.DataType = DML_TENSOR_DATA_TYPE_FLOAT32,
                                       .DimensionCount = 4,
                                       .Sizes = dxSizes,
                                       .TotalTensorSizeInBytes = sizeof dx};
    DML_TENSOR_DESC dyTensor = {DML_TENSOR_TYPE_BUFFER, &dyBuffer};
    DML_TENSOR_DESC dxTensor = {DML_TENSOR_TYPE_BUFFER, &dxBuffer};

    UINT strides[] = {1, 1}, windowSize[] = {2, 2}, noPadding[] = {0, 0};
    DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC pooling = {&dyTensor,  &dxTensor, 2,         strides,
                                                      windowSize, noPadding, noPadding, 0};
    DML_OPERATOR_DESC desc = {DML_OPERATOR_AVERAGE_POOLING_GRAD, &pooling};

    poolgrad_directml_operator *op;
    poolgrad_error error;
    poolgrad_directml_binding input = {dy, 0, sizeof dy}, output = {dx, 0, sizeof dx};
    if (FAILED(poolgrad_directml_create_operator(&desc, NULL, &op, &error)) ||
        FAILED(poolgrad_directml_execute(op, &input, 1, &output, 1, NULL, &error))) {
        printf("%s\n", error.message);
        return 1;
    }
    poolgrad_directml_release(op);

    for (int i = 0; i < 9; i++)
        printf("%5g%s", (double)dx[i], i % 3 == 2 ? "\n" : " ");
    float expected[] = {0.25f, 0.75f, 0.5f, 1, 2.5f, 1.5f, 0.75f, 1.75f, 1};
    return memcmp(dx, expected, sizeof dx) ? 1 : 0;
}
