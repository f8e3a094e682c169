#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each public header compiles alone, first in a file, in every language its users write, also for
# Windows. With directml.h that checks its asserts about the layout of DirectML's structs.
set -euo pipefail
cd "$(dirname "$0")/.."

compile()
{
    echo "$@" >&2
    "$@" -pedantic -Wall -Wextra -Wshadow -Wundef -Werror -Iinclude -fsyntax-only
}

for header in include/poolgrad/*.h; do
    for standard in c99 c11; do
        for compiler in gcc clang x86_64-w64-mingw32-gcc; do
            compile $compiler -std=$standard -Wstrict-prototypes -x c "$header"
        done
    done
    for compiler in g++ clang++ x86_64-w64-mingw32-g++; do
        compile $compiler -std=c++17 -x c++ "$header"
    done
done
# 32-bit Windows has another layout, whose asserts 64-bit compilers do not see.
compile x86_64-w64-mingw32-gcc -m32 -std=c11 -x c include/poolgrad/directml.h
compile x86_64-w64-mingw32-g++ -m32 -std=c++17 -x c++ include/poolgrad/directml.h
