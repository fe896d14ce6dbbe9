"""Translating ONNX nodes to TensorFlow's operations, which ``webtensor.graph.fusing`` fuses.

When shapes are known, the nodes that become a part of a product or a convolution, and these, have
an equal among TensorFlow's operations. Other nodes stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.engine.placement import on_host
from webtensor.graph import fusing
from webtensor.graph.fusing import Program
from webtensor.graph.nodes import MISSING, Node, Reference
from webtensor.onnx.operations.windows import windows_of

__all__ = ["fuse"]


def fuse(program: Program) -> None:
    """Make nodes one where a kernel computes them together; ``program`` is changed."""
    for node in [*program.nodes.values()]:
        rule = _RULES.get(node.op)
        translated = None if rule is None else rule(program, node)
        if translated is not None:
            program.nodes[node.name] = translated
    fusing.fuse(program)


_Rule = Callable[[Program, Node], "Node | None"]


def _constant(program: Program, node: Node, index: int) -> Tensor | None:
    """Return the value of an input, if it is constant."""
    return program.constants.get(node.inputs[index].node) if index < len(node.inputs) else None


def _as(op: str) -> _Rule:
    """Return the rule of nodes that have another name and nothing else."""
    return lambda _, node: node._replace(op=op, attributes={})


def _sum(_: Program, node: Node) -> Node | None:
    return node._replace(op="AddV2", attributes={}) if len(node.inputs) == 2 else None


def _elu(_: Program, node: Node) -> Node | None:
    is_plain = node.attributes.get("alpha", 1.0) == 1.0
    return node._replace(op="Elu", attributes={}) if is_plain else None


def _leaky_relu(_: Program, node: Node) -> Node:
    return node._replace(op="LeakyRelu", attributes={"alpha": node.attributes.get("alpha", 0.01)})


def _prelu(program: Program, node: Node) -> Node | None:
    """PRelu with a slope for each channel, which are last."""
    slopes, shape = _constant(program, node, 1), program.shapes.get(node.inputs[0])
    if slopes is None or not shape or slopes.shape[-1:] != shape[-1:]:
        return None
    is_plain = slopes.size == shape[-1] and str(slopes.dtype) == "float32"
    return node._replace(op="Prelu") if is_plain else None


def _clip(program: Program, node: Node) -> Node | None:
    limits = [_constant(program, node, index) for index in (1, 2)]
    low, high = (
        node.attributes.get(name) if limit is None else ops.reshape(limit, ()).item()
        for name, limit in zip(("min", "max"), limits, strict=True)
    )
    is_relu6 = (low, high) == (0, 6)
    return Node(node.name, "Relu6", node.inputs[:1], (), {}) if is_relu6 else None


def _convolution(program: Program, node: Node) -> Node | None:
    filter, shape = _constant(program, node, 1), program.shapes.get(node.inputs[0])
    if filter is None or shape is None or len(shape) != 4:
        return None
    bias = None if node.inputs[2:3] in ((), (MISSING,)) else _constant(program, node, 2)
    if len(node.inputs) > 2 and node.inputs[2] != MISSING and bias is None:
        return None
    stored: Mapping[str, Any] = node.attributes
    windows = windows_of(
        shape[1:3],
        filter.shape[:2],
        stored.get("strides"),
        stored.get("dilations"),
        stored.get("pads"),
        stored.get("auto_pad", "NOTSET"),
    )
    pairs = windows.pairs()
    attributes: dict[str, Any] = {
        "strides": [1, *windows.strides, 1],
        "dilations": [1, *windows.dilations, 1],
        "padding": "EXPLICIT" if any(map(any, pairs)) else "VALID",
        "explicit_paddings": [size for pair in pairs for size in pair],
    }
    op, filter_input = "Conv2D", node.inputs[1]
    channels = shape[3]
    if stored.get("group", 1) == channels > 1:
        op = "DepthwiseConv2dNative"
        split = (*filter.shape[:2], channels, filter.shape[3] // channels)
        with on_host("fusing"):
            filter_input = program.add_constant(
                f"{node.name} depthwise filter", ops.reshape(filter, split)
            )
    inputs = [node.inputs[0], filter_input]
    if bias is not None:
        op = fusing.FUSED_OPERATIONS[op]
        inputs.append(node.inputs[2])
        attributes["fused_ops"] = ["BiasAdd"]
    return Node(node.name, op, tuple(inputs), (), attributes)


def _normalization(_: Program, node: Node) -> Node:
    attributes = {"epsilon": node.attributes.get("epsilon", 1e-5), "is_training": False}
    return node._replace(op="FusedBatchNormV3", attributes=attributes)


def _padding(program: Program, node: Node) -> Node | None:
    """Padding with zeros, of images with channels last."""
    pads, value = _constant(program, node, 1), _constant(program, node, 2)
    if pads is None or pads.size != 8 or len(node.inputs) > 3:
        return None
    if node.attributes.get("mode", "constant") != "constant":
        return None
    number = node.attributes.get("value", 0) if value is None else ops.reshape(value, ()).item()
    if number or (value is None and len(node.inputs) > 2 and node.inputs[2] != MISSING):
        return None
    sizes: Any = pads.tolist()
    if min(sizes) < 0:
        return None
    pairs = [list(pair) for pair in zip(sizes[:4], sizes[4:], strict=True)]
    with on_host("fusing"):
        reference = program.add_constant(f"{node.name} pairs", ops.tensor(pairs, dtype="int32"))
    return Node(node.name, "Pad", (node.inputs[0], reference), (), {})


def _product(program: Program, node: Node) -> Node | None:
    """Products with a constant matrix."""
    first, second = (program.shapes.get(reference) for reference in node.inputs[:2])
    if first is None or len(first) < 2 or second is None or len(second) != 2:
        return None
    return None if _constant(program, node, 1) is None else node._replace(op="MatMul")


def _affine(program: Program, node: Node) -> Node | None:
    """Products of matrices to which a vector is added."""
    stored = node.attributes
    if stored.get("alpha", 1.0) != 1.0 or stored.get("beta", 1.0) != 1.0:
        return None
    shape = program.shapes.get(Reference(node.name))
    attributes: dict[str, Any] = {
        name: bool(stored.get(key))
        for name, key in (("transpose_a", "transA"), ("transpose_b", "transB"))
    }
    if node.inputs[2:] in ((), (MISSING,)):
        return Node(node.name, "MatMul", node.inputs[:2], (), attributes)
    bias = _constant(program, node, 2)
    if bias is None or not shape or bias.shape not in ((shape[-1],), (1, shape[-1])):
        return None
    with on_host("fusing"):
        vector = program.add_constant(f"{node.name} bias", ops.reshape(bias, (shape[-1],)))
    attributes["fused_ops"] = ["BiasAdd"]
    return Node(node.name, "_FusedMatMul", (*node.inputs[:2], vector), (), attributes)


_RULES: dict[str, _Rule] = {
    "Add-7": _as("AddV2"),
    "BatchNormalization (channels last)": _normalization,
    "Clip-1": _clip,
    "Conv (channels last)": _convolution,
    "Elu-1": _elu,
    "Gemm-1": _affine,
    "LeakyRelu-1": _leaky_relu,
    "MatMul-1": _product,
    "Mul-7": _as("Mul"),
    "PRelu-1": _prelu,
    "Pad-1": _padding,
    "Relu-1": _as("Relu"),
    "Sigmoid-1": _as("Sigmoid"),
    "Sum-1": _sum,
}
