# SPDX-License-Identifier: MIT
"""A call of an operator in a system's own dialect, given to the system and to its face alike."""
from dataclasses import dataclass, field

import numpy as np

import elements


@dataclass
class Tensor:
    """An argument. `values` has the element type's storage; NXC strides if channels_last."""

    dtype: str
    values: np.ndarray
    channels_last: bool = False

    @property
    def shape(self):
        return list(self.values.shape)

    def numbers(self):
        return elements.load(self.values, self.dtype)


@dataclass
class Call:
    """Names of attributes and tensors are the original's. An attribute that is None is left out."""

    operator: str
    attributes: dict
    tensors: dict
    output_dtype: str
    output_shape: list
    dims: int = 0  # PyTorch: 1, 2 or 3
    output_channels_last: bool = False
    notes: dict = field(default_factory=dict)

    def text(self):
        """One line for a person."""
        attributes = [f"{k}={v}" for k, v in self.attributes.items() if v is not None]
        tensors = [f"{k}:{t.dtype}{t.shape}" for k, t in self.tensors.items()]
        dims = f"{self.dims}d " if self.dims else ""
        return (f"{dims}{self.operator} {' '.join(tensors)} -> "
                f"{self.output_dtype}{list(self.output_shape)} {' '.join(attributes)}")


@dataclass
class Accepted:
    """A result, in storage."""

    values: np.ndarray


@dataclass
class Refused:
    """An error: the original's kind of it, and its words."""

    kind: str
    message: str


class Forward(Exception):
    """The system's own forward operator refused; there is nothing to take the gradient of."""


class Violation(Exception):
    """The face broke a rule that holds for all faces, such as writing after a refusal."""
