#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: run.sh [--update] BINARY [CASE...]
#
# Runs the cases NN_name.sh beside this script (or those named, with or without .sh) on the program
# BINARY, each in a fresh folder, and compares stdout and stderr with NN_name.out and NN_name.err
# (no file: nothing expected). A case that ends with status 77 is skipped. --update writes what was
# seen as what is expected; read the difference before you believe it.
#
# POOLGRAD_EMULATOR, if set, is put before BINARY (qemu-aarch64 -L ...).
set -u
here=$(cd "$(dirname "$0")" && pwd)
update=no
if [ "${1-}" = --update ]; then
    update=yes
    shift
fi
if [ $# -lt 1 ] || [ ! -x "$1" ]; then
    echo "usage: run.sh [--update] BINARY [CASE...]" >&2
    exit 2
fi
POOLGRAD=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
unset POOLGRAD_CPU OMP_NUM_THREADS
export POOLGRAD POOLGRAD_EMULATOR="${POOLGRAD_EMULATOR-}" CASES="$here" LC_ALL=C

if [ $# -eq 0 ]; then
    set -- "$here"/[0-9]*.sh
fi
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# compare NAME STREAM: what was seen against what is expected.
compare() {
    expected=$here/$1.$2
    if [ $update = yes ]; then
        if [ -s "$work/$2" ]; then cp "$work/$2" "$expected"; else rm -f "$expected"; fi
        return 0
    fi
    [ -f "$expected" ] || expected=/dev/null
    diff -u "$expected" "$work/$2" >"$work/diff" && return 0
    echo "--- $1: $2 differs from what is expected (-)"
    tail -n +3 "$work/diff"
    return 1
}

passed=0 failed=0 skipped=0
for case in "$@"; do
    name=$(basename "$case" .sh)
    if [ ! -f "$here/$name.sh" ]; then
        echo "run.sh: no case $name in $here" >&2
        exit 2
    fi
    mkdir "$work/dir"
    (cd "$work/dir" && sh "$here/$name.sh") >"$work/out" 2>"$work/err"
    status=$?
    if [ $status -eq 77 ]; then
        skipped=$((skipped + 1))
        echo "skip $name: $(tail -n 1 "$work/out")"
    elif [ $status -ne 0 ]; then
        failed=$((failed + 1))
        echo "FAIL $name: the case itself ended with status $status"
        cat "$work/out" "$work/err"
    elif compare "$name" out && compare "$name" err; then
        passed=$((passed + 1))
        echo "ok   $name"
    else
        failed=$((failed + 1))
        echo "FAIL $name"
    fi
    chmod -R u+w "$work/dir"
    rm -rf "$work/dir"
done
if [ $skipped -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ $failed -eq 0 ]
