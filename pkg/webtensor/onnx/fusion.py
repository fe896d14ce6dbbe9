"""Convolutions take over what follows them: normalization, biases, residuals and activations.

The last node of such a chain becomes a convolution that computes all of it. Those before it stay as
they are, for whoever asks for their values; nothing else needs them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.nodes import Node, Nodes, Reference
from webtensor.onnx.folding import in_order
from webtensor.onnx.operations.operators import MISSING

__all__ = ["with_fused_convolutions"]

_CONVOLUTION = "Conv (channels last)"


def with_fused_convolutions(
    nodes: Nodes,
    constants: Mapping[str, Tensor | None],
    fetches: Iterable[Reference],
    where: str,
) -> tuple[Nodes, dict[str, Tensor | None]]:
    """Return nodes and constants with convolutions that compute what follows them, too.

    Args:
        nodes: the nodes, of which convolutions have channels last.
        constants: the values of constants.
        fetches: the outputs of the model.
        where: what errors call the model.
    """
    fusion = _Fusion(nodes, constants, fetches)
    for node in in_order(nodes, where):
        rule = _RULES.get(node.op)
        fused = None if rule is None else rule(fusion, node)
        if fused is not None:
            fusion.nodes[node.name] = fused._replace(name=node.name)
    return fusion.nodes, fusion.constants


class _Fusion:
    def __init__(
        self,
        nodes: Nodes,
        constants: Mapping[str, Tensor | None],
        fetches: Iterable[Reference],
    ) -> None:
        self.nodes = dict(nodes)
        self.constants = dict(constants)
        self.uses = _uses(nodes, tuple(fetches))

    def convolution(self, reference: Reference) -> Node | None:
        """Return the convolution of which this is the result, if nothing else needs it."""
        node = self.nodes[reference.node]
        is_free = node.op == _CONVOLUTION and "activation" not in node.attributes
        return node if is_free and self.uses[reference] == 1 else None

    def affine(self, node: Node) -> tuple[Tensor, Tensor] | None:
        """Return the filters and the bias of a convolution, if they are constant."""
        if len(node.inputs) > 3:
            return None
        filter = self.constants.get(node.inputs[1].node)
        if filter is None:
            return None
        if len(node.inputs) < 3 or node.inputs[2] == MISSING:
            return filter, ops.zeros(filter.shape[-1:])
        bias = self.constants.get(node.inputs[2].node)
        return None if bias is None else (filter, bias)

    def changed(self, node: Node, filter: Tensor, bias: Tensor) -> Node:
        """Return a convolution with other filters and another bias."""
        references = []
        for part, value in (("filter", filter), ("bias", bias)):
            name = f"{node.name} {part}"
            while name in self.nodes:
                name += "'"
            self.constants[name] = value
            self.nodes[name] = Node(name, "Const", (), (), {})
            references.append(Reference(name))
        return node._replace(inputs=(node.inputs[0], *references))

    def by_channel(self, reference: Reference, channels: int) -> Tensor | None:
        """Return a constant that has one number, or one for each channel."""
        value = self.constants.get(reference.node)
        if value is None or str(value.dtype) != "float32" or value.size not in (1, channels):
            return None
        if value.size > 1 and value.shape[-1] != channels:
            return None
        return ops.broadcast_to(ops.reshape(value, (-1,)), (channels,))


def _uses(nodes: Nodes, fetches: tuple[Reference, ...]) -> Counter[Reference]:
    """Return how often each tensor is used by what the outputs need."""
    uses = Counter(fetches)
    stack = [reference.node for reference in fetches]
    visited = set(stack)
    while stack:
        for source in nodes[stack.pop()].inputs:
            uses[source] += 1
            if source.node not in visited:
                visited.add(source.node)
                stack.append(source.node)
    return uses


# -- rules: what the convolution before a node becomes -----------------------------------------


def _normalization(fusion: _Fusion, node: Node) -> Node | None:
    before = fusion.convolution(node.inputs[0])
    affine = None if before is None else fusion.affine(before)
    parameters = [fusion.constants.get(reference.node) for reference in node.inputs[1:]]
    if before is None or affine is None or None in parameters or len(parameters) != 4:
        return None
    scale, offset, mean, variance = (value for value in parameters if value is not None)
    filter, bias = affine
    epsilon: Any = node.attributes.get("epsilon", 1e-5)
    factor = ops.multiply(scale, ops.rsqrt(ops.add(variance, epsilon)))
    shifted = ops.multiply(ops.subtract(bias, mean), factor)
    return fusion.changed(before, ops.multiply(filter, factor), ops.add(shifted, offset))


def _operands(fusion: _Fusion, node: Node) -> list[tuple[Node, Reference]]:
    """Return the convolutions among two operands, each with the other operand."""
    if len(node.inputs) != 2:
        return []
    pairs = (node.inputs, node.inputs[::-1])
    candidates = [(fusion.convolution(first), second) for first, second in pairs]
    return [(before, other) for before, other in candidates if before is not None]


def _product(fusion: _Fusion, node: Node) -> Node | None:
    for before, other in _operands(fusion, node):
        affine = fusion.affine(before)
        if affine is None:
            continue
        filter, bias = affine
        factor = fusion.by_channel(other, bias.shape[0])
        if factor is not None:
            return fusion.changed(before, ops.multiply(filter, factor), ops.multiply(bias, factor))
    return None


def _sum(fusion: _Fusion, node: Node) -> Node | None:
    for before, other in _operands(fusion, node):
        affine = fusion.affine(before)
        if affine is not None:
            filter, bias = affine
            term = fusion.by_channel(other, bias.shape[0])
            if term is not None:
                return fusion.changed(before, filter, ops.add(bias, term))
        if len(before.inputs) < 4 and other.node not in fusion.constants:
            missing = (MISSING,) * (3 - len(before.inputs))
            return before._replace(inputs=(*before.inputs, *missing, other))
    return None


def _activated(name: str) -> Callable[[_Fusion, Node], Node | None]:
    def rule(fusion: _Fusion, node: Node) -> Node | None:
        return _with(fusion, node, activation=name)

    return rule


def _with(fusion: _Fusion, node: Node, **attributes: Any) -> Node | None:
    before = fusion.convolution(node.inputs[0])
    if before is None:
        return None
    return before._replace(attributes={**before.attributes, **attributes})


def _leaky(fusion: _Fusion, node: Node) -> Node | None:
    slope = node.attributes.get("alpha", 0.01)
    return _with(fusion, node, activation="leakyrelu", leakyrelu_alpha=slope)


def _clip(fusion: _Fusion, node: Node) -> Node | None:
    limits = [
        fusion.constants.get(node.inputs[index].node) if index < len(node.inputs) else None
        for index in (1, 2)
    ]
    low, high = (
        node.attributes.get(name) if value is None else ops.reshape(value, ()).item()
        for name, value in zip(("min", "max"), limits, strict=True)
    )
    return _with(fusion, node, activation="relu6") if (low, high) == (0, 6) else None


_RULES: dict[str, Callable[[_Fusion, Node], Node | None]] = {
    "Add-7": _sum,
    "BatchNormalization (channels last)": _normalization,
    "Clip": _clip,
    "LeakyRelu": _leaky,
    "Mul-7": _product,
    "Relu": _activated("relu"),
    "Sigmoid": _activated("sigmoid"),
    "Sum": _sum,
}
