# SPDX-License-Identifier: MIT
"""Writes dy with NumPy in every way it knows, runs `poolgrad grad`, compares with a plain scatter."""

import itertools
import os
import subprocess

import numpy as np
from numpy.lib import format as npy_format

COMMAND = os.environ["POOLGRAD_EMULATOR"].split() + [os.environ["POOLGRAD"], "grad"]


def scatter(dy, height, width, kernel, stride):
    dx = np.zeros(dy.shape[:2] + (height, width))
    for i, j in itertools.product(range(dy.shape[2]), range(dy.shape[3])):
        rows = slice(i * stride, i * stride + kernel)
        columns = slice(j * stride, j * stride + kernel)
        dx[:, :, rows, columns] += dy[:, :, i : i + 1, j : j + 1].astype("f8") / kernel**2
    return dx


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


main()
