# SPDX-License-Identifier: MIT
# oneDNN's operations by their own names.
. "$CASES/helpers.sh"
run faces onednn
array dy.npy '<f4' '(1, 2, 2, 1)' 1 2 3 4
AVG="face onednn.AvgPoolBackward dy.npy --src_shape 1,3,3,1 --strides 1,1 --pads_begin 0,0"
AVG="$AVG --pads_end 0,0 --kernel 2,2 --exclude_pad false"
# shellcheck disable=SC2086 # several words
run $AVG -o dx.npy
show dx.npy f4
# shellcheck disable=SC2086
run $AVG --explain
# shellcheck disable=SC2086
run $AVG --auto_pad Valid --data_format nxc --exclude_pad 1 -o other.npy
same dx.npy other.npy
echo "channels first, and other padding"
array dy3.npy '<f4' '(1, 1, 4)' 1 2 3 4
run face onednn.AvgPoolBackward dy3.npy --src_shape 1,1,4 --strides 1 --pads_begin 1 --pads_end 1 \
    --kernel 3 --exclude_pad false --data_format NCX --explain
run face onednn.AvgPoolBackward dy3.npy --src_shape 1,1,4 --strides 1 --pads_begin 1 --pads_end 1 \
    --kernel 3 --exclude_pad true --data_format NCX --explain
run face onednn.AvgPoolBackward dy3.npy --src_shape 1,1,4 --strides 1 --pads_begin 9 --pads_end 9 \
    --kernel 2 --exclude_pad true --data_format NCX --auto_pad SAME_LOWER --explain
echo "max"
array x.npy '<f4' '(1, 3, 3, 1)' 1 2 3 2 4 2 5 6 7
array d.npy '<f4' '(1, 2, 2, 1)' 1 2 4 5
MAX="face onednn.MaxPoolBackward x.npy d.npy --strides 1,1 --pads_begin 0,0 --pads_end 0,0"
# shellcheck disable=SC2086
run $MAX --kernel 2,2 -o max.npy
show max.npy f4
# shellcheck disable=SC2086
run $MAX --kernel 2,2 --dilations 1,1 --explain
echo "wrong calls, with oneDNN's codes"
# shellcheck disable=SC2086
run $AVG --strides 0,1 --auto_pad same_upper -o no.npy
# shellcheck disable=SC2086
run $AVG --auto_pad SAME -o no.npy
# shellcheck disable=SC2086
run $AVG --src_shape 1,4,3,1 -o no.npy
# shellcheck disable=SC2086
run $AVG --src_shape 1,-3,3,1 -o no.npy
# shellcheck disable=SC2086
run $AVG --dilations 1,1 -o no.npy
# shellcheck disable=SC2086
run $MAX -o no.npy
run face onednn.AvgPoolBackward dy.npy --src_shape 1,3,3,1 --strides 1,1 --pads_begin 0,0 \
    --pads_end 0,0 --kernel 2,2 -o no.npy
array i.npy '<i4' '(1, 2, 2, 1)' 1 2 3 4
run face onednn.AvgPoolBackward i.npy --src_shape 1,3,3,1 --strides 1,1 --pads_begin 0,0 \
    --pads_end 0,0 --kernel 2,2 --exclude_pad 0 -o no.npy
run face onednn.AvgPoolBackwards dy.npy -o no.npy
absent no.npy
