#!/bin/sh
# SPDX-License-Identifier: MIT
# Lists the project's C files; by find, because an unpacked release has no git.
cd "$(dirname "$0")/.." || exit 1
find include src faces support cli tests examples bench -name '*.[ch]' | LC_ALL=C sort
