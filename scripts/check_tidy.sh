#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# clang-tidy over the library and the program: scripts/check_tidy.sh BUILD_DIR
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."

# The compile commands are gcc's: clang may not know all of its warnings.
find src faces support cli -name '*.c' -print0 |
    xargs -0 -n 1 -P "$(nproc)" clang-tidy-14 -p "$build" --quiet \
        --extra-arg=-Wno-unknown-warning-option 2> >(grep -v 'warnings\? generated' >&2)
