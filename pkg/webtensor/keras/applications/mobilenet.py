"""MobileNet, a small network of depthwise convolutions (Howard et al., 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar
from warnings import warn

from webtensor.keras.applications.blocks import Images, channel_axis
from webtensor.keras.applications.imagenet_utils import (
    decode_predictions,
    preprocess_for_tf as preprocess_input,
)
from webtensor.keras.applications.networks import IMAGENET_CLASSES, Facts, Network, constructor
from webtensor.keras.applications.pretrained import Weights
from webtensor.keras.data_formats import image_data_format, spatial_shape_of
from webtensor.keras.layers import (
    Activation,
    BatchNormalization,
    Conv2D,
    DepthwiseConv2D,
    Dropout,
    GlobalAveragePooling2D,
    ReLU,
    Reshape,
    ZeroPadding2D,
)
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import ActivationLike, Shape

__all__ = ["MobileNet", "ScaledNetwork", "decode_predictions", "preprocess_input"]

#: The channels and the stride of each block.
_BLOCKS = (
    *((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1), (512, 1)),
    *((512, 1), (512, 1), (1024, 2), (1024, 1)),
)
#: What file names have for ``alpha``.
_ALPHAS = {1.0: "1_0", 0.75: "7_5", 0.5: "5_0", 0.25: "2_5"}


class ScaledNetwork(Network[Facts]):
    """A network whose width is an argument; it is pretrained for several widths and sizes."""

    alpha: float

    pretrained_sizes: ClassVar[tuple[int, ...]]
    pretrained_alphas: tuple[float, ...]
    #: The beginning of the default name.
    name_prefix: ClassVar[str]
    headless_suffix = "_no_top"

    #: The height of the images that pretrained weights are for.
    rows: int | None

    def check(self) -> None:
        """Check the arguments.

        Raises:
            ValueError: one is invalid.
        """
        super().check()
        if isinstance(self.alpha, bool) or not isinstance(self.alpha, (int, float)):
            raise self.error(f"alpha must be a number, but got {self.alpha!r}")
        if self.alpha <= 0:
            raise self.error(f"alpha must be positive, but got {self.alpha!r}")
        alphas = self.pretrained_alphas
        if self.is_pretrained and self.alpha not in alphas:
            raise self.error(
                f"alpha must be one of {alphas} with weights='imagenet', but got {self.alpha!r}"
            )

    def image_shape(self) -> Shape:
        """Return the shape of an image, and name the model after it."""
        shape = super().image_shape()
        self.rows, columns = spatial_shape_of((None, *shape), image_data_format())
        if self.is_pretrained and (self.rows != columns or self.rows not in self.pretrained_sizes):
            self.warn_of_size()
            self.rows = self.size
        if self.name is None:
            self.name = f"{self.name_prefix}_{self.alpha:0.2f}_{self.rows}"
        return shape

    def default_size(self) -> int:
        """Return the size of images with a classifier."""
        shape = self.given_shape()
        if shape is None:
            return self.size
        rows, columns = spatial_shape_of((None, *shape), image_data_format())
        return rows if rows == columns and rows in self.pretrained_sizes else self.size

    def warn_of_size(self) -> None:
        """Warn that the images have not a size that weights were trained for."""
        sizes = ", ".join(map(str, self.pretrained_sizes))
        warn(
            f"{self.title}: input_shape is not that of square images of size {sizes}, so that the "
            f"weights are those for size {self.size}",
            stacklevel=6,
        )


@dataclass
class _DepthwiseNetwork(ScaledNetwork[None]):
    """MobileNet, a small network of depthwise convolutions (Howard et al., 2017).

    Images are those that ``preprocess_input`` returns.
    """

    input_shape: Sequence[int | None] | None = None
    alpha: float = 1.0
    depth_multiplier: int = 1
    dropout: float = 0.001
    include_top: bool = True
    weights: Weights = "imagenet"
    input_tensor: KerasTensor | None = None
    pooling: str | None = None
    classes: int = IMAGENET_CLASSES
    classifier_activation: ActivationLike = "softmax"
    name: str | None = None

    pretrained_sizes = (128, 160, 192, 224)
    pretrained_alphas = tuple(_ALPHAS)
    name_prefix = "mobilenet"
    folder = "mobilenet"

    def check(self) -> None:
        super().check()
        if self.is_pretrained and self.depth_multiplier != 1:
            raise self.error(
                f"depth_multiplier must be 1 with weights='imagenet', but got "
                f"{self.depth_multiplier!r}"
            )

    def features(self, x: Images) -> Images:
        width = int(32 * self.alpha)
        x = Conv2D(width, 3, strides=2, padding="same", use_bias=False, name="conv1")(x)
        x = _activated(x, "conv1")
        for number, (width, strides) in enumerate(_BLOCKS, 1):
            if strides == 2:
                x = ZeroPadding2D(((0, 1), (0, 1)), name=f"conv_pad_{number}")(x)
            depthwise = DepthwiseConv2D(
                3,
                strides=strides,
                padding="same" if strides == 1 else "valid",
                depth_multiplier=self.depth_multiplier,
                use_bias=False,
                name=f"conv_dw_{number}",
            )
            x = _activated(depthwise(x), depthwise.name)
            name = f"conv_pw_{number}"
            pointwise = Conv2D(
                int(width * self.alpha), 1, padding="same", use_bias=False, name=name
            )
            x = _activated(pointwise(x), name)
        return x

    def classify(self, x: Images) -> Images:
        x = GlobalAveragePooling2D(keepdims=True)(x)
        x = Dropout(self.dropout, name="dropout")(x)
        x = Conv2D(self.classes, 1, padding="same", name="conv_preds")(x)
        x = Reshape((self.classes,), name="reshape_2")(x)
        return Activation(self.classifier_activation, name="predictions")(x)

    def file_stem(self) -> str:
        return f"mobilenet_{_ALPHAS[self.alpha]}_{self.rows}_tf"


def _activated(x: Images, name: str) -> Images:
    x = BatchNormalization(axis=channel_axis(), name=f"{name}_bn")(x)
    return ReLU(6.0, name=f"{name}_relu")(x)


MobileNet = constructor(_DepthwiseNetwork, "MobileNet", None, None)
