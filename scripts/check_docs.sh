#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The examples in the pages are the ones that are built and run: a ```c block behind the line
# <!-- examples/NAME.c --> is that file from its first #include on.
set -euo pipefail
cd "$(dirname "$0")/.."

status=0
found=0
while IFS=: read -r page line; do
    file=$(sed -n "${line}s/^<!-- \(.*\) -->$/\1/p" "$page")
    block=$(tail -n +"$((line + 1))" "$page" | sed -n '/^```c$/,/^```$/p' | sed '/^```$/q' | sed '/^```/d')
    found=$((found + 1))
    if ! diff -u --label "$file" --label "$page" <(sed -n '/^#include/,$p' "$file") <(echo "$block") >&2; then
        echo "$page: the example is not $file" >&2
        status=1
    fi
done < <(grep -nE '^<!-- examples/.*\.c -->$' README.md docs/*.md docs/*/*.md | cut -d: -f1,2)

for header in include/poolgrad/*.h; do
    face=$(basename "$header" .h)
    case $face in
    poolgrad | face | cuda) continue ;;
    esac
    if [ ! -f "docs/faces/$face.md" ]; then
        echo "$header: has no page docs/faces/$face.md" >&2
        status=1
    fi
done
if [ "$found" -eq 0 ]; then
    echo "no example found in any page; is the pattern right?" >&2
    status=1
fi
exit $status
