"""Optimizing the nodes of a model, once, when it is loaded: the passes, in their order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from webtensor.engine import Tensor
from webtensor.graph.nodes import MISSING, Nodes, Reference
from webtensor.onnx.folding import (
    folded,
    with_folded_normalization,
    without_dropout,
    without_mask_indices,
)
from webtensor.onnx.layouts import with_channels_last
from webtensor.onnx.lowering import Body
from webtensor.onnx.operations import OPERATIONS

__all__ = ["Constants", "optimized"]

#: The values of constants by the names of their nodes.
Constants: TypeAlias = dict[str, Tensor]


def optimized(
    nodes: Nodes,
    constants: Mapping[str, Tensor],
    fetches: tuple[Reference, ...],
    ranks: Mapping[Reference, int],
    where: str,
) -> tuple[Nodes, Constants]:
    """Return nodes that compute the outputs more quickly, and their constants.

    Args:
        nodes: the nodes of the model.
        constants: the values of constants.
        fetches: the outputs of the model.
        ranks: the ranks of tensors, as far as the model says them.
        where: what errors call the model.

    Raises:
        ModelFormatError: a node depends on itself, or a constant cannot be computed.
    """
    nodes, constants = folded(nodes, constants, OPERATIONS, where)
    nodes = without_mask_indices(without_dropout(nodes, fetches), constants)
    nodes, constants = with_channels_last(nodes, constants, ranks, where)
    nodes, constants = _needed(nodes, constants, fetches)
    nodes, constants = with_folded_normalization(nodes, constants, fetches)
    return _needed(nodes, constants, fetches)


def _needed(
    nodes: Nodes, constants: Mapping[str, Tensor], fetches: tuple[Reference, ...]
) -> tuple[Nodes, Constants]:
    """Return what outputs need, and the inputs of the model."""
    needed = {name for name, node in nodes.items() if node.op == "Placeholder"}
    stack = [reference.node for reference in fetches]
    while stack:
        name = stack.pop()
        if name not in needed:
            needed.add(name)
            stack += [source.node for source in nodes[name].inputs if source != MISSING]
    nodes = {name: node for name, node in nodes.items() if name in needed}
    used = needed | _names_in_bodies(nodes)
    return nodes, {name: value for name, value in constants.items() if name in used}


def _names_in_bodies(nodes: Nodes) -> set[str]:
    """Return the names of the nodes in all subgraphs, constants among them."""
    names: set[str] = set()
    for node in nodes.values():
        attributes: Mapping[str, object] = node.attributes
        for value in attributes.values():
            if isinstance(value, Body):
                names |= value.nodes.keys() | _names_in_bodies(value.nodes)
    return names
