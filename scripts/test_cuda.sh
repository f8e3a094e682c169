#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes a folder with all that testing a CUDA device needs, and runs it here if there is one:
# scripts/test_cuda.sh BUILD FOLDER. The folder needs nothing else: take it to a machine with a device
# and run its run.sh. Exits with 77, ctest's code for a skipped test, where there is no device.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$1
folder=$2
rm -rf "$folder"
mkdir -p "$folder"
cp "$build/tests/test_cuda" "$build/cli/poolgrad" bench/cases_cuda.txt "$folder/"
# Libraries that a machine may not have; those of the C library are its own.
ldd "$build/tests/test_cuda" "$build/cli/poolgrad" | awk '/lib(cmocka|gomp|omp)/ { print $3 }' |
    sort -u | xargs -r cp -Lt "$folder/"
cat >"$folder/run.sh" <<'END'
#!/usr/bin/env bash
# Tests, then times. Exits with 77 where there is no CUDA device.
cd "$(dirname "$0")" || exit 1
export LD_LIBRARY_PATH=$PWD${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
./poolgrad info | grep '^cuda'
./test_cuda --big || exit
./poolgrad check --device cuda --random 300 --quiet || exit
./poolgrad bench --device cuda --cases cases_cuda.txt --quiet
END
chmod +x "$folder/run.sh"
exec "$folder/run.sh"
