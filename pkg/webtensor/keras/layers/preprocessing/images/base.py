"""What layers for images share: calls, kinds of inputs, and what is drawn.

A layer is a formula on a batch of images, ``_change``, and the numbers that a call draws for it,
``_draw``. These are a few per image, so they are drawn on the host: no kernel runs for them, and
they are the same on every backend.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.dtypes import float32
from webtensor.engine import Tensor
from webtensor.keras.data_formats import as_data_format
from webtensor.keras.layers.layer import Layer
from webtensor.keras.random import SeedGenerator, draw_seed
from webtensor.keras.types import Config
from webtensor.keras.utils.bounding_boxes import convert_format

__all__ = ["BaseImagePreprocessingLayer", "RandomImageLayer", "of_images", "uniform"]

Change = Callable[[Tensor, Any], Tensor]

#: An odd number whose product with a seed has the seed's low bits in all places.
_SPREAD = 0x9E3779B97F4A7C15


def _with_batch(value: Any) -> Any:
    return wt.expand_dims(wt.asarray(value), 0)


def _without_batch(value: Any) -> Any:
    return wt.squeeze(value, 0)


class BaseImagePreprocessingLayer(Layer):
    """A layer for images, one or a batch, or for a dictionary with them.

    The dictionary has "images", and may have "labels", "bounding_boxes" and "segmentation_masks",
    which are changed as the images are. What is random about a call is its transformation:
    ``get_random_transformation`` draws it once, and all that ``transform_...`` are given it.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> data = {"images": wt.ones((1, 2, 2, 3)), "labels": wt.tensor([1])}
        >>> made = keras.layers.Resizing(4, 4)(data)
        >>> made["images"].shape, made["labels"].tolist()
        ((1, 4, 4, 3), [1])
    """

    #: Names of the attributes that a configuration has.
    _CONFIG: ClassVar[tuple[str, ...]] = ()
    #: Whether inference changes images, too.
    _IS_ALWAYS_ACTIVE: ClassVar[bool] = False
    #: Whether images that stay are float32 nevertheless.
    _IS_ALWAYS_CAST: ClassVar[bool] = False

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

    # -- what layers define --------------------------------------------------------------------

    def get_random_transformation(
        self, data: Any, training: bool | None = True, seed: Any = None
    ) -> Any:
        """Draw what a call will do to the images."""
        return None

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        """Change a batch of images."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it changes images")

    def transform_images(
        self, images: Any, transformation: Any = None, training: bool | None = True
    ) -> Any:
        """Change a batch of images, or one."""
        return self._changed(self._change, images, transformation, training)

    def transform_labels(
        self, labels: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Return labels as they are."""
        return labels

    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Return boxes as they are: nothing moves."""
        return bounding_boxes

    def transform_segmentation_masks(
        self, segmentation_masks: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Return masks as they are: nothing moves."""
        return segmentation_masks

    # -- one of a batch ------------------------------------------------------------------------

    def transform_single_image(
        self, image: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Change one image."""
        made = self.transform_images(
            _with_batch(image), transformation=transformation, training=training
        )
        return _without_batch(made)

    def transform_single_label(
        self, label: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Change the label of one image."""
        made = self.transform_labels(
            _with_batch(label), transformation=transformation, training=training
        )
        return _without_batch(made)

    def transform_single_bounding_box(
        self, bounding_box: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Change the boxes of one image."""
        made = self.transform_bounding_boxes(
            {key: _with_batch(one) for key, one in bounding_box.items()},
            transformation=transformation,
            training=training,
        )
        return {key: _without_batch(one) for key, one in made.items()}

    def transform_single_segmentation_mask(
        self, segmentation_mask: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Change the mask of one image."""
        made = self.transform_segmentation_masks(
            _with_batch(segmentation_mask), transformation=transformation, training=training
        )
        return _without_batch(made)

    # -- calls ---------------------------------------------------------------------------------

    def call(self, data: Any, training: bool | None = True) -> Any:
        """Change the images, and what comes with them."""
        made = dict(data) if isinstance(data, dict) else {"images": data}
        if "images" not in made:
            raise ValueError(f"{type(self).__name__}: the dictionary must have 'images'")
        transformation = self.get_random_transformation(data, training=training)
        parts: dict[str, Callable[..., Any]]
        if self._is_batched(made["images"].shape):
            parts = {
                "images": self.transform_images,
                "bounding_boxes": self.transform_bounding_boxes,
                "labels": self.transform_labels,
                "segmentation_masks": self.transform_segmentation_masks,
            }
        else:
            parts = {
                "images": self.transform_single_image,
                "bounding_boxes": self.transform_single_bounding_box,
                "labels": self.transform_single_label,
                "segmentation_masks": self.transform_single_segmentation_mask,
            }
        for key, transform in parts.items():
            if key in made:
                given = made[key]
                held = self._boxes(given) if key == "bounding_boxes" else wt.asarray(given)
                made[key] = transform(held, transformation=transformation, training=training)
        return made if isinstance(data, dict) else made["images"]

    def _boxes(self, bounding_boxes: Any) -> dict[str, Tensor]:
        """Boxes and their labels as tensors."""
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
                f"{kind}: boxes must have shape (number, 4), after the batch if there is one, but "
                f"their shape is {boxes.shape}"
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

    def _to_corners(self, bounding_boxes: Any, height: int, width: int) -> dict[str, Any]:
        """Boxes by their corners, in pixels."""
        made: dict[str, Any] = convert_format(
            bounding_boxes, self.bounding_box_format or "xyxy", "xyxy", height, width
        )
        return made

    def _from_corners(self, bounding_boxes: Any, height: int, width: int) -> dict[str, Any]:
        """Boxes as they are given and returned."""
        made: dict[str, Any] = convert_format(
            bounding_boxes, "xyxy", self.bounding_box_format or "xyxy", height, width
        )
        return made

    def _changed(
        self, change: Change, images: Any, transformation: Any, training: bool | None
    ) -> Tensor:
        """Apply a formula on batches to images, or to one, where there is something to do."""
        held = wt.asarray(images)
        if not self._is_at_work(transformation, training):
            return self._cast(held) if self._IS_ALWAYS_CAST else held
        if self._is_batched(held.shape):
            return change(held, transformation)
        return wt.squeeze(change(wt.expand_dims(held, 0), transformation), 0)

    def _is_at_work(self, transformation: Any, training: bool | None) -> bool:
        return bool(training) or self._IS_ALWAYS_ACTIVE

    def _is_batched(self, shape: Sequence[Any]) -> bool:
        if len(shape) not in (3, 4):
            raise ValueError(
                f"{type(self).__name__}: images must have rank 3 or 4, but their shape is "
                f"{tuple(shape)}"
            )
        return len(shape) == 4

    def _cast(self, images: Any) -> Tensor:
        held: Tensor = wt.astype(images, self.compute_dtype, copy=False)
        return held

    # -- lengths -------------------------------------------------------------------------------

    def _axes(self) -> tuple[int, int]:
        """The axes of height and width."""
        return (-2, -1) if self.data_format == "channels_first" else (-3, -2)

    def _channel_axis(self) -> int:
        return -3 if self.data_format == "channels_first" else -1

    def _size(self, shape: Sequence[Any]) -> tuple[int, int, int]:
        """Number, height and width of images."""
        count = shape[0] if self._is_batched(shape) else 1
        down, across = self._axes()
        return count, shape[down], shape[across]

    def _with_size(self, input_shape: Any, size: tuple[Any, Any]) -> tuple[Any, ...]:
        """A shape with another height and width."""
        self._is_batched(input_shape)
        lengths = list(input_shape)
        for axis, length in zip(self._axes(), size, strict=True):
            lengths[axis] = length
        return tuple(lengths)

    def _in_order(self, compute: Callable[[Tensor], Tensor], images: Tensor) -> Tensor:
        """Call a function that has the channels last."""
        if self.data_format == "channels_last":
            return compute(images)
        return wt.permute_dims(compute(wt.permute_dims(images, (0, 2, 3, 1))), (0, 3, 1, 2))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the inputs."""
        return input_shape

    def get_config(self) -> Config:
        """Return the arguments that would make another such layer."""
        config = {**super().get_config(), "data_format": self.data_format}
        if self.bounding_box_format is not None:
            config["bounding_box_format"] = self.bounding_box_format
        return {**config, **{name: getattr(self, name) for name in self._CONFIG}}


class RandomImageLayer(BaseImagePreprocessingLayer):
    """A layer for images with a generator of seeds."""

    def __init__(self, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.seed = seed
        self.generator = SeedGenerator(seed)

    def get_random_transformation(
        self, data: Any, training: bool | None = True, seed: Any = None
    ) -> Any:
        """Draw what a call will do to the images; nothing outside training."""
        images = data["images"] if isinstance(data, dict) else data
        self._is_batched(images.shape)
        if not training:
            return None
        return self._draw(self._random(seed), tuple(images.shape))

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        """Draw a transformation of images of a shape."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it draws")

    def _chosen(
        self, random: Random, shape: tuple[int, ...], bounds: tuple[float, float]
    ) -> list[bool]:
        """Choose images, with a probability that is drawn for each."""
        count, _, _ = self._size(shape)
        return [random.random() < one for one in uniform(random, count, bounds)]

    def _random(self, seed: Any) -> Random:
        """A source of numbers for one call."""
        given = self.generator if seed is None else seed
        drawn = draw_seed(type(self).__name__, given)
        # Random(n) and Random(n + (n - 1 << 32)) are the same, and a generator may return both.
        return Random(drawn * _SPREAD % (1 << 64))

    def _is_at_work(self, transformation: Any, training: bool | None) -> bool:
        return bool(training) and transformation is not None


# -- numbers -----------------------------------------------------------------------------------


def uniform(random: Random, count: int, bounds: tuple[float, float]) -> list[float]:
    """Return numbers between two, one for each image."""
    return [random.uniform(*bounds) for _ in range(count)]


def of_images(values: Any) -> Tensor:
    """Return what there is one of for each image as a tensor that is applied to a batch of them."""
    return wt.reshape(wt.asarray(values), (-1, 1, 1, 1))
