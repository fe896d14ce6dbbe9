"""ConvNeXt, convolutional networks in the manner of vision transformers (Liu et al., 2022).

They scale pixels from 0 to 255 themselves, so ``preprocess_input`` returns images as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras import initializers, random
from webtensor.keras.applications.blocks import Images
from webtensor.keras.applications.imagenet_utils import (
    DEVIATION,
    MEAN,
    decode_predictions,
    preprocess_for_nothing as preprocess_input,
)
from webtensor.keras.applications.networks import IMAGENET_CLASSES, Network, constructor
from webtensor.keras.applications.pretrained import Weights
from webtensor.keras.layers import (
    Activation,
    Conv2D,
    Dense,
    GlobalAveragePooling2D,
    Layer,
    LayerNormalization,
    Normalization,
)
from webtensor.keras.models import Sequential
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import ActivationLike, Shape
from webtensor.keras.utils.global_state import get_source_inputs

__all__ = [
    "ConvNeXtBase",
    "ConvNeXtLarge",
    "ConvNeXtSmall",
    "ConvNeXtTiny",
    "ConvNeXtXLarge",
    "LayerScale",
    "StochasticDepth",
    "decode_predictions",
    "preprocess_input",
]

_EPSILON = 1e-6
#: The first factor of the outputs of blocks.
_SCALE = 1e-6


class LayerScale(Layer):
    """``x * gamma`` with a trainable factor for each channel (Touvron et al., 2021).

    Args:
        init_values: a number, the first value of all factors.
        projection_dim: a positive integer, the number of channels.
    """

    def __init__(self, init_values: float, projection_dim: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.init_values, self.projection_dim = init_values, projection_dim

    def build(self, input_shape: Shape) -> None:
        """Make the factors."""
        initializer = initializers.Constant(self.init_values)
        self.gamma = self.add_weight(shape=(self.projection_dim,), initializer=initializer)

    def call(self, x: Tensor) -> Tensor:
        """Multiply."""
        return x * self.gamma

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape of the inputs."""
        return input_shape


class StochasticDepth(Layer):
    """Drops whole examples in training, and divides the others by ``1 - drop_path_rate``.

    See Huang et al., 2016.

    Args:
        drop_path_rate: a number between 0 and 1, the probability that an example is dropped.
    """

    def __init__(self, drop_path_rate: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.drop_path_rate = drop_path_rate

    def call(self, x: Tensor, training: bool | None = None) -> Tensor:
        """Drop examples, in training."""
        if not training:
            return x
        keep_rate = 1 - self.drop_path_rate
        shape = (x.shape[0], *[1] * (len(x.shape) - 1))
        return x / keep_rate * wt.floor(random.uniform(shape, 0, 1) + keep_rate)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape of the inputs."""
        return input_shape


class _Facts(NamedTuple):
    """The depths and channels of the stages."""

    depths: tuple[int, int, int, int]
    widths: tuple[int, int, int, int]


@dataclass
class _ModernNetwork(Network[_Facts]):
    """A convolutional network in the manner of vision transformers (Liu et al., 2022)."""

    include_top: bool = True
    include_preprocessing: bool = True
    weights: Weights = "imagenet"
    input_tensor: KerasTensor | None = None
    input_shape: Sequence[int | None] | None = None
    pooling: str | None = None
    classes: int = IMAGENET_CLASSES
    classifier_activation: ActivationLike = "softmax"
    name: str | None = None

    supports_channels_first = False
    folder = "convnext"

    def source_inputs(self, x: KerasTensor) -> KerasTensor:
        return get_source_inputs(x)[0]

    def features(self, x: Images) -> Images:
        if self.include_preprocessing and self.shape[-1] == 3:
            mean = [255 * value for value in MEAN]
            variance = [(255 * deviation) ** 2 for deviation in DEVIATION]
            name = f"{self.name}_prestem_normalization"
            x = Normalization(mean=mean, variance=variance, name=name)(x)
        entries = [self.entry(stage) for stage in range(4)]
        for stage, (depth, width) in enumerate(zip(*self.facts, strict=True)):
            x = entries[stage](x)
            for block in range(depth):
                x = _block(x, width, f"{self.name}_stage_{stage}_block_{block}")
        return x

    def entry(self, stage: int) -> Sequential:
        """Return the layers before a stage, which make images smaller."""
        width = self.facts.widths[stage]
        if stage == 0:
            stem = f"{self.name}_stem"
            layers = [
                Conv2D(width, 4, strides=4, name=f"{stem}_conv"),
                _normalization(f"{stem}_layernorm"),
            ]
            return Sequential(layers, name=stem)
        prefix, number = f"{self.name}_downsampling", stage - 1
        layers = [
            _normalization(f"{prefix}_layernorm_{number}"),
            Conv2D(width, 2, strides=2, name=f"{prefix}_conv_{number}"),
        ]
        return Sequential(layers, name=f"{prefix}_block_{number}")

    def pool(self, x: Images) -> Images:
        return _normalization(None)(super().pool(x))

    def classify(self, x: Images) -> Images:
        prefix = f"{self.name}_head"
        x = GlobalAveragePooling2D(name=f"{prefix}_gap")(x)
        x = _normalization(f"{prefix}_layernorm")(x)
        activation = self.classifier_activation
        return Dense(self.classes, activation=activation, name=f"{prefix}_dense")(x)

    def file_stem(self) -> str:
        return self.default_name


def _block(inputs: Images, width: int, prefix: str) -> Images:
    name = f"{prefix}_depthwise_conv"
    x = Conv2D(width, 7, padding="same", groups=width, name=name)(inputs)
    x = _normalization(f"{prefix}_layernorm")(x)
    x = Dense(4 * width, name=f"{prefix}_pointwise_conv_1")(x)
    x = Activation("gelu", name=f"{prefix}_gelu")(x)
    x = Dense(width, name=f"{prefix}_pointwise_conv_2")(x)
    x = LayerScale(_SCALE, width, name=f"{prefix}_layer_scale")(x)
    return inputs + Activation("linear", name=f"{prefix}_identity")(x)


def _normalization(name: str | None) -> LayerNormalization:
    return LayerNormalization(epsilon=_EPSILON, name=name)


ConvNeXtTiny = constructor(
    _ModernNetwork,
    "ConvNeXtTiny",
    "convnext_tiny",
    _Facts((3, 3, 9, 3), (96, 192, 384, 768)),
    (
        "8ae6e78ce2933352b1ef4008e6dd2f17bc40771563877d156bc6426c7cf503ff",
        "d547c096cabd03329d7be5562c5e14798aa39ed24b474157cef5e85ab9e49ef1",
    ),
)
ConvNeXtSmall = constructor(
    _ModernNetwork,
    "ConvNeXtSmall",
    "convnext_small",
    _Facts((3, 3, 27, 3), (96, 192, 384, 768)),
    (
        "ce1277d8f1ee5a0ef0e171469089c18f5233860ceaf9b168049cb9263fd7483c",
        "6fc8009faa2f00c1c1dfce59feea9b0745eb260a7dd11bee65c8e20843da6eab",
    ),
)
ConvNeXtBase = constructor(
    _ModernNetwork,
    "ConvNeXtBase",
    "convnext_base",
    _Facts((3, 3, 27, 3), (128, 256, 512, 1024)),
    (
        "52cbb006d3dadd03f6e095a8ca1aca47aecdd75acb4bc74bce1f5c695d0086e6",
        "40a20c5548a5e9202f69735ecc06c990e6b7c9d2de39f0361e27baeb24cb7c45",
    ),
)
ConvNeXtLarge = constructor(
    _ModernNetwork,
    "ConvNeXtLarge",
    "convnext_large",
    _Facts((3, 3, 27, 3), (192, 384, 768, 1536)),
    (
        "070c5ed9ed289581e477741d3b34beffa920db8cf590899d6d2c67fba2a198a6",
        "96f02b6f0753d4f543261bc9d09bed650f24dd6bc02ddde3066135b63d23a1cd",
    ),
)
ConvNeXtXLarge = constructor(
    _ModernNetwork,
    "ConvNeXtXLarge",
    "convnext_xlarge",
    _Facts((3, 3, 27, 3), (256, 512, 1024, 2048)),
    (
        "c1f5ccab661354fc3a79a10fa99af82f0fbf10ec65cb894a3ae0815f17a889ee",
        "de3f8a54174130e0cecdc71583354753d557fcf1f4487331558e2a16ba0cfe05",
    ),
)
