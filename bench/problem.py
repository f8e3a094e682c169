# SPDX-License-Identifier: MIT
"""Problem strings, as far as the lists in this folder use them, and the lists themselves."""
import math
import re
from dataclasses import dataclass, replace

_LAYOUTS = {"ncw": "ncx", "nchw": "ncx", "ncdhw": "ncx", "nwc": "nxc", "nhwc": "nxc",
            "ndhwc": "nxc"}
# Notes of peers whose forward maximum gives values only; or that keep the winner's tap in a byte.
NO_INDICES = "no indices"
BYTE_TAPS = "taps in bytes"
BUSY = 0.1  # share of the time without a CPU, above which a figure is in doubt
SIZES = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2}


class Unreadable(ValueError):
    """A problem string beyond what is read here."""


@dataclass(frozen=True)
class Problem:
    """A dense, whole problem: one padding for both sides of an axis, no dilation."""

    op: str  # avg, max: gradients; avgpool, maxpool: forward passes
    rank: int
    dtype: str
    layout: str  # ncx, nxc
    batch: int
    channels: int
    input: tuple
    kernel: tuple
    stride: tuple
    pad: tuple
    divisor: str
    winner: str  # of max: indices, x

    @property
    def output(self):
        return tuple((i + 2 * p - k) // s + 1
                     for i, k, s, p in zip(self.input, self.kernel, self.stride, self.pad))

    @property
    def forward(self):
        return self.op.endswith("pool")

    @property
    def is_max(self):
        return self.op.startswith("max")

    @property
    def element_bytes(self):
        return SIZES[self.dtype]

    @property
    def padding_counts(self):
        """Whether the divisor is another one with padding counted than without."""
        return self.divisor != "exclude" and any(self.pad)

    def shape(self, spatial):
        """The shape of a tensor as it lies in memory."""
        if self.layout == "ncx":
            return [self.batch, self.channels, *spatial]
        return [self.batch, *spatial, self.channels]

    def operand_bytes(self, index_bytes=8):
        """Bytes of what is read and written."""
        planes = self.batch * self.channels
        inputs = planes * math.prod(self.input) * self.element_bytes
        windows = planes * math.prod(self.output)
        total = inputs + windows * self.element_bytes
        if self.op == "max" and self.winner == "x":
            total += inputs
        elif self.is_max:
            total += windows * index_bytes
        return total

    def operations(self):
        """Additions and divisions of an average as docs/arithmetic.md defines it: one axis after
        the other, by doubling."""
        before, after = ((self.input, self.output) if self.forward
                         else (self.output, self.input))
        total = math.prod(self.output)
        for axis, (kernel, stride) in enumerate(zip(self.kernel, self.stride)):
            run = kernel if self.forward else -(-kernel // stride)
            each = run.bit_length() - 1 + run.bit_count() - 1
            total += each * math.prod((*after[:axis + 1], *before[axis + 1:]))
        return total * self.batch * self.channels

    def apart_from_type(self):
        """What the eight variants of a line have in common."""
        return replace(self, dtype="", layout="")

    def form(self):
        """The operator in a word or two."""
        return {"avg": "avg", "avgpool": "avg forward", "maxpool": "max forward",
                "max": "max" if self.winner == "indices" else "max from x"}[self.op]


def _numbers(text, rank):
    values = tuple(int(value) for value in text.split("x"))
    if len(values) == 1:
        values *= rank
    if len(values) != rank:
        raise ValueError
    return values


def parse(text):
    """The Problem of a problem string; raises Unreadable."""
    items = text.strip().split(":")
    head = re.fullmatch(r"(avg|max|avgpool|maxpool)([123])d", items[0])
    try:
        dtype, layout, shape = items[1:4]
        rank = int(head[2])
        sizes = [int(size) for size in shape.split("x")]
        if dtype not in SIZES or len(sizes) != rank + 2:
            raise ValueError
        found = {"k": None, "s": (1,) * rank, "p": (0,) * rank}
        divisor, winner = "include_clipped", "indices"
        for item in items[4:]:
            if item in ("div=include", "div=exclude", "div=include_clipped"):
                divisor = item[4:]
            elif item in ("from=x", "from=indices"):
                winner = item[5:]
            elif item[:1] in found and re.fullmatch(r"[ksp][0-9x]+", item):
                found[item[0]] = _numbers(item[1:], rank)
            else:
                raise ValueError
        return Problem(head[1] + "", rank, dtype, _LAYOUTS[layout], sizes[0], sizes[1],
                       tuple(sizes[2:]), tuple(found["k"]), found["s"], found["p"],
                       divisor if head[1].startswith("avg") else "", winner)
    except (KeyError, TypeError, ValueError):
        raise Unreadable(f"{text}: not a dense problem of the kind these lists hold") from None


def read_list(path):
    """[(name, problem string)] of a file. A comment '# name: ...' names the problems behind it;
    where there is none the name is ''."""
    name, result = "", []
    with open(path, encoding="utf-8") as file:
        for line in file:
            heading = re.match(r"# ([a-z0-9_]+):", line)
            text = line.partition("#")[0].strip()
            if heading:
                name = heading[1]
            elif text:
                result.append((name, text))
    return result


def label(name, text):
    """A short name of a problem for a table's row, without type and layout."""
    if name:
        return name
    items = text.split(":")
    return ":".join([items[0], *items[3:]])
