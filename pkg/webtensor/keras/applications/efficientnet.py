"""EfficientNet, networks whose width, depth and image size grow together, in two generations.

See Tan and Le, 2019 and 2021. The networks scale pixels from 0 to 255 themselves, so
``preprocess_input`` returns images as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any, ClassVar, NamedTuple

from webtensor.keras import initializers, layers
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
    StandardNetwork,
    Symbol,
    Weights,
    channel_axis,
    channels,
    constructor,
    padding,
    rounded,
    with_channels,
)

__all__ = [
    "EfficientNetB0",
    "EfficientNetB1",
    "EfficientNetB2",
    "EfficientNetB3",
    "EfficientNetB4",
    "EfficientNetB5",
    "EfficientNetB6",
    "EfficientNetB7",
    "decode_predictions",
    "preprocess_input",
]


def _variance_scaling(config: dict[str, Any]) -> dict[str, Any]:
    return {"class_name": "VarianceScaling", "config": config}


_INITIALIZER = _variance_scaling(
    {"scale": 2.0, "mode": "fan_out", "distribution": "truncated_normal"}
)


class _Stage(NamedTuple):
    """Blocks of the same width, of which the first may be strided.

    Fused blocks have a convolution in place of an expansion and a depthwise one.
    """

    width: int
    depth: int
    expansion: int
    strides: int
    kernel: int = 3
    is_fused: bool = False


class _Facts(NamedTuple):
    """A network: its stages, the channels before them, the size of images, and the dropout.

    ``width`` and ``depth`` multiply the channels and the depths.
    """

    stages: tuple[_Stage, ...]
    stem: int
    width: float
    depth: float
    size: int
    dropout: float = 0.2


class _EfficientNet(Network[_Facts]):
    """A network of either generation."""

    #: Whether strided convolutions have padding of their own.
    pads: ClassVar[bool] = False
    #: The name of depthwise convolutions.
    depthwise_name: ClassVar[str] = "dwconv2"
    momentum: ClassVar[float] = 0.9
    feature_pooling = ("avg_pool", "max_pool")
    file_suffix = ""

    def default_size(self) -> int:
        return self.facts.size

    def width(self, count: int) -> int:
        """Return the channels that the network has in place of a number of them."""
        return rounded(count * self.facts.width, limits_loss=self.pads)

    def preprocessed(self, x: Images) -> Images:
        """Scale pixels."""
        raise NotImplementedError

    def features(self, x: Images) -> Images:
        stages = self.facts.stages
        depths = [ceil(self.facts.depth * stage.depth) for stage in stages]
        count = sum(depths if self.pads else (stage.depth for stage in stages))
        x = self.convolution(self.preprocessed(x), self.width(self.facts.stem), "stem_", 3, 2)
        blocks = 0
        for number, (stage, depth) in enumerate(zip(stages, depths, strict=True), 1):
            for index in range(depth):
                name = f"block{number}{chr(97 + index)}_"
                if index:
                    stage = stage._replace(strides=1)
                x = self.block(x, stage, name, 0.2 * blocks / float(count))
                blocks += 1
        return self.convolution(x, self.width(1280), "top_")

    def block(self, inputs: Images, stage: _Stage, name: str, drop_rate: float) -> Images:
        """Apply a block, which is left out with some probability in training."""
        x, count, width = inputs, channels(inputs.shape), self.width(stage.width)
        expanded, kernel, strides = count * stage.expansion, stage.kernel, stage.strides
        if stage.is_fused:
            if expanded != count:
                x = self.convolution(x, expanded, f"{name}expand_", kernel, strides)
                kernel = strides = 1
            x = self.convolution(x, width, f"{name}project_", kernel, strides, kernel > 1)
        else:
            if expanded != count:
                x = self.convolution(x, expanded, f"{name}expand_")
            layer = f"{name}{self.depthwise_name}"
            x, pads = self.padded(x, kernel, strides, layer)
            x = layers.DepthwiseConv2D(
                kernel,
                strides=strides,
                padding=pads,
                use_bias=False,
                depthwise_initializer=_INITIALIZER,
                name=layer,
            )(x)
            x = _excited(self.activated(x, name), max(1, count // 4), name)
            x = self.convolution(x, width, f"{name}project_", activates=False)
        if stage.strides > 1 or count != width:
            return x
        if drop_rate > 0:
            x = layers.Dropout(drop_rate, noise_shape=(None, 1, 1, 1), name=f"{name}drop")(x)
        return layers.add([x, inputs], name=f"{name}add")

    def padded(self, x: Images, kernel: int, strides: int, name: str) -> tuple[Images, str]:
        """Return the images and the kind of padding for a convolution."""
        if not self.pads or strides == 1:
            return x, "same"
        return layers.ZeroPadding2D(padding(x, kernel), name=f"{name}_pad")(x), "valid"

    def convolution(
        self,
        x: Images,
        width: int,
        name: str,
        kernel: int = 1,
        strides: int = 1,
        activates: bool = True,
    ) -> Images:
        """Apply a convolution, batch normalization and swish."""
        x, pads = self.padded(x, kernel, strides, f"{name}conv")
        x = layers.Conv2D(
            width,
            kernel,
            strides=strides,
            padding=pads,
            use_bias=False,
            kernel_initializer=_INITIALIZER,
            name=f"{name}conv",
        )(x)
        return self.activated(x, name, activates)

    def activated(self, x: Images, name: str, activates: bool = True) -> Images:
        """Apply batch normalization and swish."""
        axis, momentum = channel_axis(3), self.momentum
        x = layers.BatchNormalization(axis=axis, momentum=momentum, name=f"{name}bn")(x)
        return layers.Activation("swish", name=f"{name}activation")(x) if activates else x

    def classify(self, x: Images, **options: Any) -> Images:
        x = layers.GlobalAveragePooling2D(name="avg_pool")(x)
        x = layers.Dropout(self.facts.dropout, name="top_dropout")(x)
        config = {"scale": 1 / 3, "mode": "fan_out", "distribution": "uniform"}
        return self.dense(x, kernel_initializer=_variance_scaling(config), **options)


def _excited(inputs: Images, width: int, name: str) -> Images:
    """Apply squeeze and excitation."""
    count = channels(inputs.shape)
    x = layers.GlobalAveragePooling2D(name=f"{name}se_squeeze")(inputs)
    shape = with_channels((1, 1), count)
    x = layers.Reshape(shape, name=f"{name}se_reshape")(x)
    for outputs, activation, part in ((width, "swish", "reduce"), (count, "sigmoid", "expand")):
        x = layers.Conv2D(
            outputs,
            1,
            padding="same",
            activation=activation,
            kernel_initializer=_INITIALIZER,
            name=f"{name}se_{part}",
        )(x)
    return layers.multiply([inputs, x], name=f"{name}se_excite")


# -- the first generation ----------------------------------------------------------------------


@dataclass
class _EfficientNetV1(_EfficientNet, StandardNetwork[_Facts]):
    """A network that grew in width, depth and image size together (Tan and Le, 2019)."""

    pads = True
    depthwise_name = "dwconv"
    momentum = 0.99

    def preprocessed(self, x: Images) -> Images:
        x = layers.Rescaling(1 / 255)(x)
        x = layers.Normalization(axis=channel_axis(3))(x)
        if self.is_pretrained:  # these weights were trained with the roots
            x = layers.Rescaling([1 / sqrt(deviation) for deviation in DEVIATION])(x)
        return x

    def address(self) -> str:
        return "https://storage.googleapis.com/keras-applications"


_STAGES = (
    _Stage(16, depth=1, expansion=1, strides=1),
    _Stage(24, depth=2, expansion=6, strides=2),
    _Stage(40, depth=2, expansion=6, strides=2, kernel=5),
    _Stage(80, depth=3, expansion=6, strides=2),
    _Stage(112, depth=3, expansion=6, strides=1, kernel=5),
    _Stage(192, depth=4, expansion=6, strides=2, kernel=5),
    _Stage(320, depth=1, expansion=6, strides=1),
)
EfficientNetB0 = constructor(
    _EfficientNetV1,
    "EfficientNetB0",
    "efficientnetb0",
    _Facts(_STAGES, 32, 1.0, 1.0, 224, 0.2),
    "902e53a9f72be733fc0bcb005b3ebbac",
    "50bc09e76180e00e4465e1a485ddc09d",
)
EfficientNetB1 = constructor(
    _EfficientNetV1,
    "EfficientNetB1",
    "efficientnetb1",
    _Facts(_STAGES, 32, 1.0, 1.1, 240, 0.2),
    "1d254153d4ab51201f1646940f018540",
    "74c4e6b3e1f6a1eea24c589628592432",
)
EfficientNetB2 = constructor(
    _EfficientNetV1,
    "EfficientNetB2",
    "efficientnetb2",
    _Facts(_STAGES, 32, 1.1, 1.2, 260, 0.3),
    "b15cce36ff4dcbd00b6dd88e7857a6ad",
    "111f8e2ac8aa800a7a99e3239f7bfb39",
)
EfficientNetB3 = constructor(
    _EfficientNetV1,
    "EfficientNetB3",
    "efficientnetb3",
    _Facts(_STAGES, 32, 1.2, 1.4, 300, 0.3),
    "ffd1fdc53d0ce67064dc6a9c7960ede0",
    "af6d107764bb5b1abb91932881670226",
)
EfficientNetB4 = constructor(
    _EfficientNetV1,
    "EfficientNetB4",
    "efficientnetb4",
    _Facts(_STAGES, 32, 1.4, 1.8, 380, 0.4),
    "18c95ad55216b8f92d7e70b3a046e2fc",
    "ebc24e6d6c33eaebbd558eafbeedf1ba",
)
EfficientNetB5 = constructor(
    _EfficientNetV1,
    "EfficientNetB5",
    "efficientnetb5",
    _Facts(_STAGES, 32, 1.6, 2.2, 456, 0.4),
    "ace28f2a6363774853a83a0b21b9421a",
    "38879255a25d3c92d5e44e04ae6cec6f",
)
EfficientNetB6 = constructor(
    _EfficientNetV1,
    "EfficientNetB6",
    "efficientnetb6",
    _Facts(_STAGES, 32, 1.8, 2.6, 528, 0.5),
    "165f6e37dce68623721b423839de8be5",
    "9ecce42647a20130c1f39a5d4cb75743",
)
EfficientNetB7 = constructor(
    _EfficientNetV1,
    "EfficientNetB7",
    "efficientnetb7",
    _Facts(_STAGES, 32, 2.0, 3.1, 600, 0.5),
    "8c03f828fec3ef71311cd463b6759d99",
    "cbcfe4450ddf6f3ad90b1b398090fe4a",
)


# -- the second generation ---------------------------------------------------------------------


@dataclass
class _EfficientNetV2(_EfficientNet):
    """A network that trains faster than EfficientNet (Tan and Le, 2021)."""

    include_top: bool = True
    weights: Weights = "imagenet"
    input_tensor: Symbol = None
    input_shape: ImageShape = None
    pooling: str | None = None
    classes: int = 1000
    classifier_activation: ActivationLike = "softmax"
    include_preprocessing: bool = True
    name: str | None = None

    folder = "efficientnet_v2"

    def preprocessed(self, x: Images) -> Images:
        if not self.include_preprocessing:
            return x
        if self.facts.stages is not _B or channels((None, *self.shape)) != 3:
            return layers.Rescaling(1 / 128, offset=-1)(x)
        variance = [deviation**2 for deviation in DEVIATION]
        x = layers.Rescaling(1 / 255)(x)
        return layers.Normalization(mean=list(MEAN), variance=variance, axis=channel_axis(3))(x)

    def classify(self, x: Images, **options: Any) -> Images:
        return super().classify(x, bias_initializer=initializers.Constant(0.0))


def _stages(*widths_and_depths: tuple[int, int]) -> tuple[_Stage, ...]:
    """Return the stages of a network of the second generation."""
    expansions, strides = (1, 4, 4, 4, 6, 6, 6), (1, 2, 2, 2, 1, 2, 1)
    return tuple(
        _Stage(width, depth, expansions[number], strides[number], is_fused=number < 3)
        for number, (width, depth) in enumerate(widths_and_depths)
    )


_B = _stages((16, 1), (32, 2), (48, 2), (96, 3), (112, 5), (192, 8))
_S = _stages((24, 2), (48, 4), (64, 4), (128, 6), (160, 9), (256, 15))
_M = _stages((24, 3), (48, 5), (80, 5), (160, 7), (176, 14), (304, 18), (512, 5))
_L = _stages((32, 4), (64, 7), (96, 7), (192, 10), (224, 19), (384, 25), (640, 7))
EfficientNetV2B0 = constructor(
    _EfficientNetV2,
    "EfficientNetV2B0",
    "efficientnetv2-b0",
    _Facts(_B, 32, 1.0, 1.0, 224),
    "21ecbf6da12460d5c40bb2f29ceb2188",
    "893217f2bb855e2983157299931e43ff",
)
EfficientNetV2B1 = constructor(
    _EfficientNetV2,
    "EfficientNetV2B1",
    "efficientnetv2-b1",
    _Facts(_B, 32, 1.0, 1.1, 240),
    "069f0534ff22adf035c89e2d9547a9dc",
    "0e80663031ca32d657f9caa404b6ec37",
)
EfficientNetV2B2 = constructor(
    _EfficientNetV2,
    "EfficientNetV2B2",
    "efficientnetv2-b2",
    _Facts(_B, 32, 1.1, 1.2, 260),
    "424e49f28180edbde1e94797771950a7",
    "1dfe2e7a5d45b6632553a8961ea609eb",
)
EfficientNetV2B3 = constructor(
    _EfficientNetV2,
    "EfficientNetV2B3",
    "efficientnetv2-b3",
    _Facts(_B, 32, 1.2, 1.4, 300),
    "1f1fc43bd98a6e4fd8fdfd551e02c7a0",
    "f6abf7b5849ac99a89b50dd3fd532856",
)
EfficientNetV2S = constructor(
    _EfficientNetV2,
    "EfficientNetV2S",
    "efficientnetv2-s",
    _Facts(_S, 24, 1.0, 1.0, 384),
    "e1d88a8495beba45748fedd0cecbe016",
    "af0682fb74e8c54910f2d4393339c070",
)
EfficientNetV2M = constructor(
    _EfficientNetV2,
    "EfficientNetV2M",
    "efficientnetv2-m",
    _Facts(_M, 24, 1.0, 1.0, 480),
    "a3bf6aa3276309f4fc6a34aa114c95cd",
    "1b8dc055df72dde80d614482840fe342",
)
EfficientNetV2L = constructor(
    _EfficientNetV2,
    "EfficientNetV2L",
    "efficientnetv2-l",
    _Facts(_L, 32, 1.0, 1.0, 480),
    "27e6d408b53c7ebc868fefa357689935",
    "b0b66b5c863aef5b46e8608fe1711615",
)
