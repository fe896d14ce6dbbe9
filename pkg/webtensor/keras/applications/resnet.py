"""ResNet: residual networks (He et al., 2015 and 2016)."""

from __future__ import annotations

from dataclasses import dataclass

from webtensor.keras import layers
from webtensor.keras.applications.imagenet_utils import (
    decode_predictions,
    preprocess_for_caffe as preprocess_input,
)
from webtensor.keras.applications.networks import (
    Images,
    StandardNetwork,
    channel_axis,
    constructor,
)

__all__ = ["ResNet50", "ResNet101", "ResNet152", "decode_predictions", "preprocess_input"]


@dataclass
class ResNet(StandardNetwork[tuple[int, ...]]):
    """A residual network (He et al., 2015), for images that ``preprocess_input`` returns."""

    feature_pooling = ("avg_pool", "max_pool")
    folder = "resnet"

    def features(self, x: Images) -> Images:
        x = layers.ZeroPadding2D(3, name="conv1_pad")(x)
        x = self.stem(layers.Conv2D(64, 7, strides=2, name="conv1_conv")(x))
        x = layers.ZeroPadding2D(1, name="pool1_pad")(x)
        x = layers.MaxPooling2D(3, strides=2, name="pool1_pool")(x)
        for stage, depth in enumerate(self.facts):
            for block in range(1, depth + 1):
                x = self.block(x, 64 << stage, f"conv{stage + 2}_block{block}", stage, block, depth)
        return x

    def stem(self, x: Images) -> Images:
        """Apply what follows the first convolution."""
        return _normalized(x, "conv1")

    def block(self, x: Images, width: int, name: str, stage: int, block: int, depth: int) -> Images:
        """Apply a block; the first one of a stage changes the number of channels."""
        strides = 2 if block == 1 and stage else 1
        shortcut = x
        if block == 1:
            shortcut = layers.Conv2D(4 * width, 1, strides=strides, name=f"{name}_0_conv")(x)
            shortcut = _normalized(shortcut, f"{name}_0", activates=False)
        x = layers.Conv2D(width, 1, strides=strides, name=f"{name}_1_conv")(x)
        x = _normalized(x, f"{name}_1")
        x = layers.Conv2D(width, 3, padding="same", name=f"{name}_2_conv")(x)
        x = _normalized(x, f"{name}_2")
        x = layers.Conv2D(4 * width, 1, name=f"{name}_3_conv")(x)
        x = _normalized(x, f"{name}_3", activates=False)
        x = layers.Add(name=f"{name}_add")([shortcut, x])
        return layers.Activation("relu", name=f"{name}_out")(x)


@dataclass
class ResNetV2(ResNet):
    """A residual network that normalizes before convolutions (He et al., 2016).

    Images are those that ``preprocess_input`` returns.
    """

    def features(self, x: Images) -> Images:
        return _normalized(super().features(x), "post")

    def stem(self, x: Images) -> Images:
        return x

    def block(self, x: Images, width: int, name: str, stage: int, block: int, depth: int) -> Images:
        strides = 2 if block == depth and stage < 3 else 1
        shortcut, x = x, _normalized(x, f"{name}_preact")
        if block == 1:
            shortcut = layers.Conv2D(4 * width, 1, strides=strides, name=f"{name}_0_conv")(x)
        elif strides > 1:
            shortcut = layers.MaxPooling2D(1, strides=strides)(shortcut)
        x = layers.Conv2D(width, 1, strides=1, use_bias=False, name=f"{name}_1_conv")(x)
        x = layers.ZeroPadding2D(1, name=f"{name}_2_pad")(_normalized(x, f"{name}_1"))
        x = layers.Conv2D(width, 3, strides=strides, use_bias=False, name=f"{name}_2_conv")(x)
        x = _normalized(x, f"{name}_2")
        x = layers.Conv2D(4 * width, 1, name=f"{name}_3_conv")(x)
        return layers.Add(name=f"{name}_out")([shortcut, x])


def _normalized(x: Images, name: str, *, activates: bool = True) -> Images:
    x = layers.BatchNormalization(axis=channel_axis(3), epsilon=1.001e-5, name=f"{name}_bn")(x)
    return layers.Activation("relu", name=f"{name}_relu")(x) if activates else x


ResNet50 = constructor(
    ResNet,
    "ResNet50",
    "resnet50",
    (3, 4, 6, 3),
    "2cb95161c43110f7111970584f804107",
    "4d473c1dd8becc155b73f8504c6f6626",
)
ResNet101 = constructor(
    ResNet,
    "ResNet101",
    "resnet101",
    (3, 4, 23, 3),
    "f1aeb4b969a6efcfb50fad2f0c20cfc5",
    "88cf7a10940856eca736dc7b7e228a21",
)
ResNet152 = constructor(
    ResNet,
    "ResNet152",
    "resnet152",
    (3, 8, 36, 3),
    "100835be76be38e30d865e96f2aaae62",
    "ee4c566cf9a93f14d82f913c2dc6dd0c",
)
ResNet50V2 = constructor(
    ResNetV2,
    "ResNet50V2",
    "resnet50v2",
    (3, 4, 6, 3),
    "3ef43a0b657b3be2300d5770ece849e0",
    "fac2f116257151a9d068a22e544a4917",
)
ResNet101V2 = constructor(
    ResNetV2,
    "ResNet101V2",
    "resnet101v2",
    (3, 4, 23, 3),
    "6343647c601c52e1368623803854d971",
    "c0ed64b8031c3730f411d2eb4eea35b5",
)
ResNet152V2 = constructor(
    ResNetV2,
    "ResNet152V2",
    "resnet152v2",
    (3, 8, 36, 3),
    "a49b44d1979771252814e80f8ec446f9",
    "ed17cf2e0169df9d443503ef94b23b33",
)
