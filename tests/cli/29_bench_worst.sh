# SPDX-License-Identifier: MIT
# bench on random problems, and the worst of them: the same problems for the same seed.
. "$CASES/helpers.sh"
names() {
    sed -e 's/^\([a-z]*[123]d:[^ ]*\) .*/\1/' -e '/^floor:/d' -e '/^other programs/d' -e 's/  */ /g' -e 's/ *$//'
}
# A call takes longer than copying three numbers by so much that no machine is in doubt.
run bench avg2d:f32:nchw:1x1x1024x512:k1 avg1d:f32:ncw:1x1x3:k2 --worst 1 --seconds 0.02 --threads 1 |
    names
run bench avg1d:f32:ncw:1x1x3:k2 --worst 5 --seconds 0 --threads 1 --quiet --verify | names

search() {
    poolgrad bench --random 2 --ops avg --seconds 0 --threads 1 "$@"
}
search --worst 1 >table 2>first
search --seed 1 --json >json 2>second
search --seed 2 >/dev/null 2>third
grep -c '^avg[123]d:' table
grep -c '"x_floor": [0-9]' json
sed '3,$d' first >tried
same tried second
grep -c '^\[[12]/2\] avg[123]d:' third
if cmp -s second third; then echo "another seed, the SAME problems"; fi

run bench --ops avg avg1d:f32:ncw:1x1x3:k2
run bench --random 2 --ops avg,median
run bench --worst 0
run bench --random 0
run bench --worst 3 --seed -1
