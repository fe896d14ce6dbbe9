"""Kernels that surround elements, with a constant or with mirror images."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webtensor.backends.api import Backend, Handle, Operand
from webtensor.backends.numpy.backend import array_of, kernel
from webtensor.dtypes import DType
from webtensor.shapes import Shape

__all__: list[str] = []


@kernel("pad")
def pad(
    backend: Backend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    low: Shape,
    step: Shape,
    value: float,
) -> Handle:
    """Write elements over a constant, ``step`` apart from ``low`` on."""
    x = array_of(inputs[0])
    result = np.full(shape, value, dtype=dtype.name)
    slices = tuple(
        slice(start, start + (length - 1) * by + 1, by)
        for start, length, by in zip(low, x.shape, step, strict=True)
    )
    result[slices] = x
    return result


@kernel("mirror_pad")
def mirror_pad(
    backend: Backend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    low: Shape,
    skipped: int,
) -> Handle:
    """Pad with mirror images of the elements; the ``skipped`` outermost ones are not repeated."""
    (x,) = inputs
    pairs = [
        (before, length - own - before)
        for before, length, own in zip(low, shape, x.shape, strict=True)
    ]
    return np.pad(array_of(x), pairs, mode="reflect" if skipped else "symmetric")
