"""Networks as ONNX files, for onnxruntime-web.

They compute on (batch, channels, height, width), the layout that it has kernels for, and put what
they predict into the other libraries' order: (height, width, channels).
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from tests_browser.bench.network import Layer, Model
from tests_browser.bench.workload import Input, Shape

__all__ = ["onnx_file"]

OPSET = 17
IR_VERSION = 8
SPREAD, MIX = 0x9E3779B9, 0x6D2B79F5  # also in pages/bench/uniform.js

Constant = npt.NDArray[np.float32 | np.int64]


def onnx_file(model: Model) -> bytes:
    """Return a file that holds the network and its weights."""
    graph = _Graph(model)
    file: ModelProto = helper.make_model(
        helper.make_graph(
            graph.nodes,
            model.name,
            [_value("image", (1, *_channels_first(graph.shapes[0])))],
            [_value("predicted", (sum(prod(graph.shapes[number]) for number in model.outputs),))],
            [numpy_helper.from_array(values, name) for name, values in graph.constants.items()],
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
    )
    return bytes(file.SerializeToString())


def uniform(seed: int, drawn: Input) -> npt.NDArray[np.float32]:
    """The numbers that `uniform` in `pages/bench/uniform.js` draws."""
    positions = np.arange(1, prod(drawn.shape) + 1, dtype=np.uint32)
    state = np.uint32((seed + 1) * SPREAD % 2**32) + positions * np.uint32(MIX)
    bits = (state ^ (state >> 15)) * (1 | state)
    bits = (bits + (bits ^ (bits >> 7)) * (61 | bits)) ^ bits
    parts = (bits ^ (bits >> 14)).astype(np.float64) / 2**32
    values = drawn.low + (drawn.high - drawn.low) * parts
    return np.asarray(values, np.float32).reshape(drawn.shape)


def _channels_first(shape: Shape) -> Shape:
    return (shape[-1], *shape[:-1])


def _paddings(before: Shape, layer: Layer) -> list[int]:
    """Return the paddings above and left, then below and right."""
    if layer.padding == "valid":
        return [0, 0, 0, 0]
    missing = [
        max((after - 1) * layer.stride + (size - 1) * layer.dilation + 1 - length, 0)
        for length, after, size in zip(before[:2], layer.shape[:2], layer.filter[:2], strict=True)
    ]
    return [*(each // 2 for each in missing), *(each - each // 2 for each in missing)]


def _value(name: str, shape: Shape) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


class _Graph:
    """The nodes of a network, and its constants by their names."""

    def __init__(self, model: Model) -> None:
        """Write the layers in their order."""
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, Constant] = {}
        self.shapes: list[Shape] = [model.image.shape[1:], *(layer.shape for layer in model.layers)]
        self._drawn = {
            name: uniform(seed, drawn) for seed, (name, drawn) in enumerate(model.inputs.items())
        }
        self._results = ["image"]
        for number, layer in enumerate(model.layers, 1):
            result = getattr(self, f"_{layer.op}")(number, layer)
            self._results.append(self._activated(result, number, layer.activation))
        self._node("Concat", [self._flat(x) for x in model.outputs], "predicted", axis=0)

    def _conv2d(self, number: int, layer: Layer) -> str:
        return self._convolution(number, layer, (3, 2, 0, 1), groups=1)

    def _depthwise_conv2d(self, number: int, layer: Layer) -> str:
        return self._convolution(number, layer, (2, 3, 0, 1), groups=layer.shape[-1])

    def _convolution(self, number: int, layer: Layer, axes: Shape, groups: int) -> str:
        inputs = [
            self._constant(f"weights{number}", self._drawn[f"weights{number}"].transpose(axes)),
            self._constant(f"bias{number}", self._drawn[f"bias{number}"]),
        ]
        return self._node(
            "Conv",
            [*self._taken(layer), *inputs],
            strides=[layer.stride] * 2,
            dilations=[layer.dilation] * 2,
            pads=_paddings(self.shapes[layer.x[0]], layer),
            group=groups,
        )

    def _dense(self, number: int, layer: Layer) -> str:
        names = [f"weights{number}", f"bias{number}"]
        inputs = [self._constant(name, self._drawn[name]) for name in names]
        return self._node("Gemm", [*self._taken(layer), *inputs])

    def _max_pool(self, _: int, layer: Layer) -> str:
        return self._node("MaxPool", self._taken(layer), kernel_shape=[2, 2], strides=[2, 2])

    def _pad_channels(self, number: int, layer: Layer) -> str:
        paddings = np.array([0, 0, 0, 0, 0, layer.more_channels, 0, 0])
        inputs = self._constant(f"paddings{number}", paddings)
        return self._node("Pad", [*self._taken(layer), inputs])

    def _add(self, _: int, layer: Layer) -> str:
        return self._node("Add", self._taken(layer))

    def _mean(self, _: int, layer: Layer) -> str:
        return self._node("Flatten", [self._node("GlobalAveragePool", self._taken(layer))])

    def _activated(self, x: str, number: int, activation: str) -> str:
        match activation:
            case "linear":
                return x
            case "relu6":
                bounds = ("zero", np.float32(0)), ("six", np.float32(6))
                inputs = [self._constant(name, np.array(value)) for name, value in bounds]
                return self._node("Clip", [x, *inputs])
            case "prelu":
                slopes = self._drawn[f"slopes{number}"].reshape(-1, 1, 1)
                return self._node("PRelu", [x, self._constant(f"slopes{number}", slopes)])
            case _:
                return self._node(activation.capitalize(), [x])

    def _flat(self, number: int) -> str:
        x = self._results[number]
        if len(self.shapes[number]) > 1:
            x = self._node("Transpose", [x], perm=[0, 2, 3, 1])
        return self._node("Reshape", [x, self._constant("flat", np.array([-1]))])

    def _taken(self, layer: Layer) -> list[str]:
        return [self._results[x] for x in layer.x]

    def _constant(self, name: str, values: Constant) -> str:
        self.constants[name] = np.ascontiguousarray(values)
        return name

    def _node(self, op: str, x: list[str], result: str = "", **attributes: Any) -> str:
        result = result or f"{op}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, x, [result], **attributes))
        return result
