"""Graph models computed by TensorFlow in float64: what their results are but for rounding.

This runs in a process of its own, in the Python that has TensorFlow. It rewrites a graph: floats of
32 bits become floats of 64, and operations that TensorFlow has in fewer bits only, or not at all,
become functions made of others.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import webtensor as wt
from webtensor.formats.graph_def import (
    AttributeValue,
    ElementType,
    NodeDef,
    Signature,
    TensorValue,
)
from webtensor.formats.graph_writing import graph_bytes
from webtensor.graph.loading import GraphParts, graph_parts

_FLOAT, _DOUBLE = ElementType("float32"), ElementType("float64")


def float64_results(
    model_json: Path, inputs: Mapping[str, np.ndarray], names: Sequence[str]
) -> list[np.ndarray]:
    """Compute tensors of a graph model.

    Args:
        model_json: the path of ``model.json``.
        inputs: the inputs by the names of their tensors; floats of 32 bits are exact in 64.
        names: the names of the tensors to compute.

    Returns:
        The tensors; those that have 32 bits in the model have 64.
    """
    parts = graph_parts(wt.io.load_artifacts(str(model_json)))
    rewriting = _Rewriting(parts)
    graph_def = tf.compat.v1.GraphDef.FromString(rewriting.graph())
    graph_def.library.function.extend(rewriting.functions)
    with tf.Graph().as_default():
        tf.import_graph_def(graph_def, name="")
        with tf.compat.v1.Session() as session:
            tensors = {name: _tensor(name, parts.signature) for name in (*inputs, *names)}
            feeds = {
                tensors[name]: value.astype(tensors[name].dtype.as_numpy_dtype)
                for name, value in inputs.items()
            }
            return list(session.run([tensors[name] for name in names], feeds))


def _tensor(name: str, signature: Signature | None) -> Any:
    """Return the tensor of a name of the signature or of the graph."""
    infos = {} if signature is None else {**signature.inputs, **signature.outputs}
    full = infos[name].names[0] if name in infos else name
    graph = tf.compat.v1.get_default_graph()
    return graph.get_tensor_by_name(full if ":" in full else f"{full}:0")


class _Rewriting:
    """Makes the graph in float64, and collects the functions that it calls."""

    def __init__(self, parts: GraphParts) -> None:
        self._parts = parts
        self.functions: list[Any] = []

    def graph(self) -> bytes:
        """Return the bytes of the graph, without the functions."""
        nodes = tuple(self._node(node) for node in self._parts.graph.nodes)
        return graph_bytes(self._parts.graph._replace(nodes=nodes))

    def _node(self, node: NodeDef) -> NodeDef:
        if node.op == "Const" and node.name in self._parts.weights:
            return self._constant(node)
        if node.op in FUNCTIONS:
            return node._replace(op=self._function(node), attributes={})
        attributes = {name: _doubled(value) for name, value in node.attributes.items()}
        return node._replace(attributes=attributes)

    def _constant(self, node: NodeDef) -> NodeDef:
        dtype = _doubled(node.attributes["dtype"])
        value = self._parts.weights[node.name].numpy().astype(str(dtype))
        tensor = TensorValue(value.shape, str(dtype), value.tobytes())
        return node._replace(attributes={"dtype": dtype, "value": tensor})

    def _function(self, node: NodeDef) -> str:
        """Add the function that computes a node, and return its name."""
        compute, dtypes = FUNCTIONS[node.op]
        inputs = [name for name in node.inputs if not name.startswith("^")]
        count = len(inputs)
        dtypes = (*dtypes, *(tf.float64,) * count)[:count]
        function = tf.function(
            lambda *operands: compute(node.attributes, *operands),
            input_signature=[tf.TensorSpec(None, dtype) for dtype in dtypes],
        )
        definition = function.get_concrete_function().function_def
        self.functions.append(definition)
        return str(definition.signature.name)


def _doubled(value: AttributeValue) -> Any:
    """Return an attribute in which floats have 64 bits."""
    if isinstance(value, list):
        return [_doubled(item) for item in value]
    if isinstance(value, TensorValue) and value.dtype == _FLOAT and len(value.data):
        assert not isinstance(value.data, tuple)
        data = np.frombuffer(bytes(value.data), np.float32).astype(np.float64)
        return TensorValue(value.shape, _DOUBLE, data.tobytes())
    return _DOUBLE if isinstance(value, ElementType) and value == _FLOAT else value


# -- operations ----------------------------------------------------------------------------------


Attributes = Mapping[str, Any]


def _prelu(_: Attributes, x: Any, slope: Any) -> Any:
    return tf.maximum(x, 0) + slope * tf.minimum(x, 0)


_ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "BiasAdd": lambda _, x, bias: x + bias,
    "Elu": lambda _, x: tf.nn.elu(x),
    "LeakyRelu": lambda attributes, x: tf.nn.leaky_relu(x, attributes["leakyrelu_alpha"]),
    "Prelu": _prelu,
    "Relu": lambda _, x: tf.nn.relu(x),
    "Relu6": lambda _, x: tf.nn.relu6(x),
    "Sigmoid": lambda _, x: tf.sigmoid(x),
}
_WITH_OPERAND = ("BiasAdd", "Prelu")


def _fused(product: Callable[..., Any]) -> Callable[..., Any]:
    """Return what computes a product and what is fused into it."""

    def compute(attributes: Attributes, x: Any, weights: Any, *more: Any) -> Any:
        operands = list(more)
        result = product(attributes, x, weights)
        for name in attributes["fused_ops"]:
            first = [operands.pop(0)] if name in _WITH_OPERAND else []
            result = _ACTIVATIONS[name](attributes, result, *first)
        return result

    return compute


def _windows(attributes: Attributes) -> dict[str, Any]:
    return {
        "strides": attributes["strides"],
        "padding": attributes["padding"],
        "dilations": attributes.get("dilations") or [1, 1, 1, 1],
        "data_format": attributes.get("data_format", "NHWC"),
    }


def _conv2d(attributes: Attributes, x: Any, filters: Any) -> Any:
    return tf.raw_ops.Conv2D(input=x, filter=filters, **_windows(attributes))


def _depthwise_conv2d(attributes: Attributes, x: Any, filters: Any) -> Any:
    return tf.raw_ops.DepthwiseConv2dNative(input=x, filter=filters, **_windows(attributes))


def _matmul(attributes: Attributes, a: Any, b: Any) -> Any:
    transposed = {name: attributes.get(name, False) for name in ("transpose_a", "transpose_b")}
    return tf.raw_ops.MatMul(a=a, b=b, **transposed)


def _resize_bilinear(attributes: Attributes, images: Any, size: Any) -> Any:
    for axis in (1, 2):
        images = _resized(attributes, images, size[axis - 1], axis)
    return images


def _resized(attributes: Attributes, images: Any, count: Any, axis: int) -> Any:
    """Interpolate along an axis."""
    old = tf.cast(tf.shape(images)[axis], tf.float64)
    new = tf.cast(count, tf.float64)
    index = tf.cast(tf.range(count), tf.float64)
    if attributes.get("half_pixel_centers"):
        position = (index + 0.5) * old / new - 0.5
    elif attributes.get("align_corners"):
        position = index * (old - 1) / tf.maximum(new - 1, 1)
    else:
        position = index * old / new
    lower = tf.floor(position)
    shape = [-1 if dimension == axis else 1 for dimension in range(4)]
    fraction = tf.reshape(position - lower, shape)

    def pixels(at: Any) -> Any:
        return tf.gather(images, tf.cast(tf.clip_by_value(at, 0, old - 1), tf.int32), axis=axis)

    return pixels(lower) * (1 - fraction) + pixels(lower + 1) * fraction


def _non_max_suppression(attributes: Attributes, *operands: Any) -> Any:
    """Choose boxes by their values in float32, for TensorFlow has no other."""
    names = ("boxes", "scores", "max_output_size", "iou_threshold", "score_threshold")
    arrays = [
        tf.cast(operand, tf.float32) if operand.dtype == tf.float64 else operand
        for operand in operands
    ]
    indices, scores, valid = tf.raw_ops.NonMaxSuppressionV5(
        **dict(zip(names, arrays, strict=False)),
        soft_nms_sigma=arrays[5],
        pad_to_max_output_size=attributes.get("pad_to_max_output_size", False),
    )
    return indices, tf.cast(scores, tf.float64), valid


#: What computes an operation, and the dtypes of its first operands; the others are float64.
FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "FusedDepthwiseConv2dNative": (_fused(_depthwise_conv2d), ()),
    "NonMaxSuppressionV5": (_non_max_suppression, (tf.float64, tf.float64, tf.int32)),
    "Prelu": (_prelu, ()),
    "ResizeBilinear": (_resize_bilinear, (tf.float64, tf.int32)),
    "_FusedConv2D": (_fused(_conv2d), ()),
    "_FusedMatMul": (_fused(_matmul), ()),
}


def main() -> None:
    """Compute tensors of one model, from one file of arrays to another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="the path of model.json")
    parser.add_argument("inputs", type=Path, help="an .npz of the inputs by their names")
    parser.add_argument("results", type=Path, help="the .npz to write: results by their names")
    parser.add_argument("names", nargs="+", help="the names of the tensors to compute")
    options = parser.parse_args()
    with np.load(options.inputs) as inputs:
        results = float64_results(options.model, dict(inputs), options.names)
    arrays: dict[str, Any] = dict(zip(options.names, results, strict=True))
    np.savez(options.results, **arrays)


if __name__ == "__main__":
    main()
