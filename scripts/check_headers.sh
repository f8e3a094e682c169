#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each public header compiles alone, first in a file, in every language its users write.
set -euo pipefail
cd "$(dirname "$0")/.."

compile()
{
    echo "$@" >&2
    "$@" -pedantic -Wall -Wextra -Wshadow -Wundef -Werror -Iinclude -fsyntax-only
}

for header in include/poolgrad/*.h; do
    for standard in c99 c11; do
        for compiler in gcc clang; do
            compile $compiler -std=$standard -Wstrict-prototypes -x c "$header"
        done
    done
    for compiler in g++ clang++; do
        compile $compiler -std=c++17 -x c++ "$header"
    done
done
