"""Batch normalization after convolutions becomes a part of their filters and biases.

It is done when a model is loaded: what is fused for shapes of inputs would be kept for each shape.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.nodes import MISSING, Node, Nodes, Reference

__all__ = ["with_folded_normalization"]

_CONVOLUTION, _NORMALIZATION = "Conv (channels last)", "BatchNormalization (channels last)"
_EPSILON = 1e-5


def with_folded_normalization(
    nodes: Nodes, constants: Mapping[str, Tensor], fetches: Iterable[Reference]
) -> tuple[Nodes, dict[str, Tensor]]:
    """Return nodes and constants without normalization that follows a convolution.

    Args:
        nodes: the nodes that the outputs need.
        constants: the values of constants.
        fetches: the outputs of the model.
    """
    uses = Counter([*fetches, *(source for node in nodes.values() for source in node.inputs)])
    folded, values = dict(nodes), dict(constants)
    for node in nodes.values():
        if node.op != _NORMALIZATION:
            continue
        convolution = nodes[node.inputs[0].node]
        if convolution.op == _CONVOLUTION and uses[node.inputs[0]] == 1:
            references = [convolution.inputs[0]]
            for part, value in _parameters(node, convolution, constants).items():
                name = f"{node.name} {part}"
                while name in folded:
                    name += "'"
                values[name] = value
                folded[name] = Node(name, "Const", (), (), {})
                references.append(Reference(name))
            if len(references) > 1:
                folded[node.name] = convolution._replace(name=node.name, inputs=tuple(references))
    return folded, values


def _parameters(
    node: Node, convolution: Node, constants: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Return the filter and the bias of both, or nothing if one is not constant."""
    sources = [convolution.inputs[1], *node.inputs[1:]]
    has_bias = len(convolution.inputs) > 2 and convolution.inputs[2] != MISSING
    if has_bias:
        sources.append(convolution.inputs[2])
    epsilon = node.attributes.get("epsilon", _EPSILON)
    if len(node.inputs) != 5 or not isinstance(epsilon, (int, float)):
        return {}
    if any(source.node not in constants for source in sources):
        return {}
    filter, scale, offset, mean, variance, *bias = (constants[source.node] for source in sources)
    factors = scale * ops.rsqrt(variance + epsilon)
    shift = bias[0] - mean if bias else -mean
    return {"filter": filter * factors, "bias": shift * factors + offset}
