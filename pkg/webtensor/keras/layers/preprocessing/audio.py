"""Layers for audio: spectrograms by trainable kernels, or on the mel scale."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import log, log10
from typing import Any, Literal, TypeAlias

from webtensor import keras, ops as wt
from webtensor.arguments import check_choice
from webtensor.dtypes import float32
from webtensor.engine import Tensor, TensorLike, Variable
from webtensor.engine.scopes import outside_scopes
from webtensor.keras import initializers, sliding_windows
from webtensor.keras.allocations import claim
from webtensor.keras.data_formats import as_data_format
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.layers.layer import Layer
from webtensor.keras.settings import epsilon
from webtensor.keras.sliding_windows import Sliding
from webtensor.keras.types import DTypeLike, Shape
from webtensor.keras.window_functions import require_window, window_values
from webtensor.shapes import check_size

__all__ = ["MelSpectrogram", "STFTSpectrogram"]

_MODES = ("log", "magnitude", "psd", "real", "imag", "angle", "stft")
#: A window by its name or its values; None stands for a rectangle.
Window: TypeAlias = "str | Sequence[float] | None"


class STFTSpectrogram(Layer):
    """Computes spectrograms by short-time Fourier transforms (STFT) of each channel.

    Frames are multiplied by the window and by the cosines and sines of ``fft_length // 2 + 1``
    frequencies, as convolutions. The kernels are weights, which training can change.

    Input shape: (batch, time, channels), or (batch, channels, time) for
    ``data_format="channels_first"``.
    Output shape: (batch, frames, channels * frequencies), with ``expand_dims`` (batch, frames,
    frequencies, channels); for ``"channels_first"``, channels come directly after the batch.

    Args:
        mode: the function of the real part ``r`` and the imaginary part ``i`` that is returned:
            ``"magnitude"``; ``"log"``, the default, for its logarithm; ``"psd"`` for the power
            ``r**2 + i**2``, doubled except at the first and the last frequency; ``"real"``,
            ``"imag"``, ``"angle"``, or ``"stft"`` for both parts one after the other.
        frame_length: an integer, the number of samples in a frame.
        frame_step: an integer, the number of samples between the begins of frames; None stands
            for half of ``frame_length``.
        fft_length: an integer, the length of the transform, at best a power of 2; None stands for
            the next power of 2 from ``frame_length``.
        window: the name of a window such as ``"hann"`` or ``"hamming"``, its values, or None.
        periodic: a boolean, whether the window is periodic rather than symmetric.
        scaling: the normalization of the window: ``"density"``, ``"spectrum"`` or None.
        padding: ``"valid"`` or ``"same"``, as in convolutions.
        expand_dims: a boolean, whether the frequencies have an axis of their own.

    Raises:
        ValueError: an argument is unknown or out of range.

    Example:
        >>> import webtensor as wt
        >>> from webtensor import keras
        >>> layer = keras.layers.STFTSpectrogram(frame_length=8, frame_step=4)
        >>> layer(wt.ones((2, 32, 3))).shape
        (2, 7, 15)
    """

    real_kernel: Variable | None = None
    imag_kernel: Variable | None = None

    def __init__(
        self,
        mode: Literal["log", "magnitude", "psd", "real", "imag", "angle", "stft"] = "log",
        frame_length: int = 256,
        frame_step: int | None = None,
        fft_length: int | None = None,
        window: Window = "hann",
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
        check_choice(owner, "mode", mode, _MODES)
        check_choice(owner, "scaling", scaling, ("density", "spectrum", None))
        check_choice(owner, "padding", padding, ("valid", "same"))
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

    def build(self, input_shape: Shape) -> None:
        """Create the kernels that the mode needs."""
        sides: tuple[Literal["real", "imag"], ...] = ("real", "imag")
        for side, other in zip(sides, reversed(sides), strict=True):
            if self.mode != other:
                kernel = self.add_weight(
                    name=f"{side}_kernel",
                    shape=(self.frame_length, 1, self._frequencies),
                    initializer=initializers.STFT(side, self.window, self.scaling, self.periodic),
                )
                setattr(self, f"{side}_kernel", kernel)

    def call(self, inputs: Tensor) -> Tensor:
        """Compute the spectrograms.

        Raises:
            TypeError: the inputs are not float32.
        """
        if inputs.dtype is not float32:
            raise TypeError(f"STFTSpectrogram: inputs must be float32, but are {inputs.dtype}")
        if self.data_format == "channels_last":
            inputs = wt.transpose(inputs, (0, 2, 1))
        batch, channels, samples = inputs.shape
        signals = wt.reshape(inputs, (batch * channels, samples, 1))
        sliding = Sliding((self._step,), self.padding, "channels_last", (1,))
        sides = [
            sliding_windows.conv(signals, kernel.value, sliding)
            for kernel in (self.real_kernel, self.imag_kernel)
            if kernel is not None
        ]
        spectra = self._spectra(sides)
        return self._arranged(wt.reshape(spectra, (batch, channels, *spectra.shape[1:])))

    def _spectra(self, sides: list[Tensor]) -> Tensor:
        """Compute the result of the mode from the real and imaginary parts."""
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
        magnitude = wt.sqrt(wt.maximum(power, epsilon()))
        return magnitude if self.mode == "magnitude" else wt.log(wt.maximum(magnitude, epsilon()))

    def _arranged(self, spectra: Tensor) -> Tensor:
        """Bring (batch, channels, time, frequencies) into the shape of the outputs."""
        batch, channels, time, frequencies = spectra.shape
        is_last = self.data_format == "channels_last"
        if self.expand_dims:
            return wt.transpose(spectra, (0, 2, 3, 1)) if is_last else spectra
        if is_last:
            rows = wt.transpose(spectra, (0, 2, 1, 3))
            return wt.reshape(rows, (batch, time, channels * frequencies))
        rows = wt.transpose(spectra, (0, 1, 3, 2))
        return wt.reshape(rows, (batch, channels * frequencies, time))

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape of the spectrograms."""
        is_last = self.data_format == "channels_last"
        channels = input_shape[-1 if is_last else 1]
        if channels is None:
            raise ValueError(
                f"{type(self).__name__}: the number of channels must be known, but the inputs' "
                f"shape is {input_shape}"
            )
        frequencies = self._frequencies * (2 if self.mode == "stft" else 1)
        flat = sliding_windows.conv_output_shape(
            type(self).__name__,
            input_shape,
            frequencies * channels,
            (self.frame_length,),
            Sliding((self._step,), self.padding, self.data_format, (1,)),
        )
        if not self.expand_dims:
            return flat
        if is_last:
            return (flat[0], flat[1], frequencies, channels)
        return (flat[0], channels, flat[2], frequencies)

    def _config_value(self, name: str) -> Any:
        if name == "window" and not isinstance(self.window, str | None):
            return list(self.window)
        return super()._config_value(name)


def _mel(hertz: float) -> float:
    return 1127.0 * log(1.0 + hertz / 700.0)


class MelSpectrogram(Layer):
    """Computes spectrograms on the mel scale, whose bands are as wide as ears distinguish them.

    Frames are multiplied by the window and Fourier-transformed; their magnitudes are summed in
    bands, and converted to decibels.

    Input shape: (samples,) or (batch, samples).
    Output shape: (bands, frames) or (batch, bands, frames).

    Args:
        fft_length: an integer, the number of samples in a frame.
        sequence_stride: an integer, the number of samples between the centres of frames.
        sequence_length: an integer, the number of samples in the window; None stands for
            ``fft_length``.
        window: ``"hann"``, ``"hamming"``, values, or None for a rectangle.
        sampling_rate: an integer, the number of samples per second.
        num_mel_bins: an integer, the number of bands.
        min_freq: a number, the lowest frequency of the bands in hertz.
        max_freq: a number, the highest frequency of the bands; None stands for half of
            ``sampling_rate``.
        power_to_db: a boolean, whether results are converted to decibels.
        top_db: a number; results are clipped to ``top_db`` decibels below their maximum.
        mag_exp: a number, the exponent of the magnitudes: 1 for magnitudes, 2 for powers.
        min_power: a number, the minimum to which powers are clipped before their logarithm.
        ref_power: a number, the power of 0 decibels.

    Raises:
        ValueError: ``sequence_length`` is greater than ``fft_length``, ``window`` is unknown, or
            ``min_freq`` is not less than ``max_freq``.

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
        window: Window = "hann",
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
        check_size("MelSpectrogram", "fft_length", fft_length, num_mel_bins * fft_length / 2)
        self.fft_length = fft_length
        self.sequence_stride = sequence_stride
        self.sequence_length = sequence_length or fft_length
        if fft_length < self.sequence_length:
            raise ValueError(
                "MelSpectrogram: fft_length must be no less than sequence_length, but they are "
                f"{fft_length} and {self.sequence_length}"
            )
        if isinstance(window, str):
            check_choice("MelSpectrogram", "window", window, ("hann", "hamming"))
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

    def build(self, input_shape: Shape) -> None:
        """Compute the window and the weights of the bands."""
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

    def call(self, inputs: TensorLike) -> Tensor:
        """Compute the spectrograms."""
        stft: Any = keras.ops.stft
        sides = stft(
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
        decibels = wt.log(wt.maximum(power, self.min_power)) * (10 / log(10))
        decibels = decibels - 10 * log10(max(abs(self.ref_power), self.min_power))
        return wt.maximum(decibels, wt.max(decibels) - self.top_db)

    def linear_to_mel_weight_matrix(
        self,
        num_mel_bins: int = 20,
        num_spectrogram_bins: int = 129,
        sampling_rate: float = 8000,
        lower_edge_hertz: float = 125.0,
        upper_edge_hertz: float = 3800.0,
        dtype: DTypeLike = "float32",
    ) -> Tensor:
        """Return the weight of each frequency in each band, of shape (frequencies, bands).

        Bands are triangles on the mel scale; each begins in the middle of the one before it. The
        frequency 0 belongs to none.
        """
        lowest, highest = _mel(lower_edge_hertz), _mel(upper_edge_hertz)
        width = (highest - lowest) / (num_mel_bins + 1)
        weights = [0.0] * (num_spectrogram_bins * num_mel_bins)
        for bin in range(1, num_spectrogram_bins):
            hertz = sampling_rate / 2 * bin / (num_spectrogram_bins - 1)
            rising, share = divmod((_mel(hertz) - lowest) / width, 1.0)
            for band, weight in ((int(rising), share), (int(rising) - 1, 1.0 - share)):
                if 0 <= band < num_mel_bins:
                    weights[bin * num_mel_bins + band] = weight
        return wt.tensor(weights, (num_spectrogram_bins, num_mel_bins), dtype)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape of the spectrograms."""
        *batch, samples = input_shape
        frames = None if samples is None else samples // self.sequence_stride + 1
        return (*batch, self.num_mel_bins, frames)
