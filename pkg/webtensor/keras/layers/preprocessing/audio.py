"""Preprocessing of sound: spectra of frames, by trainable kernels or on the mel scale."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import log, log10
from typing import Any, Literal

from webtensor import ops as wt
from webtensor.dtypes import float32
from webtensor.engine import Tensor
from webtensor.engine.scopes import outside_scopes
from webtensor.keras import initializers, sliding_windows
from webtensor.keras.budgets import claim
from webtensor.keras.config import epsilon
from webtensor.keras.data_formats import as_data_format
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.layers.layer import Layer
from webtensor.keras.types import Config
from webtensor.keras.window_functions import require_window, window_values

__all__ = ["MelSpectrogram", "STFTSpectrogram"]

_MODES = ("log", "magnitude", "psd", "real", "imag", "angle", "stft")


def _require(owner: str, argument: str, value: Any, wanted: Sequence[Any]) -> None:
    if value not in wanted:
        raise ValueError(f"{owner}: {argument} must be one of {wanted}, but got {value!r}")


class STFTSpectrogram(Layer):
    """The short-time Fourier transform of each channel, computed by convolutions.

    Frames of ``frame_length`` samples, ``frame_step`` apart, are multiplied by ``window`` and with
    the cosines and sines of ``fft_length // 2 + 1`` frequencies. These kernels, which
    ``initializers.STFT`` makes with ``periodic`` and ``scaling``, are weights. ``mode`` says what
    becomes of the real part ``r`` and the imaginary one ``i``: "real", "imag", "stft" (both, one
    after the other), "angle", "psd" (``r**2 + i**2``, twice that between the ends), "magnitude" or
    "log" (its logarithm). Inputs are (batch, time, channels), or with the channels first;
    frequencies of all channels stand side by side, unless ``expand_dims`` makes images: (batch,
    time, frequencies, channels).

    Example:
        >>> import webtensor as wt
        >>> from webtensor import keras
        >>> layer = keras.layers.STFTSpectrogram(frame_length=8, frame_step=4)
        >>> layer(wt.ones((2, 32, 3))).shape
        (2, 7, 15)
    """

    real_kernel: Any = None
    imag_kernel: Any = None

    def __init__(
        self,
        mode: Literal["log", "magnitude", "psd", "real", "imag", "angle", "stft"] = "log",
        frame_length: int = 256,
        frame_step: int | None = None,
        fft_length: int | None = None,
        window: str | Sequence[float] | None = "hann",
        periodic: bool = False,
        scaling: Literal["density", "spectrum"] | None = "density",
        padding: Literal["valid", "same"] = "valid",
        expand_dims: bool = False,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        owner = type(self).__name__
        if frame_step is not None and not 1 <= frame_step <= frame_length:
            raise ValueError(
                f"{owner}: frame_step must lie in [1, frame_length], but they are {frame_step} and "
                f"{frame_length}"
            )
        if fft_length is not None and fft_length < frame_length:
            raise ValueError(
                f"{owner}: fft_length must be no less than frame_length, but they are {fft_length} "
                f"and {frame_length}"
            )
        if fft_length is not None and fft_length & (fft_length - 1):
            warnings.warn(
                f"{owner}: fft_length is best a power of two, but is {fft_length}", stacklevel=2
            )
        _require(owner, "mode", mode, _MODES)
        _require(owner, "scaling", scaling, ("density", "spectrum", None))
        _require(owner, "padding", padding, ("valid", "same"))
        require_window(owner, window)
        super().__init__(**kwargs)
        self.mode = mode
        self.frame_length, self.frame_step, self.fft_length = frame_length, frame_step, fft_length
        self.window, self.periodic, self.scaling = window, periodic, scaling
        self.padding = padding
        self.expand_dims = expand_dims
        self.data_format = as_data_format(owner, data_format)
        self.input_spec = InputSpec(ndim=3)
        self._step = frame_step or frame_length // 2
        length = fft_length or wt.enclosing_power_of_two(frame_length)
        self._frequencies = length // 2 + 1

    def build(self, input_shape: Any) -> None:
        """Make the kernels that the mode needs."""
        sides: tuple[Literal["real", "imag"], ...] = ("real", "imag")
        for side, other in zip(sides, reversed(sides), strict=True):
            if self.mode != other:
                kernel = self.add_weight(
                    name=f"{side}_kernel",
                    shape=(self.frame_length, 1, self._frequencies),
                    initializer=initializers.STFT(side, self.window, self.scaling, self.periodic),
                )
                setattr(self, f"{side}_kernel", kernel)

    def call(self, inputs: Tensor) -> Any:
        """Transform frames.

        Raises:
            TypeError: the samples are no floats.
        """
        if inputs.dtype is not float32:
            raise TypeError(f"STFTSpectrogram: inputs must be float32, but are {inputs.dtype}")
        if self.data_format == "channels_last":
            inputs = wt.transpose(inputs, (0, 2, 1))
        batch, channels, samples = inputs.shape
        signals = wt.reshape(inputs, (batch * channels, samples, 1))
        sides = [
            sliding_windows.conv(
                signals, kernel.value, (self._step,), self.padding, "channels_last", (1,)
            )
            for kernel in (self.real_kernel, self.imag_kernel)
            if kernel is not None
        ]
        made = self._of_sides(sides)
        made = wt.reshape(made, (batch, channels, *made.shape[1:]))
        return self._placed(made)

    def _of_sides(self, sides: list[Tensor]) -> Tensor:
        """What the mode wants of the real and imaginary parts."""
        if len(sides) == 1:
            return sides[0]
        real, imaginary = sides
        if self.mode == "stft":
            return wt.concat(sides, -1)
        if self.mode == "angle":
            return wt.atan2(imaginary, real)
        power = wt.square(real) + wt.square(imaginary)
        if self.mode == "psd":
            return power + wt.pad(power[..., 1:-1], [(0, 0), (0, 0), (1, 1)])
        least = epsilon()
        magnitude = wt.sqrt(wt.maximum(power, least))
        return magnitude if self.mode == "magnitude" else wt.log(wt.maximum(magnitude, least))

    def _placed(self, made: Tensor) -> Tensor:
        """Bring (batch, channels, time, frequencies) into the shape that is returned."""
        batch, channels, time, frequencies = made.shape
        is_last = self.data_format == "channels_last"
        if self.expand_dims:
            return wt.transpose(made, (0, 2, 3, 1)) if is_last else made
        if is_last:
            rows = wt.transpose(made, (0, 2, 1, 3))
            return wt.reshape(rows, (batch, time, channels * frequencies))
        rows = wt.transpose(made, (0, 1, 3, 2))
        return wt.reshape(rows, (batch, channels * frequencies, time))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the spectra."""
        is_last = self.data_format == "channels_last"
        channels = input_shape[-1 if is_last else 1]
        frequencies = self._frequencies * (2 if self.mode == "stft" else 1)
        flat = sliding_windows.conv_output_shape(
            type(self).__name__,
            input_shape,
            frequencies * channels,
            (self.frame_length,),
            (self._step,),
            self.padding,
            self.data_format,
            (1,),
        )
        if not self.expand_dims:
            return flat
        if is_last:
            return (flat[0], flat[1], frequencies, channels)
        return (flat[0], channels, flat[2], frequencies)

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        window = self.window if isinstance(self.window, str | None) else list(self.window)
        return {
            **super().get_config(),
            "mode": self.mode,
            "frame_length": self.frame_length,
            "frame_step": self.frame_step,
            "fft_length": self.fft_length,
            "window": window,
            "periodic": self.periodic,
            "scaling": self.scaling,
            "padding": self.padding,
            "data_format": self.data_format,
            "expand_dims": self.expand_dims,
        }


def _mel(hertz: float) -> float:
    return 1127.0 * log(1.0 + hertz / 700.0)


class MelSpectrogram(Layer):
    """Spectra of sound in bands as wide as ears tell them apart: (…, bands, time) of (…, samples).

    Frames of ``fft_length`` samples, ``sequence_stride`` apart and centred, are multiplied by a
    ``window`` of ``sequence_length`` ("hann", "hamming", values or None) and transformed;
    magnitudes to the power of ``mag_exp`` are added up in ``num_mel_bins`` bands from ``min_freq``
    to ``max_freq`` hertz. With ``power_to_db`` they become decibels above ``ref_power``, none more
    than ``top_db`` below the greatest.

    Example:
        >>> import webtensor as wt
        >>> from webtensor import keras
        >>> layer = keras.layers.MelSpectrogram(16, 4, num_mel_bins=3, sampling_rate=100)
        >>> layer(wt.ones((2, 64))).shape
        (2, 3, 17)
    """

    def __init__(
        self,
        fft_length: int = 2048,
        sequence_stride: int = 512,
        sequence_length: int | None = None,
        window: str | Sequence[float] | None = "hann",
        sampling_rate: int = 16000,
        num_mel_bins: int = 128,
        min_freq: float = 20.0,
        max_freq: float | None = None,
        power_to_db: bool = True,
        top_db: float = 80.0,
        mag_exp: float = 2.0,
        min_power: float = 1e-10,
        ref_power: float = 1.0,
        **kwargs: Any,
    ) -> None:
        self.fft_length = fft_length
        self.sequence_stride = sequence_stride
        self.sequence_length = sequence_length or fft_length
        if fft_length < self.sequence_length:
            raise ValueError(
                "MelSpectrogram: fft_length must be no less than sequence_length, but they are "
                f"{fft_length} and {self.sequence_length}"
            )
        if isinstance(window, str):
            _require("MelSpectrogram", "window", window, ("hann", "hamming"))
        self.window = window
        self.sampling_rate = sampling_rate
        self.num_mel_bins = num_mel_bins
        self.min_freq = min_freq
        self.max_freq = max_freq or int(sampling_rate / 2)
        if not self.min_freq < self.max_freq:
            raise ValueError(
                f"MelSpectrogram: min_freq must be less than max_freq, but they are {min_freq} and "
                f"{self.max_freq}"
            )
        self.power_to_db = power_to_db
        self.top_db = top_db
        self.mag_exp = mag_exp
        self.min_power = min_power
        self.ref_power = ref_power
        claim(
            self.sequence_length + num_mel_bins * (fft_length // 2 + 1),
            f"MelSpectrogram: fft_length={fft_length} with num_mel_bins={num_mel_bins}",
        )
        super().__init__(**kwargs)

    def build(self, input_shape: Any) -> None:
        """Make the window and the bands."""
        window = self.window
        if isinstance(window, str):
            window = window_values(window, self.sequence_length, periodic=True)
        with outside_scopes():
            self._window = None if window is None else wt.tensor(window, dtype=float32)
            self._bands = self.linear_to_mel_weight_matrix(
                self.num_mel_bins,
                self.fft_length // 2 + 1,
                self.sampling_rate,
                self.min_freq,
                self.max_freq,
            )

    def call(self, inputs: Any) -> Any:
        """Transform frames, and add up what belongs to a band."""
        from webtensor.keras import ops  # here, since other layers do without it

        transform: Any = ops.stft
        sides = transform(
            wt.astype(inputs, float32, copy=False),
            self.sequence_length,
            self.sequence_stride,
            self.fft_length,
            window=self._window,
            center=True,
        )
        power = wt.square(sides[0]) + wt.square(sides[1])
        if self.mag_exp != 2:
            power = wt.pow(power, self.mag_exp / 2)
        bands = wt.matmul(power, self._bands)
        if self.power_to_db:
            bands = self._decibels(bands)
        return wt.moveaxis(bands, -1, -2)

    def _decibels(self, power: Tensor) -> Tensor:
        made = wt.log(wt.maximum(power, self.min_power)) * (10 / log(10))
        made = made - 10 * log10(max(abs(self.ref_power), self.min_power))
        return wt.maximum(made, wt.max(made) - self.top_db)

    def linear_to_mel_weight_matrix(
        self,
        num_mel_bins: int = 20,
        num_spectrogram_bins: int = 129,
        sampling_rate: float = 8000,
        lower_edge_hertz: float = 125.0,
        upper_edge_hertz: float = 3800.0,
        dtype: Any = "float32",
    ) -> Tensor:
        """Return how much of each frequency belongs to each band: (frequencies, bands).

        Bands are triangles on the mel scale; each begins in the middle of the one before. The
        frequency 0 belongs to none.
        """
        lowest, highest = _mel(lower_edge_hertz), _mel(upper_edge_hertz)
        width = (highest - lowest) / (num_mel_bins + 1)
        weights = [0.0] * (num_spectrogram_bins * num_mel_bins)
        for place in range(1, num_spectrogram_bins):
            hertz = sampling_rate / 2 * place / (num_spectrogram_bins - 1)
            band, share = divmod((_mel(hertz) - lowest) / width, 1.0)
            for one, weight in ((int(band), share), (int(band) - 1, 1.0 - share)):
                if 0 <= one < num_mel_bins:
                    weights[place * num_mel_bins + one] = weight
        return wt.tensor(weights, (num_spectrogram_bins, num_mel_bins), dtype)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the spectra."""
        *batch, samples = input_shape
        frames = None if samples is None else samples // self.sequence_stride + 1
        return (*batch, self.num_mel_bins, frames)

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        names = (
            "fft_length", "sequence_stride", "sequence_length", "window", "sampling_rate",
            "num_mel_bins", "min_freq", "max_freq", "power_to_db", "top_db", "mag_exp", "min_power",
            "ref_power",
        )  # fmt: skip
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}
