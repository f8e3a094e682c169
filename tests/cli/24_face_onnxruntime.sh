# SPDX-License-Identifier: MIT
# ONNX Runtime's operators by their own names: the gradient of the documented 2x2 window.
. "$CASES/helpers.sh"
array dY.npy '<f4' '(1, 1, 2, 2)' 1 2 3 4
run face onnxruntime.AveragePoolGrad dY.npy --dX 1,1,3,3 --kernel_shape 2,2 -o dX.npy
show dX.npy f4
run face onnxruntime.AveragePoolGrad dY.npy --dX 1,1,3,3 --kernel_shape 2,2 --strides 2,2 \
    --auto_pad SAME_UPPER --count_include_pad 1 --explain
array I.npy '<i8' '(1, 1, 2, 2)' 4 4 7 8
run face onnxruntime.MaxPoolGrad dY.npy I.npy --dX 1,1,3,3 --kernel_shape 2,2 -o dX.npy
show dX.npy f4
echo "column-major indices"
array I.npy '<i8' '(1, 1, 2, 2)' 4 4 5 8
run face onnxruntime.MaxPoolGrad dY.npy I.npy --dX 1,1,3,3 --kernel_shape 2,2 --storage_order 1 \
    -o other.npy
same dX.npy other.npy
echo "refused, in the original's kind"
run face onnxruntime.MaxPoolGrad dY.npy I.npy --dX 1,1,3,3 --kernel_shape 2,2 -o no.npy
run face onnxruntime.AveragePoolGrad dY.npy --dX 1,1,3,3 -o no.npy
run face onnxruntime.AveragePoolGrad dY.npy --dX 1,1,-1,3 --kernel_shape 2,2 -o no.npy
run face onnxruntime.AveragePoolGrad dY.npy --dX 1,1,3,3 --kernel_shape 2,2,2 -o no.npy
run face onnxruntime.AveragePoolGrad dY.npy --dX 1,1,3,3 --kernel_shape 3,3 -o no.npy
array i4.npy '<i4' '(1, 1, 2, 2)' 4 4 7 8
run face onnxruntime.AveragePoolGrad i4.npy --dX 1,1,3,3 --kernel_shape 2,2 -o no.npy
absent no.npy
