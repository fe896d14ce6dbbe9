"""Sizes of images: scaled, cropped in the middle, or at a random place."""

from __future__ import annotations

from random import Random
from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras.layers.preprocessing.images.base import (
    BaseImagePreprocessingLayer,
    RandomImageLayer,
)
from webtensor.keras.layers.preprocessing.images.ranges import range_within
from webtensor.keras.resampling import (
    INTERPOLATIONS,
    cropped_to_ratio,
    padded_to_ratio,
    ratio_size,
    resized,
)
from webtensor.keras.types import Config
from webtensor.keras.utils.bounding_boxes import clip_to_image_size

__all__ = ["CenterCrop", "RandomCrop", "RandomHeight", "RandomWidth", "Resizing"]

_SIZE = ("height", "width")


def _lengths(kind: str, height: Any, width: Any) -> tuple[int, int]:
    """Validate a height and a width."""
    for name, length in (("height", height), ("width", width)):
        if not isinstance(length, int) or length <= 0:
            raise ValueError(f"{kind}: {name} must be a positive integer, but got {length!r}")
    return height, width


class ResizedLayer(BaseImagePreprocessingLayer):
    """A layer whose results have a height and a width of their own."""

    height: int
    width: int

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape with the other height and width."""
        return self._with_size(input_shape, (self.height, self.width))

    def _boxes_put(self, boxes: Any, size: tuple[int, int], scales: Any, offsets: Any) -> Any:
        """Boxes of images of a size, scaled and moved, both (across, down), in the result."""
        height, width = size
        made = self._to_corners(boxes, height, width)
        scaled = wt.multiply(made["boxes"], wt.tensor([*scales, *scales]))
        made["boxes"] = wt.add(scaled, wt.tensor([*offsets, *offsets]))
        made = clip_to_image_size(made, self.height, self.width)
        return self._from_corners(made, self.height, self.width)


class Resizing(ResizedLayer):
    """Scales images to a height and a width.

    ``interpolation`` is "bilinear", "nearest", "bicubic", "lanczos3" or "lanczos5".
    ``crop_to_aspect_ratio`` keeps the proportions of what is in the images, and leaves out what is
    at their edges; ``pad_to_aspect_ratio`` keeps all, and adds margins of ``fill_value``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> keras.layers.Resizing(1, 2)(wt.reshape(wt.arange(8.0), (1, 2, 4, 1))).flatten().tolist()
        [2.5, 4.5]
    """

    _CONFIG: ClassVar = (
        *_SIZE,
        "interpolation",
        "crop_to_aspect_ratio",
        "pad_to_aspect_ratio",
        "fill_mode",
        "fill_value",
        "antialias",
    )
    _IS_ALWAYS_ACTIVE = True

    def __init__(
        self,
        height: int,
        width: int,
        interpolation: str = "bilinear",
        crop_to_aspect_ratio: bool = False,
        pad_to_aspect_ratio: bool = False,
        fill_mode: str = "constant",
        fill_value: float = 0.0,
        antialias: bool = False,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(data_format=data_format, **kwargs)
        self.height, self.width = _lengths("Resizing", height, width)
        if interpolation not in INTERPOLATIONS:
            raise ValueError(
                f"Resizing: interpolation must be one of {', '.join(INTERPOLATIONS)}, but got "
                f"{interpolation!r}"
            )
        if crop_to_aspect_ratio and pad_to_aspect_ratio:
            raise ValueError(
                "Resizing: crop_to_aspect_ratio and pad_to_aspect_ratio exclude each other"
            )
        if fill_mode != "constant":
            raise ValueError(f"Resizing: fill_mode must be 'constant', but got {fill_mode!r}")
        self.interpolation, self.antialias = interpolation, bool(antialias)
        self.crop_to_aspect_ratio = crop_to_aspect_ratio
        self.pad_to_aspect_ratio = pad_to_aspect_ratio
        self.fill_mode, self.fill_value = fill_mode, fill_value

    def get_random_transformation(
        self, data: Any, training: bool | None = True, seed: Any = None
    ) -> Any:
        """Return the height and the width of the images: nothing is random."""
        images = data["images"] if isinstance(data, dict) else data
        return self._size(images.shape)[1:]

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        return self._in_order(lambda x: self._resized(x, self.interpolation), images)

    def transform_segmentation_masks(
        self, segmentation_masks: Any, transformation: Any = None, training: bool | None = True
    ) -> Any:
        """Scale masks, taking the nearest pixel."""

        def change(masks: Tensor, _: Any) -> Tensor:
            return self._in_order(lambda x: self._resized(x, "nearest"), masks)

        return self._changed(change, segmentation_masks, transformation, training)

    def _resized(self, images: Tensor, interpolation: str) -> Tensor:
        size = (self.height, self.width)
        if self.crop_to_aspect_ratio:
            images = cropped_to_ratio(images, size)
        elif self.pad_to_aspect_ratio:
            images = padded_to_ratio(images, size, self.fill_value)
        return resized(images, size, interpolation, self.antialias)

    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Scale boxes; those of zeros, or of -1, become zeros."""
        height, width = transformation
        down, across = self.height / height, self.width / width
        scales, offsets = [across, down], [0.0, 0.0]
        if self.pad_to_aspect_ratio or self.crop_to_aspect_ratio:
            scale = (min if self.pad_to_aspect_ratio else max)(down, across)
            scales = [scale, scale]
            margins = (self.width - width * scale, self.height - height * scale)
            # Half of what is added, or of what is left out, in whole pixels.
            offsets = [one // 2 if one >= 0 else -(-one // 2) for one in margins]
        boxes = bounding_boxes["boxes"]
        nothing = [wt.all(wt.equal(boxes, one), -1, keepdims=True) for one in (0.0, -1.0)]
        made = self._boxes_put(bounding_boxes, (height, width), scales, offsets)
        made["boxes"] = wt.where(wt.logical_or(*nothing), 0.0, made["boxes"])
        return made


class CenterCrop(ResizedLayer):
    """The middle of images; smaller ones are scaled up, keeping the proportions.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> x = wt.reshape(wt.arange(16.0), (1, 4, 4, 1))
        >>> keras.layers.CenterCrop(2, 2)(x).flatten().tolist()
        [5.0, 6.0, 9.0, 10.0]
    """

    _CONFIG: ClassVar = _SIZE
    _IS_ALWAYS_ACTIVE = True

    def __init__(
        self, height: int, width: int, data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(data_format=data_format, **kwargs)
        self.height, self.width = _lengths("CenterCrop", height, width)

    def get_random_transformation(
        self, data: Any, training: bool | None = True, seed: Any = None
    ) -> Any:
        """Return the shape of the images: nothing is random."""
        images = data["images"] if isinstance(data, dict) else data
        return {"input_shape": tuple(images.shape)}

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        return self._in_order(self._cropped, self._cast(images))

    def _cropped(self, images: Tensor) -> Tensor:
        batch, height, width, channels = images.shape
        size = (self.height, self.width)
        if height >= self.height and width >= self.width:
            begin = (0, (height - self.height) // 2, (width - self.width) // 2, 0)
            return wt.slice(images, begin, (batch, *size, channels))
        return resized(cropped_to_ratio(images, size), size, "bilinear", False)

    def transform_segmentation_masks(
        self, segmentation_masks: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Crop masks as the images are cropped."""
        return self.transform_images(segmentation_masks, transformation, training)

    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Cut boxes off at what is left of the images."""
        _, height, width = self._size(transformation["input_shape"])
        kept = (self.height, self.width)
        if height < self.height or width < self.width:
            kept = ratio_size((height, width), kept)
        scales = [self.width / kept[1], self.height / kept[0]]
        begins = [(width - kept[1]) // 2, (height - kept[0]) // 2]
        offsets = [-begin * scale for begin, scale in zip(begins, scales, strict=True)]
        return self._boxes_put(bounding_boxes, (height, width), scales, offsets)


class RandomCrop(RandomImageLayer, ResizedLayer):
    """A part of the images at a random place; the middle, scaled, where they are too small.

    Outside training images stay as they are.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> keras.layers.RandomCrop(2, 3)(wt.ones((4, 8, 8, 1))).shape
        (4, 2, 3, 1)
    """

    _CONFIG: ClassVar = _SIZE

    def __init__(
        self,
        height: int,
        width: int,
        seed: int | None = None,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        self.height, self.width = _lengths("RandomCrop", height, width)

    def get_random_transformation(
        self, data: Any, training: bool | None = True, seed: Any = None
    ) -> Any:
        """Draw the first row and the first column."""
        images = data["images"] if isinstance(data, dict) else data
        _, height, width = self._size(images.shape)
        if training and height > self.height and width > self.width:
            random = self._random(seed)
            return (
                random.randrange(height - self.height + 1),
                random.randrange(width - self.width + 1),
            )
        used = ratio_size((height, width), (self.height, self.width))
        return (height - used[0]) // 2, (width - used[1]) // 2

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        down, across = (int(one) for one in transformation)
        size = (self.height, self.width)

        def cropped(x: Tensor) -> Tensor:
            batch, height, width, channels = x.shape
            lengths = (min(self.height, height - down), min(self.width, width - across))
            part = wt.slice(x, (0, down, across, 0), (batch, *lengths, channels))
            return resized(part, size, "bilinear", False)

        return self._in_order(cropped, self._cast(images))

    def transform_segmentation_masks(
        self, segmentation_masks: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Crop masks as the images are cropped."""
        return self.transform_images(segmentation_masks, transformation, training)

    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Move boxes with what is left of the images."""
        if not training:
            return bounding_boxes
        down, across = (float(one) for one in transformation)
        made = self._to_corners(bounding_boxes, self.height, self.width)
        begin = wt.tensor([across, down, across, down])
        made["boxes"] = wt.maximum(wt.subtract(made["boxes"], begin), 0.0)
        return self._from_corners(made, self.height, self.width)


# -- of Keras 2 and TensorFlow.js --------------------------------------------------------------

_LENGTH_INTERPOLATIONS = ("nearest", "bilinear")


class RandomLength(RandomImageLayer):
    """Scales one length of the images of a batch by one random factor."""

    _CONFIG: ClassVar = ("factor", "interpolation")
    _IS_ALWAYS_CAST = True
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
        self._factors = range_within(kind, "factor", factor, -1, float("inf"), open_low=True)
        if self._factors[0] <= -1:
            raise ValueError(f"{kind}: factor must be less than 1, but got factor={factor}")
        if interpolation not in _LENGTH_INTERPOLATIONS:
            raise ValueError(
                f"{kind}: interpolation must be one of {', '.join(_LENGTH_INTERPOLATIONS)}, but "
                f"got {interpolation!r}"
            )
        self.interpolation = interpolation

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        _, *size = self._size(shape)
        factor = 1 + random.uniform(*self._factors)
        size[self._AXIS] = max(int(size[self._AXIS] * factor), 1)
        return {"size": tuple(size)}

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        size = transformation["size"]
        held = self._cast(images)
        return self._in_order(lambda x: resized(x, size, self.interpolation, False), held)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape with one length unknown."""
        self._is_batched(input_shape)
        lengths = list(input_shape)
        lengths[self._axes()[self._AXIS]] = None
        return tuple(lengths)

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        config = super().get_config()
        if self.data_format == "channels_last":  # there was no other
            del config["data_format"]
        return config


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
