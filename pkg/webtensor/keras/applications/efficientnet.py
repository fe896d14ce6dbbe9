"""EfficientNet, networks whose width, depth and image size grow together (Tan and Le, 2019).

They scale pixels from 0 to 255 themselves, so ``preprocess_input`` returns images as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any, NamedTuple

from webtensor.keras.applications.blocks import (
    Images,
    channel_axis,
    channels,
    rounded,
    strided_padding,
)
from webtensor.keras.applications.imagenet_utils import (
    DEVIATION,
    decode_predictions,
    preprocess_for_nothing as preprocess_input,
)
from webtensor.keras.applications.networks import StandardNetwork, constructor
from webtensor.keras.data_formats import image_data_format
from webtensor.keras.layers import (
    Activation,
    BatchNormalization,
    Conv2D,
    DepthwiseConv2D,
    Dropout,
    GlobalAveragePooling2D,
    Normalization,
    Rescaling,
    Reshape,
    ZeroPadding2D,
    add,
    multiply,
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

DROP_RATE = 0.2
#: The initializers of convolutions and of the classifier.
_FAN_OUT = {"scale": 2.0, "mode": "fan_out", "distribution": "truncated_normal"}
CONVOLUTION_INITIALIZER = {"class_name": "VarianceScaling", "config": _FAN_OUT}
CLASSIFIER_INITIALIZER = {
    "class_name": "VarianceScaling",
    "config": {"scale": 1 / 3, "mode": "fan_out", "distribution": "uniform"},
}
_SQUEEZING = 0.25


class _Stage(NamedTuple):
    kernel: int
    depth: int
    width: int
    expansion: int
    strides: int


_STAGES = (
    _Stage(kernel=3, depth=1, width=16, expansion=1, strides=1),
    _Stage(kernel=3, depth=2, width=24, expansion=6, strides=2),
    _Stage(kernel=5, depth=2, width=40, expansion=6, strides=2),
    _Stage(kernel=3, depth=3, width=80, expansion=6, strides=2),
    _Stage(kernel=5, depth=3, width=112, expansion=6, strides=1),
    _Stage(kernel=5, depth=4, width=192, expansion=6, strides=2),
    _Stage(kernel=3, depth=1, width=320, expansion=6, strides=1),
)


class _Facts(NamedTuple):
    """What the widths and depths of stages are multiplied by, the image size, and the dropout."""

    width: float
    depth: float
    size: int
    dropout: float


@dataclass
class _EfficientNetwork(StandardNetwork[_Facts]):
    """A network that grew in width, depth and image size together (Tan and Le, 2019)."""

    feature_pooling = ("avg_pool", "max_pool")

    def default_size(self) -> int:
        return self.facts.size

    def features(self, x: Images) -> Images:
        x = Rescaling(1 / 255)(x)
        x = Normalization(axis=channel_axis(3))(x)
        if self.is_pretrained:  # a mistake in the training of these weights
            x = Rescaling([1 / sqrt(deviation) for deviation in DEVIATION])(x)
        x = ZeroPadding2D(strided_padding(x, 3), name="stem_conv_pad")(x)
        x = convolution(x, self.width(32), 3, "stem_", strides=2, padding="valid")
        depths = [ceil(self.facts.depth * stage.depth) for stage in _STAGES]
        blocks = 0
        for number, (stage, depth) in enumerate(zip(_STAGES, depths, strict=True), 1):
            for block in range(depth):
                x = _block(
                    x,
                    self.width(stage.width),
                    stage._replace(strides=1) if block else stage,
                    DROP_RATE * blocks / float(sum(depths)),
                    f"block{number}{chr(ord('a') + block)}_",
                )
                blocks += 1
        return convolution(x, self.width(1280), 1, "top_")

    def width(self, count: int) -> int:
        """Return the number of channels of this network for one of B0."""
        return rounded(count * self.facts.width)

    def classify(self, x: Images) -> Images:
        x = GlobalAveragePooling2D(name="avg_pool")(x)
        x = Dropout(self.facts.dropout, name="top_dropout")(x)
        return self.dense(x, kernel_initializer=CLASSIFIER_INITIALIZER)

    def address(self) -> str:
        return "https://storage.googleapis.com/keras-applications"

    def file_stem(self) -> str:
        return self.default_name


def _block(inputs: Images, width: int, stage: _Stage, drop_rate: float, prefix: str) -> Images:
    x, count = inputs, channels(inputs)
    if stage.expansion != 1:
        x = convolution(x, count * stage.expansion, 1, f"{prefix}expand_")
    padding = "same"
    if stage.strides == 2:
        x = ZeroPadding2D(strided_padding(x, stage.kernel), name=f"{prefix}dwconv_pad")(x)
        padding = "valid"
    x = DepthwiseConv2D(
        stage.kernel,
        strides=stage.strides,
        padding=padding,
        use_bias=False,
        depthwise_initializer=CONVOLUTION_INITIALIZER,
        name=f"{prefix}dwconv",
    )(x)
    x = activated(x, prefix)
    x = excited(x, max(1, int(count * _SQUEEZING)), prefix)
    x = convolution(x, width, 1, f"{prefix}project_", activation=False)
    if stage.strides == 1 and count == width:
        x = residual_sum(x, inputs, drop_rate, prefix)
    return x


# -- what both generations have ----------------------------------------------------------------


def convolution(
    x: Images,
    width: int,
    kernel: int,
    prefix: str,
    *,
    strides: int = 1,
    padding: str = "same",
    activation: bool = True,
    **normalization: Any,
) -> Images:
    """Apply a convolution and ``activated``."""
    x = Conv2D(
        width,
        kernel,
        strides=strides,
        padding=padding,
        use_bias=False,
        kernel_initializer=CONVOLUTION_INITIALIZER,
        name=f"{prefix}conv",
    )(x)
    return activated(x, prefix, activation=activation, **normalization)


def activated(x: Images, prefix: str, *, activation: bool = True, **normalization: Any) -> Images:
    """Normalize a batch, and apply swish unless ``activation`` is False."""
    x = BatchNormalization(axis=channel_axis(3), name=f"{prefix}bn", **normalization)(x)
    return Activation("swish", name=f"{prefix}activation")(x) if activation else x


def excited(inputs: Images, width: int, prefix: str) -> Images:
    """Multiply channels by factors that depend on their means (squeeze and excitation)."""
    count = channels(inputs)
    shape = (count, 1, 1) if image_data_format() == "channels_first" else (1, 1, count)
    x = GlobalAveragePooling2D(name=f"{prefix}se_squeeze")(inputs)
    x = Reshape(shape, name=f"{prefix}se_reshape")(x)
    for channel_count, activation, name in (
        (width, "swish", "reduce"),
        (count, "sigmoid", "expand"),
    ):
        x = Conv2D(
            channel_count,
            1,
            padding="same",
            activation=activation,
            kernel_initializer=CONVOLUTION_INITIALIZER,
            name=f"{prefix}se_{name}",
        )(x)
    return multiply([inputs, x], name=f"{prefix}se_excite")


def residual_sum(x: Images, inputs: Images, drop_rate: float, prefix: str) -> Images:
    """Add a block's inputs to its outputs, which training drops for some images."""
    if drop_rate > 0:
        x = Dropout(drop_rate, noise_shape=(None, 1, 1, 1), name=f"{prefix}drop")(x)
    return add([x, inputs], name=f"{prefix}add")


EfficientNetB0 = constructor(
    _EfficientNetwork,
    "EfficientNetB0",
    "efficientnetb0",
    _Facts(width=1.0, depth=1.0, size=224, dropout=0.2),
    ("902e53a9f72be733fc0bcb005b3ebbac", "50bc09e76180e00e4465e1a485ddc09d"),
)
EfficientNetB1 = constructor(
    _EfficientNetwork,
    "EfficientNetB1",
    "efficientnetb1",
    _Facts(width=1.0, depth=1.1, size=240, dropout=0.2),
    ("1d254153d4ab51201f1646940f018540", "74c4e6b3e1f6a1eea24c589628592432"),
)
EfficientNetB2 = constructor(
    _EfficientNetwork,
    "EfficientNetB2",
    "efficientnetb2",
    _Facts(width=1.1, depth=1.2, size=260, dropout=0.3),
    ("b15cce36ff4dcbd00b6dd88e7857a6ad", "111f8e2ac8aa800a7a99e3239f7bfb39"),
)
EfficientNetB3 = constructor(
    _EfficientNetwork,
    "EfficientNetB3",
    "efficientnetb3",
    _Facts(width=1.2, depth=1.4, size=300, dropout=0.3),
    ("ffd1fdc53d0ce67064dc6a9c7960ede0", "af6d107764bb5b1abb91932881670226"),
)
EfficientNetB4 = constructor(
    _EfficientNetwork,
    "EfficientNetB4",
    "efficientnetb4",
    _Facts(width=1.4, depth=1.8, size=380, dropout=0.4),
    ("18c95ad55216b8f92d7e70b3a046e2fc", "ebc24e6d6c33eaebbd558eafbeedf1ba"),
)
EfficientNetB5 = constructor(
    _EfficientNetwork,
    "EfficientNetB5",
    "efficientnetb5",
    _Facts(width=1.6, depth=2.2, size=456, dropout=0.4),
    ("ace28f2a6363774853a83a0b21b9421a", "38879255a25d3c92d5e44e04ae6cec6f"),
)
EfficientNetB6 = constructor(
    _EfficientNetwork,
    "EfficientNetB6",
    "efficientnetb6",
    _Facts(width=1.8, depth=2.6, size=528, dropout=0.5),
    ("165f6e37dce68623721b423839de8be5", "9ecce42647a20130c1f39a5d4cb75743"),
)
EfficientNetB7 = constructor(
    _EfficientNetwork,
    "EfficientNetB7",
    "efficientnetb7",
    _Facts(width=2.0, depth=3.1, size=600, dropout=0.5),
    ("8c03f828fec3ef71311cd463b6759d99", "cbcfe4450ddf6f3ad90b1b398090fe4a"),
)
