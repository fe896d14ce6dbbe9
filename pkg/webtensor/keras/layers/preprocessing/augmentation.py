"""Random changes of images, in training.

What is random is a few numbers per image, so it is drawn on the host: no kernel runs for it, and it
is the same on every backend.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, radians, sin
from random import Random
from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import bool_, float32
from webtensor.engine import Tensor
from webtensor.keras.layers.preprocessing.images import ImageLayer
from webtensor.keras.layers.preprocessing.resampling import resized
from webtensor.keras.random import SeedGenerator, draw_seed

__all__ = [
    "RandomBrightness",
    "RandomContrast",
    "RandomCrop",
    "RandomFlip",
    "RandomHeight",
    "RandomRotation",
    "RandomTranslation",
    "RandomWidth",
    "RandomZoom",
]

_FILL_MODES = ("reflect", "wrap", "constant", "nearest")
_INTERPOLATIONS = ("nearest", "bilinear")


def _range(
    kind: str, name: str, factor: Any, low: float, high: float, *, open_low: bool = False
) -> tuple[float, float]:
    """Return the range that a factor, or two of them, stand for.

    Raises:
        ValueError: it is something else, or out of range.
    """
    given = factor if isinstance(factor, (list, tuple)) else (factor,)
    is_known = len(given) == (2 if given is factor else 1) and all(
        isinstance(one, (int, float)) and low <= one <= high and not (open_low and one == low)
        for one in given
    )
    if not is_known:
        begin = "(" if open_low else "["
        raise ValueError(
            f"{kind}: {name} must be a number or two of them in {begin}{low}, {high}], but got "
            f"{name}={factor!r}"
        )
    if len(given) == 2:
        return min(given), max(given)
    size = abs(given[0])
    return max(-size, low), size


def _factor(kind: str, factor: Any, low: float) -> tuple[float, float]:
    """Return the range that the factor of a layer stands for; of two numbers, one may be beyond."""
    if not isinstance(factor, (list, tuple)):
        return _range(kind, "factor", factor or 0.0, low, 1)
    if len(factor) != 2 or factor[0] > 1 or factor[1] < low:
        raise ValueError(
            f"{kind}: factor must be a number or two of them in [{low}, 1], but got "
            f"factor={factor!r}"
        )
    return min(factor), max(factor)


class RandomImageLayer(ImageLayer):
    """A layer for images with a generator of seeds."""

    def __init__(self, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.seed = seed
        self.generator = SeedGenerator(seed)

    def _random(self, seed: Any) -> Random:
        """A source of numbers for one call."""
        given = self.generator if seed is None else seed
        return Random(draw_seed(type(self).__name__, given))

    def _cast(self, images: Any) -> Tensor:
        held: Tensor = wt.astype(images, self.compute_dtype, copy=False)
        return held

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that would make another such layer."""
        return {**super().get_config(), "seed": self.seed}


def _column(numbers: Sequence[float]) -> Tensor:
    return wt.tensor(list(numbers), (len(numbers), 1), float32)


def _per_image(numbers: Sequence[float]) -> Tensor:
    return wt.tensor(list(numbers), (len(numbers), 1, 1, 1), float32)


# -- mirroring and cropping --------------------------------------------------------------------


class RandomFlip(RandomImageLayer):
    """Mirrors half of the images: ``mode`` "horizontal", "vertical", or both together.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomFlip("horizontal")
        >>> layer(wt.ones((2, 3, 3, 1)), training=False).shape
        (2, 3, 3, 1)
    """

    def __init__(
        self,
        mode: str = "horizontal_and_vertical",
        seed: int | None = None,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        if mode not in ("horizontal", "vertical", "horizontal_and_vertical"):
            raise ValueError(
                f"RandomFlip: mode must be 'horizontal', 'vertical' or 'horizontal_and_vertical', "
                f"but got {mode!r}"
            )
        self.mode = mode

    def get_random_transformation(
        self, data: Any, training: bool | None = True, seed: Any = None
    ) -> Any:
        """Draw which images are mirrored."""
        if not training:
            return None
        count, height, width = self._size(data)
        random = self._random(seed)
        flips = wt.tensor([random.random() <= 0.5 for _ in range(count)], (count, 1, 1, 1), bool_)
        return {"flips": flips, "input_shape": (count, height, width)}

    def transform_images(
        self, images: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Mirror images."""
        images = self._cast(images)
        if not training or transformation is None:
            return images
        down, across = self._axes()
        axes = [across] if "horizontal" in self.mode else []
        if "vertical" in self.mode:
            axes.append(down)
        return wt.where(transformation["flips"], wt.flip(images, axes), images)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that would make another such layer."""
        return {**super().get_config(), "mode": self.mode}


class RandomCrop(RandomImageLayer):
    """A part of the images at a random place; the middle, scaled, where they are too small.

    Outside training images stay as they are.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> keras.layers.RandomCrop(2, 3)(wt.ones((4, 8, 8, 1))).shape
        (4, 2, 3, 1)
    """

    def __init__(
        self,
        height: int,
        width: int,
        seed: int | None = None,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        for name, length in (("height", height), ("width", width)):
            if not isinstance(length, int) or length <= 0:
                raise ValueError(
                    f"RandomCrop: {name} must be a positive integer, but got {length!r}"
                )
        self.height, self.width = height, width

    def get_random_transformation(
        self, data: Any, training: bool | None = True, seed: Any = None
    ) -> Any:
        """Draw the first row and the first column."""
        _, height, width = self._size(data)
        if training and height > self.height and width > self.width:
            random = self._random(seed)
            return (
                random.randrange(height - self.height + 1),
                random.randrange(width - self.width + 1),
            )
        used_height = max(min(height, int(width * self.height / self.width)), 1)
        used_width = max(min(width, int(height * self.width / self.height)), 1)
        return (height - used_height) // 2, (width - used_width) // 2

    def transform_images(
        self, images: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Crop images."""
        if not training:
            return images
        down, across = (int(one) for one in transformation)
        size = (self.height, self.width)

        def cropped(x: Tensor) -> Tensor:
            batch, height, width, channels = x.shape
            lengths = (min(self.height, height - down), min(self.width, width - across))
            part = wt.slice(x, (0, down, across, 0), (batch, *lengths, channels))
            return resized(part, size, "bilinear", False)

        return self._in_order(cropped, self._cast(images))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape with the other height and width."""
        return self._with_size(input_shape, (self.height, self.width))

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that would make another such layer."""
        return {**super().get_config(), "height": self.height, "width": self.width}


# -- warping -----------------------------------------------------------------------------------


class RandomWarp(RandomImageLayer):
    """A layer that moves pixels: each place of a result shows another place of its image."""

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
        for name, value, known in (
            ("fill_mode", fill_mode, _FILL_MODES),
            ("interpolation", interpolation, _INTERPOLATIONS),
        ):
            if value not in known:
                raise NotImplementedError(
                    f"{type(self).__name__}: {name} must be one of {', '.join(known)}, but got "
                    f"{value!r}"
                )
        self.fill_mode, self.fill_value = fill_mode, fill_value
        self.interpolation = interpolation

    def _matrices(self, transformation: Any, height: int, width: int) -> Tensor:
        """The eight numbers of each image's transform. See ``wt.image.transform``."""
        raise NotImplementedError

    def transform_images(
        self, images: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Warp images."""
        return self._warped(images, transformation, training, self.interpolation)

    def transform_segmentation_masks(
        self, segmentation_masks: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Warp masks, taking the nearest pixel."""
        return self._warped(segmentation_masks, transformation, training, "nearest")

    def _warped(
        self, images: Any, transformation: Any, training: bool | None, interpolation: str
    ) -> Tensor:
        held = self._cast(images)
        if not training or transformation is None:
            return held
        _, height, width = self._size(held)
        matrices = self._matrices(transformation, height, width)
        options = (matrices, interpolation, self.fill_mode, self.fill_value)
        return self._in_order(lambda x: wt.image.transform(x, *options), held)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that would make another such layer."""
        return {
            **super().get_config(),
            "fill_mode": self.fill_mode,
            "fill_value": self.fill_value,
            "interpolation": self.interpolation,
        }


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
        self.factor = _factor("RandomRotation", factor, -1)

    def get_random_transformation(
        self, data: Any, training: bool | None = True, seed: Any = None
    ) -> Any:
        """Draw angles, in degrees."""
        if not training:
            return None
        count, height, width = self._size(data)
        random = self._random(seed)
        lower, upper = (one * 360 for one in self.factor)
        angles = [random.uniform(lower, upper) for _ in range(count)]
        rows = [_rotation(radians(one), height, width) for one in angles]
        return {
            "angle": wt.tensor(angles, dtype=float32),
            "rotation_matrix": wt.tensor(rows, dtype=float32),
            "image_height": height,
            "image_width": width,
            "batch_size": count,
        }

    def _matrices(self, transformation: Any, height: int, width: int) -> Tensor:
        return wt.reshape(transformation["rotation_matrix"], (-1, 8))

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that would make another such layer."""
        return {**super().get_config(), "factor": self.factor}


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
        self._heights = _range(kind, "height_factor", height_factor, -1, 1)
        self._widths = _range(kind, "width_factor", width_factor, -1, 1)

    def get_random_transformation(
        self, data: Any, training: bool | None = True, seed: Any = None
    ) -> Any:
        """Draw how many pixels images are moved to the right, and down."""
        if not training:
            return None
        count, height, width = self._size(data)
        random = self._random(seed)
        moves = [
            [random.uniform(*self._widths) * width, random.uniform(*self._heights) * height]
            for _ in range(count)
        ]
        return {
            "translations": wt.tensor(moves, (count, 2), float32),
            "input_shape": (count, height, width),
        }

    def _matrices(self, transformation: Any, height: int, width: int) -> Tensor:
        moves = wt.asarray(transformation["translations"]).tolist()
        rows = [[1, 0, -across, 0, 1, -down, 0, 0] for across, down in moves]
        return wt.tensor(rows, dtype=float32)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that would make another such layer."""
        return {
            **super().get_config(),
            "height_factor": self.height_factor,
            "width_factor": self.width_factor,
        }


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
        self._heights = _range(kind, "height_factor", height_factor, -1, 1, open_low=True)
        self._widths = self._heights
        if width_factor is not None:
            self._widths = _range(kind, "width_factor", width_factor, -1, 1, open_low=True)

    def get_random_transformation(
        self, data: Any, training: bool | None = True, seed: Any = None
    ) -> Any:
        """Draw by what heights and widths are scaled."""
        if not training:
            return None
        count, height, width = self._size(data)
        random = self._random(seed)
        heights = [1 + random.uniform(*self._heights) for _ in range(count)]
        widths = heights
        if self.width_factor is not None:
            widths = [1 + random.uniform(*self._widths) for _ in range(count)]
        return {
            "height_zoom": _column(heights),
            "width_zoom": _column(widths),
            "input_shape": (count, height, width),
        }

    def _matrices(self, transformation: Any, height: int, width: int) -> Tensor:
        columns = [
            wt.flatten(transformation[name]).tolist() for name in ("width_zoom", "height_zoom")
        ]
        rows = [
            [x, 0, (width - 1) / 2 * (1 - x), 0, y, (height - 1) / 2 * (1 - y), 0, 0]
            for x, y in zip(*columns, strict=True)
        ]
        return wt.tensor(rows, dtype=float32)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that would make another such layer."""
        return {
            **super().get_config(),
            "height_factor": self.height_factor,
            "width_factor": self.width_factor,
        }


# -- colours -----------------------------------------------------------------------------------


class RandomContrast(RandomImageLayer):
    """``(x - mean) * f + mean`` for each channel, with ``f`` from ``1 - lower`` to ``1 + upper``.

    ``factor`` is (lower, upper), from 0 to 1; as in Keras, one number is the upper, and the lower
    is 0 then. Results are kept within ``value_range``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomContrast(0.2)
        >>> layer(wt.ones((1, 2, 2, 1))).flatten().tolist()
        [1.0, 1.0, 1.0, 1.0]
    """

    def __init__(
        self,
        factor: Any,
        value_range: Sequence[float] = (0, 255),
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, **kwargs)
        self.factor = _factor("RandomContrast", factor, 0)
        self.value_range = value_range

    def get_random_transformation(
        self, data: Any, training: bool | None = True, seed: Any = None
    ) -> Any:
        """Draw the factors."""
        count, _, _ = self._size(data)
        if not training:
            return None
        random = self._random(seed)
        lower, upper = self.factor
        factors = [random.uniform(1 - lower, 1 + upper) for _ in range(count)]
        return {"contrast_factor": _per_image(factors)}

    def transform_images(
        self, images: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Change the contrast of images."""
        if not training:
            return images
        x = wt.astype(images, float32, copy=False)
        mean = wt.mean(x, [axis % 4 for axis in self._axes()], keepdims=True)
        return wt.clip((x - mean) * transformation["contrast_factor"] + mean, *self.value_range)

    def transform_segmentation_masks(
        self, segmentation_masks: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Return masks as they are."""
        return segmentation_masks

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that would make another such layer."""
        return {**super().get_config(), "factor": self.factor, "value_range": self.value_range}


class RandomBrightness(RandomImageLayer):
    """Adds a part of the value range, between the two of ``factor``, to each image.

    A single number stands for as much in both directions. Results are kept within ``value_range``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomBrightness((0.5, 0.5), value_range=(0, 1))
        >>> layer(wt.tensor([[[0.25], [0.75]]])).flatten().tolist()
        [0.75, 1.0]
    """

    def __init__(
        self,
        factor: Any,
        value_range: Sequence[float] = (0, 255),
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, **kwargs)
        self.factor = _factor("RandomBrightness", factor, -1)
        if not isinstance(value_range, (list, tuple)) or len(value_range) != 2:
            raise ValueError(
                f"RandomBrightness: value_range must be two numbers, but got "
                f"value_range={value_range!r}"
            )
        self.value_range = sorted(value_range)

    def get_random_transformation(
        self, data: Any, training: bool | None = True, seed: Any = None
    ) -> Any:
        """Draw what is added."""
        count, _, _ = self._size(data)
        if not training:
            return None
        random = self._random(seed)
        low, high = self.value_range
        added = [random.uniform(*self.factor) * (high - low) for _ in range(count)]
        return {"rgb_delta": _per_image(added)}

    def transform_images(
        self, images: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Change the brightness of images."""
        if not training:
            return images
        added = wt.astype(transformation["rgb_delta"], images.dtype, copy=False)
        return wt.clip(images + added, *self.value_range)

    def transform_segmentation_masks(
        self, segmentation_masks: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Return masks as they are."""
        return segmentation_masks

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that would make another such layer."""
        return {**super().get_config(), "factor": self.factor, "value_range": self.value_range}


# -- sizes: of Keras 2 and TensorFlow.js -------------------------------------------------------


class RandomLength(RandomImageLayer):
    """Scales one length of the images of a batch by one random factor."""

    _AXIS: int

    def __init__(
        self,
        factor: Any,
        interpolation: str = "bilinear",
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, **kwargs)
        kind = type(self).__name__
        self.factor = factor
        self._factors = _range(kind, "factor", factor, -1, float("inf"), open_low=True)
        if not isinstance(factor, (list, tuple)) and self._factors[0] == -1:
            raise ValueError(f"{kind}: factor must be less than 1, but got factor={factor}")
        if interpolation not in _INTERPOLATIONS:
            raise ValueError(
                f"{kind}: interpolation must be one of {', '.join(_INTERPOLATIONS)}, but got "
                f"{interpolation!r}"
            )
        self.interpolation = interpolation

    def get_random_transformation(
        self, data: Any, training: bool | None = True, seed: Any = None
    ) -> Any:
        """Draw the size that images get."""
        if not training:
            return None
        _, *size = self._size(data)
        factor = 1 + self._random(seed).uniform(*self._factors)
        size[self._AXIS] = max(int(size[self._AXIS] * factor), 1)
        return {"size": tuple(size)}

    def transform_images(
        self, images: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Scale images."""
        images = self._cast(images)
        if not training:
            return images
        size = transformation["size"]
        return self._in_order(lambda x: resized(x, size, self.interpolation, False), images)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape with one length unknown."""
        self._check_rank(input_shape)
        lengths = list(input_shape)
        lengths[self._axes()[self._AXIS]] = None
        return tuple(lengths)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that would make another such layer."""
        config = super().get_config()
        if self.data_format == "channels_last":  # there was no other
            del config["data_format"]
        return {**config, "factor": self.factor, "interpolation": self.interpolation}


class RandomHeight(RandomLength):
    """Scales the height of a batch of images by a factor between ``1 + lower`` and ``1 + upper``.

    ``factor`` is (lower, upper), or one number for as much in both directions. Keras 3 keeps this
    layer of Keras 2 and TensorFlow.js among its legacy ones.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> keras.layers.RandomHeight((0.5, 0.5))(wt.ones((1, 4, 4, 1))).shape
        (1, 6, 4, 1)
    """

    _AXIS = 0


class RandomWidth(RandomLength):
    """Scales the width of a batch of images. See ``RandomHeight``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> keras.layers.RandomWidth((0.5, 0.5))(wt.ones((1, 4, 4, 1))).shape
        (1, 4, 6, 1)
    """

    _AXIS = 1
