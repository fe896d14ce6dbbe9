"""Pooling: means and greatest elements of windows, of all places, or of so many parts.

A family is a class whose ``rank`` is how many axes of places there are, and whose ``kind`` is
"average" or "max". ``webtensor.keras.sliding_windows`` computes.
"""

from __future__ import annotations

from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.dtypes import bool_
from webtensor.keras import sliding_windows
from webtensor.keras.data_formats import as_data_format, channels_of, with_places
from webtensor.keras.layers.argument_checks import as_integers, as_padding
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.layers.layer import Layer

__all__ = [
    "AdaptiveAveragePooling1D",
    "AdaptiveAveragePooling2D",
    "AdaptiveAveragePooling3D",
    "AdaptiveMaxPooling1D",
    "AdaptiveMaxPooling2D",
    "AdaptiveMaxPooling3D",
    "AveragePooling1D",
    "AveragePooling2D",
    "AveragePooling3D",
    "AvgPool1D",
    "AvgPool2D",
    "AvgPool3D",
    "GlobalAveragePooling1D",
    "GlobalAveragePooling2D",
    "GlobalAveragePooling3D",
    "GlobalAvgPool1D",
    "GlobalAvgPool2D",
    "GlobalAvgPool3D",
    "GlobalMaxPool1D",
    "GlobalMaxPool2D",
    "GlobalMaxPool3D",
    "GlobalMaxPooling1D",
    "GlobalMaxPooling2D",
    "GlobalMaxPooling3D",
    "MaxPool1D",
    "MaxPool2D",
    "MaxPool3D",
    "MaxPooling1D",
    "MaxPooling2D",
    "MaxPooling3D",
]


class Places(Layer):
    """What all have: a data format, and a number of axes of places."""

    kind: ClassVar[str]
    rank: ClassVar[int]

    def __init__(self, data_format: str | None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = as_data_format(type(self).__name__, data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)


# -- windows -----------------------------------------------------------------------------------


class Pooling(Places):
    """A number for each window of each channel; windows are ``strides`` apart."""

    def __init__(
        self,
        pool_size: Any,
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(data_format, name=name, **kwargs)
        kind = type(self).__name__
        self.pool_size = as_integers(kind, "pool_size", pool_size, self.rank)
        strides = self.pool_size if strides is None else strides
        self.strides = as_integers(kind, "strides", strides, self.rank)
        self.padding = as_padding(kind, padding)
        self._build_at_init()

    def call(self, inputs: Any) -> Any:
        """Pool."""
        return sliding_windows.pool(
            self.kind, inputs, self.pool_size, self.strides, self.padding, self.data_format
        )

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape with as many places as windows."""
        return sliding_windows.pool_output_shape(
            type(self).__name__,
            input_shape,
            self.pool_size,
            self.strides,
            self.padding,
            self.data_format,
        )


class MaxPooling(Pooling):
    """Greatest element of each window; padding is never picked."""

    kind = "max"

    def __init__(
        self,
        pool_size: Any = 2,
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(pool_size, strides, padding, data_format, name, **kwargs)


class MaxPooling1D(MaxPooling):
    """Greatest element of each window of sequences: (batch, steps, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.MaxPooling1D()([[[1.0], [3.0], [2.0], [0.0]]]).tolist()
        [[[3.0], [2.0]]]
    """

    rank = 1


class MaxPooling2D(MaxPooling):
    """Greatest element of each window of images: (batch, height, width, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.MaxPooling2D(3, padding="same")(keras.Input((28, 28, 4))).shape
        (None, 10, 10, 4)
    """

    rank = 2


class MaxPooling3D(MaxPooling):
    """Greatest element of each window of volumes: (batch, depth, height, width, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.MaxPooling3D()(keras.Input((8, 8, 8, 4))).shape
        (None, 4, 4, 4, 4)
    """

    rank = 3


class AveragePooling(Pooling):
    """Mean of each window; padding does not count."""

    kind = "average"


class AveragePooling1D(AveragePooling):
    """Mean of each window of sequences: (batch, steps, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.AveragePooling1D(2)([[[1.0], [3.0], [2.0], [0.0]]]).tolist()
        [[[2.0], [1.0]]]
    """

    rank = 1


class AveragePooling2D(AveragePooling):
    """Mean of each window of images: (batch, height, width, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.AveragePooling2D(2, strides=1)(keras.Input((28, 28, 4))).shape
        (None, 27, 27, 4)
    """

    rank = 2


class AveragePooling3D(AveragePooling):
    """Mean of each window of volumes: (batch, depth, height, width, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.AveragePooling3D(2)(keras.Input((8, 8, 8, 4))).shape
        (None, 4, 4, 4, 4)
    """

    rank = 3


# -- all places --------------------------------------------------------------------------------


class GlobalPooling(Places):
    """A number for each channel, of all places; ``keepdims`` keeps their axes."""

    def __init__(
        self, data_format: str | None = None, keepdims: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.keepdims = keepdims
        start = 1 if self.data_format == "channels_last" else 2
        self._axes = tuple(range(start, start + self.rank))
        self._build_at_init()

    def call(self, inputs: Any) -> Any:
        """Pool."""
        reduce = wt.mean if self.kind == "average" else wt.max
        return reduce(inputs, self._axes, self.keepdims)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape without places, or with lengths 1."""
        places = (1,) * self.rank if self.keepdims else ()
        channels = channels_of(input_shape, self.data_format)
        return with_places(input_shape, places, channels, self.data_format)


class GlobalMaxPooling1D(GlobalPooling):
    """Greatest element of each channel of sequences: (batch, steps, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.GlobalMaxPooling1D()([[[1.0], [3.0], [2.0]]]).tolist()
        [[3.0]]
    """

    kind, rank = "max", 1


class GlobalMaxPooling2D(GlobalPooling):
    """Greatest element of each channel of images: (batch, height, width, channels)."""

    kind, rank = "max", 2


class GlobalMaxPooling3D(GlobalPooling):
    """Greatest element of each channel of volumes: (batch, depth, height, width, channels)."""

    kind, rank = "max", 3


class GlobalAveragePooling1D(GlobalPooling):
    """Mean of each channel of sequences: (batch, steps, channels), of the steps that a mask lets.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.GlobalAveragePooling1D()([[[1.0], [3.0], [2.0]]]).tolist()
        [[2.0]]
    """

    kind, rank = "average", 1

    def __init__(
        self, data_format: str | None = None, keepdims: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(data_format, keepdims, **kwargs)
        self.supports_masking = True

    def call(self, inputs: Any, mask: Any = None) -> Any:
        """Pool."""
        if mask is None:
            return super().call(inputs)
        batch, length = mask.shape
        is_last = self.data_format == "channels_last"
        kept = wt.reshape(mask, (batch, length, 1) if is_last else (batch, 1, length))
        kept = wt.astype(kept, bool_)
        total = wt.sum(wt.where(kept, inputs, 0), self._axes, self.keepdims)
        return total / wt.sum(wt.astype(kept, inputs.dtype), self._axes, self.keepdims)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """There are no steps left."""
        return None


class GlobalAveragePooling2D(GlobalPooling):
    """Mean of each channel of images: (batch, height, width, channels)."""

    kind, rank = "average", 2


class GlobalAveragePooling3D(GlobalPooling):
    """Mean of each channel of volumes: (batch, depth, height, width, channels)."""

    kind, rank = "average", 3


# -- so many parts -----------------------------------------------------------------------------


class AdaptivePooling(Places):
    """A number for each of ``output_size`` parts of the places; parts may overlap."""

    def __init__(self, output_size: Any, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(data_format, **kwargs)
        name = type(self).__name__
        are_many = isinstance(output_size, (list, tuple)) and len(output_size) == self.rank
        if not are_many and not hasattr(output_size, "__index__"):
            raise TypeError(
                f"{name}: output_size must be an integer or {self.rank} of them, but got "
                f"{output_size!r}"
            )
        self.output_size = as_integers(name, "output_size", output_size, self.rank)

    def call(self, inputs: Any) -> Any:
        """Pool."""
        return sliding_windows.adaptive_pool(self.kind, inputs, self.output_size, self.data_format)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape with as many places as parts."""
        channels = channels_of(input_shape, self.data_format)
        return with_places(input_shape, self.output_size, channels, self.data_format)


class AdaptiveAveragePooling1D(AdaptivePooling):
    """Means of parts of sequences: (batch, steps, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.AdaptiveAveragePooling1D(2)([[[1.0], [3.0], [2.0]]]).tolist()
        [[[2.0], [2.5]]]
    """

    kind, rank = "average", 1


class AdaptiveAveragePooling2D(AdaptivePooling):
    """Means of parts of images: (batch, height, width, channels)."""

    kind, rank = "average", 2


class AdaptiveAveragePooling3D(AdaptivePooling):
    """Means of parts of volumes: (batch, depth, height, width, channels)."""

    kind, rank = "average", 3


class AdaptiveMaxPooling1D(AdaptivePooling):
    """Greatest elements of parts of sequences: (batch, steps, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.AdaptiveMaxPooling1D(2)([[[1.0], [3.0], [2.0]]]).tolist()
        [[[3.0], [3.0]]]
    """

    kind, rank = "max", 1


class AdaptiveMaxPooling2D(AdaptivePooling):
    """Greatest elements of parts of images: (batch, height, width, channels)."""

    kind, rank = "max", 2


class AdaptiveMaxPooling3D(AdaptivePooling):
    """Greatest elements of parts of volumes: (batch, depth, height, width, channels)."""

    kind, rank = "max", 3


# -- other names -------------------------------------------------------------------------------

AvgPool1D = AveragePooling1D
AvgPool2D = AveragePooling2D
AvgPool3D = AveragePooling3D
MaxPool1D = MaxPooling1D
MaxPool2D = MaxPooling2D
MaxPool3D = MaxPooling3D
GlobalAvgPool1D = GlobalAveragePooling1D
GlobalAvgPool2D = GlobalAveragePooling2D
GlobalAvgPool3D = GlobalAveragePooling3D
GlobalMaxPool1D = GlobalMaxPooling1D
GlobalMaxPool2D = GlobalMaxPooling2D
GlobalMaxPool3D = GlobalMaxPooling3D
