"""What layers for images share: calls, kinds of inputs, and random transformations.

A layer defines ``_transform``, a formula on a batch of images, and ``_draw``, which draws the
random numbers of one call: its transformation. These are a few numbers per image, so they are drawn
on the host: no kernel runs for them, and they are the same on every backend.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, ClassVar, Generic, TypeAlias, TypedDict, TypeGuard, TypeVar

from webtensor import ops as wt
from webtensor.dtypes import float32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.data_formats import as_data_format
from webtensor.keras.layers.layer import Layer
from webtensor.keras.layers.preprocessing.images.ranges import Factor, factor_range, sorted_range
from webtensor.keras.seeds import SeedGenerator, draw_seed
from webtensor.keras.types import Shape
from webtensor.keras.utils.bounding_boxes import Boxes, convert_format

__all__ = [
    "BaseImagePreprocessingLayer",
    "DrawnFactors",
    "FactorLayer",
    "ImageData",
    "RandomImageLayer",
    "per_image",
    "uniform",
]

#: The random choices of a call. It is None where a layer draws nothing.
Transformation = TypeVar("Transformation")

#: Images, or a dictionary with "images" and their labels, boxes and masks.
ImageData: TypeAlias = "TensorLike | dict[str, TensorLike]"


class DrawnFactors(TypedDict):
    """The transformation of layers that draw a factor for each image."""

    factor: Tensor


#: An odd multiplier that spreads the low bits of a seed over 64 bits.
_SPREAD = 0x9E3779B97F4A7C15


def _with_batch(value: TensorLike) -> Tensor:
    return wt.expand_dims(wt.asarray(value), 0)


def _without_batch(value: Tensor) -> Tensor:
    return wt.squeeze(value, 0)


class BaseImagePreprocessingLayer(Layer, Generic[Transformation]):
    """The base of layers that transform an image, a batch of images, or a dictionary with them.

    The dictionary has "images", and may have "labels", "bounding_boxes" and "segmentation_masks",
    which are transformed together with the images. ``get_random_transformation`` draws the random
    numbers of a call once, and every ``transform_...`` method receives them.

    Input shape: (batch, height, width, channels) or (height, width, channels); with
    ``data_format="channels_first"``, the channels come before the height.
    Output shape: that of the inputs, unless the layer says otherwise.

    Args:
        bounding_box_format: the format of bounding boxes, such as ``"xyxy"`` or ``"rel_xywh"``
            (see ``keras.utils.bounding_boxes.convert_format``); data with boxes need it.

    Raises:
        ValueError: ``data_format`` is unknown; in calls, images have another rank than 3 or 4, a
            dictionary has no "images", or boxes lack their labels or ``bounding_box_format``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> data = {"images": wt.ones((1, 2, 2, 3)), "labels": wt.tensor([1])}
        >>> resized = keras.layers.Resizing(4, 4)(data)
        >>> resized["images"].shape, resized["labels"].tolist()
        ((1, 4, 4, 3), [1])
    """

    _config_omits: ClassVar[Mapping[str, object]] = {"bounding_box_format": None}
    #: Whether the layer transforms images in inference, too.
    _IS_ALWAYS_ACTIVE: ClassVar[bool] = False
    #: Whether images become floats even where they are not transformed.
    _IS_ALWAYS_CAST: ClassVar[bool] = False
    #: Whether masks are transformed as images are.
    _TRANSFORMS_MASKS: ClassVar[bool] = False

    def __init__(
        self,
        *,
        bounding_box_format: str | None = None,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.data_format = as_data_format(type(self).__name__, data_format)
        self.bounding_box_format = bounding_box_format

    # -- methods for subclasses to override ----------------------------------------------------

    def get_random_transformation(
        self, data: ImageData, training: bool | None = True, seed: int | SeedGenerator | None = None
    ) -> Transformation | None:
        """Draw the transformation of a call; None where there is nothing to draw."""
        return None

    def _transform(self, images: Tensor, transformation: Transformation) -> Tensor:
        """Transform a batch of images."""
        raise NotImplementedError(f"{type(self).__name__} must override transform_images")

    def transform_images(
        self,
        images: TensorLike,
        transformation: Transformation | None = None,
        training: bool | None = True,
    ) -> Tensor:
        """Transform an image or a batch of images."""
        return self._apply(self._transform, images, transformation, training)

    def transform_labels(
        self,
        labels: TensorLike,
        transformation: Transformation | None,
        training: bool | None = True,
    ) -> TensorLike:
        """Return the labels unchanged."""
        return labels

    def transform_bounding_boxes(
        self,
        bounding_boxes: Boxes,
        transformation: Transformation | None,
        training: bool | None = True,
    ) -> Boxes:
        """Return the boxes unchanged, since no pixel moves."""
        return bounding_boxes

    def transform_segmentation_masks(
        self,
        segmentation_masks: TensorLike,
        transformation: Transformation | None,
        training: bool | None = True,
    ) -> TensorLike:
        """Transform masks as images, or return them unchanged if the layer moves no pixels."""
        if self._TRANSFORMS_MASKS:
            return self.transform_images(segmentation_masks, transformation, training)
        return segmentation_masks

    # -- single images -------------------------------------------------------------------------

    def transform_single_image(
        self,
        image: TensorLike,
        transformation: Transformation | None,
        training: bool | None = True,
    ) -> Tensor:
        """Transform one image."""
        images = self.transform_images(
            _with_batch(image), transformation=transformation, training=training
        )
        return _without_batch(images)

    def transform_single_label(
        self,
        label: TensorLike,
        transformation: Transformation | None,
        training: bool | None = True,
    ) -> Tensor:
        """Transform the label of one image."""
        labels = self.transform_labels(
            _with_batch(label), transformation=transformation, training=training
        )
        return _without_batch(labels)

    def transform_single_bounding_box(
        self,
        bounding_box: Boxes,
        transformation: Transformation | None,
        training: bool | None = True,
    ) -> Boxes:
        """Transform the boxes of one image."""
        boxes = self.transform_bounding_boxes(
            {key: _with_batch(value) for key, value in bounding_box.items()},
            transformation=transformation,
            training=training,
        )
        return {key: _without_batch(value) for key, value in boxes.items()}

    def transform_single_segmentation_mask(
        self,
        segmentation_mask: TensorLike,
        transformation: Transformation | None,
        training: bool | None = True,
    ) -> Tensor:
        """Transform the mask of one image."""
        masks = self.transform_segmentation_masks(
            _with_batch(segmentation_mask), transformation=transformation, training=training
        )
        return _without_batch(masks)

    # -- calls ---------------------------------------------------------------------------------

    def call(self, data: ImageData, training: bool | None = True) -> ImageData:
        """Transform images, and the labels, boxes and masks in a dictionary with them."""
        outputs = dict(data) if isinstance(data, dict) else {"images": data}
        if "images" not in outputs:
            raise ValueError(f"{type(self).__name__}: the dictionary must have 'images'")
        transformation = self.get_random_transformation(data, training=training)
        methods: dict[str, Callable[..., TensorLike]]
        if self._is_batched(outputs["images"].shape):
            methods = {
                "images": self.transform_images,
                "bounding_boxes": self.transform_bounding_boxes,
                "labels": self.transform_labels,
                "segmentation_masks": self.transform_segmentation_masks,
            }
        else:
            methods = {
                "images": self.transform_single_image,
                "bounding_boxes": self.transform_single_bounding_box,
                "labels": self.transform_single_label,
                "segmentation_masks": self.transform_single_segmentation_mask,
            }
        for key, transform in methods.items():
            if key in outputs:
                value = outputs[key]
                value = self._boxes(value) if key == "bounding_boxes" else wt.asarray(value)
                outputs[key] = transform(value, transformation=transformation, training=training)
        return outputs if isinstance(data, dict) else outputs["images"]

    def _boxes(self, bounding_boxes: Boxes) -> Boxes:
        """Validate boxes and their labels, and convert them to tensors."""
        kind = type(self).__name__
        if not self.bounding_box_format:
            raise ValueError(
                f"{kind}: data with 'bounding_boxes' need the argument bounding_box_format, such "
                "as 'xyxy'"
            )
        if not isinstance(bounding_boxes, dict) or not {"boxes", "labels"} <= {*bounding_boxes}:
            raise ValueError(
                f"{kind}: bounding_boxes must be a dictionary with 'boxes' and 'labels', but got "
                f"{bounding_boxes!r}"
            )
        boxes = wt.asarray(bounding_boxes["boxes"])
        if len(boxes.shape) not in (2, 3):
            raise ValueError(
                f"{kind}: boxes must have shape (number, 4) or (batch, number, 4), but their shape "
                f"is {boxes.shape}"
            )
        labels = wt.asarray(bounding_boxes["labels"])
        if len(labels.shape) not in (len(boxes.shape) - 1, len(boxes.shape)):
            raise ValueError(
                f"{kind}: the labels of boxes of shape {boxes.shape} must have rank "
                f"{len(boxes.shape) - 1}, but their shape is {labels.shape}"
            )
        return {
            **bounding_boxes,
            "boxes": wt.astype(boxes, float32, copy=False),
            "labels": labels,
        }

    def _to_corners(self, bounding_boxes: Boxes, height: int, width: int) -> Boxes:
        """Convert boxes to the format "xyxy", in pixels."""
        source = self.bounding_box_format or "xyxy"
        return convert_format(bounding_boxes, source, "xyxy", height, width)

    def _from_corners(self, bounding_boxes: Boxes, height: int, width: int) -> Boxes:
        """Convert boxes from the format "xyxy" to that of the layer."""
        target = self.bounding_box_format or "xyxy"
        return convert_format(bounding_boxes, "xyxy", target, height, width)

    def _apply(
        self,
        formula: Callable[[Tensor, Transformation], Tensor],
        images: TensorLike,
        transformation: Transformation | None,
        training: bool | None,
    ) -> Tensor:
        """Apply a formula for batches to a batch or to one image, if the layer is active."""
        x = wt.asarray(images)
        if not self._is_active(transformation, training):
            return self._cast(x) if self._IS_ALWAYS_CAST else x
        if self._is_batched(x.shape):
            return formula(x, transformation)
        return _without_batch(formula(_with_batch(x), transformation))

    def _is_active(
        self, transformation: Transformation | None, training: bool | None
    ) -> TypeGuard[Transformation]:
        return bool(training) or self._IS_ALWAYS_ACTIVE

    def _is_batched(self, shape: Sequence[int | None]) -> bool:
        if len(shape) not in (3, 4):
            raise ValueError(
                f"{type(self).__name__}: images must have rank 3 or 4, but their shape is "
                f"{tuple(shape)}"
            )
        return len(shape) == 4

    def _cast(self, images: TensorLike) -> Tensor:
        """Convert images to the dtype that the layer computes in."""
        return wt.astype(images, self.compute_dtype, copy=False)

    # -- axes and sizes ------------------------------------------------------------------------

    def _spatial_axes(self) -> tuple[int, int]:
        """Return the axes of height and width."""
        return (-2, -1) if self.data_format == "channels_first" else (-3, -2)

    def _channel_axis(self) -> int:
        return -3 if self.data_format == "channels_first" else -1

    @staticmethod
    def _shape_of_images(data: ImageData) -> tuple[int, ...]:
        return tuple((data["images"] if isinstance(data, dict) else data).shape)

    def _batch_size(self, shape: Sequence[int]) -> int:
        """Return the number of images, 1 for a single image."""
        return shape[0] if self._is_batched(shape) else 1

    def _batch_and_size(self, shape: Sequence[int]) -> tuple[int, int, int]:
        """Return the batch size, the height and the width of images."""
        height_axis, width_axis = self._spatial_axes()
        return self._batch_size(shape), shape[height_axis], shape[width_axis]

    def _with_size(self, input_shape: Shape, size: tuple[int, int]) -> Shape:
        """Replace the height and the width in a shape."""
        self._is_batched(input_shape)
        shape = list(input_shape)
        for axis, dimension in zip(self._spatial_axes(), size, strict=True):
            shape[axis] = dimension
        return tuple(shape)

    def _with_channels_last(self, compute: Callable[[Tensor], Tensor], images: Tensor) -> Tensor:
        """Call a function that expects (batch, height, width, channels)."""
        if self.data_format == "channels_last":
            return compute(images)
        return wt.permute_dims(compute(wt.permute_dims(images, (0, 2, 3, 1))), (0, 3, 1, 2))

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape of the inputs."""
        return input_shape


class RandomImageLayer(BaseImagePreprocessingLayer[Transformation]):
    """The base of layers whose transformation is random, and which only training applies.

    Args:
        seed: an integer, or None for a seed drawn at random.
    """

    def __init__(self, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.seed = seed
        self.generator = SeedGenerator(seed)

    def get_random_transformation(
        self, data: ImageData, training: bool | None = True, seed: int | SeedGenerator | None = None
    ) -> Transformation | None:
        """Draw the transformation of a call; None outside training."""
        shape = self._shape_of_images(data)
        self._is_batched(shape)
        return self._draw(self._random(seed), shape) if training else None

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Transformation | None:
        """Draw a transformation of images of a shape."""
        raise NotImplementedError(f"{type(self).__name__} must override get_random_transformation")

    def _draw_chosen(
        self, random: Random, shape: tuple[int, ...], bounds: tuple[float, float]
    ) -> Tensor:
        """Draw for each image whether it is transformed.

        The probability of that is itself drawn for each image, between the bounds.
        """
        batch = self._batch_size(shape)
        return wt.tensor(
            [random.random() < probability for probability in uniform(random, batch, bounds)]
        )

    def _random(self, seed: int | SeedGenerator | None) -> Random:
        """Return the source of random numbers for one call."""
        drawn = int(draw_seed(type(self).__name__, self.generator if seed is None else seed))
        # Random(n) and Random(n + (n - 1 << 32)) are the same, and a generator may return both.
        return Random(drawn * _SPREAD % (1 << 64))

    def _is_active(
        self, transformation: Transformation | None, training: bool | None
    ) -> TypeGuard[Transformation]:
        return bool(training) and transformation is not None


class FactorLayer(RandomImageLayer[Transformation]):
    """The base of layers with one factor, drawn between two bounds, and a range of values.

    Args:
        factor: a number or two of them, the bounds of the factor; see ``factor_range``.
        value_range: two numbers, the minimum and the maximum of values of images.
    """

    #: The interval in which the factor lies.
    _FACTOR_LIMITS: ClassVar[tuple[float, float]] = (-1, 1)

    def __init__(
        self,
        factor: Factor,
        value_range: Sequence[float] = (0, 255),
        data_format: str | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        self.factor = factor_range(type(self).__name__, "factor", factor, *self._FACTOR_LIMITS)
        self.value_range = self._checked_range(value_range)

    def _checked_range(self, value_range: Sequence[float]) -> Sequence[float]:
        return sorted_range(type(self).__name__, value_range)


# -- numbers per image -------------------------------------------------------------------------


def uniform(random: Random, count: int, bounds: tuple[float, float]) -> list[float]:
    """Draw numbers with a uniform distribution between two bounds."""
    return [random.uniform(*bounds) for _ in range(count)]


def per_image(values: TensorLike) -> Tensor:
    """Return values, one per image, in the shape (batch, 1, 1, 1), which broadcasts to images."""
    return wt.reshape(wt.asarray(values), (-1, 1, 1, 1))
