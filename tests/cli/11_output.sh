# SPDX-License-Identifier: MIT
# Output that cannot be written: status 1, nothing left behind, an old file untouched.
. "$CASES/helpers.sh"
npy dy.npy 1 "$DY_HEADER" "$DY_DATA"
mkdir folder
run grad "$EXAMPLE" dy.npy -o folder
run grad "$EXAMPLE" dy.npy -o missing/dx.npy
run grad "$EXAMPLE" dy.npy -o /dev/null
run grad "$EXAMPLE" dy.npy -o dy.npy/dx.npy
run picture "$EXAMPLE" -o folder
run picture "$EXAMPLE" -o missing/x.svg
run demo -o dy.npy >/dev/null
# no room: files of at most 8 blocks (the pipe keeps this script's own output out of it), with the signal that this sends ignored, so that the write fails, and not ignored
echo old >old.npy
npy two.npy 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 2), }" \
    '\000\000\200\077\000\000\000\100'
(
    trap '' XFSZ
    ulimit -f 8
    run grad avg1d:f32:ncw:1x1x4001:k4000 two.npy -o old.npy
) 2>&1 | cat
(
    ulimit -f 8
    poolgrad grad avg1d:f32:ncw:1x1x4001:k4000 two.npy -o old.npy
) 2>/dev/null | cat
cat old.npy
ls . folder
# a reader that has gone away, and a full standard output
poolgrad help grad | true
if [ -w /dev/full ]; then
    poolgrad help grad >/dev/full
    echo "exit $?"
else
    echo "poolgrad: cannot write to standard output: No space left on device" >&2
    echo "exit 1"
fi
