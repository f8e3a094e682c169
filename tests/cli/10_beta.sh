# SPDX-License-Identifier: MIT
# dx = alpha * gradient + beta * dx, with the old dx from a file of either order.
. "$CASES/helpers.sh"
npy dy.npy 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1), }" '\000\000\200\100'
npy old.npy 1 "$DY_HEADER" "$DY_DATA"
npy fortran.npy 1 "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1, 2, 2), }" \
    '\000\000\200\077\000\000\100\100\000\000\000\100\000\000\200\100'
run grad avg2d:f32:nchw:1x1x2x2:k2:beta=1 dy.npy --dx old.npy -o new.npy
show new.npy f4
run grad avg2d:f32:nchw:1x1x2x2:k2:alpha=-1:beta=10 dy.npy --dx old.npy -o new.npy
show new.npy f4
run grad avg2d:f32:nchw:1x1x2x2:k2:beta=1 dy.npy --dx fortran.npy -o new.npy
show new.npy f4
run grad avg2d:f32:nchw:1x1x2x2:k2:beta=1 dy.npy --dx old.npy -o old.npy
show old.npy f4
# the old dx must fit
run grad avg2d:f32:nchw:1x1x2x2:k2:beta=1 dy.npy --dx dy.npy -o no.npy
run grad avg2d:f32:nchw:1x1x2x2:k2:beta=1 dy.npy --dx missing.npy -o no.npy
absent no.npy
