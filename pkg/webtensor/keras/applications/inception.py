"""Inception modules, written as text, that ``inception_v3`` and ``inception_resnet_v2`` share.

A module has branches, which commas part; a branch is a chain of words. ``64@3x3`` is a convolution
to 64 channels with kernels of size 3 x 3, normalized and followed by ReLU; ``/2`` behind it is the
stride of one without padding. ``max`` halves the size of images, ``avg`` averages 3 x 3 pixels.
"""

from __future__ import annotations

import re

from webtensor.keras.applications.blocks import Images, channel_axis
from webtensor.keras.layers import (
    Activation,
    AveragePooling2D,
    BatchNormalization,
    Conv2D,
    MaxPooling2D,
)

__all__ = ["STEM", "branches", "chain", "convolution"]

#: The first layers of both networks.
STEM = "32@3x3/2 32@3x3/1 64@3x3 max 80@1x1/1 192@3x3/1 max"
_CONVOLUTION = re.compile(r"(\d+)@(\d)x(\d)(?:/(\d))?")


def branches(x: Images, text: str) -> list[Images]:
    """Return the outputs of all branches of a module."""
    return [chain(x, branch) for branch in text.split(",")]


def chain(x: Images, text: str) -> Images:
    """Return the output of one branch."""
    for word in text.split():
        match = _CONVOLUTION.fullmatch(word)
        if match:
            width, height, columns, strides = (int(group or 0) for group in match.groups())
            x = convolution(x, width, (height, columns), strides)
        elif word == "max":
            x = MaxPooling2D(3, strides=2)(x)
        else:
            x = AveragePooling2D(3, strides=1, padding="same")(x)
    return x


def convolution(
    x: Images,
    width: int,
    kernel: tuple[int, int] = (1, 1),
    strides: int = 0,
    name: str | None = None,
) -> Images:
    """Apply a convolution, batch normalization and ReLU; ``strides`` of 0 stands for padding."""
    padding = "valid" if strides else "same"
    conv = Conv2D(width, kernel, strides or 1, padding, use_bias=False, name=name)
    x = conv(x)
    x = BatchNormalization(axis=channel_axis(3), scale=False, name=name and f"{name}_bn")(x)
    return Activation("relu", name=name and f"{name}_ac")(x)
