"""Rectangles of images erased or taken from other images of the batch; images blended."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, inf, sqrt
from random import Random
from typing import Any, TypedDict

from webtensor import ops as wt
from webtensor.dtypes import bool_, float32, int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import is_number
from webtensor.keras.layers.preprocessing.images.base import (
    RandomImageLayer,
    Transformation,
    per_image,
    uniform,
)
from webtensor.keras.layers.preprocessing.images.ranges import Factor, factor_range
from webtensor.keras.utils.bounding_boxes import Boxes

__all__ = ["CutMix", "MixUp", "RandomErasing"]

#: The begin and the end of an interval of an axis.
Span = tuple[float, float]


# -- rectangles --------------------------------------------------------------------------------


def _span(random: Random, part: float, size: int) -> Span:
    """Draw the position of an interval that covers a part of an axis."""
    covered = part * size
    begin = random.random() * (size - covered)
    return begin, begin + covered


def _inside(spans: Sequence[Span], size: int) -> bytes:
    """Return for each image and each index of an axis whether it is in the image's interval."""
    rows = []
    for span in spans:
        begin, end = (min(max(ceil(bound), 0), size) for bound in span)
        rows.append(bytes(begin) + b"\1" * (end - begin) + bytes(size - end))
    return b"".join(rows)


class RectangleLayer(RandomImageLayer[Transformation]):
    """The base of layers that replace a rectangle of each image."""

    def _masks(
        self, rows: Sequence[Span], columns: Sequence[Span], shape: tuple[int, ...]
    ) -> Tensor:
        """Return whether pixels are inside the rectangles, in one channel."""
        batch, height, width = self._batch_and_size(shape)
        height_axis, width_axis = self._spatial_axes()
        row_shape, column_shape = [batch, 1, 1, 1], [batch, 1, 1, 1]
        row_shape[height_axis], column_shape[width_axis] = height, width
        return wt.logical_and(
            wt.tensor(_inside(rows, height), row_shape, bool_),
            wt.tensor(_inside(columns, width), column_shape, bool_),
        )


class Erasures(TypedDict):
    """Which images are erased, where, and the values that fill them."""

    apply_erasing: Tensor
    batch_masks: Tensor
    fill_value: Tensor


class RandomErasing(RectangleLayer[Erasures]):
    """Erases a rectangle of images, at random during training.

    Output shape: that of the inputs.

    Args:
        factor: two numbers from 0 to 1, the bounds of the probability that an image is erased; or
            one number ``f`` for (0, f).
        scale: two numbers from 0 to 1; the rectangle's height and width, as parts of the image's,
            are square roots of numbers between them. One number ``s`` stands for (0, s).
        fill_value: a number or three of them, which fill the rectangle; None, the default, fills
            it with normal noise times the maximum of ``value_range``.
        value_range: two numbers to which the fill values are clipped, the minimum and the maximum
            of values of images.

    Raises:
        ValueError: an argument is out of range.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomErasing((1.0, 1.0), scale=(1.0, 1.0), fill_value=7)
        >>> layer(wt.ones((2, 2, 1))).flatten().tolist()
        [7.0, 7.0, 7.0, 7.0]
    """

    _IS_ALWAYS_CAST = True

    def __init__(
        self,
        factor: Factor = 1.0,
        scale: Factor = (0.02, 0.33),
        fill_value: float | Sequence[float] | None = None,
        value_range: Sequence[float] = (0, 255),
        seed: int | None = None,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        self.factor = factor_range("RandomErasing", "factor", factor, 0)
        self.scale = factor_range("RandomErasing", "scale", scale, 0)
        self.fill_value = fill_value
        self.value_range = value_range

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Erasures:
        batch, height, width = self._batch_and_size(shape)
        columns, rows = (
            [_span(random, sqrt(part), size) for part in uniform(random, batch, self.scale)]
            for size in (width, height)
        )
        return {
            "apply_erasing": self._draw_chosen(random, shape, self.factor),
            "batch_masks": self._masks(rows, columns, shape),
            "fill_value": self._fill(random, shape),
        }

    def _fill(self, random: Random, shape: tuple[int, ...]) -> Tensor:
        low, high = self.value_range
        fill_value = self.fill_value
        if fill_value is None:
            noise = wt.random_normal(shape, seed=random.getrandbits(62)) * float(high)
            return wt.clip(noise, low, high)
        is_sequence = isinstance(fill_value, (list, tuple))
        values = fill_value if isinstance(fill_value, (list, tuple)) else (fill_value,)
        numbers = [float(value) for value in values if isinstance(value, (int, float))]
        if not len(numbers) == len(values) == (3 if is_sequence else 1):
            raise ValueError(
                f"RandomErasing: fill_value must be a number, three of them or None, but got "
                f"fill_value={fill_value!r}"
            )
        fill_shape = [1] * 4
        fill_shape[self._channel_axis()] = len(numbers)
        return wt.clip(wt.tensor(numbers, fill_shape), low, high)

    def _transform(self, images: Tensor, transformation: Erasures) -> Tensor:
        is_chosen = per_image(transformation["apply_erasing"])
        is_erased = wt.logical_and(is_chosen, transformation["batch_masks"])
        return wt.where(is_erased, transformation["fill_value"], self._cast(images))


class Mixture(TypedDict):
    """The order of the images that are mixed in, and the weights of the images themselves."""

    permutation_order: Tensor
    mix_weight: Tensor


class MaskedMixture(Mixture):
    """A mixture, and the rectangles in which it takes place."""

    batch_masks: Tensor


class CutMix(RectangleLayer[MaskedMixture]):
    """Replaces a rectangle of each image by that of another image of the batch, during training.

    Labels are mixed by the parts of the area. A single image without a batch stays unchanged.

    Output shape: that of the inputs.

    Args:
        factor: two numbers from 0 to 1, between which the two equal parameters of a beta
            distribution are drawn, or one number ``f`` for (0, f). The distribution is that of the
            part of the area that an image keeps.

    Raises:
        ValueError: ``factor`` is out of range.
        NotImplementedError: in calls, data have bounding boxes.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> data = {"images": wt.ones((2, 4, 4, 3)), "labels": wt.tensor([[1.0], [1.0]])}
        >>> mixed = keras.layers.CutMix()(data)
        >>> mixed["images"].shape, mixed["labels"].round().tolist()
        ((2, 4, 4, 3), [[1.0], [1.0]])
    """

    _IS_ALWAYS_CAST = True
    _TRANSFORMS_MASKS = True

    def __init__(
        self,
        factor: Factor = 1.0,
        seed: int | None = None,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        self.factor = factor_range("CutMix", "factor", factor, 0)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> MaskedMixture | None:
        if len(shape) == 3:
            return None
        batch, height, width = self._batch_and_size(shape)
        alpha = random.uniform(*self.factor) + 1e-6
        parts = [sqrt(1 - random.betavariate(alpha, alpha)) for _ in range(batch)]
        columns, rows = ([_span(random, part, size) for part in parts] for size in (width, height))
        return {
            "permutation_order": _draw_order(random, batch),
            "batch_masks": self._masks(rows, columns, shape),
            "mix_weight": per_image([1 - part * part for part in parts]),
        }

    def _transform(self, images: Tensor, transformation: MaskedMixture) -> Tensor:
        x = self._cast(images)
        others = _reordered(x, transformation)
        return wt.where(wt.asarray(transformation["batch_masks"]), others, x)

    def transform_labels(
        self,
        labels: TensorLike,
        transformation: MaskedMixture | None,
        training: bool | None = True,
    ) -> TensorLike:
        """Mix labels by the parts of the area."""
        if not self._is_active(transformation, training):
            return labels
        return _mixed_labels(labels, transformation)

    def transform_bounding_boxes(
        self,
        bounding_boxes: Boxes,
        transformation: MaskedMixture | None,
        training: bool | None = True,
    ) -> Boxes:
        """Raise an error: the boxes of both images may be cut.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("CutMix: bounding boxes are not supported")


# -- whole images ------------------------------------------------------------------------------


def _draw_order(random: Random, batch: int) -> Tensor:
    """Draw a permutation of the images of a batch."""
    return wt.tensor(random.sample(range(batch), batch), (batch,), int32)


def _reordered(values: Tensor, transformation: Mixture) -> Tensor:
    order = wt.astype(wt.asarray(transformation["permutation_order"]), int32, copy=False)
    return wt.take(values, order, axis=0)


def _mixed(values: TensorLike, weights: Tensor, transformation: Mixture) -> Tensor:
    """Return ``weights * x + (1 - weights) * others``."""
    x = wt.astype(values, float32, copy=False)
    others = _reordered(x, transformation)
    return others + weights * (x - others)


def _mixed_labels(labels: TensorLike, transformation: Mixture) -> Tensor:
    y = wt.asarray(labels)
    ones = [1] * (len(y.shape) - 1)
    weights = wt.reshape(wt.asarray(transformation["mix_weight"]), (-1, *ones))
    return _mixed(y, weights, transformation)


class MixUp(RandomImageLayer[Mixture]):
    """Blends each image with another of the batch, ``w x + (1 - w) other``, during training.

    Labels and masks are blended likewise, and each image gets the boxes of both.

    Output shape: that of the inputs; there are twice as many boxes.

    Args:
        alpha: a positive number, both parameters of the beta distribution that ``w`` is drawn
            from, for each image.

    Raises:
        ValueError: ``alpha`` is not a positive number.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> keras.layers.MixUp()(wt.ones((2, 4, 4, 3))).shape
        (2, 4, 4, 3)
    """

    _TRANSFORMS_MASKS = True

    def __init__(
        self,
        alpha: float = 0.2,
        data_format: str | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        if not is_number(alpha) or not 0 < alpha < inf:
            raise ValueError(f"MixUp: alpha must be a positive number, but got alpha={alpha!r}")
        self.alpha = alpha

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Mixture:
        batch = self._batch_size(shape)
        weights = [random.betavariate(self.alpha, self.alpha) for _ in range(batch)]
        return {"mix_weight": wt.tensor(weights), "permutation_order": _draw_order(random, batch)}

    def transform_images(
        self,
        images: TensorLike,
        transformation: Mixture | None = None,
        training: bool | None = True,
    ) -> Tensor:
        """Blend images."""
        x = wt.asarray(images)
        if not self._is_active(transformation, training):
            return x
        return _mixed(x, per_image(transformation["mix_weight"]), transformation)

    def transform_labels(
        self, labels: TensorLike, transformation: Mixture | None, training: bool | None = True
    ) -> TensorLike:
        """Blend labels."""
        if not self._is_active(transformation, training):
            return labels
        return _mixed_labels(labels, transformation)

    def transform_bounding_boxes(
        self, bounding_boxes: Boxes, transformation: Mixture | None, training: bool | None = True
    ) -> Boxes:
        """Give each image the boxes of both."""
        if not self._is_active(transformation, training):
            return bounding_boxes
        boxes, labels = (wt.asarray(bounding_boxes[key]) for key in ("boxes", "labels"))
        return {
            "boxes": wt.concat([boxes, _reordered(boxes, transformation)], 1),
            "labels": wt.concat([labels, _reordered(labels, transformation)], -1),
        }
