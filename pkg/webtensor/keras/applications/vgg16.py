"""VGG, deep networks of small convolutions (Simonyan and Zisserman, 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from webtensor.keras import layers
from webtensor.keras.applications.imagenet_utils import (
    decode_predictions,
    preprocess_for_caffe as preprocess_input,
)
from webtensor.keras.applications.networks import Images, StandardNetwork, constructor

__all__ = ["VGG16", "decode_predictions", "preprocess_input"]


@dataclass
class VGG(StandardNetwork[tuple[int, ...]]):
    """A deep network of small convolutions (Simonyan and Zisserman, 2014).

    Images are those that ``preprocess_input`` returns.
    """

    def features(self, x: Images) -> Images:
        for block, depth in enumerate(self.facts, 1):
            width = min(32 << block, 512)
            for number in range(1, depth + 1):
                name = f"block{block}_conv{number}"
                x = layers.Conv2D(width, 3, activation="relu", padding="same", name=name)(x)
            x = layers.MaxPooling2D(2, strides=2, name=f"block{block}_pool")(x)
        return x

    def classify(self, x: Images, **options: Any) -> Images:
        x = layers.Flatten(name="flatten")(x)
        for name in ("fc1", "fc2"):
            x = layers.Dense(4096, activation="relu", name=name)(x)
        return self.dense(x)


VGG16 = constructor(
    VGG,
    "VGG16",
    "vgg16",
    (2, 2, 3, 3, 3),
    "64373286793e3c8b2b4e3219cbf3544b",
    "6d6bbae143d832006294945121d1f1fc",
)
VGG19 = constructor(
    VGG,
    "VGG19",
    "vgg19",
    (2, 2, 4, 4, 4),
    "cbe5617147190e668d6c5d5026f83318",
    "253f8cb515780f3b799900260a226db6",
)
