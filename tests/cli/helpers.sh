# SPDX-License-Identifier: MIT
# Sourced by the cases.

# poolgrad ARGS...: the program under test.
poolgrad() {
    # shellcheck disable=SC2086 # the emulator is several words on purpose
    $POOLGRAD_EMULATOR "$POOLGRAD" "$@"
}

# run ARGS...: shows the command and the exit code on both streams' transcript.
run() {
    echo "\$ poolgrad $*"
    echo "\$ poolgrad $*" >&2
    poolgrad "$@" && status=0 || status=$?
    [ "$status" -eq 0 ] || echo "exit $status"
}

# absent FILE: nothing of that name was made.
absent() {
    if [ -e "$1" ]; then echo "$1 EXISTS"; else echo "no $1"; fi
}

# same A B: two files are equal.
same() {
    if cmp -s "$1" "$2"; then echo "$1 and $2 are equal"; else echo "$1 and $2 DIFFER"; fi
}

# npy FILE VERSION HEADER DATA: a .npy file by hand. HEADER is the dictionary, padded here as NumPy
# pads it; DATA is in printf's notation.
npy() {
    prefix=10
    [ "$2" = 1 ] || prefix=12
    length=$((${#3} + 1))
    total=$(((prefix + length + 63) / 64 * 64 - prefix))
    {
        printf '\223NUMPY'
        # shellcheck disable=SC2059 # the format is the data
        printf "\\00$2\\000"
        printf "$(printf '\\%03o\\%03o' $((total % 256)) $((total / 256)))"
        [ "$2" = 1 ] || printf '\000\000'
        printf "%-$((total - 1))s\n" "$3"
        printf "$4"
    } >"$1"
}

# show FILE TYPE: header and elements of a version 1 file; TYPE as od has it (f4, f8, x2).
show() {
    dd if="$1" bs=1 skip=10 2>/dev/null | head -n 1 | sed 's/ *$//'
    size=$(($(od -An -tu1 -j8 -N1 "$1") + 256 * $(od -An -tu1 -j9 -N1 "$1") + 10))
    [ $((size % 64)) -eq 0 ] || echo "the header is not aligned"
    od -An -v -t"$2" -j"$size" "$1" | tr -s ' ' | sed 's/^ //'
}

# The dy of the documented example: 1 2 3 4 in f32, shape (1, 1, 2, 2).
DY_HEADER="{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 2, 2), }"
DY_DATA='\000\000\200\077\000\000\000\100\000\000\100\100\000\000\200\100'
EXAMPLE=avg2d:f32:nchw:1x1x3x3:k2
