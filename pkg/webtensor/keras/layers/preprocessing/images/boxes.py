"""As many boxes for each image."""

from __future__ import annotations

from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras.layers.preprocessing.images.base import BaseImagePreprocessingLayer

__all__ = ["MaxNumBoundingBoxes"]


class MaxNumBoundingBoxes(BaseImagePreprocessingLayer):
    """Gives images ``max_number`` boxes each: further ones are left out, missing ones filled up.

    Boxes and labels that are added are ``fill_value``.

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

    _CONFIG: ClassVar = ("max_number",)

    def __init__(self, max_number: int, fill_value: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.max_number = int(max_number)
        self.fill_value = int(fill_value)

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        return images

    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Leave boxes out, or add some."""
        made = dict(bounding_boxes)
        for key in ("boxes", "labels"):
            held = wt.asarray(bounding_boxes[key])[:, : self.max_number]
            missing = self.max_number - held.shape[1]
            around = [(0, 0), (0, missing), *((0, 0) for _ in held.shape[2:])]
            made[key] = wt.pad(held, around, self.fill_value) if missing else held
        return made
