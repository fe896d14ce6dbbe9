"""Inception-ResNet V2: Inception modules as residual blocks (Szegedy et al., 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from webtensor.engine import Tensor
from webtensor.keras import layers
from webtensor.keras.applications.imagenet_utils import (
    decode_predictions,
    preprocess_for_tf as preprocess_input,
)
from webtensor.keras.applications.inception_v3 import STEM, chain, convolution, module
from webtensor.keras.applications.networks import Images, StandardNetwork, channels, constructor
from webtensor.keras.types import Shape

__all__ = ["CustomScaleLayer", "InceptionResNetV2", "decode_predictions", "preprocess_input"]

#: For each stage the name and the module before it, and the name, the number, the scale and the
#: module of its residual blocks.
_STAGES = (
    ("5b", "96@1x1, 48@1x1 64@5x5, 64@1x1 96@3x3 96@3x3, avg 64@1x1",
     35, 10, 0.17, "32@1x1, 32@1x1 32@3x3, 32@1x1 48@3x3 64@3x3"),
    ("6a", "384@3x3/2, 256@1x1 256@3x3 384@3x3/2, max",
     17, 20, 0.1, "192@1x1, 128@1x1 160@1x7 192@7x1"),
    ("7a", "256@1x1 384@3x3/2, 256@1x1 288@3x3/2, 256@1x1 288@3x3 320@3x3/2, max",
     8, 10, 0.2, "192@1x1, 192@1x1 224@1x3 256@3x1"),
)  # fmt: skip


class CustomScaleLayer(layers.Layer):
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
class _InceptionResNetV2(StandardNetwork[None]):
    """A network of Inception modules as residual blocks (Szegedy et al., 2016).

    Images are those that ``preprocess_input`` returns.
    """

    size = 299
    minimum_size = 75

    def features(self, x: Images) -> Images:
        x = chain(x, STEM)
        for stage, before, kind, depth, scale, text in _STAGES:
            x = module(x, before, f"mixed_{stage}")
            for number in range(1, depth + 1):
                name = f"block{kind}_{number}"
                is_last = name == "block8_10"
                residual = module(x, text, f"{name}_mixed")
                width = channels(x.shape)
                residual = layers.Conv2D(width, 1, padding="same", name=f"{name}_conv")(residual)
                x = CustomScaleLayer(1.0 if is_last else scale)([x, residual])
                if not is_last:
                    x = layers.Activation("relu", name=f"{name}_ac")(x)
        return convolution(x, 1536, name="conv_7b")


InceptionResNetV2 = constructor(
    _InceptionResNetV2,
    "InceptionResNetV2",
    "inception_resnet_v2",
    None,
    "e693bd0210a403b3192acc6073ad2e96",
    "d19885ff4a710c122648d3b5c3b684e4",
)
