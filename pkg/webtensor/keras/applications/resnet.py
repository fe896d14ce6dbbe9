"""ResNet: residual networks (He et al., 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from webtensor.keras.applications.blocks import Images, channel_axis
from webtensor.keras.applications.imagenet_utils import (
    decode_predictions,
    preprocess_for_caffe as preprocess_input,
)
from webtensor.keras.applications.networks import StandardNetwork, constructor
from webtensor.keras.layers import (
    Activation,
    Add,
    BatchNormalization,
    Conv2D,
    MaxPooling2D,
    ZeroPadding2D,
)

__all__ = ["ResNet50", "ResNet101", "ResNet152", "decode_predictions", "preprocess_input"]

#: The number of blocks in each of four stages.
Depths: TypeAlias = tuple[int, int, int, int]
_WIDTHS = (64, 128, 256, 512)


@dataclass
class ResidualNetwork(StandardNetwork[Depths]):
    """A residual network (He et al., 2015).

    Images are those that ``preprocess_input`` returns.
    """

    feature_pooling = ("avg_pool", "max_pool")
    folder = "resnet"

    def features(self, x: Images) -> Images:
        """Compute the features of images."""
        x = self.stem(x)
        for stage, (width, depth) in enumerate(zip(_WIDTHS, self.facts, strict=True), 2):
            for block in range(1, depth + 1):
                x = self.block(x, width, stage, block, depth)
        return x

    def stem(self, x: Images) -> Images:
        """Apply the first layers."""
        x = padded_convolution(x)
        x = normalized(x, "conv1")
        return pooled(x)

    def block(self, x: Images, width: int, stage: int, block: int, depth: int) -> Images:
        """Apply a block, of which the first of a stage changes the number of channels."""
        name = f"conv{stage}_block{block}"
        strides = 2 if block == 1 and stage > 2 else 1
        shortcut = x
        if block == 1:
            shortcut = Conv2D(4 * width, 1, strides=strides, name=f"{name}_0_conv")(x)
            shortcut = normalized(shortcut, f"{name}_0", activation=False)
        x = Conv2D(width, 1, strides=strides, name=f"{name}_1_conv")(x)
        x = normalized(x, f"{name}_1")
        x = Conv2D(width, 3, padding="same", name=f"{name}_2_conv")(x)
        x = normalized(x, f"{name}_2")
        x = Conv2D(4 * width, 1, name=f"{name}_3_conv")(x)
        x = normalized(x, f"{name}_3", activation=False)
        x = Add(name=f"{name}_add")([shortcut, x])
        return Activation("relu", name=f"{name}_out")(x)


def padded_convolution(x: Images) -> Images:
    """Apply the first convolution."""
    x = ZeroPadding2D(3, name="conv1_pad")(x)
    return Conv2D(64, 7, strides=2, name="conv1_conv")(x)


def pooled(x: Images) -> Images:
    """Apply the pooling before the first stage."""
    x = ZeroPadding2D(1, name="pool1_pad")(x)
    return MaxPooling2D(3, strides=2, name="pool1_pool")(x)


def normalized(x: Images, name: str, *, activation: bool = True) -> Images:
    """Normalize a batch, and apply ReLU unless ``activation`` is False."""
    x = BatchNormalization(axis=channel_axis(3), epsilon=1.001e-5, name=f"{name}_bn")(x)
    return Activation("relu", name=f"{name}_relu")(x) if activation else x


ResNet50 = constructor(
    ResidualNetwork,
    "ResNet50",
    "resnet50",
    (3, 4, 6, 3),
    ("2cb95161c43110f7111970584f804107", "4d473c1dd8becc155b73f8504c6f6626"),
)
ResNet101 = constructor(
    ResidualNetwork,
    "ResNet101",
    "resnet101",
    (3, 4, 23, 3),
    ("f1aeb4b969a6efcfb50fad2f0c20cfc5", "88cf7a10940856eca736dc7b7e228a21"),
)
ResNet152 = constructor(
    ResidualNetwork,
    "ResNet152",
    "resnet152",
    (3, 8, 36, 3),
    ("100835be76be38e30d865e96f2aaae62", "ee4c566cf9a93f14d82f913c2dc6dd0c"),
)
