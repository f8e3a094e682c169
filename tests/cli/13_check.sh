# SPDX-License-Identifier: MIT
# check on given and on random problems; how many runs depends on the machine.
. "$CASES/helpers.sh"
mask() {
    sed 's/: [0-9]* runs of [0-9]* strategies on [0-9]* instruction sets, error [0-9.]* of allowed/: RUNS/'
}
run check "$EXAMPLE" avg3d:bf16:ndhwc:2x3x5x6x7:k3x2x4:s2x1x3:p1:ceil:div=exclude:beta=0.5 | mask
run check avg1d:f32:ncw:0x3x9:k3 avg1d:f16:nwc:2x3x9:k2147483647:p1073741823 --cpu scalar | mask
run check --random 40 | mask | sed '1,$s/^ok .*RUNS/ok/' | sort | uniq -c | sed 's/^ *//'
run check --random 40 --seed 2 --quiet
poolgrad check --random 5 >one
poolgrad check --random 5 >two
same one two
poolgrad check --random 5 --seed 9 >two
cmp -s one two || echo "another seed, other problems"
run check "$EXAMPLE" avg2d:f32:nchw:1x1x3x3:k0 | mask
run check "$EXAMPLE" --cpu 8086 2>&1 | sed 's/knows .*;/knows ...;/'
