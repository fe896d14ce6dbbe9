"""DenseNet: each layer sees the outputs of all before it (Huang et al., 2016)."""

from __future__ import annotations

from dataclasses import dataclass

from webtensor.keras.applications.blocks import Images, channels
from webtensor.keras.applications.imagenet_utils import (
    decode_predictions,
    preprocess_for_torch as preprocess_input,
)
from webtensor.keras.applications.networks import StandardNetwork, constructor
from webtensor.keras.layers import (
    Activation,
    AveragePooling2D,
    BatchNormalization,
    Concatenate,
    Conv2D,
    MaxPooling2D,
    ZeroPadding2D,
)

__all__ = ["DenseNet121", "DenseNet169", "DenseNet201", "decode_predictions", "preprocess_input"]

#: The number of channels that each block adds.
_GROWTH = 32


@dataclass
class _DenseNetwork(StandardNetwork[tuple[int, int, int, int]]):
    """A network whose layers see the outputs of all before them (Huang et al., 2016).

    Images are those that ``preprocess_input`` returns.
    """

    supports_channels_first = False
    feature_pooling = ("avg_pool", "max_pool")
    folder = "densenet"

    def features(self, x: Images) -> Images:
        x = ZeroPadding2D(3)(x)
        x = Conv2D(64, 7, strides=2, use_bias=False, name="conv1_conv")(x)
        x = _activated(x, "conv1_")
        x = ZeroPadding2D(1)(x)
        x = MaxPooling2D(3, strides=2, name="pool1")(x)
        for stage, depth in enumerate(self.facts, 2):
            if stage > 2:
                x = _transition(x, f"pool{stage - 1}_")
            for block in range(1, depth + 1):
                x = _block(x, f"conv{stage}_block{block}_")
        return _activated(x, "")


def _activated(x: Images, prefix: str) -> Images:
    x = BatchNormalization(axis=3, epsilon=1.001e-5, name=f"{prefix}bn")(x)
    return Activation("relu", name=f"{prefix}relu")(x)


def _transition(x: Images, prefix: str) -> Images:
    x = _activated(x, prefix)
    x = Conv2D(channels(x) // 2, 1, use_bias=False, name=f"{prefix}conv")(x)
    return AveragePooling2D(2, strides=2, name=f"{prefix}pool")(x)


def _block(x: Images, prefix: str) -> Images:
    y = _activated(x, f"{prefix}0_")
    y = Conv2D(4 * _GROWTH, 1, use_bias=False, name=f"{prefix}1_conv")(y)
    y = _activated(y, f"{prefix}1_")
    y = Conv2D(_GROWTH, 3, padding="same", use_bias=False, name=f"{prefix}2_conv")(y)
    return Concatenate(axis=3, name=f"{prefix}concat")([x, y])


DenseNet121 = constructor(
    _DenseNetwork,
    "DenseNet121",
    "densenet121",
    (6, 12, 24, 16),
    ("9d60b8095a5708f2dcce2bca79d332c7", "30ee3e1110167f948a6b9946edeeb738"),
)
DenseNet169 = constructor(
    _DenseNetwork,
    "DenseNet169",
    "densenet169",
    (6, 12, 32, 32),
    ("d699b8f76981ab1b30698df4c175e90b", "b8c4d4c20dd625c148057b9ff1c1176b"),
)
DenseNet201 = constructor(
    _DenseNetwork,
    "DenseNet201",
    "densenet201",
    (6, 12, 48, 32),
    ("1ceb130c1ea1b78c3bf6114dbdfd8807", "c13680b51ded0fb44dff2d8f86ac8bb1"),
)
