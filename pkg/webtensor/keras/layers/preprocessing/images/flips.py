"""Mirror images."""

from __future__ import annotations

from random import Random
from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras.layers.preprocessing.images.base import RandomImageLayer, of_images
from webtensor.keras.utils.bounding_boxes import clip_to_image_size

__all__ = ["RandomFlip"]

_MODES = ("horizontal", "vertical", "horizontal_and_vertical")


class RandomFlip(RandomImageLayer):
    """Mirrors half of the images: ``mode`` "horizontal", "vertical", or both together.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomFlip("horizontal")
        >>> layer(wt.ones((2, 3, 3, 1)), training=False).shape
        (2, 3, 3, 1)
    """

    _CONFIG: ClassVar = ("mode",)
    _IS_ALWAYS_CAST = True

    def __init__(
        self,
        mode: str = "horizontal_and_vertical",
        seed: int | None = None,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        if mode not in _MODES:
            raise ValueError(
                f"RandomFlip: mode must be one of {', '.join(_MODES)}, but got {mode!r}"
            )
        self.mode = mode

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        count, _, _ = self._size(shape)
        flips = of_images([random.random() <= 0.5 for _ in range(count)])
        return {"flips": flips, "input_shape": shape}

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        held = self._cast(images)
        down, across = self._axes()
        axes = [across] if "horizontal" in self.mode else []
        if "vertical" in self.mode:
            axes.append(down)
        return wt.where(transformation["flips"], wt.flip(held, axes), held)

    def transform_segmentation_masks(
        self, segmentation_masks: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Mirror masks as the images are mirrored."""
        return self.transform_images(segmentation_masks, transformation, training)

    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Mirror boxes as the images are mirrored."""
        if not self._is_at_work(transformation, training):
            return bounding_boxes
        _, height, width = self._size(transformation["input_shape"])
        made = self._to_corners(bounding_boxes, height, width)
        boxes = made["boxes"]
        # The numbers that take each other's places, and what they are then counted from.
        order, begin, sign = [0, 1, 2, 3], [0.0] * 4, [1.0] * 4
        for word, place, length in (("horizontal", 0, width), ("vertical", 1, height)):
            if word in self.mode:
                order[place], order[place + 2] = place + 2, place
                for one in (place, place + 2):
                    begin[one], sign[one] = float(length), -1.0
        mirrored = wt.tensor(begin) + wt.tensor(sign) * wt.take(boxes, wt.tensor(order), axis=-1)
        flips = wt.reshape(wt.asarray(transformation["flips"]), (-1, 1, 1))
        flips = flips if len(boxes.shape) == 3 else wt.squeeze(flips, 0)
        made["boxes"] = wt.where(flips, mirrored, boxes)
        # As in Keras, boxes may be beyond the far edges.
        made = clip_to_image_size(made, height**2, width**2)
        return self._from_corners(made, height, width)
