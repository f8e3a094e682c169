# SPDX-License-Identifier: MIT
# TensorFlow's operators by their own names: the gradient of the documented 2x2 window.
. "$CASES/helpers.sh"
array grad.npy '<f4' '(1, 2, 2, 1)' 1 2 3 4
call="face tensorflow.AvgPoolGrad grad.npy --orig_input_shape 1,3,3,1 --strides 1,1,1,1"
# shellcheck disable=SC2086 # several words
{
    run $call --ksize 1,2,2,1 --padding VALID -o dx.npy
    show dx.npy f4
    run $call --ksize 1,2,2,1 --padding VALID --explain
}
array first.npy '<f4' '(1, 1, 2, 2)' 1 2 3 4
run face tensorflow.AvgPoolGrad first.npy --orig_input_shape 1,1,3,3 --ksize 1,1,2,2 \
    --strides 1,1,2,2 --padding SAME --data_format NCHW --explain
array deep.npy '<f4' '(1, 1, 1, 1, 1)' 8
run face tensorflow.AvgPool3DGrad deep.npy --orig_input_shape 1,2,2,2,1 --ksize 1,2,2,2,1 \
    --strides 1,1,1,1,1 --padding VALID -o deep_dx.npy
show deep_dx.npy f4
echo "max pooling, from the input and from the argmax"
array x.npy '<f4' '(1, 3, 3, 1)' 1 2 3 2 4 2 5 6 7
array y.npy '<f4' '(1, 2, 2, 1)' 4 4 6 7
array dy.npy '<f4' '(1, 2, 2, 1)' 1 2 4 5
window="--ksize 1,2,2,1 --strides 1,1,1,1"
# shellcheck disable=SC2086
{
    run face tensorflow.MaxPoolGrad x.npy y.npy dy.npy $window --padding VALID -o dx.npy
    show dx.npy f4
    run face tensorflow.MaxPoolGrad x.npy x.npy x.npy $window --padding EXPLICIT \
        --explicit_paddings 0,0,1,0,0,1,0,0 --explain
    for type in i4 i8; do
        array argmax.npy "<$type" '(1, 2, 2, 1)' 4 4 7 8
        run face tensorflow.MaxPoolGradWithArgmax x.npy dy.npy argmax.npy $window --padding VALID \
            --include_batch_in_index true -o other.npy
        same dx.npy other.npy
    done
    run face tensorflow.MaxPoolGradWithArgmax x.npy dy.npy argmax.npy $window --padding VALID \
        --explain
}
array x3.npy '<f4' '(1, 1, 3, 3, 1)' 1 2 3 2 4 2 5 6 7
array y3.npy '<f4' '(1, 1, 2, 2, 1)' 4 4 6 7
array dy3.npy '<f4' '(1, 1, 2, 2, 1)' 1 2 4 5
run face tensorflow.MaxPool3DGrad x3.npy y3.npy dy3.npy --ksize 1,1,2,2,1 --strides 1,1,1,1,1 \
    --padding VALID -o dx3.npy
show dx3.npy f4
echo "refused, in the original's words"
# shellcheck disable=SC2086
{
    run $call --ksize 1,2,2,1 -o no.npy
    run $call --ksize 1,2,2,1 --padding EXPLICIT -o no.npy
    run $call --ksize 1,2,2,1 --padding SAME -o no.npy
    run $call --ksize 2,2,2,1 --padding VALID -o no.npy
    run $call --ksize 1,2,2,2 --padding VALID -o no.npy
    run $call --ksize 1,2,2 --padding VALID -o no.npy
    run $call --ksize 1,5,5,1 --padding VALID -o no.npy
    run face tensorflow.AvgPoolGrad grad.npy --orig_input_shape 1,3,3 $window --padding VALID \
        -o no.npy
    run face tensorflow.AvgPoolGrad grad.npy --orig_input_shape 1,-3,3,1 $window --padding VALID \
        -o no.npy
    run face tensorflow.MaxPoolGrad x.npy grad.npy x.npy $window --padding VALID -o no.npy
    array argmax.npy '<i8' '(1, 2, 2, 1)' 4 4 7 1000000
    run face tensorflow.MaxPoolGradWithArgmax x.npy dy.npy argmax.npy $window --padding VALID \
        -o no.npy
    run face tensorflow.MaxPoolGradWithArgmax x.npy dy.npy y.npy $window --padding VALID -o no.npy
    array int.npy '<i4' '(1, 2, 2, 1)' 1 2 3 4
    run face tensorflow.AvgPoolGrad int.npy --orig_input_shape 1,3,3,1 $window --padding VALID \
        -o no.npy
}
absent no.npy
