"""The networks of ``vgg16`` and ``vgg19`` (Simonyan and Zisserman, 2014)."""

from __future__ import annotations

from dataclasses import dataclass

from webtensor.keras.applications.blocks import Images
from webtensor.keras.applications.networks import StandardNetwork
from webtensor.keras.layers import Conv2D, Dense, Flatten, MaxPooling2D

__all__ = ["VGG"]

_WIDTHS = (64, 128, 256, 512, 512)


@dataclass
class VGG(StandardNetwork[tuple[int, ...]]):
    """A deep network of 3 x 3 convolutions (Simonyan and Zisserman, 2014).

    Images are those that ``preprocess_input`` returns.
    """

    def features(self, x: Images) -> Images:
        """Compute the features of images."""
        for block, (width, depth) in enumerate(zip(_WIDTHS, self.facts, strict=True), 1):
            for number in range(1, depth + 1):
                name = f"block{block}_conv{number}"
                x = Conv2D(width, 3, activation="relu", padding="same", name=name)(x)
            x = MaxPooling2D(2, strides=2, name=f"block{block}_pool")(x)
        return x

    def classify(self, x: Images) -> Images:
        """Compute the classes of features."""
        x = Flatten(name="flatten")(x)
        x = Dense(4096, activation="relu", name="fc1")(x)
        x = Dense(4096, activation="relu", name="fc2")(x)
        return self.dense(x)
