"""MobileNet V2, a small network of inverted residual blocks (Sandler et al., 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from webtensor.keras.applications.blocks import (
    Images,
    channel_axis,
    channels,
    rounded,
    strided_padding,
)
from webtensor.keras.applications.imagenet_utils import (
    decode_predictions,
    preprocess_for_tf as preprocess_input,
)
from webtensor.keras.applications.mobilenet import ScaledNetwork
from webtensor.keras.applications.networks import IMAGENET_CLASSES, constructor
from webtensor.keras.applications.pretrained import Weights
from webtensor.keras.data_formats import image_data_format, spatial_shape_of
from webtensor.keras.layers import (
    Add,
    BatchNormalization,
    Conv2D,
    DepthwiseConv2D,
    ReLU,
    ZeroPadding2D,
)
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import ActivationLike

__all__ = ["MobileNetV2", "decode_predictions", "preprocess_input"]

#: The channels of each stage, its number of blocks, and the stride of the first.
_STAGES = ((16, 1, 1), (24, 2, 2), (32, 3, 2), (64, 4, 2), (96, 3, 1), (160, 3, 2), (320, 1, 1))
_EXPANSION = 6
_TOP = 1280


@dataclass
class _InvertedNetwork(ScaledNetwork[None]):
    """MobileNet V2, a small network of inverted residual blocks (Sandler et al., 2018).

    Images are those that ``preprocess_input`` returns.
    """

    input_shape: Sequence[int | None] | None = None
    alpha: float = 1.0
    include_top: bool = True
    weights: Weights = "imagenet"
    input_tensor: KerasTensor | None = None
    pooling: str | None = None
    classes: int = IMAGENET_CLASSES
    classifier_activation: ActivationLike = "softmax"
    name: str | None = None

    pretrained_sizes = (96, 128, 160, 192, 224)
    pretrained_alphas = (0.35, 0.5, 0.75, 1.0, 1.3, 1.4)
    name_prefix = "mobilenetv2"
    classifier_pooling = None
    folder = "mobilenet_v2"

    def check(self) -> None:
        super().check()
        self.check_sizes_of_tensor()

    def default_size(self) -> int:
        if self.input_shape is None and self.input_tensor is not None:
            rows, columns = spatial_shape_of(self.input_tensor.shape, image_data_format())
            if rows == columns and rows in self.pretrained_sizes:
                return rows
        return super().default_size()

    def features(self, x: Images) -> Images:
        width = rounded(32 * self.alpha)
        x = Conv2D(width, 3, strides=2, padding="same", use_bias=False, name="Conv1")(x)
        x = ReLU(6.0, name="Conv1_relu")(_normalized(x, "bn_Conv1"))
        block = 0
        for width, depth, strides in _STAGES:
            for number in range(depth):
                x = _block(x, rounded(int(width * self.alpha)), 1 if number else strides, block)
                block += 1
        top = rounded(_TOP * self.alpha) if self.alpha > 1 else _TOP
        x = Conv2D(top, 1, use_bias=False, name="Conv_1")(x)
        return ReLU(6.0, name="out_relu")(_normalized(x, "Conv_1_bn"))

    def file_stem(self) -> str:
        alpha = float(self.alpha)
        return f"mobilenet_v2_weights_tf_dim_ordering_tf_kernels_{alpha}_{self.rows}"


def _block(inputs: Images, width: int, strides: int, block: int) -> Images:
    x, count = inputs, channels(inputs)
    prefix = f"block_{block}_" if block else "expanded_conv_"
    if block:
        name = f"{prefix}expand"
        x = Conv2D(_EXPANSION * count, 1, padding="same", use_bias=False, name=name)(x)
        x = ReLU(6.0, name=f"{name}_relu")(_normalized(x, f"{name}_BN"))
    if strides == 2:
        x = ZeroPadding2D(strided_padding(x, 3), name=f"{prefix}pad")(x)
    name = f"{prefix}depthwise"
    padding = "same" if strides == 1 else "valid"
    x = DepthwiseConv2D(3, strides=strides, padding=padding, use_bias=False, name=name)(x)
    x = ReLU(6.0, name=f"{name}_relu")(_normalized(x, f"{name}_BN"))
    x = Conv2D(width, 1, padding="same", use_bias=False, name=f"{prefix}project")(x)
    x = _normalized(x, f"{prefix}project_BN")
    if count == width and strides == 1:
        x = Add(name=f"{prefix}add")([inputs, x])
    return x


def _normalized(x: Images, name: str) -> Images:
    return BatchNormalization(axis=channel_axis(), epsilon=1e-3, momentum=0.999, name=name)(x)


MobileNetV2 = constructor(_InvertedNetwork, "MobileNetV2", None, None)
