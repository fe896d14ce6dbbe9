"""Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations.arguments import integer, integers
from webtensor.graph.operations.rows import Row

__all__ = ["ONLY_HERE", "ROWS"]


def transform_2d(x: Tensor) -> Tensor:
    """Return the Fourier transform along two axes."""
    return ops.fft.fftn(x, axes=(-2, -1))


def inverse_2d(x: Tensor) -> Tensor:
    """Return the inverse Fourier transform along two axes."""
    return ops.fft.ifftn(x, axes=(-2, -1))


def real_transform_2d(x: Tensor, fft_length: Sequence[int]) -> Tensor:
    """Return the Fourier transform of real images, of which half of the columns are enough."""
    rows, columns = fft_length
    result = ops.fft.rfft(x, n=columns)
    if rows == x.shape[-2] == 1:
        return result
    return ops.fft.fft(result, n=rows, axis=-2)


def real_inverse_2d(x: Tensor, fft_length: Sequence[int]) -> Tensor:
    """Return real images from half of the columns of their Fourier transforms."""
    rows, columns = fft_length
    return ops.fft.irfft(ops.fft.ifft(x, n=rows, axis=-2), n=columns)


ROWS = {
    "FFT": Row("spectral.fft", 0),
    "IFFT": Row("spectral.ifft", 0),
    "IRFFT": Row("spectral.irfft", 0, fft_length=integer(1, None)),
    "RFFT": Row("spectral.rfft", 0, fft_length=integer(1, None)),
}

#: Those that TensorFlow.js does not have.
ONLY_HERE = {
    "FFT2D": Row(transform_2d, 0),
    "IFFT2D": Row(inverse_2d, 0),
    "IRFFT2D": Row(real_inverse_2d, 0, fft_length=integers(1)),
    "RFFT2D": Row(real_transform_2d, 0, fft_length=integers(1)),
}
