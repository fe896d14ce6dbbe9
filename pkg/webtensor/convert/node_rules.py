"""What rules of nodes get and share: a call of a primitive, and how operands broadcast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from webtensor.convert.node_building import NodeBuilder, Value
from webtensor.convert.sizes import Shape, UnknownSizeError
from webtensor.engine import Primitive, Tensor
from webtensor.errors import ModelFormatError

__all__ = ["Call", "Rule", "alike", "broadcast", "refused"]


class Call(NamedTuple):
    """A call of a primitive.

    Attributes:
        primitive: the primitive.
        inputs: its inputs.
        shape: the shape of the result.
        dtype: the dtype of the result.
        attributes: those of the call, in which sizes may vary.
        traced: its attributes in each trace.
        values: the elements of the inputs that are constant.
    """

    primitive: Primitive
    inputs: Sequence[Value]
    shape: Shape
    dtype: str
    attributes: tuple[Any, ...]
    traced: Sequence[tuple[Any, ...]]
    values: Sequence[Tensor | None]


Rule: TypeAlias = Callable[[NodeBuilder, Call], Value]


def refused(nodes: NodeBuilder, reason: str, is_due_to_sizes: bool = False) -> ModelFormatError:
    """Return the error of something that no graph computes, at least for these sizes."""
    place = f"{nodes.place:.200}: " if nodes.place else ""
    message = f"{nodes.label}: {place}{reason}"
    return UnknownSizeError(message, 1) if is_due_to_sizes else ModelFormatError(message)


def broadcast(first: Shape, second: Shape) -> Shape:
    """Return the shape of an elementwise operation of two tensors."""
    rank = max(len(first), len(second))
    pairs = zip(*((1,) * (rank - len(shape)) + shape for shape in (first, second)), strict=True)
    return tuple(b if a == 1 else a for a, b in pairs)


def alike(nodes: NodeBuilder, op: str, *inputs: Value) -> Value:
    """Add an operation of operands that broadcast, all of one dtype."""
    shape = inputs[0].shape
    for value in inputs[1:]:
        shape = broadcast(shape, value.shape)
    return nodes.add(op, inputs, shape)
