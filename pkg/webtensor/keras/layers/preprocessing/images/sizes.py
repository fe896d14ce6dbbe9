"""Sizes of images: scaling, and crops at the centre or at a random position."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any, ClassVar, TypedDict

from webtensor import ops as wt
from webtensor.arguments import check_choice
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import check_positive
from webtensor.keras.layers.preprocessing.images.base import (
    BaseImagePreprocessingLayer,
    ImageData,
    RandomImageLayer,
    Transformation,
)
from webtensor.keras.layers.preprocessing.images.ranges import Factor, range_within
from webtensor.keras.resampling import (
    INTERPOLATIONS,
    cropped_to_ratio,
    padded_to_ratio,
    ratio_size,
    resized,
)
from webtensor.keras.seeds import SeedGenerator
from webtensor.keras.types import Shape
from webtensor.keras.utils.bounding_boxes import Boxes, clip_to_image_size

__all__ = ["CenterCrop", "RandomCrop", "RandomHeight", "RandomWidth", "Resizing"]

#: A height and a width, or a row and a column.
Size = tuple[int, int]


def _checked_size(kind: str, height: int, width: int) -> Size:
    """Validate a height and a width."""
    check_positive(kind, height=height, width=width)
    return int(height), int(width)


class ResizedLayer(BaseImagePreprocessingLayer[Transformation]):
    """The base of layers that return images of a given size.

    Args:
        height: a positive integer, the height of the results.
        width: a positive integer, the width of the results.
    """

    height: int
    width: int

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape with the layer's height and width."""
        return self._with_size(input_shape, (self.height, self.width))

    def _boxes_in_result(
        self, boxes: Boxes, size: Size, scales: list[float], offsets: list[float]
    ) -> Boxes:
        """Scale and move boxes, by numbers (across, down), from images of a size to the result."""
        height, width = size
        corners = self._to_corners(boxes, height, width)
        scaled = wt.multiply(corners["boxes"], wt.tensor([*scales, *scales]))
        corners["boxes"] = wt.add(scaled, wt.tensor([*offsets, *offsets]))
        corners = clip_to_image_size(corners, self.height, self.width)
        return self._from_corners(corners, self.height, self.width)


class Resizing(ResizedLayer[Size]):
    """Scales images to a height and a width; inference does so, too.

    Output shape: that of the inputs with ``height`` and ``width``.

    Args:
        interpolation: ``"bilinear"``, ``"nearest"``, ``"bicubic"``, ``"lanczos3"`` or
            ``"lanczos5"``.
        crop_to_aspect_ratio: a boolean, whether the aspect ratio is kept by cropping the edges.
        pad_to_aspect_ratio: a boolean, whether the aspect ratio is kept by adding margins.
        fill_mode: ``"constant"``, the values of margins: ``fill_value``.
        fill_value: a number, the value of the pixels in margins.
        antialias: a boolean, whether images are smoothed before they become smaller.

    Raises:
        ValueError: a size is not a positive integer, ``interpolation`` or ``fill_mode`` is unknown,
            or both booleans about the aspect ratio are set.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> keras.layers.Resizing(1, 2)(wt.reshape(wt.arange(8.0), (1, 2, 4, 1))).flatten().tolist()
        [2.5, 4.5]
    """

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
        self.height, self.width = _checked_size("Resizing", height, width)
        check_choice("Resizing", "interpolation", interpolation, INTERPOLATIONS)
        if crop_to_aspect_ratio and pad_to_aspect_ratio:
            raise ValueError(
                "Resizing: crop_to_aspect_ratio and pad_to_aspect_ratio must not both be true"
            )
        if fill_mode != "constant":
            raise ValueError(f"Resizing: fill_mode must be 'constant', but got {fill_mode!r}")
        self.interpolation, self.antialias = interpolation, bool(antialias)
        self.crop_to_aspect_ratio = crop_to_aspect_ratio
        self.pad_to_aspect_ratio = pad_to_aspect_ratio
        self.fill_mode, self.fill_value = fill_mode, fill_value

    def get_random_transformation(
        self, data: ImageData, training: bool | None = True, seed: int | SeedGenerator | None = None
    ) -> Size:
        """Return the height and the width of the images: nothing is random."""
        return self._batch_and_size(self._shape_of_images(data))[1:]

    def _transform(self, images: Tensor, transformation: Size) -> Tensor:
        return self._with_channels_last(lambda x: self._resized(x, self.interpolation), images)

    def transform_segmentation_masks(
        self,
        segmentation_masks: TensorLike,
        transformation: Size | None = None,
        training: bool | None = True,
    ) -> Tensor:
        """Scale masks, with the nearest pixel."""

        def change(masks: Tensor, _: Size) -> Tensor:
            return self._with_channels_last(lambda x: self._resized(x, "nearest"), masks)

        return self._apply(change, segmentation_masks, transformation, training)

    def _resized(self, images: Tensor, interpolation: str) -> Tensor:
        size = (self.height, self.width)
        if self.crop_to_aspect_ratio:
            images = cropped_to_ratio(images, size)
        elif self.pad_to_aspect_ratio:
            images = padded_to_ratio(images, size, self.fill_value)
        return resized(images, size, interpolation, self.antialias)

    def transform_bounding_boxes(
        self, bounding_boxes: Boxes, transformation: Size | None, training: bool | None = True
    ) -> Boxes:
        """Scale boxes; those that consist of 0 or of -1 become 0."""
        if transformation is None:
            raise ValueError("Resizing: boxes need the transformation, the size of the images")
        height, width = transformation
        down, across = self.height / height, self.width / width
        scales, offsets = [across, down], [0.0, 0.0]
        if self.pad_to_aspect_ratio or self.crop_to_aspect_ratio:
            scale = (min if self.pad_to_aspect_ratio else max)(down, across)
            scales = [scale, scale]
            margins = (self.width - width * scale, self.height - height * scale)
            # Half of what is added, or of what is cropped, in whole pixels.
            offsets = [margin // 2 if margin >= 0 else -(-margin // 2) for margin in margins]
        boxes = bounding_boxes["boxes"]
        is_zero, is_missing = (
            wt.all(wt.equal(boxes, value), -1, keepdims=True) for value in (0.0, -1.0)
        )
        outputs = self._boxes_in_result(bounding_boxes, (height, width), scales, offsets)
        is_empty = wt.logical_or(is_zero, is_missing)
        outputs["boxes"] = wt.where(is_empty, 0.0, outputs["boxes"])
        return outputs


class InputShape(TypedDict):
    """The shape of the images."""

    input_shape: tuple[int, ...]


class CenterCrop(ResizedLayer[InputShape]):
    """Crops images to their centre; inference does so, too.

    Smaller images are first scaled up, and keep their aspect ratio.

    Output shape: that of the inputs with ``height`` and ``width``.

    Raises:
        ValueError: a size is not a positive integer.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> x = wt.reshape(wt.arange(16.0), (1, 4, 4, 1))
        >>> keras.layers.CenterCrop(2, 2)(x).flatten().tolist()
        [5.0, 6.0, 9.0, 10.0]
    """

    _IS_ALWAYS_ACTIVE = True
    _TRANSFORMS_MASKS = True

    def __init__(
        self, height: int, width: int, data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(data_format=data_format, **kwargs)
        self.height, self.width = _checked_size("CenterCrop", height, width)

    def get_random_transformation(
        self, data: ImageData, training: bool | None = True, seed: int | SeedGenerator | None = None
    ) -> InputShape:
        """Return the shape of the images: nothing is random."""
        return {"input_shape": self._shape_of_images(data)}

    def _transform(self, images: Tensor, transformation: InputShape) -> Tensor:
        return self._with_channels_last(self._cropped, self._cast(images))

    def _cropped(self, images: Tensor) -> Tensor:
        batch, height, width, channels = images.shape
        size = (self.height, self.width)
        if height >= self.height and width >= self.width:
            begin = (0, (height - self.height) // 2, (width - self.width) // 2, 0)
            return wt.slice(images, begin, (batch, *size, channels))
        return resized(cropped_to_ratio(images, size), size, "bilinear", False)

    def transform_bounding_boxes(
        self,
        bounding_boxes: Boxes,
        transformation: InputShape | None,
        training: bool | None = True,
    ) -> Boxes:
        """Clip boxes to the cropped images."""
        if transformation is None:
            raise ValueError("CenterCrop: boxes need the transformation, the shape of the images")
        _, height, width = self._batch_and_size(transformation["input_shape"])
        crop = (self.height, self.width)
        if height < self.height or width < self.width:
            crop = ratio_size((height, width), crop)
        scales = [self.width / crop[1], self.height / crop[0]]
        begins = [(width - crop[1]) // 2, (height - crop[0]) // 2]
        offsets = [-begin * scale for begin, scale in zip(begins, scales, strict=True)]
        return self._boxes_in_result(bounding_boxes, (height, width), scales, offsets)


class RandomCrop(RandomImageLayer[Size], ResizedLayer[Size]):
    """Crops images at a random position, during training; inference returns them unchanged.

    Images that are too small are cropped to the aspect ratio of the result, and scaled up.

    Output shape: that of the inputs, in training with ``height`` and ``width``.

    Raises:
        ValueError: a size is not a positive integer.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> keras.layers.RandomCrop(2, 3)(wt.ones((4, 8, 8, 1))).shape
        (4, 2, 3, 1)
    """

    _TRANSFORMS_MASKS = True

    def __init__(
        self,
        height: int,
        width: int,
        seed: int | None = None,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        self.height, self.width = _checked_size("RandomCrop", height, width)

    def get_random_transformation(
        self, data: ImageData, training: bool | None = True, seed: int | SeedGenerator | None = None
    ) -> Size:
        """Draw the first row and the first column."""
        _, height, width = self._batch_and_size(self._shape_of_images(data))
        if training and height > self.height and width > self.width:
            random = self._random(seed)
            return (
                random.randrange(height - self.height + 1),
                random.randrange(width - self.width + 1),
            )
        crop_height, crop_width = ratio_size((height, width), (self.height, self.width))
        return (height - crop_height) // 2, (width - crop_width) // 2

    def _transform(self, images: Tensor, transformation: Size) -> Tensor:
        row, column = map(int, transformation)
        size = (self.height, self.width)

        def cropped(x: Tensor) -> Tensor:
            batch, height, width, channels = x.shape
            crop = (min(self.height, height - row), min(self.width, width - column))
            part = wt.slice(x, (0, row, column, 0), (batch, *crop, channels))
            return resized(part, size, "bilinear", False)

        return self._with_channels_last(cropped, self._cast(images))

    def transform_bounding_boxes(
        self, bounding_boxes: Boxes, transformation: Size | None, training: bool | None = True
    ) -> Boxes:
        """Move boxes by the position of the crop."""
        if not self._is_active(transformation, training):
            return bounding_boxes
        row, column = map(float, transformation)
        corners = self._to_corners(bounding_boxes, self.height, self.width)
        begin = wt.tensor([column, row, column, row])
        corners["boxes"] = wt.maximum(wt.subtract(corners["boxes"], begin), 0.0)
        return self._from_corners(corners, self.height, self.width)


# -- of Keras 2 and TensorFlow.js --------------------------------------------------------------

_DIMENSION_INTERPOLATIONS = ("nearest", "bilinear")


class NewSize(TypedDict):
    """The height and the width of the results."""

    size: Size


class RandomDimension(RandomImageLayer[NewSize]):
    """The base of layers that scale one dimension of the images of a batch by one random factor.

    Args:
        factor: two numbers greater than -1, the bounds of ``f``, which is drawn once per call; or
            one number ``f`` for (-f, f). The dimension is multiplied by ``1 + f``.
        interpolation: ``"bilinear"`` or ``"nearest"``.
    """

    # Keras 2 had no argument ``data_format`` here.
    _config_omits: ClassVar[Mapping[str, object]] = {"data_format": "channels_last"}
    _IS_ALWAYS_CAST = True
    #: 0 for the height, 1 for the width.
    _DIMENSION: int

    def __init__(
        self,
        factor: Factor,
        interpolation: str = "bilinear",
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, **kwargs)
        kind = type(self).__name__
        self.factor = factor
        self._bounds = range_within(kind, "factor", factor, -1, float("inf"), open_low=True)
        if self._bounds[0] <= -1:
            raise ValueError(f"{kind}: factor must be less than 1, but got factor={factor}")
        check_choice(kind, "interpolation", interpolation, _DIMENSION_INTERPOLATIONS)
        self.interpolation = interpolation

    def _draw(self, random: Random, shape: tuple[int, ...]) -> NewSize:
        _, height, width = self._batch_and_size(shape)
        factor = 1 + random.uniform(*self._bounds)
        if self._DIMENSION == 0:
            height = max(int(height * factor), 1)
        else:
            width = max(int(width * factor), 1)
        return {"size": (height, width)}

    def _transform(self, images: Tensor, transformation: NewSize) -> Tensor:
        size = transformation["size"]
        return self._with_channels_last(
            lambda x: resized(x, size, self.interpolation, False), self._cast(images)
        )

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape with None for the dimension that is scaled."""
        self._is_batched(input_shape)
        shape = list(input_shape)
        shape[self._spatial_axes()[self._DIMENSION]] = None
        return tuple(shape)


class RandomHeight(RandomDimension):
    """Scales the height of a batch of images by a random factor, during training.

    Keras 3 keeps this layer of Keras 2 and TensorFlow.js among its legacy layers.

    Output shape: that of the inputs with another height.

    Raises:
        ValueError: ``factor`` is out of range, or ``interpolation`` is unknown.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> keras.layers.RandomHeight((0.5, 0.5))(wt.ones((1, 4, 4, 1))).shape
        (1, 6, 4, 1)
    """

    _DIMENSION = 0


class RandomWidth(RandomDimension):
    """Scales the width of a batch of images by a random factor, during training.

    Keras 3 keeps this layer of Keras 2 and TensorFlow.js among its legacy layers.

    Output shape: that of the inputs with another width.

    Raises:
        ValueError: ``factor`` is out of range, or ``interpolation`` is unknown.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> keras.layers.RandomWidth((0.5, 0.5))(wt.ones((1, 4, 4, 1))).shape
        (1, 4, 6, 1)
    """

    _DIMENSION = 1
