#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Configures and builds the given presets, then runs the tests of all of them in one ctest run:
# scripts/run_tests.sh PRESET... [-- CTEST_OPTION...]
set -euo pipefail
cd "$(dirname "$0")/.."

presets=()
while [ $# -gt 0 ]; do
    case $1 in
    --)
        shift
        break
        ;;
    *) presets+=("$1") ;;
    esac
    shift
done

mkdir -p build
for preset in "${presets[@]}"; do
    case $preset in
    msan | aarch64) scripts/fetch_cmocka.sh ;;
    cuda | cuda-host) scripts/fetch_cuda.sh ;;
    esac
    echo "building $preset"
    scripts/build.sh "$preset"
done

# What a super-project would generate; the presets stay independent of each other.
printf 'subdirs("%s")\n' "${presets[@]}" >build/CTestTestfile.cmake
exec ctest --test-dir build --output-on-failure -j "$(nproc)" "$@"
