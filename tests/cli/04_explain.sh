# SPDX-License-Identifier: MIT
# explain shows the resolved problem; what the planner says may change and is masked.
. "$CASES/helpers.sh"
mask() {
    sed -e 's/^\(strategy\|because\|detail\|cpu\) .*/\1 .../' \
        -e 's/^threads .*/threads .../' -e 's/^workspace .*/workspace .../'
}
run explain avg2d:f32:nchw:8x64x56x56:k3:s2:p1 | mask
run explain avg3d:bf16:ndhwc/ncdhw:2x3x8x9x10:k2x3x4:p0x1x0,2:ceil:div=7:alpha=0.5:beta=-1 | mask
run explain avg1d:f64:ncw:1x1x100:adaptive:o7:dxbox=0+*,0+*,10+20:dybox=0+*,0+*,0+3 | mask
run explain avg1d:f64:ncw:4x3x100:k5:div=exclude:dxbox=1+2,0+*,10+20:dybox=0+*,0+*,6+24 | mask
run explain avg1d:f32:ncw:1x1x9:k3 --strategy reference --cpu scalar --threads 1 |
    grep -e '^strategy' -e '^cpu' -e '^threads'
run explain avg2d:f16:strided/nchw:2x3x8x8:k2:s2:dystride=0,0,0,0 --json |
    sed -e 's/"strategy".*"threads"/... "threads"/' -e 's/"threads".*"bytes_read"/... "bytes_read"/' \
        -e 's/"workspace": [0-9]*/"workspace": .../'
run explain max2d:f32:nchw:8x64x56x56:k3:s2:p1:index=i32:base=plane:nowinner | mask
run explain max2d:f16:nhwc:2x3x8x8:k2:s2:from=x:nan=skip:xlayout=nchw:beta=1 | mask
run explain avgpool1d:f64:ncw:1x1x100:k5:ybox=0+*,0+*,10+20:xbox=0+*,0+*,8+30:alpha=2 | mask
run explain maxpool3d:bf16:ncdhw/ndhwc:1x2x4x5x6:k2:order=column | mask
run explain max1d:f32:ncw:1x1x9:k3:base=nxc --json |
    sed -e 's/"strategy".*"threads"/... "threads"/' -e 's/"threads".*"bytes_read"/... "bytes_read"/' \
        -e 's/"workspace": [0-9]*/"workspace": .../'
# values that are wrong: 1, with the field in the message
run explain avg2d:f32:nchw:1x1x3x3:k0
run explain avg2d:f32:nchw:1x1x3x3:k2:o3
