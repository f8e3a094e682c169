# SPDX-License-Identifier: MIT
# --device in a program that was built without CUDA.
. "$CASES/helpers.sh"
if [ -n "${POOLGRAD_FAKE_CUDA-}" ]; then
    echo "this program has the CUDA backend"
    exit 77
fi
run info | grep '^cuda'
device_attempts
run grad "$EXAMPLE" dy.npy -o dx.npy --device gpu
run info --device cuda
