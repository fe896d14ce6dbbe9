"""Other shapes: flattened, reshaped, permuted, repeated, cropped, padded, enlarged.

Of a family for one, two and three axes of places, ``rank`` is how many there are.
"""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras.arguments import ALWAYS
from webtensor.keras.data_formats import (
    as_data_format,
    channels_of,
    spatial_shape_of as places_of,
    with_channels_last,
    with_spatial_shape as with_places,
)
from webtensor.keras.layers.arguments import as_integers, as_pairs
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.layers.layer import Layer
from webtensor.keras.symbols import KerasTensor

__all__ = [
    "Cropping1D",
    "Cropping2D",
    "Cropping3D",
    "Flatten",
    "Permute",
    "RepeatVector",
    "Reshape",
    "UpSampling1D",
    "UpSampling2D",
    "UpSampling3D",
    "ZeroPadding1D",
    "ZeroPadding2D",
    "ZeroPadding3D",
]


# -- the same elements -------------------------------------------------------------------------


class Rearranging(Layer):
    """A layer that computes nothing: what it returns has the dtype of what it is given."""

    def compute_output_spec(self, inputs: Any) -> Any:
        """Return a symbolic tensor like what ``call`` returns."""
        return KerasTensor(self.compute_output_shape(inputs.shape), inputs.dtype)


class Flatten(Rearranging):
    """All lengths but the batch in one.

    With ``data_format="channels_first"``, the channels are brought to the end before.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Flatten()(keras.Input((4, 3))).shape
        (None, 12)
    """

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = as_data_format("Flatten", data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> Any:
        """Flatten."""
        rank = len(inputs.shape)
        shape = (inputs.shape[0], prod(inputs.shape[1:]))
        if self.data_format == "channels_first" and rank > 2:
            inputs = wt.permute_dims(inputs, (0, *range(2, rank), 1))
        return wt.reshape(inputs, shape)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the batch and the product of the other lengths."""
        batch, *lengths = input_shape
        return (batch, None if None in lengths else prod(lengths))


class Reshape(Rearranging):
    """Other lengths after the batch, of which one may be -1, or None: what is left.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Reshape((-1, 2))(keras.Input((3, 4))).shape
        (None, 6, 2)
    """

    def __init__(self, target_shape: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        shape = (target_shape,) if isinstance(target_shape, int) else tuple(target_shape)
        known = [one for one in shape if one is not None]
        if any(not hasattr(one, "__index__") or one < -1 for one in known) or known.count(-1) > 1:
            raise ValueError(
                "Reshape: target_shape must consist of non-negative integers, and of -1 at most "
                f"once, but got {target_shape!r}"
            )
        self.target_shape = tuple([None if one is None else int(one) for one in shape])
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Reshape."""
        shape = self.compute_output_shape(inputs.shape)
        return wt.reshape(inputs, [-1 if one is None else one for one in shape])

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the batch and ``target_shape``, with a length for -1 where it is known."""
        batch, *lengths = input_shape
        target = self.target_shape
        if None in lengths or None in target:
            return (batch, *[None if one == -1 else one for one in target])
        size, known = prod(lengths), prod([one for one in target if one is not None and one != -1])
        fits = size == known if -1 not in target else bool(known) and size % known == 0
        if not fits:
            raise ValueError(
                f"Reshape: target_shape {target} does not fit inputs of shape {tuple(input_shape)}"
            )
        return (batch, *[size // known if one == -1 else one for one in target])


class Permute(Rearranging):
    """The axes after the batch, which are counted from 1, in another order.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Permute((2, 1))(keras.Input((3, 4))).shape
        (None, 4, 3)
    """

    def __init__(self, dims: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise ValueError(
                f"Permute: dims must be the numbers from 1 in some order, but got {dims!r}"
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs: Any) -> Any:
        """Permute."""
        return wt.permute_dims(inputs, (0, *self.dims))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the lengths in the other order."""
        return (input_shape[0], *[input_shape[axis] for axis in self.dims])


class RepeatVector(Layer):
    """Each example ``n`` times, as a sequence: (batch, n, features).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.RepeatVector(2)([[1.0, 3.0]]).tolist()
        [[[1.0, 3.0], [1.0, 3.0]]]
    """

    def __init__(self, n: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not isinstance(n, int) or isinstance(n, bool):
            raise TypeError(f"RepeatVector: n must be an integer, but got {n!r}")
        if n <= 0:
            raise ValueError(f"RepeatVector: n must be positive, but got {n}")
        self.n = n
        self.input_spec = InputSpec(ndim=2)

    def call(self, inputs: Any) -> Any:
        """Repeat."""
        batch, features = inputs.shape
        return wt.broadcast_to(wt.reshape(inputs, (batch, 1, features)), (batch, self.n, features))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return (batch, n, features)."""
        return (input_shape[0], self.n, input_shape[1])


# -- fewer and more places ---------------------------------------------------------------------


class Cropping(Layer):
    """Fewer places: ``cropping`` is how many go at the beginning and at the end of each axis."""

    rank: ClassVar[int]

    def __init__(self, cropping: Any = 1, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        name = type(self).__name__
        self.data_format = as_data_format(name, data_format)
        self.cropping: Any = as_pairs(name, "cropping", cropping, self.rank)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _pairs(self) -> Any:
        """What goes along each axis of places."""
        return self.cropping

    def call(self, inputs: Any) -> Any:
        """Crop."""
        starts = [before for before, _ in self._pairs()]
        begin = with_places((0,), starts, 0, self.data_format)
        return wt.slice(inputs, begin, self.compute_output_shape(inputs.shape))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape with shorter lengths."""
        places = places_of(input_shape, self.data_format)
        found = [
            None if length is None else length - sum(pair)
            for length, pair in zip(places, self._pairs(), strict=True)
        ]
        if any(length is not None and length <= 0 for length in found):
            raise ValueError(
                f"{type(self).__name__}: cropping must leave something of each length, but got "
                f"cropping={self.cropping} for inputs of shape {tuple(input_shape)}"
            )
        channels = channels_of(input_shape, self.data_format)
        return with_places(input_shape, found, channels, self.data_format)


class Cropping1D(Cropping):
    """Fewer steps of sequences: (batch, steps, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Cropping1D((1, 0))([[[1.0], [2.0], [3.0]]]).tolist()
        [[[2.0], [3.0]]]
    """

    _config_omits: ClassVar = {"data_format": ALWAYS}
    rank = 1

    def __init__(self, cropping: Any = (1, 1), **kwargs: Any) -> None:
        pair = as_integers("Cropping1D", "cropping", cropping, 2, least=0)
        super().__init__([pair], "channels_last", **kwargs)
        self.cropping = pair

    def _pairs(self) -> Any:
        return (self.cropping,)


class Cropping2D(Cropping):
    """Fewer pixels of images: (batch, height, width, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Cropping2D((1, 2))(keras.Input((8, 8, 3))).shape
        (None, 6, 4, 3)
    """

    rank = 2

    def __init__(
        self, cropping: Any = ((0, 0), (0, 0)), data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(cropping, data_format, **kwargs)


class Cropping3D(Cropping):
    """Fewer places of volumes: (batch, depth, height, width, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Cropping3D()(keras.Input((8, 8, 8, 3))).shape
        (None, 6, 6, 6, 3)
    """

    rank = 3


class ZeroPadding(Layer):
    """More places, with zeros: ``padding`` is how many before and after those of each axis."""

    rank: ClassVar[int]

    def __init__(self, padding: Any = 1, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        name = type(self).__name__
        self.data_format = as_data_format(name, data_format)
        self.padding: Any = as_pairs(name, "padding", padding, self.rank)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _pairs(self) -> Any:
        """What comes along each axis of places."""
        return self.padding

    def call(self, inputs: Any) -> Any:
        """Pad."""
        nothing = (0, 0)
        return wt.pad(inputs, with_places((nothing,), self._pairs(), nothing, self.data_format))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape with greater lengths."""
        places = places_of(input_shape, self.data_format)
        found = [
            None if length is None else length + sum(pair)
            for length, pair in zip(places, self._pairs(), strict=True)
        ]
        channels = channels_of(input_shape, self.data_format)
        return with_places(input_shape, found, channels, self.data_format)


class ZeroPadding1D(ZeroPadding):
    """More steps of sequences: (batch, steps, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.ZeroPadding1D((1, 0))([[[1.0], [2.0]]]).tolist()
        [[[0.0], [1.0], [2.0]]]
    """

    rank = 1

    def __init__(self, padding: Any = 1, data_format: str | None = None, **kwargs: Any) -> None:
        pair = as_integers("ZeroPadding1D", "padding", padding, 2, least=0)
        super().__init__([pair], data_format, **kwargs)
        self.padding = pair

    def _pairs(self) -> Any:
        return (self.padding,)


class ZeroPadding2D(ZeroPadding):
    """More pixels of images: (batch, height, width, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.ZeroPadding2D(((1, 0), (2, 2)))(keras.Input((8, 8, 3))).shape
        (None, 9, 12, 3)
    """

    rank = 2


class ZeroPadding3D(ZeroPadding):
    """More places of volumes: (batch, depth, height, width, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.ZeroPadding3D()(keras.Input((8, 8, 8, 3))).shape
        (None, 10, 10, 10, 3)
    """

    rank = 3


# -- enlarged ----------------------------------------------------------------------------------


class UpSampling(Layer):
    """Each place ``size`` times along each axis."""

    rank: ClassVar[int]

    def __init__(self, size: Any = 2, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        name = type(self).__name__
        self.size: Any = as_integers(name, "size", size, self.rank)
        self.data_format = as_data_format(name, data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _factors(self) -> tuple[int, ...]:
        return tuple(self.size)

    def call(self, inputs: Any) -> Any:
        """Enlarge."""
        return with_channels_last(_enlarged, inputs, self.data_format, self._factors())

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape with lengths ``size`` times as great."""
        places = places_of(input_shape, self.data_format)
        found = [
            None if length is None else length * factor
            for length, factor in zip(places, self._factors(), strict=True)
        ]
        channels = channels_of(input_shape, self.data_format)
        return with_places(input_shape, found, channels, self.data_format)


def _enlarged(x: Tensor, factors: tuple[int, ...]) -> Tensor:
    """Repeat places: all that is (batch, rows, columns, channels) is an image to be scaled."""
    batch, *places, channels = x.shape
    if len(places) == 2:
        rows, columns = places
        return wt.image.resize_nearest_neighbor(x, (rows * factors[0], columns * factors[1]))
    first, *others = places
    made = _enlarged(wt.reshape(x, (batch, first, 1, prod(others) * channels)), (factors[0], 1))
    if not others:
        return wt.reshape(made, (batch, first * factors[0], channels))
    planes = wt.reshape(made, (batch * first * factors[0], *others, channels))
    planes = _enlarged(planes, factors[1:])
    return wt.reshape(planes, (batch, first * factors[0], *planes.shape[1:]))


class UpSampling1D(UpSampling):
    """Each step of sequences ``size`` times: (batch, steps, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.UpSampling1D()([[[1.0], [2.0]]]).tolist()
        [[[1.0], [1.0], [2.0], [2.0]]]
    """

    _config_omits: ClassVar = {"data_format": ALWAYS}
    rank = 1

    def __init__(self, size: int = 2, **kwargs: Any) -> None:
        if not isinstance(size, int) or isinstance(size, bool):
            raise TypeError(f"UpSampling1D: size must be an integer, but got {size!r}")
        super().__init__(size, "channels_last", **kwargs)
        self.size = size

    def _factors(self) -> tuple[int, ...]:
        return (self.size,)


_INTERPOLATIONS = ("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5")


class UpSampling2D(UpSampling):
    """Images ``size`` times as great: (batch, height, width, channels).

    ``interpolation`` is "nearest", "bilinear", "bicubic", "lanczos3" or "lanczos5".

    Example:
        >>> from webtensor import keras
        >>> keras.layers.UpSampling2D((2, 3))(keras.Input((8, 8, 3))).shape
        (None, 16, 24, 3)
    """

    rank = 2

    def __init__(
        self,
        size: Any = (2, 2),
        data_format: str | None = None,
        interpolation: str = "nearest",
        **kwargs: Any,
    ) -> None:
        super().__init__(size, data_format, **kwargs)
        self.interpolation = str(interpolation).lower()
        if self.interpolation not in _INTERPOLATIONS:
            raise ValueError(
                f"UpSampling2D: interpolation must be one of {', '.join(_INTERPOLATIONS)}, but got "
                f"{interpolation!r}"
            )

    def call(self, inputs: Any) -> Any:
        """Enlarge."""
        if self.interpolation == "nearest":
            return super().call(inputs)
        from webtensor.keras import ops

        height, width = places_of(self.compute_output_shape(inputs.shape), self.data_format)
        return ops.image.resize(
            inputs, (height, width), self.interpolation, data_format=self.data_format
        )


class UpSampling3D(UpSampling):
    """Volumes ``size`` times as great: (batch, depth, height, width, channels).

    Example:
        >>> from webtensor import keras
        >>> keras.layers.UpSampling3D()(keras.Input((4, 4, 4, 3))).shape
        (None, 8, 8, 8, 3)
    """

    rank = 3
