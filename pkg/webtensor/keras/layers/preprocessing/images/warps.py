"""Moving pixels by a projective transform: images turned, shifted, scaled, sheared, seen askew."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, radians, sin
from random import Random
from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.dtypes import float32
from webtensor.engine import Tensor
from webtensor.keras.layers.preprocessing.images.base import RandomImageLayer, uniform
from webtensor.keras.layers.preprocessing.images.homography import homography
from webtensor.keras.layers.preprocessing.images.ranges import (
    factor_range,
    options,
    range_within,
)
from webtensor.keras.utils.bounding_boxes import (
    affine_transform,
    clip_to_image_size,
    combined,
    moved,
)

__all__ = [
    "INTERPOLATIONS",
    "RandomPerspective",
    "RandomRotation",
    "RandomShear",
    "RandomTranslation",
    "RandomZoom",
]

_FILL_MODES = ("reflect", "wrap", "constant", "nearest")
INTERPOLATIONS = ("nearest", "bilinear")

Rows = list[list[float]]


def _lists(value: Any) -> Any:
    return wt.asarray(value).tolist()


def _column(numbers: Sequence[float]) -> Tensor:
    return wt.tensor(list(numbers), (len(numbers), 1), float32)


class RandomWarp(RandomImageLayer):
    """A layer that moves pixels: each place of a result shows another place of its image."""

    _CONFIG: ClassVar[tuple[str, ...]] = ("fill_mode", "interpolation", "fill_value")
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
            interpolation=(interpolation, INTERPOLATIONS),
        )
        self.fill_mode, self.fill_value = fill_mode, fill_value
        self.interpolation = interpolation

    def _rows(self, transformation: Any, height: int, width: int) -> Rows:
        """The eight numbers of each image's transform. See ``wt.image.transform``."""
        raise NotImplementedError

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        return self._warped(self._cast(images), transformation, self.interpolation)

    def transform_segmentation_masks(
        self, segmentation_masks: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Move pixels of masks as those of images, taking the nearest."""

        def change(masks: Tensor, drawn: Any) -> Tensor:
            return self._warped(masks, drawn, "nearest")

        return self._changed(change, segmentation_masks, transformation, training)

    def _warped(self, images: Tensor, transformation: Any, interpolation: str) -> Tensor:
        _, height, width = self._size(images.shape)
        rows = wt.tensor(self._rows(transformation, height, width), dtype=float32)
        given = (rows, interpolation, self.fill_mode, self.fill_value)
        if self.fill_mode != "wrap":
            return self._in_order(lambda x: wt.image.transform(x, *given), images)
        # Between the last pixel and the first, Keras blends them, TensorFlow and the kernel do not.
        # Imported when it is needed, as all functions come with it.
        from webtensor.keras.ops import image

        moved_images: Tensor = image.affine_transform(images, *given, data_format=self.data_format)
        return moved_images

    # -- boxes ---------------------------------------------------------------------------------

    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Move boxes as the pixels in them."""
        if not self._is_at_work(transformation, training):
            return bounding_boxes
        height, width = self._size_drawn_for(transformation)
        made = self._to_corners(bounding_boxes, height, width)
        made["boxes"] = self._moved(made["boxes"], transformation, height, width)
        made = clip_to_image_size(made, height, width)
        return self._from_corners(made, height, width)

    def _moved(self, boxes: Tensor, transformation: Any, height: int, width: int) -> Tensor:
        """Where the corners of boxes go."""
        raise NotImplementedError

    def _size_drawn_for(self, transformation: Any) -> tuple[int, int]:
        """Height and width of the images that a transformation was drawn for."""
        return self._size(transformation["input_shape"])[1:]


def _scaled(boxes: Tensor, scales: Rows, offsets: Rows) -> Tensor:
    """Boxes of each image, scaled and moved, both (across, down)."""
    shares = [[[x, 0, 0, 0], [0, y, 0, 0], [0, 0, x, 0], [0, 0, 0, y]] for x, y in scales]
    return combined(boxes, shares, [[*one, *one] for one in offsets])


class RandomRotation(RandomWarp):
    """Rotates images by parts of a full turn between those of ``factor``.

    A single number stands for as much in both directions. What comes from outside an image is, by
    ``fill_mode``, "reflect", "wrap", "nearest", or "constant", which is ``fill_value``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomRotation((0.25, 0.25))
        >>> x = wt.reshape(wt.arange(4.0), (1, 2, 2, 1))
        >>> layer(x).round().flatten().tolist()
        [1.0, 3.0, 0.0, 2.0]
    """

    _CONFIG: ClassVar = (*RandomWarp._CONFIG, "factor")

    def __init__(
        self,
        factor: Any,
        fill_mode: str = "reflect",
        interpolation: str = "bilinear",
        seed: int | None = None,
        fill_value: float = 0.0,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(fill_mode, interpolation, seed, fill_value, data_format, **kwargs)
        self.factor = factor_range("RandomRotation", "factor", factor or 0.0)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        count, height, width = self._size(shape)
        lower, upper = self.factor
        angles = uniform(random, count, (lower * 360, upper * 360))
        rows = [_rotation(radians(one), height, width) for one in angles]
        return {
            "angle": wt.tensor(angles, dtype=float32),
            "rotation_matrix": wt.tensor(rows, dtype=float32),
            "image_height": height,
            "image_width": width,
            "batch_size": count,
        }

    def _rows(self, transformation: Any, height: int, width: int) -> Rows:
        rows: Rows = wt.reshape(transformation["rotation_matrix"], (-1, 8)).tolist()
        return rows

    def _size_drawn_for(self, transformation: Any) -> tuple[int, int]:
        return transformation["image_height"], transformation["image_width"]

    def _moved(self, boxes: Tensor, transformation: Any, height: int, width: int) -> Tensor:
        angles = wt.reshape(transformation["angle"], (-1,))
        none, whole = wt.zeros_like(angles), wt.ones_like(angles)
        return affine_transform(boxes, angles, none, none, whole, none, none, height, width)


def _rotation(angle: float, height: int, width: int) -> list[float]:
    """The transform that rotates an image about its middle."""
    x, y = (width - 1) / 2, (height - 1) / 2
    across, down = cos(angle), sin(angle)
    return [across, -down, x - x * across + y * down, down, across, y - x * down - y * across, 0, 0]


class RandomTranslation(RandomWarp):
    """Moves images down and to the right, by parts of their height and width between the factors.

    See ``RandomRotation``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomTranslation(0.0, (0.5, 0.5), fill_mode="constant")
        >>> layer(wt.ones((1, 1, 4, 1))).flatten().tolist()
        [0.0, 0.0, 1.0, 1.0]
    """

    _CONFIG: ClassVar = (*RandomWarp._CONFIG, "height_factor", "width_factor")

    def __init__(
        self,
        height_factor: Any,
        width_factor: Any,
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
        self._heights = range_within(kind, "height_factor", height_factor)
        self._widths = range_within(kind, "width_factor", width_factor)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        count, height, width = self._size(shape)
        moves = [
            [random.uniform(*self._widths) * width, random.uniform(*self._heights) * height]
            for _ in range(count)
        ]
        return {"translations": wt.tensor(moves, (count, 2), float32), "input_shape": shape}

    def _rows(self, transformation: Any, height: int, width: int) -> Rows:
        moves = _lists(transformation["translations"])
        return [[1, 0, -across, 0, 1, -down, 0, 0] for across, down in moves]

    def _moved(self, boxes: Tensor, transformation: Any, height: int, width: int) -> Tensor:
        moves = _lists(transformation["translations"])
        return _scaled(boxes, [[1, 1] for _ in moves], moves)


class RandomZoom(RandomWarp):
    """Zooms out of images, or into them where factors are negative, about their middle.

    A result shows ``1 + factor`` times the height and the width of its image; without
    ``width_factor`` both are scaled alike. See ``RandomRotation``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomZoom((-0.5, -0.5))
        >>> layer(wt.reshape(wt.arange(3.0), (1, 1, 3, 1))).flatten().tolist()
        [0.5, 1.0, 1.5]
    """

    _CONFIG: ClassVar = (*RandomWarp._CONFIG, "height_factor", "width_factor")

    def __init__(
        self,
        height_factor: Any,
        width_factor: Any = None,
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
        self._heights = range_within(kind, "height_factor", height_factor, open_low=True)
        self._widths = self._heights
        if width_factor is not None:
            self._widths = range_within(kind, "width_factor", width_factor, open_low=True)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        count, _, _ = self._size(shape)
        heights = [1 + one for one in uniform(random, count, self._heights)]
        widths = heights
        if self.width_factor is not None:
            widths = [1 + one for one in uniform(random, count, self._widths)]
        return {
            "height_zoom": _column(heights),
            "width_zoom": _column(widths),
            "input_shape": shape,
        }

    def _zooms(self, transformation: Any) -> Rows:
        """What part of each image is shown, (across, down)."""
        columns = (_lists(transformation[name]) for name in ("width_zoom", "height_zoom"))
        return [[*across, *down] for across, down in zip(*columns, strict=True)]

    def _rows(self, transformation: Any, height: int, width: int) -> Rows:
        return [
            [x, 0, (width - 1) / 2 * (1 - x), 0, y, (height - 1) / 2 * (1 - y), 0, 0]
            for x, y in self._zooms(transformation)
        ]

    def _moved(self, boxes: Tensor, transformation: Any, height: int, width: int) -> Tensor:
        # The part that is shown begins so many pixels from the edges, and fills the result.
        zooms = self._zooms(transformation)
        return _scaled(
            boxes,
            [[1 / x, 1 / y] for x, y in zooms],
            [[-(width - 1) / 2 * (1 - x) / x, -(height - 1) / 2 * (1 - y) / y] for x, y in zooms],
        )


class RandomShear(RandomWarp):
    """Leans images: (x, y) shows ``(x + a y, b x + y)``, with ``a`` and ``b`` of the factors.

    ``a`` is drawn from ``x_factor``, ``b`` from ``y_factor``, both from 0 to 1, and half of the
    images lean the other way. A single number stands for as much in both directions. See
    ``RandomRotation``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomShear(x_factor=(1.0, 1.0), fill_mode="wrap")
        >>> y = layer(wt.tensor([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], shape=(2, 3, 1)))
        >>> y[0].flatten().tolist()
        [1.0, 0.0, 0.0]
    """

    _CONFIG: ClassVar = (*RandomWarp._CONFIG, "x_factor", "y_factor")

    def __init__(
        self,
        x_factor: Any = 0.0,
        y_factor: Any = 0.0,
        interpolation: str = "bilinear",
        fill_mode: str = "reflect",
        fill_value: float = 0.0,
        data_format: str | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(fill_mode, interpolation, seed, fill_value, data_format, **kwargs)
        self.x_factor = self._range_of("x_factor", x_factor)
        self.y_factor = self._range_of("y_factor", y_factor)

    @staticmethod
    def _range_of(name: str, given: Any) -> tuple[float, float]:
        """The bounds; a configuration has them as they are drawn from."""
        if isinstance(given, (list, tuple)) and len(given) == 2 and -given[0] == given[1]:
            given = given[1]
        return range_within("RandomShear", name, given, 0, 1)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        count, _, _ = self._size(shape)
        factors = []
        for _ in range(count):
            side = random.choice((-1, 1))
            factors.append([side * random.uniform(*one) for one in (self.x_factor, self.y_factor)])
        return {"shear_factor": wt.tensor(factors, (count, 2), float32), "input_shape": shape}

    def _rows(self, transformation: Any, height: int, width: int) -> Rows:
        return [[1, x, 0, y, 1, 0, 0, 0] for x, y in _lists(transformation["shear_factor"])]

    def _moved(self, boxes: Tensor, transformation: Any, height: int, width: int) -> Tensor:
        factors = _lists(transformation["shear_factor"])
        # As in Keras, by parts of the lengths.
        rows = [_sheared(x * width / height, y * height / width) for x, y in factors]
        return combined(boxes, rows)


def _sheared(across: float, down: float) -> list[tuple[float, ...]]:
    """The shares of a box's numbers in the box around it when it leans across, and then down."""
    top, bottom = ((1, 3) if across < 0 else (3, 1)), ((0, 2) if down <= 0 else (2, 0))
    rows = [[float(row == column) for row in range(4)] for column in range(4)]
    for edge, other in zip((0, 2), top, strict=True):
        rows[edge][other] -= across
    for edge, other in zip((1, 3), bottom, strict=True):
        rows[edge] = [one - down * two for one, two in zip(rows[edge], rows[other], strict=True)]
    return list(zip(*rows, strict=True))


class RandomPerspective(RandomWarp):
    """Shows images as if seen from aside: corners move, by up to half of ``scale``.

    The probability of that is drawn for each image between the two numbers of ``factor``, or from 0
    to a single one. What is shown from outside of an image is ``fill_value``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> x = wt.ones((2, 4, 4, 3))
        >>> keras.layers.RandomPerspective(scale=0.0)(x).flatten().tolist() == [1.0] * 96
        True
    """

    _CONFIG: ClassVar = ("interpolation", "fill_value", "factor", "scale")

    def __init__(
        self,
        factor: Any = 1.0,
        scale: float = 1.0,
        interpolation: str = "bilinear",
        fill_value: float = 0.0,
        seed: int | None = None,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__("constant", interpolation, seed, fill_value, data_format, **kwargs)
        self.factor = factor_range("RandomPerspective", "factor", factor, 0)
        if not isinstance(scale, (int, float)) or not 0 <= scale <= 1:
            raise ValueError(
                f"RandomPerspective: scale must be a number in [0, 1], but got scale={scale!r}"
            )
        self.scale = scale

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        count, height, width = self._size(shape)
        corners = [[x, y] for y in (0.0, height - 1.0) for x in (0.0, width - 1.0)]
        half = self.scale / 2
        ends = [
            [[one * (1 + random.uniform(-half, half)) for one in corner] for corner in corners]
            for _ in range(count)
        ]
        return {
            "apply_perspective": wt.tensor(self._chosen(random, shape, self.factor)),
            "start_points": wt.tensor([corners] * count, dtype=float32),
            "end_points": wt.tensor(ends, dtype=float32),
            "input_shape": shape,
        }

    def _rows(self, transformation: Any, height: int, width: int) -> Rows:
        return self._transforms(transformation, "end_points", "start_points")

    def _moved(self, boxes: Tensor, transformation: Any, height: int, width: int) -> Tensor:
        rows = self._transforms(transformation, "start_points", "end_points")
        return moved(boxes, [(*one, 1) for one in rows])

    @staticmethod
    def _transforms(transformation: Any, source: str, target: str) -> Rows:
        """The transforms that take corners to others; of images that stay, to themselves."""
        parts = (_lists(transformation[key]) for key in ("apply_perspective", source, target))
        return [
            homography(begin, end) if is_applied else [1, 0, 0, 0, 1, 0, 0, 0]
            for is_applied, begin, end in zip(*parts, strict=True)
        ]
