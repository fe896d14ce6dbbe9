"""Parts of images erased, or taken from other images of the batch; images blended."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from random import Random
from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.dtypes import bool_, float32, int32
from webtensor.engine import Tensor
from webtensor.keras.layers.preprocessing.images.base import (
    RandomImageLayer,
    of_images,
    uniform,
)
from webtensor.keras.layers.preprocessing.images.ranges import factor_range

__all__ = ["CutMix", "MixUp", "RandomErasing"]

#: Begin and end of an axis's part.
Span = tuple[float, float]


# -- rectangles --------------------------------------------------------------------------------


def _span(random: Random, part: float, length: int) -> Span:
    """Draw where a part of an axis is."""
    covered = part * length
    begin = random.random() * (length - covered)
    return begin, begin + covered


def _inside(spans: Sequence[Span], length: int) -> bytes:
    """Whether each place along an axis is in the span, for each image."""
    rows = []
    for span in spans:
        begin, end = (min(max(ceil(one), 0), length) for one in span)
        rows.append(bytes(begin) + b"\1" * (end - begin) + bytes(length - end))
    return b"".join(rows)


class RectangleLayer(RandomImageLayer):
    """A layer that changes a rectangle of each image."""

    def _masks(self, rows: Sequence[Span], columns: Sequence[Span], shape: Any) -> Tensor:
        """Whether pixels are in the rectangles; there is one channel."""
        count, height, width = self._size(shape)
        shapes = [[count, 1, 1, 1], [count, 1, 1, 1]]
        for one, axis, length in zip(shapes, self._axes(), (height, width), strict=True):
            one[axis] = length
        down = wt.tensor(_inside(rows, height), shapes[0], bool_)
        across = wt.tensor(_inside(columns, width), shapes[1], bool_)
        return wt.logical_and(down, across)


class RandomErasing(RectangleLayer):
    """Fills a rectangle of images.

    The probability of that is drawn for each image between the two numbers of ``factor``, or from 0
    to a single one. The rectangle's height and width are square roots of parts of the area that
    are drawn from ``scale``. ``fill_value`` is a number, or three of them, or None for noise:
    normal numbers times the greatest of ``value_range``, within which they are kept.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomErasing((1.0, 1.0), scale=(1.0, 1.0), fill_value=7)
        >>> layer(wt.ones((2, 2, 1))).flatten().tolist()
        [7.0, 7.0, 7.0, 7.0]
    """

    _CONFIG: ClassVar = ("factor", "scale", "fill_value", "value_range")
    _IS_ALWAYS_CAST = True

    def __init__(
        self,
        factor: Any = 1.0,
        scale: Any = (0.02, 0.33),
        fill_value: Any = None,
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

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        count, height, width = self._size(shape)
        columns, rows = (
            [_span(random, sqrt(part), length) for part in uniform(random, count, self.scale)]
            for length in (width, height)
        )
        return {
            "apply_erasing": wt.tensor(self._chosen(random, shape, self.factor)),
            "batch_masks": self._masks(rows, columns, shape),
            "fill_value": self._fill(random, shape),
        }

    def _fill(self, random: Random, shape: tuple[int, ...]) -> Tensor:
        low, high = self.value_range
        given = self.fill_value
        if given is None:
            noise = wt.random_normal(shape, seed=random.getrandbits(62)) * float(high)
            return wt.clip(noise, low, high)
        numbers = given if isinstance(given, (list, tuple)) else (given,)
        if len(numbers) != (3 if numbers is given else 1) or not all(
            isinstance(one, (int, float)) for one in numbers
        ):
            raise ValueError(
                f"RandomErasing: fill_value must be a number, three of them or None, but got "
                f"fill_value={given!r}"
            )
        lengths = [1] * 4
        lengths[self._channel_axis()] = len(numbers)
        return wt.clip(wt.tensor([float(one) for one in numbers], lengths), low, high)

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        chosen = of_images(transformation["apply_erasing"])
        erased = wt.logical_and(chosen, transformation["batch_masks"])
        return wt.where(erased, transformation["fill_value"], self._cast(images))


class CutMix(RectangleLayer):
    """Fills a rectangle of each image with what is there in another image of the batch.

    ``1 -`` its part of the area has a beta distribution with both parameters drawn from ``factor``,
    from 0 to 1. Labels are mixed by the parts of the area. One image alone stays.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> data = {"images": wt.ones((2, 4, 4, 3)), "labels": wt.tensor([[1.0], [1.0]])}
        >>> made = keras.layers.CutMix()(data)
        >>> made["images"].shape, made["labels"].round().tolist()
        ((2, 4, 4, 3), [[1.0], [1.0]])
    """

    _CONFIG: ClassVar = ("factor",)
    _IS_ALWAYS_CAST = True

    def __init__(
        self,
        factor: Any = 1.0,
        seed: int | None = None,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        self.factor = factor_range("CutMix", "factor", factor, 0)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        if len(shape) == 3:
            return None
        count, height, width = self._size(shape)
        alpha = random.uniform(*self.factor) + 1e-6
        parts = [sqrt(1 - random.betavariate(alpha, alpha)) for _ in range(count)]
        columns, rows = (
            [_span(random, part, length) for part in parts] for length in (width, height)
        )
        return {
            "permutation_order": _order(random, count),
            "batch_masks": self._masks(rows, columns, shape),
            "mix_weight": of_images([1 - part * part for part in parts]),
        }

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        x = self._cast(images)
        others = _reordered(x, transformation)
        return wt.where(wt.asarray(transformation["batch_masks"]), others, x)

    def transform_labels(
        self, labels: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Mix labels as the images."""
        if not self._is_at_work(transformation, training):
            return labels
        return _mixed_labels(labels, transformation)

    def transform_segmentation_masks(
        self, segmentation_masks: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Fill the rectangles in masks, too."""
        return self.transform_images(segmentation_masks, transformation, training)

    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Refuse boxes: those of both images may be cut.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("CutMix: there is no rule for bounding boxes")


# -- whole images ------------------------------------------------------------------------------


def _order(random: Random, count: int) -> Tensor:
    """Draw an order of images."""
    return wt.tensor(random.sample(range(count), count), (count,), int32)


def _reordered(values: Tensor, transformation: Any) -> Tensor:
    order = wt.astype(wt.asarray(transformation["permutation_order"]), int32, copy=False)
    return wt.take(values, order, axis=0)


def _mixed(values: Tensor, weights: Tensor, transformation: Any) -> Tensor:
    """Values, and those of the other images, by their shares."""
    x = wt.astype(values, float32, copy=False)
    others = _reordered(x, transformation)
    return others + weights * (x - others)


def _mixed_labels(labels: Any, transformation: Any) -> Tensor:
    """Labels, and those of the other images, by their shares."""
    held = wt.asarray(labels)
    ones = (1 for _ in held.shape[1:])
    weights = wt.reshape(wt.asarray(transformation["mix_weight"]), (-1, *ones))
    return _mixed(held, weights, transformation)


class MixUp(RandomImageLayer):
    """Blends each image with another of the batch: ``w x + (1 - w) other``, labels likewise.

    ``w`` has a beta distribution with both parameters ``alpha``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> keras.layers.MixUp()(wt.ones((2, 4, 4, 3))).shape
        (2, 4, 4, 3)
    """

    _CONFIG: ClassVar = ("alpha",)

    def __init__(
        self,
        alpha: float = 0.2,
        data_format: str | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        if not isinstance(alpha, (int, float)) or alpha <= 0:
            raise ValueError(f"MixUp: alpha must be a positive number, but got alpha={alpha!r}")
        self.alpha = alpha

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        count, _, _ = self._size(shape)
        weights = [random.betavariate(self.alpha, self.alpha) for _ in range(count)]
        return {"mix_weight": wt.tensor(weights), "permutation_order": _order(random, count)}

    def transform_images(
        self, images: Any, transformation: Any = None, training: bool | None = True
    ) -> Any:
        """Blend images."""
        held = wt.asarray(images)
        if not self._is_at_work(transformation, training):
            return held
        return _mixed(held, of_images(transformation["mix_weight"]), transformation)

    def transform_labels(
        self, labels: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Blend labels."""
        if not self._is_at_work(transformation, training):
            return labels
        return _mixed_labels(labels, transformation)

    def transform_segmentation_masks(
        self, segmentation_masks: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Blend masks."""
        return self.transform_images(segmentation_masks, transformation, training)

    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Give each image the boxes of both."""
        if not self._is_at_work(transformation, training):
            return bounding_boxes
        parts = {key: wt.asarray(bounding_boxes[key]) for key in ("boxes", "labels")}
        return {
            key: wt.concat([one, _reordered(one, transformation)], 1 if key == "boxes" else -1)
            for key, one in parts.items()
        }
