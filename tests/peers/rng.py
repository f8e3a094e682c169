# SPDX-License-Identifier: MIT
"""Random numbers that are the same everywhere.

NumPy promises no stable streams between its versions, and every peer brings its own NumPy. So this
is SplitMix64, used as a counter: number i of a stream is a function of the stream's name and i.
"""
import numpy as np

_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15


def _mix(word):
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _MASK
    return word ^ (word >> 31)


class Random:
    """The stream that belongs to a list of names and numbers."""

    def __init__(self, *names):
        self._state = 0
        for name in names:
            for byte in str(name).encode() + b"\0":
                self._state = _mix(self._state + byte + 1)

    def word(self):
        self._state = (self._state + _STEP) & _MASK
        return _mix(self._state)

    def below(self, limit):
        """0 <= result < limit. The bias of the remainder is no matter here."""
        return self.word() % limit

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def chance(self, percent):
        return self.below(1000) < percent * 10

    def pick(self, choices):
        return choices[self.below(len(choices))]

    def weighted(self, weights):
        """A key of a dictionary {key: weight}."""
        at = self.below(sum(weights.values()))
        for key, weight in weights.items():
            at -= weight
            if at < 0:
                return key
        raise AssertionError("unreachable")

    def words(self, count):
        """The next `count` words at once, as a NumPy array."""
        steps = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_STEP)
        word = steps + np.uint64(self._state)
        self._state = (self._state + count * _STEP) & _MASK
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return word ^ (word >> np.uint64(31))
