# SPDX-License-Identifier: MIT
# Broken files: status 1, a message, no output file, no large allocation.
. "$CASES/helpers.sh"
broken() {
    echo "# $1"
    echo "# $1" >&2
    run grad "$EXAMPLE" in.npy -o out.npy
}
npy dy.npy 1 "$DY_HEADER" "$DY_DATA"
: >in.npy
broken "empty file"
head -c 7 dy.npy >in.npy
broken "cut in the magic"
head -c 40 dy.npy >in.npy
broken "cut in the header"
head -c 140 dy.npy >in.npy
broken "cut in the data"
{ cat dy.npy; printf x; } >in.npy
broken "one byte too many"
sed '1s/NUMPY/NUMPX/' dy.npy >in.npy
broken "bad magic"
npy in.npy 4 "$DY_HEADER" "$DY_DATA"
broken "version 4"
printf '\223NUMPY\001\001\166\000' >in.npy
broken "version 1.1"
printf '\223NUMPY\002\000\377\377\377\377{}' >in.npy
broken "header of 4 GiB"
printf '\223NUMPY\002\000\377' >in.npy
broken "cut in the length"
header() {
    npy in.npy 1 "$2" "$DY_DATA"
    broken "$1"
}
header "no dictionary" "[1, 2]"
header "huge dimension" "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 1, 2, 2), }"
header "product overflows" "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296), }"
header "dimension overflows" "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }"
header "large but not there" "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 1000, 1, 1), }"
header "negative" "{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 1, 2, 2), }"
header "shape is a number" "{'descr': '<f4', 'fortran_order': False, 'shape': (4), }"
header "shape not closed" "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 2, 2"
header "dictionary not closed" "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 2, 2)"
header "33 dimensions" "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1), }"
header "no shape" "{'descr': '<f4', 'fortran_order': False, }"
header "a key twice" "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 2, 2), }"
header "another key" "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 2, 2), 'x': 1, }"
header "order is no truth value" "{'descr': '<f4', 'fortran_order': 0, 'shape': (1, 1, 2, 2), }"
header "integers" "{'descr': '<i4', 'fortran_order': False, 'shape': (1, 1, 2, 2), }"
header "objects" "{'descr': '|O', 'fortran_order': False, 'shape': (1, 1, 2, 2), }"
header "structured" "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 1, 2, 2), }"
header "quote not closed" "{'descr': '<f4"
header "endless word" "{'descr': '<f4444444444444444444444444444444444444444444444444444444444444444444444', }"
header "text behind" "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 2, 2), } x"
header "a scalar" "{'descr': '<f4', 'fortran_order': False, 'shape': (), }"
mkdir folder.npy
run grad "$EXAMPLE" folder.npy -o out.npy
run grad "$EXAMPLE" /dev/null -o out.npy
ls
