"""Constants that follow from constants, and normalization, are folded when a model is loaded.

Batch normalization after convolutions becomes a part of their filters and biases here: what is
fused for shapes of inputs would be kept for each shape.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.formats.budgets import reading
from webtensor.graph.nodes import MISSING, Node, Nodes, Reference
from webtensor.graph.operations import Row
from webtensor.graph.ordering import ordered

__all__ = ["folded", "with_folded_normalization", "without_dropout", "without_mask_indices"]

#: How many elements all constants that are computed may have; 1 GiB.
_MAX_ELEMENTS = 1 << 28
_CONVOLUTION, _NORMALIZATION = "Conv (channels last)", "BatchNormalization (channels last)"
_EPSILON = 1e-5
#: How many nodes may expand and reshape a constant before a masked write.
_MAX_VIEWS = 4


def folded(
    nodes: Nodes,
    constants: Mapping[str, Tensor],
    rows: Mapping[str, Row],
    where: str,
) -> tuple[Nodes, dict[str, Tensor]]:
    """Return nodes and constants, more of which are constants.

    Raises:
        ModelFormatError: a constant cannot be computed.
    """
    values = {Reference(name): value for name, value in constants.items()}
    computable = {MISSING, *values}
    results, all_constants = dict(nodes), dict(constants)
    elements = 0
    for node in ordered(nodes, nodes, where):
        row = rows.get(node.op)
        if row is None or not row.is_pure or not computable.issuperset(node.inputs):
            continue
        operands = {
            index: values[source] for index, source in enumerate(node.inputs) if source != MISSING
        }
        bound = row.bind(node, operands, where)
        with reading(f"{where}: node {node.name!r:.200} of operation {node.op}"):
            result = bound.function(*[operands[index] for index in bound.inputs])
        outputs = result if isinstance(result, (tuple, list)) else (result,)
        if not all(isinstance(output, Tensor) for output in outputs):
            continue
        elements += sum(output.size for output in outputs)
        if elements > _MAX_ELEMENTS:
            break
        for index, output in enumerate(outputs):
            values[Reference(node.name, index)] = output
            computable.add(Reference(node.name, index))
        if len(outputs) == 1:
            results[node.name] = Node(node.name, "Const", (), (), {})
            all_constants[node.name] = outputs[0]
        else:
            sources = tuple(
                _add_constant(results, all_constants, f"{node.name} {index}", output)
                for index, output in enumerate(outputs)
            )
            results[node.name] = Node(node.name, "IdentityN", sources, (), {})
    return results, all_constants


def _add_constant(
    nodes: dict[str, Node], constants: dict[str, Tensor], name: str, value: Tensor
) -> Reference:
    """Add a constant under a name that no node has."""
    while name in nodes:
        name += "'"
    nodes[name] = Node(name, "Const", (), (), {})
    constants[name] = value
    return Reference(name)


def without_dropout(nodes: Nodes, fetches: Iterable[Reference]) -> Nodes:
    """Return nodes whose dropout hands its input on, as it does outside training."""
    used = {source for node in nodes.values() for source in node.inputs} | set(fetches)
    return {
        name: node._replace(op="Identity", inputs=node.inputs[:1])
        if node.op == "Dropout-1" and len(node.inputs) < 3 and Reference(name, 1) not in used
        else node
        for name, node in nodes.items()
    }


def without_mask_indices(nodes: Nodes, constants: Mapping[str, Tensor]) -> Nodes:
    """Return nodes without NonZero where the result follows from shapes, or from a mask directly.

    PyTorch exports ``x[mask] = 0`` as a write at the indices of the mask, which becomes a choice
    between two tensors, and ranges as the indices of ones.
    """
    results = dict(nodes)
    for node in nodes.values():
        if MISSING in node.inputs:
            continue
        if node.op == "NonZero-1":
            source = nodes[node.inputs[0].node]
            value: Any = source.attributes.get("value")
            is_constant = source.op == "ConstantOfShape-1" and isinstance(value, Tensor)
            if is_constant and value.size == 1 and value.item():
                results[node.name] = Node(node.name, "NonZero (all)-1", source.inputs, (), {})
        elif node.op == "ScatterND-1" and len(node.inputs) == 3:
            inputs = _masked_constant(node, nodes, constants)
            if inputs:
                results[node.name] = Node(node.name, "ScatterND (masked)-1", inputs, (), {})
    return results


def _masked_constant(
    node: Node, nodes: Nodes, constants: Mapping[str, Tensor]
) -> tuple[Reference, ...]:
    """Return the operands of ``x[mask] = constant``, or none if a node does something else."""
    x, indices, updates = node.inputs
    transpose = nodes[indices.node]
    for _ in range(_MAX_VIEWS):
        view = nodes[updates.node]
        if view.op in ("Expand-1", "Reshape-1") and view.inputs[0] != MISSING:
            updates = view.inputs[0]
    value = constants.get(updates.node)
    if (
        value is None
        or value.size != 1
        or node.attributes.get("reduction", "none") != "none"
        or transpose.op != "Transpose-1"
        or transpose.attributes.get("perm", [1, 0]) != [1, 0]
    ):
        return ()
    source = nodes[transpose.inputs[0].node]
    return (x, source.inputs[0], updates) if source.op == "NonZero-1" else ()


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
    results, values = dict(nodes), dict(constants)
    elements = 0
    for node in nodes.values():
        if node.op != _NORMALIZATION:
            continue
        convolution = nodes[node.inputs[0].node]
        if convolution.op == _CONVOLUTION and uses[node.inputs[0]] == 1:
            inputs = convolution.inputs[:1]
            parameters = _parameters(node, convolution, constants)
            elements += sum(value.size for value in parameters.values())
            if elements > _MAX_ELEMENTS:
                break
            for part, value in parameters.items():
                inputs += (_add_constant(results, values, f"{node.name} {part}", value),)
            if len(inputs) > 1:
                results[node.name] = convolution._replace(name=node.name, inputs=inputs)
    return results, values


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
