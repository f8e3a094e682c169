# SPDX-License-Identifier: MIT
# Wrong usage ends with 2 and says what to do.
. "$CASES/helpers.sh"
run expalin
run frobnicate
run --frobnicate
run help expalin
run help info grad
run info something
run info --thraeds 2
run info --frobnicate
run info -x
run info --threads
run info --threads 0
run info --threads two
run info --threads 5000
run info --threads=
run info --cpu ''
run info --cpu 8086 2>&1 | sed 's/knows .*;/knows ...;/'
run explain
run explain one two
run explain avg2d
run explain avg2d:f32:nchw:1x1x3x3:q2
run explain avg2d:f32:nchw:1x1x3x3:k2 --json=yes
run explain avg2d:f32:nchw:1x1x3x3:k2 --strategy magic
run explain -- --json
run check
run check --random 0
run check --random 3 --seed -1
run bench
run bench --seconds -1 avg2d:f32:nchw:1x1x3x3:k2
run bench --seconds nan avg2d:f32:nchw:1x1x3x3:k2
run picture
run picture avg2d:f32:nchw:1x1x3x3:k2
run picture -o x.svg
run grad avg2d:f32:nchw:1x1x3x3:k2 dy.npy
run grad avg2d:f32:nchw:1x1x3x3:k2 -o dx.npy
run grad avg2d:f32:strided/nchw:1x1x3x3:k2:dystride=4,4,2,1 dy.npy -o dx.npy
run grad avg2d:f32:nchw:1x1x3x3:k2 dy.npy -o dx.npy --dtype f32
run grad avg2d:f32:nchw:1x1x3x3:k2 dy.npy -o dx.npy --dtype bf16
run grad avg2d:f32:nchw:1x1x3x3:k2:beta=1 dy.npy -o dx.npy
run grad avg2d:f32:nchw:1x1x3x3:k2 dy.npy -o dx.npy --dx old.npy
run grad max2d:f32:nchw:1x1x3x3:k2 dy.npy -o dx.npy
run grad max2d:f32:nchw:1x1x3x3:k2 dy.npy -o dx.npy --indices i.npy --x x.npy
run grad max2d:f32:nchw:1x1x3x3:k2:from=x dy.npy -o dx.npy --indices i.npy
run grad max2d:f32:nchw:1x1x3x3:k2:from=indices dy.npy -o dx.npy --x x.npy
run grad max2d:f32:nchw:1x1x3x3:k2:ilayout=strided:istride=4,4,2,1 dy.npy -o dx.npy --indices i.npy
run grad avg2d:f32:nchw:1x1x3x3:k2 dy.npy -o dx.npy --indices i.npy
run grad avgpool2d:f32:nchw:1x1x3x3:k2 dy.npy -o dx.npy --x x.npy
run grad avg2d:f32:nchw:1x1x3x3:k2 dy.npy -o dx.npy --indices-out i.npy
run pool
run pool max2d:f32:nchw:1x1x3x3:k2 x.npy
run pool min2d:f32:nchw:1x1x3x3:k2 x.npy -o y.npy
run pool avg2d:f32:nchw:1x1x3x3:k2:q1 x.npy -o y.npy
run pool avg2d:f32:nchw:1x1x3x3:k2 x.npy -o y.npy --indices-out i.npy
run pool max2d:f32:nchw:1x1x3x3:k2 x.npy -o y.npy --indices-out y.npy
run pool max2d:f32:nchw:1x1x3x3:k2 x.npy -o y.npy --indices i.npy
run pool max2d:f32:nchw:1x1x3x3:k2:beta=1 x.npy -o y.npy
run pool max2d:f32:nchw:1x1x3x3:k2 x.npy -o y.npy --y old.npy
run picture max2d:f32:nchw:1x1x3x3:k2 -o x.svg
run check --random 3 --ops avg,median
run check avg1d:f32:ncw:1x1x3:k2 --ops avg
run demo here
export POOLGRAD_CPU=8086
run info 2>&1 | sed 's/knows .*;/knows ...;/'
ls
