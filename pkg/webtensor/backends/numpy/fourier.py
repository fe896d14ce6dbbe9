"""Kernel of the discrete Fourier transform."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webtensor.backends.api import Backend, Handle, Operand
from webtensor.backends.numpy.backend import array_of, kernel
from webtensor.dtypes import DType
from webtensor.shapes import Shape

__all__: list[str] = []


@kernel("fft")
def fft(
    backend: Backend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    rows: int,
    length: int,
    inverse: bool,
) -> Handle:
    """Transform rows of complex numbers, without a factor."""
    x = array_of(inputs[0]).reshape(rows, 2 * length).view(np.complex64)
    y = np.fft.ifft(x, norm="forward") if inverse else np.fft.fft(x)
    return y.astype(np.complex64, copy=False).view(np.float32).reshape(shape)
