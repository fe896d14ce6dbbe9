"""Kernels that surround elements, with a constant or with mirror images."""

from __future__ import annotations

import numpy as np

from webtensor.backends.api import Handle
from webtensor.backends.numpy.backend import Arrays, kernel
from webtensor.backends.signatures import Signature
from webtensor.shapes import Shape

__all__: list[str] = []


@kernel("pad")
def pad(of: Signature, arrays: Arrays, low: Shape, step: Shape, value: float) -> Handle:
    """Write elements over a constant, ``step`` apart from ``low`` on."""
    x = arrays[0]
    result = np.full(of.shape, value, dtype=of.dtype.name)
    slices = tuple(
        slice(start, start + (size - 1) * by + 1, by)
        for start, size, by in zip(low, x.shape, step, strict=True)
    )
    result[slices] = x
    return result


@kernel("mirror_pad")
def mirror_pad(of: Signature, arrays: Arrays, low: Shape, skipped: int) -> Handle:
    """Pad with mirror images of the elements; the ``skipped`` outermost ones are not repeated."""
    (x,) = arrays
    pairs = [
        (before, size - own - before)
        for before, size, own in zip(low, of.shape, x.shape, strict=True)
    ]
    return np.pad(x, pairs, mode="reflect" if skipped else "symmetric")
