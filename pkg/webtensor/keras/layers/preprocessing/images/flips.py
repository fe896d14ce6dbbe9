"""Mirror images."""

from __future__ import annotations

from random import Random
from typing import Any, TypedDict

from webtensor import ops as wt
from webtensor.arguments import check_choice
from webtensor.engine import Tensor
from webtensor.keras.layers.preprocessing.images.base import RandomImageLayer, per_image
from webtensor.keras.utils.bounding_boxes import Boxes, clip_to_image_size

__all__ = ["RandomFlip"]

_MODES = ("horizontal", "vertical", "horizontal_and_vertical")


class Flips(TypedDict):
    """Which images of a batch are mirrored."""

    flips: Tensor
    input_shape: tuple[int, ...]


class RandomFlip(RandomImageLayer[Flips]):
    """Mirrors half of the images, drawn at random, during training.

    Output shape: that of the inputs.

    Args:
        mode: ``"horizontal"`` swaps left and right, ``"vertical"`` top and bottom,
            ``"horizontal_and_vertical"``, the default, does both.

    Raises:
        ValueError: ``mode`` is unknown.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.RandomFlip("horizontal")
        >>> layer(wt.ones((2, 3, 3, 1)), training=False).shape
        (2, 3, 3, 1)
    """

    _IS_ALWAYS_CAST = True
    _TRANSFORMS_MASKS = True

    def __init__(
        self,
        mode: str = "horizontal_and_vertical",
        seed: int | None = None,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        check_choice("RandomFlip", "mode", mode, _MODES)
        self.mode = mode

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Flips:
        batch = self._batch_size(shape)
        flips = per_image([random.random() <= 0.5 for _ in range(batch)])
        return {"flips": flips, "input_shape": shape}

    def _transform(self, images: Tensor, transformation: Flips) -> Tensor:
        x = self._cast(images)
        height_axis, width_axis = self._spatial_axes()
        axes = [width_axis] if "horizontal" in self.mode else []
        if "vertical" in self.mode:
            axes.append(height_axis)
        return wt.where(transformation["flips"], wt.flip(x, axes), x)

    def transform_bounding_boxes(
        self, bounding_boxes: Boxes, transformation: Flips | None, training: bool | None = True
    ) -> Boxes:
        """Mirror boxes as the images are mirrored."""
        if not self._is_active(transformation, training):
            return bounding_boxes
        _, height, width = self._batch_and_size(transformation["input_shape"])
        corners = self._to_corners(bounding_boxes, height, width)
        boxes = corners["boxes"]
        # A mirrored coordinate is the size minus that of the opposite edge.
        order, origins, signs = [0, 1, 2, 3], [0.0] * 4, [1.0] * 4
        for direction, edge, size in (("horizontal", 0, width), ("vertical", 1, height)):
            if direction in self.mode:
                order[edge], order[edge + 2] = edge + 2, edge
                for coordinate in (edge, edge + 2):
                    origins[coordinate], signs[coordinate] = float(size), -1.0
        opposite = wt.take(boxes, wt.tensor(order), axis=-1)
        mirrored = wt.tensor(origins) + wt.tensor(signs) * opposite
        flips = wt.reshape(wt.asarray(transformation["flips"]), (-1, 1, 1))
        flips = flips if len(boxes.shape) == 3 else wt.squeeze(flips, 0)
        corners["boxes"] = wt.where(flips, mirrored, boxes)
        # As in Keras, boxes may be beyond the far edges.
        corners = clip_to_image_size(corners, height**2, width**2)
        return self._from_corners(corners, height, width)
