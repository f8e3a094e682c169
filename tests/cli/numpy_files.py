# SPDX-License-Identifier: MIT
"""Writes arrays with NumPy in every way it knows, runs `poolgrad`, compares with plain loops."""

import itertools
import os
import subprocess

import numpy as np
from numpy.lib import format as npy_format

PROGRAM = os.environ["POOLGRAD_EMULATOR"].split() + [os.environ["POOLGRAD"]]
COMMAND = PROGRAM + ["grad"]


def scatter(dy, height, width, kernel, stride):
    dx = np.zeros(dy.shape[:2] + (height, width))
    for i, j in itertools.product(range(dy.shape[2]), range(dy.shape[3])):
        rows = slice(i * stride, i * stride + kernel)
        columns = slice(j * stride, j * stride + kernel)
        dx[:, :, rows, columns] += dy[:, :, i : i + 1, j : j + 1].astype("f8") / kernel**2
    return dx


def maxima(x, kernel, stride):
    """y, per plane the row-major places of the first maxima, and their taps."""
    rows, columns = ((extent - kernel) // stride + 1 for extent in x.shape[2:])
    y = np.zeros(x.shape[:2] + (rows, columns), x.dtype)
    winners, taps = np.zeros((2, *y.shape), "i8")
    for n, c, i, j in np.ndindex(y.shape):
        window = x[n, c, i * stride : i * stride + kernel, j * stride : j * stride + kernel]
        taps[n, c, i, j] = np.argmax(window)
        a, b = divmod(int(taps[n, c, i, j]), kernel)
        y[n, c, i, j] = window[a, b]
        winners[n, c, i, j] = (i * stride + a) * x.shape[3] + j * stride + b
    return y, winners, taps


def max_round_trips(rng):
    """pool then grad, for every way to store x and the indices."""
    names = {"i8": "i64", "i4": "i32", "u4": "u32", "u1": "u8"}
    tried = 0
    for layout, index, order, fortran in itertools.product(
        ("nchw", "nhwc"), names, "<>", (False, True)
    ):
        last = layout == "nhwc"
        axes, back = ((0, 2, 3, 1), (0, 3, 1, 2)) if last else ((0, 1, 2, 3),) * 2
        x = rng.integers(-3, 4, (2, 3, 7, 8)).astype("f4")  # few values: many ties
        y, winners, taps = maxima(x, 3, 2)
        dy = rng.integers(-8, 9, y.shape).astype("f4")
        np.save("x.npy", np.array(x.transpose(axes), order + "f4", order="F" if fortran else "C"))
        np.save("dy.npy", np.array(dy.transpose(axes), order="F" if fortran else "C"))
        base, indices = ("window", taps) if index == "u1" else ("plane", winners)
        problem = f"max2d:f32:{layout}:2x3x7x8:k3:s2:base={base}"
        subprocess.run(
            PROGRAM + ["pool", f"{problem}:index={names[index]}", "x.npy", "-o", "y.npy"]
            + ["--indices-out", "i.npy"],
            check=True,
        )
        found = np.load("i.npy")
        assert found.dtype == np.dtype(order + index), (problem, found.dtype)
        assert np.array_equal(np.load("y.npy").transpose(back), y), problem
        assert np.array_equal(found.transpose(back), indices), problem

        # The indices as NumPy stores them, in the other byte order too.
        other = order.translate(str.maketrans("<>", "><"))
        stored = indices.transpose(axes)
        np.save("i2.npy", np.array(stored, other + index, order="F" if fortran else "C"))
        dx = np.zeros((2, 3, 7 * 8))
        for n, c in np.ndindex(2, 3):
            np.add.at(dx[n, c], winners[n, c].ravel(), dy[n, c].ravel())
        for words in (["--indices", "i.npy"], ["--indices", "i2.npy"], ["--x", "x.npy"]):
            subprocess.run(COMMAND + [problem, "dy.npy", *words, "-o", "dx.npy"], check=True)
            got = np.load("dx.npy").transpose(back)
            assert np.array_equal(got, dx.reshape(got.shape)), (problem, words)
        tried += 1
    print(f"{tried} round trips of max pooling: equal")


def main():
    rng = np.random.default_rng(1)
    names = {"f2": "f16", "f4": "f32", "f8": "f64"}
    tried = 0
    for layout, dtype, order, fortran, version in itertools.product(
        ("nchw", "nhwc"), names, "<>", (False, True), ((1, 0), (2, 0), (3, 0))
    ):
        # Multiples of 1/4 in a small range: every sum is exact in every type.
        dy = rng.integers(-8, 9, (2, 3, 4, 5)).astype("f8") / 4
        stored = dy if layout == "nchw" else dy.transpose(0, 2, 3, 1)
        stored = np.array(stored, dtype=order + dtype, order="F" if fortran else "C")
        with open("dy.npy", "wb") as file:
            npy_format.write_array(file, stored, version=version)
        problem = f"avg2d:{names[dtype]}:{layout}:2x3x8x10:k2:s2"
        subprocess.run(COMMAND + [problem, "dy.npy", "-o", "dx.npy"], check=True)
        dx = np.load("dx.npy")
        assert dx.dtype == np.dtype(order + dtype), (problem, dx.dtype)
        logical = dx if layout == "nchw" else dx.transpose(0, 3, 1, 2)
        assert np.array_equal(logical, scatter(dy, 8, 10, 2, 2)), problem
        tried += 1
    print(f"{tried} files: equal")

    # bf16 as the two dtypes it travels in.
    dy = rng.integers(-8, 9, (1, 2, 3, 3)).astype("<f4")
    bits = (dy.view("<u4") >> 16).astype("<u2")
    for stored in (bits, bits.view("V2")):
        np.save("dy.npy", stored)
        subprocess.run(
            COMMAND + ["avg2d:bf16:nchw:1x2x4x4:k2", "dy.npy", "-o", "dx.npy", "--dtype", "bf16"],
            check=True,
        )
        dx = np.load("dx.npy")
        assert dx.dtype == stored.dtype
        wide = (dx.view("<u2").astype("<u4") << 16).view("<f4")
        assert np.array_equal(wide, scatter(dy, 4, 4, 2, 1))
    print("bf16: equal")

    x = rng.integers(-8, 9, (2, 3, 8, 10)).astype("f4")
    np.save("x.npy", x)
    subprocess.run(
        PROGRAM + ["pool", "avg2d:f32:nchw:2x3x8x10:k2:s2", "x.npy", "-o", "y.npy"], check=True
    )
    mean = x.reshape(2, 3, 4, 2, 5, 2).mean(axis=(3, 5))
    assert np.array_equal(np.load("y.npy"), mean)
    print("average: equal")
    max_round_trips(rng)


main()
