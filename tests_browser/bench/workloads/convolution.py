"""Convolutions, their fused forms and their gradients.

The layers of two-dimensional ones are the distinct layers of MobileNet v1 at 224×224.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import webtensor as wt
from tests_browser.bench.workload import CPU_FOR_WASM, Input, Shape, Workload

__all__ = ["CONVOLUTIONS"]

#: height and width, input channels, output channels
POINTWISE_LAYERS = [
    (112, 32, 64),
    (56, 64, 128),
    (56, 128, 128),
    (28, 128, 256),
    (28, 256, 256),
    (14, 256, 512),
    (14, 512, 512),
    (7, 512, 1024),
    (7, 1024, 1024),
]
#: height and width, channels, stride
DEPTHWISE_LAYERS = [
    (112, 32, 1),
    (112, 64, 2),
    (56, 128, 1),
    (56, 128, 2),
    (28, 256, 1),
    (28, 256, 2),
    (14, 512, 1),
    (14, 512, 2),
    (7, 1024, 1),
]


def multiplications(positions: Shape, filter: Shape) -> int:
    """How many products a convolution sums: each weight's, once at each position of the result."""
    return prod(positions) * prod(filter)


def conv2d(size: int, filter: Shape, stride: int = 1) -> Workload:
    """Time a convolution whose padding keeps the size."""
    x, w = Input((1, size, size, filter[2])), Input(filter)
    return Workload(
        "conv2d",
        lambda x, w: wt.conv2d(x, w, stride, "same"),
        f"tf.conv2d(x, w, {stride}, 'same')",
        {"x": x, "w": w},
        described=f"{x} {w} stride {stride}",
        multiplications=multiplications((size // stride,) * 2, filter),
    )


def depthwise_conv2d(size: int, channels: int, stride: int) -> Workload:
    """Time a 3×3 depthwise convolution whose padding keeps the size."""
    filter = (3, 3, channels, 1)
    x, w = Input((1, size, size, channels)), Input(filter)
    return Workload(
        "depthwise_conv2d",
        lambda x, w: wt.depthwise_conv2d(x, w, stride, "same"),
        f"tf.depthwiseConv2d(x, w, {stride}, 'same')",
        {"x": x, "w": w},
        described=f"{x} {w} stride {stride}",
        multiplications=multiplications((size // stride,) * 2, filter),
    )


def grouped_conv2d(size: int, filter: Shape, groups: int) -> Workload:
    """Time a convolution in groups of channels, which TensorFlow.js is given one by one."""
    x, w = Input((1, size, size, groups * filter[2])), Input(filter)
    return Workload(
        "conv2d.grouped",
        lambda x, w: wt.conv2d(x, w, 1, "same"),
        f"tf.tidy(() => {{ const filters = tf.split(w, {groups}, 3);"
        f" return tf.concat(tf.split(x, {groups}, 3).map("
        f"(group, i) => tf.conv2d(group, filters[i], 1, 'same')), 3); }})",
        {"x": x, "w": w},
        described=f"{x} {w}",
        multiplications=multiplications((size, size), filter),
    )


Convolution = Callable[[wt.Tensor, wt.Tensor], wt.Tensor]


def same_conv2d(x: wt.Tensor, w: wt.Tensor) -> wt.Tensor:
    """Convolve with a padding that keeps the size."""
    return wt.conv2d(x, w, 1, "same")


def same_depthwise_conv2d(x: wt.Tensor, w: wt.Tensor) -> wt.Tensor:
    """Convolve each channel with a padding that keeps the size."""
    return wt.depthwise_conv2d(x, w, 1, "same")


IMAGE = Input((4, 56, 56, 32))
FILTER = Input((3, 3, 32, 32))
CONVOLVED = "tf.conv2d(x, w, 1, 'same')"


def gradient(name: str, argnum: int, ours: Convolution, theirs: str, w: Input) -> Workload:
    """Time a convolution and its gradient by the image (argument 0) or the filter (argument 1)."""
    return Workload(
        f"{name}.gradient",
        lambda x, w: wt.grad(lambda operand: ours(operand, w) if argnum == 0 else ours(x, operand))(
            x if argnum == 0 else w
        ),
        f"tf.tidy(() => tf.grad(({'xw'[argnum]}) => {theirs})({'xw'[argnum]}))",
        {"x": IMAGE, "w": w},
        described=f"{IMAGE} {w} by the {('image', 'filter')[argnum]}",
        peers=CPU_FOR_WASM,
    )


CONVOLUTIONS = [
    conv2d(224, (3, 3, 3, 32), stride=2),
    conv2d(56, (3, 3, 64, 64)),
    conv2d(28, (3, 3, 128, 128)),
    conv2d(14, (3, 3, 256, 256)),
    conv2d(28, (3, 3, 256, 512)),  # of VGG, as is the next
    conv2d(14, (3, 3, 512, 512)),
    *(conv2d(size, (1, 1, before, after)) for size, before, after in POINTWISE_LAYERS),
    *(depthwise_conv2d(*layer) for layer in DEPTHWISE_LAYERS),
    grouped_conv2d(28, (3, 3, 8, 256), 32),  # of ResNeXt-50, 32×4d
    grouped_conv2d(14, (3, 3, 16, 512), 32),
    grouped_conv2d(28, (1, 1, 80, 240), 3),  # of ShuffleNet
    Workload(
        "conv1d",
        lambda x, w: wt.conv1d(x, w, 1, "same"),
        "tf.conv1d(x, w, 1, 'same')",
        {"x": Input((8, 1000, 32)), "w": Input((5, 32, 64))},
        multiplications=multiplications((8, 1000), (5, 32, 64)),
    ),
    Workload(
        "conv1d",
        lambda x, w: wt.conv1d(x, w, 2, "same"),
        "tf.conv1d(x, w, 2, 'same')",
        {"x": Input((1, 1000, 3)), "w": Input((5, 3, 5))},
        multiplications=multiplications((1, 500), (5, 3, 5)),
    ),
    Workload(
        "depthwise_conv2d",
        same_depthwise_conv2d,
        "tf.depthwiseConv2d(x, w, 1, 'same')",
        {"x": Input((1, 56, 56, 17)), "w": Input((3, 3, 17, 2))},
        multiplications=multiplications((56, 56), (3, 3, 17, 2)),
    ),
    Workload(
        "conv2d_transpose",
        lambda x, w: wt.conv2d_transpose(x, w, (1, 56, 56, 32), 2, "same"),
        "tf.conv2dTranspose(x, w, [1, 56, 56, 32], 2, 'same')",
        {"x": Input((1, 28, 28, 64)), "w": Input((3, 3, 32, 64))},
        multiplications=multiplications((28, 28), (3, 3, 32, 64)),  # at each pixel
    ),
    Workload(
        "conv3d",
        lambda x, w: wt.conv3d(x, w, 1, "same"),
        "tf.conv3d(x, w, 1, 'same')",
        {"x": Input((1, 16, 32, 32, 8)), "w": Input((3, 3, 3, 8, 16))},
        multiplications=multiplications((16, 32, 32), (3, 3, 3, 8, 16)),
    ),
    Workload(
        "separable_conv2d",
        lambda x, d, p: wt.separable_conv2d(x, d, p, 1, "same"),
        "tf.separableConv2d(x, d, p, 1, 'same')",
        {"x": IMAGE, "d": Input((3, 3, 32, 1)), "p": Input((1, 1, 32, 64))},
        multiplications=multiplications((4, 56, 56), (9 + 64, 32)),
    ),
    Workload(
        "dilation2d",
        lambda x, w: wt.dilation2d(x, w, 1, "same"),
        "tf.dilation2d(x, w, 1, 'same')",
        {"x": Input((1, 56, 56, 32), 0.0, 1.0), "w": Input((3, 3, 32), 0.0, 1.0)},
    ),
    Workload(
        "conv2d.fused",
        lambda x, w, bias: wt.fused.conv2d(x, w, 1, "same", bias=bias, activation="relu6"),
        "tf.fused.conv2d({ x, filter: w, strides: 1, pad: 'same', bias, activation: 'relu6' })",
        {"x": IMAGE, "w": FILTER, "bias": Input((32,))},
        multiplications=multiplications((4, 56, 56), FILTER.shape),
    ),
    *(gradient("conv2d", argnum, same_conv2d, CONVOLVED, FILTER) for argnum in (0, 1)),
    *(
        gradient(
            "depthwise_conv2d",
            argnum,
            same_depthwise_conv2d,
            "tf.depthwiseConv2d(x, w, 1, 'same')",
            Input((3, 3, 32, 1)),
        )
        for argnum in (0, 1)
    ),
    Workload(
        "conv3d.gradient",
        lambda x, w: wt.grad(lambda w: wt.conv3d(x, w, 1, "same"))(w),
        "tf.tidy(() => tf.grad((w) => tf.conv3d(x, w, 1, 'same'))(w))",
        {"x": Input((1, 8, 16, 16, 8)), "w": Input((3, 3, 3, 8, 8))},
    ),
]
