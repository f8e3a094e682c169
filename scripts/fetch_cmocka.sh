#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Unpacks the sources of Debian 12's cmocka into build/deps, once.
#
# Two test builds cannot use the installed library: MemorySanitizer wants every line of the
# program instrumented, and the Arm build wants Arm code. Both compile these sources instead,
# which leaves the system alone (no foreign dpkg architecture). apt-helper is used because it
# knows the machine's mirror and proxy; the checksum makes the origin irrelevant.
set -euo pipefail
cd "$(dirname "$0")/.."

version=1.1.5
sha256=f0ccd8242d55e2fd74b16ba518359151f6f8383ff8aef4976e48393f77bba8b6
archive=build/deps/cmocka_$version.orig.tar.xz

if [ -f build/deps/cmocka-$version/src/cmocka.c ]; then
    exit 0
fi
mkdir -p build/deps
if [ ! -f "$archive" ]; then
    package=$(apt-get download --print-uris libcmocka-dev 2>/dev/null | cut -d "'" -f 2)
    if [ -z "$package" ]; then
        echo "cmocka: apt knows no libcmocka-dev to find the sources beside; run apt-get update" >&2
        exit 1
    fi
    /usr/lib/apt/apt-helper -o APT::Sandbox::User=root download-file \
        "${package%/*}/${archive##*/}" "$archive" "SHA256:$sha256" >/dev/null
fi
echo "$sha256  $archive" | sha256sum --check --quiet
tar -xf "$archive" -C build/deps
