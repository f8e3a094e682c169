#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Gets the CUDA compiler, as Python packages, into build/deps/cuda; nothing is installed elsewhere.
# A second run is instant.
set -euo pipefail
cd "$(dirname "$0")/.."

# The compiler and what it includes and calls; all of one release.
packages=(
    nvidia-cuda-nvcc==13.0.88
    nvidia-cuda-runtime==13.0.96
    nvidia-cuda-crt==13.0.88
    nvidia-nvvm==13.0.88
    nvidia-cuda-cccl==13.0.85
)
target=build/deps/cuda

if [ -x "$target/nvidia/cu13/bin/nvcc" ] && [ "$(cat "$target/packages" 2>/dev/null)" = "${packages[*]}" ]; then
    exit 0
fi
# Debian's Python has pip only in environments of one's own.
python3 -m venv build/deps/pip
rm -rf "$target"
mkdir -p "$target"
build/deps/pip/bin/python -m pip install --quiet --no-deps --disable-pip-version-check \
    --root-user-action=ignore --target "$target" "${packages[@]}"
echo "${packages[*]}" >"$target/packages"
