"""Spectrograms and samples of a microphone as elements of a data set."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

from webtensor.arguments import as_fraction, as_integer, check_choice
from webtensor.data.media_devices import MediaDevice, constraints_text, functions, opened
from webtensor.engine import Tensor
from webtensor.ops import tensor
from webtensor.transfer import python_buffer

__all__ = ["Microphone", "microphone"]

_SIZES = tuple(2**power for power in range(4, 15))
_RATES = (44100, 48000)


class Microphone(MediaDevice):
    """The recording of a microphone: ``microphone`` opens one.

    Attributes:
        sample_rate: the number of samples per second.
    """

    _kind = "microphone"

    def __init__(
        self, device: Any, frames: int, columns: int, fft_size: int, kinds: tuple[str, ...]
    ) -> None:
        super().__init__(device, inf)
        self.sample_rate = float(device.sampleRate)
        self._frames, self._columns, self._kinds = frames, columns, kinds
        self._shapes = {
            "spectrogram": (frames, columns, 1),
            "waveform": (frames * fft_size, 1),
        }

    async def _next(self) -> dict[str, Tensor] | None:
        recorded = await self._device.record(self._frames, self._columns)
        if recorded is None:
            return None
        return {
            kind: tensor(python_buffer(getattr(recorded, kind)).cast("f"), shape=self._shapes[kind])
            for kind in self._kinds
        }


async def microphone(
    *,
    fft_size: int = 1024,
    column_truncate_length: int | None = None,
    num_frames_per_spectrogram: int = 43,
    sample_rate_hz: int | None = None,
    audio_track_constraints: Mapping[str, Any] | None = None,
    smoothing_time_constant: float = 0.0,
    include_spectrogram: bool = True,
    include_waveform: bool = False,
) -> Microphone:
    """Ask the visitor for a microphone, and return the data set of what it records.

    Elements are dicts of float32 tensors: "spectrogram" is (frames, columns, 1), in decibels, and
    "waveform" (frames · ``fft_size``, 1), from -1 to 1. The browser computes the spectra, with a
    Blackman window (``AnalyserNode`` of the Web Audio API).

    Args:
        fft_size: the number of samples of a frame, and of frequencies: a power of two from 16 to
            16384.
        column_truncate_length: how many of the lowest frequencies are kept; by default all.
        num_frames_per_spectrogram: the number of frames in an element.
        sample_rate_hz: the number of samples per second, 44100 or 48000; by default the device's.
        audio_track_constraints: constraints of the browser for the device.
        smoothing_time_constant: the share of the frame before in each, from 0 to 1.
        include_spectrogram: whether elements have a spectrogram.
        include_waveform: whether elements have a waveform.

    Raises:
        OSError: there is no microphone, it is in use, or this is no page.
        PermissionError: the visitor or the page's policy does not allow it.
        ValueError: an argument is invalid.

    Example:
        In a page::

            with await wt.data.microphone() as microphone:
                element = await microphone.capture_async()
                print(element["spectrogram"].shape)
    """
    name = "microphone"
    if fft_size not in _SIZES:
        raise ValueError(
            f"{name}: fft_size must be a power of two from {_SIZES[0]} to {_SIZES[-1]}, but is "
            f"{fft_size!r}"
        )
    frames = as_integer(name, "num_frames_per_spectrogram", num_frames_per_spectrogram)
    columns = as_integer(name, "column_truncate_length", column_truncate_length or fft_size)
    if frames <= 0 or not 0 < columns <= fft_size:
        raise ValueError(
            f"{name}: num_frames_per_spectrogram must be positive, and column_truncate_length from "
            f"1 to fft_size = {fft_size}, but they are {frames} and {columns}"
        )
    check_choice(name, "sample_rate_hz", sample_rate_hz, (None, *_RATES))
    smoothing = as_fraction(name, "smoothing_time_constant", smoothing_time_constant)
    kinds = tuple(
        kind
        for kind, is_included in (
            ("spectrogram", include_spectrogram),
            ("waveform", include_waveform),
        )
        if is_included
    )
    if not kinds:
        raise ValueError(f"{name}: include_spectrogram and include_waveform cannot both be False")

    def open_device() -> Any:
        constraints = constraints_text(audio_track_constraints or {})
        return functions().openMicrophone(constraints, fft_size, sample_rate_hz, smoothing)

    device = await opened(name, "microphone", open_device)
    return Microphone(device, frames, columns, fft_size, kinds)
