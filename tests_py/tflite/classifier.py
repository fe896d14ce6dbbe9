"""A small classifier of images, as a file of TensorFlow Lite and as NumPy computes it."""

import numpy as np

from tests_py.tflite.cases import convolved, depthwise, normal, softmax
from tests_py.tflite.files import Array, Operator, Tensor, file, subgraph

FILTER, DEPTHWISE = normal(4, 3, 3, 3, seed=1), normal(1, 3, 3, 4, seed=2)
WEIGHTS, BIAS = normal(5, 4, seed=3), normal(4, seed=4)
X = normal(1, 9, 8, 3)
STRIDES = {"stride_h": 2, "stride_w": 2, "fused_activation_function": "RELU6"}


def classifier() -> bytes:
    """Two convolutions, the means of their channels, and a softmax of their products."""
    tensors = [
        Tensor("x", (None, 9, 8, 3)),
        Tensor.constant("filter", FILTER),
        Tensor.constant("depthwise", DEPTHWISE),
        Tensor.constant("weights", WEIGHTS),
        Tensor.constant("bias", BIAS),
        Tensor.constant("axes", np.array([1, 2], "int32")),
        Tensor("maps", (None, 5, 4, 4)),
        Tensor("features", (None, 3, 2, 4)),
        Tensor("means", (None, 4)),
        Tensor("logits", (None, 5)),
        Tensor("y", (None, 5)),
    ]
    operators = [
        Operator("CONV_2D", ["x", "filter", "bias"], ["maps"], ("Conv2DOptions", STRIDES)),
        Operator(
            "DEPTHWISE_CONV_2D",
            ["maps", "depthwise"],
            ["features"],
            ("DepthwiseConv2DOptions", STRIDES),
        ),
        Operator("MEAN", ["features", "axes"], ["means"], ("ReducerOptions", {})),
        Operator(
            "FULLY_CONNECTED", ["means", "weights"], ["logits"], ("FullyConnectedOptions", {})
        ),
        Operator("SOFTMAX", ["logits"], ["y"], ("SoftmaxOptions", {"beta": 1.0})),
    ]
    return file(subgraph(tensors, operators, ["x"], ["y"]))


def classified(x: Array) -> Array:
    maps = np.clip(convolved(x, FILTER, (2, 2), True) + BIAS, 0, 6)
    features = np.clip(depthwise(maps, DEPTHWISE, (2, 2), True), 0, 6)
    return softmax(features.mean((1, 2)) @ WEIGHTS.T)
