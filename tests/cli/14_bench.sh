# SPDX-License-Identifier: MIT
# bench as a table and as JSON; only the numbers vary.
. "$CASES/helpers.sh"
mask() {
    sed -e 's/  *[0-9][0-9.]*  *[0-9][0-9.]*  *[0-9][0-9.]*  *[0-9][0-9.]*?*  *[0-9][0-9.]*  .*/ NUMBERS/' \
        -e 's/ *$//' -e 's/  */ /g' -e 's/[0-9.]* to [0-9.]* GB/N to N GB/' \
        -e 's/"\(seconds\|floor_seconds\|x_floor\|least_x_floor\|hot_seconds\)": [0-9][-+0-9.e]*/"\1": N/g' \
        -e 's/"waiting": [0-9.]*/"waiting": W/' -e '/^other programs had the CPUs/d' \
        -e 's/"strategy": "[a-z0-9_]*", "isa": "[a-z0-9_]*"/"strategy": S, "isa": I/'
}
run bench avg2d:f32:nchw:1x8x32x32:k3:s2:p1 avg1d:bf16:nwc:2x3x100:k5 --seconds 0.05 --threads 1 |
    mask
run bench avg2d:f32:nchw:1x8x32x32:k3:s2:p1 avg1d:bf16:ncw/nwc:2x3x100:k5 --seconds 0 --threads 2 \
    --json --quiet --verify | mask
run bench max2d:f32:nchw:1x8x32x32:k3:s2:p1 max2d:f16:nhwc:1x8x32x32:k3:from=x \
    maxpool2d:f32:nchw:1x8x32x32:k2:index=i32 avgpool1d:f64:nwc:2x3x100:k5:beta=1 \
    max1d:f32:ncw:1x3x50:k3:base=plane:dxbox=0+*,0+*,9+20:dybox=0+*,0+*,7+22 \
    --seconds 0.01 --threads 2 --quiet --verify | mask
run bench maxpool2d:bf16:nhwc:1x8x32x32:k2 max1d:f32:ncw:1x3x50:k3 --values --seconds 0.01 \
    --threads 1 --quiet --verify | mask
run bench avg1d:f32:ncw:1x1x3:k2 --values --device cuda
run bench avg1d:f32:ncw:1x1x3:k2 --verify --device cuda
run bench avg1d:f32:ncw:1x1x3:k2 avg1d:f32:ncw:1x1x3:k0 --seconds 0.05
run bench avg1d:f32:ncw:1000000x1000000x100:k1 -q 2>&1 |
    sed 's/needs [0-9.]* GiB/needs N GiB/'
