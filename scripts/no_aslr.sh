#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs a command, without address randomisation where the kernel randomises more bits than the
# sanitizers of clang 14 can place their shadow memory beside
# (https://github.com/google/sanitizers/issues/1614 and 1716).
bits=$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28)
if [ "$bits" -gt 28 ] && setarch -R true 2>/dev/null; then
    exec setarch -R "$@"
fi
exec "$@"
