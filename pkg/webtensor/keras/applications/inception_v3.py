"""Inception V3, a network of modules with several branches (Szegedy et al., 2015).

Modules are written as text. Commas part the branches, which are chains of words: ``64@3x3`` is a
convolution to 64 channels with kernels of 3 x 3 pixels, batch normalization and ReLU; ``/2`` behind
it is the stride of one without padding. ``max`` halves the size, ``avg`` averages 3 x 3 pixels.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from webtensor.keras import layers
from webtensor.keras.applications.imagenet_utils import (
    decode_predictions,
    preprocess_for_tf as preprocess_input,
)
from webtensor.keras.applications.networks import Images, StandardNetwork, channel_axis, constructor

__all__ = ["InceptionV3", "decode_predictions", "preprocess_input"]

#: The first layers of this network and of Inception-ResNet.
STEM = "32@3x3/2 32@3x3/1 64@3x3 max 80@1x1/1 192@3x3/1 max"
_SMALL = "64@1x1, 48@1x1 64@5x5, 64@1x1 96@3x3 96@3x3, avg {}@1x1"
_LARGE = "192@1x1, {0}@1x1 {0}@1x7 192@7x1, {0}@1x1 {0}@7x1 {0}@1x7 {0}@7x1 192@1x7, avg 192@1x1"
#: The modules but for the last two.
_MODULES = (
    *map(_SMALL.format, (32, 64, 64)),
    "384@3x3/2, 64@1x1 96@3x3 96@3x3/2, max",
    *map(_LARGE.format, (128, 160, 160, 192)),
    "192@1x1 320@3x3/2, 192@1x1 192@1x7 192@7x1 192@3x3/2, max",
)


@dataclass
class _InceptionV3(StandardNetwork[None]):
    """A network of modules with several branches (Szegedy et al., 2015).

    Images are those that ``preprocess_input`` returns.
    """

    size = 299
    minimum_size = 75

    def features(self, x: Images) -> Images:
        x = chain(x, STEM)
        for number, text in enumerate(_MODULES):
            x = module(x, text, f"mixed{number}")
        for number in range(2):
            outputs = [chain(x, "320@1x1")]
            for text, name in (("384@1x1", f"mixed9_{number}"), ("448@1x1 384@3x3", None)):
                outputs.append(module(chain(x, text), "384@1x3, 384@3x1", name))
            x = _joined([*outputs, chain(x, "avg 192@1x1")], f"mixed{9 + number}")
        return x


def module(x: Images, text: str, name: str | None) -> Images:
    """Apply a module."""
    return _joined([chain(x, branch) for branch in text.split(",")], name)


def _joined(outputs: list[Images], name: str | None) -> Images:
    return layers.concatenate(outputs, axis=channel_axis(3), name=name)


def chain(x: Images, text: str) -> Images:
    """Apply one branch."""
    for word in text.split():
        if word == "max":
            x = layers.MaxPooling2D(3, strides=2)(x)
        elif word == "avg":
            x = layers.AveragePooling2D(3, strides=1, padding="same")(x)
        else:
            width, rows, columns, strides, *_ = (*map(int, re.findall(r"\d+", word)), 0)
            x = convolution(x, width, (rows, columns), strides)
    return x


def convolution(
    x: Images, width: int, kernel: Any = 1, strides: int = 0, name: str | None = None
) -> Images:
    """Apply a convolution, batch normalization and ReLU; ``strides=0`` stands for padding."""
    pads = "valid" if strides else "same"
    x = layers.Conv2D(width, kernel, strides or 1, pads, use_bias=False, name=name)(x)
    x = layers.BatchNormalization(axis=channel_axis(3), scale=False, name=name and f"{name}_bn")(x)
    return layers.Activation("relu", name=name and f"{name}_ac")(x)


InceptionV3 = constructor(
    _InceptionV3,
    "InceptionV3",
    "inception_v3",
    None,
    "9a0d58056eeedaa3f26cb7ebd46da564",
    "bcbd6486424b2319ff4ef7d526e38f63",
)
