# SPDX-License-Identifier: MIT
# The demonstration; its numbers vary.
. "$CASES/helpers.sh"
run demo --quiet -o out/ |
    sed -e 's/^\(\(avg\|max\)[^ ]*\) .*/\1 NUMBERS/' -e 's/  */ /g' -e 's/ *$//' \
        -e '/^other programs had the CPUs/d' \
        -e 's/[0-9.]* to [0-9.]* GB/N to N GB/' \
        -e 's/up to .* strategies, .* sets/up to N strategies, N sets/' -e 's/all [0-9]* /all N /' \
        -e 's/with [0-9]* threads*\( in turn\|$\)/with N threads\1/'
head -c 4 out/poolgrad-demo.svg
tail -n 1 out/poolgrad-demo.svg
ls . out
