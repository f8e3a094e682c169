# SPDX-License-Identifier: MIT
# Pictures are well-formed, complete, and hold the library's numbers.
. "$CASES/helpers.sh"
look() {
    run picture "$1" -o picture.svg
    if command -v xmllint >/dev/null 2>&1; then
        xmllint --noout picture.svg || echo "not well-formed"
    elif command -v python3 >/dev/null 2>&1; then
        python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("picture.svg")' ||
            echo "not well-formed"
    fi
    head -c 4 picture.svg
    tail -n 1 picture.svg
    grep -c -e '<script' -e 'href' picture.svg
    grep '<text' picture.svg | sed -e 's/<[^>]*>//g' -e 's/poolgrad [0-9.]*/poolgrad VERSION/' |
        tr '\n' ' ' | fold -w 100
    echo
}
look avg2d:f32:nchw:1x1x3x3:k2
look avg2d:f32:nchw:1x1x4x5:k3:s2:d2:p2:ceil:div=exclude
look avg1d:f16:nwc:3x5x7:k3:s2:p1:alpha=2
look avg1d:f32:ncw:1x1x5:k2:div=-4
look avg3d:f32:ncdhw:1x1x3x4x5:k2
look avg2d:f32:nchw:1x1x100x3:k2:s50x1:p9x0
look avg2d:f32:nchw:1x1x5x7:adaptive:o2x3
look avg2d:f32:nchw:1x1x2x2:k3:s1
look avgpool1d:f32:ncw:1x1x4:k3:s2:p1
run picture avg1d:f32:ncw:1x1x4:k3 -o 'a & b <c>.svg'
ls
