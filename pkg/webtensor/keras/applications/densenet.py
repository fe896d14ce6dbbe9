"""DenseNet, networks whose layers see the outputs of all before them (Huang et al., 2016)."""

from __future__ import annotations

from dataclasses import dataclass

from webtensor.keras import layers
from webtensor.keras.applications.imagenet_utils import (
    decode_predictions,
    preprocess_for_torch as preprocess_input,
)
from webtensor.keras.applications.networks import Images, StandardNetwork, channels, constructor

__all__ = ["DenseNet121", "DenseNet169", "DenseNet201", "decode_predictions", "preprocess_input"]


@dataclass
class _DenseNet(StandardNetwork[tuple[int, ...]]):
    """A network whose layers see the outputs of all before them (Huang et al., 2016).

    Images are those that ``preprocess_input`` returns.
    """

    supports_channels_first = False
    feature_pooling = ("avg_pool", "max_pool")
    folder = "densenet"

    def features(self, x: Images) -> Images:
        x = layers.ZeroPadding2D(3)(x)
        x = layers.Conv2D(64, 7, strides=2, use_bias=False, name="conv1_conv")(x)
        x = layers.ZeroPadding2D(1)(_activated(x, "conv1_"))
        x = layers.MaxPooling2D(3, strides=2, name="pool1")(x)
        for stage, depth in enumerate(self.facts, 2):
            if stage > 2:
                name = f"pool{stage - 1}_"
                x = _activated(x, name)
                width = channels(x.shape) // 2
                x = layers.Conv2D(width, 1, use_bias=False, name=f"{name}conv")(x)
                x = layers.AveragePooling2D(2, strides=2, name=f"{name}pool")(x)
            for block in range(1, depth + 1):
                x = _block(x, f"conv{stage}_block{block}_")
        return _activated(x, "")


def _block(x: Images, name: str) -> Images:
    y = layers.Conv2D(128, 1, use_bias=False, name=f"{name}1_conv")(_activated(x, f"{name}0_"))
    y = _activated(y, f"{name}1_")
    y = layers.Conv2D(32, 3, padding="same", use_bias=False, name=f"{name}2_conv")(y)
    return layers.Concatenate(axis=3, name=f"{name}concat")([x, y])


def _activated(x: Images, name: str) -> Images:
    x = layers.BatchNormalization(axis=3, epsilon=1.001e-5, name=f"{name}bn")(x)
    return layers.Activation("relu", name=f"{name}relu")(x)


DenseNet121 = constructor(
    _DenseNet,
    "DenseNet121",
    "densenet121",
    (6, 12, 24, 16),
    "9d60b8095a5708f2dcce2bca79d332c7",
    "30ee3e1110167f948a6b9946edeeb738",
)
DenseNet169 = constructor(
    _DenseNet,
    "DenseNet169",
    "densenet169",
    (6, 12, 32, 32),
    "d699b8f76981ab1b30698df4c175e90b",
    "b8c4d4c20dd625c148057b9ff1c1176b",
)
DenseNet201 = constructor(
    _DenseNet,
    "DenseNet201",
    "densenet201",
    (6, 12, 48, 32),
    "1ceb130c1ea1b78c3bf6114dbdfd8807",
    "c13680b51ded0fb44dff2d8f86ac8bb1",
)
