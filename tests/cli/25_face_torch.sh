# SPDX-License-Identifier: MIT
# PyTorch's operators by their own names: the gradient of a 2x2 window with stride 1, and the rest.
. "$CASES/helpers.sh"
array dy.npy '<f4' '(1, 1, 2, 2)' 1 2 3 4
array i.npy '<i8' '(1, 1, 2, 2)' 4 4 7 8
avg=torch.avg_pool2d_backward
max=torch.max_pool2d_with_indices_backward
run face $avg dy.npy --self 1,1,3,3 --kernel_size 2,2 --stride 1 -o dx.npy
show dx.npy f4
run face $max dy.npy i.npy --self 1,1,3,3 --kernel_size 2 --stride 1,1 -o dx.npy
show dx.npy f4
echo "the stride is the kernel, padding counts, unless said otherwise"
run face $avg dy.npy --self 1,1,4,4 --kernel_size 2 --explain
run face $avg dy.npy --self 1,1,3,3 --kernel_size 3 --stride 2 --padding 1 --count_include_pad false \
    --ceil_mode True --explain
run face $avg dy.npy --self 1,1,4,4 --kernel_size 2 --divisor_override -2 -o dx.npy
show dx.npy f4
run face $max dy.npy i.npy --self 1,1,4,4 --kernel_size 2 --stride 1 --dilation 2 --explain
echo "without a batch, other ranks, adaptive"
array line.npy '<f4' '(1, 3)' 1 2 3
run face torch.avg_pool1d_backward line.npy --self 1,4 --kernel_size 3 --stride 2 --padding 1 \
    --ceil_mode true -o dx.npy
show dx.npy f4
run face torch.adaptive_avg_pool1d_backward line.npy --self 1,5 -o dx.npy
show dx.npy f4
array cube.npy '<f4' '(1, 1, 1, 1, 2)' 2 4
array cube_i.npy '<i8' '(1, 1, 1, 1, 2)' 0 3
run face torch.avg_pool3d_backward cube.npy --self 1,1,1,1,4 --kernel_size 1,1,2 -o dx.npy
show dx.npy f4
run face torch.adaptive_max_pool3d_backward cube.npy cube_i.npy --self 1,1,1,1,4 -o dx.npy
show dx.npy f4
run face torch.adaptive_max_pool2d_backward dy.npy i.npy --self 1,1,3,3 --explain
echo "refused, in the original's kind"
run face $avg dy.npy --self 1,1,3,4 --kernel_size 2 --stride 1 -o no.npy
run face $avg dy.npy --self 1,1,4,4 --kernel_size 2 --divisor_override 0 -o no.npy
run face $avg dy.npy --self 1,1,4,4 --kernel_size 2 --padding 2 -o no.npy
run face $avg dy.npy --self 1,1,4,4 --kernel_size 2,2,2 -o no.npy
run face $avg dy.npy --self 1,1,4,4 --kernel_size 2 --dilation 2 -o no.npy
run face $avg dy.npy --self 1,1,4,4 -o no.npy
run face $avg i.npy --self 1,1,3,3 --kernel_size 2 --stride 1 -o no.npy
array i4.npy '<i4' '(1, 1, 2, 2)' 4 4 7 8
run face $max dy.npy i4.npy --self 1,1,3,3 --kernel_size 2 --stride 1 -o no.npy
array bad.npy '<i8' '(1, 1, 2, 2)' 4 4 7 9
run face $max dy.npy bad.npy --self 1,1,3,3 --kernel_size 2 --stride 1 -o no.npy
run face torch.max_pool2d_backward dy.npy i.npy --self 1,1,3,3 -o no.npy
absent no.npy
