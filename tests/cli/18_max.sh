# SPDX-License-Identifier: MIT
# The max gradient, from indices and from x: DirectML's documented example in many forms.
. "$CASES/helpers.sh"
max_example
run grad "$MAX_EXAMPLE" dy.npy --indices i.npy -o dx.npy
show dx.npy f4
for words in "$MAX_EXAMPLE dy.npy --x x.npy" "$MAX_EXAMPLE:from=x dy.npy --x x.npy" \
    "$MAX_EXAMPLE:from=x:nan=skip dy.npy --x x.npy --strategy reference --cpu scalar -j1" \
    "maxpool2d:f32:nchw:1x1x3x3:k2 dy.npy --x x.npy" \
    "$MAX_EXAMPLE:from=indices dy.npy --indices=i.npy --strategy reference --threads 2"; do
    # shellcheck disable=SC2086 # several words
    run grad $words -o other.npy
    same dx.npy other.npy
done
echo "types of indices: that of the file, or as stated"
array i4.npy '<i4' '(1, 1, 2, 2)' 4 4 7 8
array u4.npy '<u4' '(1, 1, 2, 2)' 4 4 7 8
array big.npy '>i8' '(1, 1, 2, 2)' 4 4 7 8
array big4.npy '>u4' '(1, 1, 2, 2)' 4 4 7 8
fortran f8.npy '<i8' '(1, 1, 2, 2)' 4 7 4 8
fortran f4.npy '>i4' '(1, 1, 2, 2)' 4 7 4 8
for file in i4 u4 big big4 f8 f4; do
    run grad "$MAX_EXAMPLE" dy.npy --indices $file.npy -o other.npy
    same dx.npy other.npy
done
run grad "$MAX_EXAMPLE:index=u32" dy.npy --indices u4.npy -o other.npy
same dx.npy other.npy
run grad "$MAX_EXAMPLE:index=i64" dy.npy --indices i4.npy -o no.npy
run grad "$MAX_EXAMPLE" dy.npy --indices x.npy -o no.npy
run grad "$MAX_EXAMPLE" i.npy --indices i.npy -o no.npy
echo "bases and orders"
array column.npy '<i8' '(1, 1, 2, 2)' 4 4 5 8
run grad "$MAX_EXAMPLE:order=column" dy.npy --indices column.npy -o other.npy
same dx.npy other.npy
array two.npy '<f4' '(1, 2, 1, 1)' 1 2
array tensor.npy '<i8' '(1, 2, 1, 1)' 3 5
array plane.npy '<i8' '(1, 2, 1, 1)' 3 1
array nxc.npy '<i8' '(1, 2, 1, 1)' 6 3
run grad max2d:f32:nchw:1x2x2x2:k2 two.npy --indices tensor.npy -o two_dx.npy
show two_dx.npy f4
for base in plane nxc nxc_image; do
    run grad max2d:f32:nchw:1x2x2x2:k2:base=$base two.npy --indices ${base%_image}.npy -o other.npy
    same two_dx.npy other.npy
done
echo "channels last, and layouts that differ"
array dy_nhwc.npy '<f4' '(1, 1, 1, 2)' 1 2
array i_nhwc.npy '<i8' '(1, 1, 1, 2)' 3 5
run grad max2d:f32:nhwc:1x2x2x2:k2 dy_nhwc.npy --indices i_nhwc.npy -o dx_nhwc.npy
show dx_nhwc.npy f4
run grad max2d:f32:nhwc/nchw:1x2x2x2:k2:ilayout=nchw dy_nhwc.npy --indices tensor.npy -o other.npy
same two_dx.npy other.npy
echo "a window in the padding has no winner, and any may have none with nowinner"
array d3.npy '<f4' '(1, 1, 4)' 1 2 3 4
array w3.npy '<i8' '(1, 1, 4)' -1 0 1 -1
run grad max1d:f32:ncw:1x1x2:k1:p1 d3.npy --indices w3.npy -o w3_dx.npy
show w3_dx.npy f4
array none.npy '<i8' '(1, 1, 2, 2)' 4 -1 -1 8
run grad "$MAX_EXAMPLE:nowinner" dy.npy --indices none.npy -o none_dx.npy
show none_dx.npy f4
array none.npy '<u4' '(1, 1, 2, 2)' 4 4294967295 4294967295 8
run grad "$MAX_EXAMPLE:nowinner" dy.npy --indices none.npy -o other.npy
same none_dx.npy other.npy
echo "NaN: the first wins, or is skipped; all NaN and all -inf go to the first place"
array nan.npy '<f4' '(1, 1, 8)' 1 nan nan 2 nan nan -inf -inf
array four.npy '<f4' '(1, 1, 4)' 1 2 3 4
run grad max1d:f32:ncw:1x1x8:k2:s2 four.npy --x nan.npy -o nan_dx.npy
show nan_dx.npy f4
run grad max1d:f32:ncw:1x1x8:k2:s2:nan=skip four.npy --x nan.npy -o nan_dx.npy
show nan_dx.npy f4
echo "alpha and beta"
run grad "$MAX_EXAMPLE:alpha=2:beta=1" dy.npy --indices i.npy --dx x.npy -o beta.npy
show beta.npy f4
absent no.npy
