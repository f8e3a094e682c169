#!/bin/sh
# SPDX-License-Identifier: MIT
# All C files are as clang-format writes them; `make format` puts them right.
cd "$(dirname "$0")/.." || exit 1
scripts/c_files.sh | xargs clang-format-14 --dry-run -Werror
