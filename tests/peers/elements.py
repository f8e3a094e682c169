# SPDX-License-Identifier: MIT
"""Element types: how numbers are stored, and when two results count as equal.

Tensors are held as they lie in memory: NumPy's own types, and bf16, which NumPy does not have, as
16-bit patterns.
"""
import numpy as np

STORAGE = {
    "f16": np.float16,
    "bf16": np.uint16,
    "f32": np.float32,
    "f64": np.float64,
    "i32": np.int32,
    "i64": np.int64,
}

# What rounding alone explains, times max(1, largest value): the peers of the narrow types round
# after every addition.
TOLERANCE = {"f16": 2e-2, "bf16": 1.5e-1, "f32": 4e-6, "f64": 1e-12}

_PATTERN = {2: np.uint16, 4: np.uint32, 8: np.uint64}


def store(values, dtype):
    """float64 -> the type, rounded to nearest even."""
    if dtype != "bf16":
        with np.errstate(over="ignore"):
            return np.asarray(values).astype(STORAGE[dtype])
    pattern = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    rounded = (pattern + 0x7FFF + ((pattern >> np.uint64(16)) & np.uint64(1))) >> np.uint64(16)
    return np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16)


def load(stored, dtype):
    """The type -> float64, exactly."""
    if dtype != "bf16":
        return np.asarray(stored).astype(np.float64)
    pattern = np.asarray(stored).astype(np.uint32) << np.uint32(16)
    return pattern.view(np.float32).astype(np.float64)


def within(found, wanted, dtype):
    """None if the two float64 arrays agree within tolerance, else a description of the worst."""
    if found.shape != wanted.shape:
        return f"shape {list(found.shape)} against {list(wanted.shape)}"
    if found.size == 0:
        return None
    finite = np.isfinite(wanted)
    scale = max(1.0, float(np.abs(wanted[finite]).max(initial=0.0)))
    with np.errstate(invalid="ignore"):
        far = np.abs(found - wanted) > TOLERANCE[dtype] * scale
    both_nan = np.isnan(found) & np.isnan(wanted)
    bad = (far | np.isnan(found) | np.isnan(wanted)) & ~both_nan & (found != wanted)
    if not bad.any():
        return None
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    return (f"{int(bad.sum())} of {found.size} elements differ; at {list(at)} "
            f"{found[at]!r} against {wanted[at]!r}")


def same_bits(found, wanted, dtype):
    """None if the stored arrays are equal bit for bit, a NaN being equal to any other NaN."""
    if found.shape != wanted.shape:
        return f"shape {list(found.shape)} against {list(wanted.shape)}"
    pattern = _PATTERN[found.dtype.itemsize]
    left, right = load(found, dtype), load(wanted, dtype)
    bad = found.view(pattern) != wanted.view(pattern)
    bad &= ~(np.isnan(left) & np.isnan(right))
    if not bad.any():
        return None
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    return (f"bits of {int(bad.sum())} of {found.size} elements differ; at {list(at)} "
            f"{left[at]!r} against {right[at]!r}")
