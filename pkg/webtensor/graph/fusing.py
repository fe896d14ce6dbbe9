"""Fusing nodes: what follows a product becomes a part of it.

Kernels of products and convolutions add a bias and a residual and apply an activation to each
element before they store it, and convolutions read beyond the edges of images as if there were
zeros. Where a graph has a node of its own for one of these, the nodes are made one. Constants
that are multiplied with a product are multiplied with its filter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.engine.placement import on_host
from webtensor.graph.nodes import Node, Nodes, Reference
from webtensor.graph.operations.products import EPSILON
from webtensor.shapes import Shape

__all__ = [
    "ACTIVATIONS",
    "FUSED_OPERATIONS",
    "Fusion",
    "Program",
    "activation",
    "addition",
    "fuse",
    "scale",
]

#: The fused operation of each product.
FUSED_OPERATIONS = {
    "Conv2D": "_FusedConv2D",
    "DepthwiseConv2d": "FusedDepthwiseConv2dNative",
    "DepthwiseConv2dNative": "FusedDepthwiseConv2dNative",
    "FusedDepthwiseConv2dNative": "FusedDepthwiseConv2dNative",
    "MatMul": "_FusedMatMul",
    "_FusedConv2D": "_FusedConv2D",
    "_FusedMatMul": "_FusedMatMul",
}
_CONVOLUTIONS = frozenset(FUSED_OPERATIONS) - {"MatMul", "_FusedMatMul"}
#: The activations that fused operations apply; their epilogues have the same names.
ACTIVATIONS = frozenset({"Elu", "LeakyRelu", "Prelu", "Relu", "Relu6", "Sigmoid"})
_SUMS = frozenset({"Add", "AddN", "AddV2", "BiasAdd"})
_PADS = frozenset({"Pad", "PadV2"})
#: Normalization by constants alone, which ``normalized_channels`` computes.
_NORMALIZED = "_Normalized"
_NORMALIZATIONS = frozenset({"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"})


class Program(NamedTuple):
    """Nodes in an order in which they can run.

    Attributes:
        nodes: the nodes by their names; constants come first.
        constants: the values of constant nodes.
        shapes: the shapes of tensors, of those whose shape is known.
        fetches: the tensors to compute.
    """

    nodes: Nodes
    constants: dict[str, Tensor]
    shapes: dict[Reference, Shape]
    fetches: list[Reference]

    def add_constant(self, name: str, value: Tensor) -> Reference:
        """Add a constant, and return what it is called."""
        self.nodes[name] = Node(name, "Const", (), (), {})
        self.constants[name] = value
        self.shapes[Reference(name)] = value.shape
        return Reference(name)


def fuse(program: Program, rules: Sequence[Rule] | None = None) -> None:
    """Make nodes one where a kernel computes them together; ``program`` is changed.

    Args:
        program: the nodes.
        rules: return what is put in the place of a node, or None; by default all of this module.
    """
    fusion = Fusion(program)
    for name in [*program.nodes]:
        for rule in _RULES if rules is None else rules:
            node = program.nodes.get(name)
            if node is None or node.op == "Const":
                break
            fused = rule(fusion, node)
            if fused is not None:
                fusion.replace(node, fused)


class Fusion:
    """A program that is changed, and how often each of its tensors is used."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.nodes, self.constants, self.shapes, fetches = program
        self._uses = Counter(reference for node in self.nodes.values() for reference in node.inputs)
        self._uses.update(fetches)
        self._users = Counter(reference.node for reference in self._uses.elements())

    def producer(self, reference: Reference) -> Node | None:
        """Return the node that computes a tensor, if nothing else needs that."""
        node = self.nodes.get(reference.node)
        is_alone = node is not None and node.op != "Const" and self._uses[reference] == 1
        return node if is_alone else None

    def is_only_first(self, node: Node) -> bool:
        """Whether none but the first output of a node is used."""
        return self._users[node.name] == self._uses[Reference(node.name)]

    def product(self, reference: Reference) -> Node | None:
        """Return the product that a tensor is, if nothing else needs that."""
        node = self.producer(reference)
        if node is None or node.op not in FUSED_OPERATIONS:
            return None
        return node if _has_channels_last(node) else None

    def affine(self, reference: Reference) -> Node | None:
        """Return the product or normalization that a tensor is, if nothing else needs that."""
        node = self.producer(reference)
        return node if node is not None and node.op == _NORMALIZED else self.product(reference)

    def constant(self, reference: Reference) -> Tensor | None:
        """Return the value of a tensor that is constant."""
        return self.constants.get(reference.node)

    def vector(self, reference: Reference, like: Reference) -> Tensor | None:
        """Return the value of a constant with one element for each channel of a tensor."""
        value, shape = self.constant(reference), self.shapes.get(like)
        if value is None or not shape or str(value.dtype) != "float32":
            return None
        if value.size == 1 and len(value.shape) <= len(shape):
            with on_host("fusing"):
                return ops.broadcast_to(ops.reshape(value, (1,)), shape[-1:])
        if value.shape == shape[-1:]:
            return value
        is_vector = value.size == shape[-1] and value.shape[-1:] == shape[-1:]
        keeps_rank = len(value.shape) <= len(shape)
        return ops.reshape(value, (value.size,)) if is_vector and keeps_rank else None

    def add_constant(self, name: str, value: Tensor) -> Reference:
        """Add a constant, and return what it is called."""
        return self._program.add_constant(name, value)

    def replace(self, node: Node, fused: Node) -> None:
        """Put another node in the place of one, and forget what nothing needs any more."""
        self.nodes[node.name] = fused
        self._uses.update(fused.inputs)
        self._users.update(reference.node for reference in fused.inputs)
        self._release(node)

    def _release(self, node: Node) -> None:
        for reference in node.inputs:
            self._uses[reference] -= 1
            self._users[reference.node] -= 1
            other = self.nodes.get(reference.node)
            if other is not None and not self._users[other.name]:
                del self.nodes[other.name]
                self.constants.pop(other.name, None)
                self._release(other)


def _has_channels_last(node: Node) -> bool:
    """Whether the channels of images are the last axis."""
    return node.attributes.get("data_format", "NHWC") == "NHWC"


def _epilogue(node: Node) -> list[str]:
    names: Any = node.attributes.get("fused_ops", [])
    return [*names]


def _with_epilogue(product: Node, name: str, *more: Reference, **attributes: Any) -> Node:
    """Return a product with a further step of its epilogue."""
    names: list[Any] = [*_epilogue(product), name]
    return product._replace(
        op=FUSED_OPERATIONS[product.op],
        inputs=(*product.inputs, *more),
        attributes={**product.attributes, **attributes, "fused_ops": names},
    )


def _with_bias(fusion: Fusion, product: Node) -> Node:
    """Return a product that has a bias, of zeros if it had none: kernels want one."""
    if _epilogue(product):
        return product
    channels = fusion.shapes[Reference(product.name)][-1]
    with on_host("fusing"):
        zeros = ops.zeros((channels,))
    bias = fusion.add_constant(f"{product.name}:zero_bias", zeros)
    return _with_epilogue(product, "BiasAdd", bias)


def _bound(fusion: Fusion, reference: Reference, x: Reference) -> float | None:
    """Return the value of a constant of one element that broadcasts to the shape of ``x``."""
    value, shape = fusion.constant(reference), fusion.shapes.get(x, ())
    if value is None or value.size != 1 or len(value.shape) > len(shape):
        return None
    return float(value.item())


def _clip(fusion: Fusion, node: Node) -> Node | None:
    """Make a minimum of a maximum, or the other way round, ``ClipByValue`` or ``Relu6``."""
    others = {"Maximum": ("Minimum",), "Minimum": ("Maximum", "Relu")}.get(node.op)
    if others is None:
        return None
    inner = fusion.producer(node.inputs[0])
    if inner is None or inner.op not in others:
        return None
    x = inner.inputs[0]
    bound = _bound(fusion, node.inputs[1], x)
    other = 0.0 if inner.op == "Relu" else _bound(fusion, inner.inputs[1], x)
    if bound is None or other is None:
        return None
    low, high = sorted((bound, other))
    is_lower = node.op == "Maximum"
    if (bound == low) is not is_lower and low != high:
        return None
    if (low, high) == (0.0, 6.0):
        return Node(node.name, "Relu6", (x,), (), {})
    if inner.op == "Relu":
        return None
    bounds = (node.inputs[1], inner.inputs[1])
    low_input, high_input = bounds if is_lower else bounds[::-1]
    return Node(node.name, "ClipByValue", (x, low_input, high_input), (), {})


def _padding(fusion: Fusion, node: Node) -> Node | None:
    """Let a convolution read beyond the edges instead of adding zeros there before."""
    if node.op not in _CONVOLUTIONS or node.attributes.get("padding") != "VALID":
        return None
    if not _has_channels_last(node):
        return None
    pad = fusion.producer(node.inputs[0])
    if pad is None or pad.op not in _PADS or pad.attributes.get("constant_value", 0):
        return None
    pairs = fusion.constant(pad.inputs[1])
    value = fusion.constant(pad.inputs[2]) if len(pad.inputs) > 2 else None
    if pairs is None or pairs.shape != (4, 2) or (value is not None and value.item()):
        return None
    (batch, rows, columns, channels) = pairs.tolist()
    if any(batch) or any(channels) or min(*rows, *columns) < 0:
        return None
    numbers = [0, 0, *rows, *columns, 0, 0]
    return node._replace(
        inputs=(pad.inputs[0], *node.inputs[1:]),
        attributes={**node.attributes, "padding": "EXPLICIT", "explicit_paddings": numbers},
    )


def scale(fusion: Fusion, node: Node) -> Node | None:
    """Multiply the filter of a product, and its bias, with what the product is multiplied with."""
    if node.op != "Mul" or len(node.inputs) != 2:
        return None
    for reference, other in (node.inputs, node.inputs[::-1]):
        if fusion.affine(reference) is None:
            continue
        factors = fusion.vector(other, reference)
        fused = None if factors is None else _with_affine(fusion, node, reference, factors, None)
        if fused is not None:
            return fused
    return None


def _normalization(fusion: Fusion, node: Node) -> Node | None:
    """Make normalization by constant means and variances a part of a product, or constant."""
    if node.op not in _NORMALIZATIONS or node.attributes.get("is_training"):
        return None
    if not _has_channels_last(node) or not fusion.is_only_first(node):
        return None
    x = node.inputs[0]
    vectors = [fusion.vector(reference, x) for reference in node.inputs[1:]]
    constants = [value for value in vectors if value is not None]
    if len(vectors) != 4 or len(constants) != 4:
        return None
    scale, offset, mean, variance = constants
    with on_host("fusing"):
        factors = scale * ops.rsqrt(variance + EPSILON.of(node))
        terms = offset - mean * factors
    fused = _with_affine(fusion, node, x, factors, terms)
    if fused is not None:
        return fused
    inputs = _constants(fusion, node, (mean, factors, offset))
    return Node(node.name, _NORMALIZED, (x, *inputs), (), {})


def _constants(fusion: Fusion, node: Node, values: Sequence[Tensor]) -> list[Reference]:
    return [
        fusion.add_constant(f"{node.name}:fused{index}", value)
        for index, value in enumerate(values)
    ]


def _with_affine(
    fusion: Fusion,
    node: Node,
    reference: Reference,
    factors: Tensor | None,
    terms: Tensor | None,
) -> Node | None:
    """Return a product with a constant filter and bias, or a normalization, times and plus vectors.

    Args:
        fusion: the program.
        node: the node that the result takes the place of.
        reference: the product or normalization.
        factors: what each channel is multiplied with.
        terms: what is then added to each channel.
    """
    inner = fusion.affine(reference)
    if inner is None:
        return None
    operands = [fusion.constant(operand) for operand in inner.inputs[1:]]
    values = [value for value in operands if value is not None]
    if _epilogue(inner) not in ([], ["BiasAdd"]) or len(values) < len(operands):
        return None
    if factors is not None and inner.attributes.get("transpose_b"):
        return None
    # A normalization subtracts the first of its constants, and multiplies with the second.
    unchanged = values[:1] if inner.op == _NORMALIZED else []
    changed = values[len(unchanged) :]
    with on_host("fusing"):
        if factors is not None:
            changed = [_scaled(inner, value, factors) for value in changed]
        if terms is not None:
            changed[1:] = [ops.add(changed[1], terms) if len(changed) > 1 else terms]
    inputs = _constants(fusion, node, (*unchanged, *changed))
    fused = inner._replace(name=node.name, inputs=(inner.inputs[0], *inputs))
    is_new_bias = terms is not None and len(changed) > len(values) - len(unchanged)
    return _with_epilogue(fused, "BiasAdd") if is_new_bias else fused


def _scaled(product: Node, value: Tensor, factors: Tensor) -> Tensor:
    if "Depthwise" in product.op:
        factors = ops.reshape(factors, value.shape[-2:])
    return ops.multiply(value, factors)


def addition(fusion: Fusion, node: Node) -> Node | None:
    """Make an addition to a product its bias, or its residual."""
    if node.op not in _SUMS or len(node.inputs) != 2 or not _has_channels_last(node):
        return None
    for reference, other in (node.inputs, node.inputs[::-1]):
        if fusion.affine(reference) is None:
            continue
        bias = fusion.vector(other, reference)
        product = fusion.product(reference)
        if bias is not None and product is not None and not _epilogue(product):
            is_vector = bias is fusion.constant(other)
            operand = other if is_vector else fusion.add_constant(f"{node.name}:bias", bias)
            return _with_epilogue(product, "BiasAdd", operand)._replace(name=node.name)
        fused = None if bias is None else _with_affine(fusion, node, reference, None, bias)
        if fused is not None:
            return fused
        if product is None or _epilogue(product) not in ([], ["BiasAdd"]):
            continue
        own_bias = fusion.constant(product.inputs[2]) if _epilogue(product) else None
        if bias is not None and own_bias is not None and len(product.inputs) == 3:
            with on_host("fusing"):
                name = fusion.add_constant(f"{node.name}:bias", ops.add(own_bias, bias))
            return product._replace(name=node.name, inputs=(*product.inputs[:2], name))
        shapes = {fusion.shapes.get(value) for value in (reference, other, Reference(node.name))}
        if len(shapes) == 1 and None not in shapes:
            with_bias = _with_bias(fusion, product)
            return _with_epilogue(with_bias, "Residual", other)._replace(name=node.name)
    return None


def activation(fusion: Fusion, node: Node) -> Node | None:
    """Make an activation of a product a part of it."""
    product = fusion.product(node.inputs[0]) if node.op in ACTIVATIONS else None
    if product is None or {*_epilogue(product)} - {"BiasAdd", "Residual"}:
        return None
    if fusion.shapes.get(Reference(product.name)) is None:
        return None
    more, attributes = [], {}
    if node.op == "Prelu":
        slopes = fusion.vector(node.inputs[1], node.inputs[0])
        if slopes is None:
            return None
        more = [fusion.add_constant(f"{node.name}:slopes", slopes)]
    elif node.op == "LeakyRelu":
        alpha: Any = node.attributes.get("alpha", 0.2)
        if alpha < 0:
            return None
        attributes = {"leakyrelu_alpha": alpha}
    with_bias = _with_bias(fusion, product)
    return _with_epilogue(with_bias, node.op, *more, **attributes)._replace(name=node.name)


Rule: TypeAlias = Callable[[Fusion, Node], Node | None]
_RULES: tuple[Rule, ...] = (_clip, _padding, scale, _normalization, addition, activation)
