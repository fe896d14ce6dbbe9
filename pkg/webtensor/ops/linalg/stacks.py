"""Conversion of stacks of matrices to kernels' operands and of kernels' results to tensors.

A kernel gets real matrices, or complex ones as pairs (``words`` is 1 or 2), and returns float32 of
shape (matrices, numbers), with the parts of each matrix's result one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.dtypes import complex64, float32
from webtensor.engine import Primitive, Tensor, TensorLike, as_operand, run
from webtensor.ops.casting import cast_to
from webtensor.ops.complex_numbers import conj
from webtensor.ops.complex_pairs import as_pairs, from_pairs
from webtensor.ops.movement import reshape, split
from webtensor.ops.vector_products import matrix_transpose
from webtensor.shapes import Shape, prod

__all__ = ["adjoint", "factored", "matrices", "parts_of", "stored", "words_of"]

#: Shape of a part of a result, and whether it is real even for complex matrices.
Part = tuple[Shape, bool]


def matrices(name: str, x: TensorLike, square: bool = False, argument: str = "x") -> Tensor:
    """Return an operand as a float or complex stack of matrices.

    Raises:
        ValueError: it has fewer than two axes, or its matrices are not square.
    """
    operand = as_operand(name, x)
    if len(operand.shape) < 2 or (square and operand.shape[-1] != operand.shape[-2]):
        expected = "square matrices, (..., n, n)" if square else "matrices, (..., rows, columns)"
        raise ValueError(f"{name}: {argument} must be {expected}, but its shape is {operand.shape}")
    return operand if operand.dtype is complex64 else cast_to(operand, float32)


def adjoint(x: Tensor) -> Tensor:
    """Conjugate transpose of matrices."""
    return conj(matrix_transpose(x))


def words_of(x: Tensor) -> int:
    """Return the number of floats that store an element."""
    return 2 if x.dtype is complex64 else 1


def stored(x: Tensor) -> Tensor:
    """Return a real tensor as it is, a complex one as pairs."""
    return as_pairs(x) if x.dtype is complex64 else x


def parts_of(packed: Tensor, words: int, parts: Sequence[Part]) -> list[Tensor]:
    """Split a kernel's packed result into parts of shape (matrices, *shape)."""
    batch = packed.shape[0]
    sizes = [prod(shape) * (1 if real else words) for shape, real in parts]
    flat = split(packed, sizes, 1)
    return [
        reshape(part, (batch, *shape))
        if real or words == 1
        else from_pairs(reshape(part, (batch, *shape, 2)))
        for part, (shape, real) in zip(flat, parts, strict=True)
    ]


def factored(
    primitive: Primitive, x: Tensor, parts: Sequence[Part], *attributes: int
) -> list[Tensor]:
    """Run a factorization and return its parts, each a stack like ``x``."""
    words = words_of(x)
    stack = x.shape[:-2]
    size = sum(prod(shape) * (1 if real else words) for shape, real in parts)
    packed = run(
        primitive, (stored(x),), (prod(stack), size), float32, words, prod(stack), *attributes
    )
    unpacked = parts_of(packed, words, parts)
    return [reshape(part, (*stack, *part.shape[1:])) for part in unpacked]
