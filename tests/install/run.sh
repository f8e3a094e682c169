#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs a build into a temporary prefix and uses it as a stranger would:
# tests/install/run.sh BUILD_DIR VERSION COMPILER
set -euo pipefail

build=$1
version=$2
# The build's own: through the CMake package a static library takes the OpenMP runtime of the
# compiler that links it, so the two must agree.
cc=$3
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
stage=$work/stage
# Installed here, used there: nothing may remember the place it was installed to.
prefix=$work/moved

cmake --install "$build" --prefix "$stage" >/dev/null
mv "$stage" "$prefix"

fail()
{
    echo "install: $*" >&2
    exit 1
}

libdir=$(cd "$prefix" && dirname "$(find . -name libpoolgrad.a)" | sed 's|^\./||')
# SONAMEs are made of the major version.
major=${version%%.*}
cat >"$work/expected" <<LIST
bin/poolgrad
$(cd "$source" && ls include/poolgrad/*.h)
$libdir/cmake/poolgrad/poolgrad-config-version.cmake
$libdir/cmake/poolgrad/poolgrad-config.cmake
$libdir/cmake/poolgrad/poolgrad-shared-targets-release.cmake
$libdir/cmake/poolgrad/poolgrad-shared-targets.cmake
$libdir/cmake/poolgrad/poolgrad-static-targets-release.cmake
$libdir/cmake/poolgrad/poolgrad-static-targets.cmake
$libdir/libpoolgrad.a
$libdir/libpoolgrad.so
$libdir/libpoolgrad.so.$major
$libdir/libpoolgrad.so.$version
$libdir/pkgconfig/poolgrad.pc
share/doc/poolgrad/LICENSE
share/man/man1/poolgrad.1
LIST
# Debug builds name these two files after themselves.
(cd "$prefix" && find . ! -type d | sed 's|^\./||; s/-targets-debug\./-targets-release./') |
    LC_ALL=C sort >"$work/found"
LC_ALL=C sort -o "$work/expected" "$work/expected"
diff -u "$work/expected" "$work/found" || fail "the installed files are not the expected ones"
if grep -rIl -e "$work" -e "$build" "$prefix"; then
    fail "the files above name the place they were built or installed in"
fi

soname=$(objdump -p "$prefix/$libdir/libpoolgrad.so" | awk '$1 == "SONAME" { print $2 }')
[ "$soname" = "libpoolgrad.so.$major" ] || fail "SONAME is $soname"
"$prefix/bin/poolgrad" --version | grep -qF "$version" || fail "bin/poolgrad is of another version"

check()
{
    local answer
    answer=$("$@") || fail "$* does not run"
    [ "$answer" = "$version" ] || fail "$* says version '$answer', not $version"
}

generator=()
command -v ninja >/dev/null && generator=(-G Ninja)
if ! {
    cmake "${generator[@]}" -S "$here" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" \
        -DCMAKE_C_COMPILER="$cc" -DWANTED_VERSION="$version" &&
        cmake --build "$work/consumer"
} >"$work/log" 2>&1; then
    cat "$work/log"
    fail "find_package does not work"
fi
check "$work/consumer/consumer_shared"
check "$work/consumer/consumer_static"

export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig
[ "$(pkg-config --modversion poolgrad)" = "$version" ] || fail "pkg-config knows another version"
read -ra flags < <(pkg-config --cflags --libs poolgrad)
"$cc" "$here/consumer.c" "${flags[@]}" -o "$work/pc_shared" || fail "pkg-config does not link"
LD_LIBRARY_PATH=$prefix/$libdir check "$work/pc_shared"

# -l prefers a shared library that lies beside the static one.
rm "$prefix/$libdir/libpoolgrad.so"
read -ra flags < <(pkg-config --cflags --libs --static poolgrad)
"$cc" "$here/consumer.c" "${flags[@]}" -o "$work/pc_static" || fail "pkg-config --static does not link"
check "$work/pc_static"
if ldd "$work/pc_static" | grep -q libpoolgrad; then
    fail "the static consumer needs the shared library"
fi
