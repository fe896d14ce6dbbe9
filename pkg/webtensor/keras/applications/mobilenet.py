"""MobileNet, small networks of depthwise convolutions, in three versions.

See Howard et al., 2017, Sandler et al., 2018, and Howard et al., 2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple
from warnings import warn

from webtensor.keras import layers
from webtensor.keras.applications.imagenet_utils import (
    decode_predictions,
    preprocess_for_tf as preprocess_input,
)
from webtensor.keras.applications.networks import (
    ActivationLike,
    Facts,
    Images,
    ImageShape,
    Network,
    Symbol,
    Weights,
    channel_axis,
    channels,
    constructor,
    padding,
    rounded,
    spatial,
    with_channels,
)
from webtensor.keras.types import Shape

__all__ = ["MobileNet", "decode_predictions", "preprocess_input"]


class _ScaledNetwork(Network[Facts]):
    """A network that is pretrained for several widths and sizes of images."""

    alpha: float

    alphas: tuple[float, ...]
    sizes: ClassVar[tuple[int, ...]]
    #: The beginning of the default name.
    prefix: ClassVar[str]
    #: The size of the images that the weights are for.
    rows: int | None
    headless_suffix = "_no_top"

    def check(self) -> None:
        super().check()
        alpha = self.alpha
        if isinstance(alpha, bool) or not isinstance(alpha, (int, float)) or alpha <= 0:
            raise self.error(f"alpha must be a positive number, but got {alpha!r}")
        if self.is_pretrained and alpha not in self.alphas:
            raise self.error(
                f"alpha must be one of {self.alphas} with weights='imagenet', but got {alpha!r}"
            )

    def image_shape(self) -> Shape:
        shape = super().image_shape()
        self.rows = self.pretrained_size(shape)
        if self.name is None:
            self.name = f"{self.prefix}_{self.alpha:0.2f}_{self.rows}"
        return shape

    def pretrained_size(self, shape: Shape) -> int | None:
        """Return the height of images, or of the ones that their weights are for."""
        rows, columns = spatial((None, *shape))
        if not self.is_pretrained or (rows == columns and rows in self.sizes):
            return rows
        warn(
            f"{self.title}: input_shape is not that of square images of size "
            f"{', '.join(map(str, self.sizes))}, so the weights are those for {self.size}",
            stacklevel=6,
        )
        return self.size

    def default_size(self) -> int:
        rows, columns = spatial(self.batch_shape())
        return rows if rows and rows == columns and rows in self.sizes else self.size

    def batch_shape(self) -> Shape:
        """Return the shape of the images as far as it is known, with their batch."""
        return (None, *(self.checked_input_shape() or (None,) * 3))


@dataclass
class _MobileNet(_ScaledNetwork[tuple[tuple[int, int], ...]]):
    """A small network of depthwise convolutions (Howard et al., 2017).

    Images are those that ``preprocess_input`` returns.
    """

    input_shape: ImageShape = None
    alpha: float = 1.0
    depth_multiplier: int = 1
    dropout: float = 0.001
    include_top: bool = True
    weights: Weights = "imagenet"
    input_tensor: Symbol = None
    pooling: str | None = None
    classes: int = 1000
    classifier_activation: ActivationLike = "softmax"
    name: str | None = None

    alphas = (0.25, 0.5, 0.75, 1.0)
    sizes = (128, 160, 192, 224)
    prefix = folder = "mobilenet"

    def check(self) -> None:
        super().check()
        if self.is_pretrained and self.depth_multiplier != 1:
            raise self.error(
                "depth_multiplier must be 1 with weights='imagenet', but got "
                f"{self.depth_multiplier!r}"
            )

    def features(self, x: Images) -> Images:
        x = _convolution(x, int(32 * self.alpha), "conv1", 3, strides=2)
        x = _activated(x, "conv1")
        for number, (width, strides) in enumerate(self.facts, 1):
            if strides == 2:
                x = layers.ZeroPadding2D(((0, 1), (0, 1)), name=f"conv_pad_{number}")(x)
            name = f"conv_dw_{number}"
            x = _depthwise(x, 3, strides, name, depth_multiplier=self.depth_multiplier)
            x = _activated(x, name)
            name = f"conv_pw_{number}"
            x = _activated(_convolution(x, int(width * self.alpha), name), name)
        return x

    def classify(self, x: Images, **options: Any) -> Images:
        x = layers.GlobalAveragePooling2D(keepdims=True)(x)
        x = layers.Dropout(self.dropout, name="dropout")(x)
        x = layers.Conv2D(self.classes, 1, padding="same", name="conv_preds")(x)
        x = layers.Reshape((self.classes,), name="reshape_2")(x)
        return layers.Activation(self.classifier_activation, name="predictions")(x)

    def file_stem(self) -> str:
        alpha = {1.0: "1_0", 0.75: "7_5", 0.5: "5_0", 0.25: "2_5"}[self.alpha]
        return f"mobilenet_{alpha}_{self.rows}_tf"


def _convolution(x: Images, width: int, name: str, kernel: int = 1, strides: int = 1) -> Images:
    convolution = layers.Conv2D(width, kernel, strides, "same", use_bias=False, name=name)
    return convolution(x)


def _depthwise(x: Images, kernel: int, strides: int, name: str, **options: Any) -> Images:
    pads = "same" if strides == 1 else "valid"
    return layers.DepthwiseConv2D(
        kernel, strides=strides, padding=pads, use_bias=False, name=name, **options
    )(x)


def _activated(x: Images, name: str) -> Images:
    x = layers.BatchNormalization(axis=channel_axis(), name=f"{name}_bn")(x)
    return layers.ReLU(6.0, name=f"{name}_relu")(x)


# -- inverted residual blocks ------------------------------------------------------------------


class _InvertedNetwork(_ScaledNetwork[Facts]):
    """A network of blocks that have the most channels inside."""

    #: Parts of the names of layers.
    normalization: ClassVar[str]
    padding: ClassVar[str]

    def check(self) -> None:
        super().check()
        shape, tensor = self.checked_input_shape(), self.input_tensor
        if shape and tensor is not None and spatial((None, *shape)) != spatial(tensor.shape):
            raise self.error(f"input_shape is {shape}, but that of input_tensor is {tensor.shape}")

    def batch_shape(self) -> Shape:
        tensor = self.input_tensor
        return super().batch_shape() if self.input_shape or tensor is None else tensor.shape

    def block(
        self,
        inputs: Images,
        number: int,
        width: int,
        expansion: float,
        strides: int,
        kernel: int = 3,
        excites: bool = False,
        swishes: bool = False,
    ) -> Images:
        """Apply a block, of which the first does not expand."""
        x, count, prefix = inputs, channels(inputs.shape), self.block_prefix(number)
        expanded = rounded(count * expansion)
        if number:
            name = f"{prefix}expand"
            x = self.activated(_convolution(x, expanded, name), name, swishes)
        name = f"{prefix}depthwise"
        if strides == 2:
            x = layers.ZeroPadding2D(padding(x, kernel), name=f"{prefix}{self.padding}")(x)
        x = self.activated(_depthwise(x, kernel, strides, name), name, swishes)
        if excites:
            x = _excited(x, expanded, f"{prefix}squeeze_excite_")
        name = f"{prefix}project"
        x = _normalized(_convolution(x, width, name), f"{name}_{self.normalization}")
        if strides == 1 and count == width:
            x = layers.Add(name=f"{prefix}add")([inputs, x])
        return x

    def block_prefix(self, number: int) -> str:
        """Return the beginning of the names of a block's layers."""
        return f"expanded_conv_{number}_" if number else "expanded_conv_"

    def activated(self, x: Images, name: str, swishes: bool) -> Images:
        """Apply batch normalization and an activation."""
        raise NotImplementedError


def _normalized(x: Images, name: str) -> Images:
    axis = channel_axis()
    return layers.BatchNormalization(axis=axis, epsilon=1e-3, momentum=0.999, name=name)(x)


@dataclass
class _MobileNetV2(_InvertedNetwork[tuple[tuple[int, int, int], ...]]):
    """A small network of inverted residual blocks (Sandler et al., 2018).

    Images are those that ``preprocess_input`` returns.
    """

    input_shape: ImageShape = None
    alpha: float = 1.0
    include_top: bool = True
    weights: Weights = "imagenet"
    input_tensor: Symbol = None
    pooling: str | None = None
    classes: int = 1000
    classifier_activation: ActivationLike = "softmax"
    name: str | None = None

    alphas = (0.35, 0.5, 0.75, 1.0, 1.3, 1.4)
    sizes = (96, 128, 160, 192, 224)
    prefix = "mobilenetv2"
    folder = "mobilenet_v2"
    classifier_pooling = None
    normalization = "BN"
    padding = "pad"

    def features(self, x: Images) -> Images:
        x = _convolution(x, rounded(32 * self.alpha), "Conv1", 3, strides=2)
        x = layers.ReLU(6.0, name="Conv1_relu")(_normalized(x, "bn_Conv1"))
        block = 0
        for width, depth, strides in self.facts:
            for index in range(depth):
                scaled = rounded(int(width * self.alpha))
                x = self.block(x, block, scaled, 6, 1 if index else strides)
                block += 1
        top = rounded(1280 * max(self.alpha, 1))
        x = layers.Conv2D(top, 1, use_bias=False, name="Conv_1")(x)
        return layers.ReLU(6.0, name="out_relu")(_normalized(x, "Conv_1_bn"))

    def block_prefix(self, number: int) -> str:
        return f"block_{number}_" if number else super().block_prefix(number)

    def activated(self, x: Images, name: str, swishes: bool) -> Images:
        return layers.ReLU(6.0, name=f"{name}_relu")(_normalized(x, f"{name}_BN"))

    def file_stem(self) -> str:
        return f"mobilenet_v2{self.file_suffix}_{float(self.alpha)}_{self.rows}"


class _Architecture(NamedTuple):
    """The blocks of a network, the channels of its classifier, and its name in files.

    A block has channels, an expansion, a stride, a kernel, squeeze and excitation, and hard swish.
    """

    blocks: tuple[tuple[int, float, int, int, bool, bool], ...]
    top: int
    file_name: str


@dataclass
class _MobileNetV3(_InvertedNetwork[_Architecture]):
    """A small network that was searched for (Howard et al., 2019)."""

    input_shape: ImageShape = None
    alpha: float = 1.0
    minimalistic: bool = False
    include_top: bool = True
    weights: Weights = "imagenet"
    input_tensor: Symbol = None
    classes: int = 1000
    pooling: str | None = None
    dropout_rate: float = 0.2
    classifier_activation: ActivationLike = "softmax"
    include_preprocessing: bool = True
    name: str | None = None

    sizes = (224,)
    feature_pooling = ("avg_pool", "max_pool")
    folder = "mobilenet_v3"
    headless_suffix = "_no_top_v2"
    normalization = "bn"
    padding = "depthwise_pad"

    def check(self) -> None:
        self.alphas = (1.0,) if self.minimalistic else (0.75, 1.0)
        super().check()

    def image_shape(self) -> Shape:
        tensor = self.input_tensor
        unknown = with_channels((None, None), 3) if tensor is None else tensor.shape[1:]
        shape = self.checked_input_shape() or self.checked(unknown)
        self.pretrained_size(shape)
        return shape

    def features(self, x: Images) -> Images:
        if self.include_preprocessing:
            x = layers.Rescaling(1 / 127.5, offset=-1.0)(x)
        x = self.activated(_convolution(x, 16, "conv", 3, strides=2), "conv")
        for number, (width, expansion, strides, kernel, excites, swishes) in enumerate(
            self.facts.blocks
        ):
            if self.minimalistic:
                kernel, excites = 3, False
            width = rounded(width * self.alpha)
            x = self.block(x, number, width, expansion, strides, kernel, excites, swishes)
        return self.activated(_convolution(x, rounded(6 * channels(x.shape)), "conv_1"), "conv_1")

    def activated(self, x: Images, name: str, swishes: bool = True) -> Images:
        return self.activation(_normalized(x, f"{name}_bn"), swishes)

    def activation(self, x: Images, swishes: bool = True) -> Images:
        """Apply hard swish or ReLU."""
        swishes = swishes and not self.minimalistic
        return (layers.Activation("hard_swish") if swishes else layers.ReLU())(x)

    def classify(self, x: Images, **options: Any) -> Images:
        x = layers.GlobalAveragePooling2D(keepdims=True)(x)
        top = rounded(self.facts.top * max(self.alpha, 1))
        x = self.activation(layers.Conv2D(top, 1, padding="same", name="conv_2")(x))
        if self.dropout_rate > 0:
            x = layers.Dropout(self.dropout_rate)(x)
        x = layers.Conv2D(self.classes, 1, padding="same", name="logits")(x)
        x = layers.Flatten()(x)
        return layers.Activation(self.classifier_activation, name="predictions")(x)

    def version(self) -> str:
        """Return what names of files have for the arguments."""
        kind = "_minimalistic" if self.minimalistic else ""
        return f"{self.facts.file_name}{kind}_224_{float(self.alpha)}"

    def file_stem(self) -> str:
        return f"weights_mobilenet_v3_{self.version()}_float"

    def file_hash(self) -> str:
        return _HASHES[self.version()][not self.include_top]


def _excited(inputs: Images, width: int, name: str) -> Images:
    x = layers.GlobalAveragePooling2D(keepdims=True, name=f"{name}avg_pool")(inputs)
    x = layers.Conv2D(rounded(width / 4), 1, padding="same", name=f"{name}conv")(x)
    x = layers.ReLU(name=f"{name}relu")(x)
    x = layers.Conv2D(width, 1, padding="same", name=f"{name}conv_1")(x)
    x = layers.ReLU(6.0)(x + 3.0) * (1 / 6)
    return layers.Multiply(name=f"{name}mul")([inputs, x])


# -- constructors ------------------------------------------------------------------------------

# The channels and the stride of each block.
MobileNet = constructor(
    _MobileNet,
    "MobileNet",
    None,
    (
        (64, 1),
        (128, 2),
        (128, 1),
        (256, 2),
        (256, 1),
        (512, 2),
        *[(512, 1)] * 5,
        (1024, 2),
        (1024, 1),
    ),
)
# The channels of each stage, its number of blocks, and the stride of the first.
MobileNetV2 = constructor(
    _MobileNetV2,
    "MobileNetV2",
    None,
    ((16, 1, 1), (24, 2, 2), (32, 3, 2), (64, 4, 2), (96, 3, 1), (160, 3, 2), (320, 1, 1)),
)
MobileNetV3Small = constructor(
    _MobileNetV3,
    "MobileNetV3Small",
    "MobileNetV3Small",
    _Architecture(
        (
            (16, 1, 2, 3, True, False),
            (24, 72 / 16, 2, 3, False, False),
            (24, 88 / 24, 1, 3, False, False),
            (40, 4, 2, 5, True, True),
            *[(40, 6, 1, 5, True, True)] * 2,
            *[(48, 3, 1, 5, True, True)] * 2,
            (96, 6, 2, 5, True, True),
            *[(96, 6, 1, 5, True, True)] * 2,
        ),
        1024,
        "small",
    ),
)
MobileNetV3Large = constructor(
    _MobileNetV3,
    "MobileNetV3Large",
    "MobileNetV3Large",
    _Architecture(
        (
            (16, 1, 1, 3, False, False),
            (24, 4, 2, 3, False, False),
            (24, 3, 1, 3, False, False),
            (40, 3, 2, 5, True, False),
            *[(40, 3, 1, 5, True, False)] * 2,
            (80, 6, 2, 3, False, True),
            (80, 2.5, 1, 3, False, True),
            *[(80, 2.3, 1, 3, False, True)] * 2,
            *[(112, 6, 1, 3, True, True)] * 2,
            (160, 6, 2, 5, True, True),
            *[(160, 6, 1, 5, True, True)] * 2,
        ),
        1280,
        "large",
    ),
)
#: The hashes of the files of MobileNet V3, with and without the classifier.
_HASHES = {
    "large_224_0.75": ("765b44a33ad4005b3ac83185abf1d0eb", "40af19a13ebea4e2ee0c676887f69a2e"),
    "large_224_1.0": ("59e551e166be033d707958cf9e29a6a7", "07fb09a5933dd0c8eaafa16978110389"),
    "large_minimalistic_224_1.0": (
        *("675e7b876c45c57e9e63e6d90a36599c", "ec5221f64a2f6d1ef965a614bdae7973"),
    ),
    "small_224_0.75": ("cb65d4e5be93758266aa0a7f2c6708b7", "ebdb5cc8e0b497cd13a7c275d475c819"),
    "small_224_1.0": ("8768d4c2e7dee89b9d02b2d03d65d862", "d3e8ec802a04aa4fc771ee12a9a9b836"),
    "small_minimalistic_224_1.0": (
        *("99cd97fb2fcdad2bf028eb838de69e37", "cde8136e733e811080d9fcd8a252f7e4"),
    ),
}
