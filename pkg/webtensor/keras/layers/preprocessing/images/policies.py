"""Random sequences of other layers: RandAugment and AugMix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeAlias, TypedDict, TypeVar

from webtensor import ops as wt
from webtensor.dtypes import float32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.layers.preprocessing.images.base import (
    BaseImagePreprocessingLayer,
    RandomImageLayer,
    Transformation,
)
from webtensor.keras.layers.preprocessing.images.colors import RandomColorDegeneration
from webtensor.keras.layers.preprocessing.images.filters import RandomSharpness
from webtensor.keras.layers.preprocessing.images.histograms import Equalization
from webtensor.keras.layers.preprocessing.images.ranges import Factor, factor_range
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
from webtensor.keras.utils.bounding_boxes import Boxes

__all__ = ["AugMix", "RandAugment"]

#: A layer with whatever it draws.
_Layer: TypeAlias = BaseImagePreprocessingLayer[Any]
Value = TypeVar("Value")


class PolicyLayer(RandomImageLayer[Transformation]):
    """The base of layers that call others, which are their attributes.

    Args:
        factor: two numbers from 0 to 1, the bounds of the strength of all layers, their own
            ``factor``; or one number ``f`` for (0, f).
        interpolation: ``"bilinear"`` or ``"nearest"``, of the layers that move pixels.
    """

    _IS_ALWAYS_CAST = True

    def __init__(
        self,
        value_range: Sequence[float],
        factor: Factor,
        interpolation: str,
        seed: int | None,
        data_format: str | None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format=data_format, **kwargs)
        self.value_range = value_range
        self.factor = factor_range(type(self).__name__, "factor", factor, 0)
        self.interpolation = interpolation

    def _make_layers(self, names: Sequence[str]) -> None:
        factor = self.factor
        common: dict[str, Any] = {
            "data_format": self.data_format,
            "bounding_box_format": self.bounding_box_format,
        }
        random = {**common, "seed": self.seed}
        warp = {**random, "interpolation": self.interpolation}
        tone = {**random, "value_range": self.value_range}
        fixed = {**common, "value_range": self.value_range}
        bits = max(1, int(8 * factor[1]))
        makers: dict[str, Callable[[], _Layer]] = {
            "random_shear": lambda: RandomShear(factor, factor, **warp),
            "random_translation": lambda: RandomTranslation(factor, factor, **warp),
            "random_rotation": lambda: RandomRotation(factor, **warp),
            "random_brightness": lambda: RandomBrightness(factor, **tone),
            "random_color_degeneration": lambda: RandomColorDegeneration(factor, **tone),
            "random_contrast": lambda: RandomContrast(factor, **tone),
            "random_sharpness": lambda: RandomSharpness(factor, **tone),
            "solarization": lambda: Solarization(factor, factor, **tone),
            "random_posterization": lambda: RandomPosterization(bits, **tone),
            "auto_contrast": lambda: AutoContrast(**fixed),
            "equalization": lambda: Equalization(**fixed),
        }
        for name in names:
            setattr(self, name, makers[name]())

    def _layer(self, name: str) -> _Layer:
        layer: _Layer = getattr(self, name)
        return layer

    def _draw_for(self, name: str, random: Random, shape: tuple[int, ...]) -> object:
        """Draw the transformation of one of the layers."""
        layer = self._layer(name)
        return layer._draw(random, shape) if isinstance(layer, RandomImageLayer) else None


class LayerSequence(TypedDict):
    """The transformations of all layers by their names, and the indices of the called ones."""

    transforms: dict[str, object]
    layer_idxes: Tensor


class RandAugment(PolicyLayer[LayerSequence]):
    """Applies ``num_ops`` layers to the images of a batch, drawn for each call, during training.

    They are drawn from ``RandomShear``, ``RandomTranslation``, ``RandomRotation``,
    ``RandomBrightness``, ``RandomColorDegeneration``, ``RandomContrast``, ``RandomSharpness``,
    ``RandomPosterization``, ``Solarization``, ``AutoContrast`` and ``Equalization``.

    Output shape: that of the inputs.

    Args:
        num_ops: an integer, the number of layers that a call applies.

    Raises:
        ValueError: ``factor`` is out of range.
        NotImplementedError: ``interpolation`` is unknown.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> keras.layers.RandAugment()(wt.ones((2, 8, 8, 3))).shape
        (2, 8, 8, 3)
    """

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
        factor: Factor = 0.5,
        interpolation: str = "bilinear",
        seed: int | None = None,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(value_range, factor, interpolation, seed, data_format, **kwargs)
        self.num_ops = num_ops
        self._make_layers(self._AUGMENT_LAYERS)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> LayerSequence:
        names = self._AUGMENT_LAYERS
        return {
            "transforms": {name: self._draw_for(name, random, shape) for name in names},
            "layer_idxes": wt.tensor(
                [random.randrange(len(names)) for _ in range(self.num_ops)], dtype="int32"
            ),
        }

    def _in_sequence(self, method: str, value: Value, transformation: LayerSequence) -> Value:
        """Call a method of the drawn layers, one after the other."""
        drawn = list(transformation["transforms"].items())
        for index in wt.asarray(transformation["layer_idxes"]).tolist():
            name, layer_transformation = drawn[index]
            value = getattr(self._layer(name), method)(value, layer_transformation)
        return value

    def _transform(self, images: Tensor, transformation: LayerSequence) -> Tensor:
        return self._in_sequence("transform_images", self._cast(images), transformation)

    def transform_segmentation_masks(
        self,
        segmentation_masks: TensorLike,
        transformation: LayerSequence | None,
        training: bool | None = True,
    ) -> TensorLike:
        """Move the pixels of masks as those of images."""
        if not self._is_active(transformation, training):
            return segmentation_masks
        method = "transform_segmentation_masks"
        return self._in_sequence(method, segmentation_masks, transformation)

    def transform_bounding_boxes(
        self,
        bounding_boxes: Boxes,
        transformation: LayerSequence | None,
        training: bool | None = True,
    ) -> Boxes:
        """Return the boxes around the transformed ones."""
        if not self._is_active(transformation, training):
            return bounding_boxes
        return self._in_sequence("transform_bounding_boxes", bounding_boxes, transformation)


class ChainLink(TypedDict):
    """One layer of a chain, and what it has drawn."""

    layer_name: str
    transformation: object


class LayerChains(TypedDict):
    """Chains of layers, their weights, and the weight of the image itself."""

    chain_mixing_weights: Tensor
    weight_sample: float
    chain_transforms: list[list[ChainLink]]


class AugMix(PolicyLayer[LayerChains]):
    """Blends images with the results of chains of layers, during training (Hendrycks et al., 2020).

    Output shape: that of the inputs.

    Args:
        num_chains: an integer, the number of chains.
        chain_depth: an integer, the maximum number of layers in a chain.
        alpha: a positive number: the weights of the chains have a Dirichlet distribution with
            parameters ``alpha``, the weight of the image itself a beta distribution.
        all_ops: a boolean, whether layers are drawn from all those of ``RandAugment``; otherwise
            ``RandomBrightness``, ``RandomColorDegeneration``, ``RandomContrast`` and
            ``RandomSharpness`` are left out.

    Raises:
        ValueError: ``factor`` is out of range.
        NotImplementedError: ``interpolation`` is unknown.

    Example:
        >>> from webtensor import keras
        >>> import webtensor as wt
        >>> keras.layers.AugMix()(wt.ones((2, 8, 8, 3))).shape
        (2, 8, 8, 3)
    """

    _STANDARD_LAYERS = (
        "random_shear",
        "random_translation",
        "random_rotation",
        "random_posterization",
        "solarization",
        "auto_contrast",
        "equalization",
    )
    _FURTHER_LAYERS = (
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
        factor: Factor = 0.3,
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
        further_layers = self._FURTHER_LAYERS if all_ops else ()
        self._augment_layers = [*self._STANDARD_LAYERS, *further_layers]
        self._make_layers(self._augment_layers)

    def _draw(self, random: Random, shape: tuple[int, ...]) -> LayerChains:
        weights = [random.gammavariate(self.alpha, 1.0) for _ in range(self.num_chains)]
        total = sum(weights) or 1.0
        chains: list[list[ChainLink]] = []
        for _ in range(self.num_chains):
            names = random.choices([*self._augment_layers, None], k=self.chain_depth)
            chains.append(
                [
                    {"layer_name": name, "transformation": self._draw_for(name, random, shape)}
                    for name in names
                    if name is not None
                ]
            )
        return {
            "chain_mixing_weights": wt.tensor(
                [weight / total for weight in weights], dtype=float32
            ),
            "weight_sample": random.betavariate(self.alpha, self.alpha),
            "chain_transforms": chains,
        }

    def _blended(self, method: str, value: Tensor, transformation: LayerChains) -> Tensor:
        """Return the weighted sum of a value and of what the chains make of it."""
        own_weight = float(transformation["weight_sample"])
        weights = wt.asarray(transformation["chain_mixing_weights"]).tolist()
        blended = value * own_weight
        for weight, chain in zip(weights, transformation["chain_transforms"], strict=True):
            output = value
            for link in chain:
                transform = getattr(self._layer(link["layer_name"]), method)
                output = transform(output, link["transformation"])
            blended = blended + output * ((1 - own_weight) * weight)
        return blended

    def _transform(self, images: Tensor, transformation: LayerChains) -> Tensor:
        blended = self._blended("transform_images", self._cast(images), transformation)
        return wt.clip(blended, *self.value_range)

    def transform_segmentation_masks(
        self,
        segmentation_masks: TensorLike,
        transformation: LayerChains | None,
        training: bool | None = True,
    ) -> Tensor:
        """Blend masks, as Keras does."""

        def blended(masks: Tensor, drawn: LayerChains) -> Tensor:
            return self._blended("transform_segmentation_masks", self._cast(masks), drawn)

        return self._apply(blended, segmentation_masks, transformation, training)
