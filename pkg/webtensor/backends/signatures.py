"""What a kernel's call depends on before there are elements: shapes and dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from webtensor.dtypes import DType
from webtensor.shapes import Shape, prod

__all__ = ["Signature", "Spec", "Typed"]


class Typed(Protocol):
    """An object with a shape and a dtype."""

    @property
    def shape(self) -> Shape: ...
    @property
    def dtype(self) -> DType: ...
    @property
    def size(self) -> int: ...


class Spec(NamedTuple):
    """An operand without its elements."""

    shape: Shape
    dtype: DType
    size: int


class Signature(NamedTuple):
    """The operands of a kernel, and the shape and the dtype of its result."""

    inputs: tuple[Spec, ...]
    shape: Shape
    dtype: DType

    @classmethod
    def of(cls, inputs: Sequence[Typed], shape: Shape, dtype: DType) -> Signature:
        """Return the signature of a call with these operands."""
        return cls(tuple([Spec(x.shape, x.dtype, x.size) for x in inputs]), shape, dtype)

    @property
    def size(self) -> int:
        """The number of the result's elements."""
        return prod(self.shape)

    @property
    def bytes(self) -> int:
        """The number of the result's bytes."""
        return self.size * self.dtype.itemsize
