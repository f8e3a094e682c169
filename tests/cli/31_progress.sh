# SPDX-License-Identifier: MIT
# On a terminal, progress is a bar in one line that ends by removing itself.
. "$CASES/helpers.sh"
if ! command -v python3 >/dev/null || [ -n "$POOLGRAD_EMULATOR" ]; then
    echo "needs python3, and a program that runs by itself"
    exit 77
fi
cat >terminal.py <<'END'
import os, pty, subprocess, sys
master, slave = pty.openpty()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=slave, check=True)
os.close(slave)
shown = b""
try:
    while part := os.read(master, 4096):
        shown += part
except OSError:  # how Linux says that nobody can write any more
    pass
print(shown.decode().replace("\r\x1b[K", "\n") + "|")
END
python3 terminal.py "$POOLGRAD" bench avg1d:f32:ncw:1x1x3:k2 avg1d:f32:ncw:1x1x3:k3 \
    avg1d:f32:ncw:1x1x3:k1 --seconds 0 --threads 1 | sed 's/[0-9]*:[0-9]* left/TIME left/'
