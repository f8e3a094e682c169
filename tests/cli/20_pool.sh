# SPDX-License-Identifier: MIT
# The forward passes, and back with what they wrote.
. "$CASES/helpers.sh"
max_example
echo "average"
run pool "$EXAMPLE" x.npy -o y.npy
show y.npy f4
run pool avgpool2d:f32:nchw:1x1x3x3:k2 x.npy --output=other.npy --threads 1 --cpu scalar --strategy reference
same y.npy other.npy
run pool avg2d:f32:nchw:1x1x3x3:k3:s2:p1:div=exclude x.npy -o exclude.npy
show exclude.npy f4
run pool avg2d:f32:nchw:1x1x3x3:k3:s2:p1 x.npy -o include.npy
show include.npy f4
run pool avg2d:f32:nchw:1x1x3x3:adaptive:o2 x.npy -o adaptive.npy
show adaptive.npy f4
echo "maximum, with and without indices"
run pool "$MAX_EXAMPLE" x.npy -o max.npy --indices-out i2.npy
show max.npy f4
show i2.npy d8
same i.npy i2.npy
run pool maxpool2d:f32:nchw:1x1x3x3:k2 x.npy -o other.npy
same max.npy other.npy
run grad "$MAX_EXAMPLE" dy.npy --indices i2.npy -o dx.npy
show dx.npy f4
echo "types and bases of indices"
for item in index=i32 index=u32:order=column index=i32:base=plane; do
    run pool "$MAX_EXAMPLE:$item" x.npy -o y.npy --indices-out $item.npy
    show $item.npy d4
    run grad "$MAX_EXAMPLE:$item" dy.npy --indices $item.npy -o other.npy
    same dx.npy other.npy
done
run pool "$MAX_EXAMPLE:index=u8:base=window" x.npy -o y.npy --indices-out taps.npy
show taps.npy u1
for words in "$MAX_EXAMPLE:base=window" "$MAX_EXAMPLE:index=u8:base=window --strategy reference"; do
    # shellcheck disable=SC2086 # several words
    run grad $words dy.npy --indices taps.npy -o other.npy
    same dx.npy other.npy
done
array bad.npy '|u1' '(1, 1, 2, 2)' 3 4 3 3
run grad "$MAX_EXAMPLE:base=window" dy.npy --indices bad.npy -o no.npy
run grad "$MAX_EXAMPLE" dy.npy --indices taps.npy -o no.npy
# (N, H, W, C): the second place wins in batch 0, the first in batch 1
array c.npy '<f4' '(2, 1, 2, 2)' 1 2 3 4 4 3 2 1
for base in tensor plane nxc nxc_image; do
    run pool max2d:f32:nhwc:2x2x1x2:k1x2:base=$base c.npy -o y.npy --indices-out $base.npy
    show $base.npy d8
done
echo "windows in the padding: 0, -inf, -1"
array two.npy '<f4' '(1, 1, 2)' 1 2
run pool avg1d:f32:ncw:1x1x2:k1:p1 two.npy -o y.npy
show y.npy f4
run pool max1d:f32:ncw:1x1x2:k1:p1 two.npy -o y.npy --indices-out i3.npy
show y.npy f4
show i3.npy d8
array d4.npy '<f4' '(1, 1, 4)' 1 2 3 4
run grad max1d:f32:ncw:1x1x2:k1:p1 d4.npy --indices i3.npy -o other.npy
show other.npy f4
echo "NaN and -inf: what pool writes, grad accepts"
array nan.npy '<f4' '(1, 1, 8)' 1 nan nan 2 nan nan -inf -inf
for rule in first skip; do
    run pool max1d:f32:ncw:1x1x8:k2:s2:nan=$rule nan.npy -o y.npy --indices-out i4.npy
    show y.npy f4 | sed 's/-nan/nan/g'
    show i4.npy d8
    run grad max1d:f32:ncw:1x1x8:k2:s2:nan=$rule d4.npy --indices i4.npy -o one.npy
    run grad max1d:f32:ncw:1x1x8:k2:s2:nan=$rule d4.npy --x nan.npy -o two.npy
    same one.npy two.npy
done
echo "big endian and Fortran order in; y and indices in the byte order of x"
array big.npy '>f4' '(1, 1, 3, 3)' 1 2 3 2 4 2 5 6 7
run pool "$MAX_EXAMPLE:index=i32" big.npy -o y.npy --indices-out i5.npy
show y.npy x1
show i5.npy x1
run grad "$MAX_EXAMPLE" dy.npy --indices i5.npy -o other.npy
same dx.npy other.npy
run grad "$MAX_EXAMPLE" dy.npy --x big.npy -o other.npy
same dx.npy other.npy
fortran f.npy '<f4' '(1, 1, 3, 3)' 1 2 5 2 4 6 3 2 7
run pool "$MAX_EXAMPLE" f.npy -o y.npy --indices-out i6.npy
same max.npy y.npy
same i.npy i6.npy
run grad "$MAX_EXAMPLE" dy.npy --x f.npy -o other.npy
same dx.npy other.npy
echo "alpha and beta"
run pool "$MAX_EXAMPLE:alpha=2:beta=1" x.npy --y dy.npy -o y.npy --indices-out i7.npy
show y.npy f4
same i.npy i7.npy
run pool "$EXAMPLE:alpha=4:beta=-1" x.npy --y dy.npy -o y.npy
show y.npy f4
echo "a box"
array part.npy '<f4' '(1, 1, 2, 3)' 2 4 2 5 6 7
run pool "$MAX_EXAMPLE:ybox=0+*,0+*,1+1,0+*:xbox=0+*,0+*,1+2,0+*" part.npy -o y.npy --indices-out i8.npy
show y.npy f4
show i8.npy d8
echo "f8, f2, bf16, batch 0"
npy f8.npy 1 "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 2), }" \
    '\000\000\000\000\000\000\360\077\000\000\000\000\000\000\010\100'
run pool avg1d:f64:ncw:1x1x2:k2 f8.npy -o y.npy
show y.npy f8
npy f2.npy 1 "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 1, 2), }" '\000\074\000\102'
run pool max1d:f16:ncw:1x1x2:k2 f2.npy -o y.npy --indices-out i9.npy
show y.npy x2
show i9.npy d8
npy b2.npy 1 "{'descr': '|V2', 'fortran_order': False, 'shape': (1, 1, 2), }" '\200\077\100\100'
run pool max1d:bf16:ncw:1x1x2:k2 b2.npy -o y.npy --dtype bf16 --indices-out i10.npy
show y.npy x2
show i10.npy d8
run pool max1d:bf16:ncw:1x1x2:k2 b2.npy -o no.npy
npy empty.npy 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3, 4), }" ''
run pool max1d:f32:ncw:0x3x4:k3 empty.npy -o y.npy --indices-out i11.npy
show y.npy f4
show i11.npy d8
echo "what does not fit"
run pool "$MAX_EXAMPLE" dy.npy -o no.npy
run pool max2d:f64:nchw:1x1x3x3:k2 x.npy -o no.npy
run pool "$MAX_EXAMPLE" i.npy -o no.npy
run pool max2d:f32:nchw:1x1x3x3:k2:o9 x.npy -o no.npy
run pool "$MAX_EXAMPLE" x.npy -o no.npy --indices-out missing/i.npy
absent no.npy
ls
