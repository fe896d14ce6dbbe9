"""Depthwise convolutions that programs compute together with the pointwise one that follows."""

from collections.abc import Callable
from functools import cache, partial

import numpy as np
import pytest

import webtensor as wt
from webtensor.backends.programs import Program

Function = Callable[[wt.Tensor], wt.Tensor]


@cache
def normal(*shape: int) -> wt.Tensor:
    return wt.random_normal(shape, seed=sum(shape))


def check(programs: list[Program], function: Function, x: wt.Tensor, kernels: list[str]) -> None:
    """Check the kernels of a program, and that it computes what the function does."""
    inputs = [x, x * -0.5]
    expected = [function(x).numpy() for x in inputs]  # draws the filters, too
    captured = wt.function(function)
    for x, y in zip(inputs, expected, strict=True):
        captured(x)
        np.testing.assert_array_equal(captured(x).numpy(), y)
    assert [call.kernel for call in programs[-1].calls] == kernels


def depthwise(
    x: wt.Tensor, rows: int = 3, columns: int = 3, strides: int = 1, dilations: int = 1
) -> wt.Tensor:
    filter = normal(rows, columns, x.shape[-1], 1)
    return wt.depthwise_conv2d(x, filter, strides, "same", dilations=dilations)


def pointwise(x: wt.Tensor, channels: int) -> wt.Tensor:
    return wt.conv2d(x, normal(1, 1, x.shape[-1], channels), 1, "valid")


def with_epilogues(x: wt.Tensor, activation: str) -> wt.Tensor:
    y = wt.fused.depthwise_conv2d(
        x, normal(3, 3, 32, 1), 1, "same", bias=normal(32), activation="relu6"
    )
    return wt.fused.conv2d(
        y,
        normal(1, 1, 32, 32),
        1,
        "valid",
        bias=normal(32),
        activation=activation,
        prelu_activation_weights=normal(32) if activation == "prelu" else None,
        residual=x,
    )


#: The images have 512 KiB and more after the depthwise convolution.
JOINED: dict[str, tuple[Function, wt.Tensor]] = {
    "neither bias nor activation": (lambda x: pointwise(depthwise(x), 8), normal(1, 64, 65, 32)),
    "limits": (partial(with_epilogues, activation="relu"), normal(1, 64, 64, 32)),
    "a parameter": (partial(with_epilogues, activation="elu"), normal(1, 64, 64, 32)),
    "slopes": (partial(with_epilogues, activation="prelu"), normal(1, 64, 65, 32)),
    "ops in place of fused ones": (
        lambda x: wt.relu(pointwise(wt.sigmoid(depthwise(x) + normal(32)), 16) + normal(16)),
        normal(1, 64, 64, 32),
    ),
    "a batch of images": (lambda x: pointwise(depthwise(x), 8), normal(3, 41, 40, 30)),
    "channels that fill no vector": (lambda x: pointwise(depthwise(x), 13), normal(1, 99, 99, 14)),
    "stride 2": (lambda x: pointwise(depthwise(x, strides=2), 64), normal(1, 128, 127, 36)),
    "5×5": (lambda x: pointwise(depthwise(x, 5, 5), 16), normal(1, 65, 64, 32)),
    "4×4": (lambda x: pointwise(depthwise(x, 4, 4), 16), normal(1, 65, 64, 32)),
    "dilation": (
        lambda x: pointwise(depthwise(x, dilations=2), 16),
        normal(1, 65, 64, 32),
    ),
    "a line of 128 KiB": (lambda x: pointwise(depthwise(x), 16), normal(1, 5, 1024, 32)),
}


@pytest.mark.parametrize("name", JOINED)
def test_a_pointwise_convolution_follows_in_the_same_kernel(
    name: str, programs: list[Program]
) -> None:
    function, x = JOINED[name]
    check(programs, function, x, ["separable_conv2d"])


SEPARATE: dict[str, tuple[Function, wt.Tensor, list[str]]] = {
    "the result between is small": (
        lambda x: pointwise(depthwise(x), 8),
        normal(1, 63, 65, 32),
        ["depthwise_conv2d", "conv2d"],
    ),
    "the result between is read twice": (
        lambda x: pointwise(y := depthwise(x), 32) + y,
        normal(1, 64, 65, 32),
        ["depthwise_conv2d", "conv2d", "binary"],
    ),
    "a line of more than 128 KiB": (
        lambda x: pointwise(depthwise(x), 16),
        normal(1, 5, 1025, 32),
        ["depthwise_conv2d", "conv2d"],
    ),
    "a large filter": (
        lambda x: pointwise(depthwise(x), 129),
        normal(1, 33, 33, 128),
        ["depthwise_conv2d", "conv2d"],
    ),
    "an activation with a parameter": (
        lambda x: pointwise(wt.elu(depthwise(x) + normal(32)), 16),
        normal(1, 64, 65, 32),
        ["fused_depthwise_conv2d", "conv2d"],
    ),
    "groups": (
        lambda x: wt.conv2d(depthwise(x), normal(1, 1, 16, 8), 1, "valid"),
        normal(1, 64, 65, 32),
        ["depthwise_conv2d", "conv2d"],
    ),
    "not every pixel": (
        lambda x: wt.conv2d(depthwise(x), normal(1, 1, 32, 8), 2, "valid"),
        normal(1, 64, 65, 32),
        ["depthwise_conv2d", "conv2d"],
    ),
    "several filters for a channel": (
        lambda x: pointwise(wt.depthwise_conv2d(x, normal(3, 3, 16, 2), 1, "valid"), 16),
        normal(1, 70, 70, 16),
        ["depthwise_conv2d", "conv2d"],
    ),
    "pixels of another shape": (
        lambda x: pointwise(wt.reshape(depthwise(x), (1, 65, 64, 32)), 8),
        normal(1, 64, 65, 32),
        ["depthwise_conv2d", "conv2d"],
    ),
}


@pytest.mark.parametrize("name", SEPARATE)
def test_convolutions_that_stay_apart(name: str, programs: list[Program]) -> None:
    check(programs, *SEPARATE[name])
