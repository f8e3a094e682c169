# SPDX-License-Identifier: MIT
# Gradients in another system's arithmetic.
. "$CASES/helpers.sh"
mask() {
    sed 's/: [0-9]* runs of 1 strategies on [0-9]* instruction sets, error [0-9.]* of allowed/: RUNS/'
}
for system in tensorflow onnxruntime torch onednn; do
    run explain avg2d:bf16:nhwc:1x2x9x9:k3:s2:parity=$system |
        grep -e '^type' -e '^parity' -e '^strategy' -e '^because' -e '^detail'
    run check avg2d:f16:nchw:2x3x9x9:k3:p1:parity=$system \
        max3d:bf16:ndhwc:1x2x5x6x7:k3:p1:from=x:nan=last:parity=$system | mask
done
echo "thirds: by division, and by a product with the rounded reciprocal"
array dy.npy '<f4' '(1, 1, 2)' 5 7
for system in off tensorflow onnxruntime torch onednn; do
    run grad avg1d:f32:ncw:1x1x4:k3:parity=$system dy.npy -o $system.npy
done
same tensorflow.npy onnxruntime.npy
same torch.npy onednn.npy
same off.npy torch.npy
cmp -s torch.npy tensorflow.npy || echo "torch and tensorflow differ"
echo "near y: both maxima of the first window, none of the second"
array x.npy '<f4' '(1, 1, 4)' 2 2 5 1
array y.npy '<f4' '(1, 1, 2)' 2 4
run grad max1d:f32:ncw:1x1x4:k2:s2:parity=tensorflow dy.npy --x x.npy --y y.npy -o dx.npy
show dx.npy f4
run explain max1d:f32:ncw:1x1x4:k2:s2:parity=tensorflow:from=y | sed -n '/^dy/,/^parity/p'
run explain max1d:f32:ncw:1x1x4:k2:s2:parity=tensorflow:from=y --json | grep -o '"from.*nan'
run check max1d:f32:ncw:1x1x4:k2:s2:parity=tensorflow:from=y | mask
run bench --seconds 0.01 --verify --quiet max1d:f32:ncw:1x1x4:k2:parity=torch | grep -o 'parity *[a-z0-9]*$' |
    sed 's/ .*//'
# what does not go together
run grad max1d:f32:ncw:1x1x4:k2:s2 dy.npy --x x.npy --y y.npy -o no.npy
run grad max1d:f32:ncw:1x1x4:k2:s2:parity=tensorflow dy.npy --y y.npy -o no.npy
run grad max1d:f32:ncw:1x1x4:k2:s2:parity=tensorflow:from=y dy.npy --x x.npy -o no.npy
run grad max1d:f32:ncw:1x1x4:k2:s2:parity=tensorflow dy.npy --indices i.npy --y y.npy -o no.npy
run grad avg1d:f32:ncw:1x1x4:k2:s2:parity=tensorflow dy.npy --y y.npy -o no.npy
run pool avg1d:f32:ncw:1x1x4:k2:parity=torch x.npy -o no.npy
run explain avg1d:f32:ncw:1x1x4:k2:parity=torch:beta=0.5
run explain avg1d:f32:ncw:1x1x4:k2:parity=torch --strategy reference
run explain avg1d:f32:ncw:1x1x4:k2 --strategy parity
run explain avg1d:f32:ncw:1x1x4:k2:parity=numpy
