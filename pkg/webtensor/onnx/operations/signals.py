"""Windows and transforms of signals."""

from __future__ import annotations

from array import array
from math import cos, log10, pi
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations import Row
from webtensor.onnx.operations.element_types import dtype_of
from webtensor.onnx.operations.operators import Operator, number
from webtensor.onnx.operations.shapes import host_shape

__all__ = ["ROWS"]


def _window(
    size: float, coefficients: tuple[float, ...], output_datatype: int, periodic: int
) -> Tensor:
    """Return a sum of cosines; it repeats after its size if it is periodic."""
    (count,) = host_shape(int(size))
    period = count if periodic else max(count - 1, 1)
    values = array(
        "f",
        (
            sum(
                factor * cos(2 * pi * order * index / period)
                for order, factor in enumerate(coefficients)
            )
            for index in range(count)
        ),
    )
    return ops.astype(ops.tensor(values, shape=(count,)), dtype_of(output_datatype))


def blackman(size: float, *, output_datatype: int = 1, periodic: int = 1) -> Tensor:
    """Return Blackman's window."""
    return _window(size, (0.42, -0.5, 0.08), output_datatype, periodic)


def hamming(size: float, *, output_datatype: int = 1, periodic: int = 1) -> Tensor:
    """Return Hamming's window."""
    return _window(size, (25 / 46, -21 / 46), output_datatype, periodic)


def hann(size: float, *, output_datatype: int = 1, periodic: int = 1) -> Tensor:
    """Return Hann's window."""
    return _window(size, (0.5, -0.5), output_datatype, periodic)


def fourier(
    x: Tensor,
    dft_length: float | None = None,
    axis: Any = None,
    *,
    inverse: int = 0,
    onesided: int = 0,
) -> Tensor:
    """Return the discrete Fourier transform along an axis, complex numbers as pairs."""
    rank = len(x.shape)
    along = -2 if axis is None else int(axis)
    along = along % rank
    moved = ops.moveaxis(x, along, -2)
    values = _complex(moved)
    length = values.shape[-1] if dft_length is None else int(dft_length)
    if inverse and onesided:
        count = None if dft_length is None else length
        result = ops.expand_dims(ops.fft.irfft(values, n=count), -1)
    elif inverse:
        result = _pairs(ops.fft.ifft(values, n=length))
    else:
        result = _pairs(ops.fft.fft(values, n=length))
        if onesided:
            result = result[..., : length // 2 + 1, :]
    return ops.moveaxis(result, -2, along)


def first_fourier(
    x: Tensor,
    dft_length: float | None = None,
    *,
    axis: int = 1,
    inverse: int = 0,
    onesided: int = 0,
) -> Tensor:
    """Return the transform as version 17 did."""
    return fourier(x, dft_length, axis, inverse=inverse, onesided=onesided)


def _complex(x: Tensor) -> Tensor:
    if x.shape[-1] == 2:
        real, imaginary = ops.unstack(x, -1)
        return ops.complex(real, imaginary)
    real = ops.squeeze(x, -1)
    return ops.complex(real, ops.zeros_like(real))


def _pairs(x: Tensor) -> Tensor:
    return ops.stack([ops.real(x), ops.imag(x)], -1)


def short_time_fourier(
    signal: Tensor,
    frame_step: float,
    window: Tensor | None = None,
    frame_length: float | None = None,
    *,
    onesided: int = 1,
) -> Tensor:
    """Return the transforms of the frames of a signal."""
    if len(signal.shape) == 2:
        signal = ops.expand_dims(signal, -1)
    if frame_length is not None:
        length = int(frame_length)
    elif window is not None:
        length = window.shape[0]
    else:
        raise ValueError("it needs frame_length or window")
    frames = ops.signal.frame(ops.moveaxis(signal, -1, 1), length, int(frame_step))
    if window is not None:
        frames = frames * window
    values = _pairs(ops.fft.fft(_complex(ops.moveaxis(frames, 1, -1)), n=length))
    return values[:, :, : length // 2 + 1] if onesided else values


def mel_weights(
    num_mel_bins: float,
    dft_length: float,
    sample_rate: float,
    lower_edge_hertz: float,
    upper_edge_hertz: float,
    *,
    output_datatype: int = 1,
) -> Tensor:
    """Return the matrix that turns a spectrum into one on the mel scale."""
    bins, length = int(num_mel_bins), int(dft_length)
    spectrum, _ = host_shape(length // 2 + 1, bins)
    low, high = (2595 * log10(1 + hertz / 700) for hertz in (lower_edge_hertz, upper_edge_hertz))
    step = (high - low) / (bins + 2)
    edges = [
        int((length + 1) * (700 * (10 ** ((index * step + low) / 2595) - 1)) // sample_rate)
        for index in range(bins + 2)
    ]
    rows = [[0.0] * bins for _ in range(spectrum)]
    for index in range(bins):
        left, center, right = edges[index : index + 3]
        if center == left:
            rows[center][index] = 1.0
        for position in range(left, center + 1 if center > left else left):
            rows[position][index] = (position - left) / (center - left)
        for position in range(center, right):
            rows[position][index] = (right - position) / (right - center)
    return ops.tensor(rows, dtype=dtype_of(output_datatype))


_MEL = (
    "num_mel_bins",
    "dft_length",
    "sample_rate",
    "lower_edge_hertz",
    "upper_edge_hertz",
)

ROWS: dict[str, Row] = {
    "BlackmanWindow-1": Operator(blackman, size=number),
    "DFT-17": Operator(first_fourier, dft_length=number),
    "DFT-20": Operator(fourier, dft_length=number, axis=number),
    "HammingWindow-1": Operator(hamming, size=number),
    "HannWindow-1": Operator(hann, size=number),
    "MelWeightMatrix-1": Operator(mel_weights, **dict.fromkeys(_MEL, number)),
    "STFT-1": Operator(short_time_fourier, frame_step=number, frame_length=number),
}
