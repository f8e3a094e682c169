# SPDX-License-Identifier: MIT
"""How a call is timed: by the rule of `poolgrad bench`.

Cold calls rotate over sets of buffers that together exceed four times the last-level cache; hot
ones use the first set again and again. Both take turns; every time is the best of several.
"""
import os
import time

import numpy as np

ROUNDS = 4
SLOW = 1.0  # seconds; what takes longer is called once
STORAGE = {"f16": np.float16, "bf16": np.uint16, "f32": np.float32, "f64": np.float64,
           "i64": np.int64}


class Unsupported(Exception):
    """The system does not have this operator, type or layout."""


def _first_line(path):
    try:
        with open(path, encoding="ascii") as file:
            return file.readline().strip()
    except OSError:
        return ""


def _count_cpus(text):
    ends = [part.split("-") for part in text.split(",") if part]
    return sum(int(end[-1]) - int(end[0]) + 1 for end in ends)


def cache_bytes():
    """All caches of the highest level together; 32 MiB where the system does not tell."""
    largest = 0
    for index in range(8):
        folder = f"/sys/devices/system/cpu/cpu0/cache/index{index}/"
        size = _first_line(folder + "size")
        if not size[:-1].isdigit():
            continue
        count = int(size[:-1]) << {"K": 10, "M": 20}.get(size[-1], 0)
        shared = _count_cpus(_first_line(folder + "shared_cpu_list")) or 1
        largest = count * -(-(os.cpu_count() or 1) // shared)
    return largest or 32 << 20


def set_count(set_bytes):
    return max(2, 4 * cache_bytes() // max(1, set_bytes) + 1)


class Memory:
    """Arrays that begin at pages, out of one allocation for each."""

    PAGE = 4096

    def __init__(self):
        self._block = np.random.default_rng(1).uniform(-1, 1, 65536).astype(np.float32)

    def array(self, dtype, shape):
        storage = np.dtype(STORAGE[dtype])
        count = int(np.prod(shape)) * storage.itemsize
        raw = np.zeros(count + self.PAGE, np.uint8)
        start = -raw.ctypes.data % self.PAGE
        return raw[start:start + count].view(storage).reshape(shape)

    def random(self, dtype, shape):
        """Numbers in -1 .. 1, the same block again and again: values do not matter to the time."""
        result = self.array(dtype, shape)
        block = self._block
        if dtype == "bf16":
            block = (block.view(np.uint32) >> 16).astype(np.uint16)
        flat = result.reshape(-1)
        whole = flat.size // block.size * block.size
        flat[:whole].reshape(-1, block.size)[:] = block
        flat[whole:] = block[:flat.size - whole]
        return result

    def like(self, array):
        result = self.array(next(k for k, v in STORAGE.items() if v == array.dtype), array.shape)
        result[...] = array
        return result


def _rotate(calls, seconds, warm_up):
    """The best time of calls in turn for `seconds`, one at least; the first `warm_up` do not
    count."""
    end = time.perf_counter() + seconds
    best, i = float("inf"), 0
    while True:
        call = calls[i % len(calls)]
        begin = time.perf_counter()
        call()
        now = time.perf_counter()
        if i >= warm_up:
            best = min(best, now - begin)
        i += 1
        if i > warm_up and now >= end:
            return best


def measure(calls, seconds):
    """{cold, hot} in seconds, of calls[i] on set i, each of which waits for its result."""
    begin = time.perf_counter()
    calls[0]()
    first = time.perf_counter() - begin
    if first > SLOW:
        return {"cold": first, "hot": first, "once": True}
    # What is long against waking threads needs neither turns nor calls that do not count.
    quick = first < seconds / 16
    rounds, warm_up = (ROUNDS, 2) if quick else (1, 0)
    cold = hot = float("inf")
    calls = [*calls[1:], calls[0]]  # what was just called is hot
    for _ in range(rounds):
        cold = min(cold, _rotate(calls, seconds / rounds * 0.75, warm_up))
        hot = min(hot, _rotate(calls[-1:], seconds / rounds * 0.25, max(1, warm_up)))
    return {"cold": cold, "hot": hot}
