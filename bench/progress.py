# SPDX-License-Identifier: MIT
"""How far a long job is, on stderr: a bar on a terminal, a line for each item elsewhere. As
cli/progress.c has it."""
import shutil
import sys
import time

BAR = 24
ERASE_LINE = "\r\033[K"


class Progress:
    def __init__(self, count):
        self._count, self._begin = count, time.monotonic()

    def show(self, done, item):
        """Item `done`, counted from 0, is next."""
        if not sys.stderr.isatty():
            print(f"[{done + 1}/{self._count}] {item}", file=sys.stderr, flush=True)
            return
        left = ""
        if done:
            seconds = (time.monotonic() - self._begin) / done * (self._count - done) + 1
            left = f"  {int(seconds) // 60}:{int(seconds) % 60:02} left"
        full = BAR * done // self._count
        line = f"[{'#' * full:.<{BAR}}] {done + 1}/{self._count}{left}  {item}"
        columns = shutil.get_terminal_size().columns
        print(ERASE_LINE + line[:columns - 1], end="", file=sys.stderr, flush=True)

    @staticmethod
    def end():
        """Leaves nothing on the terminal."""
        if sys.stderr.isatty():
            print(ERASE_LINE, end="", file=sys.stderr, flush=True)
