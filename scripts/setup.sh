#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the Debian packages that are missing for a purpose: scripts/setup.sh build|cuda|test|peers|coverage.
# Asks dpkg first, so that a second run is instant and needs neither root nor a network.
set -euo pipefail

build=(gcc libc6-dev cmake ninja-build pkg-config libcmocka-dev)
coverage=("${build[@]}" gcovr)
peers=("${build[@]}" python3 python3-venv)
cuda=("${peers[@]}" g++)
test=("${build[@]}" g++ clang libclang-rt-14-dev libomp-dev clang-format-14 clang-tidy-14
    gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user xz-utils
    gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64
    python3-numpy python3-venv)

case "${1:-}" in
build) wanted=("${build[@]}") ;;
cuda) wanted=("${cuda[@]}") ;;
test) wanted=("${test[@]}") ;;
peers) wanted=("${peers[@]}") ;;
coverage) wanted=("${coverage[@]}") ;;
*)
    echo "usage: scripts/setup.sh build|cuda|test|peers|coverage" >&2
    exit 2
    ;;
esac

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    if [ "${POOLGRAD_SKIP_SETUP:-}" = 1 ]; then
        exit 0
    fi
    echo "setup: this is not Debian; install the equivalents of these packages yourself and set" >&2
    echo "setup: POOLGRAD_SKIP_SETUP=1: ${wanted[*]}" >&2
    exit 1
fi

missing=()
for package in "${wanted[@]}"; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "setup: missing packages; as root, run: apt-get install ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
# A broken third-party source must not stop us: what matters is whether the install succeeds.
"${as_root[@]}" apt-get update -qq || echo "setup: apt-get update failed; going on" >&2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
