"""Whole networks as ONNX models, with random weights: of the package ``onnx``, and as PyTorch's
exporter writes them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper, numpy_helper

__all__ = ["FOLDER", "detector", "encoder", "light", "mobilenet", "spectrogram"]

FOLDER = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
OPSET, IR_VERSION = 17, 8
#: The blocks of MobileNetV2: expansion, channels, how often, and the first stride.
INVERTED = [
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
]


def light(name: str) -> ModelProto:
    """Return a ``light_*`` network with random weights, and without its last softmax."""
    model = onnx.load(FOLDER / f"light_{name}.onnx")
    random = np.random.default_rng(0)
    shapes = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    nodes = []
    for node in model.graph.node:
        if node.op_type == "ConstantOfShape":
            shape = tuple(map(int, shapes[node.input[0]]))
            weights = random.uniform(0.5, 1.5, shape)
            if len(shape) > 1:
                weights = random.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))
            array = weights.astype(np.float32)
            model.graph.initializer.append(numpy_helper.from_array(array, node.output[0]))
            continue
        if node.op_type == "BatchNormalization":
            # The evaluator mixes the mean of the batch with a share of 1 - momentum.
            node.attribute.append(helper.make_attribute("momentum", 1.0))
        if node.op_type != "Softmax":
            nodes.append(node)
    del model.graph.node[:], model.graph.output[:]
    model.graph.node.extend(nodes)
    model.graph.output.append(helper.make_tensor_value_info(nodes[-1].output[0], 1, None))
    return model


class _Graph:
    """The nodes and weights of a network."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self._random = np.random.default_rng(0)

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        output = f"{op}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [output], **attributes))
        return output

    def constant(self, values: Any, dtype: Any = np.float32) -> str:
        name = f"constant{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def normal(self, *shape: int, scale: float) -> str:
        return self.constant(self._random.standard_normal(shape) * scale)

    def uniform(self, size: int) -> str:
        return self.constant(self._random.uniform(0.5, 1.5, size))

    def model(self, x: str, shape: tuple[int | str, ...], y: str) -> ModelProto:
        value = helper.make_tensor_value_info
        inputs, outputs = [value(x, 1, shape)], [value(y, TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, "network", inputs, outputs, self.weights)
        opsets = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)


# -- images ------------------------------------------------------------------------------------


def mobilenet(size: int, width: float = 1.0, classes: int = 1000) -> ModelProto:
    """Return a MobileNetV2 for images of (1, 3, size, size)."""
    network = _Graph()
    channels = int(32 * width)
    h = _convolved(network, "x", 3, channels, 3, stride=2)
    for expansion, more, count, first_stride in INVERTED:
        for index in range(count):
            after = int(more * width)
            stride = first_stride if index == 0 else 1
            inner, expanded = h, channels * expansion
            if expansion > 1:
                inner = _convolved(network, h, channels, expanded, 1)
            inner = _convolved(network, inner, expanded, expanded, 3, stride, group=expanded)
            inner = _convolved(network, inner, expanded, after, 1, is_clipped=False)
            h = network.node("Add", h, inner) if stride == 1 and channels == after else inner
            channels = after
    h = _convolved(network, h, channels, 1280, 1)
    h = network.node("Flatten", network.node("GlobalAveragePool", h))
    w = network.normal(classes, 1280, scale=1280**-0.5)
    y = network.node("Gemm", h, w, network.normal(classes, scale=0.1), transB=1)
    return network.model("x", (1, 3, size, size), y)


def detector() -> ModelProto:
    """Return a network that pools and enlarges images of any size, as detectors of objects do."""
    network = _Graph()
    h, channels = "x", 3
    levels = []
    for _ in range(5):
        h, channels = _convolved(network, h, channels, 4, 3, stride=2), 4
        levels.append(h)
    h = network.node("MaxPool", h, kernel_shape=[5, 5], pads=[2] * 4)
    scales = network.constant([1, 1, 2, 2])
    modes = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    h = network.node("Resize", h, "", scales, mode="nearest", **modes)
    y = network.node("Concat", h, levels[-2], axis=1)
    return network.model("x", ("n", 3, "h", "w"), y)


def _convolved(
    network: _Graph,
    x: str,
    channels: int,
    filters: int,
    size: int,
    stride: int = 1,
    group: int = 1,
    is_clipped: bool = True,
) -> str:
    """Convolve, normalize, and bring between 0 and 6."""
    inner = channels // group
    w = network.normal(filters, inner, size, size, scale=(2 / (inner * size * size)) ** 0.5)
    pads = [size // 2] * 4
    h = network.node("Conv", x, w, group=group, strides=[stride] * 2, pads=pads)
    means = (network.normal(filters, scale=0.1), network.uniform(filters))
    h = network.node(
        "BatchNormalization",
        h,
        network.uniform(filters),
        network.normal(filters, scale=0.1),
        *means,
    )
    bounds = (network.constant(0.0), network.constant(6.0)) if is_clipped else ()
    return network.node("Clip", h, *bounds) if is_clipped else h


# -- sequences ---------------------------------------------------------------------------------


def encoder(layers: int, width: int, heads: int) -> ModelProto:
    """Return a transformer encoder for embeddings of (batch, length, width)."""
    network = _Graph()
    h = "x"
    for _ in range(layers):
        attended = _linear(network, _attended(network, h, width, heads), width, width)
        h = _normalized(network, network.node("Add", h, attended), width)
        inner = _gelu(network, _linear(network, h, width, 4 * width))
        h = _normalized(
            network, network.node("Add", h, _linear(network, inner, 4 * width, width)), width
        )
    return network.model("x", ("batch", "length", width), h)


def _linear(network: _Graph, x: str, before: int, after: int) -> str:
    product = network.node("MatMul", x, network.normal(before, after, scale=before**-0.5))
    return network.node("Add", network.normal(after, scale=0.1), product)


def _normalized(network: _Graph, x: str, width: int) -> str:
    scale, shift = network.uniform(width), network.normal(width, scale=0.1)
    return network.node("LayerNormalization", x, scale, shift, axis=-1, epsilon=1e-5)


def _gelu(network: _Graph, x: str) -> str:
    erf = network.node("Erf", network.node("Div", x, network.constant(2**0.5)))
    product = network.node("Mul", x, network.node("Add", erf, network.constant(1.0)))
    return network.node("Mul", product, network.constant(0.5))


def _attended(network: _Graph, x: str, width: int, heads: int) -> str:
    """Self-attention, whose shapes the graph computes."""
    axis = network.constant([0], np.int64)
    sizes = [
        network.node("Unsqueeze", network.node("Gather", network.node("Shape", x), index), axis)
        for index in (network.constant(0, np.int64), network.constant(1, np.int64))
    ]
    split = network.constant([heads, width // heads], np.int64)
    shape = network.node("Concat", *sizes, split, axis=0)

    def projected(order: list[int]) -> str:
        stacks = network.node("Reshape", _linear(network, x, width, width), shape)
        return network.node("Transpose", stacks, perm=order)

    query, key, value = projected([0, 2, 1, 3]), projected([0, 2, 3, 1]), projected([0, 2, 1, 3])
    scores = network.node(
        "Div", network.node("MatMul", query, key), network.constant((width // heads) ** 0.5)
    )
    weighted = network.node("MatMul", network.node("Softmax", scores, axis=-1), value)
    joined = network.node("Transpose", weighted, perm=[0, 2, 1, 3])
    flat = network.node("Concat", *sizes, network.constant([width], np.int64), axis=0)
    return network.node("Reshape", joined, flat)


# -- sound -------------------------------------------------------------------------------------


def spectrogram(length: int) -> ModelProto:
    """Return a network of the energies of frequencies in parts of a signal."""
    network = _Graph()
    step = network.constant(4, np.int64)
    h = network.node("STFT", "x", step, network.constant(np.hanning(16)), onesided=1)
    y = network.node("ReduceSumSquare", h, axes=[3], keepdims=0)
    return network.model("x", ("n", length, 1), y)
