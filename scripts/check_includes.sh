#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The dependency rule, over #include lines: core <- plan <- cpu, cuda inside src/; everything outside
# sees the public headers, support/ and its own folder; a face the public headers and
# faces/common/. Public headers are named in angle brackets, those of src/ and faces/ from there
# ("core/axis.h", "common/face.h"), the others by their bare name or as "support/data.h". Unit tests
# also see what a test can tell the stand-in for a CUDA driver, "fake_cuda/control.h".
set -euo pipefail
cd "$(dirname "$0")/.."

status=0

complain()
{
    echo "$1: includes $2, $3" >&2
    status=1
}

# Which first folders a file may name, by the folder it lies in.
allowed_in_src()
{
    case $1 in
    src/core/*) echo core ;;
    src/plan/*) echo core plan ;;
    src/cuda/*) echo core plan cuda ;;
    src/*) echo core plan cpu ;;
    esac
}

check_quoted()
{
    local file=$1 name=$2 folder=${1%/*}
    case $name in
    *..*)
        complain "$file" "\"$name\"" "which climbs out of its folder"
        return
        ;;
    esac
    case $file in
    src/*)
        # cpu/ may be divided further; the rule is about its first level.
        case " $(allowed_in_src "$file") " in
        *" ${name%%/*} "*) [ -f "src/$name" ] && return ;;
        esac
        complain "$file" "\"$name\"" "which its layer may not see"
        ;;
    faces/*)
        case $name in
        common/*) [ -f "faces/$name" ] && return ;;
        */*) ;;
        *) [ -f "$folder/$name" ] && return ;;
        esac
        complain "$file" "\"$name\"" "which is neither beside it nor in faces/common/"
        ;;
    *)
        case $name in
        support/*) if [ -f "$name" ]; then return; fi ;;
        fake_cuda/control.h) if [ "$folder" = tests/unit ]; then return; fi ;;
        */*) ;;
        *) if [ -f "$folder/$name" ] || [ -f "support/$name" ]; then return; fi ;;
        esac
        complain "$file" "\"$name\"" "which is neither beside it nor in support/"
        ;;
    esac
}

while read -r file; do
    while IFS= read -r include; do
        case $include in
        '<poolgrad/'*) [ -f "include/${include:1:-1}" ] || complain "$file" "$include" "no public header" ;;
        '<'*/*'>')
            [ ! -f "src/${include:1:-1}" ] || complain "$file" "$include" "an internal header"
            ;;
        '<'*) ;;
        *) check_quoted "$file" "${include:1:-1}" ;;
        esac
    done < <(sed -nE 's/^[[:blank:]]*#[[:blank:]]*include[[:blank:]]*([<"][^>"]*[>"]).*/\1/p' "$file")
    if grep -nHE '^[[:blank:]]*#[[:blank:]]*include[[:blank:]]+[^<"[:blank:]]' "$file" >&2; then
        complain "$file" "a macro" "which this check cannot follow"
    fi
done < <(scripts/c_files.sh && find src -name '*.cu' -o -name '*.cuh')
exit $status
