"""Fourier transforms."""

from __future__ import annotations

from webtensor.graph.operations.arguments import integer
from webtensor.graph.operations.rows import Row

__all__ = ["ROWS"]

ROWS = {
    "FFT": Row("spectral.fft", 0),
    "IFFT": Row("spectral.ifft", 0),
    "IRFFT": Row("spectral.irfft", 0, fft_length=integer(1, None)),
    "RFFT": Row("spectral.rfft", 0, fft_length=integer(1, None)),
}
