# SPDX-License-Identifier: MIT
# bf16 comes as uint16 or V2, and goes as it came; it has to be asked for.
. "$CASES/helpers.sh"
# 1 and 3
npy u2.npy 1 "{'descr': '<u2', 'fortran_order': False, 'shape': (1, 1, 2), }" '\200\077\100\100'
npy v2.npy 1 "{'descr': '|V2', 'fortran_order': False, 'shape': (1, 1, 2), }" '\200\077\100\100'
npy big.npy 1 "{'descr': '>u2', 'fortran_order': False, 'shape': (1, 1, 2), }" '\077\200\100\100'
for file in u2 v2 big; do
    run grad avg1d:bf16:ncw:1x1x3:k2 "$file.npy" -o "${file}_dx.npy" --dtype bf16
    show "${file}_dx.npy" x1
done
run grad avg1d:bf16:ncw:1x1x3:k2 u2.npy -o no.npy
run grad avg1d:bf16:ncw:1x1x3:k2 v2.npy -o no.npy
run grad avg1d:f16:ncw:1x1x3:k2 u2.npy -o no.npy
npy f2.npy 1 "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 1, 2), }" '\000\074\000\102'
run grad avg1d:bf16:ncw:1x1x3:k2 f2.npy -o no.npy --dtype bf16
absent no.npy
