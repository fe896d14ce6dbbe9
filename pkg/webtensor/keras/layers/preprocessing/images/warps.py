"""Projective transforms of images: rotation, translation, zoom, shear, perspective."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, radians, sin
from random import Random
from typing import Any, ClassVar, TypedDict, TypeVar

from webtensor import keras, ops as wt
from webtensor.dtypes import float32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import ALWAYS, is_number
from webtensor.keras.layers.preprocessing.images.base import (
    RandomImageLayer,
    Transformation,
    uniform,
)
from webtensor.keras.layers.preprocessing.images.homography import homography
from webtensor.keras.layers.preprocessing.images.ranges import (
    Factor,
    factor_range,
    options,
    range_within,
)
from webtensor.keras.utils.bounding_boxes import (
    Boxes,
    affine_transform,
    clip_to_image_size,
    combined,
    moved,
)

__all__ = [
    "RandomPerspective",
    "RandomRotation",
    "RandomShear",
    "RandomTranslation",
    "RandomZoom",
]

_FILL_MODES = ("reflect", "wrap", "constant", "nearest")
_INTERPOLATIONS = ("nearest", "bilinear")

Rows = list[list[float]]


def _rows_of(values: TensorLike) -> Rows:
    rows: Rows = wt.asarray(values).tolist()
    return rows


def _column(numbers: Sequence[float]) -> Tensor:
    return wt.tensor(list(numbers), (len(numbers), 1), float32)


class RandomWarp(RandomImageLayer[Transformation]):
    """The base of layers that map each pixel of the result to a position in the image.

    Args:
        fill_mode: the values outside an image: ``"reflect"``, ``"wrap"``, ``"nearest"`` (the
            pixels at the edge), or ``"constant"``, which is ``fill_value``.
        interpolation: ``"bilinear"`` or ``"nearest"``.
        fill_value: a number for ``fill_mode="constant"``.
    """

    _IS_ALWAYS_CAST = True

    def __init__(
        self,
        fill_mode: str,
        interpolation: str,
        seed: int | None,
        fill_value: float,
        data_format: str | None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        options(
            type(self).__name__,
            fill_mode=(fill_mode, _FILL_MODES),
            interpolation=(interpolation, _INTERPOLATIONS),
        )
        self.fill_mode, self.fill_value = fill_mode, fill_value
        self.interpolation = interpolation

    def _matrices(self, transformation: Transformation, height: int, width: int) -> Rows:
        """Return the eight numbers of each image's transform, as ``wt.image.transform`` takes."""
        raise NotImplementedError

    def _transform(self, images: Tensor, transformation: Transformation) -> Tensor:
        return self._warped(self._cast(images), transformation, self.interpolation)

    def transform_segmentation_masks(
        self,
        segmentation_masks: TensorLike,
        transformation: Transformation | None,
        training: bool | None = True,
    ) -> Tensor:
        """Move the pixels of masks as those of images, with the nearest pixel."""

        def warped(masks: Tensor, drawn: Transformation) -> Tensor:
            return self._warped(masks, drawn, "nearest")

        return self._apply(warped, segmentation_masks, transformation, training)

    def _warped(self, images: Tensor, transformation: Transformation, interpolation: str) -> Tensor:
        _, height, width = self._batch_and_size(images.shape)
        matrices = wt.tensor(self._matrices(transformation, height, width), dtype=float32)
        fill = (self.fill_mode, self.fill_value)
        if self.fill_mode != "wrap":
            return self._with_channels_last(
                lambda x: wt.image.transform(x, matrices, interpolation, *fill), images
            )
        # Between the last pixel and the first, Keras blends them, TensorFlow and the kernel do not.
        # Imported when it is needed, as all functions come with it.
        warped: Tensor = keras.ops.image.affine_transform(
            images, matrices, interpolation, *fill, data_format=self.data_format
        )
        return warped

    # -- boxes ---------------------------------------------------------------------------------

    def transform_bounding_boxes(
        self,
        bounding_boxes: Boxes,
        transformation: Transformation | None,
        training: bool | None = True,
    ) -> Boxes:
        """Return the boxes around the transformed ones."""
        if not self._is_active(transformation, training):
            return bounding_boxes
        height, width = self._size_of_images(transformation)
        corners = self._to_corners(bounding_boxes, height, width)
        corners["boxes"] = self._moved(corners["boxes"], transformation, height, width)
        corners = clip_to_image_size(corners, height, width)
        return self._from_corners(corners, height, width)

    def _moved(
        self, boxes: Tensor, transformation: Transformation, height: int, width: int
    ) -> Tensor:
        """Return the boxes around transformed ones, by their corners."""
        raise NotImplementedError

    def _size_of_images(self, transformation: Transformation) -> tuple[int, int]:
        """Return the height and the width of the images that a transformation was drawn for."""
        raise NotImplementedError


class ShapedTransformation(TypedDict):
    """A transformation with the shape of the images that it was drawn for."""

    input_shape: tuple[int, ...]


Shaped = TypeVar("Shaped", bound=ShapedTransformation)


class ShapedWarp(RandomWarp[Shaped]):
    """The base of warps whose transformations have the shape of the images."""

    def _size_of_images(self, transformation: Shaped) -> tuple[int, int]:
        return self._batch_and_size(transformation["input_shape"])[1:]


def _scaled(boxes: Tensor, scales: Rows, offsets: Rows) -> Tensor:
    """Scale and move the boxes of each image, by numbers (across, down)."""
    weights = [[[x, 0, 0, 0], [0, y, 0, 0], [0, 0, x, 0], [0, 0, 0, y]] for x, y in scales]
    return combined(boxes, weights, [[*offset, *offset] for offset in offsets])


class Rotations(TypedDict):
    """The angle of each image in degrees, and the transform that rotates it."""

    angle: Tensor
    rotation_matrix: Tensor
    image_height: int
    image_width: int
    batch_size: int


class RandomRotation(RandomWarp[Rotations]):
    """Rotates images about their centre by random angles, during training.

    Output shape: that of the inputs.

    Args:
        factor: two numbers from -1 to 1, the bounds of the angle, as a part of a full turn,
            counterclockwise; or one number ``f`` for (-f, f).

    Raises:
        ValueError: ``factor`` is out of range.
        NotImplementedError: ``fill_mode`` or ``interpolation`` is unknown.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomRotation((0.25, 0.25))
        >>> x = wt.reshape(wt.arange(4.0), (1, 2, 2, 1))
        >>> layer(x).round().flatten().tolist()
        [1.0, 3.0, 0.0, 2.0]
    """

    def __init__(
        self,
        factor: Factor,
        fill_mode: str = "reflect",
        interpolation: str = "bilinear",
        seed: int | None = None,
        fill_value: float = 0.0,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(fill_mode, interpolation, seed, fill_value, data_format, **kwargs)
        self.factor = factor_range("RandomRotation", "factor", factor or 0.0)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Rotations:
        batch, height, width = self._batch_and_size(shape)
        lower, upper = self.factor
        angles = uniform(random, batch, (lower * 360, upper * 360))
        matrices = [_rotation(radians(angle), height, width) for angle in angles]
        return {
            "angle": wt.tensor(angles, dtype=float32),
            "rotation_matrix": wt.tensor(matrices, dtype=float32),
            "image_height": height,
            "image_width": width,
            "batch_size": batch,
        }

    def _matrices(self, transformation: Rotations, height: int, width: int) -> Rows:
        return _rows_of(wt.reshape(transformation["rotation_matrix"], (-1, 8)))

    def _size_of_images(self, transformation: Rotations) -> tuple[int, int]:
        return transformation["image_height"], transformation["image_width"]

    def _moved(self, boxes: Tensor, transformation: Rotations, height: int, width: int) -> Tensor:
        angles = wt.reshape(transformation["angle"], (-1,))
        zeros, ones = wt.zeros_like(angles), wt.ones_like(angles)
        return affine_transform(boxes, angles, zeros, zeros, ones, zeros, zeros, height, width)


def _rotation(angle: float, height: int, width: int) -> list[float]:
    """Return the transform that rotates an image about its centre."""
    x, y = (width - 1) / 2, (height - 1) / 2
    c, s = cos(angle), sin(angle)
    return [c, -s, x - x * c + y * s, s, c, y - x * s - y * c, 0, 0]


class Translations(ShapedTransformation):
    """The displacement (across, down) of each image in pixels."""

    translations: Tensor


class RandomTranslation(ShapedWarp[Translations]):
    """Moves images down and to the right by random distances, during training.

    Output shape: that of the inputs.

    Args:
        height_factor: two numbers from -1 to 1, the bounds of the distance down, as a part of the
            height; or one number ``f`` for (-f, f). Negative numbers move up.
        width_factor: likewise, the bounds of the distance to the right, as a part of the width.

    Raises:
        ValueError: a factor is out of range.
        NotImplementedError: ``fill_mode`` or ``interpolation`` is unknown.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomTranslation(0.0, (0.5, 0.5), fill_mode="constant")
        >>> layer(wt.ones((1, 1, 4, 1))).flatten().tolist()
        [0.0, 0.0, 1.0, 1.0]
    """

    def __init__(
        self,
        height_factor: Factor,
        width_factor: Factor,
        fill_mode: str = "reflect",
        interpolation: str = "bilinear",
        seed: int | None = None,
        fill_value: float = 0.0,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(fill_mode, interpolation, seed, fill_value, data_format, **kwargs)
        self.height_factor, self.width_factor = height_factor, width_factor
        kind = "RandomTranslation"
        self._height_bounds = range_within(kind, "height_factor", height_factor)
        self._width_bounds = range_within(kind, "width_factor", width_factor)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Translations:
        batch, height, width = self._batch_and_size(shape)
        distances = [
            [
                random.uniform(*self._width_bounds) * width,
                random.uniform(*self._height_bounds) * height,
            ]
            for _ in range(batch)
        ]
        return {"translations": wt.tensor(distances, (batch, 2), float32), "input_shape": shape}

    def _matrices(self, transformation: Translations, height: int, width: int) -> Rows:
        distances = _rows_of(transformation["translations"])
        return [[1, 0, -across, 0, 1, -down, 0, 0] for across, down in distances]

    def _moved(
        self, boxes: Tensor, transformation: Translations, height: int, width: int
    ) -> Tensor:
        distances = _rows_of(transformation["translations"])
        return _scaled(boxes, [[1, 1] for _ in distances], distances)


class Zooms(ShapedTransformation):
    """The part of the height and of the width of each image that is shown."""

    height_zoom: Tensor
    width_zoom: Tensor


class RandomZoom(ShapedWarp[Zooms]):
    """Zooms images about their centre, during training: out for positive factors, in for negative.

    A result shows ``1 + f`` times the height and the width of its image.

    Output shape: that of the inputs.

    Args:
        height_factor: two numbers greater than -1, up to 1, the bounds of ``f`` for the height; or
            one number ``f`` for (-f, f).
        width_factor: likewise for the width. None, the default, keeps the aspect ratio.

    Raises:
        ValueError: a factor is out of range.
        NotImplementedError: ``fill_mode`` or ``interpolation`` is unknown.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomZoom((-0.5, -0.5))
        >>> layer(wt.reshape(wt.arange(3.0), (1, 1, 3, 1))).flatten().tolist()
        [0.5, 1.0, 1.5]
    """

    def __init__(
        self,
        height_factor: Factor,
        width_factor: Factor | None = None,
        fill_mode: str = "reflect",
        interpolation: str = "bilinear",
        seed: int | None = None,
        fill_value: float = 0.0,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(fill_mode, interpolation, seed, fill_value, data_format, **kwargs)
        self.height_factor, self.width_factor = height_factor, width_factor
        kind = "RandomZoom"
        self._height_bounds = range_within(kind, "height_factor", height_factor, open_low=True)
        self._width_bounds = self._height_bounds
        if width_factor is not None:
            self._width_bounds = range_within(kind, "width_factor", width_factor, open_low=True)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Zooms:
        batch = self._batch_size(shape)
        heights = [1 + factor for factor in uniform(random, batch, self._height_bounds)]
        widths = heights
        if self.width_factor is not None:
            widths = [1 + factor for factor in uniform(random, batch, self._width_bounds)]
        return {
            "height_zoom": _column(heights),
            "width_zoom": _column(widths),
            "input_shape": shape,
        }

    def _zooms(self, transformation: Zooms) -> Rows:
        """Return the part of each image that is shown, (across, down)."""
        widths, heights = transformation["width_zoom"], transformation["height_zoom"]
        return [
            [*across, *down]
            for across, down in zip(_rows_of(widths), _rows_of(heights), strict=True)
        ]

    def _matrices(self, transformation: Zooms, height: int, width: int) -> Rows:
        return [
            [x, 0, (width - 1) / 2 * (1 - x), 0, y, (height - 1) / 2 * (1 - y), 0, 0]
            for x, y in self._zooms(transformation)
        ]

    def _moved(self, boxes: Tensor, transformation: Zooms, height: int, width: int) -> Tensor:
        # This inverts the transform of ``_matrices``.
        zooms = self._zooms(transformation)
        return _scaled(
            boxes,
            [[1 / x, 1 / y] for x, y in zooms],
            [[-(width - 1) / 2 * (1 - x) / x, -(height - 1) / 2 * (1 - y) / y] for x, y in zooms],
        )


class Shears(ShapedTransformation):
    """The shear (across, down) of each image."""

    shear_factor: Tensor


class RandomShear(ShapedWarp[Shears]):
    """Shears images during training: (x, y) shows the pixel at ``(x + a y, b x + y)``.

    Output shape: that of the inputs.

    Args:
        x_factor: two numbers from 0 to 1, the bounds of ``a``, which is drawn for each image; or
            one number ``f`` for (0, f). Half of the images are sheared in the other direction.
        y_factor: likewise, the bounds of ``b``.

    Raises:
        ValueError: a factor is out of range.
        NotImplementedError: ``fill_mode`` or ``interpolation`` is unknown.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomShear(x_factor=(1.0, 1.0), fill_mode="wrap")
        >>> y = layer(wt.tensor([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], shape=(2, 3, 1)))
        >>> y[0].flatten().tolist()
        [1.0, 0.0, 0.0]
    """

    def __init__(
        self,
        x_factor: Factor = 0.0,
        y_factor: Factor = 0.0,
        interpolation: str = "bilinear",
        fill_mode: str = "reflect",
        fill_value: float = 0.0,
        data_format: str | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(fill_mode, interpolation, seed, fill_value, data_format, **kwargs)
        self.x_factor = self._bounds("x_factor", x_factor)
        self.y_factor = self._bounds("y_factor", y_factor)

    @staticmethod
    def _bounds(name: str, factor: Factor) -> tuple[float, float]:
        """Return the bounds; (-f, f), which a configuration has for ``f``, stands for ``f``."""
        if isinstance(factor, (list, tuple)) and len(factor) == 2 and -factor[0] == factor[1]:
            factor = factor[1]
        return range_within("RandomShear", name, factor, 0, 1)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Shears:
        batch = self._batch_size(shape)
        factors = []
        for _ in range(batch):
            sign = random.choice((-1, 1))
            bounds = (self.x_factor, self.y_factor)
            factors.append([sign * random.uniform(low, high) for low, high in bounds])
        return {"shear_factor": wt.tensor(factors, (batch, 2), float32), "input_shape": shape}

    def _matrices(self, transformation: Shears, height: int, width: int) -> Rows:
        return [[1, x, 0, y, 1, 0, 0, 0] for x, y in _rows_of(transformation["shear_factor"])]

    def _moved(self, boxes: Tensor, transformation: Shears, height: int, width: int) -> Tensor:
        factors = _rows_of(transformation["shear_factor"])
        # As in Keras, boxes are sheared as parts of the height and the width.
        return combined(
            boxes, [_sheared(x * width / height, y * height / width) for x, y in factors]
        )


def _sheared(across: float, down: float) -> list[tuple[float, ...]]:
    """Return the weights of a box's corners in the box around it, sheared across, then down."""
    x_sources = (1, 3) if across < 0 else (3, 1)
    y_sources = (0, 2) if down <= 0 else (2, 0)
    rows = [[float(row == column) for row in range(4)] for column in range(4)]
    for target, source in zip((0, 2), x_sources, strict=True):
        rows[target][source] -= across
    for target, source in zip((1, 3), y_sources, strict=True):
        rows[target] = [
            weight - down * other for weight, other in zip(rows[target], rows[source], strict=True)
        ]
    return list(zip(*rows, strict=True))


class Perspectives(ShapedTransformation):
    """Which images are transformed, and their corners before and after that."""

    apply_perspective: Tensor
    start_points: Tensor
    end_points: Tensor


class RandomPerspective(ShapedWarp[Perspectives]):
    """Distorts the perspective of images by moving their corners, at random during training.

    Output shape: that of the inputs.

    Args:
        factor: two numbers from 0 to 1, the bounds of the probability that an image is
            transformed; or one number ``f`` for (0, f).
        scale: a number from 0 to 1; each coordinate of a corner is multiplied by a number between
            ``1 - scale / 2`` and ``1 + scale / 2``.
        fill_value: a number, the value of pixels outside an image.

    Raises:
        ValueError: ``factor`` or ``scale`` is out of range.
        NotImplementedError: ``interpolation`` is unknown.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> x = wt.ones((2, 4, 4, 3))
        >>> keras.layers.RandomPerspective(scale=0.0)(x).flatten().tolist() == [1.0] * 96
        True
    """

    _config_omits: ClassVar = {"fill_mode": ALWAYS}

    def __init__(
        self,
        factor: Factor = 1.0,
        scale: float = 1.0,
        interpolation: str = "bilinear",
        fill_value: float = 0.0,
        seed: int | None = None,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__("constant", interpolation, seed, fill_value, data_format, **kwargs)
        self.factor = factor_range("RandomPerspective", "factor", factor, 0)
        if not is_number(scale) or not 0 <= scale <= 1:
            raise ValueError(
                f"RandomPerspective: scale must be a number in [0, 1], but got scale={scale!r}"
            )
        self.scale = scale

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Perspectives:
        batch, height, width = self._batch_and_size(shape)
        corners = [[x, y] for y in (0.0, height - 1.0) for x in (0.0, width - 1.0)]
        half = self.scale / 2
        ends = [
            [
                [coordinate * (1 + random.uniform(-half, half)) for coordinate in corner]
                for corner in corners
            ]
            for _ in range(batch)
        ]
        return {
            "apply_perspective": self._draw_chosen(random, shape, self.factor),
            "start_points": wt.tensor([corners] * batch, dtype=float32),
            "end_points": wt.tensor(ends, dtype=float32),
            "input_shape": shape,
        }

    def _matrices(self, transformation: Perspectives, height: int, width: int) -> Rows:
        return self._homographies(
            transformation, transformation["end_points"], transformation["start_points"]
        )

    def _moved(
        self, boxes: Tensor, transformation: Perspectives, height: int, width: int
    ) -> Tensor:
        matrices = self._homographies(
            transformation, transformation["start_points"], transformation["end_points"]
        )
        return moved(boxes, [(*matrix, 1) for matrix in matrices])

    @staticmethod
    def _homographies(transformation: Perspectives, sources: Tensor, targets: Tensor) -> Rows:
        """Return the transforms of corners to others; the identity for images that stay."""
        is_applied = wt.asarray(transformation["apply_perspective"]).tolist()
        corners = zip(wt.asarray(sources).tolist(), wt.asarray(targets).tolist(), strict=True)
        return [
            homography(source, target) if applies else [1, 0, 0, 0, 1, 0, 0, 0]
            for applies, (source, target) in zip(is_applied, corners, strict=True)
        ]
