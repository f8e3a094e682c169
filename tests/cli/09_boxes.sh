# SPDX-License-Identifier: MIT
# Parts of dx, from parts of dy, glued together are the whole.
. "$CASES/helpers.sh"
header() {
    echo "{'descr': '<f4', 'fortran_order': False, 'shape': ($1), }"
}
elements() {
    tail -c $((4 * $2)) "$1"
}
# dy = 1, 2, 3, 4 over x of 6, window 3
npy dy.npy 1 "$(header '1, 1, 4')" "$DY_DATA"
run grad avg1d:f32:ncw:1x1x6:k3 dy.npy -o whole.npy
show whole.npy f4
# the first three of dx need windows 0..2, the last three 1..3
npy low.npy 1 "$(header '1, 1, 3')" "$(printf '%s' "$DY_DATA" | cut -c1-48)"
npy high.npy 1 "$(header '1, 1, 3')" "$(printf '%s' "$DY_DATA" | cut -c17-64)"
run grad avg1d:f32:ncw:1x1x6:k3:dxbox=0+*,0+*,0+3:dybox=0+*,0+*,0+3 low.npy -o a.npy
run grad avg1d:f32:ncw:1x1x6:k3:dxbox=0+*,0+*,3+3:dybox=0+*,0+*,1+3 high.npy -o b.npy
{ elements a.npy 3; elements b.npy 3; } >glued
elements whole.npy 6 >all
same glued all
# a dy that lacks a window, and one of the wrong extent
run grad avg1d:f32:ncw:1x1x6:k3:dxbox=0+*,0+*,3+3:dybox=0+*,0+*,2+2 high.npy -o c.npy
run grad avg1d:f32:ncw:1x1x6:k3:dxbox=0+*,0+*,3+3:dybox=0+*,0+*,1+3 dy.npy -o c.npy
absent c.npy
