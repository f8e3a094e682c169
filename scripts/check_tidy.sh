#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# clang-tidy over the library, the program and the workloads, or over files that match an expression:
# scripts/check_tidy.sh BUILD_DIR [EXPRESSION]
set -euo pipefail
build=$(cd "$1" && pwd)
files=${2:-(src|faces|support|cli|bench)/}
cd "$(dirname "$0")/.."

# What this build compiles: other architectures have files of their own. The compile commands are
# gcc's: clang may not know all of its warnings.
sed -n 's/^ *"file": "\(.*\)",\?$/\1/p' "$build/compile_commands.json" |
    grep -E "^$PWD/$files" | sort -u | tr '\n' '\0' |
    xargs -0 -n 1 -P "$(nproc)" clang-tidy-14 -p "$build" --quiet \
        --extra-arg=-Wno-unknown-warning-option 2> >(grep -v 'warnings\? generated' >&2)
