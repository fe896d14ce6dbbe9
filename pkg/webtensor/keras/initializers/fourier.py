"""The initializer of kernels that compute a short-time Fourier transform."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin, sqrt
from typing import Literal

from webtensor import ops as wt
from webtensor.arguments import check_choice
from webtensor.dtypes import float32
from webtensor.engine import Tensor
from webtensor.keras.dtypes import storage_dtype
from webtensor.keras.initializers import Initializer, ShapeLike
from webtensor.keras.types import DTypeLike
from webtensor.keras.window_functions import require_window, window_values
from webtensor.shapes import as_shape

__all__ = ["STFT", "STFTInitializer", "stft"]


class STFT(Initializer):
    """Windowed cosines or sines: a kernel that computes a short-time Fourier transform.

    The kernel's shape is ``(frame_length, 1, fft_length // 2 + 1)``.

    Args:
        side: ``"real"`` for cosines, the real part, or ``"imag"`` for sines.
        window: the name of a window, its values, or None for a window of ones.
        scaling: ``"density"`` divides the window by the square root of the sum of its squares,
            ``"spectrum"`` by the sum of its absolute values; None leaves it as it is.
        periodic: a boolean, whether a window that is named is periodic instead of symmetric.

    Raises:
        ValueError: an argument is none of these.
    """

    def __init__(
        self,
        side: Literal["real", "imag"] = "real",
        window: str | Sequence[float] | None = "hann",
        scaling: Literal["density", "spectrum"] | None = "density",
        periodic: bool = False,
    ) -> None:
        check_choice("STFT", "side", side, ("real", "imag"))
        require_window("STFT", window)
        check_choice("STFT", "scaling", scaling, ("density", "spectrum", None))
        self.side = side
        self.window = window
        self.scaling = scaling
        self.periodic = periodic

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None) -> Tensor:
        dimensions = as_shape("STFT", shape)
        if len(dimensions) != 3 or dimensions[1] != 1:
            raise ValueError(f"STFT: shape must be (frame, 1, frequencies), but got {dimensions}")
        frame_length, _, frequencies = dimensions
        window = self._scaled_window(frame_length)
        period = 2 * (frequencies - 1)
        wave = cos if self.side == "real" else lambda angle: -sin(angle)
        values = [
            weight * wave(2 * pi * (time * frequency % period) / period if period else 0.0)
            for time, weight in enumerate(window)
            for frequency in range(frequencies)
        ]
        return wt.astype(wt.tensor(values, dimensions, float32), storage_dtype(dtype), copy=False)

    def _scaled_window(self, length: int) -> list[float]:
        if self.window is None:
            return [1.0] * length
        if isinstance(self.window, str):
            values = window_values(self.window, length, self.periodic)
        else:
            values = [float(value) for value in self.window]
            if len(values) != length:
                raise ValueError(
                    f"STFT: window has {len(values)} values, but the frame's length is {length}"
                )
        scale = 1.0
        if self.scaling == "density":
            scale = sqrt(sum(value * value for value in values))
        elif self.scaling == "spectrum":
            scale = sum(abs(value) for value in values)
        return [value / scale for value in values]


STFTInitializer = stft = STFT
