"""MobileNet V3, small networks that were searched for (Howard et al., 2019).

They scale pixels from 0 to 255 themselves, so ``preprocess_input`` returns images as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from webtensor.keras.applications.blocks import (
    Images,
    channel_axis,
    channels,
    rounded,
    strided_padding,
)
from webtensor.keras.applications.imagenet_utils import (
    decode_predictions,
    preprocess_for_nothing as preprocess_input,
)
from webtensor.keras.applications.mobilenet import ScaledNetwork
from webtensor.keras.applications.networks import IMAGENET_CLASSES, constructor, with_channels
from webtensor.keras.applications.pretrained import Weights
from webtensor.keras.data_formats import image_data_format, spatial_shape_of
from webtensor.keras.layers import (
    Activation,
    Add,
    BatchNormalization,
    Conv2D,
    DepthwiseConv2D,
    Dropout,
    Flatten,
    GlobalAveragePooling2D,
    Multiply,
    ReLU,
    Rescaling,
    ZeroPadding2D,
)
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import ActivationLike, Shape

__all__ = ["MobileNetV3Large", "MobileNetV3Small", "decode_predictions", "preprocess_input"]


class _Block(NamedTuple):
    """A block of the network that is not minimalistic."""

    expansion: float
    width: int
    kernel: int
    strides: int
    excites: bool
    swishes: bool


class _Facts(NamedTuple):
    """The blocks of a network, the channels of its classifier, and its name in files."""

    blocks: tuple[_Block, ...]
    top: int
    file_name: str


_SMALL = (
    _Block(1, 16, 3, 2, excites=True, swishes=False),
    _Block(72 / 16, 24, 3, 2, excites=False, swishes=False),
    _Block(88 / 24, 24, 3, 1, excites=False, swishes=False),
    _Block(4, 40, 5, 2, excites=True, swishes=True),
    *[_Block(6, 40, 5, 1, excites=True, swishes=True)] * 2,
    *[_Block(3, 48, 5, 1, excites=True, swishes=True)] * 2,
    _Block(6, 96, 5, 2, excites=True, swishes=True),
    *[_Block(6, 96, 5, 1, excites=True, swishes=True)] * 2,
)
_LARGE = (
    _Block(1, 16, 3, 1, excites=False, swishes=False),
    _Block(4, 24, 3, 2, excites=False, swishes=False),
    _Block(3, 24, 3, 1, excites=False, swishes=False),
    _Block(3, 40, 5, 2, excites=True, swishes=False),
    *[_Block(3, 40, 5, 1, excites=True, swishes=False)] * 2,
    _Block(6, 80, 3, 2, excites=False, swishes=True),
    _Block(2.5, 80, 3, 1, excites=False, swishes=True),
    *[_Block(2.3, 80, 3, 1, excites=False, swishes=True)] * 2,
    *[_Block(6, 112, 3, 1, excites=True, swishes=True)] * 2,
    _Block(6, 160, 5, 2, excites=True, swishes=True),
    *[_Block(6, 160, 5, 1, excites=True, swishes=True)] * 2,
)
_SQUEEZING = 0.25
#: The hashes of the files of weights, with and without the classifier.
_HASHES = {
    "large_224_0.75": ("765b44a33ad4005b3ac83185abf1d0eb", "40af19a13ebea4e2ee0c676887f69a2e"),
    "large_224_1.0": ("59e551e166be033d707958cf9e29a6a7", "07fb09a5933dd0c8eaafa16978110389"),
    "large_minimalistic_224_1.0": (
        "675e7b876c45c57e9e63e6d90a36599c",
        "ec5221f64a2f6d1ef965a614bdae7973",
    ),
    "small_224_0.75": ("cb65d4e5be93758266aa0a7f2c6708b7", "ebdb5cc8e0b497cd13a7c275d475c819"),
    "small_224_1.0": ("8768d4c2e7dee89b9d02b2d03d65d862", "d3e8ec802a04aa4fc771ee12a9a9b836"),
    "small_minimalistic_224_1.0": (
        "99cd97fb2fcdad2bf028eb838de69e37",
        "cde8136e733e811080d9fcd8a252f7e4",
    ),
}


@dataclass
class _SearchedNetwork(ScaledNetwork[_Facts]):
    """A small network that was searched for (Howard et al., 2019)."""

    input_shape: Sequence[int | None] | None = None
    alpha: float = 1.0
    minimalistic: bool = False
    include_top: bool = True
    weights: Weights = "imagenet"
    input_tensor: KerasTensor | None = None
    classes: int = IMAGENET_CLASSES
    pooling: str | None = None
    dropout_rate: float = 0.2
    classifier_activation: ActivationLike = "softmax"
    include_preprocessing: bool = True
    name: str | None = None

    pretrained_sizes = (224,)
    feature_pooling = ("avg_pool", "max_pool")
    folder = "mobilenet_v3"
    headless_suffix = "_no_top_v2"

    def check(self) -> None:
        self.pretrained_alphas = (1.0,) if self.minimalistic else (0.75, 1.0)
        super().check()
        self.check_sizes_of_tensor()

    def image_shape(self) -> Shape:
        shape = self.given_shape()
        if shape is None and self.input_tensor is not None:
            shape = tuple(self.input_tensor.shape[1:])
        shape = shape or with_channels((None, None), 3)
        self.check_sizes(shape)
        sizes = spatial_shape_of((None, *shape), image_data_format())
        if self.is_pretrained and sizes != (self.size, self.size):
            self.warn_of_size()
        return shape

    def features(self, x: Images) -> Images:
        if self.include_preprocessing:
            x = Rescaling(1 / 127.5, offset=-1.0)(x)
        x = Conv2D(16, 3, strides=2, padding="same", use_bias=False, name="conv")(x)
        x = self.activated(_normalized(x, "conv_bn"))
        for number, block in enumerate(self.facts.blocks):
            x = self.block(x, block, f"expanded_conv_{number}_" if number else "expanded_conv_")
        width = rounded(channels(x) * 6)
        x = Conv2D(width, 1, padding="same", use_bias=False, name="conv_1")(x)
        return self.activated(_normalized(x, "conv_1_bn"))

    def block(self, x: Images, block: _Block, prefix: str) -> Images:
        """Apply an inverted residual block."""
        shortcut, count = x, channels(x)
        width, expanded = rounded(block.width * self.alpha), rounded(count * block.expansion)
        kernel = 3 if self.minimalistic else block.kernel
        if prefix != "expanded_conv_":
            name = f"{prefix}expand"
            x = Conv2D(expanded, 1, padding="same", use_bias=False, name=name)(x)
            x = self.activated(_normalized(x, f"{name}_bn"), block.swishes)
        if block.strides == 2:
            x = ZeroPadding2D(strided_padding(x, kernel), name=f"{prefix}depthwise_pad")(x)
        x = DepthwiseConv2D(
            kernel,
            strides=block.strides,
            padding="same" if block.strides == 1 else "valid",
            use_bias=False,
            name=f"{prefix}depthwise",
        )(x)
        x = self.activated(_normalized(x, f"{prefix}depthwise_bn"), block.swishes)
        if block.excites and not self.minimalistic:
            x = _excited(x, expanded, f"{prefix}squeeze_excite_")
        x = Conv2D(width, 1, padding="same", use_bias=False, name=f"{prefix}project")(x)
        x = _normalized(x, f"{prefix}project_bn")
        if block.strides == 1 and count == width:
            x = Add(name=f"{prefix}add")([shortcut, x])
        return x

    def activated(self, x: Images, swishes: bool = True) -> Images:
        """Apply hard swish, or ReLU."""
        layer = Activation("hard_swish") if swishes and not self.minimalistic else ReLU()
        return layer(x)

    def classify(self, x: Images) -> Images:
        x = GlobalAveragePooling2D(keepdims=True)(x)
        top = rounded(self.facts.top * self.alpha) if self.alpha > 1 else self.facts.top
        x = self.activated(Conv2D(top, 1, padding="same", name="conv_2")(x))
        if self.dropout_rate > 0:
            x = Dropout(self.dropout_rate)(x)
        x = Conv2D(self.classes, 1, padding="same", name="logits")(x)
        return Activation(self.classifier_activation, name="predictions")(Flatten()(x))

    def file_stem(self) -> str:
        return f"weights_mobilenet_v3_{self.version()}_float"

    def file_hash(self) -> str:
        return _HASHES[self.version()][not self.include_top]

    def version(self) -> str:
        """Return what file names have for the size of the network."""
        kind = "_minimalistic" if self.minimalistic else ""
        return f"{self.facts.file_name}{kind}_{self.size}_{float(self.alpha)}"


def _normalized(x: Images, name: str) -> Images:
    return BatchNormalization(axis=channel_axis(), epsilon=1e-3, momentum=0.999, name=name)(x)


def _excited(inputs: Images, width: int, prefix: str) -> Images:
    x = GlobalAveragePooling2D(keepdims=True, name=f"{prefix}avg_pool")(inputs)
    x = Conv2D(rounded(width * _SQUEEZING), 1, padding="same", name=f"{prefix}conv")(x)
    x = ReLU(name=f"{prefix}relu")(x)
    x = Conv2D(width, 1, padding="same", name=f"{prefix}conv_1")(x)
    x = ReLU(6.0)(x + 3.0) * (1 / 6)
    return Multiply(name=f"{prefix}mul")([inputs, x])


MobileNetV3Small = constructor(
    _SearchedNetwork, "MobileNetV3Small", "MobileNetV3Small", _Facts(_SMALL, 1024, "small")
)
MobileNetV3Large = constructor(
    _SearchedNetwork, "MobileNetV3Large", "MobileNetV3Large", _Facts(_LARGE, 1280, "large")
)
