#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds with coverage, runs the tests, prints the line coverage of src/.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/build.sh coverage
# Counters of an earlier run would be added to.
find build/coverage -name '*.gcda' -delete
# cli_11_output and cli_12_readonly run the program where it may not write the counters.
ctest --test-dir build/coverage --output-on-failure -j "$(nproc)" -L quick -E 'cli_11_output|readonly'
gcovr --root . --filter src/ --object-directory build/coverage \
    --exclude-unreachable-branches --print-summary build/coverage
