# SPDX-License-Identifier: MIT
# Help is there for every verb, in both spellings.
. "$CASES/helpers.sh"
run
run --help
poolgrad --help >long
for words in -h help 'help help'; do
    # shellcheck disable=SC2086 # two words
    poolgrad $words >short
    same short long
done
for verb in info grad pool explain check bench picture demo; do
    poolgrad help "$verb" >one
    poolgrad "$verb" --help >two
    poolgrad "$verb" something -h >three
    same one two
    same one three
    head -n 1 one
    awk 'length > 100 { print "a long line: " $0 }' one
done
run help problem
run --version | sed 's/[0-9]*\.[0-9]*\.[0-9]*/VERSION/'
