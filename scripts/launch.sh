#!/bin/sh
# SPDX-License-Identifier: MIT
# Starts a program that clang built: launch.sh PROGRAM [ARGUMENT...]
#
# Its OpenMP registers itself in a file named after the process. One that was killed in its first
# moments leaves that file empty, and a later process with the same number dies of SIGBUS reading
# it. This process keeps its number, so the name is known here.
rm -f "/dev/shm/__KMP_REGISTERED_LIB_$$_$(id -u)"

# Some kernels randomise more bits of addresses than the sanitizers of clang 14 can place their
# shadow memory beside (https://github.com/google/sanitizers/issues/1614 and 1716).
bits=$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28)
if [ "$bits" -gt 28 ] && setarch -R true 2>/dev/null; then
    exec setarch -R "$@"
fi
exec "$@"
