"""Masks: which steps or examples count, as an attribute of tensors.

The mask of a symbolic tensor is symbolic: the output of an operation such as ``NotEqual``. As in
Keras, nodes of functional models have the masks that their inputs carry among their arguments. File
formats without operations omit these masks; layers find them again when the model is loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from webtensor.keras.nest import flatten, map_structure
from webtensor.keras.nodes import Node
from webtensor.keras.symbols import History, KerasTensor
from webtensor.keras.types import Config, SymbolicOrTensor
from webtensor.ops import logical_or, not_equal

__all__ = [
    "carried_masks_left_out",
    "either",
    "is_carried_mask",
    "leaves_carried_masks_out",
    "mask_of",
    "symbolic_ops",
    "unequal",
]

#: One item for each open ``with carried_masks_left_out()``.
_left_out: list[None] = []


def symbolic_ops() -> ModuleType:
    """Return ``keras.ops``, which only masks of symbolic tensors need."""
    from webtensor.keras import ops

    return ops


def either(mask: SymbolicOrTensor, other: SymbolicOrTensor) -> SymbolicOrTensor:
    """Return where one of two masks is True."""
    if isinstance(mask, KerasTensor) or isinstance(other, KerasTensor):
        symbol: KerasTensor = symbolic_ops().logical_or(mask, other)
        return symbol
    return logical_or(mask, other)


def unequal(x: SymbolicOrTensor, value: float) -> SymbolicOrTensor:
    """Return where a tensor is not ``value``."""
    if isinstance(x, KerasTensor):
        symbol: KerasTensor = symbolic_ops().not_equal(x, value)
        return symbol
    return not_equal(x, value)


def mask_of(value: object) -> Any:
    """Return the mask that a layer attached to a tensor, or None."""
    return getattr(value, "_keras_mask", None)


@contextmanager
def carried_masks_left_out() -> Iterator[None]:
    """Within the ``with``, configurations of functional models omit the masks that inputs carry."""
    _left_out.append(None)
    try:
        yield
    finally:
        _left_out.pop()


def leaves_carried_masks_out() -> bool:
    """Whether configurations omit the masks that inputs carry."""
    return bool(_left_out)


def is_carried_mask(node: Node, name: str) -> bool:
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
    """The class, the configuration without a name, and the arguments of an operation's call."""
    operation = history.operation
    node = operation._inbound_nodes[history.node_index]
    config = {**operation.get_config(), "name": None}
    return type(operation), config, [*flatten(node.args), *flatten(node.kwargs)]
