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

# words SIZE ORDER VALUE...: integers of SIZE bytes in printf's notation, low byte first for "<".
words() {
    word_size=$1 word_order=$2
    shift 2
    for word_value in "$@"; do
        word_text=
        word_byte=0
        while [ $word_byte -lt "$word_size" ]; do
            word_octal=$(printf '\\%03o' $(((word_value >> (8 * word_byte)) & 255)))
            if [ "$word_order" = '<' ]; then
                word_text=$word_text$word_octal
            else
                word_text=$word_octal$word_text
            fi
            word_byte=$((word_byte + 1))
        done
        printf '%s' "$word_text"
    done
}

# floats ORDER VALUE...: f32 numbers, of those listed here, in printf's notation.
floats() {
    float_order=$1
    shift
    for float_value in "$@"; do
        case $float_value in
        0) float_bits=0x00000000 ;; -0) float_bits=0x80000000 ;;
        1) float_bits=0x3f800000 ;; -1) float_bits=0xbf800000 ;;
        2) float_bits=0x40000000 ;; 3) float_bits=0x40400000 ;;
        4) float_bits=0x40800000 ;; 5) float_bits=0x40a00000 ;;
        6) float_bits=0x40c00000 ;; 7) float_bits=0x40e00000 ;;
        8) float_bits=0x41000000 ;; 9) float_bits=0x41100000 ;;
        nan) float_bits=0x7fc00000 ;; -inf) float_bits=0xff800000 ;;
        *) echo "floats: $float_value" >&2 && return 1 ;;
        esac
        words 4 "$float_order" $((float_bits))
    done
}

# array FILE DESCR SHAPE VALUE...: a C-ordered .npy file of f4, i8, i4 or u4 elements; `fortran FILE
# ...` the same in Fortran order, the values as they lie in the file.
array() {
    array_order=${array_order-False}
    array_file=$1 array_descr=$2 array_shape=$3
    shift 3
    array_mark=${array_descr%??}
    case $array_descr in
    *f4) array_data=$(floats "$array_mark" "$@") ;;
    *) array_data=$(words "${array_descr#??}" "$array_mark" "$@") ;;
    esac
    npy "$array_file" 1 \
        "{'descr': '$array_descr', 'fortran_order': $array_order, 'shape': $array_shape, }" \
        "$array_data"
}
fortran() {
    array_order=True
    array "$@"
    array_order=False
}

# The dy of the documented example: 1 2 3 4 in f32, shape (1, 1, 2, 2).
DY_HEADER="{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 2, 2), }"
DY_DATA='\000\000\200\077\000\000\000\100\000\000\100\100\000\000\200\100'
EXAMPLE=avg2d:f32:nchw:1x1x3x3:k2

# DirectML's documented example of max pooling: x, dy, the indices of the winners.
MAX_EXAMPLE=max2d:f32:nchw:1x1x3x3:k2
max_example() {
    array x.npy '<f4' '(1, 1, 3, 3)' 1 2 3 2 4 2 5 6 7
    array dy.npy '<f4' '(1, 1, 2, 2)' 1 2 4 5
    array i.npy '<i8' '(1, 1, 2, 2)' 4 4 7 8
}

# device_attempts: every verb that takes --device.
device_attempts() {
    max_example
    run grad "$EXAMPLE" dy.npy -o dx.npy --device cuda
    run pool "$EXAMPLE" x.npy -o y.npy --device cuda
    run check "$EXAMPLE" --device cuda
    run bench "$EXAMPLE" --device cuda
    absent dx.npy
    absent y.npy
}
