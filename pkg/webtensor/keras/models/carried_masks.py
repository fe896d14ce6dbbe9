"""Masks that the inputs of calls carry, and how configurations of functional models omit them.

As in Keras, nodes of functional models have these masks among their arguments. File formats without
operations omit them; layers find them again when the model is loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from webtensor.keras.masks import mask_of
from webtensor.keras.models.function import Graph
from webtensor.keras.nodes import Node
from webtensor.keras.symbols import History, KerasTensor
from webtensor.keras.types import Config
from webtensor.nest import flatten, map_structure

__all__ = ["carried_masks_left_out", "kwargs_without_carried_masks", "leaves_carried_masks_out"]

#: One item for each open ``with carried_masks_left_out()``.
_open_scopes: list[None] = []


@contextmanager
def carried_masks_left_out() -> Iterator[None]:
    """Within the ``with``, configurations of functional models omit the masks that inputs carry."""
    _open_scopes.append(None)
    try:
        yield
    finally:
        _open_scopes.pop()


def leaves_carried_masks_out() -> bool:
    """Whether configurations omit the masks that inputs carry."""
    return bool(_open_scopes)


def kwargs_without_carried_masks(graph: Graph) -> dict[int, dict[str, Any]]:
    """Return the keyword arguments of calls without masks that inputs carry, by ``id(node)``.

    Calls that compute only such masks are left out.
    """
    kwargs_by_node = {
        id(node): {
            name: value for name, value in node.kwargs.items() if not _is_carried_mask(node, name)
        }
        for node in graph.nodes
    }
    needed = {id(symbol) for symbol in (*graph.inputs, *graph.outputs)}
    needed_kwargs = {}
    for node in reversed(graph.nodes):
        if any(id(symbol) in needed for symbol in node.outputs):
            kwargs = kwargs_by_node[id(node)]
            needed_kwargs[id(node)] = kwargs
            needed |= {id(leaf) for leaf in (*flatten(node.args), *flatten(kwargs))}
    return needed_kwargs


def _is_carried_mask(node: Node, name: str) -> bool:
    """Whether an argument of a call is the mask that the call's only positional argument carries.

    In a model that was loaded it may be another symbolic tensor that is computed in the same way.
    """
    mask = node.kwargs[name]
    if name != "mask" or len(node.args) != 1 or mask is None:
        return False
    carried_masks = flatten(map_structure(mask_of, node.args[0]))
    masks = flatten(mask)
    return len(masks) == len(carried_masks) and all(map(_is_same_value, masks, carried_masks))


def _is_same_value(value: object, other: object) -> bool:
    """Whether two arguments are equal, or the outputs of equal operations on the same tensors."""
    if value is other:
        return True
    if not isinstance(value, KerasTensor) or not isinstance(other, KerasTensor):
        return type(value) is type(other) and bool(value == other)
    history, other_history = value._keras_history, other._keras_history
    if (
        history is None
        or other_history is None
        or history.tensor_index != other_history.tensor_index
    ):
        return False
    operation, config, arguments = _computation(history)
    other_operation, other_config, other_arguments = _computation(other_history)
    return (
        operation is other_operation
        and config == other_config
        and len(arguments) == len(other_arguments)
        and all(map(_is_same_value, arguments, other_arguments))
    )


def _computation(history: History) -> tuple[type, Config, list[Any]]:
    """Return the class, the configuration without a name, and the arguments of a call."""
    operation = history.operation
    node = operation._inbound_nodes[history.node_index]
    config = {**operation.get_config(), "name": None}
    return type(operation), config, [*flatten(node.args), *flatten(node.kwargs)]
