"""Inception-ResNet V2: Inception modules as residual blocks (Szegedy et al., 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from webtensor.engine import Tensor
from webtensor.keras.applications.blocks import Images, channel_axis, channels
from webtensor.keras.applications.imagenet_utils import (
    decode_predictions,
    preprocess_for_tf as preprocess_input,
)
from webtensor.keras.applications.inception import STEM, branches, chain, convolution
from webtensor.keras.applications.networks import StandardNetwork, constructor
from webtensor.keras.layers import Activation, Concatenate, Conv2D, Layer
from webtensor.keras.types import Shape

__all__ = ["CustomScaleLayer", "InceptionResNetV2", "decode_predictions", "preprocess_input"]


class _Stage(NamedTuple):
    """The module before a stage, and the residual blocks of the stage."""

    name: str
    module: str
    block_name: str
    block: str
    depth: int
    scale: float


_STAGES = (
    _Stage(
        "mixed_5b",
        "96@1x1, 48@1x1 64@5x5, 64@1x1 96@3x3 96@3x3, avg 64@1x1",
        "block35",
        "32@1x1, 32@1x1 32@3x3, 32@1x1 48@3x3 64@3x3",
        depth=10,
        scale=0.17,
    ),
    _Stage(
        "mixed_6a",
        "384@3x3/2, 256@1x1 256@3x3 384@3x3/2, max",
        "block17",
        "192@1x1, 128@1x1 160@1x7 192@7x1",
        depth=20,
        scale=0.1,
    ),
    _Stage(
        "mixed_7a",
        "256@1x1 384@3x3/2, 256@1x1 288@3x3/2, 256@1x1 288@3x3 320@3x3/2, max",
        "block8",
        "192@1x1, 192@1x1 224@1x3 256@3x1",
        depth=10,
        scale=0.2,
    ),
)


class CustomScaleLayer(Layer):
    """``x + scale * y`` of two inputs.

    Args:
        scale: a number.
    """

    def __init__(self, scale: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.scale = scale

    def call(self, inputs: Sequence[Tensor]) -> Tensor:
        """Add the scaled second input to the first."""
        return inputs[0] + inputs[1] * self.scale

    def compute_output_shape(self, input_shape: Sequence[Shape]) -> Shape:
        """Return the shape of the first input."""
        return input_shape[0]


@dataclass
class _InceptionResidualNetwork(StandardNetwork[None]):
    """A network of Inception modules as residual blocks (Szegedy et al., 2016).

    Images are those that ``preprocess_input`` returns.
    """

    size = 299
    minimum_size = 75

    def features(self, x: Images) -> Images:
        x = chain(x, STEM)
        for stage in _STAGES:
            x = _joined(branches(x, stage.module), stage.name)
            for number in range(1, stage.depth + 1):
                is_last = stage is _STAGES[-1] and number == stage.depth
                x = _residual_block(x, stage, number, is_last)
        return convolution(x, 1536, name="conv_7b")


def _residual_block(x: Images, stage: _Stage, number: int, is_last: bool) -> Images:
    name = f"{stage.block_name}_{number}"
    residual = _joined(branches(x, stage.block), f"{name}_mixed")
    residual = Conv2D(channels(x), 1, padding="same", name=f"{name}_conv")(residual)
    x = CustomScaleLayer(1.0 if is_last else stage.scale)([x, residual])
    return x if is_last else Activation("relu", name=f"{name}_ac")(x)


def _joined(outputs: list[Images], name: str) -> Images:
    return Concatenate(axis=channel_axis(3), name=name)(outputs)


InceptionResNetV2 = constructor(
    _InceptionResidualNetwork,
    "InceptionResNetV2",
    "inception_resnet_v2",
    None,
    ("e693bd0210a403b3192acc6073ad2e96", "d19885ff4a710c122648d3b5c3b684e4"),
)
