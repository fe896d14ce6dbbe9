"""Elastic distortion: each pixel is moved by itself."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, TypedDict

from webtensor import ops as wt
from webtensor.dtypes import float32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.layers.preprocessing.images.base import RandomImageLayer, per_image
from webtensor.keras.layers.preprocessing.images.filters import filtered, gaussian, outer_product
from webtensor.keras.layers.preprocessing.images.ranges import Factor, factor_range, options
from webtensor.keras.ops.interpolation import moved_pixels
from webtensor.keras.seeds import draw_seed
from webtensor.keras.utils.bounding_boxes import Boxes

__all__ = ["RandomElasticTransform"]

_INTERPOLATIONS = ("nearest", "bilinear")
_FILL_MODES = ("constant", "nearest", "wrap", "mirror", "reflect")


class Distortion(TypedDict):
    """Which images are distorted, how much, and the seed of the field of displacements."""

    apply_transform: Tensor
    distortion_factor: float
    seed: int


class RandomElasticTransform(RandomImageLayer[Distortion]):
    """Distorts images as if they were printed on rubber, at random during training.

    Displacements are smooth random fields: normal noise after a Gaussian filter.

    Output shape: that of the inputs.

    Args:
        factor: two numbers from 0 to 1, the bounds of the probability that an image is distorted;
            or one number ``f`` for (0, f).
        scale: two numbers from 0 to 1, the bounds of the strength, which is drawn once per call,
            or one number ``s`` for (0, s). At 1, displacements reach a tenth of the larger side.
        interpolation: ``"bilinear"`` or ``"nearest"``.
        fill_mode: the values outside an image: ``"reflect"``, ``"mirror"``, ``"wrap"``,
            ``"nearest"``, or ``"constant"``, which is ``fill_value``.
        fill_value: a number for ``fill_mode="constant"``.

    Raises:
        ValueError: ``factor`` or ``scale`` is out of range.
        NotImplementedError: ``interpolation`` or ``fill_mode`` is unknown; in calls, data have
            bounding boxes.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> keras.layers.RandomElasticTransform()(wt.ones((2, 8, 8, 3))).shape
        (2, 8, 8, 3)
    """

    _IS_ALWAYS_CAST = True

    def __init__(
        self,
        factor: Factor = 1.0,
        scale: Factor = 1.0,
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

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Distortion | None:
        if not self.scale[1] or not self.factor[1]:
            return None
        return {
            "apply_transform": self._draw_chosen(random, shape, self.factor),
            "distortion_factor": random.uniform(*self.scale),
            "seed": random.getrandbits(62),
        }

    def _transform(self, images: Tensor, transformation: Distortion) -> Tensor:
        return self._distorted(self._cast(images), transformation, self.interpolation)

    def transform_segmentation_masks(
        self,
        segmentation_masks: TensorLike,
        transformation: Distortion | None,
        training: bool | None = True,
    ) -> Tensor:
        """Distort masks as the images, with the nearest pixel."""

        def distorted(masks: Tensor, drawn: Distortion) -> Tensor:
            return self._distorted(self._cast(masks), drawn, "nearest")

        return self._apply(distorted, segmentation_masks, transformation, training)

    def _distorted(self, images: Tensor, transformation: Distortion, interpolation: str) -> Tensor:
        batch, height, width = self._batch_and_size(images.shape)
        factor = float(transformation["distortion_factor"])
        sigma = 0.05 * factor * min(height, width)
        reach = 0.1 * factor * max(height, width)
        weights = gaussian(int(6 * sigma) | 1, max(sigma, 1e-6))
        seed = draw_seed("RandomElasticTransform", transformation["seed"])
        noise = wt.random_normal((batch, height, width, 2), 0.0, sigma * reach, float32, seed)
        down, across = wt.unstack(filtered(noise, outer_product(weights, weights)), 3)
        y = down + wt.arange(0.0, height, dtype=float32).reshape((height, 1))
        x = across + wt.arange(0.0, width, dtype=float32)
        fill = (self.fill_mode, self.fill_value)
        distorted = self._with_channels_last(
            lambda pixels: moved_pixels(pixels, y, x, interpolation, *fill), images
        )
        is_distorted = per_image(transformation["apply_transform"])
        return wt.clip(wt.where(is_distorted, distorted, images), *self.value_range)

    def transform_bounding_boxes(
        self,
        bounding_boxes: Boxes,
        transformation: Distortion | None,
        training: bool | None = True,
    ) -> Boxes:
        """Raise an error: a distorted box is no box.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("RandomElasticTransform: bounding boxes are not supported")
