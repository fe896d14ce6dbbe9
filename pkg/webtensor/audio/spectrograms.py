"""Spectrograms: how loud each frequency is in each short frame of a sound.

They are those of the Web Audio API's ``AnalyserNode``, which ``wt.data.microphone`` records: a
frame begins every ``fft_size`` samples, and is computed from twice as many.
"""

from __future__ import annotations

from functools import cache
from math import cos, log, pi

from webtensor.arguments import as_integer
from webtensor.dtypes import float32
from webtensor.engine import Tensor, TensorLike, as_operand
from webtensor.ops import (
    abs as magnitude,
    astype,
    expand_dims,
    log as natural_logarithm,
    maximum,
    mean,
    multiply,
    pad,
    reshape,
    sqrt,
    square,
    tensor,
)
from webtensor.ops.signal import stft

__all__ = ["normalize_spectrogram", "spectrogram"]

_DECIBELS = 20 / log(10)
#: Lower magnitudes, those of silence, count as this one: -200 decibels.
_LOWEST_MAGNITUDE = 1e-10
#: Keeps the standard deviation of a constant spectrogram from being 0.
_EPSILON = 1e-7
#: Blackman's window, as the Web Audio API has it.
_WINDOW = (0.42, -0.5, 0.08)


def spectrogram(
    samples: TensorLike, *, fft_size: int = 1024, column_truncate_length: int | None = None
) -> Tensor:
    """Return the spectrogram of a sound, as ``wt.data.microphone`` records it.

    Args:
        samples: numbers from -1 to 1, (samples,) or (samples, 1).
        fft_size: the number of samples of a frame, and of frequencies.
        column_truncate_length: how many of the lowest frequencies are kept; by default all.

    Returns:
        float32 (frames, columns, 1), in decibels; silence is -200. A rest of samples that fills no
        frame is left out.

    Raises:
        TypeError: an argument is no number.
        ValueError: ``samples`` has another shape, or is shorter than a frame; a number is out of
            range.

    Example:
        >>> import webtensor as wt
        >>> from math import pi
        >>> wave = wt.sin(wt.arange(44100) * (2 * pi * 440 / 44100))
        >>> frames = wt.audio.spectrogram(wave, column_truncate_length=232)
        >>> frames.shape
        (43, 232, 1)
        >>> loudest = int(wt.argmax(frames[20, :, 0]).item())
        >>> loudest * 44100 / 2048  # hertz
        430.6640625
    """
    name = "spectrogram"
    size = as_integer(name, "fft_size", fft_size)
    limit = size if column_truncate_length is None else column_truncate_length
    columns = as_integer(name, "column_truncate_length", limit)
    if size < 1 or not 0 < columns <= size:
        raise ValueError(
            f"{name}: fft_size must be positive, and column_truncate_length from 1 to fft_size, "
            f"but they are {size} and {columns}"
        )
    operand = astype(as_operand(name, samples), float32)
    if len(operand.shape) not in (1, 2) or operand.shape[1:] not in ((), (1,)):
        raise ValueError(
            f"{name}: samples must have shape (samples,) or (samples, 1), but has {operand.shape}"
        )
    if operand.size < size:
        raise ValueError(
            f"{name}: samples must be at least the {size} of a frame, but there are {operand.size}"
        )
    # The first frame sees silence before the sound.
    sound = pad(reshape(operand, (-1,)), [(size, 0)])
    spectra = stft(sound, 2 * size, size, 2 * size, _blackman_window)
    magnitudes = multiply(magnitude(spectra[:, :columns]), 1 / (2 * size))
    levels = natural_logarithm(maximum(magnitudes, _LOWEST_MAGNITUDE))
    return expand_dims(multiply(levels, _DECIBELS), -1)


@cache
def _window_values(length: int) -> tuple[float, ...]:
    return tuple(
        sum(factor * cos(2 * pi * order * n / length) for order, factor in enumerate(_WINDOW))
        for n in range(length)
    )


def _blackman_window(length: int) -> Tensor:
    return tensor(list(_window_values(length)), dtype=float32)


def normalize_spectrogram(levels: TensorLike) -> Tensor:
    """Return a spectrogram with a mean of 0 and a standard deviation of 1, as models take it.

    Args:
        levels: the spectrogram, numbers of any shape. A constant one becomes zeros.

    Example:
        >>> import webtensor as wt
        >>> wt.audio.normalize_spectrogram([[-80.0], [-40.0]]).tolist()
        [[-1.0], [1.0]]
    """
    operand = astype(as_operand("normalize_spectrogram", levels), float32)
    centred = operand - mean(operand)
    return centred / (sqrt(mean(square(centred))) + _EPSILON)
