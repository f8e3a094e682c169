#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Configures and builds one preset, silent unless something fails:
# scripts/build.sh PRESET [CMAKE_OPTION...]
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
shift
mkdir -p build
log=build/$preset.configure.log
if ! cmake --preset "$preset" "$@" >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
cmake --build --preset "$preset" -- --quiet
