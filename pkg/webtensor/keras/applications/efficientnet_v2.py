"""EfficientNet V2, networks that train faster than EfficientNet (Tan and Le, 2021).

They scale pixels from 0 to 255 themselves, so ``preprocess_input`` returns images as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from webtensor.keras import initializers
from webtensor.keras.applications.blocks import Images, channel_axis, channels, rounded
from webtensor.keras.applications.efficientnet import (
    CLASSIFIER_INITIALIZER,
    CONVOLUTION_INITIALIZER,
    DROP_RATE,
    activated,
    convolution,
    excited,
    residual_sum,
)
from webtensor.keras.applications.imagenet_utils import (
    DEVIATION,
    MEAN,
    decode_predictions,
    preprocess_for_nothing as preprocess_input,
)
from webtensor.keras.applications.networks import IMAGENET_CLASSES, Network, constructor
from webtensor.keras.applications.pretrained import Weights
from webtensor.keras.data_formats import channels_of, image_data_format
from webtensor.keras.layers import (
    DepthwiseConv2D,
    Dropout,
    GlobalAveragePooling2D,
    Normalization,
    Rescaling,
)
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import ActivationLike

__all__ = [
    "EfficientNetV2B0",
    "EfficientNetV2B1",
    "EfficientNetV2B2",
    "EfficientNetV2B3",
    "EfficientNetV2L",
    "EfficientNetV2M",
    "EfficientNetV2S",
    "decode_predictions",
    "preprocess_input",
]

#: The expansion and the stride of the first block of each stage. The first three stages are fused.
_STAGES = ((1, 1), (4, 2), (4, 2), (4, 2), (6, 1), (6, 2), (6, 1))
_FUSED_STAGES = 3
_MOMENTUM = 0.9
_SQUEEZING = 0.25


class _Architecture(NamedTuple):
    """The channels of the stem, and the channels and depths of the stages."""

    stem: int
    widths: tuple[int, ...]
    depths: tuple[int, ...]


_B = _Architecture(32, (16, 32, 48, 96, 112, 192), (1, 2, 2, 3, 5, 8))
_S = _Architecture(24, (24, 48, 64, 128, 160, 256), (2, 4, 4, 6, 9, 15))
_M = _Architecture(24, (24, 48, 80, 160, 176, 304, 512), (3, 5, 5, 7, 14, 18, 5))
_L = _Architecture(32, (32, 64, 96, 192, 224, 384, 640), (4, 7, 7, 10, 19, 25, 7))


class _Facts(NamedTuple):
    """An architecture, what its widths and depths are multiplied by, and the image size."""

    architecture: _Architecture
    width: float
    depth: float
    size: int


@dataclass
class _EfficientNetworkV2(Network[_Facts]):
    """An EfficientNet of the second generation (Tan and Le, 2021)."""

    include_top: bool = True
    weights: Weights = "imagenet"
    input_tensor: KerasTensor | None = None
    input_shape: Sequence[int | None] | None = None
    pooling: str | None = None
    classes: int = IMAGENET_CLASSES
    classifier_activation: ActivationLike = "softmax"
    include_preprocessing: bool = True
    name: str | None = None

    feature_pooling = ("avg_pool", "max_pool")
    folder = "efficientnet_v2"

    def default_size(self) -> int:
        return self.facts.size

    def features(self, x: Images) -> Images:
        if self.include_preprocessing:
            x = self.preprocessed(x)
        stem, widths, depths = self.facts.architecture
        x = convolution(x, self.width(stem), 3, "stem_", strides=2, momentum=_MOMENTUM)
        blocks = 0
        for number, (width, depth) in enumerate(zip(widths, depths, strict=True)):
            expansion, strides = _STAGES[number]
            block = _fused_block if number < _FUSED_STAGES else _block
            for index in range(ceil(self.facts.depth * depth)):
                prefix = f"block{number + 1}{chr(ord('a') + index)}_"
                inputs, count = x, channels(x)
                x = block(x, self.width(width), expansion, 1 if index else strides, prefix)
                if (index or strides == 1) and count == self.width(width):
                    x = residual_sum(x, inputs, DROP_RATE * blocks / float(sum(depths)), prefix)
                blocks += 1
        return convolution(x, self.width(1280), 1, "top_", momentum=_MOMENTUM)

    def preprocessed(self, x: Images) -> Images:
        """Scale pixels from 0 to 255."""
        if (
            self.facts.architecture is not _B
            or channels_of((None, *self.shape), image_data_format()) != 3
        ):
            return Rescaling(1 / 128, offset=-1)(x)
        x = Rescaling(1 / 255)(x)
        variance = [deviation**2 for deviation in DEVIATION]
        return Normalization(mean=list(MEAN), variance=variance, axis=channel_axis(3))(x)

    def width(self, count: int) -> int:
        """Return a number of channels of this network for one of its architecture."""
        return rounded(count * self.facts.width, limits_loss=False)

    def classify(self, x: Images) -> Images:
        x = GlobalAveragePooling2D(name="avg_pool")(x)
        x = Dropout(0.2, name="top_dropout")(x)
        return self.dense(
            x,
            kernel_initializer=CLASSIFIER_INITIALIZER,
            bias_initializer=initializers.Constant(0.0),
        )

    def file_stem(self) -> str:
        return self.default_name


def _block(x: Images, width: int, expansion: int, strides: int, prefix: str) -> Images:
    count = channels(x)
    x = convolution(x, count * expansion, 1, f"{prefix}expand_", momentum=_MOMENTUM)
    x = DepthwiseConv2D(
        3,
        strides=strides,
        padding="same",
        use_bias=False,
        depthwise_initializer=CONVOLUTION_INITIALIZER,
        name=f"{prefix}dwconv2",
    )(x)
    x = activated(x, prefix, momentum=_MOMENTUM)
    x = excited(x, max(1, int(count * _SQUEEZING)), prefix)
    return convolution(x, width, 1, f"{prefix}project_", activation=False, momentum=_MOMENTUM)


def _fused_block(x: Images, width: int, expansion: int, strides: int, prefix: str) -> Images:
    project = f"{prefix}project_"
    if expansion == 1:
        return convolution(x, width, 3, project, strides=strides, momentum=_MOMENTUM)
    count = channels(x) * expansion
    x = convolution(x, count, 3, f"{prefix}expand_", strides=strides, momentum=_MOMENTUM)
    return convolution(x, width, 1, project, activation=False, momentum=_MOMENTUM)


EfficientNetV2B0 = constructor(
    _EfficientNetworkV2,
    "EfficientNetV2B0",
    "efficientnetv2-b0",
    _Facts(_B, width=1.0, depth=1.0, size=224),
    ("21ecbf6da12460d5c40bb2f29ceb2188", "893217f2bb855e2983157299931e43ff"),
)
EfficientNetV2B1 = constructor(
    _EfficientNetworkV2,
    "EfficientNetV2B1",
    "efficientnetv2-b1",
    _Facts(_B, width=1.0, depth=1.1, size=240),
    ("069f0534ff22adf035c89e2d9547a9dc", "0e80663031ca32d657f9caa404b6ec37"),
)
EfficientNetV2B2 = constructor(
    _EfficientNetworkV2,
    "EfficientNetV2B2",
    "efficientnetv2-b2",
    _Facts(_B, width=1.1, depth=1.2, size=260),
    ("424e49f28180edbde1e94797771950a7", "1dfe2e7a5d45b6632553a8961ea609eb"),
)
EfficientNetV2B3 = constructor(
    _EfficientNetworkV2,
    "EfficientNetV2B3",
    "efficientnetv2-b3",
    _Facts(_B, width=1.2, depth=1.4, size=300),
    ("1f1fc43bd98a6e4fd8fdfd551e02c7a0", "f6abf7b5849ac99a89b50dd3fd532856"),
)
EfficientNetV2S = constructor(
    _EfficientNetworkV2,
    "EfficientNetV2S",
    "efficientnetv2-s",
    _Facts(_S, width=1.0, depth=1.0, size=384),
    ("e1d88a8495beba45748fedd0cecbe016", "af0682fb74e8c54910f2d4393339c070"),
)
EfficientNetV2M = constructor(
    _EfficientNetworkV2,
    "EfficientNetV2M",
    "efficientnetv2-m",
    _Facts(_M, width=1.0, depth=1.0, size=480),
    ("a3bf6aa3276309f4fc6a34aa114c95cd", "1b8dc055df72dde80d614482840fe342"),
)
EfficientNetV2L = constructor(
    _EfficientNetworkV2,
    "EfficientNetV2L",
    "efficientnetv2-l",
    _Facts(_L, width=1.0, depth=1.0, size=480),
    ("27e6d408b53c7ebc868fefa357689935", "b0b66b5c863aef5b46e8608fe1711615"),
)
