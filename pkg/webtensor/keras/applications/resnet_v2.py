"""ResNet V2: residual networks that normalize before convolutions (He et al., 2016)."""

from __future__ import annotations

from dataclasses import dataclass

from webtensor.keras.applications.blocks import Images
from webtensor.keras.applications.imagenet_utils import (
    decode_predictions,
    preprocess_for_tf as preprocess_input,
)
from webtensor.keras.applications.networks import constructor
from webtensor.keras.applications.resnet import (
    ResidualNetwork,
    normalized,
    padded_convolution,
    pooled,
)
from webtensor.keras.layers import Add, Conv2D, MaxPooling2D, ZeroPadding2D

__all__ = ["ResNet50V2", "ResNet101V2", "ResNet152V2", "decode_predictions", "preprocess_input"]


@dataclass
class _ResidualNetworkV2(ResidualNetwork):
    """A residual network that normalizes before convolutions (He et al., 2016).

    Images are those that ``preprocess_input`` returns.
    """

    def features(self, x: Images) -> Images:
        return normalized(super().features(x), "post")

    def stem(self, x: Images) -> Images:
        return pooled(padded_convolution(x))

    def block(self, x: Images, width: int, stage: int, block: int, depth: int) -> Images:
        name = f"conv{stage}_block{block}"
        strides = 2 if block == depth and stage < 5 else 1
        shortcut = x
        x = normalized(x, f"{name}_preact")
        if block == 1:
            shortcut = Conv2D(4 * width, 1, strides=strides, name=f"{name}_0_conv")(x)
        elif strides > 1:
            shortcut = MaxPooling2D(1, strides=strides)(shortcut)
        x = Conv2D(width, 1, strides=1, use_bias=False, name=f"{name}_1_conv")(x)
        x = normalized(x, f"{name}_1")
        x = ZeroPadding2D(1, name=f"{name}_2_pad")(x)
        x = Conv2D(width, 3, strides=strides, use_bias=False, name=f"{name}_2_conv")(x)
        x = normalized(x, f"{name}_2")
        x = Conv2D(4 * width, 1, name=f"{name}_3_conv")(x)
        return Add(name=f"{name}_out")([shortcut, x])


ResNet50V2 = constructor(
    _ResidualNetworkV2,
    "ResNet50V2",
    "resnet50v2",
    (3, 4, 6, 3),
    ("3ef43a0b657b3be2300d5770ece849e0", "fac2f116257151a9d068a22e544a4917"),
)
ResNet101V2 = constructor(
    _ResidualNetworkV2,
    "ResNet101V2",
    "resnet101v2",
    (3, 4, 23, 3),
    ("6343647c601c52e1368623803854d971", "c0ed64b8031c3730f411d2eb4eea35b5"),
)
ResNet152V2 = constructor(
    _ResidualNetworkV2,
    "ResNet152V2",
    "resnet152v2",
    (3, 8, 36, 3),
    ("a49b44d1979771252814e80f8ec446f9", "ed17cf2e0169df9d443503ef94b23b33"),
)
