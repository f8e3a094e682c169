#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The names in the libraries: scripts/check_symbols.sh SHARED_LIBRARY STATIC_LIBRARY
set -euo pipefail
cd "$(dirname "$0")/.."

shared=$1
static=$2
status=0
export LC_ALL=C

# same TEXT LIST LIST: complains with a diff if the two lists differ.
same()
{
    if ! diff -u --label expected --label found <(echo "$2") <(echo "$3") >&2; then
        echo "symbols: $1" >&2
        status=1
    fi
}

declared=$(grep -hv '^#' include/poolgrad/*.h | tr '\n' ' ' | grep -oE 'POOLGRAD_API [^;()]*\(' |
    grep -oE '\w+\($' | tr -d '(' | sort)
listed=$(sed -nE 's/^ *(poolgrad_\w+);$/\1/p' src/poolgrad.map | sort)
exported=$(nm -D --defined-only "$shared" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
same "the version script does not list exactly the POOLGRAD_API functions" "$declared" "$listed"
same "the shared library does not export exactly the version script's list" "$listed" "$exported"

# C has one namespace per program, and a static library shares it with everybody.
global=$(nm -g --defined-only "$static" | awk 'NF == 3 { print $3 }' | grep -v '^pgi_' | sort)
same "globals of the static library that are neither public nor begin with pgi_" "$declared" "$global"

# Errors are returned. The list is of what glibc turns the forbidden calls into.
loud=$(nm -u "$static" | awk 'NF == 2 { print $2 }' | sort -u |
    grep -E '^_*(v?f?printf|puts|fputs|fputc|putchar|putc|fwrite|perror|write|stdout|stderr|abort|_?exit|quick_exit|assert\w*|assert_fail|raise|v?f?printf_chk)$' || true)
same "calls that print or end the program" "" "$loud"
exit $status
