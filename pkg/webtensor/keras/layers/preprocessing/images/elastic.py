"""Moving each pixel by itself: images as if on rubber."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.dtypes import float32
from webtensor.engine import Tensor
from webtensor.keras.layers.preprocessing.images.base import RandomImageLayer, of_images
from webtensor.keras.layers.preprocessing.images.filters import bell, filtered
from webtensor.keras.layers.preprocessing.images.ranges import factor_range, options
from webtensor.keras.random import draw_seed

__all__ = ["RandomElasticTransform"]

_INTERPOLATIONS = ("nearest", "bilinear")
_FILL_MODES = ("constant", "nearest", "wrap", "mirror", "reflect")


class RandomElasticTransform(RandomImageLayer):
    """Moves pixels as if images were on rubber.

    The probability of that is drawn for each image between the two numbers of ``factor``, or from 0
    to a single one. How far, is drawn from ``scale``, from 0 to 1, for all images of a call:
    moves are smooth random fields, up to a tenth of the greater length. ``fill_mode`` is
    "reflect", "mirror", "wrap", "nearest", or "constant", which is ``fill_value``. Results are
    kept within ``value_range``.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> keras.layers.RandomElasticTransform()(wt.ones((2, 8, 8, 3))).shape
        (2, 8, 8, 3)
    """

    _CONFIG: ClassVar = (
        "factor",
        "scale",
        "interpolation",
        "fill_mode",
        "fill_value",
        "value_range",
    )
    _IS_ALWAYS_CAST = True

    def __init__(
        self,
        factor: Any = 1.0,
        scale: Any = 1.0,
        interpolation: str = "bilinear",
        fill_mode: str = "reflect",
        fill_value: float = 0.0,
        value_range: Sequence[float] = (0, 255),
        seed: int | None = None,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        kind = "RandomElasticTransform"
        self.factor = factor_range(kind, "factor", factor, 0)
        self.scale = factor_range(kind, "scale", scale, 0)
        options(
            kind,
            interpolation=(interpolation, _INTERPOLATIONS),
            fill_mode=(fill_mode, _FILL_MODES),
        )
        self.interpolation, self.fill_mode = interpolation, fill_mode
        self.fill_value = fill_value
        self.value_range = value_range

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        if not self.scale[1] or not self.factor[1]:
            return None
        return {
            "apply_transform": wt.tensor(self._chosen(random, shape, self.factor)),
            "distortion_factor": random.uniform(*self.scale),
            "seed": random.getrandbits(62),
        }

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        return self._distorted(self._cast(images), transformation, self.interpolation)

    def transform_segmentation_masks(
        self, segmentation_masks: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Move pixels of masks as those of images, taking the nearest."""

        def change(masks: Tensor, drawn: Any) -> Tensor:
            return self._distorted(self._cast(masks), drawn, "nearest")

        return self._changed(change, segmentation_masks, transformation, training)

    def _distorted(self, images: Tensor, transformation: Any, interpolation: str) -> Tensor:
        # Imported when it is needed, as all functions come with it.
        from webtensor.keras.ops.interpolation import moved_pixels

        count, height, width = self._size(images.shape)
        factor = float(transformation["distortion_factor"])
        sigma = 0.05 * factor * min(height, width)
        far = 0.1 * factor * max(height, width)
        shares = bell(int(6 * sigma) | 1, max(sigma, 1e-6))
        seed = draw_seed("RandomElasticTransform", transformation["seed"])
        noise = wt.random_normal((count, height, width, 2), 0.0, sigma * far, float32, seed)
        moves = filtered(noise, [[one * two for two in shares] for one in shares])
        down, across = wt.unstack(moves, 3)
        y = down + wt.arange(0.0, height, dtype=float32).reshape((height, 1))
        x = across + wt.arange(0.0, width, dtype=float32)
        given = (y, x, interpolation, self.fill_mode, self.fill_value)
        made = self._in_order(lambda one: moved_pixels(one, *given), images)
        chosen = of_images(transformation["apply_transform"])
        return wt.clip(wt.where(chosen, made, images), *self.value_range)

    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Refuse boxes: they would be none.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("RandomElasticTransform: there is no rule for bounding boxes")
