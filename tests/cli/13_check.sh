# SPDX-License-Identifier: MIT
# check on given and on random problems; how many runs depends on the machine.
. "$CASES/helpers.sh"
mask() {
    sed 's/: [0-9]* runs of [0-9]* strategies on [0-9]* instruction sets, \(error [0-9.]* of allowed\|exact\)/: RUNS/'
}
run check "$EXAMPLE" avg3d:bf16:ndhwc:2x3x5x6x7:k3x2x4:s2x1x3:p1:ceil:div=exclude:beta=0.5 | mask
run check avg1d:f32:ncw:0x3x9:k3 avg1d:f16:nwc:2x3x9:k2147483647:p1073741823 --cpu scalar | mask
run check max2d:f32:nchw:2x3x9x9:k3:s2:p1 \
    max2d:f32:nchw:2x3x6x6:k2:s2:index=u8:base=window:ilayout=strided:istride=0,0,0,0 \
    max2d:bf16:nhwc:2x3x9x9:k3:d2:from=x:nan=skip:beta=0.5 |
    sed 's/: [0-9]* runs of [0-9]* strategies on [0-9]* instruction sets/: RUNS/'
run check avgpool3d:f16:ncdhw:1x2x7x6x5:k3:p1:ceil:div=exclude maxpool1d:f64:nwc:2x3x50:k7:p9:index=u32 |
    mask
for ops in max avgpool avg,maxpool; do
    run check --random 20 --ops $ops | sed -n 's/^ok *\([a-z]*\)[0-9]d:.*/\1/p' | sort -u
done
run check --random 40 | mask | sed '1,$s/^ok .*RUNS/ok/' | sort | uniq -c | sed 's/^ *//'
run check --random 40 --seed 2 --quiet
poolgrad check --random 5 >one
poolgrad check --random 5 >two
same one two
poolgrad check --random 5 --seed 9 >two
cmp -s one two || echo "another seed, other problems"
run check "$EXAMPLE" avg2d:f32:nchw:1x1x3x3:k0 | mask
run check "$EXAMPLE" --cpu 8086 2>&1 | sed 's/knows .*;/knows ...;/'
