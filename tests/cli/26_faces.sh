# SPDX-License-Identifier: MIT
# The verbs face and faces themselves: the list, and calls that are wrong whatever the operator.
. "$CASES/helpers.sh"
run faces
run faces onnxruntime.MaxPoolGrad
run faces nobody
run faces --all
npy dY.npy 1 "$DY_HEADER" "$DY_DATA"
run face
run face --explain
run face onnxruntime.AveragPoolGrad dY.npy -o no.npy
run face nobody.Nothing dY.npy -o no.npy
op=onnxruntime.AveragePoolGrad
run face $op -o no.npy
run face $op dY.npy dY.npy -o no.npy
run face $op dY.npy --dX 1,1,3,3 --kernel_shape 2,2
run face $op dY.npy --kernel_shape 2,2 -o no.npy
run face $op dY.npy --dX 1,1,3,3 --kernel_shap 2,2 -o no.npy
for value in x 1, ,1 1,,2 1x 1,2x 99999999999999999999; do
    run face $op dY.npy --dX 1,1,3,3 --kernel_shape $value -o no.npy
done
run face $op dY.npy --dX 1,1,3,3 --kernel_shape 2,2 --ceil_mode 1,2 -o no.npy
run face $op missing.npy --dX 1,1,3,3 --kernel_shape 2,2 -o no.npy
run face $op dY.npy --dX 1,1,3,3 --kernel_shape 2,2 --dtype f16 -o no.npy
run face $op dY.npy --dX 1,1,3,3 --kernel_shape 2,2 --strategy nothing -o no.npy
run face $op dY.npy --dX 1,1,3,3 --kernel_shape 2,2 -o /nowhere/no.npy
run face $op dY.npy --dX 4000000000,4000000000,4000000000,3 --kernel_shape 2,2 -o no.npy
absent no.npy
echo "bf16, Fortran order, big-endian"
npy bf.npy 1 "{'descr': '<u2', 'fortran_order': False, 'shape': (1, 1, 2, 2), }" \
    '\200\077\000\100\100\100\200\100'
run face $op bf.npy --dX 1,1,3,3 --kernel_shape 2,2 -o no.npy
run face $op bf.npy --dX 1,1,3,3 --kernel_shape 2,2 --dtype bf16 -o dX.npy
show dX.npy x2
fortran f.npy '>f4' '(1, 1, 2, 2)' 1 3 2 4
run face $op f.npy --dX 1,1,3,3 --kernel_shape 2,2 --threads 1 --strategy reference -o dX.npy
run face $op dY.npy --dX 1,1,3,3 --kernel_shape 2,2 -o other.npy
show dX.npy x1
show other.npy x1
echo "the original's own arithmetic"
array dy3.npy '<f4' '(1, 1, 1, 3)' 1 2 3
op="onnxruntime.AveragePoolGrad dy3.npy --dX 1,1,1,9 --kernel_shape 1,7 --strides 1,1"
run face $op --explain --parity
run face $op -o own.npy
run face $op --parity -o parity.npy
show own.npy x4
show parity.npy x4
run face directml.AVERAGE_POOLING_GRAD dY.npy --OutputGradientTensor 1,1,3,3 --Strides 1,1 \
    --WindowSize 2,2 --StartPadding 0,0 --EndPadding 0,0 --IncludePadding 0 --parity -o no.npy
