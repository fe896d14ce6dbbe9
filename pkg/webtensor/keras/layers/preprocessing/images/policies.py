"""Several changes one after the other, drawn from those that there are."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.dtypes import float32
from webtensor.engine import Tensor
from webtensor.keras.layers.preprocessing.images.base import RandomImageLayer
from webtensor.keras.layers.preprocessing.images.colors import RandomColorDegeneration
from webtensor.keras.layers.preprocessing.images.filters import RandomSharpness
from webtensor.keras.layers.preprocessing.images.histograms import Equalization
from webtensor.keras.layers.preprocessing.images.ranges import factor_range
from webtensor.keras.layers.preprocessing.images.tones import (
    AutoContrast,
    RandomBrightness,
    RandomContrast,
    RandomPosterization,
    Solarization,
)
from webtensor.keras.layers.preprocessing.images.warps import (
    RandomRotation,
    RandomShear,
    RandomTranslation,
)

__all__ = ["AugMix", "RandAugment"]


class PolicyLayer(RandomImageLayer):
    """A layer that calls others, which are its attributes."""

    _IS_ALWAYS_CAST = True
    _NAMES: tuple[str, ...]

    def __init__(
        self,
        value_range: Sequence[float],
        factor: Any,
        interpolation: str,
        seed: int | None,
        data_format: str | None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        self.value_range = value_range
        self.factor = factor_range(type(self).__name__, "factor", factor, 0)
        self.interpolation = interpolation

    def _make(self, names: Sequence[str]) -> None:
        """Make the layers."""
        given: dict[str, Any] = {
            "data_format": self.data_format,
            "bounding_box_format": self.bounding_box_format,
        }
        random = {**given, "seed": self.seed}
        place = {**random, "interpolation": self.interpolation}
        values: dict[str, Any] = {"value_range": self.value_range}
        factor = self.factor
        makers: dict[str, Any] = {
            "random_shear": lambda: RandomShear(factor, factor, **place),
            "random_translation": lambda: RandomTranslation(factor, factor, **place),
            "random_rotation": lambda: RandomRotation(factor, **place),
            "random_brightness": lambda: RandomBrightness(factor, **values, **random),
            "random_color_degeneration": lambda: RandomColorDegeneration(
                factor, **values, **random
            ),
            "random_contrast": lambda: RandomContrast(factor, **values, **random),
            "random_sharpness": lambda: RandomSharpness(factor, **values, **random),
            "solarization": lambda: Solarization(factor, factor, **values, **random),
            "random_posterization": lambda: RandomPosterization(
                max(1, int(8 * factor[1])), **values, **random
            ),
            "auto_contrast": lambda: AutoContrast(**values, **given),
            "equalization": lambda: Equalization(**values, **given),
        }
        for name in names:
            setattr(self, name, makers[name]())

    def _drawn_for(self, name: str, random: Random, shape: tuple[int, ...]) -> Any:
        """What one of the layers draws."""
        layer = getattr(self, name)
        return layer._draw(random, shape) if isinstance(layer, RandomImageLayer) else None


class RandAugment(PolicyLayer):
    """Changes the images of a batch by ``num_ops`` of eleven layers, drawn at each call.

    They are ``RandomShear``, ``RandomTranslation``, ``RandomRotation``, ``RandomBrightness``,
    ``RandomColorDegeneration``, ``RandomContrast``, ``RandomSharpness``, ``RandomPosterization``,
    ``Solarization``, ``AutoContrast`` and ``Equalization``, with ``factor``, from 0 to 1, as
    theirs.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> keras.layers.RandAugment()(wt.ones((2, 8, 8, 3))).shape
        (2, 8, 8, 3)
    """

    _CONFIG: ClassVar = ("value_range", "num_ops", "factor", "interpolation")
    _AUGMENT_LAYERS = (
        "random_shear",
        "random_translation",
        "random_rotation",
        "random_brightness",
        "random_color_degeneration",
        "random_contrast",
        "random_sharpness",
        "random_posterization",
        "solarization",
        "auto_contrast",
        "equalization",
    )

    def __init__(
        self,
        value_range: Sequence[float] = (0, 255),
        num_ops: int = 2,
        factor: Any = 0.5,
        interpolation: str = "bilinear",
        seed: int | None = None,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(value_range, factor, interpolation, seed, data_format, **kwargs)
        self.num_ops = num_ops
        self._make(self._AUGMENT_LAYERS)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        names = self._AUGMENT_LAYERS
        return {
            "transforms": {name: self._drawn_for(name, random, shape) for name in names},
            "layer_idxes": wt.tensor(
                [random.randrange(len(names)) for _ in range(self.num_ops)], dtype="int32"
            ),
        }

    def _one_by_one(self, method: str, value: Any, transformation: Any) -> Any:
        """Call a method of the layers that were drawn."""
        drawn = list(transformation["transforms"].items())
        for index in wt.asarray(transformation["layer_idxes"]).tolist():
            name, own = drawn[index]
            value = getattr(getattr(self, name), method)(value, own)
        return value

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        made: Tensor = self._one_by_one("transform_images", self._cast(images), transformation)
        return made

    def transform_segmentation_masks(
        self, segmentation_masks: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Move pixels of masks as those of images."""
        if not self._is_at_work(transformation, training):
            return segmentation_masks
        name = "transform_segmentation_masks"
        return self._one_by_one(name, segmentation_masks, transformation)

    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Move boxes as the pixels in them."""
        if not self._is_at_work(transformation, training):
            return bounding_boxes
        return self._one_by_one("transform_bounding_boxes", bounding_boxes, transformation)


class AugMix(PolicyLayer):
    """Blends images with chains of changes of them (Hendrycks and others, 2020).

    Each of ``num_chains`` is up to ``chain_depth`` layers, drawn from those of ``RandAugment``, or
    from the first seven of them unless ``all_ops``, with ``factor``, from 0 to 1, as theirs. Their
    shares have a Dirichlet distribution with parameters ``alpha``; the share of the image itself
    has a beta distribution.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> keras.layers.AugMix()(wt.ones((2, 8, 8, 3))).shape
        (2, 8, 8, 3)
    """

    _CONFIG: ClassVar = (
        "value_range",
        "num_chains",
        "chain_depth",
        "factor",
        "alpha",
        "all_ops",
        "interpolation",
    )
    _SOME = (
        "random_shear",
        "random_translation",
        "random_rotation",
        "random_posterization",
        "solarization",
        "auto_contrast",
        "equalization",
    )
    _MORE = (
        "random_brightness",
        "random_color_degeneration",
        "random_contrast",
        "random_sharpness",
    )

    def __init__(
        self,
        value_range: Sequence[float] = (0, 255),
        num_chains: int = 3,
        chain_depth: int = 3,
        factor: Any = 0.3,
        alpha: float = 1.0,
        all_ops: bool = True,
        interpolation: str = "bilinear",
        seed: int | None = None,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(value_range, factor, interpolation, seed, data_format, **kwargs)
        self.num_chains, self.chain_depth = num_chains, chain_depth
        self.alpha, self.all_ops = alpha, all_ops
        self._augment_layers = [*self._SOME, *(self._MORE if all_ops else ())]
        self._make(self._augment_layers)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> Any:
        weights = [random.gammavariate(self.alpha, 1.0) for _ in range(self.num_chains)]
        total = sum(weights) or 1.0
        chains = []
        for _ in range(self.num_chains):
            names = random.choices([*self._augment_layers, None], k=self.chain_depth)
            chains.append(
                [
                    {"layer_name": name, "transformation": self._drawn_for(name, random, shape)}
                    for name in names
                    if name is not None
                ]
            )
        return {
            "chain_mixing_weights": wt.tensor([one / total for one in weights], dtype=float32),
            "weight_sample": random.betavariate(self.alpha, self.alpha),
            "chain_transforms": chains,
        }

    def _blended(self, method: str, value: Tensor, transformation: Any) -> Tensor:
        """A value, and what the chains make of it, by their shares."""
        own = float(transformation["weight_sample"])
        weights = wt.asarray(transformation["chain_mixing_weights"]).tolist()
        made = value * own
        for weight, chain in zip(weights, transformation["chain_transforms"], strict=True):
            changed = value
            for part in chain:
                change = getattr(getattr(self, part["layer_name"]), method)
                changed = change(changed, part["transformation"])
            made = made + changed * ((1 - own) * weight)
        return made

    def _change(self, images: Tensor, transformation: Any) -> Tensor:
        made = self._blended("transform_images", self._cast(images), transformation)
        return wt.clip(made, *self.value_range)

    def transform_segmentation_masks(
        self, segmentation_masks: Any, transformation: Any, training: bool | None = True
    ) -> Any:
        """Blend masks, as Keras does."""

        def change(masks: Tensor, drawn: Any) -> Tensor:
            return self._blended("transform_segmentation_masks", self._cast(masks), drawn)

        return self._changed(change, segmentation_masks, transformation, training)
