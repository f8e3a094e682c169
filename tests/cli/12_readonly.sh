# SPDX-License-Identifier: MIT
# A folder that may not be written to.
. "$CASES/helpers.sh"
if [ "$(id -u)" -eq 0 ]; then
    # root may write everywhere, so become nobody; the folder of this case goes along
    nobody=65534
    chown $nobody . ..
    as_nobody="setpriv --reuid $nobody --regid $nobody --clear-groups"
    if ! $as_nobody test -x "$POOLGRAD" || ! $as_nobody test -r "$CASES/helpers.sh"; then
        echo "root may write everywhere, and others may not run the program here"
        exit 77
    fi
    exec $as_nobody sh "$CASES/12_readonly.sh"
fi
npy dy.npy 1 "$DY_HEADER" "$DY_DATA"
mkdir closed
chmod a-w closed
run grad "$EXAMPLE" dy.npy -o closed/dx.npy
run picture "$EXAMPLE" -o closed/x.svg
chmod a-r dy.npy
run grad "$EXAMPLE" dy.npy -o dx.npy
ls closed
