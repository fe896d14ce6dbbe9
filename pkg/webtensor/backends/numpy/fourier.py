"""Kernel of the discrete Fourier transform."""

from __future__ import annotations

import numpy as np

from webtensor.backends.api import Handle
from webtensor.backends.numpy.backend import Arrays, kernel
from webtensor.backends.signatures import Signature

__all__: list[str] = []


@kernel("fft")
def fft(of: Signature, arrays: Arrays, rows: int, length: int, inverse: bool) -> Handle:
    """Transform rows of complex numbers, without a factor."""
    x = arrays[0].reshape(rows, 2 * length).view(np.complex64)
    y = np.fft.ifft(x, norm="forward") if inverse else np.fft.fft(x)
    return y.astype(np.complex64, copy=False).view(np.float32).reshape(of.shape)
