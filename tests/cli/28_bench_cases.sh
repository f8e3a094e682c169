# SPDX-License-Identifier: MIT
# bench with problems from a file: comments, blank lines, mistakes with their place.
. "$CASES/helpers.sh"
names() {
    sed -e 's/^\([a-z]*[123]d:[^ ]*\) .*/\1/' -e '/^floor:/d' -e '/^other programs/d' -e 's/  */ /g' -e 's/ *$//'
}
cat >list.txt <<'END'
# two problems
   avg1d:f32:ncw:1x3x50:k3   # with a comment behind

    # and one in between
max1d:f32:nwc:1x3x50:k3:from=x
END
printf 'maxpool1d:f64:ncw:1x3x50:k2\r\navgpool1d:f16:ncw:1x3x50:k2' >dos.txt
run bench --cases list.txt --seconds 0 --threads 1 --verify | names
run bench avg1d:bf16:ncw:1x3x50:k5 --cases=dos.txt --seconds 0 --threads 1 --quiet | names
run bench --cases - --seconds 0 --threads 1 --json <list.txt | grep -o '"problem": "[^"]*"'

printf '# one\navg1d:f32:ncw:1x1x3:k2\n\navg1d:f32:ncw:1x1x3:k0\n' >zero.txt
printf 'avg1d:f32:ncw:1x1x3:k2 avg1d:f32:ncw:1x1x3:k2\n' >two.txt
printf '# nothing\n\n' >nothing.txt
mkdir folder
for file in zero.txt two.txt nothing.txt absent.txt folder; do
    run bench --cases $file
done
run bench --cases - <zero.txt
run bench --cases
run bench --cases ''
