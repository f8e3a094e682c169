# SPDX-License-Identifier: MIT
# --device cuda where there is no driver, an old one, or no device.
. "$CASES/helpers.sh"
if [ -z "${POOLGRAD_FAKE_CUDA-}" ]; then
    echo "this program has no CUDA backend"
    exit 77
fi
# with FOLDER COMMAND...: the driver that lies there.
with() {
    folder=$1
    shift
    (
        LD_LIBRARY_PATH=$POOLGRAD_FAKE_CUDA/$folder
        export LD_LIBRARY_PATH
        "$@"
    )
}
echo "no driver"
with broken run info | grep '^cuda'
with broken device_attempts
echo "a driver without some functions"
with old run info | grep '^cuda'
with old run grad "$EXAMPLE" dy.npy -o dx.npy --device cuda
echo "a driver that is too old"
export FAKE_CUDA_VERSION=12080
with driver run info | grep '^cuda'
with driver run grad "$EXAMPLE" dy.npy -o dx.npy --device cuda
unset FAKE_CUDA_VERSION
echo "a driver that does not start"
export FAKE_CUDA_FAIL=cuInit:1:201
with driver run info | grep '^cuda'
with driver run bench "$EXAMPLE" --device cuda
with driver run check "$EXAMPLE" --device cuda
unset FAKE_CUDA_FAIL
echo "no device"
export FAKE_CUDA_DEVICES=0
with driver run info | grep '^cuda'
with driver device_attempts
