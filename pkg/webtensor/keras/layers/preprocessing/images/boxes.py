"""The same number of bounding boxes for each image."""

from __future__ import annotations

from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras.arguments import ALWAYS
from webtensor.keras.layers.preprocessing.images.base import BaseImagePreprocessingLayer
from webtensor.keras.utils.bounding_boxes import Boxes

__all__ = ["MaxNumBoundingBoxes"]


class MaxNumBoundingBoxes(BaseImagePreprocessingLayer[None]):
    """Gives each image ``max_number`` boxes: drops further boxes, and adds missing ones.

    Output shape: boxes (batch, ``max_number``, 4) and labels (batch, ``max_number``); images keep
    theirs.

    Args:
        max_number: an integer, the number of boxes per image.
        fill_value: the number that added boxes and their labels consist of, -1 by default. As in
            Keras, it is not part of the configuration.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> layer = keras.layers.MaxNumBoundingBoxes(2, bounding_box_format="xyxy")
        >>> boxes = {"boxes": wt.ones((1, 1, 4)), "labels": wt.tensor([[5]])}
        >>> layer({"images": wt.ones((1, 8, 8, 3)), "bounding_boxes": boxes})[
        ...     "bounding_boxes"
        ... ]["labels"].tolist()
        [[5, -1]]
    """

    _config_omits: ClassVar = {"fill_value": ALWAYS}

    def __init__(self, max_number: int, fill_value: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.max_number = int(max_number)
        self.fill_value = int(fill_value)

    def _transform(self, images: Tensor, transformation: None) -> Tensor:
        return images

    def transform_bounding_boxes(
        self, bounding_boxes: Boxes, transformation: None, training: bool | None = True
    ) -> Boxes:
        """Drop boxes, or add some."""
        outputs = dict(bounding_boxes)
        for key in ("boxes", "labels"):
            values = wt.asarray(bounding_boxes[key])[:, : self.max_number]
            missing = self.max_number - values.shape[1]
            paddings = [(0, 0), (0, missing), *((0, 0) for _ in values.shape[2:])]
            outputs[key] = wt.pad(values, paddings, self.fill_value) if missing else values
        return outputs
