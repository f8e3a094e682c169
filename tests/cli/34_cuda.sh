# SPDX-License-Identifier: MIT
# --device cuda on a stand-in for the driver, whose devices hold memory and compute nothing: what the
# program does around the computation, and what it says when that fails.
. "$CASES/helpers.sh"
if [ -z "${POOLGRAD_FAKE_CUDA-}" ]; then
    echo "this program has no CUDA backend"
    exit 77
fi
LD_LIBRARY_PATH=$POOLGRAD_FAKE_CUDA/driver
export LD_LIBRARY_PATH
max_example
run info | grep '^cuda'
run grad "$EXAMPLE" dy.npy -o dx.npy --device cuda
show dx.npy f4 | head -n 1 # nothing was computed: what it holds is of no interest
run grad "$MAX_EXAMPLE" dy.npy --indices i.npy -o dx.npy --device cuda --strategy general
run grad "$MAX_EXAMPLE" dy.npy --indices i.npy -o dx.npy --device cuda --strategy nonsense 2>&1 |
    sed 's/there are .*;/there are NAMES;/'
run pool "$MAX_EXAMPLE" x.npy -o y.npy --indices-out j.npy --device cuda
run check "$EXAMPLE" --device cuda | grep -v strategy
run bench "$EXAMPLE" max2d:f32:nchw:1x8x32x32:k3:s2:p1 max2d:f16:nhwc:1x8x32x32:k3:from=x \
    --device cuda --quiet | sed -e 's/  *[0-9][0-9.]*  *[0-9].*/ NUMBERS/' -e 's/  */ /g' -e '/GB/d'
rm -f dx.npy
# fail CALL COMMAND...: with that call of the driver failing.
fail() {
    FAKE_CUDA_FAIL=$1
    export FAKE_CUDA_FAIL
    shift
    echo "$FAKE_CUDA_FAIL"
    echo "$FAKE_CUDA_FAIL" >&2
    run "$@"
    unset FAKE_CUDA_FAIL
}
fail cuModuleLoadData:1:200 grad "$EXAMPLE" dy.npy -o dx.npy --device cuda
fail cuMemAlloc_v2:1:2 grad "$EXAMPLE" dy.npy -o dx.npy --device cuda
fail cuMemAlloc_v2:2:2 grad "$EXAMPLE" dy.npy -o dx.npy --device cuda
fail cuMemcpyHtoD_v2:2:700 grad "$EXAMPLE" dy.npy -o dx.npy --device cuda
fail cuLaunchKernelEx:1:701 grad "$EXAMPLE" dy.npy -o dx.npy --device cuda
fail cuStreamSynchronize:1:700 grad "$EXAMPLE" dy.npy -o dx.npy --device cuda
fail cuMemcpyDtoH_v2:1:700 grad "$EXAMPLE" dy.npy -o dx.npy --device cuda
absent dx.npy
fail cuDeviceGetName:1:999 info | grep '^cuda'
fail cuDeviceGetName:1:999 bench "$EXAMPLE" --device cuda
fail cuMemAlloc_v2:1:2 bench "$EXAMPLE" --device cuda --quiet
fail cuMemAlloc_v2:3:2 bench "$EXAMPLE" --device cuda --quiet
fail cuLaunchKernelEx:3:701 bench "$EXAMPLE" --device cuda --quiet
