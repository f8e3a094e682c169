# SPDX-License-Identifier: MIT
# Indices that are no position of their window: status 1, the element, its value and the problem in
# the message, no output file.
. "$CASES/helpers.sh"
max_example
try() {
    array bad.npy "$@"
    run grad "${problem-$MAX_EXAMPLE}" dy.npy --indices bad.npy -o dx.npy
    absent dx.npy
}
echo "negative, -1, past the end, in no window, in another window, 2^62, the least"
try '<i8' '(1, 1, 2, 2)' 4 4 -2 8
try '<i8' '(1, 1, 2, 2)' 4 4 7 -1
try '<i8' '(1, 1, 2, 2)' 4 4 7 9
try '<i8' '(1, 1, 2, 2)' 4 4 7 1000000000
try '<i8' '(1, 1, 2, 2)' 4 0 7 8
try '<i8' '(1, 1, 2, 2)' 4611686018427387904 4 7 8
try '<i8' '(1, 1, 2, 2)' -9223372036854775808 4 7 8
echo "the lowest of several, whatever the threads"
try '<i8' '(1, 1, 2, 2)' 4 8 0 0
echo "other types, byte order, Fortran order"
try '<i4' '(1, 1, 2, 2)' 4 4 -3 8
try '<u4' '(1, 1, 2, 2)' 4 4 4294967295 8
try '<u4' '(1, 1, 2, 2)' 4 4 7 4294967000
try '>i8' '(1, 1, 2, 2)' 4 4 7 2
fortran bad.npy '<i8' '(1, 1, 2, 2)' 4 7 2 0
run grad "$MAX_EXAMPLE" dy.npy --indices bad.npy -o dx.npy
absent dx.npy
echo "with nowinner -1 is none, -2 is nothing"
problem=$MAX_EXAMPLE:nowinner
try '<i8' '(1, 1, 2, 2)' 4 4 -2 8
echo "another plane, another batch; channels last count their own axes"
array dy.npy '<f4' '(2, 2, 1, 1)' 1 2 3 4
problem=max2d:f32:nchw:2x2x2x2:k2
try '<i8' '(2, 2, 1, 1)' 0 0 8 12
try '<i8' '(2, 2, 1, 1)' 0 4 0 12
problem=max2d:f32:nchw:2x2x2x2:k2:base=plane
try '<i8' '(2, 2, 1, 1)' 0 1 4 3
problem=max2d:f32:nchw:2x2x2x2:k2:base=nxc
try '<i8' '(2, 2, 1, 1)' 0 1 8 10
array dy.npy '<f4' '(2, 1, 1, 2)' 1 2 3 4
problem=max2d:f32:nhwc:2x2x2x2:k2
try '<i8' '(2, 1, 1, 2)' 0 4 8 4
echo "between the taps of a dilated window"
array dy.npy '<f4' '(1, 1, 1)' 1
problem=max1d:f32:ncw:1x1x3:k2:d2
try '<i8' '(1, 1, 1)' 1
echo "an output that is there already stays as it is"
max_example
echo old >dx.npy
array bad.npy '<i8' '(1, 1, 2, 2)' 4 4 7 9
run grad "$MAX_EXAMPLE" dy.npy --indices bad.npy -o dx.npy
cat dx.npy
echo "indices of a wrong shape"
array bad.npy '<i8' '(1, 1, 4)' 4 4 7 8
run grad "$MAX_EXAMPLE" dy.npy --indices bad.npy -o dx.npy
run grad "$MAX_EXAMPLE" dy.npy --indices missing.npy -o dx.npy
ls
