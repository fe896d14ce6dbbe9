"""Masks: which steps or samples count, as an attribute of tensors.

Symbolic tensors have symbolic masks, the results of operations such as ``NotEqual``. As in Keras,
calls of layers in functional models name the masks that their inputs carry. Formats that know
layers alone leave these out, as layers find them when the model is put together again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from webtensor.keras.nest import flatten, map_structure
from webtensor.keras.nodes import Node
from webtensor.keras.symbols import History, KerasTensor
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

#: How many ``with`` blocks of ``carried_masks_left_out`` are open, as a list of nothing.
_left_out: list[None] = []


def symbolic_ops() -> Any:
    """Return ``keras.ops``, for masks of symbolic tensors; other masks do without its import."""
    from webtensor.keras import ops

    return ops


def either(mask: Any, other: Any) -> Any:
    """Return where one of two masks is True, which may be symbolic."""
    if isinstance(mask, KerasTensor) or isinstance(other, KerasTensor):
        return symbolic_ops().logical_or(mask, other)
    return logical_or(mask, other)


def unequal(x: Any, value: Any) -> Any:
    """Return where a tensor, which may be symbolic, is not ``value``."""
    if isinstance(x, KerasTensor):
        return symbolic_ops().not_equal(x, value)
    return not_equal(x, value)


def mask_of(value: Any) -> Any:
    """Return the mask that a layer has given a tensor, or None."""
    return getattr(value, "_keras_mask", None)


@contextmanager
def carried_masks_left_out() -> Iterator[None]:
    """Within the ``with``, configurations of functional models leave out masks of inputs."""
    _left_out.append(None)
    try:
        yield
    finally:
        _left_out.pop()


def leaves_carried_masks_out() -> bool:
    """Whether configurations leave out the masks that inputs carry."""
    return bool(_left_out)


def is_carried_mask(node: Node, name: str) -> bool:
    """Whether an argument of a call is the mask that the call's only positional argument carries.

    In a model that was loaded it need not be the same symbolic tensor, but one that is computed in
    the same way.
    """
    mask = node.kwargs[name]
    if name != "mask" or len(node.args) != 1 or mask is None:
        return False
    carried = flatten(map_structure(mask_of, node.args[0]))
    masks = flatten(mask)
    return len(masks) == len(carried) and all(map(_is_same_value, masks, carried))


def _is_same_value(value: Any, other: Any) -> bool:
    """Whether two arguments are equal, or the results of equal operations on the same tensors."""
    if value is other:
        return True
    if not isinstance(value, KerasTensor) or not isinstance(other, KerasTensor):
        return type(value) is type(other) and bool(value == other)
    first, second = value._keras_history, other._keras_history
    if first is None or second is None or first.tensor_index != second.tensor_index:
        return False
    (kind, config, arguments), (other_kind, other_config, other_arguments) = map(
        _computation, (first, second)
    )
    return (
        kind is other_kind
        and config == other_config
        and len(arguments) == len(other_arguments)
        and all(map(_is_same_value, arguments, other_arguments))
    )


def _computation(history: History) -> tuple[type, dict[str, Any], list[Any]]:
    """The class, the configuration without a name, and the arguments of an operation's call."""
    operation = history.operation
    node = operation._inbound_nodes[history.node_index]
    config = {**operation.get_config(), "name": None}
    return type(operation), config, [*flatten(node.args), *flatten(node.kwargs)]
