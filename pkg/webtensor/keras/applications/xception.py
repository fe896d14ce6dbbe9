"""Xception, a network of separable convolutions (Chollet, 2016)."""

from __future__ import annotations

from dataclasses import dataclass

from webtensor.keras import layers
from webtensor.keras.applications.imagenet_utils import (
    decode_predictions,
    preprocess_for_tf as preprocess_input,
)
from webtensor.keras.applications.networks import Images, StandardNetwork, channel_axis, constructor

__all__ = ["Xception", "decode_predictions", "preprocess_input"]

#: The channels of the blocks that halve the size of images; the others have 728 thrice.
_HALVING = {2: (128, 128), 3: (256, 256), 4: (728, 728), 13: (728, 1024)}


@dataclass
class _Xception(StandardNetwork[None]):
    """A network of separable convolutions (Chollet, 2016).

    Images are those that ``preprocess_input`` returns.
    """

    size = 299
    minimum_size = 71

    def features(self, x: Images) -> Images:
        for number, width in enumerate((32, 64), 1):
            name = f"block1_conv{number}"
            x = layers.Conv2D(width, 3, strides=3 - number, use_bias=False, name=name)(x)
            x = _activated(_normalized(x, name), name)
        for block in range(2, 14):
            x = _residual_block(x, block)
        for number, width in enumerate((1536, 2048), 1):
            name = f"block14_sepconv{number}"
            x = _activated(_separable(x, width, name), name)
        return x


def _residual_block(x: Images, block: int) -> Images:
    residual, widths = x, _HALVING.get(block, (728,) * 3)
    if block in _HALVING:
        residual = layers.Conv2D(widths[-1], 1, strides=2, padding="same", use_bias=False)(x)
        residual = _normalized(residual)
    for number, width in enumerate(widths, 1):
        name = f"block{block}_sepconv{number}"
        if name != "block2_sepconv1":  # the layer before it is an activation
            x = _activated(x, name)
        x = _separable(x, width, name)
    if block in _HALVING:
        x = layers.MaxPooling2D(3, strides=2, padding="same", name=f"block{block}_pool")(x)
    return layers.add([x, residual])


def _separable(x: Images, width: int, name: str) -> Images:
    x = layers.SeparableConv2D(width, 3, padding="same", use_bias=False, name=name)(x)
    return _normalized(x, name)


def _normalized(x: Images, name: str | None = None) -> Images:
    return layers.BatchNormalization(axis=channel_axis(), name=name and f"{name}_bn")(x)


def _activated(x: Images, name: str) -> Images:
    return layers.Activation("relu", name=f"{name}_act")(x)


Xception = constructor(
    _Xception,
    "Xception",
    "xception",
    None,
    "0a58e3b7378bc2990ea3b43d5981f1f6",
    "b0042744bf5b25fce3cb969f33bebb97",
)
