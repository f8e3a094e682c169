#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What no formatter looks at: tabs, blanks at line ends, final newlines, licence lines, file sizes.
set -euo pipefail
cd "$(dirname "$0")/.."

max_lines=600
status=0

complain()
{
    echo "style: $*" >&2
    status=1
}

# Golden results and other data are not ours to reformat; prose has no licence line.
mapfile -t code < <(find .ci CMakeLists.txt Makefile cmake include src faces support cli tests examples \
    bench scripts \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.sh' -o -name '*.py' -o -name '*.cmake' \
    -o -name CMakeLists.txt -o -name Makefile -o -name '*.map' -o -name '*.def' \
    -o -path .ci/run \) -type f | LC_ALL=C sort)
mapfile -t prose < <(find . -maxdepth 1 -name '*.md'; find docs cli tests examples support src bench \
    -name '*.md')

for file in "${code[@]}"; do
    head -n 3 "$file" | grep -q 'SPDX-License-Identifier: MIT' ||
        complain "$file: no line 'SPDX-License-Identifier: MIT' at the top"
    case $file in
    *.[ch] | *.cu | *.cuh | *.sh | *.py)
        lines=$(wc -l <"$file")
        [ "$lines" -le $max_lines ] || complain "$file: $lines lines, more than $max_lines"
        ;;
    esac
    case $file in
    *Makefile) ;;
    *) ! grep -nHP '\t' "$file" >&2 || complain "$file: tabs" ;;
    esac
done
for file in "${code[@]}" "${prose[@]}"; do
    ! grep -nHE '[[:blank:]]+$' "$file" >&2 || complain "$file: blanks at the end of lines"
    [ -z "$(tail -c 1 "$file")" ] || complain "$file: no newline at the end"
done
exit $status
