# SPDX-License-Identifier: MIT
"""Random problems in neutral terms.

A problem says what is pooled, not how a system spells it; the peer_*.py modules turn it into their
system's call. What a system has at all is in its Profile, so that most problems are ones it is
meant to solve. Problem i of a seed depends on nothing but the system's name, the seed and i.
"""
from dataclasses import dataclass, field

import numpy as np

from rng import Random


@dataclass
class Profile:
    """What a system's operators can be asked for. Dictionaries are {choice: weight}."""

    name: str
    ops: dict  # "avg", "max", "max_indices", "adaptive_avg", "adaptive_max"
    ranks: dict
    dtypes: dict
    layouts: dict  # "ncx", "nxc": order of the axes
    paddings: dict  # "none", "valid", "same_upper", "same_lower", "explicit"
    ceil: int = 0  # percent
    symmetric: bool = False  # pads are the same on both sides, at most half the kernel
    averages_with_wide_pads: int = 0  # percent of averages with windows wholly in padding
    dilated: int = 0  # percent of max problems
    dilated_averages: int = 0  # percent
    divisors: dict = field(default_factory=lambda: {"exclude": 1})
    empty_axes: bool = True  # batch or channels of 0 elements
    short: int = 3  # percent of problems with an axis that is empty or shorter than its window
    unbatched: int = 0  # percent
    channels_last: int = 0  # percent, as strides of tensors named in ncx order
    faults: int = 12  # percent of problems that are spoilt afterwards


@dataclass
class Problem:
    """One problem. Lists have an entry per spatial axis."""

    op: str
    dtype: str
    layout: str
    batch: int
    channels: int
    input: list
    kernel: list
    stride: list
    dilation: list
    padding: str
    pad_lo: list
    pad_hi: list
    ceil: bool
    divisor: str
    override: int
    output: list
    data: str
    unbatched: bool
    channels_last: bool
    faulty: bool
    random: Random  # for the data and the fault

    @property
    def rank(self):
        return len(self.input)

    def shape(self, spatial):
        """The sizes of a tensor in the order of the problem's axes."""
        if self.unbatched:
            return [self.channels, *spatial]
        if self.layout == "nxc":
            return [self.batch, *spatial, self.channels]
        return [self.batch, self.channels, *spatial]


def span(kernel, dilation):
    return (kernel - 1) * dilation + 1


def windows(size, kernel, stride, lo, hi, dilation=1, ceil=False):
    """How many windows an axis has; ceil drops one that would begin past the input."""
    room = size + lo + hi - span(kernel, dilation)
    if not ceil:
        return room // stride + 1 if room >= 0 else 0
    count = max(0, -(-room // stride) + 1)
    return count - 1 if count and (count - 1) * stride >= size + lo else count


def same_pads(size, kernel, stride, dilation, lower):
    """The pads of SAME_UPPER and SAME_LOWER."""
    total = max(0, (-(-size // stride) - 1) * stride + span(kernel, dilation) - size)
    lo = (total + 1) // 2 if lower else total // 2
    return lo, total - lo


_LONGEST = {1: 30, 2: 12, 3: 6}


def _axis(random, profile, rank, padding, wide_pads, pooled_max, dilated, ceil):
    """Size, kernel, stride, dilation and pads of one axis that has at least one window."""
    size = random.between(1, _LONGEST[rank])
    kernel = random.weighted({1: 12, 2: 30, 3: 30, 4: 10, 5: 8, random.between(6, 12): 10})
    stride = random.weighted({1: 45, 2: 35, 3: 12, random.between(4, 7): 8})
    dilation = random.between(2, 3) if dilated else 1
    if padding in ("same_upper", "same_lower"):
        return size, kernel, stride, dilation, *same_pads(size, kernel, stride, dilation,
                                                          padding == "same_lower")
    lo = hi = 0
    if padding in ("none", "explicit") and random.chance(60):
        if profile.symmetric:
            # PyTorch: at most half of the kernel, or of its span if dilated.
            lo = hi = random.between(0, (span(kernel, dilation) if pooled_max else kernel) // 2)
        else:
            most = kernel - 1 if not wide_pads else kernel + 2
            lo, hi = random.between(0, most), random.between(0, most)
    size = max(size, span(kernel, dilation) - lo - hi, 1)
    if ceil and windows(size, kernel, stride, lo, hi, dilation, True) < 1:
        size += stride
    return size, kernel, stride, dilation, lo, hi


def make(profile, seed, index):
    """Problem `index` of a seed."""
    random = Random(profile.name, seed, index)
    op = random.weighted(profile.ops)
    rank = random.weighted(profile.ranks)
    adaptive = op.startswith("adaptive")
    pooled_max = "max" in op
    padding = "none" if adaptive else random.weighted(profile.paddings)
    if padding == "explicit" and op != "max":
        padding = "valid"
    ceil = not adaptive and padding == "none" and random.chance(profile.ceil)
    dilated = not adaptive and random.chance(
        profile.dilated if pooled_max else profile.dilated_averages)
    wide_pads = not pooled_max and random.chance(profile.averages_with_wide_pads)
    axes = [_axis(random, profile, rank, padding, wide_pads, pooled_max, dilated, ceil)
            for _ in range(rank)]
    size, kernel, stride, dilation, lo, hi = (list(column) for column in zip(*axes))
    if random.chance(profile.short):
        axis = random.below(rank)
        room = size[axis] - span(kernel[axis], dilation[axis]) + lo[axis] + hi[axis] + 1
        size[axis] = random.pick([0, max(0, size[axis] - room), max(0, size[axis] - room - 1)])
        if padding in ("same_upper", "same_lower"):
            lo[axis], hi[axis] = same_pads(size[axis], kernel[axis], stride[axis], dilation[axis],
                                           padding == "same_lower")
    if adaptive:
        output = [random.between(1, _LONGEST[rank]) for _ in range(rank)]
        kernel, lo, hi = [0] * rank, [0] * rank, [0] * rank
        stride, dilation = [1] * rank, [1] * rank
    else:
        output = [windows(*a, ceil) for a in zip(size, kernel, stride, lo, hi, dilation)]
    divisor = random.weighted(profile.divisors)
    batch = random.between(1, 3)
    channels = random.weighted({1: 25, 2: 20, 3: 20, 4: 10, 5: 10, 8: 7, 16: 4, 17: 4})
    if profile.empty_axes and random.chance(4):
        batch, channels = random.pick([(0, channels), (batch, 0), (0, 0)])
    return Problem(
        op=op, dtype=random.weighted(profile.dtypes), layout=random.weighted(profile.layouts),
        batch=batch, channels=channels, input=size, kernel=kernel, stride=stride,
        dilation=dilation, padding=padding, pad_lo=lo, pad_hi=hi, ceil=ceil, divisor=divisor,
        override=random.pick([1, 2, 3, 7, 10, -2]), output=output,
        data=random.weighted({"eighths": 35, "full": 35, "ties": 15, "special": 15}),
        unbatched=random.chance(profile.unbatched),
        channels_last=random.chance(profile.channels_last),
        faulty=random.chance(profile.faults), random=random)


def values(random, kind, shape):
    """Test data as float64.

    eighths: multiples of 1/8 below 4, exact in every type. full: 24 random bits. ties: a handful
    of values. special: with NaN, infinities and zeros of both signs among them.
    """
    count = int(np.prod(shape, dtype=np.int64))
    words = random.words(count)
    if kind == "full":
        data = (words >> np.uint64(40)).astype(np.float64) / 8388608.0 - 1.0
    elif kind == "ties":
        data = (words % np.uint64(3)).astype(np.float64)
    else:
        data = ((words % np.uint64(64)).astype(np.float64) - 32.0) / 8.0
    if kind == "special" and count:
        extra = np.array([np.nan, np.inf, -np.inf, -np.inf, 0.0, -0.0])
        choice = random.words(count)
        # A few, or most of them: windows of nothing but -inf or NaN must occur.
        share = np.uint64(random.pick([4, 4, 50, 90]))
        few = choice % np.uint64(100) < share
        only = random.pick([None, None, np.nan, -np.inf])
        which = (choice >> np.uint64(32)) % np.uint64(len(extra))
        data = np.where(few, extra[which] if only is None else only, data)
    return data.reshape(shape)
