"""``wt.signal``: windows, frames and the short-time Fourier transform."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, cos, inf, pi

from webtensor.arguments import (
    as_non_negative_integer,
    as_number,
    as_positive_integer,
    check_callable,
)
from webtensor.dtypes import complex64, float32
from webtensor.engine import Primitive, Tensor, TensorLike, as_operand, from_host
from webtensor.ops.casting import cast_to
from webtensor.ops.creation import zeros
from webtensor.ops.movement import pad, reshape, strided_view
from webtensor.ops.sequences import arange
from webtensor.ops.spectral import half_transform, resized
from webtensor.ops.trigonometry import height_of_window
from webtensor.shapes import check_size, contiguous_strides

__all__ = [
    "cosine_window",
    "enclosing_power_of_two",
    "frame",
    "hamming_window",
    "hann_window",
    "stft",
]


#: Windows of up to this many elements are computed on the host, in double precision.
_MAX_ON_HOST = 4096


# -- windows ------------------------------------------------------------------------------------


def cosine_window(window_length: int, a: float, b: float) -> Tensor:
    """Window ``a - b * cos(2 * pi * k / n)``, float32 of shape (window_length,).

    ``n`` is the length where it is even, so that the window is one period, else the length less 1.

    Raises:
        TypeError: the length is not an integer.
        ValueError: it is negative.

    Example:
        >>> import webtensor as wt
        >>> wt.signal.cosine_window(4, 0.5, 0.5).tolist()
        [0.0, 0.5, 1.0, 0.5]
    """
    length = as_non_negative_integer("cosine_window", "window_length", window_length)
    a, b = as_number("cosine_window", "a", a), as_number("cosine_window", "b", b)
    check_size("cosine_window", "window_length", window_length, length)
    if length == 1:
        return from_host("cosine_window", [a + b], float32)
    period = length if length % 2 == 0 else length - 1
    if length > _MAX_ON_HOST:
        return height_of_window(arange(length), period, a, b)
    values = [a - b * cos(2 * pi * k / period) for k in range(length)]
    return from_host("cosine_window", values, float32)


def hann_window(window_length: int) -> Tensor:
    """Hann window, float32 of shape (window_length,). See ``cosine_window``.

    Raises:
        TypeError: ``window_length`` is not an integer.
        ValueError: ``window_length`` is negative.

    Example:
        >>> import webtensor as wt
        >>> wt.signal.hann_window(2).tolist()
        [0.0, 1.0]
    """
    return cosine_window(window_length, 0.5, 0.5)


def hamming_window(window_length: int) -> Tensor:
    """Hamming window, float32 of shape (window_length,). See ``cosine_window``.

    Raises:
        TypeError: ``window_length`` is not an integer.
        ValueError: ``window_length`` is negative.

    Example:
        >>> import webtensor as wt
        >>> wt.round(wt.signal.hamming_window(4) * 100).tolist()
        [8.0, 54.0, 100.0, 54.0]
    """
    return cosine_window(window_length, 0.54, 0.46)


def _signal(name: str, signal: TensorLike) -> Tensor:
    operand = as_operand(name, signal)
    if operand.dtype is complex64:
        raise TypeError(f"{name}: signal must be real, but got complex64")
    if not operand.shape:
        raise ValueError(f"{name}: signal must have at least one axis, but its shape is ()")
    return operand


# -- frames -------------------------------------------------------------------------------------


def _overlap_add(frames: Tensor, step: int, samples: int) -> Tensor:
    """Sum overlapping frames (..., count, length) to a signal of ``samples`` elements."""
    *batch, count, length = frames.shape
    chunks = -(-length // step)
    padded = resized(frames, chunks * step)
    padded = reshape(padded, (*batch, count, chunks, step))
    rank = len(batch)
    # Chunk c of frame f belongs to step f + c of the signal.
    total = zeros((*batch, count + chunks - 1, step), frames.dtype)
    for chunk in range(chunks):
        rows = padded[..., chunk, :]
        total = total + pad(rows, [(0, 0)] * rank + [(chunk, chunks - 1 - chunk), (0, 0)])
    return resized(reshape(total, (*batch, (count + chunks - 1) * step)), samples)


_FRAME = Primitive(
    "frame",
    kernel="strided",
    gradients=(lambda dy, y, x, strides, offset, step: _overlap_add(dy, step, x.shape[-1]),),
)


def frame(
    signal: TensorLike,
    frame_length: int,
    frame_step: int,
    pad_end: bool = False,
    pad_value: float = 0,
) -> Tensor:
    """Cut a signal into frames, ``frame_step`` apart, that may overlap.

    ``signal`` is (..., samples), the result (..., frames, frame_length). Without ``pad_end``, only
    whole frames are taken; with it, all that begin within the signal, the last ones filled with
    ``pad_value``.

    Raises:
        TypeError: a length is not an integer, or the signal is complex.
        ValueError: a length is not positive, save for a ``frame_step`` of 0 where no frame begins,
            or the signal has no axes.

    Example:
        >>> import webtensor as wt
        >>> wt.signal.frame([1, 2, 3, 4], 2, 1).tolist()
        [[1, 2], [2, 3], [3, 4]]
    """
    operand = _signal("frame", signal)
    length = as_positive_integer("frame", "frame_length", frame_length)
    *batch, samples = operand.shape
    begins = range(samples if pad_end else max(0, samples - length + 1))
    step = (
        as_positive_integer("frame", "frame_step", frame_step) if begins or frame_step != 0 else 1
    )
    count = -(-len(begins) // step)
    shape = (*batch, count, length)
    missing = (count - 1) * step + length - samples
    if count and missing > 0:
        operand = pad(operand, [(0, 0)] * len(batch) + [(0, missing)], pad_value)
    strides = contiguous_strides(operand.shape)
    return strided_view(_FRAME, operand, shape, (*strides[:-1], step, 1), 0, step)


def enclosing_power_of_two(value: float) -> int:
    """Smallest power of two that is not less.

    Raises:
        TypeError: the value is no number.
        ValueError: the value is not positive, or infinite.

    Example:
        >>> import webtensor as wt
        >>> wt.enclosing_power_of_two(5)
        8
    """
    if not 0 < as_number("enclosing_power_of_two", "value", value) < inf:
        raise ValueError(
            f"enclosing_power_of_two: value must be positive and finite, but got {value}"
        )
    return 1 << (ceil(value) - 1).bit_length()


def stft(
    signal: TensorLike,
    frame_length: int,
    frame_step: int,
    fft_length: int | None = None,
    window_fn: Callable[[int], Tensor] | None = hann_window,
) -> Tensor:
    """Short-time Fourier transform, complex64 of shape (..., frames, fft_length // 2 + 1).

    Frames of the signal are multiplied by ``window_fn(frame_length)``, and padded with zeros or cut
    to ``fft_length``, by default the smallest power of two that holds them.

    Raises:
        TypeError: a length is not an integer, or the signal is complex.
        ValueError: a length is not positive, or the signal has no axes.

    Example:
        >>> import webtensor as wt
        >>> wt.signal.stft([1.0, 1.0, 1.0, 1.0], 2, 1).shape
        (3, 2)
    """
    length = as_positive_integer("stft", "frame_length", frame_length)
    size = enclosing_power_of_two(length) if fft_length is None else fft_length
    size = as_positive_integer("stft", "fft_length", size)
    step = as_positive_integer("stft", "frame_step", frame_step)
    frames = frame(cast_to(_signal("stft", signal), float32), length, step)
    if window_fn is not None:
        check_callable("stft", "window_fn", window_fn)
        frames = frames * window_fn(length)
    return half_transform(resized(frames, size))
