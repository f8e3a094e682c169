# SPDX-License-Identifier: MIT
# Files that the real NumPy writes, and reads again.
. "$CASES/helpers.sh"
python=
for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import numpy' 2>/dev/null; then python=$candidate; fi
done
if [ -z "$python" ]; then
    echo "Python has no NumPy"
    exit 77
fi
export POOLGRAD POOLGRAD_EMULATOR
"$python" "$CASES/numpy_files.py"
