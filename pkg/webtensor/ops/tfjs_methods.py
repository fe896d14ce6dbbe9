"""Methods that TensorFlow.js's tensors have and that stand for a call of a function of ours."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from webtensor.dtypes import bool_, float32, int32
from webtensor.engine import Tensor, TensorBuffer, TensorLike, Variable, as_operand, buffer
from webtensor.engine.convert import python_numbers
from webtensor.ops import movement
from webtensor.ops.casting import astype

__all__ = [
    "as1d",
    "as2d",
    "as3d",
    "as4d",
    "as5d",
    "as_scalar",
    "buffer_of",
    "buffer_sync",
    "concat",
    "print",
    "reshape_as",
    "stack",
    "to_bool",
    "to_float",
    "to_int",
    "variable",
]


def as_scalar(self: TensorLike) -> Tensor:
    """Return a tensor of one element as one of rank 0.

    Raises:
        ValueError: there is not exactly one element.
    """
    x = as_operand("as_scalar", self)
    if x.size != 1:
        raise ValueError(f"as_scalar: the tensor must have one element, but its shape is {x.shape}")
    return movement.reshape(x, ())


def as1d(self: TensorLike) -> Tensor:
    """Return the elements in a tensor of rank 1."""
    return movement.flatten(self)


def as2d(self: TensorLike, rows: int, columns: int) -> Tensor:
    """Return the elements in a tensor of shape ``(rows, columns)``."""
    return movement.reshape(self, (rows, columns))


def as3d(self: TensorLike, rows: int, columns: int, depth: int) -> Tensor:
    """Return the elements in a tensor of shape ``(rows, columns, depth)``."""
    return movement.reshape(self, (rows, columns, depth))


def as4d(self: TensorLike, rows: int, columns: int, depth: int, depth2: int) -> Tensor:
    """Return the elements in a tensor of shape ``(rows, columns, depth, depth2)``."""
    return movement.reshape(self, (rows, columns, depth, depth2))


def as5d(self: TensorLike, rows: int, columns: int, depth: int, depth2: int, depth3: int) -> Tensor:
    """Return the elements in a tensor of shape ``(rows, columns, depth, depth2, depth3)``."""
    return movement.reshape(self, (rows, columns, depth, depth2, depth3))


def reshape_as(self: TensorLike, x: TensorLike) -> Tensor:
    """Return the elements in the shape of another tensor."""
    return movement.reshape(self, as_operand("reshape_as", x).shape)


def to_bool(self: TensorLike) -> Tensor:
    """Return whether each element is not zero."""
    return astype(self, bool_)


def to_float(self: TensorLike) -> Tensor:
    """Return the elements as float32 numbers."""
    return astype(self, float32)


def to_int(self: TensorLike) -> Tensor:
    """Return the elements as int32 numbers, rounded toward zero."""
    return astype(self, int32)


def concat(self: TensorLike, x: TensorLike | Sequence[TensorLike], axis: int = 0) -> Tensor:
    """Join one or several tensors to this one, along an axis there is."""
    return movement.concat([self, *_listed("concat", self, x)], axis)


def stack(self: TensorLike, x: TensorLike | Sequence[TensorLike], axis: int = 0) -> Tensor:
    """Join one or several tensors of this one's shape to it, along a new axis."""
    return movement.stack([self, *_listed("stack", self, x)], axis)


def _listed(
    name: str, self: TensorLike, x: TensorLike | Sequence[TensorLike]
) -> Sequence[TensorLike]:
    """Return several tensors as they are, one in a list.

    A nested list of numbers stands for several tensors where it has one level more than this
    tensor has axes.
    """
    if not isinstance(x, (list, tuple)):
        return [x]
    if any(isinstance(part, Tensor) for part in x):
        return x
    levels, part = 0, x
    while isinstance(part, (list, tuple)) and part:
        levels, part = levels + 1, part[0]
    return x if levels > len(as_operand(name, self).shape) else [x]


def variable(
    self: TensorLike, trainable: bool = True, name: str | None = None, dtype: Any = None
) -> Variable:
    """Make a variable that starts with this tensor's elements."""
    return Variable(self, trainable=trainable, name=name, dtype=dtype)


def buffer_sync(self: TensorLike) -> TensorBuffer:
    """Copy the elements to a buffer that can be written."""
    x = as_operand("buffer_sync", self)
    return buffer(x.shape, x.dtype, python_numbers(x.data_sync(), x.dtype))


async def buffer_of(self: TensorLike) -> TensorBuffer:
    """Copy the elements to a buffer that can be written, without blocking while they arrive."""
    x = as_operand("buffer", self)
    return buffer(x.shape, x.dtype, python_numbers(await x.data(), x.dtype))


def print(self: TensorLike, verbose: bool = False) -> None:
    """Print a tensor; ``verbose`` puts its number of axes and of elements before it.

    Example:
        >>> import webtensor as wt
        >>> wt.print(wt.tensor([1, 2]))
        Tensor([1, 2], shape=(2,), dtype=int32, device=host)
    """
    x = as_operand("print", self)
    if verbose:
        sys.stdout.write(f"rank {x.ndim}, {x.size} elements\n")
    sys.stdout.write(f"{x}\n")
