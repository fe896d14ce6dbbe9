"""NASNet, networks of two kinds of cells that were searched for (Zoph et al., 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from webtensor.keras import layers
from webtensor.keras.applications.imagenet_utils import (
    decode_predictions,
    preprocess_for_tf as preprocess_input,
)
from webtensor.keras.applications.networks import (
    ActivationLike,
    Images,
    ImageShape,
    Network,
    Symbol,
    Weights,
    channels,
    constructor,
    padding,
)
from webtensor.keras.applications.pretrained import Download
from webtensor.keras.names import name_scope
from webtensor.keras.types import Shape

__all__ = ["NASNetLarge", "NASNetMobile", "decode_predictions", "preprocess_input"]


class _Facts(NamedTuple):
    """The channels of the last cell and of the stem, and the number of cells in each stage."""

    top: int
    stem: int
    depth: int
    size: int
    #: Whether cells after a reduction see the images before it, in place of the ones after.
    skips_reductions: bool
    file_name: str


@dataclass
class _NASNet(Network[_Facts]):
    """A network of two kinds of cells that were searched for (Zoph et al., 2017).

    Images are those that ``preprocess_input`` returns.
    """

    input_shape: ImageShape = None
    include_top: bool = True
    weights: Weights = "imagenet"
    input_tensor: Symbol = None
    pooling: str | None = None
    classes: int = 1000
    classifier_activation: ActivationLike = "softmax"
    name: str | None = None

    supports_channels_first = False
    classifier_pooling = None
    folder = "nasnet"

    def default_size(self) -> int:
        return self.facts.size

    def image_shape(self) -> Shape:
        shape = super().image_shape()
        return shape if self.input_shape else (self.facts.size, self.facts.size, 3)

    def features(self, x: Images) -> Images:
        if None in x.shape[1:]:
            raise self.error(f"the size of images must be known, but their shape is {x.shape[1:]}")
        depth, width = self.facts.depth, self.facts.top // 24
        x = _convolution(x, self.facts.stem, "stem_conv1", kernel=3, strides=2, padding="valid")
        x = _normalized(x, "stem_bn1")
        previous, x = x, _reduction_cell(x, None, width // 4, "stem_1")
        previous, x = x, _reduction_cell(x, previous, width // 2, "stem_2")
        for stage in range(3):
            if stage:
                reduced = _reduction_cell(x, previous, width << stage, f"reduce_{stage * depth}")
                previous, x = previous if self.facts.skips_reductions else x, reduced
            for cell in range(depth):
                number = stage * depth + cell + bool(stage)
                previous, x = x, _normal_cell(x, previous, width << stage, str(number))
        return layers.Activation("relu")(x)

    def download(self) -> Download:
        stem = f"NASNet-{self.facts.file_name}"
        address = f"{self.address()}/{stem}{'' if self.include_top else '-no-top'}.h5"
        name = f"{self.default_name}{'' if self.include_top else '_no_top'}.h5"
        return Download(name, address, self.file_hash())


# -- cells -------------------------------------------------------------------------------------


def _normal_cell(inputs: Images, previous: Images, width: int, name: str) -> Images:
    """Return images of the same size; ``previous`` are the inputs of the cell before."""
    with name_scope(f"normal_A_block_{name}"):
        p = _adjusted(previous, inputs, width, name)
        h = _projected(inputs, width, "normal", name)
        with name_scope("block_1"):
            left = _separable(h, width, 5, f"normal_left1_{name}")
            right = _separable(p, width, 3, f"normal_right1_{name}")
            first = layers.add([left, right], name=f"normal_add_1_{name}")
        with name_scope("block_2"):
            left = _separable(p, width, 5, f"normal_left2_{name}")
            right = _separable(p, width, 3, f"normal_right2_{name}")
            second = layers.add([left, right], name=f"normal_add_2_{name}")
        with name_scope("block_3"):
            left = _averaged(h, f"normal_left3_{name}")
            third = layers.add([left, p], name=f"normal_add_3_{name}")
        with name_scope("block_4"):
            left = _averaged(p, f"normal_left4_{name}")
            right = _averaged(p, f"normal_right4_{name}")
            fourth = layers.add([left, right], name=f"normal_add_4_{name}")
        with name_scope("block_5"):
            left = _separable(h, width, 3, f"normal_left5_{name}")
            fifth = layers.add([left, h], name=f"normal_add_5_{name}")
        outputs = [p, first, second, third, fourth, fifth]
        return _joined(outputs, f"normal_concat_{name}")


def _reduction_cell(inputs: Images, previous: Images | None, width: int, name: str) -> Images:
    """Return images of half the size; ``previous`` are the inputs of the cell before."""
    with name_scope(f"reduction_A_block_{name}"):
        p = _adjusted(previous, inputs, width, name)
        h = _projected(inputs, width, "reduction", name)
        padded = layers.ZeroPadding2D(padding(h, 3), name=f"reduction_pad_1_{name}")(h)
        with name_scope("block_1"):
            left = _separable(h, width, 5, f"reduction_left1_{name}", strides=2)
            right = _separable(p, width, 7, f"reduction_right1_{name}", strides=2)
            first = layers.add([left, right], name=f"reduction_add_1_{name}")
        with name_scope("block_2"):
            left = layers.MaxPooling2D(3, strides=2, name=f"reduction_left2_{name}")(padded)
            right = _separable(p, width, 7, f"reduction_right2_{name}", strides=2)
            second = layers.add([left, right], name=f"reduction_add_2_{name}")
        with name_scope("block_3"):
            left = layers.AveragePooling2D(3, strides=2, name=f"reduction_left3_{name}")(padded)
            right = _separable(p, width, 5, f"reduction_right3_{name}", strides=2)
            third = layers.add([left, right], name=f"reduction_add3_{name}")
        with name_scope("block_4"):
            fourth = layers.add([second, _averaged(first, f"reduction_left4_{name}")])
        with name_scope("block_5"):
            left = _separable(first, width, 3, f"reduction_left4_{name}")
            right = layers.MaxPooling2D(3, strides=2, name=f"reduction_right5_{name}")(padded)
            fifth = layers.add([left, right], name=f"reduction_add4_{name}")
        return _joined([second, third, fourth, fifth], f"reduction_concat_{name}")


def _adjusted(previous: Images | None, inputs: Images, width: int, name: str) -> Images:
    """Return the inputs of the cell before in the size of those of this one."""
    with name_scope("adjust_block"):
        if previous is None:
            return inputs
        if previous.shape[-2] != inputs.shape[-2]:
            with name_scope(f"adjust_reduction_block_{name}"):
                return _halved(previous, width, name)
        if channels(previous.shape) != width:
            with name_scope(f"adjust_projection_block_{name}"):
                x = layers.Activation("relu")(previous)
                x = _convolution(x, width, f"adjust_conv_projection_{name}")
                return _normalized(x, f"adjust_bn_{name}")
    return previous


def _halved(x: Images, width: int, name: str) -> Images:
    """Return every other pixel, and beside it the one after the next."""
    x = layers.Activation("relu", name=f"adjust_relu_1_{name}")(x)
    parts = []
    for number in (1, 2):
        if number == 2:
            x = layers.ZeroPadding2D(((0, 1), (0, 1)))(x)
            x = layers.Cropping2D(((1, 0), (1, 0)))(x)
        part = layers.AveragePooling2D(1, strides=2, name=f"adjust_avg_pool_{number}_{name}")(x)
        parts.append(_convolution(part, width // 2, f"adjust_conv_{number}_{name}"))
    return _normalized(_joined(parts, None), f"adjust_bn_{name}")


def _projected(x: Images, width: int, kind: str, name: str) -> Images:
    x = layers.Activation("relu")(x)
    x = _convolution(x, width, f"{kind}_conv_1_{name}")
    return _normalized(x, f"{kind}_bn_1_{name}")


def _separable(x: Images, width: int, kernel: int, name: str, strides: int = 1) -> Images:
    """Apply two separable convolutions, each behind ReLU."""
    with name_scope(f"separable_conv_block_{name}"):
        for number in (1, 2):
            layer = f"separable_conv_{number}"
            x = layers.Activation("relu")(x)
            pads = "same"
            if strides == 2:
                x = layers.ZeroPadding2D(padding(x, kernel), name=f"{layer}_pad_{name}")(x)
                pads = "valid"
            x = layers.SeparableConv2D(
                width,
                kernel,
                strides=strides,
                padding=pads,
                use_bias=False,
                name=f"{layer}_{name}",
            )(x)
            x = _normalized(x, f"{layer}_bn_{name}")
            strides = 1
    return x


def _convolution(
    x: Images,
    width: int,
    name: str,
    *,
    kernel: int = 1,
    strides: int = 1,
    padding: str = "same",
) -> Images:
    return layers.Conv2D(
        width,
        kernel,
        strides=strides,
        padding=padding,
        use_bias=False,
        kernel_initializer="he_normal",
        name=name,
    )(x)


def _normalized(x: Images, name: str) -> Images:
    return layers.BatchNormalization(axis=-1, momentum=0.9997, epsilon=1e-3, name=name)(x)


def _averaged(x: Images, name: str) -> Images:
    return layers.AveragePooling2D(3, strides=1, padding="same", name=name)(x)


def _joined(outputs: list[Images], name: str | None) -> Images:
    return layers.concatenate(outputs, axis=-1, name=name)


NASNetMobile = constructor(
    _NASNet,
    "NASNetMobile",
    "nasnet_mobile",
    _Facts(1056, stem=32, depth=4, size=224, skips_reductions=False, file_name="mobile"),
    "020fb642bf7360b370c678b08e0adf61",
    "1ed92395b5b598bdda52abe5c0dbfd63",
)
NASNetLarge = constructor(
    _NASNet,
    "NASNetLarge",
    "nasnet_large",
    _Facts(4032, stem=96, depth=6, size=331, skips_reductions=True, file_name="large"),
    "11577c9a518f0070763c2b964a382f17",
    "d81d89dc07e6e56530c4e77faddd61b5",
)
