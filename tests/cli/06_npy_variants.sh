# SPDX-License-Identifier: MIT
# Every way to write the same array is read the same.
. "$CASES/helpers.sh"
npy dy.npy 1 "$DY_HEADER" "$DY_DATA"
run grad "$EXAMPLE" dy.npy -o dx.npy
variant() {
    npy in.npy "$1" "$2" "$3"
    run grad "$EXAMPLE" in.npy -o out.npy
    same dx.npy out.npy
}
echo "versions 2 and 3"
variant 2 "$DY_HEADER" "$DY_DATA"
variant 3 "$DY_HEADER" "$DY_DATA"
echo "other spellings of the header"
variant 1 "{'shape':(1,1,2,2),'fortran_order':False,'descr':'<f4'}" "$DY_DATA"
variant 1 "{ \"descr\" : \"<f4\" , 'fortran_order' : False , 'shape' : ( 1L , 1L , 2L , 2L , ) , }" "$DY_DATA"
variant 1 "{'descr': '=f4', 'fortran_order': False, 'shape': (1, 1, 2, 2), }" "$DY_DATA"
variant 1 "{'descr': 'f4', 'fortran_order': False, 'shape': (1, 1, 2, 2), }" "$DY_DATA"
echo "Fortran order: the first axis is fastest"
variant 1 "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1, 2, 2), }" \
    '\000\000\200\077\000\000\100\100\000\000\000\100\000\000\200\100'
echo "big endian: swapped on the way in and out"
npy big.npy 1 "{'descr': '>f4', 'fortran_order': False, 'shape': (1, 1, 2, 2), }" \
    '\077\200\000\000\100\000\000\000\100\100\000\000\100\200\000\000'
run grad "$EXAMPLE" big.npy -o big_dx.npy
show big_dx.npy x1
echo "f8 and f2"
npy f8.npy 1 "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 2), }" \
    '\000\000\000\000\000\000\360\077\000\000\000\000\000\000\010\100'
run grad avg1d:f64:ncw:1x1x3:k2 f8.npy -o f8_dx.npy
show f8_dx.npy f8
npy f2.npy 1 "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 1, 2), }" '\000\074\000\102'
run grad avg1d:f16:ncw:1x1x3:k2 f2.npy -o f2_dx.npy
show f2_dx.npy x2
