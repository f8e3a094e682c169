# SPDX-License-Identifier: MIT
"""The definition of the gradients, in float64 and as slow as it looks, and some wrong ones.

A third opinion: where a system is known to be wrong, its face must agree with this, and the system
with the wrong definition. Arrays are batch, channels, spatial.
"""
import itertools

import numpy as np


def taps(start, kernel, dilation, size):
    """The cells of the input that a window reaches on one axis."""
    return [p for p in range(start, start + kernel * dilation, dilation) if 0 <= p < size]


def average(dy, input_size, kernel, stride, pad_lo, pad_hi, divisor, override=1, dilation=None,
            cells=taps):
    """`divisor` as in docs/semantics.md; `cells` says what a window reaches on an axis."""
    rank = len(input_size)
    dilation = dilation or [1] * rank
    dx = np.zeros(dy.shape[:2] + tuple(input_size))
    for o in np.ndindex(*dy.shape[2:]):
        start = [o[i] * stride[i] - pad_lo[i] for i in range(rank)]
        box = [cells(start[i], kernel[i], dilation[i], input_size[i]) for i in range(rank)]
        if not all(box):
            continue
        count = 1
        for i in range(rank):
            if divisor == "exclude":
                count *= len(box[i])
            elif divisor == "include":
                count *= kernel[i]
            elif divisor == "include_clipped":
                room = input_size[i] + pad_hi[i] - start[i]
                count *= min(kernel[i], -(-room // dilation[i]))
        if divisor == "override":
            count = override
        _add(dx, box, dy, o, count)
    return dx


def _add(dx, box, dy, o, count):
    """Adds dy[o] / count to a box of dx, in all channels at once."""
    term = dy[(slice(None), slice(None)) + o] / count
    where = np.ix_(range(dx.shape[0]), range(dx.shape[1]), *box)
    with np.errstate(invalid="ignore"):
        dx[where] += term.reshape(term.shape + (1,) * len(box))


def adaptive_average(dy, input_size):
    dx = np.zeros(dy.shape[:2] + tuple(input_size))
    for o in np.ndindex(*dy.shape[2:]):
        box = [range(o[i] * size // out, -(-(o[i] + 1) * size // out))
               for i, (size, out) in enumerate(zip(input_size, dy.shape[2:]))]
        _add(dx, box, dy, o, int(np.prod([len(side) for side in box])))
    return dx


def window_cells(o, input_size, kernel, stride, pad_lo, dilation):
    """Positions of window o in row-major order; None for those in the padding."""
    axes = [[o[i] * stride[i] - pad_lo[i] + j * dilation[i] for j in range(kernel[i])]
            for i in range(len(kernel))]
    for cell in itertools.product(*axes):
        inside = all(0 <= p < size for p, size in zip(cell, input_size))
        yield cell if inside else None


def winner(values, nan):
    """Which of a window's values gets the gradient: None if there are none.

    nan: "leading" a NaN wins if it comes first, "skip" only if all are, "last" the last one.
    """
    best = None
    for at, value in enumerate(values):
        if nan == "last" and np.isnan(value):
            best = at
        elif best is None or value > values[best]:
            best = at
        elif nan == "skip" and np.isnan(values[best]) and not np.isnan(value):
            best = at
    return best


def maximum(x, dy, kernel, stride, pad_lo, dilation, nan):
    """The gradient of max pooling, the winners found in x."""
    dx = np.zeros(x.shape)
    for n, c in np.ndindex(*x.shape[:2]):
        for o in np.ndindex(*dy.shape[2:]):
            cells = [cell for cell in window_cells(o, x.shape[2:], kernel, stride, pad_lo,
                                                   dilation) if cell is not None]
            best = winner([x[(n, c) + cell] for cell in cells], nan)
            if best is not None:
                with np.errstate(invalid="ignore"):
                    dx[(n, c) + cells[best]] += dy[(n, c) + o]
    return dx


def scatter(dy, flat_indices, size):
    """dy added at flat positions; what lies outside is lost."""
    dx = np.zeros(size)
    for index, value in zip(flat_indices.ravel(), dy.ravel()):
        if 0 <= index < size:
            with np.errstate(invalid="ignore"):
                dx[index] += value
    return dx


def to_ncx(array, layout):
    return np.moveaxis(array, -1, 1) if layout == "nxc" else array


def from_ncx(array, layout):
    return np.moveaxis(array, 1, -1) if layout == "nxc" else array


def of_problem(problem, dy, x=None, nan="skip"):
    """What is right for a problem; arrays in the problem's own order of axes."""
    if problem.unbatched:
        dy, x = dy[np.newaxis], None if x is None else x[np.newaxis]
    dy = to_ncx(dy, problem.layout)
    if problem.op == "avg":
        dx = average(dy, problem.input, problem.kernel, problem.stride, problem.pad_lo,
                     problem.pad_hi, problem.divisor, problem.override, problem.dilation)
    elif problem.op == "adaptive_avg":
        dx = adaptive_average(dy, problem.input)
    elif problem.op == "adaptive_max":
        return None  # indices say it all; nothing is known to differ
    else:
        dx = maximum(to_ncx(x, problem.layout), dy, problem.kernel, problem.stride,
                     problem.pad_lo, problem.dilation, nan)
    return dx[0] if problem.unbatched else from_ncx(dx, problem.layout)
