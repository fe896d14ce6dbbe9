"""ConvNeXt, convolutional networks in the manner of vision transformers (Liu et al., 2022).

They scale pixels from 0 to 255 themselves, so ``preprocess_input`` returns images as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras import layers, random
from webtensor.keras.applications.imagenet_utils import (
    DEVIATION,
    MEAN,
    decode_predictions,
    preprocess_unchanged as preprocess_input,
)
from webtensor.keras.applications.networks import (
    ActivationLike,
    Images,
    ImageShape,
    Network,
    Symbol,
    Weights,
    constructor,
)
from webtensor.keras.initializers import Constant
from webtensor.keras.models import Sequential
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Shape

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


class LayerScale(layers.Layer):
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
        initializer = Constant(self.init_values)
        self.gamma = self.add_weight(shape=(self.projection_dim,), initializer=initializer)

    def call(self, x: Tensor) -> Tensor:
        """Multiply."""
        return x * self.gamma

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape of the inputs."""
        return input_shape


class StochasticDepth(layers.Layer):
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


@dataclass
class _ConvNeXt(Network[tuple[tuple[int, ...], tuple[int, ...]]]):
    """A convolutional network in the manner of vision transformers (Liu et al., 2022)."""

    include_top: bool = True
    include_preprocessing: bool = True
    weights: Weights = "imagenet"
    input_tensor: Symbol = None
    input_shape: ImageShape = None
    pooling: str | None = None
    classes: int = 1000
    classifier_activation: ActivationLike = "softmax"
    name: str | None = None

    supports_channels_first = False
    folder = "convnext"
    file_suffix = ""

    def features(self, x: Images) -> Images:
        if self.include_preprocessing and self.shape[-1] == 3:
            x = layers.Normalization(
                mean=[255 * value for value in MEAN],
                variance=[(255 * deviation) ** 2 for deviation in DEVIATION],
                name=f"{self.name}_prestem_normalization",
            )(x)
        entries = [self.entry(stage, width) for stage, width in enumerate(self.facts[1])]
        for stage, (depth, width) in enumerate(zip(*self.facts, strict=True)):
            x = entries[stage](x)
            for block in range(depth):
                x = _block(x, width, f"{self.name}_stage_{stage}_block_{block}_")
        return x

    def entry(self, stage: int, width: int) -> Sequential:
        """Return the layers before a stage, which make images smaller."""
        name, size = f"{self.name}_stem", 4
        names = [f"{name}_conv", f"{name}_layernorm"]
        if stage:
            size, number, prefix = 2, stage - 1, f"{self.name}_downsampling_"
            name = f"{prefix}block_{number}"
            names = [f"{prefix}conv_{number}", f"{prefix}layernorm_{number}"]
        members = [layers.Conv2D(width, size, strides=size, name=names[0]), _norm(names[1])]
        return Sequential(members[::-1] if stage else members, name=name)

    def source_inputs(self, x: KerasTensor) -> Any:
        return super().source_inputs(x)[0]

    def pool(self, x: Images) -> Images:
        return _norm(None)(super().pool(x))

    def classify(self, x: Images, **options: Any) -> Images:
        prefix = f"{self.name}_head_"
        x = layers.GlobalAveragePooling2D(name=f"{prefix}gap")(x)
        return self.dense(_norm(f"{prefix}layernorm")(x), f"{prefix}dense")


def _block(inputs: Images, width: int, name: str) -> Images:
    depthwise = f"{name}depthwise_conv"
    x = layers.Conv2D(width, 7, padding="same", groups=width, name=depthwise)(inputs)
    x = layers.Dense(4 * width, name=f"{name}pointwise_conv_1")(_norm(f"{name}layernorm")(x))
    x = layers.Activation("gelu", name=f"{name}gelu")(x)
    x = layers.Dense(width, name=f"{name}pointwise_conv_2")(x)
    x = LayerScale(1e-6, width, name=f"{name}layer_scale")(x)
    return inputs + layers.Activation("linear", name=f"{name}identity")(x)


def _norm(name: str | None) -> Any:
    return layers.LayerNormalization(epsilon=1e-6, name=name)


ConvNeXtTiny = constructor(
    _ConvNeXt,
    "ConvNeXtTiny",
    "convnext_tiny",
    ((3, 3, 9, 3), (96, 192, 384, 768)),
    "8ae6e78ce2933352b1ef4008e6dd2f17bc40771563877d156bc6426c7cf503ff",
    "d547c096cabd03329d7be5562c5e14798aa39ed24b474157cef5e85ab9e49ef1",
)
ConvNeXtSmall = constructor(
    _ConvNeXt,
    "ConvNeXtSmall",
    "convnext_small",
    ((3, 3, 27, 3), (96, 192, 384, 768)),
    "ce1277d8f1ee5a0ef0e171469089c18f5233860ceaf9b168049cb9263fd7483c",
    "6fc8009faa2f00c1c1dfce59feea9b0745eb260a7dd11bee65c8e20843da6eab",
)
ConvNeXtBase = constructor(
    _ConvNeXt,
    "ConvNeXtBase",
    "convnext_base",
    ((3, 3, 27, 3), (128, 256, 512, 1024)),
    "52cbb006d3dadd03f6e095a8ca1aca47aecdd75acb4bc74bce1f5c695d0086e6",
    "40a20c5548a5e9202f69735ecc06c990e6b7c9d2de39f0361e27baeb24cb7c45",
)
ConvNeXtLarge = constructor(
    _ConvNeXt,
    "ConvNeXtLarge",
    "convnext_large",
    ((3, 3, 27, 3), (192, 384, 768, 1536)),
    "070c5ed9ed289581e477741d3b34beffa920db8cf590899d6d2c67fba2a198a6",
    "96f02b6f0753d4f543261bc9d09bed650f24dd6bc02ddde3066135b63d23a1cd",
)
ConvNeXtXLarge = constructor(
    _ConvNeXt,
    "ConvNeXtXLarge",
    "convnext_xlarge",
    ((3, 3, 27, 3), (256, 512, 1024, 2048)),
    "c1f5ccab661354fc3a79a10fa99af82f0fbf10ec65cb894a3ae0815f17a889ee",
    "de3f8a54174130e0cecdc71583354753d557fcf1f4487331558e2a16ba0cfe05",
)
