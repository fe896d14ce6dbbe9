"""Pooling: means and maxima of windows, of whole inputs, or of a fixed number of sections.

A family is one class; its members differ in ``rank``, the number of spatial dimensions, and
``kind``, "average" or "max". ``webtensor.keras.sliding_windows`` computes.
"""

from __future__ import annotations

from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.dtypes import bool_
from webtensor.engine import Tensor
from webtensor.keras import sliding_windows
from webtensor.keras.data_formats import as_data_format, channels_of, with_spatial_shape
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.layers.layer import Layer
from webtensor.keras.layers.spatial_arguments import as_integers, as_padding
from webtensor.keras.sliding_windows import SizesLike
from webtensor.keras.types import Shape

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


class BasePooling(Layer):
    """A layer with a data format and a number of spatial dimensions."""

    kind: ClassVar[str]
    rank: ClassVar[int]

    def __init__(self, data_format: str | None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = as_data_format(type(self).__name__, data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)


# -- windows -----------------------------------------------------------------------------------


class Pooling(BasePooling):
    """A number for each window of each channel.

    Args:
        pool_size: an integer or one per spatial dimension, the size of the window.
        strides: an integer or one per spatial dimension, the distance of neighbouring windows;
            None is ``pool_size``.
        padding: ``"valid"``, for windows that fit in the inputs, or ``"same"``, for windows that
            reach beyond them.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        pool_size: SizesLike,
        strides: SizesLike | None = None,
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

    def call(self, inputs: Tensor) -> Tensor:
        """Pool."""
        return sliding_windows.pool(
            self.kind, inputs, self.pool_size, self.strides, self.padding, self.data_format
        )

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape with as many elements as windows."""
        return sliding_windows.pool_output_shape(
            type(self).__name__,
            input_shape,
            self.pool_size,
            self.strides,
            self.padding,
            self.data_format,
        )


class MaxPooling(Pooling):
    """Maximum of each window; padding does not count."""

    kind = "max"

    def __init__(
        self,
        pool_size: SizesLike = 2,
        strides: SizesLike | None = None,
        padding: str = "valid",
        data_format: str | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(pool_size, strides, padding, data_format, name, **kwargs)


class MaxPooling1D(MaxPooling):
    """Maximum of each window of sequences.

    Input shape: (batch, steps, channels), or with the channels first.
    Output shape: (batch, new_steps, channels), or with the channels first.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.MaxPooling1D()([[[1.0], [3.0], [2.0], [0.0]]]).tolist()
        [[[3.0], [2.0]]]
    """

    rank = 1


class MaxPooling2D(MaxPooling):
    """Maximum of each window of images.

    Input shape: (batch, height, width, channels), or with the channels first.
    Output shape: (batch, new_height, new_width, channels), or with the channels first.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.MaxPooling2D(3, padding="same")(keras.Input((28, 28, 4))).shape
        (None, 10, 10, 4)
    """

    rank = 2


class MaxPooling3D(MaxPooling):
    """Maximum of each window of volumes.

    Input shape: (batch, depth, height, width, channels), or with the channels first.
    Output shape: (batch, new_depth, new_height, new_width, channels), or with the channels first.

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
    """Mean of each window of sequences.

    Input shape: (batch, steps, channels), or with the channels first.
    Output shape: (batch, new_steps, channels), or with the channels first.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.AveragePooling1D(2)([[[1.0], [3.0], [2.0], [0.0]]]).tolist()
        [[[2.0], [1.0]]]
    """

    rank = 1


class AveragePooling2D(AveragePooling):
    """Mean of each window of images.

    Input shape: (batch, height, width, channels), or with the channels first.
    Output shape: (batch, new_height, new_width, channels), or with the channels first.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.AveragePooling2D(2, strides=1)(keras.Input((28, 28, 4))).shape
        (None, 27, 27, 4)
    """

    rank = 2


class AveragePooling3D(AveragePooling):
    """Mean of each window of volumes.

    Input shape: (batch, depth, height, width, channels), or with the channels first.
    Output shape: (batch, new_depth, new_height, new_width, channels), or with the channels first.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.AveragePooling3D(2)(keras.Input((8, 8, 8, 4))).shape
        (None, 4, 4, 4, 4)
    """

    rank = 3


# -- whole inputs ------------------------------------------------------------------------------


class GlobalPooling(BasePooling):
    """A number for each channel.

    Args:
        keepdims: a boolean, whether the spatial dimensions are kept, with size 1.
    """

    def __init__(
        self, data_format: str | None = None, keepdims: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.keepdims = keepdims
        start = 1 if self.data_format == "channels_last" else 2
        self._axes = tuple(range(start, start + self.rank))
        self._build_at_init()

    def call(self, inputs: Tensor) -> Tensor:
        """Pool."""
        if self.kind == "average":
            return wt.mean(inputs, self._axes, self.keepdims)
        return wt.max(inputs, self._axes, self.keepdims)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape without the spatial dimensions, or with sizes of 1."""
        sizes = (1,) * self.rank if self.keepdims else ()
        channels = channels_of(input_shape, self.data_format)
        return with_spatial_shape(input_shape, sizes, channels, self.data_format)


class GlobalMaxPooling1D(GlobalPooling):
    """Maximum of each channel of sequences.

    Input shape: (batch, steps, channels), or with the channels first.
    Output shape: (batch, channels), or with sizes of 1 between with ``keepdims``.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.GlobalMaxPooling1D()([[[1.0], [3.0], [2.0]]]).tolist()
        [[3.0]]
    """

    kind, rank = "max", 1


class GlobalMaxPooling2D(GlobalPooling):
    """Maximum of each channel of images.

    Input shape: (batch, height, width, channels), or with the channels first.
    Output shape: (batch, channels), or with sizes of 1 between with ``keepdims``.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.GlobalMaxPooling2D()(keras.Input((8, 8, 4))).shape
        (None, 4)
    """

    kind, rank = "max", 2


class GlobalMaxPooling3D(GlobalPooling):
    """Maximum of each channel of volumes.

    Input shape: (batch, depth, height, width, channels), or with the channels first.
    Output shape: (batch, channels), or with sizes of 1 between with ``keepdims``.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.GlobalMaxPooling3D(keepdims=True)(keras.Input((8, 8, 8, 4))).shape
        (None, 1, 1, 1, 4)
    """

    kind, rank = "max", 3


class GlobalAveragePooling1D(GlobalPooling):
    """Mean of each channel of sequences, over the steps that the mask does not leave out.

    Input shape: (batch, steps, channels), or with the channels first.
    Output shape: (batch, channels), or with sizes of 1 between with ``keepdims``.

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

    def call(self, inputs: Tensor, mask: Tensor | None = None) -> Tensor:
        """Pool."""
        if mask is None:
            return super().call(inputs)
        batch, length = mask.shape
        is_last = self.data_format == "channels_last"
        counts = wt.reshape(mask, (batch, length, 1) if is_last else (batch, 1, length))
        counts = wt.astype(counts, bool_)
        total = wt.sum(wt.where(counts, inputs, 0), self._axes, self.keepdims)
        return wt.divide(total, wt.sum(wt.astype(counts, inputs.dtype), self._axes, self.keepdims))

    def compute_mask(self, inputs: Tensor, mask: Tensor | None = None) -> None:
        """Return None, as no steps are left."""


class GlobalAveragePooling2D(GlobalPooling):
    """Mean of each channel of images.

    Input shape: (batch, height, width, channels), or with the channels first.
    Output shape: (batch, channels), or with sizes of 1 between with ``keepdims``.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.GlobalAveragePooling2D()(keras.Input((8, 8, 4))).shape
        (None, 4)
    """

    kind, rank = "average", 2


class GlobalAveragePooling3D(GlobalPooling):
    """Mean of each channel of volumes.

    Input shape: (batch, depth, height, width, channels), or with the channels first.
    Output shape: (batch, channels), or with sizes of 1 between with ``keepdims``.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.GlobalAveragePooling3D(keepdims=True)(keras.Input((8, 8, 8, 4))).shape
        (None, 1, 1, 1, 4)
    """

    kind, rank = "average", 3


# -- a fixed number of sections ----------------------------------------------------------------


class AdaptivePooling(BasePooling):
    """A number for each of ``output_size`` sections of the inputs; sections may overlap.

    Args:
        output_size: an integer or one per spatial dimension, the number of sections.

    Raises:
        TypeError: ``output_size`` is neither an integer nor one per spatial dimension.
        ValueError: it is not positive.
    """

    def __init__(
        self, output_size: SizesLike, data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(data_format, **kwargs)
        name = type(self).__name__
        is_sequence = isinstance(output_size, (list, tuple)) and len(output_size) == self.rank
        if not is_sequence and not hasattr(output_size, "__index__"):
            raise TypeError(
                f"{name}: output_size must be an integer or {self.rank} of them, but got "
                f"{output_size!r}"
            )
        self.output_size = as_integers(name, "output_size", output_size, self.rank)

    def call(self, inputs: Tensor) -> Tensor:
        """Pool."""
        return sliding_windows.adaptive_pool(self.kind, inputs, self.output_size, self.data_format)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape with as many elements as sections."""
        channels = channels_of(input_shape, self.data_format)
        return with_spatial_shape(input_shape, self.output_size, channels, self.data_format)


class AdaptiveAveragePooling1D(AdaptivePooling):
    """Means of sections of sequences.

    Input shape: (batch, steps, channels), or with the channels first.
    Output shape: (batch, *output_size, channels), or with the channels first.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.AdaptiveAveragePooling1D(2)([[[1.0], [3.0], [2.0]]]).tolist()
        [[[2.0], [2.5]]]
    """

    kind, rank = "average", 1


class AdaptiveAveragePooling2D(AdaptivePooling):
    """Means of sections of images.

    Input shape: (batch, height, width, channels), or with the channels first.
    Output shape: (batch, *output_size, channels), or with the channels first.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.AdaptiveAveragePooling2D((2, 3))(keras.Input((8, 8, 4))).shape
        (None, 2, 3, 4)
    """

    kind, rank = "average", 2


class AdaptiveAveragePooling3D(AdaptivePooling):
    """Means of sections of volumes.

    Input shape: (batch, depth, height, width, channels), or with the channels first.
    Output shape: (batch, *output_size, channels), or with the channels first.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.AdaptiveAveragePooling3D(2)(keras.Input((8, 8, 8, 4))).shape
        (None, 2, 2, 2, 4)
    """

    kind, rank = "average", 3


class AdaptiveMaxPooling1D(AdaptivePooling):
    """Maxima of sections of sequences.

    Input shape: (batch, steps, channels), or with the channels first.
    Output shape: (batch, *output_size, channels), or with the channels first.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.AdaptiveMaxPooling1D(2)([[[1.0], [3.0], [2.0]]]).tolist()
        [[[3.0], [3.0]]]
    """

    kind, rank = "max", 1


class AdaptiveMaxPooling2D(AdaptivePooling):
    """Maxima of sections of images.

    Input shape: (batch, height, width, channels), or with the channels first.
    Output shape: (batch, *output_size, channels), or with the channels first.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.AdaptiveMaxPooling2D((2, 3))(keras.Input((8, 8, 4))).shape
        (None, 2, 3, 4)
    """

    kind, rank = "max", 2


class AdaptiveMaxPooling3D(AdaptivePooling):
    """Maxima of sections of volumes.

    Input shape: (batch, depth, height, width, channels), or with the channels first.
    Output shape: (batch, *output_size, channels), or with the channels first.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.AdaptiveMaxPooling3D(2)(keras.Input((8, 8, 8, 4))).shape
        (None, 2, 2, 2, 4)
    """

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
