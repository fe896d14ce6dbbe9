"""Layers that rearrange elements: flatten, reshape, permute, repeat, crop, pad, upsample.

``rank`` of a class is the number of spatial dimensions: one, two or three.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

from webtensor import keras, ops as wt
from webtensor.arguments import as_integer, as_positive_integer
from webtensor.engine import Tensor
from webtensor.keras.arguments import ALWAYS
from webtensor.keras.data_formats import (
    as_data_format,
    channels_of,
    spatial_shape_of,
    with_channels_last,
    with_spatial_shape,
)
from webtensor.keras.layers.input_spec import InputSpec
from webtensor.keras.layers.layer import Layer
from webtensor.keras.layers.spatial_arguments import Pairs, as_integers, as_pairs
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Shape

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
    """A layer that computes no new elements: outputs have the dtype of inputs."""

    def compute_output_spec(self, inputs: KerasTensor) -> KerasTensor:
        """Return a symbolic tensor like what ``call`` returns."""
        return KerasTensor(self.compute_output_shape(inputs.shape), inputs.dtype)


class Flatten(Rearranging):
    """Flattens each example.

    Input shape: ``(batch, ...)``. Output shape: ``(batch, size)``. With
    ``data_format="channels_first"`` channels become the last axis before.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Flatten()(keras.Input((4, 3))).shape
        (None, 12)
    """

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = as_data_format("Flatten", data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Tensor) -> Tensor:
        """Flatten."""
        shape = (inputs.shape[0], prod(inputs.shape[1:]))
        if self.data_format == "channels_first" and len(inputs.shape) > 2:
            inputs = wt.moveaxis(inputs, 1, -1)
        return wt.reshape(inputs, shape)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the batch and the product of the other dimensions."""
        batch, *sizes = input_shape
        return (batch, _product(sizes))


def _product(sizes: Sequence[int | None]) -> int | None:
    """Return the product of sizes; None if one is unknown."""
    known_sizes = [size for size in sizes if size is not None]
    return prod(known_sizes) if len(known_sizes) == len(sizes) else None


class Reshape(Rearranging):
    """Gives each example another shape.

    Input shape: ``(batch, ...)``. Output shape: ``(batch, *target_shape)``.

    Args:
        target_shape: a shape without the batch, where one size may be -1: what remains of the
            number of elements. None is a size that is unknown until the layer is called.

    Raises:
        ValueError: ``target_shape`` is no such shape, or does not fit the inputs.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Reshape((-1, 2))(keras.Input((3, 4))).shape
        (None, 6, 2)
    """

    def __init__(self, target_shape: int | Sequence[int | None], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        shape = (target_shape,) if isinstance(target_shape, int) else tuple(target_shape)
        sizes = [size for size in shape if size is not None]
        if any(not hasattr(size, "__index__") or size < -1 for size in sizes) or (
            sizes.count(-1) > 1
        ):
            raise ValueError(
                "Reshape: target_shape must consist of non-negative integers, and of -1 at most "
                f"once, but got {target_shape!r}"
            )
        self.target_shape = tuple([None if size is None else int(size) for size in shape])
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """Reshape."""
        shape = self.compute_output_shape(inputs.shape)
        return wt.reshape(inputs, [-1 if size is None else size for size in shape])

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the batch and ``target_shape``, with a size for -1 if it can be inferred."""
        batch, *input_sizes = input_shape
        target = self.target_shape
        size = _product(input_sizes)
        target_size = _product([1 if size == -1 else size for size in target])
        if size is None or target_size is None:
            return (batch, *[None if size == -1 else size for size in target])
        if -1 in target:
            fits = bool(target_size) and size % target_size == 0
        else:
            fits = size == target_size
        if not fits:
            raise ValueError(
                f"Reshape: target_shape {target} does not fit inputs of shape {tuple(input_shape)}"
            )
        return (batch, *[size // target_size if n == -1 else n for n in target])


class Permute(Rearranging):
    """Permutes the axes after the batch.

    Args:
        dims: the axes, counted from 1, in their new order.

    Raises:
        ValueError: ``dims`` is no permutation of 1, 2, ….

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Permute((2, 1))(keras.Input((3, 4))).shape
        (None, 4, 3)
    """

    def __init__(self, dims: Sequence[int], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise ValueError(
                f"Permute: dims must be the numbers from 1 in some order, but got {dims!r}"
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs: Tensor) -> Tensor:
        """Permute."""
        return wt.permute_dims(inputs, (0, *self.dims))

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the dimensions in the new order."""
        return (input_shape[0], *[input_shape[axis] for axis in self.dims])


class RepeatVector(Layer):
    """Repeats each example, as the steps of a sequence.

    Input shape: ``(batch, features)``. Output shape: ``(batch, n, features)``.

    Args:
        n: a positive integer, the number of repetitions.

    Raises:
        TypeError: ``n`` is not an integer.
        ValueError: ``n`` is not positive.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.RepeatVector(2)([[1.0, 3.0]]).tolist()
        [[[1.0, 3.0], [1.0, 3.0]]]
    """

    def __init__(self, n: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.n = as_positive_integer("RepeatVector", "n", n)
        self.input_spec = InputSpec(ndim=2)

    def call(self, inputs: Tensor) -> Tensor:
        """Repeat."""
        batch, features = inputs.shape
        return wt.broadcast_to(wt.reshape(inputs, (batch, 1, features)), (batch, self.n, features))

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return (batch, n, features)."""
        return (input_shape[0], self.n, input_shape[1])


# -- fewer and more elements -------------------------------------------------------------------


class SpatialResizing(Layer):
    """A layer that changes the sizes of the spatial dimensions.

    Args:
        data_format: ``"channels_last"`` for inputs of shape ``(batch, ..., channels)``,
            ``"channels_first"`` for ``(batch, channels, ...)``; None is ``keras.config``'s.
    """

    rank: ClassVar[int]

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = as_data_format(type(self).__name__, data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _resized(self, size: int, axis: int) -> int:
        """Return the size of a spatial dimension of outputs; ``axis`` counts these alone."""
        raise NotImplementedError

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape with the new sizes of the spatial dimensions."""
        sizes = [
            None if size is None else self._resized(size, axis)
            for axis, size in enumerate(spatial_shape_of(input_shape, self.data_format))
        ]
        self._check_sizes(sizes, input_shape)
        channels = channels_of(input_shape, self.data_format)
        return with_spatial_shape(input_shape, sizes, channels, self.data_format)

    def _check_sizes(self, sizes: Sequence[int | None], input_shape: Shape) -> None:
        """Check the sizes of outputs for inputs of this shape."""


class Cropping(SpatialResizing):
    """Removes elements at the beginning and at the end of each spatial dimension.

    Raises:
        ValueError: ``cropping`` has another form, or is not less than the inputs.
    """

    cropping: Any

    def __init__(self, cropping: Pairs = 1, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(data_format, **kwargs)
        self.cropping = as_pairs(type(self).__name__, "cropping", cropping, self.rank)

    def _pairs(self) -> tuple[tuple[int, int], ...]:
        """Return the elements removed before and after, for each spatial dimension."""
        pairs: tuple[tuple[int, int], ...] = self.cropping
        return pairs

    def _resized(self, size: int, axis: int) -> int:
        return size - sum(self._pairs()[axis])

    def _check_sizes(self, sizes: Sequence[int | None], input_shape: Shape) -> None:
        if any(size is not None and size <= 0 for size in sizes):
            raise ValueError(
                f"{type(self).__name__}: cropping must leave something along each axis, but got "
                f"cropping={self.cropping} for inputs of shape {tuple(input_shape)}"
            )

    def call(self, inputs: Tensor) -> Tensor:
        """Crop."""
        starts = [before for before, _ in self._pairs()]
        begin = with_spatial_shape((0,), starts, 0, self.data_format)
        shape = self.compute_output_shape(inputs.shape)
        return wt.slice(inputs, begin, [size for size in shape if size is not None])


class Cropping1D(Cropping):
    """Removes steps at the beginning and at the end of sequences.

    Input shape: ``(batch, steps, channels)``. Output shape: the same with fewer steps.

    Args:
        cropping: an integer, or a pair: the steps to remove at the beginning and at the end.

    Raises:
        ValueError: ``cropping`` has another form, or is not less than the steps of the inputs.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Cropping1D((1, 0))([[[1.0], [2.0], [3.0]]]).tolist()
        [[[2.0], [3.0]]]
    """

    _config_omits: ClassVar = {"data_format": ALWAYS}
    rank = 1

    def __init__(self, cropping: int | Sequence[int] = (1, 1), **kwargs: Any) -> None:
        pair = as_integers("Cropping1D", "cropping", cropping, 2, minimum=0)
        super().__init__([pair], "channels_last", **kwargs)
        self.cropping = pair

    def _pairs(self) -> tuple[tuple[int, int], ...]:
        return (self.cropping,)


class Cropping2D(Cropping):
    """Removes rows and columns at the borders of images.

    Input shape: ``(batch, height, width, channels)``. Output shape: the same with fewer rows and
    columns.

    Args:
        cropping: an integer for all borders, two integers, one for rows and one for columns, or two
            pairs: ``((top, bottom), (left, right))``.

    Raises:
        ValueError: ``cropping`` has another form, or is not less than the size of the inputs.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Cropping2D((1, 2))(keras.Input((8, 8, 3))).shape
        (None, 6, 4, 3)
    """

    rank = 2

    def __init__(
        self, cropping: Pairs = ((0, 0), (0, 0)), data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(cropping, data_format, **kwargs)


class Cropping3D(Cropping):
    """Removes elements at the borders of volumes.

    Input shape: ``(batch, depth, height, width, channels)``. Output shape: the same with smaller
    spatial dimensions.

    Args:
        cropping: an integer for all borders, three integers, one for each dimension, or three
            pairs: before and after, for each dimension.

    Raises:
        ValueError: ``cropping`` has another form, or is not less than the size of the inputs.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.Cropping3D()(keras.Input((8, 8, 8, 3))).shape
        (None, 6, 6, 6, 3)
    """

    rank = 3


class ZeroPadding(SpatialResizing):
    """Adds zeros at the beginning and at the end of each spatial dimension.

    Raises:
        ValueError: ``padding`` has another form.
    """

    padding: Any

    def __init__(self, padding: Pairs = 1, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(data_format, **kwargs)
        self.padding = as_pairs(type(self).__name__, "padding", padding, self.rank)

    def _pairs(self) -> tuple[tuple[int, int], ...]:
        """Return the zeros added before and after, for each spatial dimension."""
        pairs: tuple[tuple[int, int], ...] = self.padding
        return pairs

    def _resized(self, size: int, axis: int) -> int:
        return size + sum(self._pairs()[axis])

    def call(self, inputs: Tensor) -> Tensor:
        """Pad."""
        none = (0, 0)
        return wt.pad(inputs, with_spatial_shape((none,), self._pairs(), none, self.data_format))


class ZeroPadding1D(ZeroPadding):
    """Adds steps of zeros at the beginning and at the end of sequences.

    Input shape: ``(batch, steps, channels)``. Output shape: the same with more steps.

    Args:
        padding: an integer, or a pair: the steps to add at the beginning and at the end.

    Raises:
        ValueError: ``padding`` has another form.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.ZeroPadding1D((1, 0))([[[1.0], [2.0]]]).tolist()
        [[[0.0], [1.0], [2.0]]]
    """

    rank = 1

    def __init__(
        self, padding: int | Sequence[int] = 1, data_format: str | None = None, **kwargs: Any
    ) -> None:
        pair = as_integers("ZeroPadding1D", "padding", padding, 2, minimum=0)
        super().__init__([pair], data_format, **kwargs)
        self.padding = pair

    def _pairs(self) -> tuple[tuple[int, int], ...]:
        return (self.padding,)


class ZeroPadding2D(ZeroPadding):
    """Adds rows and columns of zeros at the borders of images.

    Input shape: ``(batch, height, width, channels)``. Output shape: the same with more rows and
    columns.

    Args:
        padding: an integer for all borders, two integers, one for rows and one for columns, or two
            pairs: ``((top, bottom), (left, right))``.

    Raises:
        ValueError: ``padding`` has another form.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.ZeroPadding2D(((1, 0), (2, 2)))(keras.Input((8, 8, 3))).shape
        (None, 9, 12, 3)
    """

    rank = 2


class ZeroPadding3D(ZeroPadding):
    """Adds zeros at the borders of volumes.

    Input shape: ``(batch, depth, height, width, channels)``. Output shape: the same with larger
    spatial dimensions.

    Args:
        padding: an integer for all borders, three integers, one for each dimension, or three pairs:
            before and after, for each dimension.

    Raises:
        ValueError: ``padding`` has another form.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.ZeroPadding3D()(keras.Input((8, 8, 8, 3))).shape
        (None, 10, 10, 10, 3)
    """

    rank = 3


# -- upsampling --------------------------------------------------------------------------------


class UpSampling(SpatialResizing):
    """Repeats each element along each spatial dimension."""

    size: Any

    def __init__(
        self, size: int | Sequence[int] = 2, data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.size = as_integers(type(self).__name__, "size", size, self.rank)

    def _factors(self) -> tuple[int, ...]:
        return tuple(self.size)

    def _resized(self, size: int, axis: int) -> int:
        return size * self._factors()[axis]

    def call(self, inputs: Tensor) -> Tensor:
        """Upsample."""
        return with_channels_last(_repeated, inputs, self.data_format, self._factors())


def _repeated(x: Tensor, factors: tuple[int, ...]) -> Tensor:
    """Repeat elements, by resizing images: each two dimensions are the rows and columns of some."""
    batch, *sizes, channels = x.shape
    if len(sizes) == 2:
        rows, columns = sizes
        return wt.image.resize_nearest_neighbor(x, (rows * factors[0], columns * factors[1]))
    size, *other_sizes = sizes
    images = wt.reshape(x, (batch, size, 1, prod(other_sizes) * channels))
    repeated = _repeated(images, (factors[0], 1))
    if not other_sizes:
        return wt.reshape(repeated, (batch, size * factors[0], channels))
    planes = wt.reshape(repeated, (batch * size * factors[0], *other_sizes, channels))
    planes = _repeated(planes, factors[1:])
    return wt.reshape(planes, (batch, size * factors[0], *planes.shape[1:]))


class UpSampling1D(UpSampling):
    """Repeats each step of sequences.

    Input shape: ``(batch, steps, channels)``. Output shape: ``(batch, steps * size, channels)``.

    Args:
        size: a positive integer, the number of repetitions.

    Raises:
        TypeError: ``size`` is not an integer.
        ValueError: ``size`` is not positive.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.UpSampling1D()([[[1.0], [2.0]]]).tolist()
        [[[1.0], [1.0], [2.0], [2.0]]]
    """

    _config_omits: ClassVar = {"data_format": ALWAYS}
    rank = 1

    def __init__(self, size: int = 2, **kwargs: Any) -> None:
        super().__init__(as_integer("UpSampling1D", "size", size), "channels_last", **kwargs)
        self.size = size

    def _factors(self) -> tuple[int, ...]:
        return (self.size,)


_INTERPOLATIONS = ("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5")


class UpSampling2D(UpSampling):
    """Enlarges images by integer factors.

    Input shape: ``(batch, height, width, channels)``. Output shape: ``(batch, height * size[0],
    width * size[1], channels)``.

    Args:
        size: a positive integer, or two: the factors of height and width.
        interpolation: ``"nearest"``, which repeats pixels, ``"bilinear"``, ``"bicubic"``,
            ``"lanczos3"`` or ``"lanczos5"``.

    Raises:
        ValueError: ``size`` is not positive, or ``interpolation`` is none of these.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.UpSampling2D((2, 3))(keras.Input((8, 8, 3))).shape
        (None, 16, 24, 3)
    """

    rank = 2

    def __init__(
        self,
        size: int | Sequence[int] = (2, 2),
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

    def call(self, inputs: Tensor) -> Tensor:
        """Upsample."""
        if self.interpolation == "nearest":
            return super().call(inputs)
        height, width = spatial_shape_of(self.compute_output_shape(inputs.shape), self.data_format)
        images: Tensor = keras.ops.image.resize(
            inputs, (height, width), self.interpolation, data_format=self.data_format
        )
        return images


class UpSampling3D(UpSampling):
    """Repeats each element of volumes.

    Input shape: ``(batch, depth, height, width, channels)``. Output shape: the same with ``size``
    times as large spatial dimensions.

    Args:
        size: a positive integer, or three: the numbers of repetitions along depth, height and
            width.

    Raises:
        ValueError: ``size`` is not positive.

    Example:
        >>> from webtensor import keras
        >>> keras.layers.UpSampling3D()(keras.Input((4, 4, 4, 3))).shape
        (None, 8, 8, 8, 3)
    """

    rank = 3
