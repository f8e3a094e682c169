# SPDX-License-Identifier: MIT
# The documented example, and the same in every type and with every option that changes no bit.
. "$CASES/helpers.sh"
npy dy.npy 1 "$DY_HEADER" "$DY_DATA"
run grad "$EXAMPLE" dy.npy -o dx.npy
show dx.npy f4
run grad "$EXAMPLE" dy.npy --output=one.npy --threads 1 --cpu scalar --strategy reference
same dx.npy one.npy
run grad -oone.npy -j2 -- "$EXAMPLE" dy.npy
same dx.npy one.npy
# in place, and over an existing file, through a link that stays one
cp dy.npy both.npy
run grad "$EXAMPLE" both.npy -o both.npy
same dx.npy both.npy
echo old >target.npy
ln -s target.npy link.npy
run grad "$EXAMPLE" dy.npy -o link.npy
same dx.npy target.npy
test -L link.npy && echo "link.npy is a link"
# permissions are those of any new file
umask 027
run grad "$EXAMPLE" dy.npy -o mode.npy
ls -l mode.npy | cut -c1-10
# nhwc files have the channels last: 2 channels, dy (1, 1, 1, 2)
npy nhwc.npy 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 2), }" \
    '\000\000\200\100\000\000\000\101'
run grad avg2d:f32:nhwc:1x2x2x2:k2 nhwc.npy -o nhwc_dx.npy
show nhwc_dx.npy f4
run grad avg2d:f32:nhwc/nchw:1x2x2x2:k2 nhwc.npy -o nchw_dx.npy
show nchw_dx.npy f4
# batch 0
npy empty.npy 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3, 2), }" ''
run grad avg1d:f32:ncw:0x3x4:k3 empty.npy -o empty_dx.npy
show empty_dx.npy f4
# type and shape that do not fit
run grad avg2d:f64:nchw:1x1x3x3:k2 dy.npy -o no.npy
run grad avg2d:bf16:nchw:1x1x3x3:k2 dy.npy -o no.npy
run grad avg2d:f32:nchw:1x1x4x3:k2 dy.npy -o no.npy
run grad avg1d:f32:ncw:1x1x3:k2 dy.npy -o no.npy
run grad "$EXAMPLE" missing.npy -o no.npy
ls
